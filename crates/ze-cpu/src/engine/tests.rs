//! The engine with tasks of the tests' own: order of sleep and wake, transfers, faults, helping.

use super::*;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use ze_driver::device::{Keeps, Need, RegionCopy, Work};

/// A task that decrements a shared word.
struct Item {
    work: Work,
    left: Arc<AtomicU32>,
    outcome: Mutex<Option<Outcome>>,
}

impl Task for Item {
    fn work(&self) -> &Work {
        &self.work
    }
    fn needed_by(&self) -> [Need; 2] {
        [Need::of(&self.left), Need::NONE]
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        let old = self.outcome.lock().unwrap().replace(outcome);
        assert!(old.is_none(), "finished twice");
        self.left.fetch_sub(1, Ordering::Release);
        futex::wake(&self.left, usize::MAX, Scope::Shared);
    }
}

fn submit(engine: &'static Engine, works: Vec<Work>) -> (Arc<AtomicU32>, Vec<Arc<Item>>) {
    let left = Arc::new(AtomicU32::new(works.len() as u32));
    let items: Vec<_> = works
        .into_iter()
        .map(|work| {
            Arc::new(Item {
                work,
                left: Arc::clone(&left),
                outcome: Mutex::new(None),
            })
        })
        .collect();
    for item in &items {
        engine.submit(Arc::clone(item) as Arc<dyn Task>);
    }
    (left, items)
}

/// Runs `works` and returns their outcomes.
fn run(engine: &'static Engine, works: Vec<Work>) -> Vec<Outcome> {
    let (left, items) = submit(engine, works);
    assert!(engine.wait(
        (&left, 0),
        &AtomicU32::new(0),
        &|| left.load(Ordering::Acquire) == 0,
        u64::MAX
    ));
    let outcomes = items
        .iter()
        .map(|item| item.outcome.lock().unwrap().take().unwrap());
    outcomes.collect()
}

fn copy(dst: *mut u8, src: *const u8, len: usize) -> Work {
    Work::Copy {
        dst,
        src,
        len: len as u64,
    }
}

#[test]
fn a_hundred_thousand_tasks_from_many_threads_all_end_once() {
    let engine = Engine::new(4, true);
    let count = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let works = (0..1000).map(|_| {
                        let count = Arc::clone(&count);
                        Work::Internal(Arc::new(move || {
                            count.fetch_add(1, Ordering::Relaxed);
                        }))
                    });
                    let outcomes = run(engine, works.collect());
                    for outcome in outcomes {
                        assert_eq!(outcome.fault, None);
                        assert!(outcome.start_ns <= outcome.end_ns);
                    }
                }
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 100_000);
}

#[test]
fn single_submissions_are_noticed_spinning_dozing_and_asleep() {
    let engine = Engine::new(2, true);
    // Idle times that reach each stage of a worker's sleep.
    for idle_us in [0u64, 5, 60, 300, 1000, 8000] {
        for _ in 0..20 {
            let end = now_ns() + idle_us * 1000;
            while now_ns() < end {
                std::hint::spin_loop();
            }
            assert_eq!(run(engine, vec![Work::Nothing])[0].fault, None);
        }
    }
}

#[test]
fn two_tasks_that_wait_for_each_other_overlap_on_one_cpu_too() {
    for cpus in [1, 2] {
        let engine = Engine::new(cpus, true);
        for _ in 0..50 {
            let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let works = [(0, 1), (1, 0)].map(|(mine, other)| {
                let flags = Arc::clone(&flags);
                Work::Internal(Arc::new(move || {
                    flags[mine].store(1, Ordering::Release);
                    while flags[other].load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                }))
            });
            run(engine, works.into());
        }
    }
}

