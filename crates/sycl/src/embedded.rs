//! The expansion of `kernels!`: modules embedded in the program, and types that describe kernel parameters.
//!
//! A type of this module describes a kernel parameter, such as `Float<32>` or `Vector<Float<32>, 4>`; [`Represents`]
//! lists the Rust types with that layout. Programs name these types only to implement `Represents` for their own
//! structures.
//!
//! The context caches built modules, one for each device that launches from them, until the device is lost.

use std::collections::HashMap;
use std::ffi::CStr;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel_builder::f16;

use crate::accessor::{Accessor, LocalAccessor, Mode, Writes};
use crate::arguments::ArgSink;
use crate::bundle::{Executable, Input, Kernel, KernelBundle};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{ImageAccessor, Sampler};
use crate::kernel_args::{AtOffset, KernelArg, Val};
use crate::range::DeviceData;
use crate::usm;

/// An integer of so many bits. SPIR-V's integers have no sign.
#[derive(Clone, Copy, Debug)]
pub struct Int<const BITS: u32>;
/// A floating-point number of so many bits.
#[derive(Clone, Copy, Debug)]
pub struct Float<const BITS: u32>;
/// A vector of `N` components.
#[derive(Clone, Copy, Debug)]
pub struct Vector<S, const N: usize>(S);
/// An array of `N` elements.
#[derive(Clone, Copy, Debug)]
pub struct Array<S, const N: usize>(S);
/// Memory that a kernel accesses as several types: any element type is accepted.
#[derive(Clone, Copy, Debug)]
pub struct Bytes;

/// Types with the memory layout of `S` in a kernel.
///
/// # Safety
/// Size and member offsets are those of `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not lie in memory as the kernel's `{S}` does",
    note = "the kernel's parameter decides: see the documentation of the embedded kernel"
)]
pub unsafe trait Represents<S>: DeviceData {}

macro_rules! represents {
    ($($ty:ty as $tag:ty),* $(,)?) => { $(
        // SAFETY: the same size, and no members.
        unsafe impl Represents<$tag> for $ty {}
    )* };
}
represents! {
    u8 as Int<8>, i8 as Int<8>, u16 as Int<16>, i16 as Int<16>, u32 as Int<32>, i32 as Int<32>, u64 as Int<64>,
    i64 as Int<64>, usize as Int<64>, isize as Int<64>, u16 as Float<16>, f16 as Float<16>, f32 as Float<32>,
    f64 as Float<64>,
}
macro_rules! vectors {
    ($($count:literal)*) => { $(
        // SAFETY: components lie one after another, as a vector's do.
        unsafe impl<S, T: Represents<S>> Represents<Vector<S, $count>> for [T; $count] {}
    )* };
}
vectors!(2 4 8 16);
// SAFETY: a vector of three components has the size of four.
unsafe impl<S, T: Represents<S>> Represents<Vector<S, 3>> for [T; 4] {}
// SAFETY: elements lie one after another.
unsafe impl<S, T: Represents<S>, const N: usize> Represents<Array<S, N>> for [T; N] {}
// SAFETY: `Bytes` makes no demand.
unsafe impl<T: DeviceData> Represents<Bytes> for T {}

/// Any kernel argument.
pub trait Argument {
    /// Passes the argument.
    fn pass(self, to: &mut ArgSink<'_>);
}

/// Arguments for a pointer that the kernel reads through: an accessor of any mode, [`AtOffset`], a USM block.
#[diagnostic::on_unimplemented(
    message = "the kernel takes a pointer to `{S}` here, `{Self}` is none",
    note = "pass `&accessor`, `AtOffset(&accessor)` or `&block` of that element type"
)]
pub trait Readable<'cg, S>: Argument {}

/// Arguments for a pointer that the kernel writes through.
#[diagnostic::on_unimplemented(
    message = "the kernel writes `{S}` through this pointer, `{Self}` does not allow it",
    note = "pass an accessor of mode `Write`, `ReadWrite` or one of them with `.no_init()`, or a USM block, of that element type"
)]
pub trait Writable<'cg, S>: Argument {}

/// Arguments for a pointer to memory of the work-group: a local accessor.
#[diagnostic::on_unimplemented(
    message = "the kernel takes local memory of `{S}` here, `{Self}` is none",
    note = "pass `&cg.local([count])` of that element type"
)]
pub trait Local<'cg, S>: Argument {}

/// Arguments that are passed by value.
#[diagnostic::on_unimplemented(
    message = "the kernel takes a value of `{S}` here, `{Self}` is none",
    note = "an integer may have a sign or none; a half is its bits as u16; a vector is an array"
)]
pub trait Value<'cg, S>: Argument {}

