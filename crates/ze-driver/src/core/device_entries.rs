//! Entry points of devices: enumeration and main properties.

use crate::check::fill_name;
use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use crate::core::graph::GRAPH_FLAGS;
use crate::core::memory_sync;
use crate::core::mutable::MUTABLE_FLAGS;
use crate::core::queue_desc::{GROUPS, queues_of};
use acceleration_structure::layout;
use level_zero_sys::*;
use std::ffi::c_void;
use ze_abi::{ChainMut, Enumerate, Handle, Object, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// Nanoseconds in a second: timestamps tick once a nanosecond.
const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// Access capabilities of USM allocations on a CPU.
const ALL_ACCESS: u32 = ZE_MEMORY_ACCESS_CAP_FLAG_RW
    | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC
    | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT
    | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;

/// The reported limit of fill patterns in bytes; longer ones work too (`crate::leniency`).
const MOST_PATTERN: usize = 4096;

/// Enumerates; core/device.yml.
#[ze_entry(ze_pfnDeviceGet_t)]
pub(crate) fn zeDeviceGet(
    hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, ze_device_handle_t>,
) -> ZeResult {
    let devices = hDriver.listed();
    pCount.fill(devices.len(), |i, slot| *slot = devices[i].handle());
    Ok(())
}

/// The device that a sub-device is part of; null for root devices; core/device.yml.
#[ze_entry(ze_pfnDeviceGetRootDevice_t)]
pub(crate) fn zeDeviceGetRootDevice(
    hDevice: Handle<'_, Device>,
    phRootDevice: Out<'_, ze_device_handle_t>,
) -> ZeResult {
    let driver = driver::driver()?;
    let root = driver.position(&hDevice).root;
    phRootDevice.write(root.map_or(std::ptr::null_mut(), |root| driver.devices()[root].handle()));
    Ok(())
}

/// Sub-devices, each with a share of the device's CPUs; core/device.yml.
#[ze_entry(ze_pfnDeviceGetSubDevices_t)]
pub(crate) fn zeDeviceGetSubDevices(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_device_handle_t>,
) -> ZeResult {
    let driver = driver::driver()?;
    let subs = &driver.position(&hDevice).subs;
    pCount.fill(subs.len(), |i, slot| {
        *slot = driver.devices()[subs[i]].handle()
    });
    Ok(())
}

/// Properties; chains: IP version, EU count, usable memory; core/device.yml.
#[ze_entry(ze_pfnDeviceGetProperties_t)]
pub(crate) fn zeDeviceGetProperties(
    hDevice: Handle<'_, Device>,
    mut pDeviceProperties: Prop<'_, ze_device_properties_t>,
) -> ZeResult {
    properties(&hDevice, &mut pDeviceProperties)
}

/// Fills a device's properties and their chain.
pub(crate) fn properties(device: &Device, out: &mut ze_device_properties_t) -> ZeResult {
    let facts = device.facts();
    out.r#type = if facts.gpu_typed {
        ZE_DEVICE_TYPE_GPU
    } else {
        ZE_DEVICE_TYPE_CPU
    };
    out.vendorId = facts.vendor_id;
    out.deviceId = facts.device_id;
    out.flags = if facts.integrated {
        ZE_DEVICE_PROPERTY_FLAG_INTEGRATED
    } else {
        0
    };
    out.subdeviceId = facts.sub_number;
    if driver::driver()?.position(device).root.is_some() {
        out.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    }
    out.coreClockRate = facts.core_clock_mhz;
    out.maxMemAllocSize = facts.max_mem_alloc_size;
    out.maxHardwareContexts = facts.max_hardware_contexts;
    out.maxCommandQueuePriority = facts.max_command_queue_priority;
    out.numThreadsPerEU = facts.num_threads_per_eu;
    out.physicalEUSimdWidth = facts.physical_eu_simd_width;
    out.numEUsPerSubslice = facts.num_eus_per_subslice;
    out.numSubslicesPerSlice = facts.num_subslices_per_slice;
    out.numSlices = facts.num_slices;
    // The struct of 1.2 asks for ticks per second, the one of 1.0 for nanoseconds per tick.
    out.timerResolution = if out.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 {
        TICKS_PER_SECOND
    } else {
        1
    };
    out.timestampValidBits = facts.timestamp_valid_bits;
    out.kernelTimestampValidBits = facts.kernel_timestamp_valid_bits;
    out.uuid.id = facts.uuid;
    fill_name(&mut out.name, &facts.name);
    fill_chain(device, out.pNext);
    Ok(())
}

