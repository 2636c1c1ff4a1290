//! Signals: slots in the memory of event pools, the lanes that wait for them, and waits of host threads.
//!
//! A slot is the part of an event that other processes may see: counters, a futex word, and two timestamps. The waiting
//! lanes of this process are private: a lane subscribes to the signal that blocks it, and the signal drives the lane.
//! Only slots that other processes signal, and counters in the application's memory, are polled.
//!
//! A wait has a *wait value*: it is over when the signal's count has reached the value. The wait value of a plain event
//! is 1. That of an event which recorded commands signal grows with each execution, so executions that overlap do not
//! take each other's signals, and nothing has to be reset between them.

use crate::address_space::{Access, Pages};
use crate::check::lock;
use crate::device::{AllocError, NoFile, Platform};
use crate::user_memory::{Condition, UserCounter};
use smallvec::SmallVec;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};
use ze_abi::{ZeResult, with_room};

/// One event's part of pool memory: a cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// A futex word that changes with every signal.
    word: AtomicU32,
    /// Host threads that wait, in all processes that see the slot. One that dies costs each later signal a system call.
    sleepers: AtomicU32,
    start: AtomicU64,
    end: AtomicU64,
    /// Signals so far.
    count: AtomicU64,
    /// Announced executions of commands that signal.
    announced: AtomicU64,
    /// `announced` when the current use of the slot began.
    base: AtomicU64,
    /// The difference between the host's clock and this signal's times, without its lowest bit. Odd once it is measured.
    to_host: AtomicU64,
}

impl Slot {
    fn wait_value(&self) -> u64 {
        let announced = self.announced.load(Ordering::Relaxed);
        announced.max(self.base.load(Ordering::Relaxed).saturating_add(1))
    }
}

impl Slot {
    /// The latest use of the ring that begins with this slot.
    pub(crate) fn uses(&self) -> u64 {
        // Acquire: pairs with `publish_use`.
        self.count.load(Ordering::Acquire)
    }

    /// The number of a new use, which only the caller knows.
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
    /// A single slot of this process.
    One(Slot),
    /// Slots of this process.
    Own(Box<[Slot]>),
    /// Slots in a file that other processes see.
    Shared(SharedSlots),
}

/// Slots in a mapped file.
pub(crate) struct SharedSlots {
    platform: Arc<dyn Platform>,
    file: OwnedFd,
    base: usize,
    len: u64,
    count: usize,
    /// For a pool of this process: the pages that count against its memory limit.
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

    /// Fresh memory for `count` events that other processes may see; none when the platform has no files.
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
        // A sender chooses both sizes, so only as much as the slots need is mapped.
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
            // SAFETY: mapped until the drop, `count` slots fit; the fields are atomics, which other processes may change.
            Self::Shared(shared) => unsafe {
                std::slice::from_raw_parts(
                    std::ptr::with_exposed_provenance(shared.base),
                    shared.count,
                )
            },
        }
    }

    /// The file and its size, when other processes may see the slots.
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

/// How a signal is set.
#[derive(Debug)]
enum Mode {
    /// Once, until a reset.
    Once,
    /// Again and again; the slot counts.
    Count,
    /// In a counter of the application.
    UserCounter(UserCounter),
    /// While a word of the application compares as wanted; the driver never sets it.
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
    /// Lanes that wait here, each with its wait value.
    subscribers: Mutex<Vec<(Arc<Subscriber>, u64)>>,
    /// Whether `subscribers` may have some; changes under its lock.
    has_subscribers: AtomicBool,
}

/// Subscribers whose wait is over: most often one, which needs no allocation.
pub(crate) type Reached<Subscriber> = SmallVec<[Arc<Subscriber>; 2]>;

