//! Lines on stderr for those who ask by environment; silent otherwise, and never on stdout.

use std::ffi::OsStr;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

const UNREAD: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static MODE: AtomicU8 = AtomicU8::new(UNREAD);

/// The reference's mode variables know 0, 1 and 2; any other value means 0.
fn mode_is_on(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| value == "1" || value == "2")
}

/// Reads `ZE_ENABLE_LOADER_DEBUG_TRACE` and `ZEL_ENABLE_LOADER_LOGGING` (once).
fn is_on() -> bool {
    match MODE.load(Ordering::Relaxed) {
        UNREAD => {
            let on = ["ZE_ENABLE_LOADER_DEBUG_TRACE", "ZEL_ENABLE_LOADER_LOGGING"]
                .iter()
                .any(|name| mode_is_on(std::env::var_os(name).as_deref()));
            MODE.store(if on { ON } else { OFF }, Ordering::Relaxed);
            on
        }
        mode => mode == ON,
    }
}

/// Writes one line, if tracing is on.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    if is_on() {
        write(&format!("ZE_LOADER_DEBUG_TRACE: {text}\n"));
    }
}

/// Writes one line whatever the environment says: a variable of ours asks for what cannot be done.
pub(crate) fn always(text: fmt::Arguments<'_>) {
    write(&format!("solum: {text}\n"));
}

fn write(line: &str) {
    // SAFETY: pointer and length are those of a live string; std's stderr would leave a destructor behind.
    // A short or failed write loses a line and nothing else.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_and_two_switch_on() {
        for (value, on) in [
            ("1", true),
            ("2", true),
            ("0", false),
            ("", false),
            ("yes", false),
            ("3", false),
        ] {
            assert_eq!(mode_is_on(Some(OsStr::new(value))), on, "{value:?}");
        }
        assert!(!mode_is_on(None));
    }
}
