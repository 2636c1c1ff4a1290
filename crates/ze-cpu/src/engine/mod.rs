//! The engine: workers take submitted tasks from one queue and run them, large ones together.
//!
//! Invariants
//! - Submitted work progresses without a waiter: a submission is noticed by a worker that is awake, or
//!   wakes one.
//! - At least two workers exist, so that two kernels that wait for each other both run.
//! - Tasks of queues of a higher priority go first, but for one in some that goes last.
//! - New tasks go before helping with old ones: a worker that helps leaves between chunks when a task
//!   waits.
//! - Workers are never joined; the process may end while they run.

mod berth;
mod cooperative;
mod futex;
mod help;
mod join;
mod launch;
mod share;
mod spread;
mod transfer;
mod waiting;
mod worker;

use crate::fault;
use berth::Berths;
pub(crate) use cooperative::MOST_GROUPS as MOST_COOPERATIVE;
use futex::Scope;
pub(crate) use futex::now_ns;
use help::on_stack;
pub(crate) use launch::is_brief;
use share::Share;
use spread::Spread;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, Once};
use waiting::Waiting;
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
/// How late a timed sleep may end.
const SLACK_NS: u64 = 80_000;
/// Bytes of a worker's stack.
const STACK: usize = 8 << 20;

/// The workers and their queue.
pub(crate) struct Engine {
    queue: Mutex<Queue>,
    /// Entries of the queue, to look at without the lock.
    pending: AtomicUsize,
    /// Tasks among them.
    tasks: AtomicUsize,
    /// What sleeping workers sleep on; changes with every submission.
    signal: AtomicU32,
    /// Idle workers that look at the queue by themselves.
    awake: AtomicUsize,
    /// Workers that must be woken.
    asleep: AtomicUsize,
    /// Whether somebody naps.
    dozing: AtomicBool,
    /// Idle workers that look all the time.
    looking: AtomicUsize,
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
}

#[derive(Default)]
struct Queue {
    tasks: Waiting,
    shares: VecDeque<Arc<Share>>,
}

enum Job {
    Task(Arc<dyn Task>),
    Share(Arc<Share>),
}

