//! Reductions: many values are combined to one, by kernels of this crate.
//!
//! Each work-group of the first pass combines a share of the input in local memory; one work-group combines the
//! results. The last digits of floating-point sums may differ from those of a sequential sum, as in SYCL.

use std::sync::OnceLock;

use kernel_builder::{BitAnd, BitOr, BitXor, Maximum, Minimum, Multiplies, Plus};

use crate::accessor::{Accessor, Read, ReadWrite, Write, WriteNoInit};
use crate::buffer::Buffer;
use crate::device::DeviceType;
use crate::environment;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::handler::{Command, Handler};
use crate::kernel_args::Launch;
use crate::queue::Queue;
use crate::range::{DeviceData, Dim, NdRange, Range, SupportedDim};

crate::kernels! {
    unsafe mod library = "../kernels/reduce.spv";
}
// A separate module: devices without double precision reduce the other types.
crate::kernels! {
    unsafe mod doubles = "../kernels/reduce_double.spv";
}

/// Work-items of a work-group by default; `SYCL_REDUCTION_PREFERRED_WORKGROUP_SIZE` overrides it.
const GROUP: usize = 256;

/// Work-items of a work-group on a queue's device: a power of two that the device supports.
fn group_size(queue: &Queue) -> Result<usize> {
    let device = &queue.0.device;
    let most = (device.compute_group()?.largest_group as usize).max(1);
    let wished = wished_group(device.kind())?.unwrap_or(GROUP);
    let size = wished.clamp(1, most);
    Ok(1 << size.ilog2())
}

/// `SYCL_REDUCTION_PREFERRED_WORKGROUP_SIZE`: work-items of a reduction's work-group, by device type.
///
/// # Errors
/// [`crate::Errc::Invalid`] if the value cannot be parsed.
fn wished_group(kind: DeviceType) -> Result<Option<usize>> {
    let name = "SYCL_REDUCTION_PREFERRED_WORKGROUP_SIZE";
    static KNOWN: OnceLock<Result<Groups>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let text = environment::wish(name);
        groups(text.as_deref().unwrap_or("")).map_err(|wrong| {
            Error::invalid(format!(
                "{name}: `{wrong}` is not TYPE:SIZE, where TYPE is cpu, gpu, acc or *"
            ))
        })
    });
    let known = known.as_ref().map_err(Clone::clone)?;
    let mut fitting = known.iter().rev();
    let found = fitting.find(|(wanted, _)| wanted.is_none_or(|wanted| wanted == kind));
    Ok(found.map(|(_, size)| *size))
}

/// Sizes by device type; `None` stands for all types. The last match counts.
type Groups = Vec<(Option<DeviceType>, usize)>;

fn groups(text: &str) -> std::result::Result<Groups, &str> {
    let entries = text.split(',').filter(|_| !text.is_empty());
    let one = |entry| {
        let (kind, size) = str::split_once(entry, ':')?;
        let kind = match kind.trim().to_ascii_lowercase().as_str() {
            "cpu" => Some(DeviceType::Cpu),
            "gpu" => Some(DeviceType::Gpu),
            "acc" => Some(DeviceType::Accelerator),
            "*" => None,
            _ => return None,
        };
        let size = size.trim().parse().ok().filter(|size| *size > 0)?;
        Some((kind, size))
    };
    entries.map(|entry| one(entry).ok_or(entry)).collect()
}

mod sealed {
    pub trait Number {}
    pub trait Operation {}
}

/// Types that can be reduced.
pub trait Number: DeviceData + PartialEq + sealed::Number {
    /// Runs one pass of this crate's kernel.
    #[doc(hidden)]
    fn pass<'cg>(
        cg: Handler<'cg>,
        from: &Accessor<'cg, Self, 1, Read>,
        to: &Accessor<'cg, Self, 1, ReadWrite>,
        pass: &Pass<Self>,
    ) -> Result<Command<'cg>>;
}

/// The parameters of one pass.
#[doc(hidden)]
#[derive(Debug)]
pub struct Pass<T> {
    count: u64,
    groups: usize,
    group: usize,
    operation: u32,
    identity: T,
    keep: bool,
}

/// A reduction operation: one of SYCL's function objects.
pub trait Operation<T>: Copy + sealed::Operation {
    /// The operation's number in the kernel.
    #[doc(hidden)]
    const NUMBER: u32;
    /// The neutral element.
    fn identity(self) -> T;
}

