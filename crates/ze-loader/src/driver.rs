//! Checks whether a driver's handles can be dispatched through or must be wrapped: once, on load, so that calls need
//! not.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_API_VERSION_1_0, ZE_API_VERSION_1_13,
    ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED, ZE_RESULT_SUCCESS, ze_api_version_t,
    ze_device_handle_t, ze_driver_handle_t, ze_handle_t,
};

use crate::generated::driver_tables::{CORE, RUNTIME, SYSMAN, TOOLS};
use crate::library::Library;
use crate::order::{self, Rank};
use crate::refusals::is_no_object;
use crate::tables::Member;

/// The extension that promises DDI tables at the beginning of each object.
const EXTENSION: &CStr = c"ZE_extension_driver_ddi_handles";
/// The header has its fourth pointer from this version of the extension on.
const EXTENSION_NEEDED: u32 = 0x1_0001;
/// The reason for drivers without the extension.
const LEGACY: &str = "its handles have no DDI tables";
/// Larger counts of extensions or devices are treated as errors of the driver.
const COUNT_BOUND: u32 = 4096;

/// The result of the checks of a usable driver.
pub(crate) enum Verdict {
    Ddi,
    /// Why its handles must be wrapped, and its API version.
    Wrap(String, u32),
}

/// The core tables of accepted drivers; the first null ends the list.
static KNOWN: [AtomicPtr<c_void>; 64] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 64];

/// Whether a handle that is not a wrapper begins with the tables of an accepted driver. Checked only while there are
/// wrapped drivers: an application may have obtained one of their own handles by mistake, which points to no header.
#[inline]
pub(crate) fn is_known(handle: *const c_void) -> bool {
    // Nothing is read at an address where no driver can have an object.
    if is_no_object(handle.addr()) || KNOWN[0].load(Ordering::Relaxed).is_null() {
        return false;
    }
    // SAFETY: handles of Level Zero are addresses of objects, of a word at least; addresses that can be none were sorted out above.
    let tables = unsafe { handle.cast::<*mut c_void>().read() };
    for known in &KNOWN {
        let known = known.load(Ordering::Relaxed);
        if known == tables {
            return !known.is_null();
        }
        if known.is_null() {
            return false;
        }
    }
    false
}

/// Adds the tables of an accepted driver. Returns false if there are too many.
fn remember(tables: *mut c_void) -> bool {
    KNOWN.iter().any(|known| {
        let null = std::ptr::null_mut();
        let before = known.compare_exchange(null, tables, Ordering::AcqRel, Ordering::Acquire);
        before.is_ok() || before == Err(tables)
    })
}

/// `ZE_ENABLE_LOADER_DRIVER_DDI_PATH`: off only for `0` and `false`.
fn is_ddi_path_off() -> bool {
    std::env::var_os("ZE_ENABLE_LOADER_DRIVER_DDI_PATH")
        .is_some_and(|value| value == "0" || value == "false")
}

/// Checks a core driver handle.
///
/// # Errors
/// One line with the reason why the driver cannot be used at all.
///
/// # Safety
/// `handle` came from this library's `zeDriverGet` or `zeInitDrivers`.
pub(crate) unsafe fn judge(
    library: &Library,
    handle: ze_driver_handle_t,
) -> Result<Verdict, String> {
    if handle.is_null() {
        return Err("the driver returned a null handle".into());
    }
    // SAFETY: the handle is this library's.
    let Some(version) = (unsafe { api_version(library, handle)? }) else {
        let reason = "zeDriverGetApiVersion is missing";
        return Ok(Verdict::Wrap(reason.into(), ZE_API_VERSION_1_0.0));
    };
    if is_ddi_path_off() {
        return Ok(Verdict::Wrap(
            "ZE_ENABLE_LOADER_DRIVER_DDI_PATH is off".into(),
            version,
        ));
    }
    // Whatever the version: a driver that does not say that its objects begin with tables may have other objects.
    // SAFETY: as above.
    if let Some(reason) = unsafe { missing_extension(library, handle)? } {
        return Ok(Verdict::Wrap(reason, version));
    }
    // SAFETY: as above, and it offers the extension in the version with four tables.
    match unsafe { check_header(handle.cast()) } {
        Ok(()) => Ok(Verdict::Ddi),
        Err(reason) => Ok(Verdict::Wrap(reason, version)),
    }
}

