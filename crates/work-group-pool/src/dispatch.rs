//! Claiming ranges of work-groups, and counting the finished ones.

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

/// A run of work-groups that is claimed from its beginning to its end. On separate cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Home {
    next: AtomicU64,
    end: u64,
}

impl Home {
    fn claim(&self, chunk: u64, least: u64) -> Option<Range> {
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let left = self.end.checked_sub(first).filter(|&left| left > 0)?;
            let count = chunk.min(left.div_ceil(4).max(least).min(left)).max(1);
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
}

/// The work-groups `0..total` of one dispatch, shared by any number of threads.
///
/// They are split into homes, runs of equal length: a thread that claims for a home gets the home's groups as long as
/// there are some, then those of the next homes. So a processor gets the same groups in each dispatch, and finds their
/// data in its caches.
#[derive(Debug)]
pub struct Dispatch {
    total: u64,
    homes: Box<[Home]>,
    done: AtomicU64,
}

impl Dispatch {
    /// All of `0..total` is to be claimed, from this many homes, at least one. With one, groups begin in the order of
    /// their indices.
    #[must_use]
    pub fn new(total: u64, homes: usize) -> Self {
        let most = usize::try_from(total).unwrap_or(usize::MAX);
        let homes = homes.min(most).max(1);
        // A share of `total` fits the type of `total`.
        let bound = |home: usize| (u128::from(total) * home as u128 / homes as u128) as u64;
        Self {
            total,
            homes: (0..homes)
                .map(|home| Home {
                    next: AtomicU64::new(bound(home)),
                    end: bound(home + 1),
                })
                .collect(),
            done: AtomicU64::new(0),
        }
    }

    /// Number of work-groups.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Claims the next at most `chunk` work-groups for `home`, which may be any number; `None` if all are claimed.
    ///
    /// The last third of a home is claimed in smaller pieces, of at least `least` groups, so that threads end together.
    #[must_use]
    pub fn claim(&self, chunk: u64, least: u64, home: usize) -> Option<Range> {
        let own = home % self.homes.len();
        let (before, from) = self.homes.split_at(own);
        from.iter()
            .chain(before)
            .find_map(|home| home.claim(chunk, least))
    }

    /// Withdraws all unclaimed groups: no later claim succeeds. Returns how many were dropped; the caller must pass
    /// them to [`Self::finish`] like finished work.
    #[must_use]
    pub fn abandon(&self) -> u64 {
        let drop_of = |home: &Home| home.end - home.next.swap(home.end, Ordering::Relaxed);
        self.homes.iter().map(drop_of).sum()
    }

    /// Whether something is left to be claimed.
    #[must_use]
    pub fn has_unclaimed(&self) -> bool {
        self.homes
            .iter()
            .any(|home| home.next.load(Ordering::Relaxed) < home.end)
    }

    /// Records that `count` claimed work-groups have finished. Returns `true` for the one call that completes the
    /// dispatch: it happens after all the other threads' work.
    #[must_use]
    pub fn finish(&self, count: u64) -> bool {
        // AcqRel: each caller publishes its work, the last one sees all of it.
        count > 0 && self.done.fetch_add(count, Ordering::AcqRel) + count == self.total
    }
}
