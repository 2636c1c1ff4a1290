//! Graph captures under way, and the rules of forks and joins.

use crate::check::{error, lock};
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::event::Event;
use crate::core::graph::Graph;
use crate::core::graph_content::is_internal;
use crate::schedule::Command;
use level_zero_sys::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use ze_abi::{ZeError, ZeResult};

/// A list's place in a capture.
#[derive(Clone)]
pub(crate) struct CaptureSlot {
    /// The graph that captures.
    pub(crate) graph: Arc<Graph>,
    /// Which of the graph's captures.
    pub(crate) round: u64,
    /// The list's branch.
    pub(crate) branch: usize,
}

impl CaptureSlot {
    /// Adds a branch to a capture, for a list on that context and device; none when the capture is over.
    pub(crate) fn take(graph: &Arc<Graph>, context: &Arc<Context>, device: usize) -> Option<Self> {
        let (round, branch) = graph.add_branch(context, device)?;
        Some(Self {
            graph: Arc::clone(graph),
            round,
            branch,
        })
    }

    /// Whether the capture is still active.
    pub(crate) fn is_valid(&self) -> bool {
        self.graph.is_in_round(self.round)
    }

    /// Records the commands of one append: the first waits, the last signals.
    pub(crate) fn record(
        &self,
        commands: impl ExactSizeIterator<Item = Command>,
        dependencies: &Dependencies<'_>,
    ) -> ZeResult {
        self.graph
            .recording(|content| content.record(self.branch, commands, dependencies))
            .ok_or_else(|| {
                ZeError::new(
                    ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED,
                    "the graph capture of hCommandList was aborted",
                )
            })
    }
}

/// Active captures. Appends look here only when there are any.
pub(crate) struct Captures {
    count: AtomicUsize,
    active: Mutex<Vec<Arc<Graph>>>,
}

/// The captures of this process.
pub(crate) static CAPTURES: Captures = Captures {
    count: AtomicUsize::new(0),
    active: Mutex::new(Vec::new()),
};

impl Captures {
    /// Whether no list is in capture mode.
    pub(crate) fn is_idle(&self) -> bool {
        // Relaxed: a capture that begins on another thread is not ordered with this call anyway.
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Adds a capture.
    pub(crate) fn add(&self, graph: Arc<Graph>) {
        let mut active = lock(&self.active);
        active.push(graph);
        self.count.store(active.len(), Ordering::Relaxed);
    }

    /// Removes a capture that is over.
    pub(crate) fn remove(&self, graph: &Graph) {
        let mut active = lock(&self.active);
        active.retain(|other| !std::ptr::eq(&raw const **other, graph));
        self.count.store(active.len(), Ordering::Relaxed);
    }

    /// The capture in which a step signals `event`.
    fn marking(&self, event: &Event) -> Option<Arc<Graph>> {
        let active = lock(&self.active).clone();
        active.into_iter().find(|graph| {
            graph
                .recording(|content| content.marks(event))
                .unwrap_or(false)
        })
    }

    /// Checks an append to a recorded list, which cannot be captured.
    ///
    /// # Errors
    /// GRAPH_INTERNAL_EVENT.
    pub(crate) fn check_uncaptured(&self, dependencies: &Dependencies<'_>) -> ZeResult {
        if self.is_idle() {
            return Ok(());
        }
        self.joined(None, dependencies, false).map(drop)
    }

    /// The capture of a list that waits for those events; `slot` is the list's current place.
    ///
    /// # Errors
    /// GRAPH_CAPTURE_MERGE_ATTEMPT, GRAPH_INTERNAL_EVENT.
    pub(crate) fn joined(
        &self,
        slot: Option<&CaptureSlot>,
        dependencies: &Dependencies<'_>,
        is_immediate: bool,
    ) -> ZeResult<Option<Arc<Graph>>> {
        let mut found = slot.map(|slot| Arc::clone(&slot.graph));
        for event in dependencies.waits {
            let Some(graph) = self.marking(event) else {
                continue;
            };
            match &found {
                Some(mine) if Arc::ptr_eq(mine, &graph) => {}
                Some(_) => {
                    return error(
                        ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
                        "phWaitEvents holds an event of another graph capture: two captures cannot be merged",
                    );
                }
                None if is_immediate => found = Some(graph),
                None if is_internal(event) => return internal("phWaitEvents[i]"),
                None => {}
            }
        }
        if let Some(event) = dependencies.signal.filter(|event| is_internal(event)) {
            let elsewhere = self
                .marking(event)
                .is_some_and(|graph| found.as_ref().is_none_or(|mine| !Arc::ptr_eq(mine, &graph)));
            if elsewhere {
                return internal("hSignalEvent");
            }
        }
        Ok(found)
    }

    /// GRAPH_CAPTURE_UNSUPPORTED for a host wait on an event of a capture.
    pub(crate) fn check_wait(&self, event: &Event) -> ZeResult {
        if !self.is_idle() && self.marking(event).is_some() {
            return Err(unsupported(
                "hEvent is signalled by a command that is being captured: the host cannot wait for it",
            ));
        }
        Ok(())
    }

    /// GRAPH_INTERNAL_EVENT for a host query of an event that only a capture uses.
    pub(crate) fn check_query(&self, event: &Event) -> ZeResult {
        if !self.is_idle() && is_internal(event) && self.marking(event).is_some() {
            return internal("hEvent");
        }
        Ok(())
    }
}

fn internal<T>(name: &str) -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT,
        format!(
            "{name} is a counter-based event of a graph capture; create it with ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL to use it outside of the graph too"
        ),
    )
}

/// GRAPH_CAPTURE_UNSUPPORTED with a text.
pub(crate) fn unsupported(text: &str) -> ZeError {
    ZeError::new(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED, text)
}
