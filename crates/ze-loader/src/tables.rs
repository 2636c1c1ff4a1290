//! The loader's own getters: they fill tables with the exported functions, so that clients call through the loader.

use level_zero_sys::{
    ZE_API_VERSION_CURRENT, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNINITIALIZED,
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZE_RESULT_SUCCESS, ze_api_version_t, ze_result_t,
};

pub use ze_layers::Tables;

use crate::{phase, text};

/// One member of a driver table: its name and the API version that added it.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) since: u32,
    /// Drivers may leave it out (null): its functions are then unsupported.
    pub(crate) optional: bool,
}

/// The checks of every getter, in this order: driver libraries found, table given, version known.
///
/// # Errors
/// UNINITIALIZED without a driver, INVALID_NULL_POINTER, UNSUPPORTED_VERSION.
fn check<T>(
    name: &'static str,
    version: ze_api_version_t,
    table: *mut T,
) -> Result<(), ze_result_t> {
    let current = ZE_API_VERSION_CURRENT.0;
    if !phase::is_discovered() {
        text::set_consequence(format_args!(
            "{name}: no driver library is open; call zeLoaderInit or zeInit first"
        ));
        return Err(ZE_RESULT_ERROR_UNINITIALIZED);
    }
    if table.is_null() {
        text::set(format_args!("{name}: pDdiTable must not be null"));
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    if version.0 > current || version.0 >> 16 != current >> 16 {
        text::set(format_args!(
            "{name}: version {}.{} was requested; this loader supports 1.0 to {}.{}",
            version.0 >> 16,
            version.0 & 0xffff,
            current >> 16,
            current & 0xffff
        ));
        return Err(ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    }
    Ok(())
}

/// Fills the slots that exist at `version` and leaves the rest unchanged.
///
/// `reach` holds pairs of an API version and the number of slots that exist from it on, ascending: slots are only
/// appended, so the slots of a version are a prefix.
///
/// # Safety
/// `T` is a DDI table of function pointers; `table` is null or has room for the slots of `version`.
pub unsafe fn fill<T>(
    name: &'static str,
    version: ze_api_version_t,
    table: *mut T,
    own: &T,
    reach: &[(u32, usize)],
) -> ze_result_t {
    if let Err(error) = check(name, version, table) {
        return error;
    }
    let slots = reach
        .iter()
        .rev()
        .find(|(since, _)| *since <= version.0)
        .map_or(0, |(_, slots)| *slots);
    let slots = slots.min(size_of::<T>() / size_of::<*const ()>());
    // SAFETY: both tables are arrays of pointers at least `slots` long.
    unsafe {
        std::ptr::copy_nonoverlapping(
            std::ptr::from_ref(own).cast::<*const ()>(),
            table.cast(),
            slots,
        )
    };
    ZE_RESULT_SUCCESS
}
