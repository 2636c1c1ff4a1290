//! A worker: takes jobs and runs them.

use super::affinity::PATIENCE_NS;
use super::executor::{Block, Executor};
use super::launch::{self, LOOK_NS, LaunchedKernel, NO_KERNEL, Prepared, Timing};
use super::scheduler::{Job, Scheduler};
use super::share::{Body, End, Share, finish};
use super::task_queues::Turn;
use super::{cooperative, transfer};
use crate::clock::now_ns;
use crate::fault::{self, Guard};
use crate::program::{Entry, TierCounter};
use crate::telemetry::Kind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use work_group_pool::{Plan, Position};
use ze_driver::device::{Launch, Task, Work};

/// After this time of constant work a worker checks the signal handlers again.
const RECHECK_NS: u64 = 1_000_000;

/// A thread's executor, and its part of a scheduler.
pub(super) struct Worker {
    pub(super) scheduler: &'static Scheduler,
    pub(super) executor: Executor,
    checked_ns: u64,
    /// When the last job was left.
    left_ns: u64,
    /// Launches so far that no other worker was awake to share.
    unshared: u32,
    /// The priority that goes first.
    turn: Turn,
    /// The queue entries of the share that it works on.
    offered: Vec<Position>,
    /// It runs brief launches only: see [`Self::inline`].
    light: bool,
}

/// After a longer pause the program may have replaced our signal handlers: installing one and submitting takes longer than
/// this.
const PAUSE_NS: u64 = 300;
/// After a pause of this length all handlers are checked, after a shorter one only the one that programs replace most.
const REST_NS: u64 = 20_000;

/// One of this many launches that no awake worker could share wakes one: a wake costs about as much as the launch.
const ROUSE: u32 = 16;

impl Worker {
    /// Prepares the calling thread for work. `None` if no signal stack is left.
    pub(super) fn enter(scheduler: &'static Scheduler) -> Option<Self> {
        Some(Self::with(Executor::enter()?, scheduler, false))
    }

    /// A worker of an inline slot, without its own thread. `None` if no stack is left for it.
    pub(super) fn inline(scheduler: &'static Scheduler) -> Option<Self> {
        let executor = Executor::new(Guard::inline()?, Block::default());
        Some(Self::with(executor, scheduler, true))
    }

    /// As [`Self::enter`], for a thread that has just checked the signal handlers, with memory used before.
    pub(super) fn visit(scheduler: &'static Scheduler, memory: &mut Block) -> Option<Self> {
        let executor = Executor::new(Guard::enter()?, std::mem::take(memory));
        let mut worker = Self::with(executor, scheduler, false);
        worker.checked_ns = now_ns();
        worker.left_ns = worker.checked_ns;
        Some(worker)
    }

    fn with(executor: Executor, scheduler: &'static Scheduler, light: bool) -> Self {
        Self {
            scheduler,
            executor,
            checked_ns: 0,
            left_ns: 0,
            unshared: 0,
            turn: Turn::default(),
            offered: Vec::new(),
            light,
        }
    }

    /// Runs a task that is light.
    pub(super) fn light_task(&mut self, task: Arc<dyn Task>, start_ns: u64) {
        self.scheduler
            .last_submission
            .store(start_ns, Ordering::Relaxed);
        self.task(task, start_ns);
    }

    /// Whether a launch that others could share is to wake one of them, where none is awake.
    fn rouses(&mut self) -> bool {
        self.unshared = self.unshared.wrapping_add(1);
        self.unshared.is_multiple_of(ROUSE)
    }

    /// Runs jobs forever.
    pub(super) fn run(&mut self) {
        loop {
            match self.scheduler.take(&mut self.turn) {
                Some(job) => self.job(job),
                None => self.scheduler.rest(),
            }
        }
    }

    pub(super) fn job(&mut self, job: Job) {
        let now = now_ns();
        self.scheduler.last_submission.store(now, Ordering::Relaxed);
        match job {
            // The worker that began the task has just checked the signal handlers.
            Job::Share(share) => self.take_part(&share, false),
            Job::Task(task) => {
                let pause = now.saturating_sub(self.left_ns);
                if pause > REST_NS || now.saturating_sub(self.checked_ns) > RECHECK_NS {
                    // The program may have replaced our handlers meanwhile.
                    fault::reinstall();
                    self.checked_ns = now;
                } else if pause > PAUSE_NS {
                    fault::reinstall_if_replaced();
                }
                self.task(task, now);
                // Not after a share: the program may have replaced handlers while that ran.
                self.left_ns = now_ns();
            }
        }
    }

