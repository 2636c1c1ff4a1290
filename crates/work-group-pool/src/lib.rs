//! How threads share the work-groups of one dispatch.
//!
//! A [`Dispatch`] hands out ranges of work-group indices and knows when the last of them is done; a
//! [`Cost`] remembers what a work-group of a kernel costs, and turns it into chunk sizes and into the
//! number of threads worth waking.
//!
//! Invariants
//! - Every index is handed out exactly once; exactly one caller learns that it finished the last one,
//!   and what all others did before is visible to it. `tests/loom.rs` holds both.
//! - No locks, no clocks, no threads: the caller brings the time and the threads.
//!
//! Non-goals: it does not run anything, and knows neither kernels nor devices.
#![forbid(unsafe_code)]

mod cost;
mod dispatch;

pub use cost::{CHUNK_NS, Cost, Plan, WAKE_NS};
pub use dispatch::{Dispatch, Range};
