//! Files of shared memory: the 64 bytes of an IPC handle, and descriptors that carry the memory's offset in its file.
//!
//! A handle begins with the sender's descriptor. A program that sends the descriptor over a socket puts the receiver's own
//! number there; else the receiver opens the sender's descriptor by process and number.
//!
//! A handle is hostile input: every number in it may be chosen by another user of the machine. [`open`] therefore accepts
//! only memory files whose size is sealed, which drivers make for this purpose, and only those of the receiver's own user
//! unless the receiver allows others. No other file is ever opened for reading or writing: a path that a handle leads to
//! is first opened with O_PATH, and that descriptor is judged.

use crate::address_space::token_of;
use crate::check::error;
use level_zero_sys::*;
use owned_file::user;
use std::ffi::c_char;
use std::fs::{File, OpenOptions};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use ze_abi::ZeResult;

/// Bytes of every kind of IPC handle.
const BYTES: usize = 64;
/// The bytes of a handle.
pub(crate) type HandleBytes = [c_char; BYTES];

/// The kind of object of a handle.
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
    /// Words for the object.
    pub(crate) words: [u32; 2],
}

impl Part {
    /// Bytes from the offset to the end of the last page of `page` bytes: allocations do not share pages.
    pub(crate) fn room(&self, page: u64) -> u64 {
        let end = self.offset.checked_add(self.size);
        let end = end.and_then(|end| end.checked_next_multiple_of(page));
        end.map_or(self.size, |end| end - self.offset)
    }
}

/// The bytes of a handle: (field offset) 0 descriptor, 4 magic, 8 process, 12 descriptor there, 16 device, 24 inode,
/// 32 offset, 40 size, 48 and 52 words, 56 the token in the file's name.
pub(crate) fn encode(purpose: Purpose, file: BorrowedFd<'_>, part: Part) -> Option<HandleBytes> {
    let (device, inode, _) = identity(file)?;
    let token = token(file)?;
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
    put(56, &token.to_ne_bytes());
    Some(bytes.map(|byte| byte as c_char))
}

/// The random token in the name of a memory file; none for files that are not shared. Opens nothing.
fn token(file: BorrowedFd<'_>) -> Option<u64> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    token_of(path.to_str()?)
}

fn word(bytes: &HandleBytes, at: usize) -> u32 {
    u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i] as u8))
}

fn long(bytes: &HandleBytes, at: usize) -> u64 {
    u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i] as u8))
}

/// The part that a handle names; its file is not touched.
pub(crate) fn decode(purpose: Purpose, bytes: &HandleBytes) -> ZeResult<Part> {
    if word(bytes, 4) != purpose.magic() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("the IPC handle was not made by this driver for {purpose:?}"),
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

/// Whether a handle holds only a descriptor (`crate::leniency`).
pub(crate) fn is_descriptor_alone(bytes: &HandleBytes) -> bool {
    bytes[4..].iter().all(|byte| *byte == 0)
}

/// Whether two handles are of one export. The descriptor, which programs may replace, and the part are not compared.
pub(crate) fn is_same_export(one: &HandleBytes, other: &HandleBytes) -> bool {
    one[8..32] == other[8..32] && one[56..] == other[56..]
}

/// The part that a handle names, and a descriptor of its file. Files of other users are opened only if `any_user`.
pub(crate) fn open(
    purpose: Purpose,
    bytes: &HandleBytes,
    any_user: bool,
) -> ZeResult<(Part, OwnedFd)> {
    let part = decode(purpose, bytes)?;
    let passed = duplicate(descriptor(bytes)).ok();
    let wanted = (long(bytes, 16), long(bytes, 24));
    // The name is checked first, so that other files are not touched.
    let is_it = |file: &File| {
        token(file.as_fd()) == Some(long(bytes, 56))
            && identity(file.as_fd()).is_some_and(|(device, inode, _)| (device, inode) == wanted)
    };
    let file = match passed.filter(is_it) {
        Some(file) => trusted(&file, any_user).map(|()| file),
        None => reopen(word(bytes, 8), word(bytes, 12), is_it, any_user),
    };
    let file = file.and_then(|file| {
        let len = identity(file.as_fd()).map_or(0, |(.., len)| len);
        let end = part.offset.checked_add(part.size);
        let inside = part.size > 0 && end.is_some_and(|end| end <= len);
        inside.then_some(file).ok_or(Refused::Outside)
    });
    match file {
        Ok(file) => Ok((part, OwnedFd::from(file))),
        Err(Refused::Unreachable) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "the IPC handle's memory cannot be opened: neither descriptor {} here nor {} of process {} is its file (the sender has ended, or put the handle back?)",
                descriptor(bytes),
                word(bytes, 12) as i32,
                word(bytes, 8)
            ),
        ),
        Err(refused) => refused.answer("the IPC handle's file"),
    }
}

