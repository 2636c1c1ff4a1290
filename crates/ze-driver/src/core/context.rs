//! Contexts: which devices, and whether a fault has lost them.

use crate::address_space::AddressSpace;
use crate::check::{error, flags};
use crate::core::device::Device;
use crate::core::driver::Driver;
use crate::core::object;
use crate::device::Platform;
use crate::schedule::Lane;
use crate::{state, tables};
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use ze_abi::{Handle, Handles, Head, In, Object, OutHandle, ZeResult};
use ze_entry::ze_entry;

/// Owner of allocations, lists, events and modules.
#[repr(C)]
pub(crate) struct Context {
    head: Head,
    driver: &'static Driver,
    devices: Vec<Arc<Device>>,
    lost: AtomicBool,
    fault: OnceLock<String>,
}
object!(Context, _ze_context_handle_t, b"ZeCt", "context");

impl Context {
    /// A context of those devices.
    pub(crate) fn new(devices: Vec<Arc<Device>>) -> Arc<Self> {
        let driver = state::driver().expect("objects are created while the driver is in service");
        Arc::new(Self {
            head: Head::new::<Self>(tables::all()),
            driver,
            devices,
            lost: AtomicBool::new(false),
            fault: OnceLock::new(),
        })
    }

    /// The driver.
    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// Whether memory and events of other users are opened.
    pub(crate) fn trusts_all_users(&self) -> bool {
        let space = self.platform().address_space();
        space.is_some_and(AddressSpace::trusts_all_users)
    }

    /// The platform.
    pub(crate) fn platform(&self) -> &Arc<dyn Platform> {
        self.driver.platform()
    }

    /// True after a fault.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// A kernel or copy faulted: every later call on the context tells so, and one line on stderr, because
    /// most programs show no more than an error code.
    pub(crate) fn lose(&self, fault: String) {
        if let Ok(()) = self.fault.set(fault) {
            let fault = self.fault.get().map_or("", String::as_str);
            let line = format!("solum: {fault}; the context is lost\n");
            signal_mask::write_stderr(line.as_bytes());
        }
        self.lost.store(true, Ordering::Release);
    }

    /// DEVICE_LOST with the fault's text after a fault.
    pub(crate) fn check(&self) -> ZeResult {
        if !self.is_lost() {
            return Ok(());
        }
        let fault = self.fault.get().map_or("unknown fault", String::as_str);
        error(
            ZE_RESULT_ERROR_DEVICE_LOST,
            format!("the context is lost by an earlier fault: {fault}"),
        )
    }

    /// INVALID_ARGUMENT unless the context has the device.
    pub(crate) fn check_device(&self, device: &Device) -> ZeResult {
        if self
            .devices
            .iter()
            .any(|mine| self.driver.is_part(device.index(), mine.index()))
        {
            return Ok(());
        }
        error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "hDevice is device {}, which the context was not created with",
                device.index()
            ),
        )
    }

    /// Queues and immediate lists alive on this context.
    pub(crate) fn lanes(self: &Arc<Self>) -> Vec<Arc<Lane>> {
        self.driver.lanes(|lane| Arc::ptr_eq(lane.context(), self))
    }
}

fn create(desc: &ze_context_desc_t, devices: Vec<Arc<Device>>) -> ZeResult<ze_context_handle_t> {
    flags("desc->flags", desc.flags, ZE_CONTEXT_FLAG_TBD)?;
    Ok(Object::give(Context::new(devices)))
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

/// Ends the handle; commands in flight keep what they need; core/context.yml.
#[ze_entry(ze_pfnContextDestroy_t)]
pub(crate) fn zeContextDestroy(hContext: Handle<'_, Context>) -> ZeResult {
    if hContext.driver.is_default(&hContext) {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hContext is the driver's default context, which is never destroyed",
        );
    }
    hContext.driver.tools().forget(&hContext);
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

/// In a lost context, too: DPC++'s second adapter makes new device memory resident, and gives programs null otherwise.
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
