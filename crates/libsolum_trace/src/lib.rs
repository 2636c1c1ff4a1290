//! `libsolum_trace.so.1`: an XPTI subscriber and a tracer of Level Zero in one library.
//!
//! XPTI loads it because `XPTI_SUBSCRIBERS` names it, our loader because `SOLUM_TRACE` is set; `solum trace` sets both.
//!
//! Invariants: exports only, all of the work is `trace-recorder`'s; the library is never unloaded; no panic leaves it.

use std::ffi::c_char;

use trace_recorder::subscriber::RECORDER;

cancellation::hold_off_cancellation!();
library_mark::mark!();

xpti::export_subscriber!(RECORDER);

/// Called by the initialised loader: traces the calls that go through it from now on. `path` is the loader's file.
/// Returns 0, also if `SOLUM_TRACE` is not set; 1 if the loader's tracing layer cannot be used.
///
/// # Safety
/// `path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_trace_attach(path: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { trace_recorder::level_zero::attach(path) }
}