/// As [`open`], for a memory handle that holds only a descriptor of this process.
pub(crate) fn open_descriptor(bytes: &HandleBytes, any_user: bool) -> ZeResult<(Part, OwnedFd)> {
    const FILE: &str = "the IPC handle's descriptor";
    let file = match duplicate(descriptor(bytes)) {
        Ok(file) => file,
        Err(NotCopied::Unsealed) => return Refused::Unsealed.answer(FILE),
        Err(NotCopied::Closed) => {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "the IPC handle contains only a file descriptor, which is not open in this process",
            );
        }
    };
    if let Err(refused) = trusted(&file, any_user) {
        return refused.answer(FILE);
    }
    // Only exported descriptors have the mark.
    match marked(&file).filter(|_| has_mark(&file)) {
        Some(part) if token(file.as_fd()).is_some() => Ok((part, file.into())),
        _ => Refused::Unsealed.answer(FILE),
    }
}

/// Why a file is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Unreachable,
    /// It is not a memory file, or its size may change.
    Unsealed,
    OtherUser,
    /// The part is not inside the file.
    Outside,
}

impl Refused {
    fn answer<T>(self, file: &str) -> ZeResult<T> {
        let text = match self {
            Self::Unreachable => "cannot be opened",
            Self::Unsealed => {
                "is not memory exported by a driver; expected a memory file with sealed size (F_SEAL_SHRINK, F_SEAL_GROW)"
            }
            Self::OtherUser => {
                "belongs to another user: set SOLUM_IPC_ANY_USER=1 in this process to trust all users of the machine"
            }
            Self::Outside => "is shorter than the memory that the handle describes",
        };
        error(ZE_RESULT_ERROR_INVALID_ARGUMENT, format!("{file} {text}"))
    }
}

/// Opens the file of another process's descriptor, if it is the right file and trusted.
fn reopen(
    process: u32,
    number: u32,
    is_it: impl Fn(&File) -> bool,
    any_user: bool,
) -> Result<File, Refused> {
    // O_PATH touches neither contents nor a device before the file is judged.
    let path = format!("/proc/{process}/fd/{}", number as i32);
    let found = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(path);
    let found = found.map_err(|_| Refused::Unreachable)?;
    if !is_it(&found) {
        return Err(Refused::Unreachable);
    }
    // A file with a name could be replaced; memory files have no name.
    if found.metadata().map_or(1, |data| data.nlink()) != 0 || !on_tmpfs(&found) {
        return Err(Refused::Unsealed);
    }
    same_user(&found, any_user)?;
    // Reopens the judged descriptor: the other process's may be another file by now.
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    let file = file.map_err(|_| Refused::Unreachable)?;
    trusted(&file, any_user).map(|()| file)
}

/// Whether a file is a sealed memory file of a trusted user.
fn trusted(file: &File, any_user: bool) -> Result<(), Refused> {
    if !sealed(file) {
        return Err(Refused::Unsealed);
    }
    same_user(file, any_user)
}

/// Whether a file is a memory file of ordinary pages with a fixed size: another process cannot shorten it and so make
/// accesses to a mapping fault.
fn sealed(file: &File) -> bool {
    // Files of huge pages have seals too, but accesses fault when the system has no huge page left.
    has_sealed_size(file.as_raw_fd()) && on_tmpfs(file)
}

