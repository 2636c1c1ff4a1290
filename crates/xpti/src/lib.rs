//! XPTI in Rust: subscribe to the notifications of an unmodified SYCL program, or emit your own streams.
//!
//! A subscriber implements [`Subscriber`] and makes its library one with [`export_subscriber!`]. An emitter holds a
//! static [`Stream`] and sends [`Visit`]s of [`Location`]s through it.
//!
//! ```no_run
//! use xpti::Stream;
//!
//! static SYCL: Stream = Stream::new(c"sycl", 1, 2, c"my runtime 0.1");
//! // Without a framework or a listener this costs one load and a branch.
//! SYCL.diagnostics(None, c"out of device memory");
//! ```
//!
//! Invariants
//! - The framework is used only through the library that `XPTI_FRAMEWORK_DISPATCHER` names, as in DPC++. If that is
//!   unset or cannot be loaded nothing is sent, and a check costs one relaxed load and a branch. The framework's tables
//!   exist once.
//! - No panic of a subscriber reaches the program that is traced.
//! - Borrows from a notification end with the callback: the borrow checker enforces it.
//!
//! Non-goals: it is not the framework (`xpti-framework`), and does not read raw pointers: user data of an unknown form
//! stays a pointer.

pub mod emit;
pub mod framework;
mod metadata;
mod notification;
mod payload;
mod raw;
mod stream;
mod stream_info;
pub mod subscriber;
mod visit;

pub use emit::{Compat, NodeKind, Span, UsmCall, UsmData};
pub use framework::{Framework, Object};
pub use metadata::{Metadata, Value};
pub use notification::{Event, Notification, UserData};
pub use payload::Payload;
pub use stream::{Listeners, Stream, finish_all};
pub use stream_info::StreamInfo;
pub use subscriber::{DetailLevel, Subscriber, Types};
pub use visit::{Location, Scope, Stash, Visit};
pub use xpti_sys as sys;
pub use xpti_sys::{activity_type, event_type, metadata_type, trace_point_type};

/// The samples of the page that a registry shows compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
