//! What threads sleep for.

use crate::atomic::{AtomicU64, Ordering, fence};

/// How far work has come, and the least number that a thread sleeps for: reaching an earlier one wakes nobody.
///
/// A thread sleeps on a word of its owner's, futex fashion: it reads the word, says what it [wants](Self::want), looks
/// once more, and sleeps only if the word is still the same. Who is told by [`Self::reach`] to wake changes the word and then wakes all. A wanted number
/// is forgotten before the word changes: a thread that did not write its own down, because another's was lower, has
/// either read the old word and does not sleep, or sleeps by now and is woken.
#[derive(Debug)]
pub struct Milestone {
    reached: AtomicU64,
    wanted: AtomicU64,
}

impl Default for Milestone {
    fn default() -> Self {
        Self::new()
    }
}

impl Milestone {
    /// Nothing is reached but 0, and nobody waits.
    #[must_use]
    pub fn new() -> Self {
        Self {
            reached: AtomicU64::new(0),
            wanted: AtomicU64::new(u64::MAX),
        }
    }

    /// The last number reached: what was done up to there is visible.
    #[inline]
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }

    /// A thread is about to sleep for `number`; it looks once more, at whatever it waits for, before it does.
    #[inline]
    pub fn want(&self, number: u64) {
        if self.wanted.load(Ordering::Relaxed) > number {
            self.wanted.fetch_min(number, Ordering::Relaxed);
        }
        // Against the one of `reach`: either this thread sees what was reached, or that one what is wanted.
        fence(Ordering::SeqCst);
    }

    /// All up to `number` is done; the calls come one after another, with rising numbers. Whether a thread may sleep for
    /// it: then the caller changes the word and wakes.
    #[inline]
    #[must_use]
    pub fn reach(&self, number: u64) -> bool {
        self.reached.store(number, Ordering::Release);
        fence(Ordering::SeqCst);
        let wakes = self.wanted.load(Ordering::Relaxed) <= number;
        if wakes {
            self.wanted.store(u64::MAX, Ordering::Relaxed);
        }
        wakes
    }
}
