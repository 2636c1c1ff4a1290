//! `arc4random` for LLVM, which names temporary files with it. The C library has this function from version 2.36 on; with
//! ours, the code generator runs from version 2.34 on.

use std::arch::global_asm;

// Rust exports a function that has a C name; in assembly the name can be hidden.
global_asm!(
    ".globl arc4random",
    ".hidden arc4random",
    ".type arc4random, @function",
    "arc4random: jmp {random}",
    random = sym random,
);

/// A random number from the system, or 0 if it has none.
extern "C" fn random() -> u32 {
    let mut bytes = [0; 4];
    // SAFETY: the buffer has as many bytes as the call may write.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u32::from_ne_bytes(bytes)
}
