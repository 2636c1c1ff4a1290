//! Graphs: captured work, executed as often as the program likes.
//!
//! A graph is recorded once and then constant. An executable graph has signals of its own for the counter-based
//! events inside, and lanes of its own for all branches but the primary one, which goes to the list that the graph is
//! appended to.

use crate::check::{error, lock, not_null, text};
use crate::core::append::refuse_parameters;
use crate::core::capture::{Branch, CAPTURES, Content, Seat, Step, unsupported};
use crate::core::context::Context;
use crate::core::event::Event;
use crate::core::list::{CommandList, Sync};
use crate::core::{dot, object};
use crate::device::Priority;
use crate::dispatch;
use crate::schedule::{Command, Lane, Signal};
use cancellation::HeldCancellation;
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex};
use ze_abi::{Chain, Handle, Handles, Head, Object, OptHandle, OutHandle, ZeError, ZeResult};
use ze_entry::ze_entry;

/// What devices can do with graphs.
pub(crate) const GRAPH_FLAGS: u32 = ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_IMMUTABLE_GRAPH
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_SUBGRAPHS
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_APPEND_COMMANDLIST
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_CB_EXTERNAL_IPC;

/// A recorded graph.
#[repr(C)]
pub(crate) struct Graph {
    head: Head,
    context: Arc<Context>,
    state: Mutex<State>,
    callbacks: Mutex<Vec<Callback>>,
}
object!(Graph, _ze_graph_handle_t, b"ZeGr", "graph");

struct Callback {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}
// SAFETY: an address of the client's, handed back to it and never looked at.
unsafe impl Send for Callback {}

struct State {
    phase: Phase,
    round: u64,
    /// Address of the list that captured; 0 when there is none any more.
    primary: usize,
    /// Queue group and mode of that list.
    like: (u32, ze_command_queue_mode_t),
    content: Content,
    /// `content`, once it is complete.
    recorded: Option<Arc<Content>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing was captured yet.
    Fresh,
    Recording,
    Recorded,
    /// What was captured makes no graph.
    Invalid,
}

impl Graph {
    fn new(context: Arc<Context>) -> Self {
        Self {
            head: Head::new::<Self>(dispatch::tables()),
            context,
            state: Mutex::new(State {
                phase: Phase::Fresh,
                round: 0,
                primary: 0,
                like: (0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
                content: Content::default(),
                recorded: None,
            }),
            callbacks: Mutex::default(),
        }
    }

    /// Runs `look` on what is being recorded; none when nothing is.
    pub(crate) fn recording<T>(&self, look: impl FnOnce(&mut Content) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        (state.phase == Phase::Recording).then(|| look(&mut state.content))
    }

    /// Whether a seat taken earlier is still one.
    pub(crate) fn has(&self, seat: &Seat) -> bool {
        let state = lock(&self.state);
        state.phase == Phase::Recording && state.round == seat.round
    }

    /// A branch for a list that begins or joins a capture.
    pub(crate) fn sit(self: &Arc<Self>, list: &CommandList) -> Option<Seat> {
        let mut state = lock(&self.state);
        if state.phase != Phase::Recording {
            return None;
        }
        state.content.branches.push(Branch {
            context: Arc::clone(list.context()),
            device: list.device().index(),
            steps: Vec::new(),
        });
        Some(Seat {
            graph: Arc::clone(self),
            round: state.round,
            branch: state.content.branches.len() - 1,
        })
    }

    /// The list that captured is destroyed.
    pub(crate) fn forget_primary(&self, list: usize) {
        let mut state = lock(&self.state);
        if state.primary == list {
            state.primary = 0;
            if state.phase == Phase::Recording {
                state.phase = Phase::Invalid;
            }
        }
    }

    fn complete(&self, name: &str) -> ZeResult<Arc<Content>> {
        let mut state = lock(&self.state);
        match state.phase {
            Phase::Invalid => invalid_graph(name),
            Phase::Recording => error(
                ZE_RESULT_ERROR_INVALID_GRAPH,
                format!("{name} is still being captured; end the capture first"),
            ),
            Phase::Fresh | Phase::Recorded => {
                let state = &mut *state;
                let content = &mut state.content;
                let recorded = state
                    .recorded
                    .get_or_insert_with(|| Arc::new(std::mem::take(content)));
                Ok(Arc::clone(recorded))
            }
        }
    }

    /// Runs `look` on the content, whatever state it is in.
    pub(crate) fn content<T>(&self, look: impl FnOnce(&Content) -> T) -> T {
        let state = lock(&self.state);
        look(state.recorded.as_deref().unwrap_or(&state.content))
    }
}

fn invalid_graph<T>(name: &str) -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_INVALID_GRAPH,
        format!("{name} is invalid: its capture was broken off or has forks that are not joined"),
    )
}

