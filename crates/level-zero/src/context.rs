//! Contexts, which own memory, lists, events and modules.

use std::sync::Arc;

use level_zero_sys::*;

use crate::driver::Driver;
use crate::error::Result;

pub(crate) struct ContextOwner {
    pub(crate) driver: Driver,
    pub(crate) handle: ze_context_handle_t,
}

// SAFETY: a context's functions may be called from simultaneous threads (spec, core "Contexts"); it is destroyed by
// the last owner alone.
unsafe impl Send for ContextOwner {}
// SAFETY: as for `Send`.
unsafe impl Sync for ContextOwner {}

impl Drop for ContextOwner {
    fn drop(&mut self) {
        if let Some(destroy) = self.driver.api.context.pfnDestroy {
            // SAFETY: our handle, and all children are destroyed: each keeps an `Arc` of this value.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// A context. Cheap to clone; destroyed with its last clone and child.
#[derive(Clone)]
pub struct Context {
    pub(crate) owner: Arc<ContextOwner>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({:p})", self.owner.handle)
    }
}

impl Context {
    pub(crate) fn new(driver: &Driver) -> Result<Self> {
        let desc = ze_context_desc_t::default();
        let mut handle = std::ptr::null_mut();
        // SAFETY: a live driver, valid input and output.
        let code = driver
            .api
            .context
            .pfnCreate
            .map(|f| unsafe { f(driver.handle, &raw const desc, &raw mut handle) });
        driver
            .api
            .check("zeContextCreate", Some(driver.handle), code)?;
        Ok(Self {
            owner: Arc::new(ContextOwner {
                driver: driver.clone(),
                handle,
            }),
        })
    }

    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_context_handle_t {
        self.owner.handle
    }

    /// The driver it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.owner.driver
    }

    pub(crate) fn check(&self, function: &'static str, code: Option<ze_result_t>) -> Result<()> {
        let driver = self.driver();
        driver.api.check(function, Some(driver.handle), code)
    }
}

impl Driver {
    /// A context over all devices of the driver.
    ///
    /// # Errors
    /// The call's.
    pub fn create_context(&self) -> Result<Context> {
        Context::new(self)
    }
}
