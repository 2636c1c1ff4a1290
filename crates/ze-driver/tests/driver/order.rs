//! Order: events, barriers, queues, lists, fences, faults.

use crate::api::*;
use crate::launches::launch;
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

const FOREVER: u64 = u64::MAX;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;

/// Appends "copy one word".
fn copy(
    list: ze_command_list_handle_t,
    to: *mut u32,
    from: *const u32,
    signal: ze_event_handle_t,
    waits: &mut [ze_event_handle_t],
) {
    ok!(CommandList.pfnAppendMemoryCopy(
        list,
        to.cast(),
        from.cast(),
        4,
        signal,
        waits.len() as u32,
        waits.as_mut_ptr()
    ));
}

fn execute(
    queue: ze_command_queue_handle_t,
    lists: &mut [ze_command_list_handle_t],
    fence: ze_fence_handle_t,
) {
    ok!(CommandQueue.pfnExecuteCommandLists(queue, lists.len() as u32, lists.as_mut_ptr(), fence));
}

#[test]
fn a_chain_over_two_queues_follows_its_events() {
    let context = context();
    let (a, b) = (queue(context), queue(context));
    let [first, second] = events(context, false);
    let memory = words(context, 4);
    memory[0] = 42;
    let at = memory.as_mut_ptr();
    // The later link is submitted first, so it must wait.
    let later = list(context, 0);
    copy(
        later,
        at.wrapping_add(2),
        at.wrapping_add(1),
        second,
        &mut [first],
    );
    ok!(CommandList.pfnClose(later));
    execute(a, &mut [later], null_mut());
    assert_eq!(ze!(Event.pfnQueryStatus(second)), ZE_RESULT_NOT_READY);
    assert_eq!(ze!(CommandQueue.pfnSynchronize(a, 0)), ZE_RESULT_NOT_READY);
    let sooner = list(context, 0);
    copy(sooner, at.wrapping_add(1), at, first, &mut []);
    ok!(CommandList.pfnClose(sooner));
    execute(b, &mut [sooner], null_mut());
    ok!(Event.pfnHostSynchronize(second, FOREVER));
    assert_eq!(memory[2], 42);
    ok!(CommandQueue.pfnSynchronize(a, FOREVER));
}

#[test]
fn the_host_signals_an_event_that_a_list_waits_for() {
    let context = context();
    let [gate, done] = events(context, false);
    let memory = words(context, 2);
    memory[0] = 7;
    let at = memory.as_mut_ptr();
    let list = immediate(context, ASYNC, 0);
    copy(list, at.wrapping_add(1), at, done, &mut [gate]);
    assert_eq!(
        ze!(Event.pfnHostSynchronize(done, 1_000_000)),
        ZE_RESULT_NOT_READY
    );
    assert_eq!(
        ze!(CommandList.pfnHostSynchronize(list, 0)),
        ZE_RESULT_NOT_READY
    );
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
    ok!(Event.pfnQueryStatus(done));
    assert_eq!(memory[1], 7);
}

#[test]
fn reset_clears_state_and_timestamps() {
    let context = context();
    let [event] = events(context, false);
    let memory = words(context, 2);
    let at = memory.as_mut_ptr();
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    let mut times = ze_kernel_timestamp_result_t::default();
    for round in 0..3 {
        assert_eq!(
            ze!(Event.pfnQueryStatus(event)),
            ZE_RESULT_NOT_READY,
            "round {round}"
        );
        let query = ze!(Event.pfnQueryKernelTimestamp(event, &raw mut times));
        assert_eq!(query, ZE_RESULT_NOT_READY, "round {round}");
        if round == 1 {
            ok!(CommandList.pfnAppendBarrier(list, event, 0, null_mut()));
        } else {
            copy(list, at.wrapping_add(1), at, event, &mut []);
        }
        ok!(Event.pfnQueryStatus(event));
        ok!(Event.pfnQueryKernelTimestamp(event, &raw mut times));
        let (start, end) = (times.global.kernelStart, times.global.kernelEnd);
        assert!(start > 0 && start < end, "round {round}: {start} {end}");
        ok!(Event.pfnHostReset(event));
    }
}

#[test]
fn a_list_with_a_reset_waits_again_at_each_execution() {
    let context = context();
    let queue = queue(context);
    let [link] = events(context, false);
    let memory = words(context, 3);
    let at = memory.as_mut_ptr();
    let list = list(context, 0);
    ok!(CommandList.pfnAppendEventReset(list, link));
    copy(list, at.wrapping_add(1), at, link, &mut []);
    copy(
        list,
        at.wrapping_add(2),
        at.wrapping_add(1),
        null_mut(),
        &mut [link],
    );
    ok!(CommandList.pfnClose(list));
    for value in 1..50 {
        memory[0] = value;
        execute(queue, &mut [list, list], null_mut());
        ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
        assert_eq!(memory[2], value);
    }
}

