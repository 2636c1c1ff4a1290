//! Thread cancellation (`pthread_cancel`) does not act inside our libraries. It stays pending and acts at the program's
//! own next cancellation point.
//!
//! glibc acts at *cancellation points* (`open`, `read`, `write`, `close`, `poll` and others) by unwinding the stack. Rust
//! cannot be unwound that way: `catch_unwind` ends the process, and locks would stay held.
//!
//! Two means, neither of which costs anything in a call that reaches no cancellation point:
//! - A shell is linked with [`wrap_arguments`] and expands [`hold_off_cancellation!`](crate::hold_off_cancellation). Each
//!   call of a cancellation point in the library, the standard library's own included, then goes through a function that
//!   holds cancellation off.
//! - Code that calls other libraries' functions does so while a [`HeldCancellation`] lives.
//!
//! ```
//! use cancellation::HeldCancellation;
//! # unsafe extern "C" { safe fn pthread_self() -> usize; safe fn pthread_cancel(thread: usize) -> i32; }
//!
//! let held = HeldCancellation::new();
//! pthread_cancel(pthread_self());
//! // Reads through cancellation points, none of which ends the thread.
//! assert!(!std::fs::read("/proc/self/comm")?.is_empty());
//! # std::process::exit(0);
//! drop(held); // The program's next cancellation point ends the thread.
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A shell wraps the whole library, in its build script and in its source:
//!
//! ```text
//! for argument in cancellation::wrap_arguments() {    // build.rs
//!     println!("cargo::rustc-cdylib-link-arg={argument}");
//! }
//! cancellation::hold_off_cancellation!();             // lib.rs
//! ```
//!
//! Callbacks of tracers and XPTI's subscribers are the program's code: a cancellation may act there. It ends the call, whose
//! frames may be unwound (`extern "C-unwind"`) and let go of what they hold.
//!
//! Invariant: a shell imports no cancellation point that is not wrapped (`conformance/tests/cancellation.rs`).
//!
//! Not here: asynchronous cancellation, which acts at any instruction and is safe in no library. Programs that link the
//! driver into themselves are not wrapped: threads of Rust programs must not be cancelled in any case. Calls into drivers
//! of others end as those let them; only their initialisation runs with cancellation held off.

use std::ffi::c_int;
use std::marker::PhantomData;

/// The same in glibc and musl.
const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C" {
    // A signal handler may call it: it only changes the thread's own state.
    safe fn pthread_setcancelstate(state: c_int, before: Option<&mut c_int>) -> c_int;
}

/// While it lives, a cancellation of the calling thread stays pending.
///
/// Costs about 13 ns (glibc 2.36, two locked instructions).
#[must_use = "cancellation is held off as long as the value lives"]
pub struct HeldCancellation {
    before: c_int,
    /// The state is its thread's.
    _of_this_thread: PhantomData<*const ()>,
}

impl HeldCancellation {
    /// Holds cancellation off until the value is dropped.
    #[inline]
    pub fn new() -> Self {
        let mut before = 0;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, Some(&mut before));
        Self {
            before,
            _of_this_thread: PhantomData,
        }
    }
}

