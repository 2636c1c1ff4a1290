//! Generated recordings, complete, cut and damaged, and their results.

#![expect(clippy::unwrap_used, reason = "a test that fails")]

/// The fuzz target's work, on recordings that were whole.
#[expect(unreachable_pub, reason = "public where the fuzz target includes it")]
#[path = "../../../fuzz/src/recording.rs"]
mod damaged;
#[path = "made/instants.rs"]
mod instants;
mod made;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use made::{head, nothing_unknown, string_words};
use perfetto_protos::trace::Trace;
use perfetto_protos::trace_packet::trace_packet;
use perfetto_protos::track_event::track_event;
use proptest::prelude::*;
use protobuf::Message;
use timeline::chrome::Chrome;
use timeline::file::{self, HEADER_BYTES, RECORDS, Recording, STRINGS};
use timeline::filter::Filter;
use timeline::graph::Growing;
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::record::{self, Attribute, Domain, Event, MAX_WORDS, NO_RESULT, Record, Value, Work};
use timeline::summary::{Summary, Summing};

/// Bytes of chunks in these tests.
const CHUNK: usize = 4096;

struct Maker {
    strings: Vec<String>,
    lanes: BTreeMap<u32, Vec<Record>>,
}

impl Maker {
    fn new() -> Self {
        Self {
            strings: Vec::new(),
            lanes: BTreeMap::new(),
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(at) = self.strings.iter().position(|known| known == text) {
            return at as u32 + 1;
        }
        self.strings.push(text.to_owned());
        self.strings.len() as u32
    }

    fn add(&mut self, lane: u32, time: u64, event: Event) {
        self.add_with(lane, time, event, &[]);
    }

    fn add_with(&mut self, lane: u32, time: u64, event: Event, attributes: &[(&str, Value)]) {
        let attributes = attributes
            .iter()
            .map(|(key, value)| Attribute {
                key: self.text(key),
                value: *value,
            })
            .collect();
        let record = Record {
            time,
            event,
            attributes,
        };
        self.lanes.entry(lane).or_default().push(record);
    }

    fn bytes(&self, process: u32) -> Vec<u8> {
        let mut out = head(process, CHUNK);
        let strings = string_words(&self.strings);
        chunk(&mut out, STRINGS, 0, 0, &strings);
        for (lane, records) in &self.lanes {
            let mut words = Vec::new();
            let mut number = 0;
            for record in records {
                if (words.len() + MAX_WORDS) * 8 > CHUNK - file::CHUNK_HEAD_BYTES {
                    chunk(&mut out, RECORDS, *lane, number, &words);
                    words.clear();
                    number += 1;
                }
                let mut encoded = [0; MAX_WORDS];
                let count =
                    record::encode(record.time, &record.event, &record.attributes, &mut encoded);
                words.extend_from_slice(&encoded[..count]);
            }
            chunk(&mut out, RECORDS, *lane, number, &words);
        }
        out
    }
}

fn chunk(out: &mut Vec<u8>, kind: u32, lane: u32, number: u64, words: &[u64]) {
    let start = out.len();
    for word in file::chunk_head(kind, lane, 100 + lane, number)
        .iter()
        .chain(words)
    {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.resize(start + CHUNK, 0);
}

/// A small program: a SYCL kernel with its calls, a copy without SYCL, memory, on two threads.
fn program() -> Maker {
    let mut m = Maker::new();
    let (main, helper) = (m.text("main"), m.text("helper"));
    let (file, function) = (m.text("a.cpp"), m.text("work"));
    let (kernel, kind) = (m.text("scale"), m.text("command_group_node"));
    let (launch, copy) = (
        m.text("zeCommandListAppendLaunchKernel"),
        m.text("zeCommandListAppendMemoryCopy"),
    );
    let (device, wait) = (m.text("Solum CPU"), m.text("event.wait"));
    let shared = m.text("shared");
    m.add(
        1,
        1_000,
        Event::Thread {
            tid: 10,
            name: main,
        },
    );
    m.add(
        2,
        1_001,
        Event::Thread {
            tid: 11,
            name: helper,
        },
    );
    m.add(
        1,
        1_005,
        Event::Allocate {
            domain: Domain::LevelZero,
            kind: shared,
            pointer: 0x1000,
            bytes: 256,
            uid: 0,
        },
    );
    m.add_with(
        1,
        1_010,
        Event::Node {
            name: kernel,
            kind,
            uid: 7,
            instance: 70,
            function,
            file,
            line: 12,
            column: 0,
        },
        &[("queue_id", Value::Unsigned(3))],
    );
    let begin = |domain, name, uid, instance| Event::Begin {
        domain,
        name,
        uid,
        instance,
    };
    let end = |domain, result| Event::End { domain, result };
    let submit = |work, name, correlation, instance, uid| Event::Submit {
        work,
        name,
        correlation,
        uid,
        instance,
        queue: 5,
        bytes: if work == Work::Copy { 64 } else { 0 },
    };
    m.add(1, 1_020, begin(Domain::Sycl, kernel, 7, 70));
    m.add(1, 1_030, begin(Domain::LevelZero, launch, 7, 70));
    m.add(1, 1_035, submit(Work::Kernel, kernel, 1, 70, 7));
    m.add_with(
        1,
        1_040,
        end(Domain::LevelZero, 0),
        &[
            ("hCommandList", Value::Address(5)),
            ("numWaitEvents", Value::Unsigned(u64::MAX)),
            ("scale", Value::Float(0.5)),
            ("sign", Value::Signed(-3)),
            ("blocking", Value::Boolean(true)),
            ("label", Value::Text(1)),
        ],
    );
    m.add(1, 1_050, end(Domain::Sycl, NO_RESULT));
    m.add(2, 1_045, begin(Domain::LevelZero, copy, 0, 0));
    for (correlation, time) in [(2, 1_046), (3, 1_047)] {
        m.add_with(
            2,
            time,
            submit(Work::Copy, copy, correlation, 0, 0),
            &[
                ("source", Value::Address(0x9000)),
                ("destination", Value::Address(0x1010)),
                ("content", Value::Address(99)),
            ],
        );
    }
    m.add(
        2,
        1_048,
        Event::Depends {
            later: 2,
            earlier: 1,
        },
    );
    m.add(2, 1_060, end(Domain::LevelZero, 0x7800_0004));
    m.add(1, 1_070, begin(Domain::Wait, wait, 0, 0));
    m.add(
        1,
        1_075,
        Event::Device {
            device: 1,
            name: device,
        },
    );
    for (correlation, begin, end) in [(1, 1_051, 1_071), (2, 1_075, 1_080), (3, 1_080, 1_085)] {
        m.add(
            1,
            1_090,
            Event::Slice {
                correlation,
                begin,
                end,
                device: 1,
            },
        );
    }
    m.add(1, 1_095, Event::Mark { name: wait, uid: 0 });
    // The wait never ends, because the program was killed.
    m
}

struct Made {
    perfetto: Vec<u8>,
    chrome: serde_json::Value,
    summary: Summary,
    graph: timeline::graph::Graph,
}

fn make(recordings: Vec<Vec<u8>>, filter: &str) -> Made {
    let mut open: Vec<_> = recordings
        .into_iter()
        .map(|bytes| Recording::open(Cursor::new(bytes)).unwrap())
        .collect();
    let (mut perfetto, mut chrome) = (Vec::new(), Vec::new());
    let mut summing = Summing::new(1_000);
    let mut growing = Growing::new();
    {
        let mut to_perfetto = Perfetto::new(&mut perfetto, 1_000, 5_000).unwrap();
        let mut to_chrome = Chrome::new(&mut chrome, 1_000).unwrap();
        let listeners: &mut [&mut dyn Listener] =
            &mut [&mut to_perfetto, &mut to_chrome, &mut summing, &mut growing];
        play::play(&mut open, &Filter::new(filter), listeners).unwrap();
    }
    Made {
        perfetto,
        chrome: serde_json::from_slice(&chrome).unwrap(),
        summary: summing.finish(true, 0),
        graph: growing.finish(),
    }
}

#[test]
fn perfettos_own_types_read_the_timeline() {
    let made = make(vec![program().bytes(42)], "");
    let trace = Trace::parse_from_bytes(&made.perfetto).unwrap();
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut keys: HashMap<u64, String> = HashMap::new();
    let mut tracks: HashMap<u64, String> = HashMap::new();
    let mut open: HashMap<u64, Vec<String>> = HashMap::new();
    let (mut flows, mut ends) = (Vec::<u64>::new(), Vec::<u64>::new());
    let (mut slices, mut annotations, mut levels) = (Vec::new(), Vec::new(), Vec::new());
    for packet in &trace.packet {
        nothing_unknown(packet, "packet");
        for name in packet.interned_data.event_names.iter() {
            names.insert(name.iid(), name.name().to_owned());
        }
        for name in packet.interned_data.debug_annotation_names.iter() {
            keys.insert(name.iid(), name.name().to_owned());
        }
        match &packet.data {
            Some(trace_packet::Data::TrackDescriptor(track)) => {
                nothing_unknown(track, "track");
                let name = if track.process.is_some() {
                    nothing_unknown(&*track.process, "process");
                    format!("process {}", track.process.pid())
                } else if track.thread.is_some() {
                    nothing_unknown(&*track.thread, "thread");
                    format!("thread {}", track.thread.tid())
                } else {
                    track.name().to_owned()
                };
                assert!(
                    track.parent_uuid.is_none() || tracks.contains_key(&track.parent_uuid()),
                    "{name}: its parent comes first"
                );
                tracks.insert(track.uuid(), name);
            }
            Some(trace_packet::Data::TrackEvent(event)) => {
                nothing_unknown(event, "event");
                assert!(tracks.contains_key(&event.track_uuid()), "a known track");
                for annotation in &event.debug_annotations {
                    nothing_unknown(annotation, "annotation");
                    annotations.push(keys[&annotation.name_iid()].clone());
                }
                flows.extend(&event.flow_ids);
                ends.extend(&event.terminating_flow_ids);
                let stack = open.entry(event.track_uuid()).or_default();
                match event.type_() {
                    track_event::Type::TYPE_SLICE_BEGIN => {
                        let name = names[&event.name_iid()].clone();
                        slices.push((tracks[&event.track_uuid()].clone(), name.clone()));
                        stack.push(name);
                    }
                    track_event::Type::TYPE_SLICE_END => {
                        assert!(stack.pop().is_some(), "an end has a begin");
                    }
                    track_event::Type::TYPE_COUNTER => levels.push(event.counter_value()),
                    track_event::Type::TYPE_INSTANT => {}
                    other => panic!("{other:?}"),
                }
            }
            Some(trace_packet::Data::ClockSnapshot(clocks)) => {
                nothing_unknown(clocks, "clocks");
                assert_eq!(clocks.clocks.len(), 3);
            }
            other => panic!("{other:?}"),
        }
    }
    let slice = |track: &str, name: &str| (track.to_owned(), name.to_owned());
    for expected in [
        slice("thread 10", "scale"),
        slice("thread 10", "zeCommandListAppendLaunchKernel"),
        slice("thread 11", "zeCommandListAppendMemoryCopy"),
        slice("queue 0", "scale"),
        slice("queue 0", "zeCommandListAppendMemoryCopy"),
    ] {
        assert!(slices.contains(&expected), "{expected:?} in {slices:?}");
    }
    let still: Vec<_> = open.values().flatten().collect();
    assert_eq!(still, ["event.wait"], "only the wait never ended");
    assert_eq!(flows, ends, "every arrow that leaves arrives");
    assert_eq!(flows.len(), 3);
    assert_eq!(levels, [256]);
    for key in [
        "uid",
        "source",
        "result",
        "hCommandList",
        "blocking",
        "label",
    ] {
        assert!(annotations.iter().any(|known| known == key), "{key}");
    }
}

#[test]
fn chromes_events_nest_and_carry_their_source_line() {
    let made = make(vec![program().bytes(42)], "");
    let events = made.chrome["traceEvents"].as_array().unwrap();
    let of = |phase: &str| {
        events
            .iter()
            .filter(|event| event["ph"] == phase)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("B").len(), of("E").len() + 1, "the wait never ended");
    assert_eq!(of("s").len(), 3);
    assert_eq!(of("f").len(), 3);
    let kernel = of("X")
        .into_iter()
        .find(|event| event["name"] == "scale")
        .unwrap();
    assert_eq!(kernel["args"]["source"], "a.cpp:12 (work)");
    assert_eq!(kernel["args"]["uid"], "0x7");
    assert_eq!(kernel["ts"].as_f64(), Some(0.051));
    assert_eq!(kernel["dur"].as_f64(), Some(0.02));
    let launch = of("B")
        .into_iter()
        .find(|event| event["name"] == "zeCommandListAppendLaunchKernel")
        .unwrap();
    assert_eq!(launch["args"]["source"], "a.cpp:12 (work)");
}

#[test]
fn the_summary_counts() {
    let Made { summary, graph, .. } = make(vec![program().bytes(42)], "");
    let row = summary.kernels.iter().find(|row| &*row.name == "scale");
    assert_eq!(row.map(|row| (row.count, row.total_ns)), Some((1, 20)));
    let line = &summary.lines[0];
    assert_eq!(line.source.to_string(), "a.cpp:12 (work)");
    assert_eq!((line.device_ns, line.host_ns), (20, 30));
    let sycl = summary
        .calls
        .iter()
        .find(|call| call.api == "sycl")
        .unwrap();
    assert_eq!(
        (sycl.row.total_ns, sycl.row.own_ns),
        (30, 20),
        "the call inside is not its own"
    );
    let copy = summary.calls.iter().find(|call| call.failed > 0).unwrap();
    assert_eq!(&*copy.row.name, "zeCommandListAppendMemoryCopy");
    let queue = &summary.queues[0];
    assert_eq!((queue.busy_ns, queue.idle_ns), (30, 4));
    let transfer = &summary.transfers[0];
    assert_eq!(
        (
            &*transfer.from,
            &*transfer.to,
            transfer.count,
            transfer.bytes
        ),
        ("host", "shared", 2, 128)
    );
    let again = &summary.duplicated_transfers;
    assert_eq!((again.count, again.bytes, again.compared), (1, 64, 2));
    assert_eq!(summary.live_at_end[0].bytes, 256);
    assert_eq!(summary.live_allocations.len(), 1);
    // kernel → first copy by its event, first copy → second by the queue.
    assert_eq!(graph.commands.len(), 3);
    assert_eq!(graph.edges.len(), 2);
    assert_eq!(graph.critical_ns, 30);
    assert!(summary.text(10).contains("a.cpp:12 (work)"));
    assert_eq!(summary.unfinished_calls, ["event.wait"]);
}

#[test]
fn filters_exclude_matching_events() {
    let made = make(vec![program().bytes(42)], "-zeCommandListAppendMemory*");
    let text = made.chrome.to_string();
    assert!(text.contains("zeCommandListAppendLaunchKernel"));
    assert!(!text.contains("zeCommandListAppendMemoryCopy"));
}

#[test]
fn processes_stay_apart() {
    let made = make(vec![program().bytes(42), program().bytes(43)], "");
    assert_eq!(made.summary.processes.len(), 2);
    let row = made
        .summary
        .kernels
        .iter()
        .find(|row| &*row.name == "scale");
    assert_eq!(row.map(|row| row.count), Some(2));
    assert_eq!(made.graph.commands.len(), 6);
}

#[test]
fn a_growing_recording_is_followed() {
    let bytes = program().bytes(42);
    let whole = {
        let mut recording = Recording::open(Cursor::new(bytes.clone())).unwrap();
        recording.fresh().unwrap()
    };
    assert!(whole.len() > 15);
    // The file grows while it is read, in pieces that end anywhere.
    let grown = std::rc::Rc::new(std::cell::RefCell::new(bytes[..HEADER_BYTES].to_vec()));
    let mut recording = Recording::open(Grown(grown.clone(), 0)).unwrap();
    let mut seen = Vec::new();
    for length in (HEADER_BYTES..=bytes.len()).step_by(8) {
        *grown.borrow_mut() = bytes[..length].to_vec();
        seen.extend(recording.fresh().unwrap());
    }
    *grown.borrow_mut() = bytes.clone();
    seen.extend(recording.fresh().unwrap());
    assert_eq!(recording.text(1), "main");
    let order = |mut all: Vec<(u32, Record)>| {
        all.sort_by_key(|(thread, record)| (*thread, record.time));
        all
    };
    assert_eq!(order(seen), order(whole));
}

#[test]
fn a_long_recording_is_followed_by_parts() {
    let mut file = Sparse::new(file::CHUNK_BYTES, i64::MAX as u64);
    let attributes = [Attribute {
        key: 0,
        value: Value::Unsigned(0),
    }; record::MAX_ATTRIBUTES];
    let mut encoded = [0; MAX_WORDS];
    let event = Event::Mark { name: 0, uid: 0 };
    let count = record::encode(1_000, &event, &attributes, &mut encoded);
    let in_chunk = (file::CHUNK_BYTES - file::CHUNK_HEAD_BYTES) / (count * 8);
    let words = encoded[..count].repeat(in_chunk);
    let chunks = file::MERGE_BYTES / file::CHUNK_BYTES + 10;
    for number in 0..chunks {
        let place = (HEADER_BYTES + number * file::CHUNK_BYTES) as u64;
        let head = file::chunk_head(RECORDS, 1, 5, number as u64);
        file.put(place, head, &words);
    }
    let mut recording = Recording::open(file).unwrap();
    let mut parts = [0; 3];
    for part in &mut parts {
        *part = recording.fresh().unwrap().len();
    }
    let [first, second, third] = parts;
    assert!(first * count * 8 <= file::MERGE_BYTES + MAX_WORDS * 8);
    assert_eq!((first + second, third), (chunks * in_chunk, 0));
}

/// Between two looks the last strings go into one chunk and the first into the next.
#[test]
fn strings_that_fill_a_chunk_unseen_are_read() {
    let string = |number: u64| [4 | number << 32, u64::from_le_bytes(*b"text\0\0\0\0")];
    let file = |first: &[u64], second: Option<&[u64]>| {
        let mut bytes = head(42, CHUNK);
        chunk(&mut bytes, STRINGS, 0, 0, first);
        if let Some(words) = second {
            chunk(&mut bytes, STRINGS, 0, 0, words);
        }
        bytes
    };
    let grown = std::rc::Rc::new(std::cell::RefCell::new(file(&string(1), None)));
    let mut recording = Recording::open(Grown(grown.clone(), 0)).unwrap();
    recording.fresh().unwrap();
    *grown.borrow_mut() = file(&[string(1), string(2)].concat(), Some(&string(3)));
    recording.fresh().unwrap();
    assert_eq!([1, 2, 3].map(|number| recording.text(number)), ["text"; 3]);
}

/// A file that grows.
struct Grown(std::rc::Rc<std::cell::RefCell<Vec<u8>>>, u64);

impl Read for Grown {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.borrow();
        let left = bytes.get(self.1 as usize..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.1 += count as u64;
        Ok(count)
    }
}

impl Seek for Grown {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(at) = to {
            self.1 = at;
        }
        Ok(self.1)
    }
}

/// A sparse file: chunks by their offset, zeros between them.
struct Sparse {
    at: u64,
    length: u64,
    parts: BTreeMap<u64, Vec<u8>>,
    /// Reads, and the longest of them.
    seen: std::rc::Rc<std::cell::Cell<(usize, usize)>>,
}

impl Sparse {
    fn new(chunk: usize, length: u64) -> Self {
        Self {
            at: 0,
            length,
            parts: BTreeMap::from([(0, head(42, chunk))]),
            seen: std::rc::Rc::default(),
        }
    }

