//! The signal stacks, in one region, so that the handler knows its thread by its stack address.

use super::berth::{self, Berth};
use super::handler::install;
use super::processor::{MODES, solum_guard_call};
use super::watchdog::Limit;
use super::{Fault, Known};
use crate::numbers::Numbers;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Threads that may be guarded at once.
const SLOTS: usize = 2048;
/// The same where address space is scarce: 8 MiB of it instead of 128.
const FEW_SLOTS: usize = 128;
/// The part of a limit on address space that all slots may take.
const SHARE_OF_LIMIT: u64 = 16;
/// Bytes of a slot: a page nobody may touch, then the signal stack.
const SLOT: usize = 64 << 10;

/// What trampoline and handler share. The assembly knows the first three offsets.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Record {
    /// Stack pointer of the innermost guarded call; 0 outside.
    pub(super) stack: usize,
    /// Offset 8: signal of the last fault.
    pub(super) signal: i32,
    /// Offset 12: the word of modes for the code.
    pub(super) modes: u32,
    pub(super) address: usize,
    pub(super) instruction: usize,
    /// When the call has to end: see [`super::watchdog`].
    pub(super) deadline: AtomicU64,
    /// The thread, as `tgkill` wants it.
    pub(super) thread: i32,
    /// The device that a call with a deadline runs on.
    pub(super) device: AtomicU32,
    /// Whether code is looking behind the pointer `pointer`, which it wants to call.
    pub(super) calling: bool,
    pub(super) pointer: usize,
}
const _: () = assert!(size_of::<Record>() <= 64);

impl Record {
    /// Of a thread outside of any call.
    pub(super) fn new(thread: i32) -> Self {
        Self {
            stack: 0,
            signal: 0,
            modes: MODES,
            address: 0,
            instruction: 0,
            deadline: AtomicU64::new(0),
            thread,
            device: AtomicU32::new(0),
            calling: false,
            pointer: 0,
        }
    }
}
const _: () = assert!(
    std::mem::offset_of!(Record, stack) == 0
        && std::mem::offset_of!(Record, signal) == 8
        && std::mem::offset_of!(Record, modes) == 12
);

/// All signal stacks, and a record for each.
pub(super) struct Region {
    base: usize,
    slots: usize,
    records: usize,
}

/// Slots that have an owner.
static OWNED: Numbers<{ SLOTS / 64 }> = Numbers::new();

/// Whether the guard page of a slot is closed: its owner's to know.
static CLOSED: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

/// Slots that were ever given out.
static USED: AtomicUsize = AtomicUsize::new(0);

static REGION: OnceLock<Option<Region>> = OnceLock::new();

fn map_region(slots: usize) -> Option<Region> {
    // SAFETY: fresh anonymous memory.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            slots * (SLOT + 64),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (base != libc::MAP_FAILED).then(|| Region {
        base: base as usize,
        slots,
        records: base as usize + slots * SLOT,
    })
}

/// The region, made when first asked for. None: there is no memory for it.
fn region() -> Option<&'static Region> {
    REGION
        .get_or_init(|| {
            let limit = signal_mask::address_space_limit();
            let most = limit.map_or(u64::MAX, |limit| limit / SHARE_OF_LIMIT);
            let many = Some(SLOTS).filter(|slots| (slots * SLOT) as u64 <= most);
            many.and_then(map_region).or_else(|| map_region(FEW_SLOTS))
        })
        .as_ref()
}

/// Whether threads can be guarded: there is memory for their signal stacks.
pub(crate) fn can_guard() -> bool {
    region().is_some()
}

/// The record of the thread whose signal stack holds `address`. Safe in signal handlers.
pub(super) fn record_of(address: usize) -> Option<*mut Record> {
    let region = REGION.get()?.as_ref()?;
    let slot = address.checked_sub(region.base)? / SLOT;
    (slot < region.slots).then(|| (region.records + slot * 64) as *mut Record)
}

