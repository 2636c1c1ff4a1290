//! The context object: its devices, and whether a fault has lost it.

use crate::address_space::AddressSpace;
use crate::check::error;
use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use crate::core::object;
use crate::device::Platform;
use crate::dispatch;
use level_zero_sys::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use ze_abi::{Head, ZeResult};

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
    /// Creates a context of those devices.
    pub(crate) fn new(driver: &'static Driver, devices: Vec<Arc<Device>>) -> Arc<Self> {
        Arc::new(Self {
            head: Head::new::<Self>(dispatch::tables()),
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

    /// Whether to open memory and events of other users.
    pub(crate) fn trusts_all_users(&self) -> bool {
        let space = self.platform().address_space();
        space.is_some_and(AddressSpace::trusts_all_users)
    }

    /// The platform.
    pub(crate) fn platform(&self) -> &Arc<dyn Platform> {
        self.driver.platform()
    }

    /// Whether this is the context of `zeDriverGetDefaultContext`.
    pub(crate) fn is_default(&self) -> bool {
        DEFAULT
            .get()
            .is_some_and(|default| std::ptr::eq(&raw const **default, self))
    }

    /// True after a fault.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Marks the context as lost after a fault: every later call on it returns the fault's text. One line goes to stderr,
    /// because most programs show only an error code.
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
}

static DEFAULT: OnceLock<Arc<Context>> = OnceLock::new();

/// The driver's default context, of all devices.
pub(crate) fn default_context() -> ZeResult<&'static Arc<Context>> {
    let driver = driver::driver()?;
    Ok(DEFAULT.get_or_init(|| {
        let context = Context::new(driver, driver.listed());
        // One reference belongs to C forever: the handle is never destroyed.
        let _ = Arc::into_raw(Arc::clone(&context));
        context
    }))
}
