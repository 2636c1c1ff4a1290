//! Kernels written in Rust: `#[sycl::kernel]`, and the names that its expansion uses.
//!
//! ```
//! use sycl::kernel::for_each;
//!
//! #[sycl::kernel]
//! fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
//!     let i = sycl::item::<1>().id();
//!     if i < y.len() {
//!         y[i] = a * x[i] + y[i];
//!     }
//! }
//!
//! // On the host, as plain Rust:
//! let (x, mut y) = ([1.0, 2.0], [10.0, 20.0]);
//! for_each([2], || saxpy(2.0, &x, &mut y));
//! assert_eq!(y, [12.0, 24.0]);
//!
//! // As SPIR-V for any Level Zero or OpenCL device:
//! let words = sycl::kernel::spirv(&saxpy)?;
//! assert_eq!(words[0], 0x0723_0203);
//! # Ok::<(), sycl::Error>(())
//! ```
//!
//! A kernel is staged at its first launch in the process, once for each set of type parameters; the context then caches
//! the built module as it does those of [`crate::kernels!`].

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{LazyLock, Mutex, PoisonError};

pub use kernel_builder::{
    Binary, Builder, Coerce, Combine, Constant, Cut, Element, Faults, Format, GroupKernel,
    GroupNumber, GroupValue, HostGroups, Kernel, KernelType, Lanes, Operand, OperatorCall,
    OptionMethods, Part, ReferenceOptionMethods, Refusal, SharedSlice, SliceMethods,
    SliceMutMethods, Stage, Staged, Type, Unary, for_each, given, is_staging, operator,
};

use kernel_builder::{Vector, f16};

use crate::accessor::{Accessor, Mode, Writes};
use crate::arguments::ArgSink;
use crate::context::Context;
use crate::device::Device;
use crate::embedded::Embedded;
use crate::error::{Errc, Error, Result};
#[doc(hidden)]
pub use crate::faults::FaultSites;
use crate::kernel_args::{AtOffset, KernelArg};
use crate::range::{DeviceData, NdRange, extents};
use crate::usm;

/// An argument of a kernel in Rust.
pub trait Argument {
    /// Passes the argument.
    fn pass_to(self, to: &mut ArgSink<'_>);
}

/// Arguments for a parameter `&[T]`: an accessor of any mode, or a USM block.
#[diagnostic::on_unimplemented(
    message = "the kernel's parameter is `&[{T}]`, which `{Self}` cannot be",
    note = "pass a reference to an accessor with elements of `{T}`, or to a USM block of them"
)]
pub trait ReadableSlice<'cg, T>: Argument {}

/// Arguments for a parameter `&mut [T]`: an accessor that writes, or a USM block.
#[diagnostic::on_unimplemented(
    message = "the kernel's parameter is `&mut [{T}]`, which `{Self}` cannot be",
    note = "pass a reference to an accessor with elements of `{T}`, and of mode `Write`, `ReadWrite` or one of them with `.no_init()`, or to a USM block of them"
)]
pub trait WritableSlice<'cg, T>: Argument {}

/// Arguments for a parameter that is passed by value.
#[diagnostic::on_unimplemented(
    message = "the kernel's parameter is a value of `{T}`, which `{Self}` is not",
    note = "pass a value of exactly this type; a structure needs `#[derive(Device)]`"
)]
pub trait Value<'cg, T>: Argument {}

impl<'cg, T: DeviceData, const D: usize, M: Mode> Argument for &Accessor<'cg, T, D, M> {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        // Exactly the declared part: elements around it may be outdated.
        AtOffset(self).push_one(to);
        to.value(self.range().size() as u64);
        if !self.is_contiguous() {
            to.refuse(
                "the accessor of a slice has gaps between its rows: declare a part of whole rows, or access the whole \
                 buffer",
            );
        }
    }
}
impl<'cg, T: DeviceData, const D: usize, M: Mode> ReadableSlice<'cg, T>
    for &Accessor<'cg, T, D, M>
{
}
impl<'cg, T: DeviceData, const D: usize, M: Writes> WritableSlice<'cg, T>
    for &Accessor<'cg, T, D, M>
{
}

impl<T: DeviceData, K: usm::Kind> Argument for &usm::Block<T, K> {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
        to.value(self.len() as u64);
    }
}
impl<'cg, T: DeviceData, K: usm::Kind> ReadableSlice<'cg, T> for &usm::Block<T, K> {}
impl<'cg, T: DeviceData, K: usm::Kind> WritableSlice<'cg, T> for &usm::Block<T, K> {}

macro_rules! values {
    ($($ty:ty)*) => { $(
        impl Argument for $ty {
            fn pass_to(self, to: &mut ArgSink<'_>) {
                to.value(self);
            }
        }
        impl Value<'_, $ty> for $ty {}
    )* };
}
values!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f16 f32 f64);
impl Argument for bool {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        to.value(u8::from(self));
    }
}
impl Value<'_, bool> for bool {}
impl Argument for char {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        to.value(u32::from(self));
    }
}
impl Value<'_, char> for char {}
impl<T: DeviceData, const N: usize> Argument for [T; N] {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        to.value(self);
    }
}
impl<T: DeviceData, const N: usize> Value<'_, [T; N]> for [T; N] {}
impl<T: DeviceData + Lanes<N>, const N: usize> Argument for Vector<T, N> {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        to.value(self);
    }
}
impl<T: DeviceData + Lanes<N>, const N: usize> Value<'_, Vector<T, N>> for Vector<T, N> {}

