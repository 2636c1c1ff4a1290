//! Numbers that threads take and return: the lowest free one is taken, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers below `64 * WORDS`.
#[derive(Debug)]
pub(crate) struct Numbers<const WORDS: usize> {
    /// A bit for each number in use.
    taken: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Numbers<WORDS> {
    /// All are free.
    pub(crate) const fn new() -> Self {
        Self {
            taken: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    /// Takes a free number; the caller returns it later.
    pub(crate) fn take(&self) -> Option<usize> {
        self.taken.iter().enumerate().find_map(|(at, word)| {
            let mut now = word.load(Ordering::Relaxed);
            while now != u64::MAX {
                let bit = now.trailing_ones();
                // Acquire: sees the last owner's writes.
                match word.compare_exchange_weak(
                    now,
                    now | 1 << bit,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return Some(at * 64 + bit as usize),
                    Err(other) => now = other,
                }
            }
            None
        })
    }

    /// Returns a number of [`Self::take`].
    pub(crate) fn give_back(&self, number: usize) {
        // Release: the next owner sees this one's writes.
        self.taken[number / 64].fetch_and(!(1 << (number % 64)), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken_and_all_are_usable() {
        let numbers = Numbers::<2>::new();
        let all: Vec<_> = std::iter::from_fn(|| numbers.take()).collect();
        assert_eq!(all, (0..128).collect::<Vec<_>>());
        for number in [100, 3, 64] {
            numbers.give_back(number);
        }
        let again: Vec<_> = std::iter::from_fn(|| numbers.take()).collect();
        assert_eq!(again, [3, 64, 100]);
    }

    #[test]
    fn threads_never_have_the_same_number() {
        let numbers = Numbers::<1>::new();
        let owners: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let number = numbers.take().unwrap();
                        assert_eq!(owners[number].swap(1, Ordering::Relaxed), 0);
                        owners[number].store(0, Ordering::Relaxed);
                        numbers.give_back(number);
                    }
                });
            }
        });
    }
}
