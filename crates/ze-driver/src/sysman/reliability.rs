//! Memory errors, error correction, firmware; sysman/ras.yml, rasState.yml, eccState.yml, firmware.yml.
//!
//! The system counts errors of memory controllers (`EDAC`) where it can, and no others.

use crate::check::{error, fill_name, lock};
use crate::core::device::Device;
use crate::sysman::{answer, fill, part, telemetry};
use crate::telemetry::MemoryErrors;
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::Mutex;
use ze_abi::{ChainMut, Enumerate, Handle, In, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// Corrected or uncorrected errors.
    Ras(ErrorSet), _zes_ras_handle_t, b"ZsRa", "error set"
);
part!(
    /// Firmware: a processor's is its microcode.
    Firmware((String, String)), _zes_firmware_handle_t, b"ZsFw", "firmware"
);

/// Index of memory errors in the arrays of categories.
const MEMORY: usize = ZES_RAS_ERROR_CAT_NON_COMPUTE_ERRORS.0 as usize;

/// One kind of errors. The system's counters cannot be cleared, so a clear stores the current count.
struct ErrorSet {
    corrected: bool,
    cleared: Mutex<u64>,
    thresholds: Mutex<(u64, [u64; 7])>,
}

impl Ras {
    fn count(&self) -> ZeResult<u64> {
        let reading = telemetry()?.memory_errors(self.device);
        let errors = answer(reading.unwrap_or(Ok(MemoryErrors::default())))?;
        let all = if self.value.corrected {
            errors.corrected
        } else {
            errors.uncorrected
        };
        Ok(all.saturating_sub(*lock(&self.value.cleared)))
    }

    fn clear(&self, count: u64) {
        *lock(&self.value.cleared) += count;
    }
}

/// Two sets where the system counts memory errors, else none; sysman/ras.yml.
#[ze_entry(zes_pfnDeviceEnumRasErrorSets_t)]
pub(crate) fn zesDeviceEnumRasErrorSets(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_ras_handle_t>,
) -> ZeResult {
    let sets = Ras::all(&hDevice, |telemetry, device| {
        if telemetry.memory_errors(device).is_none() {
            return Vec::new();
        }
        let make = |corrected| ErrorSet {
            corrected,
            cleared: Mutex::default(),
            thresholds: Mutex::default(),
        };
        [true, false].map(make).into()
    })?;
    fill(pCount, sets);
    Ok(())
}

/// Corrected or not; sysman/ras.yml.
#[ze_entry(zes_pfnRasGetProperties_t)]
pub(crate) fn zesRasGetProperties(
    hRas: Handle<'_, Ras>,
    mut pProperties: Prop<'_, zes_ras_properties_t>,
) -> ZeResult {
    pProperties.r#type = if hRas.value.corrected {
        ZES_RAS_ERROR_TYPE_CORRECTABLE
    } else {
        ZES_RAS_ERROR_TYPE_UNCORRECTABLE
    };
    (pProperties.onSubdevice, pProperties.subdeviceId) = (0, 0);
    Ok(())
}

/// Thresholds as set; sysman/ras.yml.
#[ze_entry(zes_pfnRasGetConfig_t)]
pub(crate) fn zesRasGetConfig(
    hRas: Handle<'_, Ras>,
    mut pConfig: Prop<'_, zes_ras_config_t>,
) -> ZeResult {
    let (total, detailed) = *lock(&hRas.value.thresholds);
    pConfig.totalThreshold = total;
    pConfig.detailedThresholds.category = detailed;
    Ok(())
}

/// Stores thresholds, which raise no events; sysman/ras.yml.
#[ze_entry(zes_pfnRasSetConfig_t)]
pub(crate) fn zesRasSetConfig(
    hRas: Handle<'_, Ras>,
    pConfig: In<'_, zes_ras_config_t>,
) -> ZeResult {
    *lock(&hRas.value.thresholds) = (pConfig.totalThreshold, pConfig.detailedThresholds.category);
    Ok(())
}

/// Memory errors since the last clear; sysman/ras.yml.
#[ze_entry(zes_pfnRasGetState_t)]
pub(crate) fn zesRasGetState(
    hRas: Handle<'_, Ras>,
    clear: u8,
    mut pState: Prop<'_, zes_ras_state_t>,
) -> ZeResult {
    let count = hRas.count()?;
    pState.category = [0; 7];
    pState.category[MEMORY] = count;
    if clear != 0 {
        hRas.clear(count);
    }
    Ok(())
}

/// Errors of memory, the only category; sysman/rasState.yml.
#[ze_entry(zes_pfnRasGetStateExp_t)]
pub(crate) fn zesRasGetStateExp(
    hRas: Handle<'_, Ras>,
    pCount: Enumerate<'_, zes_ras_state_exp_t>,
) -> ZeResult {
    let count = hRas.count()?;
    pCount.fill(1, |_, slot| {
        *slot = zes_ras_state_exp_t {
            category: ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS,
            errorCounter: count,
        };
    });
    Ok(())
}