#[test]
fn in_order_lists_need_no_events() {
    let context = context();
    let memory = words(context, 100);
    memory[0] = 5;
    let at = memory.as_mut_ptr();
    let queue = queue(context);
    let recorded = list(context, ZE_COMMAND_LIST_FLAG_IN_ORDER);
    let live = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    for target in [recorded, live] {
        for i in 0..99 {
            copy(
                target,
                at.wrapping_add(i + 1),
                at.wrapping_add(i),
                null_mut(),
                &mut [],
            );
        }
        if target == recorded {
            ok!(CommandList.pfnClose(recorded));
            execute(queue, &mut [recorded], null_mut());
            ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
        } else {
            ok!(CommandList.pfnHostSynchronize(live, FOREVER));
        }
        assert_eq!(memory[99], 5);
        memory[1..].fill(0);
    }
}

#[test]
fn barriers_and_signals_follow_earlier_commands() {
    let context = context();
    let [gate, after, late] = events(context, false);
    let memory = words(context, 2);
    memory[0] = 9;
    let at = memory.as_mut_ptr();
    let list = immediate(context, ASYNC, 0);
    copy(list, at.wrapping_add(1), at, null_mut(), &mut [gate]);
    ok!(CommandList.pfnAppendBarrier(list, after, 0, null_mut()));
    ok!(CommandList.pfnAppendSignalEvent(list, late));
    for event in [after, late] {
        assert_eq!(ze!(Event.pfnQueryStatus(event)), ZE_RESULT_NOT_READY);
    }
    ok!(Event.pfnHostSignal(gate));
    ok!(Event.pfnHostSynchronize(late, FOREVER));
    ok!(Event.pfnQueryStatus(after));
    assert_eq!(memory[1], 9);
}

#[test]
fn a_fence_follows_its_submission() {
    let context = context();
    let queue = queue(context);
    let [gate] = events(context, false);
    let memory = words(context, 2);
    let at = memory.as_mut_ptr();
    let list = list(context, 0);
    copy(list, at.wrapping_add(1), at, null_mut(), &mut [gate]);
    ok!(CommandList.pfnClose(list));
    let (desc, mut fence) = (ze_fence_desc_t::default(), null_mut());
    ok!(Fence.pfnCreate(queue, &raw const desc, &raw mut fence));
    assert_eq!(ze!(Fence.pfnQueryStatus(fence)), ZE_RESULT_NOT_READY);
    execute(queue, &mut [list], fence);
    assert_eq!(ze!(Fence.pfnHostSynchronize(fence, 0)), ZE_RESULT_NOT_READY);
    ok!(Event.pfnHostSignal(gate));
    ok!(Fence.pfnHostSynchronize(fence, FOREVER));
    ok!(Fence.pfnReset(fence));
    assert_eq!(ze!(Fence.pfnQueryStatus(fence)), ZE_RESULT_NOT_READY);
    let signalled = ze_fence_desc_t {
        flags: ZE_FENCE_FLAG_SIGNALED,
        ..Default::default()
    };
    ok!(Fence.pfnCreate(queue, &raw const signalled, &raw mut fence));
    ok!(Fence.pfnQueryStatus(fence));
}

