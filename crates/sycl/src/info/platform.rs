//! Descriptors of platforms.

use level_zero::sys::*;

use super::descriptor::descriptors;
use crate::error::Result;
use crate::platform::Platform;
use crate::ze::{enumerate, text, ze};

descriptors! { Platform;
    /// "Solum" and the backend's name.
    Name: String = |_it| Ok("Solum Level-Zero".to_owned());
    /// The runtime's vendor.
    Vendor: String = |_it| Ok("Solum".to_owned());
    /// The driver's API version, such as "1.17".
    Version: String = |it| api_version(it);
    /// Always "FULL_PROFILE".
    Profile: String = |_it| Ok("FULL_PROFILE".to_owned());
    /// Names of the driver's Level Zero extensions.
    Extensions: Vec<String> = |it| {
        let api = it.api();
        let all = enumerate(ze_driver_extension_properties_t::default(), |count, array| {
            // SAFETY: a live driver; `count` and `array` follow the two-call idiom.
            unsafe {
                ze!(api, zeDriverGetExtensionProperties =
                    driver.pfnGetExtensionProperties(api.driver, count, array))
            }
        })?;
        Ok(all.iter().map(|extension| text(&extension.name).into_owned()).collect())
    };
}

/// The driver's API version.
pub(super) fn api_version(platform: &Platform) -> Result<String> {
    let api = platform.api();
    let mut version = ze_api_version_t(0);
    // SAFETY: a live driver and a valid output.
    unsafe {
        ze!(
            api,
            zeDriverGetApiVersion = driver.pfnGetApiVersion(api.driver, &raw mut version)
        )?
    };
    Ok(format!("{}.{}", version.0 >> 16, version.0 & 0xffff))
}
