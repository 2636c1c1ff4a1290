//! The core objects behind handles, and their entry points.
//!
//! An object that others build on has its entry points in a separate module, `OBJECT_entries`: entry points may use any
//! object, objects only those below. Small objects have both in one module. From the bottom up:
//!
//! ```text
//! hierarchy, device, driver, context          devices and their owner
//! active_metrics                              groups of metrics that contexts have activated
//! shared_file, exports, reservations          shared files, exported and virtual memory
//! event_pool, counter, event, dependencies    signals, and what appends wait for
//! sampler, image, link_source, module, kernel programs and their arguments
//! graph_content, graph, capture               recorded graphs, and captures under way
//! queue_desc, mutable_commands                parts of lists
//! recorded_list, immediate_list, list         the two types of command lists behind one handle
//! executable_graph, queue, fence              what runs lists and graphs
//! append, launch, mutable, *_entries          entry points
//! ```

pub(crate) mod active_metrics;
pub(crate) mod append;
pub(crate) mod attributes;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod context_entries;
pub(crate) mod counter;
pub(crate) mod counter_entries;
pub(crate) mod dependencies;
pub(crate) mod device;
pub(crate) mod device_entries;
pub(crate) mod device_more;
pub(crate) mod dot;
pub(crate) mod driver;
pub(crate) mod driver_entries;
pub(crate) mod event;
pub(crate) mod event_entries;
pub(crate) mod event_pool;
pub(crate) mod executable_graph;
pub(crate) mod exports;
pub(crate) mod external;
pub(crate) mod external_pointer;
pub(crate) mod fabric;
pub(crate) mod fence;
pub(crate) mod graph;
pub(crate) mod graph_content;
pub(crate) mod graph_entries;
pub(crate) mod hierarchy;
pub(crate) mod image;
pub(crate) mod image_copy;
pub(crate) mod image_format;
pub(crate) mod immediate_list;
pub(crate) mod ipc;
pub(crate) mod kernel;
pub(crate) mod launch;
pub(crate) mod link;
pub(crate) mod link_source;
pub(crate) mod list;
pub(crate) mod list_entries;
pub(crate) mod mem;
pub(crate) mod memory_sync;
pub(crate) mod module;
pub(crate) mod mutable;
pub(crate) mod mutable_commands;
pub(crate) mod queue;
pub(crate) mod queue_desc;
pub(crate) mod queue_entries;
pub(crate) mod recorded_list;
pub(crate) mod requirements;
pub(crate) mod reservations;
pub(crate) mod runtime;
pub(crate) mod sampler;
pub(crate) mod shared_file;
pub(crate) mod virtual_mem;

/// Marks `$ty` as the object behind the C handle to `$opaque`.
macro_rules! object {
    ($ty:ident, $opaque:ident, $tag:literal, $what:literal) => {
        // SAFETY: `repr(C)` with the `Head` first (asserted next).
        unsafe impl ze_abi::Object for $ty {
            type Opaque = level_zero_sys::$opaque;
            const TAG: u32 = u32::from_le_bytes(*$tag);
            const WHAT: &'static str = $what;
        }
        const _: () = assert!(std::mem::offset_of!($ty, head) == 0);
    };
}
pub(crate) use object;
