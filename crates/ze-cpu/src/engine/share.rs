//! Work that several threads do together.

use super::affinity::current_cpu;
use super::executor::Executor;
use super::launch::{LaunchedKernel, NO_KERNEL, Prepared, Timing};
use crate::clock::now_ns;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use work_group_pool::{Dispatch, Plan};
use ze_driver::device::{Outcome, Task};

/// The work of one task, in parts that threads claim.
pub(crate) struct Share {
    pub(super) task: Arc<dyn Task>,
    /// Number of the first part; the dispatch counts from there.
    pub(super) first: u64,
    pub(super) dispatch: Dispatch,
    pub(super) plan: Plan,
    pub(super) body: Body,
    /// Whether another thread than the offering one has joined.
    pub(super) joined: AtomicBool,
    start_ns: u64,
    /// The first fault.
    pub(super) fault: OnceLock<String>,
    /// Whether the last part of an attempt has ended.
    has_ended: Mutex<bool>,
    ended: Condvar,
}

/// The kind of a share's parts.
pub(crate) enum Body {
    /// A work-group.
    Kernel(Box<Prepared>),
    /// A work-group of a launch with checks: the thread that began the task finishes it.
    Attempt(Box<Prepared>),
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
        // Parts that may run in any order stay with the processor that did them last: its caches hold their memory.
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
            has_ended: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Waits for the last part of an attempt.
    pub(super) fn wait(&self) {
        let has_ended = self.has_ended.lock();
        let mut has_ended = has_ended.unwrap_or_else(PoisonError::into_inner);
        while !*has_ended {
            let waited = self.ended.wait(has_ended);
            has_ended = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first fault is kept; running parts are told to stop.
    fn fail(&self, fault: String) {
        if let Body::Kernel(prepared) | Body::Attempt(prepared) = &self.body {
            prepared.cancel.store(1, Ordering::Relaxed);
        }
        // The first fault stays.
        let _ = self.fault.set(fault);
    }

    /// The kernel whose work-groups are the parts, for [`Self::part`]; each thread looks it up once.
    pub(super) fn kernel(&self) -> Option<LaunchedKernel<'_>> {
        match self.body {
            Body::Kernel(_) | Body::Attempt(_) => LaunchedKernel::of(self.task.work()),
            Body::Transfer => None,
        }
    }

    /// Claims some parts and runs them. `Some(true)`: these were the last to end; `None`: none was left to claim.
    pub(super) fn part(
        &self,
        executor: &mut Executor,
        kernel: Option<LaunchedKernel<'_>>,
    ) -> Option<bool> {
        let range = self
            .dispatch
            .claim(self.plan.chunk, self.plan.least, current_cpu())?;
        let first = self.first + range.first;
        let result = match (&self.body, kernel) {
            (Body::Transfer, _) => executor.transfer(&*self.task, now_ns(), first, range.count),
            (Body::Kernel(prepared) | Body::Attempt(prepared), Some(kernel)) => prepared.run(
                executor,
                kernel,
                (first, range.count),
                Timing::Metered(now_ns()),
            ),
            (Body::Kernel(_) | Body::Attempt(_), None) => Err(NO_KERNEL.to_owned()),
        };
        let mut done = range.count;
        if let Err(fault) = result {
            self.fail(fault);
            done += self.dispatch.abandon();
        }
        let ended = self.dispatch.finish(done);
        if ended {
            self.complete();
        }
        Some(ended)
    }

    /// Called by the thread that did the last part.
    fn complete(&self) {
        match &self.body {
            Body::Kernel(prepared) => prepared.end(),
            Body::Attempt(_) => {
                let has_ended = self.has_ended.lock();
                *has_ended.unwrap_or_else(PoisonError::into_inner) = true;
                self.ended.notify_all();
                return;
            }
            Body::Transfer => {}
        }
        let fault = self.fault.get().cloned();
        finish(Arc::clone(&self.task), self.start_ns, now_ns(), fault);
    }
}

/// How a launch ended.
pub(super) enum End {
    /// On this worker, perhaps with a fault.
    Here(Option<String>),
    /// Other workers take part; the last of them finishes the task.
    Shared,
}

/// Reports to the driver that `task` is done.
pub(super) fn finish(task: Arc<dyn Task>, start_ns: u64, end_ns: u64, fault: Option<String>) {
    let outcome = Outcome {
        start_ns,
        end_ns,
        fault,
    };
    // A panic there must not end the worker.
    let _ = catch_unwind(AssertUnwindSafe(|| task.finished(outcome)));
    crate::check::task_finished();
}
