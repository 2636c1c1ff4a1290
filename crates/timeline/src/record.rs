//! Records: one event of a traced program, and its bytes.
//!
//! A record is a whole number of 8-byte words. The first holds the length in bytes (low 32 bits), the kind and the
//! number of fields and attributes (one byte each, then one byte of detail); the second the time in nanoseconds of the
//! recording's clock; the third the name (a string's number). Fields and attributes (two words each) follow. A length
//! of zero ends a chunk, so a writer publishes a record by storing its first word last.

use std::sync::atomic::{Ordering, fence};

/// A string's number in its recording; 0 is "none".
pub type Text = u32;

/// Most attributes of one record.
pub const MAX_ATTRIBUTES: usize = 32;
/// Most fields of one record.
pub const MAX_FIELDS: usize = 8;
/// Words of the longest record.
pub const MAX_WORDS: usize = 3 + MAX_FIELDS + 2 * MAX_ATTRIBUTES;

/// Which interface a call on the host belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Domain {
    /// Level Zero entry points.
    LevelZero = 1,
    /// Unified Runtime entry points, as DPC++ announces them.
    UnifiedRuntime = 2,
    /// SYCL commands being enqueued.
    Sycl = 3,
    /// SYCL waits.
    Wait = 4,
    /// SYCL allocations and releases.
    Memory = 5,
}

impl Domain {
    /// Every domain.
    pub const ALL: [Domain; 5] = [
        Domain::LevelZero,
        Domain::UnifiedRuntime,
        Domain::Sycl,
        Domain::Wait,
        Domain::Memory,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| *domain as u8 == byte)
    }

    /// A short name: the category in timelines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Domain::LevelZero => "level-zero",
            Domain::UnifiedRuntime => "ur",
            Domain::Sycl => "sycl",
            Domain::Wait => "wait",
            Domain::Memory => "memory",
        }
    }
}

/// The work of a submitted command on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Work {
    /// Runs a kernel.
    Kernel = 1,
    /// Copies memory.
    Copy = 2,
    /// Fills memory.
    Fill = 3,
    /// Waits and signals only.
    Barrier = 4,
    /// Anything else.
    Other = 5,
}

impl Work {
    const ALL: [Work; 5] = [
        Work::Kernel,
        Work::Copy,
        Work::Fill,
        Work::Barrier,
        Work::Other,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|work| *work as u8 == byte)
    }

    /// A short name: the category in timelines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Work::Kernel => "kernel",
            Work::Copy => "copy",
            Work::Fill => "fill",
            Work::Barrier => "barrier",
            Work::Other => "other",
        }
    }
}

