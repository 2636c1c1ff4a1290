//! The loader's own last-error text of the calling thread.
//!
//! A fixed buffer without a destructor, so that a thread that ends never runs code of an unmapped loader.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_char};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicPtr, Ordering};

use level_zero_sys::{ZE_RESULT_SUCCESS, zer_global_dditable_t};

use crate::phase;

/// The longest text in bytes, including the NUL; longer ones are cut.
const CAPACITY: usize = 4096;

struct Buffer {
    bytes: UnsafeCell<[u8; CAPACITY]>,
    length: Cell<usize>,
    /// The default driver's text when ours was written: if it has changed since, the driver's is newer.
    driver_mark: Cell<u64>,
    /// Set by a failed init: later errors that follow from it (calls without init) do not replace the cause.
    cause: Cell<bool>,
}

thread_local! {
    static BUFFER: Buffer = const {
        Buffer {
            bytes: UnsafeCell::new([0; CAPACITY]),
            length: Cell::new(0),
            driver_mark: Cell::new(0),
            cause: Cell::new(false),
        }
    };
}

/// The `zer` functions of the default driver, or null.
static DEFAULT_DRIVER: AtomicPtr<zer_global_dditable_t> = AtomicPtr::new(std::ptr::null_mut());

/// Sets the default driver: the first one in order.
pub(crate) fn set_default_driver(functions: Option<&'static zer_global_dditable_t>) {
    let functions = functions.map_or(std::ptr::null_mut(), |functions| {
        std::ptr::from_ref(functions).cast_mut()
    });
    DEFAULT_DRIVER.store(functions, Ordering::Release);
}

/// The default driver's last-error text of this thread.
pub(crate) fn driver_text() -> Option<*const c_char> {
    if !phase::is_ready() {
        return None;
    }
    // SAFETY: null or a static table of a driver.
    let functions = unsafe { DEFAULT_DRIVER.load(Ordering::Acquire).as_ref()? };
    let get = functions.pfnGetLastErrorDescription?;
    let mut text = std::ptr::null();
    // SAFETY: the driver writes a pointer to one of its C strings.
    let result = unsafe { get(&raw mut text) };
    (result == ZE_RESULT_SUCCESS && !text.is_null()).then_some(text)
}

/// Identifies the default driver's current text, so that a newer one can be detected.
pub(crate) fn driver_mark() -> u64 {
    let Some(text) = driver_text() else { return 0 };
    // SAFETY: non-null C string of the driver, valid until its next call on this thread.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    // FNV-1a: only equality matters.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

struct Cursor<'a> {
    bytes: &'a mut [u8; CAPACITY],
    length: usize,
}

impl Write for Cursor<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = CAPACITY - 1 - self.length;
        let mut taken = text.len().min(free);
        while !text.is_char_boundary(taken) {
            taken -= 1;
        }
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        Ok(())
    }
}

fn write(text: fmt::Arguments<'_>, cause: bool) {
    let driver_mark = driver_mark();
    BUFFER.with(|buffer| {
        // SAFETY: the buffer is this thread's own and `write_fmt` below formats values of this crate only, which never
        // come back into this module, so no second reference exists.
        let bytes = unsafe { &mut *buffer.bytes.get() };
        let mut cursor = Cursor { bytes, length: 0 };
        // `write_str` above never fails.
        let _ = cursor.write_fmt(text);
        let length = cursor.length;
        cursor.bytes[length] = 0;
        buffer.length.set(length);
        buffer.driver_mark.set(driver_mark);
        buffer.cause.set(cause);
    });
}

/// Sets this thread's text after a failed call.
pub(crate) fn set(text: fmt::Arguments<'_>) {
    write(text, false);
}

/// Sets this thread's text to the reasons why no driver is usable.
pub(crate) fn set_cause(text: fmt::Arguments<'_>) {
    write(text, true);
}

/// Sets a text, unless the current one is the cause of a failed init.
pub(crate) fn set_consequence(text: fmt::Arguments<'_>) {
    if !BUFFER.with(|buffer| buffer.cause.get()) {
        write(text, false);
    }
}

/// Clears this thread's text (after a successful init).
pub(crate) fn clear() {
    BUFFER.with(|buffer| {
        buffer.length.set(0);
        buffer.cause.set(false);
    });
}

/// This thread's text as a C string that lives as long as the thread, and the driver mark at the time of writing;
/// `None` without a text.
pub(crate) fn current() -> Option<(*const c_char, u64)> {
    BUFFER.with(|buffer| {
        (buffer.length.get() > 0).then(|| {
            (
                buffer.bytes.get().cast_const().cast(),
                buffer.driver_mark.get(),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read() -> String {
        current().map_or(String::new(), |(text, _)| {
            // SAFETY: `current` returns a C string of this thread that is not written while it is read here.
            unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
        })
    }

    #[test]
    fn a_consequence_does_not_hide_the_cause() {
        set_cause(format_args!("no driver"));
        set_consequence(format_args!("called before zeInit"));
        assert_eq!(read(), "no driver");
        clear();
        set_consequence(format_args!("called before zeInit"));
        assert_eq!(read(), "called before zeInit");
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        set(format_args!("{}é", "x".repeat(CAPACITY - 2)));
        assert_eq!(read().len(), CAPACITY - 2);
        clear();
        assert!(current().is_none());
    }
}
