//! Host accessors: a buffer's elements on the host, while conflicting work waits.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::sync::Arc;

use crate::accessor::{Mode, Writes};
use crate::engine::pending::PendingCommand;
use crate::range::{DeviceData, Id, Range, coordinates, extents};

/// A buffer's elements on the host. Conflicting work waits until it is dropped.
///
/// It cannot be sent to another thread, so that the runtime detects a thread that would wait for itself; slices
/// borrowed from it can. Index 0 is the accessor's offset.
pub struct HostAccessor<'b, T: DeviceData, const D: usize, M: Mode> {
    pointer: *mut T,
    range: Range<D>,
    pitches: [usize; 2],
    pending: Arc<PendingCommand>,
    /// The tools' node, and the buffer.
    held: (Arc<crate::storage::BufferCore>, crate::trace::Node),
    types: PhantomData<(&'b [T], M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> std::fmt::Debug for HostAccessor<'_, T, D, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostAccessor({:?})", self.range.0)
    }
}

impl<T: DeviceData, const D: usize, M: Mode> HostAccessor<'_, T, D, M> {
    pub(crate) fn new(
        pointer: *mut T,
        range: Range<D>,
        pitches: [usize; 2],
        pending: Arc<PendingCommand>,
        held: (Arc<crate::storage::BufferCore>, crate::trace::Node),
    ) -> Self {
        Self {
            pointer,
            range,
            pitches,
            pending,
            held,
            types: PhantomData,
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    /// The first `count` elements in memory order.
    pub(crate) fn elements(&self, count: usize) -> &[T] {
        // SAFETY: the pointer covers the whole buffer when this is called (`into_vec`), and the pending command
        // excludes writers.
        unsafe { std::slice::from_raw_parts(self.pointer, count) }
    }

    fn place(&self, id: Id<D>) -> usize {
        let (at, range) = (coordinates(id.0), extents(self.range.0));
        assert!(
            (0..3).all(|axis| at[axis] < range[axis]),
            "index {:?} is outside the accessor's range {:?}",
            id.0,
            self.range.0
        );
        at[0] * self.pitches[1] + at[1] * self.pitches[0] + at[2]
    }
}

impl<T: DeviceData, const D: usize, M: Mode> Drop for HostAccessor<'_, T, D, M> {
    fn drop(&mut self) {
        let (core, lock) = &self.held;
        crate::trace::unlocked(core.number, lock);
        self.pending.done();
    }
}

impl<T: DeviceData, M: Mode> Deref for HostAccessor<'_, T, 1, M> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: this many elements lie in the buffer from the pointer on, and the pending command excludes writers.
        unsafe { std::slice::from_raw_parts(self.pointer, self.range.0[0]) }
    }
}

impl<T: DeviceData, M: Writes> DerefMut for HostAccessor<'_, T, 1, M> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the pending command excludes readers as well.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.range.0[0]) }
    }
}

impl<T: DeviceData, const D: usize, M: Mode> Index<Id<D>> for HostAccessor<'_, T, D, M> {
    type Output = T;
    fn index(&self, id: Id<D>) -> &T {
        // SAFETY: the index is inside the accessor's part; the pending command excludes writers.
        unsafe { &*self.pointer.wrapping_add(self.place(id)) }
    }
}

impl<T: DeviceData, const D: usize, M: Writes> IndexMut<Id<D>> for HostAccessor<'_, T, D, M> {
    fn index_mut(&mut self, id: Id<D>) -> &mut T {
        // SAFETY: as for `index`, and the pending command excludes readers as well.
        unsafe { &mut *self.pointer.wrapping_add(self.place(id)) }
    }
}

impl<T: DeviceData, M: Mode> Index<usize> for HostAccessor<'_, T, 1, M> {
    type Output = T;
    fn index(&self, place: usize) -> &T {
        &(**self)[place]
    }
}

impl<T: DeviceData, M: Writes> IndexMut<usize> for HostAccessor<'_, T, 1, M> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut (**self)[place]
    }
}
