//! `libxptifw.so.1`: the C exports of the XPTI framework.
//!
//! Invariants: the exports are the 50 functions of Intel's library 1.0.1, and nothing else. Each is a trampoline that
//! converts C's arguments (null, NUL-terminated text, any byte as a truth value); `xpti-framework` has the logic. A
//! panic in one of them aborts; none is expected.

use core::ffi::{CStr, c_char, c_void};

use xpti_framework::{callbacks, locations, streams, strings, subscribers, thread, values, visits};
use xpti_sys::{
    INVALID_OBJECT, INVALID_STREAM, INVALID_STRING, INVALID_USER_DEFINED, metadata_t,
    object_data_t, object_id_t, payload_t, result, stream_id_t, string_id_t, trace_event_data_t,
    tracepoint_callback_api_t, xpti_payload_t, xpti_trace_event_t, xpti_tracepoint_t,
};

cancellation::hold_off_cancellation!();
library_mark::mark!();

// The entry point when the dynamic linker runs this library: the arguments are on the stack.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.solum_xpti_trial,\"ax\",@progbits",
    ".globl solum_xpti_trial",
    ".hidden solum_xpti_trial",
    ".type solum_xpti_trial, @function",
    "solum_xpti_trial:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    ".popsection",
    main = sym xpti_framework::trial::main,
);
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".pushsection .text.solum_xpti_trial,\"ax\",@progbits",
    ".globl solum_xpti_trial",
    ".hidden solum_xpti_trial",
    ".type solum_xpti_trial, @function",
    "solum_xpti_trial:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x0, sp",
    "bl {main}",
    "brk #0",
    ".popsection",
    main = sym xpti_framework::trial::main,
);

