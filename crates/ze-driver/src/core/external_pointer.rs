//! Import of the program's own memory: `zexDriverImportExternalPointer` and its two companions, as in other vendors'
//! drivers. DPC++'s runtime looks for them (`crate::leniency`).
//!
//! ```c
//! ze_result_t zexDriverImportExternalPointer(ze_driver_handle_t driver, void *ptr, size_t size);
//! ze_result_t zexDriverReleaseImportedPointer(ze_driver_handle_t driver, void *ptr);
//! ze_result_t zexDriverGetHostPointerBaseAddress(ze_driver_handle_t driver, void *ptr, void **base);
//! ```
//!
//! A CPU reads any memory of the process, so an import makes nothing faster. The ranges are remembered; other functions
//! treat the memory as before.
//!
//! Invariant: remembered ranges do not overlap.

use crate::check::{error, lock, not_null};
use crate::core::driver::Driver;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;
use ze_abi::{Handle, ZeResult};
use ze_abi_macros::ze_entry;

type ImportFn = Option<unsafe extern "C" fn(ze_driver_handle_t, *mut c_void, usize) -> ze_result_t>;
type ReleaseFn = Option<unsafe extern "C" fn(ze_driver_handle_t, *mut c_void) -> ze_result_t>;
type BaseFn =
    Option<unsafe extern "C" fn(ze_driver_handle_t, *mut c_void, *mut *mut c_void) -> ze_result_t>;

/// Imported ranges: sizes by first address.
#[derive(Debug, Default)]
struct Imported(Mutex<BTreeMap<usize, usize>>);

/// The ranges of this process.
static IMPORTED: Imported = Imported(Mutex::new(BTreeMap::new()));

impl Imported {
    /// Adds a range; `false` if it overlaps another. A known range, or one with the same beginning, may be added again.
    fn add(&self, at: usize, size: usize) -> bool {
        let mut ranges = lock(&self.0);
        let end = at.saturating_add(size);
        let before = ranges.range(..end).next_back();
        match before.map(|(base, size)| (*base, *size)) {
            Some((base, had)) if base == at && size <= had => true,
            Some((base, had)) if base + had > at => false,
            _ => {
                ranges.insert(at, size);
                true
            }
        }
    }

    fn remove(&self, at: usize) -> bool {
        lock(&self.0).remove(&at).is_some()
    }

    fn base(&self, at: usize) -> Option<usize> {
        let ranges = lock(&self.0);
        let (base, size) = ranges.range(..=at).next_back()?;
        (at < base + size).then_some(*base)
    }
}

/// Imports `size` bytes at `ptr`.
#[ze_entry(ImportFn)]
fn zexDriverImportExternalPointer(
    hDriver: Handle<'_, Driver>,
    ptr: *mut c_void,
    size: usize,
) -> ZeResult {
    not_null("ptr", ptr)?;
    if size == 0 || ptr.addr().checked_add(size).is_none() {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!("size is {size} from {ptr:p} on, a range of the address space is required"),
        );
    }
    let known = hDriver.platform().find(ptr.cast::<u8>().cast_const());
    if known.is_none() && IMPORTED.add(ptr.addr(), size) {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
        format!("ptr is {ptr:p} with {size} bytes, where memory is imported or allocated already"),
    )
}

/// Removes a range.
#[ze_entry(ReleaseFn)]
fn zexDriverReleaseImportedPointer(_hDriver: Handle<'_, Driver>, ptr: *mut c_void) -> ZeResult {
    not_null("ptr", ptr)?;
    if IMPORTED.remove(ptr.addr()) {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("ptr is {ptr:p}, the beginning of imported memory is required"),
    )
}

/// The beginning of the imported range around `ptr`; `base` may be null, to ask whether there is one.
#[ze_entry(BaseFn)]
fn zexDriverGetHostPointerBaseAddress(
    _hDriver: Handle<'_, Driver>,
    ptr: *mut c_void,
    base: *mut *mut c_void,
) -> ZeResult {
    not_null("ptr", ptr)?;
    let Some(found) = IMPORTED.base(ptr.addr()) else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("ptr is {ptr:p}, an address in imported memory is required"),
        );
    };
    if !base.is_null() {
        // SAFETY: not null, and the caller's; the address is part of an imported range.
        unsafe { base.write(ptr.with_addr(found)) };
    }
    Ok(())
}

/// Address of [`zexDriverImportExternalPointer`].
pub(crate) fn import() -> *const c_void {
    zexDriverImportExternalPointer as *const c_void
}

/// Address of [`zexDriverReleaseImportedPointer`].
pub(crate) fn release() -> *const c_void {
    zexDriverReleaseImportedPointer as *const c_void
}

/// Address of [`zexDriverGetHostPointerBaseAddress`].
pub(crate) fn base() -> *const c_void {
    zexDriverGetHostPointerBaseAddress as *const c_void
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap_and_are_found_from_inside() {
        let ranges = Imported::default();
        // (first address, bytes, whether it is taken)
        for (at, size, taken) in [
            (1000, 100, true),
            (1000, 100, true),
            (1000, 50, true),
            (1000, 101, false),
            (1050, 10, false),
            (950, 51, false),
            (900, 300, false),
            (900, 100, true),
            (1100, 1, true),
        ] {
            assert_eq!(ranges.add(at, size), taken, "{at} with {size}");
        }
        for (at, base) in [
            (899, None),
            (900, Some(900)),
            (999, Some(900)),
            (1000, Some(1000)),
            (1099, Some(1000)),
            (1100, Some(1100)),
            (1101, None),
        ] {
            assert_eq!(ranges.base(at), base, "{at}");
        }
        assert!(!ranges.remove(1001) && ranges.remove(1000) && !ranges.remove(1000));
        assert_eq!(ranges.base(1000), None);
    }
}
