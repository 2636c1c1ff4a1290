//! The way into guarded code and the way back from a fault.

use super::slot::Record;

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

unsafe extern "C" {
    /// Calls `code(a, b, c, d, e)`; gives 0, or the signal that stopped it.
    ///
    /// # Safety
    /// `record` is the calling thread's; `code` is a C function of these arguments.
    pub(super) fn solum_guard_call(
        record: *mut Record,
        code: usize,
        a: usize,
        b: usize,
        c: usize,
        d: usize,
        e: usize,
    ) -> i32;
    pub(super) fn solum_guard_recover();
}