#[test]
fn counter_based_events_need_no_reset() {
    let context = context();
    let [event, other] = events(context, true);
    let [gate] = events(context, false);
    let memory = words(context, 2);
    let at = memory.as_mut_ptr();
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    let second = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    // Never signalled by a command: complete.
    ok!(Event.pfnQueryStatus(event));
    for value in 1..20 {
        memory[0] = value;
        copy(list, at.wrapping_add(1), at, event, &mut [gate]);
        assert_eq!(ze!(Event.pfnQueryStatus(event)), ZE_RESULT_NOT_READY);
        // This wait is for the use of `event` above, independent of later uses.
        ok!(CommandList.pfnAppendBarrier(second, other, 1, &raw const event as *mut _));
        ok!(Event.pfnHostSignal(gate));
        ok!(Event.pfnHostSynchronize(other, FOREVER));
        ok!(Event.pfnQueryStatus(event));
        assert_eq!(memory[1], value);
        ok!(Event.pfnHostReset(gate));
    }
    for result in [
        ze!(Event.pfnHostSignal(event)),
        ze!(Event.pfnHostReset(event)),
    ] {
        assert_eq!(result, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    }
}

#[test]
fn lists_run_on_immediate_lists() {
    let context = context();
    let [gate, done] = events(context, false);
    let memory = words(context, 3);
    memory[0] = 3;
    let at = memory.as_mut_ptr();
    let (one, two) = (list(context, 0), list(context, 0));
    copy(one, at.wrapping_add(1), at, null_mut(), &mut []);
    copy(
        two,
        at.wrapping_add(2),
        at.wrapping_add(1),
        null_mut(),
        &mut [],
    );
    for list in [one, two] {
        ok!(CommandList.pfnClose(list));
    }
    let live = immediate(context, ASYNC, 0);
    let (mut lists, mut waits) = ([one, two], [gate]);
    ok!(CommandListExp.pfnImmediateAppendCommandListsExp(
        live,
        2,
        lists.as_mut_ptr(),
        done,
        1,
        waits.as_mut_ptr()
    ));
    assert_eq!(ze!(Event.pfnQueryStatus(done)), ZE_RESULT_NOT_READY);
    ok!(Event.pfnHostSignal(gate));
    ok!(Event.pfnHostSynchronize(done, FOREVER));
    assert_eq!(memory[2], 3);
}

unsafe extern "C" fn count_up(data: *mut c_void) {
    // SAFETY: the test passes its counter.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_order() {
    let context = context();
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    let counter = AtomicU32::new(0);
    let data = (&raw const counter).cast_mut().cast();
    for _ in 0..10 {
        ok!(CommandList.pfnAppendHostFunction(
            list,
            Some(count_up),
            data,
            std::ptr::null(),
            null_mut(),
            0,
            null_mut()
        ));
    }
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
    assert_eq!(counter.load(Ordering::SeqCst), 10);
}

#[test]
fn long_chains_of_markers_do_not_recurse() {
    let context = context();
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    let other = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    let [gate, done] = events(context, false);
    let mut hops: Vec<ze_event_handle_t> = events::<4096>(context, false).to_vec();
    ok!(CommandList.pfnAppendBarrier(list, hops[0], 1, &raw const gate as *mut _));
    for i in 1..hops.len() {
        let target = if i % 2 == 0 { list } else { other };
        ok!(CommandList.pfnAppendBarrier(target, hops[i], 1, &raw mut hops[i - 1]));
    }
    let last = hops.len() - 1;
    ok!(CommandList.pfnAppendBarrier(list, done, 1, &raw mut hops[last]));
    ok!(Event.pfnHostSignal(gate));
    ok!(Event.pfnHostSynchronize(done, FOREVER));
}

#[test]
fn destroying_handles_does_not_affect_commands() {
    let context = context();
    let queue = queue(context);
    let [gate, done] = events(context, false);
    let memory = words(context, 2);
    memory[0] = 11;
    let at = memory.as_mut_ptr();
    let list = list(context, 0);
    copy(list, at.wrapping_add(1), at, done, &mut [gate]);
    ok!(CommandList.pfnClose(list));
    execute(queue, &mut [list], null_mut());
    ok!(CommandList.pfnReset(list));
    ok!(CommandList.pfnDestroy(list));
    ok!(CommandQueue.pfnDestroy(queue));
    ok!(Event.pfnHostSignal(gate));
    ok!(Event.pfnHostSynchronize(done, FOREVER));
    assert_eq!(memory[1], 11);
}

#[test]
fn a_fault_loses_the_context_and_ends_waits() {
    let context = context();
    let [never, done] = events(context, false);
    let memory = words(context, 2);
    let at = memory.as_mut_ptr();
    let blocked = immediate(context, ASYNC, 0);
    copy(blocked, at.wrapping_add(1), at, done, &mut [never]);
    let fault = kernel(context, c"fault");
    let list = immediate(context, ASYNC, 0);
    let launched = launch(list, fault, null_mut(), &mut []);
    assert_eq!(launched, ZE_RESULT_SUCCESS);
    let lost = ZE_RESULT_ERROR_DEVICE_LOST;
    assert_eq!(ze!(CommandList.pfnHostSynchronize(list, FOREVER)), lost);
    assert_eq!(ze!(Event.pfnHostSynchronize(done, FOREVER)), lost);
    assert_eq!(ze!(CommandList.pfnHostSynchronize(blocked, FOREVER)), lost);
    assert_eq!(ze!(Context.pfnGetStatus(context)), lost);
    assert!(last_error().contains("read address 0"), "{}", last_error());
    assert_eq!(memory[1], 0);
    // Others are not concerned.
    ok!(Context.pfnGetStatus(crate::api::context()));
    ok!(Device.pfnGetStatus(device(0)));
}

#[test]
fn memory_of_a_lost_context_is_freed_after_running_work() {
    static RUNS: AtomicBool = AtomicBool::new(false);
    static OPEN: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn wait_until_open(_: *mut c_void) {
        RUNS.store(true, Ordering::SeqCst);
        while !OPEN.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
    let context = context();
    let memory = words(context, 2).as_mut_ptr() as usize;
    let is_there = || {
        let mut properties = ze_memory_allocation_properties_t::default();
        let pointer = memory as *const c_void;
        ok!(Mem.pfnGetAllocProperties(context, pointer, &raw mut properties, null_mut()));
        properties.r#type != ZE_MEMORY_TYPE_UNKNOWN
    };
    let running = immediate(context, ASYNC, 0) as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(CommandList.pfnAppendHostFunction(
                running as ze_command_list_handle_t,
                Some(wait_until_open),
                null_mut(),
                std::ptr::null(),
                null_mut(),
                0,
                null_mut()
            ));
        });
        while !RUNS.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let list = immediate(context, ASYNC, 0);
        let fault = kernel(context, c"fault");
        let launched = launch(list, fault, null_mut(), &mut []);
        assert_eq!(launched, ZE_RESULT_SUCCESS);
        let lost = ZE_RESULT_ERROR_DEVICE_LOST;
        assert_eq!(ze!(CommandList.pfnHostSynchronize(list, FOREVER)), lost);
        ok!(Mem.pfnFree(context, memory as *mut c_void));
        let kept = is_there();
        OPEN.store(true, Ordering::SeqCst);
        assert!(kept, "another lane may still use it");
    });
    // The end of running work in a lost context is not reported.
    while is_there() {
        std::thread::yield_now();
    }
}