    fn task(&mut self, task: Arc<dyn Task>, start_ns: u64) {
        if let Some(check) = crate::check::get() {
            check.begin_task(&*task);
        }
        let fault = match task.work() {
            Work::Nothing => None,
            Work::Launch(launch) => {
                // The first of several stays on this thread: its end is not the task's end.
                let alone = self.light || task.more() > 0;
                let end = if alone {
                    crate::witness::kernel_runs();
                    self.executor
                        .meter
                        .begin(Kind::Compute, task.device(), start_ns);
                    let first = launch::run_brief(&mut self.executor, task.work()).err();
                    let fault = first.or_else(|| self.rest(&*task));
                    self.executor.ended_ns = now_ns();
                    self.executor.meter.end(self.executor.ended_ns);
                    End::Here(fault)
                } else {
                    self.launch(&task, launch, start_ns)
                };
                match end {
                    End::Here(fault) => fault,
                    // The thread that does the last part finishes the task.
                    End::Shared => return,
                }
            }
            work @ (Work::Copy { .. } | Work::Fill { .. } | Work::CopyRegion(_)) => {
                let blocks = transfer::blocks(work);
                let threads = self
                    .scheduler
                    .threads
                    .min(usize::try_from(blocks).unwrap_or(1));
                if threads > 1 {
                    let plan = Plan {
                        threads,
                        ..Plan::SINGLY
                    };
                    let share =
                        Share::new(Arc::clone(&task), 0, blocks, plan, start_ns, Body::Transfer);
                    self.lead(&share, threads - 1, true);
                    return;
                }
                self.executor.transfer(&*task, start_ns, 0, blocks).err()
            }
            &Work::WriteTimestamp(to) => {
                let now = now_ns().to_ne_bytes();
                crate::check::written(to.cast(), now.len() as u64);
                self.executor
                    .guard
                    .move_bytes(to.cast(), now.as_ptr(), now.len())
                    .err()
                    .map(|fault| format!("writing a timestamp: {fault}"))
            }
            Work::Write { what, parts } => match catch_unwind(AssertUnwindSafe(|| parts())) {
                Ok(parts) => parts.iter().find_map(|(to, bytes)| {
                    crate::check::written(*to, bytes.len() as u64);
                    let written = self
                        .executor
                        .guard
                        .move_bytes(*to, bytes.as_ptr(), bytes.len());
                    written
                        .err()
                        .map(|fault| format!("writing {what} at {to:?}: {fault}"))
                }),
                Err(_) => Some("an internal error of the driver".to_owned()),
            },
            &Work::Host { function, data } => {
                // SAFETY: the client gave function and data for this call.
                unsafe { function(data) };
                None
            }
            Work::Internal(body) => catch_unwind(AssertUnwindSafe(|| body()))
                .is_err()
                .then(|| "an internal error of the driver".to_owned()),
        };
        let end_ns = match self.executor.ended_ns {
            // The clock was read when the kernel or transfer ended.
            end if end > start_ns => end,
            _ => now_ns(),
        };
        finish(task, start_ns, end_ns, fault);
    }

