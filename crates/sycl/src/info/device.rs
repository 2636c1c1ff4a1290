//! Descriptors of devices.

use level_zero::sys::*;

use super::descriptor::descriptors;
use super::platform::api_version;
use crate::device::{Aspect, Device, DeviceType, Partition};
use crate::error::{Errc, Error, Result};
use crate::platform::{Backend, Platform};
use crate::range::Range;
use crate::ze::{enumerate, text, ze};

/// A floating-point capability of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FpConfig {
    /// Denormalised numbers.
    Denorm,
    /// Infinities and quiet NaNs.
    InfNan,
    /// Rounding to nearest even.
    RoundToNearest,
    /// Rounding to zero.
    RoundToZero,
    /// Rounding to positive and negative infinity.
    RoundToInf,
    /// Fused multiply-add.
    Fma,
    /// Divisions and square roots are rounded correctly.
    CorrectlyRoundedDivideSqrt,
    /// Emulated in software.
    SoftFloat,
}

/// The type of the global memory cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalMemCacheKind {
    /// No cache.
    None,
    /// A read-write cache.
    ReadWrite,
}

/// The type of local memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalMemKind {
    /// No local memory.
    None,
    /// Dedicated memory.
    Local,
    /// A part of global memory.
    Global,
}

/// A way of dividing a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PartitionProperty {
    /// Into equal parts.
    Equally,
    /// By affinity domain.
    ByAffinityDomain,
}

/// A kind of function that a device executes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExecutionCapability {
    /// Device kernels.
    ExecKernel,
    /// Native functions of the host.
    ExecNativeKernel,
}

/// A memory order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names of the memory model")]
pub enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// A memory scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names of the memory model")]
pub enum MemoryScope {
    WorkItem,
    SubGroup,
    WorkGroup,
    Device,
    System,
}

/// Preferred or native widths of vectors, in components.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "one for each scalar type")]
pub struct VectorWidths {
    pub char: u32,
    pub short: u32,
    pub int: u32,
    pub long: u32,
    pub half: u32,
    pub float: u32,
    pub double: u32,
}

