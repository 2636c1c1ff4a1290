//! Pointer queries: the kind, device and extent of allocations.

use std::ffi::c_void;
use std::sync::Arc;

use level_zero::sys::*;

use crate::context::Context;
use crate::device::Device;
use crate::engine::native_context::NativeContext;
use crate::error::{Errc, Error, Result};
use crate::ze::ze;

/// The kind of memory of a pointer, SYCL's `usm::alloc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PointerType {
    /// Host USM.
    Host,
    /// Device USM.
    Device,
    /// Shared USM.
    Shared,
    /// Not USM of the context.
    Unknown,
}

/// The first byte and the size of a pointer's allocation.
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

/// The bytes from a pointer to the end of its allocation.
pub(crate) fn room(native: &Arc<NativeContext>, pointer: *const c_void) -> Result<usize> {
    let (base, size) = range_of(native, pointer)?;
    Ok((base.addr() + size).saturating_sub(pointer.addr()))
}

/// The kind and device of a pointer's allocation.
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

/// Returns the kind of memory of a pointer; `Unknown` for anything but USM of the context.
#[must_use]
pub fn pointer_type(pointer: *const c_void, context: &Context) -> PointerType {
    properties_of(&context.0.native, pointer).map_or(PointerType::Unknown, |(kind, _)| kind)
}

/// Returns the device that USM belongs to; for host memory the context's first.
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
