//! Buffers: storage of fixed size that command groups use on any device.
//!
//! The rules are the hipSYCL buffer model's (seed 004): one allocation of the full size for each physical device, made
//! when the buffer is first used there and kept until its end; the state of each page on each of them; copies of what is
//! outdated and needed, nothing else. [`sycl_graph::Buffer`] decides; here are the memory, the handles and the end.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Access, Deps, Domain, Grid, Links, View};

use crate::accessor::Mode;
use crate::context::{Context, NativeContext};
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::graveyard::bury;
use crate::host_accessor::HostAccessor;
use crate::memory::{End, Memory, allocate_device, allocate_host, with_room};
use crate::platform::complain;
use crate::range::{DeviceData, Dim, Id, Range, SupportedDim, coordinates, extents};
use crate::ticket::{wait_for, would_wait_for_itself};
use crate::transfer::bring_to_host;

/// A buffer of `T` in `D` dimensions. Cheap to clone; the clones are one buffer.
///
/// `'h` is the borrow of what receives the contents at the end ([`Self::from_slice_mut`], [`Self::set_final_data`]);
/// `'static` if there is none. The last handle's drop waits for work on the buffer only then.
pub struct Buffer<'h, T: DeviceData, const D: usize = 1>
where
    Dim<D>: SupportedDim,
{
    handle: Arc<Handle>,
    range: Range<D>,
    /// Where it lies in the buffer that it is a view of.
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

/// What the user's handles share; its end is the buffer's.
struct Handle {
    core: Arc<BufferCore>,
    write_back: AtomicBool,
    final_data: Mutex<Option<FinalData>>,
}

/// Gets the contents at the end. Its borrow outlives every handle, so `'static` stands for the handles' `'h`.
type FinalData = Box<dyn FnOnce(*const u8) + Send>;

/// What command groups share with the handles.
pub(crate) struct BufferCore {
    pub(crate) number: u64,
    alignment: usize,
    state: Mutex<BufferState>,
}

/// What a buffer's lock protects.
pub(crate) struct BufferState {
    number: u64,
    pub(crate) graph: sycl_graph::Buffer,
    /// By the number of the domain; the host is the first.
    places: SmallVec<[Place; 3]>,
    alignment: usize,
    /// For tools.
    pub(crate) history: crate::trace::History,
    /// Why pages are poisoned.
    pub(crate) poison: Option<Error>,
}

/// A memory that the buffer may be in.
struct Place {
    /// The device and the context it is used in; none for the host.
    device: Option<(Context, Device)>,
    memory: Option<Memory>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Where buffers differ from the default.
#[derive(Clone, Debug)]
pub struct BufferOptions<const D: usize> {
    /// Elements of a page, the unit of copies and conflicts; chosen by size if `None`.
    pub page_size: Option<Range<D>>,
}

impl<const D: usize> Default for BufferOptions<D> {
    fn default() -> Self {
        Self { page_size: None }
    }
}

/// Memory of the user's for one device: see [`Buffer::from_usm`].
#[derive(Clone, Debug)]
pub struct UsmView<T> {
    /// The device that uses it.
    pub device: Device,
    /// Its context.
    pub context: Context,
    /// Its first element.
    pub pointer: *mut T,
    /// It holds the buffer's contents.
    pub initialised: bool,
    /// It is freed with the buffer.
    pub free_with_buffer: bool,
}

impl<T: DeviceData, const D: usize> Buffer<'static, T, D>
where
    Dim<D>: SupportedDim,
{
    /// A buffer without contents. Allocates nothing and copies nothing before it is used.
    ///
    /// # Errors
    /// [`Errc::Invalid`] when it does not fit into the address space.
    #[track_caller]
    pub fn new(range: impl Into<Range<D>>) -> Result<Self> {
        Self::with_options(range, &BufferOptions::default())
    }

    /// As [`Self::new`].
    ///
    /// # Errors
    /// [`Errc::Invalid`] also for pages without elements or too many of them.
    #[track_caller]
    pub fn with_options(range: impl Into<Range<D>>, options: &BufferOptions<D>) -> Result<Self> {
        Self::create(range.into(), options, 0)
    }

    /// A buffer with these contents, copied now into memory of the host. They are free to change afterwards, and the
    /// buffer's end does not wait.
    ///
    /// # Errors
    /// [`Errc::Invalid`] when there are not as many elements as places; [`Errc::MemoryAllocation`].
    #[track_caller]
    pub fn from_slice(data: &[T], range: impl Into<Range<D>>) -> Result<Self> {
        Self::from_slice_with(data, range, &BufferOptions::default())
    }

    /// As [`Self::from_slice`].
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

    /// As [`Self::from_slice`]; the vector is given back to the allocator.
    ///
    /// # Errors
    /// As [`Self::from_slice`].
    #[track_caller]
    pub fn from_vec(data: Vec<T>, range: impl Into<Range<D>>) -> Result<Self> {
        Self::from_slice(&data, range)
    }

    /// A buffer over memory of the user's, each piece for one device, whatever its kind; where several hold contents,
    /// they are the same. On other devices the buffer allocates as always.
    ///
    /// # Safety
    /// Every pointer is USM of its context with room for all elements, which nobody else uses before the buffer's end,
    /// and which lives until then.
    ///
    /// # Errors
    /// [`Errc::Invalid`] for two views on one memory, a device outside its context, or an allocation that is too small.
    pub unsafe fn from_usm(views: &[UsmView<T>], range: impl Into<Range<D>>) -> Result<Self> {
        let range = range.into();
        let buffer = Self::create(range, &BufferOptions::default(), 0)?;
        {
            let mut state = buffer.handle.core.lock();
            for view in views {
                if !view.context.contains(&view.device) {
                    return Err(Error::invalid("a view's device is not of its context"));
                }
                let native = &view.context.0.native;
                let bytes = state.graph.grid().bytes();
                let room = crate::usm::room(native, view.pointer.cast())?;
                if room < bytes {
                    return Err(Error::invalid(format!(
                        "the allocation has {room} bytes from the pointer on; the buffer needs {bytes}"
                    )));
                }
                let domain = state.domain_of(&view.context, &view.device)?;
                let end = match view.free_with_buffer {
                    true => End::Free,
                    false => End::Keep,
                };
                state.adopt(domain, view.pointer.cast(), &view.context, end)?;
                if view.initialised {
                    state.graph.adopt_copy(domain);
                }
            }
        }
        Ok(buffer)
    }
}

impl<'h, T: DeviceData, const D: usize> Buffer<'h, T, D>
where
    Dim<D>: SupportedDim,
{
    #[track_caller]
    fn create(range: Range<D>, options: &BufferOptions<D>, host: usize) -> Result<Self> {
        let page = options.page_size.map(|page| extents(page.0));
        let grid = Grid::new(extents(range.0), size_of::<T>(), page)?;
        let alignment = align_of::<T>().max(64);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let core = Arc::new(BufferCore {
            number,
            alignment,
            state: Mutex::new(BufferState {
                number,
                graph: sycl_graph::Buffer::new(grid),
                places: SmallVec::from_iter([Place {
                    device: None,
                    memory: None,
                }]),
                alignment,
                history: crate::trace::History::default(),
                poison: None,
            }),
        });
        let (site, element) = (crate::trace::Site::here(), std::any::type_name::<T>());
        crate::trace::buffer_made(site, core.number, host, element, size_of::<T>(), &range.0);
        Ok(Self {
            handle: Arc::new(Handle {
                core,
                write_back: AtomicBool::new(true),
                final_data: Mutex::new(None),
            }),
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
        // SAFETY: the allocation has room for all elements, and nobody else knows it yet.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), pointer.cast::<T>(), data.len());
        }
        state.graph.adopt(Domain::HOST);
        Ok(())
    }

    /// A buffer with these contents, copied now; the last handle's drop waits for all work on the buffer and copies the
    /// contents back. Sound under [`std::mem::forget`]: the slice is touched here and in that drop only.
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

    /// Who gets the contents when the last handle is dropped, which then waits for all work on the buffer; replaces who
    /// was set before. On a view it gets the whole buffer's elements.
    pub fn set_final_data(&self, receive: impl FnOnce(&[T]) + Send + 'h) {
        let bytes = self.handle.core.lock().graph.grid().bytes();
        let count = bytes / size_of::<T>().max(1);
        let receive = move |contents: *const u8| {
            // SAFETY: the handle's end passes the host's whole allocation, aligned for the elements, with nothing left
            // that writes it.
            receive(unsafe { std::slice::from_raw_parts(contents.cast::<T>(), count) });
        };
        let receive: Box<dyn FnOnce(*const u8) + Send + 'h> = Box::new(receive);
        // SAFETY: only the lifetime changes. It is called or dropped with the last handle, and every handle is a value
        // of a type that `'h` outlives.
        let receive: FinalData = unsafe { std::mem::transmute(receive) };
        let mut place = lock(&self.handle.final_data);
        *place = Some(receive);
    }

    /// Whether the contents are copied back at the end; they are, unless this was called with `false`.
    pub fn set_write_back(&self, on: bool) {
        self.handle.write_back.store(on, Ordering::Release);
    }

    /// Its extents.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    /// Elements of a page, in the extents of the buffer it was created as.
    #[must_use]
    pub fn page_size(&self) -> [usize; 3] {
        self.handle.core.lock().graph.grid().page()
    }

    /// Whether it has an allocation on a device.
    #[must_use]
    pub fn allocated_on(&self, device: &Device) -> bool {
        self.device_ptr(device).is_some()
    }

    /// Its first element on a device: USM that is valid until the last handle's drop. `None` before its first use there.
    /// Whoever uses it keeps out of the way of command groups.
    #[must_use]
    pub fn device_ptr(&self, device: &Device) -> Option<*mut T> {
        let state = self.handle.core.lock();
        let memory = state.memory_on(device)?;
        Some(memory.pointer.wrapping_add(self.first_byte).cast())
    }

    /// Frees its allocation on a device; what is only there is copied to the host first. The next use allocates again.
    ///
    /// # Errors
    /// The copies'; the buffer is then as before.
    pub fn release(&self, device: &Device) -> Result<()> {
        let core = &self.handle.core;
        let mut state = core.lock();
        let Some(domain) = state.known_domain(device) else {
            return Ok(());
        };
        if domain == Domain::HOST {
            return Ok(());
        }
        let plan = state.graph.plan_release(domain, &state.links());
        state.host_memory()?;
        for transfer in &plan {
            crate::transfer::submit(core, &mut state, transfer)?;
        }
        let mut users = Deps::default();
        state.graph.last_use(&mut users);
        state.graph.release(domain);
        let memory = state.places[domain.number()].memory.take();
        let ending = state.history.ending();
        drop(state);
        if memory
            .as_ref()
            .is_some_and(|memory| memory.end == End::Keep)
        {
            wait_for(&users)?;
        }
        let number = core.number;
        bury(users, move || {
            if let Some(memory) = memory {
                let pointer = memory.pointer.addr();
                ending.free(number, pointer, || drop(memory));
            }
        });
        Ok(())
    }

    /// The same bytes as other elements or another shape; the same buffer for conflicts and copies.
    ///
    /// # Errors
    /// [`Errc::Invalid`] when the bytes are not as many.
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
        if align_of::<U>() > self.handle.core.alignment
            || !self.first_byte.is_multiple_of(align_of::<U>())
        {
            return Err(Error::invalid(
                "the buffer's memory is not aligned for these elements",
            ));
        }
        self.viewed(range, self.first_byte)
    }

    /// A part of it whose elements follow each other in memory; the same buffer for conflicts and copies.
    ///
    /// # Errors
    /// [`Errc::Invalid`] when it ends outside, or has gaps in memory.
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
        core.lock()
            .history
            .sub_buffer(core.number, self.first_byte + first, bytes);
        self.viewed(range, self.first_byte + first)
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
            handle: Arc::clone(&self.handle),
            range,
            view: Some(view),
            first_byte,
            types: PhantomData,
        })
    }

    /// Its elements on the host, now; waits for the work they come from.
    ///
    /// # Errors
    /// As [`Self::host_access`].
    #[track_caller]
    pub fn into_vec(self) -> Result<Vec<T>> {
        let range = self.range;
        let access = self.host_access(crate::accessor::Read)?;
        Ok(access.elements(range.size()).to_vec())
    }

    /// Takes what failed work should have written as it is.
    pub fn clear_poison(&self) {
        let mut state = self.handle.core.lock();
        state.graph.clear_poison();
        state.poison = None;
    }

    /// Its elements on the host. Waits for conflicting work; work that conflicts waits until this is dropped.
    ///
    /// # Errors
    /// [`Errc::Invalid`] when it would wait for a host accessor that this thread holds; failures of work it waits for;
    /// [`Errc::MemoryAllocation`].
    #[track_caller]
    pub fn host_access<M: Mode>(&self, mode: M) -> Result<HostAccessor<'_, T, D, M>> {
        self.host_access_ranged(mode, self.range, Id([0; D]))
    }

    /// As [`Self::host_access`], for a part: place 0 of the accessor is `offset`.
    ///
    /// # Errors
    /// [`Errc::Invalid`] also for a part that ends outside.
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
        let (pointer, ticket) = lock.task(|| bring_to_host(core, &accesses))?;
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
            ticket,
            held,
        ))
    }

    pub(crate) fn core(&self) -> &Arc<BufferCore> {
        &self.handle.core
    }

    pub(crate) fn first_byte(&self) -> usize {
        self.first_byte
    }

    /// What an accessor of the given part means for the buffer's own grid.
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

    /// An element's number in memory order.
    pub(crate) fn element_number(&self, id: Id<D>) -> usize {
        let [_, rows, row] = extents(self.range.0);
        let [x, y, z] = coordinates(id.0);
        (x * rows + y) * row + z
    }

    /// Elements from a row to the next and from a plane to the next.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BufferCore {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BufferState> {
        lock(&self.state)
    }

    fn last_use(&self) -> Deps {
        let mut users = Deps::default();
        self.lock().graph.last_use(&mut users);
        users
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let receive = lock(&self.final_data).take();
        let write_back = self.write_back.load(Ordering::Acquire);
        let users = self.core.last_use();
        let blocks = receive.is_some() && write_back || self.core.lock().keeps_memory();
        if blocks && would_wait_for_itself(&users) {
            let text = "this drop would never end: the buffer's last use waits for a host accessor that the calling thread holds";
            if std::thread::panicking() {
                // The memory may still be used: it is never freed.
                std::mem::forget(Arc::clone(&self.core));
                return;
            }
            std::mem::forget(Arc::clone(&self.core));
            panic!("{text}");
        }
        if let Some(receive) = receive.filter(|_| write_back) {
            let accesses = {
                let state = self.core.lock();
                [Access::whole(state.graph.grid(), sycl_graph::Mode::Read)]
            };
            let grid = *self.core.lock().graph.grid();
            let written =
                (0..grid.page_count()).any(|page| self.core.lock().graph.is_written(page));
            if written {
                match bring_to_host(&self.core, &accesses) {
                    Ok((pointer, ticket)) => {
                        receive(pointer);
                        ticket.done();
                    }
                    Err(error) => complain(&format!("a buffer was not written back: {error}")),
                }
            }
        }
        if blocks && let Err(error) = wait_for(&self.core.last_use()) {
            complain(&format!("work on a buffer failed: {error}"));
        }
    }
}

