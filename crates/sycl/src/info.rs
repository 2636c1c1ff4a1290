//! Information descriptors: typed questions to platforms, devices and contexts.

use level_zero::sys::*;

use crate::context::Context;
use crate::device::{Aspect, Device, DeviceType};
use crate::error::Result;
use crate::platform::Platform;
use crate::ze::{text, ze};

/// A question to an object of type `Of`.
pub trait Info<Of> {
    /// What it answers.
    type Value;
    /// Asks.
    ///
    /// # Errors
    /// `FeatureNotSupported` for what the driver does not answer; the call's.
    fn get(of: &Of) -> Result<Self::Value>;
}

/// Declares descriptors, each with the expression that answers it.
macro_rules! descriptors {
    ($of:ty; $($(#[$doc:meta])* $name:ident: $value:ty = |$it:ident| $answer:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Info<$of> for $name {
            type Value = $value;
            fn get($it: &$of) -> Result<$value> {
                $answer
            }
        }
    )* };
}

/// Of platforms.
pub mod platform {
    use super::*;
    descriptors! { Platform;
        /// "Solum" and the backend's name.
        Name: String = |_it| Ok("Solum Level-Zero".to_owned());
        /// Who made the runtime.
        Vendor: String = |_it| Ok("Solum".to_owned());
        /// The driver's API version.
        Version: String = |it| {
            let api = it.api();
            let mut version = ze_api_version_t(0);
            // SAFETY: a live driver and a valid output.
            unsafe { ze!(api, zeDriverGetApiVersion = driver.pfnGetApiVersion(api.driver, &raw mut version))?; }
            Ok(format!("{}.{}", version.0 >> 16, version.0 & 0xffff))
        };
        /// Always the full profile.
        Profile: String = |_it| Ok("FULL_PROFILE".to_owned());
    }
}

/// Of devices.
pub mod device {
    use super::*;
    descriptors! { Device;
        /// Its name.
        Name: String = |it| Ok(text(&it.0.properties.name));
        /// What it is.
        Kind: DeviceType = |it| Ok(it.kind());
        /// Its vendor's PCI number.
        VendorId: u32 = |it| Ok(it.0.properties.vendorId);
        /// Empty on this backend (seed 000, section 5).
        BackendVersion: String = |_it| Ok(String::new());
        /// Compute units.
        MaxComputeUnits: u32 = |it| Ok(u32::try_from(it.compute_units()).unwrap_or(u32::MAX));
        /// The most bytes of one allocation.
        MaxMemAllocSize: u64 = |it| Ok(it.0.properties.maxMemAllocSize);
        /// The device that it is a part of.
        ParentDevice: Option<Device> = |it| Ok(it.parent());
    }
}

/// Of contexts.
pub mod context {
    use super::*;
    descriptors! { Context;
        /// Its platform.
        OfPlatform: Platform = |it| Ok(it.platform());
        /// Its devices.
        Devices: Vec<Device> = |it| Ok(it.devices());
    }
}

/// Whether a device has an aspect.
pub(crate) fn has(device: &Device, aspect: Aspect) -> bool {
    match aspect {
        Aspect::Cpu => device.kind() == DeviceType::Cpu,
        Aspect::Gpu => device.kind() == DeviceType::Gpu,
        Aspect::Accelerator => device.kind() == DeviceType::Accelerator,
        Aspect::Custom => device.kind() == DeviceType::Custom,
        Aspect::QueueProfiling
        | Aspect::OnlineCompiler
        | Aspect::OnlineLinker
        | Aspect::UsmDeviceAllocations
        | Aspect::UsmHostAllocations
        | Aspect::UsmSharedAllocations => true,
        _ => false,
    }
}
