//! The guard's code for each processor: the trampoline into guarded code and back from a fault, the registers of a thread that
//! a signal interrupted, the modes of floating point.
//!
//! Invariants
//! - Each processor has a file with the same items; no other code of the driver names registers or has assembly, except
//!   the symbols that debuggers read.

use super::record::Record;
use std::ffi::c_void;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as this;
#[cfg(target_arch = "x86_64")]
use x86_64 as this;

pub(crate) use this::{MODES, MODES_FLUSH, stop};
pub(super) use this::{Registers, learn, modes, set_modes, touch_below};

unsafe extern "C" {
    /// Calls `code(a, b, c, d, e)`; returns 0, or the signal that stopped it.
    ///
    /// # Safety
    /// `record` is the calling thread's; `code` is a C function of these arguments.
    pub(crate) fn solum_guard_call(
        record: *mut Record,
        code: usize,
        a: usize,
        b: usize,
        c: usize,
        d: usize,
        e: usize,
    ) -> i32;
    /// Calls `function(argument)` on another stack.
    ///
    /// # Safety
    /// `top` is 16-byte aligned, the end of an unused stack; `function` does not unwind.
    pub(crate) fn solum_on_stack(
        top: usize,
        function: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
}
