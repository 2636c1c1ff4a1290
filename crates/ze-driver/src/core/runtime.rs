//! Entry points of `zer`: the default context, identifiers of devices, the last error.

use crate::check::error;
use crate::core::context::default_context;
use crate::core::device::Device;
use crate::core::driver;
use level_zero_sys::*;
use std::ffi::c_char;
use ze_abi::{Handle, Object, Out, ZeResult, last_error};
use ze_abi_macros::ze_entry;

/// This thread's last error; runtime/common.yml.
#[ze_entry(zer_pfnGetLastErrorDescription_t, any_state)]
pub(crate) fn zerGetLastErrorDescription(ppString: Out<'_, *const c_char>) -> ZeResult {
    ppString.write(last_error());
    Ok(())
}

/// The device's number, which no other device or sub-device has; `UINT32_MAX` on errors; runtime/common.yml.
#[ze_entry(zer_pfnTranslateDeviceHandleToIdentifier_t, or = u32::MAX)]
pub(crate) fn zerTranslateDeviceHandleToIdentifier(hDevice: Handle<'_, Device>) -> ZeResult<u32> {
    Ok(u32::try_from(hDevice.index()).unwrap_or(u32::MAX))
}

/// The device of a number, if the program sees it; null on errors; runtime/common.yml.
#[ze_entry(zer_pfnTranslateIdentifierToDeviceHandle_t, or = std::ptr::null_mut())]
pub(crate) fn zerTranslateIdentifierToDeviceHandle(
    identifier: u32,
) -> ZeResult<ze_device_handle_t> {
    let driver = driver::driver()?;
    let index = identifier as usize;
    match driver.devices().get(index) {
        Some(device) if driver.hierarchy().shows(index) => Ok(device.handle()),
        _ => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "identifier is {identifier}; allowed are the results of zerTranslateDeviceHandleToIdentifier for the {} devices of this process and their sub-devices",
                driver.hierarchy().listed.len()
            ),
        ),
    }
}

/// The driver's default context; null on errors; runtime/common.yml.
#[ze_entry(zer_pfnGetDefaultContext_t, or = std::ptr::null_mut())]
pub(crate) fn zerGetDefaultContext() -> ZeResult<ze_context_handle_t> {
    Ok(default_context()?.handle())
}
