//! System management and metrics that the conformance suite never calls.

use crate::api::{driver, last_error};
use crate::platform::sensors::{DENIED_MW, LIMIT_MW, MOST_MW};
use level_zero_sys::*;
use std::ptr::null_mut;

/// The tables of system management behind the driver's handle.
fn sysman() -> *mut zes_dditable_driver_t {
    // SAFETY: every handle begins with the header.
    unsafe { (*driver().cast::<ze_handle_t>()).pSysman }
}

/// The tables of tools.
fn tools() -> *mut zet_dditable_driver_t {
    // SAFETY: as above.
    unsafe { (*driver().cast::<ze_handle_t>()).pTools }
}

/// Calls a slot of those tables.
macro_rules! call {
    ($tables:ident: $table:ident.$slot:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: the driver's tables are complete; the test passes valid arguments, or nulls that the driver must
        // reject.
        unsafe { ((*(*$tables()).$table).$slot.expect("tables are complete"))($($arg),*) }
    }};
}

fn device() -> zes_device_handle_t {
    crate::api::device(0).cast()
}

#[test]
fn power_is_energy_over_time_and_its_limit_can_be_set() {
    let (mut count, mut power) = (1, null_mut());
    let got = call!(sysman: Device.pfnEnumPowerDomains(device(), &raw mut count, &raw mut power));
    assert_eq!((got, count), (ZE_RESULT_SUCCESS, 1));
    let (mut now, mut average) = (7, 7);
    let first = call!(sysman: Power.pfnGetUsage(power, &raw mut now, &raw mut average));
    assert_eq!((first, now), (ZE_RESULT_ERROR_NOT_AVAILABLE, 7));
    assert!(last_error().contains("first call"), "{}", last_error());
    let then = call!(sysman: Power.pfnGetUsage(power, &raw mut now, &raw mut average));
    assert_eq!((then, now, average), (ZE_RESULT_SUCCESS, 40_000, 40_000));

    let limit = || {
        let mut limit = 0;
        let got = call!(sysman: Power.pfnGetLimitsExt2(power, &raw mut limit));
        assert_eq!(got, ZE_RESULT_SUCCESS);
        limit
    };
    assert_eq!(limit(), LIMIT_MW as u32);
    // (milliwatts, result, the limit afterwards)
    for (wanted, answer, then) in [
        (90_000, ZE_RESULT_SUCCESS, 90_000),
        (0, ZE_RESULT_ERROR_INVALID_ARGUMENT, 90_000),
        (MOST_MW as u32 + 1, ZE_RESULT_ERROR_INVALID_ARGUMENT, 90_000),
        (u32::MAX, ZE_RESULT_ERROR_INVALID_ARGUMENT, 90_000),
        (MOST_MW as u32, ZE_RESULT_SUCCESS, MOST_MW as u32),
    ] {
        let got = call!(sysman: Power.pfnSetLimitsExt2(power, wanted));
        assert_eq!((got, limit()), (answer, then), "{wanted} mW");
    }
    let denied = call!(sysman: Power.pfnSetLimitsExt2(power, DENIED_MW as u32));
    assert_eq!(denied, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    assert!(last_error().contains("allow it"), "{}", last_error());
    let null = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for got in [
        call!(sysman: Power.pfnGetUsage(power, null_mut(), &raw mut average)),
        call!(sysman: Power.pfnGetUsage(power, &raw mut now, null_mut())),
        call!(sysman: Power.pfnGetLimitsExt2(power, null_mut())),
    ] {
        assert_eq!(got, null);
    }
}

#[test]
fn memory_is_the_category_of_errors() {
    let (mut count, mut sets) = (2, [null_mut(); 2]);
    let got =
        call!(sysman: Device.pfnEnumRasErrorSets(device(), &raw mut count, sets.as_mut_ptr()));
    assert_eq!((got, count), (ZE_RESULT_SUCCESS, 2));
    for set in sets {
        let mut count = 0;
        let ask =
            call!(sysman: RasExp.pfnGetSupportedCategoriesExp(set, &raw mut count, null_mut()));
        assert_eq!((ask, count), (ZE_RESULT_SUCCESS, 1));
        let mut categories = [zes_ras_error_category_exp_t(99); 3];
        count = 3;
        let got = call!(sysman: RasExp.pfnGetSupportedCategoriesExp(
            set,
            &raw mut count,
            categories.as_mut_ptr()
        ));
        assert_eq!((got, count), (ZE_RESULT_SUCCESS, 1));
        assert_eq!(categories[0], ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS);
        assert_eq!(categories[1].0, 99, "nothing is written after the end");
    }
    let none = call!(sysman: RasExp.pfnGetSupportedCategoriesExp(sets[0], null_mut(), null_mut()));
    assert_eq!(none, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

#[test]
fn missing_parts_are_enumerated_as_none() {
    let mut count = 9;
    let mut domain = null_mut();
    let got =
        call!(sysman: Device.pfnEnumOverclockDomains(device(), &raw mut count, &raw mut domain));
    assert_eq!((got, count, domain), (ZE_RESULT_SUCCESS, 0, null_mut()));
    let (mut count, mut function) = (9, null_mut());
    let got =
        call!(sysman: DeviceExp.pfnEnumActiveVFExp(device(), &raw mut count, &raw mut function));
    assert_eq!((got, count, function), (ZE_RESULT_SUCCESS, 0, null_mut()));
    let mut domains = 9;
    let got = call!(sysman: Device.pfnGetOverclockDomains(device(), &raw mut domains));
    assert_eq!((got, domains), (ZE_RESULT_SUCCESS, 0));
    let null = call!(sysman: Device.pfnGetOverclockDomains(device(), null_mut()));
    assert_eq!(null, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    let null =
        call!(sysman: Device.pfnEnumOverclockDomains(null_mut(), &raw mut count, null_mut()));
    assert_eq!(null, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

#[test]
fn functions_on_missing_parts_are_unsupported() {
    // There are no handles of such parts: any word represents one, and is not read.
    fn part<T>() -> *mut T {
        std::ptr::dangling_mut()
    }
    let (mut word, mut words, mut real, mut size) = (0, [0; 2], 0.0, 0);
    let mut mode = ZES_OVERCLOCK_MODE_MODE_OFF;
    let (mut pending, mut state) = (
        ZES_PENDING_ACTION_PENDING_NONE,
        ZES_CONTROL_STATE_STATE_UNSET,
    );
    let (mut flags, mut action) = ([0; 3], ZES_DEVICE_ACTION_NONE);
    let control = ZES_OVERCLOCK_CONTROL_VF;
    let curve = ZES_VF_TYPE_VOLT;
    let [waiver, overclocked, reset] = &mut flags;
    let answers = [
        (
            "DeviceGetOverclockControls",
            call!(sysman: Device.pfnGetOverclockControls(device(), ZES_OVERCLOCK_DOMAIN_CARD, &raw mut word)),
        ),
        (
            "DeviceResetOverclockSettings",
            call!(sysman: Device.pfnResetOverclockSettings(device(), 1)),
        ),
        (
            "DeviceReadOverclockState",
            call!(sysman: Device.pfnReadOverclockState(device(), &raw mut mode, waiver, overclocked, &raw mut pending, reset)),
        ),
        (
            "DeviceSetOverclockWaiver",
            call!(sysman: Device.pfnSetOverclockWaiver(device())),
        ),
        (
            "DevicePciLinkSpeedUpdateExt",
            call!(sysman: Device.pfnPciLinkSpeedUpdateExt(device(), 0, &raw mut action)),
        ),
        (
            "OverclockGetDomainProperties",
            call!(sysman: Overclock.pfnGetDomainProperties(part(), &mut zes_overclock_properties_t::default())),
        ),
        (
            "OverclockGetDomainVFProperties",
            call!(sysman: Overclock.pfnGetDomainVFProperties(part(), &mut zes_vf_property_t::default())),
        ),
        (
            "OverclockGetDomainControlProperties",
            call!(sysman: Overclock.pfnGetDomainControlProperties(part(), control, &mut zes_control_property_t::default())),
        ),
        (
            "OverclockGetControlCurrentValue",
            call!(sysman: Overclock.pfnGetControlCurrentValue(part(), control, &raw mut real)),
        ),
        (
            "OverclockGetControlPendingValue",
            call!(sysman: Overclock.pfnGetControlPendingValue(part(), control, &raw mut real)),
        ),
        (
            "OverclockSetControlUserValue",
            call!(sysman: Overclock.pfnSetControlUserValue(part(), control, 1.0, &raw mut pending)),
        ),
        (
            "OverclockGetControlState",
            call!(sysman: Overclock.pfnGetControlState(part(), control, &raw mut state, &raw mut pending)),
        ),
        (
            "OverclockGetVFPointValues",
            call!(sysman: Overclock.pfnGetVFPointValues(part(), curve, ZES_VF_ARRAY_TYPE_USER_VF_ARRAY, 0, &raw mut word)),
        ),
        (
            "OverclockSetVFPointValues",
            call!(sysman: Overclock.pfnSetVFPointValues(part(), curve, 0, 1)),
        ),
        (
            "FabricPortGetFabricErrorCounters",
            call!(sysman: FabricPort.pfnGetFabricErrorCounters(part(), &mut zes_fabric_port_error_counters_t::default())),
        ),
        (
            "FabricPortGetMultiPortThroughput",
            call!(sysman: FabricPort.pfnGetMultiPortThroughput(device(), 1, &mut part(), &mut null_mut())),
        ),
        (
            "FirmwareGetConsoleLogs",
            call!(sysman: Firmware.pfnGetConsoleLogs(part(), &raw mut size, null_mut())),
        ),
        (
            "FirmwareGetSecurityVersionExp",
            call!(sysman: FirmwareExp.pfnGetSecurityVersionExp(part(), words.as_mut_ptr())),
        ),
        (
            "FirmwareSetSecurityVersionExp",
            call!(sysman: FirmwareExp.pfnSetSecurityVersionExp(part())),
        ),
        (
            "FrequencyOcSetVoltageTarget",
            call!(sysman: Frequency.pfnOcSetVoltageTarget(part(), 1.0, 0.0)),
        ),
        (
            "VFManagementGetVFCapabilitiesExp",
            call!(sysman: VFManagementExp.pfnGetVFCapabilitiesExp(part(), &mut zes_vf_exp_capabilities_t::default())),
        ),
        (
            "VFManagementGetVFPropertiesExp",
            call!(sysman: VFManagementExp.pfnGetVFPropertiesExp(part(), &mut zes_vf_exp_properties_t::default())),
        ),
        (
            "VFManagementGetVFMemoryUtilizationExp",
            call!(sysman: VFManagementExp.pfnGetVFMemoryUtilizationExp(part(), &raw mut word, null_mut())),
        ),
        (
            "VFManagementGetVFEngineUtilizationExp",
            call!(sysman: VFManagementExp.pfnGetVFEngineUtilizationExp(part(), &raw mut word, null_mut())),
        ),
        (
            "VFManagementSetVFTelemetryModeExp",
            call!(sysman: VFManagementExp.pfnSetVFTelemetryModeExp(part(), 1, 1)),
        ),
        (
            "VFManagementSetVFTelemetrySamplingIntervalExp",
            call!(sysman: VFManagementExp.pfnSetVFTelemetrySamplingIntervalExp(part(), 1, 10)),
        ),
    ];
    for (name, answer) in answers {
        assert_eq!(answer, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zes{name}");
    }
    assert_eq!(
        (word, words, real, size),
        (0, [0; 2], 0.0, 0),
        "nothing is written"
    );
}

#[test]
fn errors_are_not_configured_and_metrics_not_composed() {
    // As above: any word represents a handle, and is not read.
    fn part<T>() -> *mut T {
        std::ptr::dangling_mut()
    }
    let (mut count, mut size) = (3, 5);
    let (mut metric, mut group) = (null_mut(), null_mut());
    let name = c"name".as_ptr();
    let answers = [
        (
            "zesRasGetStateExp2",
            call!(sysman: RasExp.pfnGetStateExp2(part(), 1, &ZES_RAS_ERROR_CATEGORY_EXP_CACHE_ERRORS, &mut zes_ras_state_exp2_t::default())),
        ),
        (
            "zesRasGetConfigExp",
            call!(sysman: RasExp.pfnGetConfigExp(part(), 1, &mut zes_ras_config_exp_t::default())),
        ),
        (
            "zesRasSetConfigExp",
            call!(sysman: RasExp.pfnSetConfigExp(part(), 1, &zes_ras_config_exp_t::default())),
        ),
        (
            "zetMetricCreateFromProgrammableExp2",
            call!(tools: MetricExp.pfnCreateFromProgrammableExp2(part(), 0, null_mut(), name, name, &raw mut count, &raw mut metric)),
        ),
        (
            "zetMetricGroupCreateExp",
            call!(tools: MetricGroupExp.pfnCreateExp(device().cast(), name, name, 1, &raw mut group)),
        ),
        (
            "zetMetricGroupAddMetricExp",
            call!(tools: MetricGroupExp.pfnAddMetricExp(part(), part(), &raw mut size, null_mut())),
        ),
        (
            "zetMetricGroupRemoveMetricExp",
            call!(tools: MetricGroupExp.pfnRemoveMetricExp(part(), part())),
        ),
        (
            "zetMetricGroupCloseExp",
            call!(tools: MetricGroupExp.pfnCloseExp(part())),
        ),
        (
            "zetCommandListAppendMarkerExp",
            call!(tools: CommandListExp.pfnAppendMarkerExp(part(), part(), 1)),
        ),
    ];
    for (name, answer) in answers {
        assert_eq!(answer, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "{name}");
        assert!(!last_error().is_empty());
    }
    assert_eq!(
        (count, size, metric, group),
        (3, 5, null_mut(), null_mut()),
        "nothing is written"
    );
    let null = call!(sysman: RasExp.pfnSetConfigExp(null_mut(), 0, std::ptr::null()));
    assert_eq!(null, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    let null = call!(tools: CommandListExp.pfnAppendMarkerExp(null_mut(), part(), 1));
    assert_eq!(null, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

#[test]
fn a_device_reports_that_no_debugger_can_be_attached() {
    let mut properties = zet_device_debug_properties_t {
        flags: u32::MAX,
        ..Default::default()
    };
    let got = call!(tools: Device.pfnGetDebugProperties(device(), &raw mut properties));
    assert_eq!((got, properties.flags), (ZE_RESULT_SUCCESS, 0));
    let (config, mut session) = (zet_debug_config_t { pid: 1 }, null_mut());
    let got = call!(tools: Debug.pfnAttach(device(), &raw const config, &raw mut session));
    assert_eq!(got, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    for (device, properties, code) in [
        (
            null_mut(),
            &raw mut properties,
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        ),
        (device(), null_mut(), ZE_RESULT_ERROR_INVALID_NULL_POINTER),
    ] {
        let got = call!(tools: Device.pfnGetDebugProperties(device, properties));
        assert_eq!(got, code);
    }
}

#[test]
fn invalid_exported_reports_are_rejected() {
    let mut desc = zet_metric_calculate_exp_desc_t::default();
    let (mut sets, mut values) = (0, 0);
    let kind = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    for (size, bytes) in [(4, [0u8; 64]), (64, [0xff; 64])] {
        let got = call!(tools: MetricGroupExp.pfnCalculateMetricExportDataExp(
            driver(),
            kind,
            size,
            bytes.as_ptr(),
            &raw mut desc,
            &raw mut sets,
            &raw mut values,
            null_mut(),
            null_mut(),
        ));
        assert_eq!(got, ZE_RESULT_ERROR_INVALID_ARGUMENT, "{}", last_error());
    }
}
