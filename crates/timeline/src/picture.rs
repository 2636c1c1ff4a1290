//! A picture of the timeline as SVG, for a page or a mail: the stretch in which devices worked, one row for each track.
//!
//! It shows the longest calls and pieces of work up to a bound; the whole is in the timelines for viewers.

use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use crate::play::{Arguments, Call, Listener, SourceLocation, Submission, Track, TrackId};
use crate::record::{Domain, Work};
use crate::report::{self, MAX_ANNOTATION};
use crate::summary;

/// Boxes that are drawn.
const MAX_BOXES: usize = 3_000;
/// Width of the time axis.
const WIDTH: f64 = 1080.0;
/// Letters of a track's name.
const NAME: usize = 30;
/// Width of the names of tracks.
const MARGIN: f64 = 190.0;
/// Ticks of the time axis: [`axis`] means to draw twelve.
const MAX_TICKS: usize = 64;
/// Height of one level of calls.
const ROW: f64 = 18.0;

/// A call or a slice of work. Ordered by length, so that a heap drops the shortest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bar {
    length: std::cmp::Reverse<u64>,
    begin: u64,
    track: TrackId,
    depth: usize,
    name: Arc<str>,
    color: &'static str,
    place: Option<Arc<SourceLocation>>,
    flow: Option<(TrackId, u64)>,
}

/// Listens, and keeps the parts that are drawn.
#[derive(Default)]
pub struct Picture {
    tracks: BTreeMap<TrackId, String>,
    devices: BTreeMap<TrackId, String>,
    depths: BTreeMap<TrackId, usize>,
    bars: BinaryHeap<Bar>,
    first: Option<u64>,
    last: u64,
}

impl Picture {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn keep(&mut self, bar: Bar) {
        self.bars.push(bar);
        if self.bars.len() > MAX_BOXES {
            self.bars.pop();
        }
    }

    /// The picture; `None` when no device worked.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let begin = self.first?;
        // A short time before the first work is shown too.
        let lead = (self.last - begin) / 50;
        let (begin, end) = (
            begin.saturating_sub(lead),
            self.last.saturating_add(lead / 2),
        );
        let scale = WIDTH / (end - begin).max(1) as f64;
        let mut bars: Vec<&Bar> = self
            .bars
            .iter()
            .filter(|bar| bar.begin < end && bar.begin.saturating_add(bar.length.0) > begin)
            .collect();
        bars.sort_by_key(|bar| (bar.track, bar.depth, bar.begin));
        let mut levels: BTreeMap<TrackId, usize> = BTreeMap::new();
        for bar in &bars {
            let level = levels.entry(bar.track).or_default();
            *level = (*level).max(bar.depth + 1);
        }
        let mut rows: BTreeMap<TrackId, f64> = BTreeMap::new();
        let mut y = 30.0;
        // Threads first, then the work that they caused.
        let queues = |track: &TrackId| {
            let name = self.tracks.get(track).map_or("", |name| name.as_str());
            name.contains("queue")
        };
        let mut order: Vec<TrackId> = levels.keys().copied().collect();
        order.sort_by_key(|track| (queues(track), *track));
        for track in order {
            rows.insert(track, y);
            y += levels[&track] as f64 * ROW + 10.0;
        }
        let x = |time: u64| MARGIN + time.clamp(begin, end).saturating_sub(begin) as f64 * scale;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            MARGIN + WIDTH + 20.0,
            y + 10.0
        );
        axis(&mut out, begin, end, y, &x);
        for (track, top) in &rows {
            let name = self.tracks.get(track).map_or("", |name| name.as_str());
            let _ = writeln!(
                out,
                "<text x=\"4\" y=\"{:.1}\">{}</text>",
                top + 13.0,
                escape(name)
            );
        }
        for bar in &bars {
            let Some(top) = rows.get(&bar.track) else {
                continue;
            };
            let (left, right) = (x(bar.begin), x(bar.begin.saturating_add(bar.length.0)));
            let width = (right - left).max(0.6);
            let top = top + bar.depth as f64 * ROW;
            let _ = write!(
                out,
                "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\" stroke=\"#444\" stroke-width=\"0.4\"/>",
                escape(&tip(bar)),
                ROW - 2.0,
                bar.color
            );
            let letters = (width / 6.4) as usize;
            if letters >= 4 {
                let _ = write!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    left + 3.0,
                    top + 12.0,
                    escape(&cut(&bar.name, letters))
                );
            }
            out.push_str("</g>\n");
            if let Some((thread, time)) = bar.flow
                && let Some(from) = rows.get(&thread)
            {
                let _ = writeln!(
                    out,
                    "<path d=\"M{:.1} {:.1} L{left:.1} {top:.1}\" stroke=\"#c00\" stroke-width=\"0.7\" fill=\"none\" opacity=\"0.6\"/>",
                    x(time),
                    from + ROW,
                );
            }
        }
        out.push_str("</svg>\n");
        Some(out)
    }
}

