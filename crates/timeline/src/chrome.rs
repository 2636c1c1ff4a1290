//! A timeline in Chrome's JSON format, which `chrome://tracing`, Perfetto and speedscope read; written event by event.
//!
//! Times are microseconds since the first process began. Calls are `B` and `E` events, so that a recording cut short shows
//! them as far as they are known; device work is `X`; arrows are `s` and `f`; levels are `C`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use crate::play::{
    Argument, Arguments, Call, Listener, SourceLocation, Submission, Track, TrackId,
};
use crate::report::{self, MAX_ANNOTATION, Report};

/// Writes the timeline to `out`.
pub struct Chrome<W> {
    out: Report<W>,
    zero: u64,
    first: bool,
    tracks: HashMap<TrackId, (u32, u32, String)>,
    /// Chrome knows processes and threads only: devices are processes with numbers beyond the system's.
    devices: u32,
}

/// Above every process number of Linux.
const DEVICE_BASE: u32 = 1 << 23;

impl<W: Write> Chrome<W> {
    /// Begins a file; `zero` is the time that becomes 0.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: W, zero: u64) -> io::Result<Self> {
        let mut out = Report::new(out);
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        Ok(Self {
            out,
            zero,
            first: true,
            tracks: HashMap::new(),
            devices: 0,
        })
    }

    fn head(
        &mut self,
        phase: char,
        track: TrackId,
        time: u64,
        name: &str,
        category: &str,
    ) -> io::Result<()> {
        let (process, thread) = self
            .tracks
            .get(&track)
            .map_or((0, 0), |(process, thread, _)| (*process, *thread));
        self.next()?;
        write!(
            self.out,
            "{{\"ph\":\"{phase}\",\"pid\":{process},\"tid\":{thread},\"ts\":"
        )?;
        self.micros(time.saturating_sub(self.zero))?;
        if !name.is_empty() {
            self.out.write_all(b",\"name\":")?;
            self.string(name)?;
        }
        if !category.is_empty() {
            write!(self.out, ",\"cat\":\"{category}\"")?;
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<()> {
        let separator: &[u8] = if self.first { b"\n" } else { b",\n" };
        self.first = false;
        self.out.write_all(separator)
    }

    fn micros(&mut self, nanos: u64) -> io::Result<()> {
        write!(self.out, "{}.{:03}", nanos / 1000, nanos % 1000)
    }

    fn string(&mut self, text: &str) -> io::Result<()> {
        Ok(serde_json::to_writer(&mut self.out, text)?)
    }

    fn arguments(
        &mut self,
        arguments: &Arguments<'_>,
        more: &[(&str, Argument<'_>)],
    ) -> io::Result<()> {
        self.out.write_all(b",\"args\":{")?;
        for (index, (key, value)) in more.iter().chain(arguments).enumerate() {
            if index > 0 {
                self.out.write_all(b",")?;
            }
            self.string(report::start(key, MAX_ANNOTATION))?;
            self.out.write_all(b":")?;
            match value {
                // Beyond 2^53 JavaScript loses digits.
                Argument::Unsigned(v) if *v < 1 << 53 => write!(self.out, "{v}")?,
                Argument::Unsigned(v) => write!(self.out, "\"{v}\"")?,
                Argument::Signed(v) => write!(self.out, "{v}")?,
                Argument::Float(v) if v.is_finite() => write!(self.out, "{v}")?,
                Argument::Float(v) => write!(self.out, "\"{v}\"")?,
                Argument::Boolean(v) => write!(self.out, "{v}")?,
                Argument::Text(text) => self.string(report::start(text, MAX_ANNOTATION))?,
                Argument::Address(v) => write!(self.out, "\"{v:#x}\"")?,
            }
        }
        self.out.write_all(b"}}")
    }

    fn name(&mut self, what: &str, process: u32, thread: u32, name: &str) -> io::Result<()> {
        self.next()?;
        write!(
            self.out,
            "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":"
        )?;
        self.string(name)?;
        self.out.write_all(b"}}")
    }
}

/// The task that a call or command belongs to, as arguments.
pub(crate) fn cause(uid: u64, place: Option<&str>) -> Vec<(&'static str, Argument<'_>)> {
    let mut all = Vec::new();
    if uid != 0 {
        all.push(("uid", Argument::Address(uid)));
    }
    if let Some(place) = place {
        all.push(("source", Argument::Text(place)));
    }
    all
}

impl<W: Write> Listener for Chrome<W> {
    fn track(&mut self, id: TrackId, track: &Track<'_>) -> io::Result<()> {
        let (process, thread, name) = match track {
            Track::Process { process, command } => {
                self.name("process_name", *process, 0, &command.join(" "))?;
                (*process, 0, String::new())
            }
            Track::Thread {
                process,
                thread,
                name,
            } => {
                self.name("thread_name", *process, *thread, name)?;
                (*process, *thread, String::new())
            }
            Track::Device { name } => {
                let process = DEVICE_BASE + self.devices;
                self.devices += 1;
                self.name("process_name", process, 0, name)?;
                (process, 0, String::new())
            }
            Track::Queue { device, number } => {
                let process = self.tracks.get(device).map_or(0, |device| device.0);
                let thread = *number as u32 + 1;
                self.name("thread_name", process, thread, &format!("queue {number}"))?;
                (process, thread, String::new())
            }
            Track::Counter { process, name, .. } => {
                let process = self.tracks.get(process).map_or(0, |process| process.0);
                (process, 0, (*name).to_owned())
            }
        };
        self.tracks.insert(id, (process, thread, name));
        Ok(())
    }

    fn begin(&mut self, call: &Call<'_>, arguments: &Arguments<'_>) -> io::Result<()> {
        self.head('B', call.track, call.begin, call.name, call.domain.name())?;
        let place = call.place.map(|place| place.to_string());
        self.arguments(arguments, &cause(call.uid, place.as_deref()))
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        result: Option<i64>,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        self.head('E', call.track, end, "", "")?;
        let result = result.map(|result| ("result", Argument::Signed(result)));
        self.arguments(arguments, result.as_slice())
    }

    fn mark(
        &mut self,
        track: TrackId,
        time: u64,
        name: &str,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        self.head('i', track, time, name, "mark")?;
        self.out.write_all(b",\"s\":\"t\"")?;
        self.arguments(arguments, &[])
    }

    fn submit(&mut self, submission: &Submission, _: &Arguments<'_>) -> io::Result<()> {
        self.head('s', submission.track, submission.time, "submit", "flow")?;
        write!(self.out, ",\"id\":{}}}", submission.flow)
    }

    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
    ) -> io::Result<()> {
        self.head('f', track, begin, "submit", "flow")?;
        write!(self.out, ",\"bp\":\"e\",\"id\":{}}}", submission.flow)?;
        self.head('X', track, begin, &submission.name, submission.work.name())?;
        self.out.write_all(b",\"dur\":")?;
        self.micros(end - begin)?;
        let place = place.map(|place| place.to_string());
        let mut more = cause(submission.uid, place.as_deref());
        if submission.bytes > 0 {
            more.push(("bytes", Argument::Unsigned(submission.bytes)));
        }
        self.arguments(&[], &more)
    }

    fn level(&mut self, track: TrackId, time: u64, value: u64) -> io::Result<()> {
        let name = self
            .tracks
            .get(&track)
            .map(|track| track.2.clone())
            .unwrap_or_default();
        self.head('C', track, time, &name, "")?;
        self.arguments(&[], &[("bytes", Argument::Unsigned(value))])
    }

    fn read(&mut self, bytes: u64) {
        self.out.read(bytes);
    }

    fn finish(&mut self, _: u64) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}