/// Fills the structs in the chain of a device's properties.
fn fill_chain(device: &Device, next: *mut c_void) {
    let facts = device.facts();
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(next) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT => {
                // SAFETY: the type says which struct it is.
                unsafe { link.get::<ze_device_ip_version_ext_t>() }.ipVersion = facts.ip_version;
            }
            ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_rtas_device_ext_properties_t>() };
                out.flags = 0;
                out.rtasFormat = ze_rtas_format_ext_t(layout::FORMAT);
                out.rtasBufferAlignment = layout::ALIGNMENT;
            }
            ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXP_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_rtas_device_exp_properties_t>() };
                out.flags = 0;
                out.rtasFormat = ze_rtas_format_exp_t(layout::FORMAT);
                out.rtasBufferAlignment = layout::ALIGNMENT;
            }
            ZE_STRUCTURE_TYPE_EU_COUNT_EXT => {
                let eus = device.threads() / facts.num_threads_per_eu.max(1);
                // SAFETY: the type says which struct it is.
                unsafe { link.get::<ze_eu_count_ext_t>() }.numTotalEUs = eus;
            }
            ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let usable = unsafe { link.get::<ze_device_usablemem_size_ext_properties_t>() };
                usable.currUsableMemSize = device.usable_memory();
            }
            ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_record_replay_graph_ext_properties_t>() };
                out.graphFlags = GRAPH_FLAGS;
            }
            ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_device_event_properties_t>() };
                out.flags = ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE
                    | ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC
                    | ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION;
            }
            ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out =
                    unsafe { link.get::<ze_event_query_kernel_timestamps_ext_properties_t>() };
                // The device's clock is the host's.
                out.flags = ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL
                    | ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
            }
            ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_mutable_command_list_exp_properties_t>() };
                out.mutableCommandListFlags = 0;
                out.mutableCommandFlags = MUTABLE_FLAGS;
            }
            ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_device_readonly_memory_ext_properties_t>() };
                // Reservations have the processor's page protection.
                out.readonlyCapability = ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
            }
            memory_sync::DATA_SIZE => {
                // SAFETY: the type says which struct it is.
                unsafe { link.get::<memory_sync::DataSize>() }.fill();
            }
            _ => {}
        }
    }
}

/// Limits of kernels; core/device.yml.
#[ze_entry(ze_pfnDeviceGetComputeProperties_t)]
pub(crate) fn zeDeviceGetComputeProperties(
    hDevice: Handle<'_, Device>,
    mut pComputeProperties: Prop<'_, ze_device_compute_properties_t>,
) -> ZeResult {
    let (facts, out) = (hDevice.facts(), &mut *pComputeProperties);
    out.maxTotalGroupSize = facts.max_total_group_size;
    [out.maxGroupSizeX, out.maxGroupSizeY, out.maxGroupSizeZ] = facts.max_group_size;
    [out.maxGroupCountX, out.maxGroupCountY, out.maxGroupCountZ] = facts.max_group_count;
    out.maxSharedLocalMemory = facts.max_shared_local_memory;
    out.subGroupSizes = [0; 8];
    out.numSubGroupSizes = 0;
    for (slot, size) in out.subGroupSizes.iter_mut().zip(&facts.sub_group_sizes) {
        *slot = *size;
        out.numSubGroupSizes += 1;
    }
    Ok(())
}

/// The features that modules may use; chains: float atomics, scheduling hints; core/device.yml.
#[ze_entry(ze_pfnDeviceGetModuleProperties_t)]
pub(crate) fn zeDeviceGetModuleProperties(
    hDevice: Handle<'_, Device>,
    mut pModuleProperties: Prop<'_, ze_device_module_properties_t>,
) -> ZeResult {
    let (facts, out) = (hDevice.facts(), &mut *pModuleProperties);
    out.spirvVersionSupported = facts.spirv_version;
    out.flags = facts.module_flags;
    out.fp16flags = facts.fp16_flags;
    out.fp32flags = facts.fp32_flags;
    out.fp64flags = facts.fp64_flags;
    out.maxArgumentsSize = facts.max_arguments_size;
    out.printfBufferSize = facts.printf_buffer_size;
    out.nativeKernelSupported.id = facts.native_kernel_uuid;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let atomics = unsafe { link.get::<ze_float_atomic_ext_properties_t>() };
                [atomics.fp16Flags, atomics.fp32Flags, atomics.fp64Flags] = facts.fp_atomics;
            }
            ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_device_raytracing_ext_properties_t>() };
                // Kernels have no ray queries; hosts have zeSolumRTASIntersect.
                out.flags = 0;
                out.maxBVHLevels = 0;
            }
            ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let hints = unsafe { link.get::<ze_scheduling_hint_exp_properties_t>() };
                // The engine's only order.
                hints.schedulingHintFlags = ZE_SCHEDULING_HINT_EXP_FLAG_OLDEST_FIRST;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Two groups: one for all commands, one for copies; core/device.yml.