/// The deadlines of all threads that ever were guarded, with the threads and the devices that their calls run on.
pub(super) fn deadlines() -> impl Iterator<Item = (&'static AtomicU64, i32, usize)> {
    let region = REGION.get().and_then(Option::as_ref);
    let slots = region.into_iter().flat_map(|region| {
        (0..USED.load(Ordering::Acquire)).map(|slot| (region.records + slot * 64) as *mut Record)
    });
    slots.chain(berth::records()).map(|record| {
        // SAFETY: records are never unmapped; the deadline is atomic, and a thread's number is read again
        // and again until it is the one that the deadline belongs to.
        unsafe {
            (
                &(*record).deadline,
                (&raw const (*record).thread).read_volatile(),
                (*record).device.load(Ordering::Acquire) as usize,
            )
        }
    })
}

thread_local! {
    /// The record of this thread; null where it has none. No destructor: workers never end.
    static MINE: Cell<*mut Record> = const { Cell::new(std::ptr::null_mut()) };
}

/// The calling thread, as `tgkill` wants it; asked of the system once.
fn thread_number() -> i32 {
    thread_local! {
        static NUMBER: Cell<i32> = const { Cell::new(0) };
    }
    if NUMBER.get() == 0 {
        // SAFETY: a system call without memory.
        NUMBER.set(unsafe { libc::syscall(libc::SYS_gettid) } as i32);
    }
    NUMBER.get()
}

/// The right of a thread to run guarded code: it has a signal stack and a record.
#[derive(Debug)]
pub(crate) struct Guard {
    record: *mut Record,
    home: Home,
}

/// What a guard's thread has from us.
#[derive(Debug)]
enum Home {
    /// The signal stack of that number, instead of the one that it had before.
    Slot(usize, libc::stack_t),
    /// A stack to run on, up to that address.
    Berth(usize),
}

impl Guard {
    /// Gives the calling thread a signal stack, and installs the handlers when nobody has. None: too
    /// many threads, or no memory. While one lives no other is made on the same thread.
    pub(crate) fn enter() -> Option<Self> {
        if !MINE.get().is_null() {
            return None;
        }
        let region = region()?;
        install();
        let slot = OWNED.take()?;
        if slot >= region.slots {
            OWNED.give_back(slot);
            return None;
        }
        // Relaxed: the slot was given back and taken in order.
        let fresh = !CLOSED[slot].swap(true, Ordering::Relaxed);
        USED.fetch_max(slot + 1, Ordering::AcqRel);
        let stack = region.base + slot * SLOT;
        let record = (region.records + slot * 64) as *mut Record;
        // SAFETY: slot and record are ours until given back; the signal stack is inside the slot and
        // its first page becomes the guard.
        let before = unsafe {
            if fresh {
                libc::mprotect(stack as *mut libc::c_void, 4096, libc::PROT_NONE);
            }
            record.write(Record::new(thread_number()));
            let mut before: libc::stack_t = std::mem::zeroed();
            let mine = libc::stack_t {
                ss_sp: (stack + 4096) as *mut libc::c_void,
                ss_flags: 0,
                ss_size: SLOT - 4096,
            };
            libc::sigaltstack(&mine, &mut before);
            before
        };
        MINE.set(record);
        Some(Self {
            record,
            home: Home::Slot(slot, before),
        })
    }

    /// A guard for code with a bounded need of stack, on a stack of ours: of no thread until [`Self::board`].
    pub(crate) fn berth() -> Option<Self> {
        install();
        let Berth { top, record } = Berth::make()?;
        Some(Self {
            record,
            home: Home::Berth(top),
        })
    }

    /// The upper end of a berth's stack.
    pub(crate) fn top(&self) -> Option<usize> {
        match self.home {
            Home::Berth(top) => Some(top),
            Home::Slot(..) => None,
        }
    }

