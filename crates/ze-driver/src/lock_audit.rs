//! Finds locks that several threads take: threads with independent objects share none.

use crate::api::*;
use level_zero_sys::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::Location;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread::ThreadId;

const THREADS: usize = 64;
const OPERATIONS: usize = 10_000;

static COUNTING: AtomicBool = AtomicBool::new(false);
static TAKEN: Mutex<Taken> = Mutex::new(Taken {
    live: BTreeMap::new(),
    shared: BTreeSet::new(),
});

/// The threads and locations of each lock.
struct Taken {
    /// By address, of locks that are there.
    live: BTreeMap<usize, (HashSet<ThreadId>, &'static Location<'static>)>,
    /// Locations where several threads took the same lock.
    shared: BTreeSet<String>,
}

impl Taken {
    fn leave(&mut self, address: usize) {
        if let Some((threads, place)) = self.live.remove(&address)
            && threads.len() > 1
        {
            self.shared.insert(place.to_string());
        }
    }
}

thread_local! {
    /// Whether the thread is one of the test's, and not a worker.
    static CLIENT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Records that a lock is taken.
#[track_caller]
pub(crate) fn note<T>(mutex: &Mutex<T>) {
    let address = std::ptr::from_ref(mutex).addr();
    if !COUNTING.load(Ordering::Relaxed) || !CLIENT.get() {
        return;
    }
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = || (HashSet::new(), Location::caller());
    let (threads, _) = taken.live.entry(address).or_insert_with(entry);
    threads.insert(std::thread::current().id());
}

/// A lock was destroyed: the next one at its address is another.
pub(crate) fn forget<T>(mutex: &Mutex<T>) {
    if COUNTING.load(Ordering::Relaxed) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.leave(std::ptr::from_ref(mutex).addr());
    }
}

/// The objects of one thread.
struct Objects {
    kernel: ze_kernel_handle_t,
    immediate: ze_command_list_handle_t,
    regular: ze_command_list_handle_t,
    queue: ze_command_queue_handle_t,
    events: [ze_event_handle_t; 4],
    counters: [ze_event_handle_t; 2],
    memory: *mut u32,
}

fn objects() -> Objects {
    let context = context();
    Objects {
        kernel: kernel(context, c"add"),
        immediate: immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0),
        regular: list(context, 0),
        queue: queue(context),
        events: events(context, false),
        counters: events(context, true),
        memory: words(context, 4).as_mut_ptr(),
    }
}

fn operate(mine: &mut Objects, step: usize) {
    let event = mine.events[step % 4];
    let one = ze_group_count_t {
        groupCountX: 1,
        groupCountY: 1,
        groupCountZ: 1,
    };
    match step % 10 {
        0 => assert_eq!(arg(mine.kernel, 0, mine.memory), ZE_RESULT_SUCCESS),
        1 => assert_eq!(arg(mine.kernel, 1, 1_u32), ZE_RESULT_SUCCESS),
        2 => ok!(Kernel.pfnSetGroupSize(mine.kernel, 1, 1, 1)),
        3 => ok!(Event.pfnHostSignal(event)),
        4 => ok!(Event.pfnHostReset(event)),
        5 => {
            let _ = ze!(Event.pfnQueryStatus(event));
        }
        6 => ok!(CommandList.pfnAppendLaunchKernel(
            mine.immediate,
            mine.kernel,
            &raw const one,
            mine.counters[0],
            0,
            null_mut()
        )),
        7 => ok!(CommandList.pfnAppendBarrier(
            mine.immediate,
            mine.counters[1],
            1,
            mine.counters.as_mut_ptr()
        )),
        8 => ok!(CommandList.pfnHostSynchronize(mine.immediate, u64::MAX)),
        _ => {
            ok!(CommandList.pfnReset(mine.regular));
            ok!(CommandList.pfnAppendBarrier(mine.regular, null_mut(), 0, null_mut()));
            ok!(CommandList.pfnClose(mine.regular));
            ok!(CommandQueue.pfnExecuteCommandLists(
                mine.queue,
                1,
                &raw mut mine.regular,
                null_mut()
            ));
            ok!(CommandQueue.pfnSynchronize(mine.queue, u64::MAX));
        }
    }
}

#[test]
fn separate_objects_share_no_lock() {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut mine = objects();
                CLIENT.set(true);
                // All objects exist before any lock counts, so an address is one lock's.
                start.wait();
                COUNTING.store(true, Ordering::Relaxed);
                for step in 0..OPERATIONS {
                    operate(&mut mine, step);
                }
                start.wait();
            });
        }
    });
    COUNTING.store(false, Ordering::Relaxed);
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = taken.live.len();
    assert!(seen >= 3 * THREADS, "{seen} locks seen");
    let live: Vec<_> = taken.live.keys().copied().collect();
    for address in live {
        taken.leave(address);
    }
    let shared = &taken.shared;
    assert!(shared.is_empty(), "taken by several threads: {shared:#?}");
}
