//! `libze_validation_layer.so.1`: the validation layer for loaders that load it by this name.
//!
//! Invariant: the exports are the getters, `zelLoaderGetVersion` and `zelLoaderSetLogger`, as of the reference's library.
//! Solum's own loader has the layer built in and does not need this file. Not here: any check (`ze-layers`).

use std::ffi::c_void;
use std::sync::OnceLock;

use level_zero_sys::*;
use ze_layers::{Stacked, component_version, validation};

cancellation::hold_off_cancellation!();
library_mark::mark!();

static LAYER: Stacked = Stacked::new(validation::over);

/// Reads the environment at the first call; an invalid value is reported once and makes every call fail.
fn configured() -> ze_result_t {
    static READ: OnceLock<ze_result_t> = OnceLock::new();
    *READ.get_or_init(|| match validation::from_environment() {
        Ok(()) => ZE_RESULT_SUCCESS,
        Err(reason) => {
            signal_mask::write_stderr(format!("solum: {reason}\n").as_bytes());
            ZE_RESULT_ERROR_INVALID_ARGUMENT
        }
    })
}

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
                unsafe { crate::serve(stringify!($name), version, table) }
            }
        )+
    };
}
pub(crate) use getters;

#[rustfmt::skip]
mod generated;

/// # Safety
/// As `Stacked::serve`.
unsafe fn serve(name: &str, version: ze_api_version_t, table: *mut c_void) -> ze_result_t {
    match configured() {
        // SAFETY: the caller's contract is the same.
        ZE_RESULT_SUCCESS => unsafe { LAYER.serve(name, version, table) },
        refused => refused,
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn zelLoaderGetVersion(
    version: *mut zel_component_version_t,
) -> ze_result_t {
    // SAFETY: the caller gives null or a place to write.
    unsafe { component_version("validation layer", version) }
}

/// A loader's logger is an object of its own language, so findings go to stderr.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn zelLoaderSetLogger(_logger: *mut c_void) {}

/// Called by the dynamic linker when the library is unloaded or the process exits.
extern "C" fn at_unload() {
    validation::finish();
}

/// The linker's list of functions of this type, each called once while the library is still mapped.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = at_unload;
