//! Buffers: storage of fixed size that command groups use on any device.
//!
//! Buffers follow the hipSYCL buffer model. Each physical device has one allocation of the full size, made at the first
//! use there and kept until the buffer ends. The state of each page on each device is tracked; only outdated pages that
//! are needed are copied. `storage` owns the memory; this module has the handles.

use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;
use sycl_graph::{Access, Deps, Domain, Grid, View};

use crate::accessor::Mode;
use crate::context::Context;
use crate::device::Device;
use crate::engine::completion::wait_for;
use crate::engine::deferred_release::release_after;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::host_accessor::HostAccessor;
use crate::memory::End;
use crate::range::{DeviceData, Dim, Id, Range, SupportedDim, coordinates, extents};
use crate::storage::{BufferCore, BufferState, next_number};
use crate::trace::Part;
use crate::transfer::bring_to_host;

/// A buffer of `T` in `D` dimensions. Cheap to clone; the clones are one buffer.
///
/// `'h` is the borrow of the final data's receiver ([`Self::from_slice_mut`], [`Self::set_final_data`]), `'static`
/// without one. Only with a receiver does dropping the last handle wait for work on the buffer.
pub struct Buffer<'h, T: DeviceData, const D: usize = 1>
where
    Dim<D>: SupportedDim,
{
    /// The tools' node of a sub-buffer. Declared before the handle, so that its end is reported first.
    part: Option<Arc<Part>>,
    handle: Arc<Handle>,
    range: Range<D>,
    /// Position and shape in the parent buffer, for a view.
    view: Option<View>,
    first_byte: usize,
    types: PhantomData<&'h mut [T]>,
}

impl<T: DeviceData, const D: usize> Clone for Buffer<'_, T, D>
where
    Dim<D>: SupportedDim,
{
    fn clone(&self) -> Self {
        Self {
            part: self.part.clone(),
            handle: Arc::clone(&self.handle),
            range: self.range,
            view: self.view.clone(),
            first_byte: self.first_byte,
            types: PhantomData,
        }
    }
}

impl<T: DeviceData, const D: usize> std::fmt::Debug for Buffer<'_, T, D>
where
    Dim<D>: SupportedDim,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Buffer(#{}, {:?})",
            self.handle.core.number, self.range.0
        )
    }
}

/// Options of a buffer.
#[derive(Clone, Debug)]
pub struct BufferOptions<const D: usize> {
    /// Elements of a page, the unit of copies and conflicts. `None`: chosen by the buffer's size.
    pub page_size: Option<Range<D>>,
    /// Each sub-device and the whole device have their own allocation, and data is copied between them. By default they
    /// share one. Meant for parts with their own memory, far from each other; devices that use host memory share one
    /// allocation in any case.
    pub separate_tiles: bool,
}

impl<const D: usize> Default for BufferOptions<D> {
    fn default() -> Self {
        Self {
            page_size: None,
            separate_tiles: false,
        }
    }
}

/// The program's USM for one device: see [`Buffer::from_usm`].
#[derive(Clone, Debug)]
pub struct UsmView<T> {
    /// The device that uses the memory.
    pub device: Device,
    /// The allocation's context.
    pub context: Context,
    /// The first element.
    pub pointer: *mut T,
    /// Whether the memory holds the buffer's contents.
    pub initialised: bool,
    /// Whether the memory is freed with the buffer.
    pub free_with_buffer: bool,
}

