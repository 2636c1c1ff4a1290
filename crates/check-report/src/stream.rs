//! The stream from a checked process to `solum check`: a file of JSON lines for each process.
//!
//! ```text
//! {"start":{"pid":12,"program":"/usr/bin/prog","version":"0.1.0","checks":"all"}}
//! {"finding":{"id":1,"kind":"out-of-bounds","count":1,"message":"…"}}     when it is found first
//! {"count":{"id":1,"count":12}}                                           from time to time, and at the end
//! {"dropped":{"what":"race history","count":3}}                           what was not checked
//! {"end":{}}
//! ```
//!
//! [`Writer`] is the process's side, [`read`] is the reader's. `start` and `finding` also have `at`, microseconds since
//! 1970: the order of the findings of several processes.

mod reader;
mod writer;

pub use reader::{Dropped, MOST_FINDINGS, Start, Stream, read};
pub use writer::Writer;

/// The variable that says what is checked.
pub const CHECKS: &str = "SOLUM_CHECK";
/// The variable that names the folder of the streams.
pub const OUTPUT: &str = "SOLUM_CHECK_OUTPUT";

/// Whether a file name has the form of a stream's: `PID-N.jsonl`.
#[must_use]
pub fn is_stream(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name
        .strip_suffix(".jsonl")
        .and_then(|name| name.split_once('-'));
    parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests;
