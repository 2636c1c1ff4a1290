//! Unified shared memory: typed blocks that free themselves, SYCL's raw forms, and what queues do with pointers.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

use level_zero::sys::*;
use smallvec::{SmallVec, smallvec};

use crate::context::Context;
use crate::device::Device;
use crate::engine::allocation::{
    allocate_device, allocate_host, allocate_shared, free as free_now, free_usm, with_room,
};
use crate::engine::deferred_release::bury;
use crate::engine::lane::all_tails;
use crate::engine::native_context::NativeContext;
use crate::error::{Errc, Error, Result};
use crate::event::Event;
use crate::operation::{Operation, Region};
use crate::queue::Queue;
use crate::range::DeviceData;
use crate::trace::Site;
use crate::ze::ze;

/// A kind of USM, as a type.
pub trait Kind: sealed::Sealed + 'static {
    /// The same as a value.
    #[doc(hidden)]
    const TYPE: PointerType;
}
mod sealed {
    pub trait Sealed {}
}
/// A device's own memory, which the host does not see.
#[derive(Clone, Copy, Debug)]
pub struct DeviceKind;
/// The host's memory, which devices see.
#[derive(Clone, Copy, Debug)]
pub struct HostKind;
/// Memory that moves between the two.
#[derive(Clone, Copy, Debug)]
pub struct SharedKind;
impl sealed::Sealed for DeviceKind {}
impl sealed::Sealed for HostKind {}
impl sealed::Sealed for SharedKind {}
impl Kind for DeviceKind {
    const TYPE: PointerType = PointerType::Device;
}
impl Kind for HostKind {
    const TYPE: PointerType = PointerType::Host;
}
impl Kind for SharedKind {
    const TYPE: PointerType = PointerType::Shared;
}
/// Kinds that the host sees.
pub trait HostVisible: Kind {}
impl HostVisible for HostKind {}
impl HostVisible for SharedKind {}

/// What a pointer points into, SYCL's `usm::alloc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PointerType {
    /// Host USM.
    Host,
    /// Device USM.
    Device,
    /// Shared USM.
    Shared,
    /// No USM of the context.
    Unknown,
}

/// Elements in USM. Freed after the last command that was submitted before its drop.
pub struct Block<T: DeviceData, K: Kind> {
    pointer: *mut T,
    count: usize,
    context: Context,
    kind: PhantomData<K>,
}

// SAFETY: USM belongs to no thread; `T` is plain data.
unsafe impl<T: DeviceData, K: Kind> Send for Block<T, K> {}
// SAFETY: shared references give pointers, and slices only by an unsafe function.
unsafe impl<T: DeviceData, K: Kind> Sync for Block<T, K> {}

impl<T: DeviceData, K: Kind> std::fmt::Debug for Block<T, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Block({:?}, {:p}, {} elements)",
            K::TYPE,
            self.pointer,
            self.count
        )
    }
}

impl<T: DeviceData, K: Kind> Drop for Block<T, K> {
    fn drop(&mut self) {
        free_later(&self.context.0.native, self.pointer.cast(), None);
    }
}

fn free_later(native: &Arc<NativeContext>, pointer: *mut c_void, site: Option<Site>) {
    if pointer.is_null() {
        return;
    }
    // Commands do not say which USM they use, and kernels reach more than their arguments: whatever was submitted by now
    // may use it. What is on no lane yet comes first, since it may get there between the two looks.
    let mut after = native.pending.deps();
    after.merge(&all_tails(native));
    let (native, address) = (Arc::clone(native), pointer.expose_provenance());
    bury(after, native.kept(), move || {
        let pointer = std::ptr::with_exposed_provenance_mut(address);
        free_usm(&native, pointer, site);
    });
}

impl<T: DeviceData, K: Kind> Block<T, K> {
    #[track_caller]
    fn allocate(context: &Context, device: Option<&Device>, count: usize) -> Result<Self> {
        let bytes = count
            .checked_mul(size_of::<T>())
            .ok_or_else(|| Error::invalid(format!("{count} elements exceed the address space")))?;
        // An empty block has an address of its own too.
        // SAFETY: freed by this block's drop.
        let pointer = unsafe { malloc(bytes.max(1), align_of::<T>(), K::TYPE, device, context)? };
        Ok(Self {
            pointer: pointer.cast(),
            count,
            context: context.clone(),
            kind: PhantomData,
        })
    }

