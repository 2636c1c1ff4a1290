//! Tracepoints: one object for each visit of a location, with its event.
//!
//! A visit is one slot of a slab: three words that make it the C++ objects that clients know, its location, its event.
//! A location keeps a few freed visits, so that the next visit finds most of its fields and its metadata nodes there.
//! Creating and deleting take one lock each, that of the location's group.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::Ordering;

use xpti_sys::{
    event_flag, event_type, payload_t, result, trace_event_data_t, xpti_trace_event_t,
    xpti_tracepoint_t,
};

use crate::location::Location;
use crate::locations;
use crate::metadata::{self, Spares};
use crate::sync::Lock;
use crate::visit::{FREE, LIVING, SLAB, around, is_living, living};
use crate::{thread, vtables};

pub use crate::visit::{Visit, add_metadata};

/// Freed visits that a location keeps.
const KEPT: u32 = 8;

/// By the location's id. Taken before [`POOL`].
pub(crate) static LOCKS: [Lock; 64] = [const { Lock::new() }; 64];

/// The lock of the pool with its data.
pub(crate) struct Pool(pub(crate) Lock, UnsafeCell<Places>);
// SAFETY: touched under the lock only.
unsafe impl Sync for Pool {}

struct Places {
    /// The first free visit without a location.
    free: u32,
    /// The number of visits ever created.
    made: u32,
}

pub(crate) static POOL: Pool = Pool(Lock::new(), UnsafeCell::new(Places { free: 0, made: 0 }));

#[inline]
fn lock(location: &Location) -> &'static Lock {
    &LOCKS[location.uid() as usize % LOCKS.len()]
}

/// A new visit of the location; `None` if memory is short.
#[inline]
pub fn create(location: &'static Location, kind: u16, activity: i32) -> Option<*mut Visit> {
    let held = lock(location).hold();
    // SAFETY: under the location's lock.
    let visits = unsafe { &mut *location.visits.get() };
    let number = if visits.free == 0 {
        take()?
    } else {
        visits.free_count -= 1;
        visits.free
    };
    let address = SLAB.get(number);
    // SAFETY: a place that nobody else has: it was free, or never used and is all zero; a late reader of its state reads
    // that alone.
    let visit = unsafe { address.as_mut() }?;
    if visits.free == number {
        visits.free = visit.older;
    }
    visits.instances += 1;
    let instance = visits.instances;
    visit.begin(location, instance, kind, activity);
    let newest = location.newest.load(Ordering::Relaxed);
    visit.newer = 0;
    visit.older = newest;
    // SAFETY: the number of another living visit of this location, or 0; its neighbours are under this lock.
    if let Some(neighbour) = unsafe { SLAB.get(newest).as_mut() } {
        neighbour.newer = number;
    }
    // Complete before another thread can find it.
    visit.state.store(LIVING, Ordering::Release);
    location.newest.store(number, Ordering::Release);
    drop(held);
    Some(address)
}

/// A free slot without a location.
fn take() -> Option<u32> {
    let _held = POOL.0.hold();
    // SAFETY: under the lock.
    let places = unsafe { &mut *POOL.1.get() };
    // SAFETY: a free place, whose `older` is the next.
    if let Some(visit) = unsafe { SLAB.get(places.free).as_ref() } {
        let number = places.free;
        places.free = visit.older;
        return Some(number);
    }
    let number = places.made.checked_add(1)?;
    SLAB.extend(number)?;
    places.made = number;
    Some(number)
}

fn give_back(number: u32, visit: &mut Visit) {
    let _held = POOL.0.hold();
    // SAFETY: under the lock.
    let places = unsafe { &mut *POOL.1.get() };
    visit.older = places.free;
    places.free = number;
}

fn delete(address: usize) -> i32 {
    let Some((number, visit)) = living(address) else {
        return result::NOTFOUND;
    };
    // SAFETY: a place of the slab that has been living; locations live forever.
    let location = unsafe { (*visit).location() };
    let held = lock(location).hold();
    // Another thread may have deleted it meanwhile, and a third made it a visit of another location.
    // SAFETY: a place of the slab.
    if !is_living(visit) || !core::ptr::eq(unsafe { (*visit).location() }, location) {
        return result::NOTFOUND;
    }
    // SAFETY: under the location's lock; living visits of it belong to its list.
    let visit = unsafe { &mut *visit };
    visit.state.store(FREE, Ordering::Release);
    // SAFETY: as above.
    match unsafe { SLAB.get(visit.newer).as_mut() } {
        Some(newer) => newer.older = visit.older,
        None => location.newest.store(visit.older, Ordering::Release),
    }
    // SAFETY: as above.
    if let Some(older) = unsafe { SLAB.get(visit.older).as_mut() } {
        older.newer = visit.newer;
    }
    // SAFETY: under the location's lock.
    let visits = unsafe { &mut *location.visits.get() };
    let small = visit.event.metadata.element_count <= Spares::MOST as usize;
    if small && visits.instances > 1 && visits.free_count < KEPT {
        visit.older = visits.free;
        visits.free = number;
        visits.free_count += 1;
        return result::SUCCESS;
    }
    drop(held);
    // A map that grew large, and memory that a location does not keep, is freed outside the lock. SAFETY: no list has
    // the visit any more.
    unsafe { metadata::recycle(&raw mut visit.event.metadata, &raw mut visit.spares) };
    give_back(number, visit);
    result::SUCCESS
}

