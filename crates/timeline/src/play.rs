//! Plays recordings: records become calls with begin and end, device work with the submission and source line that
//! caused it, and levels of allocated memory, in the order of time. [`Listener`]s receive them.
//!
//! State is kept for open calls, live allocations, source locations and submissions that have not run yet, each within
//! a bound; never for events that are over. Texts are shared with the recording.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek};
use std::sync::Arc;

use crate::file::{self, MAX_CLOCK, Origin, Recording};
use crate::filter::Filter;
use crate::record::{Attribute, Domain, Event, NO_RESULT, Record, Text, Value, Work};
use crate::report;

mod instants;
mod listener;
pub use instants::Instant;
use instants::Instants;
pub use listener::{
    Allocation, Argument, Arguments, Call, Listener, Node, SourceLocation, Submission, Track,
    TrackId,
};

/// Submissions that may wait for their execution; older ones are reported without.
const MAX_PENDING: usize = 1 << 16;
// The bounds below are far above the needs of real programs. `tests/forged.rs` exceeds most of them, one by one: the
// reader's memory grows by 34 MiB at most.
/// Threads of a process; later ones show only their submissions.
const MAX_THREADS: usize = 1 << 16;
/// Source locations of a process.
const MAX_PLACES: usize = 1 << 16;
/// Devices, of a process and in all.
const MAX_DEVICES: usize = 1 << 12;
/// Allocations of a process that live at once.
const MAX_ALLOCATIONS: usize = 1 << 20;
/// Calls of a thread that are open at once.
const MAX_OPEN: usize = 1 << 12;
/// Calls of all threads that are open at once: ten for each of 13,000 threads.
const MAX_OPEN_IN_ALL: usize = 1 << 17;
/// Tracks of queues, in all.
const MAX_QUEUES: usize = 1 << 16;
/// Tracks of a queue whose work overlaps; more of it goes to the last one.
const MAX_LANES: usize = 64;
/// Kinds of memory of a process.
const MAX_LEVELS: usize = 1 << 10;
/// Bytes of a name of a thread, a device or a kind.
const MAX_NAME: usize = 256;
/// Bytes that are read before listeners are notified.
const READ_STEP: u64 = 1 << 16;

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

/// A call that has begun.
struct Open {
    domain: Domain,
    name: Text,
    begin: u64,
    uid: u64,
    instance: u64,
    shown: bool,
}

struct Thread {
    track: TrackId,
    open: Vec<Open>,
    /// Calls inside the innermost that is kept, by domain: their ends do not end other calls.
    beyond: [u64; Domain::ALL.len()],
}

#[derive(Default)]
struct Process {
    track: TrackId,
    threads: HashMap<u32, Thread>,
    places: HashMap<u64, Arc<SourceLocation>>,
    allocations: BTreeMap<(Domain, u64), Allocation>,
    devices: HashMap<u64, Arc<str>>,
    /// Parts of strings, by the string's number: each is in memory once.
    type_names: HashMap<Text, Arc<str>>,
    short_names: HashMap<Text, Arc<str>>,
    pending: BTreeMap<u64, (Submission, u64)>,
    levels: HashMap<(Domain, Arc<str>), (TrackId, u64)>,
}

/// Turns records into notifications of listeners; [`play`] for complete recordings, directly for growing ones.
pub struct Player<'a, 'l> {
    listeners: &'a mut [&'l mut dyn Listener],
    filter: &'a Filter,
    processes: Vec<Process>,
    tracks: TrackId,
    /// By device name.
    devices: HashMap<Arc<str>, TrackId>,
    /// Lanes of a queue on a device, with the end of the last slice on each.
    queues: HashMap<(usize, TrackId, u64), Vec<(TrackId, u64)>>,
    queue_counts: HashMap<TrackId, usize>,
    queue_tracks: usize,
    /// Open calls of all threads.
    open: usize,
    flows: u64,
    last: u64,
    left_out: u64,
    read: u64,
    told: u64,
    instants: Instants,
}

/// Plays all recordings to the listeners. The result is the number of bytes that were read: strings and records.
///
/// # Errors
/// A recording cannot be read or a listener cannot write.
pub fn play<R: Read + Seek>(
    recordings: &mut [Recording<R>],
    filter: &Filter,
    listeners: &mut [&mut dyn Listener],
) -> Result<u64, Error> {
    play_with(recordings, filter, Vec::new(), listeners)
}

