//! The items of a build, which threads share by runs.

use crate::split::Item;
use std::alloc::{Layout, alloc_zeroed};
use std::cell::UnsafeCell;
use std::ops::Range;

/// Items, of which each run is used by one thread at a time; the builder decides which.
#[derive(Default)]
pub(crate) struct Items(Box<[UnsafeCell<Item>]>);

// SAFETY: items are reached through `run` alone, whose callers share none of them.
unsafe impl Sync for Items {}

impl Items {
    /// `None` if memory for this many is short.
    pub(crate) fn new(count: usize) -> Option<Self> {
        if count == 0 {
            return Some(Self::default());
        }
        let layout = Layout::array::<UnsafeCell<Item>>(count).ok()?;
        // SAFETY: the layout has a size above 0.
        let first = unsafe { alloc_zeroed(layout) }.cast::<UnsafeCell<Item>>();
        if first.is_null() {
            return None;
        }
        let all = std::ptr::slice_from_raw_parts_mut(first, count);
        // SAFETY: allocated with the layout of the slice; an item is floats, for which zero bits are a number.
        Some(Self(unsafe { Box::from_raw(all) }))
    }

    /// The items of a run, which must be inside the row.
    ///
    /// # Safety
    /// No other run that is in use overlaps this one.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller guarantees exclusive access"
    )]
    pub(crate) unsafe fn run(&self, range: Range<usize>) -> &mut [Item] {
        let cells = &self.0[range];
        let first = UnsafeCell::raw_get(cells.as_ptr());
        // SAFETY: a cell has the layout of its content, and no other thread accesses these.
        unsafe { std::slice::from_raw_parts_mut(first, cells.len()) }
    }

    /// The same, only to be read.
    ///
    /// # Safety
    /// No run that is in use to be written overlaps this one.
    pub(crate) unsafe fn read(&self, range: Range<usize>) -> &[Item] {
        let cells = &self.0[range];
        // SAFETY: a cell has the layout of its content, and no thread writes these.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
    }
}
