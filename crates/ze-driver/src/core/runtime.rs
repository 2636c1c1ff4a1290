//! The `zer` entries: the default context, identifiers of devices, the last error.

use crate::check::error;
use crate::core::device::Device;
use crate::state;
use level_zero_sys::*;
use std::ffi::c_char;
use ze_abi::{AbiArg, Handle, Object, Out, ZeResult, guard_value, last_error};
use ze_entry::ze_entry;

/// This thread's last error; runtime/common.yml.
#[ze_entry(zer_pfnGetLastErrorDescription_t, any_state)]
pub(crate) fn zerGetLastErrorDescription(ppString: Out<'_, *const c_char>) -> ZeResult {
    ppString.write(last_error());
    Ok(())
}

/// The device's position; `UINT32_MAX` on errors; runtime/common.yml.
///
/// # Safety
/// `hDevice` is null or a device handle.
pub(crate) unsafe extern "C" fn zerTranslateDeviceHandleToIdentifier(
    hDevice: ze_device_handle_t,
) -> u32 {
    guard_value("zerTranslateDeviceHandleToIdentifier", u32::MAX, || {
        <Handle<'_, Device> as AbiArg>::check_handle(&hDevice, "hDevice")?;
        // SAFETY: not null, so a device handle by contract.
        let device = unsafe { Device::from_handle(hDevice, "hDevice") }?;
        Ok(u32::try_from(device.index()).unwrap_or(u32::MAX))
    })
}
const _: zer_pfnTranslateDeviceHandleToIdentifier_t = Some(zerTranslateDeviceHandleToIdentifier);

/// The device at a position; null on errors; runtime/common.yml.
pub(crate) unsafe extern "C" fn zerTranslateIdentifierToDeviceHandle(
    identifier: u32,
) -> ze_device_handle_t {
    let null = std::ptr::null_mut();
    guard_value("zerTranslateIdentifierToDeviceHandle", null, || {
        let devices = state::driver()?.devices();
        match devices.get(identifier as usize) {
            Some(device) => Ok(device.handle()),
            None => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "identifier is {identifier}, there are {} devices",
                    devices.len()
                ),
            ),
        }
    })
}
const _: zer_pfnTranslateIdentifierToDeviceHandle_t = Some(zerTranslateIdentifierToDeviceHandle);

/// The driver's default context; null on errors; runtime/common.yml.
pub(crate) unsafe extern "C" fn zerGetDefaultContext() -> ze_context_handle_t {
    guard_value("zerGetDefaultContext", std::ptr::null_mut(), || {
        Ok(state::driver()?.default_context().handle())
    })
}
const _: zer_pfnGetDefaultContext_t = Some(zerGetDefaultContext);
