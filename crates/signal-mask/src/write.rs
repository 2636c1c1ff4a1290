//! Calls that write or grow files, without the signals that the system raises when they fail.
//!
//! A write or truncation beyond the process's limit of file sizes (`RLIMIT_FSIZE`) fails with `EFBIG`, and the calling
//! thread gets SIGXFSZ, which ends a program that does not expect it. A write to a pipe without a reader fails with
//! `EPIPE`, and the thread gets SIGPIPE. A library must not end its program because of its own files.

use libc::{EFBIG, EPIPE, SIGPIPE, SIGXFSZ, c_int, c_long, sigset_t};
use std::io;
use std::marker::PhantomData;
use std::mem::zeroed;
use std::os::fd::RawFd;
use std::ptr::null_mut;

/// While it lives, the calling thread has SIGXFSZ and SIGPIPE blocked.
struct Blocked {
    before: sigset_t,
    /// The signal that the call raised, to be taken back.
    raised: Option<c_int>,
    /// Signals that the program itself blocked and that were already pending: they stay pending.
    waiting: sigset_t,
    /// A mask belongs to its thread.
    _of_this_thread: PhantomData<*const ()>,
}

impl Blocked {
    fn new() -> Option<Self> {
        // SAFETY: zero bytes are a valid, empty set; the calls read and write these sets alone.
        unsafe {
            let (mut both, mut before, mut waiting): (sigset_t, sigset_t, sigset_t) = zeroed();
            libc::sigaddset(&mut both, SIGXFSZ);
            libc::sigaddset(&mut both, SIGPIPE);
            if libc::pthread_sigmask(libc::SIG_BLOCK, &both, &mut before) != 0 {
                return None;
            }
            // A signal can wait for this thread only if it was blocked before.
            if libc::sigismember(&before, SIGXFSZ) == 1 || libc::sigismember(&before, SIGPIPE) == 1
            {
                libc::sigpending(&mut waiting);
            }
            Some(Self {
                before,
                raised: None,
                waiting,
                _of_this_thread: PhantomData,
            })
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the sets are this value's or were filled by the system; the wait has a time of zero. A raw call,
        // since the function of the C library may end a thread that is being cancelled. 8 bytes are the kernel's set.
        unsafe {
            if let Some(signal) = self.raised
                && libc::sigismember(&self.waiting, signal) != 1
            {
                let mut one: sigset_t = zeroed();
                libc::sigaddset(&mut one, signal);
                let no_time: libc::timespec = zeroed();
                let none = null_mut::<libc::siginfo_t>();
                // The system sends both signals to the thread, and a thread's own signals are taken first.
                let _: c_long =
                    libc::syscall(libc::SYS_rt_sigtimedwait, &one, none, &no_time, 8_usize);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, null_mut());
        }
    }
}

/// Runs a call that writes to a file or changes its size. The limit on file sizes and a closed pipe give an error and
/// no signal. The call ends with its first error. Nothing is allocated.
///
/// # Errors
/// Those of `call`, unchanged.
pub fn without_write_signals<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut blocked = Blocked::new();
    let result = call();
    if let (Err(error), Some(blocked)) = (&result, &mut blocked) {
        blocked.raised = match error.raw_os_error() {
            Some(EFBIG) => Some(SIGXFSZ),
            Some(EPIPE) => Some(SIGPIPE),
            _ => None,
        };
    }
    result
}

/// The largest file size in bytes for this process; `None` without a limit.
pub fn file_size_limit() -> Option<u64> {
    // SAFETY: the call fills the structure.
    let limit = unsafe {
        let mut limit: libc::rlimit = zeroed();
        if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) != 0 {
            return None;
        }
        limit.rlim_cur
    };
    (limit != libc::RLIM_INFINITY).then_some(limit)
}

/// The same error, with the limit of file sizes named if that is its cause.
#[must_use]
pub fn name_file_size_limit(error: io::Error) -> io::Error {
    match (error.raw_os_error(), file_size_limit()) {
        (Some(EFBIG), Some(limit)) => io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "{error}: the process may give a file at most {limit} bytes (RLIMIT_FSIZE, ulimit -f)"
            ),
        ),
        _ => error,
    }
}

/// Writes to the standard error as [`write_descriptor`] does.
pub fn write_stderr(text: &[u8]) {
    write_descriptor(libc::STDERR_FILENO, text);
}