/// Set in a forked child, where no worker exists.
static FORKED: AtomicBool = AtomicBool::new(false);

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
            // SAFETY: the handler only stores to an atomic.
            unsafe {
                libc::pthread_atfork(None, None, Some(in_child));
            }
        });
        Box::leak(Box::new(Self {
            queue: Mutex::new(Queue::default()),
            pending: AtomicUsize::new(0),
            tasks: AtomicUsize::new(0),
            signal: AtomicU32::new(0),
            awake: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            dozing: AtomicBool::new(false),
            looking: AtomicUsize::new(0),
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
        }))
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
            let now = now_ns();
            task.finished(Outcome {
                start_ns: now,
                end_ns: now,
                fault: Some("the system gives no thread to run work on".to_owned()),
            });
            return;
        }
        let waiting = {
            let mut queue = self.lock();
            queue.tasks.push(task);
            self.tasks.store(queue.tasks.len(), Ordering::Relaxed);
            self.note_pending(&queue)
        };
        // A worker that submits takes the first itself, right after what it does now.
        if waiting == 1 && std::ptr::eq(WORKS_FOR.get(), self) {
            return;
        }
        self.signal.fetch_add(1, Ordering::SeqCst);
        if self.awake.load(Ordering::SeqCst) == 0 || self.is_wake_due() {
            self.wake(1);
        }
    }

    /// Whether a worker that naps is woken all the same: it would look soon by itself, or whoever waits does the work.
    /// But now and then, so that a program that submits and waits all the time gets a worker that stays awake for it.
    fn is_wake_due(&self) -> bool {
        self.looking.load(Ordering::Relaxed) == 0
            && self
                .unnoticed
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(NAPS)
    }

    /// Lets `helpers` other workers join `share`, of which some are woken if need be and `wake`.
    fn offer(&self, share: &Arc<Share>, helpers: usize, wake: bool) {
        // While all others are busy, nobody takes out what is done meanwhile. It is dropped without the lock.
        let mut done = Vec::new();
        {
            let mut queue = self.lock();
            let is_done = |share: &mut Arc<Share>| !share.dispatch.has_unclaimed();
            while let Some(share) = queue.shares.pop_front_if(is_done) {
                done.push(share);
            }
            for _ in 0..helpers {
                queue.shares.push_back(Arc::clone(share));
            }
            self.note_pending(&queue);
        }
        self.signal.fetch_add(1, Ordering::SeqCst);
        // Who looks all the time finds it; if he ends that just now he looks once more before he sleeps.
        let looking = if wake {
            self.looking.load(Ordering::SeqCst)
        } else {
            helpers
        };
        if let Some(others) = helpers.checked_sub(looking).filter(|&n| n > 0) {
            self.wake(others);
        }
    }

    /// Workers beside the calling thread that need not be woken: they look for work, or end what they do.
    fn awake_beside(&self) -> usize {
        let asleep = self.asleep.load(Ordering::Relaxed);
        let dozing = usize::from(self.dozing.load(Ordering::Relaxed));
        let own = usize::from(std::ptr::eq(WORKS_FOR.get(), self));
        let running = self.running.load(Ordering::Relaxed);
        running.saturating_sub(asleep + dozing + own)
    }

    /// Whether a task waits for a worker.
    fn task_waits(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    /// Sees to it that waiting work gets a worker soon: for a thread that is about to sleep until
    /// that work is done.
    fn kick(&self) {
        if self.pending.load(Ordering::SeqCst) > 0 {
            self.signal.fetch_add(1, Ordering::SeqCst);
            futex::wake(&self.signal, 1, Scope::Process);
        }
    }

    /// Blocks until `done()`; see `Platform::wait`.
    pub(crate) fn wait(
        &'static self,
        word: &AtomicU32,
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
            && (self.looking.load(Ordering::Relaxed) == 0 || self.is_helped(now_ns()))
            && self.help(word)
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
            if helps && now > begin.saturating_add(NOTICE_NS) && self.help(word) {
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
            let value = word.load(Ordering::Acquire);
            if done() {
                break true;
            }
            if helps && self.help(word) {
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
            futex::wait(word, value, limit, Scope::Shared);
        };
        sleepers.fetch_sub(1, Ordering::SeqCst);
        met
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        crate::census::lock(&self.queue)
    }

    fn note_pending(&self, queue: &Queue) -> usize {
        let waiting = queue.tasks.len() + queue.shares.len();
        self.pending.store(waiting, Ordering::SeqCst);
        waiting
    }

    fn wake(&self, count: usize) {
        if self.asleep.load(Ordering::SeqCst) > 0 || self.dozing.load(Ordering::SeqCst) {
            futex::wake(&self.signal, count, Scope::Process);
        }
    }

    /// The next thing to do.
    fn take(&self) -> Option<Job> {
        if self.pending.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut queue = self.lock();
        let job = match queue.tasks.pop() {
            Some(task) => {
                self.tasks.store(queue.tasks.len(), Ordering::Relaxed);
                Job::Task(task)
            }
            None => Job::Share(queue.shares.pop_front()?),
        };
        let left = self.note_pending(&queue);
        drop(queue);
        // Whoever was awake for this job is busy now.
        if left > 0 && self.awake.load(Ordering::SeqCst) == 0 {
            self.wake(1);
        }
        Some(job)
    }

    /// Returns when there may be something to do.
    fn idle(&self) {
        self.awake.fetch_add(1, Ordering::SeqCst);
        self.looking.fetch_add(1, Ordering::SeqCst);
        let seen = self.look();
        self.looking.fetch_sub(1, Ordering::SeqCst);
        let found = seen || self.doze();
        self.awake.fetch_sub(1, Ordering::SeqCst);
        if found {
            return;
        }
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let value = self.signal.load(Ordering::SeqCst);
        if self.pending.load(Ordering::SeqCst) == 0 {
            self.spread.rest();
            futex::wait(&self.signal, value, None, Scope::Process);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Spins for a moment; true when work has come.
    fn look(&self) -> bool {
        if self.threads == 1 {
            return self.pending.load(Ordering::SeqCst) > 0;
        }
        let end = now_ns().saturating_add(SPIN_NS);
        let mut noticed = None;
        loop {
            for _ in 0..64 {
                if self.pending.load(Ordering::SeqCst) == 0 {
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
        if self.dozing.swap(true, Ordering::SeqCst) {
            return false;
        }
        let found = loop {
            let value = self.signal.load(Ordering::SeqCst);
            let since = now_ns().saturating_sub(self.last_submission.load(Ordering::Relaxed));
            if self.pending.load(Ordering::SeqCst) > 0 {
                break true;
            }
            if since > DOZE_NS {
                break false;
            }
            futex::wait(&self.signal, value, Some(NAP_NS), Scope::Process);
        };
        self.dozing.store(false, Ordering::SeqCst);
        found
    }

    fn start_workers(&'static self) {
        fault::install();
        let before = block_signals();
        for number in 0..self.workers {
            let thread = std::thread::Builder::new()
                .name(format!("solum-{number}"))
                .stack_size(STACK);
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
                    None => {
                        self.running.fetch_sub(1, Ordering::AcqRel);
                    }
                }
            });
            if started.is_ok() {
                self.running.fetch_add(1, Ordering::AcqRel);
            }
        }
        restore_signals(before);
    }
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

/// Signals that code raises.
const RAISED: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
];

/// Blocks all signals that are not raised by code, for threads started next: the program's handlers
/// run on the program's threads.
fn block_signals() -> Option<libc::sigset_t> {
    // SAFETY: the sets are filled before they are read; zero bytes are a valid set.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        for signal in RAISED {
            libc::sigdelset(&mut set, signal);
        }
        (libc::pthread_sigmask(libc::SIG_SETMASK, &set, &mut before) == 0).then_some(before)
    }
}

/// Puts back what [`block_signals`] gave.
fn restore_signals(before: Option<libc::sigset_t>) {
    if let Some(before) = before {
        // SAFETY: puts back the mask that this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
    }
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
