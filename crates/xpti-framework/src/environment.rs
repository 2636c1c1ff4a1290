//! Environment variables, read when the framework starts, and messages for users on stderr.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU8, Ordering};

/// The level of messages on stderr: 0 none, 1 subscribers that do not load (the default), 2 also loaded subscribers and
/// streams.
static LOG: AtomicU8 = AtomicU8::new(1);

/// The variable's value; `None` if it is unset.
fn get(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: a C string.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: the environment's string; read at once by the callers, before the program continues.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}

/// Whether `XPTI_TRACE_ENABLE` allows tracing: unset, empty, `1` or `true`.
pub(crate) fn trace_enable() -> bool {
    get(c"XPTI_TRACE_ENABLE").is_none_or(|value| matches!(value.to_bytes(), b"" | b"1" | b"true"))
}

/// Whether `XPTI_USE_STRICT_HASH` is not empty: payloads then have string numbers instead of hashes.
pub(crate) fn strict_hash() -> bool {
    static STRICT: AtomicU8 = AtomicU8::new(2);
    match STRICT.load(Ordering::Relaxed) {
        2 => {
            let strict = get(c"XPTI_USE_STRICT_HASH").is_some_and(|value| !value.is_empty());
            STRICT.store(u8::from(strict), Ordering::Relaxed);
            strict
        }
        known => known == 1,
    }
}

/// The paths of `XPTI_SUBSCRIBERS`, trimmed; none with elevated privileges.
pub(crate) fn subscribers() -> Vec<Vec<u8>> {
    // SAFETY: a constant of the C library.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Vec::new();
    }
    get(c"XPTI_SUBSCRIBERS").map_or_else(Vec::new, |list| split(list.to_bytes()))
}

fn split(list: &[u8]) -> Vec<Vec<u8>> {
    list.split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Reads `SOLUM_XPTI_LOG`; any value except a number from 0 to 3 means the default, and is reported.
pub(crate) fn read_log_level() {
    match get(c"SOLUM_XPTI_LOG").map(CStr::to_bytes) {
        None | Some([]) => {}
        Some([digit @ b'0'..=b'3']) => LOG.store(digit - b'0', Ordering::Relaxed),
        Some(other) => say(
            1,
            &[b"SOLUM_XPTI_LOG=", other, b": allowed are 0, 1, 2 and 3"],
        ),
    }
}

/// Whether subscribers are tried before they are loaded: `SOLUM_XPTI_TRIAL` unset, empty or `1`; `0` turns it off, and
/// any other value is reported and means the default.
pub(crate) fn wants_trials() -> bool {
    match get(c"SOLUM_XPTI_TRIAL").map(CStr::to_bytes) {
        None | Some(b"" | b"1") => true,
        Some(b"0") => false,
        Some(other) => {
            say(1, &[b"SOLUM_XPTI_TRIAL=", other, b": allowed are 0 and 1"]);
            true
        }
    }
}

/// Writes one line to stderr, if the level includes it; without Rust's locks, because it may be called during the
/// dynamic linker's exit.
pub(crate) fn say(level: u8, parts: &[&[u8]]) {
    if LOG.load(Ordering::Relaxed) < level {
        return;
    }
    let mut line = b"libxptifw: ".to_vec();
    for part in parts {
        line.extend_from_slice(part);
    }
    line.push(b'\n');
    signal_mask::write_stderr(&line);
}

/// The bytes of one of our C strings.
pub(crate) fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return b"";
    }
    // SAFETY: the callers pass C strings.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lists_of_subscribers() {
        for (list, paths) in [
            (&b""[..], &[][..]),
            (b",, ,", &[]),
            (b"a.so", &[&b"a.so"[..]]),
            (b" a.so , b c.so,", &[b"a.so", b"b c.so"]),
            (b"\xFF.so,\xFF.so", &[b"\xFF.so", b"\xFF.so"]),
        ] {
            assert_eq!(split(list), paths);
        }
    }
}
