//! The summary: time per kernel, per call and per source line, idle time of queues, transfers, repeated transfers, and
//! memory that is still allocated at the end.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use crate::play::{
    Allocation, Argument, Arguments, Call, Listener, Node, SourceLocation, Submission, Track,
    TrackId,
};
use crate::record::{Domain, Work};

/// Contents of transfers that are kept; beyond this duplicates are no longer detected.
const MAX_CONTENTS: usize = 1 << 18;
/// Distinct names in one table; further ones share one row.
const MAX_ROWS: usize = 1 << 16;
/// The row of all further names.
const OTHERS: &str = "(others)";
/// Allocations that are kept.
const MAX_LIVE: usize = 1 << 20;
/// Allocations that are listed one by one.
const MAX_LISTED: usize = 100;

/// Count and times of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The name.
    pub name: Arc<str>,
    /// How often.
    pub count: u64,
    /// Together.
    pub total_ns: u64,
    /// Without the time of calls inside.
    pub own_ns: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Bytes moved, where any.
    pub bytes: u64,
}

impl Row {
    fn add(&mut self, total: u64, own: u64, bytes: u64) {
        self.min_ns = if self.count == 0 {
            total
        } else {
            self.min_ns.min(total)
        };
        self.max_ns = self.max_ns.max(total);
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(total);
        self.own_ns = self.own_ns.saturating_add(own);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A table that stays bounded.
#[derive(Default)]
struct Rows(HashMap<Arc<str>, Row>);

impl Rows {
    fn at(&mut self, name: &Arc<str>) -> &mut Row {
        let is_known = self.0.len() < MAX_ROWS || self.0.contains_key(name);
        let name = if is_known {
            name.clone()
        } else {
            OTHERS.into()
        };
        self.0.entry(name.clone()).or_insert_with(|| Row {
            name,
            ..Row::default()
        })
    }

    fn sorted(self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.0.into_values().collect();
        rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then(a.name.cmp(&b.name)));
        rows
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The cost of one source location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Written as `file:line (function)`, as far as known.
    #[serde(serialize_with = "SourceLocation::as_text")]
    pub source: SourceLocation,
    /// Commands of this location that ran on a device.
    pub device_count: u64,
    /// Their time.
    pub device_ns: u64,
    /// Commands submitted.
    pub host_count: u64,
    /// Host time spent handing them over.
    pub host_ns: u64,
}

/// How busy a queue was between its first and last work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// The device.
    pub device: Arc<str>,
    /// Number of the queue on it.
    pub queue: usize,
    /// Commands.
    pub count: u64,
    /// Time in which it worked.
    pub busy_ns: u64,
    /// Time in between.
    pub idle_ns: u64,
    /// The longest pause.
    pub longest_pause_ns: u64,
}

/// Transfers of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// Kind of memory that is read.
    pub from: String,
    /// Kind of memory that is written.
    pub to: String,
    /// How many.
    pub count: u64,
    /// Together.
    pub bytes: u64,
    /// Time on the device, as far as known.
    pub device_ns: u64,
}

/// Contents that were transferred to the same place more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// Transfers whose contents had been transferred to the same place before.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Transfers whose contents could be compared.
    pub compared: u64,
    /// By source location.
    pub by_source: Vec<Duplicate>,
}

/// Duplicated transfers of one location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The location, or the kind of transfer.
    #[serde(serialize_with = "SourceLocation::as_text")]
    pub source: SourceLocation,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An allocation that was never released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Live {
    /// `sycl` or `level-zero`.
    pub layer: String,
    /// Kind of memory.
    pub kind: String,
    /// Size.
    pub bytes: u64,
    /// The time of the allocation, since the start.
    pub made_ns: u64,
    /// The source location.
    pub source: String,
}

/// Name of the form in which summaries are written: family, stroke, version.
pub const SCHEMA: &str = "solum.trace/1";

