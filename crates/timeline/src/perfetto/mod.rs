//! A timeline in Perfetto's protobuf format, for ui.perfetto.dev and its trace processor; written packet by packet.
//!
//! Times are those of CLOCK_MONOTONIC. Names are interned up to a bound, so that the writer's memory has one too; names
//! beyond it are written out.

pub mod proto;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};

use crate::chrome::cause;
use crate::play::{
    Argument, Arguments, Call, Listener, SourceLocation, Submission, Track, TrackId,
};
use crate::report::{self, MAX_ANNOTATION, Report};
use proto::*;

/// Names of one kind that are interned.
const MAX_NAMES: usize = 1 << 16;
/// The one sequence of packets.
const SEQUENCE: u32 = 1;

/// Writes the timeline to `out`.
pub struct Perfetto<W> {
    out: Report<W>,
    buffer: Vec<u8>,
    names: HashMap<String, u64>,
    keys: HashMap<String, u64>,
    fresh: InternedData,
    processes: HashMap<TrackId, u32>,
}

impl<W: Write> Perfetto<W> {
    /// Begins a file. `clock` and `calendar` are one moment on CLOCK_MONOTONIC and on the calendar.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: W, clock: u64, calendar: u64) -> io::Result<Self> {
        let mut perfetto = Self {
            out: Report::new(out),
            buffer: Vec::new(),
            names: HashMap::new(),
            keys: HashMap::new(),
            fresh: InternedData::default(),
            processes: HashMap::new(),
        };
        let reading = |id, timestamp| Clock {
            clock_id: Some(id),
            timestamp: Some(timestamp),
        };
        perfetto.packet(TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(SEQUENCE_CLEARED),
            data: Some(Data::ClockSnapshot(ClockSnapshot {
                // Readers use CLOCK_BOOTTIME; on a machine that never slept both clocks are equal.
                clocks: vec![
                    reading(CLOCK_MONOTONIC, clock),
                    reading(CLOCK_BOOTTIME, clock),
                    reading(CLOCK_REALTIME, calendar),
                ],
            })),
            ..TracePacket::default()
        })?;
        Ok(perfetto)
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        self.buffer.clear();
        let length = packet.encoded_len();
        encode_key(1, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(length as u64, &mut self.buffer);
        packet.encode_raw(&mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    fn event(&mut self, time: u64, event: TrackEvent) -> io::Result<()> {
        let fresh = std::mem::take(&mut self.fresh);
        let any = !fresh.event_names.is_empty() || !fresh.debug_annotation_names.is_empty();
        self.packet(TracePacket {
            timestamp: Some(time),
            timestamp_clock_id: Some(CLOCK_MONOTONIC),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(SEQUENCE_NEEDS_STATE),
            interned_data: any.then_some(fresh),
            data: Some(Data::TrackEvent(event)),
        })
    }

    /// An event of this kind with its name, interned if there is room.
    fn named(&mut self, kind: i32, track: TrackId, name: &str) -> TrackEvent {
        let mut event = TrackEvent {
            kind: Some(kind),
            track_uuid: Some(u64::from(track)),
            ..TrackEvent::default()
        };
        if let Some(known) = self.names.get(name) {
            event.name_iid = Some(*known);
        } else if self.names.len() < MAX_NAMES {
            let iid = self.names.len() as u64 + 1;
            self.names.insert(name.to_owned(), iid);
            self.fresh.event_names.push(Name {
                iid: Some(iid),
                name: Some(name.to_owned()),
            });
            event.name_iid = Some(iid);
        } else {
            event.name = Some(name.to_owned());
        }
        event
    }

    fn annotate(&mut self, event: &mut TrackEvent, arguments: &Arguments<'_>) {
        for (key, value) in arguments {
            let key = report::start(key, MAX_ANNOTATION);
            let iid = match self.keys.get(key) {
                Some(known) => *known,
                None if self.keys.len() < MAX_NAMES => {
                    let iid = self.keys.len() as u64 + 1;
                    self.keys.insert(key.to_owned(), iid);
                    self.fresh.debug_annotation_names.push(Name {
                        iid: Some(iid),
                        name: Some(key.to_owned()),
                    });
                    iid
                }
                None => continue,
            };
            let value = match *value {
                Argument::Unsigned(v) => Annotation::Uint(v),
                Argument::Signed(v) => Annotation::Int(v),
                Argument::Float(v) => Annotation::Double(v),
                Argument::Boolean(v) => Annotation::Bool(v),
                Argument::Text(text) => {
                    Annotation::String(report::start(text, MAX_ANNOTATION).to_owned())
                }
                Argument::Address(v) => Annotation::Pointer(v),
            };
            event.debug_annotations.push(DebugAnnotation {
                name_iid: Some(iid),
                value: Some(value),
            });
        }
    }

    fn descriptor(&mut self, id: TrackId, descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            data: Some(Data::TrackDescriptor(TrackDescriptor {
                uuid: Some(u64::from(id)),
                ..descriptor
            })),
            ..TracePacket::default()
        })
    }
}

