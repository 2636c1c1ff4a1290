//! The engine: workers take submitted tasks from queues without locks and run them, large ones together.
//!
//! Invariants
//! - Submitted work progresses without a waiter: a submission is noticed by a worker that is awake, or
//!   wakes one.
//! - At least two workers exist, so that two kernels that wait for each other both run.
//! - Tasks of queues of a higher priority go first, but for one in some that goes last.
//! - New tasks go before helping with old ones: a worker that helps leaves between chunks when a task
//!   waits.
//! - Where the system gives no thread, the thread that submits a task runs it.
//! - Workers are never joined; the process may end while they run.

mod berth;
mod cooperative;
mod futex;
mod help;
mod join;
mod launch;
pub(crate) mod place;
mod share;
mod spread;
mod transfer;
mod waiting;
mod worker;

use crate::fault;
use berth::Berths;
pub(crate) use cooperative::MOST_GROUPS as MOST_COOPERATIVE;
use futex::Scope;
pub(crate) use futex::{clocks, now_ns};
use help::on_stack;
pub(crate) use launch::is_brief;
use share::Share;
use signal_mask::HeldSignals;
use spread::Spread;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
use std::sync::{Arc, Once, OnceLock};
use waiting::{Turn, Waiting};
use work_group_pool::{Label, Place, Queue, Roster, Waits};
use worker::Worker;
use ze_driver::device::{Outcome, Task};

/// How long an idle worker, or a waiting thread, looks before it sleeps.
const SPIN_NS: u64 = 20_000;
/// How long after the last submission one worker stays close to awake.
const DOZE_NS: u64 = 4_000_000;
/// One of its naps.
const NAP_NS: u64 = 50_000;
/// One of so many submissions wakes a worker that naps.
const NAPS: u32 = 32;
/// How long a waiting thread gives workers to notice the work it waits for.
const NOTICE_NS: u64 = 1_000;
/// How often a worker looks for work that is counted and not found.
const MISSES: usize = 64;
/// How late a timed sleep may end.
const SLACK_NS: u64 = 80_000;
/// Bytes of a worker's stack.
const STACK: usize = 8 << 20;

/// The workers and what waits for them.
pub(crate) struct Engine {
    /// Tasks that no worker has begun.
    tasks: Waiting,
    /// Tasks that others may join, once for each who may.
    shares: Queue<Arc<Share>>,
    /// How much there is of both, and who looks for it.
    roster: Roster,
    /// Submissions while nobody looked all the time.
    unnoticed: AtomicU32,
    /// When work was last begun.
    last_submission: AtomicU64,
    /// When a waiting thread last ran what it waits for the short way.
    helped: AtomicU64,
    berths: Berths,
    spread: Spread,
    workers: usize,
    /// Whether waiting threads run what they wait for.
    help: bool,
    /// CPUs that a launch may spread over.
    threads: usize,
    /// CPUs that its workers stay on; empty: wherever the system puts them.
    pinned: Vec<usize>,
    start: Once,
    running: AtomicUsize,
    /// The engine made before this one: see [`Engine::all`].
    previous: OnceLock<&'static Engine>,
}

/// The engine made last.
static NEWEST: AtomicPtr<Engine> = AtomicPtr::new(std::ptr::null_mut());

enum Job {
    Task(Arc<dyn Task>),
    Share(Arc<Share>),
}

/// Set in a forked child, where no worker exists.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Set in the parent of a forked child.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The engine whose worker this thread is: it looks at that engine's queue by itself soon.
    static WORKS_FOR: std::cell::Cell<*const Engine> = const { std::cell::Cell::new(std::ptr::null()) };
}