/// All tables, as they are printed and written as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of this form.
    pub schema: &'static str,
    /// Command lines of the processes.
    pub processes: Vec<String>,
    /// First to last record.
    pub duration_ns: u64,
    /// Whether every process ended its recording in order.
    pub complete: bool,
    /// Records that found no room.
    pub lost_records: u64,
    /// Records beyond the bounds of the player.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out_records: u64,
    /// Calls that never ended, outermost first: where a process died.
    pub unfinished_calls: Vec<String>,
    /// Time on devices, by kernel or kind of command.
    pub kernels: Vec<Row>,
    /// Time on the host, by call.
    pub calls: Vec<CallRow>,
    /// By source location.
    pub lines: Vec<Line>,
    /// By queue.
    pub queues: Vec<Queue>,
    /// By direction.
    pub transfers: Vec<Transfer>,
    /// Repeated transfers of the same contents to the same place.
    pub duplicated_transfers: Duplicates,
    /// Bytes at the highest point, by kind of memory.
    pub peak_memory: Vec<Peak>,
    /// Number and bytes of allocations never released, by layer.
    pub live_at_end: Vec<LiveTotal>,
    /// The largest of them.
    pub live_allocations: Vec<Live>,
}

/// A [`Row`] of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallRow {
    /// Whose.
    pub api: &'static str,
    /// Calls that did not return 0.
    pub failed: u64,
    /// The rest.
    #[serde(flatten)]
    pub row: Row,
}

/// The highest level of a kind of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// As the counter is called.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
}

/// Allocations that one layer never released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveTotal {
    /// `sycl` or `level-zero`.
    pub layer: &'static str,
    /// How many.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

struct Busy {
    device: Arc<str>,
    number: usize,
    count: u64,
    first: u64,
    last: u64,
    busy: u64,
    pause: u64,
}

/// Listens and counts.
#[derive(Default)]
pub struct Summing {
    kernels: Rows,
    calls: BTreeMap<(Domain, Arc<str>), (Row, u64)>,
    /// Time of finished inner calls for each open call of a thread.
    inner: HashMap<TrackId, Vec<u64>>,
    lines: HashMap<SourceLocation, Line>,
    devices: HashMap<TrackId, Arc<str>>,
    queues: BTreeMap<TrackId, Busy>,
    transfers: BTreeMap<(String, String), (u64, u64, u64)>,
    told_transfers: BTreeMap<(String, String), (u64, u64, u64)>,
    contents: HashMap<(u64, u64, u64), ()>,
    duplicates: Duplicates,
    duplicate_lines: HashMap<SourceLocation, (u64, u64)>,
    places: HashMap<u64, Arc<SourceLocation>>,
    live: BTreeMap<(Domain, u64, u64), Allocation>,
    peaks: BTreeMap<String, u64>,
    counters: HashMap<TrackId, String>,
    processes: Vec<String>,
    unfinished: Vec<String>,
    left_out: u64,
    started: u64,
    ended: u64,
}

impl Summing {
    /// Begins a summary; `started` is the time that counts as 0.
    #[must_use]
    pub fn new(started: u64) -> Self {
        Self {
            started,
            ended: started,
            ..Self::default()
        }
    }