impl<T: DeviceData, const D: usize> Buffer<'static, T, D>
where
    Dim<D>: SupportedDim,
{
    /// Creates a buffer without contents. Allocates and copies nothing before the first use.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the size exceeds the address space.
    #[track_caller]
    pub fn new(range: impl Into<Range<D>>) -> Result<Self> {
        Self::with_options(range, &BufferOptions::default())
    }

    /// As [`Self::new`], with options.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] also for empty pages and for too many pages.
    #[track_caller]
    pub fn with_options(range: impl Into<Range<D>>, options: &BufferOptions<D>) -> Result<Self> {
        Self::create(range.into(), options, 0)
    }

    /// Creates a buffer with a copy of the given elements, made now in host memory. The source may change afterwards,
    /// and dropping the buffer does not wait.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the number of elements does not match the range; [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn from_slice(data: &[T], range: impl Into<Range<D>>) -> Result<Self> {
        Self::from_slice_with(data, range, &BufferOptions::default())
    }

    /// As [`Self::from_slice`], with options.
    ///
    /// # Errors
    /// As [`Self::from_slice`] and [`Self::with_options`].
    #[track_caller]
    pub fn from_slice_with(
        data: &[T],
        range: impl Into<Range<D>>,
        options: &BufferOptions<D>,
    ) -> Result<Self> {
        let buffer = Self::create(range.into(), options, data.as_ptr().addr())?;
        buffer.fill_from(data)?;
        Ok(buffer)
    }

    /// As [`Self::from_slice`], consuming the vector.
    ///
    /// # Errors
    /// As [`Self::from_slice`].
    #[track_caller]
    pub fn from_vec(data: Vec<T>, range: impl Into<Range<D>>) -> Result<Self> {
        Self::from_slice(&data, range)
    }

    /// Creates a buffer over the program's USM, one allocation of any kind for each device. Allocations that hold
    /// contents hold the same. On other devices the buffer allocates as usual.
    ///
    /// # Safety
    /// Every pointer is USM of its context with room for all elements. Until the buffer ends the memory lives and is
    /// used by the buffer only.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for two views of one memory, a device outside its context, an allocation that is too
    /// small, or a misaligned pointer. The program then still owns all the memory.
    #[track_caller]
    pub unsafe fn from_usm(views: &[UsmView<T>], range: impl Into<Range<D>>) -> Result<Self> {
        let range = range.into();
        let buffer = Self::create(range, &BufferOptions::default(), 0)?;
        {
            let mut state = buffer.handle.core.lock();
            for view in views {
                if let Err(error) = adopt_view(&mut state, view) {
                    // The program owns the memory that was adopted before the failure.
                    state.keep_all();
                    return Err(error);
                }
            }
        }
        Ok(buffer)
    }
}

/// Adopts one view's memory for its device.
fn adopt_view<T>(state: &mut BufferState, view: &UsmView<T>) -> Result<()> {
    if !view.context.contains(&view.device) {
        return Err(Error::invalid("a view's device is not of its context"));
    }
    if !view.pointer.is_aligned() {
        return Err(Error::invalid(format!(
            "the pointer {:p} is not aligned to the {} bytes of an element",
            view.pointer,
            align_of::<T>()
        )));
    }
    let native = &view.context.0.native;
    let bytes = state.graph.grid().bytes();
    let room = crate::usm::pointer::room(native, view.pointer.cast())?;
    if room < bytes {
        return Err(Error::invalid(format!(
            "the allocation has {room} bytes from the pointer on; the buffer needs {bytes}"
        )));
    }
    let (kind, _) = crate::usm::pointer::properties_of(native, view.pointer.cast())?;
    if view.free_with_buffer {
        let (base, _) = crate::usm::pointer::range_of(native, view.pointer.cast())?;
        if base.addr() != view.pointer.addr() {
            return Err(Error::invalid(format!(
                "{:p} lies inside of its allocation, which begins at {base:p}: only a whole one can be freed with the buffer",
                view.pointer
            )));
        }
    }
    let domain = state.domain_for(kind, &view.context, &view.device)?;
    let end = match view.free_with_buffer {
        true => End::Free,
        false => End::Keep,
    };
    state.adopt(domain, (kind, view.pointer.cast()), &view.context, end)?;
    if view.initialised {
        state.graph.adopt_copy(domain);
    }
    Ok(())
}

impl<T: DeviceData> Buffer<'static, T, 1> {
    /// Creates a buffer from an iterator, as [`Self::from_slice`]; the iterator's length is the buffer's.
    ///
    /// # Errors
    /// As [`Self::from_slice`].
    #[track_caller]
    pub fn from_iterator(values: impl IntoIterator<Item = T>) -> Result<Self> {
        let values: Vec<T> = values.into_iter().collect();
        let count = values.len();
        Self::from_vec(values, count)
    }
}

