//! Holds writes to a range while its pages move to another file.
//!
//! The range becomes read-only. A thread that writes to it gets SIGSEGV, and [`retry`] in the signal handler lets it sleep
//! until the hold ends; then the instruction runs again. The system itself says whether an address can be written, so a
//! signal that arrives late, after the hold has ended, is understood as well.

use signal_mask::HeldSignals;
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// `si_code` of an access that the mapping does not allow.
pub(super) const SEGV_ACCERR: i32 = 2;
/// Instructions are no longer than this: an address so near behind the instruction pointer is a fetch, not an access to data.
pub(super) const LONGEST_INSTRUCTION: usize = 16;

/// One hold at a time, and none during a fork: a child would inherit a read-only range that no thread releases. The C library's
/// lock, because the standard library's guards cannot cross the handlers around `fork`.
struct One(UnsafeCell<libc::pthread_mutex_t>);
// SAFETY: a lock is meant for several threads; the cell is only used through its functions.
unsafe impl Sync for One {}
static ONE: One = One(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

extern "C" fn lock_one() {
    leave_parents_hold();
    // SAFETY: an initialised lock, never destroyed.
    unsafe { libc::pthread_mutex_lock(ONE.0.get()) };
}

extern "C" fn unlock_one() {
    // SAFETY: locked by this thread.
    unsafe { libc::pthread_mutex_unlock(ONE.0.get()) };
}

extern "C" fn unlock_in_child() {
    if !leave_parents_hold() {
        // Locked by the thread whose copy this one is.
        unlock_one();
    }
}

/// Values of [`own_process`]'s word.
const INHERITED: u32 = 0;
const OWN: u32 = 1;
const LEAVING: u32 = 2;

/// In a child of a process that has held: ends what the child has inherited of a hold, and makes it a process of its own.
/// Says whether it did; at most once in a process.
fn leave_parents_hold() -> bool {
    // SAFETY: null, or the word, which stays mapped.
    let Some(word) = (unsafe { OWN_PROCESS.load(Ordering::Acquire).as_ref() }) else {
        return false;
    };
    let claim = word.compare_exchange(INHERITED, LEAVING, Ordering::AcqRel, Ordering::Acquire);
    if claim.is_err() {
        // Another thread of the child does it: a system call and two stores.
        while word.load(Ordering::Acquire) == LEAVING {
            std::hint::spin_loop();
        }
        return false;
    }
    let (base, end) = (BASE.load(Ordering::Relaxed), END.load(Ordering::Relaxed));
    if end > base {
        protect(base, end - base, libc::PROT_READ | libc::PROT_WRITE);
    }
    END.store(0, Ordering::Release);
    // SAFETY: the thread that locked it is in the parent; other threads of this process wait above.
    unsafe { ONE.0.get().write(libc::PTHREAD_MUTEX_INITIALIZER) };
    word.store(OWN, Ordering::Release);
    true
}

/// Locks and unlocks as a fork does.
#[cfg(test)]
pub(crate) fn enter_and_leave_a_hold() {
    lock_one();
    unlock_one();
}

/// The locked [`ONE`].
struct Only;

/// Lets forks wait until no hold is under way. To be called before the first hold, or a fork that has begun would miss it.
pub(crate) fn wait_in_forks() {
    static FORKS: Once = Once::new();
    FORKS.call_once(|| {
        if let Some(word) = own_process() {
            OWN_PROCESS.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        }
        // SAFETY: plain functions, which live as long as the code does.
        unsafe { libc::pthread_atfork(Some(lock_one), Some(unlock_one), Some(unlock_in_child)) };
    });
}

/// A new word that is 1 in the process that made it, and 0 in its forked children until [`leave_parents_hold`]: children
/// that were made without the C library's `fork` inherit a read-only range and no thread that ends the hold. A child of
/// `vfork`, which has the memory of its parent, sees 1. None: the system offers no such memory.
fn own_process() -> Option<&'static AtomicU32> {
    // SAFETY: fresh memory, which stays mapped; zero bytes are a valid atomic.
    unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if page == libc::MAP_FAILED || libc::madvise(page, 4096, libc::MADV_WIPEONFORK) != 0 {
            return None;
        }
        let word = &*page.cast::<AtomicU32>();
        word.store(OWN, Ordering::Release);
        Some(word)
    }
}

/// [`own_process`]'s result, for the signal handler.
static OWN_PROCESS: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Whether this process was forked from the holding one. Async-signal-safe.
fn is_child_of_holder() -> bool {
    // SAFETY: null, or the word, which stays mapped.
    let word = unsafe { OWN_PROCESS.load(Ordering::Acquire).as_ref() };
    word.is_some_and(|word| word.load(Ordering::Acquire) != OWN)
}

impl Only {
    fn lock() -> Self {
        wait_in_forks();
        lock_one();
        Self
    }
}

impl Drop for Only {
    fn drop(&mut self) {
        unlock_one();
    }
}

/// The range held; empty outside of a hold.
static BASE: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// Whether there ever was a hold: other processes ask the system nothing more in their handler.
static EVER: AtomicBool = AtomicBool::new(false);
/// Counts holds that have ended; held threads sleep on it.
static ENDED: AtomicU32 = AtomicU32::new(0);

