//! How this thread rounds, for code that is not entered through the trampoline.

use super::MXCSR;

/// Where the instruction reads it from.
static DEFAULT: u32 = MXCSR;

/// The thread's own modes, put back when this is dropped.
struct Own(u32);

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: the word that the thread had.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.0, options(nostack)) };
    }
}

/// Runs `body`, which computes as Rust does: rounding to nearest, with denormals, whatever the program has chosen for
/// the thread.
pub(crate) fn with_default_modes<R>(body: impl FnOnce() -> R) -> R {
    let mut own = 0u32;
    // SAFETY: stores a word to a live place, and loads a valid one: all exceptions stay masked.
    let _own = unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut own, options(nostack));
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const DEFAULT, options(nostack));
        Own(own)
    };
    body()
}