#[ze_entry(ze_pfnDeviceGetCommandQueueGroupProperties_t)]
pub(crate) fn zeDeviceGetCommandQueueGroupProperties(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_command_queue_group_properties_t>,
) -> ZeResult {
    pCount.fill(GROUPS.len(), |ordinal, out| {
        out.flags = GROUPS[ordinal];
        out.maxMemoryFillPatternSize = MOST_PATTERN;
        out.numQueues = queues_of(&hDevice, ordinal as u32);
    });
    Ok(())
}

/// One memory: the machine's; chains: memory kind and bandwidth; core/device.yml.
#[ze_entry(ze_pfnDeviceGetMemoryProperties_t)]
pub(crate) fn zeDeviceGetMemoryProperties(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_device_memory_properties_t>,
) -> ZeResult {
    let facts = hDevice.facts();
    pCount.fill(1, |_, out| {
        out.flags = 0;
        out.maxClockRate = facts.memory_clock_mhz;
        out.maxBusWidth = facts.memory_bus_width;
        out.totalSize = facts.total_memory;
        fill_name(&mut out.name, "system memory");
        // SAFETY: the caller's chain of properties, valid for the call.
        for link in unsafe { ChainMut::new(out.pNext) } {
            if link.stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<ze_device_memory_ext_properties_t>() };
                ext.r#type = facts.memory_kind;
                ext.physicalSize = facts.physical_memory;
                // Two transfers a clock over the whole bus, in bytes per nanosecond.
                let bytes =
                    u64::from(facts.memory_clock_mhz) * 2 * u64::from(facts.memory_bus_width / 8)
                        / 1000;
                ext.readBandwidth = u32::try_from(bytes).unwrap_or(u32::MAX);
                ext.writeBandwidth = ext.readBandwidth;
                ext.bandwidthUnit = if bytes > 0 {
                    ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC
                } else {
                    ZE_BANDWIDTH_UNIT_UNKNOWN
                };
            }
        }
    });
    Ok(())
}

/// All access to all kinds of memory, including system memory; core/device.yml.
#[ze_entry(ze_pfnDeviceGetMemoryAccessProperties_t)]
pub(crate) fn zeDeviceGetMemoryAccessProperties(
    _hDevice: Handle<'_, Device>,
    mut pMemAccessProperties: Prop<'_, ze_device_memory_access_properties_t>,
) -> ZeResult {
    let out = &mut *pMemAccessProperties;
    out.hostAllocCapabilities = ALL_ACCESS;
    out.deviceAllocCapabilities = ALL_ACCESS;
    out.sharedSingleDeviceAllocCapabilities = ALL_ACCESS;
    out.sharedCrossDeviceAllocCapabilities = ALL_ACCESS;
    out.sharedSystemAllocCapabilities = ALL_ACCESS;
    Ok(())
}

/// Caches from L1 up; chains: cache line size, reservation; core/device.yml.
#[ze_entry(ze_pfnDeviceGetCacheProperties_t)]
pub(crate) fn zeDeviceGetCacheProperties(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_device_cache_properties_t>,
) -> ZeResult {
    let facts = hDevice.facts();
    pCount.fill(facts.caches.len(), |i, out| {
        out.flags = 0;
        out.cacheSize = usize::try_from(facts.caches[i].1).unwrap_or(usize::MAX);
        // SAFETY: the caller's chain of properties, valid for the call.
        for link in unsafe { ChainMut::new(out.pNext) } {
            match link.stype {
                ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT => {
                    // SAFETY: the type says which struct it is.
                    let ext = unsafe { link.get::<ze_device_cache_line_size_ext_t>() };
                    ext.cacheLineSize = usize::try_from(facts.cache_line_size).unwrap_or(64);
                }
                ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC => {
                    // SAFETY: the type says which struct it is.
                    let ext = unsafe { link.get::<ze_cache_reservation_ext_desc_t>() };
                    ext.maxCacheReservationSize = 0;
                }
                _ => {}
            }
        }
    });
    Ok(())
}
