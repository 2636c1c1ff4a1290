//! Source locations: what makes two equal, their ids, their payloads.
//!
//! A location is function, file, line and column; the code address counts only where function and file are both unknown.
//! Its id is the hash of that, equal in every run; of two locations with one hash the later gets the next free number.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use xpti_sys::{payload_flag, payload_t, xpti_payload_t};

use crate::arena::Arena;
use crate::sync::Lock;
use crate::table::{Keyed, Table};
use crate::{environment, hash, strings, vtables};

const UNKNOWN_FUNCTION: &[u8] = b"<unknown-function>";
const UNKNOWN_FILE: &[u8] = b"<unknown-file>";

/// A location; lives for ever. Its first word makes it the object that clients call a payload.
#[repr(C)]
pub struct Location {
    pub(crate) object: xpti_payload_t,
    /// Only `code_ptr_va` changes, atomically.
    pub(crate) payload: UnsafeCell<payload_t>,
    name_length: usize,
    file_length: usize,
    /// Newest living visit, 0 when none; written under the location's lock.
    pub(crate) newest: AtomicU32,
    /// What the location's lock guards.
    pub(crate) visits: UnsafeCell<Visits>,
}
// SAFETY: fields that change are atomic or under the location's lock.
unsafe impl Sync for Location {}

/// Counters and free visits of a location.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    pub(crate) instances: u64,
    pub(crate) free: u32,
    pub(crate) free_count: u32,
}

impl Keyed for Location {
    #[inline]
    fn hash(&self) -> u64 {
        self.uid()
    }
}

impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Location")
            .field("uid", &self.uid())
            .finish_non_exhaustive()
    }
}

/// Where something happens, as the emitter says it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Function; empty when unknown.
    pub name: &'a [u8],
    /// File; empty when unknown.
    pub file: &'a [u8],
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Address of the code, or null.
    pub code: *const c_void,
    /// Which of them the emitter says are there ([`payload_flag`]).
    pub flags: u64,
}

impl Location {
    /// Its id, never 0.
    #[inline]
    pub fn uid(&self) -> u64 {
        // SAFETY: written before it was published.
        unsafe { (*self.payload.get()).internal }
    }

    /// Its plain payload.
    #[inline]
    pub fn payload(&self) -> *const payload_t {
        self.payload.get()
    }

    /// As the object with a table of functions.
    #[inline]
    pub fn object(&self) -> *const xpti_payload_t {
        core::ptr::from_ref(self).cast()
    }

    fn code(&self) -> &AtomicPtr<c_void> {
        // SAFETY: an aligned pointer that is only touched atomically after publication.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.payload.get()).code_ptr_va).cast()) }
    }

    #[inline]
    fn is(&self, place: &Place<'_>) -> bool {
        // SAFETY: name, file, line and column never change; the lengths are theirs.
        unsafe {
            let payload = self.payload.get();
            (*payload).line_no == place.line
                && (*payload).column_no == place.column
                && core::slice::from_raw_parts((*payload).name.cast::<u8>(), self.name_length)
                    == place.name
                && core::slice::from_raw_parts(
                    (*payload).source_file.cast::<u8>(),
                    self.file_length,
                ) == place.file
                && (!place.nameless()
                    || self.code().load(Ordering::Relaxed) == place.code.cast_mut())
        }
    }

    /// The first address that comes with the location is its address; its flags stay those of the first visit.
    #[inline]
    fn note_code(&self, code: *const c_void) {
        if !code.is_null() && self.code().load(Ordering::Relaxed).is_null() {
            self.code().store(code.cast_mut(), Ordering::Relaxed);
        }
    }
}

impl Place<'_> {
    #[inline]
    fn nameless(&self) -> bool {
        self.name == UNKNOWN_FUNCTION && self.file == UNKNOWN_FILE
    }

    #[inline]
    fn hash(&self) -> u64 {
        let hash = hash::bytes(self.file, hash::bytes(self.name, 1));
        let mut hash = hash::mix(hash, u64::from(self.line) << 32 | u64::from(self.column));
        if self.nameless() {
            hash = hash::mix(hash, self.code.addr() as u64);
        }
        hash.max(1)
    }
}

/// The lock of writers with what only they touch.
pub(crate) struct Writers(pub(crate) Lock, UnsafeCell<Arena>);
// SAFETY: the arena is touched under the lock only.
unsafe impl Sync for Writers {}

pub(crate) static LOCK: Writers = Writers(Lock::new(), UnsafeCell::new(Arena::new()));
static TABLE: Table<Location> = Table::new();

