//! Level Zero's semantics, once, over a small device boundary.
//!
//! The crate has what every Level Zero driver needs: entry points (`#[ze_entry]`), objects behind handles, checks,
//! command lists, and the order of commands. A device implements [`device::Platform`]: it allocates memory, builds
//! programs and runs tasks. `ze-cpu` is such a device. A shell calls [`install`] and exports [`getters`]:
//!
//! ```no_run
//! fn platform() -> Result<std::sync::Arc<dyn ze_driver::device::Platform>, String> {
//!     Err("no device".to_owned())
//! }
//! ze_driver::install(platform);
//! let init = ze_driver::getters::lookup(c"zeInit");
//! ```
//!
//! # Modules, from the top down
//!
//! There are no cycles.
//!
//! ```text
//! getters, install                 what a shell uses
//! traced_tables, tables            entry points in DDI tables, with and without tracing
//! sysman, tools, rtas              system management, metrics and tracers, ray tracing structures
//! core::*_entries, append, launch  entry points of core objects
//! core::list, graph, capture, …    objects: lists, queues, graphs, events, modules, kernels, memory
//! schedule                         command lanes: the order of commands
//! signal, milestone, user_memory   what lanes and threads wait for
//! core::context, driver, device    the objects that all others belong to
//! dispatch, tracing, check         tables of handles, the tracing hook, common checks
//! device, telemetry, address_space the boundary that a device implements
//! ```
//!
//! # Invariants
//!
//! - A null handle is an error, never a crash. A handle that was never given out, or was destroyed, is the caller's fault.
//! - Arguments are copied when a command is appended.
//! - No lock is held while a client's callback or a device's task runs.
//! - Reference counts, not handles, keep alive what commands in flight need.
//!
//! # What it is not
//!
//! It generates no machine code and owns no device memory: those are the device's. Commands run on the device's threads.
//! The crate starts its own threads for two things that no device reports: an open metric streamer reads counters at
//! intervals, and [`device::Platform::poll`] by default looks at memory that other processes or the application write.
#![expect(
    non_snake_case,
    reason = "entry points and their parameters carry the specification's names"
)]

pub mod address_space;
mod allocation;
mod brief_launches;
pub mod call_log;
mod check;
pub mod command_order;
mod core;
pub mod device;
mod dispatch;
pub mod extensions;
#[expect(dead_code, reason = "defaults of implemented entries are generated too")]
#[rustfmt::skip]
#[path = "generated/unsupported.rs"]
mod unsupported_entries;
pub mod getters;
mod install;
mod leniency;
mod milestone;
/// Atomics; the loom models of [`milestone`] bring their own.
mod atomic {
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
}
mod rtas;
mod schedule;
mod signal;
mod spirv;
mod sysman;
mod tables;
pub mod telemetry;
mod tools;
mod traced_tables;
mod tracing;
mod user_memory;

pub use core::driver::Factory;
pub use install::install;
pub use traced_tables::install_tracing;
pub use tracing::Tracing;

#[cfg(test)]
extern crate self as ze_driver;
#[cfg(test)]
#[path = "../tests/driver/api.rs"]
mod api;
#[cfg(test)]
mod lock_audit;
#[cfg(test)]
#[path = "../tests/driver/platform.rs"]
mod platform;

/// The default of every slot without an entry point of this driver.
fn unsupported(name: &str) -> level_zero_sys::ze_result_t {
    let answer = || {
        Err(ze_abi::ZeError::new(
            level_zero_sys::ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "this driver does not support the function",
        ))
    };
    ze_abi::guard_any_state(name, answer)
}

/// Sets the output handle to null.
fn clear<T>(handle: *mut *mut T) {
    if !handle.is_null() {
        // SAFETY: not null, so valid for writes by the specification's contract with the caller.
        unsafe { handle.write(std::ptr::null_mut()) };
    }
}
