//! The scheduler: queues of tasks and shares without locks, the idle workers, and which of them is woken.

use super::affinity::Affinity;
use super::futex::{self, Scope};
use super::share::Share;
use super::task_queues::{TaskQueues, Turn};
use crate::clock::now_ns;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use work_group_pool::{IdleWorkers, Label, Position, Queue, Waits};
use ze_driver::device::Task;

/// How long an idle worker spins before it polls or sleeps.
const SPIN_NS: u64 = 20_000;
/// How long after the last submission one idle worker spins on before it naps. A processor that halts takes long to wake,
/// on virtual machines above all, and another thread of the program is often the next to need it: spinning threads yield it.
///
/// With this, with yields, and with as long a spin of waiting threads, calls of dpnp on 1000 numbers took 131 µs instead of
/// 209 (`all`), 75 instead of 174 (`max`), 115 instead of 187 (`sum`), 72 instead of 114 (`copy`), and less processor time:
/// 230 µs instead of 260, 142 instead of 208, 179 instead of 225, 117 instead of 125. 200 µs gained no more (medians of 5
/// interleaved runs of 1000 calls; Intel Xeon, two processors, 2026-11).
pub(super) const POLL_NS: u64 = 100_000;
/// How long after the last submission one worker naps instead of sleeping. Not measured.
const NAPPING_NS: u64 = 4_000_000;
/// Length of a nap. Not measured.
const NAP_NS: u64 = 50_000;
/// One of this many submissions wakes a napping worker. Not measured.
const SUBMISSIONS_PER_WAKE: u32 = 32;
/// How often a worker looks for work that is counted but not found.
const MISSES: usize = 64;
/// Pauses of the processor between two looks for tasks, 1 to 3 µs. The submitting thread gets ahead, so that the tasks that
/// follow are bundled: a submission of an empty kernel takes 265 ns instead of 525 with a look at each pause (`submit-1000`
/// of `./x bench driver`, medians of 5 interleaved runs, which scatter; Intel Xeon, two processors, 2026-11).
const ROUND: u32 = 64;
/// While a waiting thread has run its work inline within this time, workers leave it a single task for a round.
const GIVE_WAY_NS: u64 = 20_000;

/// Work that waits for workers, and the workers that are idle.
pub(super) struct Scheduler {
    /// Tasks that no worker has begun.
    pub(super) tasks: TaskQueues,
    /// Tasks that other workers may join, once for each that may.
    shares: Queue<Arc<Share>>,
    /// The number of both, and the workers that look for them.
    pub(super) idle: IdleWorkers,
    /// Submissions while no worker was spinning.
    unnoticed: AtomicU32,
    /// When work was last begun.
    pub(super) last_submission: AtomicU64,
    /// When a waiting thread last ran its work inline.
    inline_run: AtomicU64,
    pub(super) affinity: Affinity,
    /// CPUs that a launch may spread over.
    pub(super) threads: usize,
    /// Workers that have a thread.
    running: AtomicUsize,
}

/// A job.
pub(super) enum Job {
    Task(Arc<dyn Task>),
    Share(Arc<Share>),
}

thread_local! {
    /// The scheduler whose worker this thread is: it checks that scheduler's queues by itself soon.
    static WORKS_FOR: Cell<*const Scheduler> = const { Cell::new(std::ptr::null()) };
}

impl Scheduler {
    pub(super) fn new(workers: usize, threads: usize) -> Self {
        Self {
            tasks: TaskQueues::default(),
            shares: Queue::new(),
            idle: IdleWorkers::new(),
            unnoticed: AtomicU32::new(0),
            last_submission: AtomicU64::new(0),
            inline_run: AtomicU64::new(0),
            affinity: Affinity::new(workers),
            threads,
            running: AtomicUsize::new(0),
        }
    }

    /// Whether a worker has a thread.
    pub(super) fn has_workers(&self) -> bool {
        self.running.load(Ordering::Acquire) > 0
    }

    /// Counts a worker whose thread is about to start.
    pub(super) fn worker_starts(&self) {
        self.running.fetch_add(1, Ordering::AcqRel);
    }

    /// A worker has no thread after all; how many others have one.
    pub(super) fn worker_ends(&self) -> usize {
        self.running.fetch_sub(1, Ordering::AcqRel) - 1
    }

    /// The calling thread is worker `number`.
    pub(super) fn enter_worker(&self, number: usize) {
        WORKS_FOR.set(self);
        self.affinity.enter(number);
    }

    /// Whether the calling thread is a worker of an engine.
    pub(super) fn is_worker() -> bool {
        !WORKS_FOR.get().is_null()
    }

    /// Queues `task`, and wakes a worker if none would notice it soon.
    pub(super) fn submit(&self, task: Arc<dyn Task>) {
        self.tasks.push(task);
        let waits = self.idle.add(Waits::TASK);
        // A worker that submits takes the first itself, right after its current job.
        if waits.is_one() && std::ptr::eq(WORKS_FOR.get(), self) {
            return;
        }
        self.ring(usize::from(self.idle.awake() == 0 || self.is_wake_due()));
    }

    /// Whether a napping worker is woken now. Mostly not: it checks soon by itself, or the waiting thread does the
    /// work. Occasionally it is, so that a program that submits and waits all the time gets a worker that stays awake.
    fn is_wake_due(&self) -> bool {
        self.idle.attentive() == 0
            && self
                .unnoticed
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(SUBMISSIONS_PER_WAKE)
    }