/// The location of this id.
#[inline]
pub fn find(uid: u64) -> Option<&'static Location> {
    TABLE.find(uid, |_| true)
}

/// The location of this place, a new one when there is none; `None` when memory is out.
#[inline]
pub fn locate(mut place: Place<'_>) -> Option<&'static Location> {
    if place.name.is_empty() {
        place.name = UNKNOWN_FUNCTION;
    }
    if place.file.is_empty() {
        place.file = UNKNOWN_FILE;
    }
    let hash = place.hash();
    let location = match search(hash, &place) {
        Ok(location) => location,
        Err(_) => add(hash, &place)?,
    };
    location.note_code(place.code);
    Some(location)
}

/// The place's location, or the id that it would get.
#[inline]
fn search(mut uid: u64, place: &Place<'_>) -> Result<&'static Location, u64> {
    loop {
        match TABLE.find(uid, |_| true) {
            Some(location) if location.is(place) => return Ok(location),
            Some(_) => uid = uid.checked_add(1).unwrap_or(1),
            None => return Err(uid),
        }
    }
}

#[cold]
fn add(hash: u64, place: &Place<'_>) -> Option<&'static Location> {
    let strict = environment::strict_hash();
    // Before the lock: strings have their own.
    let (file_id, name_id) = if strict {
        (
            strings::intern(place.file)?.id(),
            strings::intern(place.name)?.id(),
        )
    } else {
        (hash::fnv1a32(place.file), hash::fnv1a32(place.name))
    };
    let _held = LOCK.0.hold();
    let uid = match search(hash, place) {
        Ok(location) => return Some(location),
        Err(uid) => uid,
    };
    // SAFETY: under the lock.
    let arena = unsafe { &mut *LOCK.1.get() };
    let name: *const c_char = arena.text(place.name)?;
    let source_file: *const c_char = arena.text(place.file)?;
    let said = place.flags & (payload_flag::LINE | payload_flag::COLUMN);
    let code = if place.code.is_null() {
        0
    } else {
        payload_flag::CODE_POINTER
    };
    let payload = payload_t {
        name,
        stack_trace: core::ptr::null(),
        source_file,
        line_no: place.line,
        column_no: place.column,
        code_ptr_va: place.code,
        internal: uid,
        flags: said
            | code
            | payload_flag::NAME
            | payload_flag::SOURCE_FILE
            | payload_flag::REGISTERED
            | payload_flag::HASH,
        p1: u64::from(file_id) << 32 | u64::from(place.line),
        p2: u64::from(name_id),
        p3: 0,
    };
    let location = arena.allocate(size_of::<Location>())?.cast::<Location>();
    // SAFETY: fresh memory of that size, aligned to 8.
    let location: &'static Location = unsafe {
        location.write(Location {
            object: xpti_payload_t {
                vtable: &raw const vtables::PAYLOAD.table,
            },
            payload: UnsafeCell::new(payload),
            name_length: place.name.len(),
            file_length: place.file.len(),
            newest: AtomicU32::new(0),
            visits: UnsafeCell::new(Visits::default()),
        });
        &*location
    };
    TABLE.insert(location);
    Some(location)
}

/// The C string, as far as it may be read; empty for null.
///
/// # Safety
/// Null or a C string that lives for `'a`.
#[inline]
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { core::slice::from_raw_parts(text.cast(), libc::strlen(text)) }
}

/// The place that a payload names; `None` when it is not valid: it must say a name, or a file and a line, or a code address.
///
/// # Safety
/// Null, or a payload whose strings are C strings and live for `'a`.
pub unsafe fn place_of<'a>(payload: *const payload_t) -> Option<Place<'a>> {
    // SAFETY: the caller's.
    let payload = unsafe { payload.as_ref() }?;
    let says = |flag| payload.flags & flag != 0;
    let named = says(payload_flag::NAME) && !payload.name.is_null();
    let filed = says(payload_flag::SOURCE_FILE) && !payload.source_file.is_null();
    let coded = says(payload_flag::CODE_POINTER) && !payload.code_ptr_va.is_null();
    if !(named || coded || filed && says(payload_flag::LINE) && payload.line_no != u32::MAX) {
        return None;
    }
    let name = if named {
        payload.name
    } else {
        core::ptr::null()
    };
    let file = if filed {
        payload.source_file
    } else {
        core::ptr::null()
    };
    Some(Place {
        // SAFETY: the caller's.
        name: unsafe { bytes(name) },
        // SAFETY: the caller's.
        file: unsafe { bytes(file) },
        line: payload.line_no,
        column: payload.column_no,
        code: if coded {
            payload.code_ptr_va
        } else {
            core::ptr::null()
        },
        flags: payload.flags,
    })
}

/// The place that the arguments of `xptiCreateTracepoint` name; any are allowed.
///
/// # Safety
/// Null or C strings that live for `'a`.
#[inline]
pub unsafe fn place<'a>(
    function: *const c_char,
    file: *const c_char,
    line: u32,
    column: u32,
    code: *const c_void,
) -> Place<'a> {
    // SAFETY: the caller's.
    let (name, file) = unsafe { (bytes(function), bytes(file)) };
    // A line without a file says nothing; the column comes with the line.
    let flags = if file.is_empty() {
        0
    } else {
        payload_flag::LINE | payload_flag::COLUMN
    };
    Place {
        name,
        file,
        line,
        column,
        code,
        flags,
    }
}

