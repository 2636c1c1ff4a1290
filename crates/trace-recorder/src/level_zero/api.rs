//! The loader's functions that the tracer itself calls.

use std::ffi::{CStr, c_void};
use std::mem::transmute;

use level_zero_sys::*;

macro_rules! api {
    ($($(#[$meta:meta])* $field:ident: $name:literal, fn($($argument:ty),*) -> $result:ty;)*) => {
        /// Addresses of functions that are always there.
        pub(crate) struct Api {
            $($(#[$meta])* pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Api {
            /// Finds the functions in the loader that is loaded from `path`; its look-up comes with them.
            pub(crate) fn load(path: &CStr) -> Option<(Self, impl Fn(&CStr) -> *mut c_void)> {
                // SAFETY: a C string; nothing is loaded that is not there already.
                let library = unsafe {
                    libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
                };
                if library.is_null() {
                    return None;
                }
                // SAFETY: a loaded library, which is never closed, and a C string.
                let lookup = move |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
                let api = Self {
                    $($field: {
                        let address = lookup($name);
                        if address.is_null() {
                            return None;
                        }
                        // SAFETY: the loader's function of that name has the type that the specification gives it.
                        unsafe {
                            transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(address)
                        }
                    },)*
                };
                Some((api, lookup))
            }
        }
    };
}

api! {
    tracer_create: c"zelTracerCreate", fn(*const zel_tracer_desc_t, *mut zel_tracer_handle_t) -> ze_result_t;
    set_enabled: c"zelTracerSetEnabled", fn(zel_tracer_handle_t, ze_bool_t) -> ze_result_t;
    enable_layer: c"zelEnableTracingLayer", fn() -> ze_result_t;
    pool_create: c"zeEventPoolCreate",
        fn(ze_context_handle_t, *const ze_event_pool_desc_t, u32, *mut ze_device_handle_t, *mut ze_event_pool_handle_t) -> ze_result_t;
    event_create: c"zeEventCreate",
        fn(ze_event_pool_handle_t, *const ze_event_desc_t, *mut ze_event_handle_t) -> ze_result_t;
    event_reset: c"zeEventHostReset", fn(ze_event_handle_t) -> ze_result_t;
    event_status: c"zeEventQueryStatus", fn(ze_event_handle_t) -> ze_result_t;
    event_timestamp: c"zeEventQueryKernelTimestamp",
        fn(ze_event_handle_t, *mut ze_kernel_timestamp_result_t) -> ze_result_t;
    device_properties: c"zeDeviceGetProperties", fn(ze_device_handle_t, *mut ze_device_properties_t) -> ze_result_t;
    device_clock: c"zeDeviceGetGlobalTimestamps", fn(ze_device_handle_t, *mut u64, *mut u64) -> ze_result_t;
}
