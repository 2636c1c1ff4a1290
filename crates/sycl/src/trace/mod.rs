//! Notifications of XPTI's subscribers (seed 003): streams `sycl` with `sycl.debug`, `sycl.pi`, `sycl.pi.debug`,
//! `sycl.experimental.buffer`, `.image` and `.mem_alloc`.
//!
//! The rest of the crate calls the functions of this module and holds a [`Node`] for each command. Without the feature
//! `xpti` they are empty; with it, and without a framework or a subscriber, each is a load and a branch, and a node is
//! empty. No lock of the runtime's own but that of the buffer concerned is held while a subscriber runs.
//!
//! Identity: a command group is identified by the source location of its submission, so each submission from one line
//! is an instance of one node. Memory operations are identified by the number of their buffer. Edges come from a
//! history of each buffer's uses, which is kept only while a subscriber listens to edges.

#[cfg(feature = "xpti")]
pub(crate) mod calls;
#[cfg(feature = "xpti")]
mod describe;
#[cfg(feature = "xpti")]
mod history;
mod label;
#[cfg(feature = "xpti")]
mod memory;
#[cfg(feature = "xpti")]
mod node;
#[cfg(feature = "xpti")]
mod objects;
#[cfg(not(feature = "xpti"))]
mod silent;
#[cfg(not(feature = "xpti"))]
mod silent_history;
mod site;
#[cfg(feature = "xpti")]
mod streams;

#[cfg(feature = "xpti")]
pub(crate) use history::{History, Part};
pub(crate) use label::{Label, NewQueue, Reason};
#[cfg(feature = "xpti")]
pub(crate) use memory::{freeing, usm_allocating, usm_freeing};
#[cfg(feature = "xpti")]
pub(crate) use node::{Barrier, Node, QueueTrace, unlocked, wait_for_event, wait_for_queue};
#[cfg(feature = "xpti")]
pub(crate) use objects::{accessor, buffer_gone, buffer_made, image_accessor, image_made};
#[cfg(not(feature = "xpti"))]
pub(crate) use silent::*;
#[cfg(not(feature = "xpti"))]
pub(crate) use silent_history::{History, Part};
pub(crate) use site::Site;
#[cfg(feature = "xpti")]
pub(crate) use streams::{diagnostic, start};
