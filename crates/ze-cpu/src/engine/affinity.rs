//! The processors of workers: a worker that was woken to join a share is moved off the processor of the thread that leads it.
//!
//! While all processors are busy, the system often wakes a thread on its waker's processor. There it waits for milliseconds,
//! behind the very work that it should share. Only workers that were offered work and have not joined are moved; each may run
//! anywhere again once it sleeps.
//!
//! Without the moves `saxpy` (3 ms) took 1.28 to 1.3 times as long on processors that other programs kept busy, `mandelbrot`,
//! `nbody` and `reduce` 0.95 to 1.01 times (2026-11, Intel Xeon, two processors, 10 alternating runs, twice).

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// How long workers may take to join before they are moved.
pub(super) const PATIENCE_NS: u64 = 200_000;
/// Threads are moved no more often.
const INTERVAL_NS: u64 = 5_000_000;
/// Most workers that are moved at once.
const MOST: usize = 64;

/// The calling thread's processor; only a hint, because the thread may move.
pub(super) fn current_cpu() -> usize {
    // SAFETY: a call without arguments; it reads the thread's own memory where the system keeps the number up to date.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

thread_local! {
    /// Number of the worker that this thread is.
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A worker's thread.
#[derive(Debug, Default)]
struct WorkerThread {
    /// The system's number of the thread; 0 before it runs.
    thread: AtomicI32,
    /// Whether the thread is kept off a processor.
    moved: AtomicBool,
}

/// The workers of an engine.
#[derive(Debug)]
pub(super) struct Affinity {
    workers: Box<[WorkerThread]>,
    /// CPUs that workers may run on.
    allowed: OnceLock<Set>,
    last: AtomicU64,
}

/// A set of CPUs.
#[derive(Clone, Copy, Debug)]
struct Set(libc::cpu_set_t);

impl Set {
    /// The CPUs of the calling thread.
    fn own() -> Option<Self> {
        // SAFETY: zero bytes are a valid set; the call fills it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0)
                .then_some(Self(set))
        }
    }

    /// The set without `cpu`; `None` if the set is then empty, or does not contain `cpu`.
    fn without(mut self, cpu: usize) -> Option<Self> {
        if cpu >= libc::CPU_SETSIZE as usize {
            return None;
        }
        // SAFETY: the number lies in the set.
        unsafe {
            if !libc::CPU_ISSET(cpu, &self.0) {
                return None;
            }
            libc::CPU_CLR(cpu, &mut self.0);
            (libc::CPU_COUNT(&self.0) > 0).then_some(self)
        }
    }

    /// Keeps a thread (0 for the calling one) on these CPUs. If the system fails, the thread stays where it is.
    fn keep(&self, thread: i32) {
        // SAFETY: the call reads the set.
        unsafe {
            libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &self.0);
        }
    }
}

impl Affinity {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers: (0..workers).map(|_| WorkerThread::default()).collect(),
            allowed: OnceLock::new(),
            last: AtomicU64::new(0),
        }
    }

    /// The calling thread is worker `number`, on the CPUs that it may use.
    pub(super) fn enter(&self, number: usize) {
        if let Some(set) = Set::own() {
            let _ = self.allowed.set(set);
        }
        NUMBER.set(number);
        if let Some(worker) = self.workers.get(number) {
            // SAFETY: a system call without arguments.
            worker
                .thread
                .store(unsafe { libc::gettid() }, Ordering::Relaxed);
        }
    }

    /// Moves the other workers off the calling thread's processor.
    pub(super) fn move_away(&self, now: u64) {
        let last = self.last.load(Ordering::Relaxed);
        if now.saturating_sub(last) < INTERVAL_NS && last != 0 {
            return;
        }
        self.last.store(now, Ordering::Relaxed);
        let Some(allowed) = self.allowed.get() else {
            return;
        };
        let Some(elsewhere) = allowed.without(current_cpu()) else {
            return;
        };
        for (number, worker) in self.workers.iter().enumerate().take(MOST) {
            let thread = worker.thread.load(Ordering::Relaxed);
            if number != NUMBER.get() && thread > 0 {
                worker.moved.store(true, Ordering::Relaxed);
                elsewhere.keep(thread);
            }
        }
    }

    /// Before the calling worker sleeps: lets it run anywhere again.
    pub(super) fn restore(&self) {
        let Some(worker) = self.workers.get(NUMBER.get()) else {
            return;
        };
        if worker.moved.load(Ordering::Relaxed)
            && worker.moved.swap(false, Ordering::Relaxed)
            && let Some(allowed) = self.allowed.get()
        {
            allowed.keep(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_removed_but_never_the_last() {
        let own = Set::own().unwrap();
        // SAFETY: zero bytes are a valid set, and the numbers lie in it.
        let (one, two, is) = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(5, &mut set);
            let one = Set(set);
            libc::CPU_SET(70, &mut set);
            (one, Set(set), |set: &Set, cpu| libc::CPU_ISSET(cpu, &set.0))
        };
        assert!(one.without(5).is_none(), "nothing would be left");
        assert!(two.without(6).is_none(), "not one of them");
        assert!(two.without(usize::MAX).is_none());
        let left = two.without(5).unwrap();
        assert!(!is(&left, 5) && is(&left, 70));
        own.keep(0);
    }

    #[test]
    fn a_worker_that_was_moved_may_run_anywhere_after_its_sleep() {
        let spread = Affinity::new(2);
        let all = Set::own().unwrap();
        // SAFETY: counts a set.
        let count = |set: &Set| unsafe { libc::CPU_COUNT(&set.0) };
        let (asked, moved) = std::sync::mpsc::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let spread = &spread;
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                spread.enter(1);
                ready.send(()).unwrap();
                moved.recv().unwrap();
                let kept = Set::own().unwrap();
                spread.restore();
                (kept, Set::own().unwrap())
            });
            is_ready.recv().unwrap();
            spread.move_away(INTERVAL_NS);
            // Too soon after the first time: nothing happens.
            spread.move_away(INTERVAL_NS + 1);
            asked.send(()).unwrap();
            let (kept, after) = worker.join().unwrap();
            assert_eq!(count(&kept), (count(&all) - 1).max(1));
            assert_eq!(count(&after), count(&all));
        });
    }
}