    /// Makes a berth's guard the calling thread's, until [`Self::leave`]; `false` where the thread has one already.
    pub(crate) fn board(&self) -> bool {
        if !MINE.get().is_null() {
            return false;
        }
        // SAFETY: nobody but the calling thread has the berth now.
        unsafe { (*self.record).thread = thread_number() };
        MINE.set(self.record);
        true
    }

    /// Ends what [`Self::board`] began.
    pub(crate) fn leave(&self) {
        MINE.set(std::ptr::null_mut());
    }

    /// The word of modes for the calls that follow.
    pub(crate) fn set_modes(&self, modes: u32) {
        // SAFETY: the record is this thread's (`Guard` is not `Send`), and no guarded call runs.
        unsafe { (*self.record).modes = modes }
    }

    /// As [`Self::call`], with an end from outside: see [`super::watchdog`].
    ///
    /// # Safety
    /// As [`Self::call`].
    pub(crate) unsafe fn call_until(
        &self,
        limit: &Limit,
        code: usize,
        arguments: [usize; 5],
    ) -> Result<(), Fault> {
        // SAFETY: the record is this thread's; the fields are atomic.
        let (deadline, device) = unsafe { (&(*self.record).deadline, &(*self.record).device) };
        device.store(limit.device() as u32, Ordering::Relaxed);
        // SeqCst: before the look at the number of resets.
        deadline.store(limit.deadline, Ordering::SeqCst);
        let result = if limit.was_reset() {
            Err(Fault {
                signal: super::watchdog::RESET,
                address: 0,
                instruction: 0,
                known: Known::Nothing,
            })
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.call(code, arguments) }
        };
        super::watchdog::leave(deadline);
        result
    }

    /// Calls `code` with five arguments and comes back, also from a fault.
    ///
    /// # Safety
    /// `code` is an `extern "C"` function of at most five integer arguments that keeps the module's
    /// third invariant; what it does with the arguments is the caller's contract with it.
    pub(crate) unsafe fn call(&self, code: usize, arguments: [usize; 5]) -> Result<(), Fault> {
        // SAFETY: the record is this thread's; the rest is the caller's promise.
        unsafe { call(self.record, code, arguments) }
    }

    /// Runs `body` with the guard off: for callbacks from guarded code into Rust, where a fault would
    /// leave locks held and destructors unrun.
    pub(crate) fn disarmed<R>(body: impl FnOnce() -> R) -> R {
        let record = MINE.get();
        if record.is_null() {
            return body();
        }
        // SAFETY: the record is this thread's and lives as long as the thread is guarded.
        let stack = unsafe { std::mem::replace(&mut (*record).stack, 0) };
        let result = body();
        // SAFETY: as above.
        unsafe { (*record).stack = stack };
        result
    }

    /// Copies `len` bytes that may not be there; `false` when they are not (or the thread is not
    /// guarded, where nothing is tried).
    pub(crate) fn copy_here(dst: *mut u8, src: *const u8, len: usize) -> bool {
        let record = MINE.get();
        if record.is_null() {
            return false;
        }
        let arguments = [dst as usize, src as usize, len, 0, 0];
        // SAFETY: the record is this thread's; `move_bytes` drops nothing.
        unsafe { call(record, move_bytes as *const () as usize, arguments) }.is_ok()
    }

    /// As [`Self::call`] on whatever guard this thread has; `false` after a fault, and where there is
    /// none, where nothing is tried.
    ///
    /// # Safety
    /// As [`Self::call`].
    pub(crate) unsafe fn call_here(code: usize, arguments: [usize; 5]) -> bool {
        let record = MINE.get();
        // SAFETY: the record is this thread's; the rest is the caller's promise.
        !record.is_null() && unsafe { call(record, code, arguments) }.is_ok()
    }

    /// Moves `len` bytes; the ranges may overlap, and need not be there.
    pub(crate) fn move_bytes(&self, dst: *mut u8, src: *const u8, len: usize) -> Result<(), Fault> {
        let arguments = [dst as usize, src as usize, len, 0, 0];
        // SAFETY: `move_bytes` drops nothing; a bad pointer is what the guard is for.
        unsafe { self.call(move_bytes as *const () as usize, arguments) }
    }

    /// Sets `len` bytes, which need not be there.
    pub(crate) fn set_bytes(&self, dst: *mut u8, value: u8, len: usize) -> Result<(), Fault> {
        let arguments = [dst as usize, usize::from(value), len, 0, 0];
        // SAFETY: as in `move_bytes`.
        unsafe { self.call(set_bytes as *const () as usize, arguments) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Home::Slot(slot, before) = &self.home else {
            return;
        };
        MINE.set(std::ptr::null_mut());
        // SAFETY: puts back what `enter` found on this thread.
        unsafe {
            libc::sigaltstack(before, std::ptr::null_mut());
        }
        OWNED.give_back(*slot);
    }
}