fn begin(list: &CommandList, graph: &Arc<Graph>) -> ZeResult {
    list.context().check()?;
    let (ordinal, mode) = list.capturable()?;
    if list.seat().is_some() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hCommandList is in graph capture mode already",
        );
    }
    {
        let mut state = lock(&graph.state);
        let empty = state.recorded.as_ref().is_none_or(|old| old.is_empty());
        if state.phase == Phase::Recording
            || state.phase == Phase::Invalid
            || !empty
            || !state.content.is_empty()
        {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hGraph holds a capture already, an empty graph is required",
            );
        }
        state.phase = Phase::Recording;
        state.round += 1;
        state.recorded = None;
        state.content = Content::default();
        state.primary = list.handle().addr();
        state.like = (ordinal, mode);
    }
    CAPTURES.add(Arc::clone(graph));
    list.begin_capture(graph);
    Ok(())
}

/// An empty graph; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphCreateExt_t)]
pub(crate) fn zeGraphCreateExt(
    hContext: Handle<'_, Context>,
    pNext: *const c_void,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    hContext.check()?;
    refuse_parameters(pNext)?;
    phGraph.write(Object::give(Arc::new(Graph::new(hContext.arc()))));
    Ok(())
}

/// Appends are recorded from now on, into a new graph; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListBeginGraphCaptureExt_t)]
pub(crate) fn zeCommandListBeginGraphCaptureExt(
    hCommandList: Handle<'_, CommandList>,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let graph = Arc::new(Graph::new(Arc::clone(hCommandList.context())));
    begin(&hCommandList, &graph)?;
    // The reference of C, which learns of the handle later.
    let _ = Object::give(graph);
    Ok(())
}

/// Appends are recorded from now on, into a graph that is empty; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListBeginCaptureIntoGraphExt_t)]
pub(crate) fn zeCommandListBeginCaptureIntoGraphExt(
    hCommandList: Handle<'_, CommandList>,
    hGraph: Handle<'_, Graph>,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    begin(&hCommandList, &hGraph.arc())
}

/// QUERY_TRUE in capture mode, else QUERY_FALSE; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListIsGraphCaptureEnabledExt_t)]
pub(crate) fn zeCommandListIsGraphCaptureEnabledExt(
    hCommandList: Handle<'_, CommandList>,
) -> ZeResult {
    Err(ZeError::status(if hCommandList.seat().is_some() {
        ZE_RESULT_QUERY_TRUE
    } else {
        ZE_RESULT_QUERY_FALSE
    }))
}

fn not_capturing<T>() -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING,
        "hCommandList is not in graph capture mode",
    )
}

/// Ends a capture; the graph is given out even when it is invalid, to be destroyed; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListEndGraphCaptureExt_t)]
pub(crate) fn zeCommandListEndGraphCaptureExt(
    hCommandList: Handle<'_, CommandList>,
    pNext: *const c_void,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let Some(seat) = hCommandList.seat() else {
        return not_capturing();
    };
    let graph = seat.graph;
    if seat.branch != 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hCommandList is a fork of the capture, which the list that began it ends",
        );
    }
    CAPTURES.remove(&graph);
    hCommandList.leave_capture();
    let mut state = lock(&graph.state);
    let unjoined = state.content.unjoined();
    state.content.close();
    state.phase = match unjoined {
        None => Phase::Recorded,
        Some(_) => Phase::Invalid,
    };
    drop(state);
    phGraph.write(graph.handle());
    hCommandList.context().check()?;
    match unjoined {
        None => Ok(()),
        Some(branch) => error(
            ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS,
            format!(
                "list {branch} that joined the capture has work which hCommandList does not wait for at the end"
            ),
        ),
    }
}

