//! Contexts own memory, lists and modules. SYCL contexts of one driver share one Level Zero context, so that a buffer
//! has one allocation on a device whichever context uses it. A context from `make_context` has its own.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use level_zero::sys::*;
use sycl_graph::Deps;

use crate::device::Device;
use crate::engine::native_context::NativeContext;
use crate::engine::transfer_lanes::TransferLanes;
use crate::engine::user_event_lanes::{Chosen, Placement};
use crate::error::{Error, Result};
use crate::info::descriptor::Info;
use crate::platform::Platform;
use crate::registry::own;
use crate::ze::{Api, ze};

/// A set of devices that share memory and modules. Cheap to clone.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<ContextInner>);

pub(crate) struct ContextInner {
    /// For copies to and from devices. Declared first, so that its lanes are closed before the rest is dropped.
    transfers: TransferLanes,
    pub(crate) platform: Platform,
    pub(crate) devices: Vec<Device>,
    pub(crate) native: Arc<NativeContext>,
    /// A cache of the module `embedded`, which lives as long as the context. Type-erased, because kernels refer to
    /// contexts.
    pub(crate) remembered: OnceLock<Box<dyn Any + Send + Sync>>,
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
    let native = Arc::new(NativeContext::new(api, handle, true));
    shared.insert(api.driver.addr(), Arc::downgrade(&native));
    Ok(native)
}

impl Context {
    /// Creates a context of devices of one platform.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] without devices or with devices of several platforms; errors of the driver.
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
            transfers: TransferLanes::default(),
            remembered: OnceLock::new(),
        }))
    }

    /// Returns another context of the same devices around the same Level Zero context.
    pub(crate) fn twin(&self) -> Self {
        Self::of(self.0.platform, &self.0.devices, Arc::clone(&self.0.native))
    }

    /// The lane for copies to and from a device's memory.
    pub(crate) fn transfer_lane(&self, device: &Device) -> Result<Chosen<'static>> {
        self.0.transfers.lane(&self.0.native, device)
    }

    /// Chooses the lane of a copy that follows `after`.
    pub(crate) fn choose_for_transfer(
        &self,
        device: &Device,
        after: &Deps,
    ) -> Result<Placement<'_>> {
        self.0.transfers.choose(&self.0.native, device, after)
    }

    /// Checks that a context can be made of these devices.
    pub(crate) fn check(devices: &[Device]) -> Result<()> {
        one_platform(devices).map(drop)
    }

    /// Makes a context around an existing handle.
    pub(crate) fn adopt(
        devices: &[Device],
        handle: ze_context_handle_t,
        owned: bool,
    ) -> Result<Self> {
        let platform = one_platform(devices)?;
        let native = Arc::new(NativeContext::new(platform.api(), handle, owned));
        Ok(Self::of(platform, devices, native))
    }

    /// Returns the context's devices.
    #[must_use]
    pub fn devices(&self) -> Vec<Device> {
        self.0.devices.clone()
    }

    /// Returns the context's platform.
    #[must_use]
    pub fn platform(&self) -> Platform {
        self.0.platform
    }

    /// Returns a property.
    ///
    /// # Errors
    /// See the descriptor.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.native.api
    }

    pub(crate) fn handle(&self) -> ze_context_handle_t {
        self.0.native.handle
    }

    /// Whether the context contains a device or its parent.
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
