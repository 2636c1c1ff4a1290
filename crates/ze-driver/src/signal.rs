//! Slots in event pool memory, the lanes that wait on them, and host waits.
//!
//! A slot is what another process may see of an event: counters, a futex word, and two timestamps. Who waits inside
//! this process is private. A waiting lane hangs on the signal; nobody polls, but for slots that other processes
//! signal and for counters in memory of the application.
//!
//! A signal is given when its count has reached the *goal* of whoever waits. The wait_value of a plain event is 1; that of
//! one which recorded commands signal grows with each execution, so executions that overlap do not take each other's
//! signals, and nothing has to be reset in between.

use crate::address_space::{Access, Pages};
use crate::check::lock;
use crate::device::{AllocError, NoFile, Platform};
use crate::user_memory::{Condition, UserCounter};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};
use ze_abi::{ZeResult, with_room};

/// One event's part of pool memory: a cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// A futex word: changes with every signal.
    word: AtomicU32,
    /// Host threads that wait, in all processes that see the slot. One that dies there costs a system call a signal.
    sleepers: AtomicU32,
    start: AtomicU64,
    end: AtomicU64,
    /// Signals given.
    count: AtomicU64,
    /// Executions announced of commands that signal.
    announced: AtomicU64,
    /// `announced` when the present use of the slot began.
    base: AtomicU64,
    /// Odd once somebody has asked: what takes this signal's times to the host's clock, but for the lowest bit.
    to_host: AtomicU64,
}

impl Slot {
    fn wait_value(&self) -> u64 {
        let announced = self.announced.load(Ordering::Relaxed);
        announced.max(self.base.load(Ordering::Relaxed).saturating_add(1))
    }
}

impl Slot {
    /// The latest use of the ring that this slot is the first of.
    pub(crate) fn uses(&self) -> u64 {
        // Acquire: pairs with `publish_use`.
        self.count.load(Ordering::Acquire)
    }

    /// The number of a new use, for the caller alone.
    pub(crate) fn next_use(&self) -> u64 {
        self.announced
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
    }

    /// Makes a use the latest one.
    pub(crate) fn publish_use(&self, number: u64) {
        self.count.fetch_max(number, Ordering::Release);
    }
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
    /// Of a pool of this process: what counts against its limit of memory.
    _pages: Option<Arc<dyn Pages>>,
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots", self.get().len())
    }
}

impl Slots {
    /// Memory for `count` events of this process.
    pub(crate) fn own(count: usize) -> ZeResult<Arc<Self>> {
        let mut slots = with_room("events", count)?;
        slots.resize_with(count, Slot::default);
        Ok(Arc::new(Self::Own(slots.into())))
    }

    /// Fresh memory for `count` events that may be shared; none when the platform has no files.
    ///
    /// # Errors
    /// No file or no room.
    pub(crate) fn shared(
        platform: &Arc<dyn Platform>,
        count: usize,
    ) -> Option<Result<Arc<Self>, AllocError>> {
        let space = platform.address_space()?;
        let size = (count.max(1) as u64 * SLOT).next_multiple_of(space.page_size());
        Some(space.pages(size).and_then(|pages| {
            let file = pages.file().try_clone_to_owned();
            let file = file.map_err(|error| {
                AllocError::NoFile(NoFile {
                    errno: error.raw_os_error().unwrap_or(libc::EMFILE),
                })
            })?;
            Self::over(platform, file, size, count, Some(pages)).ok_or(AllocError::OutOfMemory)
        }))
    }

