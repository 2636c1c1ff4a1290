//! Queues and the idle under real threads, and under every interleaving that loom can find.

use work_group_pool::{IdleWorkers, Label, Queue, Waits};

/// A label of one word.
fn label(word: u64) -> Label {
    [word, 0, 0, 0]
}

#[cfg(not(loom))]
mod threads {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn values_are_taken_in_order() {
        for least in [1, 2, 32] {
            let queue = Queue::of(least);
            for number in 0..10_000_u64 {
                queue.push(number, &label(number));
                assert_eq!(queue.pop(false), Some(number));
            }
            // Through several rings, and back to the first.
            for _ in 0..3 {
                for number in 0..1_000_u64 {
                    queue.push(number, &label(number));
                }
                let all: Vec<_> = std::iter::from_fn(|| queue.pop(false)).collect();
                assert_eq!(all, (0..1_000).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_wanted_value_is_taken_from_the_middle() {
        let queue = Queue::of(4);
        let places: Vec<_> = (0..20_u64).map(|n| queue.push(n, &label(n))).collect();
        // (values checked, wanted, taken)
        for (look, word, taken) in [
            (64, 7, Some(7)),
            (64, 7, None),
            (1, 1, None),
            (2, 1, Some(1)),
            (64, 19, Some(19)),
            (64, 20, None),
            (64, 0, Some(0)),
        ] {
            assert_eq!(queue.take(look, |l| l[0] == word), taken, "{look} {word}");
        }
        assert_eq!(queue.take_back(places[2]), Some(2));
        assert_eq!(queue.take_back(places[2]), None);
        assert_eq!(queue.take_back(places[7]), None);
        let left: Vec<_> = std::iter::from_fn(|| queue.pop(false)).collect();
        assert_eq!(left, (3..19).filter(|n| *n != 7).collect::<Vec<_>>());
        // The cells are others' by now.
        for number in 100..120 {
            queue.push(number, &label(number));
        }
        assert!(
            places
                .into_iter()
                .all(|place| queue.take_back(place).is_none())
        );
    }

    /// Values pushed while the first ring was full do not wait forever behind newer ones.
    #[test]
    fn a_turn_takes_values_pushed_while_other_rings_were_full() {
        let queue = Queue::of(2);
        for number in 0..3_u64 {
            queue.push(number, &label(number));
        }
        assert_eq!(queue.pop(true), Some(2));
        assert_eq!((queue.pop(true), queue.pop(false)), (Some(0), Some(1)));
    }

    #[test]
    fn remaining_values_are_dropped_once() {
        let value = Arc::new(());
        let queue = Queue::of(1);
        for number in 0..100 {
            queue.push(Arc::clone(&value), &label(number));
        }
        drop(queue.pop(false));
        assert!(queue.take(64, |l| l[0] == 40).is_some());
        assert_eq!(Arc::strong_count(&value), 99);
        drop(queue);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn every_value_is_taken_once_by_any_thread_in_any_way() {
        const EACH: u64 = 20_000;
        let queue = &Queue::of(2);
        let seen: &Vec<AtomicU64> = &(0..4 * EACH).map(|_| AtomicU64::new(0)).collect();
        let count = &AtomicU64::new(0);
        let note = |value: u64| {
            seen[value as usize].fetch_add(1, Ordering::Relaxed);
            count.fetch_add(1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for first in 0..4 {
                scope.spawn(move || {
                    for number in 0..EACH {
                        let value = first * EACH + number;
                        let place = queue.push(value, &label(value % 8));
                        match value % 5 {
                            0 => queue.take_back(place).map(note),
                            1 => queue.pop(value % 16 == 1).map(note),
                            2 => queue.take(64, |l| l[0] == first).map(note),
                            _ => None,
                        };
                    }
                });
                scope.spawn(move || {
                    while count.load(Ordering::Relaxed) < 4 * EACH {
                        match queue.pop(first == 0) {
                            Some(value) => note(value),
                            None => std::thread::yield_now(),
                        }
                    }
                });
            }
        });
        assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1));
        assert_eq!(queue.pop(false), None);
    }

    #[test]
    fn both_kinds_are_counted_in_one_word() {
        let idle = IdleWorkers::new();
        assert!(!idle.waits().any());
        // Taken before it was counted.
        let early = idle.remove(Waits::TASK);
        assert!((early.tasks(), early.joins()) == (-1, 0) && !early.any());
        assert!(idle.add(Waits::shares(3)).any());
        let waits = idle.add(Waits::TASK);
        assert_eq!(
            (waits.tasks(), waits.joins(), waits.is_one()),
            (0, 3, false)
        );
        assert!(idle.remove(Waits::shares(2)).is_one());
        assert!(!idle.remove(Waits::shares(2)).any());
        let waits = idle.add(Waits::TASK);
        assert!((waits.tasks(), waits.joins()) == (1, -1) && waits.any());
        assert!(idle.add(Waits::shares(1)).is_one());
    }
}

#[cfg(loom)]
mod interleavings {
    use super::*;
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    /// A value that shows whether everything before its push is visible.
    type Value = Arc<AtomicU32>;

    fn value() -> Value {
        Arc::new(AtomicU32::new(0))
    }

    fn push(queue: &Queue<Value>, value: &Value, word: u64) -> work_group_pool::Position {
        value.store(1, Ordering::Relaxed);
        queue.push(value.clone(), &label(word))
    }

    /// Takes it: once, and with everything that happened before its push.
    fn note(taken: Option<Value>) {
        if let Some(value) = taken {
            assert_eq!(value.load(Ordering::Relaxed), 1);
            value.store(2, Ordering::Relaxed);
        }
    }

    fn all_are_taken(queue: &Queue<Value>, values: &[Value]) {
        while let Some(value) = queue.pop(false) {
            note(Some(value));
        }
        for value in values {
            assert_eq!(value.load(Ordering::Relaxed), 2);
        }
    }

    #[test]
    fn two_threads_push_through_a_full_ring_and_one_takes() {
        loom::model(|| {
            let queue = Arc::new(Queue::of(1));
            let values = [value(), value()];
            let pushers: Vec<_> = (0..2)
                .map(|i| {
                    let (queue, value) = (queue.clone(), values[i].clone());
                    thread::spawn(move || {
                        push(&queue, &value, 0);
                    })
                })
                .collect();
            note(queue.pop(false));
            note(queue.pop(true));
            for pusher in pushers {
                pusher.join().unwrap();
            }
            all_are_taken(&queue, &values);
        });
    }

    /// A worker takes the first value, a waiting thread the one it waits for, and another one pushes into the cell that
    /// is left.
    #[test]
    fn a_waiting_thread_takes_its_task_while_workers_take_and_cells_are_reused() {
        loom::model(|| {
            let queue = Arc::new(Queue::of(1));
            let values = [value(), value()];
            push(&queue, &values[0], 7);
            let worker = {
                let queue = queue.clone();
                thread::spawn(move || note(queue.pop(false)))
            };
            let helper = {
                let queue = queue.clone();
                thread::spawn(move || {
                    let taken = queue.take(64, |label| label[0] == 7);
                    // The other has another label, though it may be in the same cell.
                    note(taken);
                })
            };
            push(&queue, &values[1], 8);
            worker.join().unwrap();
            helper.join().unwrap();
            assert_eq!(values[0].load(Ordering::Relaxed), 2);
            all_are_taken(&queue, &values);
        });
    }

    /// An owner withdraws its offer while another thread takes it.
    #[test]
    fn an_offer_is_taken_or_withdrawn() {
        loom::model(|| {
            let queue = Arc::new(Queue::of(2));
            let values = [value(), value()];
            let other = {
                let queue = queue.clone();
                thread::spawn(move || note(queue.pop(false)))
            };
            let places = [0, 1].map(|i| push(&queue, &values[i], 0));
            for place in places {
                note(queue.take_back(place));
            }
            other.join().unwrap();
            all_are_taken(&queue, &values);
        });
    }

    /// An engine whose workers sleep as on a futex.
    struct Engine {
        queue: Queue<u32>,
        idle: IdleWorkers,
        asleep: Mutex<()>,
        wake: Condvar,
    }

    impl Engine {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                queue: Queue::of(2),
                idle: IdleWorkers::new(),
                asleep: Mutex::new(()),
                wake: Condvar::new(),
            })
        }

