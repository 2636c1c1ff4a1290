//! A driver whose handles are wrapped.

use level_zero_sys::ze_handle_t;

use crate::tables::Tables;

/// A driver behind wrappers: its own functions, and its name and version for error texts.
pub(crate) struct LegacyDriver {
    /// Unique for each driver.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// The version from `zeDriverGetApiVersion`; newer functions are not expected.
    pub(crate) version: u32,
    pub(crate) tables: Tables,
    /// The header of the wrappers of its handles.
    pub(crate) header: Shared<ze_handle_t>,
}

/// A table of pointers that never change.
pub(crate) struct Shared<T>(pub(crate) T);

// SAFETY: the pointers lead to static tables that are never written.
unsafe impl<T> Sync for Shared<T> {}
