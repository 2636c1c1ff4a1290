//! The recorder inside a traced process: an XPTI subscriber for SYCL's streams and a tracer of Level Zero calls.
//!
//! `libsolum_trace.so.1` exports the functions that XPTI and our loader look for, and forwards them to [`subscriber`]
//! and [`level_zero`]; both append to one file in the folder that `SOLUM_TRACE` names. `solum trace` reads it
//! afterwards.
//!
//! Invariants
//! - A program never ends, waits or computes differently because it is traced: records that cannot be written are lost and
//!   counted, and no panic leaves a callback.
//! - Records are stores into a shared mapping: they outlive a process that is killed.
//! - Nothing is torn down at the process's end that other libraries' last calls could need: no thread, no `Drop`, no
//!   lock held.
//!
//! Not here: reading and converting recordings, which is `timeline`.

mod arguments;
mod content;
pub mod level_zero;
mod recording_file;
pub mod sink;
mod strings;
pub mod subscriber;
mod track;
