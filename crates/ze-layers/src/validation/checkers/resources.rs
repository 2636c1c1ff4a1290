//! The process's resources after each call that creates, destroys or appends something: lines of a CSV file with the
//! reference's columns, lines in the loader's log, and a warning if memory was not released with an object.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use owned_file::Content;

use super::leaks::{PAIRS, role};
use crate::validation::finding::{Finding, Severity};
use crate::validation::log::{Weight, log};
use crate::validation::modes::Settings;
use crate::value::{created, function};

/// The members of `/proc/self/status` that are logged, in kB except the last.
const STATUS: [&str; 5] = ["VmSize", "VmRSS", "VmData", "VmPeak", "Threads"];
/// Their indices.
const SIZE: usize = 0;
const RESIDENT: usize = 1;
const DATA: usize = 2;

/// The kinds that are counted: a column's name and the index in the leak checker's pairs.
const COUNTED: [(&str, usize); 10] = [
    ("Contexts", 0),
    ("CommandQueues", 1),
    ("Modules", 2),
    ("Kernels", 3),
    ("EventPools", 4),
    ("CommandLists", 5),
    ("Events", 6),
    ("Fences", 7),
    ("Images", 8),
    ("Samplers", 9),
];
/// The index of allocations among the pairs.
const MEMORY: usize = 10;

/// A live object.
struct Made {
    /// The process's memory before it was created.
    before: [i64; STATUS.len()],
    /// Of an allocation.
    bytes: u64,
}

#[derive(Default)]
struct Tracker {
    file: Option<File>,
    begin: Option<Instant>,
    calls: u64,
    counts: [i64; PAIRS.len()],
    /// kB that were not released, by kind.
    leaked: [i64; PAIRS.len()],
    /// Live objects by kind and handle or address.
    made: HashMap<(usize, u64), Made>,
    last: [i64; STATUS.len()],
}

static TRACKER: LazyLock<Mutex<Tracker>> = LazyLock::new(Mutex::default);

