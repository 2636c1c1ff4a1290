//! The cost of a work-group, and the chunk sizes that follow from it.

use std::sync::atomic::{AtomicU64, Ordering};

/// A chunk should take about this long: short enough to balance, long enough to hide the claim.
pub const CHUNK_NS: u64 = 20_000;
/// Below this much work no other thread is woken: a wake costs up to 10 µs.
pub const WAKE_NS: u64 = 20_000;
/// The work that is worth another thread that is awake and looking for work.
const AWAKE_NS: u64 = 2_500;
/// The smallest part that is worth a claim.
const LEAST_NS: u64 = 1_500;
/// As [`CHUNK_NS`], for [`Parts::Long`]. Two histograms of 256 bins took 0.5 and 0.84 of the time with long parts, because
/// a part ends with 256 atomic additions, 2 to 3 µs (2026-12, AMD EPYC of Zen 4, two threads).
const LONG_CHUNK_NS: u64 = 200_000;
/// Fixed-point fraction bits of the average.
const SCALE: u64 = 64;

/// Moving average of the nanoseconds per work-group of one kernel. Racy updates may lose a sample,
/// which only delays the average.
#[derive(Debug, Default)]
pub struct Cost {
    scaled_ns: AtomicU64,
}

/// How long the parts of a dispatch should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Short, and shorter near the end, so that threads end together.
    Short,
    /// Long and of one length, because each part has a cost of its own.
    Long,
}

/// How a dispatch is to be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Work-groups to claim at once.
    pub chunk: u64,
    /// Claims are not made smaller below this number of work-groups.
    pub least: u64,
    /// Threads that should work on it, the caller's included.
    pub threads: usize,
    /// Whether it is worth waking some of them.
    pub wakes: bool,
}

impl Plan {
    /// One work-group at a time, in their order.
    pub const SINGLY: Self = Self {
        chunk: 1,
        least: 1,
        threads: 1,
        wakes: true,
    };
}

