//! A source location and its key: function, file, line and column.
//!
//! The code address counts only where function and file are both unknown.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use xpti_sys::{payload_t, xpti_payload_t};

use crate::hash;
use crate::table::Keyed;

pub(crate) const UNKNOWN_FUNCTION: &[u8] = b"<unknown-function>";
pub(crate) const UNKNOWN_FILE: &[u8] = b"<unknown-file>";

/// A location; lives forever. Its first word makes it the object that clients call a payload.
#[repr(C)]
pub struct Location {
    pub(crate) object: xpti_payload_t,
    /// Only `code_ptr_va` changes, atomically.
    pub(crate) payload: UnsafeCell<payload_t>,
    pub(crate) name_length: usize,
    pub(crate) file_length: usize,
    /// The newest living visit, or 0; written under the location's lock.
    pub(crate) newest: AtomicU32,
    /// The data under the location's lock.
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

/// A source location, as the emitter passes it.
#[derive(Clone, Copy, Debug)]
pub struct SourceLocation<'a> {
    /// Function; empty if unknown.
    pub name: &'a [u8],
    /// File; empty if unknown.
    pub file: &'a [u8],
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Address of the code, or null.
    pub code: *const c_void,
    /// The parts that the emitter has set ([`xpti_sys::payload_flag`]).
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

    /// As an object with a table of functions.
    #[inline]
    pub fn object(&self) -> *const xpti_payload_t {
        core::ptr::from_ref(self).cast()
    }

    pub(crate) fn code(&self) -> &AtomicPtr<c_void> {
        // SAFETY: an aligned pointer that is only used atomically after publication.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.payload.get()).code_ptr_va).cast()) }
    }

    #[inline]
    pub(crate) fn is(&self, place: &SourceLocation<'_>) -> bool {
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

    /// The first address that is passed for the location is kept; its flags stay those of the first visit.
    #[inline]
    pub(crate) fn note_code(&self, code: *const c_void) {
        if !code.is_null() && self.code().load(Ordering::Relaxed).is_null() {
            self.code().store(code.cast_mut(), Ordering::Relaxed);
        }
    }
}

impl SourceLocation<'_> {
    #[inline]
    pub(crate) fn nameless(&self) -> bool {
        self.name == UNKNOWN_FUNCTION && self.file == UNKNOWN_FILE
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        let hash = hash::bytes(self.file, hash::bytes(self.name, 1));
        let mut hash = hash::mix(hash, u64::from(self.line) << 32 | u64::from(self.column));
        if self.nameless() {
            hash = hash::mix(hash, self.code.addr() as u64);
        }
        hash.max(1)
    }
}
