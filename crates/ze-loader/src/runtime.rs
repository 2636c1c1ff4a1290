//! The `zer` functions: they concern the first driver, and report what went wrong as text.

use std::ffi::{CStr, c_char};

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_SUCCESS,
    ze_context_handle_t, ze_device_handle_t, ze_driver_handle_t, ze_handle_t, ze_result_t,
};

use crate::dispatch::{is_no_object, no_object, not_ready, null_slot, too_old};
use crate::generated::legacy::{CONTEXT, DEVICE};
use crate::legacy::{self, LegacyDriver};
use crate::wrapper::arguments::{Call, Name, foreign};
use crate::wrapper::{self, Kind, Origin, arena};
use crate::{driver, init, state, text};

/// The default driver: the first one in order.
enum Default {
    /// Its handles carry tables.
    Ddi(&'static sys::zer_dditable_driver_t),
    /// Its handles are wrapped.
    Wrapped(&'static LegacyDriver),
}

impl Default {
    fn find() -> Option<Default> {
        if !state::is_ready() {
            return None;
        }
        let first = *init::snapshot()?.drivers.first()?;
        Some(match wrapper::of(first) {
            Some(first) => Default::Wrapped(first.driver()),
            // SAFETY: published handles have passed the checks; tables are static.
            None => Default::Ddi(unsafe { &*(*first.cast::<ze_handle_t>()).pRuntime }),
        })
    }

    fn slots(&self) -> &'static sys::zer_global_dditable_t {
        match self {
            // SAFETY: sub-tables were checked on load.
            Default::Ddi(tables) => unsafe { &*tables.Global },
            Default::Wrapped(driver) => &driver.tables.zer.Global,
        }
    }

    /// A handle of this driver's as the application's; null and a text when there is no memory.
    fn shown<T>(&self, name: Name, kind: Kind, handle: *mut T) -> *mut T {
        match self {
            Default::Ddi(_) => handle,
            Default::Wrapped(driver) => {
                let call = Call { name, driver };
                call.wrapped(kind, handle, Origin::Known)
                    .unwrap_or(std::ptr::null_mut())
            }
        }
    }
}

fn default_slots() -> Option<&'static sys::zer_global_dditable_t> {
    Default::find().map(|default| default.slots())
}

/// The default driver's last-error text of this thread.
fn driver_text() -> Option<*const c_char> {
    let get = default_slots()?.pfnGetLastErrorDescription?;
    let mut text = std::ptr::null();
    // SAFETY: the driver writes a pointer to a C string of its own.
    let result = unsafe { get(&raw mut text) };
    (result == ZE_RESULT_SUCCESS && !text.is_null()).then_some(text)
}

/// Identifies the default driver's present text, so that a later one is known to be newer than the loader's.
pub(crate) fn driver_mark() -> u64 {
    let Some(text) = driver_text() else { return 0 };
    // SAFETY: non-null C string of the driver, valid until its next call on this thread.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    // FNV-1a: only equality matters.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// `zerGetLastErrorDescription`: the loader's own text if it is the newer one, else the default driver's. After a failed
/// init it holds each candidate and why it is not used. The text is this thread's and lives until its next error.
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
        (None, None) if state::is_ready() => (c"".as_ptr(), ZE_RESULT_SUCCESS),
        (None, None) => (
            c"zerGetLastErrorDescription: called before zeInit or zeInitDrivers, or after teardown"
                .as_ptr(),
            ZE_RESULT_ERROR_UNINITIALIZED,
        ),
    };
    // SAFETY: non-null, and the caller's contract makes it writable.
    unsafe { *out = text };
    result
}

/// `zerTranslateDeviceHandleToIdentifier`: `u32::MAX` and a text on failure.
///
/// # Safety
/// `device` is null or a live device handle.
pub unsafe fn device_to_identifier(device: ze_device_handle_t) -> u32 {
    const NAME: &str = "zerTranslateDeviceHandleToIdentifier";
    let Some(default) = Default::find() else {
        not_ready(&NAME);
        return u32::MAX;
    };
    // The driver says what null is.
    if !device.is_null() && is_no_object(device.addr()) {
        no_object(device.cast(), &NAME, &"hDevice");
        return u32::MAX;
    }
    let native = match &default {
        _ if device.is_null() => device,
        Default::Wrapped(driver) => {
            let call = Call {
                name: &NAME,
                driver,
            };
            match call.required(&"hDevice", DEVICE, device) {
                Ok(native) => native,
                Err(_) => return u32::MAX,
            }
        }
        Default::Ddi(tables) => {
            let known = !arena::is_in_use()
                || !arena::holds(device.addr()) && driver::is_known(device.cast());
            // SAFETY: each object of a driver that was let in begins with this header.
            if !known || !std::ptr::eq(unsafe { (*device.cast::<ze_handle_t>()).pRuntime }, *tables)
            {
                text::set(format_args!(
                    "{NAME}: hDevice belongs to another driver than the default one (the first of zeDriverGet)"
                ));
                return u32::MAX;
            }
            device
        }
    };
    match default.slots().pfnTranslateDeviceHandleToIdentifier {
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
    let Some(default) = Default::find() else {
        not_ready(&NAME);
        return std::ptr::null_mut();
    };
    match default.slots().pfnTranslateIdentifierToDeviceHandle {
        // SAFETY: any number may be asked.
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
    let Some(default) = Default::find() else {
        not_ready(&NAME);
        return std::ptr::null_mut();
    };
    match default.slots().pfnGetDefaultContext {
        // SAFETY: no arguments.
        Some(get) => default.shown(&NAME, CONTEXT, unsafe { get() }),
        None => {
            null_slot(&NAME);
            std::ptr::null_mut()
        }
    }
}

/// `zeDriverGetDefaultContext`: the one function of a handle that answers with a handle; null and a text on failure.
///
/// # Safety
/// `driver` is null or a live driver handle.
pub unsafe fn default_context_of(driver: ze_driver_handle_t) -> ze_context_handle_t {
    let mut context = std::ptr::null_mut();
    let mut ask = || -> ze_result_t {
        const SINCE: u32 = sys::ZE_API_VERSION_1_14.0;
        const NAME: &str = "zeDriverGetDefaultContext";
        if !state::is_ready() {
            return not_ready(&NAME);
        }
        if is_no_object(driver.addr()) {
            return no_object(driver.cast(), &NAME, &"hDriver");
        }
        if arena::is_in_use() {
            if arena::holds(driver.addr()) {
                // SAFETY: the caller's contract is the same.
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
