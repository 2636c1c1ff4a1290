//! The memory of wrappers: one reserved range of addresses, so that one comparison distinguishes wrappers from other
//! handles.
//!
//! Reserved when the first driver is wrapped, made accessible page by page, never freed: other threads' calls may still
//! use a wrapper when the library is unloaded. A loader that is closed and opened again reserves another range, which
//! costs address space, and the pages of wrappers that were alive at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Sizes to try, largest first, because address space may be limited.
const SIZES: [usize; 3] = [1 << 32, 1 << 28, 1 << 24];
/// Bytes that are made accessible at a time.
const STEP: usize = 1 << 20;
/// Bytes that are allocated at a time.
pub(super) const PAGE: usize = 4096;

static BASE: AtomicUsize = AtomicUsize::new(0);
/// Bytes from the base that may be read; 0 until the first wrapper.
static ACCESSIBLE: AtomicUsize = AtomicUsize::new(0);

struct Range {
    /// The pointer to the whole range; null before it is reserved.
    start: *mut u8,
    size: usize,
    used: usize,
}

// SAFETY: an address of memory that is never given back.
unsafe impl Send for Range {}

static RANGE: Mutex<Range> = Mutex::new(Range {
    start: std::ptr::null_mut(),
    size: 0,
    used: 0,
});

/// Whether `address` may be read as a wrapper, live or not. False for all addresses while no driver is wrapped.
#[inline(always)]
pub(crate) fn holds(address: usize) -> bool {
    // Relaxed is enough: a wrapper reaches the caller by its own happens-before edge.
    address.wrapping_sub(BASE.load(Ordering::Relaxed)) < ACCESSIBLE.load(Ordering::Relaxed)
}

/// Whether a driver is wrapped.
pub(crate) fn is_in_use() -> bool {
    ACCESSIBLE.load(Ordering::Relaxed) != 0
}

fn reserve() -> Option<(*mut u8, usize)> {
    SIZES.into_iter().find_map(|size| {
        // SAFETY: a fresh anonymous mapping; nothing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        (start != libc::MAP_FAILED).then_some((start.cast(), size))
    })
}

/// A page of zeroed memory for wrappers, owned by the caller; `None` if memory or the range is exhausted.
pub(super) fn page() -> Option<*mut u8> {
    let mut range = RANGE.lock().unwrap_or_else(PoisonError::into_inner);
    if range.start.is_null() {
        (range.start, range.size) = reserve()?;
    }
    if range.used == range.size {
        return None;
    }
    let accessible = ACCESSIBLE.load(Ordering::Relaxed);
    if range.used == accessible {
        // SAFETY: a part of the range that is not used yet.
        let failed = unsafe {
            libc::mprotect(
                range.start.add(accessible).cast(),
                STEP,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if failed != 0 {
            return None;
        }
        BASE.store(range.start.addr(), Ordering::Release);
        ACCESSIBLE.store(accessible + STEP, Ordering::Release);
    }
    // SAFETY: within the accessible part.
    let page = unsafe { range.start.add(range.used) };
    range.used += PAGE;
    Some(page)
}
