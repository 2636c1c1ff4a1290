//! Of devices.

use level_zero::sys::*;

use super::descriptor::descriptors;
use super::platform::api_version;
use crate::device::{Aspect, Device, DeviceType, Partition};
use crate::error::{Errc, Error, Result};
use crate::platform::{Backend, Platform};
use crate::range::Range;
use crate::ze::{enumerate, text, ze};

/// How the device computes with floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FpConfig {
    /// Denormal numbers.
    Denorm,
    /// Infinities and quiet NaNs.
    InfNan,
    /// To the nearest even.
    RoundToNearest,
    /// To zero.
    RoundToZero,
    /// To either infinity.
    RoundToInf,
    /// Multiply and add with one rounding.
    Fma,
    /// Divisions and square roots are rounded correctly.
    CorrectlyRoundedDivideSqrt,
    /// By software.
    SoftFloat,
}

/// What kind of cache there is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalMemCacheKind {
    /// None.
    None,
    /// One that is read and written.
    ReadWrite,
}

/// What local memory is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalMemKind {
    /// None.
    None,
    /// Memory of its own.
    Local,
    /// A part of global memory.
    Global,
}

/// By what a device can be divided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PartitionProperty {
    /// Into equal parts.
    Equally,
    /// By affinity domain.
    ByAffinityDomain,
}

/// What a device runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExecutionCapability {
    /// Kernels.
    ExecKernel,
    /// Functions of the host's.
    ExecNativeKernel,
}