descriptors! { Device;
    /// The platform.
    OfPlatform: Platform = |it| Ok(it.platform());
    /// The platform's backend.
    OfBackend: Backend = |it| Ok(it.platform().backend());
    /// The device's type.
    Kind: DeviceType = |it| Ok(it.kind());
    /// The device's name.
    Name: String = |it| Ok(text(&it.0.properties.name).into_owned());
    /// The vendor's name, or its PCI number if that is unknown.
    Vendor: String = |it| Ok(match it.0.properties.vendorId {
        0x8086 => "Intel(R) Corporation".to_owned(),
        0x1022 => "Advanced Micro Devices, Inc.".to_owned(),
        0x10de => "NVIDIA Corporation".to_owned(),
        0x13b5 => "Arm Limited".to_owned(),
        other => format!("PCI vendor {other:#06x}"),
    });
    /// The vendor's PCI number.
    VendorId: u32 = |it| Ok(it.0.properties.vendorId);
    /// The driver's own version.
    DriverVersion: String = |it| {
        let api = it.api();
        let mut properties = ze_driver_properties_t::default();
        // SAFETY: a live driver and a valid output.
        unsafe { ze!(api, zeDriverGetProperties = driver.pfnGetProperties(api.driver, &raw mut properties))? };
        let version = properties.driverVersion;
        Ok(format!("{}.{}.{}", version >> 24, version >> 16 & 0xff, version & 0xffff))
    };
    /// The Level Zero version of the driver, such as "1.17".
    Version: String = |it| api_version(&it.platform());
    /// Empty on this backend (seed 000, section 5).
    BackendVersion: String = |_it| Ok(String::new());
    /// Identifies the device across processes.
    Uuid: [u8; 16] = |it| Ok(it.0.properties.uuid.id);
    /// The PCI address, such as "0000:03:00.0".
    PciAddress: String = |it| {
        let mut pci = ze_pci_ext_properties_t::default();
        // SAFETY: a live device and a valid output.
        unsafe {
            ze!(it.api(), zeDevicePciGetPropertiesExt =
                device.pfnPciGetPropertiesExt(it.handle(), &raw mut pci))?;
        }
        let at = pci.address;
        Ok(format!("{:04x}:{:02x}:{:02x}.{}", at.domain, at.bus, at.device, at.function))
    };
    /// The aspects.
    Aspects: Vec<Aspect> = |it| Ok(ASPECTS.into_iter().filter(|aspect| it.has(*aspect)).collect());

    /// The number of compute units.
    MaxComputeUnits: u32 = |it| Ok(u32::try_from(it.compute_units()).unwrap_or(u32::MAX));
    /// The dimensions of a range: three.
    MaxWorkItemDimensions: u32 = |_it| Ok(3);
    /// The most work-items of a work-group in one dimension.
    MaxWorkItemSizes1: Range<1> = |it| Ok(Range([compute(it)?.maxGroupSizeX as usize]));
    /// In two dimensions, the slower first.
    MaxWorkItemSizes2: Range<2> = |it| {
        let p = compute(it)?;
        Ok(Range([p.maxGroupSizeY, p.maxGroupSizeX].map(|n| n as usize)))
    };
    /// In three dimensions, the slowest first.
    MaxWorkItemSizes3: Range<3> = |it| {
        let p = compute(it)?;
        Ok(Range([p.maxGroupSizeZ, p.maxGroupSizeY, p.maxGroupSizeX].map(|n| n as usize)))
    };
    /// The most work-items of a work-group.
    MaxWorkGroupSize: usize = |it| Ok(compute(it)?.maxTotalGroupSize as usize);
    /// The supported sub-group sizes.
    SubGroupSizes: Vec<usize> = |it| {
        let p = compute(it)?;
        Ok(p.subGroupSizes.iter().take(p.numSubGroupSizes as usize).map(|n| *n as usize).collect())
    };
    /// The most sub-groups of a work-group.
    MaxNumSubGroups: u32 = |it| {
        let p = compute(it)?;
        let smallest = p.subGroupSizes.iter().take(p.numSubGroupSizes as usize).copied().min();
        smallest.filter(|n| *n > 0).map(|n| p.maxTotalGroupSize / n).ok_or_else(|| unanswered("sub-group sizes"))
    };
    /// `false`: sub-groups of a work-group do not make independent forward progress.
    SubGroupIndependentForwardProgress: bool = |_it| Ok(false);
    /// The clock frequency in MHz.
    MaxClockFrequency: u32 = |it| Ok(it.0.properties.coreClockRate);
    /// The bits of an address.
    AddressBits: u32 = |_it| Ok(usize::BITS);
    /// The most bytes of a kernel's arguments.
    MaxParameterSize: usize = |it| Ok(module(it)?.maxArgumentsSize as usize);
    /// Bytes of the buffer for kernels' `printf`.
    PrintfBufferSize: usize = |it| Ok(module(it)?.printfBufferSize as usize);
    /// Nanoseconds between two ticks of the profiling clock.
    ProfilingTimerResolution: usize = |it| Ok(usize::try_from(it.0.properties.timerResolution).unwrap_or(usize::MAX));
    /// `true`: the driver lists only available devices.
    IsAvailable: bool = |_it| Ok(true);
    /// Whether the memory has error correction.
    ErrorCorrectionSupport: bool = |it| Ok(it.0.properties.flags & ZE_DEVICE_PROPERTY_FLAG_ECC != 0);

    /// The most bytes of one allocation.
    MaxMemAllocSize: u64 = |it| Ok(it.0.properties.maxMemAllocSize);
    /// Bytes of global memory.
    GlobalMemSize: u64 = |it| Ok(memories(it)?.iter().map(|memory| memory.totalSize).sum());
    /// Bytes of free global memory, if the driver has the extension for it.
    FreeMemory: u64 = |it| {
        let extensions = it.platform().info::<super::platform::Extensions>()?;
        let known = ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME.to_str().unwrap_or_default();
        if !extensions.iter().any(|name| name == known) {
            return Err(unanswered("free memory"));
        }
        let mut usable = ze_device_usablemem_size_ext_properties_t::default();
        let mut properties = ze_device_properties_t {
            pNext: (&raw mut usable).cast(),
            ..Default::default()
        };
        // SAFETY: a live device and a valid output with a valid extension.
        unsafe {
            ze!(it.api(), zeDeviceGetProperties =
                device.pfnGetProperties(it.handle(), &raw mut properties))?;
        }
        Ok(usable.currUsableMemSize)
    };
    /// Bytes of local memory of a work-group.
    LocalMemSize: u64 = |it| Ok(u64::from(compute(it)?.maxSharedLocalMemory));
    /// The type of local memory.
    LocalMemType: LocalMemKind = |it| Ok(match (compute(it)?.maxSharedLocalMemory, it.kind()) {
        (0, _) => LocalMemKind::None,
        (_, DeviceType::Cpu) => LocalMemKind::Global,
        _ => LocalMemKind::Local,
    });
    /// Bytes of the largest global memory cache.
    GlobalMemCacheSize: u64 = |it| Ok(caches(it)?.iter().map(|cache| cache.cacheSize as u64).max().unwrap_or(0));
    /// Bytes of a cache line, if the driver has the extension for it.
    GlobalMemCacheLineSize: usize = |it| cache_line(it);
    /// The type of the global memory cache.
    GlobalMemCacheType: GlobalMemCacheKind = |it| Ok(match caches(it)?.is_empty() {
        true => GlobalMemCacheKind::None,
        false => GlobalMemCacheKind::ReadWrite,
    });

    /// Half-precision capabilities; empty without half precision.
    HalfFpConfig: Vec<FpConfig> = |it| {
        let p = module(it)?;
        Ok(if p.flags & ZE_DEVICE_MODULE_FLAG_FP16 == 0 { Vec::new() } else { configs(p.fp16flags) })
    };
    /// Single-precision capabilities.
    SingleFpConfig: Vec<FpConfig> = |it| Ok(configs(module(it)?.fp32flags));
    /// Double-precision capabilities; empty without double precision.
    DoubleFpConfig: Vec<FpConfig> = |it| {
        let p = module(it)?;
        Ok(if p.flags & ZE_DEVICE_MODULE_FLAG_FP64 == 0 { Vec::new() } else { configs(p.fp64flags) })
    };
    /// Preferred vector widths.
    PreferredVectorWidths: VectorWidths = |it| {
        let p = widths(it)?;
        Ok(VectorWidths {
            char: p.preferred_vector_width_char,
            short: p.preferred_vector_width_short,
            int: p.preferred_vector_width_int,
            long: p.preferred_vector_width_long,
            half: p.preferred_vector_width_half,
            float: p.preferred_vector_width_float,
            double: p.preferred_vector_width_double,
        })
    };
    /// Native vector widths.
    NativeVectorWidths: VectorWidths = |it| {
        let p = widths(it)?;
        Ok(VectorWidths {
            char: p.native_vector_width_char,
            short: p.native_vector_width_short,
            int: p.native_vector_width_int,
            long: p.native_vector_width_long,
            half: p.native_vector_width_half,
            float: p.native_vector_width_float,
            double: p.native_vector_width_double,
        })
    };

    /// The greatest width of a 1D image.
    Image1dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims1D as usize);
    /// The greatest width of a 2D image.
    Image2dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims2D as usize);
    /// The greatest height of a 2D image.
    Image2dMaxHeight: usize = |it| Ok(image(it)?.maxImageDims2D as usize);
    /// The greatest width of a 3D image.
    Image3dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The greatest height of a 3D image.
    Image3dMaxHeight: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The greatest depth of a 3D image.
    Image3dMaxDepth: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The most bytes of an image created from a buffer.
    ImageMaxBufferSize: u64 = |it| Ok(image(it)?.maxImageBufferSize);
    /// The most images of an image array.
    ImageMaxArraySize: usize = |it| Ok(image(it)?.maxImageArraySlices as usize);
    /// The most samplers of a kernel.
    MaxSamplers: u32 = |it| Ok(image(it)?.maxSamplers);
    /// The most images that a kernel reads.
    MaxReadImageArgs: u32 = |it| Ok(image(it)?.maxReadImageArgs);
    /// The most images that a kernel writes.
    MaxWriteImageArgs: u32 = |it| Ok(image(it)?.maxWriteImageArgs);

    /// Alignment of allocations in bits. Not reported by Level Zero.
    MemBaseAddrAlign: u32 = |_it| Err(unanswered("the minimum alignment of allocations"));
    /// The kinds of functions that the device executes: kernels.
    ExecutionCapabilities: Vec<ExecutionCapability> = |_it| Ok(vec![ExecutionCapability::ExecKernel]);
    /// Memory orders of atomic operations. Not reported by Level Zero.
    AtomicMemoryOrderCapabilities: Vec<MemoryOrder> = |_it| Err(unanswered("orders of atomic operations"));
    /// Memory orders of fences. Not reported by Level Zero.
    AtomicFenceOrderCapabilities: Vec<MemoryOrder> = |_it| Err(unanswered("orders of fences"));
    /// Memory scopes of atomic operations. Not reported by Level Zero.
    AtomicMemoryScopeCapabilities: Vec<MemoryScope> = |_it| Err(unanswered("scopes of atomic operations"));
    /// Memory scopes of fences. Not reported by Level Zero.
    AtomicFenceScopeCapabilities: Vec<MemoryScope> = |_it| Err(unanswered("scopes of fences"));
    /// Support of device USM, as the aspect.
    UsmDeviceAllocations: bool = |it| Ok(it.has(Aspect::UsmDeviceAllocations));
    /// Support of host USM, as the aspect.
    UsmHostAllocations: bool = |it| Ok(it.has(Aspect::UsmHostAllocations));
    /// Support of shared USM, as the aspect.
    UsmSharedAllocations: bool = |it| Ok(it.has(Aspect::UsmSharedAllocations));
    /// Support of system allocations, as the aspect.
    UsmSystemAllocations: bool = |it| Ok(it.has(Aspect::UsmSystemAllocations));

    /// The most sub-devices that the device can be divided into.
    PartitionMaxSubDevices: u32 = |it| Ok(u32::try_from(it.parts().len()).unwrap_or(u32::MAX));
    /// The ways of dividing the device.
    PartitionProperties: Vec<PartitionProperty> = |it| Ok(match it.parts().is_empty() {
        true => Vec::new(),
        false => vec![PartitionProperty::ByAffinityDomain],
    });
    /// The affinity domains by which the device can be divided.
    PartitionAffinityDomains: Vec<Partition> = |it| Ok(match it.parts().is_empty() {
        true => Vec::new(),
        false => vec![Partition::AffinityNuma, Partition::AffinityNextPartitionable],
    });
    /// How the parent was divided into this device; `None` for a root device.
    PartitionTypeProperty: Option<PartitionProperty> =
        |it| Ok(it.parent().map(|_| PartitionProperty::ByAffinityDomain));
    /// The affinity domain by which the parent was divided; `None` for a root device.
    PartitionTypeAffinityDomain: Option<Partition> =
        |it| Ok(it.parent().map(|_| Partition::AffinityNextPartitionable));
    /// The parent of a sub-device.
    ParentDevice: Option<Device> = |it| Ok(it.parent());
}