/// Calls a kernel on the host in work-groups: each work-item is a thread, and one of them runs at a time.
///
/// Barriers, local memory and the operations of groups and sub-groups work as on a device. The groups run one after
/// another. Sub-groups have 16 work-items unless the kernel requires another size.
///
/// ```
/// use sycl::NdRange;
/// use sycl::kernel::for_each_group;
///
/// #[sycl::kernel]
/// fn reverse(y: &mut [u32]) {
///     let it = sycl::item::<1>();
///     let mut tile = sycl::local::<[u32; 4]>();
///     tile[it.local_id()] = y[it.id()];
///     sycl::barrier();
///     y[it.id()] = tile[3 - it.local_id()];
/// }
///
/// let mut y = [1, 2, 3, 4, 5, 6, 7, 8];
/// for_each_group(NdRange::new([8], [4]), reverse, (&mut y,))?;
/// assert_eq!(y, [4, 3, 2, 1, 8, 7, 6, 5]);
/// # Ok::<(), sycl::Error>(())
/// ```
///
/// A work-item has a copy of each `&mut [T]`, which it gives to the others at barriers and operations of groups, and
/// takes from them again. So no two work-items have a reference to the same memory, which Rust forbids; and a reference
/// into a slice or into local memory that lives across a barrier does not compile.
///
/// # Errors
/// [`Errc::NdRange`] if the local range does not divide the global one, or is not the one that the kernel requires.
///
/// # Panics
/// With the panic of a work-item; if work-items wait for others that do not come; and at a barrier in a device function,
/// where the kernel's slices have no names.
pub fn for_each_group<K: GroupKernel, const D: usize>(
    range: NdRange<D>,
    kernel: K,
    arguments: K::Arguments<'_>,
) -> Result<()> {
    let (global, local) = (extents(range.global.0), extents(range.local.0));
    let wrong = |text| Error::new(Errc::NdRange, text);
    let groups = HostGroups::new(global, local);
    let groups = groups.ok_or_else(|| wrong("the local range does not divide the global one"))?;
    kernel.run_groups(groups, arguments).map_err(wrong)
}

/// A staged kernel, which lives as long as the program.
struct Known {
    module: Embedded,
    name: CString,
    sites: FaultSites,
}

/// Returns the module of a kernel's form, which is staged at the first request.
fn known<K: Kernel>(faults: Faults) -> Result<&'static Known> {
    type Kernels = HashMap<(TypeId, Faults), &'static Known>;
    static KNOWN: LazyLock<Mutex<Kernels>> = LazyLock::new(Mutex::default);
    let key = (TypeId::of::<K>(), faults);
    let all = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all().get(&key).copied();
    if let Some(found) = found {
        return Ok(found);
    }
    let staged = match faults {
        Faults::Mask => kernel_builder::spirv::<K>().map(|words| (words, Vec::new())),
        Faults::Report => kernel_builder::spirv_reporting::<K>(),
    };
    let (words, sites) = staged.map_err(|refusal| {
        let (line, column) = refusal.line;
        let text = format!(
            "{}:{line}:{column}: kernel {}: {}",
            K::FILE,
            K::NAME,
            refusal.text
        );
        Error::new(Errc::Build, text)
    })?;
    let name = CString::new(K::NAME).map_err(|_| Error::invalid("a kernel's name"))?;
    // SAFETY: staged kernels reach memory through their arguments only, and check each index.
    let module = unsafe { Embedded::new(K::FILE, words.leak()) };
    // Two threads may stage the same kernel: the first one's module is used.
    let sites = FaultSites {
        kernel: K::NAME,
        sites,
    };
    let made = Known {
        module,
        name,
        sites,
    };
    let made: &'static Known = Box::leak(Box::new(made));
    Ok(*all().entry(key).or_insert(made))
}

/// Returns a kernel's SPIR-V: for any device with capability Kernel and 64-bit addresses.
///
/// A slice is two arguments of the module's kernel, pointer and length; a structure is passed by value. It reports no
/// faults.
///
/// # Errors
/// [`Errc::Build`] for a construct that kernels do not have, with its line.
pub fn spirv<K: Kernel>(_kernel: &K) -> Result<&'static [u32]> {
    Ok(known::<K>(Faults::Mask)?.module.words())
}

/// Builds a kernel for a device; the expansion of `#[kernel]` calls this.
///
/// # Errors
/// As [`spirv`]; errors of the driver.
#[doc(hidden)]
pub fn built<K: Kernel>(context: &Context, device: &Device) -> Result<crate::bundle::Kernel> {
    let known = known::<K>(K::FAULTS)?;
    known.module.kernel(context, device, known.name.as_c_str())
}

/// The places of a kernel's faults, if its launches report them; the expansion of `#[kernel]` calls this.
///
/// # Errors
/// As [`spirv`].
#[doc(hidden)]
pub fn fault_sites<K: Kernel>() -> Result<Option<&'static FaultSites>> {
    match K::FAULTS {
        Faults::Mask => Ok(None),
        Faults::Report => known::<K>(Faults::Report).map(|known| Some(&known.sites)),
    }
}
