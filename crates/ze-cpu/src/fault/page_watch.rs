//! Notes accesses of the program's own code to pages that are closed for a while.
//!
//! An access to a closed page raises SIGSEGV. [`retry`] in the signal handler notes it, opens the page, and the instruction runs
//! again. Accesses by threads of the driver open the whole range and are not noted.
//!
//! Limits: the system raises no signal for a system call that is given closed pages; it fails with EFAULT. A page that was
//! opened stays open until [`Range::set`], so that later accesses to it are not noted.

use super::processor::Registers;
use super::write_hold::{LONGEST_INSTRUCTION, SEGV_ACCERR, protect};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const PAGE: usize = 4096;

/// Ranges at a time. Not measured: a bound on the search in the handler, which takes some 100 µs for so many.
const MOST_RANGES: usize = 1 << 16;
/// Accesses that wait to be taken; more are dropped. Not measured: the driver takes them at its next call.
const MOST_ACCESSES: usize = 1024;
/// Calls that are noted of an access.
const DEPTH: usize = 24;

/// The accesses to a range that are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Noted {
    None = 0,
    Writes = 1,
    All = 2,
}

struct Slot {
    start: AtomicUsize,
    /// 0 while the slot is unused.
    end: AtomicUsize,
    noted: AtomicU8,
    is_opened: AtomicBool,
    /// Nothing is noted any more.
    stays_open: AtomicBool,
}

static SLOTS: [Slot; MOST_RANGES] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        noted: AtomicU8::new(0),
        is_opened: AtomicBool::new(false),
        stays_open: AtomicBool::new(false),
    }
}; MOST_RANGES];
/// Slots from here on were never used.
static USED: AtomicUsize = AtomicUsize::new(0);
static UNUSED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Whole pages of readable and writable memory that are watched.
#[derive(Debug)]
pub(crate) struct Range(usize);

impl Range {
    /// Watches `start..end`, from the start of a page to the end of one. `None` if too many ranges are watched.
    pub(crate) fn new(start: usize, end: usize) -> Option<Self> {
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match unused.pop() {
            Some(number) => number,
            None => {
                let number = USED.load(Ordering::Relaxed);
                if number >= MOST_RANGES {
                    return None;
                }
                USED.store(number + 1, Ordering::Release);
                number
            }
        };
        let slot = &SLOTS[number];
        slot.start.store(start, Ordering::Relaxed);
        slot.noted.store(Noted::None as u8, Ordering::Relaxed);
        slot.is_opened.store(false, Ordering::Relaxed);
        slot.stays_open.store(false, Ordering::Relaxed);
        slot.end.store(end, Ordering::Release);
        Some(Self(number))
    }

    /// Notes these accesses from now on. Costs a system call if it changes anything.
    pub(crate) fn set(&self, noted: Noted) {
        let slot = &SLOTS[self.0];
        if slot.stays_open.load(Ordering::Relaxed) && noted != Noted::None {
            return;
        }
        let was_opened = slot.is_opened.swap(false, Ordering::Relaxed);
        let before = slot.noted.swap(noted as u8, Ordering::Relaxed);
        if before == noted as u8 && !(was_opened && noted != Noted::None) {
            return;
        }
        let protection = match noted {
            Noted::None => libc::PROT_READ | libc::PROT_WRITE,
            Noted::Writes => libc::PROT_READ,
            Noted::All => libc::PROT_NONE,
        };
        let start = slot.start.load(Ordering::Relaxed);
        let end = slot.end.load(Ordering::Relaxed);
        // A failure leaves pages open, as when there are too many mappings: accesses are not noted then.
        protect(start, end - start, protection);
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        self.set(Noted::None);
        SLOTS[self.0].end.store(0, Ordering::Release);
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        unused.push(self.0);
    }
}

/// An access that was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) address: usize,
    pub(crate) writes: bool,
    /// The instruction, then return addresses, innermost first.
    pub(crate) stack: Vec<usize>,
}

