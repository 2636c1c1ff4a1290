//! Simulated drivers on top of the real one: devices that divide into tiles, devices with peer access, and a driver
//! that runs all lists of a device one append after another.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Mutex, OnceLock};

use level_zero::sys::*;

/// Paths of the devices with tiles, in the order of the driver below: two roots, of which the first has two sub-devices
/// with two sub-devices each.
pub(crate) const PATHS: [&str; 8] = ["0", "0.0", "0.1", "0.0.0", "0.0.1", "0.1.0", "0.1.1", "1"];

static DEVICE: OnceLock<ze_device_dditable_t> = OnceLock::new();
static DEVICES: OnceLock<Vec<usize>> = OnceLock::new();

/// All devices of the driver.
fn devices() -> &'static [usize] {
    DEVICES.get().map_or(&[], Vec::as_slice)
}

/// The path of a device.
pub(crate) fn path_of(device: ze_device_handle_t) -> &'static str {
    let known = devices().iter().position(|known| *known == device.addr());
    known.map_or("?", |number| PATHS[number])
}

/// The device of a path.
pub(crate) fn device_at(path: &str) -> ze_device_handle_t {
    let number = PATHS.iter().position(|known| *known == path).unwrap();
    std::ptr::with_exposed_provenance_mut(devices()[number])
}

/// The paths one level below; the roots for an empty path.
fn below(path: &str) -> Vec<&'static str> {
    let level = |path: &str| path.split('.').count();
    let wanted = if path.is_empty() { 1 } else { level(path) + 1 };
    let inside = |known: &&&str| path.is_empty() || known.starts_with(&format!("{path}."));
    let all = PATHS.iter().filter(inside);
    all.filter(|known| level(known) == wanted)
        .copied()
        .collect()
}

/// The two-call idiom.
///
/// # Safety
/// As the specification requires for `count` and `array`.
unsafe fn answer(paths: &[&str], count: *mut u32, array: *mut ze_device_handle_t) -> ze_result_t {
    // SAFETY: the caller's contract.
    unsafe {
        let room = *count as usize;
        if array.is_null() || room == 0 || room > paths.len() {
            *count = u32::try_from(paths.len()).unwrap();
        }
        if !array.is_null() {
            for (number, path) in paths.iter().take(room).enumerate() {
                *array.add(number) = device_at(path);
            }
        }
    }
    ZE_RESULT_SUCCESS
}

unsafe extern "C" fn get(
    driver: ze_driver_handle_t,
    count: *mut u32,
    array: *mut ze_device_handle_t,
) -> ze_result_t {
    DEVICES.get_or_init(|| {
        let real = DEVICE.get().unwrap().pfnGet.unwrap();
        let mut found = 0;
        let mut all = [std::ptr::null_mut(); 8];
        // SAFETY: the driver's own function; the second call has as much room as it says.
        unsafe {
            real(driver, &raw mut found, std::ptr::null_mut());
            assert_eq!(found, 8, "SOLUM_DEVICES of this world");
            real(driver, &raw mut found, all.as_mut_ptr());
        }
        all.map(|handle: ze_device_handle_t| handle.expose_provenance())
            .to_vec()
    });
    // SAFETY: the caller's contract.
    unsafe { answer(&below(""), count, array) }
}

unsafe extern "C" fn get_sub_devices(
    device: ze_device_handle_t,
    count: *mut u32,
    array: *mut ze_device_handle_t,
) -> ze_result_t {
    // SAFETY: the caller's contract.
    unsafe { answer(&below(path_of(device)), count, array) }
}

unsafe extern "C" fn get_properties(
    device: ze_device_handle_t,
    properties: *mut ze_device_properties_t,
) -> ze_result_t {
    let real = DEVICE.get().unwrap().pfnGetProperties.unwrap();
    // SAFETY: the caller's contract.
    unsafe {
        let code = real(device, properties);
        // The devices seem to have their own memory, but kernels can access all of it.
        (*properties).flags &= !ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
        if path_of(device) == "1" {
            // Its own clock.
            (*properties).timerResolution *= 2;
        }
        if path_of(device).contains('.') {
            (*properties).flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
        }
        code
    }
}

/// The device without sub-devices has no double precision.
unsafe extern "C" fn get_module_properties(
    device: ze_device_handle_t,
    properties: *mut ze_device_module_properties_t,
) -> ze_result_t {
    let real = DEVICE.get().unwrap().pfnGetModuleProperties.unwrap();
    // SAFETY: the caller's contract.
    unsafe {
        let code = real(device, properties);
        if path_of(device) == "1" {
            (*properties).flags &= !ZE_DEVICE_MODULE_FLAG_FP64;
        }
        code
    }
}

