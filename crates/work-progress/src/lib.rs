//! How far submitted work has come: the numbers of a lane that runs in order ([`Progress`]), which of its events may be
//! used again ([`Ring`]), and what held-back work still waits for ([`Countdown`]).
//!
//! Invariants:
//! - A number that is done stays done; all before it are done too.
//! - A slot is given out again only when its work and the next one's have ended, nobody has it pinned, and its owner says
//!   that nothing waits for it. Pins of other slots, but for its neighbours', do not keep it, nor does what waits for them.
//! - Held-back work runs once, by whoever lets the last of its reasons go, and sees what all of them did before.
//!
//! Not here: Level Zero, locks, threads. The ring's owner keeps it behind a lock; the others
//! need none.

mod countdown;
mod progress;
mod ring;

pub use countdown::Countdown;
pub use progress::Progress;
pub use ring::Ring;

/// Atomics, loom's under its model checker.
mod atomic {
    #[cfg(loom)]
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    #[cfg(not(loom))]
    pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}
