//! C++ objects that the library returns: a word that points to slot 0 of a table of functions.
//!
//! Slots 0 and 1 are the two destructors of the Itanium ABI; clients never call them.

use core::ffi::{c_char, c_void};

use crate::payloads::{payload_t, trace_event_data_t};

macro_rules! object {
    ($(#[$meta:meta])* $object:ident, $table:ident { $($(#[$slot_meta:meta])* $slot:ident($($name:ident: $argument:ty),*) $(-> $result:ty)?,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $object {
            /// Slot 0 of its table.
            pub vtable: *const $table,
        }
        #[doc = concat!("The functions of [`", stringify!($object), "`].")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $table {
            /// Slots 0 and 1.
            pub destructors: [unsafe extern "C" fn(*mut $object); 2],
            $($(#[$slot_meta])* pub $slot: unsafe extern "C" fn(*mut $object $(, $argument)*) $(-> $result)?,)*
        }
    };
}

object! {
    /// A location (`xpti_payload_t`).
    xpti_payload_t, payload_vtable {
        /// Never null.
        name() -> *const c_char,
        /// Never null.
        source_file() -> *const c_char,
        /// Line.
        line_no() -> u32,
        /// Column.
        column_no() -> u32,
        /// [`crate::payload_flag`].
        payload_flags() -> u64,
        /// Low half of `p2`.
        name_string_id() -> i32,
        /// High half of `p1`.
        source_file_string_id() -> i32,
        /// The location's id.
        uid64() -> u64,
        /// Always true for a registered one.
        is_valid() -> bool,
        /// The plain struct.
        payload_ref() -> *const payload_t,
    }
}
object! {
    /// Metadata of an event, with a cursor (`xpti_metadata_t`).
    xpti_metadata_t, metadata_vtable {
        /// First key and value; FALSE when empty.
        first_item(key: *mut *mut c_char, value: *mut i32) -> i32,
        /// Next key and value; FALSE at the end.
        next_item(key: *mut *mut c_char, value: *mut i32) -> i32,
        /// As `xptiAddMetadata`.
        add_item(key: *const c_char, value: i32) -> i32,
        /// Keys.
        count() -> usize,
    }
}
object! {
    /// An event (`xpti_trace_event_t`).
    xpti_trace_event_t, trace_event_vtable {
        /// Its location.
        payload() -> *mut xpti_payload_t,
        /// Its metadata.
        metadata() -> *mut xpti_metadata_t,
        /// Id of the location.
        uid64() -> u64,
        /// The number of the visit.
        instance() -> u64,
        /// [`crate::event_type`].
        event_type() -> u16,
        /// [`crate::activity_type`].
        activity_type() -> u16,
        /// Of an edge.
        source_uid64() -> u64,
        /// Of an edge.
        target_uid64() -> u64,
        /// [`crate::event_flag`].
        event_flags() -> u64,
        /// Writes to the struct.
        set_activity_type(activity: i32),
        /// Writes to the struct.
        set_event_type(kind: u16),
        /// The location's plain struct.
        payload_ref() -> *const payload_t,
        /// The plain struct.
        event_ref() -> *mut trace_event_data_t,
    }
}
object! {
    /// A visit of a location (`xpti_tracepoint_t`).
    xpti_tracepoint_t, tracepoint_vtable {
        /// Its location.
        payload() -> *mut xpti_payload_t,
        /// Its metadata.
        metadata() -> *mut xpti_metadata_t,
        /// Its event.
        event() -> *mut xpti_trace_event_t,
        /// Id of the location.
        uid64() -> u64,
        /// The number of the visit.
        instance() -> u64,
        /// The event's plain struct.
        event_ref() -> *mut trace_event_data_t,
        /// The location's plain struct.
        payload_ref() -> *const payload_t,
    }
}

crate::layout!(payload_vtable, 96, name @ 16, payload_ref @ 88);
crate::layout!(metadata_vtable, 48, first_item @ 16, count @ 40);
crate::layout!(trace_event_vtable, 120, payload @ 16, set_activity_type @ 88, event_ref @ 112);
crate::layout!(tracepoint_vtable, 72, payload @ 16, event_ref @ 56, payload_ref @ 64);

/// A table as the linker lays it out: two words precede slot 0.
#[repr(C)]
#[derive(Debug)]
pub struct with_type_information<Table> {
    /// 0.
    pub offset_to_top: isize,
    /// Null: type information is not used.
    pub type_information: *const c_void,
    /// Slot 0.
    pub table: Table,
}
// SAFETY: tables of functions and a null pointer, never written.
unsafe impl<Table> Sync for with_type_information<Table> {}
