//! The reader in `solum check`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};

use crate::Finding;

/// The most findings that are kept of one process; further ones are counted.
pub const MOST_FINDINGS: usize = 4096;
/// The most texts of what was not checked.
const MOST_DROPPED: usize = 64;
/// The longest line. A finding has a few hundred bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// The first line of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// The process.
    pub pid: u32,
    /// Its program.
    pub program: String,
    /// The version of the driver.
    pub version: String,
    /// What is checked, as `crate::Checks` prints it.
    pub checks: String,
    /// When it began, in microseconds since 1970.
    pub at: u64,
}

/// Something that was not checked.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dropped {
    /// What it is, for people.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// What a process told.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    /// Its first line; `None` if it has none.
    pub start: Option<Start>,
    /// The findings in their order, each with the time at which it was found; 0 if the stream does not say.
    pub findings: Vec<(u64, Finding)>,
    /// What was not checked; one entry for each text.
    pub dropped: Vec<Dropped>,
    /// Whether the process ended by itself, so that everything is told.
    pub is_complete: bool,
    /// Number of lines that could not be understood.
    pub damaged: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Start(Start),
    Finding {
        id: u64,
        #[serde(default)]
        at: u64,
        #[serde(flatten)]
        finding: Box<Finding>,
    },
    Count {
        id: u64,
        count: u64,
    },
    Dropped(Dropped),
    End {},
}

/// Reads a stream. Any bytes give what can be understood of them: a last line without end is left out, since its process
/// was killed while it wrote; other lines that are not understood are counted.
///
/// # Errors
/// `input` cannot be read.
pub fn read(input: impl BufRead) -> io::Result<Stream> {
    let mut input = input;
    let mut stream = Stream::default();
    // Places in `findings`.
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut input)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(stream);
        }
        let is_whole = line.last() == Some(&b'\n');
        if !is_whole && line.len() as u64 == LONGEST_LINE {
            stream.damaged += 1;
            skip_line(&mut input)?;
            continue;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match serde_json::from_slice(text) {
            Ok(line) => stream.take(line, &mut places),
            Err(_) if is_whole => stream.damaged += 1,
            Err(_) => {}
        }
    }
}

/// Reads to the end of the line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    input.skip_until(b'\n').map(|_| ())
}

impl Stream {
    fn take(&mut self, line: Line, places: &mut HashMap<u64, usize>) {
        match line {
            Line::Start(start) => {
                self.start.get_or_insert(start);
            }
            Line::Finding { id, at, finding } => {
                if self.findings.len() >= MOST_FINDINGS {
                    self.drop("findings beyond the first 4096 of a process", 1);
                } else if let Entry::Vacant(place) = places.entry(id) {
                    place.insert(self.findings.len());
                    self.findings.push((at, *finding));
                } else {
                    // An id names one finding.
                    self.damaged += 1;
                }
            }
            Line::Count { id, count } => {
                let is_full = self.findings.len() >= MOST_FINDINGS;
                let place = places.get(&id).copied();
                match place.and_then(|place| self.findings.get_mut(place)) {
                    // Threads may tell their counts in another order than they counted.
                    Some((_, finding)) => finding.count = finding.count.max(count),
                    // Its finding was beyond the limit.
                    None if is_full => {}
                    None => self.damaged += 1,
                }
            }
            Line::Dropped(dropped) => self.drop(&dropped.what, dropped.count),
            Line::End {} => self.is_complete = true,
        }
    }

    fn drop(&mut self, what: &str, count: u64) {
        add(&mut self.dropped, what, count);
    }
}

/// Adds to the entry of the same text.
pub(crate) fn add(all: &mut Vec<Dropped>, what: &str, count: u64) {
    match all.iter().position(|entry| entry.what == what) {
        Some(place) => all[place].count = all[place].count.saturating_add(count),
        None if all.len() < MOST_DROPPED => all.push(Dropped {
            what: what.to_owned(),
            count,
        }),
        None => {}
    }
}
