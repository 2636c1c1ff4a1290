//! Recordings of many records that refer to long strings: neither the reader's memory nor its reports grow with the
//! strings.
//!
//! Alone in its process, because it counts in the process's allocator.

#[expect(dead_code, reason = "no types of Perfetto here")]
mod made;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Cursor, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use made::{head, string_words};
use timeline::chrome::Chrome;
use timeline::file::{self, CHUNK_BYTES, CHUNK_HEAD_BYTES, MAX_STRING_BYTES, Recording};
use timeline::filter::Filter;
use timeline::graph::Growing;
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::record::{self, Attribute, Domain, Event, MAX_ATTRIBUTES, MAX_WORDS, Value, Work};
use timeline::report::{MAX_GROWTH, MIN_LIMIT, Report};
use timeline::summary::Summing;

/// Counts the bytes that live, and the most that ever did.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps the system's allocator's rules.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the system's allocator's rules.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak of memory that `work` needed.
fn peak_of<T>(work: impl FnOnce() -> T) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    drop(work());
    PEAK.load(Relaxed) - before
}

/// Counts the bytes and drops them.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recording with as many long strings as a record can refer to, with the events that `step` returns for each number.
fn forge(steps: u64, step: &dyn Fn(u64) -> Vec<(Event, usize)>) -> Vec<u8> {
    let mut out = head(42, CHUNK_BYTES);
    let mut chunk = |kind, number, words: &[u64]| {
        let start = out.len();
        let head = file::chunk_head(kind, 1, 5, number);
        let words = head.iter().chain(words);
        out.extend(words.flat_map(|word| word.to_le_bytes()));
        out.resize(start + CHUNK_BYTES, 0);
    };
    let long = |number: usize| format!("{number:0>width$}", width = MAX_STRING_BYTES);
    for number in 1..=MAX_ATTRIBUTES {
        let mut words = string_words(&[long(number)]);
        words[0] = words[0] as u32 as u64 | (number as u64) << 32;
        chunk(file::STRINGS, number as u64, &words);
    }
    let attributes: Vec<Attribute> = (1..=MAX_ATTRIBUTES as u32)
        .map(|number| Attribute {
            key: number,
            value: Value::Text(MAX_ATTRIBUTES as u32 + 1 - number),
        })
        .collect();
    let (mut words, mut number) = (Vec::new(), 0);
    for (event, count) in (1..=steps).flat_map(step) {
        if (words.len() + MAX_WORDS) * 8 > CHUNK_BYTES - CHUNK_HEAD_BYTES {
            chunk(file::RECORDS, number, &words);
            (words, number) = (Vec::new(), number + 1);
        }
        let mut encoded = [0; MAX_WORDS];
        let length = record::encode(1_000, &event, &attributes[..count], &mut encoded);
        words.extend_from_slice(&encoded[..length]);
    }
    chunk(file::RECORDS, number, &words);
    out
}

fn node(number: u64) -> Event {
    Event::Node {
        name: 1,
        kind: 2,
        uid: number,
        instance: number,
        function: 3,
        file: 4,
        line: 1,
        column: 1,
    }
}

fn place(number: u64) -> Event {
    Event::Place {
        uid: number,
        function: 1 + (number % 30) as u32,
        file: 2,
        line: number as u32,
        column: 1,
    }
}

fn submit(number: u64, instance: u64, queue: u64) -> Event {
    Event::Submit {
        work: Work::Kernel,
        name: 3,
        correlation: number,
        uid: number % 1000,
        instance,
        queue,
        bytes: 8,
    }
}

fn slice(number: u64, device: u64) -> Event {
    Event::Slice {
        correlation: number,
        begin: 1_000,
        end: 2_000,
        device,
    }
}

fn begin(domain: Domain, number: u64) -> Event {
    Event::Begin {
        domain,
        name: 3,
        uid: number % 1000,
        instance: number,
    }
}

type Step = fn(u64) -> Vec<(Event, usize)>;