/// Whether a descriptor number, which may be any number, is of a file with a fixed size.
fn has_sealed_size(fd: RawFd) -> bool {
    const SIZE: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    // SAFETY: only asks; files without seals, and numbers that are not open, answer with an error.
    let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
    seals >= 0 && seals & SIZE == SIZE
}

/// Whether a file lies in memory, in ordinary pages.
fn on_tmpfs(file: &File) -> bool {
    // SAFETY: zero bytes are a valid `statfs`, which the call fills.
    unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        libc::fstatfs(file.as_raw_fd(), &mut found) == 0 && found.f_type == libc::TMPFS_MAGIC
    }
}

fn same_user(file: &File, any_user: bool) -> Result<(), Refused> {
    match file.metadata() {
        Ok(data) if any_user || user::owns(data.uid()) => Ok(()),
        Ok(_) => Err(Refused::OtherUser),
        Err(_) => Err(Refused::Unreachable),
    }
}

/// Whether a descriptor is of the file that a handle names.
pub(crate) fn is_of(file: BorrowedFd<'_>, bytes: &HandleBytes) -> bool {
    let found = identity(file);
    found.is_some_and(|(device, inode, _)| (device, inode) == (long(bytes, 16), long(bytes, 24)))
}

/// Device, inode and length of a regular file. The number need not be open.
fn identity(file: BorrowedFd<'_>) -> Option<(u64, u64, u64)> {
    // SAFETY: the number is asked about and not closed.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(file.as_raw_fd()) });
    let data = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((data.dev(), data.ino(), data.len()))
}

/// Why a descriptor is not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotCopied {
    /// It is not open, or the process may have no more descriptors.
    Closed,
    /// It is not a memory file of ordinary pages with a sealed size.
    Unsealed,
}

/// Copies a descriptor, which may be any number, if it is of sealed memory. Others are not copied: closing the copy would
/// end all `fcntl` locks of the process on the file.
pub(crate) fn duplicate(fd: RawFd) -> Result<File, NotCopied> {
    // SAFETY: asks for flags; a number that is not open is an error.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(NotCopied::Closed);
    }
    if !has_sealed_size(fd) {
        return Err(NotCopied::Unsealed);
    }
    // SAFETY: for a number that is not an open descriptor the call only fails; the new one is owned here alone.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(NotCopied::Closed);
    }
    // SAFETY: new and owned here alone.
    let copy = unsafe { File::from_raw_fd(copy) };
    if sealed(&copy) {
        Ok(copy)
    } else {
        Err(NotCopied::Unsealed)
    }
}

/// The highest bits of a position that encodes a part of its file: eleven bits below the sign.
const MARK: u64 = 0x5a2;
/// The same for a part that no position can encode.
const UNTOLD: u64 = 0x5a3;
const MARK_AT: u32 = 52;
/// Allocations are aligned to this many bytes ...
const STEP: u64 = 128;
/// ... in the first page of their file, as the lowest bits of a position. The size comes above.
const STEP_BITS: u32 = 5;
const SIZE_BITS: u32 = MARK_AT - STEP_BITS;

/// The position that encodes a part of a file.
fn position_of(part: Part) -> u64 {
    let steps = part.offset / STEP;
    let told =
        part.offset.is_multiple_of(STEP) && steps >> STEP_BITS == 0 && part.size >> SIZE_BITS == 0;
    if told {
        MARK << MARK_AT | part.size << STEP_BITS | steps
    } else {
        UNTOLD << MARK_AT
    }
}

/// Offset and size that a position encodes; without a mark, all of a file of `len` bytes.
fn part_at(position: u64, len: u64) -> Option<(u64, u64)> {
    let steps = position & ((1 << STEP_BITS) - 1);
    let size = position >> STEP_BITS & ((1 << SIZE_BITS) - 1);
    match position >> MARK_AT {
        MARK => Some((steps * STEP, size)),
        UNTOLD => None,
        _ => Some((0, len)),
    }
}