#[test]
fn work_progresses_without_a_waiter() {
    let engine = Engine::new(2, true);
    let (left, _items) = submit(engine, vec![Work::Nothing; 100]);
    // Looks only, as a query does.
    while left.load(Ordering::Acquire) > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_task_may_submit_the_next_one() {
    struct Chain {
        engine: &'static Engine,
        work: Work,
        left: AtomicU32,
    }
    impl Task for Chain {
        fn work(&self) -> &Work {
            &self.work
        }
        fn finished(self: Arc<Self>, _: Outcome) {
            if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
                self.engine.submit(Arc::clone(&self) as Arc<dyn Task>);
            } else {
                futex::wake(&self.left, usize::MAX, Scope::Shared);
            }
        }
    }
    let engine = Engine::new(2, true);
    let chain = Arc::new(Chain {
        engine,
        work: Work::Nothing,
        left: AtomicU32::new(10_000),
    });
    engine.submit(Arc::clone(&chain) as Arc<dyn Task>);
    assert!(engine.wait(
        (&chain.left, 0),
        &AtomicU32::new(0),
        &|| chain.left.load(Ordering::Acquire) == 0,
        u64::MAX
    ));
}

#[test]
fn a_wait_ends_at_its_deadline_or_at_once_without_time() {
    let engine = Engine::new(2, true);
    let word = AtomicU32::new(0);
    for limit in [0, 1_000_000] {
        let begin = now_ns();
        assert!(!engine.wait((&word, 0), &AtomicU32::new(0), &|| false, begin + limit));
        // Ending at all is the upper bound; how soon depends on the machine.
        let took = now_ns() - begin;
        assert!(took >= limit, "{took}");
    }
    assert!(engine.wait((&word, 0), &AtomicU32::new(0), &|| true, 0));
}

#[test]
fn copies_and_fills_of_all_sizes_are_exact() {
    let engine = Engine::new(2, true);
    for len in [0usize, 1, 4097, (4 << 20) - 1, (4 << 20) + 3, (9 << 20) + 1] {
        let src: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut dst = vec![0u8; len + 2];
        let outcome = run(
            engine,
            vec![copy(dst.as_mut_ptr().wrapping_add(1), src.as_ptr(), len)],
        );
        assert_eq!(outcome[0].fault, None);
        assert!(
            dst[1..=len] == src[..] && dst[0] == 0 && dst[len + 1] == 0,
            "{len}"
        );
    }
    // Overlapping, in both directions, large enough to be split if it could be.
    let len = 8 << 20;
    let mut bytes: Vec<u8> = (0..len + 10).map(|i| (i * 3 + i / 251) as u8).collect();
    let mut expected = bytes.clone();
    let at = bytes.as_mut_ptr();
    run(engine, vec![copy(at.wrapping_add(10), at, len)]);
    expected.copy_within(0..len, 10);
    assert!(bytes == expected);
    let at = bytes.as_mut_ptr();
    run(engine, vec![copy(at, at.wrapping_add(10), len)]);
    expected.copy_within(10.., 0);
    assert!(bytes == expected);
    for pattern_len in [1usize, 2, 3, 4, 8, 12, 16, 100, 3000, 5000] {
        for repeats in [1, 2, (5 << 20) / pattern_len] {
            let pattern: Box<[u8]> = (0..pattern_len).map(|i| i as u8 ^ 0x5a).collect();
            let len = pattern_len * repeats;
            let mut dst = vec![0u8; len + 1];
            let fill = Work::Fill {
                dst: dst.as_mut_ptr(),
                pattern: pattern.clone(),
                len: len as u64,
            };
            assert_eq!(run(engine, vec![fill])[0].fault, None);
            assert!(
                dst.chunks(pattern_len)
                    .take(repeats)
                    .all(|c| *c == pattern[..])
            );
            assert_eq!(dst[len], 0, "{pattern_len} times {repeats}");
        }
    }
}

