//! The rounding modes of a thread, for code that is not entered through the trampoline.

use super::processor::{MODES, modes, set_modes};

/// The thread's own modes, put back when this is dropped.
struct Own(u32);

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: the thread's own word.
        unsafe { set_modes(self.0) };
    }
}

/// Runs `body` with Rust's modes (rounding to nearest, denormals enabled), whatever modes the program has set for the
/// thread.
pub(crate) fn with_default_modes<R>(body: impl FnOnce() -> R) -> R {
    let _own = Own(modes());
    // SAFETY: the default word.
    unsafe { set_modes(MODES) };
    body()
}