    /// The result. `complete` and `lost_records` come from the recordings' headers.
    #[must_use]
    pub fn finish(self, complete: bool, lost_records: u64) -> Summary {
        let mut calls: Vec<CallRow> = self
            .calls
            .into_iter()
            .map(|((domain, _), (row, failed))| CallRow {
                api: domain.name(),
                failed,
                row,
            })
            .collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.row.own_ns));
        let mut lines: Vec<Line> = self.lines.into_values().collect();
        lines.sort_by(|a, b| {
            let times = (b.device_ns, b.host_ns).cmp(&(a.device_ns, a.host_ns));
            times.then_with(|| a.source.in_order_of_text(&b.source))
        });
        let queues = self.queues.into_values().map(|queue| Queue {
            idle_ns: (queue.last - queue.first).saturating_sub(queue.busy),
            device: queue.device,
            queue: queue.number,
            count: queue.count,
            busy_ns: queue.busy,
            longest_pause_ns: queue.pause,
        });
        // The driver's copies count; those of SYCL only if no driver was recorded.
        let transfers = if self.transfers.is_empty() {
            self.told_transfers
        } else {
            self.transfers
        };
        let mut live: Vec<&Allocation> = self.live.values().collect();
        live.sort_by_key(|allocation| std::cmp::Reverse(allocation.bytes));
        let layer = |domain| match domain {
            Domain::LevelZero => "level-zero",
            _ => "sycl",
        };
        let mut live_totals: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
        for allocation in &live {
            let total = live_totals.entry(layer(allocation.domain)).or_default();
            total.0 += 1;
            total.1 = total.1.saturating_add(allocation.bytes);
        }
        let mut duplicates = self.duplicates;
        duplicates.by_source = self
            .duplicate_lines
            .into_iter()
            .map(|(source, (count, bytes))| Duplicate {
                source,
                count,
                bytes,
            })
            .collect();
        duplicates.by_source.sort_by(|a, b| {
            let bytes = b.bytes.cmp(&a.bytes);
            bytes.then_with(|| a.source.in_order_of_text(&b.source))
        });
        Summary {
            schema: SCHEMA,
            processes: self.processes,
            duration_ns: self.ended.saturating_sub(self.started),
            complete,
            lost_records,
            left_out_records: self.left_out,
            unfinished_calls: self.unfinished,
            kernels: self.kernels.sorted(),
            calls,
            lines,
            queues: queues.collect(),
            transfers: transfers
                .into_iter()
                .map(|((from, to), (count, bytes, device_ns))| Transfer {
                    from,
                    to,
                    count,
                    bytes,
                    device_ns,
                })
                .collect(),
            duplicated_transfers: duplicates,
            peak_memory: self
                .peaks
                .into_iter()
                .map(|(name, bytes)| Peak { name, bytes })
                .collect(),
            live_at_end: live_totals
                .into_iter()
                .map(|(layer, (count, bytes))| LiveTotal {
                    layer,
                    count,
                    bytes,
                })
                .collect(),
            live_allocations: live
                .iter()
                .take(MAX_LISTED)
                .map(|allocation| Live {
                    layer: layer(allocation.domain).to_owned(),
                    kind: allocation.kind.to_string(),
                    bytes: allocation.bytes,
                    made_ns: allocation.time.saturating_sub(self.started),
                    source: allocation
                        .place
                        .as_ref()
                        .map(|place| place.to_string())
                        .unwrap_or_default(),
                })
                .collect(),
        }
    }

    fn line(&mut self, place: &SourceLocation) -> &mut Line {
        let source = place.line();
        let is_known = self.lines.len() < MAX_ROWS || self.lines.contains_key(&source);
        let source = if is_known {
            source
        } else {
            SourceLocation::named(OTHERS.into())
        };
        self.lines.entry(source.clone()).or_insert_with(|| Line {
            source,
            ..Line::default()
        })
    }
}

impl Listener for Summing {
    fn track(&mut self, id: TrackId, track: &Track<'_>) -> io::Result<()> {
        match track {
            Track::Process { command, .. } => self.processes.push(command.join(" ")),
            Track::Device { name } => {
                self.devices.insert(id, (*name).into());
            }
            Track::Queue { device, number } => {
                let device = self.devices.get(device).cloned().unwrap_or_default();
                let busy = Busy {
                    device,
                    number: *number,
                    count: 0,
                    first: u64::MAX,
                    last: 0,
                    busy: 0,
                    pause: 0,
                };
                self.queues.insert(id, busy);
            }
            Track::Counter { name, .. } => {
                self.counters.insert(id, (*name).to_owned());
            }
            Track::Thread { .. } => {}
        }
        Ok(())
    }

    fn begin(&mut self, call: &Call<'_>, _: &Arguments<'_>) -> io::Result<()> {
        self.inner.entry(call.track).or_default().push(0);
        Ok(())
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        result: Option<i64>,
        _: &Arguments<'_>,
    ) -> io::Result<()> {
        let total = end.saturating_sub(call.begin);
        let open = self.inner.entry(call.track).or_default();
        let inner = open.pop().unwrap_or(0);
        if let Some(outer) = open.last_mut() {
            *outer = outer.saturating_add(total);
        }
        let own = total.saturating_sub(inner);
        if call.domain == Domain::Sycl
            && let Some(place) = call.place
        {
            let line = self.line(place);
            line.host_count += 1;
            line.host_ns = line.host_ns.saturating_add(total);
        }
        let full = self.calls.len() >= MAX_ROWS;
        let mut key = (call.domain, call.name.clone());
        if full && !self.calls.contains_key(&key) {
            key.1 = OTHERS.into();
        }
        let name = key.1.clone();
        let (row, failed) = self.calls.entry(key).or_default();
        row.name = name;
        row.add(total, own, 0);
        *failed += u64::from(result.is_some_and(|result| result != 0));
        Ok(())
    }

