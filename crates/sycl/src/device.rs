//! Devices and sub-devices.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use level_zero::sys::*;

use crate::error::{Errc, Error, Result};
use crate::info::descriptor::Info;
use crate::platform::Platform;
use crate::ze::{Api, enumerate, text, ze};

/// The type of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceType {
    /// A CPU.
    Cpu,
    /// A GPU.
    Gpu,
    /// An FPGA or another accelerator.
    Accelerator,
    /// Something else.
    Custom,
}

/// A SYCL aspect: a capability of devices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "SYCL 2020's aspects by their names, 4.6.4.5")]
pub enum Aspect {
    Cpu,
    Gpu,
    Accelerator,
    Custom,
    Emulated,
    HostDebuggable,
    Fp16,
    Fp64,
    Atomic64,
    Image,
    OnlineCompiler,
    OnlineLinker,
    QueueProfiling,
    UsmDeviceAllocations,
    UsmHostAllocations,
    UsmAtomicHostAllocations,
    UsmSharedAllocations,
    UsmAtomicSharedAllocations,
    UsmSystemAllocations,
}

/// A way of dividing a device into sub-devices.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Partition {
    /// Parts of the given number of compute units.
    Equally(u32),
    /// Parts of the given numbers of compute units.
    Counts(Vec<u32>),
    /// One part for each NUMA node.
    AffinityNuma,
    /// Parts by the next level of the hardware.
    AffinityNextPartitionable,
}

/// A device or sub-device. Cheap to clone.
#[derive(Clone)]
pub struct Device(pub(crate) &'static DeviceInner);

pub(crate) struct DeviceInner {
    platform: Platform,
    pub(crate) handle: ze_device_handle_t,
    parent: Option<Device>,
    /// The whole hardware, if an environment variable made a part of it a root device.
    hardware: Option<Device>,
    pub(crate) properties: ze_device_properties_t,
    parts: OnceLock<Vec<Device>>,
    compute: OnceLock<ComputeGroup>,
}

/// The queue group that runs kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComputeGroup {
    pub(crate) ordinal: u32,
    pub(crate) queues: u32,
    /// Bytes of the longest fill pattern.
    pub(crate) longest_pattern: usize,
    /// Work-items of the largest work-group.
    pub(crate) largest_group: u32,
    /// The ordinal and size of the copy-only queue group, if there is one.
    pub(crate) copies: Option<(u32, u32)>,
}

// SAFETY: the specification allows device handles to be used by simultaneous threads (core, "Device"); the properties
// are plain data with a null pointer.
unsafe impl Send for DeviceInner {}
// SAFETY: as for `Send`.
unsafe impl Sync for DeviceInner {}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.0.handle == other.0.handle
    }
}
impl Eq for Device {}
impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.handle.hash(state);
    }
}
impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", text(&self.0.properties.name))
    }
}

impl DeviceInner {
    /// Returns the root devices of a platform's driver.
    pub(crate) fn roots(platform: Platform) -> Result<Vec<Device>> {
        let api = platform.api();
        let handles = enumerate(std::ptr::null_mut(), |count, array| {
            // SAFETY: a live driver; `count` and `array` follow the two-call idiom.
            unsafe { ze!(api, zeDeviceGet = device.pfnGet(api.driver, count, array)) }
        })?;
        handles
            .into_iter()
            .map(|handle| Self::create(platform, handle, None, None))
            .collect()
    }

    fn create(
        platform: Platform,
        handle: ze_device_handle_t,
        parent: Option<Device>,
        hardware: Option<Device>,
    ) -> Result<Device> {
        let mut properties = ze_device_properties_t::default();
        let api = platform.api();
        // SAFETY: a live device and a valid output.
        unsafe {
            ze!(
                api,
                zeDeviceGetProperties = device.pfnGetProperties(handle, &raw mut properties)
            )?;
        }
        Ok(Device(Box::leak(Box::new(Self {
            platform,
            handle,
            parent,
            hardware,
            properties,
            parts: OnceLock::new(),
            compute: OnceLock::new(),
        }))))
    }
}

impl Device {
    /// Returns the device's platform.
    #[must_use]
    pub fn platform(&self) -> Platform {
        self.0.platform
    }

