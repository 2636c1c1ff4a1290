//! Kernel arguments: what a call passes, checked against what the kernel takes.
//!
//! A kernel created by name takes any tuple of [`KernelArg`]s, checked when it is submitted. A kernel that `sycl-macros`
//! embeds implements [`Launch`] for the tuples that fit its signature only, so that others do not compile.

use std::ffi::c_void;

use level_zero::sys::ze_sampler_handle_t;
use smallvec::SmallVec;

use crate::accessor::{Accessor, LocalAccessor, Mode};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::image::{ImageAccessor, Sampler};
use crate::kernel::Kernel;
use crate::range::DeviceData;
use crate::usm;

/// What can be launched with arguments `A`: a [`Kernel`], or a kernel that `sycl-macros` embeds.
#[diagnostic::on_unimplemented(
    message = "these are not the arguments of this kernel",
    note = "pass a tuple with one value for each parameter: `&accessor`, `&local`, `&block`, a number"
)]
pub trait Launch<'cg, A> {
    /// The kernel for a device of a context; called once per submission, so it should remember.
    ///
    /// # Errors
    /// Those of building it.
    fn kernel(&self, context: &Context, device: &Device) -> Result<Kernel>;
    /// Passes the arguments in the kernel's order.
    fn pass(&self, arguments: A, to: &mut ArgSink<'_>);
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
    /// Passes all.
    fn push(self, to: &mut ArgSink<'_>);
}

/// One argument.
pub trait KernelArg<'cg> {
    /// Passes it.
    fn push_one(self, to: &mut ArgSink<'_>);
}

/// Where arguments are passed to.
#[derive(Debug)]
pub struct ArgSink<'a>(pub(crate) &'a mut Arguments);

/// The arguments of one launch.
#[derive(Debug, Default, Clone)]
pub(crate) struct Arguments {
    slots: SmallVec<[Slot; 8]>,
    bytes: SmallVec<[u8; 128]>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: u32,
    size: u32,
    kind: ArgumentKind,
    /// For accessors: which of the group's, until it is replaced by a pointer.
    access: u32,
}

/// How a kernel takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A pointer to global or constant memory.
    Pointer,
    /// Work-group local memory.
    Local,
    /// By value.
    Value,
    /// An image.
    Image {
        /// Its dimensions, 1 to 3.
        dimensions: usize,
        /// The kernel writes it, or an accessor allows that.
        writes: bool,
    },
    /// A sampler.
    Sampler,
}

const NO_ACCESS: u32 = u32::MAX;

impl Arguments {
    fn push(&mut self, kind: ArgumentKind, value: &[u8], access: u32) {
        // Values are read in place: each begins at a multiple of 16.
        let offset = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(value);
        self.slots.push(Slot {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            size: u32::try_from(value.len()).unwrap_or(u32::MAX),
            kind,
            access,
        });
    }

    /// Puts pointers in the place of accessors.
    pub(crate) fn resolve(&mut self, pointer: impl Fn(usize) -> usize) {
        for slot in self.slots.iter().filter(|slot| slot.access != NO_ACCESS) {
            let at = slot.offset as usize;
            let base = pointer(slot.access as usize);
            let mut offset = [0; size_of::<usize>()];
            let place = &mut self.bytes[at..at + size_of::<usize>()];
            offset.copy_from_slice(place);
            let value = base.wrapping_add(usize::from_ne_bytes(offset));
            place.copy_from_slice(&value.to_ne_bytes());
        }
    }

    /// Puts a device's samplers in the place of their descriptions.
    pub(crate) fn make_samplers(
        &mut self,
        mut make: impl FnMut(Sampler) -> Result<ze_sampler_handle_t>,
    ) -> Result<()> {
        for slot in self
            .slots
            .iter()
            .filter(|slot| slot.kind == ArgumentKind::Sampler)
        {
            let at = slot.offset as usize;
            let place = &mut self.bytes[at..at + size_of::<u64>()];
            let mut code = [0; size_of::<u64>()];
            code.copy_from_slice(place);
            let handle = make(Sampler::of_code(u64::from_ne_bytes(code)))?;
            place.copy_from_slice(&(handle.expose_provenance() as u64).to_ne_bytes());
        }
        Ok(())
    }

