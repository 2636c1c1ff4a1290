//! The handler: a command group's closure turns it into a command.

use std::cell::RefCell;
use std::marker::PhantomData;

use smallvec::SmallVec;

use crate::accessor::{Accessor, Brand, HostTaskAccessor, LocalAccessor, Mode, Read, Writes};
use crate::arguments::ArgSink;
use crate::buffer::Buffer;
use crate::bundle::{SpecId, SpecValue, bytes_of};
use crate::command_group::{Action, Group, Record};
use crate::error::{Errc, Error, Result};
use crate::event::Event;
use crate::faults::LaunchRecord;
use crate::host_task::{HostViews, InteropHandle, PlannedViews, Task};
use crate::image::native::sampler;
use crate::image::{
    HostTaskImageAccessor, ImageAccessor, SampledImage, Texel, UnsampledImage, check_kind,
};
use crate::kernel_args::Launch;
use crate::operation::{Operation, Region, Shape};
use crate::queue_inner::QueueInner;
use crate::range::{
    DeviceData, Dim, Id, NdRange, Range, SupportedDim, coordinates, extents, to_xyz,
};
use crate::storage::TargetMemory;

/// Collects the accesses and dependencies of a command group; each command consumes it.
pub struct Handler<'cg> {
    queue: &'cg QueueInner,
    group: &'cg RefCell<Group>,
    brand: Brand<'cg>,
}

impl std::fmt::Debug for Handler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

/// Proof that a handler was turned into a command.
#[must_use = "the command group's closure returns it"]
#[derive(Debug)]
pub struct Command<'cg> {
    brand: Brand<'cg>,
}

impl<'cg> Handler<'cg> {
    pub(crate) fn new(queue: &'cg QueueInner, group: &'cg RefCell<Group>) -> Self {
        Self {
            queue,
            group,
            brand: PhantomData,
        }
    }

    /// Makes the command follow these events.
    pub fn depends_on(&self, events: &[Event]) {
        self.group
            .borrow_mut()
            .events
            .extend(events.iter().cloned());
    }

    pub(crate) fn depends_on_everything(&self) {
        self.group.borrow_mut().follows_all = true;
    }

