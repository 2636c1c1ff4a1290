//! The events that a player passes to listeners: calls, submissions, slices of work, nodes and levels.

use std::io;
use std::sync::Arc;

use serde::Serializer;

use crate::record::{Domain, Work};

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
pub struct SourceLocation {
    /// Function or label.
    pub function: Arc<str>,
    /// File; empty when unknown.
    pub file: Arc<str>,
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub column: u32,
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => f.write_str(&self.function),
            (false, 0) => write!(f, "{} ({})", self.file, self.function),
            (false, line) => write!(f, "{}:{line} ({})", self.file, self.function),
        }
    }
}

impl SourceLocation {
    /// A name instead of a location.
    #[must_use]
    pub fn named(name: Arc<str>) -> Self {
        Self {
            function: name,
            ..Self::default()
        }
    }

    /// Equal for locations that are displayed alike.
    #[must_use]
    pub(crate) fn line(&self) -> Self {
        Self {
            line: if self.file.is_empty() { 0 } else { self.line },
            column: 0,
            ..self.clone()
        }
    }

    /// Written as it is displayed.
    pub(crate) fn as_text<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }

    /// Compares the displayed text, well enough for tables: file, line, function.
    pub(crate) fn in_order_of_text(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (self, other);
        (&*a.file, a.line, &*a.function).cmp(&(&*b.file, b.line, &*b.function))
    }
}

/// Number of a track.
pub type TrackId = u32;

/// The subject of a track.
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
        /// The counted quantity.
        name: &'a str,
        /// Its unit.
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
    pub name: &'a Arc<str>,
    /// Begin.
    pub begin: u64,
    /// XPTI's universal id of the location that it works for, 0 when none.
    pub uid: u64,
    /// The SYCL command that it works for, 0 when none.
    pub instance: u64,
    /// That location.
    pub place: Option<&'a Arc<SourceLocation>>,
}

/// A command submitted to a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The process's index among the recordings.
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
    pub name: Arc<str>,
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
    /// Hash of the copied contents, if they could be read.
    pub content: Option<u64>,
    /// Destination of copies and fills.
    pub destination: u64,
}

/// A node of the task graph.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The process's index among the recordings.
    pub recording: usize,
    /// When it joined.
    pub time: u64,
    /// Kernel or kind.
    pub name: &'a Arc<str>,
    /// XPTI's name of it.
    pub kind: &'a Arc<str>,
    /// Its location's id.
    pub uid: u64,
    /// This command.
    pub instance: u64,
    /// Its location.
    pub place: &'a Arc<SourceLocation>,
    /// More.
    pub arguments: &'a Arguments<'a>,
}

/// A live allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The layer that reported it.
    pub domain: Domain,
    /// Kind of memory.
    pub kind: Arc<str>,
    /// Address or handle.
    pub pointer: u64,
    /// Size.
    pub bytes: u64,
    /// When.
    pub time: u64,
    /// Its location, if known.
    pub place: Option<Arc<SourceLocation>>,
}

/// Receives the events. Each function may fail when it writes.
#[expect(unused_variables, reason = "listeners implement only some of them")]
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
    /// A command was submitted to a device.
    fn submit(&mut self, submission: &Submission, arguments: &Arguments<'_>) -> io::Result<()> {
        Ok(())
    }
    /// A device worked from `begin` to `end`.
    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
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
    /// This many more bytes of the recordings were read: reports may grow with them.
    fn read(&mut self, bytes: u64) {}
    /// This many records exceeded a bound of the player and were not reported.
    fn left_out(&mut self, records: u64) {}
    /// The end; `time` is that of the last record.
    fn finish(&mut self, time: u64) -> io::Result<()> {
        Ok(())
    }
}
