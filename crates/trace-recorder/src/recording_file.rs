//! The file of a recording, mapped chunk by chunk.

use std::cell::Cell;
use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use timeline::file::{self, CHUNK_BYTES, CHUNK_HEAD_BYTES, HEADER_BYTES, header};

/// Words of a chunk after its head.
pub(crate) const CHUNK_WORDS: usize = (CHUNK_BYTES - CHUNK_HEAD_BYTES) / 8;

/// The open file.
pub(crate) struct RecordingFile {
    file: OwnedFd,
    /// The mapped header page.
    page: *mut u8,
    chunks: AtomicU64,
    tracks: AtomicU32,
    /// No chunk could be had: nothing more is recorded.
    full: AtomicBool,
}

// SAFETY: the page is written through atomics or before the file is shared.
unsafe impl Send for RecordingFile {}
// SAFETY: as above.
unsafe impl Sync for RecordingFile {}

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// The system's number of this thread.
pub(crate) fn thread() -> u32 {
    let known = THREAD.get();
    if known != 0 {
        return known;
    }
    // SAFETY: no arguments, cannot fail.
    let number = unsafe { libc::gettid() } as u32;
    THREAD.set(number);
    number
}

/// Nanoseconds of the recording's clock, which is the system's monotonic one.
#[inline]
#[must_use]
pub fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(which: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` may be written.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// Directly to stderr: at the process's end a thread that has ended may still hold the standard library's lock.
pub(crate) fn say(text: &str) {
    signal_mask::write_stderr(text.as_bytes());
}

/// Opens the folder. `solum trace` checked it, but it may have been replaced since.
fn held(folder: &[u8]) -> std::io::Result<File> {
    let held = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(OsStr::from_bytes(folder))?;
    let data = held.metadata()?;
    let user = owned_file::user::own().map_err(std::io::Error::other)?;
    file::may_hold_recordings(data.uid(), data.mode(), user).map_err(std::io::Error::other)?;
    Ok(held)
}

/// Reserves room in the file and maps it. A full disk and a limit on file sizes are errors here rather than signals
/// later.
fn map(file: &OwnedFd, offset: u64, length: usize) -> std::io::Result<*mut u8> {
    signal_mask::without_write_signals(|| reserve(file, offset, length))
        .map_err(signal_mask::name_file_size_limit)?;
    let at = offset as libc::off_t;
    // SAFETY: a fresh mapping at a place of the system's choosing.
    let place = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            file.as_raw_fd(),
            at,
        )
    };
    if place == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    Ok(place.cast())
}

/// Reserves room in the file.
fn reserve(file: &OwnedFd, offset: u64, length: usize) -> std::io::Result<()> {
    let (at, bytes) = (offset as libc::off_t, length as libc::off_t);
    loop {
        // SAFETY: a system call on our own descriptor.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, at, bytes) } == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => break,
            // A signal of the program is not a lack of room.
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
    // A file system that cannot reserve: zeros are written instead.
    let zeros = vec![0u8; length];
    let mut done = 0;
    while done < length {
        let rest = &zeros[done..];
        // SAFETY: `rest` is as long as said.
        let wrote = unsafe {
            libc::pwrite(
                file.as_raw_fd(),
                rest.as_ptr().cast(),
                rest.len(),
                at + done as libc::off_t,
            )
        };
        match usize::try_from(wrote) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(wrote) => done += wrote,
            Err(_) => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// A mapped chunk: the words after its head, zeroed.
pub(crate) struct Chunk {
    /// The first word.
    pub(crate) words: *mut u64,
}

// SAFETY: the mapping belongs to no thread; its owner alone writes to it.
unsafe impl Send for Chunk {}

impl Chunk {
    /// Unmaps it; the bytes stay in the file.
    pub(crate) fn close(self) {
        // SAFETY: `words` lies one head after the mapping's begin, and the mapping is one chunk long.
        unsafe {
            libc::munmap(
                self.words.cast::<u8>().sub(CHUNK_HEAD_BYTES).cast(),
                CHUNK_BYTES,
            )
        };
    }
}

impl RecordingFile {
    /// Creates the file of this process in the folder.
    pub(crate) fn create(folder: &[u8]) -> std::io::Result<Self> {
        let folder = held(folder)?;
        let process = std::process::id();
        let mut attempt = 0u32;
        let (file, path) = loop {
            let path = CString::new(format!("{process}-{attempt}.events"))?;
            // SAFETY: the path ends with NUL.
            let file = unsafe {
                libc::openat(
                    folder.as_raw_fd(),
                    path.as_ptr(),
                    libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC,
                    // Command lines and names of kernels are the user's own.
                    0o600,
                )
            };
            if file >= 0 {
                // SAFETY: just opened, and owned by no other value.
                break (unsafe { OwnedFd::from_raw_fd(file) }, path);
            }
            let error = std::io::Error::last_os_error();
            // Process numbers are reused, and exec keeps the number.
            if error.kind() != std::io::ErrorKind::AlreadyExists || attempt > 1000 {
                return Err(error);
            }
            attempt += 1;
        };
        let page = map(&file, 0, HEADER_BYTES).inspect_err(|_| {
            // A file without a header is no recording.
            // SAFETY: the path ends with NUL.
            unsafe { libc::unlinkat(folder.as_raw_fd(), path.as_ptr(), 0) };
        })?;
        let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let command = &command[..command.len().min(HEADER_BYTES - header::COMMAND)];
        let mut head = vec![0u8; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(header::VERSION, &file::VERSION.to_le_bytes());
        put(header::CHUNK, &(CHUNK_BYTES as u32).to_le_bytes());
        put(header::PROCESS, &process.to_le_bytes());
        put(header::CLOCK, &now().to_le_bytes());
        put(header::CALENDAR, &clock(libc::CLOCK_REALTIME).to_le_bytes());
        put(
            header::COMMAND_LENGTH,
            &(command.len() as u32).to_le_bytes(),
        );
        put(header::COMMAND, command);
        // The magic goes last, so that a header is whole or none for readers that follow the file.
        // SAFETY: the page is aligned, as long as the header, and written by no other thread.
        unsafe {
            ptr::copy_nonoverlapping(head.as_ptr(), page, HEADER_BYTES);
            AtomicU64::from_ptr(page.cast())
                .store(u64::from_ne_bytes(file::MAGIC), Ordering::Release);
        };
        Ok(Self {
            file,
            page,
            chunks: AtomicU64::new(0),
            tracks: AtomicU32::new(1),
            full: AtomicBool::new(false),
        })
    }

    /// A fresh chunk; `None` when the disk has no room.
    pub(crate) fn chunk(&self, kind: u32, track: u32, number: u64) -> Option<Chunk> {
        if self.full.load(Ordering::Relaxed) {
            return None;
        }
        let place = self.chunks.fetch_add(1, Ordering::Relaxed);
        let offset = HEADER_BYTES as u64 + place * CHUNK_BYTES as u64;
        match map(&self.file, offset, CHUNK_BYTES) {
            Ok(start) => {
                let head = file::chunk_head(kind, track, thread(), number);
                let start = start.cast::<u64>();
                // The first word goes last: with it the chunk is there for readers that follow the file.
                // SAFETY: the mapping is page-aligned, written by no other thread, and longer than the head.
                let words = unsafe {
                    ptr::copy_nonoverlapping(head[1..].as_ptr(), start.add(1), head.len() - 1);
                    AtomicU64::from_ptr(start).store(head[0], Ordering::Release);
                    start.add(head.len())
                };
                self.count(header::CHUNKS, 1);
                Some(Chunk { words })
            }
            Err(error) => {
                if !self.full.swap(true, Ordering::Relaxed) {
                    say(&format!(
                        "solum trace: recording stopped, the file cannot grow: {error}\n"
                    ));
                }
                None
            }
        }
    }

    /// A number for a new track.
    pub(crate) fn track_number(&self) -> u32 {
        self.tracks.fetch_add(1, Ordering::Relaxed)
    }

    fn count(&self, at: usize, more: u64) {
        // SAFETY: `at` is one of the header's aligned 8-byte places.
        let place = unsafe { AtomicU64::from_ptr(self.page.add(at).cast()) };
        place.fetch_add(more, Ordering::Relaxed);
    }

    /// Notes that a record found no room.
    pub(crate) fn lose(&self) {
        self.count(header::LOST, 1);
    }

    /// Notes that the process ended its recording in order; later records are kept all the same.
    pub(crate) fn finish(&self) {
        // SAFETY: an aligned 4-byte place of the header.
        let place = unsafe { AtomicU32::from_ptr(self.page.add(header::FINISHED).cast()) };
        place.store(1, Ordering::Relaxed);
    }
}