impl Drop for BufferCore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut users = Deps::default();
        state.graph.last_use(&mut users);
        let memories: SmallVec<[Memory; 3]> = state
            .places
            .iter_mut()
            .filter_map(|place| place.memory.take())
            .collect();
        let empty = memories.is_empty();
        let (number, ending) = (self.number, state.history.ending());
        let end = move || {
            for memory in memories {
                let pointer = memory.pointer.addr();
                ending.free(number, pointer, || drop(memory));
            }
            crate::trace::buffer_gone(number);
        };
        match empty {
            true => end(),
            false => bury(users, end),
        }
    }
}

/// How copies go between the places of a buffer.
pub(crate) struct PlaceLinks<'a>(&'a [Place]);

impl Links for PlaceLinks<'_> {
    fn cost(&self, from: Domain, to: Domain) -> Option<u32> {
        let of = |domain: Domain| self.0.get(domain.number())?.device.as_ref();
        let ((from_context, from), (to_context, to)) = of(from).zip(of(to))?;
        let one_context = Arc::ptr_eq(&from_context.0.native, &to_context.0.native);
        (one_context && to.can_access_peer(from)).then_some(1)
    }
}

impl BufferState {
    /// The domain of a device in a context, which has or gets the buffer's memory there.
    pub(crate) fn domain_of(&mut self, context: &Context, device: &Device) -> Result<Domain> {
        if device.uses_host_memory() && self.host_is_of(&context.0.native) {
            return Ok(Domain::HOST);
        }
        let hardware = device.hardware();
        let known = self.places.iter().position(|place| {
            place.device.as_ref().is_some_and(|(of, known)| {
                *known == hardware && Arc::ptr_eq(&of.0.native, &context.0.native)
            })
        });
        let number = known.unwrap_or(self.places.len());
        let domain = Domain::new(number).ok_or_else(|| {
            Error::new(
                Errc::FeatureNotSupported,
                format!(
                    "a buffer can be in {} memories at most",
                    sycl_graph::MAX_DOMAINS
                ),
            )
        })?;
        if known.is_none() {
            self.places.push(Place {
                device: Some((context.clone(), hardware)),
                memory: None,
            });
        }
        Ok(domain)
    }

