//! The CPU as a Level Zero device: topology, memory, engine, faults, programs and their cache.
//!
//! Implements the boundary `ze_driver::device`; [`platform`] is what the shell asks for, [`entry`] what a Rust program
//! asks for that has the driver linked in.
//!
//! Invariants
//! - Nothing happens before it is asked for: no thread starts before the first submission, the code
//!   generator is opened only for a program that the cache cannot serve.
//! - Work runs on workers, never on the submitting thread.
//! - No kernel, copy or cache file can take the process down.
//!
//! Non-goals: it knows no handles, events or lists; those are `ze-driver`'s.

#[cfg(test)]
#[path = "../../object-loader/src/c_compiler.rs"]
mod c_compiler;
mod cache;
mod clock;
mod engine;
mod entry;
pub mod environment;
mod facts;
mod fault;
mod forks;
mod image;
mod location;
#[cfg(test)]
mod lock_audit;
mod memory;
mod memory_modules;
mod numbers;
mod platform;
mod printf;
mod program;
mod random;
mod sync;
mod telemetry;
mod topology;
mod witness;

pub use entry::{entry, install};
pub use platform::{platform, platform_with};
#[doc(hidden)]
pub use telemetry::read_counters;
