//! Exports that are not dispatched by a handle's header: initialisation, `zer`, `zel`, and functions with arrays of
//! handles.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;
use ze_loader::{info, init, layers, tables, teardown, through};

/// Defines the functions that register tracing callbacks.
macro_rules! registrations {
    ($($name:ident)+) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(
                tracer: level_zero_sys::zel_tracer_handle_t,
                kind: level_zero_sys::zel_tracer_reg_t,
                callback: Option<unsafe extern "C" fn()>,
            ) -> level_zero_sys::ze_result_t {
                const NUMBER: Option<usize> = ze_loader::layers::number_of(stringify!($name));
                const { assert!(NUMBER.is_some()) };
                let number = NUMBER.unwrap_or(usize::MAX);
                // SAFETY: the caller has the same contract.
                unsafe { ze_loader::layers::tracer_register(stringify!($name), number, tracer, kind, callback) }
            }
        )+
    };
}
pub(crate) use registrations;

/// Forwards an initialisation function through the layers that the environment selects.
macro_rules! initialise {
    ($name:literal, $($through:tt)+) => {{
        if let Err(error) = ze_loader::layers::prepare($name) {
            return error;
        }
        let result = through!($($through)+ or ZE_RESULT_ERROR_UNINITIALIZED);
        if result == ZE_RESULT_SUCCESS {
            ze_loader::layers::attach_trace();
        }
        result
    }};
}

