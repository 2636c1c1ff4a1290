//! Recordings, played: records become calls with begin and end, device work with the submission and source line that
//! caused it, and levels of allocated memory, in the order of time, told to [`Listener`]s.
//!
//! State is kept for open calls, live allocations, source locations and submissions that have not run yet, the last
//! within a bound; never for events that are over.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek};

use crate::file::{self, Origin, Recording};
use crate::filter::Filter;
use crate::record::{Attribute, Domain, Event, NO_RESULT, Record, Value, Work};

/// Submissions that may wait for their execution; older ones are told without.
const MAX_PENDING: usize = 1 << 16;

/// Why playing stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A recording cannot be read.
    #[error(transparent)]
    File(#[from] file::Error),
    /// A listener cannot write.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// A value beside a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A number without sign.
    Unsigned(u64),
    /// A number with sign.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// Yes or no.
    Boolean(bool),
    /// Text.
    Text(&'a str),
    /// An address or handle.
    Address(u64),
}

/// Named values.
pub type Arguments<'a> = [(&'a str, Argument<'a>)];

/// A source location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Function or label.
    pub function: String,
    /// File; empty when unknown.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub column: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => f.write_str(&self.function),
            (false, 0) => write!(f, "{} ({})", self.file, self.function),
            (false, line) => write!(f, "{}:{line} ({})", self.file, self.function),
        }
    }
}

/// Number of a track.
pub type TrackId = u32;

/// What a track shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Track<'a> {
    /// A process: the parent of its threads.
    Process {
        /// The system's number.
        process: u32,
        /// Its command line.
        command: &'a [String],
    },
    /// A thread's calls.
    Thread {
        /// The system's number of the process.
        process: u32,
        /// The system's number.
        thread: u32,
        /// Its name.
        name: &'a str,
    },
    /// A device: the parent of its queues.
    Device {
        /// Its name.
        name: &'a str,
    },
    /// Work of one queue on a device.
    Queue {
        /// The device's track.
        device: TrackId,
        /// Counted per device from 0.
        number: usize,
    },
    /// A level that changes with time.
    Counter {
        /// The process's track.
        process: TrackId,
        /// What is counted.
        name: &'a str,
        /// In what.
        unit: &'a str,
    },
}

/// A call or phase on the host, open or over.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Its thread's track.
    pub track: TrackId,
    /// Whose.
    pub domain: Domain,
    /// Function or label.
    pub name: &'a str,
    /// Begin.
    pub begin: u64,
    /// XPTI's universal id of the location that it works for, 0 when none.
    pub uid: u64,
    /// The SYCL command that it works for, 0 when none.
    pub instance: u64,
    /// That location.
    pub place: Option<&'a Place>,
}

/// A command handed to a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The process's place among the recordings.
    pub recording: usize,
    /// Unique in that recording.
    pub correlation: u64,
    /// The queue or immediate list.
    pub queue: u64,
    /// When.
    pub time: u64,
    /// The thread's track.
    pub track: TrackId,
    /// Kind.
    pub work: Work,
    /// Kernel or kind of copy.
    pub name: String,
    /// Unique number: the flow from submission to execution.
    pub flow: u64,
    /// XPTI's universal id, 0 when none.
    pub uid: u64,
    /// The SYCL command, 0 when none.
    pub instance: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whence and whither, for copies.
    pub direction: Option<(&'static str, &'static str)>,
    /// Hash of what is copied, where it could be read.
    pub content: Option<u64>,
    /// Destination of copies and fills.
    pub destination: u64,
}

/// A node of the task graph.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The process's place among the recordings.
    pub recording: usize,
    /// When it joined.
    pub time: u64,
    /// Kernel or kind.
    pub name: &'a str,
    /// XPTI's word.
    pub kind: &'a str,
    /// Its location's id.
    pub uid: u64,
    /// This command.
    pub instance: u64,
    /// Its location.
    pub place: &'a Place,
    /// More.
    pub arguments: &'a Arguments<'a>,
}

/// A live allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Who told of it.
    pub domain: Domain,
    /// Kind of memory.
    pub kind: String,
    /// Address or handle.
    pub pointer: u64,
    /// Size.
    pub bytes: u64,
    /// When.
    pub time: u64,
    /// Its location, as text; empty when unknown.
    pub place: String,
}

