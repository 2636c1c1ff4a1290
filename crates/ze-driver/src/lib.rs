//! Level Zero's semantics, once, over a small device boundary.
//!
//! Entry points (by `#[ze_entry]`), handle objects with the DDI header, recording of command lists,
//! dependencies between commands, events, modules, kernels and arguments. Below lies [`device`]:
//! `ze-cpu` implements it, other devices will.
//!
//! Invariants
//! - A handle that was never given out, or was destroyed, is the caller's fault; a null one never is fatal.
//! - Arguments are snapshotted at append.
//! - No lock is held while a client's callback or a device's task runs.
//!
//! Non-goals: no threads, no machine code, no memory of its own: those are the device's.

pub mod device;
