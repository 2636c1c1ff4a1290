//! Memory for entries that live as long as the process.

use std::alloc::Layout;

const CHUNK: usize = 256 << 10;
/// Bytes whose pages are populated together.
const STEP: usize = 32 << 10;

/// A bump allocator; used under its owner's lock.
#[derive(Debug)]
pub(crate) struct Arena {
    at: usize,
    /// The populated pages end here.
    populated: usize,
    end: usize,
    chunk: *mut u8,
}

// SAFETY: only its owner's lock holder touches it.
unsafe impl Send for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self {
            at: 0,
            populated: 0,
            end: 0,
            chunk: core::ptr::null_mut(),
        }
    }

    /// `size` bytes aligned to 8, uninitialised; `None` if memory is short.
    pub(crate) fn allocate(&mut self, size: usize) -> Option<*mut u8> {
        let size = size.checked_next_multiple_of(8)?;
        if size > STEP {
            let layout = Layout::from_size_align(size, 8).ok()?;
            // SAFETY: a size that is not 0.
            let memory = unsafe { std::alloc::alloc(layout) };
            return (!memory.is_null()).then_some(memory);
        }
        if self.end - self.at < size {
            let layout = Layout::from_size_align(CHUNK, 64).ok()?;
            // SAFETY: a size that is not 0.
            let chunk = unsafe { std::alloc::alloc(layout) };
            if chunk.is_null() {
                return None;
            }
            (self.chunk, self.at, self.populated, self.end) = (chunk, 0, 0, CHUNK);
        }
        if self.at + size > self.populated {
            // SAFETY: a step inside the chunk, which has whole steps.
            unsafe { populate(self.chunk.add(self.populated), STEP) };
            self.populated += STEP;
        }
        // SAFETY: `at + size` lies inside the chunk.
        let memory = unsafe { self.chunk.add(self.at) };
        self.at += size;
        Some(memory)
    }

    /// A NUL-terminated copy of `bytes`.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> Option<*const core::ffi::c_char> {
        let memory = self.allocate(bytes.len().checked_add(1)?)?;
        // SAFETY: fresh memory of that size.
        unsafe {
            memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            memory.add(bytes.len()).write(0);
        }
        Some(memory.cast_const().cast())
    }
}

/// Zeroed memory forever, in the system's large pages if it has them; `None` if it is smaller than one, or memory is
/// short.
pub(crate) fn large_pages(size: usize) -> Option<*mut u8> {
    const LARGE: usize = 2 << 20;
    if size < LARGE {
        return None;
    }
    // One page more, so that the first can be aligned; the rest is never touched.
    let (all, access) = (size.checked_add(LARGE)?, libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping; no other mapping is replaced.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), all, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: inside the mapping, by the one more; a kernel without large pages refuses the advice, and nothing is lost.
    unsafe {
        let first = start.byte_add(start.addr().wrapping_neg() % LARGE);
        libc::madvise(first, size, libc::MADV_HUGEPAGE);
        Some(first.cast())
    }
}

/// Populates pages at once: one call costs less than a fault for each.
///
/// # Safety
/// The caller owns the memory.
pub(crate) unsafe fn populate(memory: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let skip = memory.addr().wrapping_neg() % PAGE;
    if size < skip + PAGE {
        return;
    }
    // SAFETY: whole pages of the caller; kernels that do not know the advice reject it, which does no harm.
    unsafe {
        libc::madvise(
            memory.byte_add(skip).cast(),
            (size - skip) & !(PAGE - 1),
            libc::MADV_POPULATE_WRITE,
        )
    };
}