/// After this many appends a lane makes the host wait.
const BOUND: usize = 1 << 15;

#[test]
fn appends_beyond_the_bound_wait_for_work() {
    static OPEN: AtomicBool = AtomicBool::new(false);
    static APPENDED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn wait_until_open(_: *mut c_void) {
        while !OPEN.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
    let context = context();
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER) as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..BOUND + 1000 {
                ok!(CommandList.pfnAppendHostFunction(
                    list as ze_command_list_handle_t,
                    Some(wait_until_open),
                    null_mut(),
                    std::ptr::null(),
                    null_mut(),
                    0,
                    null_mut()
                ));
                APPENDED.fetch_add(1, Ordering::SeqCst);
            }
        });
        while APPENDED.load(Ordering::SeqCst) < BOUND {
            std::thread::yield_now();
        }
        // Time enough for the appends that the bound must hold back.
        for _ in 0..10_000 {
            std::thread::yield_now();
        }
        let appended = APPENDED.load(Ordering::SeqCst);
        OPEN.store(true, Ordering::SeqCst);
        assert_eq!(appended, BOUND);
    });
    ok!(CommandList.pfnHostSynchronize(list as ze_command_list_handle_t, FOREVER));
}

#[test]
fn graphs_beyond_the_bound_wait_for_work() {
    static OPEN: AtomicBool = AtomicBool::new(false);
    static APPENDED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn wait_until_open(_: *mut c_void) {
        while !OPEN.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
    // A graph of that many commands, with at least one more for its begin and end.
    const STEPS: usize = 63;
    const MOST: usize = BOUND / STEPS + 1;
    let context = context();
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    crate::graphs::begin(list);
    for _ in 0..STEPS {
        ok!(CommandList.pfnAppendHostFunction(
            list,
            Some(wait_until_open),
            null_mut(),
            std::ptr::null(),
            null_mut(),
            0,
            null_mut()
        ));
    }
    let graph = crate::graphs::instantiate(crate::graphs::end(list)) as usize;
    let list = list as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2 * MOST {
                let (list, graph) = (
                    list as ze_command_list_handle_t,
                    graph as ze_executable_graph_handle_t,
                );
                let got = crate::graphs::append(list, graph, null_mut(), &mut []);
                assert_eq!(got, ZE_RESULT_SUCCESS);
                APPENDED.fetch_add(1, Ordering::SeqCst);
            }
        });
        while APPENDED.load(Ordering::SeqCst) < MOST / 2 {
            std::thread::yield_now();
        }
        // Time enough for the appends that the bound must hold back.
        for _ in 0..10_000 {
            std::thread::yield_now();
        }
        let appended = APPENDED.load(Ordering::SeqCst);
        OPEN.store(true, Ordering::SeqCst);
        assert!(appended <= MOST, "{appended} of {MOST}");
    });
    ok!(CommandList.pfnHostSynchronize(list as ze_command_list_handle_t, FOREVER));
}

#[test]
fn appends_never_wait_for_a_signal_of_the_host() {
    let context = context();
    let [gate] = events(context, false);
    let counter = AtomicU32::new(0);
    let list = immediate(context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    for i in 0..BOUND + 1000 {
        ok!(CommandList.pfnAppendHostFunction(
            list,
            Some(count_up),
            (&raw const counter).cast_mut().cast(),
            std::ptr::null(),
            null_mut(),
            u32::from(i == 0),
            (&raw const gate).cast_mut()
        ));
    }
    assert_eq!(counter.load(Ordering::SeqCst), 0);
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
    assert_eq!(counter.load(Ordering::SeqCst) as usize, BOUND + 1000);
}
