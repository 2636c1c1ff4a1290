//! The lock audit: threads that use only their own memory share no lock.

use crate::engine::Engine;
use crate::memory::Memory;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use ze_driver::address_space::AddressSpace as _;
use ze_driver::device::{AllocRequest, MemoryKind, Need, Outcome, Task, Work};

/// More threads than the audit's machines have processors, and operations for each; chosen, not measured.
const THREADS: usize = 64;
const OPERATIONS: usize = 10_000;

/// By address: where a lock was taken.
type Taken = BTreeMap<usize, &'static Location<'static>>;

thread_local! {
    /// The locks that this thread has taken during the audit.
    static TAKEN: std::cell::RefCell<Option<Taken>> = const { std::cell::RefCell::new(None) };
}

#[track_caller]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let place = Location::caller();
    TAKEN.with_borrow_mut(|taken| {
        if let Some(taken) = taken {
            taken.insert(std::ptr::from_ref(mutex).addr(), place);
        }
    });
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A small task that signals its end.
struct Small(AtomicU32, Work);

impl Task for Small {
    fn work(&self) -> &Work {
        &self.1
    }
    fn needed_by(&self) -> [Need; 2] {
        [Need::of(&self.0), Need::NONE]
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        assert_eq!(outcome.fault, None);
        self.0.store(1, Ordering::Release);
        // SAFETY: wakes the threads that sleep on a live word.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAKE, 1) };
    }
}

fn run(engine: &'static Engine, work: Work) {
    let task = Arc::new(Small(AtomicU32::new(0), work));
    engine.submit(Arc::clone(&task) as Arc<dyn Task>);
    let done = || task.0.load(Ordering::Acquire) == 1;
    // Without a limit, so this thread may run it itself.
    assert!(engine.wait((&task.0, 0), &AtomicU32::new(0), &done, u64::MAX));
}

/// Bytes of a thread's own memory: more than one block of a transfer.
const OWN: usize = 5 << 20;

/// A thread's own memory.
struct Own {
    allocations: Vec<*mut u8>,
    memory: Vec<u8>,
}

impl Own {
    /// The whole pages of `memory`.
    fn pages(&mut self) -> *mut u8 {
        let base = self.memory.as_mut_ptr();
        base.wrapping_add(base.align_offset(4096))
    }
}

fn request(step: usize) -> AllocRequest {
    let kind = [MemoryKind::Device, MemoryKind::Shared, MemoryKind::Host][step % 3];
    AllocRequest {
        kind,
        size: 1 + (step as u64 * 977) % 100_000,
        align: 1,
        device: (kind != MemoryKind::Host).then_some(0),
        context: 1,
    }
}

fn operate(memory: &Memory, engine: &'static Engine, thread: &mut Own, step: usize) {
    let own = thread.pages();
    let mine = &mut thread.allocations;
    let last = mine[mine.len() - 1];
    match step % 10 {
        0..=2 => mine.push(memory.allocate(&request(step)).unwrap()),
        3..=4 if mine.len() > 1 => assert!(memory.free(mine.swap_remove(step % mine.len()))),
        5 => assert_eq!(memory.find(last).unwrap().base, last),
        6 => assert_eq!(memory.range(last).unwrap().0, last),
        7 => assert!(memory.export(last as usize).is_ok()),
        8 if mine.len() > 8 => assert!(memory.free(mine.swap_remove(0))),
        _ if step % 1_000 == 9 => {
            // Large enough to be shared.
            let pattern = Box::new([step as u8]);
            let (dst, len) = (own, OWN as u64);
            run(engine, Work::Fill { dst, pattern, len });
            // SAFETY: inside of the thread's own memory, which no other thread writes.
            unsafe { assert_eq!(dst.add(OWN - 1).read(), step as u8) };
        }
        _ if step % 100 == 9 => run(engine, Work::Nothing),
        _ if step % 10 == 9 => {
            let host = AllocRequest {
                kind: MemoryKind::Host,
                size: OWN as u64,
                device: None,
                ..request(0)
            };
            assert!(memory.adopt(&host, own), "memory of the program's");
            assert!(memory.free(own));
        }
        _ => assert!(memory.find(std::ptr::null()).is_none()),
    }
}

#[test]
fn threads_that_use_their_own_memory_share_no_lock() {
    let memory = Memory::new(16 << 30);
    let engine = Engine::new(2, true);
    let start = Barrier::new(THREADS);
    // By address: how many threads have taken the lock, and where.
    let mut all = BTreeMap::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Own {
                        allocations: vec![memory.allocate(&request(0)).unwrap()],
                        memory: vec![0; OWN + 4096],
                    };
                    // All live until the end, so that no arena is passed on.
                    start.wait();
                    TAKEN.set(Some(Taken::new()));
                    for step in 0..OPERATIONS {
                        operate(&memory, engine, &mut mine, step);
                    }
                    let taken = TAKEN.take().unwrap();
                    start.wait();
                    for base in mine.allocations {
                        assert!(memory.free(base));
                    }
                    taken
                })
            })
            .collect();
        for thread in threads {
            for (address, place) in thread.join().unwrap() {
                all.entry(address).or_insert((0, place)).0 += 1;
            }
        }
    });
    assert!(all.len() >= THREADS, "{} locks seen", all.len());
    let shared: BTreeSet<_> = all
        .values()
        .filter(|(threads, _)| *threads > 1)
        .map(|(_, place)| place.to_string())
        .collect();
    assert!(shared.is_empty(), "taken by several threads: {shared:#?}");
}
