//! Compiled programs on disk: one file each, named by its key.
//!
//! Invariants
//! - [`Cache::get`] returns only bytes that this user stored under that key: each entry is sealed with the user's [`secret`].
//!   Anything else is deleted and counts as absent.
//! - A file is written under another name and renamed: readers see whole files or none, even when processes die meanwhile.
//! - Errors here never fail a build: with a full or read-only disk or a limit on file sizes, programs are not cached.
//! - The directory is used only if it belongs to the user and no other user can write to it. An owner that may be any unknown
//!   user of a user namespace is not the user.

mod folder;
mod secret;

use crate::sync::lock;
use folder::{Folder, is_hexadecimal, is_temporary, temporary};
use owned_file::user;
use secret::{Found, Secret};
use std::ffi::CString;
use std::fs::{self, DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A key: a hash over everything that the code depends on.
pub(crate) type Key = [u8; 32];

const MAGIC: &[u8; 8] = b"SOLUMc02";
/// Magic, key, length.
const HEAD: usize = 8 + 32 + 8;
/// The head and the seal: a hash of payload and head, keyed with the secret.
const HEADER: usize = HEAD + 32;
/// Larger entries are not read.
const LARGEST: u64 = 1 << 30;
/// A used entry's time is renewed when it is older than this.
const RENEW: Duration = Duration::from_secs(3600);
/// Temporary files older than this are left over by dead processes.
const STALE: Duration = Duration::from_secs(600);
/// A process measures the cache after it has added this part of the bound.
const LOOK_PART: u64 = 16;
const SUFFIX: &str = ".solum";

/// A cache directory in use.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    directory: Folder,
    bound: u64,
    /// The secret when last read: another process may replace it.
    secret: Mutex<Secret>,
    /// Bytes added by this process since it last measured the cache.
    added: AtomicU64,
}

impl Cache {
    /// Opens or creates the cache at `path`, with at most `bound` bytes.
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
        let user = user::own().map_err(|error| refused(&error))?;
        if metadata.uid() != user {
            return Err(refused(&format!(
                "belongs to user {}, not to {user}",
                metadata.uid()
            )));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(refused(&"other users can write to it"));
        }
        let cache = Self {
            path: path.to_owned(),
            directory: Folder(directory),
            bound,
            secret: Mutex::default(),
            // The first addition of a process measures the cache.
            added: AtomicU64::new(bound / LOOK_PART),
        };
        *lock(&cache.secret) =
            secret::read_or_make(&cache.directory).map_err(|error| refused(&error))?;
        Ok(cache)
    }

    /// The bytes stored under `key`.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let name = name_of(key);
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = self.directory.open_at(&name, flags, 0).ok()?;
        let payload = self.read(&file, key);
        if payload.is_none() {
            self.directory.unlink(&name);
        }
        payload
    }

    fn read(&self, file: &File, key: &Key) -> Option<Vec<u8>> {
        let metadata = file.metadata().ok()?;
        let len = metadata.len();
        if !metadata.is_file()
            || !user::owns(metadata.uid())
            || metadata.mode() & 0o022 != 0
            || !(HEADER as u64..=LARGEST).contains(&len)
        {
            return None;
        }
        let mut header = [0; HEADER];
        Read::take(file, HEADER as u64)
            .read_exact(&mut header)
            .ok()?;
        let (head, seal) = header.split_at_checked(HEAD)?;
        let len = len - HEADER as u64;
        if head != head_of(key, len) {
            return None;
        }
        // A sparse file may claim more bytes than there is memory.
        let mut payload = Vec::new();
        payload.try_reserve_exact(usize::try_from(len).ok()?).ok()?;
        Read::take(file, len).read_to_end(&mut payload).ok()?;
        if !self.is_sealed(head, &payload, seal) {
            return None;
        }
        if let Ok(age) = SystemTime::now().duration_since(metadata.modified().ok()?)
            && age > RENEW
        {
            // Only the order of eviction depends on it.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(payload)
    }

    /// Whether an entry was sealed with the secret.
    fn is_sealed(&self, head: &[u8], payload: &[u8], seal: &[u8]) -> bool {
        // The hash compares in constant time.
        let by = |secret: &Secret| seal_of(secret, head, payload) == *seal;
        let known = *lock(&self.secret);
        if by(&known) {
            return true;
        }
        // Another process may have replaced the secret since.
        match secret::find(&self.directory) {
            Ok(Found::Secret(secret)) if secret != known => {
                *lock(&self.secret) = secret;
                by(&secret)
            }
            _ => false,
        }
    }

    /// Stores `payload` under `key`, unless it is larger than the whole cache may be.
    ///
    /// # Errors
    /// Why it is not kept.
    pub(crate) fn put(&self, key: &Key, payload: &[u8]) -> std::io::Result<()> {
        let len = (HEADER + payload.len()) as u64;
        if len > self.bound.min(LARGEST) {
            return Ok(());
        }
        // Entries are rare: the secret is read again, so that other processes accept this entry, too.
        let secret = secret::read_or_make(&self.directory)?;
        *lock(&self.secret) = secret;
        let head = head_of(key, payload.len() as u64);
        let seal = seal_of(&secret, &head, payload);
        let temporary = temporary()?;
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let written = signal_mask::without_write_signals(|| {
            let mut file = self
                .directory
                .open_at(&temporary, flags | libc::O_NOFOLLOW, 0o600)?;
            file.write_all(&head)?;
            file.write_all(seal.as_bytes())?;
            file.write_all(payload)?;
            self.directory.rename(&temporary, &name_of(key))
        });
        if let Err(error) = written {
            self.directory.unlink(&temporary);
            return Err(signal_mask::name_file_size_limit(error));
        }
        let added = self.added.fetch_add(len, Ordering::Relaxed) + len;
        if added > self.bound / LOOK_PART {
            self.added.store(0, Ordering::Relaxed);
            self.evict();
        }
        Ok(())
    }

    /// Deletes temporary files of dead processes, and the least recently used entries until the rest fits.
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
            if is_temporary(name.as_bytes()) {
                if now.duration_since(time).is_ok_and(|age| age > STALE) {
                    self.directory.unlink_os(&name);
                }
                continue;
            }
            if is_entry(name.as_bytes()) {
                // Bytes on disk: many entries are smaller than a block.
                let bytes = (metadata.blocks() * 512).max(metadata.len());
                total = total.saturating_add(bytes);
                files.push((time, bytes, name));
            }
        }
        if total <= self.bound {
            return;
        }
        files.sort();
        // Below the bound, so that the next entries need no eviction.
        let target = self.bound / 10 * 9;
        for (_, bytes, name) in files {
            if total <= target {
                break;
            }
            self.directory.unlink_os(&name);
            total = total.saturating_sub(bytes);
        }
    }
}

fn head_of(key: &Key, payload: u64) -> Vec<u8> {
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(MAGIC);
    head.extend_from_slice(key);
    head.extend_from_slice(&payload.to_le_bytes());
    head
}

/// The payload comes first: the head has a fixed length, so no separator is needed.
fn seal_of(secret: &Secret, head: &[u8], payload: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(secret);
    hasher.update(payload);
    hasher.update(head);
    hasher.finalize()
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

/// Whether [`name_of`] may have created this name.
fn is_entry(name: &[u8]) -> bool {
    name.strip_suffix(SUFFIX.as_bytes())
        .is_some_and(|key| key.len() == 2 * size_of::<Key>() && key.iter().all(is_hexadecimal))
}

#[cfg(test)]
mod tests;