/// One event. Numbers named `uid` are XPTI's universal ids of a source location (0: none); `instance` numbers one visit
/// of it; `correlation` links a submission to its execution and is unique in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From here on this lane belongs to thread `tid`.
    Thread {
        /// The thread's number, as the system counts.
        tid: u32,
        /// Its name.
        name: Text,
    },
    /// A call or a phase begins on this thread; calls nest.
    Begin {
        /// Whose call.
        domain: Domain,
        /// The function or label.
        name: Text,
        /// The source location on whose behalf.
        uid: u64,
        /// Which command on whose behalf, 0 when unknown.
        instance: u64,
    },
    /// The innermost open call of this domain ends.
    End {
        /// Whose call.
        domain: Domain,
        /// Its result; [`NO_RESULT`] if it is not known.
        result: i64,
    },
    /// A command joins the task graph.
    Node {
        /// Its label: kernel name, or kind of transfer.
        name: Text,
        /// XPTI's name of its kind (`command_group_node`).
        kind: Text,
        /// Its source location.
        uid: u64,
        /// This command.
        instance: u64,
        /// Function at the location.
        function: Text,
        /// File of the location.
        file: Text,
        /// Line, 0 when unknown.
        line: u32,
        /// Column, 0 when unknown.
        column: u32,
    },
    /// Command `target` depends on `source`; both are uids of locations, of which the newest node is meant.
    Edge {
        /// Why.
        name: Text,
        /// Uid of the earlier command.
        source: u64,
        /// Uid of the later command.
        target: u64,
    },
    /// Memory was allocated.
    Allocate {
        /// The source: [`Domain::Memory`] for SYCL, [`Domain::LevelZero`] for the driver.
        domain: Domain,
        /// Kind of memory (`device`, `shared`, `host`, `buffer`).
        kind: Text,
        /// Address or handle.
        pointer: u64,
        /// Size.
        bytes: u64,
        /// The source location on whose behalf.
        uid: u64,
    },
    /// Memory was released.
    Release {
        /// As in [`Event::Allocate`].
        domain: Domain,
        /// The address of the [`Event::Allocate`].
        pointer: u64,
    },
    /// A command was submitted to a device; its end, if known, follows as [`Event::Slice`].
    Submit {
        /// Kind of command.
        work: Work,
        /// Kernel or kind of copy.
        name: Text,
        /// Ties it to slices.
        correlation: u64,
        /// The source location on whose behalf.
        uid: u64,
        /// The SYCL command on whose behalf, 0 when unknown.
        instance: u64,
        /// The queue or immediate list.
        queue: u64,
        /// Bytes moved, 0 when none.
        bytes: u64,
    },
    /// A device worked on a submitted command.
    Slice {
        /// Which submission.
        correlation: u64,
        /// Begin, on the recording's clock.
        begin: u64,
        /// End, on the recording's clock.
        end: u64,
        /// The device, as [`Event::Device`] names it.
        device: u64,
    },
    /// A device that is known from here on.
    Device {
        /// Its number in this recording.
        device: u64,
        /// Its name.
        name: Text,
    },
    /// A queue was created or destroyed.
    Queue {
        /// Handle.
        queue: u64,
        /// Whether it was created.
        made: bool,
        /// Its device, 0 when unknown.
        device: u64,
    },
    /// Something worth a mark on the thread's track.
    Mark {
        /// The text.
        name: Text,
        /// On whose behalf.
        uid: u64,
    },
    /// A source location that is not a command's: uid and location.
    Place {
        /// Its id.
        uid: u64,
        /// Function at the location.
        function: Text,
        /// File of the location.
        file: Text,
        /// Line, 0 when unknown.
        line: u32,
        /// Column, 0 when unknown.
        column: u32,
    },
    /// A submission waits for an earlier one's event.
    Depends {
        /// Correlation of the waiting command.
        later: u64,
        /// Correlation of the command that it waits for.
        earlier: u64,
    },
    /// A device's clock was read together with the recording's.
    Clock {
        /// The device.
        device: u64,
        /// The recording's clock.
        host: u64,
        /// The device's ticks.
        ticks: u64,
    },
}

/// In [`Event::End`]: the call's result is not known.
pub const NO_RESULT: i64 = i64::MIN;

/// A value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number without sign.
    Unsigned(u64),
    /// A number with sign.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// Yes or no.
    Boolean(bool),
    /// A string of the recording.
    Text(Text),
    /// An address or handle: printed in hexadecimal.
    Address(u64),
}

/// A named value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub key: Text,
    /// Its value.
    pub value: Value,
}

impl Attribute {
    fn words(self) -> [u64; 2] {
        let (kind, word) = match self.value {
            Value::Unsigned(v) => (0u64, v),
            Value::Signed(v) => (1, v as u64),
            Value::Float(v) => (2, v.to_bits()),
            Value::Boolean(v) => (3, u64::from(v)),
            Value::Text(v) => (4, u64::from(v)),
            Value::Address(v) => (5, v),
        };
        [u64::from(self.key) | kind << 32, word]
    }

    fn from_words(head: u64, word: u64) -> Option<Self> {
        let value = match head >> 32 {
            0 => Value::Unsigned(word),
            1 => Value::Signed(word as i64),
            2 => Value::Float(f64::from_bits(word)),
            3 => Value::Boolean(word != 0),
            4 => Value::Text(word as u32),
            5 => Value::Address(word),
            _ => return None,
        };
        Some(Self {
            key: head as u32,
            value,
        })
    }
}

/// An event with its time and attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Nanoseconds of the recording's clock.
    pub time: u64,
    /// The event.
    pub event: Event,
    /// More about it.
    pub attributes: Vec<Attribute>,
}

