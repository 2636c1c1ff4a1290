//! Freed memory that is kept, so that a late access does not hit a new allocation.

use std::collections::{HashSet, VecDeque};

/// Bytes that are kept; ASan's default (`quarantine_size_mb`).
const MOST_BYTES: u64 = 256 << 20;
/// Allocations that are kept: the system limits mappings to 65,530 in a process.
const MOST_ALLOCATIONS: usize = 16_384;

#[derive(Default)]
pub(super) struct Quarantine {
    /// Oldest first.
    order: VecDeque<(usize, u64)>,
    bases: HashSet<usize>,
    bytes: u64,
}

impl Quarantine {
    pub(super) fn holds(&self, base: *mut u8) -> bool {
        self.bases.contains(&(base as usize))
    }

    /// Keeps an allocation; returns those that are kept no longer.
    pub(super) fn put(&mut self, base: *mut u8, size: u64) -> Vec<*mut u8> {
        self.order.push_back((base as usize, size));
        self.bases.insert(base as usize);
        self.bytes = self.bytes.saturating_add(size);
        let mut out = Vec::new();
        while self.bytes > MOST_BYTES || self.order.len() > MOST_ALLOCATIONS {
            let Some((base, size)) = self.order.pop_front() else {
                break;
            };
            self.bases.remove(&base);
            self.bytes -= size;
            out.push(base as *mut u8);
        }
        out
    }

    pub(super) fn take(&mut self) -> Vec<*mut u8> {
        self.bases.clear();
        self.bytes = 0;
        let all = std::mem::take(&mut self.order);
        all.into_iter().map(|(base, _)| base as *mut u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leave_first() {
        let mut quarantine = Quarantine::default();
        let at = |n: usize| (n * 4096) as *mut u8;
        assert!(quarantine.put(at(1), MOST_BYTES / 2).is_empty());
        assert!(quarantine.put(at(2), MOST_BYTES / 2).is_empty());
        assert!(quarantine.holds(at(1)));
        assert_eq!(quarantine.put(at(3), 1), [at(1)]);
        assert!(!quarantine.holds(at(1)));
        assert_eq!(quarantine.take(), [at(2), at(3)]);
        // Larger than all that may be kept.
        assert_eq!(quarantine.put(at(4), MOST_BYTES + 1), [at(4)]);
    }
}
