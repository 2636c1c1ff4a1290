//! Claims under real threads, and under every interleaving that loom can find
//! (`RUSTFLAGS="--cfg loom" cargo test -p work-group-pool --release`).

#[cfg(not(loom))]
mod threads {
    use std::sync::atomic::{AtomicU32, Ordering};
    use work_group_pool::Dispatch;

    #[test]
    fn every_group_is_claimed_once_and_one_thread_ends_the_dispatch() {
        for (total, chunk) in [(1, 1), (2, 8), (7, 2), (1_000, 3), (100_000, 64)] {
            let dispatch = Dispatch::new(total);
            let seen: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
            let last = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        while let Some(range) = dispatch.claim(chunk) {
                            assert!(range.count >= 1 && range.count <= chunk);
                            for group in range.first..range.first + range.count {
                                seen[group as usize].fetch_add(1, Ordering::Relaxed);
                            }
                            if dispatch.finish(range.count) {
                                last.fetch_add(1, Ordering::Relaxed);
                                assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1));
                            }
                        }
                    });
                }
            });
            assert_eq!(last.into_inner(), 1, "{total} groups by {chunk}");
            assert!(!dispatch.has_unclaimed());
        }
    }

    #[test]
    fn abandoned_groups_are_counted_and_never_claimed() {
        let dispatch = Dispatch::new(10);
        let claimed = dispatch.claim(2).unwrap();
        let dropped = dispatch.abandon();
        assert_eq!(claimed.count + dropped, 10);
        assert_eq!(dispatch.claim(1), None);
        assert_eq!(dispatch.abandon(), 0);
        assert!(!dispatch.finish(dropped));
        assert!(dispatch.finish(claimed.count));
    }

    #[test]
    fn an_empty_dispatch_hands_out_nothing() {
        assert_eq!(Dispatch::new(0).claim(4), None);
    }
}

#[cfg(loom)]
mod interleavings {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::thread;
    use work_group_pool::Dispatch;

    #[test]
    fn the_last_finisher_sees_all_work() {
        loom::model(|| {
            let dispatch = Arc::new(Dispatch::new(3));
            // One flag a group, written with Relaxed: only `finish` may order them.
            let work: Arc<[AtomicU32; 3]> = Arc::new([0, 1, 2].map(|_| AtomicU32::new(0)));
            let lasts = Arc::new(AtomicU32::new(0));
            let run = {
                let (dispatch, work, lasts) = (dispatch.clone(), work.clone(), lasts.clone());
                move || {
                    while let Some(range) = dispatch.claim(2) {
                        for group in range.first..range.first + range.count {
                            let done = work[group as usize].load(Ordering::Relaxed);
                            assert_eq!(done, 0, "claimed twice");
                            work[group as usize].store(done + 1, Ordering::Relaxed);
                        }
                        if dispatch.finish(range.count) {
                            lasts.fetch_add(1, Ordering::Relaxed);
                            for w in work.iter() {
                                assert_eq!(w.load(Ordering::Relaxed), 1);
                            }
                        }
                    }
                }
            };
            let other = thread::spawn(run.clone());
            run();
            other.join().unwrap();
            assert_eq!(lasts.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn abandoning_races_with_claiming_without_loss() {
        loom::model(|| {
            let dispatch = Arc::new(Dispatch::new(3));
            let lasts = Arc::new(AtomicU32::new(0));
            let other = {
                let (dispatch, lasts) = (dispatch.clone(), lasts.clone());
                thread::spawn(move || {
                    while let Some(range) = dispatch.claim(1) {
                        if dispatch.finish(range.count) {
                            lasts.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            };
            if dispatch.finish(dispatch.abandon()) {
                lasts.fetch_add(1, Ordering::Relaxed);
            }
            other.join().unwrap();
            assert_eq!(lasts.load(Ordering::Relaxed), 1);
        });
    }
}
