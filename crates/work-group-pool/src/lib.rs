//! Shares the work-groups of a dispatch among threads, and keeps waiting work until a thread takes it.
//!
//! A [`Dispatch`] hands out ranges of work-group indices and knows when the last of them is done; a
//! [`Cost`] remembers what a work-group of a kernel costs, and turns it into chunk sizes and into the
//! number of threads worth waking. A [`Queue`] keeps work that waits for a thread; [`IdleWorkers`] counts that work and the
//! threads that look for it or sleep.
//!
//! Invariants
//! - Every index is handed out exactly once; exactly one caller learns that it finished the last one, and it sees all writes
//!   of the others. `tests/claims.rs` holds both.
//! - A value that is pushed to a queue is taken once, and its taker sees all writes from before the push.
//! - Work that no awake thread would find wakes a sleeping one. `tests/queue.rs` holds both.
//! - No locks, no clocks, no threads: the caller brings the time and the threads.
//!
//! Non-goals: it does not run anything, and knows neither kernels nor devices.

mod atomic;
mod cost;
mod dispatch;
mod idle_workers;
mod queue;

pub use cost::{CHUNK_NS, Cost, Plan, WAKE_NS};
pub use dispatch::{Dispatch, Range};
pub use idle_workers::{IdleWorkers, Waits};
pub use queue::{LABEL, Label, Position, Queue};
