//! Atomics, loom's under its model checker; and the lock of writers.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

#[cfg(not(loom))]
pub(crate) use lock::Lock;

#[cfg(not(loom))]
mod lock {
    use core::sync::atomic::{AtomicU32, Ordering};

    /// A lock that is held for a few instructions, on a separate cache line. Never held while foreign code runs, except
    /// C++'s `operator new` and `delete`. `fork.rs` knows all of them.
    #[repr(align(64))]
    #[derive(Debug)]
    pub(crate) struct Lock(AtomicU32);

    /// The lock is held while this lives.
    #[derive(Debug)]
    pub(crate) struct Held<'a>(&'a Lock);

    impl Lock {
        pub(crate) const fn new() -> Self {
            Self(AtomicU32::new(0))
        }

        #[inline]
        pub(crate) fn hold(&self) -> Held<'_> {
            self.take();
            Held(self)
        }

        #[inline]
        fn take(&self) {
            if !self.attempt() {
                self.wait();
            }
        }

        #[inline]
        fn attempt(&self) -> bool {
            self.0
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        }

        #[cold]
        fn wait(&self) {
            loop {
                for _ in 0..64 {
                    core::hint::spin_loop();
                    if self.0.load(Ordering::Relaxed) == 0 && self.attempt() {
                        return;
                    }
                }
                // The holder may have been preempted.
                std::thread::yield_now();
            }
        }

        /// Before a fork; [`Self::leave`] is its counterpart on both sides.
        pub(crate) fn enter(&self) {
            self.take();
        }

        pub(crate) fn leave(&self) {
            self.0.store(0, Ordering::Release);
        }
    }

    impl Drop for Held<'_> {
        #[inline]
        fn drop(&mut self) {
            self.0.leave();
        }
    }
}
