//! A recording of ten million events: reading it takes no memory that grows, and Perfetto's types read the result.
//!
//! Alone in its process, because it measures the process's peak memory.

#![expect(clippy::unwrap_used, reason = "a test that fails")]

mod made;

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use made::{head, nothing_unknown, string_words};
use perfetto_protos::trace_packet::{TracePacket, trace_packet};
use protobuf::Message;
use timeline::chrome::Chrome;
use timeline::file::{self, CHUNK_BYTES, HEADER_BYTES, RECORDS, Recording, STRINGS};
use timeline::filter::Filter;
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::record::{self, Domain, Event, MAX_WORDS, Work};
use timeline::summary::Summing;

/// A recording of any length that exists only while it is read: calls with submissions and device work.
struct Endless {
    at: u64,
    chunks: u64,
    strings: Vec<u8>,
}

impl Endless {
    const PER_CHUNK: u64 = 700;

    fn new(chunks: u64) -> Self {
        let texts = ["zeCommandListAppendLaunchKernel", "kernel"].map(str::to_owned);
        let words = file::chunk_head(STRINGS, 0, 100, 0)
            .into_iter()
            .chain(string_words(&texts));
        let mut strings: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        strings.resize(CHUNK_BYTES, 0);
        Self {
            at: 0,
            chunks,
            strings,
        }
    }

    fn page(&self, number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        for word in file::chunk_head(RECORDS, 1, 5, number) {
            out.extend_from_slice(&word.to_le_bytes());
        }
        let mut add = |time, event| {
            let mut words = [0; MAX_WORDS];
            let count = record::encode(time, &event, &[], &mut words);
            for word in &words[..count] {
                out.extend_from_slice(&word.to_le_bytes());
            }
        };
        for step in 0..Self::PER_CHUNK / 4 {
            let correlation = number * Self::PER_CHUNK + step;
            let time = correlation * 100;
            add(
                time,
                Event::Begin {
                    domain: Domain::LevelZero,
                    name: 1,
                    uid: 0,
                    instance: 0,
                },
            );
            add(
                time + 1,
                Event::Submit {
                    work: Work::Kernel,
                    name: 2,
                    correlation,
                    uid: 0,
                    instance: 0,
                    queue: 1,
                    bytes: 0,
                },
            );
            add(
                time + 2,
                Event::End {
                    domain: Domain::LevelZero,
                    result: 0,
                },
            );
            add(
                time + 3,
                Event::Slice {
                    correlation,
                    begin: time + 5,
                    end: time + 50,
                    device: 1,
                },
            );
        }
        out.resize(CHUNK_BYTES, 0);
        out
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(at) = to {
            self.at = at;
        }
        Ok(self.at)
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head_bytes = HEADER_BYTES as u64;
        let (page, offset) = if self.at < head_bytes {
            (head(1, CHUNK_BYTES), self.at)
        } else {
            let number = (self.at - head_bytes) / CHUNK_BYTES as u64;
            let offset = (self.at - head_bytes) % CHUNK_BYTES as u64;
            match number {
                0 => (self.strings.clone(), offset),
                number if number > self.chunks => return Ok(0),
                number => (self.page(number), offset),
            }
        };
        let left = &page[offset as usize..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.at += count as u64;
        Ok(count)
    }
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

/// A minimal version of Perfetto's reader: packets are taken from the stream one by one, and for every eighth the
/// generated types must consume all fields.
#[derive(Default)]
struct Reading {
    begun: Vec<u8>,
    packets: u64,
    tracks: HashMap<u64, i64>,
}

impl Reading {
    /// One packet with its length before it, if complete; and the bytes that it takes.
    fn packet(bytes: &[u8]) -> Option<(&[u8], usize)> {
        let (mut length, mut at) = (0usize, 1);
        assert_eq!(*bytes.first()?, 1 << 3 | 2, "field 1 of a trace");
        loop {
            let byte = *bytes.get(at)?;
            length |= usize::from(byte & 0x7F) << (7 * (at - 1));
            at += 1;
            if byte < 0x80 {
                return Some((bytes.get(at..at + length)?, at + length));
            }
        }
    }
}

impl Write for Reading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let mut at = 0;
        while let Some((packet, taken)) = Self::packet(&self.begun[at..]) {
            at += taken;
            self.packets += 1;
            if self.packets.is_multiple_of(8) {
                let packet = TracePacket::parse_from_bytes(packet).unwrap();
                nothing_unknown(&packet, "packet");
                if let Some(trace_packet::Data::TrackEvent(event)) = &packet.data {
                    nothing_unknown(event, "event");
                    *self.tracks.entry(event.track_uuid()).or_default() += 1;
                }
            }
        }
        self.begun.drain(..at);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The length: ten million.
const EVENTS: u64 = 10_000_000;

#[test]
fn ten_million_events_take_no_memory_and_perfettos_types_read_them() {
    let mut reading = Reading::default();
    let mut run = |chunks| {
        let mut open = vec![Recording::open(Endless::new(chunks)).unwrap()];
        let mut perfetto = Perfetto::new(&mut reading, 0, 0).unwrap();
        let mut chrome = Chrome::new(Counted::default(), 0).unwrap();
        let mut summing = Summing::new(0);
        let mut drawing = Picture::new();
        let listeners: &mut [&mut dyn Listener] =
            &mut [&mut perfetto, &mut chrome, &mut summing, &mut drawing];
        play::play(&mut open, &Filter::default(), listeners).unwrap();
        summing.finish(true, 0)
    };
    run(50);
    let before = peak();
    let chunks = EVENTS / Endless::PER_CHUNK;
    let summary = run(chunks);
    let grown = peak().saturating_sub(before);
    let commands = chunks * (Endless::PER_CHUNK / 4);
    assert_eq!(summary.kernels[0].count, commands);
    assert!(
        grown < 16 * 1024,
        "{grown} KiB more for {commands} commands"
    );
    // A begin and an end for each call and each piece of device work.
    assert!(reading.packets >= 4 * commands, "{}", reading.packets);
    assert!(reading.begun.is_empty(), "a packet was not finished");
    assert_eq!(reading.tracks.len(), 2, "one thread, one queue");
}
