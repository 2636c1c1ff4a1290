//! The Level Zero loader's logic: finding drivers, initialising them, dispatch through the handles' own tables.
//!
//! The C exports live in the shell crate `libze_loader`; this crate exports no symbol, so that it links into tests.
//!
//! Invariants:
//! - A call of the application takes one load of the state, then three dependent loads (handle, table, slot); no lock,
//!   no allocation, whatever the number of drivers ([`forward!`]).
//! - A driver's handle is trusted only after [`driver`] has checked header, versions and sub-tables of its four tables.
//!   Handles of other drivers are wrapped ([`wrapper`]); while there are any, calls take a way that tells handles apart.
//! - A driver library is never unmapped once one of its functions has run: its threads may live on.
//! - No thread-local of ours has a destructor; nothing here keeps the library mapped after `dlclose`.
//! - Each driver that is not used leaves a reason, readable by `zerGetLastErrorDescription` after a failed init.
//!
//! Where this loader chooses differently from the reference: a failed `zeInit` is tried anew by the next one (the
//! specification allows other flags and another environment), candidates are opened without looking for files first,
//! and a null handle is answered with INVALID_NULL_HANDLE.
//!
//! Not here yet: `ZEL_DRIVERS_ORDER`, the null driver, and the layers. The
//! tracer functions answer UNINITIALIZED, which is what the reference says when its tracing library is absent.

pub mod dispatch;
pub mod driver;
pub mod info;
pub mod init;
pub mod runtime;
pub mod state;
pub mod tables;
pub mod teardown;
pub mod text;

mod candidate;
mod entries;
#[rustfmt::skip]
mod generated;
mod guard;
mod legacy;
mod library;
mod order;
mod trace;
mod wrapper;

pub use level_zero_sys as sys;
