//! The Level Zero loader: finds drivers, initialises them, and dispatches calls through the handles' own tables.
//!
//! Modules, from the bottom up, without cycles:
//! - `phase`, [`text`], [`tables`]: before init, ready or torn down; the last-error text; getters of tables;
//! - `refusals`, `legacy_driver`, `log`, `guard`: answers to calls that reach no driver, a wrapped driver, log and panics;
//! - `wrapper`, [`dispatch_table`], `default_driver`: wrapped handles, the path of each call, the first driver;
//! - `candidate`, `library`, [`driver`], `order`, `legacy`: finding, opening, checking, ordering and wrapping drivers;
//! - [`init`], [`runtime`], `entries`: the functions that are not dispatched by a handle;
//! - `checked`, [`dispatch`]: dispatch with and without checks of the handle;
//! - `bottom`, `legacy_functions`, `legacy_tables`: a function for each slot, expanded from the lists of `generated`;
//! - [`layers`], [`info`], [`teardown`].
//!
//! The C exports live in the shell crate `libze_loader`; this crate exports no symbol, so that it links into tests.
//!
//! What a program's first calls do, without the exports (it opens the drivers that are installed):
//!
//! ```no_run
//! use level_zero_sys::*;
//! use ze_loader::init;
//!
//! // Finds drivers, checks and orders them.
//! assert_eq!(init::init(0), ZE_RESULT_SUCCESS);
//! let mut drivers = [ze_driver_handle_t::default(); 4];
//! let mut count = 4;
//! // There is room for four handles.
//! let result = unsafe { init::driver_get(&raw mut count, drivers.as_mut_ptr()) };
//! assert_eq!(result, ZE_RESULT_SUCCESS);
//! // From here on a handle leads to its driver's tables: `dispatch`.
//! ```
//!
//! Invariants:
//! - A call of the application costs one load of the state, then three dependent loads (handle, table, slot); no lock
//!   and no allocation, for any number of drivers ([`forward!`]).
//! - A driver's handle is trusted only after [`driver`] has checked header, versions and sub-tables of its four tables.
//!   Handles of other drivers are wrapped (`wrapper`); while there are any, calls go through tables that distinguish handles.
//! - A driver library is never unmapped once one of its functions has run: its threads may still run.
//! - No thread-local of this crate has a destructor; nothing here keeps the library mapped after `dlclose`.
//! - Each driver that is not used leaves a reason, readable by `zerGetLastErrorDescription` after a failed init.
//!
//! Differences from the reference: after a failed `zeInit` the next one tries again (the specification allows other
//! flags and another environment), candidates are opened without a search for files first, and a null handle returns
//! INVALID_NULL_HANDLE.
//!
//! Layers ([`layers`]) are `ze-layers`' tables; a call goes through them only while one has something to do.

#[cfg(not(loom))]
#[macro_use]
#[rustfmt::skip]
mod generated;

#[cfg(not(loom))]
pub mod dispatch;
#[cfg(not(loom))]
pub mod dispatch_table;
#[cfg(not(loom))]
pub mod driver;
#[cfg(not(loom))]
pub mod info;
#[cfg(not(loom))]
pub mod init;
#[cfg(not(loom))]
pub mod layers;
#[cfg(not(loom))]
pub mod runtime;
#[cfg(not(loom))]
pub mod tables;
#[cfg(not(loom))]
pub mod teardown;
#[cfg(not(loom))]
pub mod text;

#[cfg(not(loom))]
mod bottom;
#[cfg(not(loom))]
mod candidate;
#[cfg(not(loom))]
mod checked;
#[cfg(not(loom))]
mod default_driver;
#[cfg(not(loom))]
mod entries;
#[cfg(not(loom))]
mod guard;
#[cfg(not(loom))]
mod legacy;
#[cfg(not(loom))]
mod legacy_driver;
#[cfg(not(loom))]
mod legacy_functions;
#[cfg(not(loom))]
mod legacy_tables;
#[cfg(not(loom))]
mod library;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod order;
#[cfg(not(loom))]
mod phase;
#[cfg(not(loom))]
mod refusals;
#[cfg(not(loom))]
mod wrapper;

#[cfg(not(loom))]
pub use level_zero_sys as sys;

// Loom's atomics cannot be static, so under loom only the modelled module is built.
#[cfg(all(test, loom))]
#[path = "wrapper/map.rs"]
mod map;
