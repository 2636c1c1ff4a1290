//! Information about the loader itself: versions and translation of handles.

use std::ffi::{c_char, c_void};
use std::ptr;

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_API_VERSION_CURRENT, ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_ENUMERATION,
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_SUCCESS, ZEL_HANDLE_PHYSICAL_MEM, ze_result_t,
    zel_component_version_t, zel_handle_type_t, zel_version_t,
};

use crate::{layers, phase, text, wrapper};

/// The version of the reference loader that this one implements. Clients need major 1, and minor ≥ 19 for
/// `zeInitDrivers`.
const LOADER_VERSION: zel_version_t = zel_version_t {
    major: 1,
    minor: 32,
    patch: 0,
};

fn component(name: &str) -> zel_component_version_t {
    let mut component = zel_component_version_t {
        component_name: [0; 64],
        spec_version: ZE_API_VERSION_CURRENT,
        component_lib_version: LOADER_VERSION,
    };
    for (place, byte) in component.component_name.iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed() as c_char;
    }
    component
}

/// The loader, and after initialisation the available layers.
fn components() -> &'static [&'static str] {
    match (phase::is_ready(), layers::is_validating()) {
        (false, _) => &["loader"],
        (true, false) => &["loader", "tracing layer"],
        (true, true) => &["loader", "validation layer", "tracing layer"],
    }
}

fn null_pointer(name: &'static str, argument: &'static str) -> ze_result_t {
    text::set(format_args!("{name}: {argument} must not be null"));
    ZE_RESULT_ERROR_INVALID_NULL_POINTER
}

/// `zelLoaderGetVersions`: with a null array writes the count and does not read it (clients pass it uninitialised);
/// otherwise copies at most `*count` components and does not change the count. Works before init.
///
/// # Safety
/// `count` is null or valid; `versions` is null or has room for `*count` components.
pub unsafe fn versions(
    name: &'static str,
    count: *mut usize,
    versions: *mut zel_component_version_t,
) -> ze_result_t {
    if count.is_null() {
        return null_pointer(name, "num_elems");
    }
    // SAFETY: non-null and valid by the caller's contract; at most `*count` components are written.
    unsafe {
        if versions.is_null() {
            *count = components().len();
        } else {
            for (index, name) in components().iter().enumerate().take(*count) {
                versions.add(index).write(component(name));
            }
        }
    }
    ZE_RESULT_SUCCESS
}

/// `zelGetLoaderVersion`: the "loader" component. Works before init.
///
/// # Safety
/// `version` is null or writable.
pub unsafe fn version(name: &'static str, version: *mut zel_component_version_t) -> ze_result_t {
    if version.is_null() {
        return null_pointer(name, "version");
    }
    // SAFETY: non-null and writable by the caller's contract.
    unsafe { version.write(component("loader")) };
    ZE_RESULT_SUCCESS
}

/// `zelLoaderTranslateHandle`: returns the driver's own handle for an application's handle. Handles of drivers with DDI
/// tables, and handles that are translated already, are returned unchanged.
///
/// # Errors
/// INVALID_NULL_POINTER, INVALID_ENUMERATION; INVALID_ARGUMENT for a wrapped object that was destroyed.
///
/// # Safety
/// `output` is null or writable.
pub unsafe fn translate(
    name: &'static str,
    kind: zel_handle_type_t,
    input: *mut c_void,
    output: *mut *mut c_void,
) -> ze_result_t {
    for (argument, null) in [
        ("handleIn", input.is_null()),
        ("handleOut", output.is_null()),
    ] {
        if null {
            return null_pointer(name, argument);
        }
    }
    if kind > ZEL_HANDLE_PHYSICAL_MEM {
        text::set(format_args!(
            "{name}: handle type {} is unknown; allowed are 0 to {}",
            kind.0, ZEL_HANDLE_PHYSICAL_MEM.0
        ));
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    let native = match wrapper::of(input) {
        Some(wrapper) if wrapper.is_live() => wrapper.native(),
        Some(_) => {
            text::set(format_args!(
                "{name}: handleIn ({input:p}) was destroyed; pass a live handle"
            ));
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        None => input,
    };
    // SAFETY: non-null and writable by the caller's contract.
    unsafe { output.write(native) };
    ZE_RESULT_SUCCESS
}

/// `zelLoaderGetContext`: clients only check that it is not null; its contents are private to each loader.
#[must_use]
pub fn context() -> *mut c_void {
    static CONTEXT: u8 = 0;
    ptr::from_ref(&CONTEXT).cast_mut().cast()
}

/// `zelCheckIsLoaderInTearDown`.
#[must_use]
pub fn is_in_teardown() -> bool {
    phase::is_torn_down()
}

/// `zelLoaderTracingLayerInit` and its `zer` variant: the reference stores its tracing layer's table in the caller's
/// slot. Here calls reach the layer through the exports, so the slot stays null.
#[must_use]
pub fn leave_alone(slot: *mut *mut c_void) -> ze_result_t {
    if slot.is_null() {
        sys::ZE_RESULT_ERROR_INVALID_NULL_POINTER
    } else {
        ZE_RESULT_SUCCESS
    }
}
