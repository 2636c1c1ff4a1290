//! How far a lane has come, and the number that threads sleep for.

use crate::atomic::{AtomicU64, Ordering, fence};

/// The last number reached, and the least number that a thread sleeps for: reaching an earlier one wakes no thread.
///
/// Threads sleep on a word of the owner, as on a futex. A thread reads the word, [wants](Self::want) its number, looks
/// once more, and sleeps only if the word is still the same. The thread that [`Self::reach`] tells to wake changes the
/// word, then wakes all.
///
/// A wanted number is forgotten before the word changes. So a thread whose number was not written down, because another
/// one was lower, has either read the old word and does not sleep, or sleeps by now and is woken.
#[derive(Debug)]
pub(crate) struct Milestone {
    reached: AtomicU64,
    wanted: AtomicU64,
}

impl Milestone {
    /// Only 0 is reached, and no thread waits.
    pub(crate) fn new() -> Self {
        Self {
            reached: AtomicU64::new(0),
            wanted: AtomicU64::new(u64::MAX),
        }
    }

    /// The last number reached; the work up to it is visible.
    #[inline]
    pub(crate) fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }

    /// Announces that this thread is about to sleep for `number`. It checks its condition once more before it sleeps.
    #[inline]
    pub(crate) fn want(&self, number: u64) {
        if self.wanted.load(Ordering::Relaxed) > number {
            self.wanted.fetch_min(number, Ordering::Relaxed);
        }
        // Pairs with the one in `reach`: either this thread sees the reached number, or that one sees the wanted number.
        fence(Ordering::SeqCst);
    }

    /// Everything up to `number` is done. Calls come one after another, with rising numbers. Returns whether a thread may
    /// sleep for it; then the caller changes the word and wakes.
    #[inline]
    #[must_use]
    pub(crate) fn reach(&self, number: u64) -> bool {
        self.reached.store(number, Ordering::Release);
        fence(Ordering::SeqCst);
        let wakes = self.wanted.load(Ordering::Relaxed) <= number;
        if wakes {
            self.wanted.store(u64::MAX, Ordering::Relaxed);
        }
        wakes
    }
}
