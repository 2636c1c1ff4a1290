//! A mapped range of shared memory: anonymous, or in a memory file that can be sent to other processes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::sync::OnceLock;

use super::map::PAGE;
use ze_driver::device::NoFile;

/// A range of shared memory, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Store {
    base: usize,
    len: u64,
    /// The file of the store, and the offset of `base` there. Anonymous memory has none.
    file: Option<(File, u64)>,
    /// See [`Self::pages`].
    pages: OnceLock<Option<Alias>>,
}

/// A new memory file of `len` bytes, sealed against changes of its size: a process that receives it cannot turn our
/// accesses into faults by making it shorter.
///
/// # Errors
/// The system's error, for example a limit on file sizes or on descriptors.
pub(crate) fn memory_file(len: u64) -> Result<File, NoFile> {
    let refused = |error: io::Error| NoFile {
        errno: error.raw_os_error().unwrap_or(libc::ENOMEM),
    };
    // A handle contains the name, so that no other process can invent one.
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
    // SAFETY: `fd` is new and owned here alone.
    let file = unsafe { File::from_raw_fd(fd) };
    // Beyond RLIMIT_FSIZE the system would end the process by SIGXFSZ.
    signal_mask::without_write_signals(|| file.set_len(len)).map_err(refused)?;
    if counts_promised_memory() {
        reserve(&file, len).map_err(refused)?;
    }
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: changes only the seals of a file that is owned here alone.
    if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } != 0 {
        return Err(refused(io::Error::last_os_error()));
    }
    Ok(file)
}

/// Whether the system refuses memory that it may not have later (`vm.overcommit_memory=2`). It counts a memory file's pages
/// when they are touched, and a page that it does not have then ends the process by SIGBUS.
fn counts_promised_memory() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    *COUNTS.get_or_init(|| {
        let mode = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
        mode.is_ok_and(|mode| mode.trim() == "2")
    })
}

/// Allocates all pages of a file now.
fn reserve(file: &File, len: u64) -> io::Result<()> {
    let len = libc::off_t::try_from(len).map_err(io::Error::other)?;
    signal_mask::without_write_signals(|| {
        // SAFETY: an open file; no memory of this process changes.
        match unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, len) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    })
}