/// Writes to a range are held while this lives.
#[must_use = "writes are held as long as the value lives"]
pub(crate) struct WriteHold {
    base: usize,
    len: usize,
    _one: Only,
    /// A handler of the program on this thread that writes to the range would wait for itself.
    _held: HeldSignals,
}

impl WriteHold {
    /// Holds writes to `base..base + len`, whole pages that are mapped for reading and writing. `None` if the system
    /// fails, for example because the process has too many mappings; nothing has changed then. `install` installs the
    /// signal handlers, once no other hold can begin.
    pub(super) fn begin(base: usize, len: u64, install: impl FnOnce()) -> Option<Self> {
        let len = usize::try_from(len).ok()?;
        let held = HeldSignals::all()?;
        let one = Only::lock();
        install();
        BASE.store(base, Ordering::Relaxed);
        END.store(base.checked_add(len)?, Ordering::Release);
        EVER.store(true, Ordering::Release);
        let hold = Self {
            base,
            len,
            _one: one,
            _held: held,
        };
        protect(base, len, libc::PROT_READ).then_some(hold)
    }
}

impl Drop for WriteHold {
    fn drop(&mut self) {
        // Pages that did not move become writable again; those that did are.
        protect(self.base, self.len, libc::PROT_READ | libc::PROT_WRITE);
        END.store(0, Ordering::Release);
        ENDED.fetch_add(1, Ordering::Release);
        futex(&ENDED, libc::FUTEX_WAKE, i32::MAX as u32);
    }
}

/// Changes the protection of whole pages of memory of the driver's.
pub(super) fn protect(base: usize, len: usize, to: i32) -> bool {
    // SAFETY: the range is the caller's, and stays mapped; its contents do not change.
    unsafe { libc::mprotect(base as *mut libc::c_void, len, to) == 0 }
}

/// Whether the access that raised SIGSEGV with `code` at `address` is to run again: it was a write to memory that can be
/// written now. Sleeps while a hold is under way. Async-signal-safe; keeps `errno`.
pub(super) fn retry(code: i32, address: usize, instruction: usize) -> bool {
    if code != SEGV_ACCERR || !EVER.load(Ordering::Acquire) {
        return false;
    }
    if address.wrapping_sub(instruction) < LONGEST_INSTRUCTION {
        return false;
    }
    // SAFETY: this thread's own variable, which lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let again = loop {
        let ended = ENDED.load(Ordering::Acquire);
        if writable(address) {
            break true;
        }
        if !(BASE.load(Ordering::Relaxed)..END.load(Ordering::Acquire)).contains(&address) {
            // The hold may have ended between the two questions, and another one begun.
            if ENDED.load(Ordering::Acquire) != ended {
                continue;
            }
            break writable(address);
        }
        if is_child_of_holder() {
            let (base, end) = (BASE.load(Ordering::Relaxed), END.load(Ordering::Relaxed));
            break protect(base, end - base, libc::PROT_READ | libc::PROT_WRITE);
        }
        futex(&ENDED, libc::FUTEX_WAIT, ended);
    };
    // SAFETY: as above.
    unsafe { *errno = before };
    again
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is a live static; no time limit is given.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, 0_usize) };
}

/// Asks the system whether it can write to the word around `address`: it adds 0 there, and wakes no thread.
fn writable(address: usize) -> bool {
    /// Never slept on.
    static NOBODY: AtomicU32 = AtomicU32::new(0);
    /// FUTEX_OP_ADD of 0 in the highest bits, then "less than" -2048 as the condition of a wake.
    const ADD_NOTHING: u32 = (1 << 28) | (2 << 24) | 0x800;
    // SAFETY: the system itself checks the address, and adds nothing to the word there; a wake without need is harmless.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_futex,
            NOBODY.as_ptr(),
            libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG,
            0_usize,
            0_usize,
            address & !3,
            ADD_NOTHING,
        )
    };
    answer >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writes_to_memory_that_can_be_written_run_again() {
        let map = |protection| {
            // SAFETY: fresh anonymous memory.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    4096,
                    protection,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            assert_ne!(base, libc::MAP_FAILED);
            base as usize
        };
        let [none, read, write] = [
            libc::PROT_NONE,
            libc::PROT_READ,
            libc::PROT_READ | libc::PROT_WRITE,
        ]
        .map(map);
        // SAFETY: mapped for writing.
        unsafe { (write as *mut u32).write(7) };
        drop(WriteHold::begin(write, 4096, || {}).unwrap());
        for (address, instruction, code, again) in [
            (none, 0, SEGV_ACCERR, false),
            (read + 100, 0, SEGV_ACCERR, false),
            (write, 0, SEGV_ACCERR, true),
            (write + 4093, 0, SEGV_ACCERR, true),
            // No mapping at all, and a jump into data.
            (write, 0, 1, false),
            (write, write, SEGV_ACCERR, false),
            (write + 3, write, SEGV_ACCERR, false),
            (16, 0, SEGV_ACCERR, false),
        ] {
            let said = retry(code, address, instruction);
            assert_eq!(said, again, "{address:#x} {instruction:#x} {code}");
        }
        // SAFETY: mapped for reading.
        unsafe {
            assert_eq!(
                (write as *const u32).read(),
                7,
                "the question changes nothing"
            )
        };
    }
}