/// Exports functions. Those marked `throws` run subscribers, whose exceptions pass through; a panic in the others
/// aborts.
macro_rules! exports {
    ($($abi:literal fn $name:ident($($argument:ident: $ty:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// Pointers are null or valid for their types; text is NUL-terminated.
            #[unsafe(no_mangle)]
            pub unsafe extern $abi fn $name($($argument: $ty),*) $(-> $result)? $body
        )*
    };
}

/// # Safety
/// Null or a C string that lives for `'a`.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

exports! {
    "C-unwind" fn xptiFrameworkInitialize() {
        subscribers::framework_initialize();
    }
    "C" fn xptiFrameworkFinalize() {
        subscribers::framework_finalize();
    }
    "C-unwind" fn xptiInitialize(stream: *const c_char, major: u32, minor: u32, version: *const c_char) -> i32 {
        // SAFETY: the caller's.
        unsafe { subscribers::initialize(stream, major, minor, version) }
    }
    "C-unwind" fn xptiFinalize(stream: *const c_char) {
        // SAFETY: the caller's.
        unsafe { subscribers::finalize(stream) }
    }

    "C" fn xptiGetUniversalId() -> u64 {
        thread::universal_id()
    }
    "C" fn xptiSetUniversalId(uid: u64) {
        thread::set_universal_id(uid);
    }
    "C" fn xptiGetUniqueId() -> u64 {
        xpti_framework::unique_id()
    }
    "C" fn xptiStashTuple(key: *const c_char, value: u64) -> i32 {
        thread::stash(key, value)
    }
    "C" fn xptiGetStashedTuple(key: *mut *mut c_char, value: *mut u64) -> i32 {
        if key.is_null() || value.is_null() {
            return result::INVALIDARG;
        }
        let Some(stashed) = thread::stashed() else {
            return result::NOTFOUND;
        };
        // SAFETY: the caller's, not null.
        unsafe { (*key, *value) = (stashed.0.cast_mut(), stashed.1) };
        result::SUCCESS
    }
    "C" fn xptiUnstashTuple() {
        thread::unstash();
    }

    "C" fn xptiRegisterString(string: *const c_char, copy: *mut *mut c_char) -> string_id_t {
        // SAFETY: the caller's.
        let (Some(string), false) = (unsafe { text(string) }, copy.is_null()) else {
            return INVALID_STRING;
        };
        let Some(interned) = strings::intern(string.to_bytes()) else {
            return INVALID_STRING;
        };
        // SAFETY: the caller's, not null.
        unsafe { *copy = interned.text().cast_mut() };
        interned.id()
    }
    "C" fn xptiLookupString(id: string_id_t) -> *const c_char {
        strings::lookup(id)
    }
    "C" fn xptiRegisterObject(data: *const c_char, size: usize, kind: u8) -> object_id_t {
        // No object is larger than half the address space.
        if data.is_null() || isize::try_from(size).is_err() {
            return INVALID_OBJECT;
        }
        // SAFETY: the caller's.
        values::intern(unsafe { core::slice::from_raw_parts(data.cast(), size) }, kind)
    }
    "C" fn xptiLookupObject(id: object_id_t) -> object_data_t {
        values::lookup(id)
    }

    "C" fn xptiRegisterPayload(payload: *mut payload_t) -> u64 {
        // SAFETY: the caller's.
        unsafe { locations::register(payload) }
    }
    "C" fn xptiQueryPayload(event: *mut trace_event_data_t) -> *const payload_t {
        // SAFETY: the caller's.
        unsafe { visits::payload(event) }
    }
    "C" fn xptiQueryPayloadByUID(uid: u64) -> *const payload_t {
        locations::find(uid).map_or(core::ptr::null(), locations::Location::payload)
    }
    "C" fn xptiLookupPayload(uid: u64) -> *const xpti_payload_t {
        locations::find(uid).map_or(core::ptr::null(), locations::Location::object)
    }

    "C-unwind" fn xptiRegisterStream(name: *const c_char) -> stream_id_t {
        // SAFETY: the caller's.
        let Some(name) = (unsafe { text(name) }) else {
            return INVALID_STREAM;
        };
        subscribers::start();
        streams::register(name)
    }
    "C-unwind" fn xptiUnregisterStream(name: *const c_char) -> i32 {
        // SAFETY: the caller's.
        unsafe { subscribers::unregister_stream(name) }
    }
    "C" fn xptiRegisterUserDefinedTracePoint(tool: *const c_char, number: u8) -> u16 {
        // SAFETY: the caller's.
        unsafe { text(tool) }.map_or(INVALID_USER_DEFINED, |tool| streams::user_defined(tool, number))
    }
    "C" fn xptiRegisterUserDefinedEventType(tool: *const c_char, number: u8) -> u16 {
        // SAFETY: the caller's.
        unsafe { text(tool) }.map_or(INVALID_USER_DEFINED, |tool| streams::user_defined(tool, number))
    }

    "C" fn xptiMakeEvent(
        _name: *const c_char,
        payload: *mut payload_t,
        kind: u16,
        activity: i32,
        instance: *mut u64
    ) -> *mut trace_event_data_t {
        // SAFETY: the caller's.
        unsafe { visits::make_event(payload, kind, activity, instance) }
    }
    "C" fn xptiFindEvent(uid: u64) -> *const trace_event_data_t {
        visits::find_event(uid)
    }
    "C" fn xptiLookupEvent(uid: u64) -> *const xpti_trace_event_t {
        visits::find_object(uid)
    }
    "C" fn xptiReleaseEvent(event: *mut trace_event_data_t) {
        visits::release_event(event);
    }
    "C" fn xptiCreateTracepoint(
        function: *const c_char,
        file: *const c_char,
        line: u32,
        column: u32,
        code: *mut c_void
    ) -> *mut xpti_tracepoint_t {
        // SAFETY: the caller's.
        unsafe { visits::create_tracepoint(function, file, line, column, code) }
    }
    "C" fn xptiDeleteTracepoint(tracepoint: *mut xpti_tracepoint_t) -> i32 {
        visits::delete_tracepoint(tracepoint)
    }

    "C-unwind" fn xptiRegisterCallback(stream: stream_id_t, kind: u16, callback: Option<tracepoint_callback_api_t>) -> i32 {
        callback.map_or(result::INVALIDARG, |callback| callbacks::register(stream, kind, callback))
    }
    "C" fn xptiUnregisterCallback(stream: stream_id_t, kind: u16, callback: Option<tracepoint_callback_api_t>) -> i32 {
        callback.map_or(result::INVALIDARG, |callback| callbacks::unregister(stream, kind, callback))
    }
    "C-unwind" fn xptiNotifySubscribers(
        stream: stream_id_t,
        kind: u16,
        parent: *mut trace_event_data_t,
        event: *mut trace_event_data_t,
        instance: u64,
        user_data: *const c_void
    ) -> i32 {
        // SAFETY: the caller's.
        unsafe { callbacks::notify(stream, kind, parent, event, instance, user_data) }
    }

    "C-unwind" fn xptiAddMetadata(event: *mut trace_event_data_t, key: *const c_char, object: object_id_t) -> i32 {
        // SAFETY: the caller's.
        unsafe { visits::add_metadata(event, key, object) }
    }
    "C" fn xptiQueryMetadata(event: *mut trace_event_data_t) -> *mut metadata_t {
        if event.is_null() {
            return core::ptr::null_mut();
        }
        // SAFETY: the caller's, not null.
        unsafe { &raw mut (*event).metadata }
    }

    "C-unwind" fn xptiTraceEnabled() -> bool {
        callbacks::enabled()
    }
    "C-unwind" fn xptiCheckTraceEnabled(stream: stream_id_t, kind: u16) -> bool {
        callbacks::check(stream, kind)
    }
    "C" fn xptiReset() {
        xpti_framework::reset();
    }
    "C-unwind" fn xptiForceSetTraceEnabled(on: u8) {
        callbacks::force(on != 0);
    }

    "C" fn xptiGetTracepointScopeData() -> *const xpti_tracepoint_t {
        thread::scope()
    }
    "C" fn xptiSetTracepointScopeData(tracepoint: *mut xpti_tracepoint_t) -> i32 {
        visits::set_scope(tracepoint)
    }
    "C" fn xptiUnsetTracepointScopeData() {
        thread::set_scope(core::ptr::null(), 0);
    }
    "C" fn xptiRegisterTracepointScope(
        function: *const c_char,
        file: *const c_char,
        line: u32,
        column: u32,
        code: *mut c_void
    ) -> *const xpti_tracepoint_t {
        // SAFETY: the caller's.
        unsafe { visits::create_tracepoint(function, file, line, column, code) }
    }

    "C" fn xptiGetDefaultStreamID() -> stream_id_t {
        streams::default_stream()
    }
    "C" fn xptiSetDefaultStreamID(stream: stream_id_t) -> i32 {
        streams::set_default_stream(stream)
    }
    "C" fn xptiGetDefaultEventType() -> u16 {
        streams::default_event_type()
    }
    "C" fn xptiSetDefaultEventType(kind: u16) -> i32 {
        streams::set_default_event_type(kind)
    }
    "C" fn xptiGetDefaultTraceType() -> u16 {
        streams::default_trace_type()
    }
    "C" fn xptiSetDefaultTraceType(kind: u16) -> i32 {
        streams::set_default_trace_type(kind)
    }
    "C" fn xptiEnableTracepointScopeNotification(on: u8) {
        streams::enable_scope_notification(on != 0);
    }
    "C" fn xptiCheckTracepointScopeNotification() -> bool {
        streams::scope_notification()
    }
    "C" fn xptiGetEffectiveStreamDetailLevel(stream: stream_id_t) -> u8 {
        streams::detail(stream)
    }
}
