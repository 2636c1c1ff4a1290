//! `libze_stub.so`: the stub driver's getters. Copy the file under several names for several drivers.
//!
//! Invariant: getters are the only exports, as of a real driver. Not here: the tables that they return (`ze-stub`).

/// Defines exported getters by their index in the stub's list of tables.
macro_rules! getters {
    ($($name:ident $place:literal)+) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(
                version: level_zero_sys::ze_api_version_t,
                table: *mut std::ffi::c_void,
            ) -> level_zero_sys::ze_result_t {
                // SAFETY: the caller gives null or the table of this getter.
                unsafe { ze_stub::fill(stringify!($name), $place, version, table) }
            }
        )+
    };
}
pub(crate) use getters;

#[rustfmt::skip]
mod generated;
