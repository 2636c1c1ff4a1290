//! Access modes, and how a command group uses a buffer.

use std::marker::PhantomData;

use crate::range::{DeviceData, Range, extents};

/// The access mode of an accessor, as a type.
pub trait Mode: Copy + sealed::Sealed + 'static {
    /// The mode's value, for the transfer planner.
    #[doc(hidden)]
    const MODE: sycl_graph::Mode;
}
/// Modes that allow writing.
#[diagnostic::on_unimplemented(
    message = "an accessor of mode `{Self}` does not write",
    note = "ask for `Write`, `ReadWrite`, or one of them with `.no_init()`"
)]
pub trait Writes: Mode {}
mod sealed {
    pub trait Sealed {}
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;
        impl sealed::Sealed for $name {}
    )* };
}
modes! {
    /// Reads only.
    Read
    /// Writes some elements and keeps the others.
    Write
    /// Reads and writes.
    ReadWrite
    /// Overwrites all elements: the previous contents are discarded and not copied.
    WriteNoInit
    /// Overwrites all elements, then reads the new values.
    ReadWriteNoInit
}
impl Mode for Read {
    const MODE: sycl_graph::Mode = sycl_graph::Mode::Read;
}
impl Mode for Write {
    const MODE: sycl_graph::Mode = sycl_graph::Mode::Write;
}
impl Mode for ReadWrite {
    const MODE: sycl_graph::Mode = sycl_graph::Mode::ReadWrite;
}
impl Mode for WriteNoInit {
    const MODE: sycl_graph::Mode = sycl_graph::Mode::NoInitWrite;
}
impl Mode for ReadWriteNoInit {
    const MODE: sycl_graph::Mode = sycl_graph::Mode::NoInitReadWrite;
}
impl Writes for Write {}
impl Writes for ReadWrite {}
impl Writes for WriteNoInit {}
impl Writes for ReadWriteNoInit {}
impl Write {
    /// The same mode, discarding the previous contents.
    #[must_use]
    pub fn no_init(self) -> WriteNoInit {
        WriteNoInit
    }
}
impl ReadWrite {
    /// The same mode, discarding the previous contents.
    #[must_use]
    pub fn no_init(self) -> ReadWriteNoInit {
        ReadWriteNoInit
    }
}

/// A lifetime brand that is unique to a command group.
pub(crate) type Brand<'cg> = PhantomData<fn(&'cg ()) -> &'cg ()>;

/// Device access to a buffer's elements, for the command of one group.
#[derive(Debug)]
pub struct Accessor<'cg, T: DeviceData, const D: usize, M: Mode> {
    pub(crate) index: u32,
    /// The position of the accessor's first element in the buffer.
    pub(crate) first: usize,
    pub(crate) range: Range<D>,
    /// Elements from the start of a row to the next, and from the start of a plane to the next.
    pub(crate) pitches: [usize; 2],
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<(T, M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> Accessor<'_, T, D, M> {
    /// Returns the number of elements.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    /// Whether the elements lie in memory without gaps.
    pub(crate) fn is_contiguous(&self) -> bool {
        let [planes, rows, row] = extents(self.range.0);
        let [row_pitch, plane_pitch] = self.pitches;
        self.range.size() == 0
            || (rows == 1 || row_pitch == row) && (planes == 1 || plane_pitch == rows * row)
    }
}

/// Host access to a buffer's elements, for the host task of one group.
#[derive(Debug)]
pub struct HostTaskAccessor<'cg, T: DeviceData, const D: usize, M: Mode> {
    pub(crate) index: u32,
    pub(crate) range: Range<D>,
    /// Elements from the start of a row to the next, and from the start of a plane to the next.
    pub(crate) pitches: [usize; 2],
    pub(crate) first: usize,
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<(T, M)>,
}

/// Local memory: each work-group of the kernel has its own.
#[derive(Debug)]
pub struct LocalAccessor<'cg, T: DeviceData, const D: usize> {
    pub(crate) range: Range<D>,
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<T>,
}

impl<T: DeviceData, const D: usize> LocalAccessor<'_, T, D> {
    pub(crate) fn bytes(&self) -> usize {
        self.range.size().saturating_mul(size_of::<T>())
    }
}