impl Record {
    /// Its length in a recording.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let fields = match self.event {
            Event::Thread { .. }
            | Event::End { .. }
            | Event::Release { .. }
            | Event::Device { .. }
            | Event::Mark { .. } => 1,
            Event::Begin { .. }
            | Event::Edge { .. }
            | Event::Queue { .. }
            | Event::Depends { .. } => 2,
            Event::Allocate { .. } | Event::Clock { .. } | Event::Place { .. } => 3,
            Event::Slice { .. } => 4,
            Event::Node { .. } | Event::Submit { .. } => 5,
        };
        8 * (3 + fields + 2 * self.attributes.len())
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The length is not a multiple of 8, is below the head's or exceeds the available bytes.
    #[error("a record of {length} bytes where {available} are left")]
    Length {
        /// As found.
        length: usize,
        /// Bytes left.
        available: usize,
    },
    /// A kind or detail that no writer of this version writes, or too few fields for it.
    #[error("a record of kind {kind}, detail {detail}, with {fields} fields")]
    Kind {
        /// As found.
        kind: u8,
        /// As found.
        detail: u8,
        /// As found.
        fields: u8,
    },
    /// More attributes than any writer of this version writes.
    #[error("a record with {count} attributes; at most {MAX_ATTRIBUTES} are allowed")]
    Attributes {
        /// As found.
        count: u8,
    },
    /// An attribute of an unknown type.
    #[error("an attribute of an unknown type")]
    Attribute,
}

