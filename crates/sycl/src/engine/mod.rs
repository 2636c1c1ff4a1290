//! The engine: commands of Level Zero in order, what they wait for, and what is freed after them.
//!
//! The engine knows devices, contexts and events of Level Zero, but not the queues, buffers and images of users. A
//! command is anything that appends to a [`target::Target`]; a `Dep`, a number on a lane or of a pending command, names
//! work.
//!
//! Modules, from the bottom up; each uses only those before it
//! - [`failures`], [`losses`]: commands that did not run, devices that are gone.
//! - [`pending`]: commands that are not on a device yet. [`fault_pool`], [`native_context`], [`target`], [`list_backend`].
//! - [`command_lane`]: an ordered list with its events; `close`, [`pins`], `user_events`, `append`: its operations.
//! - [`completion`]: whether work has ended, wherever it is. [`completion_waiter`]: threads that wait for other work.
//! - [`deferred_command`]: a command that waits. [`deferred_release`]: an object that is freed when its users have ended.
//! - `foreign_event`, [`user_event_lanes`], [`transfer_lanes`], [`allocation`], [`exit`].

pub(crate) mod allocation;
mod append;
mod close;
pub(crate) mod command_lane;
pub(crate) mod completion;
pub(crate) mod completion_waiter;
pub(crate) mod deferred_command;
pub(crate) mod deferred_release;
pub(crate) mod exit;
pub(crate) mod failures;
pub(crate) mod fault_pool;
mod foreign_event;
pub(crate) mod list_backend;
pub(crate) mod losses;
pub(crate) mod native_context;
pub(crate) mod pending;
pub(crate) mod pins;
pub(crate) mod target;
pub(crate) mod transfer_lanes;
pub(crate) mod user_event_lanes;
mod user_events;