/// Whether the descriptor is among the lower half of those that the process may have: the upper half is the program's.
fn is_in_lower_half(file: &File) -> bool {
    // SAFETY: zero bytes are a valid structure of numbers, which the call fills.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        match libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) {
            0 => limit.rlim_cur,
            _ => 0,
        }
    };
    (file.as_raw_fd() as u64) < limit / 2
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
    // SAFETY: `base..end` lies in the reservation just made; the rest of it on either side is unmapped and
    // unused.
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
        Some(Self::of(base, len, None))
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

    /// As [`Self::in_file`], as long as the program has descriptors to spare.
    pub(crate) fn in_spare_file(len: u64, align: u64) -> Option<Self> {
        let file = memory_file(len).ok().filter(is_in_lower_half)?;
        Self::view(file, 0, len, align)
    }

    /// As [`Self::anonymous`], over a part of a file that has it.
    pub(crate) fn view(file: File, offset: u64, len: u64, align: u64) -> Option<Self> {
        let base = map_shared(len, align, Some((file.as_fd(), offset)))?;
        Some(Self::of(base, len, Some((file, offset))))
    }

    fn of(base: usize, len: u64, file: Option<(File, u64)>) -> Self {
        let pages = OnceLock::new();
        Self {
            base,
            len,
            file,
            pages,
        }
    }

    /// A second view of an anonymous store's own pages, which keeps them accessible while parts of the range map files.
    /// The first call creates it, while the whole range still maps them; a later one does not try again. `None` if the
    /// system fails, for example beyond a limit on address space, or under Valgrind.
    pub(super) fn pages(&self) -> Option<&Alias> {
        let pages = self.pages.get_or_init(|| Alias::of(self.base, self.len));
        pages.as_ref()
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

    /// The file of the store, and the offset of its first byte there.
    pub(crate) fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        let (file, offset) = self.file.as_ref()?;
        Some((file.as_fd(), *offset))
    }

    /// Whether only this process has its pages, and only in this mapping.
    pub(super) fn is_private(&self) -> bool {
        self.file.is_none() && self.pages.get().is_none()
    }

    /// Whether `address` is in it.
    pub(crate) fn holds(&self, address: usize) -> bool {
        address
            .checked_sub(self.base)
            .is_some_and(|offset| (offset as u64) < self.len)
    }

    /// Moves the mapping to `base` in one step, replacing the mapping there.
    ///
    /// # Safety
    /// The caller owns `base..base + len`.
    pub(crate) unsafe fn move_over(&mut self, base: usize) -> bool {
        // SAFETY: the range moved is this store's; the caller gives the one that it replaces.
        let moved = unsafe { remap(self.base, self.len, self.len, Some(base)) };
        if moved.is_some() {
            self.base = base;
        }
        moved.is_some()
    }

    /// Moves `len` bytes of the mapping, from `offset` on, to `to` in one step, over whatever is mapped there. The rest of the
    /// mapping stays: [`Self::moved_to`] says that all parts have been moved.
    ///
    /// # Safety
    /// The part lies in the store; `to..to + len` is the caller's to replace.
    pub(crate) unsafe fn move_part_over(&self, offset: u64, len: u64, to: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { remap(self.base + offset as usize, len, len, Some(to)).is_some() }
    }

    /// Records that the mapping is at `base` now, after all its parts were moved there.
    pub(crate) fn moved_to(&mut self, base: usize) {
        self.base = base;
    }

    /// Keeps only the mapping from `offset` on: the range before it has another owner.
    pub(crate) fn give_up_front(&mut self, offset: u64) {
        self.base += offset as usize;
        self.len -= offset;
    }

    /// Leaves the range mapped: it has another owner from here on.
    pub(crate) fn give_up_range(mut self) {
        self.len = 0;
    }

    /// Returns the pages of a part to the system; it reads as zeros afterwards.
    pub(crate) fn empty(&self, base: usize, len: u64) {
        if self.holds(base) && len <= self.len - (base - self.base) as u64 {
            clear_pages(base, len);
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
/// The caller owns the moved range and the target.
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

/// Returns the pages of a range of shared memory to the system. `false` if it keeps locked pages, with their contents.
fn remove_pages(base: usize, len: u64) -> bool {
    // SAFETY: the callers own the range, whose contents are no longer needed.
    unsafe { libc::madvise(base as *mut libc::c_void, len as usize, libc::MADV_REMOVE) == 0 }
}

/// As [`remove_pages`]; the range reads as zeros afterwards, even if the system keeps the pages.
fn clear_pages(base: usize, len: u64) {
    if !remove_pages(base, len) {
        // SAFETY: as there; the range is mapped for writing.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0, len as usize) };
    }
}

/// A second view of a whole [`Store::anonymous`].
#[derive(Debug)]
pub(super) struct Alias {
    base: usize,
    len: u64,
}

impl Alias {
    fn of(base: usize, len: u64) -> Option<Self> {
        debug_assert!((base as u64).is_multiple_of(PAGE) && len.is_multiple_of(PAGE));
        // SAFETY: an old size of 0 maps the pages of a shared range once more, and leaves that as it is.
        let base = unsafe { remap(base, 0, len, None) }?;
        let view = Self { base, len };
        // The view has what the program set for the first page, for example that children do not inherit it. Its pages count
        // once: they are locked and written to core dumps where the store shows them.
        // SAFETY: the view is fresh, and no other thread knows it.
        unsafe {
            let at = base as *mut libc::c_void;
            libc::madvise(at, len as usize, libc::MADV_DOFORK);
            libc::madvise(at, len as usize, libc::MADV_DONTDUMP);
            libc::munlock(at, len as usize);
            let all = libc::PROT_READ | libc::PROT_WRITE;
            (libc::mprotect(at, len as usize, all) == 0).then_some(view)
        }
    }

    /// Address of the byte that lies `offset` bytes into the store.
    #[cfg(test)]
    pub(super) fn at(&self, offset: u64) -> usize {
        debug_assert!(offset < self.len);
        self.base + offset as usize
    }

    /// Returns the pages of a part to the system, if it takes them.
    pub(super) fn empty_part(&self, offset: u64, len: u64) {
        debug_assert!(offset + len <= self.len);
        remove_pages(self.base + offset as usize, len);
    }

    /// Makes the pages of a part zero.
    pub(super) fn clear_part(&self, offset: u64, len: u64) {
        debug_assert!(offset + len <= self.len);
        clear_pages(self.base + offset as usize, len);
    }

    /// Shows the pages of a part at `base` again, in one step.
    ///
    /// # Safety
    /// `base..base + len` is the caller's to replace.
    pub(super) unsafe fn show_part(&self, offset: u64, len: u64, base: usize) -> bool {
        debug_assert!(offset + len <= self.len);
        // SAFETY: an old size of 0 leaves the view as it is; the caller gives the range that is replaced.
        unsafe { remap(self.base + offset as usize, 0, len, Some(base)).is_some() }
    }
}

impl Drop for Alias {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by `of`, and not known to other threads.
            unsafe { libc::munmap(self.base as *mut libc::c_void, self.len as usize) };
        }
    }
}
