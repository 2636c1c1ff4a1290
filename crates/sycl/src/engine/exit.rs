//! The end of the process: what was submitted and never waited for has its time to end, two seconds at most.
//!
//! Invariants: nothing of this is on the way of a command; no lock is waited for, whoever has it may be the very thread that
//! leaves; drivers still answer, since what they do at the end happens later. Not here: nothing is unloaded, and what ends
//! the process at once (`abort`, `_exit`, a signal) is not held up.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::command_lane::try_all;
use super::pending::{self, is_in_a_host_task};
use crate::process;

/// To be called when drivers are loaded: what is registered later happens earlier, so that they still answer then.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        process::own();
        register();
    });
}

/// To be called when something was compiled: the compiler may have been loaded only now, and would end before what was
/// registered earlier, while host tasks may still need it.
pub(crate) fn compiler_is_loaded() {
    /// Libraries loaded in the process's life, when it was registered last.
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
    // SAFETY: a callback of that form, which does not unwind, and what it writes to.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut count).cast()) };
    count
}

fn register() {
    // SAFETY: a function without arguments that does not unwind.
    let _ = unsafe { libc::atexit(finish) };
}

extern "C" fn finish() {
    // What this thread runs would be waited for by itself.
    if process::is_fork() || is_in_a_host_task() {
        return;
    }
    // A panic has nowhere to go at the end of the process.
    let _ = std::panic::catch_unwind(|| process::wait_until(nothing_runs));
}

/// Whether nothing is on a device or about to come there, and no host task runs.
fn nothing_runs() -> bool {
    let before = pending::end();
    // In this order: what ends as a pending command is on a lane by then, or has submitted what it wanted to.
    !pending::may_work() && try_all() && pending::end() == before
}
