//! Checks that many entry points share, and the errors they give.

use level_zero_sys::*;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use ze_abi::{Chain, ZeError, ZeResult};

/// An error whose text names argument, value found and value allowed.
pub(crate) fn error<T>(code: ze_result_t, text: impl Into<String>) -> ZeResult<T> {
    Err(ZeError::new(code, text))
}

/// NOT_READY, which is not an error and leaves the last error unchanged.
pub(crate) fn not_ready<T>() -> ZeResult<T> {
    Err(ZeError::status(ZE_RESULT_NOT_READY))
}

/// INVALID_ENUMERATION unless all bits of `value` are in `mask`.
pub(crate) fn flags(name: &str, value: u32, mask: u32) -> ZeResult {
    if value & !mask != 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!("{name} is {value:#x}, bits of {mask:#x} are allowed"),
        );
    }
    Ok(())
}

/// INVALID_ENUMERATION unless `value` is at most `max`.
pub(crate) fn enumeration(name: &str, value: u32, max: u32) -> ZeResult {
    if value > max {
        return error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!("{name} is {value:#x}, at most {max:#x} is allowed"),
        );
    }
    Ok(())
}

/// INVALID_NULL_POINTER for a null field or array.
pub(crate) fn not_null<T>(name: &str, pointer: *const T) -> ZeResult {
    if pointer.is_null() {
        return error(
            ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            format!("{name} is null, a pointer is required"),
        );
    }
    Ok(())
}

/// The text of a C string; invalid UTF-8 becomes replacement characters.
///
/// # Safety
/// `text` is null or a C string, valid for the call.
pub(crate) unsafe fn text(name: &str, text: *const c_char) -> ZeResult<String> {
    not_null(name, text)?;
    // SAFETY: not null, so a C string by this function's contract.
    Ok(unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned())
}

/// UNSUPPORTED_FEATURE for any struct in a parameter chain: the entry points of 1.14 and later do not ignore unknown ones.
pub(crate) fn refuse_parameters(next: *const c_void) -> ZeResult {
    // SAFETY: the caller's chain, valid for the call.
    match unsafe { Chain::new(next) }.next() {
        None => Ok(()),
        Some(link) => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            format!(
                "pNext holds {:?}, which this function does not support here",
                link.stype
            ),
        ),
    }
}

/// Locks, also after a panic of another thread: every update under these locks is complete in itself.
#[cfg_attr(test, track_caller)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    crate::lock_audit::note(mutex);
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Copies a name into a fixed array with a final zero.
pub(crate) fn fill_name<const N: usize>(to: &mut [c_char; N], name: &str) {
    to.fill(0);
    let name = &name[..name.floor_char_boundary(name.len().min(N - 1))];
    for (slot, byte) in to.iter_mut().zip(name.bytes()) {
        *slot = byte as c_char;
    }
}