#[test]
fn regions_are_copied_row_by_row() {
    let engine = Engine::new(2, true);
    // (width, rows, slices, dst pitches, src pitches)
    for (width, rows, slices, dp, dsp, sp, ssp) in [
        (5usize, 3usize, 2usize, 8usize, 30usize, 6usize, 40usize),
        (16, 4, 3, 16, 64, 16, 64),
        (16, 4, 3, 16, 100, 16, 64),
        (7, 1, 5, 0, 9, 0, 7),
        (3000, 700, 3, 3001, 3001 * 700, 3100, 3100 * 701),
    ] {
        let src: Vec<u8> = (0..ssp * slices + sp * rows + width)
            .map(|i| (i % 251) as u8)
            .collect();
        let mut dst = vec![255u8; dsp * slices + dp * rows + width];
        let mut expected = dst.clone();
        for slice in 0..slices {
            for row in 0..rows {
                let (to, from) = (slice * dsp + row * dp, slice * ssp + row * sp);
                expected[to..to + width].copy_from_slice(&src[from..from + width]);
            }
        }
        let region = RegionCopy {
            dst: dst.as_mut_ptr(),
            dst_pitch: dp as u64,
            dst_slice_pitch: dsp as u64,
            src: src.as_ptr(),
            src_pitch: sp as u64,
            src_slice_pitch: ssp as u64,
            width: width as u64,
            rows: rows as u64,
            slices: slices as u64,
            keeps: Keeps::default(),
        };
        assert_eq!(run(engine, vec![Work::CopyRegion(region)])[0].fault, None);
        assert!(dst == expected, "{width} x {rows} x {slices}");
    }
}

/// A task that remembers which thread ran it, and then submits another.
struct Noted {
    work: Work,
    last: bool,
    ran: OnceLock<(std::thread::ThreadId, Outcome)>,
    next: Mutex<Option<Arc<Self>>>,
    engine: &'static Engine,
}

impl Noted {
    fn new(engine: &'static Engine, work: Work, last: bool, next: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            work,
            last,
            ran: OnceLock::new(),
            next: Mutex::new(next),
            engine,
        })
    }

    /// Whether the calling thread ran the task. Waits for the end, without running anything.
    fn ran_here(&self) -> bool {
        while self.ran.get().is_none() {
            std::thread::yield_now();
        }
        self.ran.get().unwrap().0 == std::thread::current().id()
    }
}

impl Task for Noted {
    fn work(&self) -> &Work {
        &self.work
    }
    fn is_last(&self) -> bool {
        self.last
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        if let Some(next) = self.next.lock().unwrap().take() {
            self.engine.submit(next);
        }
        let first = self.ran.set((std::thread::current().id(), outcome));
        assert!(first.is_ok(), "finished twice");
    }
}

#[test]
fn the_submitting_thread_does_a_short_copy_behind_which_nothing_waits() {
    let engine = Engine::new(2, true);
    let (from, mut to) = (vec![7u8; 1 << 20], vec![0u8; 1 << 20]);
    let of = |to: &mut Vec<u8>, len| copy(to.as_mut_ptr(), from.as_ptr(), len);
    let limit = DIRECT_BYTES as usize;
    let fill = |to: &mut Vec<u8>, len| Work::Fill {
        dst: to.as_mut_ptr(),
        pattern: Box::new([7]),
        len,
    };
    let cases = [
        (of(&mut to, 1), true, true),
        (of(&mut to, limit), true, true),
        (of(&mut to, limit), false, false),
        (of(&mut to, limit + 1), true, false),
        (fill(&mut to, limit as u64), true, true),
        (fill(&mut to, limit as u64 + 1), true, false),
        (Work::Nothing, true, false),
    ];
    for (number, (work, last, direct)) in cases.into_iter().enumerate() {
        let task = Noted::new(engine, work, last, None);
        engine.submit(Arc::clone(&task) as Arc<dyn Task>);
        assert_eq!(task.ran_here(), direct, "case {number}");
        assert_eq!(task.ran.get().unwrap().1.fault, None, "case {number}");
    }
    assert!(to[..=limit].iter().all(|byte| *byte == 7));
    // Without helping threads, workers do everything.
    let task = Noted::new(Engine::new(2, false), of(&mut to, 1), true, None);
    task.engine.submit(Arc::clone(&task) as Arc<dyn Task>);
    assert!(!task.ran_here());
}

