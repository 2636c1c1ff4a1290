//! The phase of the loader: before init, ready, torn down; and whether driver libraries are open.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// No init function has succeeded yet.
const IDLE: u8 = 0;
/// At least one driver is initialised.
const READY: u8 = 1;
/// The loader was torn down; every call returns UNINITIALIZED.
const TORN_DOWN: u8 = 2;

static PHASE: AtomicU8 = AtomicU8::new(IDLE);

/// Whether driver libraries are open.
static DISCOVERED: AtomicBool = AtomicBool::new(false);

/// Whether calls may be dispatched.
#[inline(always)]
#[must_use]
pub(crate) fn is_ready() -> bool {
    PHASE.load(Ordering::Relaxed) == READY
}

/// As [`is_ready`]; drivers that were wrapped before are visible afterwards (Acquire).
#[must_use]
pub(crate) fn is_ready_in_order() -> bool {
    PHASE.load(Ordering::Acquire) == READY
}

/// Whether teardown has begun.
#[must_use]
pub(crate) fn is_torn_down() -> bool {
    PHASE.load(Ordering::Acquire) == TORN_DOWN
}

/// As [`is_torn_down`], in a total order with [`tear_down`] and updates of the dispatch table (SeqCst).
pub(crate) fn is_torn_down_in_order() -> bool {
    PHASE.load(Ordering::SeqCst) == TORN_DOWN
}

/// Enters the ready phase, unless the loader is being torn down.
pub(crate) fn make_ready() {
    // A failed exchange means that the loader is ready already, or torn down; both stay.
    let _ = PHASE.compare_exchange(IDLE, READY, Ordering::Release, Ordering::Relaxed);
}

/// Enters the last phase. Returns false if the loader was in it already.
pub(crate) fn tear_down() -> bool {
    PHASE.swap(TORN_DOWN, Ordering::SeqCst) != TORN_DOWN
}

/// Records whether a driver library is open.
pub(crate) fn set_discovered(discovered: bool) {
    DISCOVERED.store(discovered, Ordering::Release);
}

/// Whether at least one driver library is open and teardown has not begun.
pub(crate) fn is_discovered() -> bool {
    DISCOVERED.load(Ordering::Acquire) && !is_torn_down()
}
