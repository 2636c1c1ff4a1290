//! Slots in event pool memory, the lanes that wait on them, and host waits.
//!
//! A slot is what another process may see of an event: the state word, which is a futex word, and two
//! timestamps. Who waits inside this process is private. A waiting lane hangs on the signal; nobody polls, but for
//! slots that other processes signal.

use crate::address_space::Access;
use crate::check::lock;
use crate::device::Platform;
use crate::schedule::{Lane, Ready};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};

/// One event's part of pool memory: a cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// 0 or 1; a futex word.
    state: AtomicU32,
    /// Host threads that wait, in all processes that see the slot. One that dies there costs a system call a signal.
    sleepers: AtomicU32,
    start: AtomicU64,
    end: AtomicU64,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Pool memory.
pub(crate) enum Slots {
    /// One of this process alone.
    One(Slot),
    /// Of this process alone.
    Own(Box<[Slot]>),
    /// In a file that other processes see too.
    Shared(SharedSlots),
}

/// Slots in a mapped file.
pub(crate) struct SharedSlots {
    platform: Arc<dyn Platform>,
    file: OwnedFd,
    base: usize,
    len: u64,
    count: usize,
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots", self.get().len())
    }
}

impl Slots {
    /// Memory for `count` events of this process.
    pub(crate) fn own(count: usize) -> Arc<Self> {
        Arc::new(Self::Own((0..count).map(|_| Slot::default()).collect()))
    }

    /// Fresh memory for `count` events that may be shared; none when the platform has no files or no room.
    pub(crate) fn shared(platform: &Arc<dyn Platform>, count: usize) -> Option<Arc<Self>> {
        let space = platform.address_space()?;
        let size = (count.max(1) as u64 * SLOT).next_multiple_of(space.page_size());
        let pages = space.pages(size).ok()?;
        let file = pages.file().try_clone_to_owned().ok()?;
        Self::over(platform, file, size, count)
    }

    /// The slots of a file of another process, which has at least `size` bytes.
    pub(crate) fn over(
        platform: &Arc<dyn Platform>,
        file: OwnedFd,
        size: u64,
        count: usize,
    ) -> Option<Arc<Self>> {
        let space = platform.address_space()?;
        if count == 0 || (count as u64).checked_mul(SLOT)? > size {
            return None;
        }
        let base = space.reserve(0, size)?;
        let slots = SharedSlots {
            platform: Arc::clone(platform),
            file,
            base,
            len: size,
            count,
        };
        space
            .map(base, size, slots.file.as_fd(), 0, Access::ReadWrite)
            .then(|| Arc::new(Self::Shared(slots)))
    }

    /// All of them.
    pub(crate) fn get(&self) -> &[Slot] {
        match self {
            Self::One(slot) => std::slice::from_ref(slot),
            Self::Own(slots) => slots,
            // SAFETY: mapped until the drop, `count` slots fit; the fields are atomics, which others may change.
            Self::Shared(shared) => unsafe {
                std::slice::from_raw_parts(
                    std::ptr::with_exposed_provenance(shared.base),
                    shared.count,
                )
            },
        }
    }

    /// The file, when others may see it, and its bytes.
    pub(crate) fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        match self {
            Self::One(_) | Self::Own(_) => None,
            Self::Shared(shared) => Some((shared.file.as_fd(), shared.len)),
        }
    }
}

impl Drop for SharedSlots {
    fn drop(&mut self) {
        if let Some(space) = self.platform.address_space() {
            space.release(self.base, self.len);
        }
    }
}

/// Bytes of a slot.
const SLOT: u64 = size_of::<Slot>() as u64;

/// Something that is signalled or not: a slot and those who wait for it here.
#[derive(Debug)]
pub(crate) struct Signal {
    slots: Arc<Slots>,
    index: usize,
    lanes: Mutex<Vec<Arc<Lane>>>,
}

impl Signal {
    /// The signal at `index`, which is below the number of `slots`; not signalled.
    pub(crate) fn new(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        let signal = Self::attach(slots, index);
        signal.reset();
        signal
    }

    /// The signal at `index`, as it is: another process made it.
    pub(crate) fn attach(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        Arc::new(Self {
            slots,
            index,
            lanes: Mutex::new(Vec::new()),
        })
    }

    /// A signal in memory of its own.
    pub(crate) fn alone() -> Arc<Self> {
        Self::new(Arc::new(Slots::One(Slot::default())), 0)
    }

    fn slot(&self) -> &Slot {
        &self.slots.get()[self.index]
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
        wake_sleepers(&slot.state, &slot.sleepers);
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
    pub(crate) fn is_set_or_hang(self: &Arc<Self>, lane: &Arc<Lane>) -> bool {
        if self.is_set() {
            return true;
        }
        let mut lanes = lock(&self.lanes);
        // Again under the lock: `set` stores before it drains.
        if self.slot().state.load(Ordering::SeqCst) != 0 {
            return true;
        }
        let is_first = lanes.is_empty();
        if !lanes.iter().any(|other| Arc::ptr_eq(other, lane)) {
            lanes.push(Arc::clone(lane));
        }
        drop(lanes);
        if is_first && matches!(*self.slots, Slots::Shared(_)) {
            watch(Arc::clone(self), lane.context().platform());
        }
        false
    }

    /// Drives the lanes that hang on a signal which another process has set; false while it has not.
    fn catch_up(&self) -> bool {
        let caught = self.is_set();
        if caught || lock(&self.lanes).is_empty() {
            let ready: Ready = lock(&self.lanes).drain(..).collect();
            crate::schedule::run(ready);
            return true;
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
        let slot = self.slot();
        wait_until(platform, &slot.state, &slot.sleepers, &done, timeout)
    }
}

/// Signals that other processes may set while lanes hang on them; somebody looks at them now and then.
static WATCHED: Mutex<Vec<Arc<Signal>>> = Mutex::new(Vec::new());

fn watch(signal: Arc<Signal>, platform: &Arc<dyn Platform>) {
    let mut watched = lock(&WATCHED);
    watched.push(signal);
    if watched.len() > 1 {
        return;
    }
    platform.poll(Box::new(|| {
        // A copy: driving a lane may make it hang on another watched signal.
        let now = lock(&WATCHED).clone();
        let done: Vec<_> = now.into_iter().filter(|signal| signal.catch_up()).collect();
        let mut watched = lock(&WATCHED);
        watched.retain(|signal| !done.iter().any(|other| Arc::ptr_eq(signal, other)));
        !watched.is_empty()
    }));
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
