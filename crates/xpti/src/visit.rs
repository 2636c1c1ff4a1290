//! Locations of an emitter, and their visits.

use core::ffi::{CStr, c_char, c_void};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CString;
use std::marker::PhantomData;
use std::sync::{LazyLock, Mutex, PoisonError};

use xpti_sys::objects::tracepoint_vtable;
use xpti_sys::{event_flag, result, trace_event_data_t, xpti_tracepoint_t};

use crate::{Framework, Value};

/// A source location. Two equal ones are one location in the whole process, with one id that is the same in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Function, kernel or label.
    pub name: Cow<'static, CStr>,
    /// Source file; empty when unknown.
    pub file: Cow<'static, CStr>,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

impl Location {
    /// A location known at build time, such as that of a static.
    #[must_use]
    pub const fn new(name: &'static CStr, file: &'static CStr, line: u32, column: u32) -> Self {
        Self {
            name: Cow::Borrowed(name),
            file: Cow::Borrowed(file),
            line,
            column,
        }
    }

    /// The location of the caller's caller (`#[track_caller]`).
    #[track_caller]
    #[must_use]
    pub fn caller(name: Cow<'static, CStr>) -> Self {
        let caller = std::panic::Location::caller();
        Self {
            name,
            file: Cow::Borrowed(c_file(caller.file())),
            line: caller.line(),
            column: caller.column(),
        }
    }
}

/// The compiler's file names are not NUL-terminated: each gets one terminated copy in the process.
fn c_file(file: &'static str) -> &'static CStr {
    static FILES: LazyLock<Mutex<HashMap<&'static str, &'static CStr>>> =
        LazyLock::new(Mutex::default);
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.entry(file).or_insert_with(|| {
        let text: Vec<u8> = file.bytes().filter(|byte| *byte != 0).collect();
        CString::new(text).map_or(c"", |copy| &*Box::leak(copy.into_boxed_c_str()))
    })
}

/// One visit of a location: a node, an edge, a queue, a graph. Subscribers may keep its address while it lives.
///
/// Any thread may use and drop it.
#[derive(Debug)]
pub struct Visit {
    framework: &'static Framework,
    tracepoint: *mut xpti_tracepoint_t,
}
// SAFETY: the framework's functions take tracepoints from any thread; fields are written through `&mut self` alone.
unsafe impl Send for Visit {}
// SAFETY: as above; data behind `&self` is not written after creation.
unsafe impl Sync for Visit {}

impl Visit {
    /// Visits the location; `None` if the framework is out of memory.
    pub fn new(framework: &'static Framework, location: &Location) -> Option<Self> {
        let pointer = |text: &CStr| {
            if text.is_empty() {
                core::ptr::null::<c_char>()
            } else {
                text.as_ptr()
            }
        };
        // SAFETY: null or C strings; the framework copies them.
        let tracepoint = unsafe {
            (framework.functions().xptiCreateTracepoint)(
                pointer(&location.name),
                pointer(&location.file),
                location.line,
                location.column,
                core::ptr::null_mut(),
            )
        };
        (!tracepoint.is_null()).then_some(Self {
            framework,
            tracepoint,
        })
    }

    fn table(&self) -> &tracepoint_vtable {
        // SAFETY: a living tracepoint begins with its table.
        unsafe { &*(*self.tracepoint).vtable }
    }

    /// The event that notifications carry.
    pub(crate) fn event(&self) -> *mut trace_event_data_t {
        // SAFETY: a living tracepoint and its own function.
        unsafe { (self.table().event_ref)(self.tracepoint) }
    }

    /// Id of the location, never 0.
    pub fn uid(&self) -> u64 {
        // SAFETY: a living tracepoint's event.
        unsafe { (*self.event()).unique_id }
    }

    /// The number of this visit of the location, from 1.
    pub fn instance(&self) -> u64 {
        // SAFETY: a living tracepoint and its own function.
        unsafe { (self.table().instance)(self.tracepoint) }
    }

    /// Sets the type of event ([`crate::event_type`]); the default is an algorithm.
    pub fn set_event_type(&mut self, kind: u16) {
        // SAFETY: a living tracepoint's event, borrowed exclusively.
        unsafe { (*self.event()).event_type = kind };
    }

    /// Makes it an edge from one node to another.
    pub fn set_ends(&mut self, source: &Visit, target: &Visit) {
        let (from, to) = (source.uid(), target.uid());
        // SAFETY: a living tracepoint's event, borrowed exclusively.
        unsafe {
            let event = self.event();
            (*event).source_id = from;
            (*event).target_id = to;
            (*event).flags |= event_flag::SOURCE | event_flag::TARGET;
        }
    }

    /// Sets a metadata entry; false if the framework rejects it, such as an empty key.
    pub fn set<'v>(&mut self, key: &CStr, value: impl Into<Value<'v>>) -> bool {
        let value = value.into();
        let (kind, bytes) = value.encode();
        let Some(object) = self.framework.intern_object(&bytes, kind) else {
            return false;
        };
        // SAFETY: a living event and a C string.
        let code = unsafe {
            (self.framework.functions().xptiAddMetadata)(self.event(), key.as_ptr(), object)
        };
        matches!(code, result::SUCCESS | result::DUPLICATE)
    }

    /// Publishes the visit for this thread: until the guard is dropped, its location is the thread's universal id.
    #[must_use = "dropping the guard ends the scope"]
    pub fn enter(&self) -> Scope<'_> {
        let functions = self.framework.functions();
        // SAFETY: no arguments; a living tracepoint.
        let before = unsafe {
            let before = (functions.xptiGetTracepointScopeData)();
            (functions.xptiSetTracepointScopeData)(self.tracepoint);
            before
        };
        Scope {
            framework: self.framework,
            before,
            visit: PhantomData,
            thread: PhantomData,
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        // SAFETY: created by the same framework, ended once. What it says of it is of no use here.
        unsafe { (self.framework.functions().xptiDeleteTracepoint)(self.tracepoint) };
    }
}

/// The thread works for a [`Visit`] while this lives; dropping it restores the previous one.
#[derive(Debug)]
pub struct Scope<'a> {
    framework: &'static Framework,
    before: *const xpti_tracepoint_t,
    visit: PhantomData<&'a Visit>,
    thread: PhantomData<*const c_void>,
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let functions = self.framework.functions();
        // SAFETY: the outer scope is still alive, because guards are dropped in reverse order; otherwise the framework
        // rejects a dead tracepoint.
        unsafe {
            if self.before.is_null()
                || (functions.xptiSetTracepointScopeData)(self.before.cast_mut()) != result::SUCCESS
            {
                (functions.xptiUnsetTracepointScopeData)();
            }
        }
    }
}

/// The thread has a stashed tuple while this lives.
#[derive(Debug)]
pub struct Stash {
    framework: &'static Framework,
    thread: PhantomData<*const c_void>,
}

impl Stash {
    /// Puts `key` and `value` where subscribers find them ([`Framework::stashed`]).
    #[must_use = "dropping the guard removes the tuple"]
    pub fn put(framework: &'static Framework, key: &'static CStr, value: u64) -> Self {
        // SAFETY: a literal.
        unsafe { (framework.functions().xptiStashTuple)(key.as_ptr(), value) };
        Self {
            framework,
            thread: PhantomData,
        }
    }
}

impl Drop for Stash {
    fn drop(&mut self) {
        // SAFETY: no arguments.
        unsafe { (self.framework.functions().xptiUnstashTuple)() };
    }
}
