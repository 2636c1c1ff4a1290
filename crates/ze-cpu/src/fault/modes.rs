//! How this thread rounds, for code that is not entered through the trampoline.

use super::processor::{MODES, modes, set_modes};

/// The thread's own modes, put back when this is dropped.
struct Own(u32);

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: the word that the thread had.
        unsafe { set_modes(self.0) };
    }
}

/// Runs `body`, which computes as Rust does: rounding to nearest, with denormals, whatever the program has chosen for
/// the thread.
pub(crate) fn with_default_modes<R>(body: impl FnOnce() -> R) -> R {
    let _own = Own(modes());
    // SAFETY: the default word.
    unsafe { set_modes(MODES) };
    body()
}