fn tracker() -> MutexGuard<'static, Tracker> {
    TRACKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `name.csv` with the process's id: `name_pid17.csv`.
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
    *tracker = Tracker::default();
    if !settings.resources {
        return;
    }
    tracker.begin = Some(Instant::now());
    tracker.last = status();
    let Some(path) = settings.resources_csv.as_ref() else {
        return;
    };
    let mut head = String::from(
        "CallNumber,TimeMs,APICall,VmSize_KB,VmRSS_KB,VmData_KB,VmPeak_KB,Threads,Delta_VmSize_KB,Delta_VmRSS_KB,Delta_VmData_KB",
    );
    for (name, _) in COUNTED {
        write!(head, ",{name}").ok();
    }
    head.push_str(",TotalMemory_Bytes\n");
    let path = numbered(path);
    let made = signal_mask::without_write_signals(|| {
        let mut file = owned_file::open(&path, Content::Replaced, 0o666)?;
        file.write_all(head.as_bytes())?;
        Ok(file)
    });
    match made.map_err(signal_mask::name_file_size_limit) {
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

/// The argument with this name.
fn argument(index: usize, name: &str, arguments: &[u64]) -> Option<u64> {
    let at = function(index).params.iter().position(|p| p.name == name)?;
    arguments.get(at).copied()
}

/// The handle, or the address of the allocation, that a call has created.
///
/// # Safety
/// `arguments` are those of a call of this function that has succeeded.
unsafe fn product(index: usize, arguments: &[u64]) -> Option<u64> {
    if let Some(place) = argument(index, "pptr", arguments) {
        let place = usize::try_from(place).ok().filter(|place| *place != 0)?;
        // SAFETY: the call wrote an address there.
        return Some(unsafe { std::ptr::with_exposed_provenance::<u64>(place).read() });
    }
    let params = function(index).params.iter().zip(arguments);
    // SAFETY: guaranteed by the caller.
    params
        .rev()
        .find_map(|(param, bits)| unsafe { created(param, *bits) })
}

/// The object that a call destroys: its only handle, or the pointer that it frees.
fn victim(index: usize, arguments: &[u64]) -> Option<u64> {
    argument(index, "ptr", arguments).or_else(|| arguments.first().copied())
}

/// Records the end of a call.
///
/// # Safety
/// `arguments` are those of a call of this function that has ended.
pub(super) unsafe fn after(index: usize, arguments: &[u64], succeeded: bool) {
    let (role, name) = (role(index), function(index).name);
    if role.is_none() && !name.starts_with("zeCommandListAppend") && name != "zeCommandListReset" {
        return;
    }
    let mut tracker = tracker();
    let now = status();
    let before = std::mem::replace(&mut tracker.last, now);
    tracker.calls += 1;
    let delta = |place: usize| now[place] - before[place];
    let mut finding = None;
    match role {
        Some((pair, true)) if succeeded => {
            tracker.counts[pair] += 1;
            let bytes = argument(index, "size", arguments)
                .filter(|_| pair == MEMORY)
                .unwrap_or(0);
            // SAFETY: guaranteed by the caller; the call succeeded.
            if let Some(object) = unsafe { product(index, arguments) } {
                tracker.made.insert((pair, object), Made { before, bytes });
            }
        }
        Some((pair, false)) if succeeded => {
            tracker.counts[pair] -= 1;
            let object = victim(index, arguments).unwrap_or(0);
            match tracker.made.remove(&(pair, object)) {
                None => {
                    tracker.counts[pair] = tracker.counts[pair].max(0);
                    let rule = "destroys an object whose creation was not seen";
                    finding = Some((object, rule.to_owned()));
                }
                Some(made) => {
                    let grown = [RESIDENT, SIZE].map(|place| now[place] - made.before[place]);
                    if grown[0] > 0 {
                        tracker.leaked[pair] += grown[0];
                        let all = tracker.leaked[pair];
                        let rule = format!(
                            "the process uses more memory than before this object was created: VmRSS {:+} kB, VmSize {:+} kB; {all} kB for all objects of its kind",
                            grown[0], grown[1]
                        );
                        finding = Some((object, rule));
                    }
                }
            }
        }
        _ => {}
    }
    write_csv(&mut tracker, name, &now, &before);
    if let Some(log) = log().filter(|log| log.resources) {
        let [size, resident, data] = [SIZE, RESIDENT, DATA].map(delta);
        let count = role.map(|(pair, _)| tracker.counts[pair]);
        let count = count.map_or_else(String::new, |count| format!(" alive {count},"));
        (log.write)(
            Weight::Debug,
            format_args!(
                "{name}:{count} VmRSS {} kB ({resident:+}), VmSize {} kB ({size:+}), VmData {} kB ({data:+}), threads {}",
                now[RESIDENT], now[SIZE], now[DATA], now[4]
            ),
        );
    }
    // Reported outside the lock, because the log may call back.
    drop(tracker);
    if let Some((object, rule)) = finding {
        Finding::new(Severity::Warning, "resources", rule)
            .of(index)
            .named("object", format!("{object:#x}"))
            .report();
    }
}

fn write_csv(
    tracker: &mut Tracker,
    name: &str,
    now: &[i64; STATUS.len()],
    before: &[i64; STATUS.len()],
) {
    if tracker.file.is_none() {
        return;
    }
    let time = tracker.begin.map_or(0, |begin| begin.elapsed().as_millis());
    let mut line = format!("{},{time},{name}", tracker.calls);
    for value in now {
        write!(line, ",{value}").ok();
    }
    for place in [SIZE, RESIDENT, DATA] {
        write!(line, ",{}", now[place] - before[place]).ok();
    }
    for (_, pair) in COUNTED {
        write!(line, ",{}", tracker.counts[pair]).ok();
    }
    let bytes: u64 = tracker.made.values().map(|made| made.bytes).sum();
    writeln!(line, ",{bytes}").ok();
    if let Some(file) = &mut tracker.file {
        // One write for each line, so that lines of several threads do not mix. A full disk does not disturb the
        // program.
        drop(signal_mask::without_write_signals(|| {
            file.write_all(line.as_bytes())
        }));
    }
}

/// At exit: reports memory that was not released, by kind.
pub(super) fn finish() {
    let leaked = tracker().leaked;
    for ((makes, _), kilobytes) in PAIRS.iter().zip(leaked) {
        if kilobytes > 0 {
            let rule = format!(
                "{kilobytes} kB were not released when the objects of {} were destroyed",
                makes.join(" and ")
            );
            Finding::new(Severity::Warning, "resources", rule).report();
        }
    }
}