    /// Its first element.
    #[must_use]
    pub fn as_ptr(&self) -> *mut T {
        self.pointer
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The pointer, which the caller frees with [`free`].
    #[must_use]
    pub fn into_raw(mut self) -> *mut T {
        std::mem::replace(&mut self.pointer, std::ptr::null_mut())
    }
}

impl<T: DeviceData> Block<T, DeviceKind> {
    /// Memory of the queue's device. Its contents are undefined.
    ///
    /// # Errors
    /// [`Errc::MemoryAllocation`].
    #[track_caller]
    pub fn device(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, Some(&queue.0.device), count)
    }
}
impl<T: DeviceData> Block<T, HostKind> {
    /// Memory of the host.
    ///
    /// # Errors
    /// [`Errc::MemoryAllocation`].
    #[track_caller]
    pub fn host(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, None, count)
    }
}
impl<T: DeviceData> Block<T, SharedKind> {
    /// Memory for the queue's device and the host.
    ///
    /// # Errors
    /// [`Errc::MemoryAllocation`].
    #[track_caller]
    pub fn shared(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, Some(&queue.0.device), count)
    }
}

impl<T: DeviceData, K: HostVisible> Block<T, K> {
    /// The elements.
    ///
    /// # Safety
    /// No command that writes them may be unfinished.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[T] {
        // SAFETY: so many elements were allocated; `T` accepts any bytes; the caller keeps writers away.
        unsafe { std::slice::from_raw_parts(self.pointer, self.count) }
    }

    /// The elements.
    ///
    /// # Safety
    /// No command that uses them may be unfinished.
    pub unsafe fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and the caller keeps readers away too.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.count) }
    }
}

/// `aligned_alloc`: memory of a kind, freed with [`free`]. Shared and device memory are of `device`.
///
/// # Safety
/// The memory is used as its kind allows, and freed once.
///
/// # Errors
/// [`Errc::Invalid`] for device memory without a device, or one outside the context, or no kind;
/// [`Errc::MemoryAllocation`].
#[track_caller]
pub unsafe fn malloc(
    bytes: usize,
    alignment: usize,
    kind: PointerType,
    device: Option<&Device>,
    context: &Context,
) -> Result<*mut c_void> {
    if device.is_some_and(|device| !context.contains(device)) {
        return Err(Error::invalid("the device is not of the context"));
    }
    let native = &context.0.native;
    let allocate = || match (kind, device) {
        (PointerType::Host, _) => with_room(|| allocate_host(native, bytes, alignment)),
        (PointerType::Device, Some(device)) => {
            with_room(|| allocate_device(native, device, bytes, alignment))
        }
        (PointerType::Shared, device) => {
            with_room(|| allocate_shared(native, device, bytes, alignment))
        }
        (PointerType::Device, None) => Err(Error::invalid("device memory needs a device")),
        (PointerType::Unknown, _) => {
            Err(Error::invalid("memory of kind Unknown cannot be allocated"))
        }
    };
    let address =
        |result: &Result<*mut c_void>| result.as_ref().map_or(0, |pointer| pointer.addr());
    let of = (kind == PointerType::Host, device);
    crate::trace::usm_allocating(Site::here(), of, bytes, allocate, address)
}

/// Frees what [`malloc`] or [`Block::into_raw`] gave, when the commands submitted so far have ended.
///
/// # Safety
/// Nobody uses the memory afterwards but those commands.
///
/// # Errors
/// [`Errc::Invalid`] for a pointer that is not the first byte of USM of this context, or a buffer's.
#[track_caller]
pub unsafe fn free(pointer: *mut c_void, context: &Context) -> Result<()> {
    if pointer.is_null() {
        return Ok(());
    }
    let native = &context.0.native;
    let (base, _) = range_of(native, pointer)?;
    if base != pointer {
        return Err(Error::invalid(format!(
            "{pointer:p} is not the beginning of its allocation, {base:p}"
        )));
    }
    if crate::memory::is_buffers(pointer) {
        return Err(Error::invalid(
            "the memory belongs to a buffer: use Buffer::release",
        ));
    }
    free_later(native, pointer, Some(Site::here()));
    Ok(())
}

/// First byte and bytes of the allocation that a pointer points into.
pub(crate) fn range_of(
    native: &Arc<NativeContext>,
    pointer: *const c_void,
) -> Result<(*mut c_void, usize)> {
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: a live context and two valid outputs; the pointer is only looked up.
    let found = unsafe {
        ze!(
            native.api,
            zeMemGetAddressRange =
                mem.pfnGetAddressRange(native.handle, pointer, &raw mut base, &raw mut size)
        )
    };
    found.map_err(|error| error.with_code(Errc::Invalid))?;
    Ok((base, size))
}

