//! The cache's directory, by its descriptor: renaming or replacing the path meanwhile changes nothing.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open directory.
#[derive(Debug)]
pub(super) struct Folder(pub(super) File);

impl Folder {
    pub(super) fn open_at(
        &self,
        name: &CStr,
        flags: i32,
        mode: libc::c_uint,
    ) -> std::io::Result<File> {
        // SAFETY: a C string and an open directory; the new descriptor is owned here alone.
        unsafe {
            let fd = libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode);
            if fd < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(File::from_raw_fd(fd))
        }
    }

    pub(super) fn rename(&self, from: &CStr, to: &CStr) -> std::io::Result<()> {
        let at = self.0.as_raw_fd();
        // SAFETY: C strings and an open directory.
        match unsafe { libc::renameat(at, from.as_ptr(), at, to.as_ptr()) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    pub(super) fn unlink(&self, name: &CStr) {
        // SAFETY: a C string and an open directory.
        unsafe {
            libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0);
        }
    }

    pub(super) fn unlink_os(&self, name: &OsStr) {
        if let Ok(name) = CString::new(name.as_bytes()) {
            self.unlink(&name);
        }
    }
}

/// A name for an incomplete file; no other process or thread uses it.
pub(super) fn temporary() -> std::io::Result<CString> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!(
        "tmp-{}-{number}-{:x}",
        std::process::id(),
        crate::clock::now_ns()
    );
    Ok(CString::new(name)?)
}

/// Whether [`temporary`] may have created this name. The directory may contain files of other programs.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"tmp-") else {
        return false;
    };
    let mut parts = rest.split(|byte| *byte == b'-');
    let mut next = |is_digit: fn(&u8) -> bool| {
        parts
            .next()
            .is_some_and(|part| !part.is_empty() && part.iter().all(is_digit))
    };
    next(u8::is_ascii_digit)
        && next(u8::is_ascii_digit)
        && next(is_hexadecimal)
        && parts.next().is_none()
}

/// A digit as Rust's `{:x}` writes it.
pub(super) fn is_hexadecimal(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
