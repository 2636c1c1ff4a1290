//! The functions of the C++ objects that clients use, in the tables that they know.
//!
//! A method's object is a word inside a location or a visit; the rest lies at fixed distances from it.

use core::ffi::c_char;
use core::mem::offset_of;

use xpti_sys::objects::{
    metadata_vtable, payload_vtable, trace_event_vtable, tracepoint_vtable, with_type_information,
};
use xpti_sys::{
    metadata_node, payload_t, result, trace_event_data_t, xpti_metadata_t, xpti_payload_t,
    xpti_trace_event_t, xpti_tracepoint_t,
};

use crate::location::Location;
use crate::strings;
use crate::visit::{self, Visit};

const fn table<Table>(table: Table) -> with_type_information<Table> {
    with_type_information {
        offset_to_top: 0,
        type_information: core::ptr::null(),
        table,
    }
}

/// Clients never destroy what the library owns.
unsafe extern "C" fn never<Object>(_: *mut Object) {}

unsafe fn location<'a>(object: *mut xpti_payload_t) -> &'a Location {
    // SAFETY: clients pass an object that they got from this library: the first word of a location.
    unsafe { &*object.cast::<Location>() }
}

unsafe fn payload<'a>(object: *mut xpti_payload_t) -> &'a payload_t {
    // SAFETY: as above; mutable fields are read as whole words.
    unsafe { &*location(object).payload() }
}

/// # Safety
/// For this and those below: the object was returned by this library.
unsafe extern "C" fn name(this: *mut xpti_payload_t) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { payload(this) }.name
}
unsafe extern "C" fn source_file(this: *mut xpti_payload_t) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { payload(this) }.source_file
}
unsafe extern "C" fn line_no(this: *mut xpti_payload_t) -> u32 {
    // SAFETY: the caller's.
    unsafe { payload(this) }.line_no
}
unsafe extern "C" fn column_no(this: *mut xpti_payload_t) -> u32 {
    // SAFETY: the caller's.
    unsafe { payload(this) }.column_no
}
unsafe extern "C" fn payload_flags(this: *mut xpti_payload_t) -> u64 {
    // SAFETY: the caller's.
    unsafe { payload(this) }.flags
}
unsafe extern "C" fn name_string_id(this: *mut xpti_payload_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { payload(this) }.p2 as i32
}
unsafe extern "C" fn source_file_string_id(this: *mut xpti_payload_t) -> i32 {
    // SAFETY: the caller's.
    (unsafe { payload(this) }.p1 >> 32) as i32
}
unsafe extern "C" fn payload_uid(this: *mut xpti_payload_t) -> u64 {
    // SAFETY: the caller's.
    unsafe { payload(this) }.internal
}
unsafe extern "C" fn is_valid(_: *mut xpti_payload_t) -> bool {
    true
}
unsafe extern "C" fn payload_ref(this: *mut xpti_payload_t) -> *const payload_t {
    // SAFETY: the caller's.
    unsafe { location(this) }.payload()
}

/// A location as a payload object.
pub(crate) static PAYLOAD: with_type_information<payload_vtable> = table(payload_vtable {
    destructors: [never::<xpti_payload_t>; 2],
    name,
    source_file,
    line_no,
    column_no,
    payload_flags,
    name_string_id,
    source_file_string_id,
    uid64: payload_uid,
    is_valid,
    payload_ref,
});

/// A part of a visit that is an object, by the offset of its word.
trait Part: Sized {
    const OFFSET: usize;

    unsafe fn visit(this: *mut Self) -> *mut Visit {
        // SAFETY: clients pass an object that they got from this library: that word of a visit.
        unsafe { this.byte_sub(Self::OFFSET).cast() }
    }
}
impl Part for xpti_tracepoint_t {
    const OFFSET: usize = offset_of!(Visit, tracepoint);
}
impl Part for xpti_metadata_t {
    const OFFSET: usize = offset_of!(Visit, metadata);
}
impl Part for xpti_trace_event_t {
    const OFFSET: usize = offset_of!(Visit, trace_event);
}

