//! What a lane gives out again and when; and under loom, with whatever comes between.

use sycl_graph::{Countdown, Progress, Ring};

#[cfg(not(loom))]
mod alone {
    use super::*;

    /// A lane of three slots at least, asked each time.
    fn lane(submissions: u64) -> (Progress, Ring<u64>) {
        let (progress, mut ring) = (Progress::new(), Ring::new(3, 1));
        for number in 1..=submissions {
            assert_eq!(progress.next(), number);
            ring.push(number * 10);
            progress.submitted(number);
        }
        (progress, ring)
    }

    #[test]
    fn slots_are_found_by_number() {
        let (progress, ring) = lane(3);
        let found: Vec<_> = (0..=4).map(|number| ring.get(number).copied()).collect();
        assert_eq!(found, [None, Some(10), Some(20), Some(30), None]);
        assert_eq!((ring.front(), ring.back()), (Some(&10), Some(&30)));
        assert_eq!((progress.last(), progress.outstanding()), (3, 3));
    }

    #[test]
    fn a_slot_comes_again_when_nothing_needs_it() {
        // (submissions, done, pinned, waited for, what comes)
        for (submissions, done, pinned, awaited, expected) in [
            (3, 3, false, false, Some(10)),
            (3, 2, false, false, Some(10)),
            (3, 1, false, false, None),
            (2, 2, false, false, None),
            (3, 3, true, false, None),
            (3, 3, false, true, None),
            (4, 4, false, true, None),
        ] {
            let (progress, mut ring) = lane(submissions);
            progress.end(done);
            if pinned {
                progress.pin(1);
            }
            let given = ring.recycle(&progress, |_| !awaited);
            assert_eq!(given, expected, "{submissions} {done} {pinned} {awaited}");
            if pinned {
                progress.unpin(1);
                assert_eq!(ring.recycle(&progress, |_| true), Some(10));
            }
        }
    }

    /// A lane that somebody always looks at, though at another submission each time, needs no more slots than others.
    #[test]
    fn a_lane_that_is_always_looked_at_does_not_grow() {
        let (progress, mut ring) = lane(64);
        progress.pin(64);
        let mut slots = 64;
        for number in 65..=10_000 {
            progress.end(number - 1);
            let again = ring.recycle(&progress, |_| true);
            slots += u32::from(again.is_none());
            ring.push(again.unwrap_or(number * 10));
            progress.submitted(number);
            progress.pin(number);
            progress.unpin(number - 1);
        }
        assert_eq!(slots, 64);
    }

    /// A slot that is needed for ever is one slot more, not one more for each submission; and it comes again when it is
    /// needed no longer.
    #[test]
    fn a_slot_that_is_needed_for_long_keeps_no_other() {
        let (progress, mut ring) = lane(64);
        let needed = std::cell::Cell::new(true);
        let unused = |slot: &u64| *slot != 10 || !needed.get();
        let mut slots = 64;
        for number in 65..=10_000 {
            progress.end(number - 1);
            let again = ring.reclaim(&progress, unused);
            let again = again.or_else(|| ring.recycle(&progress, unused));
            slots += u32::from(again.is_none());
            ring.push(again.unwrap_or(number * 10));
            progress.submitted(number);
            needed.set(number < 9_000);
            assert!(!needed.get() || ring.get(1) == Some(&10), "{number}");
        }
        assert!(slots <= 65, "{slots} slots were made");
        assert_eq!(ring.iter().filter(|slot| **slot == 10).count(), 1);
        assert_eq!(ring.get(1), None, "it is another submission's now");
        assert!(ring.restart(10_001).any(|slot| slot == 10));
    }

    #[test]
    fn the_device_is_asked_now_and_then() {
        let (progress, mut ring) = lane(8);
        assert_eq!(ring.ask(&progress), Some([5, 2]));
        assert_eq!(ring.ask(&progress), None, "not twice for one submission");
        ring.push(90);
        progress.submitted(9);
        assert_eq!(ring.ask(&progress), Some([5, 2]));
        progress.end(2);
        ring.push(100);
        progress.submitted(10);
        assert_eq!(ring.ask(&progress), None, "there is one to give out");
    }

    #[test]
    fn ended_work_stays_ended() {
        let (progress, mut ring) = lane(3);
        progress.end(3);
        progress.end(1);
        assert!(progress.is_done(3) && !progress.is_done(4));
        assert_eq!(ring.restart(4).collect::<Vec<_>>(), [10, 20, 30]);
        assert_eq!(ring.get(4), None);
        progress.end_all();
        assert_eq!(progress.outstanding(), 0);
    }

    #[test]
    fn the_last_reason_is_the_last() {
        let countdown = Countdown::new();
        countdown.hold();
        assert!(!countdown.let_go());
        assert!(countdown.let_go());
    }
}

#[cfg(loom)]
mod interleavings {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// A lane whose slots are the numbers of events, and how often each event was reset.
    struct Lane {
        progress: Progress,
        ring: Mutex<Ring<usize>>,
        resets: [AtomicUsize; 3],
    }

    impl Lane {
        fn new() -> Self {
            let lane = Self {
                progress: Progress::new(),
                ring: Mutex::new(Ring::new(2, 1)),
                resets: [0, 0, 0].map(AtomicUsize::new),
            };
            for event in 0..2 {
                lane.submit(event);
            }
            lane
        }

        fn submit(&self, fresh: usize) {
            let mut ring = self.ring.lock().unwrap();
            let number = self.progress.next();
            let again = ring.recycle(&self.progress, |_| true);
            if let Some(event) = again {
                self.resets[event].fetch_add(1, Ordering::Relaxed);
            }
            ring.push(again.unwrap_or(fresh));
            self.progress.submitted(number);
        }

