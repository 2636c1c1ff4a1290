//! The end of the process: submitted work that was never waited for gets two seconds to end.
//!
//! Invariants: no command pays for this. It waits for no lock, because the exiting thread itself may hold it. Drivers
//! still respond, because their exit functions run later. Nothing is unloaded, and an immediate end of the process
//! (`abort`, `_exit`, a signal) is not delayed.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::command_lane::try_all;
use super::pending::{self, is_in_a_host_task};
use crate::process;

/// Called when drivers are loaded: functions registered later run earlier at exit, so drivers still respond then.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        process::own();
        register();
    });
}

/// Called after a compilation. The compiler may have been loaded only now; its exit functions would then run before
/// ours, while host tasks may still need it.
pub(crate) fn compiler_is_loaded() {
    /// The number of loaded libraries at the last registration.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let loaded = libraries_loaded();
    if KNOWN.swap(loaded, Ordering::Relaxed) != loaded {
        register();
    }
}

fn libraries_loaded() -> u64 {
    unsafe extern "C" fn first(
        library: *mut libc::dl_phdr_info,
        _: libc::size_t,
        count: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader's description of a library, and the word below.
        unsafe { *count.cast::<u64>() = (*library).dlpi_adds };
        1
    }
    let mut count = 0u64;
    // SAFETY: a callback of that signature, which does not unwind, and the word it writes to.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut count).cast()) };
    count
}

fn register() {
    // SAFETY: a function without arguments that does not unwind.
    let _ = unsafe { libc::atexit(finish) };
}

extern "C" fn finish() {
    // A host task that exits would wait for itself.
    if process::is_fork() || is_in_a_host_task() {
        return;
    }
    // Nothing can catch a panic at the end of the process.
    let _ = std::panic::catch_unwind(|| process::wait_until(nothing_runs));
}

/// Whether no work is on a device or about to be, and no host task runs.
fn nothing_runs() -> bool {
    let before = pending::end();
    // In this order: a pending command that ends has put its work on a lane, or has submitted all its work.
    !pending::may_work() && try_all() && pending::end() == before
}
