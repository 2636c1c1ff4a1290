//! The output folder of `solum trace`: finds this run's recordings, converts them, and never touches other files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use timeline::chrome::Chrome;
use timeline::file::{self, MAGIC, Recording};
use timeline::filter::Filter;
use timeline::graph::{Graph, Growing};
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::report::Report;
use timeline::summary::{SCHEMA, Summary, Summing};

use super::findings;
use crate::folder::Folder;
use crate::output;

/// The output folder, and the older recordings in it.
pub(super) struct Results {
    pub(super) folder: Folder,
    /// It was created by this run.
    is_new: bool,
    /// Entries with a recording's name that existed before the program started.
    before: HashSet<OsString>,
    /// It holds the results of an earlier trace.
    is_used: bool,
}

impl Results {
    /// Opens or creates the folder; leaves its content unchanged.
    ///
    /// # Errors
    /// Others can write to it, or it holds a file with a result's name but no earlier trace: that file would be
    /// overwritten.
    pub(super) fn prepare(folder: &Path) -> io::Result<Self> {
        let (folder, is_new) = Folder::make(folder)?;
        let findings = findings::names(&folder)?;
        let before: HashSet<_> = recordings(&folder)?.into_iter().chain(findings).collect();
        let is_used = before.iter().any(|name| is_recording(&folder, name)) || has_summary(&folder);
        if let Some(name) = MADE.iter().find(|name| folder.has(name))
            && !is_used
        {
            let text =
                format!("it contains {name}, which is not from a trace and would be overwritten");
            return Err(io::Error::new(ErrorKind::AlreadyExists, text));
        }
        Ok(Self {
            folder,
            is_new,
            before,
            is_used,
        })
    }

    /// Removes the folder if this run created it. Called if the program did not start.
    pub(super) fn abandon(&self) {
        if self.is_new && self.folder.check_place().is_ok() {
            // Fails, as it should, if something was put into it meanwhile.
            let _ = fs::remove_dir(self.folder.path());
        }
    }

    /// Removes the recordings and results of an earlier trace, and nothing else.
    pub(super) fn replace_older(&mut self) {
        let folder = &self.folder;
        let remove = |name: &OsStr| match folder.remove(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let file = folder.path().join(name);
                let text = format!(
                    "cannot remove {} of an earlier trace: {error}",
                    file.display()
                );
                output::print_error(&text, None);
                false
            }
            _ => true,
        };
        // A removed name may be used again by this run.
        self.before
            .retain(|name| !(is_recording(folder, name) && remove(name)));
        self.before
            .retain(|name| !(findings::is_left(folder, name) && remove(name)));
        if self.is_used {
            for name in MADE {
                remove(name.as_ref());
            }
        }
    }

    /// The names of the recordings of this run.
    pub(super) fn recordings(&self) -> io::Result<Vec<OsString>> {
        let mut found = recordings(&self.folder)?;
        found.retain(|name| !self.before.contains(name));
        Ok(found)
    }

    /// Converts the recordings into the result files; `None` if there are no recordings.
    pub(super) fn convert(&self, filter: &Filter) -> Result<Option<Converted>, play::Error> {
        let folder = &self.folder;
        folder.check_place()?;
        let mut open = Vec::new();
        for name in self.recordings()? {
            match recording(folder, &name) {
                Ok(recording) => open.push(recording),
                Err(error) => {
                    let file = folder.path().join(&name);
                    output::print_error(&format!("{}: {error}", file.display()), None);
                }
            }
        }
        let Some(zero) = open.iter().map(|recording| recording.clock).min() else {
            return Ok(None);
        };
        let complete = open.iter().all(|recording| recording.finished);
        let lost = open.iter().map(|recording| recording.lost);
        let lost = lost.fold(0, u64::saturating_add);
        let calendar = open.first().map_or(0, |recording| {
            recording.calendar.saturating_sub(recording.clock - zero)
        });
        let write = |name: &str| folder.create(name).map(BufWriter::new);
        let report = |name: &str, read| {
            let mut report = Report::new(write(name)?);
            report.read(read);
            io::Result::Ok(report)
        };
        let mut chrome = Chrome::new(write("timeline.json")?, zero)?;
        let mut perfetto = Perfetto::new(write("timeline.pftrace")?, zero, calendar)?;
        let mut summing = Summing::new(zero);
        let mut growing = Growing::new();
        let mut drawing = Picture::new();
        let listeners: &mut [&mut dyn Listener] = &mut [
            &mut chrome,
            &mut perfetto,
            &mut summing,
            &mut growing,
            &mut drawing,
        ];
        let instants = findings::instants(folder, &self.before);
        let read = play::play_with(&mut open, filter, instants, listeners)?;
        let summary = summing.finish(complete, lost);
        let graph = growing.finish();
        json(report(SUMMARY, read)?, &summary)?;
        json(report("graph.json", read)?, &graph)?;
        graph.dot(&mut report("graph.dot", read)?)?;
        Ok(Some(Converted {
            summary,
            graph,
            drawing,
            read,
        }))
    }
}

const SUMMARY: &str = "summary.json";

/// The result files.
const MADE: [&str; 7] = [
    "timeline.pftrace",
    "timeline.json",
    "timeline.svg",
    SUMMARY,
    "graph.json",
    "graph.dot",
    "graph.svg",
];

/// The names in `folder` that have the recorder's form: `PID-NUMBER.events`.
fn recordings(folder: &Folder) -> io::Result<Vec<OsString>> {
    let mut found = folder.names()?;
    found.retain(|name| {
        let parts = name
            .to_str()
            .and_then(|name| name.strip_suffix(".events"))
            .and_then(|name| name.split_once('-'));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
    });
    found.sort();
    Ok(found)
}

/// Opens a recording.
pub(super) fn recording(
    folder: &Folder,
    name: &OsStr,
) -> Result<Recording<BufReader<File>>, file::Error> {
    Recording::open(BufReader::with_capacity(1 << 16, folder.read(name)?))
}

/// Whether the folder holds the summary of a trace, of any version.
fn has_summary(folder: &Folder) -> bool {
    let schema = SCHEMA.split_inclusive('/').next().unwrap_or(SCHEMA);
    let mut start = String::new();
    let read = folder
        .read(SUMMARY.as_ref())
        .map(|file| file.take(64).read_to_string(&mut start));
    matches!(read, Ok(Ok(_))) && start.contains(&format!("\"{schema}"))
}

/// Whether a file begins with the magic number of recordings.
fn is_recording(folder: &Folder, name: &OsStr) -> bool {
    let mut start = [0; MAGIC.len()];
    let mut read = || folder.read(name)?.read_exact(&mut start);
    read().is_ok() && start == MAGIC
}

fn json(mut file: impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut file, value)?;
    file.flush()
}

/// The converted recordings.
pub(super) struct Converted {
    pub(super) summary: Summary,
    pub(super) graph: Graph,
    pub(super) drawing: Picture,
    /// Bytes that were read from the recordings.
    pub(super) read: u64,
}
