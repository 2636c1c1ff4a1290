//! Drivers and devices, and their properties.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use level_zero_sys::*;

use crate::error::Result;
use crate::tables::{Tables, Zeroed};

/// A Level Zero driver.
#[derive(Clone)]
pub struct Driver {
    pub(crate) api: Arc<Tables>,
    pub(crate) handle: ze_driver_handle_t,
}

// SAFETY: driver handles live as long as the process and their functions are thread-safe (spec, "Drivers").
unsafe impl Send for Driver {}
// SAFETY: as for `Send`.
unsafe impl Sync for Driver {}

impl Zeroed for ze_driver_extension_properties_t {
    fn zeroed() -> Self {
        Self::default()
    }
}
impl Zeroed for ze_device_memory_properties_t {
    fn zeroed() -> Self {
        Self::default()
    }
}

impl Driver {
    pub(crate) fn new(api: Arc<Tables>, handle: ze_driver_handle_t) -> Self {
        Self { api, handle }
    }

    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_driver_handle_t {
        self.handle
    }

    /// `(major, minor)` of the API that the driver implements.
    ///
    /// # Errors
    /// The call's.
    pub fn api_version(&self) -> Result<(u32, u32)> {
        let mut version = ZE_API_VERSION_1_0;
        // SAFETY: a live handle and a valid output.
        let code = self
            .api
            .driver
            .pfnGetApiVersion
            .map(|f| unsafe { f(self.handle, &raw mut version) });
        self.api
            .check("zeDriverGetApiVersion", Some(self.handle), code)?;
        Ok((version.0 >> 16, version.0 & 0xffff))
    }

    /// `driverVersion`, a number that grows with releases.
    ///
    /// # Errors
    /// The call's.
    pub fn version(&self) -> Result<u32> {
        let mut properties = ze_driver_properties_t::default();
        // SAFETY: a live handle and a valid output.
        let code = self
            .api
            .driver
            .pfnGetProperties
            .map(|f| unsafe { f(self.handle, &raw mut properties) });
        self.api
            .check("zeDriverGetProperties", Some(self.handle), code)?;
        Ok(properties.driverVersion)
    }

    /// Names and versions of the extensions.
    ///
    /// # Errors
    /// The call's.
    pub fn extensions(&self) -> Result<Vec<(String, u32)>> {
        let all: Vec<ze_driver_extension_properties_t> = self.api.enumerate(
            "zeDriverGetExtensionProperties",
            Some(self.handle),
            |count, array| {
                // SAFETY: a live handle; `count` and `array` follow the two-call idiom.
                self.api
                    .driver
                    .pfnGetExtensionProperties
                    .map(|f| unsafe { f(self.handle, count, array) })
            },
        )?;
        Ok(all
            .iter()
            .map(|e| (bounded_text(&e.name), e.version))
            .collect())
    }

    /// The devices of the driver, in its order.
    ///
    /// # Errors
    /// The call's.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let handles = self
            .api
            .enumerate("zeDeviceGet", Some(self.handle), |count, array| {
                // SAFETY: a live handle; `count` and `array` follow the two-call idiom.
                self.api
                    .device
                    .pfnGet
                    .map(|f| unsafe { f(self.handle, count, array) })
            })?;
        Ok(handles
            .into_iter()
            .map(|handle| Device {
                driver: self.clone(),
                handle,
            })
            .collect())
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Driver({:p})", self.handle)
    }
}

/// A device of a [`Driver`].
#[derive(Clone)]
pub struct Device {
    pub(crate) driver: Driver,
    pub(crate) handle: ze_device_handle_t,
}

// SAFETY: device handles live as long as the process and their functions are thread-safe (spec, "Devices").
unsafe impl Send for Device {}
// SAFETY: as for `Send`.
unsafe impl Sync for Device {}

/// `ze_device_type_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceKind {
    /// Graphics processor.
    Gpu,
    /// Central processor.
    Cpu,
    /// Any other number.
    Other(u32),
}

/// The most used properties; `raw` has the rest.
#[derive(Clone)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// Name for people.
    pub name: String,
    /// Type.
    pub kind: DeviceKind,
    /// Unique and stable.
    pub uuid: [u8; 16],
    /// Compute units: slices × subslices × EUs × threads. A CPU device reports a multiple of eight.
    pub compute_units: u64,
    /// Bytes of all memories.
    pub memory_bytes: u64,
    /// Largest group in work-items.
    pub max_group_size: u32,
    /// Work-group local memory in bytes.
    pub local_memory_bytes: u32,
    /// Supported sub-group sizes.
    pub sub_group_sizes: Vec<u32>,
    /// Everything of `zeDeviceGetProperties`.
    pub raw: ze_device_properties_t,
}

impl Device {
    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_device_handle_t {
        self.handle
    }

    /// The driver it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The device's properties.
    ///
    /// # Errors
    /// The call's.
    pub fn properties(&self) -> Result<DeviceProperties> {
        let api = &self.driver.api;
        let driver = Some(self.driver.handle);
        let mut raw = ze_device_properties_t::default();
        // SAFETY: a live handle and a valid output.
        let code = api
            .device
            .pfnGetProperties
            .map(|f| unsafe { f(self.handle, &raw mut raw) });
        api.check("zeDeviceGetProperties", driver, code)?;
        let mut compute = ze_device_compute_properties_t::default();
        // SAFETY: a live handle and a valid output.
        let code = api
            .device
            .pfnGetComputeProperties
            .map(|f| unsafe { f(self.handle, &raw mut compute) });
        api.check("zeDeviceGetComputeProperties", driver, code)?;
        let memories: Vec<ze_device_memory_properties_t> =
            api.enumerate("zeDeviceGetMemoryProperties", driver, |count, array| {
                // SAFETY: a live handle; `count` and `array` follow the two-call idiom.
                api.device
                    .pfnGetMemoryProperties
                    .map(|f| unsafe { f(self.handle, count, array) })
            })?;
        let product = |parts: [u32; 4]| parts.iter().map(|&n| u64::from(n)).product();
        Ok(DeviceProperties {
            name: bounded_text(&raw.name),
            kind: match raw.r#type {
                ZE_DEVICE_TYPE_GPU => DeviceKind::Gpu,
                ZE_DEVICE_TYPE_CPU => DeviceKind::Cpu,
                other => DeviceKind::Other(other.0),
            },
            uuid: raw.uuid.id,
            compute_units: product([
                raw.numSlices,
                raw.numSubslicesPerSlice,
                raw.numEUsPerSubslice,
                raw.numThreadsPerEU,
            ]),
            memory_bytes: memories.iter().map(|m| m.totalSize).sum(),
            max_group_size: compute.maxTotalGroupSize,
            local_memory_bytes: compute.maxSharedLocalMemory,
            sub_group_sizes: compute
                .subGroupSizes
                .iter()
                .copied()
                .take(compute.numSubGroupSizes as usize)
                .collect(),
            raw,
        })
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({:p})", self.handle)
    }
}

/// A fixed array of C characters up to its NUL or its end.
fn bounded_text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().flat_map(|c| c.to_ne_bytes()).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(
        |_| String::from_utf8_lossy(&bytes).into_owned(),
        |text| text.to_string_lossy().into_owned(),
    )
}
