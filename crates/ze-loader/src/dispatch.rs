//! The path of one call: dispatch table, handle, the driver's table, slot, jump. All other paths are cold functions
//! with the C calling convention and few arguments, so that the exports need no stack frame.
//!
//! Calls go directly through the handle while the loader is ready, no layer is on, and no driver is wrapped. Otherwise
//! they go through tables (`dispatch_table.rs`); at the bottom, `bottom!` (`checked.rs`) checks phase and handle before
//! it reads anything through the handle.

use crate::bottom::BOTTOM;
use crate::tables::Tables;

pub use crate::refusals::{is_no_object, no_object, null_slot, too_old};

/// The current tables, for functions that are not dispatched by a handle.
#[must_use]
pub fn tables() -> &'static Tables {
    crate::dispatch_table::tables().unwrap_or(&BOTTOM)
}

/// The tables below all layers.
#[must_use]
pub const fn bottom() -> &'static Tables {
    &BOTTOM
}

/// Forwards a call to the slot in the handle's header.
///
/// `forward!("zeFoo", ze pCore, Foo, pfnBar, hFoo => hFoo, other, arguments)`: name for error texts, namespace and
/// header member, sub-table, slot, the handle to dispatch by (after the arrow all arguments in order). With `since
/// 0x1000e` after the slot, a driver whose table is older returns UNSUPPORTED_VERSION; it is needed only for functions
/// newer than 1.13, the oldest accepted table. `Foo unless is_null` is an optional sub-table.
#[macro_export]
#[expect(
    clippy::crate_in_macro_def,
    reason = "the shell that expands this defines the word"
)]
macro_rules! forward {
    ($name:expr, $namespace:ident $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $handle:ident => $($arg:ident),+) => {{
        // The shell's own static, read by one instruction.
        if let Some(tables) = crate::DISPATCH_TABLE.tables() {
            std::hint::cold_path();
            return match tables.$namespace.$sub.$slot {
                // SAFETY: the arguments are the caller's own, under the same contract as this function.
                Some(function) => unsafe { function($($arg),+) },
                None => $crate::dispatch::null_slot(&$name),
            };
        }
        if $crate::dispatch::is_no_object($handle.addr()) {
            return $crate::dispatch::no_object($handle.cast(), &$name, &stringify!($handle));
        }
        // SAFETY: the caller passes a live handle of an accepted driver; each object of such a driver begins with a
        // `ze_handle_t` whose four pointers and required sub-tables were checked on load and are static.
        let table = unsafe { &*(*$handle.cast::<$crate::sys::ze_handle_t>()).$header };
        $(
            if table.version.0 < $since {
                return $crate::dispatch::too_old(&$name, table.version.0, $since);
            }
        )?
        $(
            if table.$sub.$absent() {
                return $crate::dispatch::null_slot(&$name);
            }
        )?
        // SAFETY: as above; the version says that this table reaches as far as this sub-table and slot.
        match unsafe { (*table.$sub).$slot } {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),+) },
            None => $crate::dispatch::null_slot(&$name),
        }
    }};
}

/// Calls a function that is not dispatched by a handle through the tables: `through!("zeInit",
/// ze.Global.pfnInit(flags))`. If a layer leaves the slot empty, the loader's own function is called.
#[macro_export]
macro_rules! through {
    ($namespace:ident.$sub:ident.$slot:ident($($arg:ident),*) or $otherwise:expr) => {
        match $crate::dispatch::tables().$namespace.$sub.$slot.or($crate::dispatch::bottom().$namespace.$sub.$slot) {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),*) },
            None => $otherwise,
        }
    };
}
