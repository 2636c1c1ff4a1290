//! Reads C strings and structs behind pointers of the framework.

use core::ffi::{CStr, c_char, c_void};

/// A C string as text: invalid UTF-8 is replaced.
pub(crate) fn text<'a>(pointer: *const c_char) -> Option<std::borrow::Cow<'a, str>> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the callers pass strings that live as long as the structs they stand in.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

/// Reads a struct that user data points to.
pub(crate) fn read<'a, T>(pointer: *const c_void) -> Option<&'a T> {
    if pointer.is_null() || !pointer.cast::<T>().is_aligned() {
        return None;
    }
    // SAFETY: the callers derive the type from stream and trace point type, as the ABI fixes it.
    Some(unsafe { &*pointer.cast::<T>() })
}