        /// The event of a submission that has not ended, pinned; with its resets so far.
        fn pin(&self, number: u64) -> Option<(usize, usize)> {
            if self.progress.is_done(number) {
                return None;
            }
            let ring = self.ring.lock().unwrap();
            let event = *ring.get(number)?;
            self.progress.pin(number);
            Some((event, self.resets[event].load(Ordering::Relaxed)))
        }
    }

    /// An event that a thread looks at is the same submission's until it looks away, whatever ends and is submitted.
    #[test]
    fn a_pinned_event_is_not_used_again() {
        loom::model(|| {
            let lane = Arc::new(Lane::new());
            let looking = thread::spawn({
                let lane = lane.clone();
                move || {
                    if let Some((event, resets)) = lane.pin(1) {
                        assert_eq!(event, 0);
                        thread::yield_now();
                        assert_eq!(lane.resets[event].load(Ordering::Relaxed), resets);
                        lane.progress.unpin(1);
                    }
                }
            });
            let device = thread::spawn({
                let lane = lane.clone();
                move || lane.progress.end(2)
            });
            lane.submit(2);
            looking.join().unwrap();
            device.join().unwrap();
            // Nobody looks any more: the next submission gets the oldest event, if that was not taken before.
            lane.submit(2);
            let used = lane
                .resets
                .iter()
                .map(|resets| resets.load(Ordering::Relaxed));
            assert_eq!(used.sum::<usize>(), 1);
        });
    }

    /// A lane that somebody closes, and that whoever lets go of the last pin closes where that was in the way.
    struct Closing {
        progress: Progress,
        /// It has its events.
        open: Mutex<bool>,
        closing: AtomicBool,
        closed: AtomicUsize,
        /// What is read in a look and destroyed by whoever closes: loom finds an end that is not ordered after all looks.
        event: UnsafeCell<()>,
    }

    // SAFETY: `event` is what the model is about: loom ends the test where two threads may have it at once.
    unsafe impl Sync for Closing {}

    impl Closing {
        fn pin(&self) -> bool {
            let open = self.open.lock().unwrap();
            if *open {
                self.progress.pin(1);
            }
            *open
        }

        /// Looks at the event, and away.
        fn look(&self) {
            self.event.with(|_event| ());
            assert_eq!(self.closed.load(Ordering::Relaxed), 0, "under a look");
            self.progress.unpin(1);
            if self.closing.load(Ordering::Relaxed) {
                self.close_unless_used(&mut self.open.lock().unwrap());
            }
        }

        fn close(&self) {
            let mut open = self.open.lock().unwrap();
            self.closing.store(true, Ordering::Relaxed);
            self.close_unless_used(&mut open);
        }

        fn close_unless_used(&self, open: &mut bool) {
            if !self.closing.load(Ordering::Relaxed) || self.progress.has_pins() {
                return;
            }
            self.closing.store(false, Ordering::Relaxed);
            *open = false;
            self.event.with_mut(|_event| ());
            self.closed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Nobody's event is destroyed under a look, and somebody destroys them: once.
    #[test]
    fn the_last_thread_closes_a_lane() {
        loom::model(|| {
            let lane = Arc::new(Closing {
                progress: Progress::new(),
                open: Mutex::new(true),
                closing: AtomicBool::new(false),
                closed: AtomicUsize::new(0),
                event: UnsafeCell::new(()),
            });
            assert!(lane.pin());
            let looking = thread::spawn({
                let lane = lane.clone();
                move || lane.look()
            });
            let other = thread::spawn({
                let lane = lane.clone();
                move || {
                    if lane.pin() {
                        lane.look();
                    }
                }
            });
            lane.close();
            looking.join().unwrap();
            other.join().unwrap();
            assert_eq!(lane.closed.load(Ordering::Relaxed), 1);
            assert!(!lane.progress.has_pins());
        });
    }

    /// Whoever knows that work has ended sees what it did.
    #[test]
    fn ended_work_is_seen() {
        loom::model(|| {
            let lane = Arc::new((Progress::new(), AtomicU32::new(0)));
            let device = thread::spawn({
                let lane = lane.clone();
                move || {
                    lane.1.store(1, Ordering::Relaxed);
                    lane.0.end(1);
                    lane.1.store(2, Ordering::Relaxed);
                    lane.0.end(2);
                }
            });
            let other = thread::spawn({
                let lane = lane.clone();
                move || lane.0.end(1)
            });
            if lane.0.is_done(2) {
                assert_eq!(lane.1.load(Ordering::Relaxed), 2);
                lane.0.end(1);
                assert!(lane.0.is_done(2));
            }
            device.join().unwrap();
            other.join().unwrap();
            assert!(lane.0.is_done(2));
        });
    }

    /// Held-back work runs once, after all that it waits for, though some of it ends while the rest is still counted.
    #[test]
    fn held_back_work_runs_once() {
        loom::model(|| {
            let work = Arc::new((
                Countdown::new(),
                [0, 0].map(AtomicU32::new),
                AtomicU32::new(0),
            ));
            let run = |work: &(Countdown, [AtomicU32; 2], AtomicU32)| {
                if work.0.let_go() {
                    let done = work.1.iter().map(|one| one.load(Ordering::Relaxed));
                    assert_eq!(done.sum::<u32>(), 2);
                    work.2.fetch_add(1, Ordering::Relaxed);
                }
            };
            let reasons: Vec<_> = (0..2)
                .map(|number| {
                    work.0.hold();
                    let work = work.clone();
                    thread::spawn(move || {
                        work.1[number].store(1, Ordering::Relaxed);
                        run(&work);
                    })
                })
                .collect();
            run(&work);
            for reason in reasons {
                reason.join().unwrap();
            }
            assert_eq!(work.2.load(Ordering::Relaxed), 1);
        });
    }
}