    /// Whether the host's memory is, or would be, of a context.
    fn host_is_of(&self, native: &Arc<NativeContext>) -> bool {
        let memory = self.places[0].memory.as_ref();
        memory.is_none_or(|memory| Arc::ptr_eq(&memory.context.0.native, native))
    }

    fn known_domain(&self, device: &Device) -> Option<Domain> {
        let hardware = device.hardware();
        let number = self.places.iter().position(|place| match &place.device {
            Some((_, known)) => *known == hardware && place.memory.is_some(),
            None => device.uses_host_memory() && place.memory.is_some(),
        });
        number.and_then(Domain::new)
    }

    fn memory_on(&self, device: &Device) -> Option<&Memory> {
        let domain = self.known_domain(device)?;
        self.places[domain.number()].memory.as_ref()
    }

    /// The device of a domain; none for the host.
    pub(crate) fn device_of(&self, domain: Domain) -> Option<&(Context, Device)> {
        self.places.get(domain.number())?.device.as_ref()
    }

    /// The buffer's first byte in a domain, allocated if it is not yet there. `context` is for the host's memory.
    pub(crate) fn memory(&mut self, domain: Domain, context: &Context) -> Result<*mut u8> {
        let bytes = self.graph.grid().bytes();
        let alignment = self.alignment;
        let Some(place) = self.places.get_mut(domain.number()) else {
            return Err(Error::new(Errc::Runtime, "a buffer is in no such memory"));
        };
        if let Some(memory) = &place.memory {
            return Ok(memory.pointer);
        }
        if bytes == 0 {
            // Nothing is ever read or written through it.
            return Ok(std::ptr::without_provenance_mut(alignment));
        }
        let number = self.number;
        let address = |pointer: &*mut std::ffi::c_void| pointer.addr();
        let (context, pointer) = match &place.device {
            None => {
                let native = &context.0.native;
                let allocate = || with_room(|| allocate_host(native, bytes, alignment));
                (
                    context.clone(),
                    self.history
                        .allocate(number, bytes, "host", allocate, address)?,
                )
            }
            Some((context, device)) => {
                let native = &context.0.native;
                let allocate = || with_room(|| allocate_device(native, device, bytes, alignment));
                (
                    context.clone(),
                    self.history
                        .allocate(number, bytes, "device", allocate, address)?,
                )
            }
        };
        let pointer = pointer.cast();
        place.memory = Some(Memory::new(pointer, &context, End::Free));
        Ok(pointer)
    }

