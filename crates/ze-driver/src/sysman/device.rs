//! Initialisation, and devices: properties, state, processes; sysman/driver.yml, device.yml, pci.yml.

use crate::check::{error, fill_name, text};
use crate::core::device::Device;
use crate::core::device_entries::properties;
use crate::core::driver::{self, Driver};
use crate::extensions::SYSMAN_EXTENSIONS;
use crate::sysman::{answer, roots, telemetry};
use crate::telemetry::Identity;
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use ze_abi::{ChainMut, Enumerate, Handle, Object, Out, OutHandle, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// Initialises system management, also without core; sysman/driver.yml.
#[ze_entry(zes_pfnInit_t, any_state)]
pub(crate) fn zesInit(flags: u32) -> ZeResult {
    crate::check::flags("flags", flags, ZES_INIT_FLAG_PLACEHOLDER)?;
    driver::initialise().map(drop)
}

/// The same driver as core's; sysman/driver.yml.
#[ze_entry(zes_pfnDriverGet_t)]
pub(crate) fn zesDriverGet(pCount: Enumerate<'_, zes_driver_handle_t>) -> ZeResult {
    let handle = driver::driver()?.handle();
    pCount.fill(1, |_, slot| *slot = handle);
    Ok(())
}

/// Supported extensions of system management; sysman/driver.yml.
#[ze_entry(zes_pfnDriverGetExtensionProperties_t)]
pub(crate) fn zesDriverGetExtensionProperties(
    _hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, zes_driver_extension_properties_t>,
) -> ZeResult {
    pCount.fill(SYSMAN_EXTENSIONS.len(), |i, slot| {
        let (name, version) = SYSMAN_EXTENSIONS[i];
        fill_name(&mut slot.name, name);
        slot.version = version;
    });
    Ok(())
}

/// There are no entry points outside the tables; sysman/driver.yml.
#[ze_entry(zes_pfnDriverGetExtensionFunctionAddress_t)]
pub(crate) fn zesDriverGetExtensionFunctionAddress(
    _hDriver: Handle<'_, Driver>,
    name: *const c_char,
    ppFunctionAddress: Out<'_, *mut c_void>,
) -> ZeResult {
    ppFunctionAddress.write(std::ptr::null_mut());
    // SAFETY: null or a C string, by the specification.
    let name = unsafe { text("name", name) }?;
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("name is \"{name}\", which this driver does not export"),
    )
}

/// Root devices, for any `ZE_FLAT_DEVICE_HIERARCHY`; sysman/device.yml.
#[ze_entry(zes_pfnDeviceGet_t)]
pub(crate) fn zesDeviceGet(
    _hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, zes_device_handle_t>,
) -> ZeResult {
    let roots = roots()?;
    pCount.fill(roots.len(), |i, slot| *slot = roots[i].handle());
    Ok(())
}

