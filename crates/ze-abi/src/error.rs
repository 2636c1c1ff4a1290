//! Errors on their way to C, and the buffer of `zeDriverGetLastErrorDescription`.

use level_zero_sys::ze_result_t;
use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::sync::OnceLock;

/// Bytes of the last-error buffer, the final zero included.
const LAST_ERROR_SIZE: usize = 1024;

/// The result of an entry point's body.
pub type ZeResult<T = ()> = Result<T, ZeError>;

/// An error on its way to C: the code C sees and the text that describes it.
#[derive(Debug)]
pub struct ZeError {
    code: ze_result_t,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// A code that is not an error (`NOT_READY`): the last error stays unchanged.
    None,
    Owned(String),
}

impl ZeError {
    /// `text` names the parameter, the value found and the value allowed.
    pub fn new(code: ze_result_t, text: impl Into<String>) -> Self {
        Self {
            code,
            text: Text::Owned(text.into()),
        }
    }

    /// A code without a text; the last error of the thread is kept.
    #[must_use]
    pub fn status(code: ze_result_t) -> Self {
        Self {
            code,
            text: Text::None,
        }
    }

    /// The code C sees.
    #[must_use]
    pub fn code(&self) -> ze_result_t {
        self.code
    }

    /// The description, without the function's name.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.text {
            Text::None => "",
            Text::Owned(text) => text,
        }
    }

    /// Stores the text for this thread and returns the code.
    pub(crate) fn publish(self, symbol: &str) -> ze_result_t {
        if let Text::Owned(text) = &self.text {
            record_error(symbol, text);
            if let Some(observer) = OBSERVER.get() {
                observer(symbol, text);
            }
        }
        self.code
    }
}

static OBSERVER: OnceLock<fn(&str, &str)> = OnceLock::new();

/// Calls `observer` with the function's name and the text of each failed call from now on. The first observer stays.
pub fn observe_errors(observer: fn(&str, &str)) {
    // A later one is the same: the driver has one.
    let _ = OBSERVER.set(observer);
}

struct Buffer(UnsafeCell<[u8; LAST_ERROR_SIZE]>);

thread_local! {
    // Constant and without `Drop`: usable from other thread-local destructors and from exit handlers.
    static LAST: Buffer = const { Buffer(UnsafeCell::new([0; LAST_ERROR_SIZE])) };
}

/// Sets `symbol: text` as this thread's last error; long texts are cut at a character boundary.
pub fn record_error(symbol: &str, text: &str) {
    let _ = LAST.try_with(|last| {
        // SAFETY: only this thread has the buffer, and no reference into it outlives this function.
        let buffer = unsafe { &mut *last.0.get() };
        let mut at = 0;
        for part in [symbol, ": ", text] {
            let room = LAST_ERROR_SIZE - 1 - at;
            let part = &part[..part.floor_char_boundary(room.min(part.len()))];
            buffer[at..at + part.len()].copy_from_slice(part.as_bytes());
            at += part.len();
        }
        buffer[at] = 0;
    });
}

/// This thread's last error, ended by a zero; never null, empty before the first error. The text changes
/// with the thread's next error.
#[must_use]
pub fn last_error() -> *const c_char {
    LAST.try_with(|last| last.0.get().cast_const().cast::<c_char>())
        .unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn text() -> String {
        // SAFETY: the pointer is this thread's zero-ended buffer.
        unsafe { CStr::from_ptr(last_error()) }
            .to_string_lossy()
            .into_owned()
    }

    #[test]
    fn last_error_is_cut_at_a_character() {
        let long = "ä".repeat(800);
        let cases = [
            ("", String::new()),
            ("size is 0", "f: size is 0".to_owned()),
            (long.as_str(), format!("f: {}", "ä".repeat(510))),
        ];
        for (given, want) in cases {
            if !given.is_empty() {
                record_error("f", given);
            }
            assert_eq!(text(), want);
        }
    }

    #[test]
    fn last_error_belongs_to_the_thread() {
        record_error("f", "mine");
        std::thread::spawn(|| assert_eq!(text(), ""))
            .join()
            .expect("the thread's assertion holds");
        assert_eq!(text(), "f: mine");
    }
}
