//! Who looks for work, who sleeps, and how much work waits: what a submission and a thread that is about to sleep tell
//! each other.
//!
//! A submission first adds its work to a queue, then counts it, then looks whether anybody sleeps. A thread first says
//! that it sleeps, then looks whether work is counted. So one of the two sees the other, and no lock is between them.

use crate::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering, after_exchange};

/// Work that waits, by kind: tasks, and shares of tasks that have begun. May be negative for a moment, while work is
/// taken that is not counted yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits(i64);

/// One unit of each kind in a count: tasks below, shares above.
const TASK: i64 = 1;
const SHARE: i64 = 1 << 32;

impl Waits {
    /// A task.
    pub const TASK: Self = Self(TASK);

    /// So many shares.
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

    /// Shares that wait for somebody to join.
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

/// The threads of one engine and the count of what waits for them. The queues are elsewhere; so is the sleep, on
/// [`Self::signal`], futex fashion.
#[derive(Debug)]
pub struct Roster {
    waits: AtomicI64,
    signal: AtomicU32,
    awake: AtomicUsize,
    asleep: AtomicUsize,
    dozing: AtomicBool,
    looking: AtomicUsize,
}

impl Default for Roster {
    fn default() -> Self {
        Self::new()
    }
}

impl Roster {
    /// Nobody is there, and nothing waits.
    #[must_use]
    pub fn new() -> Self {
        Self {
            waits: AtomicI64::new(0),
            signal: AtomicU32::new(0),
            awake: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            dozing: AtomicBool::new(false),
            looking: AtomicUsize::new(0),
        }
    }

    /// What waits.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> Waits {
        Waits(self.waits.load(Ordering::SeqCst))
    }

    /// Work that is in its queue by now; what waits with it. The caller then asks [`Self::rings`].
    #[inline]
    pub fn add(&self, work: Waits) -> Waits {
        let before = self.waits.fetch_add(work.0, Ordering::SeqCst);
        after_exchange();
        Waits(before + work.0)
    }

    /// Work that was taken out of its queue; what still waits.
    #[inline]
    pub fn remove(&self, work: Waits) -> Waits {
        let before = self.waits.fetch_sub(work.0, Ordering::SeqCst);
        after_exchange();
        Waits(before - work.0)
    }

    /// The word that threads sleep on.
    #[inline]
    #[must_use]
    pub fn signal(&self) -> &AtomicU32 {
        &self.signal
    }

    /// Whether anybody sleeps or naps, who is to find the signal changed: then it is, and the caller may wake.
    #[inline]
    #[must_use]
    pub fn rings(&self) -> bool {
        let rings = self.asleep.load(Ordering::SeqCst) > 0 || self.dozing.load(Ordering::SeqCst);
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

    /// Idle threads that look all the time.
    #[inline]
    #[must_use]
    pub fn looking(&self) -> usize {
        self.looking.load(Ordering::SeqCst)
    }

    /// Threads that must be woken, those that nap included.
    #[inline]
    #[must_use]
    pub fn resting(&self) -> usize {
        self.asleep.load(Ordering::Relaxed) + usize::from(self.dozing.load(Ordering::Relaxed))
    }

    /// The calling thread has nothing to do: `look` looks for a while whether something comes, then `doze` for longer
    /// with naps on the signal, one thread at a time. Whether one of them saw something.
    pub fn linger(&self, look: impl FnOnce() -> bool, doze: impl FnOnce() -> bool) -> bool {
        self.awake.fetch_add(1, Ordering::SeqCst);
        self.looking.fetch_add(1, Ordering::SeqCst);
        let seen = look();
        self.looking.fetch_sub(1, Ordering::SeqCst);
        after_exchange();
        let found = seen
            || !self.dozing.swap(true, Ordering::SeqCst) && {
                after_exchange();
                let found = doze();
                self.dozing.store(false, Ordering::SeqCst);
                found
            };
        self.awake.fetch_sub(1, Ordering::SeqCst);
        after_exchange();
        found
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