/// Registers the location of a payload, writes its id into it, and returns it; 0 when the payload is not valid.
///
/// # Safety
/// As [`place_of`]; the payload may be written to.
pub unsafe fn register(payload: *mut payload_t) -> u64 {
    // SAFETY: the caller's.
    let Some(location) = (unsafe { place_of(payload) }).and_then(locate) else {
        return xpti_sys::INVALID_UID;
    };
    let uid = location.uid();
    // SAFETY: the caller's; not null, since it was valid.
    unsafe {
        (*payload).internal = uid;
        (*payload).flags |= payload_flag::REGISTERED;
    }
    uid
}

pub(crate) fn reset() {
    let _held = LOCK.0.hold();
    TABLE.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &[u8], line: u32, code: usize) -> Place<'_> {
        let code = core::ptr::without_provenance(code);
        Place {
            name,
            file: b"f.cpp",
            line,
            column: 1,
            code,
            flags: payload_flag::LINE,
        }
    }

    #[test]
    fn places_with_one_hash_are_told_apart() {
        let hash = u64::MAX - 1;
        let ids = [at(b"first", 1, 0), at(b"second", 1, 0), at(b"third", 1, 0)]
            .map(|place| add(hash, &place).map(Location::uid));
        // The next numbers; 0 is nobody's.
        assert_eq!(ids, [Some(hash), Some(u64::MAX), Some(1)]);
        assert_eq!(
            search(hash, &at(b"second", 1, 0)).map(Location::uid),
            Ok(u64::MAX)
        );
        assert_eq!(
            search(hash, &at(b"fourth", 1, 0)).map(Location::uid),
            Err(2)
        );
        assert_eq!(add(hash, &at(b"third", 1, 0)).map(Location::uid), Some(1));
    }

    #[test]
    fn the_first_code_address_stays_and_makes_no_other_location() {
        let locate = |code| locate(at(b"coded", 3, code));
        let (Some(without), Some(with), Some(again)) = (locate(0), locate(0x10), locate(0x20))
        else {
            panic!("memory is out");
        };
        assert!(core::ptr::eq(without, with) && core::ptr::eq(with, again));
        assert_eq!(with.code().load(Ordering::Relaxed).addr(), 0x10);
    }

    #[test]
    fn what_a_payload_must_say() {
        let whole = payload_t {
            name: c"n".as_ptr(),
            stack_trace: c"a->b".as_ptr(),
            source_file: c"f".as_ptr(),
            line_no: 1,
            column_no: 1,
            code_ptr_va: core::ptr::without_provenance(8),
            internal: 0,
            flags: 0,
            p1: 0,
            p2: 0,
            p3: 0,
        };
        for (flags, valid) in [
            (0, false),
            (payload_flag::NAME, true),
            (payload_flag::CODE_POINTER, true),
            (payload_flag::SOURCE_FILE, false),
            (payload_flag::LINE, false),
            (payload_flag::SOURCE_FILE | payload_flag::LINE, true),
            (payload_flag::STACK_TRACE | payload_flag::COLUMN, false),
        ] {
            // SAFETY: C strings.
            let place = unsafe { place_of(&payload_t { flags, ..whole }) };
            assert_eq!(place.is_some(), valid, "{flags:#x}");
        }
        let lineless = payload_t {
            flags: payload_flag::SOURCE_FILE | payload_flag::LINE,
            line_no: u32::MAX,
            ..whole
        };
        for payload in [&raw const lineless, core::ptr::null()] {
            // SAFETY: C strings, or null.
            assert!(unsafe { place_of(payload) }.is_none());
        }
    }
}
