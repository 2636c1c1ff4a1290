//! The guard: the right of a thread to run code that may fault.

use super::access::{move_bytes, set_bytes};
use super::error::{Fault, Known, NO_FUNCTION};
use super::handler::install;
use super::inline_stack::InlineStack;
use super::processor::solum_guard_call;
use super::record::{OWN, Record, thread_number};
use super::signal_stack::{SignalStack, can_guard};
use super::watchdog::Limit;
use super::{depth, trap, watchdog};
use std::sync::atomic::Ordering;

/// The right of a thread to run guarded code: it has a signal stack and a record.
#[derive(Debug)]
pub(crate) struct Guard {
    record: *mut Record,
    stack: Stack,
}

/// The stack that a guard comes with.
#[derive(Debug)]
enum Stack {
    /// A signal stack for the thread.
    Signal(SignalStack),
    /// A stack to run on, up to this address.
    Inline(usize),
}

impl Guard {
    /// Installs the handlers if necessary, and gives the calling thread a signal stack. `None` if there are too many
    /// threads, memory is short, or the thread has a guard already.
    pub(crate) fn enter() -> Option<Self> {
        if !OWN.get().is_null() || !can_guard() {
            return None;
        }
        install();
        let (stack, record) = SignalStack::enter()?;
        OWN.set(record);
        Some(Self {
            record,
            stack: Stack::Signal(stack),
        })
    }

    /// A guard for code with a bounded need of stack, with a stack to run on. It belongs to no thread until [`Self::attach`].
    pub(crate) fn inline() -> Option<Self> {
        install();
        let InlineStack { top, record } = InlineStack::make()?;
        Some(Self {
            record,
            stack: Stack::Inline(top),
        })
    }

    /// The upper end of an inline stack.
    pub(crate) fn top(&self) -> Option<usize> {
        match self.stack {
            Stack::Inline(top) => Some(top),
            Stack::Signal(_) => None,
        }
    }

    /// Makes the guard of an inline stack the calling thread's, until [`Self::detach`]. `false` if the thread has one
    /// already.
    pub(crate) fn attach(&self) -> bool {
        if !OWN.get().is_null() {
            return false;
        }
        // SAFETY: only the calling thread has the inline stack now.
        unsafe { (*self.record).thread = thread_number() };
        OWN.set(self.record);
        true
    }

    /// Undoes [`Self::attach`].
    pub(crate) fn detach(&self) {
        OWN.set(std::ptr::null_mut());
    }

    /// Sets the word of modes for the calls that follow.
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
        // SeqCst: before the number of resets is read.
        deadline.store(limit.deadline, Ordering::SeqCst);
        let result = if limit.was_reset() {
            Err(Fault {
                signal: watchdog::RESET,
                address: 0,
                instruction: 0,
                known: Known::Nothing,
            })
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.call(code, arguments) }
        };
        watchdog::leave(deadline);
        result
    }

    /// Calls `code` with five arguments and comes back, also from a fault.
    ///
    /// # Safety
    /// `code` is an `extern "C"` function of at most five integer arguments that keeps the module's
    /// third invariant; the caller keeps its contract for the arguments.
    pub(crate) unsafe fn call(&self, code: usize, arguments: [usize; 5]) -> Result<(), Fault> {
        // SAFETY: the record is this thread's; the rest is the caller's promise.
        unsafe { call(self.record, code, arguments) }
    }

    /// As [`Self::call`], with the guard that this thread has. `false` after a fault, and without a guard: then nothing is
    /// tried.
    ///
    /// # Safety
    /// As [`Self::call`].
    pub(crate) unsafe fn call_here(code: usize, arguments: [usize; 5]) -> bool {
        let record = OWN.get();
        // SAFETY: the record is this thread's; the rest is the caller's promise.
        !record.is_null() && unsafe { call(record, code, arguments) }.is_ok()
    }

    /// Moves `len` bytes; the ranges may overlap, and need not be there.
    pub(crate) fn move_bytes(&self, dst: *mut u8, src: *const u8, len: usize) -> Result<(), Fault> {
        let arguments = [dst as usize, src as usize, len, 0, 0];
        // SAFETY: `move_bytes` drops nothing; the guard meets bad pointers.
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
        let Stack::Signal(stack) = &self.stack else {
            return;
        };
        OWN.set(std::ptr::null_mut());
        stack.leave();
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
            signal: NO_FUNCTION,
            address: record.pointer,
            instruction: record.instruction,
            known: Known::Nothing,
        });
    }
    // Also if another fault came first, such as the time limit: the trap must not be attributed to the next one.
    let trapped = trap::take();
    let known = match signal {
        libc::SIGILL => trapped.map_or(Known::Nothing, Known::Trapped),
        libc::SIGSEGV if depth::is_below_stack(record.address) => Known::StackEnd,
        _ => Known::Nothing,
    };
    Err(Fault {
        signal,
        address: record.address,
        instruction: record.instruction,
        known,
    })
}

/// Generated code calls this before it calls through a pointer: see [`kernel_ir::abi::CALLEE_SYMBOL`]. A pointer that
/// is not a function ends the guarded call, as any other fault does.
pub(crate) unsafe extern "C" fn solum_callee(
    pointer: *const u64,
    signature: u64,
    program: u64,
) -> *const u8 {
    use kernel_ir::abi::callable::{CODE, MAGIC, PROGRAM, SIGNATURE};
    let record = OWN.get();
    if !record.is_null() {
        // SAFETY: the record is this thread's.
        unsafe {
            (*record).pointer = pointer as usize;
            (*record).calling = true;
        }
    }
    // SAFETY: the guard meets bad pointers; a good one points to four words.
    let word = |i: usize| unsafe { pointer.wrapping_add(i).read_unaligned() };
    let aligned = !pointer.is_null() && (pointer as usize).is_multiple_of(16);
    let known = aligned && word(0) == MAGIC;
    let code = if known && word(SIGNATURE) == signature && [0, program].contains(&word(PROGRAM)) {
        word(CODE)
    } else {
        0
    };
    if code == 0 {
        // SAFETY: nothing is mapped at address 0, and the guard turns the access into a fault.
        unsafe { std::ptr::null::<u64>().wrapping_byte_add(8).read_volatile() };
    }
    if !record.is_null() {
        // SAFETY: as above.
        unsafe { (*record).calling = false };
    }
    code as *const u8
}