/// The graph that a list captures into; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListGetGraphExt_t)]
pub(crate) fn zeCommandListGetGraphExt(
    hCommandList: Handle<'_, CommandList>,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    match hCommandList.seat() {
        Some(seat) => {
            phGraph.write(seat.graph.handle());
            Ok(())
        }
        None => {
            phGraph.write(std::ptr::null_mut());
            not_capturing()
        }
    }
}

/// The list that captured; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphGetPrimaryCommandListExt_t)]
pub(crate) fn zeGraphGetPrimaryCommandListExt(
    hGraph: Handle<'_, Graph>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    let primary = lock(&hGraph.state).primary;
    if primary == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hGraph was never captured, or the list that captured it is destroyed",
        );
    }
    phCommandList.write(std::ptr::with_exposed_provenance_mut(primary));
    Ok(())
}

/// Called when the graph is destroyed; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphSetDestructionCallbackExt_t)]
pub(crate) fn zeGraphSetDestructionCallbackExt(
    hGraph: Handle<'_, Graph>,
    pfnCallback: zex_mem_graph_free_callback_fn_t,
    pUserData: *mut c_void,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let Some(function) = pfnCallback else {
        return not_null("pfnCallback", std::ptr::null::<c_void>());
    };
    lock(&hGraph.callbacks).push(Callback {
        function,
        data: pUserData,
    });
    Ok(())
}

/// QUERY_TRUE without commands, QUERY_FALSE with some; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphIsEmptyExt_t)]
pub(crate) fn zeGraphIsEmptyExt(hGraph: Handle<'_, Graph>) -> ZeResult {
    if lock(&hGraph.state).phase == Phase::Invalid {
        return invalid_graph("hGraph");
    }
    Err(ZeError::status(if hGraph.content(Content::is_empty) {
        ZE_RESULT_QUERY_TRUE
    } else {
        ZE_RESULT_QUERY_FALSE
    }))
}

/// Writes the graph as DOT; chain: how much of it; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphDumpContentsExt_t)]
pub(crate) fn zeGraphDumpContentsExt(
    hGraph: Handle<'_, Graph>,
    filePath: *const c_char,
    pNext: *const c_void,
) -> ZeResult {
    // SAFETY: null is answered; else a C string of the caller's.
    let path = unsafe { text("filePath", filePath) }?;
    let mut simple = false;
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(pNext) } {
        if link.stype != ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_DUMP_DESC {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                format!(
                    "pNext holds {:?}, ze_record_replay_graph_ext_dump_desc_t is allowed",
                    link.stype
                ),
            );
        }
        // SAFETY: the type says which struct it is.
        let desc = unsafe { link.get::<ze_record_replay_graph_ext_dump_desc_t>() };
        crate::check::enumeration(
            "ze_record_replay_graph_ext_dump_desc_t::mode",
            desc.mode.0,
            ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE.0,
        )?;
        simple = desc.mode == ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE;
    }
    let dot = hGraph.content(|content| dot::draw(content, simple));
    let written = signal_mask::without_write_signals(|| std::fs::write(&path, dot));
    match written.map_err(signal_mask::name_file_size_limit) {
        Ok(()) => Ok(()),
        Err(why) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("filePath is {path:?}, which cannot be written: {why}"),
        ),
    }
}

/// Ends the handle and calls who asked for it; executable graphs live on; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphDestroyExt_t)]
pub(crate) fn zeGraphDestroyExt(hGraph: Handle<'_, Graph>) -> ZeResult {
    let graph = hGraph.take();
    {
        let mut state = lock(&graph.state);
        if state.phase == Phase::Recording {
            state.phase = Phase::Invalid;
            drop(state);
            CAPTURES.remove(&graph);
        }
    }
    let callbacks = std::mem::take(&mut *lock(&graph.callbacks));
    // The graph goes, whatever its callbacks do.
    let _held = HeldCancellation::new();
    for callback in callbacks {
        // SAFETY: the client's function with the client's data, called once, without a lock.
        unsafe { (callback.function)(callback.data) };
    }
    Ok(())
}

