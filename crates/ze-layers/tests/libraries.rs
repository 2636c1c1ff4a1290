//! Random calls under validation; and the layers' libraries, opened by name as loaders do, and stacked over a function
//! of this test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use level_zero_sys::*;

/// Runs the fuzz target with fixed sequences.
#[path = "../../../fuzz/src/validation.rs"]
mod sequences;

#[test]
fn the_first_misuse_of_each_call_is_reported_in_any_order_of_calls() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for length in (50..4000).step_by(17) {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 24) as u8
            })
            .collect();
        sequences::validation(&bytes);
    }
}

/// This profile's folder with the layers' libraries.
fn folder() -> PathBuf {
    test_artifacts::build(&[
        "-p",
        "libze_validation_layer",
        "-p",
        "libze_tracing_layer",
        "-p",
        "libze_null",
    ])
}

struct Library(*mut c_void);

impl Library {
    fn open(file: &Path) -> Self {
        let name = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: our library, which stays open.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{}", file.display());
        Self(handle)
    }

    fn address(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: an open library.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }

    /// The export, with the type that belongs to its name.
    fn get<T: Copy>(&self, name: &str) -> T {
        let address = self.address(name);
        assert!(!address.is_null(), "{name}");
        assert_eq!(size_of::<T>(), size_of_val(&address));
        // SAFETY: `T` is the function pointer type of this name.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

unsafe extern "C" fn reset(fence: ze_fence_handle_t) -> ze_result_t {
    if fence.addr() == 0x40 {
        ZE_RESULT_NOT_READY
    } else {
        ZE_RESULT_ERROR_UNKNOWN
    }
}

type Getter = unsafe extern "C" fn(ze_api_version_t, *mut ze_fence_dditable_t) -> ze_result_t;

/// The library's table over one that only has `zeFenceReset`.
fn over_reset(library: &Library) -> ze_fence_dditable_t {
    let getter: Getter = library.get("zeGetFenceProcAddrTable");
    let mut table = ze_fence_dditable_t {
        pfnReset: Some(reset),
        ..Default::default()
    };
    // SAFETY: a table of this function.
    unsafe {
        assert_eq!(
            getter(ZE_API_VERSION_CURRENT, null_mut()),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER
        );
        assert_eq!(
            getter(ZE_API_VERSION_CURRENT, &raw mut table),
            ZE_RESULT_SUCCESS
        );
    }
    table
}

fn name_of(library: &Library) -> String {
    let version: unsafe extern "C" fn(*mut zel_component_version_t) -> ze_result_t =
        library.get("zelLoaderGetVersion");
    let mut found = zel_component_version_t::default();
    // SAFETY: a place of this function.
    unsafe {
        assert_eq!(version(null_mut()), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        assert_eq!(version(&raw mut found), ZE_RESULT_SUCCESS);
    }
    assert_eq!(found.spec_version, ZE_API_VERSION_CURRENT);
    let bytes = found.component_name.iter().map(|c| c.cast_unsigned());
    String::from_utf8(bytes.take_while(|b| *b != 0).collect()).unwrap()
}

/// The number of the specification's functions that the library exports.
fn exports(library: &Library) -> usize {
    ze_spec::FUNCTIONS
        .iter()
        .filter(|f| !library.address(f.name).is_null())
        .count()
}

fn fence(number: usize) -> ze_fence_handle_t {
    std::ptr::without_provenance_mut(number)
}

#[test]
fn libraries_replace_the_functions_below() {
    let folder = folder();

    let validation = Library::open(&folder.join("libze_validation_layer.so"));
    assert_eq!(
        (name_of(&validation), exports(&validation)),
        ("validation layer".into(), 77)
    );
    assert!(!validation.address("zelLoaderSetLogger").is_null());
    let table = over_reset(&validation);
    // SAFETY: nothing looks behind the handles.
    unsafe {
        assert_eq!(table.pfnReset.unwrap()(fence(0x40)), ZE_RESULT_NOT_READY);
        assert_eq!(
            table.pfnDestroy.unwrap()(fence(0x40)),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
        );
    }

    let tracing = Library::open(&folder.join("libze_tracing_layer.so"));
    assert_eq!(
        (name_of(&tracing), exports(&tracing)),
        ("tracing layer".into(), 287)
    );
    let table = over_reset(&tracing);
    let getter: unsafe extern "C" fn(ze_api_version_t, *mut zel_tracer_dditable_t) -> ze_result_t =
        tracing.get("zelGetTracerApiProcAddrTable");
    let register: unsafe extern "C" fn(
        zel_tracer_handle_t,
        zel_tracer_reg_t,
        ze_pfnFenceResetCb_t,
    ) -> ze_result_t = tracing.get("zelTracerFenceResetRegisterCallback");
    unsafe extern "C" fn redirect(
        params: *mut ze_fence_reset_params_t,
        _: ze_result_t,
        _: *mut c_void,
        _: *mut *mut c_void,
    ) {
        // SAFETY: the layer passes pointers to the arguments.
        unsafe { *(*params).phFence = fence(0x40) };
    }
    let mut tracers = zel_tracer_dditable_t::default();
    let desc = zel_tracer_desc_t::default();
    let mut tracer = null_mut();
    // SAFETY: places of this function; nothing looks behind the handles.
    unsafe {
        assert_eq!(
            getter(ZE_API_VERSION_CURRENT, &raw mut tracers),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(
            tracers.pfnCreate.unwrap()(&raw const desc, &raw mut tracer),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(
            register(tracer, ZEL_REGISTER_PROLOGUE, Some(redirect)),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(
            table.pfnReset.unwrap()(fence(0x80)),
            ZE_RESULT_ERROR_UNKNOWN
        );
        assert_eq!(tracers.pfnSetEnabled.unwrap()(tracer, 1), ZE_RESULT_SUCCESS);
        assert_eq!(
            table.pfnReset.unwrap()(fence(0x80)),
            ZE_RESULT_NOT_READY,
            "the prologue changed the handle"
        );
        assert_eq!(tracers.pfnSetEnabled.unwrap()(tracer, 0), ZE_RESULT_SUCCESS);
        assert_eq!(tracers.pfnDestroy.unwrap()(tracer), ZE_RESULT_SUCCESS);
    }

    let null = Library::open(&folder.join("libze_null.so"));
    assert_eq!(exports(&null), 76);
    let mut table = ze_fence_dditable_t::default();
    let getter: Getter = null.get("zeGetFenceProcAddrTable");
    // SAFETY: a table of this function.
    let code = unsafe { getter(ZE_API_VERSION_CURRENT, &raw mut table) };
    assert_eq!(code, ZE_RESULT_SUCCESS);
    assert!(table.pfnReset.is_some());
}
