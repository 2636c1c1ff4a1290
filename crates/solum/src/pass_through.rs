//! Runs a child as if it had been started directly, and watches its stderr for one phrase.
//!
//! Invariants: every byte of stderr goes through at once and unchanged; a terminal stays a terminal for the child;
//! SIGTERM and SIGHUP reach the child; SIGINT and SIGQUIT, which a terminal sends to the whole group, do not end the
//! wrapper before the child.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};

/// How a child ended.
pub(crate) struct Watched {
    /// Its status.
    pub(crate) status: ExitStatus,
    /// Whether the phrase stood in its stderr.
    pub(crate) seen: bool,
}

/// Pid that signals are forwarded to; 0 before there is one.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: kill is async-signal-safe; the child is not reaped before CHILD is cleared.
        unsafe { libc::kill(child, signal) };
    }
}

fn handle(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: the action is SIG_IGN or `forward`, which only calls kill.
    unsafe { libc::signal(signal, action) };
}

/// Runs `command`; the phrase is looked for in its stderr.
///
/// # Errors
/// The program could not be started.
pub(crate) fn run(mut command: Command, phrase: &'static [u8]) -> std::io::Result<Watched> {
    let (ours, theirs) = if std::io::stderr().is_terminal() {
        terminal()?
    } else {
        pipe()?
    };
    command.stderr(theirs);
    let mut child = command.spawn()?;
    // The command holds the child's end of stderr open: without this the reader would never see the end.
    drop(command);
    CHILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::Relaxed);
    handle(libc::SIGINT, libc::SIG_IGN);
    handle(libc::SIGQUIT, libc::SIG_IGN);
    handle(libc::SIGTERM, forward as *const () as libc::sighandler_t);
    handle(libc::SIGHUP, forward as *const () as libc::sighandler_t);

    let reader = std::thread::spawn(move || copy_and_look(ours, phrase));
    let status = child.wait()?;
    CHILD.store(0, Ordering::Relaxed);
    // A grandchild may hold stderr open for ever: what it writes still goes through while we live, but its end is not
    // waited for longer than a moment after the child's.
    let patience = std::time::Instant::now();
    while !reader.is_finished() && patience.elapsed() < std::time::Duration::from_millis(200) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let seen = reader.is_finished() && reader.join().unwrap_or(false);
    Ok(Watched { status, seen })
}

fn copy_and_look(from: File, phrase: &[u8]) -> bool {
    let mut from = from;
    let mut buffer = [0u8; 8192];
    // The end of what came before: the phrase may be cut by a read.
    let mut tail: Vec<u8> = Vec::new();
    let mut seen = false;
    loop {
        match from.read(&mut buffer) {
            // A closed terminal reads as EIO.
            Ok(0) | Err(_) => return seen,
            Ok(count) => {
                let mut stderr = std::io::stderr().lock();
                let _ = stderr.write_all(&buffer[..count]);
                tail.extend_from_slice(&buffer[..count]);
                seen |= tail.windows(phrase.len()).any(|window| window == phrase);
                let keep = tail.len().saturating_sub(phrase.len() - 1);
                tail.drain(..keep);
            }
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