/// A graph ready for execution.
#[repr(C)]
pub(crate) struct ExecutableGraph {
    head: Head,
    source: Arc<Graph>,
    content: Arc<Content>,
    like: (u32, ze_command_queue_mode_t),
    /// One for each branch but the first.
    lanes: Vec<Arc<Lane>>,
    /// Signals of the uses that only the graph has.
    own: Vec<Option<Arc<Signal>>>,
    /// By branch; none for commands that are made anew for each execution.
    commands: Vec<Vec<Option<Arc<Command>>>>,
    begin: Arc<Signal>,
    ends: Vec<Arc<Signal>>,
    /// Given when the last execution that was appended is over.
    last: Mutex<Option<Arc<Signal>>>,
}
object!(
    ExecutableGraph,
    _ze_executable_graph_handle_t,
    b"ZeEg",
    "executable graph"
);

/// The command of a step, with the signals of its uses.
fn command(step: &Step, uses: &[Option<Arc<Signal>>]) -> Command {
    let mut command = step.command.copy();
    let signal = |number: usize| uses.get(number).cloned().flatten();
    command
        .waits
        .extend(step.uses.iter().filter_map(|number| signal(*number)));
    command
        .waits
        .extend(step.events.iter().map(|event| event.waited()));
    if let Some(signal) = step.gives.and_then(signal) {
        (command.signal, command.counts) = (Some(signal), true);
    }
    command
}

impl ExecutableGraph {
    fn new(source: Arc<Graph>, content: Arc<Content>) -> Self {
        let own: Vec<_> = content
            .uses
            .iter()
            .map(|event| event.is_none().then(Signal::counter))
            .collect();
        let is_fixed = |step: &Step| {
            let mut uses = step.uses.iter().chain(&step.gives);
            step.events.is_empty() && uses.all(|number| own[*number].is_some())
        };
        let commands = content
            .branches
            .iter()
            .map(|branch| {
                let steps = branch.steps.iter();
                steps
                    .map(|step| is_fixed(step).then(|| Arc::new(command(step, &own))))
                    .collect()
            })
            .collect();
        let forks = content.branches.get(1..).unwrap_or_default();
        let lanes: Vec<_> = forks
            .iter()
            .map(|branch| Lane::new(&branch.context, branch.device, Priority::Normal))
            .collect();
        let like = lock(&source.state).like;
        Self {
            head: Head::new::<Self>(dispatch::tables()),
            like,
            ends: lanes.iter().map(|_| Signal::counter()).collect(),
            lanes,
            own,
            commands,
            begin: Signal::counter(),
            last: Mutex::new(None),
            source,
            content,
        }
    }

    /// The commands of one more execution, by branch.
    fn execution(&self) -> Vec<Vec<Arc<Command>>> {
        let mut uses = self.own.clone();
        for (slot, event) in uses.iter_mut().zip(&self.content.uses) {
            if let Some(event) = event {
                *slot = Some(event.signalled().0);
            }
        }
        let branches = self.commands.iter().zip(&self.content.branches);
        branches
            .map(|(fixed, branch)| {
                let steps = fixed.iter().zip(&branch.steps);
                steps
                    .map(|(fixed, step)| match fixed {
                        Some(command) => Arc::clone(command),
                        None => Arc::new(command(step, &uses)),
                    })
                    .collect()
            })
            .collect()
    }