pub(super) fn unanswered(what: &str) -> Error {
    Error::new(
        Errc::FeatureNotSupported,
        format!("the driver does not report {what}"),
    )
}

/// Queries one structure of properties.
fn ask<T: Default>(call: impl FnOnce(*mut T) -> Result<()>) -> Result<T> {
    let mut properties = T::default();
    call(&raw mut properties)?;
    Ok(properties)
}

fn compute(device: &Device) -> Result<ze_device_compute_properties_t> {
    // SAFETY: a live device and a valid output.
    ask(|to| unsafe {
        ze!(
            device.api(),
            zeDeviceGetComputeProperties = device.pfnGetComputeProperties(device.handle(), to)
        )
    })
}

pub(super) fn module(device: &Device) -> Result<ze_device_module_properties_t> {
    // SAFETY: a live device and a valid output.
    ask(|to| unsafe {
        ze!(
            device.api(),
            zeDeviceGetModuleProperties = device.pfnGetModuleProperties(device.handle(), to)
        )
    })
}

pub(super) fn access(device: &Device) -> Result<ze_device_memory_access_properties_t> {
    // SAFETY: a live device and a valid output.
    ask(|to| unsafe {
        ze!(
            device.api(),
            zeDeviceGetMemoryAccessProperties =
                device.pfnGetMemoryAccessProperties(device.handle(), to)
        )
    })
}

