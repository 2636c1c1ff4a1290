//! Immediate command lists: each has its own lane, which executes appended commands or records them into a graph.

use crate::check::lock;
use crate::core::capture::{CAPTURES, CaptureSlot, unsupported};
use crate::core::dependencies::Dependencies;
use crate::core::graph::Graph;
use crate::core::queue_desc::QueueDesc;
use crate::schedule::{Command, CommandLane};
use level_zero_sys::*;
use std::sync::{Arc, Mutex, Weak};
use ze_abi::ZeResult;

/// A list that executes commands when they are appended.
pub(crate) struct ImmediateList {
    pub(super) desc: QueueDesc,
    pub(super) lane: Arc<CommandLane>,
    capture: Mutex<Capture>,
}

/// The list's part in graph captures.
#[derive(Default)]
struct Capture {
    slot: Option<CaptureSlot>,
    /// Graphs that it captured.
    graphs: Vec<Weak<Graph>>,
}

impl ImmediateList {
    pub(super) fn new(desc: QueueDesc, lane: Arc<CommandLane>) -> Self {
        Self {
            desc,
            lane,
            capture: Mutex::default(),
        }
    }

    /// Submits commands; a synchronous list waits for them.
    pub(super) fn submit(&self, commands: impl IntoIterator<Item = Arc<Command>>) -> ZeResult {
        let number = self.lane.push(commands, false);
        self.complete(number)
    }

    /// A synchronous list waits until all commands up to `number` have finished.
    pub(super) fn complete(&self, number: u64) -> ZeResult {
        if self.desc.is_synchronous() {
            self.lane.wait(number, u64::MAX);
            self.lane.context().check()?;
        }
        Ok(())
    }

    /// The list's place in a graph capture, if it is in one.
    pub(super) fn capture_slot(&self) -> Option<CaptureSlot> {
        if CAPTURES.is_idle() {
            return None;
        }
        let slot = lock(&self.capture).slot.clone()?;
        slot.is_valid().then_some(slot)
    }

    /// The place where an append with those events is recorded; none when it is executed. A list that waits for an event of
    /// a capture joins it here.
    pub(super) fn capture_slot_for(
        &self,
        dependencies: &Dependencies<'_>,
    ) -> ZeResult<Option<CaptureSlot>> {
        if CAPTURES.is_idle() {
            return Ok(None);
        }
        let slot = self.capture_slot();
        let graph = CAPTURES.joined(slot.as_ref(), dependencies, true)?;
        let (None, Some(graph)) = (&slot, graph) else {
            return Ok(slot);
        };
        if self.desc.is_synchronous() {
            return Err(unsupported(
                "hCommandList is synchronous and waits for an event of a graph capture: asynchronous lists join captures",
            ));
        }
        let slot = CaptureSlot::take(&graph, self.lane.context(), self.lane.device());
        lock(&self.capture).slot.clone_from(&slot);
        Ok(slot)
    }

    /// Queue group and mode of a list that can be captured.
    pub(super) fn capturable(&self) -> ZeResult<(u32, ze_command_queue_mode_t)> {
        if self.desc.is_synchronous() {
            return Err(unsupported(
                "hCommandList is synchronous, an asynchronous immediate list is required",
            ));
        }
        Ok((self.desc.ordinal, self.desc.mode))
    }

    /// Enters capture mode as the primary list of `graph`.
    pub(super) fn begin_capture(&self, graph: &Arc<Graph>) {
        let mut capture = lock(&self.capture);
        capture.slot = CaptureSlot::take(graph, self.lane.context(), self.lane.device());
        capture.graphs.retain(|graph| graph.strong_count() > 0);
        capture.graphs.push(Arc::downgrade(graph));
    }

    /// Leaves capture mode.
    pub(super) fn leave_capture(&self) {
        lock(&self.capture).slot = None;
    }

    /// The list, whose handle has that address, is about to be destroyed: a capture that it began breaks off.
    pub(super) fn forget(&self, address: usize) {
        let capture = std::mem::take(&mut *lock(&self.capture));
        if let Some(slot) = capture
            .slot
            .filter(|slot| slot.branch == 0 && slot.is_valid())
        {
            CAPTURES.remove(&slot.graph);
        }
        for graph in capture.graphs.iter().filter_map(Weak::upgrade) {
            graph.forget_primary(address);
        }
    }
}
