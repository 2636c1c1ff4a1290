//! Payloads, events and the metadata map inside an event.

use core::ffi::{c_char, c_void};

use crate::{layout, object_id_t, string_id_t};

/// A source location: function, file, line, column, code address (`xpti::payload_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct payload_t {
    /// Function, kernel or label; null when absent.
    pub name: *const c_char,
    /// `caller->callee`; null when absent.
    pub stack_trace: *const c_char,
    /// Source file; null when absent.
    pub source_file: *const c_char,
    /// Line; `u32::MAX` when absent.
    pub line_no: u32,
    /// Column; `u32::MAX` when absent.
    pub column_no: u32,
    /// Address of the code.
    pub code_ptr_va: *const c_void,
    /// The location's id, once registered.
    pub internal: u64,
    /// [`payload_flag`].
    pub flags: u64,
    /// 32-bit FNV-1a of the file in the high half, the line in the low one.
    pub p1: u64,
    /// 32-bit FNV-1a of the name.
    pub p2: u64,
    /// 0.
    pub p3: u64,
}
layout!(payload_t, 80, name @ 0, stack_trace @ 8, source_file @ 16, line_no @ 24, column_no @ 28, code_ptr_va @ 32,
    internal @ 40, flags @ 48, p1 @ 56, p2 @ 64, p3 @ 72);

/// Flags of a payload (`xpti::payload_flag_t`).
pub mod payload_flag {
    /// It has a name.
    pub const NAME: u64 = 1;
    /// It has a source file.
    pub const SOURCE_FILE: u64 = 1 << 1;
    /// It has a code address.
    pub const CODE_POINTER: u64 = 1 << 2;
    /// It has a line.
    pub const LINE: u64 = 1 << 3;
    /// It has a column.
    pub const COLUMN: u64 = 1 << 4;
    /// It has a stack trace.
    pub const STACK_TRACE: u64 = 1 << 5;
    /// The framework knows the location.
    pub const REGISTERED: u64 = 1 << 15;
    /// Its hashes are set.
    pub const HASH: u64 = 1 << 17;
}

/// One visit of a location, with metadata (`xpti::trace_event_data_t`).
#[repr(C)]
#[derive(Debug)]
pub struct trace_event_data_t {
    /// Id of the location.
    pub unique_id: u64,
    /// Equal to `instance_id`.
    pub data_id: u64,
    /// 1, 2, 3 … at each location.
    pub instance_id: u64,
    /// [`crate::event_type`].
    pub event_type: u16,
    /// [`crate::activity_type`].
    pub activity_type: u16,
    /// Padding.
    pub unused: u32,
    /// For an edge: the id of its source node.
    pub source_id: u64,
    /// For an edge: the id of its target node.
    pub target_id: u64,
    /// The location's payload.
    pub payload: *const payload_t,
    /// Key to value, as numbers of interned strings and objects.
    pub metadata: metadata_t,
    /// Free for subscribers.
    pub global_user_data: *mut c_void,
    /// [`event_flag`].
    pub flags: u64,
}
layout!(trace_event_data_t, 128, unique_id @ 0, data_id @ 8, instance_id @ 16, event_type @ 24, activity_type @ 26,
    source_id @ 32, target_id @ 40, payload @ 48, metadata @ 56, global_user_data @ 112, flags @ 120);

/// Which fields of an event are set (`xpti::trace_event_flag_t`).
pub mod event_flag {
    /// `unique_id`.
    pub const UID: u64 = 1;
    /// `source_id`.
    pub const SOURCE: u64 = 1 << 1;
    /// `target_id`.
    pub const TARGET: u64 = 1 << 2;
    /// `event_type`.
    pub const EVENT_TYPE: u64 = 1 << 3;
    /// `activity_type`.
    pub const ACTIVITY: u64 = 1 << 4;
    /// `payload`.
    pub const PAYLOAD: u64 = 1 << 5;
}

/// libstdc++'s `std::unordered_map<uint32_t, int32_t>`, which clients read and write with their own compiled code.
///
/// It must not move: an empty map points into itself. `xpti-framework::metadata` says how it grows.
#[repr(C)]
#[derive(Debug)]
pub struct metadata_t {
    /// For each bucket the node before its first one, or null.
    pub buckets: *mut *mut metadata_node,
    /// A prime, or 1 at first.
    pub bucket_count: usize,
    /// The link before the first node.
    pub before_begin: metadata_link,
    /// Nodes.
    pub element_count: usize,
    /// 1.0.
    pub max_load_factor: f32,
    /// Nodes at which the map grows next.
    pub next_resize: usize,
    /// The only bucket of a map that never grew.
    pub single_bucket: *mut metadata_node,
}
layout!(metadata_t, 56, buckets @ 0, bucket_count @ 8, before_begin @ 16, element_count @ 24, max_load_factor @ 32,
    next_resize @ 40, single_bucket @ 48);

/// The link to the next node of a [`metadata_t`].
#[repr(C)]
#[derive(Debug)]
pub struct metadata_link {
    /// Null at the end.
    pub next: *mut metadata_node,
}

/// A node of a [`metadata_t`], from `operator new`.
#[repr(C)]
#[derive(Debug)]
pub struct metadata_node {
    /// The link to the next node.
    pub link: metadata_link,
    /// Number of the interned key.
    pub key: string_id_t,
    /// Number of the interned value.
    pub value: object_id_t,
}
layout!(metadata_node, 16, link @ 0, key @ 8, value @ 12);

/// An interned object (`xpti::object_data_t`), returned through a hidden pointer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct object_data_t {
    /// Bytes.
    pub size: usize,
    /// The table's copy, valid for the process; null for an unknown object.
    pub data: *const c_char,
    /// [`crate::metadata_type`].
    pub kind: u8,
}
layout!(object_data_t, 24, size @ 0, data @ 8, kind @ 16);
