//! Entry points of contexts.

use crate::check::{error, flags};
use crate::core::active_metrics;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::Arc;
use ze_abi::{Handle, Handles, In, Object, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

fn create(desc: &ze_context_desc_t, devices: Vec<Arc<Device>>) -> ZeResult<ze_context_handle_t> {
    flags("desc->flags", desc.flags, ZE_CONTEXT_FLAG_TBD)?;
    Ok(Object::give(Context::new(driver::driver()?, devices)))
}

/// A context of all devices; core/context.yml.
#[ze_entry(ze_pfnContextCreate_t)]
pub(crate) fn zeContextCreate(
    hDriver: Handle<'_, Driver>,
    desc: In<'_, ze_context_desc_t>,
    phContext: OutHandle<'_, _ze_context_handle_t>,
) -> ZeResult {
    phContext.write(create(&desc, hDriver.listed())?);
    Ok(())
}

/// A context of some devices, of all when none is named; core/context.yml.
#[ze_entry(ze_pfnContextCreateEx_t)]
pub(crate) fn zeContextCreateEx(
    hDriver: Handle<'_, Driver>,
    desc: In<'_, ze_context_desc_t>,
    phDevices: Handles<'_, Device>,
    phContext: OutHandle<'_, _ze_context_handle_t>,
) -> ZeResult {
    let all = hDriver.devices();
    let devices = match phDevices.get() {
        [] => hDriver.listed(),
        some => some
            .iter()
            .map(|device| Arc::clone(&all[device.index()]))
            .collect(),
    };
    phContext.write(create(&desc, devices)?);
    Ok(())
}

/// Destroys the handle; unfinished commands keep what they need; core/context.yml.
#[ze_entry(ze_pfnContextDestroy_t)]
pub(crate) fn zeContextDestroy(hContext: Handle<'_, Context>) -> ZeResult {
    if hContext.is_default() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hContext is the driver's default context, which is never destroyed",
        );
    }
    active_metrics::forget(&hContext);
    drop(hContext.take());
    Ok(())
}

/// DEVICE_LOST after a fault; core/context.yml.
#[ze_entry(ze_pfnContextGetStatus_t)]
pub(crate) fn zeContextGetStatus(hContext: Handle<'_, Context>) -> ZeResult {
    hContext.check()
}

/// Caches are coherent: nothing to do; core/barrier.yml.
#[ze_entry(ze_pfnContextSystemBarrier_t)]
pub(crate) fn zeContextSystemBarrier(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    hContext.check()
}

/// Works in a lost context too (`crate::leniency`).
fn residency(context: &Context, device: &Device, ptr: *mut c_void, size: usize) -> ZeResult {
    crate::check::not_null("ptr", ptr)?;
    let _ = size;
    context.check_device(device)
}

/// Memory is always resident; core/residency.yml.
#[ze_entry(ze_pfnContextMakeMemoryResident_t)]
pub(crate) fn zeContextMakeMemoryResident(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    ptr: *mut c_void,
    size: usize,
) -> ZeResult {
    residency(&hContext, &hDevice, ptr, size)
}

/// Memory is always resident; core/residency.yml.
#[ze_entry(ze_pfnContextEvictMemory_t)]
pub(crate) fn zeContextEvictMemory(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    ptr: *mut c_void,
    size: usize,
) -> ZeResult {
    residency(&hContext, &hDevice, ptr, size)
}
