//! The `zer` functions: they use the first driver, and report errors as text.

use std::ffi::c_char;

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_SUCCESS,
    ze_context_handle_t, ze_device_handle_t, ze_driver_handle_t, ze_handle_t, ze_result_t,
};

use crate::default_driver::DefaultDriver;
use crate::generated::legacy_facts::{CONTEXT, DEVICE};
use crate::refusals::{is_no_object, no_object, not_ready, null_slot, too_old};
use crate::text::{driver_mark, driver_text};
use crate::wrapper::arena;
use crate::wrapper::arguments::{Call, foreign};
use crate::{driver, init, legacy, phase, text};

fn default_driver() -> Option<DefaultDriver> {
    if !phase::is_ready() {
        return None;
    }
    let first = *init::snapshot()?.drivers.first()?;
    Some(DefaultDriver::of(first))
}

/// `zerGetLastErrorDescription`: the loader's own text or the default driver's, whichever is newer. After a failed init
/// it lists each candidate and why it is not used. The text belongs to this thread and is valid until its next error.
///
/// # Safety
/// `out` is null or writable.
pub unsafe fn last_error(out: *mut *const c_char) -> ze_result_t {
    if out.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    let driver = driver_text();
    let own = text::current().filter(|(_, mark)| driver.is_none() || *mark == driver_mark());
    let (text, result) = match (own, driver) {
        (Some((own, _)), _) => (own, ZE_RESULT_SUCCESS),
        (None, Some(driver)) => (driver, ZE_RESULT_SUCCESS),
        (None, None) if phase::is_ready() => (c"".as_ptr(), ZE_RESULT_SUCCESS),
        (None, None) => (
            c"zerGetLastErrorDescription: called before zeInit or zeInitDrivers, or after teardown"
                .as_ptr(),
            ZE_RESULT_ERROR_UNINITIALIZED,
        ),
    };
    // SAFETY: non-null, and writable by the caller's contract.
    unsafe { *out = text };
    result
}

/// `zerTranslateDeviceHandleToIdentifier`: `u32::MAX` and a text on failure.
///
/// # Safety
/// `device` is null or a live device handle.
pub unsafe fn device_to_identifier(device: ze_device_handle_t) -> u32 {
    const NAME: &str = "zerTranslateDeviceHandleToIdentifier";
    let Some(default) = default_driver() else {
        not_ready(&NAME);
        return u32::MAX;
    };
    // The driver handles null.
    if !device.is_null() && is_no_object(device.addr()) {
        no_object(device.cast(), &NAME, &"hDevice");
        return u32::MAX;
    }
    let native = match &default {
        _ if device.is_null() => device,
        DefaultDriver::Wrapped(driver) => {
            let call = Call {
                name: &NAME,
                driver,
            };
            match call.required(&"hDevice", DEVICE, device) {
                Ok(native) => native,
                Err(_) => return u32::MAX,
            }
        }
        DefaultDriver::Ddi(tables) => {
            let known = !arena::is_in_use()
                || !arena::holds(device.addr()) && driver::is_known(device.cast());
            // SAFETY: each object of a driver that was let in begins with this header.
            if !known || !std::ptr::eq(unsafe { (*device.cast::<ze_handle_t>()).pRuntime }, *tables)
            {
                text::set(format_args!(
                    "{NAME}: hDevice belongs to another driver than the default driver (the first of zeDriverGet)"
                ));
                return u32::MAX;
            }
            device
        }
    };
    match default
        .functions()
        .and_then(|zer| zer.pfnTranslateDeviceHandleToIdentifier)
    {
        // SAFETY: the driver's own handle.
        Some(translate) => unsafe { translate(native) },
        None => {
            null_slot(&NAME);
            u32::MAX
        }
    }
}

/// `zerTranslateIdentifierToDeviceHandle`: null and a text on failure.
#[must_use]
pub fn identifier_to_device(identifier: u32) -> ze_device_handle_t {
    const NAME: &str = "zerTranslateIdentifierToDeviceHandle";
    let Some(default) = default_driver() else {
        not_ready(&NAME);
        return std::ptr::null_mut();
    };
    match default
        .functions()
        .and_then(|zer| zer.pfnTranslateIdentifierToDeviceHandle)
    {
        // SAFETY: any number is allowed.
        Some(translate) => default.shown(&NAME, DEVICE, unsafe { translate(identifier) }),
        None => {
            null_slot(&NAME);
            std::ptr::null_mut()
        }
    }
}

/// `zerGetDefaultContext`: null and a text on failure.
#[must_use]
pub fn default_context() -> ze_context_handle_t {
    const NAME: &str = "zerGetDefaultContext";
    let Some(default) = default_driver() else {
        not_ready(&NAME);
        return std::ptr::null_mut();
    };
    match default.functions().and_then(|zer| zer.pfnGetDefaultContext) {
        // SAFETY: no arguments.
        Some(get) => default.shown(&NAME, CONTEXT, unsafe { get() }),
        None => {
            null_slot(&NAME);
            std::ptr::null_mut()
        }
    }
}

/// `zeDriverGetDefaultContext`: the one function that returns a handle as its result; null and a text on failure.
///
/// # Safety
/// `driver` is null or a live driver handle.
pub unsafe fn default_context_of(driver: ze_driver_handle_t) -> ze_context_handle_t {
    let mut context = std::ptr::null_mut();
    let mut ask = || -> ze_result_t {
        const SINCE: u32 = sys::ZE_API_VERSION_1_14.0;
        const NAME: &str = "zeDriverGetDefaultContext";
        if !phase::is_ready() {
            return not_ready(&NAME);
        }
        if is_no_object(driver.addr()) {
            return no_object(driver.cast(), &NAME, &"hDriver");
        }
        if arena::is_in_use() {
            if arena::holds(driver.addr()) {
                // SAFETY: the caller has the same contract.
                context = unsafe { legacy::zeDriverGetDefaultContext(driver) };
                return ZE_RESULT_SUCCESS;
            }
            if !driver::is_known(driver.cast()) {
                return foreign(&NAME, &"hDriver", driver.cast());
            }
        }
        // SAFETY: each object of a driver that was let in begins with this header; tables are static.
        let table = unsafe { &*(*driver.cast::<ze_handle_t>()).pCore };
        if table.version.0 < SINCE {
            return too_old(&NAME, table.version.0, SINCE);
        }
        // SAFETY: sub-tables were checked on load, and the version says that the slot is there.
        let Some(get) = (unsafe { (*table.Driver).pfnGetDefaultContext }) else {
            return null_slot(&NAME);
        };
        // SAFETY: the driver's own handle.
        context = unsafe { get(driver) };
        ZE_RESULT_SUCCESS
    };
    ask();
    context
}
