//! Locations of an emitter, and their visits.

use core::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

use xpti_sys::objects::tracepoint_vtable;
use xpti_sys::{event_flag, result, trace_event_data_t, xpti_tracepoint_t};

use crate::framework::Object;
use crate::{Framework, Value};

/// A source location. Two equal ones are one location in the whole process, with one id that is the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// Function, kernel or label.
    pub name: &'a CStr,
    /// Source file; empty when unknown.
    pub file: &'a CStr,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

impl<'a> Location<'a> {
    /// A location; an empty file and 0 stand for an unknown place.
    #[must_use]
    pub const fn new(name: &'a CStr, file: &'a CStr, line: u32, column: u32) -> Self {
        Self {
            name,
            file,
            line,
            column,
        }
    }

    /// A name without a place in the source.
    #[must_use]
    pub const fn named(name: &'a CStr) -> Self {
        Self::new(name, c"", 0, 0)
    }

    /// The location of the caller's caller (`#[track_caller]`).
    #[track_caller]
    #[must_use]
    pub const fn caller(name: &'a CStr) -> Self {
        Self::at(name, core::panic::Location::caller())
    }

    /// A location that the compiler recorded.
    #[must_use]
    pub const fn at(name: &'a CStr, place: &'static core::panic::Location<'static>) -> Self {
        Self::new(name, place.file_as_c_str(), place.line(), place.column())
    }
}

/// One visit of a location: a node, an edge, a queue, a graph. Subscribers may keep its address while it lives.
///
/// Any thread may use and drop it.
#[derive(Debug)]
pub struct Visit {
    framework: &'static Framework,
    tracepoint: *mut xpti_tracepoint_t,
    /// A part of the tracepoint.
    event: *mut trace_event_data_t,
}
// SAFETY: the framework's functions take tracepoints from any thread; fields are written through `&mut self` alone.
unsafe impl Send for Visit {}
// SAFETY: as above; data behind `&self` is not written after creation.
unsafe impl Sync for Visit {}

impl Visit {
    /// Visits the location; `None` if the framework is out of memory.
    pub fn new(framework: &'static Framework, location: &Location<'_>) -> Option<Self> {
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
                pointer(location.name),
                pointer(location.file),
                location.line,
                location.column,
                core::ptr::null_mut(),
            )
        };
        if tracepoint.is_null() {
            return None;
        }
        // SAFETY: a living tracepoint and its own function.
        let event = unsafe { ((*(*tracepoint).vtable).event_ref)(tracepoint) };
        Some(Self {
            framework,
            tracepoint,
            event,
        })
    }

    fn table(&self) -> &tracepoint_vtable {
        // SAFETY: a living tracepoint begins with its table.
        unsafe { &*(*self.tracepoint).vtable }
    }

    /// The event that notifications carry.
    pub(crate) fn event(&self) -> *mut trace_event_data_t {
        self.event
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
        let object = value.into().intern(self.framework);
        self.set_object(key, object)
    }

    /// Sets a metadata entry to a value of the framework's table ([`Value::intern`]), without a search in that table.
    /// `None` is a value that the table had no room for: the entry is left out, and the result is false.
    pub fn set_object(&mut self, key: &CStr, object: Option<Object>) -> bool {
        let Some(Object(object)) = object else {
            return false;
        };
        // SAFETY: a living event and a C string.
        let code = unsafe {
            (self.framework.functions().xptiAddMetadata)(self.event(), key.as_ptr(), object)
        };
        matches!(code, result::SUCCESS | result::DUPLICATE)
    }

    /// The framework that the visit belongs to.
    pub fn framework(&self) -> &'static Framework {
        self.framework
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
