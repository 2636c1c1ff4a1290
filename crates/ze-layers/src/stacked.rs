//! A layer in its own library, as loaders use it: a getter gets a table with the functions below and replaces them by
//! the layer's.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use level_zero_sys::*;

use crate::Tables;

/// Puts a layer over tables that arrive one by one.
pub struct Stacked {
    over: fn(&'static Tables) -> &'static Tables,
    /// The functions below that have arrived so far.
    below: Mutex<Option<&'static Tables>>,
}

impl std::fmt::Debug for Stacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stacked").finish_non_exhaustive()
    }
}

impl Stacked {
    /// Takes a layer's `over`.
    #[must_use]
    pub const fn new(over: fn(&'static Tables) -> &'static Tables) -> Self {
        Self {
            over,
            below: Mutex::new(None),
        }
    }

    /// Serves the getter `name`: keeps the slots of `table` that exist at `version` as the functions below, and
    /// replaces them by the layer's. Calls may be in flight: they end in the tables that they began with, which are
    /// kept for the process's life, a few kilobytes per getter and initialisation.
    ///
    /// # Errors
    /// As [`Tables::serve`].
    ///
    /// # Safety
    /// `table` is null or points to a table of the getter's type with room for the slots of `version`, each null or a
    /// function that stays callable.
    pub unsafe fn serve(
        &self,
        name: &str,
        version: ze_api_version_t,
        table: *mut c_void,
    ) -> ze_result_t {
        let mut below = self.below.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables = below.copied().unwrap_or_default();
        // SAFETY: guaranteed by the caller.
        let code = unsafe { tables.take(name, version, table) };
        if code != ZE_RESULT_SUCCESS {
            return code;
        }
        let tables: &'static Tables = Box::leak(Box::new(tables));
        *below = Some(tables);
        // SAFETY: guaranteed by the caller.
        unsafe { (self.over)(tables).serve(name, version, table) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fake, recorder};

    #[test]
    fn the_layer_replaces_the_functions_below() {
        let _one = recorder::alone();
        let stacked = Stacked::new(recorder::over);
        let mut fence = fake::TABLE.ze.Fence;
        let mut event = ze_event_dditable_t::default();
        let unused = fake::TABLE.ze.Event.pfnGetCounterBasedFlags;
        event.pfnGetCounterBasedFlags = unused;
        let old = ze_api_version_t(0x1_0000);
        // SAFETY: the tables are of the getters' types.
        unsafe {
            let at = (&raw mut fence).cast();
            assert_eq!(
                stacked.serve("zeGetFenceProcAddrTable", ZE_API_VERSION_CURRENT, at),
                ZE_RESULT_SUCCESS
            );
            assert_eq!(
                stacked.serve("zeGetEventProcAddrTable", old, (&raw mut event).cast()),
                ZE_RESULT_SUCCESS
            );
            assert_eq!(
                stacked.serve("zeGetNoProcAddrTable", old, at),
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
            );
            assert_eq!(
                stacked.serve("zeGetFenceProcAddrTable", old, std::ptr::null_mut()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER
            );
            assert_eq!(
                stacked.serve("zeGetFenceProcAddrTable", ze_api_version_t(0x2_0000), at),
                ZE_RESULT_ERROR_UNSUPPORTED_VERSION
            );
        }
        let address = |slot: ze_pfnFenceReset_t| slot.map(|function| function as usize);
        assert_ne!(
            address(fence.pfnReset),
            address(fake::TABLE.ze.Fence.pfnReset)
        );
        let later =
            |slot: ze_pfnEventGetCounterBasedFlags_t| slot.map(|function| function as usize);
        assert_eq!(
            later(event.pfnGetCounterBasedFlags),
            later(unused),
            "a slot of a later version is unchanged"
        );
        fake::answer(ZE_RESULT_NOT_READY);
        fake::calls();
        // SAFETY: the fake looks behind nothing.
        let codes = unsafe {
            [
                fence.pfnReset.unwrap()(std::ptr::null_mut()),
                event.pfnDestroy.unwrap()(std::ptr::null_mut()),
            ]
        };
        assert_eq!(
            codes,
            [ZE_RESULT_NOT_READY, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE],
            "there is no function below the event's"
        );
        assert_eq!(fake::calls().len(), 1);
    }
}
