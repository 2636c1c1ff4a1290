//! A map from dense numbers to entries, read without locks: chunks that double and never move.

use core::sync::atomic::{AtomicPtr, Ordering};

const FIRST_LOG: u32 = 6;
const CHUNKS: usize = 27;

/// Numbers 0 to 2³² − 1; one thread at a time may call `set`.
#[derive(Debug)]
pub(crate) struct Directory<T: 'static> {
    chunks: [AtomicPtr<AtomicPtr<T>>; CHUNKS],
}

/// The chunk and the index in it.
#[inline]
const fn place(number: u32) -> (usize, usize) {
    let shifted = number as u64 + (1 << FIRST_LOG);
    let log = 63 - shifted.leading_zeros();
    ((log - FIRST_LOG) as usize, (shifted - (1 << log)) as usize)
}

impl<T: Sync + 'static> Directory<T> {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS],
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&'static T> {
        let (chunk, at) = place(number);
        let first = self.chunks.get(chunk)?.load(Ordering::Acquire);
        if first.is_null() {
            return None;
        }
        // SAFETY: chunk `n` has `1 << (6 + n)` places, is never freed; entries live forever.
        unsafe { (*first.add(at)).load(Ordering::Acquire).as_ref() }
    }

    pub(crate) fn set(&self, number: u32, entry: &'static T) {
        let (chunk, at) = place(number);
        let mut first = self.chunks[chunk].load(Ordering::Relaxed);
        if first.is_null() {
            let places: Box<[AtomicPtr<T>]> = (0..1_usize << (FIRST_LOG as usize + chunk))
                .map(|_| AtomicPtr::new(core::ptr::null_mut()))
                .collect();
            first = Box::into_raw(places).cast();
            self.chunks[chunk].store(first, Ordering::Release);
        }
        // SAFETY: as in `get`.
        unsafe { (*first.add(at)).store(core::ptr::from_ref(entry).cast_mut(), Ordering::Release) };
    }

    /// Removes all entries; the chunks stay for their readers.
    pub(crate) fn clear(&self) {
        for chunk in &self.chunks {
            chunk.store(core::ptr::null_mut(), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_dense() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(63), (0, 63));
        assert_eq!(place(64), (1, 0));
        assert_eq!(place(191), (1, 127));
        assert_eq!(place(192), (2, 0));
        assert_eq!(place(u32::MAX), (26, 63));
    }
}