/// Bytes from a pointer to the end of its allocation.
pub(crate) fn room(native: &Arc<NativeContext>, pointer: *const c_void) -> Result<usize> {
    let (base, size) = range_of(native, pointer)?;
    Ok((base.addr() + size).saturating_sub(pointer.addr()))
}

/// Kind and device of the allocation that a pointer points into.
pub(crate) fn properties_of(
    native: &Arc<NativeContext>,
    pointer: *const c_void,
) -> Result<(PointerType, ze_device_handle_t)> {
    let mut properties = ze_memory_allocation_properties_t::default();
    let mut device = std::ptr::null_mut();
    // SAFETY: a live context and two valid outputs; the pointer is only looked up.
    unsafe {
        ze!(
            native.api,
            zeMemGetAllocProperties = mem.pfnGetAllocProperties(
                native.handle,
                pointer,
                &raw mut properties,
                &raw mut device
            )
        )?;
    }
    let kind = match properties.r#type {
        ZE_MEMORY_TYPE_HOST => PointerType::Host,
        ZE_MEMORY_TYPE_DEVICE => PointerType::Device,
        ZE_MEMORY_TYPE_SHARED => PointerType::Shared,
        _ => PointerType::Unknown,
    };
    Ok((kind, device))
}

/// What a pointer points into; `Unknown` for anything but USM of the context.
#[must_use]
pub fn pointer_type(pointer: *const c_void, context: &Context) -> PointerType {
    properties_of(&context.0.native, pointer).map_or(PointerType::Unknown, |(kind, _)| kind)
}

/// The device that USM belongs to; for host memory the context's first.
///
/// # Errors
/// [`Errc::Invalid`] for a pointer that is not USM of the context.
pub fn pointer_device(pointer: *const c_void, context: &Context) -> Result<Device> {
    let (kind, handle) = properties_of(&context.0.native, pointer)?;
    let devices = context.devices();
    let near = || {
        let whole = |device: &Device| [device.clone(), device.hardware()];
        devices.iter().flat_map(whole)
    };
    let found = match kind {
        PointerType::Unknown => None,
        PointerType::Host => devices.first().cloned(),
        PointerType::Device | PointerType::Shared => near()
            .find(|device| device.handle() == handle)
            .or_else(|| near().find_map(|device| device.part(handle))),
    };
    found.ok_or_else(|| Error::invalid(format!("{pointer:p} is not USM of this context")))
}

/// A pattern that a device cannot repeat by itself, repeated in the host's memory.
pub(crate) struct Staging {
    pointer: *mut u8,
    bytes: usize,
    native: Arc<NativeContext>,
}

// SAFETY: memory that nobody writes after its making.
unsafe impl Send for Staging {}

/// Room for repeated patterns.
const STAGED: usize = 64 * 1024;

impl Staging {
    pub(crate) fn new(context: &Context, pattern: &[u8], longest: usize) -> Result<Self> {
        let native = Arc::clone(&context.0.native);
        let times = (STAGED.min(longest) / pattern.len()).max(1);
        let bytes = times * pattern.len();
        let pointer = with_room(|| allocate_host(&native, bytes, 64))?.cast::<u8>();
        for at in 0..times {
            // SAFETY: inside the allocation, which is new.
            unsafe {
                let target = pointer.wrapping_add(at * pattern.len());
                std::ptr::copy_nonoverlapping(pattern.as_ptr(), target, pattern.len());
            }
        }
        Ok(Self {
            pointer,
            bytes,
            native,
        })
    }

    /// The copies that fill so many bytes, a multiple of the pattern's.
    pub(crate) fn copies(
        &self,
        target: *mut u8,
        bytes: usize,
        operations: &mut SmallVec<[Operation; 1]>,
    ) {
        let mut done = 0;
        while done < bytes {
            let length = self.bytes.min(bytes - done);
            operations.push(Operation::Copy {
                target: target.wrapping_add(done),
                source: self.pointer.cast_const(),
                bytes: length,
            });
            done += length;
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        free_now(&self.native, self.pointer.cast());
    }
}

/// A two-dimensional part of memory.
#[derive(Clone, Copy, Debug)]
pub struct Pitched<P> {
    /// Its first byte.
    pub pointer: P,
    /// Bytes from a row to the next.
    pub pitch: usize,
}

impl Queue {
    #[track_caller]
    fn operation(&self, operation: Operation, after: &[Event]) -> Result<Event> {
        self.submit(|cg| {
            cg.depends_on(after);
            cg.operations(smallvec![operation], None)
        })
    }

