//! The C ABI of XPTI, the tracing framework of DPC++, as `libxptifw.so.1` of x86-64 Linux has it.
//!
//! Layouts ([`payload_t`], [`trace_event_data_t`], user data of notifications), numbers ([`trace_point_type`],
//! [`result`]), hand-made C++ objects with their vtables ([`objects`]) and the 50 exported functions ([`Functions`]).
//!
//! Invariants: every size and offset is asserted at compile time against the measured layout of Intel's library;
//! `no_std`, no dependencies, no logic. Meanings of functions are documented where they are implemented
//! (`xpti-framework`). Programs should use `xpti` instead.

#![no_std]
#![expect(non_camel_case_types, reason = "the names are C's")]

mod functions;
pub mod objects;
mod payloads;
pub mod user_data;

pub use functions::*;
pub use objects::{xpti_metadata_t, xpti_payload_t, xpti_trace_event_t, xpti_tracepoint_t};
pub use payloads::*;
pub use user_data::*;

/// Asserts the layout that compiled clients use.
macro_rules! layout {
    ($ty:ty, $size:literal $(, $field:ident $(. $inner:ident)? @ $offset:literal)*) => {
        const _: () = {
            assert!(size_of::<$ty>() == $size, concat!("size of ", stringify!($ty)));
            $(assert!(
                core::mem::offset_of!($ty, $field $(. $inner)?) == $offset,
                concat!("offset of ", stringify!($ty), ".", stringify!($field))
            );)*
        };
    };
}
pub(crate) use layout;

/// Number of a stream; 0 is unused, 255 is invalid.
pub type stream_id_t = u8;
/// Number of an interned string; [`INVALID_STRING`] is invalid.
pub type string_id_t = u32;
/// Number of an interned object; [`INVALID_OBJECT`] is invalid.
pub type object_id_t = i32;

/// The result of a failed `xptiRegisterString`.
pub const INVALID_STRING: string_id_t = u32::MAX;
/// The result of a failed `xptiRegisterObject`.
pub const INVALID_OBJECT: object_id_t = i32::MAX;
/// The result of a failed `xptiRegisterStream`.
pub const INVALID_STREAM: stream_id_t = u8::MAX;
/// No location: the result of a failed `xptiRegisterPayload`.
pub const INVALID_UID: u64 = 0;
/// The result of registering a tool's trace point or event type when no number is left.
pub const INVALID_USER_DEFINED: u16 = u16::MAX;

/// Name of the framework's own stream; its number is 1.
pub const FRAMEWORK_STREAM: &core::ffi::CStr = c"xpti.framework";
/// Number of [`FRAMEWORK_STREAM`].
pub const FRAMEWORK_STREAM_ID: stream_id_t = 1;

/// Result codes of functions (`xpti::result_t`).
pub mod result {
    /// Success.
    pub const SUCCESS: i32 = 0;
    /// No error, and nothing was done: tracing is off, or the iteration is at its end.
    pub const FALSE: i32 = 1;
    /// Failure.
    pub const FAIL: i32 = 0x8000_4001_u32 as i32;
    /// Not implemented.
    pub const NOTIMPL: i32 = 0x8000_4002_u32 as i32;
    /// It was already so.
    pub const DUPLICATE: i32 = 0x8000_4003_u32 as i32;
    /// Unknown name, number or object.
    pub const NOTFOUND: i32 = 0x8000_4004_u32 as i32;
    /// It had been removed, and is valid again.
    pub const UNDELETE: i32 = 0x8000_4005_u32 as i32;
    /// An argument is null or outside its range.
    pub const INVALIDARG: i32 = 0x8000_4006_u32 as i32;
}