impl<'h, T: DeviceData, const D: usize> Buffer<'h, T, D>
where
    Dim<D>: SupportedDim,
{
    #[track_caller]
    fn create(range: Range<D>, options: &BufferOptions<D>, host: usize) -> Result<Self> {
        let page = options.page_size.map(|page| extents(page.0));
        let grid = match (page, crate::environment::page()) {
            (None, Some(bytes)) => Grid::with_page_bytes(extents(range.0), size_of::<T>(), bytes),
            _ => Grid::new(extents(range.0), size_of::<T>(), page),
        }?;
        let alignment = align_of::<T>().max(64);
        let core = BufferCore::new(grid, alignment, None);
        if options.separate_tiles {
            core.lock().separate_tiles();
        }
        let (site, element) = (crate::trace::Site::here(), std::any::type_name::<T>());
        crate::trace::buffer_made(site, core.number, host, element, size_of::<T>(), &range.0);
        Ok(Self {
            part: None,
            handle: Handle::new(core),
            range,
            view: None,
            first_byte: 0,
            types: PhantomData,
        })
    }

    fn fill_from(&self, data: &[T]) -> Result<()> {
        if data.len() != self.range.size() {
            return Err(Error::invalid(format!(
                "{} elements for a buffer of {:?}",
                data.len(),
                self.range.0
            )));
        }
        let mut state = self.handle.core.lock();
        let pointer = state.host_memory()?;
        // SAFETY: the allocation has room for all elements, and no other thread knows it yet.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), pointer.cast::<T>(), data.len());
        }
        state.graph.adopt(Domain::HOST);
        Ok(())
    }

    /// Creates a buffer with a copy of the given elements. Dropping the last handle waits for all work on the buffer
    /// and copies the contents back. Sound under [`std::mem::forget`]: the slice is accessed here and in that drop
    /// only.
    ///
    /// # Errors
    /// As [`Buffer::from_slice`].
    #[track_caller]
    pub fn from_slice_mut(data: &'h mut [T], range: impl Into<Range<D>>) -> Result<Self> {
        let host = data.as_ptr().addr();
        let buffer = Self::create(range.into(), &BufferOptions::default(), host)?;
        buffer.fill_from(data)?;
        buffer.set_final_data(move |contents| data.copy_from_slice(contents));
        Ok(buffer)
    }

    /// Sets the receiver of the final contents, replacing an earlier one. Dropping the last handle then waits for all
    /// work on the buffer. On a view the receiver gets all elements of the whole buffer.
    pub fn set_final_data(&self, receive: impl FnOnce(&[T]) + Send + 'h) {
        let bytes = self.handle.core.lock().graph.grid().bytes();
        let count = bytes / size_of::<T>().max(1);
        let receive = move |contents: *const u8| {
            // SAFETY: the handle's end passes the host's whole allocation, aligned for the elements, after the last
            // write.
            receive(unsafe { std::slice::from_raw_parts(contents.cast::<T>(), count) });
        };
        // SAFETY: `'h` outlives the type of every handle.
        unsafe { self.handle.set_final_data(Box::new(receive)) };
    }

    /// Sets whether the contents are copied back at the end. The default is `true`.
    pub fn set_write_back(&self, on: bool) {
        self.handle.set_write_back(on);
    }

    /// Returns the buffer's range.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    /// Returns the elements of a page, in the range that the buffer was created with.
    #[must_use]
    pub fn page_size(&self) -> [usize; 3] {
        self.handle.core.lock().graph.grid().page()
    }

    /// Returns whether the buffer has an allocation on a device.
    #[must_use]
    pub fn allocated_on(&self, device: &Device) -> bool {
        self.device_ptr(device).is_some()
    }

    /// Returns the first element on a device: USM that is valid until the last handle is dropped. `None` before the
    /// first use there. The caller does not access it while command groups use the buffer.
    #[must_use]
    pub fn device_ptr(&self, device: &Device) -> Option<*mut T> {
        let state = self.handle.core.lock();
        let memory = state.memory_on(device)?;
        Some(memory.pointer.wrapping_add(self.first_byte).cast())
    }

    /// Frees the buffer's allocation on a device, in every context of that device. Data that exists only there is first
    /// copied to the host. The next use allocates again.
    ///
    /// # Errors
    /// Errors of the copies; the buffer is then unchanged.
    pub fn release(&self, device: &Device) -> Result<()> {
        let domains = self.handle.core.lock().known_domains(device);
        domains
            .filter(|domain| *domain != Domain::HOST)
            .try_for_each(|domain| self.release_domain(domain))
    }

    fn release_domain(&self, domain: Domain) -> Result<()> {
        let core = &self.handle.core;
        let mut state = core.lock();
        state.roll_back_failures();
        let plan = state.graph.plan_release(domain, &state.links());
        if !plan.is_empty() {
            state.host_memory()?;
        }
        for transfer in plan {
            crate::transfer::submit(core, &mut state, transfer, None)?;
        }
        let mut users = Deps::default();
        state.graph.last_use(&mut users);
        state.graph.release(domain);
        let memory = state.take_memory(domain);
        let ending = state.history.ending();
        drop(state);
        if memory
            .as_ref()
            .is_some_and(|memory| memory.end == End::Keep)
        {
            wait_for(&users)?;
        }
        let number = core.number;
        let kept = memory.as_ref().map(|m| m.context.0.native.kept());
        release_after(users, kept.unwrap_or_default(), move || {
            if let Some(memory) = memory {
                ending.end(number, memory);
            }
        });
        Ok(())
    }

    /// Returns a view of the same bytes with another element type or shape. Conflicts and copies treat it as the same
    /// buffer.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the sizes in bytes differ.
    pub fn reinterpret<U: DeviceData, const E: usize>(
        &self,
        range: impl Into<Range<E>>,
    ) -> Result<Buffer<'h, U, E>>
    where
        Dim<E>: SupportedDim,
    {
        let range = range.into();
        let bytes = |count: usize, size: usize| count.checked_mul(size);
        let own = bytes(self.range.size(), size_of::<T>());
        if bytes(range.size(), size_of::<U>()) != own {
            return Err(Error::invalid(format!(
                "{:?} elements of {} bytes are not the {} bytes of this buffer",
                range.0,
                size_of::<U>(),
                own.unwrap_or(0)
            )));
        }
        if align_of::<U>() > self.handle.core.lock().least_alignment()
            || !self.first_byte.is_multiple_of(align_of::<U>())
        {
            return Err(Error::invalid(
                "the buffer's memory is not aligned for these elements",
            ));
        }
        self.viewed(range, self.first_byte)
    }

    /// Returns a contiguous part as a view. Conflicts and copies treat it as the same buffer.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the part ends outside the buffer or is not contiguous.
    #[track_caller]
    pub fn sub(&self, offset: impl Into<Id<D>>, range: impl Into<Range<D>>) -> Result<Self> {
        let (offset, range) = (offset.into(), range.into());
        let shape = Grid::new(extents(self.range.0), size_of::<T>(), None)?;
        let region = shape.region(coordinates(offset.0), extents(range.0))?;
        let Some((first, _)) = shape.contiguous(&region) else {
            return Err(Error::invalid(format!(
                "{:?} from {:?} of a buffer of {:?} has gaps in memory",
                range.0, offset.0, self.range.0
            )));
        };
        let core = &self.handle.core;
        let bytes = range.size() * size_of::<T>();
        let first = self.first_byte + first;
        let element = size_of::<T>();
        let mut state = core.lock();
        state.history.sub_buffer(core.number, first, bytes, element);
        drop(state);
        let mut view = self.viewed(range, first)?;
        let (site, name) = (crate::trace::Site::here(), std::any::type_name::<T>());
        let part = Part::made(site, core.number, next_number, name, element, &range.0);
        view.part = Some(Arc::new(part));
        Ok(view)
    }

    fn viewed<U: DeviceData, const E: usize>(
        &self,
        range: Range<E>,
        first_byte: usize,
    ) -> Result<Buffer<'h, U, E>>
    where
        Dim<E>: SupportedDim,
    {
        let grid = *self.handle.core.lock().graph.grid();
        let view = View::new(&grid, extents(range.0), size_of::<U>(), first_byte)?;
        Ok(Buffer {
            part: None,
            handle: Arc::clone(&self.handle),
            range,
            view: Some(view),
            first_byte,
            types: PhantomData,
        })
    }

    /// Returns a copy of the elements, after waiting for the work that writes them.
    ///
    /// # Errors
    /// As [`Self::host_access`].
    #[track_caller]
    pub fn into_vec(self) -> Result<Vec<T>> {
        let range = self.range;
        let access = self.host_access(crate::accessor::Read)?;
        Ok(access.elements(range.size()).to_vec())
    }

    /// Marks the contents as valid even though work that should have written them failed.
    pub fn clear_poison(&self) {
        let mut state = self.handle.core.lock();
        state.roll_back_failures();
        state.graph.clear_poison();
        state.poison = None;
    }

    /// Access from the host. Waits for conflicting work; later conflicting work waits until the accessor is dropped.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if this thread holds a conflicting host accessor (it would deadlock); failures of the
    /// work it waits for; [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn host_access<M: Mode>(&self, mode: M) -> Result<HostAccessor<'_, T, D, M>> {
        self.host_access_ranged(mode, self.range, Id([0; D]))
    }

    /// As [`Self::host_access`], for a part: index 0 of the accessor is `offset`.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] also if the part ends outside the buffer.
    #[track_caller]
    pub fn host_access_ranged<M: Mode>(
        &self,
        _mode: M,
        range: impl Into<Range<D>>,
        offset: impl Into<Id<D>>,
    ) -> Result<HostAccessor<'_, T, D, M>> {
        let (range, offset) = (range.into(), offset.into());
        let accesses = self.accesses(M::MODE, range, offset)?;
        let core = &self.handle.core;
        let site = crate::trace::Site::here();
        crate::trace::accessor(site, core.number, 0, 2018, M::MODE);
        let lock = {
            let mut state = core.lock();
            let state = &mut *state;
            let grid = state.graph.grid();
            state.history.locked(core.number, grid, &accesses, site)
        };
        let (pointer, pending) = lock.task(|| bring_to_host(core, &accesses))?;
        let first = self.element_number(offset);
        let pointer = pointer
            .wrapping_add(self.first_byte)
            .cast::<T>()
            .wrapping_add(first);
        let held = (Arc::clone(core), lock);
        Ok(HostAccessor::new(
            pointer,
            range,
            self.pitches(),
            pending,
            held,
        ))
    }

    pub(crate) fn core(&self) -> &Arc<BufferCore> {
        &self.handle.core
    }

    pub(crate) fn first_byte(&self) -> usize {
        self.first_byte
    }

    /// Translates a part into accesses to the buffer's own grid.
    pub(crate) fn accesses(
        &self,
        mode: sycl_graph::Mode,
        range: Range<D>,
        offset: Id<D>,
    ) -> Result<SmallVec<[Access; 1]>> {
        let (offset, range) = (coordinates(offset.0), extents(range.0));
        match &self.view {
            None => {
                let own = self.range;
                let elements = region(extents(own.0), offset, range)?;
                Ok(SmallVec::from_buf([Access { mode, elements }]))
            }
            Some(view) => {
                let elements = view.shape().region(offset, range)?;
                let grid = *self.handle.core.lock().graph.grid();
                Ok(view.accesses(&grid, &Access { mode, elements }).into())
            }
        }
    }

    /// Returns an element's index in memory order.
    pub(crate) fn element_number(&self, id: Id<D>) -> usize {
        let [_, rows, row] = extents(self.range.0);
        let [x, y, z] = coordinates(id.0);
        (x * rows + y) * row + z
    }

    /// Elements from the start of a row to the next, and from the start of a plane to the next.
    pub(crate) fn pitches(&self) -> [usize; 2] {
        let [_, rows, row] = extents(self.range.0);
        [row, rows * row]
    }
}

fn region(extent: [usize; 3], offset: [usize; 3], range: [usize; 3]) -> Result<sycl_graph::Cuboid> {
    let mut upper = [0; 3];
    for axis in 0..3 {
        upper[axis] = offset[axis]
            .checked_add(range[axis])
            .filter(|end| *end <= extent[axis])
            .ok_or(sycl_graph::GridError::Outside {
                offset,
                range,
                extent,
            })?;
    }
    Ok(sycl_graph::Cuboid::new(offset, upper))
}