/// As [`play`], with instants that another tool has found in kernels.
///
/// # Errors
/// As [`play`].
pub fn play_with<R: Read + Seek>(
    recordings: &mut [Recording<R>],
    filter: &Filter,
    instants: Vec<Instant>,
    listeners: &mut [&mut dyn Listener],
) -> Result<u64, Error> {
    let mut player = Player::new(filter, listeners);
    player.instants = Instants::new(instants, recordings);
    for recording in recordings.iter() {
        player.process(recording)?;
    }
    file::merge(recordings, |recordings, origin, record| {
        player.record(&recordings[origin.recording], origin, record)
    })?;
    player.finish(recordings)?;
    Ok(player.read)
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

/// DPC++ demangles the symbol `_ZTS…` of a kernel's type; users know the type.
fn type_name(label: &str) -> &str {
    label.strip_prefix("typeinfo name for ").unwrap_or(label)
}

impl Process {
    /// The string without DPC++'s prefix of a type's name.
    fn type_name<R: Read + Seek>(&mut self, recording: &Recording<R>, text: Text) -> Arc<str> {
        let whole = recording.shared(text);
        match type_name(whole) {
            name if name.len() == whole.len() => whole.clone(),
            name => {
                let known = self.type_names.entry(text);
                known.or_insert_with(|| name.into()).clone()
            }
        }
    }

    /// The start of that string: a name for a table or a track.
    fn short_name<R: Read + Seek>(&mut self, recording: &Recording<R>, text: Text) -> Arc<str> {
        let whole = recording.shared(text);
        match report::start(whole, MAX_NAME) {
            name if name.len() == whole.len() => whole.clone(),
            name => {
                let known = self.short_names.entry(text);
                known.or_insert_with(|| name.into()).clone()
            }
        }
    }

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
            queue_tracks: 0,
            open: 0,
            flows: 0,
            last: 0,
            left_out: 0,
            read: 0,
            told: 0,
            instants: Instants::default(),
        }
    }

    /// Adds a process: its index is the number of those before it.
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
        self.read += recording.string_bytes() as u64;
        self.tell_read();
        Ok(())
    }

    /// Ends playing: reports calls that never ended, then the end.
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
                name: recording.shared(open.name),
                begin: open.begin,
                uid: open.uid,
                instance: open.instance,
                place: None,
            };
            self.tell(|listener| listener.unfinished(&call))?;
        }
        let tracks: Vec<TrackId> = self.processes.iter().map(|process| process.track).collect();
        let left = self.instants.left(&tracks);
        self.mark(&left)?;
        self.tell_read();
        for listener in self.listeners.iter_mut() {
            listener.left_out(self.left_out);
        }
        let last = self.last;
        self.tell(|listener| listener.finish(last))
    }

    fn tell_read(&mut self) {
        for listener in self.listeners.iter_mut() {
            listener.read(self.read - self.told);
        }
        self.told = self.read;
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

    /// Tells instants, each on its track.
    fn mark(&mut self, instants: &[(TrackId, Instant)]) -> Result<(), Error> {
        for (track, instant) in instants {
            let pairs = instant.arguments.iter();
            let arguments: Vec<(&str, Argument<'_>)> = pairs
                .map(|(key, value)| (*key, Argument::Text(value)))
                .collect();
            self.tell(|listener| listener.mark(*track, instant.time, &instant.name, &arguments))?;
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
    ) -> Result<Option<TrackId>, Error> {
        let threads = &self.processes[origin.recording].threads;
        if let Some(thread) = threads.get(&origin.thread) {
            return Ok(Some(thread.track));
        }
        if threads.len() >= MAX_THREADS {
            return Ok(None);
        }
        let track = self.track(&Track::Thread {
            process: recording.process,
            thread: origin.thread,
            name: report::start(name, MAX_NAME),
        })?;
        let thread = Thread {
            track,
            open: Vec::new(),
            beyond: Default::default(),
        };
        self.processes[origin.recording]
            .threads
            .insert(origin.thread, thread);
        Ok(Some(track))
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
        // A forged time would make sums and the picture's axis overflow.
        let first = recording.clock.min(MAX_CLOCK);
        let believed = |time: u64| time.clamp(first, first + MAX_CLOCK);
        let time = believed(record.time);
        self.last = self.last.max(time);
        self.read += record.bytes() as u64;
        if self.read - self.told >= READ_STEP {
            self.tell_read();
        }
        let number = origin.recording;
        if number >= self.processes.len() {
            return Ok(());
        }
        if let Event::Thread { name, .. } = record.event {
            let track = self.thread(recording, origin, recording.text(name))?;
            self.left_out += u64::from(track.is_none());
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
                let text = recording.shared(name);
                let shown = self.filter.shows(text);
                let process = &mut self.processes[number];
                let thread = process.threads.get_mut(&origin.thread);
                let (Some(track), Some(thread)) = (track, thread) else {
                    self.left_out += 1;
                    return Ok(());
                };
                if thread.open.len() >= MAX_OPEN || self.open >= MAX_OPEN_IN_ALL {
                    thread.beyond[domain as usize - 1] += 1;
                    self.left_out += 1;
                    return Ok(());
                }
                self.open += 1;
                thread.open.push(Open {
                    domain,
                    name,
                    begin: time,
                    uid,
                    instance,
                    shown,
                });
                if shown {
                    let place = process.places.get(&uid).cloned();
                    let call = Call {
                        track,
                        domain,
                        name: text,
                        begin: time,
                        uid,
                        instance,
                        place: place.as_ref(),
                    };
                    self.tell(|listener| listener.begin(&call, arguments))?;
                }
            }
            Event::End { domain, result } => {
                let process = &mut self.processes[number];
                let thread = process.threads.get_mut(&origin.thread);
                let (Some(track), Some(thread)) = (track, thread) else {
                    return Ok(());
                };
                let beyond = &mut thread.beyond[domain as usize - 1];
                if *beyond > 0 {
                    *beyond -= 1;
                    return Ok(());
                }
                let Some(at) = thread.open.iter().rposition(|open| open.domain == domain) else {
                    return Ok(());
                };
                thread.beyond = Default::default();
                // Calls opened inside that never ended end here: timelines must nest.
                let ended: Vec<Open> = thread.open.drain(at..).rev().collect();
                self.open -= ended.len();
                let outer = ended.len() - 1;
                for (index, open) in ended.iter().enumerate().filter(|(_, open)| open.shown) {
                    let own = index == outer;
                    let place = self.processes[number].places.get(&open.uid).cloned();
                    let call = Call {
                        track,
                        domain: open.domain,
                        name: recording.shared(open.name),
                        begin: open.begin,
                        uid: open.uid,
                        instance: open.instance,
                        place: place.as_ref(),
                    };
                    let result = (own && result != NO_RESULT).then_some(result);
                    let given = if own { arguments } else { &[] };
                    self.tell(|listener| listener.end(&call, time, result, given))?;
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
                let process = &mut self.processes[number];
                let place = Arc::new(SourceLocation {
                    function: process.type_name(recording, function),
                    file: recording.shared(file).clone(),
                    line,
                    column,
                });
                let name = process.type_name(recording, name);
                let kind = process.short_name(recording, kind);
                let node = Node {
                    recording: number,
                    time,
                    name: &name,
                    kind: &kind,
                    uid,
                    instance,
                    place: &place,
                    arguments,
                };
                self.tell(|listener| listener.node(&node))?;
                self.place(number, uid, place);
            }
            Event::Place {
                uid,
                function,
                file,
                line,
                column,
            } => {
                let place = Arc::new(SourceLocation {
                    function: self.processes[number].type_name(recording, function),
                    file: recording.shared(file).clone(),
                    line,
                    column,
                });
                self.place(number, uid, place);
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
                let process = &mut self.processes[number];
                let key = (domain, pointer);
                if process.allocations.len() >= MAX_ALLOCATIONS
                    && !process.allocations.contains_key(&key)
                {
                    self.left_out += 1;
                    return Ok(());
                }
                let allocation = Allocation {
                    domain,
                    kind: process.short_name(recording, kind),
                    pointer,
                    bytes,
                    time,
                    place: process.places.get(&uid).cloned(),
                };
                self.change(number, &allocation, true, time)?;
                self.processes[number].allocations.insert(key, allocation);
            }
            Event::Release { domain, pointer } => {
                let gone = self.processes[number]
                    .allocations
                    .remove(&(domain, pointer));
                if let Some(allocation) = gone {
                    self.change(number, &allocation, false, time)?;
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
                // A kernel named by a type has that type's name if SYCL reported it.
                let text = recording.shared(name);
                let text = match process.places.get(&uid) {
                    Some(place) if text.starts_with("_ZTS") => place.function.clone(),
                    _ => text.clone(),
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
                    time,
                    // A thread beyond the bound has no track.
                    track: track.unwrap_or(process.track),
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
                    let begin = believed(begin);
                    let end = believed(end).max(begin);
                    let Some(track) = self.queue(number, device, queue, begin, end)? else {
                        self.left_out += 1;
                        return Ok(());
                    };
                    self.last = self.last.max(end);
                    self.tell(|listener| {
                        listener.slice(track, begin, end, &submission, place.as_ref())
                    })?;
                    let found = self.instants.of_slice(track, (begin, end), &submission);
                    self.mark(&found)?;
                }
            }
            Event::Device { device, name } => {
                let process = &mut self.processes[number];
                if process.devices.len() < MAX_DEVICES || process.devices.contains_key(&device) {
                    let name = process.short_name(recording, name);
                    process.devices.insert(device, name);
                } else {
                    self.left_out += 1;
                }
            }
            Event::Mark { name, .. } => {
                let name = recording.text(name);
                let Some(track) = track else {
                    self.left_out += 1;
                    return Ok(());
                };
                if self.filter.shows(name) {
                    self.tell(|listener| listener.mark(track, time, name, arguments))?;
                }
            }
        }
        Ok(())
    }

    /// Keeps a source location while there is room.
    fn place(&mut self, number: usize, uid: u64, place: Arc<SourceLocation>) {
        let places = &mut self.processes[number].places;
        if places.len() < MAX_PLACES || places.contains_key(&uid) {
            places.insert(uid, place);
        } else {
            self.left_out += 1;
        }
    }

    /// Reports an allocation or release, and the new level.
    fn change(
        &mut self,
        number: usize,
        allocation: &Allocation,
        made: bool,
        time: u64,
    ) -> Result<(), Error> {
        self.tell(|listener| listener.memory(allocation, made))?;
        let key = (allocation.domain, allocation.kind.clone());
        let levels = &self.processes[number].levels;
        if !levels.contains_key(&key) {
            if levels.len() >= MAX_LEVELS {
                self.left_out += 1;
                return Ok(());
            }
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

    /// The track for a slice: one for each queue, more if its work overlaps.
    fn queue(
        &mut self,
        number: usize,
        device: u64,
        queue: u64,
        begin: u64,
        end: u64,
    ) -> Result<Option<TrackId>, Error> {
        let name = self.processes[number]
            .devices
            .get(&device)
            .cloned()
            .unwrap_or_else(|| format!("device {device}").into());
        let parent = match self.devices.get(&name) {
            Some(track) => *track,
            None if self.devices.len() >= MAX_DEVICES => return Ok(None),
            None => {
                let track = self.track(&Track::Device { name: &name })?;
                self.devices.insert(name, track);
                track
            }
        };
        let key = (number, parent, queue);
        let is_full = self.queue_tracks >= MAX_QUEUES;
        if is_full && !self.queues.contains_key(&key) {
            return Ok(None);
        }
        let lanes = self.queues.entry(key).or_default();
        let count = lanes.len();
        if let Some(lane) = lanes.iter_mut().find(|(_, last)| *last <= begin) {
            lane.1 = end;
            return Ok(Some(lane.0));
        }
        if let Some(lane) = lanes.last_mut()
            && (is_full || count >= MAX_LANES)
        {
            lane.1 = lane.1.max(end);
            return Ok(Some(lane.0));
        }
        self.queue_tracks += 1;
        let count = self.queue_counts.entry(parent).or_default();
        let place = *count;
        *count += 1;
        let track = self.track(&Track::Queue {
            device: parent,
            number: place,
        })?;
        self.queues.entry(key).or_default().push((track, end));
        Ok(Some(track))
    }
}
