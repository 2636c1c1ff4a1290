//! Kernels begin as baseline code, which compiles in a third of the time. A kernel that has run long enough to be worth it gets
//! full code: a separate thread compiles it, and work-groups that begin later run it.

use crate::environment::Tiers;
use kernel_ir::build::Tier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The processor time in baseline code after which a kernel gets full code: about the time of compiling it. So both
/// together cost at most twice as much as the better choice alone, whatever the kernel does later.
const WORTH_NS: u64 = 8_000_000;

impl Tiers {
    /// The tier at which a kernel begins.
    pub(super) fn first(self) -> Tier {
        match self {
            Self::Full => Tier::Full,
            Self::Both | Self::Baseline => Tier::Baseline,
        }
    }
}

/// Counts the time that a kernel runs as baseline code.
#[derive(Debug, Default)]
pub(crate) struct TierCounter {
    spent_ns: AtomicU64,
    /// Whether full code was requested.
    asked: AtomicBool,
}

impl TierCounter {
    /// The kernel has run for this time. True once: the caller requests full code now.
    pub(crate) fn ran(&self, ns: u64) -> bool {
        if self.asked.load(Ordering::Relaxed) {
            return false;
        }
        // Threads that race here may lose time, which only delays full code.
        let spent = self.spent_ns.load(Ordering::Relaxed).saturating_add(ns);
        self.spent_ns.store(spent, Ordering::Relaxed);
        spent >= WORTH_NS && self.claim()
    }

    /// True once: the caller requests full code now, regardless of the time.
    pub(crate) fn claim(&self) -> bool {
        !self.asked.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_code_is_requested_once_when_it_is_worth_it() {
        let counter = TierCounter::default();
        // (time, whether full code is requested)
        for (ns, asks) in [
            (WORTH_NS / 2, false),
            (WORTH_NS / 2 - 1, false),
            (1, true),
            (WORTH_NS, false),
            (u64::MAX, false),
        ] {
            assert_eq!(counter.ran(ns), asks, "{ns}");
        }
        assert!(!counter.claim());
        let hastened = TierCounter::default();
        assert!(hastened.claim() && !hastened.claim() && !hastened.ran(u64::MAX));
    }
}