    fn put(&mut self, offset: u64, head: [u64; 4], words: &[u64]) {
        let words = head.iter().chain(words);
        let bytes = words.flat_map(|word| word.to_le_bytes()).collect();
        self.parts.insert(offset, bytes);
    }
}

impl Read for Sparse {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (reads, longest) = self.seen.get();
        self.seen.set((reads + 1, longest.max(buffer.len())));
        let count = (self.length.saturating_sub(self.at)).min(buffer.len() as u64) as usize;
        buffer[..count].fill(0);
        if let Some((start, part)) = self.parts.range(..=self.at).next_back() {
            let part = part.get((self.at - start) as usize..).unwrap_or_default();
            let given = part.len().min(count);
            buffer[..given].copy_from_slice(&part[..given]);
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(at) = to {
            self.at = at;
        }
        Ok(self.at)
    }
}

fn mark(time: u64) -> Vec<u64> {
    let mut words = [0; MAX_WORDS];
    let count = record::encode(time, &Event::Mark { name: 1, uid: 0 }, &[], &mut words);
    words[..count].to_vec()
}

#[test]
fn empty_space_is_not_searched_to_its_end() {
    for length in [4 << 30, i64::MAX as u64] {
        let mut file = Sparse::new(CHUNK, length);
        // A chunk after a place that is not written yet is found.
        let offset = (HEADER_BYTES + CHUNK) as u64;
        file.put(offset, file::chunk_head(RECORDS, 1, 5, 0), &mark(7));
        let seen = file.seen.clone();
        let mut recording = Recording::open(file).unwrap();
        assert_eq!(recording.fresh().unwrap().len(), 1);
        let reads = seen.get().0;
        assert!(reads < 4 * file::MAX_EMPTY_PLACES, "{reads} reads");
    }
}

#[test]
fn large_chunks_and_long_strings_are_not_read() {
    let file = Sparse::new(16 << 20, 1 << 30);
    assert!(Recording::open(file).is_err());
    let mut file = Sparse::new(file::CHUNK_BYTES, 1 << 20);
    let long = file::MAX_STRING_BYTES as u64 + 8;
    let mut words = vec![long | 1 << 32];
    words.resize(1 + long as usize / 8, u64::from_le_bytes(*b"too long"));
    words.extend([4 | 2 << 32, u64::from_le_bytes(*b"text\0\0\0\0")]);
    let head = file::chunk_head(STRINGS, 0, 5, 0);
    file.put(HEADER_BYTES as u64, head, &words);
    let recording = Recording::open(file).unwrap();
    assert_eq!([1, 2].map(|number| recording.text(number)), ["", "text"]);
}

#[test]
fn many_lanes_are_merged_within_the_bound() {
    let lanes = 1024;
    let place = |lane: u32| HEADER_BYTES as u64 + u64::from(lane) * file::CHUNK_BYTES as u64;
    let mut file = Sparse::new(file::CHUNK_BYTES, place(lanes));
    for lane in 1..lanes {
        let words = mark(u64::from(lane));
        file.put(place(lane), file::chunk_head(RECORDS, lane, 5, 0), &words);
    }
    // One chunk is full, so that it is read in parts.
    let size = mark(0).len() * 8;
    let full = (file::CHUNK_BYTES - file::CHUNK_HEAD_BYTES) / size;
    let words: Vec<u64> = (0..full as u64).flat_map(mark).collect();
    file.put(place(0), file::chunk_head(RECORDS, 0, 5, 0), &words);
    let seen = file.seen.clone();
    let mut open = [Recording::open(file).unwrap()];
    seen.set((0, 0));
    let (mut count, mut last) = (0, 0);
    file::merge(&mut open, |_, _, record| -> Result<(), file::Error> {
        assert!(record.time >= last);
        (count, last) = (count + 1, record.time);
        Ok(())
    })
    .unwrap();
    assert_eq!(count, full + lanes as usize - 1);
    let longest = seen.get().1;
    assert!(longest * lanes as usize <= file::MERGE_BYTES, "{longest}");
}

#[test]
fn too_many_lanes_are_rejected() {
    let lanes = file::MAX_LANES as u32 + 1;
    let place = |lane: u32| (HEADER_BYTES + lane as usize * CHUNK) as u64;
    let mut file = Sparse::new(CHUNK, place(lanes));
    for lane in 0..lanes {
        file.put(place(lane), file::chunk_head(RECORDS, lane, 5, 0), &[]);
    }
    assert!(Recording::open(file).is_err());
}

/// Counts records.
#[derive(Default)]
struct Counting {
    begins: usize,
}

impl Listener for Counting {
    fn begin(&mut self, _: &play::Call<'_>, _: &play::Arguments<'_>) -> io::Result<()> {
        self.begins += 1;
        Ok(())
    }
}

fn count(bytes: Vec<u8>) -> Option<usize> {
    let mut open = vec![Recording::open(Cursor::new(bytes)).ok()?];
    let mut counting = Counting::default();
    play::play(&mut open, &Filter::default(), &mut [&mut counting]).unwrap();
    Some(counting.begins)
}

#[test]
fn a_recording_cut_anywhere_is_readable_up_to_there() {
    let mut maker = program();
    let name = maker.text("zeInit");
    for number in 0..500 {
        let begin = Event::Begin {
            domain: Domain::LevelZero,
            name,
            uid: 0,
            instance: 0,
        };
        let end = Event::End {
            domain: Domain::LevelZero,
            result: 0,
        };
        maker.add(1, 2_000 + number * 10, begin);
        maker.add(1, 2_005 + number * 10, end);
    }
    let bytes = maker.bytes(42);
    let whole = count(bytes.clone()).unwrap();
    assert!(whole > 500);
    let mut last = 0;
    for length in (HEADER_BYTES..bytes.len()).step_by(24) {
        let found = count(bytes[..length].to_vec()).unwrap();
        assert!(
            found >= last,
            "{length} bytes: {found} records after {last}"
        );
        last = found;
    }
    assert!(last + 60 > whole);
    for length in [0, 7, 8, 100, HEADER_BYTES - 1] {
        assert!(count(bytes[..length].to_vec()).is_none(), "{length} bytes");
    }
}

#[test]
fn forged_times_and_sizes_neither_overflow_nor_loop() {
    let submit = |work, name, correlation| Event::Submit {
        work,
        name,
        correlation,
        uid: 0,
        instance: 0,
        queue: 1,
        bytes: u64::MAX,
    };
    for (work, slices) in [
        (Work::Kernel, &[(0, u64::MAX)][..]),
        (Work::Copy, &[(0, 1 << 63), (0, 1 << 63), (u64::MAX, 0)]),
    ] {
        let mut m = Maker::new();
        let name = m.text("name");
        let allocate = |pointer| Event::Allocate {
            domain: Domain::Memory,
            kind: name,
            pointer,
            bytes: u64::MAX,
            uid: 0,
        };
        for (correlation, (begin, end)) in (1..).zip(slices.iter().copied()) {
            m.add(1, 1, allocate(correlation));
            m.add(1, 1, submit(work, name, correlation));
            let slice = Event::Slice {
                correlation,
                begin,
                end,
                device: 1,
            };
            m.add(1, u64::MAX, slice);
        }
        for clock in [0, u64::MAX] {
            let mut bytes = m.bytes(42);
            bytes[file::header::CLOCK..][..8].copy_from_slice(&clock.to_le_bytes());
            damaged::recording(&bytes);
            let made = make(vec![bytes], "");
            assert_eq!(made.summary.kernels[0].bytes, u64::MAX);
            assert!(made.summary.duration_ns < 1 << 63, "{slices:?}");
        }
    }
}

#[test]
fn pictures_hold_only_letters_that_xml_has() {
    for letter in ['\0', '\u{1b}', '\u{7f}', '\u{9b}', '\u{FFFE}', '\u{FFFF}'] {
        let mut m = Maker::new();
        let name = m.text(&format!("name{letter}"));
        let submit = Event::Submit {
            work: Work::Kernel,
            name,
            correlation: 1,
            uid: 0,
            instance: 0,
            queue: 1,
            bytes: 0,
        };
        let slice = Event::Slice {
            correlation: 1,
            begin: 1_000,
            end: 2_000,
            device: 1,
        };
        m.add(1, 1_000, Event::Device { device: 1, name });
        m.add(1, 1_000, submit);
        m.add(1, 2_000, slice);
        let mut open = [Recording::open(Cursor::new(m.bytes(42))).unwrap()];
        let (mut growing, mut drawing) = (Growing::new(), Picture::new());
        let listeners: &mut [&mut dyn Listener] = &mut [&mut growing, &mut drawing];
        play::play(&mut open, &Filter::default(), listeners).unwrap();
        let pictures = [growing.finish().svg(), drawing.svg()];
        for picture in pictures.map(Option::unwrap) {
            assert!(picture.contains("name"));
            assert!(!picture.contains(letter), "{letter:?} in {picture}");
        }
    }
}

proptest! {
    #[test]
    fn damage_never_panics(place in 0usize..40_000, value: u8, more in prop::collection::vec((0usize..40_000, any::<u8>()), 0..20)) {
        let mut bytes = program().bytes(42);
        for (place, value) in more.into_iter().chain([(place, value)]) {
            let length = bytes.len();
            bytes[place % length] = value;
        }
        damaged::recording(&bytes);
    }

    #[test]
    fn records_come_back(
        kind in 0usize..15, a: u64, b: u64, c: u64, n: u32, m: u32,
        values in prop::collection::vec((any::<u32>(), 0u8..6, any::<u64>()), 0..40),
    ) {
        let (domain, work) = (Domain::ALL[a as usize % 5], if b % 2 == 0 { Work::Copy } else { Work::Kernel });
        let events = [
            Event::Thread { tid: n, name: m },
            Event::Begin { domain, name: n, uid: a, instance: b },
            Event::End { domain, result: a as i64 },
            Event::Node { name: n, kind: m, uid: a, instance: b, function: n, file: m, line: n, column: m },
            Event::Edge { name: n, source: a, target: b },
            Event::Allocate { domain, kind: n, pointer: a, bytes: b, uid: c },
            Event::Release { domain, pointer: a },
            Event::Submit { work, name: n, correlation: a, uid: b, instance: c, queue: a, bytes: b },
            Event::Slice { correlation: a, begin: b, end: c, device: a },
            Event::Device { device: a, name: n },
            Event::Queue { queue: a, made: b % 2 == 0, device: c },
            Event::Mark { name: n, uid: a },
            Event::Clock { device: a, host: b, ticks: c },
            Event::Depends { later: a, earlier: b },
            Event::Place { uid: a, function: n, file: m, line: n, column: m },
        ];
        let attributes: Vec<Attribute> = values.into_iter().map(|(key, kind, word)| Attribute {
            key,
            value: match kind {
                0 => Value::Unsigned(word),
                1 => Value::Signed(word as i64),
                2 => Value::Float(f64::from(word as u32)),
                3 => Value::Boolean(word % 2 == 0),
                4 => Value::Text(word as u32),
                _ => Value::Address(word),
            },
        }).collect();
        let mut words = [u64::MAX; MAX_WORDS];
        let count = record::encode(c, &events[kind], &attributes, &mut words);
        let (record, read) = record::decode(&words).unwrap().unwrap();
        prop_assert_eq!(read, count);
        prop_assert_eq!(record.time, c);
        prop_assert_eq!(record.event, events[kind]);
        let kept = attributes.len().min(record::MAX_ATTRIBUTES);
        prop_assert_eq!(&record.attributes[..], &attributes[..kept]);
    }
}
