//! USM: allocating and freeing.

use std::ffi::c_void;
use std::sync::Arc;

use level_zero::sys::*;

use super::command_lane::lose_if_lost;
use super::deferred_release::{sweep_some, wait_for_one};
use super::native_context::NativeContext;
use crate::device::{Device, name_of};
use crate::error::{Errc, Result};
use crate::log::{MEMORY, say};
use crate::registry::disown;
use crate::trace::Site;
use crate::ze::ze;

/// Frees USM that this runtime allocated. A failure cannot be reported.
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

/// Runs an allocation. If memory is short, frees objects that are no longer used and tries again.
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

/// Allocates host memory that devices can access.
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

/// Allocates memory of a device.
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

/// Allocates memory that migrates between host and device.
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

/// Destroys an image that this runtime created.
pub(crate) fn destroy_image(context: &NativeContext, image: ze_image_handle_t) {
    disown(image);
    let _ = crate::trace::freeing(image.cast(), || {
        // SAFETY: a live image that no command uses any more.
        unsafe { ze!(context.api, zeImageDestroy = image.pfnDestroy(image)) }
    });
}
