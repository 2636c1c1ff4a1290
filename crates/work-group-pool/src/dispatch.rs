//! The claim of ranges and the count of what is done.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// A run of work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Index of the first.
    pub first: u64,
    /// How many; never 0.
    pub count: u64,
}

/// The work-groups `0..total` of one dispatch, shared by any number of threads.
#[derive(Debug)]
pub struct Dispatch {
    total: u64,
    next: AtomicU64,
    done: AtomicU64,
}

impl Dispatch {
    /// All of `0..total` is still to be handed out.
    #[must_use]
    pub fn new(total: u64) -> Self {
        Self {
            total,
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
        }
    }

    /// Number of work-groups.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The next at most `chunk` work-groups; `None` when all have been handed out.
    ///
    /// The last third of the work is handed out in smaller pieces, so that threads end together.
    #[must_use]
    pub fn claim(&self, chunk: u64) -> Option<Range> {
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let left = self.total.checked_sub(first).filter(|&left| left > 0)?;
            let count = chunk.min(left.div_ceil(4)).max(1);
            // Relaxed: the indices themselves carry no data; `finish` orders the work.
            match self.next.compare_exchange_weak(
                first,
                first + count,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Range { first, count }),
                Err(now) => first = now,
            }
        }
    }

    /// Takes back what nobody has claimed yet: no later claim succeeds. Returns how many work-groups
    /// were dropped; the caller must pass them to [`Self::finish`] like work it has done.
    #[must_use]
    pub fn abandon(&self) -> u64 {
        self.total - self.next.swap(self.total, Ordering::Relaxed)
    }

    /// Whether something is left to be claimed.
    #[must_use]
    pub fn has_unclaimed(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.total
    }

    /// Says that `count` claimed work-groups are done. `true` for the one call that completes the
    /// dispatch: everything the other threads did for it happened before.
    #[must_use]
    pub fn finish(&self, count: u64) -> bool {
        // AcqRel: each caller publishes its work, the last one sees all of it.
        count > 0 && self.done.fetch_add(count, Ordering::AcqRel) + count == self.total
    }
}
