//! Random bytes from the system.

use std::io::{Error, ErrorKind, Result};

/// Bytes that cannot be guessed.
///
/// # Errors
/// The system's error.
pub(crate) fn bytes<const LENGTH: usize>() -> Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let mut done = 0;
    while done < LENGTH {
        let rest = &mut bytes[done..];
        // SAFETY: the bytes may be written.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        match usize::try_from(got) {
            Ok(got) => done += got,
            Err(_) => {
                let error = Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(bytes)
}
