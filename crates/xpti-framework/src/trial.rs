//! Tries a subscriber in a separate process before it is loaded into the program: one that crashes, ends the process or
//! hangs is reported on stderr and skipped.
//!
//! The process is the dynamic linker run on `libxptifw.so.1` itself, whose entry point is [`main`]. Unlike a fork it
//! contains nothing of the program's state, threads or locks. It calls `xptiTraceInit` for the framework's own stream,
//! the first that every subscriber gets. If a trial is not possible the subscriber is loaded without a message.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use xpti_sys::{FRAMEWORK_STREAM, TRACE_INIT, plugin_init_t};

use crate::environment;

/// The time limit of a subscriber.
const SECONDS: u32 = 10;
/// Exit code: it was loaded and started.
const WORKS: c_int = 86;
/// Exit code: it cannot be loaded, for reasons that loading it in the program will report.
const OPENS_NOT: c_int = 87;
/// Exit code: the dynamic linker was not started, or rejected its arguments.
const NO_TRIAL: c_int = 127;

/// Why the subscriber must not be loaded; `None` if it works, and if no trial is possible.
pub(crate) fn fault(path: &CStr) -> Option<Vec<u8>> {
    let (linker, framework) = (linker()?, own_file()?);
    let environment = environment();
    let arguments = [
        linker.as_ptr(),
        framework.as_ptr(),
        path.as_ptr(),
        ptr::null(),
    ];
    let said = match run(&linker, &arguments, &environment)? {
        FINE => return None,
        LATE => format!("does not return within {SECONDS} s"),
        ENDED => "ends the process".to_owned(),
        signal => {
            // SAFETY: gives a C string, also for numbers that are no signal.
            let name = environment::bytes(unsafe { libc::strsignal(signal) });
            let name = String::from_utf8_lossy(name);
            format!("ends the process with signal {signal} ({name})")
        }
    };
    let said = format!(
        "it {said} when it is loaded; skipped (tested in a separate process; SOLUM_XPTI_TRIAL=0 loads it without the test)"
    );
    Some(said.into_bytes())
}

/// The dynamic linker's file; `None` for a program without one.
fn linker() -> Option<CString> {
    struct Search {
        base: u64,
        found: Option<CString>,
    }
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: both come from the call below and live as long as it.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        if info.dlpi_addr != search.base || info.dlpi_name.is_null() {
            return 0;
        }
        // SAFETY: a name is a C string.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        search.found = (!name.is_empty()).then(|| name.to_owned());
        1
    }
    let mut search = Search {
        // SAFETY: a constant of the C library.
        base: unsafe { libc::getauxval(libc::AT_BASE) },
        found: None,
    };
    if search.base != 0 {
        // SAFETY: the callback accepts the data that is passed with it.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    }
    search.found
}

/// The file that this code was loaded from.
fn own_file() -> Option<CString> {
    // SAFETY: all zeros are valid, and mean nothing found.
    let mut info: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: an address of this library and a place for the answer.
    let found = unsafe { libc::dladdr(fault as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string of the dynamic linker.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_owned())
}

/// The program's environment without the list of subscribers, null-terminated.
fn environment() -> Vec<*const c_char> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    let mut all = Vec::new();
    // SAFETY: the C library's list of C strings, which ends in null.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            if !CStr::from_ptr(*next)
                .to_bytes()
                .starts_with(b"XPTI_SUBSCRIBERS=")
            {
                all.push(*next);
            }
            next = next.add(1);
        }
    }
    all.push(ptr::null());
    all
}

/// The result of the trial, as the guard's exit code; other codes are the signal that ended the trial.
const FINE: c_int = 0;
const LATE: c_int = 200;
const ENDED: c_int = 201;

/// Data for the processes that share the program's memory.
struct Birth {
    file: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    /// Replaces the trial's standard streams.
    nowhere: c_int,
    /// The end of the trial's stack until its `execve`.
    stack: *mut c_void,
}

