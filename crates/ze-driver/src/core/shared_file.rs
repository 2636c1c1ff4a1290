//! Files behind memory that leaves the process: the 64 bytes of an IPC handle, and descriptors that say where in
//! their file the memory lies.
//!
//! A handle begins with a descriptor of the sender's. Whoever passes it on may put the receiver's own descriptor
//! there (over a socket); else the receiver opens the sender's by process and number. Device and inode tell whether
//! a descriptor is the right one, so that a number that happens to exist is never taken.

use crate::check::error;
use level_zero_sys::*;
use std::ffi::c_char;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use ze_abi::ZeResult;

/// Bytes of every kind of IPC handle.
const BYTES: usize = 64;
/// The bytes of a handle, as C has them.
pub(crate) type HandleBytes = [c_char; BYTES];

/// What kind of object a handle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// USM or physical memory.
    Memory,
    /// An event pool.
    EventPool,
    /// A counter-based event.
    CounterEvent,
}

impl Purpose {
    fn magic(self) -> u32 {
        u32::from_le_bytes(match self {
            Self::Memory => *b"SoMe",
            Self::EventPool => *b"SoEp",
            Self::CounterEvent => *b"SoEv",
        })
    }
}

/// A part of a file, with two words for the kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// First byte in the file: whole pages.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// The object's own.
    pub(crate) words: [u32; 2],
}

/// The bytes of a handle: (field offset) 0 descriptor, 4 magic, 8 process, 12 descriptor there, 16 device, 24 inode,
/// 32 offset, 40 size, 48 and 52 words.
pub(crate) fn encode(purpose: Purpose, file: BorrowedFd<'_>, part: Part) -> Option<HandleBytes> {
    let (device, inode, _) = identity(&File::from(file.try_clone_to_owned().ok()?))?;
    let mut bytes = [0_u8; BYTES];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &file.as_raw_fd().to_ne_bytes());
    put(4, &purpose.magic().to_ne_bytes());
    put(8, &std::process::id().to_ne_bytes());
    put(12, &file.as_raw_fd().to_ne_bytes());
    put(16, &device.to_ne_bytes());
    put(24, &inode.to_ne_bytes());
    put(32, &part.offset.to_ne_bytes());
    put(40, &part.size.to_ne_bytes());
    put(48, &part.words[0].to_ne_bytes());
    put(52, &part.words[1].to_ne_bytes());
    Some(bytes.map(|byte| byte as c_char))
}

fn word(bytes: &HandleBytes, at: usize) -> u32 {
    u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i] as u8))
}

fn long(bytes: &HandleBytes, at: usize) -> u64 {
    u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i] as u8))
}

/// The part that a handle names, without a look at its file.
pub(crate) fn decode(purpose: Purpose, bytes: &HandleBytes) -> ZeResult<Part> {
    if word(bytes, 4) != purpose.magic() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("the IPC handle is none that this driver gave for {purpose:?}"),
        );
    }
    Ok(Part {
        offset: long(bytes, 32),
        size: long(bytes, 40),
        words: [word(bytes, 48), word(bytes, 52)],
    })
}

/// The descriptor that a handle begins with.
pub(crate) fn descriptor(bytes: &HandleBytes) -> i32 {
    word(bytes, 0) as i32
}

/// The part that a handle names, and a descriptor of its file.
pub(crate) fn open(purpose: Purpose, bytes: &HandleBytes) -> ZeResult<(Part, OwnedFd)> {
    let part = decode(purpose, bytes)?;
    let wanted = (long(bytes, 16), long(bytes, 24));
    let is_it = |file: &File| {
        identity(file).is_some_and(|(device, inode, len)| {
            (device, inode) == wanted
                && part.size > 0
                && part
                    .offset
                    .checked_add(part.size)
                    .is_some_and(|end| end <= len)
        })
    };
    let passed = duplicate(word(bytes, 0) as i32).filter(is_it);
    let (process, number) = (word(bytes, 8), word(bytes, 12) as i32);
    let file = passed.or_else(|| {
        let path = format!("/proc/{process}/fd/{number}");
        let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        Some(file).filter(is_it)
    });
    match file {
        Some(file) => Ok((part, OwnedFd::from(file))),
        None => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "the IPC handle's memory cannot be reached: neither descriptor {} here nor {number} of process {process} is its file (the sender has ended, or put the handle back?)",
                word(bytes, 0) as i32
            ),
        ),
    }
}

