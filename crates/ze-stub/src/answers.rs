//! The slots that describe the stub: init, drivers, devices, properties, last error.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use level_zero_sys::*;

use crate::call::{Call, slot};
use crate::objects::object;
use crate::script::{Device, script};

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

/// Logs a call on the driver and returns its result.
fn with_driver(name: &'static str, driver: ze_driver_handle_t) -> ze_result_t {
    let mut call = Call::new(name);
    call.handle("hDriver", driver);
    call.finish()
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
    hDriver: ze_driver_handle_t,
    version: *mut ze_api_version_t,
) -> ze_result_t {
    let script = script();
    let old = script.legacy || script.extension.is_some();
    let usual = if old {
        ZE_API_VERSION_1_16
    } else {
        ZE_API_VERSION_1_17
    };
    // SAFETY: the caller gives a place to write.
    unsafe { version.write(script.api.map_or(usual, ze_api_version_t)) };
    with_driver("zeDriverGetApiVersion", hDriver)
}

pub(crate) unsafe extern "C" fn zeDriverGetProperties(
    hDriver: ze_driver_handle_t,
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
    with_driver("zeDriverGetProperties", hDriver)
}

pub(crate) unsafe extern "C" fn zeDriverGetExtensionProperties(
    hDriver: ze_driver_handle_t,
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
    with_driver("zeDriverGetExtensionProperties", hDriver)
}

pub(crate) extern "C" fn zeDriverGetDefaultContext(
    _hDriver: ze_driver_handle_t,
) -> ze_context_handle_t {
    slot("zeDriverGetDefaultContext");
    default_context().cast()
}

pub(crate) unsafe extern "C" fn zeDeviceGet(
    hDriver: ze_driver_handle_t,
    pCount: *mut u32,
    phDevices: *mut ze_device_handle_t,
) -> ze_result_t {
    let handles: Vec<_> = devices().iter().map(|(kept, _)| kept.0).collect();
    let mut call = Call::new("zeDeviceGet");
    call.handle("hDriver", hDriver);
    // SAFETY: the caller's contract is the same.
    unsafe { list(call.finish(), &handles, pCount, phDevices) }
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
    let mut call = Call::new("zeDeviceGetProperties");
    call.handle("hDevice", hDevice);
    call.finish()
}

/// The stub's extension: an event that the loader has not seen.
unsafe extern "C" fn make_event(
    hContext: ze_context_handle_t,
    phEvent: *mut ze_event_handle_t,
) -> ze_result_t {
    let mut call = Call::new("stubMakeEvent");
    call.handle("hContext", hContext);
    // SAFETY: the caller gives a place to write.
    unsafe { call.created("phEvent", phEvent) };
    call.finish()
}

/// The stub's extension: its own function, on an event.
unsafe extern "C" fn use_event(hEvent: ze_event_handle_t) -> ze_result_t {
    let mut call = Call::new("stubUseEvent");
    call.handle("hEvent", hEvent);
    call.finish()
}

pub(crate) unsafe extern "C" fn zeDriverGetExtensionFunctionAddress(
    hDriver: ze_driver_handle_t,
    name: *const c_char,
    ppFunctionAddress: *mut *mut c_void,
) -> ze_result_t {
    let mut call = Call::new("zeDriverGetExtensionFunctionAddress");
    call.handle("hDriver", hDriver);
    if !name.is_null() && !ppFunctionAddress.is_null() {
        // SAFETY: the caller gives a C string and a place to write.
        unsafe {
            match CStr::from_ptr(name).to_bytes() {
                b"stubMakeEvent" => ppFunctionAddress.write(make_event as *mut c_void),
                b"stubUseEvent" => ppFunctionAddress.write(use_event as *mut c_void),
                _ => {}
            }
        }
    }
    call.finish()
}

/// Each kernel has two arguments.
pub(crate) unsafe extern "C" fn zeKernelGetProperties(
    hKernel: ze_kernel_handle_t,
    pKernelProperties: *mut ze_kernel_properties_t,
) -> ze_result_t {
    let mut call = Call::new("zeKernelGetProperties");
    call.handle("hKernel", hKernel);
    if !pKernelProperties.is_null() {
        // SAFETY: the caller gives a struct.
        unsafe { (*pKernelProperties).numKernelArgs = 2 };
    }
    call.finish()
}

/// Logs values of eight bytes.
pub(crate) unsafe extern "C" fn zeKernelSetArgumentValue(
    hKernel: ze_kernel_handle_t,
    _argIndex: u32,
    argSize: usize,
    pArgValue: *const c_void,
) -> ze_result_t {
    let mut call = Call::new("zeKernelSetArgumentValue");
    call.handle("hKernel", hKernel);
    if argSize == 8 && !pArgValue.is_null() {
        // SAFETY: the caller gives eight bytes.
        call.handle("pArgValue", unsafe {
            pArgValue.cast::<*mut c_void>().read_unaligned()
        });
    }
    call.finish()
}

/// Logs the handle in the descriptor.
pub(crate) unsafe extern "C" fn zeDeviceGetRuntimeRequirements(
    hDevice: ze_device_handle_t,
    pObjDesc: *const c_void,
    _pSize: *mut usize,
    _pRequirements: *mut c_char,
) -> ze_result_t {
    let mut call = Call::new("zeDeviceGetRuntimeRequirements");
    call.handle("hDevice", hDevice);
    if !pObjDesc.is_null() {
        // SAFETY: the caller gives one of two descriptors, which look alike.
        let source =
            unsafe { (*pObjDesc.cast::<ze_runtime_requirements_module_desc_t>()).requirementsSrc };
        call.handle("requirementsSrc", source);
    }
    call.finish()
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
