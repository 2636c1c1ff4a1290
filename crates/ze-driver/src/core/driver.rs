//! The driver: one for each process, over the platform's devices.
//!
//! The driver does not know the objects above it. A module that keeps a registry for the whole process (command lanes,
//! exported memory, captures, metric groups) has its own static.

use crate::address_space::AddressSpace;
use crate::check::error;
use crate::core::device::Device;
use crate::core::hierarchy::{Hierarchy, Mode, Position};
use crate::core::object;
use crate::device::Platform;
use crate::dispatch;
use level_zero_sys::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use ze_abi::{Gate, Head, ZeResult, gate, set_gate};

/// Creates the platform. Called once, at the first `zeInit*`; an error says what to change.
pub type Factory = fn() -> Result<Arc<dyn Platform>, String>;

static FACTORY: OnceLock<Factory> = OnceLock::new();
static DRIVER: OnceLock<Result<Arc<Driver>, String>> = OnceLock::new();

/// Sets the factory of this process. The first call counts.
pub(crate) fn set_factory(factory: Factory) {
    let _ = FACTORY.set(factory);
}

extern "C" fn in_forked_child() {
    // Only an atomic: the child has no threads of the parent, and locks may be held forever.
    if gate() == Gate::Open {
        set_gate(Gate::Forked);
    }
}

/// The driver; the first call creates it.
pub(crate) fn initialise() -> ZeResult<&'static Arc<Driver>> {
    if gate() == Gate::Forked {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "the process is a fork of one that had initialised the driver; call exec to use Level Zero in the child",
        );
    }
    let Some(factory) = FACTORY.get() else {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "no platform is installed in this driver",
        );
    };
    let made = DRIVER.get_or_init(|| {
        let driver = Driver::new(factory()?)?;
        // SAFETY: the handler is a static function that does one atomic load and store.
        unsafe { libc::pthread_atfork(None, None, Some(in_forked_child)) };
        Ok(driver)
    });
    match made {
        Ok(driver) => {
            if gate() == Gate::Closed {
                set_gate(Gate::Open);
            }
            Ok(driver)
        }
        Err(text) => error(ZE_RESULT_ERROR_INVALID_ARGUMENT, text.clone()),
    }
}

/// The driver, if it is initialised.
pub(crate) fn driver() -> ZeResult<&'static Arc<Driver>> {
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        _ => error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "the driver is not initialised; call zeInit or zeInitDrivers first",
        ),
    }
}

/// The driver object; never freed.
#[repr(C)]
pub(crate) struct Driver {
    head: Head,
    platform: Arc<dyn Platform>,
    devices: Vec<Arc<Device>>,
    hierarchy: Hierarchy,
    ids: AtomicU64,
}
object!(Driver, _ze_driver_handle_t, b"ZeDr", "driver");

impl Driver {
    /// The driver over `platform`.
    pub(crate) fn new(platform: Arc<dyn Platform>) -> Result<Arc<Self>, String> {
        let devices: Vec<_> = (0..platform.devices().len())
            .map(|index| Device::new(&platform, index))
            .collect();
        if devices.is_empty() {
            return Err("the platform has no device".to_owned());
        }
        let facts = platform.devices().iter().map(|device| device.facts());
        let sub_of: Vec<_> = facts.map(|facts| facts.sub_of).collect();
        let variable = |name| std::env::var(name).ok();
        let mode = Mode::parse(variable("ZE_FLAT_DEVICE_HIERARCHY").as_deref());
        let mask = variable("ZE_AFFINITY_MASK");
        Ok(Arc::new(Self {
            head: Head::new::<Self>(dispatch::tables()),
            hierarchy: Hierarchy::arrange(&sub_of, mode, mask.as_deref()),
            platform,
            devices,
            ids: AtomicU64::new(0),
        }))
    }

    /// A new unique number.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// The platform.
    pub(crate) fn platform(&self) -> &Arc<dyn Platform> {
        &self.platform
    }

    /// All devices and sub-devices in the platform's order, including those that the program does not see.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The devices that the program sees.
    pub(crate) fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Devices that `zeDeviceGet` gives.
    pub(crate) fn listed(&self) -> Vec<Arc<Device>> {
        let listed = self.hierarchy.listed.iter();
        listed
            .map(|&index| Arc::clone(&self.devices[index]))
            .collect()
    }

    /// Whether `device` is `root`, or its sub-device.
    pub(crate) fn is_part(&self, device: usize, root: usize) -> bool {
        device == root
            || self
                .devices
                .get(device)
                .is_some_and(|device| device.facts().sub_of == Some(root))
    }

    /// The position of a device among those that the program sees.
    pub(crate) fn position(&self, device: &Device) -> &Position {
        &self.hierarchy.positions[device.index()]
    }

    /// The platform's pages.
    ///
    /// # Errors
    /// UNSUPPORTED_FEATURE where the platform has none.
    pub(crate) fn address_space(&self) -> ZeResult<&dyn AddressSpace> {
        match self.platform.address_space() {
            Some(space) => Ok(space),
            None => error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "the platform does not support virtual memory",
            ),
        }
    }
}
