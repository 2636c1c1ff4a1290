//! Slots in event pool memory, the lanes that wait on them, and host waits.
//!
//! A slot is what another process may see of an event: the state word, which is a futex word, and two
//! timestamps. Who waits inside this process is private. A waiting lane hangs on the signal; nobody polls.

use crate::check::lock;
use crate::device::Platform;
use crate::schedule::{Lane, Ready};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};

/// One event's part of pool memory: a cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// 0 or 1; a futex word.
    state: AtomicU32,
    reserved: u32,
    start: AtomicU64,
    end: AtomicU64,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Pool memory for `count` events.
pub(crate) fn slots(count: usize) -> Arc<[Slot]> {
    (0..count).map(|_| Slot::default()).collect()
}

/// Something that is signalled or not: a slot and those who wait for it here.
#[derive(Debug)]
pub(crate) struct Signal {
    slots: Arc<[Slot]>,
    index: usize,
    sleepers: AtomicU32,
    lanes: Mutex<Vec<Arc<Lane>>>,
}

impl Signal {
    /// The signal at `index`, which is below the number of `slots`; not signalled.
    pub(crate) fn new(slots: Arc<[Slot]>, index: usize) -> Arc<Self> {
        let signal = Self {
            slots,
            index,
            sleepers: AtomicU32::new(0),
            lanes: Mutex::new(Vec::new()),
        };
        signal.reset();
        Arc::new(signal)
    }

    /// A signal in memory of its own.
    pub(crate) fn alone() -> Arc<Self> {
        Self::new(slots(1), 0)
    }

    fn slot(&self) -> &Slot {
        &self.slots[self.index]
    }

    /// Whether `word` is what a wait for this signal sleeps on.
    pub(crate) fn is_word(&self, word: &AtomicU32) -> bool {
        std::ptr::eq(word, &self.slot().state)
    }

    /// True once signalled; all effects of the signalling command are visible then.
    pub(crate) fn is_set(&self) -> bool {
        // Acquire: pairs with the store in `set`.
        self.slot().state.load(Ordering::Acquire) != 0
    }

    /// Start and end in ns of the device clock, when signalled.
    pub(crate) fn times(&self) -> Option<(u64, u64)> {
        self.is_set().then(|| {
            let slot = self.slot();
            (
                slot.start.load(Ordering::Relaxed),
                slot.end.load(Ordering::Relaxed),
            )
        })
    }

    /// Signals: wakes host waiters, hands waiting lanes to `ready`.
    pub(crate) fn set(&self, start: u64, end: u64, ready: &mut Ready) {
        let slot = self.slot();
        slot.start.store(start, Ordering::Relaxed);
        // Never equal: clients take an end that is not after the start for a clock that wrapped around.
        slot.end
            .store(end.max(start.saturating_add(1)), Ordering::Relaxed);
        // SeqCst: ordered before the look at `sleepers`, against `wait`'s opposite order.
        slot.state.store(1, Ordering::SeqCst);
        wake_sleepers(&slot.state, &self.sleepers);
        ready.extend(lock(&self.lanes).drain(..));
    }

    /// Back to not signalled, timestamps cleared.
    pub(crate) fn reset(&self) {
        let slot = self.slot();
        slot.start.store(0, Ordering::Relaxed);
        slot.end.store(0, Ordering::Relaxed);
        slot.state.store(0, Ordering::SeqCst);
    }

    /// True when signalled; else `lane` will be driven at the next signal.
    pub(crate) fn is_set_or_hang(&self, lane: &Arc<Lane>) -> bool {
        if self.is_set() {
            return true;
        }
        let mut lanes = lock(&self.lanes);
        // Again under the lock: `set` stores before it drains.
        if self.slot().state.load(Ordering::SeqCst) != 0 {
            return true;
        }
        if !lanes.iter().any(|other| Arc::ptr_eq(other, lane)) {
            lanes.push(Arc::clone(lane));
        }
        false
    }

    /// Blocks the host until signalled, `gave_up()` or the timeout in ns; true unless it timed out.
    pub(crate) fn wait(
        &self,
        platform: &dyn Platform,
        timeout: u64,
        gave_up: &dyn Fn() -> bool,
    ) -> bool {
        let done = || self.is_set() || gave_up();
        wait_until(platform, &self.slot().state, &self.sleepers, &done, timeout)
    }
}

/// Blocks until `done` or the timeout in ns (`u64::MAX`: none); returns `done()`.
pub(crate) fn wait_until(
    platform: &dyn Platform,
    word: &AtomicU32,
    sleepers: &AtomicU32,
    done: &dyn Fn() -> bool,
    timeout: u64,
) -> bool {
    if done() {
        return true;
    }
    if timeout == 0 {
        return false;
    }
    let deadline = match timeout {
        u64::MAX => u64::MAX,
        _ => platform.now_ns().saturating_add(timeout).min(u64::MAX - 1),
    };
    sleepers.fetch_add(1, Ordering::SeqCst);
    // The count is visible before the platform looks at the word: see `Signal::set`.
    fence(Ordering::SeqCst);
    let met = platform.wait(word, done, deadline);
    sleepers.fetch_sub(1, Ordering::SeqCst);
    met
}

/// Wakes all threads that sleep on `word`, if any does: no system call otherwise.
pub(crate) fn wake_sleepers(word: &AtomicU32, sleepers: &AtomicU32) {
    fence(Ordering::SeqCst);
    if sleepers.load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

fn wake_all(word: &AtomicU32) {
    // Not the private kind: slots may lie in memory shared between processes.
    // SAFETY: the word is alive for the call; FUTEX_WAKE reads only its address.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE,
            i32::MAX,
            std::ptr::null::<libc::timespec>(),
            std::ptr::null::<u32>(),
            0_u32,
        );
    }
}
