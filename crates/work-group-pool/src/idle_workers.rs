//! The idle threads and the count of waiting work: how a submission and a thread that is about to sleep notice each other.
//!
//! A submission adds its work to a queue, then counts it, then checks whether a thread sleeps. A thread announces that it
//! sleeps, then checks whether work is counted. So one of the two sees the other, without a lock.

use crate::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering, after_exchange};

/// Waiting work, by kind: tasks, and shares of tasks that have begun. May be negative for a moment, while uncounted
/// work is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits(i64);

/// One unit of each kind in a count: tasks below, shares above.
const TASK: i64 = 1;
const SHARE: i64 = 1 << 32;

impl Waits {
    /// A task.
    pub const TASK: Self = Self(TASK);

    /// This many shares.
    #[must_use]
    pub const fn shares(count: usize) -> Self {
        Self(count as i64 * SHARE)
    }

    /// Tasks that wait.
    #[inline]
    #[must_use]
    pub const fn tasks(self) -> i32 {
        // The lower half, with its sign.
        self.0 as i32
    }

    /// Shares that wait for a thread to join.
    #[inline]
    #[must_use]
    pub const fn joins(self) -> i32 {
        ((self.0 - self.tasks() as i64) >> 32) as i32
    }

    /// Whether a thread that looks now may find any.
    #[inline]
    #[must_use]
    pub const fn any(self) -> bool {
        self.tasks() > 0 || self.joins() > 0
    }

    /// Whether there is exactly one piece of work.
    #[inline]
    #[must_use]
    pub const fn is_one(self) -> bool {
        self.0 == TASK || self.0 == SHARE
    }
}

/// The idle threads of one engine and the count of work that waits for them. The queues are elsewhere; threads sleep on
/// [`Self::signal`], as on a futex.
#[derive(Debug)]
pub struct IdleWorkers {
    waits: AtomicI64,
    signal: AtomicU32,
    awake: AtomicUsize,
    asleep: AtomicUsize,
    /// Whether a thread has the turn to stay awake for longer.
    is_watched: AtomicBool,
    /// Whether that thread naps.
    napping: AtomicBool,
    looking: AtomicUsize,
}

impl Default for IdleWorkers {
    fn default() -> Self {
        Self::new()
    }
}

impl IdleWorkers {
    /// No idle thread and no waiting work.
    #[must_use]
    pub fn new() -> Self {
        Self {
            waits: AtomicI64::new(0),
            signal: AtomicU32::new(0),
            awake: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
            napping: AtomicBool::new(false),
            looking: AtomicUsize::new(0),
        }
    }

    /// The work that waits.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> Waits {
        Waits(self.waits.load(Ordering::SeqCst))
    }

    /// Counts work that is in its queue by now. Returns all waiting work. The caller then calls [`Self::rings`].
    #[inline]
    pub fn add(&self, work: Waits) -> Waits {
        let before = self.waits.fetch_add(work.0, Ordering::SeqCst);
        after_exchange();
        Waits(before + work.0)
    }

    /// Counts work that was taken out of its queue. Returns the work that still waits.
    #[inline]
    pub fn remove(&self, work: Waits) -> Waits {
        let before = self.waits.fetch_sub(work.0, Ordering::SeqCst);
        after_exchange();
        Waits(before - work.0)
    }

    /// The word on which threads sleep.
    #[inline]
    #[must_use]
    pub fn signal(&self) -> &AtomicU32 {
        &self.signal
    }

    /// Whether a thread sleeps or naps. Then the signal changes, and the caller may wake threads.
    #[inline]
    #[must_use]
    pub fn rings(&self) -> bool {
        let rings = self.asleep.load(Ordering::SeqCst) > 0 || self.napping.load(Ordering::SeqCst);
        if rings {
            self.signal.fetch_add(1, Ordering::SeqCst);
        }
        rings
    }

    /// Idle threads that look for work by themselves before they sleep, now and then at least.
    #[inline]
    #[must_use]
    pub fn awake(&self) -> usize {
        self.awake.load(Ordering::SeqCst)
    }

    /// Idle threads that spin before their first nap or sleep.
    #[inline]
    #[must_use]
    pub fn looking(&self) -> usize {
        self.looking.load(Ordering::SeqCst)
    }

    /// Idle threads that need no wake: those of [`Self::awake`] without one that naps.
    #[inline]
    #[must_use]
    pub fn attentive(&self) -> usize {
        let napping = usize::from(self.napping.load(Ordering::Relaxed));
        self.awake().saturating_sub(napping)
    }

    /// Threads that must be woken, including napping ones.
    #[inline]
    #[must_use]
    pub fn resting(&self) -> usize {
        self.asleep.load(Ordering::Relaxed) + usize::from(self.napping.load(Ordering::Relaxed))
    }

    /// The calling thread has nothing to do: `look` looks for a while whether something comes, then `watch` does for
    /// longer, perhaps with naps, one thread at a time. Whether one of them saw something.
    pub fn linger(&self, look: impl FnOnce() -> bool, watch: impl FnOnce() -> bool) -> bool {
        self.awake.fetch_add(1, Ordering::SeqCst);
        self.looking.fetch_add(1, Ordering::SeqCst);
        let seen = look();
        self.looking.fetch_sub(1, Ordering::SeqCst);
        after_exchange();
        let found = seen
            || !self.is_watched.swap(true, Ordering::SeqCst) && {
                after_exchange();
                let found = watch();
                self.is_watched.store(false, Ordering::SeqCst);
                found
            };
        self.awake.fetch_sub(1, Ordering::SeqCst);
        after_exchange();
        found
    }

    /// A nap of the thread that watches, unless something waits: `nap` gets the value of the signal from before the last
    /// look, and returns at once if it is another one by then. Whether something waits.
    pub fn nap(&self, nap: impl FnOnce(&AtomicU32, u32)) -> bool {
        self.napping.swap(true, Ordering::SeqCst);
        after_exchange();
        let value = self.signal.load(Ordering::SeqCst);
        if !self.waits().any() {
            nap(&self.signal, value);
        }
        self.napping.store(false, Ordering::SeqCst);
        self.waits().any()
    }

    /// The calling thread goes to sleep, unless something waits: `sleep` gets the value of the signal from before the
    /// last look, and returns at once if it is another one by then.
    pub fn sleep(&self, sleep: impl FnOnce(&AtomicU32, u32)) {
        self.asleep.fetch_add(1, Ordering::SeqCst);
        after_exchange();
        let value = self.signal.load(Ordering::SeqCst);
        if !self.waits().any() {
            sleep(&self.signal, value);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}
