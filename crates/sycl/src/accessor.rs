//! Access modes, and what a command group uses of a buffer.

use std::marker::PhantomData;

use crate::range::{DeviceData, Range};

/// How a command group uses a buffer, as a type.
pub trait Mode: Copy + sealed::Sealed + 'static {
    /// For the planner.
    #[doc(hidden)]
    const MODE: sycl_graph::Mode;
}
/// Modes that write.
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
    /// Only reads.
    Read
    /// Writes some elements and keeps the others.
    Write
    /// Reads and writes.
    ReadWrite
    /// Overwrites: what was there before is of no use, so nothing is copied for it.
    WriteNoInit
    /// Overwrites, then reads its own values.
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
    /// Without what was there before.
    #[must_use]
    pub fn no_init(self) -> WriteNoInit {
        WriteNoInit
    }
}
impl ReadWrite {
    /// Without what was there before.
    #[must_use]
    pub fn no_init(self) -> ReadWriteNoInit {
        ReadWriteNoInit
    }
}

/// A brand that no other command group has.
pub(crate) type Brand<'cg> = PhantomData<fn(&'cg ()) -> &'cg ()>;

/// A buffer's elements on the queue's device, for the command of one group.
#[derive(Debug)]
pub struct Accessor<'cg, T: DeviceData, const D: usize, M: Mode> {
    pub(crate) index: u32,
    /// The number of its first element in the buffer.
    pub(crate) first: usize,
    pub(crate) range: Range<D>,
    /// Elements from a row to the next and from a plane to the next.
    pub(crate) pitches: [usize; 2],
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<(T, M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> Accessor<'_, T, D, M> {
    /// The elements it is for.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }
}

/// A buffer's elements in host memory, for the host task of one group.
#[derive(Debug)]
pub struct HostTaskAccessor<'cg, T: DeviceData, const D: usize, M: Mode> {
    pub(crate) index: u32,
    pub(crate) range: Range<D>,
    /// Elements from a row to the next and from a plane to the next.
    pub(crate) pitches: [usize; 2],
    pub(crate) first: usize,
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<(T, M)>,
}

/// Memory that each work-group of one kernel has for itself.
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
