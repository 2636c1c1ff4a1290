//! Work that several workers do together.

use super::launch::Prepared;
use super::worker::finish;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use work_group_pool::{Dispatch, Plan};
use ze_driver::device::Task;

/// One task's work, shared.
pub(crate) struct Share {
    pub(super) task: Arc<dyn Task>,
    /// Number of the first part; the dispatch counts from there.
    pub(super) first: u64,
    pub(super) dispatch: Dispatch,
    pub(super) plan: Plan,
    pub(super) body: Body,
    /// Whether anybody but the one who offers it has taken a part.
    pub(super) joined: AtomicBool,
    start_ns: u64,
    /// The first.
    fault: OnceLock<String>,
}

/// What a part is.
pub(crate) enum Body {
    /// A work-group.
    Kernel(Box<Prepared>),
    /// A block of a copy or fill.
    Transfer,
}

impl Share {
    pub(super) fn new(
        task: Arc<dyn Task>,
        first: u64,
        parts: u64,
        plan: Plan,
        start_ns: u64,
        body: Body,
    ) -> Arc<Self> {
        // What may run in any order is done where it was done the last time: its memory lies in those caches.
        let homes = match &body {
            Body::Kernel(prepared) if !prepared.any_order => 1,
            _ => plan.threads,
        };
        Arc::new(Self {
            task,
            first,
            dispatch: Dispatch::new(parts, homes),
            plan,
            body,
            joined: AtomicBool::new(false),
            start_ns,
            fault: OnceLock::new(),
        })
    }

    /// The first fault is kept; running parts are asked to stop.
    pub(super) fn fail(&self, fault: String) {
        if let Body::Kernel(prepared) = &self.body {
            prepared.cancel.store(1, Ordering::Relaxed);
        }
        // Whoever was first keeps his.
        let _ = self.fault.set(fault);
    }

    /// Called by whoever did the last part.
    pub(super) fn complete(&self) {
        if let Body::Kernel(prepared) = &self.body {
            prepared.end();
        }
        let fault = self.fault.get().cloned();
        finish(Arc::clone(&self.task), self.start_ns, fault);
    }
}

/// The byte that asks a kernel to stop.
pub(super) type Cancel = AtomicU8;
