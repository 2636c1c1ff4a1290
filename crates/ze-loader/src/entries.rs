//! Functions below all layers that are not dispatched by a handle, with C signatures, for the bottom tables.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::c_char;

use level_zero_sys::*;

use crate::{init, runtime};

pub(crate) unsafe extern "C" fn zeInit(flags: ze_init_flags_t) -> ze_result_t {
    init::init(flags)
}

pub(crate) unsafe extern "C" fn zeInitDrivers(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
    desc: *mut ze_init_driver_type_desc_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { init::init_drivers(pCount, phDrivers, desc) }
}

pub(crate) unsafe extern "C" fn zeDriverGet(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { init::driver_get(pCount, phDrivers) }
}

pub(crate) unsafe extern "C" fn zesInit(flags: zes_init_flags_t) -> ze_result_t {
    init::sysman_init(flags)
}

pub(crate) unsafe extern "C" fn zesDriverGet(
    pCount: *mut u32,
    phDrivers: *mut zes_driver_handle_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { init::sysman_driver_get(pCount, phDrivers) }
}

pub(crate) unsafe extern "C" fn zeDriverGetDefaultContext(
    hDriver: ze_driver_handle_t,
) -> ze_context_handle_t {
    // SAFETY: the caller has the same contract.
    unsafe { runtime::default_context_of(hDriver) }
}

pub(crate) unsafe extern "C" fn zerGetLastErrorDescription(
    ppString: *mut *const c_char,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { runtime::last_error(ppString) }
}

pub(crate) unsafe extern "C" fn zerTranslateDeviceHandleToIdentifier(
    hDevice: ze_device_handle_t,
) -> u32 {
    // SAFETY: the caller has the same contract.
    unsafe { runtime::device_to_identifier(hDevice) }
}

pub(crate) unsafe extern "C" fn zerTranslateIdentifierToDeviceHandle(
    identifier: u32,
) -> ze_device_handle_t {
    runtime::identifier_to_device(identifier)
}

pub(crate) unsafe extern "C" fn zerGetDefaultContext() -> ze_context_handle_t {
    runtime::default_context()
}
