//! What the process uses after each call that makes or destroys something, as lines of a CSV file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::Settings;
use super::leaks::{PAIRS, role};
use crate::validation::finding::{Finding, Severity};
use crate::value::function;

/// The members of `/proc/self/status` that are written, in kB but the last.
const STATUS: [&str; 5] = ["VmSize", "VmRSS", "VmData", "VmPeak", "Threads"];

/// The things that are counted: a column's name and the place in the pairs of the leak checker.
const COUNTED: [(&str, usize); 11] = [
    ("Contexts", 0),
    ("CommandQueues", 1),
    ("CommandLists", 5),
    ("Modules", 2),
    ("Kernels", 3),
    ("EventPools", 4),
    ("Events", 6),
    ("Fences", 7),
    ("Images", 8),
    ("Samplers", 9),
    ("Allocations", 10),
];

struct Tracker {
    file: Option<File>,
    begin: Option<Instant>,
    counts: [i64; PAIRS.len()],
    last: [i64; STATUS.len()],
}

static TRACKER: Mutex<Tracker> = Mutex::new(Tracker {
    file: None,
    begin: None,
    counts: [0; PAIRS.len()],
    last: [0; STATUS.len()],
});

fn tracker() -> MutexGuard<'static, Tracker> {
    TRACKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `name.csv` with the process's number: `name_pid17.csv`.
fn numbered(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("_pid{}", std::process::id()));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

pub(super) fn configure(settings: &Settings) {
    let mut tracker = tracker();
    tracker.counts = [0; PAIRS.len()];
    tracker.begin = settings.resources.then(Instant::now);
    tracker.file = None;
    let Some(path) = settings
        .resources_csv
        .as_ref()
        .filter(|_| settings.resources)
    else {
        return;
    };
    let mut head = String::from("Time_ns,Function,Succeeded");
    for (name, _) in COUNTED {
        write!(head, ",{name}").ok();
    }
    head.push_str(
        ",VmSize_kB,VmRSS_kB,VmData_kB,VmPeak_kB,Threads,FDs,VmSize_change_kB,VmRSS_change_kB\n",
    );
    let path = numbered(path);
    match File::create(&path).and_then(|mut file| file.write_all(head.as_bytes()).map(|()| file)) {
        Ok(file) => tracker.file = Some(file),
        Err(error) => {
            let rule = format!("{}: {error}", path.display());
            Finding::new(Severity::Warning, "resources", rule).report();
        }
    }
}

fn status() -> [i64; STATUS.len()] {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    STATUS.map(|name| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or(0)
    })
}

pub(super) fn after(index: usize, succeeded: bool) {
    let Some((pair, makes)) = role(index) else {
        return;
    };
    let mut tracker = tracker();
    if succeeded {
        tracker.counts[pair] += if makes { 1 } else { -1 };
        if tracker.counts[pair] < 0 {
            tracker.counts[pair] = 0;
            Finding::new(
                Severity::Warning,
                "resources",
                "destroys what was not seen being made".into(),
            )
            .of(index)
            .report();
        }
    }
    if tracker.file.is_none() {
        return;
    }
    let now = status();
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let time = tracker.begin.map_or(0, |begin| begin.elapsed().as_nanos());
    let mut line = format!("{time},{},{}", function(index).name, u8::from(succeeded));
    for (_, pair) in COUNTED {
        write!(line, ",{}", tracker.counts[pair]).ok();
    }
    for value in now {
        write!(line, ",{value}").ok();
    }
    writeln!(
        line,
        ",{descriptors},{},{}",
        now[0] - tracker.last[0],
        now[1] - tracker.last[1]
    )
    .ok();
    tracker.last = now;
    if let Some(file) = &mut tracker.file {
        // One write a line, so that lines of several threads do not mix; a full disk does not disturb the program.
        drop(file.write_all(line.as_bytes()));
    }
}
