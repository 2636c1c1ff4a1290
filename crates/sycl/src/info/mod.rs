//! Information descriptors: typed questions to platforms, devices, contexts, queues, events and kernels.
//!
//! Each is a type; `device.info::<info::device::Name>()` answers its [`Info::Value`], and a question to an object of
//! another class does not compile. What the driver does not answer is `FeatureNotSupported`, never a made-up value.

pub mod device;

use level_zero::sys::*;

use crate::context::Context;
use crate::device::{Aspect, Device, DeviceType};
use crate::error::{Error, Result};
use crate::event::{Event, EventStatus};
use crate::kernel::Kernel;
use crate::platform::Platform;
use crate::queue::Queue;
use crate::ze::{enumerate, text, ze};

/// A question to an object of type `Of`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an information descriptor of `{Of}`",
    note = "descriptors of platforms are in `info::platform`, of devices in `info::device`, and so on"
)]
pub trait Info<Of> {
    /// What it answers.
    type Value;
    /// Asks.
    ///
    /// # Errors
    /// `FeatureNotSupported` for what the driver does not answer; the call's.
    fn get(of: &Of) -> Result<Self::Value>;
}

/// Declares descriptors, each with the expression that answers it.
macro_rules! descriptors {
    ($of:ty; $($(#[$doc:meta])* $name:ident: $value:ty = |$it:ident| $answer:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl $crate::info::Info<$of> for $name {
            type Value = $value;
            fn get($it: &$of) -> $crate::error::Result<$value> {
                $answer
            }
        }
    )* };
}
pub(crate) use descriptors;

/// Of platforms.
pub mod platform {
    use super::*;
    descriptors! { Platform;
        /// "Solum" and the backend's name.
        Name: String = |_it| Ok("Solum Level-Zero".to_owned());
        /// Who made the runtime.
        Vendor: String = |_it| Ok("Solum".to_owned());
        /// The driver's API version, such as "1.17".
        Version: String = |it| api_version(it);
        /// Always "FULL_PROFILE".
        Profile: String = |_it| Ok("FULL_PROFILE".to_owned());
        /// Names of the driver's Level Zero extensions.
        Extensions: Vec<String> = |it| {
            let api = it.api();
            let all = enumerate(ze_driver_extension_properties_t::default(), |count, array| {
                // SAFETY: a live driver; `count` and `array` follow the two-call idiom.
                unsafe {
                    ze!(api, zeDriverGetExtensionProperties =
                        driver.pfnGetExtensionProperties(api.driver, count, array))
                }
            })?;
            Ok(all.iter().map(|extension| text(&extension.name)).collect())
        };
    }
}

/// The driver's API version.
fn api_version(platform: &Platform) -> Result<String> {
    let api = platform.api();
    let mut version = ze_api_version_t(0);
    // SAFETY: a live driver and a valid output.
    unsafe {
        ze!(
            api,
            zeDriverGetApiVersion = driver.pfnGetApiVersion(api.driver, &raw mut version)
        )?
    };
    Ok(format!("{}.{}", version.0 >> 16, version.0 & 0xffff))
}

/// Of contexts.
pub mod context {
    use super::*;
    descriptors! { Context;
        /// Its platform.
        OfPlatform: Platform = |it| Ok(it.platform());
        /// Its devices.
        Devices: Vec<Device> = |it| Ok(it.devices());
        /// Orders of atomic operations of all its devices. Level Zero does not tell.
        AtomicMemoryOrderCapabilities: Vec<device::MemoryOrder> =
            |_it| Err(device::unanswered("orders of atomic operations"));
        /// Orders of fences of all its devices. Level Zero does not tell.
        AtomicFenceOrderCapabilities: Vec<device::MemoryOrder> = |_it| Err(device::unanswered("orders of fences"));
        /// Scopes of atomic operations of all its devices. Level Zero does not tell.
        AtomicMemoryScopeCapabilities: Vec<device::MemoryScope> =
            |_it| Err(device::unanswered("scopes of atomic operations"));
        /// Scopes of fences of all its devices. Level Zero does not tell.
        AtomicFenceScopeCapabilities: Vec<device::MemoryScope> = |_it| Err(device::unanswered("scopes of fences"));
    }
}

/// Of queues.
pub mod queue {
    use super::*;
    descriptors! { Queue;
        /// Its context.
        OfContext: Context = |it| Ok(it.context());
        /// Its device.
        OfDevice: Device = |it| Ok(it.device());
        /// Whether commands run in the order of submission.
        InOrder: bool = |it| Ok(it.is_in_order());
        /// Which of the device's compute engines, when one was asked for.
        ComputeIndex: Option<u32> = |it| Ok(it.props().compute_index);
        /// How urgent it is.
        Priority: crate::Priority = |it| Ok(it.props().priority.unwrap_or(crate::Priority::Normal));
    }
}

/// Of events.
pub mod event {
    use super::*;
    descriptors! { Event;
        /// How its work stands.
        CommandExecutionStatus: EventStatus = |it| Ok(it.status());
    }
    /// Of events of queues with profiling; each waits for the work.
    pub mod profiling {
        use super::*;
        descriptors! { Event;
            /// When the command was submitted, in nanoseconds.
            CommandSubmit: u64 = |it| Ok(it.profiling()?.submit_ns);
            /// When it began.
            CommandStart: u64 = |it| Ok(it.profiling()?.start_ns);
            /// When it ended.
            CommandEnd: u64 = |it| Ok(it.profiling()?.end_ns);
        }
    }
}

