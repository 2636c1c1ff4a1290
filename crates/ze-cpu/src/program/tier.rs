//! Kernels begin as baseline code, which is made in a third of the time, and get full code when they have run so long
//! that it is worth its making: it is made on a thread of its own, and work-groups that begin later run it.

use crate::environment::Tiers;
use kernel_ir::build::Tier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Processor time in baseline code after which a kernel gets full code: about what that takes to make. Whatever the kernel
/// does next, both together then cost at most twice as much as the better of them alone.
const WORTH_NS: u64 = 8_000_000;

impl Tiers {
    /// What a kernel begins as.
    pub(super) fn first(self) -> Tier {
        match self {
            Self::Full => Tier::Full,
            Self::Both | Self::Baseline => Tier::Baseline,
        }
    }
}

/// How long a kernel has run as baseline code.
#[derive(Debug, Default)]
pub(crate) struct TierCounter {
    spent_ns: AtomicU64,
    /// Full code was asked for.
    asked: AtomicBool,
}

impl TierCounter {
    /// The kernel has run for that time. Whether full code is to be asked for now: true once.
    pub(crate) fn ran(&self, ns: u64) -> bool {
        if self.asked.load(Ordering::Relaxed) {
            return false;
        }
        // Threads that meet here may lose time of each other, which only delays it.
        let spent = self.spent_ns.load(Ordering::Relaxed).saturating_add(ns);
        self.spent_ns.store(spent, Ordering::Relaxed);
        spent >= WORTH_NS && self.claim()
    }

    /// Whether full code is to be asked for, by who wants it whatever the time: true once.
    pub(crate) fn claim(&self) -> bool {
        !self.asked.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_code_is_asked_for_once_when_it_is_worth_it() {
        let counter = TierCounter::default();
        // (time, whether it is asked for)
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