fn axis(out: &mut String, begin: u64, end: u64, bottom: f64, x: &dyn Fn(u64) -> f64) {
    let span = (end - begin).max(1);
    // A step of 1, 2 or 5 times a power of ten, so that there are five to twelve.
    let mut step = 1u64;
    for factor in [2, 5, 2].into_iter().cycle().take(60) {
        let next = match factor {
            5 => step / 2 * 5,
            _ => step * 2,
        };
        if span / step <= 12 || next <= step {
            break;
        }
        step = next;
    }
    let ticks = std::iter::successors(Some(0u64), |time| time.checked_add(step));
    for time in ticks.take_while(|time| *time <= span).take(MAX_TICKS) {
        let at = x(begin + time);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} 20 V{bottom:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"14\" fill=\"#666\">{}</text>",
            summary::time(time)
        );
    }
}

fn cut(text: &str, letters: usize) -> String {
    let mut starts = text.char_indices().map(|(at, _)| at);
    match (starts.nth(letters - 1), starts.next()) {
        (Some(at), Some(_)) => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

/// Whether XML allows the character, and it is a line feed or not a control character.
pub(crate) fn is_drawable(letter: char) -> bool {
    let is_character = !matches!(letter, '\u{FFFE}' | '\u{FFFF}');
    letter == '\n' || is_character && !letter.is_control()
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if is_drawable(letter) => out.push(letter),
            _ => {}
        }
    }
    out
}

fn tip(bar: &Bar) -> String {
    let place = bar.place.as_ref().map(|place| format!("\n{place}"));
    let place = place.unwrap_or_default();
    format!(
        "{}\n{}{}",
        report::start(&bar.name, MAX_ANNOTATION),
        summary::time(bar.length.0),
        report::start(&place, MAX_ANNOTATION)
    )
}

impl Listener for Picture {
    fn track(&mut self, id: TrackId, track: &Track<'_>) -> io::Result<()> {
        match track {
            Track::Thread { thread, name, .. } => {
                self.tracks
                    .insert(id, cut(&format!("{name} ({thread})"), NAME));
            }
            Track::Device { name } => {
                self.devices.insert(id, cut(name, NAME));
            }
            Track::Queue { device, number } => {
                let device = self.devices.get(device).cloned().unwrap_or_default();
                self.tracks
                    .insert(id, cut(&format!("queue {number}, {device}"), NAME));
            }
            Track::Process { .. } | Track::Counter { .. } => {}
        }
        Ok(())
    }

    fn begin(&mut self, call: &Call<'_>, _: &Arguments<'_>) -> io::Result<()> {
        *self.depths.entry(call.track).or_default() += 1;
        Ok(())
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        _: Option<i64>,
        _: &Arguments<'_>,
    ) -> io::Result<()> {
        let depth = self.depths.entry(call.track).or_default();
        *depth = depth.saturating_sub(1);
        let depth = *depth;
        let length = end.saturating_sub(call.begin);
        self.keep(Bar {
            length: std::cmp::Reverse(length),
            begin: call.begin,
            track: call.track,
            depth,
            name: call.name.clone(),
            color: match call.domain {
                Domain::LevelZero => "#cfe2f3",
                Domain::UnifiedRuntime => "#e2d9f3",
                Domain::Sycl => "#d9ead3",
                Domain::Wait => "#eeeeee",
                Domain::Memory => "#fff2cc",
            },
            place: call.place.cloned(),
            flow: None,
        });
        Ok(())
    }

    fn slice(
        &mut self,
        track: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
    ) -> io::Result<()> {
        self.first = Some(self.first.map_or(begin, |first| first.min(begin)));
        self.last = self.last.max(end);
        self.keep(Bar {
            length: std::cmp::Reverse(end - begin),
            begin,
            track,
            depth: 0,
            name: submission.name.clone(),
            color: match submission.work {
                Work::Kernel => "#f6b26b",
                Work::Copy | Work::Fill => "#9fc5e8",
                Work::Barrier | Work::Other => "#dddddd",
            },
            place: place.cloned(),
            flow: Some((submission.track, submission.time)),
        });
        Ok(())
    }
}