    /// Accesses a buffer on the queue's device.
    ///
    /// # Errors
    /// None for a whole buffer.
    #[track_caller]
    pub fn access<T: DeviceData, const D: usize, M: Mode>(
        &self,
        buffer: &Buffer<'_, T, D>,
        mode: M,
    ) -> Result<Accessor<'cg, T, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        self.access_ranged(buffer, mode, buffer.range(), Id([0; D]))
    }

    /// Accesses a part of a buffer on the queue's device: copies and conflicts concern the pages that it overlaps.
    ///
    /// The kernel gets the address of the whole buffer, and the device can access all of it. But data read outside the
    /// part may be outdated, and data written there may be overwritten by a later copy.
    ///
    /// # Errors
    /// [`Errc::Invalid`] if the part ends outside the buffer.
    #[track_caller]
    pub fn access_ranged<T: DeviceData, const D: usize, M: Mode>(
        &self,
        buffer: &Buffer<'_, T, D>,
        _mode: M,
        range: impl Into<Range<D>>,
        offset: impl Into<Id<D>>,
    ) -> Result<Accessor<'cg, T, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        let (range, offset) = (range.into(), offset.into());
        let index = self.record(buffer, M::MODE, range, offset, TargetMemory::Device)?;
        Ok(Accessor {
            index,
            first: buffer.element_number(offset),
            range,
            pitches: buffer.pitches(),
            group: PhantomData,
            types: PhantomData,
        })
    }

    /// Accesses a buffer on the host, in this group's host task.
    ///
    /// # Errors
    /// None for a whole buffer.
    #[track_caller]
    pub fn host_task_access<T: DeviceData, const D: usize, M: Mode>(
        &self,
        buffer: &Buffer<'_, T, D>,
        mode: M,
    ) -> Result<HostTaskAccessor<'cg, T, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        self.host_task_access_ranged(buffer, mode, buffer.range(), Id([0; D]))
    }

    /// Accesses a part of a buffer on the host, in this group's host task; index 0 of the view is `offset`.
    ///
    /// # Errors
    /// [`Errc::Invalid`] if the part ends outside the buffer.
    #[track_caller]
    pub fn host_task_access_ranged<T: DeviceData, const D: usize, M: Mode>(
        &self,
        buffer: &Buffer<'_, T, D>,
        _mode: M,
        range: impl Into<Range<D>>,
        offset: impl Into<Id<D>>,
    ) -> Result<HostTaskAccessor<'cg, T, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        let (range, offset) = (range.into(), offset.into());
        let index = self.record(buffer, M::MODE, range, offset, TargetMemory::Host)?;
        Ok(HostTaskAccessor {
            index,
            range,
            pitches: buffer.pitches(),
            first: buffer.element_number(offset),
            group: PhantomData,
            types: PhantomData,
        })
    }

    #[track_caller]
    fn record<T: DeviceData, const D: usize>(
        &self,
        buffer: &Buffer<'_, T, D>,
        mode: sycl_graph::Mode,
        range: Range<D>,
        offset: Id<D>,
        target: TargetMemory,
    ) -> Result<u32>
    where
        Dim<D>: SupportedDim,
    {
        let accesses = buffer.accesses(mode, range, offset)?;
        let first = buffer.element_number(offset);
        let mut last = offset;
        for (at, extent) in last.0.iter_mut().zip(range.0) {
            *at += extent.saturating_sub(1);
        }
        let end = match range.size() {
            0 => first,
            _ => buffer.element_number(last) + 1,
        };
        let bytes = |element: usize| buffer.first_byte() + element * size_of::<T>();
        let mut group = self.group.borrow_mut();
        group.records.push(Record {
            core: std::sync::Arc::clone(buffer.core()),
            accesses,
            first_byte: buffer.first_byte(),
            target,
            bytes: (bytes(first), bytes(end)),
            writes: mode.writes(),
        });
        let index = group.records.len() - 1;
        drop(group);
        let kind = match target {
            TargetMemory::Device => 2014,
            TargetMemory::Host => 2021,
        };
        let site = crate::trace::Site::here();
        crate::trace::accessor(site, buffer.core().number, index, kind, mode);
        Ok(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Accesses an image on the queue's device.
    ///
    /// # Errors
    /// None here; the submission returns [`Errc::FeatureNotSupported`] if the device does not support the image's
    /// format or size.
    #[track_caller]
    pub fn image<const D: usize, M: Mode>(
        &self,
        image: &UnsampledImage<'_, D>,
        _mode: M,
    ) -> Result<ImageAccessor<'cg, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        let index = self.record_image(image, M::MODE, TargetMemory::Device);
        let (element, site) = (image.format().element(), crate::trace::Site::here());
        let number = image.core().number;
        crate::trace::image_accessor(site, number, index, Some(0), Some(M::MODE), element);
        Ok(ImageAccessor {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            range: image.range(),
            group: PhantomData,
            mode: PhantomData,
        })
    }

    /// Accesses a sampled image on the queue's device. Its [`SampledImage::sampler`] is another argument of the kernel.
    ///
    /// # Errors
    /// As [`Self::image`].
    #[track_caller]
    pub fn sampled<const D: usize>(
        &self,
        image: &SampledImage<D>,
    ) -> Result<ImageAccessor<'cg, D, Read>>
    where
        Dim<D>: SupportedDim,
    {
        let index = self.record_image(
            image.unsampled(),
            sycl_graph::Mode::Read,
            TargetMemory::Device,
        );
        let (element, site) = (image.format().element(), crate::trace::Site::here());
        let number = image.unsampled().core().number;
        crate::trace::image_accessor(site, number, index, Some(0), None, element);
        Ok(ImageAccessor {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            range: image.range(),
            group: PhantomData,
            mode: PhantomData,
        })
    }

    /// Accesses an image on the host, in this group's host task, with texels of `P`: `[f32; 4]`, `[i32; 4]` or `[u32;
    /// 4]`.
    ///
    /// # Errors
    /// [`Errc::Invalid`] if texels of the format are read as another type.
    #[track_caller]
    pub fn host_task_image<P: Texel, const D: usize, M: Mode>(
        &self,
        image: &UnsampledImage<'_, D>,
        _mode: M,
    ) -> Result<HostTaskImageAccessor<'cg, P, D, M>>
    where
        Dim<D>: SupportedDim,
    {
        check_kind::<P>(image.format())?;
        let index = self.record_image(image, M::MODE, TargetMemory::Host);
        let element = (std::any::type_name::<P>(), size_of::<P>());
        let site = crate::trace::Site::here();
        let number = image.core().number;
        crate::trace::image_accessor(site, number, index, Some(1), Some(M::MODE), element);
        Ok(HostTaskImageAccessor {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            format: image.format(),
            range: image.range(),
            group: PhantomData,
            types: PhantomData,
        })
    }

    fn record_image<const D: usize>(
        &self,
        image: &UnsampledImage<'_, D>,
        mode: sycl_graph::Mode,
        target: TargetMemory,
    ) -> usize
    where
        Dim<D>: SupportedDim,
    {
        let record = Record {
            core: std::sync::Arc::clone(image.core()),
            accesses: SmallVec::from_buf([image.whole(mode)]),
            first_byte: 0,
            target,
            bytes: (0, image.byte_count()),
            writes: mode.writes(),
        };
        let mut group = self.group.borrow_mut();
        group.records.push(record);
        group.records.len() - 1
    }

    /// Allocates local memory: each work-group of the kernel has its own.
    #[must_use]
    pub fn local<T: DeviceData, const D: usize>(
        &self,
        range: impl Into<Range<D>>,
    ) -> LocalAccessor<'cg, T, D> {
        LocalAccessor {
            range: range.into(),
            group: PhantomData,
            types: PhantomData,
        }
    }

    /// Sets a specialization constant of this group's kernel, which is built once for each set of values.
    ///
    /// # Errors
    /// None here; build errors are reported at the launch.
    pub fn spec_const<T: SpecValue>(&self, id: SpecId<T>, value: T) -> Result<()> {
        let mut group = self.group.borrow_mut();
        group.constants.insert(id.number(), bytes_of(value));
        Ok(())
    }

    /// Runs a kernel with one work-item.
    ///
    /// # Errors
    /// [`Errc::KernelArgument`] for arguments that do not match the kernel's parameters; errors of building the kernel.
    pub fn single_task<K: Launch<'cg, A>, A>(
        self,
        kernel: K,
        arguments: A,
    ) -> Result<Command<'cg>> {
        self.launch(&kernel, arguments, 1, Some([1; 3]), [1; 3], [0; 3])
    }

    /// Runs a kernel with one work-item for each index of a range, in work-groups of the size that the driver suggests.
    ///
    /// # Errors
    /// As [`Self::single_task`]; [`Errc::NdRange`] for a range that the device cannot run.
    pub fn parallel_for<const D: usize, K: Launch<'cg, A>, A>(
        self,
        kernel: K,
        range: impl Into<Range<D>>,
        arguments: A,
    ) -> Result<Command<'cg>>
    where
        Dim<D>: SupportedDim,
    {
        let items = to_xyz("range", range.into())?;
        self.launch(&kernel, arguments, D, None, items, [0; 3])
    }

    /// As [`Self::parallel_for`], with ids that begin at `offset`.
    ///
    /// # Errors
    /// As [`Self::parallel_for`]; [`Errc::FeatureNotSupported`] if the driver does not support offsets.
    pub fn parallel_for_offset<const D: usize, K: Launch<'cg, A>, A>(
        self,
        kernel: K,
        range: impl Into<Range<D>>,
        offset: impl Into<Id<D>>,
        arguments: A,
    ) -> Result<Command<'cg>>
    where
        Dim<D>: SupportedDim,
    {
        let items = to_xyz("range", range.into())?;
        let mut offset = coordinates(offset.into().0);
        offset.reverse();
        let offset = to_xyz("offset", Range([offset[2], offset[1], offset[0]]))?;
        self.launch(&kernel, arguments, D, None, items, offset)
    }

    /// Runs a kernel with work-groups of the given shape.
    ///
    /// # Errors
    /// As [`Self::single_task`]; [`Errc::NdRange`] for groups that do not divide the range or are too large.
    pub fn parallel_for_nd<const D: usize, K: Launch<'cg, A>, A>(
        self,
        kernel: K,
        range: NdRange<D>,
        arguments: A,
    ) -> Result<Command<'cg>>
    where
        Dim<D>: SupportedDim,
    {
        let items = to_xyz("global range", range.global)?;
        let size = to_xyz("local range", range.local)?;
        let wrong = |text: String| Err(Error::new(Errc::NdRange, text));
        if (0..3).any(|axis| size[axis] == 0 || !items[axis].is_multiple_of(size[axis])) {
            return wrong(format!(
                "local range {:?} does not divide global range {:?}",
                range.local.0, range.global.0
            ));
        }
        let most = self.queue.device.compute_group()?.largest_group as usize;
        if range.local.size() > most {
            return wrong(format!(
                "local range {:?} has {} work-items; the device runs at most {most} in a group",
                range.local.0,
                range.local.size()
            ));
        }
        self.launch(&kernel, arguments, D, Some(size), items, [0; 3])
    }

    fn launch<K: Launch<'cg, A>, A>(
        self,
        kernel: &K,
        arguments: A,
        dimensions: usize,
        size: Option<[u32; 3]>,
        items: [u32; 3],
        offset: [u32; 3],
    ) -> Result<Command<'cg>> {
        let queue = self.queue;
        let mut function = kernel.kernel(&queue.context, &queue.device)?;
        let mut group = self.group.borrow_mut();
        let passed = &mut group.arguments;
        passed.clear();
        kernel.pass(arguments, &mut ArgSink(passed));
        if let Some(sites) = kernel.faults()? {
            let (native, device) = (&queue.context.0.native, &queue.device);
            let record = LaunchRecord::new(native, device, sites, dimensions)?;
            ArgSink(passed).pointer(record.address());
            group.faults.push(record);
        }
        if !group.constants.is_empty() {
            function = function.specialised(&group.constants)?;
        }
        let inner = &function.0;
        let passed = &mut group.arguments;
        passed.check(&inner.name, inner.count, inner.known.as_deref())?;
        passed.make_samplers(|wanted| sampler(&queue.context.0.native, &queue.device, wanted))?;
        if items.contains(&0) {
            // Without work-items the accessors still count.
            drop(group);
            return self.barrier();
        }
        let handle = inner.handle_for(&queue.device)?;
        let size = size.unwrap_or_else(|| inner.group_size(handle, items));
        let groups = [0, 1, 2].map(|axis| items[axis] / size[axis]);
        group.action = Some(Action::Launch(Shape {
            kernel: function.0,
            handle,
            dimensions,
            groups,
            size,
            offset,
        }));
        Ok(Command { brand: self.brand })
    }

    /// Copies the elements of one accessor to another of the same shape.
    ///
    /// # Errors
    /// [`Errc::Invalid`] if their ranges differ.
    pub fn copy<T: DeviceData, const D: usize, S: Mode, W: Writes>(
        self,
        source: &Accessor<'cg, T, D, S>,
        target: &Accessor<'cg, T, D, W>,
    ) -> Result<Command<'cg>> {
        if source.range != target.range {
            return Err(Error::invalid(format!(
                "cannot copy {:?} elements to an accessor of {:?}",
                source.range.0, target.range.0
            )));
        }
        let [depth, height, width] = extents(source.range.0);
        if source.range.size() == 0 {
            return self.barrier();
        }
        let size = size_of::<T>();
        let pitches = |pitches: [usize; 2]| pitches.map(|elements| elements * size);
        let at = |first: usize| std::ptr::without_provenance_mut(first * size);
        let region = Box::new(Region {
            target: at(target.first),
            source: at(source.first),
            target_origin: [0; 3],
            source_origin: [0; 3],
            size: [width * size, height, depth],
            target_pitches: pitches(target.pitches),
            source_pitches: pitches(source.pitches),
        });
        self.set(Action::Copy {
            source: source.index,
            target: target.index,
            region,
        })
    }

    /// Sets every element of an accessor.
    ///
    /// # Errors
    /// [`Errc::MemoryAllocation`] if the device does not support the pattern's size and memory for repeating it is
    /// short.
    pub fn fill<T: DeviceData, const D: usize, M: Writes>(
        self,
        target: &Accessor<'cg, T, D, M>,
        value: T,
    ) -> Result<Command<'cg>> {
        let size = size_of::<T>();
        let [depth, height, width] = extents(target.range.0);
        if target.range.size() == 0 || size == 0 {
            return self.barrier();
        }
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for plane in 0..depth {
            for row in 0..height {
                let first = target.first + plane * target.pitches[1] + row * target.pitches[0];
                match runs.last_mut() {
                    Some((begin, bytes)) if *begin + *bytes == first * size => {
                        *bytes += width * size
                    }
                    _ => runs.push((first * size, width * size)),
                }
            }
        }
        // SAFETY: every byte of a `DeviceData` value is initialised.
        let pattern = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size) };
        let longest = self.queue.device.compute_group()?.longest_pattern;
        if size.is_power_of_two() && size <= longest {
            return self.set(Action::Fill {
                target: target.index,
                pattern: SmallVec::from_slice(pattern),
                runs,
            });
        }
        let staged = crate::staging::Staging::new(
            &self.queue.context,
            pattern,
            runs.iter().map(|run| run.1).max().unwrap_or(0),
        )?;
        self.set(Action::StagedFill {
            target: target.index,
            staged,
            runs,
        })
    }

    /// Copies the elements of an accessor to the host, so that later host accesses need not wait for a copy.
    ///
    /// # Errors
    /// [`Errc::Invalid`] for an accessor of another group.
    pub fn update_host<T: DeviceData, const D: usize, M: Mode>(
        self,
        accessor: &Accessor<'cg, T, D, M>,
    ) -> Result<Command<'cg>> {
        {
            let mut group = self.group.borrow_mut();
            let Some(record) = group.records.get_mut(accessor.index as usize) else {
                return Err(Error::invalid(
                    "the accessor belongs to another command group",
                ));
            };
            record.target = TargetMemory::Host;
            record.writes = false;
            for access in &mut record.accesses {
                access.mode = sycl_graph::Mode::Read;
            }
        }
        self.barrier()
    }

    /// Runs a closure on a thread of the runtime when its data is ready. Its error or panic is an asynchronous error,
    /// and the contents that it should have written are lost.
    ///
    /// # Errors
    /// None here.
    pub fn host_task<V: HostViews<'cg>, F>(self, views: V, task: F) -> Result<Command<'cg>>
    where
        F: for<'t> FnOnce(
                &'t InteropHandle<'t>,
                <V::Planned as PlannedViews>::At<'t>,
            ) -> Result<()>
            + Send
            + 'static,
    {
        let planned = views.plan();
        self.set(Action::HostTask(Task::new(planned, task)))
    }

    /// An empty command that follows the group's dependencies.
    ///
    /// # Errors
    /// None here.
    pub fn barrier(self) -> Result<Command<'cg>> {
        Ok(Command { brand: self.brand })
    }

    pub(crate) fn operations(
        self,
        operations: SmallVec<[Operation; 1]>,
        keep: Option<Box<dyn std::any::Any + Send>>,
    ) -> Result<Command<'cg>> {
        self.set(Action::Operations(operations, keep))
    }

    fn set(self, action: Action) -> Result<Command<'cg>> {
        self.group.borrow_mut().action = Some(action);
        Ok(Command { brand: self.brand })
    }
}
