//! The CPU as a Level Zero device: topology, memory, engine, faults, programs and their cache.
//!
//! The crate implements `ze_driver::device::Platform`. The shared library of the driver calls [`platform`]; a Rust program
//! with the driver linked in calls [`install`] or [`entry`]:
//!
//! ```no_run
//! let platform = ze_cpu::platform()?;
//! println!("{} devices", platform.devices().len());
//! # Ok::<(), String>(())
//! ```
//!
//! Modules, from the floor up; each uses only those before it:
//! - `clock`, `forks`, `sync`, `random`, `numbers`: time, forks, locks, random bytes, free numbers;
//! - `environment`, `topology`, `memory_modules`, `facts`: the settings, the machine, and the devices made of both;
//! - `telemetry`: counters, sensors, and the page that other processes read;
//! - `fault`: kernels that fault, run too long or trap lose their launch, not the process. Its texts use `memory::near`,
//!   which lies below it;
//! - `memory`: one address space of whole pages;
//! - `cache`, `printf`, `image`, `location`: compiled code on disk, output of kernels, image records, places in a launch;
//! - `check`: the side of `solum check` that runs in the checked process;
//! - `program`: kernels from SPIR-V, a native binary or the cache;
//! - `witness`: proof that a kernel ran here, for `solum run --require-kernels`;
//! - `engine`: workers that run tasks;
//! - `platform`, `entry`: all of it together.
//!
//! Invariants
//! - Nothing starts unasked: the first submission starts the threads, and the code generator is opened only for a program
//!   that is not in the cache.
//! - Tasks run on workers, with three exceptions: a thread that waits without limit may run the work that it waits for, a
//!   submitting thread does short copies (both: `SOLUM_HELP`), and it runs every task where the system gives no thread.
//! - No kernel, copy or cache file can take the process down.
//!
//! Not here: handles, events and lists are `ze-driver`'s.

#[cfg(test)]
#[path = "../../object-loader/src/c_compiler.rs"]
mod c_compiler;
mod cache;
mod check;
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