#[test]
fn a_fault_of_a_direct_copy_is_its_outcome() {
    let engine = Engine::new(2, true);
    let mut bytes = [0u8; 8];
    let task = Noted::new(
        engine,
        copy(bytes.as_mut_ptr(), std::ptr::null(), 8),
        true,
        None,
    );
    engine.submit(Arc::clone(&task) as Arc<dyn Task>);
    assert!(task.ran_here());
    let (_, outcome) = task.ran.get().unwrap();
    assert!(outcome.fault.as_ref().unwrap().contains("SIGSEGV"));
}

#[test]
fn a_copy_that_a_direct_copy_makes_ready_is_for_workers() {
    let engine = Engine::new(2, true);
    let (from, mut to) = ([7u8; 8], [0u8; 8]);
    let mut of = || copy(to.as_mut_ptr(), from.as_ptr(), 8);
    let second = Noted::new(engine, of(), true, None);
    let first = Noted::new(engine, of(), true, Some(Arc::clone(&second)));
    engine.submit(Arc::clone(&first) as Arc<dyn Task>);
    assert!(first.ran_here());
    assert!(!second.ran_here());
}

#[test]
fn bad_pointers_and_panics_are_outcomes_and_the_workers_live_on() {
    let engine = Engine::new(2, true);
    let mut byte = 0u8;
    let good = std::ptr::from_mut(&mut byte);
    let (null, low) = (std::ptr::null_mut(), 4096 as *mut u8);
    let works = || {
        vec![
            copy(null, good, 1),
            copy(good, low, 1),
            copy(low, low.wrapping_add(64 << 20), 32 << 20),
            Work::Fill {
                dst: low,
                pattern: Box::new([1, 2]),
                len: 8 << 20,
            },
            Work::WriteTimestamp(null.cast()),
        ]
    };
    let rounds = 200;
    for _ in 0..rounds {
        for outcome in run(engine, works()) {
            let fault = outcome.fault.unwrap();
            assert!(fault.contains("SIGSEGV"), "{fault}");
        }
    }
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let panicking = Work::Internal(Arc::new(|| panic!("on purpose")));
    let outcome = run(engine, vec![panicking]);
    std::panic::set_hook(hook);
    assert!(outcome[0].fault.is_some());
    let mut stamp = 0u64;
    let outcome = run(engine, vec![Work::WriteTimestamp(&mut stamp)]);
    assert!(
        outcome[0].fault.is_none() && outcome[0].start_ns <= stamp && stamp <= outcome[0].end_ns
    );
}

#[test]
fn host_functions_run_on_workers() {
    unsafe extern "C" fn note(data: *mut c_void) {
        // SAFETY: the test passes the address of its counter.
        let seen = unsafe { &*data.cast::<AtomicU64>() };
        // SAFETY: a system call without memory.
        seen.store(
            unsafe { libc::syscall(libc::SYS_gettid) } as u64,
            Ordering::Release,
        );
    }
    let engine = Engine::new(1, true);
    let seen = AtomicU64::new(0);
    let work = Work::Host {
        function: note,
        data: std::ptr::from_ref(&seen).cast_mut().cast(),
    };
    run(engine, vec![work]);
    // SAFETY: a system call without memory.
    let me = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    assert!(![0, me].contains(&seen.load(Ordering::Acquire)));
}