unsafe extern "C" fn payload_of<P: Part>(this: *mut P) -> *mut xpti_payload_t {
    // SAFETY: the caller's. Not through the event, which the client may have written to.
    unsafe { (*P::visit(this)).location().object() }.cast_mut()
}
unsafe extern "C" fn metadata_of<P: Part>(this: *mut P) -> *mut xpti_metadata_t {
    // SAFETY: the caller's.
    unsafe { &raw mut (*P::visit(this)).metadata }
}
unsafe extern "C" fn event_of<P: Part>(this: *mut P) -> *mut xpti_trace_event_t {
    // SAFETY: the caller's.
    unsafe { &raw mut (*P::visit(this)).trace_event }
}
unsafe extern "C" fn uid<P: Part>(this: *mut P) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*P::visit(this)).event.unique_id }
}
unsafe extern "C" fn instance<P: Part>(this: *mut P) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*P::visit(this)).event.instance_id }
}
unsafe extern "C" fn event_ref<P: Part>(this: *mut P) -> *mut trace_event_data_t {
    // SAFETY: the caller's.
    unsafe { &raw mut (*P::visit(this)).event }
}
unsafe extern "C" fn payload_ref_of<P: Part>(this: *mut P) -> *const payload_t {
    // SAFETY: the caller's.
    unsafe { (*P::visit(this)).location().payload() }
}

/// A visit as a tracepoint.
pub(crate) static TRACEPOINT: with_type_information<tracepoint_vtable> = table(tracepoint_vtable {
    destructors: [never::<xpti_tracepoint_t>; 2],
    payload: payload_of,
    metadata: metadata_of,
    event: event_of,
    uid64: uid,
    instance,
    event_ref,
    payload_ref: payload_ref_of,
});

unsafe extern "C" fn event_type(this: *mut xpti_trace_event_t) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.event_type }
}
unsafe extern "C" fn activity_type(this: *mut xpti_trace_event_t) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.activity_type }
}
unsafe extern "C" fn source_uid64(this: *mut xpti_trace_event_t) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.source_id }
}
unsafe extern "C" fn target_uid64(this: *mut xpti_trace_event_t) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.target_id }
}
unsafe extern "C" fn event_flags(this: *mut xpti_trace_event_t) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.flags }
}
unsafe extern "C" fn set_activity_type(this: *mut xpti_trace_event_t, activity: i32) {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.activity_type = activity as u16 }
}
unsafe extern "C" fn set_event_type(this: *mut xpti_trace_event_t, kind: u16) {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.event_type = kind }
}

/// A visit's event object.
pub(crate) static TRACE_EVENT: with_type_information<trace_event_vtable> =
    table(trace_event_vtable {
        destructors: [never::<xpti_trace_event_t>; 2],
        payload: payload_of,
        metadata: metadata_of,
        uid64: uid,
        instance,
        event_type,
        activity_type,
        source_uid64,
        target_uid64,
        event_flags,
        set_activity_type,
        set_event_type,
        payload_ref: payload_ref_of,
        event_ref,
    });

unsafe extern "C" fn first_item(
    this: *mut xpti_metadata_t,
    key: *mut *mut c_char,
    value: *mut i32,
) -> i32 {
    // SAFETY: the caller's.
    let visit = unsafe { Part::visit(this) };
    // SAFETY: a living visit.
    unsafe { (*visit).cursor = (*visit).event.metadata.before_begin.next };
    // SAFETY: as above.
    unsafe { item((*visit).cursor, key, value) }
}
unsafe extern "C" fn next_item(
    this: *mut xpti_metadata_t,
    key: *mut *mut c_char,
    value: *mut i32,
) -> i32 {
    // SAFETY: the caller's.
    let visit = unsafe { Part::visit(this) };
    // SAFETY: a living visit; the cursor is null or a node that the client has not erased.
    unsafe {
        if let Some(node) = (*visit).cursor.as_ref() {
            (*visit).cursor = node.link.next;
        }
        item((*visit).cursor, key, value)
    }
}
/// The result of an iteration step: FALSE at the end, INVALIDARG without outputs.
unsafe fn item(node: *const metadata_node, key: *mut *mut c_char, value: *mut i32) -> i32 {
    if key.is_null() || value.is_null() {
        return result::INVALIDARG;
    }
    // SAFETY: null or a node of the map.
    let Some(node) = (unsafe { node.as_ref() }) else {
        return result::FALSE;
    };
    let text = strings::lookup(node.key);
    // A key that the client added itself need not be a string's number.
    let text = if text.is_null() { c"".as_ptr() } else { text };
    // SAFETY: the caller's places.
    unsafe {
        *key = text.cast_mut();
        *value = node.value;
    }
    result::SUCCESS
}
unsafe extern "C" fn add_item(this: *mut xpti_metadata_t, key: *const c_char, value: i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { visit::add_metadata(&raw mut (*Part::visit(this)).event, key, value) }
}
unsafe extern "C" fn count(this: *mut xpti_metadata_t) -> usize {
    // SAFETY: the caller's.
    unsafe { (*Part::visit(this)).event.metadata.element_count }
}

/// A visit's metadata object.
pub(crate) static METADATA: with_type_information<metadata_vtable> = table(metadata_vtable {
    destructors: [never::<xpti_metadata_t>; 2],
    first_item,
    next_item,
    add_item,
    count,
});
