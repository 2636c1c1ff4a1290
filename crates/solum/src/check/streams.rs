//! The private folder to which the processes of a checked program write, and what they wrote.

use std::fs::DirBuilder;
use std::io::{self, BufReader, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use check_report::stream::{self, Stream};

use crate::folder::Folder;
use crate::output;

/// A folder that only this user can enter. Dropping the value removes it.
pub(super) struct Streams {
    folder: Folder,
    path: PathBuf,
}

/// What one process told.
pub(super) struct Told {
    /// Its number.
    pub(super) process: u64,
    /// Which of the programs that the process executed one after another.
    pub(super) number: u64,
    pub(super) stream: Stream,
}

impl Streams {
    /// Creates the folder.
    ///
    /// # Errors
    /// It cannot be created.
    pub(super) fn new() -> io::Result<Self> {
        for attempt in 0..64 {
            let name = format!("solum-check-{}-{attempt}", std::process::id());
            let path = std::env::temp_dir().join(name);
            // Fails if the name is taken, also by a link of another user.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            return match Folder::make(&path) {
                Ok((folder, _)) => Ok(Self { folder, path }),
                Err(error) => {
                    let _ = std::fs::remove_dir(&path);
                    Err(error)
                }
            };
        }
        Err(io::Error::other("64 names were taken"))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Reads all streams, in the order of processes and of the programs that they executed.
    ///
    /// # Errors
    /// The folder cannot be read. A stream that cannot be read is told to the user and left out.
    pub(super) fn read(&self) -> io::Result<Vec<Told>> {
        let mut all = Vec::new();
        for name in self.folder.names()? {
            let Some((process, number)) = name.to_str().and_then(numbers) else {
                continue;
            };
            let stream = self.folder.read(&name);
            match stream.and_then(|file| stream::read(BufReader::new(file))) {
                Ok(stream) => all.push(Told {
                    process,
                    number,
                    stream,
                }),
                Err(error) => {
                    let text = format!("the findings of process {process} are lost: {error}");
                    output::print_error(&text, None);
                }
            }
        }
        all.sort_by_key(|told| (told.process, told.number));
        Ok(all)
    }
}

impl Streams {
    /// Copies the streams into the folder of a trace, for its timeline. What cannot be copied is told to the user.
    pub(super) fn leave_in(&self, trace: &Path) {
        let copy = || {
            let (to, _) = Folder::make(trace)?;
            for name in self.folder.names()? {
                let stem = name.to_str().filter(|name| stream::is_stream(name));
                let Some(stem) = stem.and_then(|name| name.strip_suffix(".jsonl")) else {
                    continue;
                };
                let mut from = self.folder.read(&name)?;
                io::copy(&mut from, &mut to.create(&format!("{stem}{LEFT}"))?)?;
            }
            io::Result::Ok(())
        };
        if let Err(error) = copy() {
            let text = format!("the trace has no findings: {}: {error}", trace.display());
            output::print_error(&text, None);
        }
    }
}

/// How the names of streams end that are left in the folder of a trace.
const LEFT: &str = ".findings";

/// Whether a file in the folder of a trace has the name of a stream that was left there.
pub(crate) fn is_left_name(name: &str) -> bool {
    let stem = name.strip_suffix(LEFT);
    stem.is_some_and(|stem| stream::is_stream(&format!("{stem}.jsonl")))
}

/// The streams in a folder of another `solum check`.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn streams_in(path: &Path) -> io::Result<Vec<Stream>> {
    let (folder, _) = Folder::make(path)?;
    let mut all = Vec::new();
    for name in folder.names()? {
        if name.to_str().is_some_and(stream::is_stream)
            && let Ok(file) = folder.read(&name)
            && let Ok(stream) = stream::read(BufReader::new(file))
        {
            all.push(stream);
        }
    }
    Ok(all)
}

impl Drop for Streams {
    fn drop(&mut self) {
        // A process that outlives the program may still write; what it finds is not reported any more.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Process and number of a stream's name.
fn numbers(name: &str) -> Option<(u64, u64)> {
    let (process, number) = Some(name)
        .filter(|name| stream::is_stream(name))?
        .strip_suffix(".jsonl")?
        .split_once('-')?;
    Some((process.parse().ok()?, number.parse().ok()?))
}
