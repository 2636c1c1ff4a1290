//! Sleeping on a word of memory.

use std::sync::atomic::AtomicU32;

/// The threads that may wait on a word, or wake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Threads of this process.
    Process,
    /// Any process that maps the memory.
    Shared,
}

impl Scope {
    fn flag(self) -> i32 {
        match self {
            Self::Process => libc::FUTEX_PRIVATE_FLAG,
            Self::Shared => 0,
        }
    }
}

/// Sleeps while `word` holds `value`, at most `limit_ns`. May return early.
pub(crate) fn wait(word: &AtomicU32, value: u32, limit_ns: Option<u64>, scope: Scope) {
    let time = limit_ns.map(|ns| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    });
    // SAFETY: the word lives as long as the borrow; the time, when there is one, until the return.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | scope.flag(),
            value,
            time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
        );
    }
}

/// Wakes up to `count` threads that sleep on `word`.
pub(crate) fn wake(word: &AtomicU32, count: usize, scope: Scope) {
    // SAFETY: the word lives as long as the borrow.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | scope.flag(),
            i32::try_from(count).unwrap_or(i32::MAX),
        );
    }
}