/// An order of atomic operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names of the memory model")]
pub enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Who sees an atomic operation at once.
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
    /// Its platform.
    OfPlatform: Platform = |it| Ok(it.platform());
    /// Its platform's backend.
    OfBackend: Backend = |it| Ok(it.platform().backend());
    /// What it is.
    Kind: DeviceType = |it| Ok(it.kind());
    /// Its name.
    Name: String = |it| Ok(text(&it.0.properties.name));
    /// Its vendor's name, or the vendor's PCI number.
    Vendor: String = |it| Ok(match it.0.properties.vendorId {
        0x8086 => "Intel(R) Corporation".to_owned(),
        0x1022 => "Advanced Micro Devices, Inc.".to_owned(),
        0x10de => "NVIDIA Corporation".to_owned(),
        0x13b5 => "Arm Limited".to_owned(),
        other => format!("PCI vendor {other:#06x}"),
    });
    /// Its vendor's PCI number.
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
    /// The version of Level Zero that its driver has, such as "1.17".
    Version: String = |it| api_version(&it.platform());
    /// Empty on this backend (seed 000, section 5).
    BackendVersion: String = |_it| Ok(String::new());
    /// The same for the same device in every run.
    Uuid: [u8; 16] = |it| Ok(it.0.properties.uuid.id);
    /// Its PCI address, such as "0000:03:00.0".
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
    /// What it may do, by SYCL's names.
    Aspects: Vec<Aspect> = |it| Ok(ASPECTS.into_iter().filter(|aspect| it.has(*aspect)).collect());

    /// Compute units.
    MaxComputeUnits: u32 = |it| Ok(u32::try_from(it.compute_units()).unwrap_or(u32::MAX));
    /// Dimensions of a range: three.
    MaxWorkItemDimensions: u32 = |_it| Ok(3);
    /// The most work-items of a group in one dimension.
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
    /// The most work-items of a group.
    MaxWorkGroupSize: usize = |it| Ok(compute(it)?.maxTotalGroupSize as usize);
    /// Sizes that a sub-group may have.
    SubGroupSizes: Vec<usize> = |it| {
        let p = compute(it)?;
        Ok(p.subGroupSizes.iter().take(p.numSubGroupSizes as usize).map(|n| *n as usize).collect())
    };
    /// The most sub-groups of a group.
    MaxNumSubGroups: u32 = |it| {
        let p = compute(it)?;
        let smallest = p.subGroupSizes.iter().take(p.numSubGroupSizes as usize).copied().min();
        smallest.filter(|n| *n > 0).map(|n| p.maxTotalGroupSize / n).ok_or_else(|| unanswered("sub-group sizes"))
    };
    /// No: sub-groups of a group need not progress by themselves.
    SubGroupIndependentForwardProgress: bool = |_it| Ok(false);
    /// MHz.
    MaxClockFrequency: u32 = |it| Ok(it.0.properties.coreClockRate);
    /// Bits of an address.
    AddressBits: u32 = |_it| Ok(usize::BITS);
    /// The most bytes of a kernel's arguments.
    MaxParameterSize: usize = |it| Ok(module(it)?.maxArgumentsSize as usize);
    /// Bytes of what kernels may print.
    PrintfBufferSize: usize = |it| Ok(module(it)?.printfBufferSize as usize);
    /// Nanoseconds between ticks of the clock that events are measured by.
    ProfilingTimerResolution: usize = |it| Ok(usize::try_from(it.0.properties.timerResolution).unwrap_or(usize::MAX));
    /// It can be used: the driver lists no others.
    IsAvailable: bool = |_it| Ok(true);
    /// Whether its memory corrects errors.
    ErrorCorrectionSupport: bool = |it| Ok(it.0.properties.flags & ZE_DEVICE_PROPERTY_FLAG_ECC != 0);

    /// The most bytes of one allocation.
    MaxMemAllocSize: u64 = |it| Ok(it.0.properties.maxMemAllocSize);
    /// Bytes of its memory.
    GlobalMemSize: u64 = |it| Ok(memories(it)?.iter().map(|memory| memory.totalSize).sum());
    /// Bytes of its memory that are free, where the driver has the extension that tells.
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
    /// Bytes of memory of a work-group.
    LocalMemSize: u64 = |it| Ok(u64::from(compute(it)?.maxSharedLocalMemory));
    /// What memory of a work-group is.
    LocalMemType: LocalMemKind = |it| Ok(match (compute(it)?.maxSharedLocalMemory, it.kind()) {
        (0, _) => LocalMemKind::None,
        (_, DeviceType::Cpu) => LocalMemKind::Global,
        _ => LocalMemKind::Local,
    });
    /// Bytes of the largest cache of its memory.
    GlobalMemCacheSize: u64 = |it| Ok(caches(it)?.iter().map(|cache| cache.cacheSize as u64).max().unwrap_or(0));
    /// Bytes of a line of that cache, where the driver has the extension that tells.
    GlobalMemCacheLineSize: usize = |it| cache_line(it);
    /// Whether there is a cache of its memory.
    GlobalMemCacheType: GlobalMemCacheKind = |it| Ok(match caches(it)?.is_empty() {
        true => GlobalMemCacheKind::None,
        false => GlobalMemCacheKind::ReadWrite,
    });

    /// How it computes with 16 bits; empty when it does not.
    HalfFpConfig: Vec<FpConfig> = |it| {
        let p = module(it)?;
        Ok(if p.flags & ZE_DEVICE_MODULE_FLAG_FP16 == 0 { Vec::new() } else { configs(p.fp16flags) })
    };
    /// How it computes with 32 bits.
    SingleFpConfig: Vec<FpConfig> = |it| Ok(configs(module(it)?.fp32flags));
    /// How it computes with 64 bits; empty when it does not.
    DoubleFpConfig: Vec<FpConfig> = |it| {
        let p = module(it)?;
        Ok(if p.flags & ZE_DEVICE_MODULE_FLAG_FP64 == 0 { Vec::new() } else { configs(p.fp64flags) })
    };
    /// Widths of vectors that suit it.
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
    /// Widths of vectors that it has.
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

    /// The most elements of a row.
    Image1dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims1D as usize);
    /// The widest picture.
    Image2dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims2D as usize);
    /// The highest picture.
    Image2dMaxHeight: usize = |it| Ok(image(it)?.maxImageDims2D as usize);
    /// The widest volume.
    Image3dMaxWidth: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The highest volume.
    Image3dMaxHeight: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The deepest volume.
    Image3dMaxDepth: usize = |it| Ok(image(it)?.maxImageDims3D as usize);
    /// The most bytes of an image that is a buffer.
    ImageMaxBufferSize: u64 = |it| Ok(image(it)?.maxImageBufferSize);
    /// The most images of an array.
    ImageMaxArraySize: usize = |it| Ok(image(it)?.maxImageArraySlices as usize);
    /// The most samplers of a kernel.
    MaxSamplers: u32 = |it| Ok(image(it)?.maxSamplers);
    /// The most images that a kernel reads.
    MaxReadImageArgs: u32 = |it| Ok(image(it)?.maxReadImageArgs);
    /// The most images that a kernel writes.
    MaxWriteImageArgs: u32 = |it| Ok(image(it)?.maxWriteImageArgs);

    /// Bits that addresses of allocations are multiples of at least. Level Zero does not tell.
    MemBaseAddrAlign: u32 = |_it| Err(unanswered("the least alignment of allocations"));
    /// What it runs: kernels, and no functions of the host's.
    ExecutionCapabilities: Vec<ExecutionCapability> = |_it| Ok(vec![ExecutionCapability::ExecKernel]);
    /// Orders of atomic operations. Level Zero does not tell.
    AtomicMemoryOrderCapabilities: Vec<MemoryOrder> = |_it| Err(unanswered("orders of atomic operations"));
    /// Orders of fences. Level Zero does not tell.
    AtomicFenceOrderCapabilities: Vec<MemoryOrder> = |_it| Err(unanswered("orders of fences"));
    /// Scopes of atomic operations. Level Zero does not tell.
    AtomicMemoryScopeCapabilities: Vec<MemoryScope> = |_it| Err(unanswered("scopes of atomic operations"));
    /// Scopes of fences. Level Zero does not tell.
    AtomicFenceScopeCapabilities: Vec<MemoryScope> = |_it| Err(unanswered("scopes of fences"));
    /// Whether it has memory of its own, as the aspect.
    UsmDeviceAllocations: bool = |it| Ok(it.has(Aspect::UsmDeviceAllocations));
    /// Whether it reaches memory of the host, as the aspect.
    UsmHostAllocations: bool = |it| Ok(it.has(Aspect::UsmHostAllocations));
    /// Whether memory moves between it and the host, as the aspect.
    UsmSharedAllocations: bool = |it| Ok(it.has(Aspect::UsmSharedAllocations));
    /// Whether it reaches all of the program's memory, as the aspect.
    UsmSystemAllocations: bool = |it| Ok(it.has(Aspect::UsmSystemAllocations));

    /// The most parts that it can be divided into.
    PartitionMaxSubDevices: u32 = |it| Ok(u32::try_from(it.parts().len()).unwrap_or(u32::MAX));
    /// By what it can be divided.
    PartitionProperties: Vec<PartitionProperty> = |it| Ok(match it.parts().is_empty() {
        true => Vec::new(),
        false => vec![PartitionProperty::ByAffinityDomain],
    });
    /// The affinity domains that it can be divided by.
    PartitionAffinityDomains: Vec<Partition> = |it| Ok(match it.parts().is_empty() {
        true => Vec::new(),
        false => vec![Partition::AffinityNuma, Partition::AffinityNextPartitionable],
    });
    /// By what it was made of another device; `None` for a root.
    PartitionTypeProperty: Option<PartitionProperty> =
        |it| Ok(it.parent().map(|_| PartitionProperty::ByAffinityDomain));
    /// The affinity domain that it was made by; `None` for a root.
    PartitionTypeAffinityDomain: Option<Partition> =
        |it| Ok(it.parent().map(|_| Partition::AffinityNextPartitionable));
    /// The device that it is a part of.
    ParentDevice: Option<Device> = |it| Ok(it.parent());
}

pub(super) fn unanswered(what: &str) -> Error {
    Error::new(
        Errc::FeatureNotSupported,
        format!("the driver does not tell {what}"),
    )
}

/// One structure of properties.
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
    // A driver without the extension leaves it as it was.
    match line.cacheLineSize {
        0 => Err(unanswered("the size of a cache's line")),
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
    /// Whether it has an aspect. A device lacks what its driver does not tell.
    #[must_use]
    pub fn has(&self, aspect: Aspect) -> bool {
        asked(self, aspect).unwrap_or(false)
    }
}

/// As [`Device::has`], with the error of a driver that does not answer.
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
