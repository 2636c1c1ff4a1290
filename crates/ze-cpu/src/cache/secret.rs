//! The secret that seals this user's entries.
//!
//! It is in the cache's directory, in a file that only the user can read. An entry that was sealed without it is never
//! used: write access to the directory is not enough to have code run.
//!
//! Invariants
//! - The file appears as a whole. Two processes that create it at the same time use the same one.
//! - A secret that other users could have read or created is replaced, and so are all entries under it.
//! - A file that Solum did not make is never replaced: the cache is refused.

use super::folder::{Folder, temporary};
use crate::random;
use owned_file::user;
use std::ffi::{CStr, CString};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;

/// A key of the keyed hash.
pub(super) type Secret = [u8; 32];

/// The user may name any directory: the name and [`MAGIC`] keep Solum from deleting a file of another program.
pub(super) const NAME: &CStr = c".solum-secret";
/// The first bytes of the file. The secret follows.
const MAGIC: &[u8; 8] = b"SOLUMs01";
/// Bytes of the file.
const LEN: usize = MAGIC.len() + size_of::<Secret>();
/// Attempts: other processes may replace the file meanwhile.
const ATTEMPTS: usize = 4;

/// The file under the secret's name.
pub(super) enum Found {
    Nothing,
    /// A file of Solum's that must not be trusted, or an empty one.
    Unfit,
    /// A file that Solum did not create.
    Foreign,
    Secret(Secret),
}

/// Reads the secret.
///
/// # Errors
/// Errors of the system that do not depend on the file.
pub(super) fn find(folder: &Folder) -> Result<Found> {
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let mut file = match folder.open_at(NAME, flags, 0) {
        Ok(file) => file,
        Err(error) => {
            return match error.raw_os_error() {
                Some(libc::ENOENT) => Ok(Found::Nothing),
                // A link, no rights, a socket or device.
                Some(libc::ELOOP | libc::EACCES | libc::ENXIO) => Ok(Found::Foreign),
                _ => Err(error),
            };
        }
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Found::Foreign);
    }
    if metadata.len() == 0 {
        return Ok(Found::Unfit);
    }
    let mut magic = [0; MAGIC.len()];
    match file.read_exact(&mut magic) {
        Ok(()) if magic == *MAGIC => {}
        Ok(()) => return Ok(Found::Foreign),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Found::Foreign),
        Err(error) => return Err(error),
    }
    let mut secret = Secret::default();
    let is_fit = user::owns(metadata.uid())
        && metadata.mode() & 0o077 == 0
        && metadata.nlink() == 1
        && metadata.len() == LEN as u64;
    if !is_fit {
        return Ok(Found::Unfit);
    }
    match file.read_exact(&mut secret) {
        // A system that stopped before the bytes were on disk may leave zeros.
        Ok(()) if secret != Secret::default() => Ok(Found::Secret(secret)),
        Ok(()) => Ok(Found::Unfit),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Found::Unfit),
        Err(error) => Err(error),
    }
}

/// Reads the secret, and creates one if there is none that can be trusted.
///
/// # Errors
/// Why there is none.
pub(super) fn read_or_make(folder: &Folder) -> Result<Secret> {
    for _ in 0..ATTEMPTS {
        match find(folder)? {
            Found::Secret(secret) => return Ok(secret),
            Found::Unfit => folder.unlink(NAME),
            Found::Foreign => {
                return Err(Error::other(
                    "the file \".solum-secret\" in it was not created by Solum. Move it away, or set SOLUM_CACHE_DIR \
                     to another directory",
                ));
            }
            Found::Nothing => {}
        }
        make(folder)?;
    }
    Err(Error::other(
        "the file \".solum-secret\" in it is not private and cannot be replaced",
    ))
}

/// Creates a secret where none is.
fn make(folder: &Folder) -> Result<()> {
    let temporary = temporary()?;
    let made = signal_mask::without_write_signals(|| {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let mut file = folder.open_at(&temporary, flags | libc::O_NOFOLLOW, 0o600)?;
        let secret = random::bytes::<{ size_of::<Secret>() }>()?;
        file.write_all(&[&MAGIC[..], &secret].concat())?;
        rename_to_secret(folder, &temporary)
    });
    if made.is_err() {
        folder.unlink(&temporary);
    }
    match made {
        // Another process was first: its secret counts.
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
        made => made.map_err(signal_mask::name_file_size_limit),
    }
}

fn rename_to_secret(folder: &Folder, temporary: &CString) -> Result<()> {
    let at = folder.0.as_raw_fd();
    // A hard link would leave the file with two names for a moment. Not every C library has the function.
    // SAFETY: C strings and an open directory.
    let renamed = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            at,
            temporary.as_ptr(),
            at,
            NAME.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    if renamed == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        // The file system does not support this rename: the last of several processes wins, and entries of the others
        // are compiled again.
        Some(libc::EINVAL | libc::ENOSYS) => folder.rename(temporary, NAME),
        _ => Err(error),
    }
}