/// A descriptor of the same file, marked as exported: its position encodes the part, and travels with the descriptor to
/// other processes.
///
/// # Errors
/// The descriptor cannot be reopened: too many are open, or there is no `/proc`.
pub(crate) fn mark(file: OwnedFd, part: Part) -> std::io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let fresh = OpenOptions::new().read(true).write(true).open(path)?;
    let position = position_of(part);
    // SAFETY: moves the position of a description of our own; memory files allow any.
    unsafe { libc::lseek(fresh.as_raw_fd(), position as libc::off_t, libc::SEEK_SET) };
    Ok(OwnedFd::from(fresh))
}

fn position(file: &File) -> u64 {
    // SAFETY: asks for the position.
    let position = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_CUR) };
    u64::try_from(position).unwrap_or(0)
}

/// Whether [`mark`] made the descriptor.
fn has_mark(file: &File) -> bool {
    position(file) >> MARK_AT == MARK
}

/// The part of an imported descriptor: that of [`mark`], or the whole file.
pub(crate) fn marked(file: &File) -> Option<Part> {
    let (_, _, len) = identity(file.as_fd())?;
    let (offset, size) = part_at(position(file), len)?;
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
    use crate::address_space::file_name;

    fn unsealed(len: u64) -> OwnedFd {
        // SAFETY: the name is a C string; the descriptor is new.
        let file = unsafe {
            File::from_raw_fd(libc::memfd_create(
                file_name(len).as_ptr(),
                libc::MFD_ALLOW_SEALING,
            ))
        };
        file.set_len(len).unwrap();
        file.into()
    }

    fn memory_file(len: u64) -> OwnedFd {
        let file = unsealed(len);
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
        // SAFETY: seals a file of the test's own.
        let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
        assert_eq!(sealed, 0);
        file
    }

    fn open(purpose: Purpose, bytes: &HandleBytes) -> ZeResult<(Part, OwnedFd)> {
        super::open(purpose, bytes, false)
    }

    fn open_descriptor(bytes: &HandleBytes) -> ZeResult<(Part, OwnedFd)> {
        super::open_descriptor(bytes, false)
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

    /// A named file below the temporary folder, removed when dropped.
    struct Named(std::path::PathBuf);

    impl Named {
        fn new(name: &str) -> Self {
            let name = format!("solum-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Named {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A handle as [`encode`] makes it, for any file, with a token that the sender invented.
    fn forged(file: BorrowedFd<'_>, part: Part) -> HandleBytes {
        let like = memory_file(1 << 20);
        let mut bytes = encode(Purpose::Memory, like.as_fd(), part).unwrap();
        let data = File::from(file.try_clone_to_owned().unwrap());
        let data = data.metadata().unwrap();
        let number = file.as_raw_fd().to_ne_bytes();
        let fields: [(usize, &[u8]); 4] = [
            (0, &number),
            (12, &number),
            (16, &data.dev().to_ne_bytes()),
            (24, &data.ino().to_ne_bytes()),
        ];
        for (at, value) in fields {
            for (place, byte) in bytes[at..].iter_mut().zip(value) {
                *place = *byte as c_char;
            }
        }
        bytes
    }

    #[test]
    fn memory_that_was_never_exported_cannot_be_opened() {
        let private = memory_file(1 << 20);
        let known = encode(Purpose::Memory, private.as_fd(), PART).unwrap();
        let mut guessed = known;
        guessed[56] ^= 1;
        assert!(open(Purpose::Memory, &known).is_ok());
        assert!(open(Purpose::Memory, &guessed).is_err(), "another token");
        // The process's own descriptor has no mark.
        let mut alone = known;
        alone[4..].fill(0);
        assert!(open_descriptor(&alone).is_err(), "a number alone");
    }

    #[test]
    fn a_forged_handle_opens_no_file_but_sealed_memory() {
        let named = Named::new("secret");
        let secret = vec![7_u8; 1 << 20];
        std::fs::write(&named.0, &secret).unwrap();
        let read_only = File::open(&named.0).unwrap();
        let path_only = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(&named.0)
            .unwrap();
        let deleted = Named::new("deleted");
        std::fs::write(&deleted.0, &secret).unwrap();
        let nameless = File::open(&deleted.0).unwrap();
        std::fs::remove_file(&deleted.0).unwrap();
        // SAFETY: the name is a C string; the descriptor is new, or the call fails.
        let huge = unsafe {
            libc::memfd_create(
                c"test".as_ptr(),
                libc::MFD_ALLOW_SEALING | libc::MFD_HUGETLB,
            )
        };
        // SAFETY: new and the test's own.
        let huge = (huge >= 0).then(|| unsafe { File::from_raw_fd(huge) });
        let huge = huge.filter(|file| file.set_len(2 << 20).is_ok());
        if let Some(huge) = &huge {
            let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
            // SAFETY: seals a file of the test's own.
            unsafe { libc::fcntl(huge.as_raw_fd(), libc::F_ADD_SEALS, seals) };
        }
        let only_shrink = File::from(unsealed(1 << 20));
        // SAFETY: seals a file of the test's own.
        unsafe {
            libc::fcntl(
                only_shrink.as_raw_fd(),
                libc::F_ADD_SEALS,
                libc::F_SEAL_SHRINK,
            )
        };
        let files = [
            ("an ordinary file", Some(read_only)),
            ("a path", Some(path_only)),
            ("a deleted file", Some(nameless)),
            (
                "memory that can shrink",
                Some(File::from(unsealed(1 << 20))),
            ),
            ("memory that can grow", Some(only_shrink)),
            ("huge pages", huge),
        ];
        for (name, file) in &files {
            let Some(file) = file else { continue };
            // Files without a token cannot be named; a handle that names one all the same is forged.
            let bytes = encode(Purpose::Memory, file.as_fd(), PART)
                .unwrap_or_else(|| forged(file.as_fd(), PART));
            // The descriptor itself, the one of the process, and the descriptor alone.
            let mut elsewhere = bytes;
            elsewhere[..4].fill(-1);
            let mut alone = bytes;
            alone[4..].fill(0);
            assert!(super::open_descriptor(&alone, true).is_err(), "{name}");
            for bytes in [bytes, elsewhere, alone] {
                for purpose in [Purpose::Memory, Purpose::EventPool, Purpose::CounterEvent] {
                    let refused = super::open(purpose, &bytes, true).is_err();
                    assert!(refused, "{name} as {purpose:?}");
                }
            }
            assert!(!sealed(file), "{name}");
        }
        assert_eq!(std::fs::read(&named.0).unwrap(), secret);
    }

    #[test]
    fn a_descriptor_alone_is_a_valid_handle() {
        let part = Part {
            words: [0; 2],
            offset: 256,
            ..PART
        };
        let file = mark(memory_file(1 << 20), part).unwrap();
        let mut bytes = encode(Purpose::Memory, file.as_fd(), part).unwrap();
        bytes[4..].fill(0);
        assert!(is_descriptor_alone(&bytes));
        assert_eq!(open_descriptor(&bytes).unwrap().0, part);
        for purpose in [Purpose::Memory, Purpose::EventPool, Purpose::CounterEvent] {
            assert!(open(purpose, &bytes).is_err(), "{purpose:?}");
        }
        bytes[..4].fill(-1);
        assert!(open_descriptor(&bytes).is_err());
    }

    /// Whether another process can lock the file.
    fn is_free(file: &File) -> bool {
        // SAFETY: zero bytes are a valid structure; the child asks for the lock and ends.
        unsafe {
            let mut lock: libc::flock = std::mem::zeroed();
            lock.l_type = libc::F_WRLCK as libc::c_short;
            let child = libc::fork();
            if child == 0 {
                libc::_exit(libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock) + 1);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            libc::WEXITSTATUS(status) == 1
        }
    }

    #[test]
    fn rejecting_a_descriptor_keeps_its_file_locks() {
        let named = Named::new("locked");
        std::fs::write(&named.0, [7_u8; 4096]).unwrap();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&named.0)
            .unwrap();
        // Before the lock: it closes a copy of the descriptor.
        let bytes = forged(file.as_fd(), PART);
        // SAFETY: zero bytes are a valid structure.
        unsafe {
            let mut lock: libc::flock = std::mem::zeroed();
            lock.l_type = libc::F_WRLCK as libc::c_short;
            assert_eq!(libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock), 0);
        }
        assert!(!is_free(&file));
        let mut alone = bytes;
        alone[4..].fill(0);
        for purpose in [Purpose::Memory, Purpose::EventPool, Purpose::CounterEvent] {
            assert!(open(purpose, &bytes).is_err());
        }
        assert!(open_descriptor(&alone).is_err());
        assert!(!is_of(file.as_fd(), &alone));
        assert_eq!(duplicate(file.as_raw_fd()).err(), Some(NotCopied::Unsealed));
        assert!(!is_free(&file), "the lock is still held");
    }

    /// The owner is judged before the file is opened for reading and writing. Needs the rights of root.
    #[test]
    fn another_users_file_is_rejected_before_it_is_opened() {
        let theirs = std::thread::spawn(|| {
            // SAFETY: changes this thread's user for files alone; the thread ends here.
            unsafe { libc::syscall(libc::SYS_setfsuid, 4_321) };
            memory_file(1 << 20)
        });
        let theirs = File::from(theirs.join().unwrap());
        if theirs.metadata().unwrap().uid() != 4_321 {
            println!("skipped: this user cannot make files of another user");
            return;
        }
        let number = theirs.as_raw_fd() as u32;
        let refused = reopen(std::process::id(), number, |_| true, false);
        assert_eq!(refused.err(), Some(Refused::OtherUser));
        let named = Named::new("reopened");
        std::fs::write(&named.0, [7_u8; 4096]).unwrap();
        let ordinary = File::open(&named.0).unwrap();
        let number = ordinary.as_raw_fd() as u32;
        let refused = reopen(std::process::id(), number, |_| true, true);
        assert_eq!(refused.err(), Some(Refused::Unsealed));
    }

    /// Another user's memory, made by a thread whose files belong to that user. Needs the rights of root.
    #[test]
    fn memory_of_another_user_needs_consent() {
        let theirs = std::thread::spawn(|| {
            // SAFETY: changes this thread's user for files alone; the thread ends here.
            unsafe { libc::syscall(libc::SYS_setfsuid, 4_321) };
            memory_file(1 << 20)
        });
        let theirs = File::from(theirs.join().unwrap());
        if theirs.metadata().unwrap().uid() != 4_321 {
            println!("skipped: this user cannot make files of another user");
            return;
        }
        let bytes = encode(Purpose::EventPool, theirs.as_fd(), PART).unwrap();
        let mut elsewhere = bytes;
        elsewhere[..4].fill(-1);
        for bytes in [bytes, elsewhere] {
            assert!(super::open(Purpose::EventPool, &bytes, false).is_err());
            assert!(super::open(Purpose::EventPool, &bytes, true).is_ok());
        }
    }

    #[test]
    fn a_marked_descriptor_encodes_its_part() {
        // (offset, size, whether it can be told)
        for (offset, size, told) in [
            (0, 1 << 20, true),
            (128, 1, true),
            (31 * 128, 5000, true),
            (31 * 128, (3 << 27) + 5, true),
            (4096, 5000, false),
            (64, 5000, false),
        ] {
            let part = Part {
                offset,
                size,
                words: [0; 2],
            };
            // With others behind it, alone, and in a file that ends with a page.
            for behind in [2 * size, 0, 4096] {
                let file = File::from(mark(memory_file(offset + size + behind), part).unwrap());
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
        // Positions from outside: one that exceeds the file, and one that is not a mark.
        let file = File::from(memory_file(8192));
        for (position, part) in [
            (MARK << MARK_AT | 8193 << STEP_BITS, None),
            (MARK << MARK_AT | 8192 << STEP_BITS | 1, None),
            (MARK << MARK_AT, None),
            (MARK << MARK_AT | u64::from(u32::MAX), None),
            (i64::MAX as u64, Some((0, 8192))),
            (77, Some((0, 8192))),
        ] {
            // SAFETY: moves the position of a file of the test's own.
            unsafe { libc::lseek(file.as_raw_fd(), position as i64, libc::SEEK_SET) };
            let found = marked(&file).map(|part| (part.offset, part.size));
            assert_eq!(found, part, "{position:#x}");
        }
        for number in [-1, 1 << 20] {
            assert_eq!(duplicate(number).err(), Some(NotCopied::Closed));
        }
    }
}
