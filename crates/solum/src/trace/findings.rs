//! Findings of `solum check`, which has checked the program that was traced, as instants of the timeline.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use check_report::Finding;
use check_report::stream::{self, CHECKS, OUTPUT, Stream};
use timeline::play::Instant;

use crate::folder::Folder;

/// The findings of processes that `solum check` has checked inside this trace, or around it.
pub(super) fn instants(folder: &Folder, before: &HashSet<OsString>) -> Vec<Instant> {
    let mut all = Vec::new();
    for name in names(folder).unwrap_or_default() {
        if before.contains(&name) {
            continue;
        }
        let file = folder.read(&name);
        if let Ok(stream) = file.and_then(|file| stream::read(BufReader::new(file))) {
            add(&stream, &mut all);
        }
    }
    let around = std::env::var_os(OUTPUT);
    let around = around.filter(|_| std::env::var_os(CHECKS).is_some());
    if let Some(path) = around
        && let Ok(streams) = crate::check::streams_in(Path::new(&path))
    {
        streams.iter().for_each(|stream| add(stream, &mut all));
    }
    all
}

/// The files that `solum check` has left in the folder, and others with such a name.
pub(super) fn names(folder: &Folder) -> io::Result<Vec<OsString>> {
    let mut names = folder.names()?;
    names.retain(|name| name.to_str().is_some_and(crate::check::is_left_name));
    names.sort();
    Ok(names)
}

/// Whether `solum check` has left this file.
pub(super) fn is_left(folder: &Folder, name: &OsStr) -> bool {
    const START: &[u8] = b"{\"start\"";
    let mut start = [0; START.len()];
    let mut read = || folder.read(name)?.read_exact(&mut start);
    name.to_str().is_some_and(crate::check::is_left_name) && read().is_ok() && start == START
}

fn add(stream: &Stream, all: &mut Vec<Instant>) {
    let Some(start) = &stream.start else { return };
    for (at, finding) in &stream.findings {
        all.push(instant(start.pid, *at, finding));
    }
}

/// `at`: microseconds since 1970.
fn instant(process: u32, at: u64, finding: &Finding) -> Instant {
    let frame = finding.access.as_ref().and_then(|access| access.frame());
    let place = frame
        .filter(|frame| frame.has_line())
        .map(|frame| format!("{}:{}", frame.file, frame.line));
    let kernel = finding.kernel.clone().unwrap_or_default();
    let arguments = [
        ("message", Some(finding.message.clone())),
        ("kernel", Some(kernel.clone())),
        ("source", place),
    ];
    Instant {
        process,
        time: at.saturating_mul(1000),
        kernel,
        name: finding.kind.to_string(),
        arguments: arguments
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect(),
    }
}
