//! The time limit of kernels, off by default: a thread that looks whether a guarded call is late, and sends it a
//! signal, which the handler treats like a fault.
//!
//! A deadline is 0 outside of calls, a time inside, and [`SENT`] while a signal is under way. Who leaves a call
//! waits for a signal that was sent: none may arrive where it would mean something else.

use super::slot::deadlines;
use crate::engine::now_ns;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A signal is under way to the thread.
const SENT: u64 = u64::MAX;
/// A time that has passed: the signal came while the call could not be left, and is to be sent again.
const AGAIN: u64 = 1;
/// What a fault carries instead of a signal's number.
pub(super) const LATE: i32 = -1;

/// Nanoseconds; 0: no limit.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Limits kernels that start from now on.
pub(crate) fn limit(milliseconds: u64) {
    static ONCE: Once = Once::new();
    LIMIT.store(milliseconds.saturating_mul(1_000_000), Ordering::Relaxed);
    ONCE.call_once(|| {
        // A system without another thread has no limit; the kernels run all the same.
        let _ = std::thread::Builder::new()
            .name("solum-watchdog".to_owned())
            .spawn(watch);
    });
}

/// The deadline of a kernel that starts now; 0: none.
pub(crate) fn deadline() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => 0,
        limit => now_ns().saturating_add(limit),
    }
}

/// What the program is told.
pub(crate) fn text() -> String {
    let limit = LIMIT.load(Ordering::Relaxed) / 1_000_000;
    format!("it did not end within {limit} ms, the limit that SOLUM_KERNEL_TIMEOUT_MS sets")
}

fn watch() {
    loop {
        let limit = LIMIT.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_nanos(
            (limit / 8).clamp(1_000_000, 50_000_000),
        ));
        let now = now_ns();
        for (deadline, thread) in deadlines() {
            let due = deadline.load(Ordering::Acquire);
            if due == 0 || due > now {
                continue;
            }
            // A thread that has left its call meanwhile has changed the word.
            let claimed = deadline.compare_exchange(due, SENT, Ordering::AcqRel, Ordering::Relaxed);
            if claimed.is_ok() {
                // SAFETY: a system call without memory; the thread waits for the signal before it leaves.
                let sent = unsafe {
                    libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGSEGV)
                };
                if sent != 0 {
                    deadline.store(0, Ordering::Release);
                }
            }
        }
    }
}

/// Whether a signal that nobody's code raised is the watchdog's. Safe in signal handlers.
pub(super) fn is_meant(deadline: &AtomicU64) -> bool {
    deadline.load(Ordering::Acquire) == SENT
}

/// Takes the watchdog's signal; whether the call is to be left now. Safe in signal handlers.
pub(super) fn take(deadline: &AtomicU64, in_call: bool) -> bool {
    deadline.store(if in_call { 0 } else { AGAIN }, Ordering::Release);
    in_call
}

/// Ends the time of a call.
pub(super) fn leave(deadline: &AtomicU64) {
    loop {
        let now = deadline.load(Ordering::Acquire);
        if now != SENT
            && deadline
                .compare_exchange(now, 0, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        {
            return;
        }
        std::hint::spin_loop();
    }
}
