//! Legacy drivers, whose handles are wrapped: they have no DDI handles, or ones that this loader cannot dispatch
//! through.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use level_zero_sys::{
    ze_api_version_t, ze_context_handle_t, ze_driver_handle_t, ze_handle_t, ze_result_t,
};

use crate::generated::legacy_facts::{CONTEXT, DRIVER, GETTERS};
use crate::legacy_driver::{LegacyDriver, Shared};
use crate::library::Library;
use crate::tables::Tables;
use crate::wrapper::Origin;
use crate::wrapper::arguments::{deciding, missing};

impl LegacyDriver {
    /// Fills the tables from the library's getters. They are never freed, because handles may outlive their use. A
    /// getter that is missing or fails leaves nulls, for which calls return UNSUPPORTED_FEATURE; the getters that the
    /// loader needs were called when the library was opened.
    pub(crate) fn new(
        library: &Library,
        version: u32,
        header: ze_handle_t,
    ) -> &'static LegacyDriver {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let mut tables = Tables::default();
        for (name, offset) in GETTERS {
            // SAFETY: the offset is that of the table which this getter fills.
            unsafe {
                let table = (&raw mut tables).cast::<u8>().add(offset).cast();
                library.fill(name, table);
            }
        }
        Box::leak(Box::new(LegacyDriver {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            name: library.name.to_string_lossy().into_owned(),
            version,
            tables,
            header: Shared(header),
        }))
    }
}

impl Library {
    /// Lets the library fill a zeroed table, at the newest version that it accepts.
    ///
    /// # Safety
    /// `table` is the table that the getter `name` fills, with the size of version 1.17.
    unsafe fn fill(&self, name: &CStr, table: *mut c_void) {
        type Getter = unsafe extern "C" fn(ze_api_version_t, *mut c_void) -> ze_result_t;
        let Some(address) = self.symbol(name) else {
            return;
        };
        // SAFETY: all getters have this type, but for the type of the table.
        let getter = unsafe { std::mem::transmute::<*mut c_void, Getter>(address) };
        // SAFETY: guaranteed by the caller; older versions fill a prefix.
        let _ = crate::library::newest(|version| unsafe { getter(version, table) });
    }
}

/// The one function that returns a handle as its result: null and a text on failure.
///
/// # Safety
/// As Level Zero requires.
#[expect(non_snake_case, reason = "the function carries C's name")]
pub(crate) unsafe extern "C" fn zeDriverGetDefaultContext(
    driver: ze_driver_handle_t,
) -> ze_context_handle_t {
    const SINCE: u32 = level_zero_sys::ZE_API_VERSION_1_14.0;
    let Ok((call, wrapper)) = deciding(&"zeDriverGetDefaultContext", &"hDriver", DRIVER, driver)
    else {
        return std::ptr::null_mut();
    };
    let Some(get) = call.driver.tables.ze.Driver.pfnGetDefaultContext else {
        missing(call, SINCE);
        return std::ptr::null_mut();
    };
    // SAFETY: the driver's own handle.
    let native = unsafe { get(wrapper.native()) };
    call.wrapped(CONTEXT, native, Origin::Known)
        .unwrap_or(std::ptr::null_mut())
}
