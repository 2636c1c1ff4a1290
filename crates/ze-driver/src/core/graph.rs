//! The graph object: captured commands, recorded once and then constant.

use crate::check::{error, lock};
use crate::core::context::Context;
use crate::core::graph_content::{Branch, Content};
use crate::core::object;
use crate::dispatch;
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use ze_abi::{Head, ZeResult};

/// Graph features of devices.
pub(crate) const GRAPH_FLAGS: u32 = ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_IMMUTABLE_GRAPH
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_SUBGRAPHS
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_APPEND_COMMANDLIST
    | ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_CB_EXTERNAL_IPC;

/// A recorded graph.
#[repr(C)]
pub(crate) struct Graph {
    head: Head,
    pub(super) context: Arc<Context>,
    pub(super) state: Mutex<State>,
    pub(super) callbacks: Mutex<Vec<Callback>>,
}
object!(Graph, _ze_graph_handle_t, b"ZeGr", "graph");

pub(super) struct Callback {
    pub(super) function: unsafe extern "C" fn(*mut c_void),
    pub(super) data: *mut c_void,
}
// SAFETY: the address is the client's; the driver only passes it back.
unsafe impl Send for Callback {}

pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) round: u64,
    /// Handle address of the list that captured; 0 after its destruction.
    pub(super) primary: usize,
    /// Queue group and mode of that list.
    pub(super) like: (u32, ze_command_queue_mode_t),
    pub(super) content: Content,
    /// `content`, once it is complete.
    pub(super) recorded: Option<Arc<Content>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing is captured yet.
    Fresh,
    Recording,
    Recorded,
    /// The capture was broken off, or has unjoined forks.
    Invalid,
}

impl Graph {
    pub(super) fn new(context: Arc<Context>) -> Self {
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

    /// Runs `look` on the content while it is being recorded.
    pub(crate) fn recording<T>(&self, look: impl FnOnce(&mut Content) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        (state.phase == Phase::Recording).then(|| look(&mut state.content))
    }

    /// Whether that capture is still active.
    pub(crate) fn is_in_round(&self, round: u64) -> bool {
        let state = lock(&self.state);
        state.phase == Phase::Recording && state.round == round
    }

    /// Adds a branch to the active capture. Returns the numbers of capture and branch.
    pub(crate) fn add_branch(&self, context: &Arc<Context>, device: usize) -> Option<(u64, usize)> {
        let mut state = lock(&self.state);
        if state.phase != Phase::Recording {
            return None;
        }
        state.content.branches.push(Branch {
            context: Arc::clone(context),
            device,
            steps: Vec::new(),
        });
        Some((state.round, state.content.branches.len() - 1))
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

    pub(super) fn complete(&self, name: &str) -> ZeResult<Arc<Content>> {
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

    /// Runs `look` on the content in any state.
    pub(crate) fn content<T>(&self, look: impl FnOnce(&Content) -> T) -> T {
        let state = lock(&self.state);
        look(state.recorded.as_deref().unwrap_or(&state.content))
    }
}

pub(super) fn invalid_graph<T>(name: &str) -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_INVALID_GRAPH,
        format!("{name} is invalid: its capture was broken off or has forks that are not joined"),
    )
}