macro_rules! operations {
    ($($name:ident)*) => { $( impl sealed::Operation for $name {} )* };
}
operations!(Plus Multiplies Minimum Maximum BitAnd BitOr BitXor);

macro_rules! numbers {
    ($($ty:ident $module:ident $kernel:ident $lowest:expr, $highest:expr;)*) => { $(
        impl sealed::Number for $ty {}
        impl Number for $ty {
            fn pass<'cg>(
                cg: Handler<'cg>,
                from: &Accessor<'cg, Self, 1, Read>,
                to: &Accessor<'cg, Self, 1, ReadWrite>,
                pass: &Pass<Self>,
            ) -> Result<Command<'cg>> {
                let scratch = cg.local::<Self, 1>([pass.group]);
                let range = NdRange { global: Range([pass.groups * pass.group]), local: Range([pass.group]) };
                let arguments =
                    (from, pass.count, to, &scratch, pass.operation, pass.identity, u32::from(pass.keep));
                cg.parallel_for_nd($module::$kernel, range, arguments)
            }
        }
        impl Operation<$ty> for Plus {
            const NUMBER: u32 = 0;
            fn identity(self) -> $ty { 0 as $ty }
        }
        impl Operation<$ty> for Multiplies {
            const NUMBER: u32 = 1;
            fn identity(self) -> $ty { 1 as $ty }
        }
        impl Operation<$ty> for Minimum {
            const NUMBER: u32 = 2;
            fn identity(self) -> $ty { $highest }
        }
        impl Operation<$ty> for Maximum {
            const NUMBER: u32 = 3;
            fn identity(self) -> $ty { $lowest }
        }
    )* };
}
numbers! {
    i32 library reduce_int i32::MIN, i32::MAX;
    u32 library reduce_uint u32::MIN, u32::MAX;
    i64 library reduce_long i64::MIN, i64::MAX;
    u64 library reduce_ulong u64::MIN, u64::MAX;
    f32 library reduce_float f32::NEG_INFINITY, f32::INFINITY;
    f64 doubles reduce_double f64::NEG_INFINITY, f64::INFINITY;
}
macro_rules! bits {
    ($($ty:ident)*) => { $(
        impl Operation<$ty> for BitAnd {
            const NUMBER: u32 = 4;
            fn identity(self) -> $ty { !0 }
        }
        impl Operation<$ty> for BitOr {
            const NUMBER: u32 = 5;
            fn identity(self) -> $ty { 0 }
        }
        impl Operation<$ty> for BitXor {
            const NUMBER: u32 = 6;
            fn identity(self) -> $ty { 0 }
        }
    )* };
}
bits!(i32 u32 i64 u64);

/// The result of a reduction: the first element of a buffer.
#[derive(Debug)]
pub struct Reduction<'a, 'h, T: DeviceData, O> {
    into: &'a Buffer<'h, T, 1>,
    operation: O,
    initialize_to_identity: bool,
}

impl<'a, 'h, T: Number, O: Operation<T>> Reduction<'a, 'h, T, O> {
    /// Combines the input with the value of the buffer's first element, as SYCL does.
    pub fn new(into: &'a Buffer<'h, T, 1>, operation: O) -> Self {
        Self {
            into,
            operation,
            initialize_to_identity: false,
        }
    }

    /// Ignores the previous value of the buffer's first element.
    #[must_use]
    pub fn initialize_to_identity(mut self) -> Self {
        self.initialize_to_identity = true;
        self
    }
}

impl Queue {
    /// Combines all elements of a buffer.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the result's buffer is empty; as [`Queue::submit`].
    #[track_caller]
    pub fn reduce<T: Number, O: Operation<T>>(
        &self,
        values: &Buffer<'_, T, 1>,
        reduction: Reduction<'_, '_, T, O>,
    ) -> Result<Event> {
        let count = values.range().size();
        if reduction.into.range().size() == 0 {
            return Err(Error::invalid(
                "a reduction's result needs a buffer with at least one element",
            ));
        }
        let group = group_size(self)?;
        // As many values as one work-group of the second pass combines without a loop.
        let groups = count.div_ceil(group).clamp(1, group);
        let pass = |count: usize, groups: usize, keep: bool| Pass {
            count: count as u64,
            groups,
            group,
            operation: O::NUMBER,
            identity: reduction.operation.identity(),
            keep,
        };
        let keep = !reduction.initialize_to_identity;
        if groups == 1 {
            return self.last_pass(values, &reduction, &pass(count, 1, keep));
        }
        let partial = Buffer::<T, 1>::new([groups])?;
        self.submit(|cg| {
            let from = cg.access(values, Read)?;
            // Every element is overwritten, but the kernel's signature includes reads.
            let to = cg.access(&partial, ReadWrite)?;
            T::pass(cg, &from, &to, &pass(count, groups, false))
        })?;
        self.last_pass(&partial, &reduction, &pass(groups, 1, keep))
    }

