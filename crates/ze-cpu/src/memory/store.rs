//! A mapped range of shared memory: anonymous, or in a memory file that other processes can be given.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};

use super::map::PAGE;
use ze_driver::device::NoFile;

/// A range of shared memory, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Store {
    base: usize,
    len: u64,
    /// The file behind it, and the offset of `base` there. Anonymous memory has none.
    file: Option<(File, u64)>,
}

/// A new memory file of `len` bytes, sealed against changes of its size: a process that receives it cannot turn our
/// accesses into faults by making it shorter.
///
/// # Errors
/// The reason of the system, for example a limit on file sizes or on descriptors.
pub(crate) fn memory_file(len: u64) -> Result<File, NoFile> {
    let refused = |error: io::Error| NoFile {
        errno: error.raw_os_error().unwrap_or(libc::ENOMEM),
    };
    // A handle has to tell the name, so that no other process can make one up.
    let token = crate::random::bytes().map_err(refused)?;
    let name = ze_driver::address_space::file_name(u64::from_ne_bytes(token));
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // Linux 6.3 can be set to refuse files that do not say that they hold no program; earlier ones do not know the flag.
    // SAFETY: the name is a C string; the call gives a new descriptor or -1.
    let fd = unsafe {
        match libc::memfd_create(name.as_ptr(), flags | libc::MFD_NOEXEC_SEAL) {
            -1 if *libc::__errno_location() == libc::EINVAL => {
                libc::memfd_create(name.as_ptr(), flags)
            }
            fd => fd,
        }
    };
    if fd < 0 {
        return Err(refused(io::Error::last_os_error()));
    }
    // SAFETY: `fd` is new and ours alone.
    let file = unsafe { File::from_raw_fd(fd) };
    // Beyond RLIMIT_FSIZE the system would end the process by SIGXFSZ.
    signal_mask::without_write_signals(|| file.set_len(len)).map_err(refused)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: changes only the seals of a file that is ours alone.
    if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } != 0 {
        return Err(refused(io::Error::last_os_error()));
    }
    Ok(file)
}