/// Signals of counter-based events are short-lived, so one thread's may get the address of another's.
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

    /// The signal at `index` in its current state, made by another process.
    pub(crate) fn attach(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        Self::make(slots, index, Mode::Once)
    }

    /// A signal in separate memory.
    pub(crate) fn alone() -> Arc<Self> {
        Self::make(Arc::new(Slots::One(Slot::default())), 0, Mode::Once)
    }

    /// A signal in separate memory that commands may set again and again.
    pub(crate) fn counter() -> Arc<Self> {
        Self::make(Arc::new(Slots::One(Slot::default())), 0, Mode::Count)
    }

    /// As [`Self::counter`], at `index` of slots that other processes see.
    pub(crate) fn shared_counter(slots: Arc<Slots>, index: usize) -> Arc<Self> {
        Self::make(slots, index, Mode::Count)
    }

    /// A signal with a counter in the application's memory.
    pub(crate) fn outside(counter: UserCounter) -> Arc<Self> {
        let slots = Arc::new(Slots::One(Slot::default()));
        Self::make(slots, 0, Mode::UserCounter(counter))
    }

    /// A signal that is set while a condition holds.
    pub(crate) fn when(condition: Condition) -> Arc<Self> {
        let slots = Arc::new(Slots::One(Slot::default()));
        Self::make(slots, 0, Mode::While(condition))
    }

    fn slot(&self) -> &Slot {
        &self.slots.get()[self.index]
    }

    /// The word on which waits for this signal sleep.
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.slot().word
    }

    /// The count at which a wait that begins now is over.
    pub(crate) fn wait_value(&self) -> u64 {
        match &self.mode {
            Mode::UserCounter(outside) => outside.completion(),
            Mode::While(_) => 1,
            _ => self.slot().wait_value(),
        }
    }

    /// The count.
    fn count(&self) -> u64 {
        match &self.mode {
            Mode::UserCounter(outside) => outside.value(),
            Mode::While(condition) => u64::from(condition.holds()),
            // Acquire: pairs with the store in `set`.
            _ => self.slot().count.load(Ordering::Acquire),
        }
    }

    /// The address of the count, for clients that read it themselves.
    pub(crate) fn address(&self) -> usize {
        match &self.mode {
            Mode::UserCounter(outside) => outside.address(),
            _ => self.slot().count.as_ptr().expose_provenance(),
        }
    }

    /// Its number for [`crate::command_order`]: it may be used again once the signal is gone.
    pub(crate) fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// True once signalled; all effects of the signalling command are visible then.
    pub(crate) fn is_set(&self) -> bool {
        self.is_reached(self.wait_value())
    }

    /// True once the count has reached a wait value.
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

    /// The difference between the host's clock and the signal's times. It is measured once, because the two clocks drift and
    /// every later answer, also in other processes, must be the same.
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

    /// Announces one more execution of a command that signals: waits from now on are for it.
    pub(crate) fn announce(&self) {
        self.slot().announced.fetch_add(1, Ordering::Relaxed);
    }

    /// Begins a new use of a slot that counts. Earlier announcements belong to another use, and waits for them are over:
    /// the process that made them may have died.
    pub(crate) fn begin_use(&self) {
        let slot = self.slot();
        let announced = slot.announced.load(Ordering::Relaxed);
        slot.base.store(announced, Ordering::Relaxed);
        slot.count.fetch_max(announced, Ordering::Relaxed);
    }

    /// Sets the signal: wakes waiting host threads, moves waiting lanes to `ready`.
    pub(crate) fn set(&self, start: u64, end: u64, ready: &mut Reached<Subscriber>) {
        let slot = self.slot();
        // Read before the fence below, which would delay the loads.
        let is_shared = matches!(*self.slots, Slots::Shared(_));
        slot.to_host.store(0, Ordering::Relaxed);
        slot.start.store(start, Ordering::Relaxed);
        // Never equal, for clients (`crate::leniency`).
        slot.end
            .store(end.max(start.saturating_add(1)), Ordering::Relaxed);
        match &self.mode {
            Mode::Once => {
                // Release: the command's effects come before. Another thread that sets it now stores the same.
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
        // Pairs with the fence of threads that register first and then look at the count.
        fence(Ordering::SeqCst);
        // In shared memory another process can write 0 sleepers while threads of this process sleep.
        if slot.sleepers.load(Ordering::Relaxed) != 0 || is_shared {
            wake_all(&slot.word);
        }
        if self.has_subscribers.load(Ordering::Relaxed) {
            let mut subscribers = lock(&self.subscribers);
            self.has_subscribers.store(false, Ordering::Relaxed);
            ready.extend(subscribers.drain(..).map(|(lane, _)| lane));
        }
    }

    /// Clears signal and timestamps, for signals that are set once.
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

    /// Whether another process or the application may set it without notice.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(*self.slots, Slots::Shared(_))
            || matches!(self.mode, Mode::UserCounter(_) | Mode::While(_))
    }

    /// True when `wait_value` is reached; else `lane` subscribes, and the next signal drives it.
    pub(crate) fn is_reached_or_subscribe(&self, wait_value: u64, lane: &Arc<Subscriber>) -> bool {
        if self.is_reached(wait_value) {
            return true;
        }
        let mut subscribers = lock(&self.subscribers);
        self.has_subscribers.store(true, Ordering::Relaxed);
        // Pairs with the fence in `set`, which counts first and then looks at `has_subscribers`.
        fence(Ordering::SeqCst);
        if self.is_reached(wait_value) {
            return true;
        }
        match subscribers
            .iter_mut()
            .find(|(other, _)| Arc::ptr_eq(other, lane))
        {
            // A lane waits with its head only.
            Some((_, known)) => *known = wait_value,
            None => subscribers.push((Arc::clone(lane), wait_value)),
        }
        false
    }

    /// Takes the lanes whose wait value is reached, after another process or the application may have counted.
    pub(crate) fn take_reached(&self) -> Reached<Subscriber> {
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

    /// Whether a lane waits here.
    pub(crate) fn is_awaited(&self) -> bool {
        !lock(&self.subscribers).is_empty()
    }

    /// Blocks the calling thread until the signal is set, `gave_up()`, or the timeout in ns; true unless it timed out.
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
        // A store by the application wakes no thread, so waits are short and repeated.
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

/// The interval at which a waiting thread polls a counter that the application writes.
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

/// Wakes all threads that sleep on `word`, which the caller has just changed (SeqCst). No system call when none sleeps.
pub(crate) fn wake_sleepers(word: &AtomicU32, sleepers: &AtomicU32) {
    if sleepers.load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

fn wake_all(word: &AtomicU32) {
    // Without the private flag, because slots may be in memory shared between processes.
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
