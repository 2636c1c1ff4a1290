//! Registering callbacks, checking for them, notifying them.
//!
//! Checking and notifying only read. The first call that depends on whether tracing is on starts the framework.

use core::ffi::c_void;
use core::sync::atomic::Ordering;

use xpti_sys::trace_point_type::needs_no_event;
use xpti_sys::{result, stream_id_t, trace_event_data_t, tracepoint_callback_api_t};

use crate::callback_list::{Before, Callback, CallbackList, Only};
use crate::callback_table::{LOCK, OFF, ON, PAGE, STREAMS, SWITCH, UNDECIDED, switch};
use crate::subscribers;

/// Whether tracing is on.
#[inline]
pub fn enabled() -> bool {
    match SWITCH.0.load(Ordering::Relaxed) {
        UNDECIDED => decide(),
        state => state == ON,
    }
}

#[cold]
fn decide() -> bool {
    subscribers::start();
    SWITCH.0.load(Ordering::Relaxed) == ON
}

/// Turns tracing on or off for the process.
pub fn force(on: bool) {
    subscribers::start();
    switch(|_| on);
}

/// Whether a notification of this type has a listener; type 0 means any type of the stream.
#[inline]
pub fn check(stream: stream_id_t, kind: u16) -> bool {
    if usize::from(kind) >= PAGE {
        return check_others(stream, kind);
    }
    let word = &STREAMS[usize::from(stream)].answers[usize::from(kind / 64)];
    if word.load(Ordering::Relaxed) >> (kind % 64) & 1 == 1 {
        return true;
    }
    SWITCH.0.load(Ordering::Relaxed) == UNDECIDED && check_first(stream, kind)
}

/// The first check of a process loads the subscribers.
#[cold]
#[inline(never)]
fn check_first(stream: stream_id_t, kind: u16) -> bool {
    decide() && check(stream, kind)
}

/// Types of tools.
#[inline(never)]
fn check_others(stream: stream_id_t, kind: u16) -> bool {
    stream != 0
        && enabled()
        && STREAMS[usize::from(stream)]
            .list(kind)
            .is_some_and(CallbackList::any)
}

/// Calls all listeners in the order of their registration, on this thread; FALSE while tracing is off. INVALIDARG
/// without an event, unless the type needs none and there is user data.
///
/// A callback that throws ends the notification: the exception passes to the caller.
///
/// # Safety
/// Events are null or events; user data has the type that the subscribers expect.
#[inline]
pub unsafe fn notify(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    // Rare cases are in another function, so that the common path saves no registers.
    if SWITCH.0.load(Ordering::Relaxed) != ON || event.is_null() {
        // SAFETY: the caller's.
        return unsafe { notify_with_care(stream, kind, parent, event, instance, user_data) };
    }
    // SAFETY: the caller's.
    unsafe { dispatch(stream, kind, parent, event, instance, user_data) }
}

/// # Safety
/// As [`notify`].
#[inline]
unsafe fn dispatch(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    let Some(list) = STREAMS[usize::from(stream)].list(kind) else {
        return result::SUCCESS;
    };
    match list.only() {
        Only::Nobody => {}
        // SAFETY: only callbacks are registered; the caller guarantees the rest.
        Only::One(callback) => unsafe { call(callback, kind, parent, event, instance, user_data) },
        // SAFETY: the caller's.
        Only::More => unsafe { notify_all(list, kind, parent, event, instance, user_data) },
    }
    result::SUCCESS
}

/// # Safety
/// As [`notify`]; `callback` is a registered one.
#[inline]
unsafe fn call(
    callback: Callback,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) {
    // SAFETY: the caller's.
    let callback: tracepoint_callback_api_t = unsafe { core::mem::transmute(callback) };
    // SAFETY: the caller's.
    unsafe { callback(kind, parent, event, instance, user_data) };
}

/// # Safety
/// As [`notify`].
#[inline(never)]
unsafe fn notify_all(
    list: &CallbackList,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) {
    if let Some([one, other]) = list.pair() {
        // SAFETY: only callbacks are registered; the caller guarantees the rest.
        unsafe {
            call(one, kind, parent, event, instance, user_data);
            call(other, kind, parent, event, instance, user_data);
        }
        return;
    }
    // SAFETY: only callbacks are registered; the caller guarantees the rest.
    list.for_each_active(|callback| unsafe {
        call(callback, kind, parent, event, instance, user_data)
    });
}

/// # Safety
/// As [`notify`].
#[inline(never)]
unsafe fn notify_with_care(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    let state = SWITCH.0.load(Ordering::Relaxed);
    if state == OFF || state == UNDECIDED && !decide() {
        return result::FALSE;
    }
    if event.is_null() && (user_data.is_null() || !needs_no_event(kind)) {
        return result::INVALIDARG;
    }
    // SAFETY: the caller's.
    unsafe { dispatch(stream, kind, parent, event, instance, user_data) }
}

fn address(callback: tracepoint_callback_api_t) -> Callback {
    callback as *mut ()
}

/// Adds a callback. DUPLICATE if it is registered already; UNDELETE if it had been unregistered, and gets its old slot.
pub fn register(stream: stream_id_t, kind: u16, callback: tracepoint_callback_api_t) -> i32 {
    subscribers::start();
    let _held = LOCK.hold();
    let line = &STREAMS[usize::from(stream)];
    let list = line.list_to_change(kind);
    let was = list.any();
    let before = list.register(address(callback));
    line.known.store(1, Ordering::Relaxed);
    line.changed(kind, was, true);
    line.answer(usize::from(stream), SWITCH.0.load(Ordering::Relaxed) == ON);
    match before {
        Before::Unknown => result::SUCCESS,
        Before::Inactive => result::UNDELETE,
        Before::Active => result::DUPLICATE,
    }
}

/// Unregisters a callback. DUPLICATE if it was unregistered already, NOTFOUND if it never was registered. Running
/// notifications may still call it.
pub fn unregister(stream: stream_id_t, kind: u16, callback: tracepoint_callback_api_t) -> i32 {
    let _held = LOCK.hold();
    let line = &STREAMS[usize::from(stream)];
    let Some(list) = line.list(kind) else {
        return result::NOTFOUND;
    };
    let was = list.any();
    let before = list.unregister(address(callback));
    line.changed(kind, was, list.any());
    line.answer(usize::from(stream), SWITCH.0.load(Ordering::Relaxed) == ON);
    match before {
        Before::Unknown => result::NOTFOUND,
        Before::Inactive => result::DUPLICATE,
        Before::Active => result::SUCCESS,
    }
}
