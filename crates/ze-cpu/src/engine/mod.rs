//! The engine: workers take submitted tasks from queues without locks and run them, large ones together.
//!
//! Modules, from the floor up:
//! - `futex`, `affinity`, `join`, `transfer`, `task_queues`: sleeping on a word, processors of threads, work-groups that run
//!   as one, copies, the queues of tasks;
//! - `executor`: the means of one thread to run work; `launch`: a launch on an executor;
//! - `share`: work that several threads do together; `cooperative`: a thread for each work-group;
//! - `scheduler`: queues and idle workers; `worker`: takes jobs from a scheduler and runs them on its executor;
//!   `attempt`: launches with checks on several threads;
//! - `inline_slot`, `stack_call`: a waiting thread runs its work, the quick way and the general way;
//! - this module: [`Engine`], which starts workers, takes tasks and lets threads wait.
//!
//! Invariants
//! - Submitted work progresses without a waiter: a worker that is awake notices a submission, or the submission wakes one.
//! - At least two workers exist, so that two kernels that wait for each other both run.
//! - Tasks of a higher priority go first; now and then one of the lowest priority does, so that all get their turn.
//! - New tasks go before shares of old ones: a worker that has joined a share leaves between chunks when a task waits.
//! - A short copy behind which no command waits runs on the thread that submits it, before the submission returns.
//! - Where the system gives no thread, the thread that submits a task runs it.
//! - Workers are never joined; the process may end while they run.

mod affinity;
mod attempt;
mod cooperative;
mod executor;
mod futex;
mod inline_slot;
mod join;
mod launch;
mod scheduler;
mod share;
mod stack_call;
mod task_queues;
mod transfer;
mod worker;

use crate::clock::now_ns;
use crate::{fault, forks};
pub(crate) use cooperative::MOST_GROUPS as MOST_COOPERATIVE;
use futex::Scope;
use inline_slot::InlineSlots;
pub(crate) use launch::is_brief;
use scheduler::{Job, Scheduler};
use signal_mask::HeldSignals;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering, fence};
use std::sync::{Arc, Once, OnceLock};
use task_queues::Turn;
use work_group_pool::Waits;
use worker::Worker;
use ze_driver::device::{Outcome, Task, Work};

/// How long a waiting thread spins before it sleeps: as long as a worker.
const SPIN_NS: u64 = scheduler::POLL_NS;
/// How long a waiting thread leaves its work to the workers.
const NOTICE_NS: u64 = 1_000;
/// The maximum delay of a timed sleep.
const SLACK_NS: u64 = 80_000;
/// Bytes of a worker's stack.
const STACK: usize = 8 << 20;

/// Most bytes of a copy or fill that the submitting thread does itself: the wake of a worker takes longer.
///
/// A copy of 64 KiB that is waited for took 1.70 µs instead of 2.35, where `memcpy` took 1.31 (`./x bench driver`, medians of
/// 4 interleaved runs; Intel Xeon, two processors, 2026-11).
const DIRECT_BYTES: u64 = 64 << 10;

/// Queue entries of each priority that a waiting thread searches for its work.
const LOOK: usize = 64;

/// The workers and the tasks that wait for them.
pub(crate) struct Engine {
    scheduler: Scheduler,
    slots: InlineSlots,
    workers: usize,
    /// Whether waiting threads run their work themselves. Without it, a submission that is waited for takes 2523 ns
    /// instead of 661, an empty kernel 2564 ns instead of 794, a copy of 64 KiB 1.56 times as long (`SOLUM_HELP=0 ./x
    /// bench driver`, medians of 7 interleaved rounds, AMD EPYC, two processors, 2026-11).
    runs_while_waiting: bool,
    /// CPUs that its workers stay on; empty for any.
    pinned: Vec<usize>,
    start: Once,
    /// The engine created before this one: see [`Engine::all`].
    previous: OnceLock<&'static Engine>,
}

/// The newest engine.
static NEWEST: AtomicPtr<Engine> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// Whether the calling thread is inside [`Engine::run_on_caller`].
    static RUNS_ON_CALLER: Cell<bool> = const { Cell::new(false) };
    /// Whether the calling thread is inside [`Engine::run_here`].
    static RUNS_HERE: Cell<bool> = const { Cell::new(false) };
}

