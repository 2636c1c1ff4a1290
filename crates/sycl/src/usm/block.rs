//! Blocks of USM, and SYCL's raw functions for allocating and freeing.

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
    /// The kind as a value.
    #[doc(hidden)]
    const TYPE: PointerType;
}
mod sealed {
    pub trait Sealed {}
}
/// A device's own memory, which the host cannot access.
#[derive(Clone, Copy, Debug)]
pub struct DeviceKind;
/// Host memory, which devices can access.
#[derive(Clone, Copy, Debug)]
pub struct HostKind;
/// Memory that migrates between host and device.
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
/// Kinds that the host can access.
pub trait HostVisible: Kind {}
impl HostVisible for HostKind {}
impl HostVisible for SharedKind {}

/// Elements in USM. Freed once all commands submitted before its drop have ended.
pub struct Block<T: DeviceData, K: Kind> {
    pointer: *mut T,
    count: usize,
    context: Context,
    kind: PhantomData<K>,
}

// SAFETY: USM is not bound to a thread; `T` is plain data.
unsafe impl<T: DeviceData, K: Kind> Send for Block<T, K> {}
// SAFETY: shared references give pointers, and slices only through an unsafe function.
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
    // Commands do not declare the USM that they use, and kernels access more than their arguments, so any submitted
    // command may use it. Pending commands are collected first, because they may move to a lane meanwhile.
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
        // An empty block has a unique address too. SAFETY: freed by this block's drop.
        let pointer = unsafe { malloc(bytes.max(1), align_of::<T>(), K::TYPE, device, context)? };
        Ok(Self {
            pointer: pointer.cast(),
            count,
            context: context.clone(),
            kind: PhantomData,
        })
    }

    /// Returns the first element.
    #[must_use]
    pub fn as_ptr(&self) -> *mut T {
        self.pointer
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the block is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the pointer, which the caller frees with [`free`].
    #[must_use]
    pub fn into_raw(mut self) -> *mut T {
        std::mem::replace(&mut self.pointer, std::ptr::null_mut())
    }
}

impl<T: DeviceData, K: HostVisible> Block<T, K> {
    /// Returns the elements.
    ///
    /// # Safety
    /// All commands that write the elements have ended.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[T] {
        // SAFETY: this many elements were allocated; `T` accepts any bytes; the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.pointer, self.count) }
    }

    /// Returns the elements for writing.
    ///
    /// # Safety
    /// All commands that use the elements have ended.
    pub unsafe fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and the caller excludes readers too.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.count) }
    }
}

/// `aligned_alloc`: allocates memory of a kind, freed with [`free`]. Shared and device memory belongs to `device`.
///
/// # Safety
/// The memory is used as its kind allows, and freed once.
///
/// # Errors
/// [`crate::Errc::Invalid`] for device memory without a device or of one outside the context, or for
/// [`PointerType::Unknown`]; [`crate::Errc::MemoryAllocation`].
#[track_caller]
pub unsafe fn malloc(
    bytes: usize,
    alignment: usize,
    kind: PointerType,
    device: Option<&Device>,
    context: &Context,
) -> Result<*mut c_void> {
    if device.is_some_and(|device| !context.contains(device)) {
        return Err(Error::invalid("the context does not contain the device"));
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

/// Frees memory of [`malloc`] or [`Block::into_raw`] when the commands submitted so far have ended.
///
/// # Safety
/// Only those commands use the memory afterwards.
///
/// # Errors
/// [`crate::Errc::Invalid`] for a pointer that is not the first byte of USM of this context, or is a buffer's.
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
