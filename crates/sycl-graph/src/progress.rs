//! The numbers of a lane.

use crate::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How far a lane has come: work gets numbers from 1 on and ends in their order.
#[derive(Debug)]
pub struct Progress {
    done: AtomicU64,
    last: AtomicU64,
    /// Pins of the numbers of each group: one that is held for long keeps only its group's slots.
    pins: [AtomicUsize; GROUPS],
}

const GROUPS: usize = 8;
/// Numbers that follow each other in a group.
const GROUP: u64 = 16;

fn group(number: u64) -> usize {
    (number / GROUP % GROUPS as u64) as usize
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
            pins: [0; GROUPS].map(AtomicUsize::new),
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
        number <= self.done()
    }

    /// The last number that is known to have ended.
    #[inline]
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Acquire)
    }

    /// Submissions that are not known to have ended.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        let last = self.last();
        last.saturating_sub(self.done())
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

    /// This number's slot is not given out again until [`Self::unpin`]. The caller holds the ring's lock.
    #[inline]
    pub fn pin(&self, number: u64) {
        self.pins[group(number)].fetch_add(1, Ordering::Relaxed);
    }

    /// Ends one [`Self::pin`] of this number; needs no lock.
    #[inline]
    pub fn unpin(&self, number: u64) {
        self.pins[group(number)].fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether any number is pinned. With a flag that is set before this and looked at after [`Self::unpin`], either this
    /// sees no pin or the `unpin` of the pin that it saw sees the flag. The caller holds the ring's lock.
    #[must_use]
    pub fn has_pins(&self) -> bool {
        let mut pins = self.pins.iter();
        // It writes, so that an `unpin` that it does not see follows it, and sees what was before it.
        pins.any(|pins| pins.fetch_add(0, Ordering::AcqRel) != 0)
    }

    /// Whether this number may be pinned. The caller holds the ring's lock.
    #[inline]
    pub(crate) fn is_pinned(&self, number: u64) -> bool {
        self.pins[group(number)].load(Ordering::Acquire) != 0
    }
}
