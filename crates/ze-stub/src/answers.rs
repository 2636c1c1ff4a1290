//! The slots that describe the stub: init, drivers, devices, properties, last error.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use level_zero_sys::*;

use crate::objects::object;
use crate::script::{Device, script, slot};

/// An object that every call returns again.
struct Kept(*mut c_void);

// SAFETY: an address of leaked memory.
unsafe impl Send for Kept {}
// SAFETY: as above; the stub never writes to it.
unsafe impl Sync for Kept {}

fn driver() -> *mut c_void {
    static DRIVER: OnceLock<Kept> = OnceLock::new();
    DRIVER.get_or_init(|| Kept(object())).0
}

fn default_context() -> *mut c_void {
    static CONTEXT: OnceLock<Kept> = OnceLock::new();
    CONTEXT.get_or_init(|| Kept(object())).0
}

fn devices() -> &'static [(Kept, Device)] {
    static DEVICES: OnceLock<Vec<(Kept, Device)>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        script()
            .devices
            .iter()
            .map(|kind| (Kept(object()), *kind))
            .collect()
    })
}

/// Count-and-array.
///
/// # Safety
/// `count` is null or valid, `out` null or as large as `*count`.
unsafe fn list<T>(
    result: ze_result_t,
    items: &[*mut c_void],
    count: *mut u32,
    out: *mut *mut T,
) -> ze_result_t {
    if result != ZE_RESULT_SUCCESS {
        return result;
    }
    if count.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    // SAFETY: by the caller's contract.
    unsafe {
        let available = items.len() as u32;
        if out.is_null() || *count == 0 {
            *count = available;
            return ZE_RESULT_SUCCESS;
        }
        *count = available.min(*count);
        for (index, item) in items.iter().take(*count as usize).enumerate() {
            out.add(index).write(item.cast());
        }
    }
    ZE_RESULT_SUCCESS
}

pub(crate) extern "C" fn zeInit(_flags: ze_init_flags_t) -> ze_result_t {
    slot("zeInit")
}

pub(crate) unsafe extern "C" fn zeInitDrivers(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
    _desc: *mut ze_init_driver_type_desc_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { list(slot("zeInitDrivers"), &[driver()], pCount, phDrivers) }
}

pub(crate) unsafe extern "C" fn zeDriverGet(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { list(slot("zeDriverGet"), &[driver()], pCount, phDrivers) }
}

pub(crate) extern "C" fn zesInit(_flags: zes_init_flags_t) -> ze_result_t {
    slot("zesInit")
}

pub(crate) unsafe extern "C" fn zesDriverGet(
    pCount: *mut u32,
    phDrivers: *mut zes_driver_handle_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { list(slot("zesDriverGet"), &[driver()], pCount, phDrivers) }
}

pub(crate) unsafe extern "C" fn zeDriverGetApiVersion(
    _hDriver: ze_driver_handle_t,
    version: *mut ze_api_version_t,
) -> ze_result_t {
    let script = script();
    let old = script.legacy || script.extension.is_some();
    // SAFETY: the caller gives a place to write.
    unsafe {
        version.write(if old {
            ZE_API_VERSION_1_16
        } else {
            ZE_API_VERSION_1_17
        })
    };
    slot("zeDriverGetApiVersion")
}

pub(crate) unsafe extern "C" fn zeDriverGetProperties(
    _hDriver: ze_driver_handle_t,
    pDriverProperties: *mut ze_driver_properties_t,
) -> ze_result_t {
    // SAFETY: the caller gives a struct and a chain of structs that begin alike.
    unsafe {
        (*pDriverProperties).driverVersion = 1;
        let next = (*pDriverProperties)
            .pNext
            .cast::<ze_driver_ddi_handles_ext_properties_t>();
        if !script().legacy
            && !next.is_null()
            && (*next).stype == ze_driver_ddi_handles_ext_properties_t::STYPE
        {
            (*next).flags = ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED;
        }
    }
    slot("zeDriverGetProperties")
}

pub(crate) unsafe extern "C" fn zeDriverGetExtensionProperties(
    _hDriver: ze_driver_handle_t,
    pCount: *mut u32,
    pExtensionProperties: *mut ze_driver_extension_properties_t,
) -> ze_result_t {
    let available = u32::from(!script().legacy);
    // SAFETY: the caller gives a count, and null or room for that many.
    unsafe {
        if !pExtensionProperties.is_null() && available > 0 && *pCount > 0 {
            let mut entry = ze_driver_extension_properties_t::default();
            for (place, byte) in entry
                .name
                .iter_mut()
                .zip(b"ZE_extension_driver_ddi_handles")
            {
                *place = byte.cast_signed() as c_char;
            }
            entry.version = script().extension.unwrap_or(0x1_0001);
            pExtensionProperties.write(entry);
        }
        *pCount = available;
    }
    slot("zeDriverGetExtensionProperties")
}

pub(crate) extern "C" fn zeDriverGetDefaultContext(
    _hDriver: ze_driver_handle_t,
) -> ze_context_handle_t {
    slot("zeDriverGetDefaultContext");
    default_context().cast()
}

pub(crate) unsafe extern "C" fn zeDeviceGet(
    _hDriver: ze_driver_handle_t,
    pCount: *mut u32,
    phDevices: *mut ze_device_handle_t,
) -> ze_result_t {
    let handles: Vec<_> = devices().iter().map(|(kept, _)| kept.0).collect();
    // SAFETY: the caller's contract is the same.
    unsafe { list(slot("zeDeviceGet"), &handles, pCount, phDevices) }
}

pub(crate) unsafe extern "C" fn zeDeviceGetProperties(
    hDevice: ze_device_handle_t,
    pDeviceProperties: *mut ze_device_properties_t,
) -> ze_result_t {
    let Some((_, kind)) = devices().iter().find(|(kept, _)| kept.0 == hDevice.cast()) else {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    };
    let (r#type, flags) = match kind {
        Device::Discrete => (ZE_DEVICE_TYPE_GPU, 0),
        Device::Integrated => (ZE_DEVICE_TYPE_GPU, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED),
        Device::Cpu => (ZE_DEVICE_TYPE_CPU, 0),
        Device::Npu => (ZE_DEVICE_TYPE_VPU, 0),
    };
    // SAFETY: the caller gives a struct.
    unsafe {
        (*pDeviceProperties).r#type = r#type;
        (*pDeviceProperties).flags = flags;
    }
    slot("zeDeviceGetProperties")
}

pub(crate) unsafe extern "C" fn zerGetLastErrorDescription(
    ppString: *mut *const c_char,
) -> ze_result_t {
    // SAFETY: the caller gives a place to write.
    unsafe { ppString.write(c"stub driver's text".as_ptr()) };
    slot("zerGetLastErrorDescription")
}

pub(crate) extern "C" fn zerTranslateDeviceHandleToIdentifier(hDevice: ze_device_handle_t) -> u32 {
    slot("zerTranslateDeviceHandleToIdentifier");
    devices()
        .iter()
        .position(|(kept, _)| kept.0 == hDevice.cast())
        .map_or(u32::MAX, |index| index as u32)
}

pub(crate) extern "C" fn zerTranslateIdentifierToDeviceHandle(
    identifier: u32,
) -> ze_device_handle_t {
    slot("zerTranslateIdentifierToDeviceHandle");
    devices()
        .get(identifier as usize)
        .map_or(std::ptr::null_mut(), |(kept, _)| kept.0.cast())
}

pub(crate) extern "C" fn zerGetDefaultContext() -> ze_context_handle_t {
    slot("zerGetDefaultContext");
    default_context().cast()
}