#[test]
fn an_unlimited_wait_runs_only_the_tasks_that_it_waits_for() {
    let engine = Engine::new(2, true);
    // Keeps all workers busy until the flag is set, which this thread does only after its wait.
    let gate = Arc::new(AtomicU32::new(0));
    let arrived = Arc::new(AtomicU32::new(0));
    let blocker = || {
        let (gate, arrived) = (Arc::clone(&gate), Arc::clone(&arrived));
        Work::Internal(Arc::new(move || {
            arrived.fetch_add(1, Ordering::Release);
            while gate.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
        }))
    };
    let (blocked, _blockers) = submit(engine, vec![blocker(), blocker()]);
    while arrived.load(Ordering::Acquire) < 2 {
        std::thread::yield_now();
    }
    let mut bytes = [0u8; 64];
    let source = [7u8; 64];
    let mut other = [0u8; 8];
    let (others, _others) = submit(engine, vec![copy(other.as_mut_ptr(), source.as_ptr(), 8)]);
    // No worker is free: only this thread can do it. A fault there is survived as on a worker.
    let good = copy(bytes.as_mut_ptr(), source.as_ptr(), 64);
    let outcomes = run(
        engine,
        vec![good, copy(bytes.as_mut_ptr(), std::ptr::null(), 8)],
    );
    assert_eq!((bytes, &outcomes[0].fault), (source, &None));
    assert!(outcomes[1].fault.as_ref().unwrap().contains("SIGSEGV"));
    assert_eq!(
        others.load(Ordering::Acquire),
        1,
        "tasks that the wait does not need stay in the queue"
    );
    // A wait with a limit never runs work.
    let (left, _items) = submit(engine, vec![copy(bytes.as_mut_ptr(), source.as_ptr(), 1)]);
    assert!(!engine.wait(
        (&left, 0),
        &AtomicU32::new(0),
        &|| left.load(Ordering::Acquire) == 0,
        now_ns() + 2_000_000
    ));
    gate.store(1, Ordering::Release);
    for word in [left, blocked, others] {
        assert!(engine.wait(
            (&word, 0),
            &AtomicU32::new(0),
            &|| word.load(Ordering::Acquire) == 0,
            u64::MAX
        ));
    }
    // The thread's own signal stack and mask are back.
    // SAFETY: only asks.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut mask);
        assert_eq!(libc::sigismember(&mask, libc::SIGINT), 0);
    }
}

#[test]
fn a_fault_of_inline_work_is_survived_after_the_thread_has_blocked_its_signal() {
    let engine = Engine::new(2, true);
    let mut bytes = [0u8; 64];
    let source = [7u8; 64];
    // This thread is trusted: most of the copies run on it.
    for _ in 0..200 {
        let good = copy(bytes.as_mut_ptr(), source.as_ptr(), 64);
        assert_eq!(run(engine, vec![good])[0].fault, None);
    }
    let set_mask = |how| {
        // SAFETY: zero bytes are a valid, empty set; the calls read and write it alone.
        unsafe {
            let mut raised: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&mut raised, libc::SIGSEGV);
            libc::pthread_sigmask(how, &raised, std::ptr::null_mut());
        }
    };
    set_mask(libc::SIG_BLOCK);
    // Longer than the last look at the mask counts.
    let end = now_ns() + 50_000;
    while now_ns() < end {
        std::hint::spin_loop();
    }
    let outcomes = run(engine, vec![copy(bytes.as_mut_ptr(), std::ptr::null(), 8)]);
    set_mask(libc::SIG_UNBLOCK);
    assert!(outcomes[0].fault.as_ref().unwrap().contains("SIGSEGV"));
}

/// In a separate process, whose first fork it is.
#[test]
fn a_fork_is_recorded_before_an_export_continues() {
    const ALONE: &str = "SOLUM_TEST_FIRST_FORK";
    static KNOWN: AtomicBool = AtomicBool::new(false);
    extern "C" fn look() {
        KNOWN.store(crate::forks::has_forked(), Ordering::Relaxed);
    }
    if std::env::var_os(ALONE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "engine::tests::a_fork_is_recorded_before_an_export_continues",
            ])
            .env(ALONE, "1")
            .output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    // Registered before the engine's, so that it runs in the parent before the lock of exports is free again.
    // SAFETY: the handler only loads and stores; the child ends at once.
    unsafe {
        libc::pthread_atfork(None, Some(look), None);
        Engine::new(1, true);
        let child = libc::fork();
        if child == 0 {
            libc::_exit(0);
        }
        assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
    }
    assert!(KNOWN.load(Ordering::Relaxed));
}