impl Engine {
    /// An engine for `cpus` CPUs; its workers start with the first task. Lives for ever, because
    /// workers do.
    pub(crate) fn new(cpus: usize, help: bool) -> &'static Self {
        Self::on(cpus, help, Vec::new())
    }

    /// As [`Self::new`], for a share of the machine.
    pub(crate) fn on(cpus: usize, help: bool, pinned: Vec<usize>) -> &'static Self {
        static FORK: Once = Once::new();
        FORK.call_once(|| {
            fault::wait_in_forks();
            // Before the fork, and before `wait_in_forks` takes its lock (such handlers run in reverse order): an export that
            // waits for the lock knows of the child. A fork that fails is taken for one as well.
            // SAFETY: the handlers only store to atomics.
            unsafe {
                libc::pthread_atfork(Some(before_fork), None, Some(in_child));
            }
        });
        let engine: &'static Self = Box::leak(Box::new(Self {
            tasks: Waiting::default(),
            shares: Queue::new(),
            roster: Roster::new(),
            unnoticed: AtomicU32::new(0),
            last_submission: AtomicU64::new(0),
            helped: AtomicU64::new(0),
            berths: Berths::default(),
            spread: Spread::new(cpus.max(2)),
            workers: cpus.max(2),
            help,
            threads: cpus.max(1),
            pinned,
            start: Once::new(),
            running: AtomicUsize::new(0),
            previous: OnceLock::new(),
        }));
        let newest = NEWEST.swap(std::ptr::from_ref(engine).cast_mut(), Ordering::AcqRel);
        // SAFETY: only engines are stored there, and an engine lives for ever.
        if let Some(newest) = unsafe { newest.as_ref() } {
            // A reader that comes before this line sees fewer engines. Nothing else sets the field.
            let _ = engine.previous.set(newest);
        }
        engine
    }

    /// Every engine of the process.
    fn all() -> impl Iterator<Item = &'static Self> {
        // SAFETY: only engines are stored there, and an engine lives for ever.
        let newest = unsafe { NEWEST.load(Ordering::Acquire).as_ref() };
        std::iter::successors(newest, |engine| engine.previous.get().copied())
    }

    /// Whether the system has given the engine no thread.
    fn lacks_workers(&self) -> bool {
        self.start.is_completed() && self.running.load(Ordering::Acquire) == 0
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Hands `task` to a worker.
    pub(crate) fn submit(&'static self, task: Arc<dyn Task>) {
        if FORKED.load(Ordering::Relaxed) {
            return;
        }
        self.start.call_once(|| self.start_workers());
        if self.running.load(Ordering::Acquire) == 0 {
            self.run_on_caller(task);
            return;
        }
        self.tasks.push(task);
        let waits = self.roster.add(Waits::TASK);
        // A worker that submits takes the first itself, right after what it does now.
        if waits.is_one() && std::ptr::eq(WORKS_FOR.get(), self) {
            return;
        }
        self.ring(usize::from(self.roster.awake() == 0 || self.is_wake_due()));
    }

    /// Whether a worker that naps is woken all the same: it would look soon by itself, or whoever waits does the work.
    /// But now and then, so that a program that submits and waits all the time gets a worker that stays awake for it.
    fn is_wake_due(&self) -> bool {
        self.roster.looking() == 0
            && self
                .unnoticed
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(NAPS)
    }

    /// Lets `helpers` other workers join `share`, of which some are woken if need be and `wake`. Where they are offered
    /// goes to `places`, for [`Self::withdraw`].
    fn offer(
        &self,
        share: &Arc<Share>,
        helpers: usize,
        wake: bool,
        mut places: Option<&mut Vec<Place>>,
    ) {
        for _ in 0..helpers {
            let place = self.shares.push(Arc::clone(share), &Label::default());
            if let Some(places) = &mut places {
                places.push(place);
            }
        }
        self.roster.add(Waits::shares(helpers));
        // Who looks all the time finds it; if he ends that just now he looks once more before he sleeps.
        let looking = if wake { self.roster.looking() } else { helpers };
        self.ring(helpers.saturating_sub(looking));
    }

    /// Takes back what nobody has come for: nothing of it is left to be done, and who is busy elsewhere would not take
    /// it out for long.
    fn withdraw(&self, places: &mut Vec<Place>) {
        let taken = places
            .drain(..)
            .filter_map(|place| self.shares.take_back(place))
            .count();
        if taken > 0 {
            self.roster.remove(Waits::shares(taken));
        }
    }

    /// Workers beside the calling thread that need not be woken: they look for work, or end what they do.
    fn awake_beside(&self) -> usize {
        let own = usize::from(std::ptr::eq(WORKS_FOR.get(), self));
        let running = self.running.load(Ordering::Relaxed);
        running.saturating_sub(self.roster.resting() + own)
    }

    /// Whether a task waits for a worker.
    fn task_waits(&self) -> bool {
        self.roster.waits().tasks() > 0
    }

    /// Sees to it that waiting work gets a worker soon: for a thread that is about to sleep until
    /// that work is done.
    fn kick(&self) {
        if self.roster.waits().any() {
            self.ring(1);
        }
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
        let helps = self.help && deadline == u64::MAX;
        // A worker that looks at the queue by itself is faster than this thread with its signals to save.
        while helps
            && (self.roster.looking() == 0 || self.is_helped(now_ns()))
            && self.help(awaited)
        {
            if done() {
                return true;
            }
        }
        let begin = now_ns();
        let spin_end = begin.saturating_add(if self.threads > 1 { SPIN_NS } else { 0 });
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
            if helps && now > begin.saturating_add(NOTICE_NS) && self.help(awaited) {
                continue;
            }
            if !kicked && now > begin.saturating_add(NOTICE_NS) {
                // A spinning worker would have taken the work by now: whoever is there naps.
                self.kick();
                kicked = true;
            }
        }
        sleepers.fetch_add(1, Ordering::SeqCst);
        // The count is visible before the word is looked at: whoever changes that looks in the opposite order.
        fence(Ordering::SeqCst);
        let met = loop {
            let value = awaited.0.load(Ordering::Acquire);
            if done() {
                break true;
            }
            if helps && self.help(awaited) {
                continue;
            }
            let limit = if deadline == u64::MAX {
                None
            } else {
                match deadline.checked_sub(now_ns()) {
                    None | Some(0) => break done(),
                    // The system wakes late by its timer slack: the last moment is waited for awake.
                    Some(left) if left <= SLACK_NS => {
                        std::hint::spin_loop();
                        continue;
                    }
                    Some(left) => Some(left - SLACK_NS),
                }
            };
            self.kick();
            // The word may lie in memory that other processes signal through.
            futex::wait(awaited.0, value, limit, Scope::Shared);
        };
        sleepers.fetch_sub(1, Ordering::SeqCst);
        met
    }

    /// Lets those who sleep or nap find the signal changed, and wakes up to `count` of them.
    fn ring(&self, count: usize) {
        if self.roster.rings() && count > 0 {
            futex::wake(self.roster.signal(), count, Scope::Process);
        }
    }

    /// The next thing to do.
    fn take(&self, turn: &mut Turn) -> Option<Job> {
        for _ in 0..MISSES {
            let waits = self.roster.waits();
            if !waits.any() {
                return None;
            }
            let (job, kind) = match (waits.tasks() > 0).then(|| self.tasks.pop(turn)).flatten() {
                Some(task) => (Job::Task(task), Waits::TASK),
                None => match self.shares.pop(false) {
                    Some(share) => (Job::Share(share), Waits::shares(1)),
                    None => {
                        std::hint::spin_loop();
                        continue;
                    }
                },
            };
            let left = self.roster.remove(kind);
            // Whoever was awake for this job is busy now.
            if left.any() && self.roster.awake() == 0 {
                self.ring(1);
            }
            return Some(job);
        }
        // Somebody has taken what is counted and was interrupted before he could say so.
        std::thread::yield_now();
        None
    }

    /// Returns when there may be something to do.
    fn idle(&self) {
        if !self.roster.linger(|| self.look(), || self.doze()) {
            self.roster.sleep(|signal, value| {
                self.spread.rest();
                futex::wait(signal, value, None, Scope::Process);
            });
        }
    }

    /// Spins for a moment; true when work has come.
    fn look(&self) -> bool {
        if self.threads == 1 {
            return self.roster.waits().any();
        }
        let end = now_ns().saturating_add(SPIN_NS);
        let mut noticed = None;
        loop {
            for _ in 0..64 {
                if !self.roster.waits().any() {
                    noticed = None;
                } else if !self.gives_way(*noticed.get_or_insert_with(now_ns)) {
                    return true;
                }
                std::hint::spin_loop();
            }
            if now_ns() >= end {
                return false;
            }
        }
    }

    /// One worker naps instead of sleeping for some time after the last submission, so that the next
    /// one needs no system call. True when work has come.
    fn doze(&self) -> bool {
        loop {
            let signal = self.roster.signal();
            let value = signal.load(Ordering::SeqCst);
            let since = now_ns().saturating_sub(self.last_submission.load(Ordering::Relaxed));
            if self.roster.waits().any() {
                return true;
            }
            if since > DOZE_NS {
                return false;
            }
            futex::wait(signal, value, Some(NAP_NS), Scope::Process);
        }
    }

    fn start_workers(&'static self) {
        fault::install();
        if !fault::can_guard() {
            return;
        }
        // The program's handlers run on the program's threads.
        let _held = HeldSignals::all();
        for number in 0..self.workers {
            let thread = std::thread::Builder::new()
                .name(format!("solum-{number}"))
                .stack_size(STACK);
            // Counted before it runs. Nobody waits for it: a submission inside of dlopen holds the loader's lock, which a
            // thread needs to begin.
            self.running.fetch_add(1, Ordering::AcqRel);
            let started = thread.spawn(move || {
                WORKS_FOR.set(self);
                stay_on(&self.pinned);
                self.spread.enter(number);
                // Naps are meant to last as long as they say.
                // SAFETY: a system call without memory.
                unsafe {
                    libc::prctl(libc::PR_SET_TIMERSLACK, 1000usize);
                }
                match Worker::enter(self) {
                    Some(mut worker) => worker.run(),
                    // All signal stacks are in use.
                    None => self.worker_lost(),
                }
            });
            if started.is_err() {
                self.running.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// A worker cannot run. Without any other the tasks that wait get their error.
    fn worker_lost(&self) {
        if self.running.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let mut turn = Turn::default();
        while let Some(job) = self.take(&mut turn) {
            if let Job::Task(task) = job {
                no_thread(task);
            }
        }
    }
}

/// Ends a task that no thread can run.
fn no_thread(task: Arc<dyn Task>) {
    let now = now_ns();
    task.finished(Outcome {
        start_ns: now,
        end_ns: now,
        fault: Some("the system gives no thread to run work on".to_owned()),
    });
}

/// Whether the process has forked since the first engine was made: children may share its memory.
pub(crate) fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}

extern "C" fn before_fork() {
    HAS_FORKED.store(true, Ordering::Relaxed);
}

/// Keeps the calling thread on those CPUs; a system that refuses leaves it where it is.
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

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
