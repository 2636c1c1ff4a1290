//! The count of things that held-back work waits for.

use crate::atomic::{AtomicUsize, Ordering};

/// The reasons for which work is held back, counted. It begins with one, for whoever collects the others.
#[derive(Debug)]
pub struct Countdown(AtomicUsize);

impl Default for Countdown {
    fn default() -> Self {
        Self::new()
    }
}

impl Countdown {
    /// Held back by its maker alone.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    /// One more reason. The caller keeps another one meanwhile.
    pub fn hold(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One reason less; whether it was the last, which is so for one caller only.
    #[must_use]
    pub fn let_go(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