/// Deletes a visit. INVALIDARG for null, NOTFOUND if it is not a living tracepoint.
#[inline]
pub fn delete_tracepoint(tracepoint: *mut xpti_tracepoint_t) -> i32 {
    if tracepoint.is_null() {
        return result::INVALIDARG;
    }
    delete(tracepoint.addr())
}

/// Deletes the visit of an event; other events are ignored.
#[inline]
pub fn release_event(event: *mut trace_event_data_t) {
    delete(around(event));
}

/// The newest living visit of the location, by its id.
#[inline]
pub fn find(uid: u64) -> Option<*mut Visit> {
    let location = locations::find(uid)?;
    let visit = SLAB.get(location.newest.load(Ordering::Acquire));
    // Another thread may be deleting it right now; its state shows that.
    (!visit.is_null() && is_living(visit)).then_some(visit)
}

/// The event of the newest living visit of this location, or null.
#[inline]
pub fn find_event(uid: u64) -> *const trace_event_data_t {
    // SAFETY: a place of the slab.
    find(uid).map_or(core::ptr::null(), |visit| unsafe {
        &raw const (*visit).event
    })
}

/// As [`find_event`], as an object with a table of functions.
#[inline]
pub fn find_object(uid: u64) -> *const xpti_trace_event_t {
    // SAFETY: a place of the slab.
    find(uid).map_or(core::ptr::null(), |visit| unsafe {
        &raw const (*visit).trace_event
    })
}

impl Visit {
    /// Initialises a slot that was free, or is all zero.
    #[inline]
    fn begin(&mut self, location: &'static Location, instance: u64, kind: u16, activity: i32) {
        self.tracepoint.vtable = &raw const vtables::TRACEPOINT.table;
        self.metadata.vtable = &raw const vtables::METADATA.table;
        self.trace_event.vtable = &raw const vtables::TRACE_EVENT.table;
        self.location
            .store(core::ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
        self.cursor = core::ptr::null_mut();
        let event = &mut self.event;
        event.unique_id = location.uid();
        event.data_id = instance;
        event.instance_id = instance;
        event.event_type = kind;
        event.activity_type = activity as u16;
        event.unused = 0;
        event.source_id = 0;
        event.target_id = 0;
        event.payload = location.payload();
        event.global_user_data = core::ptr::null_mut();
        event.flags =
            event_flag::UID | event_flag::EVENT_TYPE | event_flag::ACTIVITY | event_flag::PAYLOAD;
        let map = &raw mut event.metadata;
        // SAFETY: the place is ours; its map is that of the last visit, or all zero when there was none.
        unsafe {
            if (*map).buckets.is_null() {
                metadata::init(map);
            } else {
                metadata::recycle(map, &raw mut self.spares);
            }
        }
    }
}

/// The event's payload; null if its flags say that it has none.
///
/// # Safety
/// Null or an event.
#[inline]
pub unsafe fn payload(event: *const trace_event_data_t) -> *const payload_t {
    const NEEDED: u64 = event_flag::UID | event_flag::PAYLOAD;
    // SAFETY: the caller's.
    match unsafe { event.as_ref() } {
        Some(event) if event.flags & NEEDED == NEEDED => event.payload,
        _ => core::ptr::null(),
    }
}

/// Creates an event of the payload's location and returns its instance; null for a null or invalid payload or a null
/// instance.
///
/// # Safety
/// Null, or a payload with C strings; null, or a writable output.
pub unsafe fn make_event(
    payload: *const payload_t,
    kind: u16,
    activity: i32,
    instance: *mut u64,
) -> *mut trace_event_data_t {
    if instance.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's.
    let place = unsafe { locations::place_of(payload) };
    let Some(visit) = place
        .and_then(locations::locate)
        .and_then(|location| create(location, kind, activity))
    else {
        return core::ptr::null_mut();
    };
    // SAFETY: the caller's place; a visit that is nobody's but the caller's.
    unsafe {
        *instance = (*visit).event.instance_id;
        &raw mut (*visit).event
    }
}

/// Creates a tracepoint; its event is an active algorithm. Null only if memory is short.
///
/// # Safety
/// Null or C strings.
#[inline]
pub unsafe fn create_tracepoint(
    function: *const core::ffi::c_char,
    file: *const core::ffi::c_char,
    line: u32,
    column: u32,
    code: *const c_void,
) -> *mut xpti_tracepoint_t {
    // SAFETY: the caller's.
    let place = unsafe { locations::place(function, file, line, column, code) };
    let visit = locations::locate(place).and_then(|location| {
        create(
            location,
            event_type::ALGORITHM,
            xpti_sys::activity_type::ACTIVE,
        )
    });
    visit.map_or(core::ptr::null_mut(), |visit| visit.cast())
}

/// Publishes a tracepoint for the calling thread, and its location as universal id. INVALIDARG if it is not a living
/// tracepoint.
#[inline]
pub fn set_scope(tracepoint: *mut xpti_tracepoint_t) -> i32 {
    let Some((_, visit)) = living(tracepoint.addr()) else {
        return result::INVALIDARG;
    };
    // SAFETY: a living visit.
    thread::set_scope(tracepoint, unsafe { (*visit).location().uid() });
    result::SUCCESS
}