/// Whether a descriptor is of the file that a handle names.
pub(crate) fn is_of(file: BorrowedFd<'_>, bytes: &HandleBytes) -> bool {
    let copy = duplicate(file.as_raw_fd());
    let found = copy.as_ref().and_then(identity);
    found.is_some_and(|(device, inode, _)| (device, inode) == (long(bytes, 16), long(bytes, 24)))
}

/// Device, inode and length of a regular file.
fn identity(file: &File) -> Option<(u64, u64, u64)> {
    let data = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((data.dev(), data.ino(), data.len()))
}

/// A copy of any descriptor number; none when it is not open.
pub(crate) fn duplicate(fd: i32) -> Option<File> {
    if fd < 0 {
        return None;
    }
    // SAFETY: a number that is no open descriptor only makes the call fail; the new one is ours alone.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return None;
    }
    // SAFETY: new and ours alone.
    Some(unsafe { <File as std::os::fd::FromRawFd>::from_raw_fd(copy) })
}

const PAGE_SHIFT: u32 = 12;
const SIZE_BITS: u32 = 27;
const OFFSET_BITS: u32 = 20;
const MARK: u64 = 0x5a1;

/// A descriptor of the same file whose position says which part is meant; it travels with the descriptor, also to
/// other processes. Parts that begin the file need no mark.
pub(crate) fn mark(file: OwnedFd, part: Part) -> OwnedFd {
    let page = part.offset >> PAGE_SHIFT;
    if part.offset == 0 || page >> OFFSET_BITS != 0 || part.size >> SIZE_BITS != 0 {
        return file;
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let Ok(fresh) = OpenOptions::new().read(true).write(true).open(path) else {
        return file;
    };
    let position = MARK << (SIZE_BITS + OFFSET_BITS) | page << SIZE_BITS | part.size;
    // SAFETY: moves the position of a description of our own; memory files allow any.
    unsafe { libc::lseek(fresh.as_raw_fd(), position as libc::off_t, libc::SEEK_SET) };
    OwnedFd::from(fresh)
}

/// The part that a descriptor from outside means: the whole file, or what [`mark`] said.
pub(crate) fn marked(file: &File) -> Option<Part> {
    let (_, _, len) = identity(file)?;
    // SAFETY: asks for the position.
    let position = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_CUR) };
    let position = u64::try_from(position).unwrap_or(0);
    let mut part = Part {
        offset: 0,
        size: len,
        words: [0; 2],
    };
    if position >> (SIZE_BITS + OFFSET_BITS) == MARK {
        part.offset = (position >> SIZE_BITS & ((1 << OFFSET_BITS) - 1)) << PAGE_SHIFT;
        part.size = position & ((1 << SIZE_BITS) - 1);
    }
    (part.size > 0 && part.offset.checked_add(part.size)? <= len).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, FromRawFd};

    fn memory_file(len: u64) -> OwnedFd {
        // SAFETY: the name is a C string; the descriptor is new.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), 0)) };
        file.set_len(len).unwrap();
        file.into()
    }

    const PART: Part = Part {
        offset: 8192,
        size: 5000,
        words: [7, 9],
    };

    #[test]
    fn a_handle_opens_its_own_file_only() {
        let file = memory_file(1 << 20);
        let bytes = encode(Purpose::Memory, file.as_fd(), PART).unwrap();
        assert_eq!(open(Purpose::Memory, &bytes).unwrap().0, PART);
        assert!(open(Purpose::EventPool, &bytes).is_err());
        // A descriptor that is open but another file: found by process and number all the same.
        let other = memory_file(1 << 20);
        let mut patched = bytes;
        patched[0] = other.as_raw_fd() as c_char;
        assert_eq!(open(Purpose::Memory, &patched).unwrap().0, PART);
        drop(file);
        assert!(open(Purpose::Memory, &bytes).is_err(), "the file is closed");
        let short = memory_file(4096);
        let beyond = encode(Purpose::Memory, short.as_fd(), PART).unwrap();
        assert!(
            open(Purpose::Memory, &beyond).is_err(),
            "a part beyond the end"
        );
    }

    #[test]
    fn a_marked_descriptor_says_its_part() {
        let whole = Part {
            offset: 0,
            size: 1 << 20,
            words: [0; 2],
        };
        for part in [
            Part {
                words: [0; 2],
                ..PART
            },
            whole,
        ] {
            let file = File::from(mark(memory_file(1 << 20), part));
            assert_eq!(marked(&file), Some(part));
            let copy = duplicate(file.as_raw_fd()).unwrap();
            assert_eq!(marked(&copy), Some(part));
        }
        assert!(duplicate(-1).is_none() && duplicate(1 << 20).is_none());
    }
}
