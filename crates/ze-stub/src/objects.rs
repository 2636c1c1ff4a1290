//! Objects, and the tables that they begin with.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::script::script;

/// One slot: the API function, the version that added it, the stub's function.
pub(crate) struct Slot {
    pub(crate) name: &'static str,
    pub(crate) since: u32,
    pub(crate) function: *const (),
}

// SAFETY: the address of a function.
unsafe impl Sync for Slot {}

/// One table of functions.
pub(crate) struct Table {
    pub(crate) slots: &'static [Slot],
}

/// One table of tables: offsets of its members.
pub(crate) struct DriverTable {
    pub(crate) members: &'static [usize],
}

/// The header of a legacy driver's objects: reading through it must fault.
pub(crate) const POISON: usize = 0x10;

/// The addresses of the driver tables at the beginning of each object: set before the first table is filled.
pub(crate) static HEADER: OnceLock<[usize; 4]> = OnceLock::new();

/// A new object with this copy's header: 40 bytes, or, before a guard page, as many as its driver promises.
pub(crate) fn object() -> *mut c_void {
    let header = HEADER.get().copied().unwrap_or([POISON; 4]);
    if script().guard {
        return guarded(&header[..if script().legacy { 1 } else { 3 }]);
    }
    // Four words of header, then bytes that identify objects in a debugger.
    Box::into_raw(Box::new([header[0], header[1], header[2], header[3], 0])).cast()
}

/// An object of these words, after which memory is inaccessible.
fn guarded(words: &[usize]) -> *mut c_void {
    const PAGE: usize = 4096;
    // SAFETY: a fresh anonymous mapping of two pages, of which the second one stays without access.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            2 * PAGE,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if start == libc::MAP_FAILED
            || libc::mprotect(start, PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0
        {
            return std::ptr::null_mut();
        }
        let object = start.cast::<u8>().add(PAGE - size_of_val(words));
        std::ptr::copy_nonoverlapping(words.as_ptr().cast(), object, size_of_val(words));
        object.cast()
    }
}

/// The object of `key`, created when it is first requested.
pub(crate) fn kept(key: &str) -> *mut c_void {
    static KEPT: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let address = kept
        .entry(key.to_owned())
        .or_insert_with(|| object().expose_provenance());
    std::ptr::with_exposed_provenance_mut(*address)
}
