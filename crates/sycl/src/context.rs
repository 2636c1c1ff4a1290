//! Contexts: what owns memory, lists and modules. SYCL contexts of one driver share one Level Zero context, so that a
//! buffer has one allocation on a device whichever of them is used; a context from `make_context` is its own.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use level_zero::sys::*;
use sycl_graph::Deps;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::graveyard::Kept;
use crate::image::{Sampler, native};
use crate::info::Info;
use crate::lane::{Chosen, Lane, LaneOptions, Losses, Moment, SideLanes, Way};
use crate::platform::Platform;
use crate::registry::{disown, own};
use crate::ticket::Promises;
use crate::ze::{Api, ze};

/// Devices that work together. Cheap to clone.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<ContextInner>);

pub(crate) struct ContextInner {
    pub(crate) platform: Platform,
    pub(crate) devices: Vec<Device>,
    pub(crate) native: Arc<NativeContext>,
    /// Lanes for copies to and from a device, made when first needed, and anew when the device was lost.
    transfers: Mutex<Vec<TransferLane>>,
    /// For copies that wait for events of the program's.
    sides: SideLanes,
    pub(crate) embedded: crate::embedded::Remembered,
}

struct TransferLane {
    device: Device,
    lane: &'static Lane,
    /// Whoever has chosen the lane has this until it has used it.
    users: Arc<()>,
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        let lanes = self
            .transfers
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let lanes = lanes.drain(..).map(|known| known.lane);
        for lane in lanes.chain(self.sides.each()) {
            lane.close_later();
        }
    }
}

struct KnownSampler {
    device: Device,
    like: Sampler,
    made: Moment,
    handle: ze_sampler_handle_t,
}

/// A Level Zero context, destroyed after everything that was made in it.
pub(crate) struct NativeContext {
    pub(crate) api: Api,
    pub(crate) handle: ze_context_handle_t,
    owned: bool,
    /// Made when a kernel is first given one, and anew when the device was lost.
    samplers: Mutex<Vec<KnownSampler>>,
    /// Commands that were submitted and are on no list yet.
    pub(crate) pending: Promises,
    /// Queues of the program's in a context that stays the program's.
    pub(crate) queues: AtomicUsize,
    pub(crate) losses: Losses,
}

// SAFETY: a context's functions may be called from simultaneous threads (spec, core "Contexts").
unsafe impl Send for NativeContext {}
// SAFETY: as for `Send`.
unsafe impl Sync for NativeContext {}

impl NativeContext {
    /// Whether this runtime destroys it.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned
    }

    /// Whether nothing works in it any more; asks the driver.
    pub(crate) fn is_lost(&self) -> bool {
        let status = self.api.tables.context.pfnGetStatus;
        // SAFETY: a live context.
        let status = status.map(|status| unsafe { status(self.handle) });
        self.losses.all() || status == Some(ZE_RESULT_ERROR_DEVICE_LOST)
    }

    /// Itself, if it stays the program's, for what is freed with it later.
    pub(crate) fn kept(&self) -> Kept {
        let own = std::ptr::from_ref(self).addr();
        (!self.owned).then_some(own).into_iter().collect()
    }

    /// The sampler of a device with these properties.
    pub(crate) fn sampler(&self, device: &Device, sampler: Sampler) -> Result<ze_sampler_handle_t> {
        let mut known = self.samplers.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, hardware) = (self.losses.moment(), device.hardware());
        let mut fitting = known
            .iter()
            .filter(|known| known.device == *device && known.like == sampler);
        // Launches from before a loss have the earlier ones.
        let lost = |known: &KnownSampler| self.losses.since(Some(&hardware), known.made).is_some();
        if let Some(known) = fitting.find(|known| !lost(known)) {
            return Ok(known.handle);
        }
        let handle = native::create_sampler(self, device, sampler)?;
        known.push(KnownSampler {
            device: device.clone(),
            like: sampler,
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
            // SAFETY: ours, and launches keep this value alive.
            let _ = unsafe { ze!(api, zeSamplerDestroy = sampler.pfnDestroy(handle)) };
        }
        if self.owned {
            disown(self.handle);
            let api = self.api;
            // SAFETY: the handle is ours, and what was made in it keeps this value alive.
            let _ = unsafe { ze!(api, zeContextDestroy = context.pfnDestroy(self.handle)) };
        }
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Context {}
impl Hash for Context {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({:?})", self.0.devices)
    }
}

/// The Level Zero contexts that SYCL contexts share, by driver.
static SHARED: Mutex<Option<HashMap<usize, Weak<NativeContext>>>> = Mutex::new(None);