fn check_category(category: zes_ras_error_category_exp_t) -> ZeResult {
    if category == ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS {
        return Ok(());
    }
    let most = ZES_RAS_ERROR_CATEGORY_EXP_SOC_INTERNAL_ERRORS.0;
    crate::check::enumeration("category", category.0, most)?;
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
        format!(
            "category is {}, only errors of memory (7) are counted",
            category.0
        ),
    )
}

/// Clears the count; sysman/rasState.yml.
#[ze_entry(zes_pfnRasClearStateExp_t)]
pub(crate) fn zesRasClearStateExp(
    hRas: Handle<'_, Ras>,
    category: zes_ras_error_category_exp_t,
) -> ZeResult {
    check_category(category)?;
    let count = hRas.count()?;
    hRas.clear(count);
    Ok(())
}

/// Memory, the only category; sysman/rasState.yml (1.16).
#[ze_entry(zes_pfnRasGetSupportedCategoriesExp_t)]
pub(crate) fn zesRasGetSupportedCategoriesExp(
    _hRas: Handle<'_, Ras>,
    pCount: Enumerate<'_, zes_ras_error_category_exp_t>,
) -> ZeResult {
    pCount.fill(1, |_, slot| {
        *slot = ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS
    });
    Ok(())
}

/// Whether error counters exist, which only memory with correction has; sysman/ecc.yml.
fn corrects(device: &Device) -> bool {
    telemetry().is_ok_and(|t| t.memory_errors(device.root_index()).is_some())
}

/// True where the system counts memory errors; sysman/ecc.yml.
#[ze_entry(zes_pfnDeviceEccAvailable_t)]
pub(crate) fn zesDeviceEccAvailable(
    hDevice: Handle<'_, Device>,
    pAvailable: Out<'_, ze_bool_t>,
) -> ZeResult {
    pAvailable.write(ze_bool_t::from(corrects(&hDevice)));
    Ok(())
}

/// Never configurable: the firmware decides; sysman/ecc.yml.
#[ze_entry(zes_pfnDeviceEccConfigurable_t)]
pub(crate) fn zesDeviceEccConfigurable(
    _hDevice: Handle<'_, Device>,
    pConfigurable: Out<'_, ze_bool_t>,
) -> ZeResult {
    pConfigurable.write(0);
    Ok(())
}

/// Enabled where errors are counted, else unsupported; chain: default state; sysman/ecc.yml.
#[ze_entry(zes_pfnDeviceGetEccState_t)]
pub(crate) fn zesDeviceGetEccState(
    hDevice: Handle<'_, Device>,
    mut pState: Prop<'_, zes_device_ecc_properties_t>,
) -> ZeResult {
    if !corrects(&hDevice) {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the system does not count memory errors (/sys/devices/system/edac), so it is not known whether memory corrects them",
        );
    }
    let state = ZES_DEVICE_ECC_STATE_ENABLED;
    pState.currentState = state;
    pState.pendingState = state;
    pState.pendingAction = ZES_DEVICE_ACTION_NONE;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(pState.pNext) } {
        if zes_structure_type_t(link.stype.0)
            == ZES_STRUCTURE_TYPE_DEVICE_ECC_DEFAULT_PROPERTIES_EXT
        {
            // SAFETY: the type says which struct it is.
            let ext = unsafe { link.get::<zes_device_ecc_default_properties_ext_t>() };
            ext.defaultState = state;
        }
    }
    Ok(())
}

/// A processor's microcode; sysman/firmware.yml.
#[ze_entry(zes_pfnDeviceEnumFirmwares_t)]
pub(crate) fn zesDeviceEnumFirmwares(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_firmware_handle_t>,
) -> ZeResult {
    fill(
        pCount,
        Firmware::all(&hDevice, |t, device| t.firmwares(device))?,
    );
    Ok(())
}

/// Name and version; sysman/firmware.yml.
#[ze_entry(zes_pfnFirmwareGetProperties_t)]
pub(crate) fn zesFirmwareGetProperties(
    hFirmware: Handle<'_, Firmware>,
    mut pProperties: Prop<'_, zes_firmware_properties_t>,
) -> ZeResult {
    let (name, version) = &hFirmware.value;
    (pProperties.onSubdevice, pProperties.subdeviceId) = (0, 0);
    pProperties.canControl = 0;
    fill_name(&mut pProperties.name, name);
    fill_name(&mut pProperties.version, version);
    Ok(())
}

/// Refused: the system loads microcode; sysman/firmware.yml.
#[ze_entry(zes_pfnFirmwareFlash_t)]
pub(crate) fn zesFirmwareFlash(
    _hFirmware: Handle<'_, Firmware>,
    pImage: *mut c_void,
    _size: u32,
) -> ZeResult {
    crate::check::not_null("pImage", pImage)?;
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
        "the microcode is loaded by the system, not by programs (canControl is 0)",
    )
}