/// Of kernels.
pub mod kernel {
    use super::*;
    descriptors! { Kernel;
        /// Its name.
        FunctionName: String = |it| Ok(it.name().to_owned());
        /// How many arguments it takes.
        NumArgs: u32 = |it| Ok(u32::try_from(it.argument_count()).unwrap_or(u32::MAX));
        /// Its context.
        OfContext: Context = |it| Ok(it.bundle().context());
        /// The attributes that it was declared with, as the driver writes them.
        Attributes: String = |it| it.attributes();
    }
}

/// Of a kernel on one of its devices: `kernel.device_info::<info::kernel_device::PrivateMemSize>(&device)`.
pub mod kernel_device {
    use super::*;
    descriptors! { (Kernel, Device);
        /// Only kernels that are part of a device have one: `Invalid`, as SYCL says.
        GlobalWorkSize: crate::Range<3> = |_it| Err(Error::invalid("only built-in kernels have a greatest range"));
        /// The most work-items of one group.
        WorkGroupSize: usize = |it| it.0.max_work_group_size(&it.1);
        /// The number that group sizes should be a multiple of: the sub-group's size.
        PreferredWorkGroupSizeMultiple: usize = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize as usize);
        /// Bytes of private memory for each work-item.
        PrivateMemSize: usize = |it| Ok(it.0.properties(&it.1)?.privateMemSize as usize);
        /// Bytes of local memory that the kernel itself declares.
        LocalMemSize: usize = |it| Ok(it.0.properties(&it.1)?.localMemSize as usize);
        /// The sub-group's size that the kernel demands; 0 for none.
        CompileSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.requiredSubgroupSize);
        /// The most work-items of a sub-group.
        MaxSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize);
        /// The most sub-groups of a work-group.
        MaxNumSubGroups: u32 = |it| Ok(it.0.properties(&it.1)?.maxNumSubgroups);
        /// The group size that the kernel demands, slowest dimension first; zeros for none.
        CompileWorkGroupSize: [usize; 3] = |it| {
            let p = it.0.properties(&it.1)?;
            Ok([p.requiredGroupSizeZ, p.requiredGroupSizeY, p.requiredGroupSizeX].map(|n| n as usize))
        };
    }
}

impl Kernel {
    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    /// A property on one device.
    ///
    /// # Errors
    /// `KernelNotSupported` for a device that it was not built for; as the descriptor says.
    pub fn device_info<I: Info<(Self, Device)>>(&self, device: &Device) -> Result<I::Value> {
        I::get(&(self.clone(), device.clone()))
    }
}

impl Queue {
    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }
}

impl Event {
    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }
}

/// All aspects that this runtime knows.
pub(crate) const ASPECTS: [Aspect; 19] = [
    Aspect::Cpu,
    Aspect::Gpu,
    Aspect::Accelerator,
    Aspect::Custom,
    Aspect::Emulated,
    Aspect::HostDebuggable,
    Aspect::Fp16,
    Aspect::Fp64,
    Aspect::Atomic64,
    Aspect::Image,
    Aspect::OnlineCompiler,
    Aspect::OnlineLinker,
    Aspect::QueueProfiling,
    Aspect::UsmDeviceAllocations,
    Aspect::UsmHostAllocations,
    Aspect::UsmAtomicHostAllocations,
    Aspect::UsmSharedAllocations,
    Aspect::UsmAtomicSharedAllocations,
    Aspect::UsmSystemAllocations,
];

/// Whether a device has an aspect: as its driver says; what cannot be asked it has not.
pub(crate) fn has(device: &Device, aspect: Aspect) -> bool {
    asked(device, aspect).unwrap_or(false)
}

/// As [`has`], where a driver that does not answer is no answer.
pub(crate) fn asked(device: &Device, aspect: Aspect) -> Result<bool> {
    let module = |flag| device::module(device).map(|p| p.flags & flag != 0);
    let memory = |capabilities: fn(&ze_device_memory_access_properties_t) -> u32, flag| {
        device::access(device).map(|p| capabilities(&p) & flag != 0)
    };
    let usable = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    let atomic = ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    Ok(match aspect {
        Aspect::Cpu => device.kind() == DeviceType::Cpu,
        Aspect::Gpu => device.kind() == DeviceType::Gpu,
        Aspect::Accelerator => device.kind() == DeviceType::Accelerator,
        Aspect::Custom => device.kind() == DeviceType::Custom,
        Aspect::Emulated | Aspect::HostDebuggable => false,
        Aspect::Fp16 => module(ZE_DEVICE_MODULE_FLAG_FP16)?,
        Aspect::Fp64 => module(ZE_DEVICE_MODULE_FLAG_FP64)?,
        Aspect::Atomic64 => module(ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS)?,
        Aspect::Image => device::image(device)?.maxReadImageArgs > 0,
        Aspect::OnlineCompiler | Aspect::OnlineLinker => {
            device::module(device)?.spirvVersionSupported != 0
        }
        Aspect::QueueProfiling => device.0.properties.timerResolution != 0,
        Aspect::UsmDeviceAllocations => memory(|p| p.deviceAllocCapabilities, usable)?,
        Aspect::UsmHostAllocations => memory(|p| p.hostAllocCapabilities, usable)?,
        Aspect::UsmAtomicHostAllocations => memory(|p| p.hostAllocCapabilities, atomic)?,
        Aspect::UsmSharedAllocations => memory(|p| p.sharedSingleDeviceAllocCapabilities, usable)?,
        Aspect::UsmAtomicSharedAllocations => {
            memory(|p| p.sharedSingleDeviceAllocCapabilities, atomic)?
        }
        Aspect::UsmSystemAllocations => memory(|p| p.sharedSystemAllocCapabilities, usable)?,
    })
}