struct Note {
    is_ready: AtomicBool,
    address: AtomicUsize,
    writes: AtomicBool,
    depth: AtomicUsize,
    stack: [AtomicUsize; DEPTH],
}

static NOTES: [Note; MOST_ACCESSES] = [const {
    Note {
        is_ready: AtomicBool::new(false),
        address: AtomicUsize::new(0),
        writes: AtomicBool::new(false),
        depth: AtomicUsize::new(0),
        stack: [const { AtomicUsize::new(0) }; DEPTH],
    }
}; MOST_ACCESSES];
/// Accesses noted, and taken, so far.
static NOTED: AtomicUsize = AtomicUsize::new(0);
static TAKEN: Mutex<usize> = Mutex::new(0);

/// Takes the accesses that were noted, oldest first.
pub(crate) fn take_accesses() -> Vec<Access> {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut accesses = Vec::new();
    while *taken < NOTED.load(Ordering::Acquire) {
        let note = &NOTES[*taken % MOST_ACCESSES];
        // A thread that is still writing it comes first next time.
        if !note.is_ready.swap(false, Ordering::Acquire) {
            break;
        }
        let depth = note.depth.load(Ordering::Relaxed).min(DEPTH);
        accesses.push(Access {
            address: note.address.load(Ordering::Relaxed),
            writes: note.writes.load(Ordering::Relaxed),
            stack: note.stack[..depth]
                .iter()
                .map(|address| address.load(Ordering::Relaxed))
                .collect(),
        });
        *taken += 1;
    }
    accesses
}

/// Notes no further access to the range around an address: its pages are about to move, or other processes will access them.
pub(crate) fn leave_open(address: usize) {
    if let Some(slot) = watched(address) {
        slot.stays_open.store(true, Ordering::Relaxed);
        slot.noted.store(Noted::None as u8, Ordering::Relaxed);
        let start = slot.start.load(Ordering::Relaxed);
        let end = slot.end.load(Ordering::Relaxed);
        protect(start, end - start, libc::PROT_READ | libc::PROT_WRITE);
    }
}

fn watched(address: usize) -> Option<&'static Slot> {
    let holds = |slot: &&Slot| {
        let end = slot.end.load(Ordering::Acquire);
        (slot.start.load(Ordering::Relaxed)..end).contains(&address)
    };
    let used = USED.load(Ordering::Acquire);
    SLOTS[..used].iter().find(holds)
}

/// Whether the access that raised SIGSEGV with `code` at `address` is to run again: it was one to a watched page.
/// Async-signal-safe; keeps `errno`.
pub(super) fn retry(code: i32, address: usize, registers: &Registers<'_>, is_driver: bool) -> bool {
    let instruction = registers.instruction();
    if code != SEGV_ACCERR || address.wrapping_sub(instruction) < LONGEST_INSTRUCTION {
        return false;
    }
    let Some(slot) = watched(address) else {
        return false;
    };
    let noted = slot.noted.load(Ordering::Relaxed);
    let writes = registers.writes().unwrap_or(noted == Noted::Writes as u8);
    if !is_driver && noted != Noted::None as u8 {
        note(address, writes, instruction);
    }
    let (start, end) = match is_driver {
        true => (
            slot.start.load(Ordering::Relaxed),
            slot.end.load(Ordering::Relaxed),
        ),
        false => (address & !(PAGE - 1), (address | (PAGE - 1)) + 1),
    };
    // SAFETY: this thread's own variable, which lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let is_open = protect(start, end - start, libc::PROT_READ | libc::PROT_WRITE);
    slot.is_opened.store(true, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { *errno = before };
    is_open
}

/// Notes an access, unless too many wait.
fn note(address: usize, writes: bool, instruction: usize) {
    let number = NOTED.load(Ordering::Relaxed);
    let note = &NOTES[number % MOST_ACCESSES];
    // The slot is free once its last note was taken. Another thread that was faster drops this access.
    if note.is_ready.load(Ordering::Acquire)
        || NOTED
            .compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Relaxed)
            .is_err()
    {
        return;
    }
    note.address.store(address, Ordering::Relaxed);
    note.writes.store(writes, Ordering::Relaxed);
    note.stack[0].store(instruction, Ordering::Relaxed);
    note.depth.store(1, Ordering::Relaxed);
    let mut walk = Walk {
        note,
        has_begun: false,
        instruction,
    };
    if has_room_for_unwinder() {
        // SAFETY: the callback takes a pointer to `walk`, which outlives the call. The unwinder of GCC takes no lock where
        // the C library has `_dl_find_object`, from version 2.35 on.
        unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
    }
    note.is_ready.store(true, Ordering::Release);
}