/// Arguments for an image that the kernel reads: an accessor of any mode.
#[diagnostic::on_unimplemented(
    message = "the kernel takes an image of {N} dimensions here, `{Self}` is none",
    note = "pass a reference to the result of `cg.image(..)` or `cg.sampled(..)` for an image of as many dimensions"
)]
pub trait ReadableImage<'cg, const N: usize>: Argument {}

/// Arguments for an image that the kernel writes.
#[diagnostic::on_unimplemented(
    message = "the kernel writes an image of {N} dimensions here, `{Self}` does not allow it",
    note = "pass a reference to the result of `cg.image(..)` for a mode that writes"
)]
pub trait WritableImage<'cg, const N: usize>: Argument {}

/// Arguments for a sampler.
#[diagnostic::on_unimplemented(
    message = "the kernel takes a sampler here, `{Self}` is none",
    note = "pass a `Sampler`, or `image.sampler()` of a sampled image"
)]
pub trait Samples: Argument {}

impl<'cg, const D: usize, M: Mode> Argument for &ImageAccessor<'cg, D, M> {
    fn pass(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, const D: usize, M: Mode> ReadableImage<'cg, D> for &ImageAccessor<'cg, D, M> {}
impl<'cg, const D: usize, M: Writes> WritableImage<'cg, D> for &ImageAccessor<'cg, D, M> {}
impl Argument for Sampler {
    fn pass(self, to: &mut ArgSink<'_>) {
        to.sampler(self);
    }
}
impl Samples for Sampler {}

impl<'cg, T: DeviceData, const D: usize, M: Mode> Argument for &Accessor<'cg, T, D, M> {
    fn pass(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, S, T: Represents<S>, const D: usize, M: Mode> Readable<'cg, S>
    for &Accessor<'cg, T, D, M>
{
}
impl<'cg, S, T: Represents<S>, const D: usize, M: Writes> Writable<'cg, S>
    for &Accessor<'cg, T, D, M>
{
}

impl<'cg, T: DeviceData, const D: usize, M: Mode> Argument for AtOffset<'_, 'cg, T, D, M> {
    fn pass(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, S, T: Represents<S>, const D: usize, M: Mode> Readable<'cg, S>
    for AtOffset<'_, 'cg, T, D, M>
{
}
impl<'cg, S, T: Represents<S>, const D: usize, M: Writes> Writable<'cg, S>
    for AtOffset<'_, 'cg, T, D, M>
{
}

impl<T: DeviceData, K: usm::Kind> Argument for &usm::Block<T, K> {
    fn pass(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, S, T: Represents<S>, K: usm::Kind> Readable<'cg, S> for &usm::Block<T, K> {}
impl<'cg, S, T: Represents<S>, K: usm::Kind> Writable<'cg, S> for &usm::Block<T, K> {}

impl<'cg, T: DeviceData, const D: usize> Argument for &LocalAccessor<'cg, T, D> {
    fn pass(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, S, T: Represents<S>, const D: usize> Local<'cg, S> for &LocalAccessor<'cg, T, D> {}

macro_rules! values {
    ($($ty:ty as $tag:ty),* $(,)?) => { $(
        impl Value<'_, $tag> for $ty {}
    )* };
}
macro_rules! arguments {
    ($($ty:ty)*) => { $(
        impl Argument for $ty {
            fn pass(self, to: &mut ArgSink<'_>) {
                to.value(self);
            }
        }
    )* };
}
arguments!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f16 f32 f64);
values! {
    u8 as Int<8>, i8 as Int<8>, u16 as Int<16>, i16 as Int<16>, u32 as Int<32>, i32 as Int<32>, u64 as Int<64>,
    i64 as Int<64>, usize as Int<64>, isize as Int<64>, u16 as Float<16>, f16 as Float<16>, f32 as Float<32>,
    f64 as Float<64>,
}
impl<T: DeviceData, const N: usize> Argument for [T; N] {
    fn pass(self, to: &mut ArgSink<'_>) {
        match *self.as_slice() {
            // A vector of three components has the size of four.
            [x, y, z] => to.value([x, y, z, z]),
            _ => to.value(self),
        }
    }
}
impl<S, T: Represents<S>, const N: usize> Value<'_, Vector<S, N>> for [T; N] {}
impl<T: DeviceData> Argument for Val<T> {
    fn pass(self, to: &mut ArgSink<'_>) {
        to.value(self.0);
    }
}
impl<S, T: Represents<S>> Value<'_, S> for Val<T> {}

/// Converts a module's little-endian bytes to words.
#[must_use]
pub const fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = [0; N];
    let mut at = 0;
    while at < N {
        let first = at * 4;
        words[at] = u32::from_le_bytes([
            bytes[first],
            bytes[first + 1],
            bytes[first + 2],
            bytes[first + 3],
        ]);
        at += 1;
    }
    words
}

/// A SPIR-V module embedded in the program.
#[derive(Debug)]
pub struct Embedded {
    file: &'static str,
    words: &'static [u32],
}

impl Embedded {
    /// Wraps a module's words, which were read from `file`.
    ///
    /// # Safety
    /// In every launch, kernels access memory only through their arguments and within their bounds.
    #[must_use]
    pub const unsafe fn new(file: &'static str, words: &'static [u32]) -> Self {
        Self { file, words }
    }

    /// Returns the file that the module was read from at build time.
    #[must_use]
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Returns the SPIR-V.
    #[must_use]
    pub fn words(&self) -> &'static [u32] {
        self.words
    }

    /// Creates a bundle for some devices of a context, to set specialization constants or to inspect kernels.
    ///
    /// # Errors
    /// As [`KernelBundle::from_spirv`].
    pub fn bundle(&self, context: &Context, devices: &[Device]) -> Result<KernelBundle<Input>> {
        // SAFETY: the caller of `new` promised it.
        unsafe { KernelBundle::from_spirv(context, devices, self.words) }
    }

    /// Returns a kernel for a device. It is built at the first request and then cached by the context.
    ///
    /// # Errors
    /// [`crate::Errc::Build`] with the driver's log; [`crate::Errc::Invalid`] if the module has no kernel of this name.
    pub fn kernel(
        &self,
        context: &Context,
        device: &Device,
        name: &'static CStr,
    ) -> Result<Kernel> {
        let remembered = context
            .0
            .remembered
            .get_or_init(|| Box::new(Remembered::default()));
        match remembered.downcast_ref::<Remembered>() {
            Some(remembered) => remembered.kernel(self, context, device, name),
            None => Err(Error::invalid("the context remembers something else")),
        }
    }
}

/// The kernels of embedded modules that a context has built.
///
/// They belong to a second context around the same Level Zero context, which caches none: otherwise the first would
/// keep itself alive.
#[derive(Default)]
struct Remembered(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By module and device.
    bundles: HashMap<(usize, usize), KernelBundle<Executable>>,
    /// By module, device and name.
    kernels: HashMap<(usize, usize, usize), Kernel>,
}

impl Remembered {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kernel(
        &self,
        module: &Embedded,
        context: &Context,
        device: &Device,
        name: &'static CStr,
    ) -> Result<Kernel> {
        let bundle = (module.words.as_ptr().addr(), device.handle().addr());
        let key = (bundle.0, bundle.1, name.as_ptr().addr());
        let known = self.known();
        // The driver may reject code that was built before a loss, and the program has no bundle to rebuild.
        let kernel = known.kernels.get(&key);
        if let Some(kernel) = kernel.filter(|kernel| !kernel.0.bundle.is_lost()) {
            return Ok(kernel.clone());
        }
        let built = known.bundles.get(&bundle);
        let built = built.filter(|built| !built.is_lost()).cloned();
        // Building takes long, and other threads may launch meanwhile. A second builder uses the first one's result.
        drop(known);
        let built = match built {
            Some(built) => built,
            None => {
                let twin = context.twin();
                let built = module
                    .bundle(&twin, std::slice::from_ref(device))?
                    .build(c"")?;
                let is_lost = KernelBundle::<Executable>::is_lost;
                let (built, old) = first(&mut self.known().bundles, bundle, built, is_lost);
                drop(old);
                built
            }
        };
        let kernel = built.kernel(name)?;
        let is_lost = |kernel: &Kernel| kernel.0.bundle.is_lost();
        let (kernel, old) = first(&mut self.known().kernels, key, kernel, is_lost);
        drop(old);
        Ok(kernel)
    }
}

/// Returns the cached value of a key unless it is lost, else `made`; and the unused one of the two, whose drop may take
/// a while.
fn first<K: Eq + Hash, V: Clone>(
    known: &mut HashMap<K, V>,
    key: K,
    made: V,
    is_lost: impl Fn(&V) -> bool,
) -> (V, Option<V>) {
    match known.get(&key) {
        Some(known) if !is_lost(known) => (known.clone(), Some(made)),
        _ => (made.clone(), known.insert(key, made)),
    }
}