/// Writes to a log's descriptor and stops at the first error. Takes no lock and allocates nothing, so that signal
/// handlers may call it, and an exiting process.
pub fn write_descriptor(descriptor: RawFd, mut text: &[u8]) {
    let _ = without_write_signals(|| {
        while !text.is_empty() {
            // SAFETY: the bytes are readable.
            let wrote = unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
            match usize::try_from(wrote) {
                Ok(0) => break,
                Ok(wrote) => text = text.get(wrote..).unwrap_or_default(),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;
    use std::os::fd::{AsRawFd as _, FromRawFd as _};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, ExitStatus};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Tells the child what to do; limits and handlers belong to its process.
    const ROLE: &str = "SIGNAL_MASK_TEST_ROLE";
    const LIMIT: u64 = 4096;

    fn child(test: &str, role: &str) -> (ExitStatus, String) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", &format!("write::tests::{test}")])
            .env(ROLE, role)
            .output()
            .unwrap();
        // A wrong name would run no test, and succeed. The harness prints nothing more where the child ends itself.
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("running 1 test"), "{test}: {text}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status, said)
    }

    fn memory_file() -> File {
        // SAFETY: a new descriptor of ours.
        unsafe {
            let fd = libc::memfd_create(c"signal-mask test".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0);
            File::from_raw_fd(fd)
        }
    }

    fn limit_file_size() {
        let limit = libc::rlimit {
            rlim_cur: LIMIT,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: the structure is readable.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
    }

    /// Which of the two signals this thread has blocked, and which wait.
    fn state() -> [bool; 4] {
        // SAFETY: zero bytes are valid sets, which the calls fill.
        unsafe {
            let (mut mask, mut waiting): (sigset_t, sigset_t) = zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut mask);
            libc::sigpending(&mut waiting);
            [
                libc::sigismember(&mask, SIGXFSZ) == 1,
                libc::sigismember(&mask, SIGPIPE) == 1,
                libc::sigismember(&waiting, SIGXFSZ) == 1,
                libc::sigismember(&waiting, SIGPIPE) == 1,
            ]
        }
    }

    static CALLED: AtomicU32 = AtomicU32::new(0);

    extern "C" fn called(_: c_int) {
        CALLED.fetch_add(1, Ordering::Relaxed);
    }

    /// Every kind of call that the limit or a closed pipe makes fail, with its error number.
    fn refused() {
        let too_large = |result: io::Result<()>| {
            assert_eq!(result.as_ref().unwrap_err().raw_os_error(), Some(EFBIG));
            let text = name_file_size_limit(result.unwrap_err()).to_string();
            assert!(
                text.contains("RLIMIT_FSIZE") && text.contains("4096"),
                "{text}"
            );
        };
        for mut file in [memory_file(), unlinked_file()] {
            too_large(without_write_signals(|| file.set_len(LIMIT + 1)));
            too_large(without_write_signals(|| {
                // SAFETY: a call on our own descriptor.
                let done = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, LIMIT as i64 + 1) };
                if done == 0 {
                    Ok(())
                } else {
                    Err(io::Error::last_os_error())
                }
            }));
            // The part below the limit is written.
            too_large(without_write_signals(|| file.write_all(&[1; 5000])));
            assert_eq!(file.metadata().unwrap().len(), LIMIT);
        }
        let (reader, mut writer) = io::pipe().unwrap();
        drop(reader);
        let error = without_write_signals(|| writer.write_all(b"x")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(EPIPE));
    }

    fn unlinked_file() -> File {
        let path = std::env::temp_dir().join(format!("signal-mask-{}", std::process::id()));
        let file = File::create_new(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn limits_and_closed_pipes_are_errors_and_no_signals() {
        let test = "limits_and_closed_pipes_are_errors_and_no_signals";
        // SAFETY: signal calls with valid arguments, in a process that runs this test alone.
        unsafe {
            match std::env::var(ROLE).as_deref() {
                Err(_) => {
                    for role in ["default", "handler", "blocked", "waiting"] {
                        let (status, said) = child(test, role);
                        assert!(status.success(), "{role}: {status} {said}");
                    }
                    // Without the guard the child is killed: the limit is one.
                    assert_eq!(child(test, "bare").0.signal(), Some(SIGXFSZ));
                }
                Ok("bare") => {
                    limit_file_size();
                    let _ = memory_file().set_len(LIMIT + 1);
                }
                Ok("default") => {
                    limit_file_size();
                    libc::signal(SIGPIPE, libc::SIG_DFL);
                    let before = state();
                    refused();
                    assert_eq!((before, state()), ([false; 4], [false; 4]));
                }
                Ok("handler") => {
                    limit_file_size();
                    let handler = called as extern "C" fn(c_int) as libc::sighandler_t;
                    libc::signal(SIGXFSZ, handler);
                    libc::signal(SIGPIPE, handler);
                    refused();
                    assert_eq!(CALLED.load(Ordering::Relaxed), 0);
                    // Signals that the program raises itself arrive.
                    libc::raise(SIGXFSZ);
                    assert_eq!(CALLED.load(Ordering::Relaxed), 1);
                }
                Ok(role) => {
                    limit_file_size();
                    let mut both: sigset_t = zeroed();
                    libc::sigaddset(&mut both, SIGXFSZ);
                    libc::sigaddset(&mut both, SIGPIPE);
                    libc::pthread_sigmask(libc::SIG_BLOCK, &both, null_mut());
                    let waits = role == "waiting";
                    if waits {
                        libc::raise(SIGXFSZ);
                    }
                    refused();
                    assert_eq!(state(), [true, true, waits, false]);
                }
            }
        }
    }

    #[test]
    fn writing_to_a_limited_or_closed_stderr_ends_no_process() {
        let test = "writing_to_a_limited_or_closed_stderr_ends_no_process";
        if std::env::var_os(ROLE).is_some() {
            // SAFETY: calls on the standard error of a process that runs this test alone.
            unsafe {
                libc::signal(SIGPIPE, libc::SIG_DFL);
                let (reader, writer) = io::pipe().unwrap();
                drop(reader);
                libc::dup2(writer.as_raw_fd(), libc::STDERR_FILENO);
                write_stderr(b"to nobody");
                limit_file_size();
                let file = memory_file();
                libc::dup2(file.as_raw_fd(), libc::STDERR_FILENO);
                write_stderr(&[b'x'; 5000]);
                write_stderr(b"more");
                assert_eq!(file.metadata().unwrap().len(), LIMIT);
            }
            return;
        }
        let (status, said) = child(test, "stderr");
        assert!(status.success(), "{status} {said}");
    }
}