    fn submit(&mut self, submission: &Submission, _: &Arguments<'_>) -> io::Result<()> {
        if submission.work == Work::Copy {
            let (from, to) = submission.direction.unwrap_or(("unknown", "unknown"));
            let sum = self
                .transfers
                .entry((from.to_owned(), to.to_owned()))
                .or_default();
            sum.0 += 1;
            sum.1 = sum.1.saturating_add(submission.bytes);
            if let Some(content) = submission.content {
                self.duplicates.compared += 1;
                let key = (content, submission.bytes, submission.destination);
                if self.contents.contains_key(&key) {
                    self.duplicates.count += 1;
                    self.duplicates.bytes = self.duplicates.bytes.saturating_add(submission.bytes);
                    let place = self.places.get(&submission.uid);
                    let place = match place {
                        Some(place) => place.line(),
                        None => SourceLocation::named(submission.name.clone()),
                    };
                    let lines = &mut self.duplicate_lines;
                    let is_known = lines.len() < MAX_ROWS || lines.contains_key(&place);
                    let place = if is_known {
                        place
                    } else {
                        SourceLocation::named(OTHERS.into())
                    };
                    let line = lines.entry(place).or_default();
                    line.0 += 1;
                    line.1 = line.1.saturating_add(submission.bytes);
                } else if self.contents.len() < MAX_CONTENTS {
                    self.contents.insert(key, ());
                }
            }
        }
        Ok(())
    }

    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
    ) -> io::Result<()> {
        let time = end - begin;
        self.ended = self.ended.max(end);
        self.kernels
            .at(&submission.name)
            .add(time, time, submission.bytes);
        if let Some(place) = place {
            let line = self.line(place);
            line.device_count += 1;
            line.device_ns = line.device_ns.saturating_add(time);
        }
        if submission.work == Work::Copy {
            let (from, to) = submission.direction.unwrap_or(("unknown", "unknown"));
            let key = (from.to_owned(), to.to_owned());
            let sum = self.transfers.entry(key).or_default();
            sum.2 = sum.2.saturating_add(time);
        }
        if let Some(queue) = self.queues.get_mut(&track) {
            if queue.count > 0 && begin > queue.last {
                queue.pause = queue.pause.max(begin - queue.last);
            }
            queue.count += 1;
            // Slices of one track do not overlap.
            queue.busy = queue.busy.saturating_add(time);
            queue.first = queue.first.min(begin);
            queue.last = queue.last.max(end);
        }
        Ok(())
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        if self.places.len() < MAX_ROWS || self.places.contains_key(&node.uid) {
            self.places.insert(node.uid, node.place.clone());
        }
        let number = |key: &str| {
            node.arguments.iter().find_map(|(name, value)| match value {
                Argument::Unsigned(v) | Argument::Address(v) if *name == key => Some(*v),
                _ => None,
            })
        };
        if node.kind.contains("memory_transfer")
            && number("src_memory_ptr").is_some()
            && let Some(bytes) = number("memory_size")
        {
            let key = ("usm".to_owned(), "usm".to_owned());
            let sum = self.told_transfers.entry(key).or_default();
            sum.0 += 1;
            sum.1 = sum.1.saturating_add(bytes);
        }
        Ok(())
    }

    fn memory(&mut self, allocation: &Allocation, made: bool) -> io::Result<()> {
        // The time distinguishes allocations of several processes at one address.
        let key = (allocation.domain, allocation.pointer, allocation.time);
        if made && self.live.len() >= MAX_LIVE {
            self.left_out += 1;
        } else if made {
            self.live.insert(key, allocation.clone());
        } else {
            self.live.remove(&key);
        }
        Ok(())
    }

    fn level(&mut self, track: TrackId, _: u64, value: u64) -> io::Result<()> {
        if let Some(name) = self.counters.get(&track) {
            let peak = self.peaks.entry(name.clone()).or_default();
            *peak = (*peak).max(value);
        }
        Ok(())
    }

    fn unfinished(&mut self, call: &Call<'_>) -> io::Result<()> {
        if self.unfinished.len() < MAX_LISTED {
            self.unfinished.push(call.name.to_string());
        }
        Ok(())
    }

    fn left_out(&mut self, records: u64) {
        self.left_out += records;
    }

    fn finish(&mut self, time: u64) -> io::Result<()> {
        self.ended = self.ended.max(time);
        Ok(())
    }
}