impl Engine {
    /// An engine for `cpus` CPUs; its workers start with the first task. It lives forever, because workers do.
    pub(crate) fn new(cpus: usize, runs_while_waiting: bool) -> &'static Self {
        Self::on(cpus, runs_while_waiting, Vec::new())
    }

    /// As [`Self::new`], with workers that stay on the CPUs of `pinned`.
    pub(crate) fn on(cpus: usize, runs_while_waiting: bool, pinned: Vec<usize>) -> &'static Self {
        fault::wait_in_forks();
        // After `wait_in_forks`, so that it runs before that takes its lock (such handlers run in reverse order): an export
        // that waits for the lock knows of the child.
        forks::watch();
        let workers = cpus.max(2);
        let engine: &'static Self = Box::leak(Box::new(Self {
            scheduler: Scheduler::new(workers, cpus.max(1)),
            slots: InlineSlots::default(),
            workers,
            runs_while_waiting,
            pinned,
            start: Once::new(),
            previous: OnceLock::new(),
        }));
        let newest = NEWEST.swap(std::ptr::from_ref(engine).cast_mut(), Ordering::AcqRel);
        // SAFETY: only engines are stored there, and an engine lives forever.
        if let Some(newest) = unsafe { newest.as_ref() } {
            // A reader before this line sees fewer engines. Nothing else sets the field.
            let _ = engine.previous.set(newest);
        }
        engine
    }

    /// Every engine of the process.
    fn all() -> impl Iterator<Item = &'static Self> {
        // SAFETY: only engines are stored there, and an engine lives forever.
        let newest = unsafe { NEWEST.load(Ordering::Acquire).as_ref() };
        std::iter::successors(newest, |engine| engine.previous.get().copied())
    }

    /// Whether the system could not start a thread for the engine.
    fn lacks_workers(&self) -> bool {
        self.start.is_completed() && !self.scheduler.has_workers()
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Hands `task` to a worker, or runs it if that takes less time.
    pub(crate) fn submit(&'static self, task: Arc<dyn Task>) {
        if forks::is_child() {
            return;
        }
        self.start.call_once(|| self.start_workers());
        if !self.scheduler.has_workers() {
            self.run_on_caller(task);
        } else if let Err(task) = self.run_directly(task) {
            self.scheduler.submit(task);
        }
    }

    /// Runs `task` on the submitting thread if it is a short copy or fill behind which no other command waits, or returns
    /// it. Kernels are never run so: one may wait for the program's next writes to shared memory.
    fn run_directly(&'static self, task: Arc<dyn Task>) -> Result<(), Arc<dyn Task>> {
        let is_short = match task.work() {
            Work::Copy { len, .. } | Work::Fill { len, .. } => *len <= DIRECT_BYTES,
            _ => false,
        };
        if is_short && self.runs_while_waiting && !Scheduler::is_worker() && task.is_last() {
            self.run_here(task, now_ns())
        } else {
            Err(task)
        }
    }

    /// Runs `task` on the calling thread from `now` on, or returns it: the thread runs one already, or memory is short.
    fn run_here(&'static self, task: Arc<dyn Task>, now: u64) -> Result<(), Arc<dyn Task>> {
        if RUNS_HERE.replace(true) {
            return Err(task);
        }
        let ran =
            self.slots.run(&self.scheduler, task, now).or_else(|task| {
                match stack_call::run(&self.scheduler, Job::Task(task)) {
                    Err(Job::Task(task)) => Err(task),
                    Ok(()) | Err(Job::Share(_)) => Ok(()),
                }
            });
        RUNS_HERE.set(false);
        ran
    }

    /// Blocks until `done()`; see `Platform::wait`.
    pub(crate) fn wait(
        &'static self,
        awaited: (&AtomicU32, u64),
        sleepers: &AtomicU32,
        done: &dyn Fn() -> bool,
        deadline: u64,
    ) -> bool {
        if done() {
            return true;
        }
        let may_run = self.runs_while_waiting && deadline == u64::MAX;
        let mut begin = now_ns();
        // A spinning worker is faster than this thread, which has to save its signals first.
        while may_run
            && (self.scheduler.idle.looking() == 0 || self.scheduler.has_run_inline(begin))
            && self.run_while_waiting(awaited, begin)
        {
            if done() {
                return true;
            }
            begin = now_ns();
        }
        let spin_end = begin.saturating_add(if self.scheduler.threads > 1 {
            SPIN_NS
        } else {
            0
        });
        let mut kicked = false;
        loop {
            for _ in 0..32 {
                if done() {
                    return true;
                }
                std::hint::spin_loop();
            }
            let now = now_ns();
            if now >= spin_end.min(deadline) {
                break;
            }
            if now > begin.saturating_add(NOTICE_NS) {
                if may_run && self.run_while_waiting(awaited, now) {
                    continue;
                }
                if !kicked {
                    // A spinning worker would have taken the work by now: the workers nap or sleep.
                    self.scheduler.kick();
                    kicked = true;
                }
                // The thread that ends the work may need this processor.
                std::thread::yield_now();
            }
        }
        sleepers.fetch_add(1, Ordering::SeqCst);
        // The count is visible before the word is read: the thread that changes the word reads them in the reverse
        // order.
        fence(Ordering::SeqCst);
        let met = loop {
            let value = awaited.0.load(Ordering::Acquire);
            if done() {
                break true;
            }
            if may_run && self.run_while_waiting(awaited, now_ns()) {
                continue;
            }
            let limit = if deadline == u64::MAX {
                None
            } else {
                match deadline.checked_sub(now_ns()) {
                    None | Some(0) => break done(),
                    // The system wakes late by its timer slack: the last moment is spent spinning.
                    Some(left) if left <= SLACK_NS => {
                        std::hint::spin_loop();
                        continue;
                    }
                    Some(left) => Some(left - SLACK_NS),
                }
            };
            self.scheduler.kick();
            // The word may be in memory that other processes signal through.
            futex::wait(awaited.0, value, limit, Scope::Shared);
        };
        sleepers.fetch_sub(1, Ordering::SeqCst);
        met
    }

    /// Runs one task that the wait on this word for this value needs; `false` without one.
    fn run_while_waiting(&'static self, awaited: (&AtomicU32, u64), now: u64) -> bool {
        if !self.scheduler.task_waits() {
            return false;
        }
        let Some(task) = self.scheduler.tasks.take(LOOK, awaited) else {
            return false;
        };
        self.scheduler.idle.remove(Waits::TASK);
        match self.run_here(task, now) {
            Ok(()) => true,
            // This is a worker or a thread inside of a callback, or there is no memory: a worker runs the task.
            Err(task) => {
                self.submit(task);
                false
            }
        }
    }

    /// Runs `task` and the tasks that it makes ready on the calling thread, because no engine of theirs has a worker.
    /// The program may be exiting, or the system cannot start a thread.
    #[cold]
    fn run_on_caller(&'static self, task: Arc<dyn Task>) {
        self.scheduler.tasks.push(task);
        self.scheduler.idle.add(Waits::TASK);
        // A task that is submitted by a task of the loop below runs in that loop.
        if RUNS_ON_CALLER.replace(true) {
            return;
        }
        let mut turn = Turn::default();
        while let Some((engine, job)) = Engine::all()
            .filter(|engine| engine.lacks_workers())
            .find_map(|engine| Some((engine, engine.scheduler.take(&mut turn)?)))
        {
            if let Err(Job::Task(task)) = stack_call::run(&engine.scheduler, job) {
                no_thread(task);
            }
        }
        RUNS_ON_CALLER.set(false);
    }

    fn start_workers(&'static self) {
        fault::install();
        if !fault::can_guard() {
            return;
        }
        // The program's signal handlers run on the program's threads.
        let _held = HeldSignals::all();
        for number in 0..self.workers {
            let thread = std::thread::Builder::new()
                .name(format!("solum-{number}"))
                .stack_size(STACK);
            // Counted before it runs. Nothing waits for it: a submission inside of dlopen holds the dynamic linker's lock,
            // which a thread needs to begin.
            self.scheduler.worker_starts();
            let started = thread.spawn(move || {
                stay_on(&self.pinned);
                self.scheduler.enter_worker(number);
                // The default timer slack would lengthen naps.
                // SAFETY: a system call without memory.
                unsafe {
                    libc::prctl(libc::PR_SET_TIMERSLACK, 1000usize);
                }
                match Worker::enter(&self.scheduler) {
                    Some(mut worker) => worker.run(),
                    // All signal stacks are in use.
                    None => self.worker_lost(),
                }
            });
            if started.is_err() {
                self.scheduler.worker_ends();
            }
        }
    }

    /// A worker cannot run. Without any other the waiting tasks fail.
    fn worker_lost(&self) {
        if self.scheduler.worker_ends() > 0 {
            return;
        }
        let mut turn = Turn::default();
        while let Some(job) = self.scheduler.take(&mut turn) {
            if let Job::Task(task) = job {
                no_thread(task);
            }
        }
    }
}

/// Fails a task that no thread can run.
fn no_thread(task: Arc<dyn Task>) {
    let now = now_ns();
    task.finished(Outcome {
        start_ns: now,
        end_ns: now,
        fault: Some("the system cannot start a thread to run work".to_owned()),
    });
    crate::check::task_finished();
}

/// Keeps the calling thread on those CPUs; if the system fails, it stays where it is.
fn stay_on(cpus: &[usize]) {
    if cpus.is_empty() {
        return;
    }
    // SAFETY: an all-zero set is valid; numbers beyond its size are left out; the call reads the set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

#[cfg(test)]
mod tests;
