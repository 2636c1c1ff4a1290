//! The names and versions that layers' libraries report.

use level_zero_sys::*;

/// The version that layers' libraries report: that of the reference they follow.
const VERSION: zel_version_t = zel_version_t {
    major: 1,
    minor: 32,
    patch: 0,
};

/// `zelLoaderGetVersion` of a layer's library.
///
/// # Errors
/// Null → INVALID_NULL_POINTER.
///
/// # Safety
/// `version` is null or writable.
pub unsafe fn component_version(name: &str, version: *mut zel_component_version_t) -> ze_result_t {
    // SAFETY: guaranteed by the caller.
    let Some(version) = (unsafe { version.as_mut() }) else {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    };
    *version = zel_component_version_t {
        spec_version: ZE_API_VERSION_CURRENT,
        component_lib_version: VERSION,
        ..Default::default()
    };
    // The last byte stays 0, as the terminator.
    let room = version.component_name.len() - 1;
    for (place, byte) in version
        .component_name
        .iter_mut()
        .zip(name.bytes().take(room))
    {
        *place = core::ffi::c_char::from_ne_bytes([byte]);
    }
    ZE_RESULT_SUCCESS
}
