//! The Level Zero calls with which the child describes a loader or a driver. Any of them may be missing.

use std::ffi::{CStr, c_char};

use level_zero::sys::*;

use super::step::{Device, Step};
use crate::library::Library;

/// The largest plausible number of drivers, devices or extensions; a larger one is a bug of the library.
const COUNT_BOUND: u32 = 4096;

/// The functions of a library.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) init: ze_pfnInit_t,
    pub(crate) init_drivers: ze_pfnInitDrivers_t,
    driver: ze_driver_dditable_t,
    device: ze_device_dditable_t,
    runtime: zer_global_dditable_t,
}

/// Gets a function table, trying the newest version first.
///
/// # Safety
/// `name` is the getter of table `T`.
unsafe fn table<T: Default>(library: &Library, name: &CStr) -> Result<T, String> {
    type Getter<T> = unsafe extern "C" fn(ze_api_version_t, *mut T) -> ze_result_t;
    // SAFETY: by the caller's contract.
    let Some(getter) = (unsafe { library.function::<Getter<T>>(name) }) else {
        return Ok(T::default());
    };
    let mut result = ZE_RESULT_SUCCESS;
    // A library rejects versions newer than its own.
    for version in (ZE_API_VERSION_1_0.0..=ZE_API_VERSION_CURRENT.0).rev() {
        let version = ze_api_version_t(version);
        let mut table = T::default();
        // SAFETY: the table is as large as the newest version says; older ones fill a prefix.
        result = unsafe { getter(version, &raw mut table) };
        if result == ZE_RESULT_SUCCESS {
            return Ok(table);
        }
    }
    Err(format!(
        "{} returned {}",
        name.to_string_lossy(),
        code(result)
    ))
}

impl Calls {
    /// The functions of a driver, from its function tables.
    ///
    /// # Errors
    /// Why it is not a driver.
    pub(crate) fn of_driver(library: &Library) -> Result<Self, String> {
        if library.symbol(c"zeGetGlobalProcAddrTable").is_none() {
            return Err("not a Level Zero driver: it exports no zeGetGlobalProcAddrTable".into());
        }
        if library.symbol(c"zeLoaderInit").is_some() {
            return Err("a Level Zero loader, not a driver".into());
        }
        // SAFETY: each name is that of the getter for its table.
        unsafe {
            let global: ze_global_dditable_t = table(library, c"zeGetGlobalProcAddrTable")?;
            Ok(Self {
                init: global.pfnInit,
                init_drivers: global.pfnInitDrivers,
                driver: table(library, c"zeGetDriverProcAddrTable")?,
                device: table(library, c"zeGetDeviceProcAddrTable")?,
                runtime: table(library, c"zerGetGlobalProcAddrTable").unwrap_or_default(),
            })
        }
    }

    /// The functions of a loader, from its exports.
    pub(crate) fn of_loader(library: &Library) -> Self {
        // SAFETY: each name has this C signature in the specification; the slots' types are `Option` of it.
        unsafe {
            Self {
                init: library.function(c"zeInit"),
                init_drivers: library.function(c"zeInitDrivers"),
                driver: ze_driver_dditable_t {
                    pfnGet: library.function(c"zeDriverGet"),
                    pfnGetApiVersion: library.function(c"zeDriverGetApiVersion"),
                    pfnGetProperties: library.function(c"zeDriverGetProperties"),
                    pfnGetExtensionProperties: library.function(c"zeDriverGetExtensionProperties"),
                    ..Default::default()
                },
                device: ze_device_dditable_t {
                    pfnGet: library.function(c"zeDeviceGet"),
                    pfnGetSubDevices: library.function(c"zeDeviceGetSubDevices"),
                    pfnGetProperties: library.function(c"zeDeviceGetProperties"),
                    ..Default::default()
                },
                runtime: zer_global_dditable_t {
                    pfnGetLastErrorDescription: library.function(c"zerGetLastErrorDescription"),
                    ..Default::default()
                },
            }
        }
    }

