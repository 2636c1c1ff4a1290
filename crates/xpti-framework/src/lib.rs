//! The XPTI framework behind `libxptifw.so.1`: the implementation of its 50 functions.
//!
//! | module | content |
//! |---|---|
//! | [`strings`], [`values`] | interned strings and objects |
//! | [`locations`] | source locations: identity, payloads |
//! | [`visits`] | tracepoints: one object for each visit of a location |
//! | [`metadata`] | the map inside an event, as libstdc++ lays it out |
//! | [`streams`] | numbers of streams and tools, defaults |
//! | [`callbacks`] | registered callbacks; checking and notifying |
//! | [`subscribers`] | environment, loading, announcing and finishing streams |
//! | [`trial`] | tries a subscriber in a separate process before it is loaded |
//! | [`thread`] | per-thread data |
//!
//! An emitter checks before it notifies; a subscriber, here in the same process, is called on the emitter's thread:
//!
//! ```
//! use std::ffi::c_void;
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use xpti_framework::{callbacks, strings, streams};
//! use xpti_sys::{trace_event_data_t, trace_point_type};
//!
//! static TOLD: AtomicU32 = AtomicU32::new(0);
//! unsafe extern "C-unwind" fn tell(
//!     _kind: u16, _parent: *mut trace_event_data_t, _event: *mut trace_event_data_t, _instance: u64, _data: *const c_void,
//! ) {
//!     TOLD.fetch_add(1, Ordering::Relaxed);
//! }
//!
//! let (stream, kind) = (streams::register(c"example"), trace_point_type::FUNCTION_BEGIN);
//! assert!(!callbacks::check(stream, kind));
//! callbacks::register(stream, kind, tell);
//! callbacks::force(true); // `XPTI_TRACE_ENABLE` for real subscribers
//! assert!(callbacks::check(stream, kind));
//!
//! let null = std::ptr::null_mut();
//! let name = strings::intern(b"a function").unwrap();
//! // This type needs no event; its user data is a C string.
//! unsafe { callbacks::notify(stream, kind, null, null, 0, name.text().cast()) };
//! assert_eq!(TOLD.load(Ordering::Relaxed), 1);
//! assert_eq!(strings::intern(b"a function").unwrap().id(), name.id());
//! ```
//!
//! Invariants
//! - Readers take no lock and write no shared memory: check, notify, every lookup. `table` and `callback_list` are
//!   modelled with loom.
//! - Strings, objects and locations live as long as the process; tables are never freed, so a library that finishes in
//!   the dynamic linker's own exit can use them. No destructor of ours runs, no thread is joined, no `atexit`.
//! - An address that a client gives as a tracepoint is looked up before it is read.
//! - No lock is held while a subscriber runs; locks are taken for a fork and released on both sides.
//! - A location's id is a hash of function, file, line and column, equal in every run; collisions are distinguished by the
//!   full key.
//!
//! Non-goals: it exports nothing (`libxptifw` does), emits nothing and knows no stream but its own.

#[cfg(not(loom))]
mod hash;
mod sync;
mod table;

pub mod callback_list;

#[cfg(not(loom))]
mod arena;
#[cfg(not(loom))]
mod callback_table;
#[cfg(not(loom))]
mod directory;
#[cfg(not(loom))]
mod fork;

#[cfg(not(loom))]
pub mod callbacks;
#[cfg(not(loom))]
pub mod environment;
#[cfg(not(loom))]
mod location;
#[cfg(not(loom))]
pub mod locations;
#[cfg(not(loom))]
pub mod metadata;
#[cfg(not(loom))]
mod numbers;
#[cfg(not(loom))]
mod primes;
#[cfg(not(loom))]
mod slab;
#[cfg(not(loom))]
pub mod streams;
#[cfg(not(loom))]
pub mod strings;
#[cfg(not(loom))]
pub mod subscribers;
#[cfg(not(loom))]
pub mod thread;
#[cfg(not(loom))]
pub mod trial;
#[cfg(not(loom))]
pub mod values;
#[cfg(not(loom))]
mod visit;
#[cfg(not(loom))]
pub mod visits;
#[cfg(not(loom))]
mod vtables;

pub use table::{Keyed, Table};

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU64, Ordering};

/// On a separate cache line, because all emitters write it.
#[cfg(not(loom))]
#[repr(align(128))]
struct Unique(AtomicU64);

#[cfg(not(loom))]
static UNIQUE: Unique = Unique(AtomicU64::new(1));

/// A number that is unique in the process: 1, 2, 3 ….
#[cfg(not(loom))]
#[inline]
pub fn unique_id() -> u64 {
    UNIQUE.0.fetch_add(1, Ordering::Relaxed)
}

/// Removes strings, objects but numbers, locations and callbacks and restarts unique ids at 1; streams keep their numbers. Returned
/// pointers stay valid. For tests of tools.
#[cfg(not(loom))]
pub fn reset() {
    strings::reset();
    values::reset();
    locations::reset();
    callback_table::reset();
    UNIQUE.0.store(1, Ordering::Relaxed);
}
