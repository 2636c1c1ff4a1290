//! Runs a child process as if the user had started it directly, and searches its stderr for one phrase.
//!
//! Invariants
//! - Every byte of stderr passes through immediately and unchanged. A terminal stays a terminal for the child.
//! - SIGTERM and SIGHUP are forwarded to the child while it runs. SIGINT and SIGQUIT, which a terminal sends to the whole
//!   process group, are ignored meanwhile, so the wrapper outlives the child. After the child's end all four have their
//!   previous action.
//! - The child has the same SIGCHLD action as if it had been started directly.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};

/// The end of a child.
pub(crate) struct Finished {
    /// Its exit status.
    pub(crate) status: ExitStatus,
    /// Whether its stderr contained the phrase.
    pub(crate) seen: bool,
}

/// The process that signals are forwarded to; 0: none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// A signal that arrived between the child's end and the return of the previous actions; 0: none.
static LATE: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: kill is async-signal-safe; the child is reaped only after CHILD is cleared.
        unsafe { libc::kill(child, signal) };
    } else {
        LATE.store(signal, Ordering::Relaxed);
    }
}

/// Whether this process was started with SIGCHLD ignored.
static IGNORES_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Resets SIGCHLD to its default: a process that ignores it gets no exit status of its children.
pub(crate) fn expect_children() {
    // SAFETY: the default action.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    IGNORES_CHILDREN.store(before == libc::SIG_IGN, Ordering::Relaxed);
}

/// The signal actions while a child runs. Dropping the value restores the previous actions.
struct Forwarding {
    before: [(libc::c_int, libc::sighandler_t); 4],
}

impl Forwarding {
    fn begin() -> Self {
        let forward = forward as *const () as libc::sighandler_t;
        let actions = [
            (libc::SIGINT, libc::SIG_IGN),
            (libc::SIGQUIT, libc::SIG_IGN),
            (libc::SIGTERM, forward),
            (libc::SIGHUP, forward),
        ];
        // SAFETY: the action is SIG_IGN or `forward`, which only calls kill.
        let before =
            actions.map(|(signal, action)| (signal, unsafe { libc::signal(signal, action) }));
        Self { before }
    }

