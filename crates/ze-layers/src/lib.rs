//! Layers above Level Zero drivers. Each layer is a table of all functions that does its own work and calls the next
//! table.
//!
//! - [`Tables`]: all functions of the four namespaces, by object. [`Tables::read`] fills one from a driver's or a
//!   loader's getters, [`Tables::serve`] serves a getter from one.
//! - [`tracing`]: the behaviour of `zelTracer*`: prologues and epilogues around calls.
//! - [`recorder`]: logs calls, and makes calls fail, run late or wait according to a script.
//! - [`validation`]: reports wrong arguments, dead handles and other mistakes, with code, rule and origin.
//!
//! A layer is put over a table, and calls go through what comes back:
//!
//! ```
//! use level_zero_sys::*;
//! use ze_layers::{Tables, recorder};
//!
//! unsafe extern "C" fn driver_init(_flags: u32) -> ze_result_t {
//!     ZE_RESULT_SUCCESS
//! }
//! let mut driver = Tables::default(); // A real driver's: `Tables::read`.
//! driver.ze.Global.pfnInit = Some(driver_init);
//!
//! let session = recorder::start(recorder::Script::parse("fail zeInit DEVICE_LOST at 2")?);
//! let layer = recorder::over(Box::leak(Box::new(driver)));
//! let init = layer.ze.Global.pfnInit.unwrap(); // No slot of a layer is empty.
//! // Any flags are allowed.
//! let results = unsafe { [init(0), init(0)] };
//! assert_eq!(results, [ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_DEVICE_LOST]);
//! assert_eq!(session.calls().len(), 2);
//! # Ok::<(), recorder::ScriptError>(())
//! ```
//!
//! From the application down: tracing, validation, recorder, then the loader's dispatch.
//!
//! Invariants
//! - A layer's `over(next)` gives a complete table: no slot is empty. A slot that is empty in `next` returns
//!   UNSUPPORTED_FEATURE (functions without a result code: null, or the invalid identifier).
//! - A layer has one `next` per process (per copy of this crate); a later `over` replaces it. Calls in flight end in
//!   the table that they began with, so tables are `'static`.
//! - No thread-local here has a destructor, so a library that holds this crate can be unloaded.
//! - Nothing unwinds into a caller: no entry of a layer can panic on what a client passes.
//!
//! Not here: finding drivers, `zel*` exports and their state before initialisation (`ze-loader`), and any dispatch by
//! handle: the table that the lowest layer calls does that.

#[cfg(not(loom))]
#[macro_use]
#[rustfmt::skip]
mod generated;

#[cfg(not(loom))]
mod answer;
#[cfg(not(loom))]
mod component;
#[cfg(all(test, not(loom)))]
mod fake;
#[cfg(not(loom))]
mod next;
#[cfg(not(loom))]
pub mod recorder;
#[cfg(not(loom))]
mod stacked;
#[cfg(not(loom))]
mod tables;
#[cfg(not(loom))]
pub mod tracing;
#[cfg(not(loom))]
pub mod validation;
#[cfg(not(loom))]
mod value;

#[cfg(not(loom))]
pub use component::component_version;
#[cfg(not(loom))]
pub use stacked::Stacked;
#[cfg(not(loom))]
pub use tables::Tables;

// Under loom, whose atomics cannot be in statics, only the modelled modules.
#[cfg(loom)]
#[path = "tracing/held.rs"]
mod held;
#[cfg(loom)]
#[path = "validation/live.rs"]
mod live;
