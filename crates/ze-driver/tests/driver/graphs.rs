//! Graphs: capture, forks and joins, execution, rejected calls.

use crate::api::*;
use crate::launches::launch;
use level_zero_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

const FOREVER: u64 = u64::MAX;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
const IN_ORDER: u32 = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;

type List = ze_command_list_handle_t;
type Ev = ze_event_handle_t;

pub(crate) fn begin(list: List) {
    ok!(CommandList.pfnBeginGraphCaptureExt(list, null()));
}

fn try_end(list: List) -> (ze_result_t, ze_graph_handle_t) {
    let mut graph = null_mut();
    let result = ze!(CommandList.pfnEndGraphCaptureExt(list, null(), &raw mut graph));
    (result, graph)
}

pub(crate) fn end(list: List) -> ze_graph_handle_t {
    let (result, graph) = try_end(list);
    assert_eq!(result, ZE_RESULT_SUCCESS, "{}", last_error());
    graph
}

pub(crate) fn instantiate(graph: ze_graph_handle_t) -> ze_executable_graph_handle_t {
    let mut made = null_mut();
    ok!(Graph.pfnInstantiateExt(graph, null(), &raw mut made));
    made
}

pub(crate) fn append(
    list: List,
    graph: ze_executable_graph_handle_t,
    signal: Ev,
    waits: &mut [Ev],
) -> ze_result_t {
    ze!(CommandList.pfnAppendGraphExt(
        list,
        graph,
        null(),
        signal,
        waits.len() as u32,
        waits.as_mut_ptr()
    ))
}

fn execute(list: List, graph: ze_executable_graph_handle_t) {
    assert_eq!(
        append(list, graph, null_mut(), &mut []),
        ZE_RESULT_SUCCESS,
        "{}",
        last_error()
    );
}

fn sync(list: List) {
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
}

/// Appends "add `value` to the word at `at`".
pub(crate) fn add(
    context: ze_context_handle_t,
    list: List,
    at: *mut u32,
    value: u32,
    signal: Ev,
    waits: &mut [Ev],
) {
    let kernel = kernel(context, c"add");
    assert_eq!(arg(kernel, 0, at), ZE_RESULT_SUCCESS);
    assert_eq!(arg(kernel, 1, value), ZE_RESULT_SUCCESS);
    let launched = launch(list, kernel, signal, waits);
    assert_eq!(launched, ZE_RESULT_SUCCESS);
}

pub(crate) fn copy(
    list: List,
    to: *mut u32,
    from: *const u32,
    signal: Ev,
    waits: &mut [Ev],
) -> ze_result_t {
    ze!(CommandList.pfnAppendMemoryCopy(
        list,
        to.cast(),
        from.cast(),
        4,
        signal,
        waits.len() as u32,
        waits.as_mut_ptr()
    ))
}

/// A separate counter-based event.
pub(crate) fn counter(context: ze_context_handle_t, flags: u32) -> Ev {
    let desc = ze_event_counter_based_desc_t {
        flags: flags | ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE,
        ..Default::default()
    };
    let mut event = null_mut();
    ok!(Event.pfnCounterBasedCreate(context, device(0), &raw const desc, &raw mut event));
    event
}

const EXTERNAL: u32 = ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL;

fn is_capturing(list: List) -> ze_result_t {
    ze!(CommandList.pfnIsGraphCaptureEnabledExt(list))
}