impl<W: Write> Listener for Perfetto<W> {
    fn track(&mut self, id: TrackId, track: &Track<'_>) -> io::Result<()> {
        let mut descriptor = TrackDescriptor::default();
        match track {
            Track::Process { process, command } => {
                self.processes.insert(id, *process);
                let name = command.first().map(|program| {
                    let name = program.rsplit('/').next();
                    name.unwrap_or(program).to_owned()
                });
                descriptor.process = Some(ProcessDescriptor {
                    pid: Some(*process as i32),
                    cmdline: command.to_vec(),
                    process_name: name,
                });
            }
            Track::Thread {
                process,
                thread,
                name,
            } => {
                let mut parents = self.processes.iter();
                descriptor.parent_uuid = parents
                    .find(|(_, number)| *number == process)
                    .map(|(track, _)| u64::from(*track));
                descriptor.thread = Some(ThreadDescriptor {
                    pid: Some(*process as i32),
                    tid: Some(*thread as i32),
                    thread_name: Some((*name).to_owned()),
                });
            }
            Track::Device { name } => descriptor.name = Some((*name).to_owned()),
            Track::Queue { device, number } => {
                descriptor.parent_uuid = Some(u64::from(*device));
                descriptor.name = Some(format!("queue {number}"));
            }
            Track::Counter { process, name, .. } => {
                descriptor.parent_uuid = Some(u64::from(*process));
                descriptor.name = Some((*name).to_owned());
                descriptor.counter = Some(CounterDescriptor {
                    unit: Some(UNIT_BYTES),
                });
            }
        }
        self.descriptor(id, descriptor)
    }

    fn begin(&mut self, call: &Call<'_>, arguments: &Arguments<'_>) -> io::Result<()> {
        let mut event = self.named(TYPE_SLICE_BEGIN, call.track, call.name);
        event.categories.push(call.domain.name().to_owned());
        let place = call.place.map(|place| place.to_string());
        self.annotate(&mut event, &cause(call.uid, place.as_deref()));
        self.annotate(&mut event, arguments);
        self.event(call.begin, event)
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        result: Option<i64>,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        let mut event = TrackEvent {
            kind: Some(TYPE_SLICE_END),
            track_uuid: Some(u64::from(call.track)),
            ..TrackEvent::default()
        };
        let result = result.map(|result| ("result", Argument::Signed(result)));
        self.annotate(&mut event, result.as_slice());
        self.annotate(&mut event, arguments);
        self.event(end, event)
    }

    fn mark(
        &mut self,
        track: TrackId,
        time: u64,
        name: &str,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        let mut event = self.named(TYPE_INSTANT, track, name);
        self.annotate(&mut event, arguments);
        self.event(time, event)
    }

    fn submit(&mut self, submission: &Submission, arguments: &Arguments<'_>) -> io::Result<()> {
        // An arrow needs something on the thread to leave from.
        let mut event = self.named(TYPE_INSTANT, submission.track, "submit");
        event.flow_ids.push(submission.flow);
        self.annotate(&mut event, &[("command", Argument::Text(&submission.name))]);
        self.annotate(&mut event, arguments);
        self.event(submission.time, event)
    }

    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
    ) -> io::Result<()> {
        let mut event = self.named(TYPE_SLICE_BEGIN, track, &submission.name);
        event.categories.push(submission.work.name().to_owned());
        event.terminating_flow_ids.push(submission.flow);
        let place = place.map(|place| place.to_string());
        self.annotate(&mut event, &cause(submission.uid, place.as_deref()));
        if submission.bytes > 0 {
            self.annotate(
                &mut event,
                &[("bytes", Argument::Unsigned(submission.bytes))],
            );
        }
        self.event(begin, event)?;
        let event = TrackEvent {
            kind: Some(TYPE_SLICE_END),
            track_uuid: Some(u64::from(track)),
            ..TrackEvent::default()
        };
        self.event(end, event)
    }

    fn level(&mut self, track: TrackId, time: u64, value: u64) -> io::Result<()> {
        let event = TrackEvent {
            kind: Some(TYPE_COUNTER),
            track_uuid: Some(u64::from(track)),
            counter_value: Some(value.min(i64::MAX as u64).cast_signed()),
            ..TrackEvent::default()
        };
        self.event(time, event)
    }

    fn read(&mut self, bytes: u64) {
        self.out.read(bytes);
    }

    fn finish(&mut self, _: u64) -> io::Result<()> {
        self.out.flush()
    }
}
