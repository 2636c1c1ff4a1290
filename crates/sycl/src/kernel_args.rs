//! Kernel arguments: tuples of [`KernelArg`]s.
//!
//! A kernel created by name takes any tuple of [`KernelArg`]s, which the submission checks. A kernel that `sycl-macros`
//! embeds implements [`Launch`] only for tuples that match its signature, so that others do not compile.

use kernel_builder::f16;

use crate::accessor::{Accessor, LocalAccessor, Mode};
use crate::arguments::ArgSink;
use crate::bundle::Kernel;
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;
use crate::faults::FaultSites;
use crate::image::{ImageAccessor, Sampler};
use crate::range::DeviceData;
use crate::usm;

/// Kernels that can be launched with arguments `A`: a [`Kernel`], or a kernel that `sycl-macros` embeds.
#[diagnostic::on_unimplemented(
    message = "these are not the arguments of this kernel",
    note = "pass a tuple with one value for each parameter: `&accessor`, `&local`, `&block`, a number"
)]
pub trait Launch<'cg, A> {
    /// Returns the kernel for a device of a context. Called once per submission, so implementations should cache.
    ///
    /// # Errors
    /// Those of building the kernel.
    fn kernel(&self, context: &Context, device: &Device) -> Result<Kernel>;
    /// Passes the arguments in the kernel's order.
    fn pass(&self, arguments: A, to: &mut ArgSink<'_>);
    /// The places of the kernel's faults, if its last argument is a record of them.
    #[doc(hidden)]
    fn faults(&self) -> Result<Option<&'static FaultSites>> {
        Ok(None)
    }
}

impl<'cg, A: KernelArgs<'cg>> Launch<'cg, A> for &Kernel {
    fn kernel(&self, _: &Context, _: &Device) -> Result<Kernel> {
        Ok((*self).clone())
    }
    fn pass(&self, arguments: A, to: &mut ArgSink<'_>) {
        arguments.push(to);
    }
}

/// A tuple of arguments.
pub trait KernelArgs<'cg> {
    /// Passes all arguments.
    fn push(self, to: &mut ArgSink<'_>);
}

/// A kernel argument.
pub trait KernelArg<'cg> {
    /// Passes the argument.
    fn push_one(self, to: &mut ArgSink<'_>);
}

impl<'cg, T: DeviceData, const D: usize, M: Mode> KernelArg<'cg> for &Accessor<'cg, T, D, M> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.accessor(self.index, 0);
    }
}

impl<'cg, const D: usize, M: Mode> KernelArg<'cg> for &ImageAccessor<'cg, D, M> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.image(self.index, D, M::MODE.writes());
    }
}

impl KernelArg<'_> for Sampler {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.sampler(self);
    }
}

/// The address of a ranged accessor's first element; a plain `&accessor` passes the buffer's.
#[derive(Debug)]
pub struct AtOffset<'a, 'cg, T: DeviceData, const D: usize, M: Mode>(
    pub &'a Accessor<'cg, T, D, M>,
);
impl<'cg, T: DeviceData, const D: usize, M: Mode> KernelArg<'cg> for AtOffset<'_, 'cg, T, D, M> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.accessor(self.0.index, self.0.first * size_of::<T>());
    }
}

impl<'cg, T: DeviceData, const D: usize> KernelArg<'cg> for &LocalAccessor<'cg, T, D> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.local(self.bytes());
    }
}

impl<'cg, T: DeviceData, K: usm::Kind> KernelArg<'cg> for &usm::Block<T, K> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.pointer(self.as_ptr().cast());
    }
}

/// A value of any type that device memory can hold.
#[derive(Clone, Copy, Debug)]
pub struct Val<T>(pub T);
impl<T: DeviceData> KernelArg<'_> for Val<T> {
    fn push_one(self, to: &mut ArgSink<'_>) {
        to.value(self.0);
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl KernelArg<'_> for $ty {
            fn push_one(self, to: &mut ArgSink<'_>) {
                to.value(self);
            }
        }
    )* };
}
numbers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f16 f32 f64);

impl KernelArgs<'_> for () {
    fn push(self, _: &mut ArgSink<'_>) {}
}
macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<'cg, $first: KernelArg<'cg>, $($rest: KernelArg<'cg>),*> KernelArgs<'cg> for ($first, $($rest,)*) {
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn push(self, to: &mut ArgSink<'_>) {
                let ($first, $($rest,)*) = self;
                $first.push_one(to);
                $($rest.push_one(to);)*
            }
        }
        tuples!($($rest)*);
    };
    () => {};
}
tuples!(A B C D E F G H I J K L M N O P);
