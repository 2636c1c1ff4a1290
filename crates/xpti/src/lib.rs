//! XPTI in Rust: subscribe to what an unmodified SYCL program does, or emit streams of one's own.
//!
//! A subscriber implements [`Subscriber`] and makes its library one with [`export_subscriber!`]. An emitter holds a
//! static [`Stream`] and sends [`Visit`]s of [`Location`]s through it.
//!
//! Invariants
//! - The framework is reached only through the library that `XPTI_FRAMEWORK_DISPATCHER` names, as DPC++ does it; unset
//!   or not loadable means silent, and then a check is one relaxed load and a branch. No table of the framework exists
//!   a second time.
//! - No panic of a subscriber reaches the program that is traced.
//! - What a notification lends lives no longer than the callback: the borrow checker holds it.
//!
//! Non-goals: it is not the framework (`xpti-framework`), and gives no way to read raw pointers safely: user data whose
//! form is not known stays a pointer.

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
pub use framework::Framework;
pub use metadata::{Metadata, Value};
pub use notification::{Event, Notification, UserData};
pub use payload::Payload;
pub use stream::{Listeners, Stream, finish_all};
pub use stream_info::StreamInfo;
pub use subscriber::{DetailLevel, Subscriber, Types};
pub use visit::{Location, Scope, Stash, Visit};
pub use xpti_sys as sys;
pub use xpti_sys::{activity_type, event_type, metadata_type, trace_point_type};
