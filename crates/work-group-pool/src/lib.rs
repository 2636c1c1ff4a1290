//! Shares the work-groups of a dispatch among threads, and queues waiting work until a thread takes it.
//!
//! A [`Dispatch`] hands out ranges of work-group indices and knows when the last of them has finished. A [`Cost`] keeps
//! the measured cost of a kernel's work-group, and derives chunk sizes and the number of threads worth waking from it.
//! A [`Queue`] keeps work that waits for a thread; [`IdleWorkers`] counts that work and the threads that look for it or
//! sleep.
//!
//! ```
//! use work_group_pool::Dispatch;
//!
//! // Each thread that shares the dispatch claims ranges until none is left.
//! let dispatch = Dispatch::new(1000, 1);
//! let mut is_last = false;
//! while let Some(range) = dispatch.claim(64, 1, 0) {
//!     // … run the work-groups `range.first..range.first + range.count` …
//!     is_last = dispatch.finish(range.count);
//! }
//! assert!(is_last);
//! ```
//!
//! Invariants
//! - Every index is handed out exactly once; exactly one caller is told that it finished the last one, and it sees all
//!   writes of the others. `tests/claims.rs` holds both.
//! - A value that is pushed to a queue is taken once, and its taker sees all writes from before the push.
//! - Work that no awake thread would find wakes a sleeping one. `tests/queue.rs` holds both.
//! - No locks, no clocks, no threads: the caller provides the time and the threads.
//!
//! Non-goals: it does not run anything, and knows neither kernels nor devices.

mod atomic;
mod cost;
mod dispatch;
mod idle_workers;
mod queue;

pub use cost::{CHUNK_NS, Cost, Parts, Plan, WAKE_NS};
pub use dispatch::{Dispatch, Range};
pub use idle_workers::{IdleWorkers, Waits};
pub use queue::{LABEL, Label, Position, Queue};
