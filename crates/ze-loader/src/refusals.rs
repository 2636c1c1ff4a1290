//! Calls that reach no driver: each function sets the thread's error text and returns the result code.

use std::ffi::c_void;

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_INVALID_SIZE,
    ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ze_result_t,
};

use crate::{phase, text};

/// The result of a call before init or after teardown.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn not_ready(name: &'static &'static str) -> ze_result_t {
    if phase::is_torn_down() {
        text::set_consequence(format_args!("{name}: called after the loader's teardown"));
    } else {
        text::set_consequence(format_args!(
            "{name}: called before zeInit or zeInitDrivers has succeeded"
        ));
    }
    ZE_RESULT_ERROR_UNINITIALIZED
}

/// Addresses below this are never objects: the kernel maps nothing there.
const LOWEST: usize = 0x1_0000;
/// Bits of a program's addresses; on AArch64 without the highest byte, which is a tag.
const ADDRESS_BITS: u32 = if cfg!(target_arch = "x86_64") { 47 } else { 56 };

/// Whether no object can be at an address: null, below the lowest usable address, not a multiple of eight, or outside
/// the program's half. Compared with a check for null alone it adds no measurable time to a call.
#[inline(always)]
#[must_use]
pub fn is_no_object(address: usize) -> bool {
    let address = if cfg!(target_arch = "aarch64") {
        address & ((1 << ADDRESS_BITS) - 1)
    } else {
        address
    };
    // The rotation moves the low bits, which must be 0, to the high ones, which must be 0 as well.
    address.wrapping_sub(LOWEST).rotate_right(3) >> (ADDRESS_BITS - 3) != 0
}

/// The result of a call whose handle cannot be the address of an object. The handle is the first parameter, as in the
/// call, so that it stays in its register.
#[cold]
#[inline(never)]
pub extern "C" fn no_object(
    handle: *mut c_void,
    name: &'static &'static str,
    argument: &'static &'static str,
) -> ze_result_t {
    if handle.is_null() {
        return null_handle(name, argument);
    }
    text::set(format_args!(
        "{name}: {argument} ({handle:p}) is not the address of an object; pass a live handle"
    ));
    ZE_RESULT_ERROR_INVALID_ARGUMENT
}

/// The result of a call whose handle is null.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn null_handle(
    name: &'static &'static str,
    argument: &'static &'static str,
) -> ze_result_t {
    text::set(format_args!(
        "{name}: {argument} is null; pass a live handle"
    ));
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE
}

/// The result of a call whose slot is empty in the driver's table.
#[cold]
#[inline(never)]
pub extern "C" fn null_slot(name: &'static &'static str) -> ze_result_t {
    text::set(format_args!(
        "{name}: the handle's driver does not implement this function"
    ));
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

/// The result of a call that is newer than the driver's table.
#[cold]
#[inline(never)]
pub extern "C" fn too_old(name: &'static &'static str, found: u32, needed: u32) -> ze_result_t {
    text::set(format_args!(
        "{name}: needs Level Zero {}.{}, but the handle's driver supports {}.{}",
        needed >> 16,
        needed & 0xffff,
        found >> 16,
        found & 0xffff
    ));
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION
}

/// The first handle of an array, which decides the driver.
///
/// # Errors
/// Null array with a count → INVALID_NULL_POINTER; count 0 → INVALID_SIZE, because there is no driver to call.
///
/// # Safety
/// `handles` is null or points to `count` readable handles.
pub(crate) unsafe fn first_of<T>(
    name: &'static str,
    argument: &'static str,
    count: u32,
    handles: *mut *mut T,
) -> Result<*mut T, ze_result_t> {
    if count == 0 {
        text::set(format_args!(
            "{name}: the count of {argument} is 0; pass at least 1 handle"
        ));
        return Err(ZE_RESULT_ERROR_INVALID_SIZE);
    }
    if handles.is_null() {
        text::set(format_args!(
            "{name}: {argument} is null, but the count is {count}"
        ));
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    // SAFETY: non-null and `count` ≥ 1 elements, by the caller's contract.
    Ok(unsafe { *handles })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_objects_are_rejected() {
        let object = Box::new(0_u64);
        let local = 0_u64;
        for address in [
            (&raw const *object).addr(),
            (&raw const local).addr(),
            (&raw const crate::bottom::BOTTOM).addr(),
            LOWEST,
            (1 << 47) - 8,
        ] {
            assert!(!is_no_object(address), "{address:#x}");
        }
        for address in [0, 1, 8, LOWEST - 8, LOWEST + 1, (1 << 46) + 4] {
            assert!(is_no_object(address), "{address:#x}");
        }
        #[cfg(target_arch = "x86_64")]
        for address in [1 << 48, 1 << 63, usize::MAX - 7] {
            assert!(is_no_object(address), "{address:#x}");
        }
    }
}