/// Hears what happened. Each function may fail when it writes.
#[expect(unused_variables, reason = "listeners hear what they want to")]
pub trait Listener {
    /// A track exists from here on.
    fn track(&mut self, id: TrackId, track: &Track<'_>) -> io::Result<()> {
        Ok(())
    }
    /// A call begins.
    fn begin(&mut self, call: &Call<'_>, arguments: &Arguments<'_>) -> io::Result<()> {
        Ok(())
    }
    /// It ends.
    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        result: Option<i64>,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        Ok(())
    }
    /// Something is marked on a thread.
    fn mark(
        &mut self,
        track: TrackId,
        time: u64,
        name: &str,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        Ok(())
    }
    /// A command was handed to a device.
    fn submit(&mut self, submission: &Submission, arguments: &Arguments<'_>) -> io::Result<()> {
        Ok(())
    }
    /// A device has worked from `begin` to `end`.
    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Place>,
    ) -> io::Result<()> {
        Ok(())
    }
    /// The task graph grows.
    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        Ok(())
    }
    /// The later command depends on the earlier one.
    fn edge(&mut self, recording: usize, source: u64, target: u64, name: &str) -> io::Result<()> {
        Ok(())
    }
    /// A submission waits for an earlier one; both by their correlations.
    fn depends(&mut self, recording: usize, earlier: u64, later: u64) -> io::Result<()> {
        Ok(())
    }
    /// Memory was allocated or, where `made` is false, released.
    fn memory(&mut self, allocation: &Allocation, made: bool) -> io::Result<()> {
        Ok(())
    }
    /// A level changed.
    fn level(&mut self, track: TrackId, time: u64, value: u64) -> io::Result<()> {
        Ok(())
    }
    /// A call never ended: the process died in it.
    fn unfinished(&mut self, call: &Call<'_>) -> io::Result<()> {
        Ok(())
    }
    /// Everything was told; `time` is that of the last record.
    fn finish(&mut self, time: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A call that has begun.
struct Open {
    domain: Domain,
    name: u32,
    begin: u64,
    uid: u64,
    instance: u64,
    shown: bool,
}

struct Thread {
    track: TrackId,
    open: Vec<Open>,
}

#[derive(Default)]
struct Process {
    track: TrackId,
    threads: HashMap<u32, Thread>,
    places: HashMap<u64, Place>,
    allocations: BTreeMap<(Domain, u64), Allocation>,
    devices: HashMap<u64, String>,
    pending: BTreeMap<u64, (Submission, u64)>,
    levels: HashMap<(Domain, String), (TrackId, u64)>,
}

/// Turns records into what listeners hear; [`play`] for recordings that are whole, by hand for those that grow.
pub struct Player<'a, 'l> {
    listeners: &'a mut [&'l mut dyn Listener],
    filter: &'a Filter,
    processes: Vec<Process>,
    tracks: TrackId,
    /// By device name.
    devices: HashMap<String, TrackId>,
    /// Lanes of a queue on a device, with the end of the last slice on each.
    queues: HashMap<(usize, TrackId, u64), Vec<(TrackId, u64)>>,
    queue_counts: HashMap<TrackId, usize>,
    flows: u64,
    last: u64,
}

/// Plays all recordings to the listeners.
///
/// # Errors
/// A recording cannot be read or a listener cannot write.
pub fn play<R: Read + Seek>(
    recordings: &mut [Recording<R>],
    filter: &Filter,
    listeners: &mut [&mut dyn Listener],
) -> Result<(), Error> {
    let mut player = Player::new(filter, listeners);
    for recording in recordings.iter() {
        player.process(recording)?;
    }
    file::merge(recordings, |recordings, origin, record| {
        player.record(&recordings[origin.recording], origin, record)
    })?;
    player.finish(recordings)
}

fn argument<'a, R: Read + Seek>(
    recording: &'a Recording<R>,
    attribute: &Attribute,
) -> (&'a str, Argument<'a>) {
    let value = match attribute.value {
        Value::Unsigned(v) => Argument::Unsigned(v),
        Value::Signed(v) => Argument::Signed(v),
        Value::Float(v) => Argument::Float(v),
        Value::Boolean(v) => Argument::Boolean(v),
        Value::Text(text) => Argument::Text(recording.text(text)),
        Value::Address(v) => Argument::Address(v),
    };
    (recording.text(attribute.key), value)
}

/// DPC++ demangles the symbol `_ZTS…` of a kernel's type; the type is what a person knows.
fn type_name(label: &str) -> &str {
    label.strip_prefix("typeinfo name for ").unwrap_or(label)
}

