//! Whether the process has forked: a child has no workers, and may share memory with its parent.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set in a forked child.
static IN_CHILD: AtomicBool = AtomicBool::new(false);
/// Set in a parent, before the child exists.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Notices forks from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers only store to atomics.
        unsafe {
            libc::pthread_atfork(Some(before_fork), None, Some(in_child));
        }
    });
}

/// Whether this process is a forked child of one that called [`watch`]: it has no workers.
pub(crate) fn is_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// Whether the process has forked since [`watch`], so that children may share its memory. A fork that fails counts as well.
pub(crate) fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}

extern "C" fn before_fork() {
    HAS_FORKED.store(true, Ordering::Relaxed);
}

extern "C" fn in_child() {
    IN_CHILD.store(true, Ordering::Relaxed);
}
