//! Runs a child as if it had been started directly, and watches its stderr for one phrase.
//!
//! Invariants: every byte of stderr goes through at once and unchanged; a terminal stays a terminal for the child;
//! SIGTERM and SIGHUP reach the child, or this process when the child has ended; SIGINT and SIGQUIT, which a terminal
//! sends to the whole group, do not end the wrapper before the child, and do when it has ended. SIGCHLD has
//! the same action in the child as without us.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};

/// How a child ended.
pub(crate) struct Watched {
    /// Its status.
    pub(crate) status: ExitStatus,
    /// Whether the phrase stood in its stderr.
    pub(crate) seen: bool,
}

/// Pid that signals are forwarded to; 0 before there is one.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// A signal that came when the child had ended, before it did again what it did before; 0: none.
static LATE: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: kill is async-signal-safe; the child is not reaped before CHILD is cleared.
        unsafe { libc::kill(child, signal) };
    } else {
        LATE.store(signal, Ordering::Relaxed);
    }
}

/// Whether this process was started with SIGCHLD ignored.
static IGNORES_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Has the system keep the status of children that end, which it does not for a process that ignores SIGCHLD.
pub(crate) fn expect_children() {
    // SAFETY: the default action.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    IGNORES_CHILDREN.store(before == libc::SIG_IGN, Ordering::Relaxed);
}

/// What signals do while a child runs; they do what they did before when the value is dropped.
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

    /// The child has ended, and is not reaped yet: from here on this program can be interrupted like any other.
    fn end(self) {
        CHILD.store(0, Ordering::Relaxed);
        drop(self);
        let late = LATE.swap(0, Ordering::Relaxed);
        if late > 0 {
            // SAFETY: a signal that this process got.
            unsafe { libc::raise(late) };
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        for (signal, action) in self.before {
            // SAFETY: an action that this process had.
            unsafe { libc::signal(signal, action) };
        }
    }
}

/// Waits for the end of a child without reaping it: until then its number is nobody else's.
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

/// A child that runs.
pub(crate) struct Running {
    child: Child,
    stderr: File,
    phrase: &'static [u8],
    forwarding: Forwarding,
}

/// Starts `command`; the phrase is looked for in its stderr.
///
/// # Errors
/// The program could not be started.
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
    // The command holds the child's end of stderr open: without this the reader would never see the end.
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
    /// Waits for its end.
    ///
    /// # Errors
    /// The system does not tell how it ended.
    pub(crate) fn wait(self) -> std::io::Result<Watched> {
        let Self {
            mut child,
            stderr,
            phrase,
            forwarding,
        } = self;
        let (alive, ended) = pipe()?;
        let (told, answers) = channel();
        let reader = std::thread::spawn(move || copy_and_look(stderr, &alive, phrase, &told));
        wait_unreaped(&child);
        forwarding.end();
        let status = child.wait()?;
        // All that the child wrote lies in the pipe now, and goes through however late the reader comes to it.
        drop(ended);
        let mut seen = answers.recv().unwrap_or(false);
        // A grandchild may hold stderr open for ever: what it writes still goes through while we live, but its end is not
        // waited for longer than a moment after the child's.
        let patience = std::time::Instant::now();
        while !reader.is_finished() && patience.elapsed() < std::time::Duration::from_millis(200) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        if reader.is_finished() {
            let _ = reader.join();
            seen = answers.try_iter().last().unwrap_or(seen);
        }
        Ok(Watched { status, seen })
    }
}

/// Most bytes that a pipe holds unless somebody asked for more.
const PIPE: usize = 1 << 16;

/// How far a child's stderr has come.
enum Stage {
    Alive,
    /// The child has ended, and may have left so many bytes behind.
    Ended {
        left: usize,
    },
    /// They are copied.
    Told,
}

/// Copies until the end of `from`. Tells whether the phrase was seen when all is copied that was there as the child ended
/// (`alive` is closed then), and at the end.
fn copy_and_look(mut from: File, alive: &File, phrase: &[u8], told: &Sender<bool>) {
    let mut buffer = [0u8; 8192];
    // The end of what came before: the phrase may be cut by a read.
    let mut tail: Vec<u8> = Vec::new();
    let mut seen = false;
    let mut stage = Stage::Alive;
    loop {
        match stage {
            Stage::Alive => {
                let (_, is_over) = poll(&from, alive, true);
                if is_over {
                    // What came between two looks is found by the next.
                    stage = Stage::Ended { left: PIPE };
                    continue;
                }
            }
            Stage::Ended { left } => {
                let (is_more, _) = poll(&from, alive, false);
                if left == 0 || !is_more {
                    let _ = told.send(seen);
                    stage = Stage::Told;
                    continue;
                }
            }
            Stage::Told => {}
        }
        match from.read(&mut buffer) {
            // A closed terminal reads as EIO.
            Ok(0) | Err(_) => {
                let _ = told.send(seen);
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

/// Whether a read would not wait, and whether the child has ended; waits for either if `wait`.
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
    // SAFETY: a descriptor that openpty just gave us.
    unsafe { libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC) };
    // SAFETY: a descriptor that openpty just gave us and nobody else owns.
    let ours = unsafe { File::from_raw_fd(ours) };
    // SAFETY: as above.
    let theirs = unsafe { OwnedFd::from_raw_fd(theirs) };
    // The outer terminal turns line feeds into line starts; twice would be once too often, but harmless.
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