    /// Restores the previous actions. Called when the child has ended and before it is reaped.
    fn end(self) {
        CHILD.store(0, Ordering::Relaxed);
        drop(self);
        let late = LATE.swap(0, Ordering::Relaxed);
        if late > 0 {
            // SAFETY: a valid signal number, received by this process.
            unsafe { libc::raise(late) };
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        for (signal, action) in self.before {
            // SAFETY: an action that `signal` returned.
            unsafe { libc::signal(signal, action) };
        }
    }
}

/// Waits for the end of a child without reaping it, so that its process id stays reserved.
fn wait_unreaped(child: &Child) {
    // SAFETY: zero bytes are a valid structure, which the call fills.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOWAIT;
        while libc::waitid(libc::P_PID, child.id(), &mut info, options) != 0 {
            if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}

/// A running child.
pub(crate) struct Running {
    child: Child,
    stderr: File,
    phrase: &'static [u8],
    forwarding: Forwarding,
}

/// Starts `command` and searches its stderr for `phrase`.
///
/// # Errors
/// The program cannot be started.
pub(crate) fn start(mut command: Command, phrase: &'static [u8]) -> std::io::Result<Running> {
    let (ours, theirs) = if std::io::stderr().is_terminal() {
        terminal()?
    } else {
        pipe()?
    };
    command.stderr(theirs);
    if IGNORES_CHILDREN.load(Ordering::Relaxed) {
        let ignore = || {
            // SAFETY: a system call that may be made after fork.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: the function makes one system call.
        unsafe { command.pre_exec(ignore) };
    }
    let child = command.spawn()?;
    // The command holds the child's end of stderr open; the reader would never see end of file.
    drop(command);
    CHILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::Relaxed);
    Ok(Running {
        child,
        stderr: ours,
        phrase,
        forwarding: Forwarding::begin(),
    })
}

impl Running {
    /// Waits for the child's end.
    ///
    /// # Errors
    /// The system call fails.
    pub(crate) fn wait(self) -> std::io::Result<Finished> {
        let Self {
            mut child,
            stderr,
            phrase,
            forwarding,
        } = self;
        let (alive, ended) = pipe()?;
        let (sender, answers) = channel();
        let reader = std::thread::spawn(move || copy_and_search(stderr, &alive, phrase, &sender));
        wait_unreaped(&child);
        forwarding.end();
        let status = child.wait()?;
        // Everything that the child wrote is in the pipe now; the reader copies it before it answers.
        drop(ended);
        let mut seen = answers.recv().unwrap_or(false);
        // A grandchild may hold stderr open for ever. Its output passes through while this process lives, but the wait
        // for end of file is short.
        let patience = std::time::Instant::now();
        while !reader.is_finished() && patience.elapsed() < std::time::Duration::from_millis(200) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        if reader.is_finished() {
            let _ = reader.join();
            seen = answers.try_iter().last().unwrap_or(seen);
        }
        Ok(Finished { status, seen })
    }
}

/// The default capacity of a pipe, in bytes.
const PIPE: usize = 1 << 16;

/// The progress of copying a child's stderr.
enum Stage {
    /// The child runs.
    Alive,
    /// The child has ended and may have left this many bytes in the pipe.
    Ended { left: usize },
    /// The answer was sent; output of grandchildren still passes through.
    Answered,
}

/// Copies `from` to stderr until end of file. Sends whether the phrase was seen: first when everything is copied that was
/// in the pipe as the child ended (`alive` is closed then), and again at end of file.
fn copy_and_search(mut from: File, alive: &File, phrase: &[u8], answers: &Sender<bool>) {
    let mut buffer = [0u8; 8192];
    // The last bytes of the previous read: the phrase may straddle two reads.
    let mut tail: Vec<u8> = Vec::new();
    let mut seen = false;
    let mut stage = Stage::Alive;
    loop {
        match stage {
            Stage::Alive => {
                let (_, is_over) = poll(&from, alive, true);
                if is_over {
                    stage = Stage::Ended { left: PIPE };
                    continue;
                }
            }
            Stage::Ended { left } => {
                let (is_more, _) = poll(&from, alive, false);
                if left == 0 || !is_more {
                    let _ = answers.send(seen);
                    stage = Stage::Answered;
                    continue;
                }
            }
            Stage::Answered => {}
        }
        match from.read(&mut buffer) {
            // A closed terminal reads as EIO.
            Ok(0) | Err(_) => {
                let _ = answers.send(seen);
                return;
            }
            Ok(count) => {
                let mut stderr = std::io::stderr().lock();
                let _ = stderr.write_all(&buffer[..count]);
                tail.extend_from_slice(&buffer[..count]);
                seen |= tail.windows(phrase.len()).any(|window| window == phrase);
                let keep = tail.len().saturating_sub(phrase.len() - 1);
                tail.drain(..keep);
                if let Stage::Ended { left } = &mut stage {
                    *left = left.saturating_sub(count);
                }
            }
        }
    }
}

/// Whether a read would return at once, and whether the child has ended. If `wait`, blocks until one of them holds.
fn poll(from: &File, alive: &File, wait: bool) -> (bool, bool) {
    let of = |file: &File| libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut files = [of(from), of(alive)];
    loop {
        // SAFETY: two descriptors that are open for the call.
        let found = unsafe { libc::poll(files.as_mut_ptr(), 2, if wait { -1 } else { 0 }) };
        if found >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return (files[0].revents != 0 || found < 0, files[1].revents != 0);
        }
    }
}

fn pipe() -> std::io::Result<(File, Stdio)> {
    let (reader, writer) = std::io::pipe()?;
    Ok((File::from(OwnedFd::from(reader)), Stdio::from(writer)))
}

fn terminal() -> std::io::Result<(File, Stdio)> {
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: winsize is a struct of numbers.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: stderr is a terminal; `size` is valid for the write.
    unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    // SAFETY: outputs are valid; name and settings may be null.
    let made = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            std::ptr::null_mut(),
            std::ptr::null(),
            &raw const size,
        )
    };
    if made != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a descriptor that openpty just returned.
    unsafe { libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC) };
    // SAFETY: a descriptor that openpty just returned and nothing else owns.
    let ours = unsafe { File::from_raw_fd(ours) };
    // SAFETY: as above.
    let theirs = unsafe { OwnedFd::from_raw_fd(theirs) };
    // Both terminals translate line feeds; the second translation is harmless.
    Ok((ours, Stdio::from(theirs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions() -> [libc::sighandler_t; 4] {
        [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP].map(|signal| {
            // SAFETY: only asks; zero bytes are a valid `sigaction`.
            unsafe {
                let mut now: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut now);
                now.sa_sigaction
            }
        })
    }

    #[test]
    fn signals_do_what_they_did_before_when_the_child_has_ended() {
        let before = actions();
        let mut command = Command::new("sh");
        command.args(["-c", "read line; echo phrase >&2; exit 3"]);
        command.stdin(Stdio::piped());
        let mut running = start(command, b"phrase").unwrap();
        let forward = forward as *const () as libc::sighandler_t;
        let meanwhile = [libc::SIG_IGN, libc::SIG_IGN, forward, forward];
        assert_eq!(actions(), meanwhile);
        drop(running.child.stdin.take());
        let ended = running.wait().unwrap();
        assert_eq!((ended.status.code(), ended.seen), (Some(3), true));
        assert_eq!(actions(), before);
        assert_eq!(CHILD.load(Ordering::Relaxed), 0);

        // A signal that comes when the child has ended does what it did before. Here, since the actions are the process's.
        static COUNT: AtomicI32 = AtomicI32::new(0);
        extern "C" fn count(_: libc::c_int) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
        let count = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler adds to a number.
        let default = unsafe { libc::signal(libc::SIGHUP, count) };
        let forwarding = Forwarding::begin();
        // SAFETY: `forward` takes it.
        unsafe { libc::raise(libc::SIGHUP) };
        assert_eq!(COUNT.load(Ordering::Relaxed), 0);
        forwarding.end();
        assert_eq!(COUNT.load(Ordering::Relaxed), 1);
        Forwarding::begin().end();
        assert_eq!(COUNT.load(Ordering::Relaxed), 1);
        // SAFETY: the action that it had.
        unsafe { libc::signal(libc::SIGHUP, default) };
        assert_eq!(actions(), before);
    }
}