/// Types of trace points (`xpti::trace_point_type_t`): even numbers begin, odd ones end.
pub mod trace_point_type {
    macro_rules! types {
        ($($(#[$meta:meta])* $name:ident = $value:literal $text:literal),* $(,)?) => {
            $($(#[$meta])* pub const $name: u16 = $value;)*

            /// The standard type's name in C; `None` for numbers of tools and unassigned ones.
            #[must_use]
            pub const fn name(kind: u16) -> Option<&'static str> {
                match kind {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        };
    }
    types! {
        /// A task graph is created; the event is the graph.
        GRAPH_CREATE = 2 "graph_create",
        /// A node of the graph; user data names its kind.
        NODE_CREATE = 4 "node_create",
        /// A dependency; the event's source and target are the nodes' ids.
        EDGE_CREATE = 6 "edge_create",
        /// A parallel region begins.
        REGION_BEGIN = 8 "region_begin",
        /// A parallel region ends.
        REGION_END = 9 "region_end",
        /// A node's work is submitted to the device.
        TASK_BEGIN = 10 "task_begin",
        /// It has been submitted.
        TASK_END = 11 "task_end",
        /// A thread waits at a barrier.
        BARRIER_BEGIN = 12 "barrier_begin",
        /// It continues.
        BARRIER_END = 13 "barrier_end",
        /// A thread waits for a lock.
        LOCK_BEGIN = 14 "lock_begin",
        /// It released the lock.
        LOCK_END = 15 "lock_end",
        /// A native event belongs to the task; user data is its handle.
        SIGNAL = 16 "signal",
        /// A transfer begins.
        TRANSFER_BEGIN = 18 "transfer_begin",
        /// A transfer ends.
        TRANSFER_END = 19 "transfer_end",
        /// A thread begins.
        THREAD_BEGIN = 20 "thread_begin",
        /// A thread ends.
        THREAD_END = 21 "thread_end",
        /// The host waits for an event or a queue; user data names it.
        WAIT_BEGIN = 22 "wait_begin",
        /// It continues.
        WAIT_END = 23 "wait_end",
        /// A function is entered; user data is its name.
        FUNCTION_BEGIN = 24 "function_begin",
        /// The function returns.
        FUNCTION_END = 25 "function_end",
        /// Metadata of an event changed.
        METADATA = 26 "metadata",
        /// A function is entered; user data is `function_with_args_t`.
        FUNCTION_WITH_ARGS_BEGIN = 28 "function_with_args_begin",
        /// The function returns.
        FUNCTION_WITH_ARGS_END = 29 "function_with_args_end",
        /// An allocation begins.
        MEM_ALLOC_BEGIN = 32 "mem_alloc_begin",
        /// The allocation has ended.
        MEM_ALLOC_END = 33 "mem_alloc_end",
        /// Freeing memory begins.
        MEM_RELEASE_BEGIN = 34 "mem_release_begin",
        /// The memory is freed.
        MEM_RELEASE_END = 35 "mem_release_end",
        /// A buffer or image is created.
        OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT = 36 "offload_alloc_construct",
        /// A buffer or image is destroyed.
        OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT = 37 "offload_alloc_destruct",
        /// It got memory on a device.
        OFFLOAD_ALLOC_MEMORY_OBJECT_ASSOCIATE = 38 "offload_alloc_associate",
        /// That memory was freed.
        OFFLOAD_ALLOC_MEMORY_OBJECT_RELEASE = 39 "offload_alloc_release",
        /// An accessor is created.
        OFFLOAD_ALLOC_ACCESSOR = 40 "offload_alloc_accessor",
        /// A queue is created.
        QUEUE_CREATE = 42 "queue_create",
        /// A queue is destroyed.
        QUEUE_DESTROY = 43 "queue_destroy",
        /// A message for users; user data is its text.
        DIAGNOSTICS = 126 "diagnostics",
    }

    /// Bit of the types that tools define; the high byte is then the tool's number.
    pub const USER_DEFINED: u16 = 1 << 7;

    /// Whether a notification of this type may come without an event, because its user data is complete.
    #[must_use]
    pub const fn needs_no_event(kind: u16) -> bool {
        const MASK: u128 = 1 << FUNCTION_BEGIN
            | 1 << FUNCTION_END
            | 1 << FUNCTION_WITH_ARGS_BEGIN
            | 1 << FUNCTION_WITH_ARGS_END
            | 0x1FF << MEM_ALLOC_BEGIN
            | 1 << DIAGNOSTICS;
        kind < 128 && MASK >> kind & 1 == 1
    }
}

/// Types of events (`xpti::trace_event_type_t`).
pub mod event_type {
    /// A task graph.
    pub const GRAPH: u16 = 1;
    /// An algorithm: nodes and most others.
    pub const ALGORITHM: u16 = 2;
    /// A barrier.
    pub const BARRIER: u16 = 3;
    /// The scheduler.
    pub const SCHEDULER: u16 = 4;
    /// Asynchronous work.
    pub const ASYNC: u16 = 5;
    /// A lock.
    pub const LOCK: u16 = 6;
    /// A read from a device.
    pub const OFFLOAD_READ: u16 = 7;
    /// A write to a device.
    pub const OFFLOAD_WRITE: u16 = 8;
    /// A buffer or image.
    pub const OFFLOAD_MEMORY_OBJECT: u16 = 9;
    /// An accessor.
    pub const OFFLOAD_ACCESSOR: u16 = 10;
    /// Bit of the types that tools define; the high byte is then the tool's number.
    pub const USER_DEFINED: u16 = 1 << 7;
}

/// Activities of a thread in an event (`xpti::trace_activity_type_t`).
pub mod activity_type {
    /// The program's work.
    pub const ACTIVE: i32 = 1;
    /// The runtime's work.
    pub const OVERHEAD: i32 = 2;
    /// Background work.
    pub const BACKGROUND: i32 = 4;
    /// Sleeping.
    pub const SLEEP: i32 = 8;
}

/// Types of interned objects (`xpti::metadata_type_t`); the size is the width.
pub mod metadata_type {
    /// Any bytes.
    pub const BINARY: u8 = 0;
    /// Text, without a terminating zero.
    pub const STRING: u8 = 1;
    /// A signed integer of 4 or 8 bytes.
    pub const SIGNED: u8 = 2;
    /// An unsigned integer of 4 or 8 bytes.
    pub const UNSIGNED: u8 = 3;
    /// A floating-point number of 4 or 8 bytes.
    pub const FLOATING: u8 = 4;
    /// One byte, 0 or 1.
    pub const BOOLEAN: u8 = 5;
}

/// The detail that a subscriber wants of a stream (`xpti::stream_detail_level_t`).
pub mod detail_level {
    /// Nothing beyond names.
    pub const NONE: u8 = 0;
    /// Names and sizes.
    pub const BASIC: u8 = 1;
    /// Devices, queues, pointers too; the default.
    pub const NORMAL: u8 = 2;
    /// Everything, arguments of kernels too.
    pub const VERBOSE: u8 = 3;
}
