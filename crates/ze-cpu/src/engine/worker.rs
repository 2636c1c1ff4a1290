//! A worker: takes jobs and runs them.

use super::launch::Timing;
use super::share::{Body, Share};
use super::spread::{self, PATIENCE_NS};
use super::{Engine, Job, Turn, launch, now_ns, transfer};
use crate::fault::{self, Guard};
use crate::telemetry::{Kind, Meter, Usage};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use work_group_pool::{Place, Plan};
use ze_driver::device::{Outcome, Task, Work};

/// After this time of constant work a worker looks at the signal handlers again.
const RECHECK_NS: u64 = 1_000_000;
/// A worker's memory for kernels above this size is given back after the launch.
const KEEP_MEMORY: usize = 64 << 20;

/// What a thread needs to run work.
pub(crate) struct Worker {
    pub(super) engine: &'static Engine,
    pub(super) guard: Guard,
    pub(super) meter: Meter,
    memory: Block,
    checked_ns: u64,
    /// When the last job was left.
    left_ns: u64,
    /// When the last measured part of a kernel ended.
    pub(super) ended_ns: u64,
    /// Brief launches so far.
    brief: u32,
    /// Launches that nobody was awake to share so far.
    unshared: u32,
    /// Which priority goes first.
    turn: Turn,
    /// Where it has offered the share that it works on.
    offered: Vec<Place>,
    /// It runs brief launches only: see [`Self::berth`].
    light: bool,
}

/// A worker that was without a job for longer may find the program's signal handlers in place of ours: less than it takes
/// to install one and submit.
const PAUSE_NS: u64 = 300;
/// After a pause of this length all handlers are looked at, after a shorter one the one that is replaced most.
const REST_NS: u64 = 20_000;

/// One of so many brief launches is measured.
pub(super) const SAMPLE: u32 = 16;

/// One of so many launches that nobody is awake to share wakes somebody: a wake costs about as much as such a launch.
const ROUSE: u32 = 16;

impl Worker {
    /// Makes the calling thread able to run work. None: no signal stack is left.
    pub(super) fn enter(engine: &'static Engine) -> Option<Self> {
        Some(Self::behind(Guard::enter()?, engine, false))
    }

    /// A worker without a thread, for waiting threads to take in turn. None: no stack is left for it.
    pub(super) fn berth(engine: &'static Engine) -> Option<Self> {
        Some(Self::behind(Guard::berth()?, engine, true))
    }

    fn behind(guard: Guard, engine: &'static Engine, light: bool) -> Self {
        Self {
            engine,
            guard,
            meter: Usage::own().meter(),
            memory: Block::default(),
            checked_ns: 0,
            left_ns: 0,
            ended_ns: 0,
            brief: 0,
            unshared: 0,
            turn: Turn::default(),
            offered: Vec::new(),
            light,
        }
    }

    /// Runs a task that is light.
    pub(super) fn light_task(&mut self, task: Arc<dyn Task>, start_ns: u64) {
        self.engine
            .last_submission
            .store(start_ns, Ordering::Relaxed);
        self.task(task, start_ns);
    }

    /// As [`Self::enter`], for a thread that has just looked at the signal handlers, with memory used before.
    pub(super) fn visit(engine: &'static Engine, memory: &mut Block) -> Option<Self> {
        let mut worker = Self::enter(engine)?;
        worker.memory = std::mem::take(memory);
        worker.checked_ns = now_ns();
        worker.left_ns = worker.checked_ns;
        Some(worker)
    }

    /// The memory, for another thread.
    pub(super) fn leave(mut self) -> Block {
        std::mem::take(&mut self.memory)
    }

    /// Whether the next brief launch is to be measured.
    pub(super) fn samples(&mut self) -> bool {
        self.brief = self.brief.wrapping_add(1);
        self.brief.is_multiple_of(SAMPLE)
    }

