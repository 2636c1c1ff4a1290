//! Level Zero's semantics, once, over a small device boundary.
//!
//! Entry points (by `#[ze_entry]`), handle objects with the DDI header, recording of command lists,
//! dependencies between commands, events, modules, kernels and arguments. Below lies [`device`]:
//! `ze-cpu` implements it, other devices will. A shell calls [`install`] and exports [`getters`].
//!
//! Invariants
//! - A handle that was never given out, or was destroyed, is the caller's fault; a null one never is fatal.
//! - Arguments are snapshotted at append.
//! - No lock is held while a client's callback or a device's task runs.
//! - What commands in flight need lives by reference counts, not by handles.
//!
//! Non-goals: no threads, no machine code, no memory of its own: those are the device's.
#![expect(
    non_snake_case,
    reason = "entry points and their parameters carry the specification's names"
)]

pub mod address_space;
mod allocation;
pub mod call_log;
mod check;
mod core;
pub mod device;
mod dispatch;
pub mod extensions;
#[expect(dead_code, reason = "entries that ours replace are generated all the same")]
#[rustfmt::skip]
#[path = "generated/unsupported.rs"]
mod unsupported_entries;
pub mod getters;
mod install;
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

/// The answer of every slot that no entry of ours fills.
fn unsupported(name: &str) -> level_zero_sys::ze_result_t {
    let answer = || {
        Err(ze_abi::ZeError::new(
            level_zero_sys::ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "this driver does not support the function",
        ))
    };
    ze_abi::guard_any_state(name, answer)
}

/// Makes a new handle null that such a slot does not give.
fn clear<T>(handle: *mut *mut T) {
    if !handle.is_null() {
        // SAFETY: not null, so valid for writes by the specification's contract with the caller.
        unsafe { handle.write(std::ptr::null_mut()) };
    }
}