impl Cost {
    /// Nothing measured yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            scaled_ns: AtomicU64::new(0),
        }
    }

    /// Records that `groups` work-groups took `ns` nanoseconds on one thread.
    pub fn record(&self, groups: u64, ns: u64) {
        if groups == 0 {
            return;
        }
        let sample = (ns.saturating_mul(SCALE) / groups).max(1);
        let old = self.scaled_ns.load(Ordering::Relaxed);
        let new = if old == 0 {
            sample
        } else {
            // A quarter of the weight: follows a change of arguments within a few launches.
            old - old / 4 + sample / 4
        };
        self.scaled_ns.store(new.max(1), Ordering::Relaxed);
    }

    /// Nanoseconds per work-group, `None` before the first record.
    #[must_use]
    pub fn ns_per_group(&self) -> Option<f64> {
        match self.scaled_ns.load(Ordering::Relaxed) {
            0 => None,
            scaled => Some(scaled as f64 / SCALE as f64),
        }
    }

    /// How `groups` work-groups should be shared among at most `threads` threads, of which `awake` besides the caller
    /// need not be woken.
    ///
    /// An unmeasured kernel begins with a chunk of one group on one thread; the caller plans again when the cost is
    /// known.
    #[must_use]
    pub fn plan(&self, groups: u64, threads: usize, awake: usize, parts: Parts) -> Plan {
        let scaled = self.scaled_ns.load(Ordering::Relaxed);
        if scaled == 0 {
            return Plan::SINGLY;
        }
        let total_ns = u64::try_from(u128::from(groups) * u128::from(scaled) / u128::from(SCALE))
            .unwrap_or(u64::MAX);
        // A little work is shared only with threads that need not be woken.
        let (others, worth) = if total_ns < WAKE_NS {
            (awake, AWAKE_NS)
        } else {
            (usize::MAX, WAKE_NS / 2)
        };
        let useful = usize::try_from(total_ns / worth).unwrap_or(usize::MAX);
        let most = usize::try_from(groups).unwrap_or(usize::MAX);
        let threads = threads.min(others.saturating_add(1)).min(useful).min(most);
        if threads < 2 {
            return Plan {
                chunk: groups.max(1),
                least: groups.max(1),
                threads: 1,
                wakes: false,
            };
        }
        let chunk_ns = match parts {
            Parts::Short => CHUNK_NS,
            Parts::Long => LONG_CHUNK_NS,
        };
        let by_time = (chunk_ns * SCALE / scaled).max(1);
        // At least four chunks a thread, so that a slow one does not delay the end.
        let by_share = (groups / (threads as u64 * 4)).max(1);
        let chunk = by_time.min(by_share).max(1);
        let least = match parts {
            Parts::Short => LEAST_NS * SCALE / scaled,
            Parts::Long => chunk,
        };
        Plan {
            chunk,
            least: least.clamp(1, chunk),
            threads,
            wakes: total_ns >= WAKE_NS,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn plans_follow_the_measured_cost() {
        use Parts::{Long, Short};
        // (ns per group, groups, threads, awake), parts → (chunk, least, threads)
        let cases = [
            ((10, 100, 8, 7), Short, (100, 100, 1)), // 1 µs of work: stay alone
            ((10, 1_000_000, 8, 0), Short, (2_000, 150, 8)), // tiny groups: chunks of 20 µs
            ((10, 1_000, 8, 0), Short, (1_000, 1_000, 1)), // 10 µs: no thread is woken
            ((10, 1_000, 8, 1), Short, (125, 125, 2)), // but one that is awake takes part
            ((10, 1_000, 8, 7), Short, (62, 62, 4)), // unless its part were too short
            ((100_000, 64, 8, 0), Short, (1, 1, 8)), // heavy groups: small chunks
            ((100_000, 3, 8, 7), Short, (1, 1, 3)),  // never more threads than groups
            ((1_000_000, 1, 8, 7), Short, (1, 1, 1)), // one group is for one thread
            ((1_000, 40, 64, 0), Short, (2, 1, 4)),  // 40 µs: a few threads, not 64
            ((5, 1_000_000, 1, 7), Short, (1_000_000, 1_000_000, 1)),
            ((10, 1_000_000, 8, 0), Long, (20_000, 20_000, 8)), // chunks of 200 µs
            ((10, 40_000, 8, 0), Long, (1_250, 1_250, 8)),      // four chunks a thread
            ((100_000, 64, 8, 0), Long, (2, 2, 8)),
            ((10, 100, 8, 7), Long, (100, 100, 1)),
        ];
        for ((ns, groups, threads, awake), parts, (chunk, least, used)) in cases {
            let cost = Cost::new();
            cost.record(1_000, ns * 1_000);
            assert_eq!(
                cost.plan(groups, threads, awake, parts),
                Plan {
                    chunk,
                    least,
                    threads: used,
                    wakes: used > 1 && ns * groups >= WAKE_NS
                },
                "{ns} ns, {groups} groups, {threads} threads, {awake} awake, {parts:?}"
            );
        }
    }

    #[test]
    fn an_unmeasured_kernel_starts_with_one_group() {
        let cost = Cost::new();
        assert_eq!(cost.ns_per_group(), None);
        assert_eq!(cost.plan(1 << 40, 8, 7, Parts::Short), Plan::SINGLY);
    }

    #[test]
    fn the_average_follows_a_change_and_never_overflows() {
        let cost = Cost::new();
        cost.record(1, u64::MAX);
        assert_eq!(cost.plan(u64::MAX, 4, 3, Parts::Short).chunk, 1);
        for _ in 0..200 {
            cost.record(10, 1_000);
        }
        let ns = cost.ns_per_group().unwrap();
        assert!((99.0..115.0).contains(&ns), "{ns}");
        cost.record(0, 5);
        assert_eq!(cost.ns_per_group().unwrap(), ns);
    }
}