/// The root device of a handle, which may be a sub-device's.
fn root(device: &Device) -> ZeResult<Arc<Device>> {
    Ok(Arc::clone(
        &driver::driver()?.devices()[device.root_index()],
    ))
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

fn identity(device: usize) -> Identity {
    telemetry().map_or_else(|_| Identity::default(), |t| t.identity(device))
}

/// Core's properties, vendor and model names; chains: UUID and type, serial number; sysman/device.yml.
#[ze_entry(zes_pfnDeviceGetProperties_t)]
pub(crate) fn zesDeviceGetProperties(
    hDevice: Handle<'_, Device>,
    mut pProperties: Prop<'_, zes_device_properties_t>,
) -> ZeResult {
    let device = root(&hDevice)?;
    let driver = driver::driver()?;
    let out = &mut *pProperties;
    // Programs often leave the head of the inner core struct uninitialised, so its chain is not read.
    let (stype, next) = (out.core.stype, out.core.pNext);
    out.core.pNext = std::ptr::null_mut();
    properties(&device, &mut out.core)?;
    (out.core.stype, out.core.pNext) = (stype, next);
    let identity = identity(device.index());
    let facts = driver.platform().facts();
    let version = facts.driver_version;
    fill_name(&mut out.serialNumber, or_unknown(&identity.serial_number));
    fill_name(&mut out.boardNumber, or_unknown(&identity.board_number));
    fill_name(&mut out.brandName, or_unknown(&identity.brand_name));
    fill_name(&mut out.modelName, or_unknown(&identity.model_name));
    fill_name(&mut out.vendorName, or_unknown(&identity.vendor_name));
    fill_name(
        &mut out.driverVersion,
        &format!(
            "{}.{}.{}",
            version >> 24,
            version >> 16 & 0xff,
            version & 0xffff
        ),
    );
    out.numSubdevices = u32::try_from(subs(driver, device.index()).len()).unwrap_or(u32::MAX);
    let core = out.core;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        // System management numbers device types differently.
        match zes_structure_type_t(link.stype.0) {
            ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zes_device_ext_properties_t>() };
                ext.uuid.id = core.uuid.id;
                ext.r#type = zes_device_type_t(core.r#type.0);
                ext.flags = core.flags;
            }
            ZES_STRUCTURE_TYPE_OEM_SERIAL_ID_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zes_oem_serial_id_ext_properties_t>() };
                fill_name(&mut ext.oemSerialId, &identity.serial_number);
                ext.length = identity.serial_number.len().min(1023) as u16;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Positions of a root's sub-devices.
fn subs(driver: &Driver, root: usize) -> Vec<usize> {
    let devices = driver.devices().iter();
    devices
        .filter(|device| device.facts().sub_of == Some(root))
        .map(|device| device.index())
        .collect()
}

/// No reset needed, never repaired; chain: state flags; sysman/device.yml.
#[ze_entry(zes_pfnDeviceGetState_t)]
pub(crate) fn zesDeviceGetState(
    hDevice: Handle<'_, Device>,
    mut pState: Prop<'_, zes_device_state_t>,
) -> ZeResult {
    let _ = root(&hDevice)?;
    pState.reset = 0;
    pState.repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
    // SAFETY: the caller's chain of states, valid for the call.
    for link in unsafe { ChainMut::new(pState.pNext.cast_mut()) } {
        if zes_structure_type_t(link.stype.0) == ZES_STRUCTURE_TYPE_DEVICE_EXT_STATE {
            // SAFETY: the type says which struct it is.
            unsafe { link.get::<zes_device_ext_state_t>() }.flags = 0;
        }
    }
    Ok(())
}

/// Processes that have this driver's devices open on the machine; sysman/device.yml.
#[ze_entry(zes_pfnDeviceProcessesGetState_t)]
pub(crate) fn zesDeviceProcessesGetState(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_process_state_t>,
) -> ZeResult {
    let processes = answer(telemetry()?.processes(hDevice.root_index()))?;
    pCount.fill(processes.len(), |i, out| {
        let process = &processes[i];
        out.processId = process.pid;
        out.memSize = process.device_bytes;
        out.sharedSize = process.shared_bytes;
        let flag = |used: bool, flag| if used { flag } else { 0 };
        out.engines = flag(process.compute, ZES_ENGINE_TYPE_FLAG_COMPUTE)
            | flag(process.copy, ZES_ENGINE_TYPE_FLAG_DMA);
    });
    Ok(())
}

/// Sub-devices' numbers and UUIDs; sysman/sysmanDeviceMapping.yml.
#[ze_entry(zes_pfnDeviceGetSubDevicePropertiesExp_t)]
pub(crate) fn zesDeviceGetSubDevicePropertiesExp(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_subdevice_exp_properties_t>,
) -> ZeResult {
    let driver = driver::driver()?;
    let subs = subs(driver, hDevice.root_index());
    pCount.fill(subs.len(), |i, out| {
        let facts = driver.devices()[subs[i]].facts();
        out.subdeviceId = facts.sub_number;
        out.uuid.id = facts.uuid;
    });
    Ok(())
}