/// A time with three digits and its unit.
#[must_use]
pub fn time(nanos: u64) -> String {
    let value = nanos as f64;
    let (value, unit) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (value / 1e3, "µs"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    let digits = match value {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// A size with its unit.
#[must_use]
pub fn size(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", value / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", value / f64::from(1 << 20)),
        _ => format!("{:.2} GiB", value / f64::from(1 << 30)),
    }
}

/// A name of the recording, on one line: a line feed in it could imitate a line of the summary.
fn one_line(name: &str) -> String {
    name.chars()
        .flat_map(|letter| {
            let escape = letter.is_control().then(|| letter.escape_default());
            let plain = escape.is_none().then_some(letter);
            escape.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Cuts a long name in the middle, because both ends of a kernel's name are informative.
fn short(name: &str, width: usize) -> String {
    let name = one_line(name);
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= width {
        return name;
    }
    let head = width * 2 / 3;
    let tail = width - head - 1;
    let first: String = letters[..head].iter().collect();
    let last: String = letters[letters.len() - tail..].iter().collect();
    format!("{first}…{last}")
}

const WIDTH: usize = 52;

impl Summary {
    /// For the terminal: the first `rows` of each table.
    #[must_use]
    pub fn text(&self, rows: usize) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, rows);
        out
    }

    fn write(&self, out: &mut String, rows: usize) -> std::fmt::Result {
        writeln!(out, "traced for {}", time(self.duration_ns))?;
        if !self.complete {
            writeln!(
                out,
                "a process ended abruptly (crash, kill or _exit); the trace contains everything up to that point"
            )?;
            if !self.unfinished_calls.is_empty() {
                writeln!(out, "  in {}", one_line(&self.unfinished_calls.join(" → ")))?;
            }
        }
        if self.lost_records > 0 {
            writeln!(
                out,
                "{} records were lost for lack of space",
                self.lost_records
            )?;
        }
        if self.left_out_records > 0 {
            let count = self.left_out_records;
            writeln!(
                out,
                "{count} records were skipped: a recording exceeds a limit"
            )?;
        }
        let table = |out: &mut String, title: &str, count: usize| -> std::fmt::Result {
            let more = count.saturating_sub(rows);
            let more = match more {
                0 => String::new(),
                more => format!(" ({more} more in summary.json)"),
            };
            writeln!(out, "\n{title}{more}")
        };
        if !self.kernels.is_empty() {
            table(out, "device work", self.kernels.len())?;
            let times = self.kernels.iter().map(|row| row.total_ns);
            let all = times.fold(0, u64::saturating_add);
            for row in self.kernels.iter().take(rows) {
                let share = row.total_ns as f64 / all.max(1) as f64;
                let bar = "█".repeat((share * 10.0).round() as usize);
                writeln!(
                    out,
                    "  {:<WIDTH$} {:>8}× {:>9} {:>9} mean {:>5.1} % {bar}",
                    short(&row.name, WIDTH),
                    row.count,
                    time(row.total_ns),
                    time(row.total_ns / row.count.max(1)),
                    share * 100.0
                )?;
            }
        }
        if !self.calls.is_empty() {
            table(out, "calls, by self time", self.calls.len())?;
            for CallRow { api, failed, row } in self.calls.iter().take(rows) {
                let failed = match failed {
                    0 => String::new(),
                    failed => format!("  {failed} non-zero"),
                };
                writeln!(
                    out,
                    "  {:<WIDTH$} {:>8}× {:>9} {:>9} mean  {api}{failed}",
                    short(&row.name, WIDTH),
                    row.count,
                    time(row.own_ns),
                    time(row.own_ns / row.count.max(1)),
                )?;
            }
        }
        if !self.lines.is_empty() {
            table(out, "source lines", self.lines.len())?;
            for line in self.lines.iter().take(rows) {
                writeln!(
                    out,
                    "  {:<WIDTH$} {:>8}× {:>9} on devices {:>9} submitting",
                    short(&line.source.to_string(), WIDTH),
                    line.host_count.max(line.device_count),
                    time(line.device_ns),
                    time(line.host_ns),
                )?;
            }
        }
        if !self.queues.is_empty() {
            table(out, "queues", self.queues.len())?;
            for queue in self.queues.iter().take(rows) {
                let name = format!("{} queue {}", queue.device, queue.queue);
                writeln!(
                    out,
                    "  {:<WIDTH$} {:>8}× {:>9} busy {:>9} idle, longest pause {}",
                    short(&name, WIDTH),
                    queue.count,
                    time(queue.busy_ns),
                    time(queue.idle_ns),
                    time(queue.longest_pause_ns),
                )?;
            }
        }
        if !self.transfers.is_empty() {
            table(out, "transfers", self.transfers.len())?;
            for transfer in self.transfers.iter().take(rows) {
                let name = one_line(&format!("{} → {}", transfer.from, transfer.to));
                writeln!(
                    out,
                    "  {name:<WIDTH$} {:>8}× {:>9} {:>9}",
                    transfer.count,
                    size(transfer.bytes),
                    time(transfer.device_ns),
                )?;
            }
            let again = &self.duplicated_transfers;
            if again.count > 0 {
                writeln!(
                    out,
                    "  redundant copies (same content to the same place): {}× {} of {} compared",
                    again.count,
                    size(again.bytes),
                    again.compared
                )?;
                for line in again.by_source.iter().take(rows.min(5)) {
                    writeln!(
                        out,
                        "    {:<WIDTH$} {:>6}× {:>9}",
                        short(&line.source.to_string(), WIDTH),
                        line.count,
                        size(line.bytes)
                    )?;
                }
            }
        }
        if !self.peak_memory.is_empty() {
            table(out, "memory", self.peak_memory.len())?;
            for peak in self.peak_memory.iter().take(rows) {
                writeln!(
                    out,
                    "  {:<WIDTH$} {:>9} at most",
                    one_line(&peak.name),
                    size(peak.bytes)
                )?;
            }
            for live in &self.live_at_end {
                writeln!(
                    out,
                    "  not freed at the end ({}): {} allocations, {}",
                    live.layer,
                    live.count,
                    size(live.bytes)
                )?;
            }
            for live in self.live_allocations.iter().take(rows.min(5)) {
                writeln!(
                    out,
                    "    {:>9} {} {}",
                    size(live.bytes),
                    one_line(&live.kind),
                    one_line(&live.source.to_string())
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (12_345, "12.3 µs"),
            (123_456_789, "123 ms"),
            (5_000_000_000, "5.00 s"),
        ] {
            assert_eq!(time(nanos), text);
        }
        for (bytes, text) in [
            (5, "5 B"),
            (1536, "1.5 KiB"),
            (3 << 20, "3.0 MiB"),
            (5 << 30, "5.00 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn a_name_stays_on_its_line() {
        let mut summing = Summing::new(0);
        let name = "kernel\n  fake \u{1b}[31m";
        summing.kernels.at(&name.into()).add(1, 1, 0);
        summing.peaks.insert(name.into(), 1);
        summing.unfinished.push(name.into());
        let transfers = &mut summing.transfers;
        transfers.insert((name.into(), name.into()), (1, 1, 1));
        let text = summing.finish(false, 0).text(9);
        let count = |part| text.matches(part).count();
        assert_eq!(count(r"kernel\n  fake \u{1b}[31m"), 5, "{text}");
        assert_eq!((count("\n  fake"), count("\u{1b}")), (0, 0), "{text}");
    }
}
