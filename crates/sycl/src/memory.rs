//! Allocations of buffers: where they lie and how they end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use level_zero::sys::*;

use crate::context::{Context, NativeContext};
use crate::device::Device;
use crate::error::{Errc, Result};
use crate::graveyard::{sweep_some, wait_for_one};
use crate::image::native;
use crate::lane::lose_if_lost;
use crate::log::{MEMORY, name_of, say};
use crate::trace::Site;
use crate::ze::ze;

/// What becomes of memory at its buffer's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It is freed.
    Free,
    /// It is the user's.
    Keep,
}

/// One allocation, or one native image.
pub(crate) struct Memory {
    /// The first byte, or the image's handle.
    pub(crate) pointer: *mut u8,
    pub(crate) context: Context,
    pub(crate) end: End,
    is_image: bool,
}

// SAFETY: USM belongs to no thread; who may touch it when is the buffer's to say.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

/// First bytes of all buffers' memories, and how many have each: several buffers may lie over one block of the program's.
static BUFFERS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether a pointer is the first byte of a buffer's memory.
pub(crate) fn is_buffers(pointer: *const c_void) -> bool {
    let known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    known.contains_key(&pointer.addr())
}

impl Memory {
    pub(crate) fn new(pointer: *mut u8, context: &Context, end: End) -> Self {
        let mut known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(pointer.addr()).or_default() += 1;
        Self {
            pointer,
            context: context.clone(),
            end,
            is_image: false,
        }
    }

    pub(crate) fn image(image: ze_image_handle_t, context: &Context, end: End) -> Self {
        Self {
            pointer: image.cast(),
            context: context.clone(),
            end,
            is_image: true,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_image {
            if self.end == End::Free {
                native::destroy(&self.context.0.native, self.pointer.cast());
            }
            return;
        }
        let mut known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut users) = known.entry(self.pointer.addr()) {
            *users.get_mut() -= 1;
            if *users.get() == 0 {
                users.remove();
            }
        }
        drop(known);
        if self.end == End::Free {
            free(&self.context.0.native, self.pointer.cast());
        }
    }
}

/// Frees USM of this runtime's; a failure has nobody to go to.
pub(crate) fn free(context: &Arc<NativeContext>, pointer: *mut c_void) {
    crate::trace::freeing(pointer, || free_untold(context, pointer));
}

/// Frees the program's own USM, as [`free`].
pub(crate) fn free_usm(context: &Arc<NativeContext>, pointer: *mut c_void, site: Option<Site>) {
    crate::trace::usm_freeing(site, pointer, || free_untold(context, pointer));
}

fn free_untold(context: &Arc<NativeContext>, pointer: *mut c_void) {
    let api = context.api;
    say(MEMORY, || format!("frees {pointer:p}"));
    // SAFETY: allocated in this context, freed once, and no command uses it any more.
    let _ = unsafe { ze!(api, zeMemFree = mem.pfnFree(context.handle, pointer)) };
}

/// Runs an allocation; when memory is short, again after what is no longer used has been freed.
pub(crate) fn with_room<T>(mut allocate: impl FnMut() -> Result<T>) -> Result<T> {
    sweep_some();
    match allocate() {
        Err(error) if error.errc() == Errc::MemoryAllocation => {
            wait_for_one();
            allocate()
        }
        result => result,
    }
}

/// Memory of the host that its devices may use too.
pub(crate) fn allocate_host(
    context: &Arc<NativeContext>,
    bytes: usize,
    alignment: usize,
) -> Result<*mut c_void> {
    let api = context.api;
    let desc = ze_host_mem_alloc_desc_t::default();
    let mut pointer = std::ptr::null_mut();
    let before = context.losses.moment();
    // SAFETY: a live context, valid input and output.
    let allocated = unsafe {
        ze!(
            api,
            zeMemAllocHost = mem.pfnAllocHost(
                context.handle,
                &raw const desc,
                bytes,
                alignment,
                &raw mut pointer
            )
        )
    };
    lose_if_lost(context, None, before, allocated)?;
    say(MEMORY, || {
        format!("{pointer:p}: {bytes} bytes of host memory")
    });
    Ok(pointer)
}

/// A device's own memory.
pub(crate) fn allocate_device(
    context: &Arc<NativeContext>,
    device: &Device,
    bytes: usize,
    alignment: usize,
) -> Result<*mut c_void> {
    let api = context.api;
    let desc = ze_device_mem_alloc_desc_t::default();
    let mut pointer = std::ptr::null_mut();
    let before = context.losses.moment();
    // SAFETY: live handles, valid input and output.
    let allocated = unsafe {
        ze!(
            api,
            zeMemAllocDevice = mem.pfnAllocDevice(
                context.handle,
                &raw const desc,
                bytes,
                alignment,
                device.handle(),
                &raw mut pointer
            )
        )
    };
    lose_if_lost(context, Some(device), before, allocated)?;
    say(MEMORY, || {
        let of = name_of(Some(device));
        format!("{pointer:p}: {bytes} bytes of device memory of {of}")
    });
    Ok(pointer)
}

/// Memory that moves between host and device.
pub(crate) fn allocate_shared(
    context: &Arc<NativeContext>,
    device: Option<&Device>,
    bytes: usize,
    alignment: usize,
) -> Result<*mut c_void> {
    let api = context.api;
    let (device_desc, host_desc) = (
        ze_device_mem_alloc_desc_t::default(),
        ze_host_mem_alloc_desc_t::default(),
    );
    let handle = device.map_or(std::ptr::null_mut(), Device::handle);
    let mut pointer = std::ptr::null_mut();
    let before = context.losses.moment();
    // SAFETY: live handles, valid inputs and output.
    let allocated = unsafe {
        ze!(
            api,
            zeMemAllocShared = mem.pfnAllocShared(
                context.handle,
                &raw const device_desc,
                &raw const host_desc,
                bytes,
                alignment,
                handle,
                &raw mut pointer
            )
        )
    };
    lose_if_lost(context, device, before, allocated)?;
    say(MEMORY, || {
        let of = name_of(device);
        format!("{pointer:p}: {bytes} bytes of shared memory of {of}")
    });
    Ok(pointer)
}
