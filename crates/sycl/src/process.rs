//! The process: whether it is a fork of the one that loaded the drivers, and how long its exit may be delayed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest delay of the process's exit.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest pause between two checks.
const PAUSE: Duration = Duration::from_millis(2);

/// The process that loaded the drivers. A fork lacks the threads that do its work.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Records that this process loads the drivers.
pub(crate) fn own() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
}

/// Whether this process is a fork of the one that loaded the drivers.
pub(crate) fn is_fork() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != 0 && owner != std::process::id()
}

/// Waits until `is_so` holds, or the exit has been delayed for too long; all waits share one time limit.
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    static END: OnceLock<Instant> = OnceLock::new();
    let end = *END.get_or_init(|| Instant::now() + PATIENCE);
    let mut pause = Duration::from_micros(20);
    while !is_so() && Instant::now() < end {
        std::thread::sleep(pause);
        pause = PAUSE.min(2 * pause);
    }
}