/// # Safety
/// As [`Guard::call`]; `record` is the calling thread's.
unsafe fn call(record: *mut Record, code: usize, arguments: [usize; 5]) -> Result<(), Fault> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the caller's promise.
    let signal = unsafe { solum_guard_call(record, code, a, b, c, d, e) };
    if signal == 0 {
        return Ok(());
    }
    // SAFETY: the record is this thread's, and the handler has returned.
    let record = unsafe { &mut *record };
    if std::mem::take(&mut record.calling) && (signal == libc::SIGSEGV || signal == libc::SIGBUS) {
        return Err(Fault {
            signal: super::NO_FUNCTION,
            address: record.pointer,
            instruction: record.instruction,
            known: Known::Nothing,
        });
    }
    // Also where another fault came first, such as the end of its time: the next one is not this trap.
    let trapped = super::trap::take();
    let known = match signal {
        libc::SIGILL => trapped.map_or(Known::Nothing, Known::Trapped),
        libc::SIGSEGV if super::depth::is_below_stack(record.address) => Known::StackEnd,
        _ => Known::Nothing,
    };
    Err(Fault {
        signal,
        address: record.address,
        instruction: record.instruction,
        known,
    })
}

/// What generated code asks before it calls through a pointer: see [`kernel_ir::abi::CALLEE_SYMBOL`]. A pointer
/// to no function ends the guarded call, as any other fault.
pub(crate) unsafe extern "C" fn solum_callee(
    pointer: *const u64,
    signature: u64,
    program: u64,
) -> *const u8 {
    use kernel_ir::abi::callable::{CODE, MAGIC, PROGRAM, SIGNATURE};
    let record = MINE.get();
    if !record.is_null() {
        // SAFETY: the record is this thread's.
        unsafe {
            (*record).pointer = pointer as usize;
            (*record).calling = true;
        }
    }
    // SAFETY: the guard is what a bad pointer meets; a good one is that of four words.
    let word = |i: usize| unsafe { pointer.wrapping_add(i).read_unaligned() };
    let aligned = !pointer.is_null() && (pointer as usize).is_multiple_of(16);
    let known = aligned && word(0) == MAGIC;
    let code = if known && word(SIGNATURE) == signature && [0, program].contains(&word(PROGRAM)) {
        word(CODE)
    } else {
        0
    };
    if code == 0 {
        // SAFETY: there is nothing at address 0, and the guard turns that into the fault it is.
        unsafe { std::ptr::null::<u64>().wrapping_byte_add(8).read_volatile() };
    }
    if !record.is_null() {
        // SAFETY: as above.
        unsafe { (*record).calling = false };
    }
    code as *const u8
}

/// libc's memmove rather than Rust's: it checks nothing, so that only the guard sees bad pointers.
unsafe extern "C" fn move_bytes(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller is the guard, which takes any pointers.
    unsafe {
        libc::memmove(dst.cast(), src.cast(), len);
    }
}

unsafe extern "C" fn set_bytes(dst: *mut u8, value: usize, len: usize) {
    // SAFETY: the caller is the guard, which takes any pointers.
    unsafe {
        libc::memset(dst.cast(), value as i32, len);
    }
}
