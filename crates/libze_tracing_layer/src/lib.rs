//! `libze_tracing_layer.so.1`: the tracing layer for loaders that load it by this name.
//!
//! Invariant: the exports are the getters of `ze` and `zer`, `zelGetTracerApiProcAddrTable`, `zelLoaderGetVersion` and the
//! registration functions, as of the reference's library. Solum's own loader has the layer built in and does not need
//! this file. Not here: any tracing (`ze-layers`).

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use level_zero_sys::*;
use ze_layers::{Stacked, component_version, tracing};

cancellation::hold_off_cancellation!();
library_mark::mark!();

static LAYER: Stacked = Stacked::new(tracing::over);

/// Defines the exported getters.
macro_rules! getters {
    ($($name:ident)+) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(
                version: level_zero_sys::ze_api_version_t,
                table: *mut std::ffi::c_void,
            ) -> level_zero_sys::ze_result_t {
                // SAFETY: the caller gives null or the table of this getter with the functions below the layer.
                unsafe { crate::LAYER.serve(stringify!($name), version, table) }
            }
        )+
    };
}
pub(crate) use getters;

/// Defines the exported registration functions.
macro_rules! registrations {
    ($($name:ident)+) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(
                tracer: level_zero_sys::zel_tracer_handle_t,
                kind: level_zero_sys::zel_tracer_reg_t,
                callback: ze_layers::tracing::Callback,
            ) -> level_zero_sys::ze_result_t {
                const NUMBER: usize = match ze_layers::tracing::number_of(stringify!($name)) {
                    Some(number) => number,
                    None => panic!("no callback of this name"),
                };
                // SAFETY: the caller's callback is null or has the signature of this function's.
                unsafe { ze_layers::tracing::register(tracer, NUMBER, kind, callback) }
            }
        )+
    };
}
pub(crate) use registrations;

#[rustfmt::skip]
mod generated;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderGetVersion(
    version: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller gives null or a place to write.
    unsafe { component_version("tracing layer", version) }
}

unsafe extern "C" fn create(
    desc: *const zel_tracer_desc_t,
    tracer: *mut zel_tracer_handle_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { tracing::create(desc, tracer) }
}

extern "C" fn destroy(tracer: zel_tracer_handle_t) -> ze_result_t {
    tracing::destroy(tracer)
}

unsafe extern "C" fn set_prologues(
    tracer: zel_tracer_handle_t,
    callbacks: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { tracing::set_prologues(tracer, callbacks) }
}

unsafe extern "C" fn set_epilogues(
    tracer: zel_tracer_handle_t,
    callbacks: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller's contract is the same.
    unsafe { tracing::set_epilogues(tracer, callbacks) }
}

extern "C" fn set_enabled(tracer: zel_tracer_handle_t, enable: ze_bool_t) -> ze_result_t {
    tracing::set_enabled(tracer, enable)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelGetTracerApiProcAddrTable(
    version: ze_api_version_t,
    pDdiTable: *mut zel_tracer_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller gives null or a table.
    let Some(table) = (unsafe { pDdiTable.as_mut() }) else {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    };
    if version.0 >> 16 != ZE_API_VERSION_CURRENT.0 >> 16 {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    table.pfnCreate = Some(create);
    table.pfnDestroy = Some(destroy);
    table.pfnSetPrologues = Some(set_prologues);
    table.pfnSetEpilogues = Some(set_epilogues);
    table.pfnSetEnabled = Some(set_enabled);
    ZE_RESULT_SUCCESS
}