    /// The library's description of this thread's last error.
    pub(crate) fn last_error(&self) -> String {
        let Some(get) = self.runtime.pfnGetLastErrorDescription else {
            return String::new();
        };
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the output is valid.
        if unsafe { get(&raw mut text) } != ZE_RESULT_SUCCESS || text.is_null() {
            return String::new();
        }
        // SAFETY: a C string that stays valid until this thread's next call.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }

    /// All drivers by `zeDriverGet`.
    ///
    /// # Errors
    /// The call and its result.
    pub(crate) fn drivers(&self) -> Result<Vec<ze_driver_handle_t>, String> {
        let get = self.driver.pfnGet.ok_or("zeDriverGet is missing")?;
        // SAFETY: the two-call idiom.
        list("zeDriverGet", |count, array| unsafe { get(count, array) })
    }

    /// All drivers of a type by `zeInitDrivers`.
    ///
    /// # Errors
    /// The call and its result.
    pub(crate) fn drivers_of(&self, flags: u32) -> Result<Vec<ze_driver_handle_t>, String> {
        let init = self.init_drivers.ok_or("zeInitDrivers is missing")?;
        let mut desc = ze_init_driver_type_desc_t {
            flags,
            ..Default::default()
        };
        list("zeInitDrivers", |count, array| {
            // SAFETY: the two-call idiom; the descriptor is valid for the call.
            unsafe { init(count, array, &raw mut desc) }
        })
    }

    /// Describes a driver and its devices.
    ///
    /// # Errors
    /// The call and its result.
    pub(crate) fn describe(&self, driver: ze_driver_handle_t) -> Result<Step, String> {
        let mut api = ze_api_version_t(0);
        let get = self
            .driver
            .pfnGetApiVersion
            .ok_or("zeDriverGetApiVersion is missing")?;
        // SAFETY: a driver that the library returned, a valid output.
        check("zeDriverGetApiVersion", unsafe {
            get(driver, &raw mut api)
        })?;
        let mut ddi = ze_driver_ddi_handles_ext_properties_t::default();
        let mut properties = ze_driver_properties_t {
            pNext: (&raw mut ddi).cast(),
            ..Default::default()
        };
        let get = self
            .driver
            .pfnGetProperties
            .ok_or("zeDriverGetProperties is missing")?;
        // SAFETY: as above; the chained struct lives through the call.
        check("zeDriverGetProperties", unsafe {
            get(driver, &raw mut properties)
        })?;
        let get = self
            .driver
            .pfnGetExtensionProperties
            .ok_or("zeDriverGetExtensionProperties is missing")?;
        let extensions: Vec<ze_driver_extension_properties_t> =
            // SAFETY: the two-call idiom.
            list("zeDriverGetExtensionProperties", |count, array| unsafe {
                get(driver, count, array)
            })?;
        let has = |name: &str| extensions.iter().any(|e| text(&e.name) == name);
        Ok(Step::Driver {
            api: version(api.0),
            version: properties.driverVersion,
            ddi_handles: api.0 >= ZE_API_VERSION_1_17.0
                || (has("ZE_extension_driver_ddi_handles")
                    && ddi.flags & ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED != 0),
            module_program: has("ZE_experimental_module_program"),
            devices: self.devices(driver)?,
        })
    }

    fn devices(&self, driver: ze_driver_handle_t) -> Result<Vec<Device>, String> {
        let get = self.device.pfnGet.ok_or("zeDeviceGet is missing")?;
        // SAFETY: the two-call idiom.
        let handles = list("zeDeviceGet", |count, array| unsafe {
            get(driver, count, array)
        })?;
        let get = self
            .device
            .pfnGetProperties
            .ok_or("zeDeviceGetProperties is missing")?;
        handles
            .into_iter()
            .map(|device: ze_device_handle_t| {
                let mut properties = ze_device_properties_t::default();
                // SAFETY: a device that the library gave out, a valid output.
                check("zeDeviceGetProperties", unsafe {
                    get(device, &raw mut properties)
                })?;
                Ok(Device {
                    name: text(&properties.name),
                    kind: kind(properties.r#type),
                    vendor_id: properties.vendorId,
                    sub_devices: self.sub_devices(device),
                })
            })
            .collect()
    }
}

impl Calls {
    /// The number of sub-devices; 0 if the call is missing or fails.
    fn sub_devices(&self, device: ze_device_handle_t) -> u32 {
        let mut count = 0;
        let answered = self.device.pfnGetSubDevices.is_some_and(|get| {
            // SAFETY: a device that the library gave out; a null array asks for the count.
            let result = unsafe { get(device, &raw mut count, std::ptr::null_mut()) };
            result == ZE_RESULT_SUCCESS
        });
        if answered { count } else { 0 }
    }
}

/// The name of a device type in lower case, without its prefix.
fn kind(kind: ze_device_type_t) -> String {
    match kind.name() {
        Some(name) => name
            .trim_start_matches("ZE_DEVICE_TYPE_")
            .to_ascii_lowercase(),
        None => format!("type {:#x}", kind.0),
    }
}

/// A result's name, or its number.
pub(crate) fn code(code: ze_result_t) -> String {
    code.name()
        .map_or_else(|| format!("{:#x}", code.0), str::to_owned)
}

/// `major.minor` of an API version.
pub(crate) fn version(bits: u32) -> String {
    format!("{}.{}", bits >> 16, bits & 0xffff)
}

fn check(function: &str, result: ze_result_t) -> Result<(), String> {
    if result == ZE_RESULT_SUCCESS {
        Ok(())
    } else {
        Err(format!("{function} returned {}", code(result)))
    }
}

/// Reads a list in two calls, count and content.
fn list<T: Element>(
    function: &str,
    mut call: impl FnMut(*mut u32, *mut T) -> ze_result_t,
) -> Result<Vec<T>, String> {
    let mut count = 0;
    check(function, call(&raw mut count, std::ptr::null_mut()))?;
    if count > COUNT_BOUND {
        return Err(format!(
            "{function} returned an implausible count: {count}; the limit is {COUNT_BOUND}"
        ));
    }
    let mut all = vec![T::EMPTY; count as usize];
    if count > 0 {
        check(function, call(&raw mut count, all.as_mut_ptr()))?;
        all.truncate(count as usize);
    }
    Ok(all)
}

/// Element types of lists, with their initial value.
trait Element: Clone {
    const EMPTY: Self;
}
impl<T> Element for *mut T {
    const EMPTY: Self = std::ptr::null_mut();
}
impl Element for ze_driver_extension_properties_t {
    const EMPTY: Self = Self {
        name: [0; ZE_MAX_EXTENSION_NAME as usize],
        version: 0,
    };
}

/// A fixed array of C characters up to its NUL.
fn text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array
        .iter()
        .flat_map(|c| c.to_ne_bytes())
        .take_while(|c| *c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
