//! A Level Zero context: its pending commands, samplers and lost devices.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use level_zero::sys::*;
use smallvec::SmallVec;

use super::fault_pool::FaultPool;
use super::losses::{Losses, Moment};
use super::pending::PendingSet;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::registry::disown;
use crate::ze::{Api, ze};

/// Contexts that the program owns, by address; none in most programs.
pub(crate) type ProgramContexts = SmallVec<[usize; 1]>;

struct KnownSampler {
    device: Device,
    /// The sampler's properties, encoded.
    code: u64,
    made: Moment,
    handle: ze_sampler_handle_t,
}

/// A Level Zero context, destroyed after everything that was made in it.
pub(crate) struct NativeContext {
    pub(crate) api: Api,
    pub(crate) handle: ze_context_handle_t,
    owned: bool,
    /// Created when a kernel first uses it, and again after a loss.
    samplers: Mutex<Vec<KnownSampler>>,
    /// Submitted commands that are on no list yet.
    pub(crate) pending: PendingSet,
    /// How many queues of the program are in this context, if the program owns it.
    pub(crate) queues: AtomicUsize,
    pub(crate) losses: Losses,
    /// For kernels that report faults.
    pub(crate) fault_records: FaultPool,
}

// SAFETY: the specification allows a context's functions to be called from simultaneous threads (core, "Contexts").
unsafe impl Send for NativeContext {}
// SAFETY: as for `Send`.
unsafe impl Sync for NativeContext {}

impl NativeContext {
    /// Wraps a handle; `owned` if this runtime destroys it.
    pub(crate) fn new(api: Api, handle: ze_context_handle_t, owned: bool) -> Self {
        Self {
            api,
            handle,
            owned,
            samplers: Mutex::default(),
            pending: PendingSet::default(),
            queues: AtomicUsize::new(0),
            losses: Losses::default(),
            fault_records: FaultPool::default(),
        }
    }

    /// Whether this runtime destroys the context.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned
    }

    /// Asks the driver whether the context is lost.
    pub(crate) fn is_lost(&self) -> bool {
        let status = self.api.tables.context.pfnGetStatus;
        // SAFETY: a live context.
        let status = status.map(|status| unsafe { status(self.handle) });
        self.losses.all() || status == Some(ZE_RESULT_ERROR_DEVICE_LOST)
    }

    /// The context itself if the program owns it, for deferred releases.
    pub(crate) fn kept(&self) -> ProgramContexts {
        let own = std::ptr::from_ref(self).addr();
        (!self.owned).then_some(own).into_iter().collect()
    }

    /// The sampler of a device with these encoded properties; `create` makes a missing one.
    pub(crate) fn sampler(
        &self,
        device: &Device,
        code: u64,
        create: impl FnOnce() -> Result<ze_sampler_handle_t>,
    ) -> Result<ze_sampler_handle_t> {
        let mut known = self.samplers.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, hardware) = (self.losses.moment(), device.hardware());
        let mut fitting = known
            .iter()
            .filter(|known| known.device == *device && known.code == code);
        // Launches from before a loss keep the earlier samplers.
        let lost = |known: &KnownSampler| self.losses.since(Some(&hardware), known.made).is_some();
        if let Some(known) = fitting.find(|known| !lost(known)) {
            return Ok(known.handle);
        }
        let handle = create()?;
        known.push(KnownSampler {
            device: device.clone(),
            code,
            made,
            handle,
        });
        Ok(handle)
    }
}

impl Drop for NativeContext {
    fn drop(&mut self) {
        let samplers = self
            .samplers
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for KnownSampler { handle, .. } in samplers.drain(..) {
            let api = self.api;
            // SAFETY: our sampler; launches that use it keep this value alive.
            let _ = unsafe { ze!(api, zeSamplerDestroy = sampler.pfnDestroy(handle)) };
        }
        for memory in self.fault_records.end() {
            let api = self.api;
            let _ = crate::trace::freeing(memory, || {
                // SAFETY: our memory; launches that use it keep this value alive.
                unsafe { ze!(api, zeMemFree = mem.pfnFree(self.handle, memory)) }
            });
        }
        if self.owned {
            disown(self.handle);
            let api = self.api;
            // SAFETY: our handle; every object made in the context keeps this value alive.
            let _ = unsafe { ze!(api, zeContextDestroy = context.pfnDestroy(self.handle)) };
        }
    }
}

/// A device in a context, until it is lost.
#[derive(Clone)]
pub(crate) struct Intact {
    context: Arc<NativeContext>,
    hardware: Device,
    since: Moment,
}

impl Intact {
    pub(crate) fn new(context: &Arc<NativeContext>, device: &Device) -> Self {
        Self {
            context: Arc::clone(context),
            since: context.losses.moment(),
            hardware: device.hardware(),
        }
    }

    /// Why the device was lost since this was made, or since the last call of this function.
    pub(crate) fn renew(&mut self) -> Option<Error> {
        let error = self.loss()?;
        // A loss between the two calls is handled together with this one.
        self.since = self.context.losses.moment();
        Some(error)
    }

    /// Why the device was lost since then.
    pub(crate) fn loss(&self) -> Option<Error> {
        self.context.losses.since(Some(&self.hardware), self.since)
    }
}