/// Stack that the unwinder may take. Seen: a fault on the 8 KiB of a signal stack of Rust's, half of which the registers of
/// AVX-512 take.
const UNWINDER_STACK: usize = 16 << 10;

/// Whether the handler runs on the program's stack, or on a large signal stack.
fn has_room_for_unwinder() -> bool {
    let here = 0_u8;
    let here = std::ptr::from_ref(&here) as usize;
    // SAFETY: only asks; zero bytes are a valid `stack_t`.
    let stack = unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut stack);
        stack
    };
    stack.ss_flags & libc::SS_ONSTACK == 0
        || here.wrapping_sub(stack.ss_sp as usize) >= UNWINDER_STACK
}

struct Walk<'a> {
    note: &'a Note,
    has_begun: bool,
    instruction: usize,
}

/// The unwinder's answers: go on, and stop.
const GO_ON: c_int = 0;
const STOP: c_int = 5;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Notes a frame: those of the handler come first, then the interrupted one.
unsafe extern "C" fn step(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: `note` passes a `Walk`; the context is the unwinder's.
    let (walk, address) = unsafe { (&mut *argument.cast::<Walk<'_>>(), _Unwind_GetIP(context)) };
    if !walk.has_begun {
        walk.has_begun = address == walk.instruction;
        return GO_ON;
    }
    let depth = walk.note.depth.load(Ordering::Relaxed);
    if address == 0 || depth >= DEPTH {
        return STOP;
    }
    walk.note.stack[depth].store(address, Ordering::Relaxed);
    walk.note.depth.store(depth + 1, Ordering::Relaxed);
    GO_ON
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in pages of their own.
    fn pages(count: usize) -> usize {
        // SAFETY: fresh anonymous memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                count * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED);
        base as usize
    }

    #[test]
    fn accesses_are_noted_once_a_page_and_happen() {
        crate::fault::install();
        let base = pages(2);
        let range = Range::new(base, base + 2 * PAGE).unwrap();
        let own = || -> Vec<(usize, bool)> {
            let all = take_accesses().into_iter();
            let all = all.filter(|access| (base..base + 2 * PAGE).contains(&access.address));
            all.map(|access| {
                assert!(!access.stack.is_empty());
                (access.address - base, access.writes)
            })
            .collect()
        };
        // SAFETY: both are in the pages.
        let read = |at: usize| unsafe { ((base + at) as *const u8).read_volatile() };
        // SAFETY: as above.
        let write = |at: usize| unsafe { ((base + at) as *mut u8).write_volatile(7) };
        write(0);
        assert_eq!(own(), []);
        range.set(Noted::Writes);
        assert_eq!(read(0), 7);
        write(8);
        write(9);
        write(PAGE + 5);
        assert_eq!(own(), [(8, true), (PAGE + 5, true)]);
        range.set(Noted::All);
        assert_eq!(read(8), 7);
        assert_eq!(own(), [(8, false)]);
        range.set(Noted::None);
        write(PAGE);
        assert_eq!(own(), []);
        drop(range);
    }
}