    /// The buffer's first byte on the host.
    pub(crate) fn host_memory(&mut self) -> Result<*mut u8> {
        let known = self.places.iter().find_map(|place| {
            let device = place.device.as_ref().map(|(context, _)| context);
            place
                .memory
                .as_ref()
                .map(|memory| &memory.context)
                .or(device)
        });
        let context = match known {
            Some(context) => context.clone(),
            None => Device::select(&crate::selector::DefaultSelector)?
                .platform()
                .default_context()?,
        };
        self.memory(Domain::HOST, &context)
    }

    /// Takes memory of the user's for a domain.
    pub(crate) fn adopt(
        &mut self,
        domain: Domain,
        pointer: *mut u8,
        context: &Context,
        end: End,
    ) -> Result<()> {
        let place = &mut self.places[domain.number()];
        if place.memory.is_some() {
            return Err(Error::invalid("two views are of one device's memory"));
        }
        place.memory = Some(Memory::new(pointer, context, end));
        Ok(())
    }

    pub(crate) fn links(&self) -> PlaceLinks<'_> {
        PlaceLinks(&self.places)
    }

    fn keeps_memory(&self) -> bool {
        let mut memories = self.places.iter().filter_map(|place| place.memory.as_ref());
        memories.any(|memory| memory.end == End::Keep)
    }
}