impl Process {
    /// Kind of the memory that an address lies in.
    fn memory_of(&self, address: u64) -> &'static str {
        let holds = |domain: Domain| {
            let (_, found) = self
                .allocations
                .range((domain, 0)..=(domain, address))
                .next_back()?;
            (address - found.pointer < found.bytes.max(1)).then_some(found)
        };
        let Some(found) = holds(Domain::LevelZero).or_else(|| holds(Domain::Memory)) else {
            return "host";
        };
        match &*found.kind {
            kind if kind.contains("host") || kind.contains("Host") => "host",
            kind if kind.contains("shared") || kind.contains("Shared") => "shared",
            _ => "device",
        }
    }
}

fn unsigned(arguments: &Arguments<'_>, key: &str) -> Option<u64> {
    arguments.iter().find_map(|(name, value)| match value {
        Argument::Unsigned(v) | Argument::Address(v) if *name == key => Some(*v),
        _ => None,
    })
}

impl<'a, 'l> Player<'a, 'l> {
    /// Nothing has been heard yet.
    #[must_use]
    pub fn new(filter: &'a Filter, listeners: &'a mut [&'l mut dyn Listener]) -> Self {
        Self {
            listeners,
            filter,
            processes: Vec::new(),
            tracks: 0,
            devices: HashMap::new(),
            queues: HashMap::new(),
            queue_counts: HashMap::new(),
            flows: 0,
            last: 0,
        }
    }

    /// A process joins: its place is the number of those before it.
    ///
    /// # Errors
    /// A listener cannot write.
    pub fn process<R: Read + Seek>(&mut self, recording: &Recording<R>) -> Result<(), Error> {
        let track = self.track(&Track::Process {
            process: recording.process,
            command: &recording.command,
        })?;
        self.processes.push(Process {
            track,
            ..Process::default()
        });
        Ok(())
    }

    /// Everything was played: calls that never ended are told, then the end.
    ///
    /// # Errors
    /// A listener cannot write.
    pub fn finish<R: Read + Seek>(&mut self, recordings: &[Recording<R>]) -> Result<(), Error> {
        let mut open = Vec::new();
        for (process, recording) in self.processes.iter_mut().zip(recordings) {
            for thread in process.threads.values_mut() {
                let track = thread.track;
                let left = std::mem::take(&mut thread.open);
                open.extend(left.into_iter().map(|call| (track, recording, call)));
            }
        }
        open.retain(|(_, _, call)| call.shown);
        open.sort_by_key(|(track, _, call)| (*track, call.begin));
        for (track, recording, open) in open {
            let call = Call {
                track,
                domain: open.domain,
                name: recording.text(open.name),
                begin: open.begin,
                uid: open.uid,
                instance: open.instance,
                place: None,
            };
            self.tell(|listener| listener.unfinished(&call))?;
        }
        let last = self.last;
        self.tell(|listener| listener.finish(last))
    }

    fn tell(
        &mut self,
        mut what: impl FnMut(&mut dyn Listener) -> io::Result<()>,
    ) -> Result<(), Error> {
        for listener in self.listeners.iter_mut() {
            what(&mut **listener)?;
        }
        Ok(())
    }

    fn track(&mut self, track: &Track<'_>) -> Result<TrackId, Error> {
        self.tracks += 1;
        let id = self.tracks;
        self.tell(|listener| listener.track(id, track))?;
        Ok(id)
    }

    fn thread<R: Read + Seek>(
        &mut self,
        recording: &Recording<R>,
        origin: Origin,
        name: &str,
    ) -> Result<TrackId, Error> {
        if let Some(thread) = self.processes[origin.recording].threads.get(&origin.thread) {
            return Ok(thread.track);
        }
        let track = self.track(&Track::Thread {
            process: recording.process,
            thread: origin.thread,
            name,
        })?;
        let thread = Thread {
            track,
            open: Vec::new(),
        };
        self.processes[origin.recording]
            .threads
            .insert(origin.thread, thread);
        Ok(track)
    }

    /// Plays one record of a process that has joined.
    ///
    /// # Errors
    /// A listener cannot write.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of record")]
    pub fn record<R: Read + Seek>(
        &mut self,
        recording: &Recording<R>,
        origin: Origin,
        record: &Record,
    ) -> Result<(), Error> {
        self.last = self.last.max(record.time);
        let number = origin.recording;
        if number >= self.processes.len() {
            return Ok(());
        }
        if let Event::Thread { name, .. } = record.event {
            self.thread(recording, origin, recording.text(name))?;
            return Ok(());
        }
        let track = self.thread(recording, origin, "")?;
        let arguments: Vec<_> = record
            .attributes
            .iter()
            .map(|attribute| argument(recording, attribute))
            .collect();
        let arguments = &arguments[..];
        match record.event {
            Event::Thread { .. } | Event::Clock { .. } | Event::Queue { .. } => {}
            Event::Begin {
                domain,
                name,
                uid,
                instance,
            } => {
                let text = recording.text(name);
                let shown = self.filter.shows(text);
                if let Some(thread) = self.processes[number].threads.get_mut(&origin.thread) {
                    thread.open.push(Open {
                        domain,
                        name,
                        begin: record.time,
                        uid,
                        instance,
                        shown,
                    });
                }
                if shown {
                    let place = self.processes[number].places.get(&uid).cloned();
                    let call = Call {
                        track,
                        domain,
                        name: text,
                        begin: record.time,
                        uid,
                        instance,
                        place: place.as_ref(),
                    };
                    self.tell(|listener| listener.begin(&call, arguments))?;
                }
            }
            Event::End { domain, result } => {
                let Some(thread) = self.processes[number].threads.get_mut(&origin.thread) else {
                    return Ok(());
                };
                let Some(at) = thread.open.iter().rposition(|open| open.domain == domain) else {
                    return Ok(());
                };
                // Calls opened inside that never ended end here: timelines must nest.
                let ended: Vec<Open> = thread.open.drain(at..).rev().collect();
                let outer = ended.len() - 1;
                for (index, open) in ended.iter().enumerate().filter(|(_, open)| open.shown) {
                    let own = index == outer;
                    let place = self.processes[number].places.get(&open.uid).cloned();
                    let call = Call {
                        track,
                        domain: open.domain,
                        name: recording.text(open.name),
                        begin: open.begin,
                        uid: open.uid,
                        instance: open.instance,
                        place: place.as_ref(),
                    };
                    let result = (own && result != NO_RESULT).then_some(result);
                    let given = if own { arguments } else { &[] };
                    self.tell(|listener| listener.end(&call, record.time, result, given))?;
                }
            }
            Event::Node {
                name,
                kind,
                uid,
                instance,
                function,
                file,
                line,
                column,
            } => {
                let place = Place {
                    function: type_name(recording.text(function)).to_owned(),
                    file: recording.text(file).to_owned(),
                    line,
                    column,
                };
                let node = Node {
                    recording: number,
                    time: record.time,
                    name: type_name(recording.text(name)),
                    kind: recording.text(kind),
                    uid,
                    instance,
                    place: &place,
                    arguments,
                };
                self.tell(|listener| listener.node(&node))?;
                self.processes[number].places.insert(uid, place);
            }
            Event::Place {
                uid,
                function,
                file,
                line,
                column,
            } => {
                let place = Place {
                    function: type_name(recording.text(function)).to_owned(),
                    file: recording.text(file).to_owned(),
                    line,
                    column,
                };
                self.processes[number].places.insert(uid, place);
            }
            Event::Edge {
                name,
                source,
                target,
            } => {
                let name = recording.text(name);
                self.tell(|listener| listener.edge(number, source, target, name))?;
            }
            Event::Depends { later, earlier } => {
                self.tell(|listener| listener.depends(number, earlier, later))?;
            }
            Event::Allocate {
                domain,
                kind,
                pointer,
                bytes,
                uid,
            } => {
                let place = self.processes[number].places.get(&uid);
                let allocation = Allocation {
                    domain,
                    kind: recording.text(kind).to_owned(),
                    pointer,
                    bytes,
                    time: record.time,
                    place: place.map(Place::to_string).unwrap_or_default(),
                };
                self.change(number, &allocation, true, record.time)?;
                self.processes[number]
                    .allocations
                    .insert((domain, pointer), allocation);
            }
            Event::Release { domain, pointer } => {
                let gone = self.processes[number]
                    .allocations
                    .remove(&(domain, pointer));
                if let Some(allocation) = gone {
                    self.change(number, &allocation, false, record.time)?;
                }
            }
            Event::Submit {
                work,
                name,
                correlation,
                uid,
                instance,
                queue,
                bytes,
            } => {
                self.flows += 1;
                let process = &mut self.processes[number];
                let source = unsigned(arguments, "source");
                let destination = unsigned(arguments, "destination");
                // A kernel named by a type has that type's name where SYCL told of it.
                let text = recording.text(name);
                let text = match process.places.get(&uid) {
                    Some(place) if text.starts_with("_ZTS") => place.function.clone(),
                    _ => text.to_owned(),
                };
                let direction = match (work, source, destination) {
                    (Work::Copy, Some(source), Some(destination)) => {
                        Some((process.memory_of(source), process.memory_of(destination)))
                    }
                    _ => None,
                };
                let submission = Submission {
                    recording: number,
                    correlation,
                    queue,
                    time: record.time,
                    track,
                    work,
                    name: text,
                    flow: self.flows,
                    uid,
                    instance,
                    bytes,
                    direction,
                    content: unsigned(arguments, "content"),
                    destination: destination.unwrap_or(0),
                };
                if self.filter.shows(&submission.name) {
                    self.tell(|listener| listener.submit(&submission, arguments))?;
                    let process = &mut self.processes[number];
                    if process.pending.len() >= MAX_PENDING {
                        process.pending.pop_first();
                    }
                    process.pending.insert(correlation, (submission, queue));
                }
            }
            Event::Slice {
                correlation,
                begin,
                end,
                device,
            } => {
                let process = &mut self.processes[number];
                if let Some((submission, queue)) = process.pending.remove(&correlation) {
                    let place = process.places.get(&submission.uid).cloned();
                    let end = end.max(begin);
                    let track = self.queue(number, device, queue, begin, end)?;
                    self.last = self.last.max(end);
                    self.tell(|listener| {
                        listener.slice(track, begin, end, &submission, place.as_ref())
                    })?;
                }
            }
            Event::Device { device, name } => {
                let name = recording.text(name).to_owned();
                self.processes[number].devices.insert(device, name);
            }
            Event::Mark { name, .. } => {
                let name = recording.text(name);
                if self.filter.shows(name) {
                    self.tell(|listener| listener.mark(track, record.time, name, arguments))?;
                }
            }
        }
        Ok(())
    }

    /// Tells of an allocation or release, and of the new level.
    fn change(
        &mut self,
        number: usize,
        allocation: &Allocation,
        made: bool,
        time: u64,
    ) -> Result<(), Error> {
        self.tell(|listener| listener.memory(allocation, made))?;
        let key = (allocation.domain, allocation.kind.clone());
        if !self.processes[number].levels.contains_key(&key) {
            let who = match allocation.domain {
                Domain::LevelZero => "Level Zero",
                _ => "SYCL",
            };
            let process = self.processes[number].track;
            let track = self.track(&Track::Counter {
                process,
                name: &format!("{who} memory: {}", allocation.kind),
                unit: "bytes",
            })?;
            self.processes[number]
                .levels
                .insert(key.clone(), (track, 0));
        }
        if let Some((track, level)) = self.processes[number].levels.get_mut(&key) {
            *level = if made {
                level.saturating_add(allocation.bytes)
            } else {
                level.saturating_sub(allocation.bytes)
            };
            let (track, level) = (*track, *level);
            self.tell(|listener| listener.level(track, time, level))?;
        }
        Ok(())
    }

    /// The track for a slice: one for each queue, more where its work overlaps.
    fn queue(
        &mut self,
        number: usize,
        device: u64,
        queue: u64,
        begin: u64,
        end: u64,
    ) -> Result<TrackId, Error> {
        let name = self.processes[number]
            .devices
            .get(&device)
            .cloned()
            .unwrap_or_else(|| format!("device {device}"));
        let parent = match self.devices.get(&name) {
            Some(track) => *track,
            None => {
                let track = self.track(&Track::Device { name: &name })?;
                self.devices.insert(name, track);
                track
            }
        };
        let key = (number, parent, queue);
        let lanes = self.queues.entry(key).or_default();
        if let Some(lane) = lanes.iter_mut().find(|(_, last)| *last <= begin) {
            lane.1 = end;
            return Ok(lane.0);
        }
        let count = self.queue_counts.entry(parent).or_default();
        let place = *count;
        *count += 1;
        let track = self.track(&Track::Queue {
            device: parent,
            number: place,
        })?;
        self.queues.entry(key).or_default().push((track, end));
        Ok(track)
    }
}
