//! The 50 exported functions, their table, and the functions that a subscriber exports.

use core::ffi::{CStr, c_char, c_void};

use crate::{
    metadata_t, object_data_t, object_id_t, payload_t, stream_id_t, string_id_t,
    trace_event_data_t, xpti_payload_t, xpti_trace_event_t, xpti_tracepoint_t,
};

/// A subscriber's function: type, parent, event, instance, user data.
///
/// It may throw: the exception passes through the framework to the notifying caller.
pub type tracepoint_callback_api_t = unsafe extern "C-unwind" fn(
    u16,
    *mut trace_event_data_t,
    *mut trace_event_data_t,
    u64,
    *const c_void,
);

/// A subscriber's `xptiTraceInit(major, minor, version, stream)`.
pub type plugin_init_t = unsafe extern "C-unwind" fn(u32, u32, *const c_char, *const c_char);
/// A subscriber's `xptiTraceFinish(stream)`.
pub type plugin_fini_t = unsafe extern "C-unwind" fn(*const c_char);
/// A subscriber's optional `xptiQuerySubscriberStreamDetailLevel(stream, level)`.
pub type query_detail_level_t = unsafe extern "C-unwind" fn(*const c_char, *mut u8) -> bool;

/// Name of [`plugin_init_t`].
pub const TRACE_INIT: &CStr = c"xptiTraceInit";
/// Name of [`plugin_fini_t`].
pub const TRACE_FINISH: &CStr = c"xptiTraceFinish";
/// Name of [`query_detail_level_t`].
pub const QUERY_DETAIL_LEVEL: &CStr = c"xptiQuerySubscriberStreamDetailLevel";

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// All functions of a framework library, under their C names.
        #[expect(non_snake_case, reason = "the names are C's")]
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,
            )*
        }

        impl Functions {
            /// Their names, in the order of the fields.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Fills the table; `None` if a function is missing.
            ///
            /// # Safety
            /// `address` returns the address of the function with that name in an XPTI framework library that stays
            /// loaded, or null.
            pub unsafe fn load(mut address: impl FnMut(&'static CStr) -> *const c_void) -> Option<Self> {
                Some(Self {
                    $($name: {
                        const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => panic!("a name without zeros"),
                        };
                        let address = address(NAME);
                        if address.is_null() {
                            return None;
                        }
                        // SAFETY: by the caller's contract this is the function with that name, whose type the ABI
                        // defines.
                        unsafe {
                            core::mem::transmute::<
                                *const c_void,
                                unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    xptiFrameworkInitialize();
    xptiFrameworkFinalize();
    xptiInitialize(*const c_char, u32, u32, *const c_char) -> i32;
    xptiFinalize(*const c_char);
    xptiGetUniversalId() -> u64;
    xptiSetUniversalId(u64);
    xptiGetUniqueId() -> u64;
    xptiStashTuple(*const c_char, u64) -> i32;
    xptiGetStashedTuple(*mut *mut c_char, *mut u64) -> i32;
    xptiUnstashTuple();
    xptiRegisterString(*const c_char, *mut *mut c_char) -> string_id_t;
    xptiLookupString(string_id_t) -> *const c_char;
    xptiRegisterObject(*const c_char, usize, u8) -> object_id_t;
    xptiLookupObject(object_id_t) -> object_data_t;
    xptiRegisterPayload(*mut payload_t) -> u64;
    xptiRegisterStream(*const c_char) -> stream_id_t;
    xptiUnregisterStream(*const c_char) -> i32;
    xptiRegisterUserDefinedTracePoint(*const c_char, u8) -> u16;
    xptiRegisterUserDefinedEventType(*const c_char, u8) -> u16;
    xptiMakeEvent(*const c_char, *mut payload_t, u16, i32, *mut u64) -> *mut trace_event_data_t;
    xptiFindEvent(u64) -> *const trace_event_data_t;
    xptiQueryPayload(*mut trace_event_data_t) -> *const payload_t;
    xptiQueryPayloadByUID(u64) -> *const payload_t;
    xptiLookupPayload(u64) -> *const xpti_payload_t;
    xptiLookupEvent(u64) -> *const xpti_trace_event_t;
    xptiCreateTracepoint(*const c_char, *const c_char, u32, u32, *mut c_void) -> *mut xpti_tracepoint_t;
    xptiDeleteTracepoint(*mut xpti_tracepoint_t) -> i32;
    xptiRegisterCallback(stream_id_t, u16, Option<tracepoint_callback_api_t>) -> i32;
    xptiUnregisterCallback(stream_id_t, u16, Option<tracepoint_callback_api_t>) -> i32;
    xptiNotifySubscribers(stream_id_t, u16, *mut trace_event_data_t, *mut trace_event_data_t, u64, *const c_void) -> i32;
    xptiAddMetadata(*mut trace_event_data_t, *const c_char, object_id_t) -> i32;
    xptiQueryMetadata(*mut trace_event_data_t) -> *mut metadata_t;
    xptiTraceEnabled() -> bool;
    xptiCheckTraceEnabled(stream_id_t, u16) -> bool;
    xptiReset();
    xptiForceSetTraceEnabled(u8);
    xptiGetTracepointScopeData() -> *const xpti_tracepoint_t;
    xptiSetTracepointScopeData(*mut xpti_tracepoint_t) -> i32;
    xptiUnsetTracepointScopeData();
    xptiRegisterTracepointScope(*const c_char, *const c_char, u32, u32, *mut c_void) -> *const xpti_tracepoint_t;
    xptiGetDefaultStreamID() -> stream_id_t;
    xptiSetDefaultStreamID(stream_id_t) -> i32;
    xptiGetDefaultEventType() -> u16;
    xptiSetDefaultEventType(u16) -> i32;
    xptiGetDefaultTraceType() -> u16;
    xptiSetDefaultTraceType(u16) -> i32;
    xptiEnableTracepointScopeNotification(u8);
    xptiCheckTracepointScopeNotification() -> bool;
    xptiReleaseEvent(*mut trace_event_data_t);
    xptiGetEffectiveStreamDetailLevel(stream_id_t) -> u8;
}

const _: () = assert!(Functions::NAMES.len() == 50);