    /// Lets `helpers` other workers join `share`, and with `wake` wakes some if necessary. The queue entries go to
    /// `places`, for [`Self::withdraw`].
    pub(super) fn offer(
        &self,
        share: &Arc<Share>,
        helpers: usize,
        wake: bool,
        mut places: Option<&mut Vec<Position>>,
    ) {
        for _ in 0..helpers {
            let place = self.shares.push(Arc::clone(share), &Label::default());
            if let Some(places) = &mut places {
                places.push(place);
            }
        }
        self.idle.add(Waits::shares(helpers));
        // Spinning workers see it; one that stops spinning now looks once more before it sleeps.
        let attentive = if wake { self.idle.attentive() } else { helpers };
        self.ring(helpers.saturating_sub(attentive));
    }

    /// Withdraws offers that no worker has taken: no part is left, and a busy worker would leave them in the queue for
    /// long.
    pub(super) fn withdraw(&self, places: &mut Vec<Position>) {
        let taken = places
            .drain(..)
            .filter_map(|place| self.shares.take_back(place))
            .count();
        if taken > 0 {
            self.idle.remove(Waits::shares(taken));
        }
    }

    /// Other workers than the calling thread that need no wake: they look for work or run some.
    pub(super) fn awake_beside(&self) -> usize {
        let own = usize::from(std::ptr::eq(WORKS_FOR.get(), self));
        let running = self.running.load(Ordering::Relaxed);
        running.saturating_sub(self.idle.resting() + own)
    }

    /// Whether a task waits for a worker.
    pub(super) fn task_waits(&self) -> bool {
        self.idle.waits().tasks() > 0
    }

    /// Wakes a worker if work waits: for a thread that is about to sleep until that work is done.
    pub(super) fn kick(&self) {
        if self.idle.waits().any() {
            self.ring(1);
        }
    }

    /// Changes the signal for sleeping and napping workers, and wakes up to `count` of them.
    fn ring(&self, count: usize) {
        if self.idle.rings() && count > 0 {
            futex::wake(self.idle.signal(), count, Scope::Process);
        }
    }

    /// The next job.
    pub(super) fn take(&self, turn: &mut Turn) -> Option<Job> {
        for _ in 0..MISSES {
            let waits = self.idle.waits();
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
            let left = self.idle.remove(kind);
            // The worker that was awake for this job is busy now.
            if left.any() && self.idle.awake() == 0 {
                self.ring(1);
            }
            return Some(job);
        }
        // Another thread has taken the counted work and was interrupted before it could correct the count.
        std::thread::yield_now();
        None
    }

    /// Returns when there may be something to do.
    pub(super) fn rest(&self) {
        if !self.idle.linger(|| self.look(SPIN_NS), || self.watch()) {
            self.idle.sleep(|signal, value| {
                self.affinity.restore();
                futex::wait(signal, value, None, Scope::Process);
            });
        }
    }

    /// Spins for `duration_ns`, and yields the processor once in a round. Returns whether work has come: shares are noticed
    /// at once, tasks in the next round.
    fn look(&self, duration_ns: u64) -> bool {
        if self.threads == 1 {
            return self.idle.waits().any();
        }
        let end = now_ns().saturating_add(duration_ns);
        let mut gave_way = false;
        loop {
            if !self.idle.waits().any() {
                gave_way = false;
            } else if gave_way || !self.gives_way() {
                return true;
            } else {
                gave_way = true;
            }
            for _ in 0..ROUND {
                if self.idle.waits().joins() > 0 {
                    return true;
                }
                std::hint::spin_loop();
            }
            if now_ns() >= end {
                return false;
            }
            std::thread::yield_now();
        }
    }

    /// Polls, then naps for some time after the last submission, as one worker does, so that the next submission needs
    /// no system call. Returns whether work has come.
    fn watch(&self) -> bool {
        loop {
            while self.since_submission() < POLL_NS && self.has_free_cpu() {
                if self.look(SPIN_NS) {
                    return true;
                }
            }
            if self.since_submission() > NAPPING_NS {
                return self.idle.waits().any();
            }
            let has_work = self.idle.nap(|signal, value| {
                futex::wait(signal, value, Some(NAP_NS), Scope::Process);
            });
            if has_work {
                return true;
            }
        }
    }

    /// Whether a worker may spin without taking a CPU from busy workers or from a thread of the program. A burst of empty
    /// kernels took 1.17 times as long while the second worker polled (`./x bench kernels --against`, medians of 11
    /// interleaved runs; Intel Xeon, two processors, 2026-11).
    fn has_free_cpu(&self) -> bool {
        let running = self.running.load(Ordering::Relaxed);
        let busy = running.saturating_sub(self.idle.attentive() + self.idle.resting());
        busy + 2 <= self.threads
    }

    /// Nanoseconds since work was last begun.
    fn since_submission(&self) -> u64 {
        now_ns().saturating_sub(self.last_submission.load(Ordering::Relaxed))
    }

    /// A waiting thread has begun work inline at `now`.
    pub(super) fn ran_inline(&self, now: u64) {
        self.inline_run.store(now, Ordering::Relaxed);
        self.unnoticed.store(0, Ordering::Relaxed);
    }

    /// Whether a waiting thread has run its work inline not long ago.
    pub(super) fn has_run_inline(&self, now: u64) -> bool {
        now.saturating_sub(self.inline_run.load(Ordering::Relaxed)) < GIVE_WAY_NS
    }

    /// Whether a worker leaves a task, for a round, to the thread that submitted it, which has run its recent tasks inline:
    /// that is done sooner than the two threads can synchronise.
    fn gives_way(&self) -> bool {
        self.idle.waits().is_one() && self.has_run_inline(now_ns())
    }
}
