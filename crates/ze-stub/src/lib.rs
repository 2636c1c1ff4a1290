//! A Level Zero driver that only logs its calls, for testing the loader.
//!
//! It shares no code with `ze-driver`. Its tables are plain arrays of addresses, laid out from the API table, so that
//! it checks layouts independently. Several drivers are several copies of the shell's file under different names.
//!
//! The environment, read once at the first call, controls it. Entries are separated by commas; an entry `NAME:VALUE`
//! applies only to the copy whose file name contains NAME, an entry without a name to all copies:
//!
//! | variable | value |
//! |---|---|
//! | `SOLUM_STUB_LOG` | a file; each call appends a line `FILE FUNCTION NAME=HANDLE…`, arrays joined by `+`, outputs last |
//! | `SOLUM_STUB_LEGACY` | `1`: no DDI handles; API version 1.16, extension not listed, poison where headers would be |
//! | `SOLUM_STUB_VERSION` | `MAJOR.MINOR` in the tables (default 1.17) |
//! | `SOLUM_STUB_API` | `MAJOR.MINOR` of the API version (default 1.17, else as below) |
//! | `SOLUM_STUB_GUARD` | `1`: behind the first three words of each object (legacy: one) lies a page that may not be read |
//! | `SOLUM_STUB_REUSE` | `1`: what creates returns the same object every time, as a driver that uses an address anew |
//! | `SOLUM_STUB_EXTENSION` | `MAJOR.MINOR` of the listed DDI extension (default 1.1), with API version 1.16 |
//! | `SOLUM_STUB_DEVICES` | types joined by `+`: `discrete`, `integrated`, `cpu`, `npu` (default `discrete`) |
//! | `SOLUM_STUB_NULL` | a function whose slot is null |
//! | `SOLUM_STUB_NO_TABLE` | a function whose sub-table pointer is null in the header's tables |
//! | `SOLUM_STUB_RESULT` | `FUNCTION=CODE`: what the function, or the getter, answers |
//! | `SOLUM_STUB_GETTERS` | `MAJOR.MINOR`: getters refuse newer versions |
//!
//! Its extension functions are `stubMakeEvent(context, &event)` and `stubUseEvent(event)`.
//!
//! Invariants: objects are never freed, so that a test may look at stale handles; a slot reads nothing but handles and
//! arrays of them, and only for the log. Not here: anything a program could compute with.

mod answers;
mod call;
#[rustfmt::skip]
mod generated;
mod objects;
mod script;
mod tables;

pub use level_zero_sys::{ze_api_version_t, ze_result_t};
pub use tables::fill;