/// Checks the header of any object of a driver with DDI handles.
///
/// # Errors
/// One line naming the unusable member.
///
/// # Safety
/// `handle` is a non-null object of a driver with DDI handles of version 1.1 or newer.
pub(crate) unsafe fn check_header(handle: *const c_void) -> Result<(), String> {
    // SAFETY: each object of such a driver begins with these 32 bytes.
    let header = unsafe { std::ptr::read_unaligned(handle.cast::<ze_handle_t>()) };
    let tables: [(&str, *const c_void, &[Member]); 4] = [
        ("pCore", header.pCore.cast_const().cast(), &CORE),
        ("pTools", header.pTools.cast_const().cast(), &TOOLS),
        ("pSysman", header.pSysman.cast_const().cast(), &SYSMAN),
        ("pRuntime", header.pRuntime.cast_const().cast(), &RUNTIME),
    ];
    for (name, table, members) in tables {
        // SAFETY: null, or a driver table: version, valid flag, then one pointer for each member of its version.
        unsafe { check_table(name, table, members)? };
    }
    if !remember(header.pCore.cast()) {
        return Err(format!("more than {} drivers with DDI tables", KNOWN.len()));
    }
    Ok(())
}

/// # Safety
/// `table` is null or a driver table with these members, up to its version.
unsafe fn check_table(name: &str, table: *const c_void, members: &[Member]) -> Result<(), String> {
    if table.is_null() || !table.addr().is_multiple_of(align_of::<*const c_void>()) {
        return Err(format!(
            "{name} in its handles is {table:p}, which is not a table"
        ));
    }
    // SAFETY: the table begins with its version and valid flag.
    let (version, valid) =
        unsafe { (table.cast::<u32>().read(), table.cast::<u8>().add(4).read()) };
    if valid == 0 {
        return Err(format!(
            "the {name} table is marked invalid (isValidFlag 0)"
        ));
    }
    if version < ZE_API_VERSION_1_13.0 || version >> 16 != 1 {
        return Err(format!(
            "the {name} table has version {}.{}, but the loader requires 1.13 or a later 1.x",
            version >> 16,
            version & 0xffff
        ));
    }
    // SAFETY: behind version and flag, at offset 8, lie the members' pointers.
    let slots = unsafe { table.cast::<*const c_void>().add(1) };
    for (index, member) in members.iter().enumerate() {
        if member.since > version || member.optional {
            continue;
        }
        // SAFETY: the table's version says that it reaches to this member.
        if unsafe { slots.add(index).read() }.is_null() {
            return Err(format!(
                "the {name} table has no {} table (null)",
                member.name
            ));
        }
    }
    Ok(())
}

/// # Safety
/// As [`judge`].
unsafe fn api_version(
    library: &Library,
    handle: ze_driver_handle_t,
) -> Result<Option<u32>, String> {
    let Some(get) = library.driver.pfnGetApiVersion else {
        return Ok(None);
    };
    let mut version = ze_api_version_t(0);
    // SAFETY: the library's own handle and a place to write.
    match unsafe { get(handle, &raw mut version) } {
        ZE_RESULT_SUCCESS => Ok(Some(version.0)),
        error => Err(format!("zeDriverGetApiVersion returned {error:?}")),
    }
}

