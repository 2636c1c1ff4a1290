//! The engine: calls of Level Zero in order, on command lanes. It knows devices, contexts and events of Level Zero, not the
//! queues, buffers and images of users.

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
