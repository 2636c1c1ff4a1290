//! Blocks signals on a thread while it works for a device.
//!
//! The program's signal handlers run on the program's threads: every thread of the driver or its compiler is started
//! while a [`HeldSignals`] lives, and inherits its mask. Signals that code raises are never blocked, because a fault
//! whose signal is blocked ends the process.
//!
//! Calls that write files are wrapped in [`without_write_signals`]: the process's limit on file sizes is then an error,
//! and no signal.
//!
//! Invariant: dropping the value restores the thread's earlier mask. Not here: handlers (`ze-cpu`'s faults), masks
//! around `fork`, and SYCL's threads, which run host tasks: those are the program's code and have its mask.

mod limits;
mod write;
pub use limits::address_space_limit;

pub use write::{
    file_size_limit, name_file_size_limit, without_write_signals, write_descriptor, write_stderr,
};

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, c_int, sigset_t};
use std::marker::PhantomData;
use std::mem::zeroed;
use std::ptr::null_mut;

/// Signals that code raises, on the thread that runs it.
pub const RAISED: [c_int; 7] = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS];

/// Whether the calling thread has blocked signals that code raises: one system call.
pub fn raised_are_blocked() -> bool {
    // SAFETY: zero bytes are a valid set, which the call fills.
    unsafe {
        let mut mask: sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask) != 0
            || RAISED
                .into_iter()
                .any(|signal| libc::sigismember(&mask, signal) == 1)
    }
}

/// While it lives, the calling thread holds back the signals that no code raises, and the threads that it starts do so
/// for good.
#[must_use = "signals are held back as long as the value lives"]
pub struct HeldSignals {
    before: sigset_t,
    raised_were_blocked: bool,
    /// A mask is its thread's.
    _of_this_thread: PhantomData<*const ()>,
}

impl HeldSignals {
    /// Blocks all signals. `None` if the system fails; then nothing is blocked.
    pub fn all() -> Option<Self> {
        Self::all_but([])
    }

    /// Blocks all signals except those in `open`, which the thread keeps as they are.
    pub fn all_but(open: impl IntoIterator<Item = c_int>) -> Option<Self> {
        // SAFETY: zero bytes are a valid, empty set; the calls read and write these sets alone.
        unsafe {
            let (mut held, mut raised, mut before): (sigset_t, sigset_t, sigset_t) = zeroed();
            libc::sigfillset(&mut held);
            for signal in RAISED {
                libc::sigaddset(&mut raised, signal);
            }
            for signal in RAISED.into_iter().chain(open) {
                libc::sigdelset(&mut held, signal);
            }
            // Added to the thread's own mask, so that its blocked signals stay blocked.
            if libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before) != 0 {
                return None;
            }
            let blocked = |signal| libc::sigismember(&before, signal) == 1;
            let raised_were_blocked = RAISED.into_iter().any(blocked);
            if raised_were_blocked {
                libc::pthread_sigmask(libc::SIG_UNBLOCK, &raised, null_mut());
            }
            Some(Self {
                before,
                raised_were_blocked,
                _of_this_thread: PhantomData,
            })
        }
    }

    /// Whether the thread itself has blocked signals that code raises.
    pub fn raised_were_blocked(&self) -> bool {
        self.raised_were_blocked
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: puts back the mask that this thread had; the set was filled by the system.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::{SIGINT, SIGTERM, SIGUSR1};

    /// Of these, the ones that this thread has blocked.
    fn blocked(signals: &[c_int]) -> Vec<c_int> {
        // SAFETY: zero bytes are a valid set, which the call fills.
        unsafe {
            let mut mask: sigset_t = zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut mask);
            let is_blocked = |signal: &c_int| libc::sigismember(&mask, *signal) == 1;
            signals.iter().copied().filter(is_blocked).collect()
        }
    }

    /// As a program's thread would have it.
    fn block(signals: &[c_int]) {
        // SAFETY: zero bytes are a valid set.
        unsafe {
            let mut mask: sigset_t = zeroed();
            for signal in signals {
                libc::sigaddset(&mut mask, *signal);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &mask, null_mut());
        }
    }

    const LOOKED_AT: [c_int; 5] = [SIGINT, SIGTERM, SIGUSR1, SIGSEGV, SIGTRAP];

    #[test]
    fn masks_are_as_requested_and_restored() {
        // The thread's own mask, the signals left open, those blocked meanwhile, and whether raised ones were.
        type Case<'a> = (&'a [c_int], &'a [c_int], &'a [c_int], bool);
        let cases: [Case<'_>; 5] = [
            (&[], &[], &[SIGINT, SIGTERM, SIGUSR1], false),
            (&[SIGUSR1], &[], &[SIGINT, SIGTERM, SIGUSR1], false),
            (&[], &[SIGINT, SIGTERM], &[SIGUSR1], false),
            (&[SIGINT], &[SIGINT, SIGTERM], &[SIGINT, SIGUSR1], false),
            (
                &[SIGTERM, SIGSEGV],
                &[SIGTERM],
                &[SIGINT, SIGTERM, SIGUSR1],
                true,
            ),
        ];
        for (own, open, meanwhile, raised) in cases {
            block(own);
            assert_eq!(raised_are_blocked(), raised, "{own:?}");
            let held = HeldSignals::all_but(open.iter().copied());
            assert_eq!(blocked(&LOOKED_AT), meanwhile, "{own:?} {open:?}");
            let inherited = std::thread::spawn(|| blocked(&LOOKED_AT)).join();
            assert_eq!(
                inherited.ok().as_deref(),
                Some(meanwhile),
                "{own:?} {open:?}"
            );
            assert_eq!(held.map(|held| held.raised_were_blocked()), Some(raised));
            assert_eq!(blocked(&LOOKED_AT), own, "{own:?} {open:?}");
        }
    }
}