/// Maps `len` bytes at a multiple of `align` (a power of two, at least a page): of a file from `offset` on, or anonymous
/// shared memory.
fn map_shared(len: u64, align: u64, file: Option<(BorrowedFd<'_>, u64)>) -> Option<usize> {
    let (fd, from, anonymous) = match file {
        Some((file, offset)) => (file.as_raw_fd(), libc::off_t::try_from(offset).ok()?, 0),
        None => (-1, 0, libc::MAP_ANONYMOUS),
    };
    let room = usize::try_from(len.checked_add(align)?).ok()?;
    // SAFETY: reserves fresh address space; nothing is mapped over.
    let reserved = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            room,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if reserved == libc::MAP_FAILED {
        return None;
    }
    let start = reserved as usize;
    let base = start.next_multiple_of(align as usize);
    let end = base + len as usize;
    // SAFETY: `base..end` lies in the reservation just made; the rest of it on either side is unmapped and in use by
    // nobody.
    unsafe {
        let mapped = libc::mmap(
            base as *mut libc::c_void,
            len as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE | anonymous,
            fd,
            from,
        );
        if mapped == libc::MAP_FAILED {
            libc::munmap(reserved, room);
            return None;
        }
        if base > start {
            libc::munmap(reserved, base - start);
        }
        if start + room > end {
            libc::munmap(end as *mut libc::c_void, start + room - end);
        }
    }
    Some(base)
}

impl Store {
    /// `len` bytes without a file, the base a multiple of `align` (at least a page, a power of two). Pages come when they
    /// are touched.
    pub(crate) fn anonymous(len: u64, align: u64) -> Option<Self> {
        let base = map_shared(len, align, None)?;
        let file = None;
        Some(Self { base, len, file })
    }

    /// As [`Self::anonymous`], in a new memory file from its first byte on.
    ///
    /// # Errors
    /// As [`memory_file`]; ENOMEM where there is no address space.
    pub(crate) fn in_file(len: u64, align: u64) -> Result<Self, NoFile> {
        let no_room = NoFile {
            errno: libc::ENOMEM,
        };
        Self::view(memory_file(len)?, 0, len, align).ok_or(no_room)
    }

    /// As [`Self::anonymous`], over a part of a file that has it.
    pub(crate) fn view(file: File, offset: u64, len: u64, align: u64) -> Option<Self> {
        let base = map_shared(len, align, Some((file.as_fd(), offset)))?;
        let file = Some((file, offset));
        Some(Self { base, len, file })
    }

    /// Pages that are not there yet come from that node.
    pub(crate) fn prefer(&self, node: Option<u32>) {
        if let Some(node) = node {
            super::node::prefer(self.base, self.len, node);
        }
    }

    pub(crate) fn base(&self) -> usize {
        self.base
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The file behind it, and the offset of its first byte there.
    pub(crate) fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        let (file, offset) = self.file.as_ref()?;
        Some((file.as_fd(), *offset))
    }

    /// Whether `address` lies in it.
    pub(crate) fn holds(&self, address: usize) -> bool {
        address
            .checked_sub(self.base)
            .is_some_and(|offset| (offset as u64) < self.len)
    }

    /// Moves the mapping to `base` in one step, over whatever is mapped there.
    ///
    /// # Safety
    /// `base..base + len` is the caller's to replace.
    pub(crate) unsafe fn move_over(&mut self, base: usize) -> bool {
        // SAFETY: the range moved is this store's; the caller gives the one that it replaces.
        let moved = unsafe { remap(self.base, self.len, self.len, Some(base)) };
        if moved.is_some() {
            self.base = base;
        }
        moved.is_some()
    }

    /// Leaves the range mapped: it belongs to somebody else from here on.
    pub(crate) fn give_up_range(mut self) {
        self.len = 0;
    }

    /// Gives the pages of a part back to the system; it reads as zeros afterwards.
    pub(crate) fn empty(&self, base: usize, len: u64) {
        if self.holds(base) && len <= self.len - (base - self.base) as u64 {
            remove_pages(base, len);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by this type, `base` and `len` kept up to date since; its allocation is freed.
            unsafe { libc::munmap(self.base as *mut libc::c_void, self.len as usize) };
        }
    }
}

/// `mremap` of `old_len` bytes to `len` bytes, at `target` or anywhere; none when the system refuses.
///
/// # Safety
/// The range moved and the target are the caller's.
unsafe fn remap(base: usize, old_len: u64, len: u64, target: Option<usize>) -> Option<usize> {
    let fixed = target.map_or(0, |_| libc::MREMAP_FIXED);
    // SAFETY: the caller's promise.
    let mapped = unsafe {
        libc::mremap(
            base as *mut libc::c_void,
            old_len as usize,
            len as usize,
            libc::MREMAP_MAYMOVE | fixed,
            target.unwrap_or(0) as *mut libc::c_void,
        )
    };
    (mapped != libc::MAP_FAILED).then_some(mapped as usize)
}

/// Gives the pages of a range of shared memory back to the system.
fn remove_pages(base: usize, len: u64) {
    // SAFETY: the callers own the range, whose contents nobody needs any more. When the call fails the pages stay, which
    // costs memory but breaks nothing.
    unsafe { libc::madvise(base as *mut libc::c_void, len as usize, libc::MADV_REMOVE) };
}

/// A second view of anonymous shared pages, which keeps them reachable while their range shows a file.
#[derive(Debug)]
pub(super) struct Alias {
    base: usize,
    len: u64,
}

impl Alias {
    /// Of whole pages in one [`Store::anonymous`].
    pub(super) fn of(base: usize, len: u64) -> Option<Self> {
        debug_assert!((base as u64).is_multiple_of(PAGE) && len.is_multiple_of(PAGE));
        // SAFETY: an old size of 0 maps the pages of a shared range once more, and leaves that as it is.
        let base = unsafe { remap(base, 0, len, None) }?;
        Some(Self { base, len })
    }

    #[cfg(test)]
    pub(super) fn base(&self) -> usize {
        self.base
    }

    /// Gives the pages back to the system; the range stays.
    pub(super) fn empty(&self) {
        remove_pages(self.base, self.len);
    }

    /// Shows the pages at `base` again, in one step.
    ///
    /// # Safety
    /// `base..base + len` is the caller's to replace.
    pub(super) unsafe fn move_back(mut self, base: usize) -> bool {
        // SAFETY: the range moved is this alias; the caller gives the one that it replaces.
        let moved = unsafe { remap(self.base, self.len, self.len, Some(base)) };
        if moved.is_some() {
            self.len = 0;
        }
        moved.is_some()
    }
}

impl Drop for Alias {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by `of`, known to nobody else.
            unsafe { libc::munmap(self.base as *mut libc::c_void, self.len as usize) };
        }
    }
}