/// The driver's table, with devices that have their own memory.
unsafe extern "C" fn peers_table(
    version: ze_api_version_t,
    table: *mut ze_device_dditable_t,
) -> ze_result_t {
    let getter = real(c"zeGetDeviceProcAddrTable");
    // SAFETY: the export of this name has this signature; the caller gives a table with room.
    unsafe {
        let getter: ze_pfnGetDeviceProcAddrTable_t = std::mem::transmute(getter);
        let code = getter.unwrap()(version, table);
        if code == ZE_RESULT_SUCCESS {
            let _ = DEVICE.set(*table);
            (*table).pfnGetProperties = Some(get_properties);
        }
        code
    }
}

/// As above, with sub-devices.
unsafe extern "C" fn device_table(
    version: ze_api_version_t,
    table: *mut ze_device_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller gives a table with room.
    unsafe {
        let code = peers_table(version, table);
        if code == ZE_RESULT_SUCCESS {
            (*table).pfnGet = Some(get);
            (*table).pfnGetSubDevices = Some(get_sub_devices);
            (*table).pfnGetModuleProperties = Some(get_module_properties);
        }
        code
    }
}

pub(crate) fn real(name: &CStr) -> *const () {
    ze_cpu::entry().address(name)
}

/// The driver with tiles; `SOLUM_DEVICES` is `gpu:7,cpu`.
pub(crate) fn tiles(name: &CStr) -> *const () {
    match name.to_bytes() {
        b"zeGetDeviceProcAddrTable" => device_table as *const (),
        _ => real(name),
    }
}

/// The driver whose devices report their own memories and peer access, with recorded copies; `SOLUM_DEVICES` has no
/// `discrete`.
pub(crate) fn peers(name: &CStr) -> *const () {
    match name.to_bytes() {
        b"zeGetDeviceProcAddrTable" => peers_table as *const (),
        _ => crate::copies::watched(name),
    }
}

static LIST: OnceLock<ze_command_list_dditable_t> = OnceLock::new();
/// The one list of each device.
static ENGINES: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);

unsafe extern "C" fn create_immediate(
    context: ze_context_handle_t,
    device: ze_device_handle_t,
    desc: *const ze_command_queue_desc_t,
    list: *mut ze_command_list_handle_t,
) -> ze_result_t {
    let mut engines = ENGINES.lock().unwrap();
    let engines = engines.get_or_insert_default();
    if let Some(known) = engines.get(&device.addr()) {
        // SAFETY: a valid output by the caller's contract.
        unsafe { *list = std::ptr::with_exposed_provenance_mut(*known) };
        return ZE_RESULT_SUCCESS;
    }
    let real = self::list().pfnCreateImmediate.unwrap();
    // SAFETY: the caller's contract; the description is its own, in order.
    unsafe {
        let mut desc = *desc;
        desc.flags |= ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
        desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
        let code = real(context, device, &raw const desc, list);
        engines.insert(device.addr(), (*list).expose_provenance());
        code
    }
}

/// The list is shared.
unsafe extern "C" fn destroy(_: ze_command_list_handle_t) -> ze_result_t {
    ZE_RESULT_SUCCESS
}

/// The driver's own command list functions, once requested.
pub(crate) fn list() -> &'static ze_command_list_dditable_t {
    LIST.get().unwrap()
}

/// The driver's table of command list functions, changed.
///
/// # Safety
/// As the specification requires for `zeGetCommandListProcAddrTable`.
pub(crate) unsafe fn list_table(
    version: ze_api_version_t,
    table: *mut ze_command_list_dditable_t,
    change: fn(&mut ze_command_list_dditable_t),
) -> ze_result_t {
    let getter = real(c"zeGetCommandListProcAddrTable");
    // SAFETY: as for `peers_table`.
    unsafe {
        let getter: ze_pfnGetCommandListProcAddrTable_t = std::mem::transmute(getter);
        let code = getter.unwrap()(version, table);
        if code == ZE_RESULT_SUCCESS {
            let _ = LIST.set(*table);
            change(&mut *table);
        }
        code
    }
}

unsafe extern "C" fn engines_table(
    version: ze_api_version_t,
    table: *mut ze_command_list_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller's contract.
    unsafe {
        list_table(version, table, |table| {
            table.pfnCreateImmediate = Some(create_immediate);
            table.pfnDestroy = Some(destroy);
        })
    }
}

/// The driver with one engine for all lists of a device.
pub(crate) fn one_engine(name: &CStr) -> *const () {
    match name.to_bytes() {
        b"zeGetCommandListProcAddrTable" => engines_table as *const (),
        _ => real(name),
    }
}
