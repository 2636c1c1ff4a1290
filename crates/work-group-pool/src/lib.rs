//! How threads share the work-groups of one dispatch, and what waits for them until they come.
//!
//! A [`Dispatch`] hands out ranges of work-group indices and knows when the last of them is done; a
//! [`Cost`] remembers what a work-group of a kernel costs, and turns it into chunk sizes and into the
//! number of threads worth waking. A [`Queue`] keeps what waits for a thread; a [`Roster`] counts it, and knows who looks
//! for it and who sleeps.
//!
//! Invariants
//! - Every index is handed out exactly once; exactly one caller learns that it finished the last one,
//!   and what all others did before is visible to it. `tests/claims.rs` holds both.
//! - What is pushed to a queue is taken once, and whoever takes it sees what was done before the push.
//! - A thread that sleeps is woken by work that nobody awake would find. `tests/queue.rs` holds both.
//! - No locks, no clocks, no threads: the caller brings the time and the threads.
//!
//! Non-goals: it does not run anything, and knows neither kernels nor devices.

mod atomic;
mod cost;
mod dispatch;
mod queue;
mod roster;

pub use cost::{CHUNK_NS, Cost, Plan, WAKE_NS};
pub use dispatch::{Dispatch, Range};
pub use queue::{LABEL, Label, Place, Queue};
pub use roster::{Roster, Waits};