pub(super) fn image(device: &Device) -> Result<ze_device_image_properties_t> {
    // SAFETY: a live device and a valid output.
    ask(|to| unsafe {
        ze!(
            device.api(),
            zeDeviceGetImageProperties = device.pfnGetImageProperties(device.handle(), to)
        )
    })
}

fn widths(device: &Device) -> Result<ze_device_vector_width_properties_ext_t> {
    let api = device.api();
    let all = enumerate(
        ze_device_vector_width_properties_ext_t::default(),
        |count, array| {
            // SAFETY: a live device; `count` and `array` follow the two-call idiom.
            unsafe {
                ze!(
                    api,
                    zeDeviceGetVectorWidthPropertiesExt =
                        device.pfnGetVectorWidthPropertiesExt(device.handle(), count, array)
                )
            }
        },
    )?;
    all.first()
        .copied()
        .ok_or_else(|| unanswered("vector widths"))
}

fn memories(device: &Device) -> Result<Vec<ze_device_memory_properties_t>> {
    let api = device.api();
    enumerate(ze_device_memory_properties_t::default(), |count, array| {
        // SAFETY: a live device; `count` and `array` follow the two-call idiom.
        unsafe {
            ze!(
                api,
                zeDeviceGetMemoryProperties =
                    device.pfnGetMemoryProperties(device.handle(), count, array)
            )
        }
    })
}

