//! The numbers of a lane.

use crate::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How far a lane has come: work gets numbers from 1 on and ends in their order.
#[derive(Debug)]
pub struct Progress {
    done: AtomicU64,
    last: AtomicU64,
    pins: AtomicUsize,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Nothing was submitted.
    #[must_use]
    pub fn new() -> Self {
        Self {
            done: AtomicU64::new(0),
            last: AtomicU64::new(0),
            pins: AtomicUsize::new(0),
        }
    }

    /// The number of the last submission.
    #[inline]
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// Whether work is known to have ended.
    #[inline]
    #[must_use]
    pub fn is_done(&self, number: u64) -> bool {
        number <= self.done.load(Ordering::Acquire)
    }

    /// Submissions that are not known to have ended.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        let last = self.last();
        last.saturating_sub(self.done.load(Ordering::Acquire))
    }

    /// Work and all before it has ended.
    #[inline]
    pub fn end(&self, number: u64) {
        // A plain look first: most calls say what is known.
        if !self.is_done(number) {
            self.done.fetch_max(number, Ordering::AcqRel);
        }
    }

    /// Everything submitted so far has ended.
    pub fn end_all(&self) {
        self.end(self.last());
    }

    /// The number of the next submission. The caller holds the ring's lock.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.last.load(Ordering::Relaxed) + 1
    }

    /// The next submission has happened and is in the ring. The caller holds the ring's lock.
    #[inline]
    pub fn submitted(&self, number: u64) {
        self.last.store(number, Ordering::Release);
    }

    /// Nothing of the ring is given out again until [`Self::unpin`]. To be called before the ring's lock is taken.
    #[inline]
    pub fn pin(&self) {
        self.pins.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends one [`Self::pin`].
    #[inline]
    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::Acquire) != 0
    }
}
