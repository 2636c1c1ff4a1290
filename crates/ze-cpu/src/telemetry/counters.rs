//! Counters of processor and system for this process's threads, by `perf_event_open`.
//!
//! Each thread of the process has its own counters; a reading opens those of new threads and sums all. Only user
//! mode is counted, which the system allows to most users. Counters that it refuses are left out, with a text.

use super::sources::Sources;
use crate::sync::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::sync::{Mutex, OnceLock};
use ze_driver::telemetry::{Counter, ReadError, Reading};

/// Descriptors that may be open at once.
const MOST_OPEN: usize = 512;

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;

/// The events to open: type, number, counter.
const EVENTS: [(u32, u64, Counter); 10] = [
    (
        HARDWARE,
        0,
        hardware("cycles", "Cycles of the cores' clocks"),
    ),
    (
        HARDWARE,
        1,
        hardware("instructions", "Instructions that ended"),
    ),
    (
        HARDWARE,
        2,
        hardware("cache-references", "Accesses to the last cache"),
    ),
    (
        HARDWARE,
        3,
        hardware("cache-misses", "Accesses that the last cache missed"),
    ),
    (HARDWARE, 4, hardware("branches", "Branches that ended")),
    (
        HARDWARE,
        5,
        hardware("branch-misses", "Branches predicted wrong"),
    ),
    (SOFTWARE, 1, software("task-clock", "Time on a core", "ns")),
    (
        SOFTWARE,
        2,
        software("page-faults", "Pages that had to be brought in", ""),
    ),
    (
        SOFTWARE,
        3,
        software("context-switches", "Times off a core", ""),
    ),
    (
        SOFTWARE,
        4,
        software("cpu-migrations", "Moves to another core", ""),
    ),
];

const fn hardware(name: &'static str, description: &'static str) -> Counter {
    Counter {
        name,
        description,
        unit: "",
        hardware: true,
    }
}

const fn software(name: &'static str, description: &'static str, unit: &'static str) -> Counter {
    Counter {
        name,
        description,
        unit,
        hardware: false,
    }
}

/// `struct perf_event_attr`, as far as its version 0.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
}
const _: () = assert!(size_of::<Attributes>() == 64);

/// `exclude_kernel` and `exclude_hv`.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;
/// Values come with the time enabled and the time counted.
const WITH_TIMES: u64 = 1 | 2;

fn open(event: usize, thread: i32) -> std::io::Result<OwnedFd> {
    let (kind, config, _) = EVENTS[event];
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: WITH_TIMES,
        flags: USER_ONLY,
        ..Attributes::default()
    };
    // PERF_FLAG_FD_CLOEXEC.
    let cloexec: libc::c_ulong = 8;
    // SAFETY: the struct has the size it says and outlives the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            -1,
            -1,
            cloexec,
        )
    };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a new descriptor, owned here alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// The value, scaled up for times when the processor counted something else.
fn read(fd: &std::fs::File) -> Option<u64> {
    let mut bytes = [0; 24];
    let mut file = fd;
    file.read_exact(&mut bytes).ok()?;
    let word = |at: usize| {
        bytes[at..]
            .first_chunk()
            .map(|word| u64::from_ne_bytes(*word))
    };
    let (value, enabled, running) = (word(0)?, word(8)?, word(16)?);
    if running == 0 || running == enabled {
        return Some(value);
    }
    let scaled = u128::from(value) * u128::from(enabled) / u128::from(running);
    u64::try_from(scaled).ok()
}

/// Why `perf_event_open` failed, and the setting that allows it, if there is one.
pub(super) fn reason(why: &std::io::Error, sources: &Sources) -> ReadError {
    match why.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let level = sources.read("proc/sys/kernel/perf_event_paranoid");
            ReadError::Denied(format!(
                "the system does not allow perf events (kernel.perf_event_paranoid is {}): \
                 `sysctl kernel.perf_event_paranoid=2` allows them, in a container perf_event_open too",
                level.unwrap_or_default().trim()
            ))
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::EINVAL) => ReadError::Absent(
            "this machine does not have these counters (usual for virtual machines)".to_owned(),
        ),
        Some(libc::ENOSYS) => ReadError::Absent("the system has no perf events".to_owned()),
        _ => ReadError::Absent(format!("perf_event_open: {why}")),
    }
}

