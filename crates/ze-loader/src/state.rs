//! The one word that every call reads first.

use std::sync::atomic::{AtomicU8, Ordering};

/// No init function has succeeded yet.
const IDLE: u8 = 0;
/// At least one driver is initialised.
const READY: u8 = 1;
/// The loader is going away; every call answers UNINITIALIZED.
const TORN_DOWN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// True when calls may be dispatched.
#[inline(always)]
#[must_use]
pub fn is_ready() -> bool {
    // Relaxed is enough: a handle reaches the caller by a happens-before edge of its own.
    STATE.load(Ordering::Relaxed) == READY
}

/// True once teardown has begun.
#[must_use]
pub fn is_torn_down() -> bool {
    STATE.load(Ordering::Acquire) == TORN_DOWN
}

/// Marks the loader as usable, unless it is being torn down.
pub(crate) fn mark_ready() {
    // A failed exchange means: ready already, or torn down, and both stay.
    let _ = STATE.compare_exchange(IDLE, READY, Ordering::Release, Ordering::Relaxed);
}

/// Marks the loader as torn down; returns false when it was already.
pub(crate) fn mark_torn_down() -> bool {
    STATE.swap(TORN_DOWN, Ordering::AcqRel) != TORN_DOWN
}
