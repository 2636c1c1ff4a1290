//! The writer inside a checked process.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::Start;
use crate::{Checks, Finding};

/// How many file names are tried for one process.
const NAMES: u32 = 10_000;

/// A line of the stream.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Line<'l> {
    Start(&'l Start),
    Finding {
        id: u64,
        at: u64,
        #[serde(flatten)]
        finding: &'l Finding,
    },
    Count {
        id: u64,
        count: u64,
    },
    Dropped {
        what: &'l str,
        count: u64,
    },
    End {},
}

/// Writes the findings of this process, and of its children after `fork`, to files in a folder.
///
/// Each line is one `write`, so a process that is killed loses nothing. Calls never panic and never fail: what cannot be
/// written, because the disk is full for example, is not told. Any thread may call. A program may close the file's
/// descriptor.
///
/// After `fork` the child opens a file of its own with its first line. A finding that its parent has told is told again,
/// with the child's own count.
pub struct Writer {
    folder: PathBuf,
    program: String,
    version: String,
    checks: String,
    first: Process,
}

/// The state of one process: a child after `fork` finds its parent's and continues the chain.
struct Process {
    pid: u32,
    state: Mutex<State>,
    child: OnceLock<Box<Process>>,
}

/// What a process has told.
#[derive(Default)]
struct State {
    /// `None`: it cannot be opened.
    output: Option<Output>,
    /// The last line was cut, since its write failed.
    is_cut: bool,
    /// By id, which begins at 1.
    told: Vec<Told>,
}

/// The file of a process.
struct Output {
    file: File,
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

#[derive(Clone)]
struct Told {
    finding: Finding,
    /// The count that was told last.
    count: u64,
    /// The count of the parent before `fork`.
    inherited: u64,
    /// This process has told the finding itself.
    is_own: bool,
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| {
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
    })
}