    /// One pointer for each argument: to its value; for local memory, to its size.
    pub(crate) fn pointers(&mut self) -> SmallVec<[*mut c_void; 16]> {
        let base = self.bytes.as_mut_ptr();
        let slots = self.slots.iter();
        slots
            .map(|slot| base.wrapping_add(slot.offset as usize).cast())
            .collect()
    }

    /// Size and value of each argument; no value for local memory.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, *const c_void)> + '_ {
        self.slots.iter().map(|slot| {
            let at = slot.offset as usize;
            let bytes = &self.bytes[at..at + slot.size as usize];
            match (slot.kind, bytes.try_into()) {
                (ArgumentKind::Local, Ok(size)) => (usize::from_ne_bytes(size), std::ptr::null()),
                _ => (bytes.len(), bytes.as_ptr().cast()),
            }
        })
    }

    /// What tools are told of each, while none is added or moved: its kind as they number it, where its value is now, and its size.
    #[cfg(feature = "xpti")]
    pub(crate) fn told(&self) -> impl Iterator<Item = (i32, *const c_void, usize)> + '_ {
        self.slots.iter().map(|slot| {
            let kind = match slot.kind {
                ArgumentKind::Value => 1,
                ArgumentKind::Sampler => 2,
                ArgumentKind::Pointer if slot.access == NO_ACCESS => 3,
                ArgumentKind::Pointer | ArgumentKind::Local | ArgumentKind::Image { .. } => 0,
            };
            let value = &self.bytes[slot.offset as usize..];
            (kind, value.as_ptr().cast(), slot.size as usize)
        })
    }

    /// Whether they are what a kernel takes.
    pub(crate) fn check(
        &self,
        kernel: &str,
        count: usize,
        known: Option<&[(ArgumentKind, usize)]>,
    ) -> Result<()> {
        let wrong = |text| Err(Error::new(Errc::KernelArgument, text));
        if self.slots.len() != count {
            return wrong(format!(
                "kernel {kernel} takes {count} arguments, not {}",
                self.slots.len()
            ));
        }
        for (index, (slot, (kind, size))) in self.slots.iter().zip(known.unwrap_or(&[])).enumerate()
        {
            let fits = match (slot.kind, *kind) {
                (
                    ArgumentKind::Image {
                        dimensions: given,
                        writes: may,
                    },
                    ArgumentKind::Image { dimensions, writes },
                ) => given == dimensions && (may || !writes),
                (given, wanted) => given == wanted,
            };
            if !fits {
                return wrong(format!(
                    "argument {index} of kernel {kernel} is of kind {kind:?}, not {:?}",
                    slot.kind
                ));
            }
            if slot.kind == ArgumentKind::Value && slot.size as usize != *size {
                return wrong(format!(
                    "argument {index} of kernel {kernel} has {size} bytes, not {}",
                    slot.size
                ));
            }
        }
        Ok(())
    }
}

impl ArgSink<'_> {
    /// Passes the bytes of a value.
    pub fn value<T: DeviceData>(&mut self, value: T) {
        // SAFETY: `DeviceData` has no padding that is read, so all its bytes are.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        self.0.push(ArgumentKind::Value, bytes, NO_ACCESS);
    }

    /// Passes a pointer to global memory. The launch follows what uses that memory only if the program says so.
    pub fn pointer(&mut self, pointer: *const c_void) {
        let bytes = pointer.addr().to_ne_bytes();
        self.0.push(ArgumentKind::Pointer, &bytes, NO_ACCESS);
    }

    /// Passes so many bytes of local memory.
    pub fn local(&mut self, bytes: usize) {
        let size = bytes.to_ne_bytes();
        self.0.push(ArgumentKind::Local, &size, NO_ACCESS);
    }

    pub(crate) fn image(&mut self, access: u32, dimensions: usize, writes: bool) {
        let bytes = 0usize.to_ne_bytes();
        let kind = ArgumentKind::Image { dimensions, writes };
        self.0.push(kind, &bytes, access);
    }

    pub(crate) fn sampler(&mut self, sampler: Sampler) {
        let bytes = sampler.code().to_ne_bytes();
        self.0.push(ArgumentKind::Sampler, &bytes, NO_ACCESS);
    }

    pub(crate) fn accessor(&mut self, access: u32, offset: usize) {
        let bytes = offset.to_ne_bytes();
        self.0.push(ArgumentKind::Pointer, &bytes, access);
    }
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

/// A value of any type that may live in device memory.
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
numbers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

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