/// More than any bound, but few enough for a test of seconds.
const KINDS: [(&str, u64, Step); 13] = [
    ("threads", 100_000, |n| {
        vec![(
            Event::Thread {
                tid: n as u32,
                name: 1,
            },
            0,
        )]
    }),
    ("places", 100_000, |n| vec![(place(n), 0)]),
    ("devices", 6_000, |n| {
        vec![
            (Event::Device { device: n, name: 1 }, 0),
            (submit(n, 0, 1), 0),
            (slice(n, n), 0),
        ]
    }),
    ("allocations", 100_000, |n| {
        vec![
            (place(n % 1000), 0),
            (
                Event::Allocate {
                    domain: Domain::Memory,
                    kind: 1 + (n % 30) as u32,
                    pointer: n,
                    bytes: 1,
                    uid: n % 1000,
                },
                0,
            ),
        ]
    }),
    ("nodes", 21_000, |n| vec![(node(n), MAX_ATTRIBUTES)]),
    ("edges", 25_000, |n| {
        let edge = Event::Edge {
            name: 1 + (n % 30) as u32,
            source: n / 7,
            target: n / 7 + n % 7 + 1,
        };
        vec![(node(n), 0), (edge, 0)]
    }),
    ("overlapping work", 5_000, |n| {
        vec![(place(n), 0), (submit(n, 0, 1), 0), (slice(n, 1), 0)]
    }),
    ("queues", 70_000, |n| {
        vec![(submit(n, 0, n), 0), (slice(n, 1), 0)]
    }),
    ("submissions of one command", 100_000, |n| {
        let known = (n == 1).then(|| (node(1), 0));
        let work = [(submit(n, 1, 1), 0), (slice(n, 1), 0)];
        known.into_iter().chain(work).collect()
    }),
    ("open calls", 100_000, |n| {
        vec![(begin(Domain::LevelZero, n), 0)]
    }),
    ("calls of commands", 20_000, |n| {
        let end = Event::End {
            domain: Domain::Sycl,
            result: 0,
        };
        vec![(place(n), 0), (begin(Domain::Sycl, n), 0), (end, 0)]
    }),
    ("marks", 10_000, |n| {
        vec![(Event::Mark { name: 1, uid: n }, MAX_ATTRIBUTES)]
    }),
    ("attributes of submissions", 5_000, |n| {
        vec![(submit(n, 0, 1), MAX_ATTRIBUTES)]
    }),
];

/// Bytes of memory besides the recording's strings. Each of these recordings is smaller than 16 MiB.
const MAX_MEMORY: usize = 96 << 20;

#[test]
fn neither_memory_nor_reports_grow_by_the_strings_that_records_name() {
    for (kind, steps, step) in KINDS {
        let bytes = forge(steps, &step);
        let open = || [Recording::open(Cursor::new(&bytes[..])).unwrap()];
        let limit = MIN_LIMIT + MAX_GROWTH * bytes.len() as u64;
        let (mut chrome, mut perfetto) = (Counted::default(), Counted::default());
        let mut written = Vec::new();
        let peak = peak_of(|| {
            let filter = Filter::default();
            let mut to_chrome = Chrome::new(&mut chrome, 0).unwrap();
            let _ = play::play(&mut open(), &filter, &mut [&mut to_chrome]);
            let mut to_perfetto = Perfetto::new(&mut perfetto, 0, 0).unwrap();
            let _ = play::play(&mut open(), &filter, &mut [&mut to_perfetto]);
        });
        assert!(peak < MAX_MEMORY, "{kind}: {peak} bytes for timelines");
        let peak = peak_of(|| {
            let mut summing = Summing::new(0);
            let mut growing = Growing::new();
            let mut drawing = Picture::new();
            let listeners: &mut [&mut dyn Listener] =
                &mut [&mut summing, &mut growing, &mut drawing];
            let read = play::play(&mut open(), &Filter::default(), listeners).unwrap();
            assert!(read <= bytes.len() as u64, "{kind}");
            let mut report = |write: &dyn Fn(&mut Report<&mut Counted>)| {
                let mut counted = Counted::default();
                let mut report = Report::new(&mut counted);
                report.read(read);
                write(&mut report);
                written.push(counted.0);
            };
            let summary = summing.finish(true, 0);
            report(&|report| {
                let _ = serde_json::to_writer(report, &summary);
            });
            let graph = growing.finish();
            report(&|report| {
                let _ = serde_json::to_writer(report, &graph);
            });
            report(&|report| {
                let _ = graph.dot(report);
            });
            written.push(drawing.svg().map_or(0, |svg| svg.len() as u64));
            written.push(summary.text(12).len() as u64);
        });
        assert!(peak < MAX_MEMORY, "{kind}: {peak} bytes for the rest");
        written.extend([chrome.0, perfetto.0]);
        assert!(
            written.iter().all(|count| *count <= limit),
            "{kind}: {written:?} of {limit}"
        );
    }
}
