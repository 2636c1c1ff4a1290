//! The items of a build, which threads share by runs.

use crate::split::Item;
use std::cell::UnsafeCell;
use std::ops::Range;

/// Items, of which each run is one thread's at a time; who may have which is the builder's to say.
pub(crate) struct Items(Box<[UnsafeCell<Item>]>);

// SAFETY: items are reached through `run` alone, whose callers share none of them.
unsafe impl Sync for Items {}

impl Items {
    pub(crate) fn new(count: usize) -> Self {
        let items = Box::<[UnsafeCell<Item>]>::new_zeroed_slice(count);
        // SAFETY: an item is floats, for which zero bits are a number.
        Self(unsafe { items.assume_init() })
    }

    /// The items of a run, which must lie inside of the row.
    ///
    /// # Safety
    /// No other run that is in use overlaps this one.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller promises that there is no other"
    )]
    pub(crate) unsafe fn run(&self, range: Range<usize>) -> &mut [Item] {
        let cells = &self.0[range];
        let first = UnsafeCell::raw_get(cells.as_ptr());
        // SAFETY: a cell has the layout of what it holds, and nobody else reaches these.
        unsafe { std::slice::from_raw_parts_mut(first, cells.len()) }
    }

    /// The same, only to be read.
    ///
    /// # Safety
    /// No run that is in use to be written overlaps this one.
    pub(crate) unsafe fn read(&self, range: Range<usize>) -> &[Item] {
        let cells = &self.0[range];
        // SAFETY: a cell has the layout of what it holds, and nobody writes these.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
    }
}
