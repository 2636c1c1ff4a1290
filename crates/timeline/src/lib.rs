//! What a traced program did: the format of the records on disk, and what is made of them.
//!
//! A traced process appends records to a file ([`record`], [`file`](mod@file)); this crate reads them back in the order
//! of time and makes a timeline for Perfetto ([`perfetto`]) and for Chrome ([`chrome`]), the task graph ([`graph`]) and
//! a summary ([`summary`]). `solum trace` puts them together; `libsolum_trace.so.1` writes.
//!
//! Invariants
//! - A recording that ends anywhere, by a crash or a kill, is readable up to its last whole record.
//! - Reading and converting need memory for strings, threads and distinct names, not for events. Strings are in memory
//!   once; everything else has a bound, beyond which records are counted and left out.
//! - A report has at most 64 times the bytes that were read, and 64 MiB ([`report`]).
//! - A damaged or hostile file gives an error or fewer records, never a panic or an allocation of its choosing.
//!
//! Not here: whatever happens in the traced process, and its clock. Except for [`user`], nothing in this crate opens a
//! file or asks for the time; it works on what it is given.

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