/// Runs a program; `None` if it cannot be started.
///
/// The program must not see a child of its own: no SIGCHLD, and nothing for its `wait`. A process without an exit
/// signal is such a child, but `execve` gives it one. So a guard without one, which stays as it is, starts the trial
/// and waits for it. This thread sleeps meanwhile, because the guard shares its memory.
fn run(
    file: &CStr,
    arguments: &[*const c_char; 4],
    environment: &[*const c_char],
) -> Option<c_int> {
    const STACK: usize = 64 * 1024;
    let mut stacks = [0, 1].map(|_| vec![0u128; STACK / size_of::<u128>()]);
    let [guards, trials] = stacks
        .each_mut()
        .map(|stack| stack.as_mut_ptr_range().end.cast::<c_void>());
    // SAFETY: a C string.
    let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if nowhere < 0 {
        return None;
    }
    let mut birth = Birth {
        file: file.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        nowhere,
        stack: trials,
    };
    // No handler of the program's may run in the children.
    // SAFETY: signal sets, and stacks of this frame, which outlives their use: this thread sleeps until the guard has ended.
    unsafe {
        let (mut all, mut before) = (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let guard = libc::clone(
            guard,
            guards,
            libc::CLONE_VM | libc::CLONE_VFORK,
            (&raw mut birth).cast(),
        );
        let status = (guard > 0).then(|| wait(guard)).flatten();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        libc::close(nowhere);
        status
            .filter(|status| libc::WIFEXITED(*status))
            .map(|status| libc::WEXITSTATUS(status))
    }
}

fn wait(child: libc::pid_t) -> Option<c_int> {
    let mut status = 0;
    loop {
        // SAFETY: a child of this process, which no other thread waits for.
        unsafe {
            if libc::waitpid(child, &raw mut status, libc::__WALL) == child {
                return Some(status);
            }
            if *libc::__errno_location() != libc::EINTR {
                return None;
            }
        }
    }
}

/// Starts the trial, waits for it up to the time limit, and returns its result as exit code.
extern "C" fn guard(birth: *mut c_void) -> c_int {
    // SAFETY: only system calls, in memory whose owner sleeps meanwhile; `birth` is complete.
    unsafe {
        // If the program ignores SIGCHLD there would be nothing to wait for.
        let mut default: libc::sigaction = core::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        for signal in [libc::SIGCHLD, libc::SIGALRM, libc::SIGABRT, libc::SIGPIPE] {
            libc::sigaction(signal, &raw const default, ptr::null_mut());
        }
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let trial = libc::clone(become_trial, (*birth.cast::<Birth>()).stack, flags, birth);
        if trial < 0 {
            libc::_exit(FINE);
        }
        let late = is_late();
        if late {
            libc::kill(trial, libc::SIGKILL);
        }
        let code = match wait(trial) {
            Some(_) if late => LATE,
            Some(status) if libc::WIFSIGNALED(status) => match libc::WTERMSIG(status) {
                libc::SIGALRM => LATE,
                signal => signal,
            },
            Some(status) => match libc::WEXITSTATUS(status) {
                WORKS | OPENS_NOT | NO_TRIAL => FINE,
                _ => ENDED,
            },
            None => FINE,
        };
        libc::_exit(code)
    }
}

extern "C" fn become_trial(birth: *mut c_void) -> c_int {
    // SAFETY: as in `guard`.
    unsafe {
        let birth = &*birth.cast::<Birth>();
        for stream in 0..3 {
            libc::dup2(birth.nowhere, stream);
        }
        // The trial must not inherit the program's open descriptors.
        const MARK_CLOSE_ON_EXEC: u32 = 4;
        libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, MARK_CLOSE_ON_EXEC);
        let mut none: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::execve(birth.file, birth.arguments, birth.environment);
        libc::_exit(NO_TRIAL)
    }
}

/// Waits for SIGCHLD, which is blocked here and comes only from the trial. Returns true on timeout.
fn is_late() -> bool {
    let time = libc::timespec {
        tv_sec: SECONDS.into(),
        tv_nsec: 0,
    };
    // SAFETY: a signal set and a time.
    unsafe {
        let mut ends: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&raw mut ends);
        libc::sigaddset(&raw mut ends, libc::SIGCHLD);
        libc::sigtimedwait(&raw const ends, ptr::null_mut(), &raw const time) < 0
            && *libc::__errno_location() == libc::EAGAIN
    }
}

/// The trial's own process: the dynamic linker starts it when it is run on this library with a subscriber's path.
///
/// # Safety
/// `stack` points to the count of arguments and the arguments, as on a process's initial stack.
pub unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: the caller's; the library's functions have the types of their names.
    unsafe {
        if *stack != 2 {
            libc::_exit(NO_TRIAL);
        }
        let path = stack.add(2).cast::<*const c_char>().read();
        let no_core = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(SECONDS);
        let library = libc::dlopen(path, libc::RTLD_LAZY);
        if library.is_null() {
            libc::_exit(OPENS_NOT);
        }
        let init = libc::dlsym(library, TRACE_INIT.as_ptr());
        if !init.is_null() {
            // A panic-free function: an exception of the subscriber ends this process, which is the result.
            let init = core::mem::transmute::<*mut c_void, plugin_init_t>(init);
            init(1, 0, c"1.0.0".as_ptr(), FRAMEWORK_STREAM.as_ptr());
        }
        // Destructors are not part of the trial.
        libc::_exit(WORKS)
    }
}