/// Why a driver does not have the extension; `None` if it does.
///
/// # Errors
/// The driver cannot list its extensions.
///
/// # Safety
/// As [`judge`].
unsafe fn missing_extension(
    library: &Library,
    handle: ze_driver_handle_t,
) -> Result<Option<String>, String> {
    let (Some(extensions), Some(properties)) = (
        library.driver.pfnGetExtensionProperties,
        library.driver.pfnGetProperties,
    ) else {
        return Ok(Some(LEGACY.into()));
    };
    let mut count = 0;
    // SAFETY: count query with a place to write.
    let result = unsafe { extensions(handle, &raw mut count, std::ptr::null_mut()) };
    if result != ZE_RESULT_SUCCESS {
        return Err(format!(
            "zeDriverGetExtensionProperties returned {result:?}"
        ));
    }
    if count > COUNT_BOUND {
        return Err(format!(
            "the driver reports {count} extensions, more than the limit of {COUNT_BOUND}"
        ));
    }
    let mut list = vec![sys::ze_driver_extension_properties_t::default(); count as usize];
    if count > 0 {
        // SAFETY: `count` elements of our own.
        let result = unsafe { extensions(handle, &raw mut count, list.as_mut_ptr()) };
        if result != ZE_RESULT_SUCCESS {
            return Err(format!(
                "zeDriverGetExtensionProperties returned {result:?}"
            ));
        }
    }
    let wanted = EXTENSION.to_bytes_with_nul();
    let found = list.iter().find(|entry| {
        entry.name.len() >= wanted.len()
            && entry
                .name
                .iter()
                .zip(wanted)
                .all(|(have, want)| have.to_ne_bytes()[0] == *want)
    });
    let Some(found) = found else {
        return Ok(Some(LEGACY.into()));
    };
    if found.version < EXTENSION_NEEDED {
        return Ok(Some(format!(
            "its handles have the header of {} {}.{}, but the loader requires 1.1 or later (four tables)",
            EXTENSION.to_string_lossy(),
            found.version >> 16,
            found.version & 0xffff
        )));
    }
    let mut ddi = sys::ze_driver_ddi_handles_ext_properties_t::default();
    let mut base = sys::ze_driver_properties_t {
        pNext: (&raw mut ddi).cast(),
        ..Default::default()
    };
    // SAFETY: both structs are our own, typed by `stype` and chained during the call.
    let result = unsafe { properties(handle, &raw mut base) };
    if result != ZE_RESULT_SUCCESS {
        return Ok(Some(format!("zeDriverGetProperties returned {result:?}")));
    }
    if ddi.flags & ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED == 0 {
        return Ok(Some(LEGACY.into()));
    }
    Ok(None)
}

/// The rank of an accepted driver, by its devices. A driver that cannot list them is OTHER.
///
/// # Safety
/// `handle` was accepted: it has passed [`judge`], or is a wrapper.
pub(crate) unsafe fn rank(handle: ze_driver_handle_t) -> Rank {
    // SAFETY: the header was checked; tables are static.
    let device = unsafe { &*(*(*handle.cast::<ze_handle_t>()).pCore).Device };
    let (Some(get), Some(properties)) = (device.pfnGet, device.pfnGetProperties) else {
        return Rank::Other;
    };
    let mut count = 0;
    // SAFETY: count query with a place to write.
    if unsafe { get(handle, &raw mut count, std::ptr::null_mut()) } != ZE_RESULT_SUCCESS
        || count > COUNT_BOUND
    {
        return Rank::Other;
    }
    let mut devices: Vec<ze_device_handle_t> = vec![std::ptr::null_mut(); count as usize];
    // SAFETY: `count` elements of our own.
    let listed = unsafe { get(handle, &raw mut count, devices.as_mut_ptr()) };
    if listed != ZE_RESULT_SUCCESS {
        return Rank::Other;
    }
    let kinds: Vec<_> = devices
        .into_iter()
        .take(count as usize)
        .filter(|device| !device.is_null())
        .filter_map(|device| {
            let mut found = sys::ze_device_properties_t::default();
            // SAFETY: a device of this driver and our struct, typed by `stype`.
            let result = unsafe { properties(device, &raw mut found) };
            (result == ZE_RESULT_SUCCESS).then_some((found.r#type, found.flags))
        })
        .collect();
    order::rank(&kinds)
}
