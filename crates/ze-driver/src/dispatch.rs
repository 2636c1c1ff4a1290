//! The tables of functions that handles lead to.
//!
//! Each object begins with the addresses of four tables ([`ze_abi::Head`]), and a loader calls through them. The tables
//! name the entry points, and so stand above all objects ([`crate::tables`]); objects ask here for the addresses, which
//! [`connect`] brings before the first object is made.

use std::sync::OnceLock;
use ze_abi::Tables;

struct Connected(Tables);
// SAFETY: the addresses are of statics; only atomics write through the one that is not constant.
unsafe impl Send for Connected {}
// SAFETY: as for `Send`.
unsafe impl Sync for Connected {}

static CONNECTED: OnceLock<Connected> = OnceLock::new();

/// Brings the tables of this process's driver. The first call counts.
pub(crate) fn connect(tables: Tables) {
    CONNECTED.get_or_init(|| Connected(tables));
}

/// The tables that handles point to.
pub(crate) fn tables() -> Tables {
    let connected = CONNECTED.get();
    connected
        .expect("the driver is installed before it makes objects")
        .0
}