    /// Returns the device's type.
    #[must_use]
    pub fn kind(&self) -> DeviceType {
        match self.0.properties.r#type {
            ZE_DEVICE_TYPE_CPU => DeviceType::Cpu,
            ZE_DEVICE_TYPE_GPU => DeviceType::Gpu,
            ZE_DEVICE_TYPE_FPGA | ZE_DEVICE_TYPE_MCA | ZE_DEVICE_TYPE_VPU => {
                DeviceType::Accelerator
            }
            _ => DeviceType::Custom,
        }
    }

    /// Returns a property, such as `device.info::<info::device::Name>()`.
    ///
    /// # Errors
    /// [`Errc::FeatureNotSupported`] if the driver does not provide the property.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    /// Divides the device into sub-devices.
    ///
    /// # Errors
    /// [`Errc::FeatureNotSupported`] if the device does not support this partition; [`Errc::Invalid`] if it has too few
    /// compute units.
    pub fn create_sub_devices(&self, partition: &Partition) -> Result<Vec<Self>> {
        let parts = self.parts();
        match partition {
            Partition::AffinityNuma | Partition::AffinityNextPartitionable if parts.len() > 1 => {
                Ok(parts.to_vec())
            }
            Partition::Equally(units) if u64::from(*units) > self.compute_units() => {
                Err(Error::invalid(format!(
                    "{units} compute units in a part: the device has {}",
                    self.compute_units()
                )))
            }
            _ => Err(Error::new(
                Errc::FeatureNotSupported,
                format!(
                    "{self:?} cannot be divided by {partition:?}: it has {} parts by affinity",
                    parts.len()
                ),
            )),
        }
    }

    /// Returns the parent of a sub-device.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.parent.clone()
    }

    pub(crate) fn compute_units(&self) -> u64 {
        let p = &self.0.properties;
        u64::from(p.numSlices) * u64::from(p.numSubslicesPerSlice) * u64::from(p.numEUsPerSubslice)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.platform.api()
    }

    pub(crate) fn handle(&self) -> ze_device_handle_t {
        self.0.handle
    }

    /// The sub-devices that the driver reports, asked once.
    pub(crate) fn parts(&self) -> &'static [Self] {
        self.0.parts.get_or_init(|| {
            let api = self.api();
            let handles = enumerate(std::ptr::null_mut(), |count, array| {
                // SAFETY: a live device; `count` and `array` follow the two-call idiom.
                unsafe {
                    ze!(
                        api,
                        zeDeviceGetSubDevices =
                            device.pfnGetSubDevices(self.0.handle, count, array)
                    )
                }
            });
            let created = handles.unwrap_or_default().into_iter();
            created
                .filter_map(|handle| {
                    let parent = Some(self.clone());
                    DeviceInner::create(self.0.platform, handle, parent, None).ok()
                })
                .collect()
        })
    }

    /// Makes a root device of the process of it. A sub-device that an environment variable selected has no parent, but
    /// shares memory with its hardware.
    pub(crate) fn as_root(&self, already: bool) -> Self {
        if already {
            return self.clone();
        }
        let hardware = Some(self.hardware());
        DeviceInner::create(self.0.platform, self.0.handle, None, hardware)
            .unwrap_or_else(|_| self.clone())
    }

    /// The device of the whole hardware: itself or its topmost parent.
    pub(crate) fn hardware(&self) -> Self {
        let mut top = self.clone();
        while let Some(parent) = top.parent() {
            top = parent;
        }
        top.0.hardware.clone().unwrap_or(top)
    }

    /// Returns the first queue group that runs kernels.
    pub(crate) fn compute_group(&self) -> Result<ComputeGroup> {
        if let Some(group) = self.0.compute.get() {
            return Ok(*group);
        }
        let api = self.api();
        let groups = enumerate(
            ze_command_queue_group_properties_t::default(),
            |count, array| {
                // SAFETY: a live device; `count` and `array` follow the two-call idiom.
                unsafe {
                    ze!(
                        api,
                        zeDeviceGetCommandQueueGroupProperties =
                            device.pfnGetCommandQueueGroupProperties(self.0.handle, count, array)
                    )
                }
            },
        )?;
        let mut limits = ze_device_compute_properties_t::default();
        // SAFETY: a live device and a valid output.
        unsafe {
            ze!(
                api,
                zeDeviceGetComputeProperties =
                    device.pfnGetComputeProperties(self.0.handle, &raw mut limits)
            )?;
        }
        let compute = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        let found = (0..)
            .zip(&groups)
            .find(|(_, group)| group.flags & compute != 0);
        let Some((ordinal, group)) = found else {
            return Err(Error::new(
                Errc::Runtime,
                format!("{self:?} has no queues that run kernels"),
            ));
        };
        let copying = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        let copies = (0..)
            .zip(&groups)
            .find(|(_, group)| group.flags & (compute | copying) == copying)
            .map(|(ordinal, group)| (ordinal, group.numQueues));
        let group = ComputeGroup {
            ordinal,
            queues: group.numQueues,
            longest_pattern: group.maxMemoryFillPatternSize,
            largest_group: limits.maxTotalGroupSize,
            copies,
        };
        Ok(*self.0.compute.get_or_init(|| group))
    }

    /// Whether the device's memory is the host's.
    pub(crate) fn uses_host_memory(&self) -> bool {
        self.0.properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED != 0
    }

    /// Whether `self` is `other` or a part of it.
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        let mut at = Some(self.clone());
        while let Some(device) = at {
            if device == *other {
                return true;
            }
            at = device.parent();
        }
        false
    }

    /// Finds the sub-device with a handle, at any depth.
    pub(crate) fn part(&self, handle: ze_device_handle_t) -> Option<Self> {
        let mut open: Vec<&Self> = self.parts().iter().collect();
        while let Some(part) = open.pop() {
            if part.handle() == handle {
                return Some(part.clone());
            }
            open.extend(part.parts());
        }
        None
    }

    /// Whether the device can access the other's memory directly.
    pub(crate) fn can_access_peer(&self, other: &Self) -> bool {
        let api = self.api();
        if api != other.api() {
            return false;
        }
        let mut value = 0;
        // SAFETY: live devices of one driver and a valid output.
        let asked = unsafe {
            ze!(
                api,
                zeDeviceCanAccessPeer =
                    device.pfnCanAccessPeer(self.0.handle, other.0.handle, &raw mut value)
            )
        };
        asked.is_ok() && value != 0
    }
}

/// Handles of the devices that enumeration chose, in its order.
static NUMBERED: OnceLock<Vec<usize>> = OnceLock::new();

/// Numbers the chosen devices as log lines name them.
pub(crate) fn number_devices(chosen: &[Device]) {
    let handles = chosen.iter().map(|device| device.handle().addr());
    let _ = NUMBERED.set(handles.collect());
}

/// A device's name in log lines: its number, a sub-device's name, or the host for `None`.
pub(crate) fn name_of(device: Option<&Device>) -> String {
    let Some(device) = device else {
        return "the host".to_owned();
    };
    let handle = device.handle().addr();
    let mut known = NUMBERED.get().into_iter().flatten();
    match known.position(|known| *known == handle) {
        Some(number) => format!("device {number}"),
        None => text(&device.0.properties.name).into_owned(),
    }
}