    fn append(&self, lane: &Arc<Lane>, in_order: bool, sync: &Sync<'_>) -> u64 {
        let mut last = lock(&self.last);
        let mut waits: Vec<_> = sync.waits.iter().map(|event| event.waited()).collect();
        waits.extend(last.iter().cloned());
        let mut branches = self.execution().into_iter();
        let over = Signal::counter();
        let mut primary = vec![Arc::new(
            Command::gate(waits, in_order).signalling(Some((Arc::clone(&self.begin), true))),
        )];
        primary.extend(branches.next().unwrap_or_default());
        let end = Command::gate(self.ends.clone(), true);
        primary.push(Arc::new(end.signalling(Some((Arc::clone(&over), true)))));
        if let Some(event) = sync.signal {
            let end = Command::gate(Vec::new(), true);
            primary.push(Arc::new(end.signalling(Some(event.signalled()))));
        }
        let forks: Vec<Vec<_>> = branches
            .zip(&self.ends)
            .map(|(commands, end)| {
                let begin = Command::gate(vec![Arc::clone(&self.begin)], true);
                let end = Command::gate(Vec::new(), true).signalling(Some((Arc::clone(end), true)));
                std::iter::once(Arc::new(begin))
                    .chain(commands)
                    .chain([Arc::new(end)])
                    .collect()
            })
            .collect();
        let mut parts: Vec<(&Arc<Lane>, &[Arc<Command>])> = vec![(lane, &primary)];
        parts.extend(
            self.lanes
                .iter()
                .zip(&forks)
                .map(|(lane, commands)| (lane, commands.as_slice())),
        );
        let number = Lane::push_together(&parts);
        *last = Some(over);
        number
    }
}

/// A graph to execute; several of one graph are independent; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphInstantiateExt_t)]
pub(crate) fn zeGraphInstantiateExt(
    hGraph: Handle<'_, Graph>,
    pNext: *const c_void,
    phExecutableGraph: OutHandle<'_, _ze_executable_graph_handle_t>,
) -> ZeResult {
    hGraph.context.check()?;
    refuse_parameters(pNext)?;
    let content = hGraph.complete("hGraph")?;
    let graph = ExecutableGraph::new(hGraph.arc(), content);
    phExecutableGraph.write(Object::give(Arc::new(graph)));
    Ok(())
}

/// Executes a graph in a list like the one that captured it; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListAppendGraphExt_t)]
pub(crate) fn zeCommandListAppendGraphExt(
    hCommandList: Handle<'_, CommandList>,
    hGraph: Handle<'_, ExecutableGraph>,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    hCommandList.context().check()?;
    refuse_parameters(pNext)?;
    let sync = Sync::new(&hSignalEvent, &phWaitEvents);
    let (desc, lane) = hCommandList.immediate()?;
    if !hGraph.commands.is_empty() && hGraph.like != (desc.ordinal, desc.mode) {
        return error(
            ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
            format!(
                "hCommandList is for queue group {} in mode {:?}; hGraph was captured for group {} in mode {:?}",
                desc.ordinal, desc.mode, hGraph.like.0, hGraph.like.1
            ),
        );
    }
    if let Some(seat) = hCommandList.captured(&sync)? {
        let which = hGraph.handle().addr();
        return seat
            .graph
            .recording(|content| content.inline(seat.branch, which, &hGraph.content, &sync))
            .ok_or_else(|| unsupported("the capture has ended meanwhile"));
    }
    let number = hGraph.append(lane, hCommandList.is_in_order(), &sync);
    lane.hold_back(number);
    if desc.is_synchronous() {
        lane.wait(number, u64::MAX);
    }
    hCommandList.context().check()
}

/// The graph that it was made of; core/graph.yml (1.17).
#[ze_entry(ze_pfnExecutableGraphGetSourceGraphExt_t)]
pub(crate) fn zeExecutableGraphGetSourceGraphExt(
    hGraph: Handle<'_, ExecutableGraph>,
    phSourceGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    phSourceGraph.write(hGraph.source.handle());
    Ok(())
}

/// Ends the handle; executions under way end as they would; core/graph.yml (1.17).
#[ze_entry(ze_pfnExecutableGraphDestroyExt_t)]
pub(crate) fn zeExecutableGraphDestroyExt(hGraph: Handle<'_, ExecutableGraph>) -> ZeResult {
    drop(hGraph.take());
    Ok(())
}
