//! The boundary between C callers and safe Rust: argument conversion, the panic guard, the last error.
//!
//! Invariants
//! - A value of [`In`], [`Out`], [`Handle`] and their kin exists only inside one call.
//! - The text behind an error code stays with the thread that got the code, in a fixed buffer without a
//!   destructor: it can be asked for while a thread or the process ends.
//! - A call into a forked child or before initialisation touches one atomic and no lock.
//!
//! Non-goals: object lifetimes and the specification's rules belong to the driver crates.

mod arg;
mod chain;
mod error;
mod gate;
mod object;
mod object_watcher;
mod pair;

pub use arg::{AbiArg, In, InMut, OptIn, OptOut, OptOutHandle, Out, OutHandle, Prop};
pub use chain::{Chain, ChainMut, MAX_CHAIN};
pub use error::{ZeError, ZeResult, last_error, observe_errors, record_error};
pub use gate::{Gate, gate, guard, guard_any_state, guard_value, set_gate};
pub use level_zero_sys::{ze_handle_t, ze_result_t};
pub use object::{Handle, Head, Object, OptHandle, Tables};
pub use object_watcher::{ObjectWatcher, watch_objects};
pub use pair::{AbiPair, Enumerate, Handles, Sized, Text, copied, with_room};
