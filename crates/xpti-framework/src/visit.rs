//! One visit of a location: three words that make it the C++ objects that clients know, its location, its event.
//!
//! An address is looked up in the slab before it is read.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use xpti_sys::{
    metadata_node, metadata_t, result, trace_event_data_t, xpti_metadata_t, xpti_trace_event_t,
    xpti_tracepoint_t,
};

use crate::location::Location;
use crate::metadata::{self, Spares};
use crate::slab::Slab;
use crate::strings;

/// A visit. Its address is that of the clients' tracepoint; it never moves.
#[repr(C)]
#[derive(Debug)]
pub struct Visit {
    pub(crate) tracepoint: xpti_tracepoint_t,
    pub(crate) metadata: xpti_metadata_t,
    pub(crate) trace_event: xpti_trace_event_t,
    pub(crate) location: AtomicPtr<Location>,
    pub(crate) event: trace_event_data_t,
    /// The position of the metadata object's iteration.
    pub(crate) cursor: *mut metadata_node,
    pub(crate) spares: Spares,
    /// Neighbours among the location's living visits; `older` of a free one is the next free one.
    pub(crate) newer: u32,
    pub(crate) older: u32,
    pub(crate) state: AtomicU32,
}
const _: () = assert!(size_of::<Visit>() <= 208);

pub(crate) const FREE: u32 = 0;
pub(crate) const LIVING: u32 = 1;

pub(crate) static SLAB: Slab<Visit> = Slab::new();

impl Visit {
    #[inline]
    pub(crate) fn location(&self) -> &'static Location {
        // SAFETY: set when the visit was created; locations live forever.
        unsafe { &*self.location.load(Ordering::Relaxed) }
    }
}

/// The living visit whose tracepoint begins at this address. Only memory of visits is read.
#[inline]
pub(crate) fn living(address: usize) -> Option<(u32, *mut Visit)> {
    let number = SLAB.number(address)?;
    let visit = SLAB.get(number);
    is_living(visit).then_some((number, visit))
}

/// Of a slot of the slab.
#[inline]
pub(crate) fn is_living(visit: *const Visit) -> bool {
    // SAFETY: the caller's place, at worst all zero; its state is only touched atomically.
    unsafe { &(*visit).state }.load(Ordering::Acquire) == LIVING
}

/// The address of the visit that contains an event, if it is a visit's.
#[inline]
pub(crate) fn around(event: *const trace_event_data_t) -> usize {
    event
        .addr()
        .wrapping_sub(core::mem::offset_of!(Visit, event))
}

/// Adds metadata to any event. DUPLICATE if the key had a value, which is replaced; INVALIDARG for a null event and a
/// null or empty key. The object's number is not checked.
///
/// # Safety
/// Null or an event with a valid map; null or a C string.
#[inline]
pub unsafe fn add_metadata(
    event: *mut trace_event_data_t,
    key: *const core::ffi::c_char,
    value: i32,
) -> i32 {
    if event.is_null() || key.is_null() {
        return result::INVALIDARG;
    }
    // SAFETY: the caller's.
    let key = unsafe { core::slice::from_raw_parts(key.cast::<u8>(), libc::strlen(key)) };
    let Some(key) = strings::intern(key) else {
        return result::INVALIDARG;
    };
    // SAFETY: the caller's.
    let map: *mut metadata_t = unsafe { &raw mut (*event).metadata };
    let spares = match living(around(event)) {
        // SAFETY: a place of the slab; its spares are under the map's lock while it lives.
        Some((_, visit)) => unsafe { &raw mut (*visit).spares },
        None => core::ptr::null_mut(),
    };
    let _held = metadata::lock(map).hold();
    // SAFETY: the caller's, under the lock.
    match unsafe { metadata::set(map, key.id(), value, spares) } {
        metadata::Added::New => result::SUCCESS,
        metadata::Added::Overwritten => result::DUPLICATE,
    }
}
