//! More entry points of devices: external memory, peers, status, clocks, synchronisation, caches.

use crate::check::{enumeration, error, not_null};
use crate::core::device::Device;
use crate::core::external::{EXPORTS, IMPORTS};
use crate::device::DeviceFacts;
use crate::extensions::COUNTER_MAX;
use crate::schedule;
use level_zero_sys::*;
use ze_abi::{Enumerate, Handle, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// Memory by file descriptors, where the platform has files; not of images; core/device.yml.
#[ze_entry(ze_pfnDeviceGetExternalMemoryProperties_t)]
pub(crate) fn zeDeviceGetExternalMemoryProperties(
    hDevice: Handle<'_, Device>,
    mut pExternalMemoryProperties: Prop<'_, ze_device_external_memory_properties_t>,
) -> ZeResult {
    let out = &mut *pExternalMemoryProperties;
    let has_files = hDevice.platform().address_space().is_some();
    let (imports, exports) = if has_files {
        (IMPORTS, EXPORTS)
    } else {
        (0, 0)
    };
    out.memoryAllocationImportTypes = imports;
    out.memoryAllocationExportTypes = exports;
    let images = hDevice.facts().images;
    out.imageImportTypes = if images { imports } else { 0 };
    out.imageExportTypes = if images { exports } else { 0 };
    Ok(())
}

/// Devices over one memory reach each other; `discrete` ones only themselves.
fn is_peer(a: &Device, b: &Device) -> bool {
    a.root_index() == b.root_index() || (a.facts().integrated && b.facts().integrated)
}

/// Access and atomics between devices over one memory; core/device.yml.
#[ze_entry(ze_pfnDeviceGetP2PProperties_t)]
pub(crate) fn zeDeviceGetP2PProperties(
    hDevice: Handle<'_, Device>,
    hPeerDevice: Handle<'_, Device>,
    mut pP2PProperties: Prop<'_, ze_device_p2p_properties_t>,
) -> ZeResult {
    pP2PProperties.flags = if is_peer(&hDevice, &hPeerDevice) {
        ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS
    } else {
        0
    };
    Ok(())
}

/// As the P2P properties say; core/device.yml.
#[ze_entry(ze_pfnDeviceCanAccessPeer_t)]
pub(crate) fn zeDeviceCanAccessPeer(
    hDevice: Handle<'_, Device>,
    hPeerDevice: Handle<'_, Device>,
    value: Out<'_, ze_bool_t>,
) -> ZeResult {
    value.write(u8::from(is_peer(&hDevice, &hPeerDevice)));
    Ok(())
}

/// Always available: faults lose contexts, not the device; core/device.yml.
#[ze_entry(ze_pfnDeviceGetStatus_t)]
pub(crate) fn zeDeviceGetStatus(_hDevice: Handle<'_, Device>) -> ZeResult {
    Ok(())
}

/// In ns; the host's clock is CLOCK_MONOTONIC_RAW (`crate::leniency`); core/device.yml.
#[ze_entry(ze_pfnDeviceGetGlobalTimestamps_t)]
pub(crate) fn zeDeviceGetGlobalTimestamps(
    hDevice: Handle<'_, Device>,
    hostTimestamp: Out<'_, u64>,
    deviceTimestamp: Out<'_, u64>,
) -> ZeResult {
    let (host, device) = hDevice.platform().clocks();
    hostTimestamp.write(host);
    deviceTimestamp.write(device);
    Ok(())
}

/// Waits for all work submitted to the device. DEVICE_LOST only if all contexts with queues or immediate lists on the
/// device are lost; core/device.yml.
#[ze_entry(ze_pfnDeviceSynchronize_t)]
pub(crate) fn zeDeviceSynchronize(hDevice: Handle<'_, Device>) -> ZeResult {
    let driver = crate::core::driver::driver()?;
    let index = hDevice.index();
    let lanes = schedule::lanes(|lane| driver.is_part(lane.device(), index));
    for lane in &lanes {
        lane.wait(lane.pushed(), u64::MAX);
    }
    match lanes.first() {
        Some(lane) if lanes.iter().all(|lane| lane.context().is_lost()) => lane.context().check(),
        _ => Ok(()),
    }
}

/// 1: an append signals an event once; core/device.yml (1.15).
#[ze_entry(ze_pfnDeviceGetAggregatedCopyOffloadIncrementValue_t)]
pub(crate) fn zeDeviceGetAggregatedCopyOffloadIncrementValue(
    _hDevice: Handle<'_, Device>,
    incrementValue: Out<'_, u32>,
) -> ZeResult {
    incrementValue.write(1);
    Ok(())
}

/// Counters of counter-based events are 62 bits wide; core/device.yml.
#[ze_entry(ze_pfnDeviceGetCounterBasedEventMaxValue_t)]
pub(crate) fn zeDeviceGetCounterBasedEventMaxValue(
    _hDevice: Handle<'_, Device>,
    maxValue: Out<'_, u64>,
) -> ZeResult {
    maxValue.write(COUNTER_MAX);
    Ok(())
}

/// A CPU is on no bus: the address is the host bridge's with the device's number, and the speed is unknown;
/// core/PCIProperties.yml.
#[ze_entry(ze_pfnDevicePciGetPropertiesExt_t)]
pub(crate) fn zeDevicePciGetPropertiesExt(
    hDevice: Handle<'_, Device>,
    mut pPciProperties: Prop<'_, ze_pci_ext_properties_t>,
) -> ZeResult {
    pPciProperties.address = ze_pci_address_ext_t {
        domain: 0,
        bus: 0,
        device: u32::try_from(hDevice.root_index()).unwrap_or(0),
        function: 0,
    };
    pPciProperties.maxSpeed = ze_pci_speed_ext_t {
        genVersion: -1,
        width: -1,
        maxBandwidth: -1,
    };
    Ok(())
}

/// Vector widths of the machine's registers; core/deviceVectorSizes.yml.
#[ze_entry(ze_pfnDeviceGetVectorWidthPropertiesExt_t)]
pub(crate) fn zeDeviceGetVectorWidthPropertiesExt(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_device_vector_width_properties_ext_t>,
) -> ZeResult {
    let lanes = hDevice.facts().physical_eu_simd_width.max(1);
    pCount.fill(1, |_, out| {
        *out = ze_device_vector_width_properties_ext_t {
            stype: out.stype,
            pNext: out.pNext,
            // Lanes of 32 bits; the size is in bytes.
            vector_width_size: lanes * 4,
            preferred_vector_width_char: lanes * 4,
            preferred_vector_width_short: lanes * 2,
            preferred_vector_width_int: lanes,
            preferred_vector_width_long: (lanes / 2).max(1),
            preferred_vector_width_float: lanes,
            preferred_vector_width_double: (lanes / 2).max(1),
            preferred_vector_width_half: half(hDevice.facts(), lanes),
            native_vector_width_char: lanes * 4,
            native_vector_width_short: lanes * 2,
            native_vector_width_int: lanes,
            native_vector_width_long: (lanes / 2).max(1),
            native_vector_width_float: lanes,
            native_vector_width_double: (lanes / 2).max(1),
            native_vector_width_half: half(hDevice.facts(), lanes),
        };
    });
    Ok(())
}

fn half(facts: &DeviceFacts, lanes: u32) -> u32 {
    if facts.module_flags & ZE_DEVICE_MODULE_FLAG_FP16 != 0 {
        lanes
    } else {
        0
    }
}

/// Only 0 bytes can be reserved; core/cacheReservation.yml.
#[ze_entry(ze_pfnDeviceReserveCacheExt_t)]
pub(crate) fn zeDeviceReserveCacheExt(
    _hDevice: Handle<'_, Device>,
    _cacheLevel: usize,
    cacheReservationSize: usize,
) -> ZeResult {
    if cacheReservationSize == 0 {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
        format!("cacheReservationSize is {cacheReservationSize}, maxCacheReservationSize is 0"),
    )
}

/// Advice without effect; advice to use reserved cache is refused; core/cacheReservation.yml.
#[ze_entry(ze_pfnDeviceSetCacheAdviceExt_t)]
pub(crate) fn zeDeviceSetCacheAdviceExt(
    _hDevice: Handle<'_, Device>,
    ptr: *mut std::ffi::c_void,
    _regionSize: usize,
    cacheRegion: ze_cache_ext_region_t,
) -> ZeResult {
    not_null("ptr", ptr)?;
    enumeration(
        "cacheRegion",
        cacheRegion.0,
        ZE_CACHE_EXT_REGION_NON_RESERVED.0,
    )?;
    if cacheRegion == ZE_CACHE_EXT_REGION_RESERVED {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "cacheRegion is the reserved one, of which the device has none",
        );
    }
    Ok(())
}
