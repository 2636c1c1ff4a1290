//! Compiled programs on disk: one file each, named by its key.
//!
//! Invariants
//! - What [`Cache::get`] gives was stored under that key by this user, byte for byte; anything else
//!   is deleted and counts as absent.
//! - A file is written under another name and renamed: readers see whole files or none, whoever dies
//!   meanwhile, in whatever process.
//! - Nothing here fails a build: a full or read-only disk means that nothing is kept.
//! - The directory belongs to the user and nobody else can write to it, or it is not used.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, DirBuilder, File};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What a key is: a hash over everything that matters for the code.
pub(crate) type Key = [u8; 32];

const MAGIC: &[u8; 8] = b"SOLUMc01";
/// Magic, key, length, checksum.
const HEADER: usize = 8 + 32 + 8 + 32;
/// Bytes of an entry that is not believed.
const LARGEST: u64 = 1 << 30;
/// A used entry's time is renewed when it is older than this.
const RENEW: Duration = Duration::from_secs(3600);
/// Temporary files older than this belong to nobody any more.
const STALE: Duration = Duration::from_secs(600);
/// A process looks at the cache's size after it has added this part of the bound.
const LOOK_PART: u64 = 16;
const SUFFIX: &str = ".solum";

/// A cache directory in use.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    directory: File,
    bound: u64,
    /// Bytes added by this process since it last looked at the size.
    added: AtomicU64,
}

impl Cache {
    /// Opens, or makes, the cache at `path`, holding at most `bound` bytes.
    ///
    /// # Errors
    /// Why it is not used.
    pub(crate) fn open(path: &Path, bound: u64) -> Result<Self, String> {
        let refused = |why: &dyn std::fmt::Display| format!("cache {}: {why}", path.display());
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(path).map_err(|error| refused(&error))?;
        let directory = File::options()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)
            .map_err(|error| refused(&error))?;
        let metadata = directory.metadata().map_err(|error| refused(&error))?;
        // SAFETY: a system call without memory.
        let user = unsafe { libc::geteuid() };
        if metadata.uid() != user {
            return Err(refused(&format!(
                "belongs to user {}, not to {user}",
                metadata.uid()
            )));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(refused(&"others may write to it"));
        }
        Ok(Self {
            path: path.to_owned(),
            directory,
            bound,
            // The first addition of a process looks at the size.
            added: AtomicU64::new(bound / LOOK_PART),
        })
    }

    /// The bytes stored under `key`.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let name = name_of(key);
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = self.open_at(&name, flags, 0).ok()?;
        let payload = self.read(&file, key);
        if payload.is_none() {
            self.unlink(&name);
        }
        payload
    }

    fn read(&self, file: &File, key: &Key) -> Option<Vec<u8>> {
        let metadata = file.metadata().ok()?;
        // SAFETY: a system call without memory.
        let user = unsafe { libc::geteuid() };
        let len = metadata.len();
        if !metadata.is_file()
            || metadata.uid() != user
            || metadata.mode() & 0o022 != 0
            || !(HEADER as u64..=LARGEST).contains(&len)
        {
            return None;
        }
        let mut bytes = Vec::with_capacity(len as usize);
        Read::take(file, LARGEST).read_to_end(&mut bytes).ok()?;
        let (header, payload) = bytes.split_at_checked(HEADER)?;
        if header != header_of(key, payload) {
            return None;
        }
        if let Ok(age) = SystemTime::now().duration_since(metadata.modified().ok()?)
            && age > RENEW
        {
            // Only the order of eviction depends on it.
            let _ = file.set_modified(SystemTime::now());
        }
        bytes.drain(..HEADER);
        Some(bytes)
    }

    /// Stores `payload` under `key`, if that can be done.
    pub(crate) fn put(&self, key: &Key, payload: &[u8]) {
        let len = (HEADER + payload.len()) as u64;
        if len > self.bound.min(LARGEST) {
            return;
        }
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let Ok(temporary) = CString::new(format!(
            "tmp-{}-{number}-{:x}",
            std::process::id(),
            crate::engine::now_ns()
        )) else {
            return;
        };
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let written = self
            .open_at(&temporary, flags | libc::O_NOFOLLOW, 0o600)
            .and_then(|mut file| {
                file.write_all(&header_of(key, payload))?;
                file.write_all(payload)
            });
        if written.is_err() || !self.rename(&temporary, &name_of(key)) {
            self.unlink(&temporary);
            return;
        }
        let added = self.added.fetch_add(len, Ordering::Relaxed) + len;
        if added > self.bound / LOOK_PART {
            self.added.store(0, Ordering::Relaxed);
            self.evict();
        }
    }

    /// Deletes the entries unused for longest until the rest fits, and what dead processes left.
    fn evict(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        let now = SystemTime::now();
        let mut files = Vec::new();
        let mut total = 0u64;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let Ok(time) = metadata.modified() else {
                continue;
            };
            if name.as_bytes().starts_with(b"tmp-") {
                if now.duration_since(time).is_ok_and(|age| age > STALE) {
                    self.unlink_os(&name);
                }
                continue;
            }
            if name.as_bytes().ends_with(SUFFIX.as_bytes()) {
                // What it takes on disk: many entries are smaller than a block.
                let bytes = (metadata.blocks() * 512).max(metadata.len());
                total = total.saturating_add(bytes);
                files.push((time, bytes, name));
            }
        }
        if total <= self.bound {
            return;
        }
        files.sort();
        // Some room at once, so that the next entries need no eviction.
        let target = self.bound / 10 * 9;
        for (_, bytes, name) in files {
            if total <= target {
                break;
            }
            self.unlink_os(&name);
            total = total.saturating_sub(bytes);
        }
    }

    fn open_at(&self, name: &CStr, flags: i32, mode: libc::c_uint) -> std::io::Result<File> {
        // SAFETY: a C string and an open directory; a new descriptor is ours alone.
        unsafe {
            let fd = libc::openat(self.directory.as_raw_fd(), name.as_ptr(), flags, mode);
            if fd < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(File::from_raw_fd(fd))
        }
    }

    fn rename(&self, from: &CStr, to: &CStr) -> bool {
        let at = self.directory.as_raw_fd();
        // SAFETY: C strings and an open directory.
        unsafe { libc::renameat(at, from.as_ptr(), at, to.as_ptr()) == 0 }
    }

    fn unlink(&self, name: &CStr) {
        // SAFETY: a C string and an open directory.
        unsafe {
            libc::unlinkat(self.directory.as_raw_fd(), name.as_ptr(), 0);
        }
    }

    fn unlink_os(&self, name: &OsStr) {
        if let Ok(name) = CString::new(name.as_bytes()) {
            self.unlink(&name);
        }
    }
}

fn header_of(key: &Key, payload: &[u8]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(key);
    header.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    header.extend_from_slice(blake3::hash(payload).as_bytes());
    header
}

fn name_of(key: &Key) -> CString {
    let mut name = String::with_capacity(80);
    for byte in key {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name.push_str(SUFFIX);
    // Hexadecimal digits hold no zero byte.
    CString::new(name).unwrap_or_default()
}

#[cfg(test)]
mod tests;
