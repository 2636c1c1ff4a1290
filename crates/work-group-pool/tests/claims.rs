//! Claims under real threads, and under every interleaving that loom can find
//! (`RUSTFLAGS="--cfg loom" cargo test -p solum-work-group-pool --release`).

#[cfg(not(loom))]
mod threads {
    use std::sync::atomic::{AtomicU32, Ordering};
    use work_group_pool::{Dispatch, Range};

    #[test]
    fn every_group_is_claimed_once_and_one_thread_ends_the_dispatch() {
        let cases = [
            (1, 1, 1, 1),
            (2, 8, 8, 4),
            (7, 2, 1, 3),
            (1_000, 3, 2, 1),
            (100_000, 64, 8, 2),
            (100_003, 64, 1, 5),
        ];
        for (total, chunk, least, homes) in cases {
            let dispatch = Dispatch::new(total, homes);
            let seen: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
            let last = AtomicU32::new(0);
            std::thread::scope(|scope| {
                let (dispatch, seen, last) = (&dispatch, &seen, &last);
                for home in 0..4 {
                    scope.spawn(move || {
                        while let Some(range) = dispatch.claim(chunk, least, home) {
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
            assert_eq!(
                last.into_inner(),
                1,
                "{total} groups by {chunk}, {homes} homes"
            );
            assert!(!dispatch.has_unclaimed());
        }
    }

    #[test]
    fn claims_are_of_the_home_until_that_has_none() {
        let dispatch = Dispatch::new(10, 2);
        // (home, chunk, least, first group, groups)
        for (home, chunk, least, first, count) in [
            (1, 2, 1, 5, 2),
            (0, 8, 3, 0, 3),
            (3, 8, 1, 7, 1),
            (1, 8, 8, 8, 2),
            (1, 8, 1, 3, 1),
            (1, 8, 1, 4, 1),
        ] {
            assert_eq!(
                dispatch.claim(chunk, least, home),
                Some(Range { first, count })
            );
        }
        assert_eq!(dispatch.claim(1, 1, 0), None);
    }

    #[test]
    fn abandoned_groups_are_counted_and_never_claimed() {
        for homes in 1..4 {
            let dispatch = Dispatch::new(10, homes);
            let claimed = dispatch.claim(2, 1, 1).unwrap();
            let dropped = dispatch.abandon();
            assert_eq!(claimed.count + dropped, 10);
            assert_eq!(dispatch.claim(1, 1, 0), None);
            assert_eq!(dispatch.abandon(), 0);
            assert!(!dispatch.finish(dropped));
            assert!(dispatch.finish(claimed.count));
        }
    }

    #[test]
    fn an_empty_dispatch_has_no_groups() {
        assert_eq!(Dispatch::new(0, 4).claim(4, 4, 3), None);
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
        for homes in [1, 2] {
            last_finisher(homes);
        }
    }

    fn last_finisher(homes: usize) {
        loom::model(move || {
            let dispatch = Arc::new(Dispatch::new(3, homes));
            // One flag a group, written with Relaxed: only `finish` may order them.
            let work: Arc<[AtomicU32; 3]> = Arc::new([0, 1, 2].map(|_| AtomicU32::new(0)));
            let lasts = Arc::new(AtomicU32::new(0));
            let run = {
                let (dispatch, work, lasts) = (dispatch.clone(), work.clone(), lasts.clone());
                move |home| {
                    while let Some(range) = dispatch.claim(2, 1, home) {
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
            let other = thread::spawn({
                let run = run.clone();
                move || run(1)
            });
            run(0);
            other.join().unwrap();
            assert_eq!(lasts.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn abandoning_races_with_claiming_without_loss() {
        loom::model(|| {
            let dispatch = Arc::new(Dispatch::new(3, 2));
            let lasts = Arc::new(AtomicU32::new(0));
            let other = {
                let (dispatch, lasts) = (dispatch.clone(), lasts.clone());
                thread::spawn(move || {
                    while let Some(range) = dispatch.claim(1, 1, 1) {
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
