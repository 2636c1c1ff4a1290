//! `solum trace --live`: prints a line to stderr for each device command and each failed call while the program runs.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use timeline::file::{MERGE_BYTES, Origin, Recording};
use timeline::filter::Filter;
use timeline::play::{
    Argument, Arguments, Call, Listener, Player, SourceLocation, Submission, TrackId,
};
use timeline::summary;

use super::results::{self, Results};
use crate::output;

/// The time between two looks at the recordings.
const PAUSE: Duration = Duration::from_millis(200);

/// Characters shown of a name or source location; a recording may hold 16 KiB of each.
const MOST_LETTERS: usize = 256;

/// Characters shown of a line; a failed call has up to 32 arguments.
const MOST_OF_LINE: usize = 2048;

/// Bytes shown of one run, about 600,000 lines. The limit keeps a forged recording from filling a disk with log.
const MOST_SHOWN: usize = 64 << 20;

/// The first `letters` characters of a text, with an ellipsis if it is longer.
fn cut(text: &str, letters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(letters) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A recorded name, shortened and escaped.
fn named(text: &str) -> String {
    output::escape(&cut(text, MOST_LETTERS)).into_owned()
}

/// Prints events as they are read.
struct Printing<P> {
    zero: Option<u64>,
    left: usize,
    print: P,
}

impl<P: FnMut(&str)> Printing<P> {
    fn new(print: P) -> Self {
        Self {
            zero: None,
            left: MOST_SHOWN,
            print,
        }
    }

    fn line(&mut self, time: u64, text: &str) -> io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let zero = *self.zero.get_or_insert(time);
        let since = time.saturating_sub(zero) as f64 / 1e9;
        let line = format!("[{since:10.6}] {}", cut(text, MOST_OF_LINE));
        self.left = self.left.saturating_sub(line.len() + 1);
        if self.left == 0 {
            (self.print)("--live stops here: the rest is in the recording");
        } else {
            (self.print)(&line);
        }
        Ok(())
    }
}

impl<P: FnMut(&str)> Listener for Printing<P> {
    fn slice(
        &mut self,
        _: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
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
        // 1 is ZE_RESULT_NOT_READY: a wait or query that timed out, not a failure.
        let Some(result) = result.filter(|result| !matches!(result, 0 | 1)) else {
            return Ok(());
        };
        let given: Vec<String> = arguments
            .iter()
            .map(|(name, value)| {
                let name = named(name);
                match value {
                    Argument::Unsigned(v) => format!("{name}={v}"),
                    Argument::Signed(v) => format!("{name}={v}"),
                    Argument::Float(v) => format!("{name}={v}"),
                    Argument::Boolean(v) => format!("{name}={v}"),
                    Argument::Text(v) => format!("{name}={}", named(v)),
                    Argument::Address(v) => format!("{name}={v:#x}"),
                }
            })
            .collect();
        self.line(
            end,
            &format!("{}({}) = {result:#x}", named(call.name), given.join(", ")),
        )
    }
}

/// Follows the recordings until `over` is set, then reads the rest.
pub(crate) fn follow(results: &Results, filter: &Filter, over: &AtomicBool) -> io::Result<()> {
    let mut printing = Printing::new(output::message);
    let listeners: &mut [&mut dyn Listener] = &mut [&mut printing];
    let mut player = Player::new(filter, listeners);
    let mut open: Vec<Recording<BufReader<File>>> = Vec::new();
    let mut known: HashSet<OsString> = HashSet::new();
    loop {
        let last = over.load(Ordering::Acquire);
        for name in results.recordings()? {
            // A recording that is being created has no header yet; the next round opens it.
            if !known.contains(&name)
                && let Ok(recording) = results::recording(&results.folder, &name)
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

#[cfg(test)]
mod tests {
    use timeline::record::Domain;

    use super::*;

    fn failed<P: FnMut(&str)>(printing: &mut Printing<P>, name: &str, arguments: &Arguments<'_>) {
        let call = Call {
            track: 0,
            domain: Domain::LevelZero,
            name: &name.into(),
            begin: 0,
            uid: 0,
            instance: 0,
            place: None,
        };
        printing
            .end(&call, 1, Some(0x7800_0001), arguments)
            .unwrap();
    }

    #[test]
    fn names_of_arguments_are_shown_as_values_are() {
        let mut lines = Vec::new();
        let mut printing = Printing::new(|line: &str| lines.push(line.to_owned()));
        let long = "A".repeat(16_000);
        failed(
            &mut printing,
            "zeCall",
            &[
                ("key\n[  0.000001] zeInit()\u{1b}", Argument::Unsigned(7)),
                (&long, Argument::Boolean(true)),
            ],
        );
        let many = vec![(long.as_str(), Argument::Text(&long)); 32];
        failed(&mut printing, "zeCall", &many);
        assert_eq!(
            lines[0],
            format!(
                "[  0.000000] zeCall(key\\u{{a}}[  0.000001] zeInit()\\u{{1b}}=7, {}…=true) = 0x78000001",
                &long[..MOST_LETTERS]
            )
        );
        assert!(lines[1].ends_with('…'), "{}", lines[1]);
        assert!(lines[1].chars().count() < MOST_OF_LINE + 20);
    }

    #[test]
    fn a_run_shows_so_much_and_says_when_there_is_more() {
        let mut lines = Vec::new();
        let mut printing = Printing::new(|line: &str| lines.push(line.to_owned()));
        printing.left = 100;
        for _ in 0..10 {
            failed(&mut printing, "zeCall", &[]);
        }
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].contains("zeCall") && lines[2].contains("rest is in the recording"));
    }
}