    /// Whether a launch that others could share is to wake one of them, none being awake.
    pub(super) fn rouses(&mut self) -> bool {
        self.unshared = self.unshared.wrapping_add(1);
        self.unshared.is_multiple_of(ROUSE)
    }

    /// Runs jobs for ever.
    pub(super) fn run(&mut self) {
        loop {
            match self.engine.take(&mut self.turn) {
                Some(job) => self.job(job),
                None => self.engine.idle(),
            }
        }
    }

    pub(super) fn job(&mut self, job: Job) {
        let now = now_ns();
        self.engine.last_submission.store(now, Ordering::Relaxed);
        match job {
            // Whoever began the task has just looked at the signal handlers.
            Job::Share(share) => self.help(&share, false),
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
        let fault = match task.work() {
            Work::Nothing => None,
            Work::Launch(launch) => {
                // The first of several stays on this thread: its end is not the task's.
                let alone = self.light || task.more() > 0;
                let end = if alone {
                    crate::witness::kernel_runs();
                    self.meter.begin(Kind::Compute, task.device(), start_ns);
                    let first = launch::run_brief(self, task.work()).err();
                    let fault = first.or_else(|| self.rest(&*task));
                    self.ended_ns = now_ns();
                    self.meter.end(self.ended_ns);
                    launch::End::Here(fault)
                } else {
                    launch::run(self, &task, launch, start_ns)
                };
                match end {
                    launch::End::Here(fault) => fault,
                    // Whoever does the last part finishes the task.
                    launch::End::Shared => return,
                }
            }
            work @ (Work::Copy { .. } | Work::Fill { .. } | Work::CopyRegion(_)) => {
                let blocks = transfer::blocks(work);
                let threads = self
                    .engine
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
                self.transfer(&task, 0, blocks).err()
            }
            &Work::WriteTimestamp(to) => {
                let now = now_ns().to_ne_bytes();
                self.guard
                    .move_bytes(to.cast(), now.as_ptr(), now.len())
                    .err()
                    .map(|fault| format!("writing a timestamp: {fault}"))
            }
            Work::Write { what, parts } => match catch_unwind(AssertUnwindSafe(|| parts())) {
                Ok(parts) => parts.iter().find_map(|(to, bytes)| {
                    let written = self.guard.move_bytes(*to, bytes.as_ptr(), bytes.len());
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
        let end_ns = match self.ended_ns {
            // The clock was looked at when the kernel ended.
            end if end > start_ns => end,
            _ => now_ns(),
        };
        tell(task, start_ns, end_ns, fault);
    }

    /// Runs what follows the work of a task.
    fn rest(&mut self, task: &dyn Task) -> Option<String> {
        (0..task.more()).find_map(|index| launch::run_brief(self, task.next_work(index)).err())
    }

    /// Works on `share` until nothing is left to claim, with up to `helpers` others.
    pub(super) fn lead(&mut self, share: &Arc<Share>, helpers: usize, wake: bool) {
        let places = Some(&mut self.offered);
        self.engine.offer(share, helpers, wake, places);
        self.help(share, true);
        self.engine.withdraw(&mut self.offered);
    }

    /// Works on `share` until nothing is left to claim; a helper also leaves when a task waits.
    fn help(&mut self, share: &Arc<Share>, owner: bool) {
        if !owner {
            share.joined.store(true, Ordering::Relaxed);
        }
        let mut waits_since = owner.then(now_ns);
        while let Some(ended) = self.part(share) {
            if ended {
                break;
            }
            if let Some(since) = waits_since {
                let now = now_ns();
                if share.joined.load(Ordering::Relaxed) {
                    waits_since = None;
                } else if now.saturating_sub(since) > PATIENCE_NS {
                    self.engine.spread.part(now);
                    waits_since = None;
                }
            }
            if !owner && self.engine.task_waits() {
                if share.dispatch.has_unclaimed() {
                    self.engine.offer(share, 1, true, None);
                }
                break;
            }
        }
        self.memory.shrink();
    }

    /// Does one claim of `share`.
    pub(super) fn one_part(&mut self, share: &Arc<Share>) {
        self.part(share);
    }

    /// Claims and does a part; whether it was the last to end, `None` when nothing was left.
    fn part(&mut self, share: &Arc<Share>) -> Option<bool> {
        let range = share
            .dispatch
            .claim(share.plan.chunk, share.plan.least, spread::here())?;
        let first = share.first + range.first;
        let result = match &share.body {
            Body::Transfer => self.transfer(&share.task, first, range.count),
            Body::Kernel(prepared) => prepared.run(
                self,
                share.task.work(),
                (first, range.count),
                Timing::Metered(now_ns()),
            ),
        };
        let mut done = range.count;
        if let Err(fault) = result {
            share.fail(fault);
            done += share.dispatch.abandon();
        }
        let ended = share.dispatch.finish(done);
        if ended {
            share.complete();
        }
        Some(ended)
    }

    /// Does blocks of a copy or fill.
    fn transfer(&mut self, task: &Arc<dyn Task>, first: u64, count: u64) -> Result<(), String> {
        self.meter.begin(Kind::Copy, task.device(), now_ns());
        let result = transfer::run(&self.guard, task.work(), first, count);
        self.meter.end(now_ns());
        if result.is_ok() {
            self.meter.bytes(transfer::bytes(task.work(), first, count));
        }
        result
    }

    /// `bytes` of memory for a kernel, 64-byte aligned, not zeroed.
    pub(super) fn memory(&mut self, bytes: usize) -> Option<*mut u8> {
        self.memory.at_least(bytes)
    }

    /// Gives back memory that was unusually large.
    pub(super) fn shrink(&mut self) {
        self.memory.shrink();
    }
}

/// Tells the driver that `task` is done.
pub(super) fn finish(task: Arc<dyn Task>, start_ns: u64, fault: Option<String>) {
    tell(task, start_ns, now_ns(), fault);
}

fn tell(task: Arc<dyn Task>, start_ns: u64, end_ns: u64, fault: Option<String>) {
    let outcome = Outcome {
        start_ns,
        end_ns,
        fault,
    };
    // A panic there must not take the worker with it.
    let _ = catch_unwind(AssertUnwindSafe(|| task.finished(outcome)));
}

/// Memory with a page on either side that nobody may touch.
#[derive(Debug, Default)]
pub(super) struct Block {
    base: usize,
    len: usize,
}

const PAGE: usize = 4096;

impl Block {
    fn at_least(&mut self, bytes: usize) -> Option<*mut u8> {
        if bytes > self.len {
            self.release();
            let len = bytes
                .checked_next_multiple_of(PAGE)?
                .checked_next_power_of_two()?
                .max(1 << 20);
            let room = len.checked_add(2 * PAGE)?;
            // SAFETY: fresh memory; the pages between the two outer ones are opened.
            unsafe {
                let base = libc::mmap(
                    std::ptr::null_mut(),
                    room,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                );
                if base == libc::MAP_FAILED {
                    return None;
                }
                let inner = base as usize + PAGE;
                let rights = libc::PROT_READ | libc::PROT_WRITE;
                if libc::mprotect(inner as *mut libc::c_void, len, rights) != 0 {
                    libc::munmap(base, room);
                    return None;
                }
                (self.base, self.len) = (inner, len);
            }
        }
        Some(self.base as *mut u8)
    }

    fn shrink(&mut self) {
        if self.len > KEEP_MEMORY {
            self.release();
        }
    }

    fn release(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by `at_least`; no kernel runs on this thread.
            unsafe {
                libc::munmap((self.base - PAGE) as *mut libc::c_void, self.len + 2 * PAGE);
            }
            // Field by field: an assignment as a whole would drop, and so release, the old value.
            (self.base, self.len) = (0, 0);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.release();
    }
}