    #[track_caller]
    fn last_pass<T: Number, O: Operation<T>>(
        &self,
        values: &Buffer<'_, T, 1>,
        reduction: &Reduction<'_, '_, T, O>,
        pass: &Pass<T>,
    ) -> Result<Event> {
        self.submit(|cg| {
            let from = cg.access(values, Read)?;
            let to = cg.access_ranged(reduction.into, ReadWrite, [1], [0])?;
            T::pass(cg, &from, &to, pass)
        })
    }

    /// Combines values that a kernel computes, one for each index of a range. The command group `map` launches the
    /// kernel, which writes the values through the given accessor.
    ///
    /// # Errors
    /// As [`Self::reduce`], and those of `map`.
    #[track_caller]
    pub fn parallel_for_reduce<T, O, const D: usize, F>(
        &self,
        range: impl Into<Range<D>>,
        reduction: Reduction<'_, '_, T, O>,
        map: F,
    ) -> Result<Event>
    where
        T: Number,
        O: Operation<T>,
        Dim<D>: SupportedDim,
        F: for<'cg> FnOnce(Handler<'cg>, &Accessor<'cg, T, D, WriteNoInit>) -> Result<Command<'cg>>,
    {
        let range = range.into();
        let values = Buffer::<T, D>::new(range)?;
        self.submit(|cg| {
            let to = cg.access(&values, Write.no_init())?;
            map(cg, &to)
        })?;
        self.reduce(&values.reinterpret::<T, 1>([range.size()])?, reduction)
    }

    /// Combines all elements of a buffer by an operation of the program: a kernel that takes the values, their number
    /// and the distance of partners. It sets `value[i]` to the combination of `value[i]` and `value[i + distance]` for
    /// each `i + distance` below the number. It is launched once for each halving.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for an empty buffer; as [`Queue::submit`].
    #[track_caller]
    pub fn reduce_with<T, K>(
        &self,
        values: &Buffer<'_, T, 1>,
        into: &Buffer<'_, T, 1>,
        combine: K,
    ) -> Result<Event>
    where
        T: DeviceData,
        K: for<'a, 'cg> Launch<'cg, (&'a Accessor<'cg, T, 1, ReadWrite>, u64, u64)> + Copy,
    {
        let count = values.range().size();
        if count == 0 || into.range().size() == 0 {
            return Err(Error::invalid(
                "a reduction by a kernel needs at least one value and a result buffer with at least one element",
            ));
        }
        let work = Buffer::<T, 1>::new([count])?;
        self.submit(|cg| {
            let from = cg.access(values, Read)?;
            let to = cg.access(&work, Write.no_init())?;
            cg.copy(&from, &to)
        })?;
        let mut left = count;
        while left > 1 {
            let distance = left.div_ceil(2);
            self.submit(|cg| {
                let values = cg.access(&work, ReadWrite)?;
                cg.parallel_for(combine, [distance], (&values, left as u64, distance as u64))
            })?;
            left = distance;
        }
        self.submit(|cg| {
            let from = cg.access_ranged(&work, Read, [1], [0])?;
            let to = cg.access_ranged(into, Write, [1], [0])?;
            cg.copy(&from, &to)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_groups_are_by_type() {
        let (cpu, gpu) = (Some(DeviceType::Cpu), Some(DeviceType::Gpu));
        for (text, expected) in [
            ("", Ok(vec![])),
            ("cpu:64", Ok(vec![(cpu, 64)])),
            ("*:32, GPU:16", Ok(vec![(None, 32), (gpu, 16)])),
            ("cpu", Err("cpu")),
            ("cpu:0", Err("cpu:0")),
            ("tpu:8", Err("tpu:8")),
            ("cpu:8,", Err("")),
            ("cpu:x", Err("cpu:x")),
        ] {
            assert_eq!(groups(text), expected, "{text}");
        }
    }
}
