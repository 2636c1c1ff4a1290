//! Traces: the format of the records on disk, and their conversion to timelines, a task graph and a summary.
//!
//! A traced process appends records to a file ([`record`], [`file`](mod@file)); this crate reads them back in the order
//! of time and writes a timeline for Perfetto ([`perfetto`]) and for Chrome ([`chrome`]), the task graph ([`graph`])
//! and a summary ([`summary`]). `solum trace` combines these; `libsolum_trace.so.1` writes the records.
//!
//! ```no_run
//! use timeline::{file::Recording, filter::Filter, play::play, summary::Summing};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = Recording::open(std::fs::File::open("solum-trace/4711-1.events")?)?;
//! let (is_complete, lost) = (recording.finished, recording.lost);
//! let mut summary = Summing::new(recording.clock);
//! play(&mut [recording], &Filter::new(""), &mut [&mut summary])?;
//! print!("{}", summary.finish(is_complete, lost).text(10));
//! # Ok(())
//! # }
//! ```
//!
//! Invariants
//! - A recording that ends anywhere, by a crash or a kill, is readable up to its last whole record.
//! - Reading and converting need memory for strings, threads and distinct names, not for events. Strings are in memory
//!   once; everything else has a bound, beyond which records are counted and left out.
//! - A report has at most 64 times the bytes that were read, and 64 MiB ([`report`]).
//! - A damaged or hostile file gives an error or fewer records, never a panic or an allocation of its choosing.
//!
//! Not here: work in the traced process, and its clock. This crate neither opens files nor reads the time; it works on
//! its arguments.

pub mod chrome;
pub mod file;
pub mod filter;
pub mod graph;
pub mod perfetto;
pub mod picture;
pub mod play;
pub mod record;
pub mod report;
pub mod summary;