// Initialisation and enumeration.

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zeInit(flags: ze_init_flags_t) -> ze_result_t {
    initialise!("zeInit", ze.Global.pfnInit(flags))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zeInitDrivers(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
    desc: *mut ze_init_driver_type_desc_t,
) -> ze_result_t {
    initialise!(
        "zeInitDrivers",
        ze.Global.pfnInitDrivers(pCount, phDrivers, desc)
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zeDriverGet(
    pCount: *mut u32,
    phDrivers: *mut ze_driver_handle_t,
) -> ze_result_t {
    through!(ze.Driver.pfnGet(pCount, phDrivers) or ZE_RESULT_ERROR_UNINITIALIZED)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zesInit(flags: zes_init_flags_t) -> ze_result_t {
    initialise!("zesInit", zes.Global.pfnInit(flags))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zesDriverGet(
    pCount: *mut u32,
    phDrivers: *mut zes_driver_handle_t,
) -> ze_result_t {
    through!(zes.Driver.pfnGet(pCount, phDrivers) or ZE_RESULT_ERROR_UNINITIALIZED)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zeDriverGetDefaultContext(
    hDriver: ze_driver_handle_t,
) -> ze_context_handle_t {
    through!(ze.Driver.pfnGetDefaultContext(hDriver) or std::ptr::null_mut())
}

// The first module's driver gets the call.

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zeModuleDynamicLink(
    numModules: u32,
    phModules: *mut ze_module_handle_t,
    phLinkLog: *mut ze_module_build_log_handle_t,
) -> ze_result_t {
    through!(ze.Module.pfnDynamicLink(numModules, phModules, phLinkLog) or ZE_RESULT_ERROR_UNINITIALIZED)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zeModuleInspectLinkageExt(
    pInspectDesc: *mut ze_linkage_inspection_ext_desc_t,
    numModules: u32,
    phModules: *mut ze_module_handle_t,
    phLog: *mut ze_module_build_log_handle_t,
) -> ze_result_t {
    through!(ze.Module.pfnInspectLinkageExt(pInspectDesc, numModules, phModules, phLog) or ZE_RESULT_ERROR_UNINITIALIZED)
}

// The default driver.

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zerGetLastErrorDescription(
    ppString: *mut *const c_char,
) -> ze_result_t {
    through!(zer.Global.pfnGetLastErrorDescription(ppString) or ZE_RESULT_ERROR_UNINITIALIZED)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zerTranslateDeviceHandleToIdentifier(
    hDevice: ze_device_handle_t,
) -> u32 {
    through!(zer.Global.pfnTranslateDeviceHandleToIdentifier(hDevice) or u32::MAX)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zerTranslateIdentifierToDeviceHandle(
    identifier: u32,
) -> ze_device_handle_t {
    through!(zer.Global.pfnTranslateIdentifierToDeviceHandle(identifier) or std::ptr::null_mut())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zerGetDefaultContext() -> ze_context_handle_t {
    through!(zer.Global.pfnGetDefaultContext() or std::ptr::null_mut())
}

// The loader itself.

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zeLoaderInit() -> ze_result_t {
    if let Err(error) = layers::prepare("zeLoaderInit") {
        return error;
    }
    init::loader_init()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zeLoaderGetTracingHandle() -> *mut c_void {
    layers::library_handle()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderDriverCheck(
    _flags: ze_init_flags_t,
    _desc: *mut ze_init_driver_type_desc_t,
    _globalInitStored: *mut ze_global_dditable_t,
    _sysmanGlobalInitStored: *mut zes_global_dditable_t,
    _requireDdiReinit: *mut bool,
    _sysmanOnly: bool,
) -> ze_result_t {
    // Deprecated and without effect, as in the reference.
    ZE_RESULT_SUCCESS
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderGetContext() -> *mut c_void {
    info::context()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderGetVersion(
    version: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { info::version("zelLoaderGetVersion", version) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelGetLoaderVersion(
    version: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { info::version("zelGetLoaderVersion", version) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderGetVersions(
    num_elems: *mut usize,
    versions: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { info::versions("zelLoaderGetVersions", num_elems, versions) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderGetVersionsInternal(
    num_elems: *mut usize,
    versions: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { info::versions("zelLoaderGetVersionsInternal", num_elems, versions) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderTranslateHandle(
    handleType: zel_handle_type_t,
    handleIn: *mut c_void,
    handleOut: *mut *mut c_void,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { info::translate("zelLoaderTranslateHandle", handleType, handleIn, handleOut) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderTranslateHandleInternal(
    handleType: zel_handle_type_t,
    handleIn: *mut c_void,
    handleOut: *mut *mut c_void,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe {
        info::translate(
            "zelLoaderTranslateHandleInternal",
            handleType,
            handleIn,
            handleOut,
        )
    }
}

// Teardown.

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelRegisterTeardownCallback(
    application_callback: zel_loader_teardown_callback_t,
    loader_callback: *mut zel_application_teardown_callback_t,
    index: *mut u32,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { teardown::register(application_callback, loader_callback, index) }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelCheckIsLoaderInTearDown() -> bool {
    info::is_in_teardown()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelSetDriverTeardown() -> ze_result_t {
    teardown::announce()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderContextTeardown() {
    // For static loaders only; the dynamic loader ends when it is unloaded.
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelSetDelayLoaderContextTeardown() {
    // As above.
}

// Tracing.

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderTracingLayerInit(ppDdiTable: *mut *mut c_void) -> ze_result_t {
    info::leave_alone(ppDdiTable)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderZerTracingLayerInit(ppDdiTable: *mut *mut c_void) -> ze_result_t {
    info::leave_alone(ppDdiTable)
}

static TRACER_API: zel_tracer_dditable_t = zel_tracer_dditable_t {
    pfnCreate: Some(zelTracerCreate),
    pfnDestroy: Some(zelTracerDestroy),
    pfnSetPrologues: Some(zelTracerSetPrologues),
    pfnSetEpilogues: Some(zelTracerSetEpilogues),
    pfnSetEnabled: Some(zelTracerSetEnabled),
};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelGetTracerApiProcAddrTable(
    version: ze_api_version_t,
    pDdiTable: *mut zel_tracer_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller gives null or a table with room for these slots, which are all of 1.0.
    unsafe {
        tables::fill(
            "zelGetTracerApiProcAddrTable",
            version,
            pDdiTable,
            &TRACER_API,
            &[(0x10000, 5)],
        )
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelEnableTracingLayer() -> ze_result_t {
    layers::enable_tracing()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelDisableTracingLayer() -> ze_result_t {
    layers::disable_tracing()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelGetTracingLayerState(enabled: *mut bool) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { layers::tracing_state(enabled) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelTracerCreate(
    desc: *const zel_tracer_desc_t,
    phTracer: *mut zel_tracer_handle_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { layers::tracer_create(desc, phTracer) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelTracerDestroy(hTracer: zel_tracer_handle_t) -> ze_result_t {
    layers::tracer_destroy(hTracer)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelTracerSetPrologues(
    hTracer: zel_tracer_handle_t,
    pCoreCbs: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { layers::tracer_set_prologues(hTracer, pCoreCbs) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelTracerSetEpilogues(
    hTracer: zel_tracer_handle_t,
    pCoreCbs: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    unsafe { layers::tracer_set_epilogues(hTracer, pCoreCbs) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelTracerSetEnabled(
    hTracer: zel_tracer_handle_t,
    enable: ze_bool_t,
) -> ze_result_t {
    layers::tracer_set_enabled(hTracer, enable)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelTracerResetAllCallbacks(hTracer: zel_tracer_handle_t) -> ze_result_t {
    layers::tracer_reset_all(hTracer)
}
