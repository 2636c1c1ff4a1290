//! `libze_null.so.1`: the driver that `ZE_ENABLE_NULL_DRIVER` adds: every call succeeds and nothing happens.
//!
//! It is the stub driver under the name that loaders look for; `SOLUM_STUB_*` steer it. Invariant: getters are the only
//! exports, as of a real driver. Not here: what they hand out (`ze-stub`).

library_mark::mark!();

/// Defines exported getters by their place in the stub's list of tables.
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