fn shared(api: Api) -> Result<Arc<NativeContext>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = shared.get_or_insert_default();
    let known = shared.get(&api.driver.addr()).and_then(Weak::upgrade);
    if let Some(known) = known.filter(|known| !known.is_lost()) {
        return Ok(known);
    }
    let desc = ze_context_desc_t::default();
    let mut handle = std::ptr::null_mut();
    // SAFETY: a live driver, valid input and output.
    unsafe {
        ze!(
            api,
            zeContextCreate = context.pfnCreate(api.driver, &raw const desc, &raw mut handle)
        )?;
    }
    own(handle);
    let native = Arc::new(NativeContext {
        api,
        handle,
        owned: true,
        samplers: Mutex::default(),
        pending: Promises::default(),
        queues: AtomicUsize::new(0),
        losses: Losses::default(),
    });
    shared.insert(api.driver.addr(), Arc::downgrade(&native));
    Ok(native)
}

impl Context {
    /// A context of these devices, which are of one platform.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] when there is no device or they are of several platforms; the call's.
    pub fn new(devices: &[Device]) -> Result<Self> {
        let platform = one_platform(devices)?;
        let native = shared(platform.api())?;
        Ok(Self::of(platform, devices, native))
    }

    fn of(platform: Platform, devices: &[Device], native: Arc<NativeContext>) -> Self {
        Self(Arc::new(ContextInner {
            platform,
            devices: devices.to_vec(),
            native,
            transfers: Mutex::default(),
            sides: SideLanes::default(),
            embedded: crate::embedded::Remembered::default(),
        }))
    }

    /// Another context of the same devices around the same Level Zero context.
    pub(crate) fn twin(&self) -> Self {
        Self::of(self.0.platform, &self.0.devices, Arc::clone(&self.0.native))
    }

    /// The lane for copies to and from a device's memory.
    pub(crate) fn transfer_lane(&self, device: &Device) -> Result<Chosen<'static>> {
        let transfers = &self.0.transfers;
        let mut lanes = transfers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = lanes.iter().filter(|known| !known.lane.is_lost());
        if let Some(known) = known.find(|known| known.device == *device) {
            return Ok(Chosen::used(known.lane, &known.users));
        }
        let (lane, users) = (self.create_transfer_lane(device)?, Arc::default());
        let chosen = Chosen::used(lane, &users);
        // What is lost may still be somebody's choice: it stays as long.
        let is_over = |known: &mut TransferLane| {
            known.lane.is_lost() && Arc::get_mut(&mut known.users).is_some()
        };
        for over in lanes.extract_if(.., is_over) {
            over.lane.close_later();
        }
        lanes.push(TransferLane {
            device: device.clone(),
            lane,
            users,
        });
        Ok(chosen)
    }

    /// Where a copy goes that follows `after`.
    pub(crate) fn choose_for_transfer(&self, device: &Device, after: &Deps) -> Result<Way<'_>> {
        let gates = Lane::gates_of(after);
        if gates.is_empty() {
            return Ok(Way::On(self.transfer_lane(device)?));
        }
        let make = || self.create_transfer_lane(device);
        self.0.sides.choose(device, after, &gates, 1, make)
    }

    fn create_transfer_lane(&self, device: &Device) -> Result<&'static Lane> {
        // A copy engine of its own, where the device has one and the environment does not forbid it.
        let compute = device.compute_group()?;
        let engine = crate::environment::copy_engines()
            .zip(compute.copies)
            .and_then(|(wished, (ordinal, engines))| {
                let index = *wished.start();
                (index < engines).then_some((ordinal, index))
            });
        let (ordinal, index) = engine.unwrap_or((compute.ordinal, 0));
        let options = LaneOptions {
            ordinal,
            index,
            ..LaneOptions::default()
        };
        Lane::create(&self.0.native, device, options)
    }

    /// Whether a context may be made of these devices.
    pub(crate) fn check(devices: &[Device]) -> Result<()> {
        one_platform(devices).map(drop)
    }

    /// A context around a handle that exists already.
    pub(crate) fn adopt(
        devices: &[Device],
        handle: ze_context_handle_t,
        owned: bool,
    ) -> Result<Self> {
        let platform = one_platform(devices)?;
        let native = Arc::new(NativeContext {
            api: platform.api(),
            handle,
            owned,
            samplers: Mutex::default(),
            pending: Promises::default(),
            queues: AtomicUsize::new(0),
            losses: Losses::default(),
        });
        Ok(Self::of(platform, devices, native))
    }

    /// Its devices.
    #[must_use]
    pub fn devices(&self) -> Vec<Device> {
        self.0.devices.clone()
    }

    /// Its platform.
    #[must_use]
    pub fn platform(&self) -> Platform {
        self.0.platform
    }

    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.native.api
    }

    pub(crate) fn handle(&self) -> ze_context_handle_t {
        self.0.native.handle
    }

    /// Whether a device or the device that it is a part of belongs to it.
    pub(crate) fn contains(&self, device: &Device) -> bool {
        self.0
            .devices
            .iter()
            .any(|member| device.is_part_of(member))
    }
}

fn one_platform(devices: &[Device]) -> Result<Platform> {
    let Some(first) = devices.first() else {
        return Err(Error::invalid("a context needs at least one device"));
    };
    if devices.iter().any(|d| d.platform() != first.platform()) {
        return Err(Error::invalid(
            "a context's devices must all be of one platform",
        ));
    }
    Ok(first.platform())
}
