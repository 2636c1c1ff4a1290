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
    /// First byte in the file.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// The object's own.
    pub(crate) words: [u32; 2],
}

impl Part {
    /// Bytes from its first to the end of its last page of `page` bytes: pages are one allocation's alone.
    pub(crate) fn room(&self, page: u64) -> u64 {
        let end = self.offset.checked_add(self.size);
        let end = end.and_then(|end| end.checked_next_multiple_of(page));
        end.map_or(self.size, |end| end - self.offset)
    }
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

/// Marks, in the highest bits of a position: small parts anywhere, large ones in the first page of their file, and parts
/// that no position can tell.
const SMALL: u64 = 0x5a1;
const LARGE: u64 = 0x5a2;
const UNTOLD: u64 = 0x5a3;
/// Where a mark begins. Eleven bits above: a position is never negative.
const MARK_AT: u32 = 52;
/// Allocations begin at multiples of this many bytes ...
const STEP: u64 = 128;
/// ... of which a page of 4096 has so many, as bits; they are the lowest of a position.
const STEP_BITS: u32 = 5;
const SIZE_BITS: u32 = 27;
const PAGE_BITS: u32 = 20;
const LARGE_BITS: u32 = SIZE_BITS + PAGE_BITS;

/// The position that tells a part of a file.
fn position_of(part: Part) -> u64 {
    let steps = (part.offset / STEP) & ((1 << STEP_BITS) - 1);
    let page = (part.offset / STEP) >> STEP_BITS;
    if !part.offset.is_multiple_of(STEP) {
        UNTOLD << MARK_AT
    } else if part.size >> SIZE_BITS == 0 && page >> PAGE_BITS == 0 {
        SMALL << MARK_AT | page << (SIZE_BITS + STEP_BITS) | part.size << STEP_BITS | steps
    } else if part.size >> LARGE_BITS == 0 && page == 0 {
        LARGE << MARK_AT | part.size << STEP_BITS | steps
    } else {
        UNTOLD << MARK_AT
    }
}

/// Offset and size that a position tells: the whole of a file of `len` bytes without a mark.
fn part_at(position: u64, len: u64) -> Option<(u64, u64)> {
    let steps = position & ((1 << STEP_BITS) - 1);
    let rest = position >> STEP_BITS & ((1 << LARGE_BITS) - 1);
    match position >> MARK_AT {
        SMALL => {
            let page = rest >> SIZE_BITS;
            let offset = (page << STEP_BITS | steps) * STEP;
            Some((offset, rest & ((1 << SIZE_BITS) - 1)))
        }
        LARGE => Some((steps * STEP, rest)),
        UNTOLD => None,
        _ => Some((0, len)),
    }
}

/// A descriptor of the same file whose position says which part is meant; it travels with the descriptor, also to
/// other processes. A part that is the whole file needs no mark.
pub(crate) fn mark(file: OwnedFd, part: Part) -> OwnedFd {
    let file = File::from(file);
    if identity(&file).is_none_or(|(.., len)| (part.offset, part.size) == (0, len)) {
        return file.into();
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let Ok(fresh) = OpenOptions::new().read(true).write(true).open(path) else {
        return file.into();
    };
    let position = position_of(part);
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
    let (offset, size) = part_at(position, len)?;
    let part = Part {
        offset,
        size,
        words: [0; 2],
    };
    (size > 0 && offset.checked_add(size)? <= len).then_some(part)
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
        let large = 1 << 27;
        // (offset, size, whether it can be told)
        for (offset, size, told) in [
            (0, 1 << 20, true),
            (8192, 5000, true),
            (8192 + 31 * 128, 5000, true),
            (128, 1, true),
            (((1 << 20) - 1) << 12, large - 1, true),
            (0, 3 * large, true),
            (128, large, true),
            (31 * 128, 3 * large + 5, true),
            (4096, large, false),
            (1 << 32, 5000, false),
            (8192 + 64, 5000, false),
        ] {
            let part = Part {
                offset,
                size,
                words: [0; 2],
            };
            // With others behind it, alone, and in a file that ends with a page.
            for behind in [2 * size, 0, 4096] {
                let file = File::from(mark(memory_file(offset + size + behind), part));
                let copy = duplicate(file.as_raw_fd()).unwrap();
                for file in [file, copy] {
                    assert_eq!(
                        marked(&file),
                        told.then_some(part),
                        "{offset} {size} {behind}"
                    );
                }
            }
        }
        for (offset, size, room) in [
            (0, 1, 4096),
            (8192, 4096, 4096),
            (8192 + 128, 4096, 8192 - 128),
            (0, u64::MAX, u64::MAX),
            (u64::MAX, 2, 2),
        ] {
            let words = [0; 2];
            let part = Part {
                offset,
                size,
                words,
            };
            assert_eq!(part.room(4096), room, "{offset} {size}");
        }
        // Positions from outside: what reaches beyond the file, and what is no mark.
        let file = File::from(memory_file(8192));
        for (position, part) in [
            (SMALL << MARK_AT | 1 << 32 | 4097 << STEP_BITS, None),
            (SMALL << MARK_AT | 1 << 32, None),
            (LARGE << MARK_AT | u64::from(u32::MAX), None),
            (i64::MAX as u64, Some((0, 8192))),
            (77, Some((0, 8192))),
        ] {
            // SAFETY: moves the position of a file of the test's own.
            unsafe { libc::lseek(file.as_raw_fd(), position as i64, libc::SEEK_SET) };
            let found = marked(&file).map(|part| (part.offset, part.size));
            assert_eq!(found, part, "{position:#x}");
        }
        assert!(duplicate(-1).is_none() && duplicate(1 << 20).is_none());
    }
}
