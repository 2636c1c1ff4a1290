//! The framework library of this process.

use core::ffi::{CStr, c_char};
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::OnceLock;

use crate::payload::Payload;
use xpti_sys::{Functions, INVALID_OBJECT, INVALID_STRING, object_data_t};

/// A value in the framework's table, where it stays as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object(pub(crate) i32);

/// Functions of the loaded framework, of all threads.
#[derive(Debug)]
pub struct Framework {
    functions: Functions,
}

impl Framework {
    /// The library that `XPTI_FRAMEWORK_DISPATCHER` names, opened at the first call; `None` if the variable is unset or
    /// empty, or the library lacks a function. With elevated privileges the variable is not read.
    pub fn get() -> Option<&'static Self> {
        static FRAMEWORK: OnceLock<Option<Framework>> = OnceLock::new();
        FRAMEWORK.get_or_init(Self::open).as_ref()
    }

    fn open() -> Option<Self> {
        // SAFETY: a constant of the C library.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            return None;
        }
        let path = std::env::var_os("XPTI_FRAMEWORK_DISPATCHER").filter(|path| !path.is_empty())?;
        let path = CString::new(path.into_vec()).ok()?;
        // Local and never closed, as in DPC++'s proxy: the same file is the same instance. SAFETY: a C string; the user
        // chose to run the library's initialisers.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
        if library.is_null() {
            return None;
        }
        // SAFETY: an open library, a C string.
        let resolve = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) }.cast_const();
        // SAFETY: the library calls itself an XPTI framework, and is never closed.
        unsafe { Functions::load(resolve) }.map(|functions| Self { functions })
    }

    /// The C functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Whether tracing is on and there is a subscriber.
    pub fn enabled(&self) -> bool {
        // SAFETY: no arguments.
        unsafe { (self.functions.xptiTraceEnabled)() }
    }

    /// A number that is unique in the process.
    pub fn unique_id(&self) -> u64 {
        // SAFETY: no arguments.
        unsafe { (self.functions.xptiGetUniqueId)() }
    }

    /// The location that this thread works for, or 0.
    pub fn universal_id(&self) -> u64 {
        // SAFETY: no arguments.
        unsafe { (self.functions.xptiGetUniversalId)() }
    }

    /// This thread's stashed tuple: DPC++ keeps the queue's number under `queue_id`.
    pub fn stashed(&self) -> Option<(&CStr, u64)> {
        let (mut key, mut value): (*mut c_char, u64) = (core::ptr::null_mut(), 0);
        // SAFETY: two places to write to.
        let code = unsafe { (self.functions.xptiGetStashedTuple)(&raw mut key, &raw mut value) };
        if code != xpti_sys::result::SUCCESS || key.is_null() {
            return None;
        }
        // SAFETY: stashed keys are literals of the emitter, by contract valid while stashed on this thread.
        Some((unsafe { CStr::from_ptr(key) }, value))
    }

    /// The interned string's number; `None` for the empty string.
    pub fn intern_string(&self, text: &CStr) -> Option<u32> {
        let mut copy = core::ptr::null_mut();
        // SAFETY: a C string and a place to write to.
        let id = unsafe { (self.functions.xptiRegisterString)(text.as_ptr(), &raw mut copy) };
        (id != INVALID_STRING).then_some(id)
    }

    /// The interned string of this number.
    pub fn string(&self, id: u32) -> Option<&'static CStr> {
        // SAFETY: any number is allowed.
        let text = unsafe { (self.functions.xptiLookupString)(id) };
        // SAFETY: a string of the table, which lives as long as the process (ours) or the framework (Intel's).
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    }

    /// Puts the bytes of a value into the table; `None` if the table is full.
    pub(crate) fn intern_object(&self, bytes: &[u8], kind: u8) -> Option<Object> {
        // SAFETY: the slice's memory.
        let id = unsafe {
            (self.functions.xptiRegisterObject)(bytes.as_ptr().cast(), bytes.len(), kind)
        };
        (id != INVALID_OBJECT).then_some(Object(id))
    }

    /// The interned object with this number, as type and bytes. Intel's library faults on unknown numbers.
    ///
    /// With Intel's library the bytes are valid until the next object is interned; with ours as long as the process.
    pub(crate) fn object(&self, id: i32) -> Option<(u8, *const [u8])> {
        // SAFETY: numbers come from events of this framework.
        let object: object_data_t = unsafe { (self.functions.xptiLookupObject)(id) };
        (!object.data.is_null()).then(|| {
            (
                object.kind,
                core::ptr::slice_from_raw_parts(object.data.cast(), object.size),
            )
        })
    }

    /// The payload of a location, by its id.
    pub fn payload(&self, uid: u64) -> Option<Payload<'static>> {
        // SAFETY: any number is allowed.
        let payload = unsafe { (self.functions.xptiQueryPayloadByUID)(uid) };
        // SAFETY: payloads of locations live as long as the process under our framework.
        unsafe { Payload::from_raw(payload) }
    }
}