/// One reason of many: denied when any of them is, for that can be changed.
pub(super) fn together(refused: &[(&str, ReadError)]) -> Option<ReadError> {
    let mut texts = BTreeSet::new();
    let mut denied = false;
    for (_, why) in refused {
        denied |= matches!(why, ReadError::Denied(_));
        let (ReadError::Denied(text) | ReadError::Absent(text)) = why;
        texts.insert(text.as_str());
    }
    let names: Vec<&str> = refused.iter().map(|(name, _)| *name).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    let text = format!("not counted: {}; {}", names.join(", "), texts.join("; "));
    match (refused.is_empty(), denied) {
        (true, _) => None,
        (false, true) => Some(ReadError::Denied(text)),
        (false, false) => Some(ReadError::Absent(text)),
    }
}

/// The counters of this process.
pub(super) struct Counters {
    /// Events that are counted, and why others are not: together one reason.
    allowed: OnceLock<(Vec<usize>, Option<ReadError>)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By thread: a file for each allowed counter.
    threads: BTreeMap<i32, Vec<std::fs::File>>,
    /// Values of threads that have ended.
    ended: Vec<u64>,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self {
            allowed: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    fn allowed(&self, sources: &Sources) -> &(Vec<usize>, Option<ReadError>) {
        self.allowed.get_or_init(|| {
            let mut allowed = Vec::new();
            let mut refused = Vec::new();
            for (event, (_, _, counter)) in EVENTS.iter().enumerate() {
                match open(event, 0) {
                    Ok(_) => allowed.push(event),
                    Err(why) => refused.push((counter.name, reason(&why, sources))),
                }
            }
            (allowed, together(&refused))
        })
    }

    /// The counters that are open.
    pub(super) fn list(&self, sources: &Sources) -> Vec<Counter> {
        let (allowed, _) = self.allowed(sources);
        allowed
            .iter()
            .map(|event| EVENTS[*event].2.clone())
            .collect()
    }

    /// Why others are not.
    pub(super) fn missing(&self, sources: &Sources) -> String {
        match &self.allowed(sources).1 {
            Some(ReadError::Denied(text) | ReadError::Absent(text)) => text.clone(),
            None => String::new(),
        }
    }

    /// All values.
    pub(super) fn read(&self, sources: &Sources) -> Reading<Vec<u64>> {
        let (allowed, missing) = self.allowed(sources);
        if let (true, Some(missing)) = (allowed.is_empty(), missing) {
            return Err(missing.clone());
        }
        let mut state = lock(&self.state);
        let state = &mut *state;
        state.ended.resize(allowed.len(), 0);
        let alive: BTreeSet<i32> = std::fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        for thread in &alive {
            let open_now = state.threads.len() * allowed.len();
            if state.threads.contains_key(thread) || open_now + allowed.len() > MOST_OPEN {
                continue;
            }
            let files: std::io::Result<Vec<_>> = allowed
                .iter()
                .map(|event| open(*event, *thread).map(std::fs::File::from))
                .collect();
            // A thread that has just ended.
            if let Ok(files) = files {
                state.threads.insert(*thread, files);
            }
        }
        let mut sums = state.ended.clone();
        let mut over = Vec::new();
        for (thread, files) in &state.threads {
            for (at, file) in files.iter().enumerate() {
                let value = read(file).unwrap_or(0);
                sums[at] = sums[at].wrapping_add(value);
                if !alive.contains(thread) {
                    state.ended[at] = state.ended[at].wrapping_add(value);
                }
            }
            if !alive.contains(thread) {
                over.push(*thread);
            }
        }
        for thread in over {
            state.threads.remove(&thread);
        }
        Ok(sums)
    }
}