        fn ring(&self) {
            if self.idle.rings() {
                let _asleep = self.asleep.lock().unwrap();
                self.wake.notify_one();
            }
        }

        fn submit(&self, number: u32) {
            self.queue.push(number, &label(0));
            self.idle.add(Waits::TASK);
            if self.idle.awake() == 0 {
                self.ring();
            }
        }

        fn take(&self) -> Option<u32> {
            let taken = self.queue.pop(false)?;
            let left = self.idle.remove(Waits::TASK);
            if left.any() && self.idle.awake() == 0 {
                self.ring();
            }
            Some(taken)
        }

        /// A worker that gets one task, and does nothing afterwards.
        fn work(&self) -> u32 {
            loop {
                if self.idle.waits().any()
                    && let Some(taken) = self.take()
                {
                    return taken;
                }
                let look = || self.idle.waits().any();
                // A nap ends by itself.
                if self.idle.linger(look, || self.idle.nap(|_, _| {})) {
                    thread::yield_now();
                    continue;
                }
                self.idle.sleep(|signal, value| {
                    let asleep = self.asleep.lock().unwrap();
                    if signal.load(Ordering::Acquire) == value {
                        drop(self.wake.wait(asleep).unwrap());
                    }
                });
            }
        }
    }

    /// Submissions against the last check before sleeping: each of several workers gets one of as many tasks.
    fn everybody_gets_one(workers: u32) {
        let mut model = loom::model::Builder::new();
        if workers > 1 {
            // A minute and a half each with one more.
            model.preemption_bound = Some(2);
        }
        model.check(move || {
            let engine = Engine::new();
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    let engine = engine.clone();
                    thread::spawn(move || engine.work())
                })
                .collect();
            for number in 0..workers {
                engine.submit(1 << number);
            }
            let taken: u32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
            assert_eq!(taken, (1 << workers) - 1);
        });
    }

    #[test]
    fn a_submission_wakes_a_worker_that_is_about_to_sleep() {
        everybody_gets_one(1);
    }

    #[test]
    fn two_tasks_that_wait_for_each_other_both_run() {
        everybody_gets_one(2);
    }
}
