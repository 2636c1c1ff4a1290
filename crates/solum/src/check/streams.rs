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