    /// Copies bytes.
    ///
    /// # Safety
    /// Both pointers are to so many bytes that live, and are not used otherwise, until the command has ended.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn memcpy(
        &self,
        target: *mut c_void,
        source: *const c_void,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        if bytes == 0 {
            return self.submit_after(after);
        }
        let operation = Operation::Copy {
            target: target.cast(),
            source: source.cast(),
            bytes,
        };
        self.operation(operation, after)
    }

    /// Copies elements, SYCL's `queue::copy`.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Self::memcpy`].
    #[track_caller]
    pub unsafe fn copy<T: DeviceData>(
        &self,
        source: *const T,
        target: *mut T,
        count: usize,
        after: &[Event],
    ) -> Result<Event> {
        let bytes = count
            .checked_mul(size_of::<T>())
            .ok_or_else(|| Error::invalid("the elements exceed the address space"))?;
        // SAFETY: the caller's contract.
        unsafe { self.memcpy(target.cast(), source.cast(), bytes, after) }
    }

    /// Copies rows of `width` bytes.
    ///
    /// # Safety
    /// As [`Self::memcpy`] for every row.
    ///
    /// # Errors
    /// [`Errc::Invalid`] for a pitch below the width.
    #[track_caller]
    pub unsafe fn memcpy_2d(
        &self,
        target: Pitched<*mut c_void>,
        source: Pitched<*const c_void>,
        width: usize,
        rows: usize,
        after: &[Event],
    ) -> Result<Event> {
        if width == 0 || rows == 0 {
            return self.submit_after(after);
        }
        if target.pitch < width || source.pitch < width {
            return Err(Error::invalid(format!(
                "rows of {width} bytes overlap: pitches are {} and {}",
                target.pitch, source.pitch
            )));
        }
        let region = Box::new(Region {
            target: target.pointer.cast(),
            source: source.pointer.cast(),
            target_origin: [0; 3],
            source_origin: [0; 3],
            size: [width, rows, 1],
            target_pitches: [target.pitch, 0],
            source_pitches: [source.pitch, 0],
        });
        self.operation(region.simplest(), after)
    }

    /// Sets bytes.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn memset(
        &self,
        target: *mut c_void,
        value: u8,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's contract.
        unsafe { self.fill(target.cast::<u8>(), value, bytes, after) }
    }

    /// Sets elements; also of sizes that devices cannot fill with.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`]; [`Errc::MemoryAllocation`] for room to repeat an odd pattern.
    #[track_caller]
    pub unsafe fn fill<T: DeviceData>(
        &self,
        target: *mut T,
        value: T,
        count: usize,
        after: &[Event],
    ) -> Result<Event> {
        let size = size_of::<T>();
        let bytes = count
            .checked_mul(size)
            .ok_or_else(|| Error::invalid("the elements exceed the address space"))?;
        if bytes == 0 {
            return self.submit_after(after);
        }
        // SAFETY: `DeviceData` has no padding that is read, so all its bytes are.
        let pattern = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size) };
        let longest = self.0.device.compute_group()?.longest_pattern;
        if size.is_power_of_two() && size <= longest {
            let operation = Operation::Fill {
                target: target.cast(),
                pattern: SmallVec::from_slice(pattern),
                bytes,
            };
            return self.operation(operation, after);
        }
        let staged = Staging::new(&self.0.context, pattern, bytes)?;
        let mut operations = SmallVec::new();
        staged.copies(target.cast(), bytes, &mut operations);
        self.submit(|cg| {
            cg.depends_on(after);
            cg.operations(operations, Some(Box::new(staged)))
        })
    }

    /// Moves shared memory to the device before it is used there.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn prefetch(
        &self,
        pointer: *const c_void,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        self.operation(Operation::Prefetch { pointer, bytes }, after)
    }

    /// Says how memory will be used; advice as in `ze_memory_advice_t`.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn mem_advise(
        &self,
        pointer: *const c_void,
        bytes: usize,
        advice: ze_memory_advice_t,
        after: &[Event],
    ) -> Result<Event> {
        let operation = Operation::Advise {
            device: self.0.device.handle(),
            pointer,
            bytes,
            advice,
        };
        self.operation(operation, after)
    }

    #[track_caller]
    fn submit_after(&self, after: &[Event]) -> Result<Event> {
        self.submit(|cg| {
            cg.depends_on(after);
            cg.barrier()
        })
    }
}
