//! A mapped memory file.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

/// A memory file, or a part of one, mapped once.
#[derive(Debug)]
pub(crate) struct Store {
    base: usize,
    len: u64,
    offset: u64,
    file: File,
}

/// A memory file of `len` bytes. Nobody who gets it can make it shorter, which would turn accesses into faults.
pub(crate) fn memory_file(len: u64) -> Option<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string; the call gives a new descriptor or -1.
    let fd = unsafe { libc::memfd_create(c"solum".as_ptr(), flags) };
    if fd < 0 {
        return None;
    }
    // SAFETY: `fd` is new and ours alone.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(len).ok()?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: changes only the file's seals; a kernel that refuses leaves a file that works.
    unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) };
    Some(file)
}

impl Store {
    /// `len` bytes, the base a multiple of `align` (at least a page, a power of two). Pages come when
    /// they are touched.
    pub(crate) fn map(len: u64, align: u64) -> Option<Self> {
        Self::view(memory_file(len)?, 0, len, align)
    }

    /// As [`Self::map`], over a part of a file that has it.
    pub(crate) fn view(file: File, offset: u64, len: u64, align: u64) -> Option<Self> {
        let from = libc::off_t::try_from(offset).ok()?;
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
        // SAFETY: `base..end` lies in the reservation just made; what is left of it on either side is
        // unmapped and used by nobody.
        unsafe {
            let mapped = libc::mmap(
                base as *mut libc::c_void,
                len as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
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
        Some(Self {
            base,
            len,
            offset,
            file,
        })
    }

    /// Pages that are not there yet come from that node.
    pub(crate) fn prefer(&self, node: Option<u32>) {
        if let Some(node) = node {
            super::node::prefer(self.base, self.len, node);
        }
    }

    /// Where in the file it begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn base(&self) -> usize {
        self.base
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Whether `address` lies in it.
    pub(crate) fn holds(&self, address: usize) -> bool {
        address
            .checked_sub(self.base)
            .is_some_and(|offset| (offset as u64) < self.len)
    }

    /// Gives the pages of a part back to the system; it reads as zeros afterwards.
    pub(crate) fn empty(&self, base: usize, len: u64) {
        if !self.holds(base) || len > self.len - (base - self.base) as u64 {
            return;
        }
        // SAFETY: the part lies in the file and belongs to no allocation any more. When the call
        // fails the pages stay, which costs memory but breaks nothing.
        unsafe {
            libc::fallocate(
                self.descriptor(),
                libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
                (base - self.base) as libc::off_t,
                len as libc::off_t,
            );
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, `base` and `len` unchanged since; its allocation is freed.
        unsafe {
            libc::munmap(self.base as *mut libc::c_void, self.len as usize);
        }
    }
}
