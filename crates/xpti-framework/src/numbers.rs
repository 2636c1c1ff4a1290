//! Objects that are numbers: the id contains the number, so that an emitter that counts adds 8 bytes a number instead of
//! an entry of the table.
//!
//! These are unsigned integers of 8 bytes, such as the instance of a node. Smaller numbers are entries of the table,
//! whose first id is 0 as in Intel's library; so are larger ones.

use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::alloc::Layout;

use xpti_sys::{metadata_type, object_data_t, object_id_t};

/// The numbers. An instance exceeds them after 268 million submissions from one line.
const NUMBERS: Range<u64> = 64..1 << 28;

/// The id of 0; the table's ids are smaller.
pub(crate) const FIRST_ID: u32 = 1 << 30;

const CHUNK: usize = 1 << 16;
const CHUNKS: usize = NUMBERS.end as usize / CHUNK;

/// Each registered number at the place that it counts, and 0 at other places. Chunks never move.
static CHUNK_OF: [AtomicPtr<AtomicU64>; CHUNKS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS];

/// Registers these bytes and returns their id; `None` if they are not such a number, or if memory is short.
#[inline]
pub(crate) fn intern(bytes: &[u8], kind: u8) -> Option<object_id_t> {
    let number = u64::from_ne_bytes(bytes.try_into().ok()?);
    if kind != metadata_type::UNSIGNED || !NUMBERS.contains(&number) {
        return None;
    }
    let at = number as usize;
    let slot = &CHUNK_OF[at / CHUNK];
    let mut first = slot.load(Ordering::Acquire);
    if first.is_null() {
        first = add_chunk(slot)?;
    }
    // SAFETY: a chunk has `CHUNK` places.
    let place = unsafe { &*first.add(at % CHUNK) };
    // Others may read it meanwhile: it is written once.
    if place.load(Ordering::Relaxed) != number {
        place.store(number, Ordering::Relaxed);
    }
    Some((FIRST_ID + number as u32).cast_signed())
}

/// The object of a registered number; `None` for ids of the table and for other numbers.
pub(crate) fn lookup(id: u32) -> Option<object_data_t> {
    let number = u64::from(id.checked_sub(FIRST_ID)?);
    let at = number as usize;
    let first = CHUNK_OF.get(at / CHUNK)?.load(Ordering::Acquire);
    if first.is_null() || !NUMBERS.contains(&number) {
        return None;
    }
    // SAFETY: a chunk has `CHUNK` places.
    let place = unsafe { &*first.add(at % CHUNK) };
    (place.load(Ordering::Relaxed) == number).then(|| object_data_t {
        size: size_of::<u64>(),
        data: core::ptr::from_ref(place).cast(),
        kind: metadata_type::UNSIGNED,
    })
}

/// Adds a chunk, unless another thread was faster.
#[cold]
fn add_chunk(slot: &AtomicPtr<AtomicU64>) -> Option<*mut AtomicU64> {
    let layout = Layout::array::<AtomicU64>(CHUNK).ok()?;
    // SAFETY: a size that is not 0; zeros are values.
    let new: *mut AtomicU64 = unsafe { std::alloc::alloc_zeroed(layout) }.cast();
    if new.is_null() {
        return None;
    }
    let null = core::ptr::null_mut();
    match slot.compare_exchange(null, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(new),
        Err(others) => {
            // SAFETY: allocated above with this layout, and not published.
            unsafe { std::alloc::dealloc(new.cast(), layout) };
            Some(others)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_numbers_are_their_own_objects() {
        let intern = |number: u64| super::intern(&number.to_ne_bytes(), metadata_type::UNSIGNED);
        for number in [64, 65, 65_535, 65_536, (1 << 28) - 1] {
            let id = FIRST_ID + number as u32;
            assert!(lookup(id).is_none(), "{number}");
            assert_eq!(intern(number), Some(id.cast_signed()));
            let Some(object) = lookup(id) else {
                panic!("{number} has no object");
            };
            assert_eq!((object.size, object.kind), (8, metadata_type::UNSIGNED));
            // SAFETY: a place of 8 bytes that lives forever.
            let value = unsafe { object.data.cast::<u64>().read_unaligned() };
            assert_eq!(value, number);
            assert_eq!(intern(number), Some(id.cast_signed()));
            assert_eq!(lookup(id).map(|again| again.data), Some(object.data));
        }
        for number in [0, 63, 1 << 28, u64::MAX] {
            assert_eq!(intern(number), None);
        }
        assert_eq!(
            super::intern(&100_u64.to_ne_bytes(), metadata_type::SIGNED),
            None
        );
        assert_eq!(
            super::intern(&100_u32.to_ne_bytes(), metadata_type::UNSIGNED),
            None
        );
        for id in [0, FIRST_ID, FIRST_ID + 63, FIRST_ID + (1 << 28), u32::MAX] {
            assert!(lookup(id).is_none());
        }
    }
}