    /// The slots of a file of another process, which has at least `size` bytes.
    pub(crate) fn over(
        platform: &Arc<dyn Platform>,
        file: OwnedFd,
        size: u64,
        count: usize,
        pages: Option<Arc<dyn Pages>>,
    ) -> Option<Arc<Self>> {
        let space = platform.address_space()?;
        // A sender chooses both: no more is mapped than the slots take.
        let needed = (count as u64)
            .checked_mul(SLOT)
            .filter(|bytes| *bytes > 0)?;
        let size = needed
            .checked_next_multiple_of(space.page_size())
            .filter(|_| needed <= size)?
            .min(size);
        let base = space.reserve(0, size)?;
        let slots = SharedSlots {
            platform: Arc::clone(platform),
            file,
            base,
            len: size,
            count,
            _pages: pages,
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

/// How a signal is given.
#[derive(Debug)]
enum Mode {
    /// Once, until a reset.
    Once,
    /// Again and again: the slot counts.
    Count,
    /// In memory of the application.
    UserCounter(UserCounter),
    /// While a word of the application's has some value; nobody gives it.
    While(Condition),
}

/// Something that is signalled or not: a slot, and the lanes of this process that wait for it.
///
/// The type of lanes is a parameter, because a lane holds commands, which hold signals: [`crate::schedule`] has both.
#[derive(Debug)]
pub(crate) struct Signal<Subscriber> {
    slots: Arc<Slots>,
    index: usize,
    mode: Mode,
    /// Lanes that hang here, each with its wait_value.
    subscribers: Mutex<Vec<(Arc<Subscriber>, u64)>>,
    /// Whether a lane may hang here; changes under the lock.
    has_subscribers: AtomicBool,
}

/// Signals of counter-based events come and go, so one thread's may lie where another's was.
#[cfg(test)]
impl<Subscriber> Drop for Signal<Subscriber> {
    fn drop(&mut self) {
        crate::lock_audit::forget(&self.subscribers);
    }
}

impl<Subscriber> Signal<Subscriber> {
    fn make(slots: Arc<Slots>, index: usize, mode: Mode) -> Arc<Self> {
        Arc::new(Self {
            slots,
            index,
            mode,
            subscribers: Mutex::new(Vec::new()),
            has_subscribers: AtomicBool::new(false),
        })
    }

    /// The signal at `index`, which is below the number of `slots`; not signalled.
    pub(crate) fn new(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        let signal = Self::attach(slots, index);
        signal.clear(Ordering::Relaxed);
        signal
    }

    /// The signal at `index`, as it is: another process made it.
    pub(crate) fn attach(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        Self::make(slots, index, Mode::Once)
    }

    /// A signal in memory of its own.
    pub(crate) fn alone() -> Arc<Self> {
        Self::make(Arc::new(Slots::One(Slot::default())), 0, Mode::Once)
    }

    /// A signal in memory of its own that commands may give again.
    pub(crate) fn counter() -> Arc<Self> {
        Self::make(Arc::new(Slots::One(Slot::default())), 0, Mode::Count)
    }

    /// As [`Self::counter`], at `index` of slots that other processes see.
    pub(crate) fn shared_counter(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        Self::make(slots, index, Mode::Count)
    }

    /// A signal whose counter is the application's.
    pub(crate) fn outside(counter: UserCounter) -> Arc<Self> {
        let slots = Arc::new(Slots::One(Slot::default()));
        Self::make(slots, 0, Mode::UserCounter(counter))
    }

    /// A signal that is there while a condition holds.
    pub(crate) fn when(condition: Condition) -> Arc<Self> {
        let slots = Arc::new(Slots::One(Slot::default()));
        Self::make(slots, 0, Mode::While(condition))
    }

    fn slot(&self) -> &Slot {
        &self.slots.get()[self.index]
    }

    /// What a wait for this signal sleeps on.
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.slot().word
    }

    /// The count from which on a wait that begins now is over.
    pub(crate) fn wait_value(&self) -> u64 {
        match &self.mode {
            Mode::UserCounter(outside) => outside.completion(),
            Mode::While(_) => 1,
            _ => self.slot().wait_value(),
        }
    }

    /// The count, and where it lies.
    fn count(&self) -> u64 {
        match &self.mode {
            Mode::UserCounter(outside) => outside.value(),
            Mode::While(condition) => u64::from(condition.holds()),
            // Acquire: pairs with the store in `set`.
            _ => self.slot().count.load(Ordering::Acquire),
        }
    }

    /// Where the count lies, for whoever looks at it by itself.
    pub(crate) fn address(&self) -> usize {
        match &self.mode {
            Mode::UserCounter(outside) => outside.address(),
            _ => self.slot().count.as_ptr().expose_provenance(),
        }
    }

    /// True once signalled; all effects of the signalling command are visible then.
    pub(crate) fn is_set(&self) -> bool {
        self.is_reached(self.wait_value())
    }

    /// True once signalled for a wait with that wait_value.
    pub(crate) fn is_reached(&self, wait_value: u64) -> bool {
        self.count() >= wait_value
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

    /// What takes the signal's times to the host's clock: measured for who asks first, because the two clocks drift and
    /// every later answer, in other processes as well, must be the same.
    pub(crate) fn to_host(&self, measure: impl FnOnce() -> u64) -> u64 {
        let word = &self.slot().to_host;
        let mut known = word.load(Ordering::Relaxed);
        if known == 0 {
            known = measure() | 1;
            let before = word.compare_exchange(0, known, Ordering::Relaxed, Ordering::Relaxed);
            known = before.err().unwrap_or(known);
        }
        known & !1
    }

    /// One more execution of a command that signals is on its way: waits from now on are for it.
    pub(crate) fn announce(&self) {
        self.slot().announced.fetch_add(1, Ordering::Relaxed);
    }

    /// Begins a new use of a slot that counts: what was announced before is another's, and no longer waited for, because
    /// who announced it may have died.
    pub(crate) fn begin_use(&self) {
        let slot = self.slot();
        let announced = slot.announced.load(Ordering::Relaxed);
        slot.base.store(announced, Ordering::Relaxed);
        slot.count.fetch_max(announced, Ordering::Relaxed);
    }

    /// Signals: wakes host waiters, hands waiting lanes to `ready`.
    pub(crate) fn set(&self, start: u64, end: u64, ready: &mut Vec<Arc<Subscriber>>) {
        let slot = self.slot();
        // Asked here, where the fence below does not hold the loads up.
        let is_shared = matches!(*self.slots, Slots::Shared(_));
        slot.to_host.store(0, Ordering::Relaxed);
        slot.start.store(start, Ordering::Relaxed);
        // Never equal: clients take an end that is not after the start for a clock that wrapped around.
        slot.end
            .store(end.max(start.saturating_add(1)), Ordering::Relaxed);
        match &self.mode {
            Mode::Once => {
                // Release: the command's effects come before. Who signals meanwhile says the same.
                slot.count.store(1, Ordering::Release);
                let word = slot.word.load(Ordering::Relaxed).wrapping_add(1);
                slot.word.store(word, Ordering::Release);
            }
            Mode::Count => {
                slot.count.fetch_add(1, Ordering::Release);
                slot.word.fetch_add(1, Ordering::Release);
            }
            Mode::UserCounter(outside) => {
                outside.signal();
                slot.word.fetch_add(1, Ordering::Release);
            }
            Mode::While(_) => {}
        }
        // Before the looks at sleepers and lanes, against the opposite order of those.
        fence(Ordering::SeqCst);
        // In shared memory another process can write a count of zero while threads of this one sleep.
        if slot.sleepers.load(Ordering::Relaxed) != 0 || is_shared {
            wake_all(&slot.word);
        }
        if self.has_subscribers.load(Ordering::Relaxed) {
            let mut subscribers = lock(&self.subscribers);
            self.has_subscribers.store(false, Ordering::Relaxed);
            ready.extend(subscribers.drain(..).map(|(lane, _)| lane));
        }
    }

    /// Back to not signalled, timestamps cleared; for signals that are given once.
    pub(crate) fn reset(&self) {
        self.clear(Ordering::SeqCst);
    }

    fn clear(&self, order: Ordering) {
        let slot = self.slot();
        slot.start.store(0, Ordering::Relaxed);
        slot.end.store(0, Ordering::Relaxed);
        slot.to_host.store(0, Ordering::Relaxed);
        slot.count.store(0, order);
    }

    /// Whether others may signal without telling anybody here.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(*self.slots, Slots::Shared(_))
            || matches!(self.mode, Mode::UserCounter(_) | Mode::While(_))
    }

    /// True when `wait_value` is reached; else `lane` will be driven at the next signal.
    pub(crate) fn is_reached_or_subscribe(&self, wait_value: u64, lane: &Arc<Subscriber>) -> bool {
        if self.is_reached(wait_value) {
            return true;
        }
        let mut subscribers = lock(&self.subscribers);
        self.has_subscribers.store(true, Ordering::Relaxed);
        // `set` counts before it looks at `has_subscribers`.
        fence(Ordering::SeqCst);
        if self.is_reached(wait_value) {
            return true;
        }
        match subscribers
            .iter_mut()
            .find(|(other, _)| Arc::ptr_eq(other, lane))
        {
            // A lane hangs with its head only.
            Some((_, known)) => *known = wait_value,
            None => subscribers.push((Arc::clone(lane), wait_value)),
        }
        false
    }

    /// Takes the lanes whose wait_value another process or the application has reached without a word.
    pub(crate) fn take_reached(&self) -> Vec<Arc<Subscriber>> {
        let count = self.count();
        let reached = |(_, wait_value): &mut (Arc<Subscriber>, u64)| count >= *wait_value;
        let mut subscribers = lock(&self.subscribers);
        let ready = subscribers
            .extract_if(.., reached)
            .map(|(lane, _)| lane)
            .collect();
        self.has_subscribers
            .store(!subscribers.is_empty(), Ordering::Relaxed);
        ready
    }

    /// Whether a lane hangs here.
    pub(crate) fn is_awaited(&self) -> bool {
        !lock(&self.subscribers).is_empty()
    }

    /// Blocks the host until signalled, `gave_up()` or the timeout in ns; true unless it timed out.
    pub(crate) fn wait(
        &self,
        platform: &dyn Platform,
        timeout: u64,
        gave_up: &dyn Fn() -> bool,
    ) -> bool {
        let wait_value = self.wait_value();
        let done = || self.is_reached(wait_value) || gave_up();
        let slot = self.slot();
        let word = (&slot.word, u64::MAX);
        if !matches!(self.mode, Mode::UserCounter(_) | Mode::While(_)) {
            return wait_until(platform, word, &slot.sleepers, &done, timeout);
        }
        // Nobody tells of a store by the application: short waits in turn.
        let mut left = timeout;
        loop {
            let turn = left.min(LOOK_NS);
            if wait_until(platform, word, &slot.sleepers, &done, turn) {
                return true;
            }
            if left != u64::MAX {
                left -= turn;
            }
            if left == 0 {
                return false;
            }
        }
    }
}

/// How often a waiting host thread looks at a counter that the application writes.
const LOOK_NS: u64 = 50_000;

/// Blocks until `done` or the timeout in ns (`u64::MAX`: none); returns `done()`.
pub(crate) fn wait_until(
    platform: &dyn Platform,
    word: (&AtomicU32, u64),
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
    platform.wait(word, sleepers, done, deadline)
}

/// Wakes all threads that sleep on `word`, which the caller has just changed (SeqCst): no system call when none does.
pub(crate) fn wake_sleepers(word: &AtomicU32, sleepers: &AtomicU32) {
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
