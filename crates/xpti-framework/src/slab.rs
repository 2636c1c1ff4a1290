//! Objects by number, in chunks that double and never move: any address can be checked before it is read.

use core::sync::atomic::{AtomicPtr, Ordering};

use crate::arena;

const FIRST_LOG: u32 = 8;
const CHUNKS: usize = 23;

/// Objects by number, from 1; all bytes 0 is a value of `T`.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    chunks: [AtomicPtr<T>; CHUNKS],
}

#[inline]
const fn capacity(chunk: usize) -> usize {
    1 << (FIRST_LOG as usize + chunk)
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS],
        }
    }

    /// The object of an assigned number; null for 0 and others.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> *mut T {
        let shifted = u64::from(number) - u64::from(number != 0) + (1 << FIRST_LOG);
        let log = 63 - shifted.leading_zeros();
        let chunk = self.chunks.get((log - FIRST_LOG) as usize);
        let first = chunk.map_or(core::ptr::null_mut(), |chunk| chunk.load(Ordering::Acquire));
        if first.is_null() || number == 0 {
            return core::ptr::null_mut();
        }
        // SAFETY: the chunk has that many places.
        unsafe { first.add((shifted - (1 << log)) as usize) }
    }

    /// The number of the object that begins at this address, if there is one.
    #[inline]
    pub(crate) fn number(&self, address: usize) -> Option<u32> {
        for (at, chunk) in self.chunks.iter().enumerate() {
            let first = chunk.load(Ordering::Acquire);
            if first.is_null() {
                return None;
            }
            let offset = address.wrapping_sub(first.addr());
            if offset < capacity(at) * size_of::<T>() {
                let place = offset / size_of::<T>();
                let before = capacity(at) - capacity(0);
                return (place * size_of::<T>() == offset).then_some((before + place + 1) as u32);
            }
        }
        None
    }

    /// Memory for the object of this number, the next in order; initially zero. `None` if memory is short. One caller
    /// at a time.
    pub(crate) fn extend(&self, number: u32) -> Option<*mut T> {
        let known = self.get(number);
        if !known.is_null() {
            // Chunks begin after a multiple of the first one's slots; later ones are whole steps.
            if (number - 1 + capacity(0) as u32).is_multiple_of(STEP) {
                populate(known, STEP as usize);
            }
            return Some(known);
        }
        let at = self
            .chunks
            .iter()
            .position(|chunk| chunk.load(Ordering::Relaxed).is_null())?;
        let layout = std::alloc::Layout::array::<T>(capacity(at)).ok()?;
        // SAFETY: a size that is not 0. Large chunks are fresh pages, touched as objects are made.
        let memory = unsafe { std::alloc::alloc_zeroed(layout) };
        if memory.is_null() {
            return None;
        }
        self.chunks[at].store(memory.cast(), Ordering::Release);
        let new = self.get(number);
        populate(new, capacity(at).min(STEP as usize));
        Some(new)
    }
}

/// Objects whose pages are populated together.
const STEP: u32 = 2048;

fn populate<T>(first: *mut T, count: usize) {
    // SAFETY: slots of one chunk.
    unsafe { arena::populate(first.cast(), count * size_of::<T>()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_addresses_are_inverse() {
        let slab = Slab::<[u64; 26]>::new();
        assert!(slab.get(1).is_null());
        for number in 1..=3000 {
            let Some(object) = slab.extend(number) else {
                panic!("memory is short");
            };
            assert_eq!(slab.get(number), object);
            assert_eq!(slab.number(object.addr()), Some(number));
            assert_eq!(slab.number(object.addr() + 8), None);
        }
        assert!(slab.get(0).is_null());
        assert_eq!(slab.number(0), None);
        assert_eq!(slab.number(usize::MAX), None);
    }
}
