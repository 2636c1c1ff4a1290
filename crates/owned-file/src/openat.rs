//! `openat`, and the error of a path that cannot be trusted.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// An error of missing permission, for this reason.
pub(crate) fn denied(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, reason.into())
}

/// `openat`, which the standard library does not have.
pub(crate) fn open_at(folder: i32, name: &OsStr, flags: i32, mode: u32) -> io::Result<File> {
    let name = CString::new(name.as_bytes())?;
    loop {
        // SAFETY: a C string; a folder's descriptor that is open, or the working directory's.
        let descriptor =
            unsafe { libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, mode) };
        if descriptor >= 0 {
            // SAFETY: the system has just created it; no other value owns it.
            return Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
