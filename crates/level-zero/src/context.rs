//! Contexts: what owns memory, lists, events and modules.

use std::sync::Arc;

use level_zero_sys::*;

use crate::command::{CommandList, CommandQueue, ListOptions, QueueMode};
use crate::driver::{Device, Driver};
use crate::error::Result;
use crate::event::EventPool;
use crate::memory::{DeviceMemory, HostMemory, Plain, SharedMemory};
use crate::module::{Module, ModuleSource};

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
            // SAFETY: the handle is ours and no child is left: each keeps an `Arc` of this value.
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

    /// `len` zero-initialised elements that the host and every device may use.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_host<T: Plain>(&self, len: usize) -> Result<HostMemory<T>> {
        HostMemory::new(self, len)
    }

    /// `len` elements for `device`, not addressable by the host. Their content is not defined.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_device<T: Plain>(
        &self,
        device: &Device,
        len: usize,
    ) -> Result<DeviceMemory<T>> {
        DeviceMemory::new(self, device, len)
    }

    /// `len` zero-initialised elements for `device` and the host.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_shared<T: Plain>(
        &self,
        device: &Device,
        len: usize,
    ) -> Result<SharedMemory<T>> {
        SharedMemory::new(self, device, len)
    }

    /// A command queue on the first queue group of `device`.
    ///
    /// # Errors
    /// The call's.
    pub fn create_queue(&self, device: &Device, mode: QueueMode) -> Result<CommandQueue> {
        CommandQueue::new(self, device, mode)
    }

    /// A list that is recorded, closed and executed on a queue.
    ///
    /// # Errors
    /// The call's.
    pub fn create_list(&self, device: &Device, options: ListOptions) -> Result<CommandList> {
        CommandList::new(self, device, options)
    }

    /// A list whose commands start when they are appended.
    ///
    /// # Errors
    /// The call's.
    pub fn create_immediate_list(
        &self,
        device: &Device,
        options: ListOptions,
    ) -> Result<CommandList> {
        CommandList::new_immediate(self, device, options)
    }

    /// A pool of `count` host-visible events, with kernel timestamps when `timestamps`.
    ///
    /// # Errors
    /// The call's.
    pub fn create_event_pool(&self, count: u32, timestamps: bool) -> Result<EventPool> {
        EventPool::new(self, count, timestamps)
    }

    /// Builds a program for `device`; `flags` as in `zeModuleCreate`.
    ///
    /// # Errors
    /// [`crate::Error::Build`] with the log; the call's.
    pub fn build_module(
        &self,
        device: &Device,
        source: ModuleSource<'_>,
        flags: &str,
    ) -> Result<Module> {
        Module::new(self, device, source, flags)
    }
}
