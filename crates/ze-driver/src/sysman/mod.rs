//! System management (`zes`): core's driver and device objects, and objects for their parts.
//!
//! Invariants
//! - Parts are listed once and live as long as the driver; their handles are never destroyed.
//! - INSUFFICIENT_PERMISSIONS for a reading that the system denies, with a text that says what to allow;
//!   UNSUPPORTED_FEATURE for one that the machine does not have.
//! - A sub-device's handle stands for its root device: parts belong to root devices.
//!
//! Not here: reading of sources; [`crate::telemetry`] is the boundary.

pub(crate) mod absent;
pub(crate) mod device;
pub(crate) mod engine;
pub(crate) mod events;
pub(crate) mod frequency;
pub(crate) mod memory;
pub(crate) mod power;
pub(crate) mod reliability;
pub(crate) mod reset;
pub(crate) mod temperature;

use crate::check::error;
use crate::core::device::Device;
use crate::telemetry::{ReadError, Reading, Telemetry};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Object, ZeResult};

/// An object that is one part of a device.
macro_rules! part {
    ($(#[$doc:meta])* $ty:ident($value:ty), $opaque:ident, $tag:literal, $what:literal) => {
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $ty {
            head: ze_abi::Head,
            device: usize,
            index: usize,
            value: $value,
        }
        crate::core::object!($ty, $opaque, $tag, $what);

        impl $ty {
            /// The parts of `device`, listed once; `list` returns the constant facts of each.
            fn all(
                device: &crate::core::device::Device,
                list: impl FnOnce(&dyn crate::telemetry::Telemetry, usize) -> Vec<$value>,
            ) -> ze_abi::ZeResult<&'static [std::sync::Arc<Self>]> {
                type Listed = Box<[std::sync::OnceLock<Vec<std::sync::Arc<$ty>>>]>;
                static LISTED: std::sync::OnceLock<Listed> = std::sync::OnceLock::new();
                let driver = crate::core::driver::driver()?;
                let device = device.root_index();
                let listed = LISTED.get_or_init(|| {
                    let devices = driver.devices().iter();
                    devices.map(|_| std::sync::OnceLock::new()).collect()
                });
                let Some(parts) = listed.get(device) else {
                    return Ok(&[]);
                };
                Ok(parts.get_or_init(|| {
                    let values = driver
                        .platform()
                        .telemetry()
                        .map_or(Vec::new(), |telemetry| list(telemetry, device));
                    let make = |(index, value)| {
                        std::sync::Arc::new(Self {
                            head: ze_abi::Head::new::<Self>(crate::dispatch::tables()),
                            device,
                            index,
                            value,
                        })
                    };
                    values.into_iter().enumerate().map(make).collect()
                }))
            }
        }
    };
}
pub(crate) use part;

/// The platform's telemetry.
pub(crate) fn telemetry() -> ZeResult<&'static dyn Telemetry> {
    match crate::core::driver::driver()?.platform().telemetry() {
        Some(telemetry) => Ok(telemetry),
        None => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the platform reports no sensors or counters",
        ),
    }
}

/// A reading as a result of the API.
pub(crate) fn answer<T>(reading: Reading<T>) -> ZeResult<T> {
    reading.or_else(|why| match why {
        ReadError::Denied(text) => error(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, text),
        ReadError::Absent(text) => error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, text),
    })
}

/// The handles of `parts` by the two-call idiom.
fn fill<T: Object>(count: ze_abi::Enumerate<'_, *mut T::Opaque>, parts: &[Arc<T>]) {
    count.fill(parts.len(), |i, slot| *slot = parts[i].handle());
}

/// `onSubdevice` and `subdeviceId`, the latter 0 for parts of the root.
fn place(sub_device: Option<u32>) -> (ze_bool_t, u32) {
    (
        ze_bool_t::from(sub_device.is_some()),
        sub_device.unwrap_or(0),
    )
}

/// The root devices of all devices that the program sees, in the platform's order.
pub(crate) fn roots() -> ZeResult<Vec<Arc<Device>>> {
    let driver = crate::core::driver::driver()?;
    let mut roots: Vec<usize> = driver
        .listed()
        .iter()
        .map(|device| device.root_index())
        .collect();
    roots.sort_unstable();
    roots.dedup();
    Ok(roots
        .into_iter()
        .map(|index| Arc::clone(&driver.devices()[index]))
        .collect())
}