fn caches(device: &Device) -> Result<Vec<ze_device_cache_properties_t>> {
    let api = device.api();
    enumerate(ze_device_cache_properties_t::default(), |count, array| {
        // SAFETY: a live device; `count` and `array` follow the two-call idiom.
        unsafe {
            ze!(
                api,
                zeDeviceGetCacheProperties =
                    device.pfnGetCacheProperties(device.handle(), count, array)
            )
        }
    })
}

fn cache_line(device: &Device) -> Result<usize> {
    let mut line = ze_device_cache_line_size_ext_t::default();
    let mut properties = ze_device_cache_properties_t {
        pNext: (&raw mut line).cast(),
        ..Default::default()
    };
    let (api, mut count) = (device.api(), 1);
    // SAFETY: a live device and room for one cache, whose chain lives for the call.
    unsafe {
        ze!(
            api,
            zeDeviceGetCacheProperties =
                device.pfnGetCacheProperties(device.handle(), &raw mut count, &raw mut properties)
        )?;
    }
    // Left unchanged by a driver without the extension.
    match line.cacheLineSize {
        0 => Err(unanswered("the size of a cache line")),
        size => Ok(size),
    }
}

fn configs(flags: u32) -> Vec<FpConfig> {
    let all = [
        (ZE_DEVICE_FP_FLAG_DENORM, FpConfig::Denorm),
        (ZE_DEVICE_FP_FLAG_INF_NAN, FpConfig::InfNan),
        (ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST, FpConfig::RoundToNearest),
        (ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO, FpConfig::RoundToZero),
        (ZE_DEVICE_FP_FLAG_ROUND_TO_INF, FpConfig::RoundToInf),
        (ZE_DEVICE_FP_FLAG_FMA, FpConfig::Fma),
        (
            ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT,
            FpConfig::CorrectlyRoundedDivideSqrt,
        ),
        (ZE_DEVICE_FP_FLAG_SOFT_FLOAT, FpConfig::SoftFloat),
    ];
    all.into_iter()
        .filter(|(flag, _)| flags & flag != 0)
        .map(|(_, config)| config)
        .collect()
}

/// All aspects that this runtime knows.
const ASPECTS: [Aspect; 19] = [
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

impl Device {
    /// Returns whether the device has an aspect; `false` if its driver does not report it.
    #[must_use]
    pub fn has(&self, aspect: Aspect) -> bool {
        asked(self, aspect).unwrap_or(false)
    }
}

/// As [`Device::has`], but returns the error of a driver that does not report the aspect.
pub(crate) fn asked(device: &Device, aspect: Aspect) -> Result<bool> {
    let has_flag = |flag| module(device).map(|p| p.flags & flag != 0);
    let memory = |capabilities: fn(&ze_device_memory_access_properties_t) -> u32, flag| {
        access(device).map(|p| capabilities(&p) & flag != 0)
    };
    let usable = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    let atomic = ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    Ok(match aspect {
        Aspect::Cpu => device.kind() == DeviceType::Cpu,
        Aspect::Gpu => device.kind() == DeviceType::Gpu,
        Aspect::Accelerator => device.kind() == DeviceType::Accelerator,
        Aspect::Custom => device.kind() == DeviceType::Custom,
        Aspect::Emulated | Aspect::HostDebuggable => false,
        Aspect::Fp16 => has_flag(ZE_DEVICE_MODULE_FLAG_FP16)?,
        Aspect::Fp64 => has_flag(ZE_DEVICE_MODULE_FLAG_FP64)?,
        Aspect::Atomic64 => has_flag(ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS)?,
        Aspect::Image => image(device)?.maxReadImageArgs > 0,
        Aspect::OnlineCompiler | Aspect::OnlineLinker => module(device)?.spirvVersionSupported != 0,
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
