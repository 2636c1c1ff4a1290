//! The part of Perfetto's trace format that we write, with its field numbers.
//!
//! Declared by hand after `protos/perfetto/trace`: packets of track events, their tracks, and interned names. Unknown
//! fields are skipped by readers, so a subset is a valid trace.

use prost::{Message, Oneof};

/// The whole file: packets, one after the other.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// In any order of time.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One packet.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds of the clock that `timestamp_clock_id` names.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The writer: interned names belong to one sequence.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Names that later packets use.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// [`SEQUENCE_CLEARED`], [`SEQUENCE_NEEDS_STATE`].
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// A built-in clock.
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
    /// The content.
    #[prost(oneof = "Data", tags = "6, 11, 60")]
    pub data: Option<Data>,
}

/// Content of a packet.
#[derive(Clone, PartialEq, Oneof)]
pub enum Data {
    /// Clocks that were read at once.
    #[prost(message, tag = "6")]
    ClockSnapshot(ClockSnapshot),
    /// Something on a track.
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    /// A track.
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// In [`TracePacket::sequence_flags`]: interned names are reset.
pub const SEQUENCE_CLEARED: u32 = 1;
/// In [`TracePacket::sequence_flags`]: the packet uses interned names.
pub const SEQUENCE_NEEDS_STATE: u32 = 2;
/// The built-in clock CLOCK_REALTIME.
pub const CLOCK_REALTIME: u32 = 1;
/// The built-in clock CLOCK_MONOTONIC.
pub const CLOCK_MONOTONIC: u32 = 3;
/// The built-in clock CLOCK_BOOTTIME, the default of traces.
pub const CLOCK_BOOTTIME: u32 = 6;

/// Clocks that were read at once.
#[derive(Clone, PartialEq, Message)]
pub struct ClockSnapshot {
    /// Readings.
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
}

/// A reading.
#[derive(Clone, PartialEq, Message)]
pub struct Clock {
    /// Which clock.
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
}

/// Something on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// More about it.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// [`TYPE_SLICE_BEGIN`] and its siblings.
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// An interned name.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Categories as they are.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// A literal name.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// A level.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Arrows that pass here.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// A slice begins.
pub const TYPE_SLICE_BEGIN: i32 = 1;
/// The innermost slice of the track ends.
pub const TYPE_SLICE_END: i32 = 2;
/// A mark.
pub const TYPE_INSTANT: i32 = 3;
/// A level.
pub const TYPE_COUNTER: i32 = 4;

/// A named value.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// Its name, interned.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// Its value.
    #[prost(oneof = "Annotation", tags = "2, 3, 4, 5, 6, 7")]
    pub value: Option<Annotation>,
}

/// Value of a [`DebugAnnotation`].
#[derive(Clone, PartialEq, Oneof)]
pub enum Annotation {
    /// Yes or no.
    #[prost(bool, tag = "2")]
    Bool(bool),
    /// A number without sign.
    #[prost(uint64, tag = "3")]
    Uint(u64),
    /// A number with sign.
    #[prost(int64, tag = "4")]
    Int(i64),
    /// A floating-point number.
    #[prost(double, tag = "5")]
    Double(f64),
    /// Text.
    #[prost(string, tag = "6")]
    String(String),
    /// An address, shown in hexadecimal.
    #[prost(uint64, tag = "7")]
    Pointer(u64),
}

/// Names by number.
#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Name>,
    /// Names of annotations.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<Name>,
}

/// An interned name.
#[derive(Clone, PartialEq, Message)]
pub struct Name {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name, unless it is a process or thread.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// It is a process.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// It is a thread.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// The track that it belongs to.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// It is a level.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    /// The system's number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its command line.
    #[prost(string, repeated, tag = "2")]
    pub cmdline: Vec<String>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, Message)]
pub struct ThreadDescriptor {
    /// The process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// The system's number.
    #[prost(int32, optional, tag = "2")]
    pub tid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A level that changes with time.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// [`UNIT_BYTES`].
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// Bytes, in [`CounterDescriptor`].
pub const UNIT_BYTES: i32 = 3;