const fn high_low(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Writes the record's words to the start of `out` and returns their number. Attributes beyond [`MAX_ATTRIBUTES`] are
/// left out.
#[must_use]
pub fn encode(
    time: u64,
    event: &Event,
    attributes: &[Attribute],
    out: &mut [u64; MAX_WORDS],
) -> usize {
    let mut detail = 0u8;
    let (kind, name, fields): (u8, Text, &[u64]) = match *event {
        Event::Thread { tid, name } => (1, name, &[tid as u64]),
        Event::Begin {
            domain,
            name,
            uid,
            instance,
        } => {
            detail = domain as u8;
            (2, name, &[uid, instance])
        }
        Event::End { domain, result } => {
            detail = domain as u8;
            (3, 0, &[result as u64])
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
        } => (
            4,
            name,
            &[
                uid,
                instance,
                high_low(kind, function),
                u64::from(file),
                high_low(line, column),
            ],
        ),
        Event::Edge {
            name,
            source,
            target,
        } => (5, name, &[source, target]),
        Event::Allocate {
            domain,
            kind,
            pointer,
            bytes,
            uid,
        } => {
            detail = domain as u8;
            (6, kind, &[pointer, bytes, uid])
        }
        Event::Release { domain, pointer } => {
            detail = domain as u8;
            (7, 0, &[pointer])
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
            detail = work as u8;
            (8, name, &[correlation, uid, instance, queue, bytes])
        }
        Event::Slice {
            correlation,
            begin,
            end,
            device,
        } => (9, 0, &[correlation, begin, end, device]),
        Event::Device { device, name } => (10, name, &[device]),
        Event::Queue {
            queue,
            made,
            device,
        } => {
            detail = u8::from(made);
            (11, 0, &[queue, device])
        }
        Event::Mark { name, uid } => (12, name, &[uid]),
        Event::Clock {
            device,
            host,
            ticks,
        } => (13, 0, &[device, host, ticks]),
        Event::Depends { later, earlier } => (14, 0, &[later, earlier]),
        Event::Place {
            uid,
            function,
            file,
            line,
            column,
        } => (
            15,
            function,
            &[uid, u64::from(file), high_low(line, column)],
        ),
    };
    let attributes = &attributes[..attributes.len().min(MAX_ATTRIBUTES)];
    let words = 3 + fields.len() + 2 * attributes.len();
    out[1] = time;
    out[2] = u64::from(name);
    out[3..3 + fields.len()].copy_from_slice(fields);
    for (place, attribute) in out[3 + fields.len()..words]
        .chunks_exact_mut(2)
        .zip(attributes)
    {
        place.copy_from_slice(&attribute.words());
    }
    // The first word is stored last, because it makes the record visible to readers of the file, even after a kill.
    fence(Ordering::Release);
    out[0] = (words as u64 * 8)
        | (u64::from(kind) << 32)
        | ((fields.len() as u64) << 40)
        | ((attributes.len() as u64) << 48)
        | (u64::from(detail) << 56);
    words
}

/// Reads the record at the start of `words`, and returns it with the number of words that it takes. `None` is the end
/// of the chunk.
///
/// # Errors
/// Invalid bytes; nothing after them in the chunk can be trusted.
pub fn decode(words: &[u64]) -> Result<Option<(Record, usize)>, Damage> {
    let Some(&head) = words.first() else {
        return Ok(None);
    };
    let length = head as u32 as usize;
    if length == 0 {
        return Ok(None);
    }
    let (kind, fields) = ((head >> 32) as u8, (head >> 40) as u8);
    let (attributes, detail) = ((head >> 48) as u8, (head >> 56) as u8);
    let count = length / 8;
    if !length.is_multiple_of(8)
        || count > words.len()
        || count != 3 + usize::from(fields) + 2 * usize::from(attributes)
    {
        return Err(Damage::Length {
            length,
            available: words.len() * 8,
        });
    }
    if usize::from(attributes) > MAX_ATTRIBUTES {
        return Err(Damage::Attributes { count: attributes });
    }
    let name = words[2] as Text;
    let wrong = Damage::Kind {
        kind,
        detail,
        fields,
    };
    let given = &words[3..3 + usize::from(fields)];
    let event = match (kind, given) {
        (1, &[tid]) => Event::Thread {
            tid: tid as u32,
            name,
        },
        (2, &[uid, instance]) => Event::Begin {
            domain: Domain::from_byte(detail).ok_or(wrong)?,
            name,
            uid,
            instance,
        },
        (3, &[result]) => Event::End {
            domain: Domain::from_byte(detail).ok_or(wrong)?,
            result: result as i64,
        },
        (4, &[uid, instance, kind_function, file, line_column]) => Event::Node {
            name,
            kind: (kind_function >> 32) as u32,
            uid,
            instance,
            function: kind_function as u32,
            file: file as u32,
            line: (line_column >> 32) as u32,
            column: line_column as u32,
        },
        (5, &[source, target]) => Event::Edge {
            name,
            source,
            target,
        },
        (6, &[pointer, bytes, uid]) => Event::Allocate {
            domain: Domain::from_byte(detail).ok_or(wrong)?,
            kind: name,
            pointer,
            bytes,
            uid,
        },
        (7, &[pointer]) => Event::Release {
            domain: Domain::from_byte(detail).ok_or(wrong)?,
            pointer,
        },
        (8, &[correlation, uid, instance, queue, bytes]) => Event::Submit {
            work: Work::from_byte(detail).ok_or(wrong)?,
            name,
            correlation,
            uid,
            instance,
            queue,
            bytes,
        },
        (9, &[correlation, begin, end, device]) => Event::Slice {
            correlation,
            begin,
            end,
            device,
        },
        (10, &[device]) => Event::Device { device, name },
        (11, &[queue, device]) => Event::Queue {
            queue,
            made: detail != 0,
            device,
        },
        (12, &[uid]) => Event::Mark { name, uid },
        (13, &[device, host, ticks]) => Event::Clock {
            device,
            host,
            ticks,
        },
        (14, &[later, earlier]) => Event::Depends { later, earlier },
        (15, &[uid, file, line_column]) => Event::Place {
            uid,
            function: name,
            file: file as u32,
            line: (line_column >> 32) as u32,
            column: line_column as u32,
        },
        _ => return Err(wrong),
    };
    let attributes = words[3 + usize::from(fields)..count]
        .chunks_exact(2)
        .map(|pair| Attribute::from_words(pair[0], pair[1]).ok_or(Damage::Attribute))
        .collect::<Result<_, _>>()?;
    Ok(Some((
        Record {
            time: words[1],
            event,
            attributes,
        },
        count,
    )))
}