impl Writer {
    /// Creates the file of this process in an existing folder, and tells its start.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn open(folder: &Path, program: &str, version: &str, checks: &Checks) -> io::Result<Self> {
        // The program may change its current folder before it forks.
        let folder = folder.canonicalize()?;
        let pid = std::process::id();
        let mut writer = Self {
            folder,
            program: program.to_owned(),
            version: version.to_owned(),
            checks: checks.to_string(),
            first: Process::new(pid, State::default()),
        };
        let mut state = State {
            output: Some(writer.create(pid)?),
            ..State::default()
        };
        state.line(&Line::Start(&writer.start(pid)))?;
        writer.first = Process::new(pid, state);
        Ok(writer)
    }

    fn start(&self, pid: u32) -> Start {
        Start {
            pid,
            program: self.program.clone(),
            version: self.version.clone(),
            checks: self.checks.clone(),
            at: now(),
        }
    }

    /// Creates a file with a name that is new: numbers of processes are used again, also by `exec`.
    fn create(&self, pid: u32) -> io::Result<Output> {
        for number in 0..NAMES {
            let path = self.folder.join(format!("{pid}-{number}.jsonl"));
            let mut options = OpenOptions::new();
            options.append(true).create_new(true).mode(0o600);
            match options.open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                opened => return Output::new(opened?, path),
            }
        }
        Err(io::Error::other("too many files of one process"))
    }

    /// Tells a finding that is new. Returns its id for [`Writer::count`].
    pub fn finding(&self, finding: &Finding) -> u64 {
        let mut state = self.state();
        let id = state.told.len() as u64 + 1;
        state.told.push(Told {
            finding: finding.clone(),
            count: finding.count,
            inherited: 0,
            is_own: true,
        });
        let at = now();
        state.tell(&Line::Finding { id, at, finding });
        id
    }

    /// Tells how often a finding was found by now, in total.
    pub fn count(&self, id: u64, count: u64) {
        let mut state = self.state();
        let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let Some(told) = index.and_then(|index| state.told.get_mut(index)) else {
            return;
        };
        let own = count.saturating_sub(told.inherited);
        if own == 0 || (told.is_own && told.count == count) {
            return;
        }
        told.count = count;
        if told.is_own {
            state.tell(&Line::Count { id, count: own });
            return;
        }
        told.is_own = true;
        let mut finding = told.finding.clone();
        finding.count = own;
        let at = now();
        let finding = &finding;
        state.tell(&Line::Finding { id, at, finding });
    }

    /// Tells what could not be checked, for example since a limit was reached.
    pub fn dropped(&self, what: &str, count: u64) {
        self.state().tell(&Line::Dropped { what, count });
    }

    /// Tells that the process has ended by itself. Later calls are still written.
    pub fn end(&self) {
        self.state().tell(&Line::End {});
    }

    /// The state of the calling process.
    fn state(&self) -> MutexGuard<'_, State> {
        let pid = std::process::id();
        let mut process = &self.first;
        while process.pid != pid {
            let parent = process;
            process = match process.child.get() {
                Some(child) => child,
                None => {
                    let (path, state) = self.after_fork(parent, pid);
                    let child = Box::new(Process::new(pid, state));
                    if parent.child.set(child).is_err()
                        && let Some(path) = path
                    {
                        // Another thread of this process was first, and has a file.
                        let _ = std::fs::remove_file(path);
                    }
                    match parent.child.get() {
                        Some(child) => child,
                        // Cannot happen: it was set just now.
                        None => break,
                    }
                }
            };
        }
        process.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a child that has just been forked.
    fn after_fork(&self, parent: &Process, pid: u32) -> (Option<PathBuf>, State) {
        // If another thread of the parent held the lock as the process forked, it is held for ever here. What the parent
        // has told is then not told again.
        let mut told = match parent.state.try_lock() {
            Ok(state) => state.told.clone(),
            Err(TryLockError::Poisoned(state)) => state.into_inner().told.clone(),
            Err(TryLockError::WouldBlock) => Vec::new(),
        };
        for told in &mut told {
            told.inherited = told.count;
            told.is_own = false;
        }
        let output = self.create(pid).ok();
        let path = output.as_ref().map(|output| output.path.clone());
        let mut state = State {
            output,
            is_cut: false,
            told,
        };
        state.tell(&Line::Start(&self.start(pid)));
        (path, state)
    }
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let data = file.metadata()?;
    Ok((data.dev(), data.ino()))
}

impl Output {
    fn new(file: File, path: PathBuf) -> io::Result<Self> {
        let identity = identity(&file)?;
        Ok(Self {
            file,
            path,
            identity,
        })
    }

    /// The file; opened again if the program has closed its descriptor, as daemons close all of theirs. The number may
    /// be that of a file of the program by now, which must get nothing of ours.
    fn file(&mut self) -> io::Result<&mut File> {
        if identity(&self.file).ok() != Some(self.identity) {
            let mut options = OpenOptions::new();
            let file = options.append(true).open(&self.path)?;
            if identity(&file)? != self.identity {
                return Err(io::Error::other("another file has the name of the stream"));
            }
            // The old number is not ours to close.
            let _ = std::mem::replace(&mut self.file, file).into_raw_fd();
        }
        Ok(&mut self.file)
    }
}

impl Process {
    fn new(pid: u32, state: State) -> Self {
        Self {
            pid,
            state: Mutex::new(state),
            child: OnceLock::new(),
        }
    }
}

impl State {
    fn tell(&mut self, line: &Line<'_>) {
        // Nobody is there to be told.
        let _ = self.line(line);
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        let Some(file) = self.output.as_mut().map(Output::file).transpose()? else {
            return Ok(());
        };
        let mut bytes = Vec::with_capacity(512);
        if self.is_cut {
            bytes.push(b'\n');
        }
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
        // The whole line in one write, unless the system accepts less.
        let mut rest = bytes.as_slice();
        let written = signal_mask::without_write_signals(|| {
            while !rest.is_empty() {
                match file.write(rest) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(count) => rest = &rest[count..],
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        match written {
            Ok(()) => self.is_cut = false,
            Err(_) => self.is_cut |= rest.len() != bytes.len(),
        }
        written
    }
}
