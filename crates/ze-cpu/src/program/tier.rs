//! Kernels begin as baseline code, which is made in a third of the time, and get full code when they have run so long
//! that it is worth its making: it is made on a thread of its own, and work-groups that begin later run it.

use super::Loaded;
use crate::census::lock;
use crate::environment::Tiers;
use kernel_ir::build::Tier;
use signal_mask::HeldSignals;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, Weak};

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
pub(crate) struct Heat {
    spent_ns: AtomicU64,
    /// Full code was asked for.
    asked: AtomicBool,
}

impl Heat {
    /// The kernel has run for that time. Whether full code is to be asked for now: true once.
    pub(crate) fn ran(&self, ns: u64) -> bool {
        if self.asked.load(Ordering::Relaxed) {
            return false;
        }
        // Threads that meet here may lose time of each other, which only delays it.
        let spent = self.spent_ns.load(Ordering::Relaxed).saturating_add(ns);
        self.spent_ns.store(spent, Ordering::Relaxed);
        spent >= WORTH_NS && self.asks()
    }

    /// Whether full code is to be asked for, by who wants it whatever the time: true once.
    pub(crate) fn asks(&self) -> bool {
        !self.asked.swap(true, Ordering::Relaxed)
    }
}

/// A kernel by its program, if that is still there, and its number in it.
type Wanted = (Weak<Loaded>, usize);

/// Has full code made of a kernel some time.
pub(super) fn ask(program: Weak<Loaded>, kernel: usize) {
    static QUEUE: Mutex<Option<Sender<Wanted>>> = Mutex::new(None);
    let mut queue = lock(&QUEUE);
    if queue.is_none() {
        let (sender, receiver) = channel::<Wanted>();
        // The program's handlers run on the program's threads.
        let _held = HeldSignals::all();
        let thread = std::thread::Builder::new().name("solum-tier".to_owned());
        let started = thread.spawn(move || {
            for (program, kernel) in receiver {
                // A program that is gone needs no code.
                if let Some(program) = program.upgrade() {
                    program.improve(kernel);
                }
            }
        });
        // Without a thread kernels stay as they are.
        *queue = started.is_ok().then_some(sender);
    }
    if let Some(queue) = &*queue {
        let _ = queue.send((program, kernel));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_code_is_asked_for_once_when_it_is_worth_it() {
        let heat = Heat::default();
        // (time, whether it is asked for)
        for (ns, asks) in [
            (WORTH_NS / 2, false),
            (WORTH_NS / 2 - 1, false),
            (1, true),
            (WORTH_NS, false),
            (u64::MAX, false),
        ] {
            assert_eq!(heat.ran(ns), asks, "{ns}");
        }
        assert!(!heat.asks());
        let hastened = Heat::default();
        assert!(hastened.asks() && !hastened.asks() && !hastened.ran(u64::MAX));
    }
}
