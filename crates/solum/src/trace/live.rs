//! `solum trace --live`: a line on stderr for each piece of work that a device has done, while the program runs.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use timeline::file::{MERGE_BYTES, Origin, Recording};
use timeline::filter::Filter;
use timeline::play::{Argument, Arguments, Call, Listener, Place, Player, Submission, TrackId};
use timeline::summary;

use super::Results;
use crate::say;

/// How often the recordings are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Letters of a name or place that are shown: a recording may hold 16 KiB of each.
const MOST_LETTERS: usize = 256;

/// A recorded text as one line shows it.
fn named(text: &str) -> String {
    let end = text.char_indices().nth(MOST_LETTERS);
    match end {
        Some((end, _)) => format!("{}…", say::shown(&text[..end])),
        None => say::shown(text).into_owned(),
    }
}

/// Prints what it hears.
#[derive(Default)]
struct Printing {
    zero: Option<u64>,
}

impl Printing {
    fn line(&mut self, time: u64, text: &str) -> io::Result<()> {
        let zero = *self.zero.get_or_insert(time);
        let since = time.saturating_sub(zero) as f64 / 1e9;
        say::remark(&format!("[{since:10.6}] {text}"));
        Ok(())
    }
}

impl Listener for Printing {
    fn slice(
        &mut self,
        _: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<Place>>,
    ) -> io::Result<()> {
        let bytes = match submission.bytes {
            0 => String::new(),
            bytes => format!(", {}", summary::size(bytes)),
        };
        let place = place.map(|place| format!("  {}", named(&place.to_string())));
        let place = place.unwrap_or_default();
        let took = summary::time(end - begin);
        self.line(
            begin,
            &format!("{} {took}{bytes}{place}", named(&submission.name)),
        )
    }

    fn mark(&mut self, _: TrackId, time: u64, name: &str, _: &Arguments<'_>) -> io::Result<()> {
        self.line(time, &named(name))
    }

    fn begin(&mut self, call: &Call<'_>, _: &Arguments<'_>) -> io::Result<()> {
        self.zero.get_or_insert(call.begin);
        Ok(())
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        result: Option<i64>,
        arguments: &Arguments<'_>,
    ) -> io::Result<()> {
        // Waiting for something that is not over is no failure: ZE_RESULT_NOT_READY.
        let Some(result) = result.filter(|result| !matches!(result, 0 | 1)) else {
            return Ok(());
        };
        let given: Vec<String> = arguments
            .iter()
            .map(|(name, value)| match value {
                Argument::Unsigned(v) => format!("{name}={v}"),
                Argument::Signed(v) => format!("{name}={v}"),
                Argument::Float(v) => format!("{name}={v}"),
                Argument::Boolean(v) => format!("{name}={v}"),
                Argument::Text(v) => format!("{name}={}", named(v)),
                Argument::Address(v) => format!("{name}={v:#x}"),
            })
            .collect();
        self.line(
            end,
            &format!("{}({}) = {result:#x}", named(call.name), given.join(", ")),
        )
    }
}

/// Follows the recordings until `over` is set, and once more then.
pub(crate) fn follow(results: &Results, filter: &Filter, over: &AtomicBool) -> io::Result<()> {
    let mut printing = Printing::default();
    let listeners: &mut [&mut dyn Listener] = &mut [&mut printing];
    let mut player = Player::new(filter, listeners);
    let mut open: Vec<Recording<BufReader<File>>> = Vec::new();
    let mut known: HashSet<OsString> = HashSet::new();
    loop {
        let last = over.load(Ordering::Acquire);
        for name in results.recordings()? {
            // One that is just being made has no header yet and is opened next time.
            if !known.contains(&name)
                && let Ok(recording) = super::recording(&results.folder, &name)
            {
                player.process(&recording).map_err(io::Error::other)?;
                open.push(recording);
                known.insert(name);
            }
        }
        for (number, recording) in open.iter_mut().enumerate() {
            loop {
                let mut bytes = 0;
                for (thread, record) in recording.fresh().map_err(io::Error::other)? {
                    bytes += record.bytes();
                    let origin = Origin {
                        recording: number,
                        thread,
                    };
                    player
                        .record(recording, origin, &record)
                        .map_err(io::Error::other)?;
                }
                if bytes < MERGE_BYTES {
                    break;
                }
            }
        }
        if last {
            return Ok(());
        }
        std::thread::park_timeout(PAUSE);
    }
}