/// The root device of a root's or sub-device's UUID; sysman/sysmanDeviceMapping.yml.
#[ze_entry(zes_pfnDriverGetDeviceByUuidExp_t)]
pub(crate) fn zesDriverGetDeviceByUuidExp(
    _hDriver: Handle<'_, Driver>,
    uuid: zes_uuid_t,
    phDevice: OutHandle<'_, _ze_device_handle_t>,
    onSubdevice: Out<'_, ze_bool_t>,
    subdeviceId: Out<'_, u32>,
) -> ZeResult {
    let driver = driver::driver()?;
    let shown: Vec<usize> = roots()?.iter().map(|root| root.index()).collect();
    let found = driver
        .devices()
        .iter()
        .find(|device| device.facts().uuid == uuid.id && shown.contains(&device.root_index()));
    let Some(found) = found else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "uuid does not belong to a device of this driver",
        );
    };
    let facts = found.facts();
    phDevice.write(driver.devices()[found.root_index()].handle());
    onSubdevice.write(ze_bool_t::from(facts.sub_of.is_some()));
    subdeviceId.write(facts.sub_number);
    Ok(())
}

const NO_SPEED: zes_pci_speed_t = zes_pci_speed_t {
    r#gen: -1,
    width: -1,
    maxBandwidth: -1,
};

/// Core's placeholder address; no counters, because a CPU is on no bus; sysman/device.yml.
#[ze_entry(zes_pfnDevicePciGetProperties_t)]
pub(crate) fn zesDevicePciGetProperties(
    hDevice: Handle<'_, Device>,
    mut pProperties: Prop<'_, zes_pci_properties_t>,
) -> ZeResult {
    let out = &mut *pProperties;
    out.address = zes_pci_address_t {
        domain: 0,
        bus: 0,
        device: u32::try_from(hDevice.root_index()).unwrap_or(0),
        function: 0,
    };
    out.maxSpeed = NO_SPEED;
    out.haveBandwidthCounters = 0;
    out.havePacketCounters = 0;
    out.haveReplayCounters = 0;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        if zes_structure_type_t(link.stype.0)
            == ZES_STRUCTURE_TYPE_PCI_LINK_SPEED_DOWNGRADE_EXT_PROPERTIES
        {
            // SAFETY: the type says which struct it is.
            let ext = unsafe { link.get::<zes_pci_link_speed_downgrade_ext_properties_t>() };
            ext.pciLinkSpeedUpdateCapable = 0;
            ext.maxPciGenSupported = -1;
        }
    }
    Ok(())
}

/// Unknown: there is no link; sysman/device.yml.
#[ze_entry(zes_pfnDevicePciGetState_t)]
pub(crate) fn zesDevicePciGetState(
    _hDevice: Handle<'_, Device>,
    mut pState: Prop<'_, zes_pci_state_t>,
) -> ZeResult {
    pState.status = ZES_PCI_LINK_STATUS_UNKNOWN;
    pState.qualityIssues = 0;
    pState.stabilityIssues = 0;
    pState.speed = NO_SPEED;
    Ok(())
}

/// No bars; sysman/device.yml.
#[ze_entry(zes_pfnDevicePciGetBars_t)]
pub(crate) fn zesDevicePciGetBars(
    _hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_pci_bar_properties_t>,
) -> ZeResult {
    pCount.fill(0, |_, _| {});
    Ok(())
}

/// Counters that stay 0, as the properties say, and the time; sysman/device.yml.
#[ze_entry(zes_pfnDevicePciGetStats_t)]
pub(crate) fn zesDevicePciGetStats(
    hDevice: Handle<'_, Device>,
    pStats: Out<'_, zes_pci_stats_t>,
) -> ZeResult {
    pStats.write(zes_pci_stats_t {
        timestamp: hDevice.platform().now_ns() / 1000,
        replayCounter: 0,
        packetCounter: 0,
        rxCounter: 0,
        txCounter: 0,
        speed: NO_SPEED,
    });
    Ok(())
}
