//! AArch64: FPCR is the word of modes.

use std::ffi::c_void;

/// FPCR with all exceptions untrapped, rounding to nearest, denormals kept.
pub(crate) const MODES: u32 = 0;
/// [`MODES`] with denormals flushed to and read as zero.
pub(crate) const MODES_FLUSH: u32 = 1 << 24;

unsafe extern "C" {
    /// The trampoline's way back from a fault; only its address is used.
    fn solum_guard_recover();
}

std::arch::global_asm!(
    // x0 = record, x1 = code, x2 to x6 = the code's five arguments.
    ".p2align 4",
    ".hidden solum_guard_call",
    ".globl solum_guard_call",
    ".type solum_guard_call,@function",
    "solum_guard_call:",
    "stp x29, x30, [sp, #-192]!",
    "mov x29, sp",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "stp x23, x24, [sp, #48]",
    "stp x25, x26, [sp, #64]",
    "stp x27, x28, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "mrs x9, fpcr",
    // Calls may nest: the outer call's stack pointer is kept here and put back.
    "ldr x10, [x0]",
    "stp x9, x0, [sp, #160]",
    "str x10, [sp, #176]",
    "str x29, [x0]",
    "ldr w9, [x0, #12]",
    "msr fpcr, x9",
    "mov x9, x1",
    "mov x0, x2",
    "mov x1, x3",
    "mov x2, x4",
    "mov x3, x5",
    "mov x4, x6",
    "blr x9",
    "mov w0, #0",
    "2:",
    "ldp x9, x10, [sp, #160]",
    "ldr x11, [sp, #176]",
    "str x11, [x10]",
    "msr fpcr, x9",
    "ldp d14, d15, [sp, #144]",
    "ldp d12, d13, [sp, #128]",
    "ldp d10, d11, [sp, #112]",
    "ldp d8, d9, [sp, #96]",
    "ldp x27, x28, [sp, #80]",
    "ldp x25, x26, [sp, #64]",
    "ldp x23, x24, [sp, #48]",
    "ldp x21, x22, [sp, #32]",
    "ldp x19, x20, [sp, #16]",
    "ldp x29, x30, [sp], #192",
    "ret",
    // Entered from the handler with sp as it was after the stores above.
    ".p2align 4",
    ".hidden solum_guard_recover",
    ".globl solum_guard_recover",
    ".type solum_guard_recover,@function",
    "solum_guard_recover:",
    "ldr x10, [sp, #168]",
    "ldr w0, [x10, #8]",
    "b 2b",
);

std::arch::global_asm!(
    // solum_on_stack: x0 = top of the stack, x1 = function, x2 = its argument.
    ".p2align 4",
    ".hidden solum_on_stack",
    ".globl solum_on_stack",
    ".type solum_on_stack,@function",
    "solum_on_stack:",
    "stp x29, x30, [sp, #-16]!",
    "mov x29, sp",
    "mov sp, x0",
    "mov x0, x2",
    "blr x1",
    "mov sp, x29",
    "ldp x29, x30, [sp], #16",
    "ret",
);

/// Prepares facts that handlers cannot query: none here.
pub(crate) fn learn() {}

/// The registers of the thread that a signal interrupted.
pub(crate) struct Registers<'a>(&'a mut libc::mcontext_t);

impl Registers<'_> {
    /// # Safety
    /// `context` is a signal handler's, and outlives the result.
    pub(crate) unsafe fn of(context: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext })
    }

    pub(crate) fn stack(&self) -> usize {
        self.0.sp as usize
    }

    /// Whether the access that raised SIGSEGV was a write; `None` where the system does not tell.
    pub(crate) fn writes(&self) -> Option<bool> {
        None
    }

    pub(crate) fn instruction(&self) -> usize {
        self.0.pc as usize
    }

    /// Lets the thread continue in the trampoline, whose stack pointer that is.
    pub(crate) fn recover(&mut self, stack: usize) {
        self.0.pc = solum_guard_recover as *const () as u64;
        self.0.sp = stack as u64;
    }
}

/// The calling thread's modes.
pub(crate) fn modes() -> u32 {
    let own: u64;
    // SAFETY: only reads the register.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) own, options(nomem, nostack)) };
    own as u32
}

/// # Safety
/// `modes` came from [`modes`], or is [`MODES`].
pub(crate) unsafe fn set_modes(modes: u32) {
    // SAFETY: a valid word: exceptions are trapped as they were or not at all.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) u64::from(modes), options(nostack)) };
}

/// Reads a byte this far below the stack pointer.
///
/// # Safety
/// A fault is the guard's, with no destructor on the way.
#[inline(always)]
pub(crate) unsafe fn touch_below(bytes: usize) {
    // SAFETY: only reads; the caller's promise.
    unsafe {
        std::arch::asm!(
            "sub {at}, sp, {below}",
            "ldrb {at:w}, [{at}]",
            at = out(reg) _,
            below = in(reg) bytes,
            options(nostack, readonly, preserves_flags),
        );
    }
}

/// Stops with SIGILL.
///
/// # Safety
/// As [`touch_below`].
pub(crate) unsafe fn stop() -> ! {
    // SAFETY: the caller's promise.
    unsafe { std::arch::asm!("udf #0", options(noreturn)) }
}