#[test]
fn captured_work_runs_when_the_graph_does() {
    let context = context();
    let memory = words(context, 4);
    let at = memory.as_mut_ptr();
    let list = immediate(context, ASYNC, IN_ORDER);
    assert_eq!(is_capturing(list), ZE_RESULT_QUERY_FALSE);
    begin(list);
    assert_eq!(is_capturing(list), ZE_RESULT_QUERY_TRUE);
    let (mut graph, mut primary) = (null_mut(), null_mut());
    ok!(CommandList.pfnGetGraphExt(list, &raw mut graph));
    assert_eq!(ze!(Graph.pfnIsEmptyExt(graph)), ZE_RESULT_QUERY_TRUE);
    add(context, list, at, 3, null_mut(), &mut []);
    assert_eq!(
        copy(list, at.wrapping_add(1), at, null_mut(), &mut []),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(
        ze!(CommandList.pfnHostSynchronize(list, 0)),
        ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED
    );
    assert_eq!(end(list), graph);
    assert_eq!(is_capturing(list), ZE_RESULT_QUERY_FALSE);
    assert_eq!(ze!(Graph.pfnIsEmptyExt(graph)), ZE_RESULT_QUERY_FALSE);
    ok!(Graph.pfnGetPrimaryCommandListExt(graph, &raw mut primary));
    assert_eq!(primary, list);
    let mut none = std::ptr::dangling_mut();
    assert_eq!(
        ze!(CommandList.pfnGetGraphExt(list, &raw mut none)),
        ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING
    );
    assert!(none.is_null());
    assert_eq!(try_end(list).0, ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING);
    sync(list);
    assert_eq!(memory[0], 0, "nothing has run");
    let run = instantiate(graph);
    let mut source = null_mut();
    ok!(ExecutableGraph.pfnGetSourceGraphExt(run, &raw mut source));
    assert_eq!(source, graph);
    let [gate, done] = events(context, false);
    for round in 1..=3 {
        assert_eq!(append(list, run, done, &mut [gate]), ZE_RESULT_SUCCESS);
        assert_eq!(
            ze!(Event.pfnHostSynchronize(done, 100_000)),
            ZE_RESULT_NOT_READY
        );
        ok!(Event.pfnHostSignal(gate));
        ok!(Event.pfnHostSynchronize(done, FOREVER));
        assert_eq!((memory[0], memory[1]), (3 * round, 3 * round));
        ok!(Event.pfnHostReset(gate));
        ok!(Event.pfnHostReset(done));
    }
    // Appended normally again.
    add(context, list, at, 1, null_mut(), &mut []);
    sync(list);
    assert_eq!(memory[0], 10);
    ok!(ExecutableGraph.pfnDestroyExt(run));
    ok!(Graph.pfnDestroyExt(graph));
}

/// a = first word + 1 on the parent; two children add to their own words; the parent adds both up.
fn diamond(context: ze_context_handle_t, lists: [List; 3], at: *mut u32, [fork, x, y]: [Ev; 3]) {
    let [parent, left, right] = lists;
    let word = |i: usize| at.wrapping_add(i);
    add(context, parent, at, 1, fork, &mut []);
    assert_eq!(
        copy(left, word(1), at, null_mut(), &mut [fork]),
        ZE_RESULT_SUCCESS
    );
    add(context, left, word(1), 10, x, &mut []);
    assert_eq!(
        copy(right, word(2), at, null_mut(), &mut [fork]),
        ZE_RESULT_SUCCESS
    );
    add(context, right, word(2), 100, y, &mut []);
    assert_eq!(
        copy(parent, word(3), word(1), null_mut(), &mut [x, y]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(
        copy(parent, word(4), word(2), null_mut(), &mut []),
        ZE_RESULT_SUCCESS
    );
}

#[test]
fn forks_join_and_executions_follow_each_other() {
    let context = context();
    for internal in [true, false] {
        let memory = words(context, 8);
        let at = memory.as_mut_ptr();
        let lists = std::array::from_fn(|_| immediate(context, ASYNC, IN_ORDER));
        let flags = if internal { 0 } else { EXTERNAL };
        let events: [Ev; 3] = std::array::from_fn(|_| counter(context, flags));
        begin(lists[0]);
        diamond(context, lists, at, events);
        assert_eq!(is_capturing(lists[1]), ZE_RESULT_QUERY_TRUE);
        let graph = end(lists[0]);
        assert_eq!(
            is_capturing(lists[1]),
            ZE_RESULT_QUERY_FALSE,
            "children leave too"
        );
        let run = instantiate(graph);
        // Without a wait in between: each execution begins after the previous one.
        for _ in 0..50 {
            execute(lists[0], run);
        }
        sync(lists[0]);
        assert_eq!(memory[..5], [50, 60, 150, 60, 150], "internal {internal}");
        if !internal {
            ok!(Event.pfnHostSynchronize(events[2], FOREVER));
        }
        ok!(ExecutableGraph.pfnDestroyExt(run));
        ok!(Graph.pfnDestroyExt(graph));
    }
}

#[test]
fn instances_are_independent() {
    let context = context();
    let memory = words(context, 8);
    let lists = std::array::from_fn(|_| immediate(context, ASYNC, IN_ORDER));
    let events: [Ev; 3] = std::array::from_fn(|_| counter(context, 0));
    begin(lists[0]);
    diamond(context, lists, memory.as_mut_ptr(), events);
    let graph = end(lists[0]);
    let [gate] = crate::api::events(context, false);
    let runs = [instantiate(graph), instantiate(graph)];
    let other = immediate(context, ASYNC, IN_ORDER);
    assert_eq!(
        append(other, runs[0], null_mut(), &mut [gate]),
        ZE_RESULT_SUCCESS
    );
    execute(lists[0], runs[1]);
    sync(lists[0]);
    assert_eq!(
        memory[..5],
        [1, 11, 101, 11, 101],
        "not held back by the other instance"
    );
    ok!(Event.pfnHostSignal(gate));
    sync(other);
    assert_eq!(memory[..5], [2, 12, 102, 12, 102]);
}

#[test]
fn external_events_order_a_graph_with_other_work() {
    let context = context();
    let memory = words(context, 4);
    let at = memory.as_mut_ptr();
    let (list, other) = (
        immediate(context, ASYNC, IN_ORDER),
        immediate(context, ASYNC, IN_ORDER),
    );
    let (into, out) = (counter(context, EXTERNAL), counter(context, EXTERNAL));
    begin(list);
    assert_eq!(
        copy(list, at.wrapping_add(1), at, out, &mut [into]),
        ZE_RESULT_SUCCESS
    );
    let run = instantiate(end(list));
    let [gate] = events(context, false);
    for round in 1..20 {
        assert_eq!(
            copy(other, at.wrapping_add(2), at, null_mut(), &mut [gate]),
            ZE_RESULT_SUCCESS
        );
        add(context, other, at, 5, into, &mut []);
        execute(list, run);
        assert_eq!(ze!(Event.pfnQueryStatus(out)), ZE_RESULT_NOT_READY);
        ok!(Event.pfnHostSignal(gate));
        ok!(Event.pfnHostSynchronize(out, FOREVER));
        assert_eq!(memory[1], 5 * round);
        ok!(Event.pfnHostReset(gate));
    }
}

#[test]
fn graphs_and_lists_inside_graphs() {
    let context = context();
    let memory = words(context, 8);
    let at = memory.as_mut_ptr();
    let lists: [List; 3] = std::array::from_fn(|_| immediate(context, ASYNC, IN_ORDER));
    let events: [Ev; 3] = std::array::from_fn(|_| counter(context, 0));
    begin(lists[0]);
    diamond(context, lists, at, events);
    let inner = instantiate(end(lists[0]));
    let mut regular = list(context, ZE_COMMAND_LIST_FLAG_IN_ORDER);
    add(context, regular, at.wrapping_add(5), 7, null_mut(), &mut []);
    ok!(CommandList.pfnClose(regular));
    let [done] = crate::api::events(context, false);
    begin(lists[0]);
    execute(lists[0], inner);
    execute(lists[0], inner);
    ok!(CommandListExp.pfnImmediateAppendCommandListsExp(
        lists[0],
        1,
        &raw mut regular,
        done,
        0,
        null_mut()
    ));
    let outer = instantiate(end(lists[0]));
    // Appended commands are in the graph, whatever happens to it.
    ok!(CommandList.pfnReset(regular));
    ok!(ExecutableGraph.pfnDestroyExt(inner));
    for round in 1..=5 {
        execute(lists[0], outer);
        sync(lists[0]);
        ok!(Event.pfnQueryStatus(done));
        assert_eq!(
            memory[..6],
            [
                2 * round,
                2 * round + 10,
                2 * round + 100,
                2 * round + 10,
                2 * round + 100,
                7 * round
            ]
        );
    }
}

#[test]
fn a_graph_is_captured_into_once() {
    let context = context();
    let memory = words(context, 1);
    let list = immediate(context, ASYNC, 0);
    let mut graph = null_mut();
    ok!(Graph.pfnCreateExt(context, null(), &raw mut graph));
    let into = || ze!(CommandList.pfnBeginCaptureIntoGraphExt(list, graph, null()));
    assert_eq!(into(), ZE_RESULT_SUCCESS);
    assert_eq!(
        into(),
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "capturing already"
    );
    let mut made = null_mut();
    assert_eq!(
        ze!(Graph.pfnInstantiateExt(graph, null(), &raw mut made)),
        ZE_RESULT_ERROR_INVALID_GRAPH
    );
    assert_eq!(end(list), graph);
    assert_eq!(into(), ZE_RESULT_SUCCESS, "still empty");
    add(context, list, memory.as_mut_ptr(), 1, null_mut(), &mut []);
    end(list);
    assert_eq!(into(), ZE_RESULT_ERROR_INVALID_ARGUMENT, "not empty");
    let run = instantiate(graph);
    execute(list, run);
    sync(list);
    assert_eq!(memory[0], 1);
}

#[test]
fn unjoined_work_makes_a_graph_invalid() {
    let context = context();
    let memory = words(context, 4);
    let at = memory.as_mut_ptr();
    // Join before the child's last work, join after it, signals alone after the join, no join.
    for (case, good) in [(0, false), (1, true), (2, true), (3, false)] {
        let (parent, child) = (
            immediate(context, ASYNC, IN_ORDER),
            immediate(context, ASYNC, IN_ORDER),
        );
        let [fork, join, more] = std::array::from_fn(|_| counter(context, 0));
        begin(parent);
        add(context, parent, at, 1, fork, &mut []);
        assert_eq!(
            copy(child, at.wrapping_add(1), at, join, &mut [fork]),
            ZE_RESULT_SUCCESS
        );
        match case {
            0 => add(context, child, at, 1, null_mut(), &mut []),
            2 => ok!(CommandList.pfnAppendSignalEvent(child, more)),
            _ => {}
        }
        if case != 3 {
            ok!(CommandList.pfnAppendWaitOnEvents(parent, 1, [join].as_mut_ptr()));
        }
        let (result, graph) = try_end(parent);
        let wanted = if good {
            ZE_RESULT_SUCCESS
        } else {
            ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS
        };
        assert_eq!(result, wanted, "case {case}");
        let empty = ze!(Graph.pfnIsEmptyExt(graph));
        let wanted = if good {
            ZE_RESULT_QUERY_FALSE
        } else {
            ZE_RESULT_ERROR_INVALID_GRAPH
        };
        assert_eq!(empty, wanted, "case {case}");
        assert_eq!(is_capturing(child), ZE_RESULT_QUERY_FALSE, "case {case}");
        ok!(Graph.pfnDestroyExt(graph));
    }
}

#[test]
fn calls_that_a_capture_rejects() {
    let context = context();
    let memory = words(context, 4);
    let at = memory.as_mut_ptr();
    let bad = ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED;
    let one = immediate(context, ASYNC, 0);
    let two = immediate(context, ASYNC, 0);
    let blocking = immediate(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    let regular = list(context, 0);
    assert_eq!(
        ze!(CommandList.pfnBeginGraphCaptureExt(blocking, null())),
        bad
    );
    assert_eq!(
        ze!(CommandList.pfnBeginGraphCaptureExt(regular, null())),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    let [a, b] = events(context, false);
    let internal = counter(context, 0);
    begin(one);
    begin(two);
    assert_eq!(copy(one, at, at, a, &mut []), ZE_RESULT_SUCCESS);
    assert_eq!(copy(two, at, at, b, &mut []), ZE_RESULT_SUCCESS);
    assert_eq!(copy(one, at, at, internal, &mut []), ZE_RESULT_SUCCESS);
    let merge = copy(one, at, at, null_mut(), &mut [b]);
    assert_eq!(merge, ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT);
    assert_eq!(ze!(Event.pfnHostSynchronize(a, 0)), bad);
    assert_eq!(copy(blocking, at, at, null_mut(), &mut [a]), bad);
    let inner = ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT;
    assert_eq!(ze!(Event.pfnQueryStatus(internal)), inner);
    assert_eq!(copy(regular, at, at, null_mut(), &mut [internal]), inner);
    assert_eq!(copy(blocking, at, at, internal, &mut []), inner);
    assert_eq!(
        copy(regular, at, at, null_mut(), &mut [a]),
        ZE_RESULT_SUCCESS,
        "regular events are shared"
    );
    end(one);
    end(two);
    // No list joins a capture that has ended, and the event can be used again.
    assert_eq!(copy(blocking, at, at, internal, &mut []), ZE_RESULT_SUCCESS);
    ok!(Event.pfnQueryStatus(internal));
    let other = {
        let desc = ze_command_queue_desc_t {
            ordinal: 1,
            mode: ASYNC,
            ..Default::default()
        };
        let mut list = null_mut();
        ok!(CommandList.pfnCreateImmediate(context, device(0), &raw const desc, &raw mut list));
        list
    };
    begin(one);
    let run = instantiate(end(one));
    let refused = [
        (other, ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE),
        (blocking, ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE),
        (regular, ZE_RESULT_ERROR_INVALID_ARGUMENT),
    ];
    begin(one);
    add(context, one, at, 1, null_mut(), &mut []);
    let full = instantiate(end(one));
    for (list, code) in refused {
        assert_eq!(append(list, full, null_mut(), &mut []), code);
    }
    assert_eq!(
        append(one, run, null_mut(), &mut []),
        ZE_RESULT_SUCCESS,
        "an empty one runs too"
    );
    sync(one);
}

#[test]
fn a_capture_breaks_off_with_its_list_or_graph() {
    let context = context();
    let memory = words(context, 2);
    let at = memory.as_mut_ptr();
    let (list, child) = (immediate(context, ASYNC, 0), immediate(context, ASYNC, 0));
    let [fork] = events(context, false);
    begin(list);
    add(context, list, at, 1, fork, &mut []);
    assert_eq!(
        copy(child, at.wrapping_add(1), at, null_mut(), &mut [fork]),
        ZE_RESULT_SUCCESS
    );
    let mut graph = null_mut();
    ok!(CommandList.pfnGetGraphExt(child, &raw mut graph));
    ok!(CommandList.pfnDestroy(list));
    assert_eq!(
        ze!(Graph.pfnIsEmptyExt(graph)),
        ZE_RESULT_ERROR_INVALID_GRAPH
    );
    assert_eq!(is_capturing(child), ZE_RESULT_QUERY_FALSE);
    let mut primary = null_mut();
    assert_eq!(
        ze!(Graph.pfnGetPrimaryCommandListExt(graph, &raw mut primary)),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    ok!(Graph.pfnDestroyExt(graph));
    ok!(Graph.pfnCreateExt(context, null(), &raw mut graph));
    ok!(CommandList.pfnBeginCaptureIntoGraphExt(child, graph, null()));
    ok!(Graph.pfnDestroyExt(graph));
    assert_eq!(is_capturing(child), ZE_RESULT_QUERY_FALSE);
    assert_eq!(try_end(child).0, ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING);
}

#[test]
fn callbacks_are_called_when_the_graph_is_destroyed() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn call(data: *mut c_void) {
        CALLS.fetch_add(data.addr() as u32, Ordering::SeqCst);
    }
    let mut graph = null_mut();
    ok!(Graph.pfnCreateExt(context(), null(), &raw mut graph));
    for value in [1usize, 10, 100] {
        let data = value as *mut c_void;
        ok!(Graph.pfnSetDestructionCallbackExt(graph, Some(call), data, null()));
    }
    let none = ze!(Graph.pfnSetDestructionCallbackExt(graph, None, null_mut(), null()));
    assert_eq!(none, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    let run = instantiate(graph);
    ok!(ExecutableGraph.pfnDestroyExt(run));
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    ok!(Graph.pfnDestroyExt(graph));
    assert_eq!(CALLS.load(Ordering::SeqCst), 111);
}

#[test]
fn the_dump_is_a_dot_file() {
    let context = context();
    let memory = words(context, 8);
    let lists = std::array::from_fn(|_| immediate(context, ASYNC, IN_ORDER));
    let events: [Ev; 3] = std::array::from_fn(|_| counter(context, 0));
    begin(lists[0]);
    diamond(context, lists, memory.as_mut_ptr(), events);
    let graph = end(lists[0]);
    let path = std::env::temp_dir().join(format!("solum-graph-{}.dot", std::process::id()));
    let name = CString::new(path.to_str().expect("a plain path")).expect("no zero");
    let dump = |mode| {
        let desc = ze_record_replay_graph_ext_dump_desc_t {
            mode,
            ..Default::default()
        };
        ok!(Graph.pfnDumpContentsExt(graph, name.as_ptr(), (&raw const desc).cast()));
        std::fs::read_to_string(&path).expect("just written")
    };
    let address = format!("{:#x}", memory.as_ptr().addr());
    let text = dump(ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_DETAILED);
    assert!(
        text.starts_with("digraph") && text.contains("kernel add") && text.contains(&address),
        "{text}"
    );
    // Two forks and two joins.
    assert_eq!(text.matches("color=blue").count(), 4, "{text}");
    let text = dump(ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE);
    assert!(
        text.contains("kernel add") && !text.contains(&address),
        "{text}"
    );
    let _ = std::fs::remove_file(&path);
    let nowhere = ze!(Graph.pfnDumpContentsExt(graph, c"/no/such/folder/g".as_ptr(), null()));
    assert_eq!(nowhere, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert!(
        last_error().contains("/no/such/folder/g"),
        "{}",
        last_error()
    );
}