    /// Runs a launch, alone or with others.
    fn launch(&mut self, task: &Arc<dyn Task>, launch: &Launch, start_ns: u64) -> End {
        let Some(launched) = LaunchedKernel::of_launch(launch) else {
            return End::Here(Some(NO_KERNEL.to_owned()));
        };
        let kernel = launched.kernel;
        let groups = match launch::group_count(&self.executor.guard, launch.groups) {
            Ok(Some(groups)) => groups,
            Ok(None) => return End::Here(None),
            Err(text) => return End::Here(Some(launched.named(&text))),
        };
        let threads = match kernel.entry {
            // Groups in order, so that two runs give one report.
            Entry::Checked(..) => 1,
            _ => self.scheduler.threads,
        };
        let prepared = match Prepared::new(launched, groups, threads) {
            Ok(prepared) => prepared,
            Err(text) => return End::Here(Some(launched.named(&text))),
        };
        let is_single = prepared.groups == 1 && prepared.record.items_per_group == 1;
        if kernel.info.loops && is_single && kernel.tier().is_some_and(TierCounter::claim) {
            // One work-item runs to its end on the code that it began with.
            launched.program.improve(launch.kernel);
        }
        crate::witness::kernel_runs();
        self.executor.meter.kernel();
        if launch.cooperative && prepared.groups > 1 {
            return cooperative::run(task, prepared, start_ns);
        }
        if self.scheduler.threads > 1
            && let Some(turn) = prepared.attempt()
        {
            return End::Here(self.attempt(task, launched, prepared, turn, start_ns));
        }
        let fault = match self.alone(launched, &prepared, threads, start_ns) {
            Ok(Some((next, plan))) => {
                let left = prepared.groups - next;
                let body = Body::Kernel(Box::new(prepared));
                let share = Share::new(Arc::clone(task), next, left, plan, start_ns, body);
                self.lead(&share, plan.threads - 1, plan.wakes);
                return End::Shared;
            }
            Ok(None) => None,
            Err(text) => Some(text),
        };
        prepared.end();
        self.executor.shrink();
        End::Here(fault)
    }

    /// Runs work-groups until all have ended, or until other threads should take part: then the first group that is left, and
    /// the plan for the rest.
    pub(super) fn alone(
        &mut self,
        launched: LaunchedKernel<'_>,
        prepared: &Prepared,
        threads: usize,
        start_ns: u64,
    ) -> Result<Option<(u64, Plan)>, String> {
        let kernel = launched.kernel;
        let mut next = 0;
        while next < prepared.groups {
            let left = prepared.groups - next;
            let awake = self.scheduler.awake_beside();
            let mut plan = prepared.plan(kernel, left, threads, awake);
            if plan.threads == 1 && awake == 0 {
                // Other workers would take part if they were awake, as in sequences of launches.
                let shared = prepared.plan(kernel, left, threads, 1);
                if shared.threads > 1 && self.rouses() {
                    plan = Plan {
                        wakes: true,
                        ..shared
                    };
                }
            }
            if plan.threads > 1 {
                return Ok(Some((next, plan)));
            }
            let count = match kernel.cost.ns_per_group() {
                None => 1,
                // Rounding down to 0 is caught by `max`; a huge quotient saturates.
                Some(ns) => ((LOOK_NS / ns) as u64 / u64::from(prepared.joined)).clamp(1, left),
            };
            // The time since the task began is part of the cost.
            let begin = if next == 0 { start_ns } else { now_ns() };
            let timing = Timing::Metered(begin);
            prepared.run(&mut self.executor, launched, (next, count), timing)?;
            next += count;
        }
        Ok(None)
    }

    /// Runs the work that follows the first of a task.
    fn rest(&mut self, task: &dyn Task) -> Option<String> {
        (0..task.more())
            .find_map(|index| launch::run_brief(&mut self.executor, task.next_work(index)).err())
    }

    /// Works on `share` until nothing is left to claim, with up to `helpers` other workers.
    pub(super) fn lead(&mut self, share: &Arc<Share>, helpers: usize, wake: bool) {
        let places = Some(&mut self.offered);
        self.scheduler.offer(share, helpers, wake, places);
        self.take_part(share, true);
        self.scheduler.withdraw(&mut self.offered);
    }

    /// Works on `share` until nothing is left to claim; a worker other than its owner also leaves when a task waits.
    fn take_part(&mut self, share: &Arc<Share>, owner: bool) {
        if !owner {
            share.joined.store(true, Ordering::Relaxed);
        }
        let mut waits_since = owner.then(now_ns);
        let kernel = share.kernel();
        while let Some(ended) = share.part(&mut self.executor, kernel) {
            if ended {
                break;
            }
            if let Some(since) = waits_since {
                let now = now_ns();
                if share.joined.load(Ordering::Relaxed) {
                    waits_since = None;
                } else if now.saturating_sub(since) > PATIENCE_NS {
                    self.scheduler.affinity.move_away(now);
                    waits_since = None;
                }
            }
            if !owner && self.scheduler.task_waits() {
                if share.dispatch.has_unclaimed() {
                    self.scheduler.offer(share, 1, true, None);
                }
                break;
            }
        }
        self.executor.shrink();
    }
}
