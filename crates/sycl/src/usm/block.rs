//! Blocks of USM, and SYCL's raw forms of allocating and freeing it.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

use super::pointer::{PointerType, range_of};
use crate::context::Context;
use crate::device::Device;
use crate::engine::allocation::{
    allocate_device, allocate_host, allocate_shared, free_usm, with_room,
};
use crate::engine::command_lane::all_tails;
use crate::engine::deferred_release::release_after;
use crate::engine::native_context::NativeContext;
use crate::error::{Error, Result};
use crate::range::DeviceData;
use crate::trace::Site;

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
    // Commands do not declare the USM that they use, and kernels reach more than their arguments: any submitted command may
    // use it. Pending commands come first, since they may get to a lane between the two looks.
    let mut after = native.pending.deps();
    after.merge(&all_tails(native));
    let (native, address) = (Arc::clone(native), pointer.expose_provenance());
    release_after(after, native.kept(), move || {
        let pointer = std::ptr::with_exposed_provenance_mut(address);
        free_usm(&native, pointer, site);
    });
}

impl<T: DeviceData, K: Kind> Block<T, K> {
    #[track_caller]
    pub(super) fn allocate(
        context: &Context,
        device: Option<&Device>,
        count: usize,
    ) -> Result<Self> {
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
/// [`crate::Errc::Invalid`] for device memory without a device, or one outside the context, or no kind;
/// [`crate::Errc::MemoryAllocation`].
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
/// Only those commands use the memory afterwards.
///
/// # Errors
/// [`crate::Errc::Invalid`] for a pointer that is not the first byte of USM of this context, or a buffer's.
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
