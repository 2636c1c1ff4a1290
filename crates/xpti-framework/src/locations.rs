//! The table of source locations: their ids, and how payloads name them.
//!
//! A location's id is the hash of its key, equal in every run; if two locations have the same hash, the later one gets
//! the next free number.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicU32;

use xpti_sys::{payload_flag, payload_t, xpti_payload_t};

use crate::arena::Arena;
use crate::location::{UNKNOWN_FILE, UNKNOWN_FUNCTION, Visits};
use crate::sync::Lock;
use crate::table::Table;
use crate::{environment, hash, strings, vtables};

pub use crate::location::{Location, SourceLocation};

/// The lock of writers, with the data that only they use.
pub(crate) struct Writers(pub(crate) Lock, UnsafeCell<Arena>);
// SAFETY: the arena is touched under the lock only.
unsafe impl Sync for Writers {}

pub(crate) static LOCK: Writers = Writers(Lock::new(), UnsafeCell::new(Arena::new()));
static TABLE: Table<Location> = Table::new();

/// The location with this id.
#[inline]
pub fn find(uid: u64) -> Option<&'static Location> {
    TABLE.find(uid, |_| true)
}

/// The location of this key, created if there is none; `None` if memory is short.
#[inline]
pub fn locate(mut place: SourceLocation<'_>) -> Option<&'static Location> {
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

/// The key's location, or the id that it would get.
#[inline]
fn search(mut uid: u64, place: &SourceLocation<'_>) -> Result<&'static Location, u64> {
    loop {
        match TABLE.find(uid, |_| true) {
            Some(location) if location.is(place) => return Ok(location),
            Some(_) => uid = uid.checked_add(1).unwrap_or(1),
            None => return Err(uid),
        }
    }
}

#[cold]
fn add(hash: u64, place: &SourceLocation<'_>) -> Option<&'static Location> {
    let strict = environment::strict_hash();
    // Before the lock is taken, because strings have their own.
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

/// The C string, as far as it can be read; empty for null.
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

/// The key that a payload describes; `None` if it is invalid: it must have a name, or a file and a line, or a code
/// address.
///
/// # Safety
/// Null, or a payload whose strings are C strings and live for `'a`.
pub unsafe fn place_of<'a>(payload: *const payload_t) -> Option<SourceLocation<'a>> {
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
    Some(SourceLocation {
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

/// The key of the arguments of `xptiCreateTracepoint`; any are allowed.
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
) -> SourceLocation<'a> {
    // SAFETY: the caller's.
    let (name, file) = unsafe { (bytes(function), bytes(file)) };
    // A line without a file is ignored; the column belongs to the line.
    let flags = if file.is_empty() {
        0
    } else {
        payload_flag::LINE | payload_flag::COLUMN
    };
    SourceLocation {
        name,
        file,
        line,
        column,
        code,
        flags,
    }
}

/// Registers the location of a payload, writes its id to the payload, and returns it; 0 if the payload is invalid.
///
/// # Safety
/// As [`place_of`]; the payload is writable.
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
    use core::sync::atomic::Ordering;

    use super::*;

    fn at(name: &[u8], line: u32, code: usize) -> SourceLocation<'_> {
        let code = core::ptr::without_provenance(code);
        SourceLocation {
            name,
            file: b"f.cpp",
            line,
            column: 1,
            code,
            flags: payload_flag::LINE,
        }
    }

    #[test]
    fn keys_with_equal_hashes_are_distinguished() {
        let hash = u64::MAX - 1;
        let ids = [at(b"first", 1, 0), at(b"second", 1, 0), at(b"third", 1, 0)]
            .map(|place| add(hash, &place).map(Location::uid));
        // The next numbers; 0 is unused.
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
    fn the_first_code_address_is_kept_and_does_not_identify_the_location() {
        let locate = |code| locate(at(b"coded", 3, code));
        let (Some(without), Some(with), Some(again)) = (locate(0), locate(0x10), locate(0x20))
        else {
            panic!("memory is short");
        };
        assert!(core::ptr::eq(without, with) && core::ptr::eq(with, again));
        assert_eq!(with.code().load(Ordering::Relaxed).addr(), 0x10);
    }

    #[test]
    fn required_parts_of_a_payload() {
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
