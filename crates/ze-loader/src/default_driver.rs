//! The default driver: the first one in order, which the `zer` functions use.

use level_zero_sys as sys;
use level_zero_sys::{ze_driver_handle_t, ze_handle_t};

use crate::legacy_driver::LegacyDriver;
use crate::wrapper::arguments::{Call, Name};
use crate::wrapper::{self, Kind, Origin};

/// The default driver: the first one in order.
pub(crate) enum DefaultDriver {
    /// Its handles carry DDI tables.
    Ddi(&'static sys::zer_dditable_driver_t),
    /// Its handles are wrapped.
    Wrapped(&'static LegacyDriver),
}

impl DefaultDriver {
    /// The driver of `first`, a published handle.
    pub(crate) fn of(first: ze_driver_handle_t) -> DefaultDriver {
        match wrapper::of(first) {
            Some(first) => DefaultDriver::Wrapped(first.driver()),
            // SAFETY: published handles have passed the checks; tables are static.
            None => DefaultDriver::Ddi(unsafe { &*(*first.cast::<ze_handle_t>()).pRuntime }),
        }
    }

    /// Its `zer` functions; `None` if its table is older than they are (1.14).
    pub(crate) fn functions(&self) -> Option<&'static sys::zer_global_dditable_t> {
        match self {
            DefaultDriver::Ddi(tables) if tables.version.0 < sys::ZE_API_VERSION_1_14.0 => None,
            // SAFETY: the version says that the member is there; it is null or a static table.
            DefaultDriver::Ddi(tables) => unsafe { tables.Global.as_ref() },
            DefaultDriver::Wrapped(driver) => Some(&driver.tables.zer.Global),
        }
    }

    /// Returns the application's handle for a handle of this driver; null and a text if memory is short.
    pub(crate) fn shown<T>(&self, name: Name, kind: Kind, handle: *mut T) -> *mut T {
        match self {
            DefaultDriver::Ddi(_) => handle,
            DefaultDriver::Wrapped(driver) => {
                let call = Call { name, driver };
                call.wrapped(kind, handle, Origin::Known)
                    .unwrap_or(std::ptr::null_mut())
            }
        }
    }
}
