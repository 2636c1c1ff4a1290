//! x86-64: MXCSR is the word of modes.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

/// MXCSR with all exceptions masked, rounding to nearest, denormals kept.
pub(crate) const MODES: u32 = 0x1f80;
/// [`MODES`] with denormals flushed to and read as zero.
pub(crate) const MODES_FLUSH: u32 = 0x9fc0;

unsafe extern "C" {
    /// The trampoline's way back from a fault; only its address is used.
    fn solum_guard_recover();
}

std::arch::global_asm!(
    // rdi = record, rsi = code, rdx rcx r8 r9 [stack] = the code's five arguments.
    ".p2align 4",
    ".hidden solum_guard_call",
    ".globl solum_guard_call",
    "solum_guard_call:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 24",
    "stmxcsr [rsp]",
    "mov [rsp + 8], rdi",
    // Calls may nest: the outer call's stack pointer is kept here and put back.
    "mov rax, [rdi]",
    "mov [rsp + 16], rax",
    "mov [rdi], rsp",
    "ldmxcsr [rdi + 12]",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "mov rdx, r8",
    "mov rcx, r9",
    "mov r8, [rsp + 80]",
    "call rax",
    "xor eax, eax",
    "2:",
    "mov rdx, [rsp + 8]",
    "mov rcx, [rsp + 16]",
    "mov [rdx], rcx",
    "ldmxcsr [rsp]",
    "add rsp, 24",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    // Entered from the handler with rsp as it was after the pushes above; edi = 1 when the machine
    // has AVX, whose upper halves would slow SSE code down.
    ".p2align 4",
    ".hidden solum_guard_recover",
    ".globl solum_guard_recover",
    "solum_guard_recover:",
    "cld",
    "fninit",
    "test edi, edi",
    "jz 3f",
    "vzeroupper",
    "3:",
    "mov rdx, [rsp + 8]",
    "mov eax, [rdx + 8]",
    "jmp 2b",
);

std::arch::global_asm!(
    // solum_on_stack: rdi = top of the stack, rsi = function, rdx = its argument.
    ".p2align 4",
    ".hidden solum_on_stack",
    ".globl solum_on_stack",
    "solum_on_stack:",
    "push rbp",
    "mov rbp, rsp",
    "mov rsp, rdi",
    "mov rdi, rdx",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    "ret",
);

/// 1 if the machine has AVX. Set before the first handler is installed.
static AVX: AtomicI32 = AtomicI32::new(0);

/// Prepares facts that signal handlers cannot query.
pub(crate) fn learn() {
    let avx = std::arch::is_x86_feature_detected!("avx");
    AVX.store(i32::from(avx), Ordering::Relaxed);
}

/// The registers of the thread that a signal interrupted.
pub(crate) struct Registers<'a>(&'a mut [libc::greg_t; 23]);

impl Registers<'_> {
    /// # Safety
    /// `context` is a signal handler's, and outlives the result.
    pub(crate) unsafe fn of(context: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs })
    }

    pub(crate) fn stack(&self) -> usize {
        self.0[libc::REG_RSP as usize] as usize
    }

    /// Whether the access that raised SIGSEGV was a write; `None` where the system does not tell.
    pub(crate) fn writes(&self) -> Option<bool> {
        /// The bit of a page fault's error code that says so.
        const WRITE: libc::greg_t = 2;
        Some(self.0[libc::REG_ERR as usize] & WRITE != 0)
    }

    pub(crate) fn instruction(&self) -> usize {
        self.0[libc::REG_RIP as usize] as usize
    }

    /// Lets the thread continue in the trampoline with this stack pointer.
    pub(crate) fn recover(&mut self, stack: usize) {
        self.0[libc::REG_RIP as usize] = solum_guard_recover as *const () as i64;
        self.0[libc::REG_RSP as usize] = stack as i64;
        self.0[libc::REG_RDI as usize] = i64::from(AVX.load(Ordering::Relaxed));
    }
}

/// The calling thread's modes.
pub(crate) fn modes() -> u32 {
    let mut own = 0u32;
    // SAFETY: stores a word to a live variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut own, options(nostack)) };
    own
}

/// # Safety
/// `modes` came from [`modes`], or is [`MODES`].
pub(crate) unsafe fn set_modes(modes: u32) {
    // SAFETY: loads a valid word: all exceptions stay as they were or masked.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const modes, options(nostack)) };
}

/// Reads a byte `bytes` below the stack pointer.
///
/// # Safety
/// A fault is the guard's, with no destructor on the way.
#[inline(always)]
pub(crate) unsafe fn touch_below(bytes: usize) {
    // SAFETY: only reads; the caller's promise.
    unsafe {
        std::arch::asm!(
            "mov {there}, byte ptr [rsp + {at}]",
            there = out(reg_byte) _,
            at = in(reg) bytes.wrapping_neg(),
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
    unsafe { std::arch::asm!("ud2", options(noreturn)) }
}
