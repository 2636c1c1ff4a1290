//! When a milestone wakes; under loom in all interleavings. The module is included here as source, with loom's atomics.

mod atomic {
    #[cfg(loom)]
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
    #[cfg(not(loom))]
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
}
#[path = "../src/milestone.rs"]
mod milestone;

use milestone::Milestone;

#[cfg(not(loom))]
/// Steps that no thread wants wake none; a thread that is woken too early wants its number again.
#[test]
fn only_a_wanted_number_wakes() {
    let milestone = Milestone::new();
    assert!(!milestone.reach(1) && milestone.reached() == 1);
    for number in [100, 40, 60] {
        milestone.want(number);
    }
    let wakes: Vec<_> = (2..=120)
        .filter(|&number| milestone.reach(number))
        .inspect(|&number| {
            if number < 100 {
                milestone.want(100);
            }
        })
        .collect();
    assert_eq!(wakes, [40, 100]);
}

#[cfg(loom)]
mod interleavings {
    use super::Milestone;
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    /// A lane with threads that sleep, as on a futex.
    struct Waited {
        finished: Mutex<u64>,
        milestone: Milestone,
        word: AtomicU32,
        asleep: Mutex<()>,
        wake: Condvar,
    }

    impl Waited {
        fn finish_one(&self) {
            let mut finished = self.finished.lock().unwrap();
            *finished += 1;
            let wakes = self.milestone.reach(*finished);
            drop(finished);
            if wakes {
                self.word.fetch_add(1, Ordering::AcqRel);
                let _asleep = self.asleep.lock().unwrap();
                self.wake.notify_all();
            }
        }

        fn wait(&self, number: u64) {
            loop {
                let seen = self.word.load(Ordering::Acquire);
                self.milestone.want(number);
                if self.milestone.reached() >= number {
                    return;
                }
                let asleep = self.asleep.lock().unwrap();
                if self.word.load(Ordering::Acquire) == seen {
                    drop(self.wake.wait(asleep).unwrap());
                }
            }
        }
    }

    /// Two steps by `devices`, a thread each; one waits for the second of them, and `others` for the first.
    fn who_sleeps(devices: u32, others: u32) {
        loom::model(move || {
            let lane = Arc::new(Waited {
                finished: Mutex::new(0),
                milestone: Milestone::new(),
                word: AtomicU32::new(0),
                asleep: Mutex::new(()),
                wake: Condvar::new(),
            });
            let device = |_| {
                let lane = lane.clone();
                thread::spawn(move || (0..2 / devices).for_each(|_| lane.finish_one()))
            };
            let other = |_| {
                let lane = lane.clone();
                thread::spawn(move || lane.wait(1))
            };
            let threads: Vec<_> = (0..devices)
                .map(device)
                .chain((0..others).map(other))
                .collect();
            lane.wait(2);
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }

    #[test]
    fn a_sleeper_is_woken_by_any_thread() {
        who_sleeps(2, 0);
    }

    #[test]
    fn a_sleeper_is_woken_although_another_waits_for_less() {
        who_sleeps(1, 1);
    }
}