impl Default for HeldCancellation {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for HeldCancellation {
    #[inline]
    fn drop(&mut self) {
        pthread_setcancelstate(self.before, None);
    }
}

/// Expands `$each!` with all wrapped functions: the cancellation points that our shells import.
///
/// Variable arguments are written as the largest fixed ones. On x86-64 and AArch64 Linux both are passed alike.
#[doc(hidden)]
#[macro_export]
macro_rules! cancellation_points {
    ($each:ident) => {
        $crate::$each! {
            clock_nanosleep(clock: c_int, flags: c_int, time: *const c_void, left: *mut c_void) -> c_int;
            close(file: c_int) -> c_int;
            dlclose(library: *mut c_void) -> c_int;
            dlopen(name: *const c_char, mode: c_int) -> *mut c_void;
            fallocate(file: c_int, mode: c_int, offset: i64, len: i64) -> c_int;
            fcntl(file: c_int, command: c_int, argument: usize) -> c_int;
            fflush(stream: *mut c_void) -> c_int;
            fwrite(bytes: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
            getrandom(bytes: *mut c_void, len: usize, flags: c_uint) -> isize;
            open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            pause() -> c_int;
            poll(files: *mut c_void, count: c_ulong, milliseconds: c_int) -> c_int;
            posix_fallocate(file: c_int, offset: i64, len: i64) -> c_int;
            pread64(file: c_int, bytes: *mut c_void, len: usize, offset: i64) -> isize;
            pwrite(file: c_int, bytes: *const c_void, len: usize, offset: i64) -> isize;
            read(file: c_int, bytes: *mut c_void, len: usize) -> isize;
            sigtimedwait(signals: *const c_void, about: *mut c_void, time: *const c_void) -> c_int;
            waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
            write(file: c_int, bytes: *const c_void, len: usize) -> isize;
            writev(file: c_int, parts: *const c_void, count: c_int) -> isize;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! cancellation_point_names {
    ($($name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// The wrapped functions.
        pub const POINTS: &[&str] = &[$(stringify!($name)),*];
    };
}

cancellation_points!(cancellation_point_names);

/// The linker arguments for a shell's build script: calls of `x` become calls of `__wrap_x`, which the shell defines.
pub fn wrap_arguments() -> impl Iterator<Item = String> {
    POINTS.iter().map(|name| format!("-Wl,--wrap={name}"))
}

/// Defines the functions that replace cancellation points; for shells.
#[macro_export]
macro_rules! hold_off_cancellation {
    () => {
        $crate::cancellation_points!(wrapped_cancellation_points);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! wrapped_cancellation_points {
    ($($name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {
        mod wrapped_cancellation_points {
            use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
            $(
                mod $name {
                    use super::*;

                    unsafe extern "C" {
                        // The linker's name of the original function.
                        #[link_name = concat!("__real_", stringify!($name))]
                        fn real($($argument: $ty),*) -> $result;
                    }

                    unsafe extern "C" fn held($($argument: $ty),*) -> $result {
                        let _held = $crate::HeldCancellation::new();
                        // SAFETY: the caller's contract is the function's own.
                        unsafe { real($($argument),*) }
                    }

                    // Hidden: an exported name would be an export of the library.
                    #[cfg(target_arch = "x86_64")]
                    core::arch::global_asm!(
                        concat!(".pushsection .text.__wrap_", stringify!($name), ",\"ax\",@progbits"),
                        concat!(".globl __wrap_", stringify!($name)),
                        concat!(".hidden __wrap_", stringify!($name)),
                        concat!(".type __wrap_", stringify!($name), ", @function"),
                        concat!("__wrap_", stringify!($name), ":"),
                        "jmp {held}",
                        ".popsection",
                        held = sym held,
                    );
                    #[cfg(target_arch = "aarch64")]
                    core::arch::global_asm!(
                        concat!(".pushsection .text.__wrap_", stringify!($name), ",\"ax\",@progbits"),
                        concat!(".globl __wrap_", stringify!($name)),
                        concat!(".hidden __wrap_", stringify!($name)),
                        concat!(".type __wrap_", stringify!($name), ", @function"),
                        concat!("__wrap_", stringify!($name), ":"),
                        "b {held}",
                        ".popsection",
                        held = sym held,
                    );
                }
            )*
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> c_int {
        let mut now = 0;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, Some(&mut now));
        pthread_setcancelstate(now, None);
        now
    }

    #[test]
    fn the_threads_own_state_comes_back() {
        assert_eq!(state(), 0);
        {
            let _outer = HeldCancellation::new();
            assert_eq!(state(), PTHREAD_CANCEL_DISABLE);
            drop(HeldCancellation::new());
            assert_eq!(state(), PTHREAD_CANCEL_DISABLE);
        }
        assert_eq!(state(), 0);
    }
}
