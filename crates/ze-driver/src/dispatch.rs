//! The addresses of the dispatch tables in handles.
//!
//! Each object begins with the addresses of four tables ([`ze_abi::Head`]), and a loader calls through them. The tables
//! name all entry points, so they are defined above all objects ([`crate::tables`]). Objects get the addresses here;
//! [`connect`] sets them before the first object is made.

use std::sync::OnceLock;
use ze_abi::Tables;

struct Connected(Tables);
// SAFETY: the addresses are of statics; only atomics write through the one that is not constant.
unsafe impl Send for Connected {}
// SAFETY: as for `Send`.
unsafe impl Sync for Connected {}

static CONNECTED: OnceLock<Connected> = OnceLock::new();

/// Sets the tables of this process's driver. The first call counts.
pub(crate) fn connect(tables: Tables) {
    CONNECTED.get_or_init(|| Connected(tables));
}

/// The tables that handles point to.
pub(crate) fn tables() -> Tables {
    let connected = CONNECTED.get();
    connected
        .expect("the driver is installed before it creates objects")
        .0
}
