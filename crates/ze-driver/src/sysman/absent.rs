//! Parts that a CPU does not have: each enumeration returns none.
//!
//! Functions on such parts keep their defaults, because there are no handles for them.

use crate::core::device::Device;
use level_zero_sys::*;
use ze_abi::{Enumerate, Handle, Out, ZeResult};
use ze_abi_macros::ze_entry;

macro_rules! none {
    ($(#[ze_entry($pfn:ident)] $name:ident($handle:ident): $doc:literal;)*) => {$(
        #[doc = $doc]
        #[ze_entry($pfn)]
        pub(crate) fn $name(
            _hDevice: Handle<'_, Device>,
            pCount: Enumerate<'_, $handle>,
        ) -> ZeResult {
            pCount.fill(0, |_, _| {});
            Ok(())
        }
    )*};
}

none! {
    #[ze_entry(zes_pfnDeviceEnumOverclockDomains_t)] zesDeviceEnumOverclockDomains(zes_overclock_handle_t):
        "No overclocking; sysman/Overclock.yml.";
    #[ze_entry(zes_pfnDeviceEnumDiagnosticTestSuites_t)] zesDeviceEnumDiagnosticTestSuites(zes_diag_handle_t):
        "No test suites; sysman/diagnostics.yml.";
    #[ze_entry(zes_pfnDeviceEnumFabricPorts_t)] zesDeviceEnumFabricPorts(zes_fabric_port_handle_t):
        "No fabric; sysman/fabric.yml.";
    #[ze_entry(zes_pfnDeviceEnumFans_t)] zesDeviceEnumFans(zes_fan_handle_t):
        "Fans are the machine's, not the processor's; sysman/fan.yml.";
    #[ze_entry(zes_pfnDeviceEnumLeds_t)] zesDeviceEnumLeds(zes_led_handle_t):
        "No lights; sysman/led.yml.";
    #[ze_entry(zes_pfnDeviceEnumPerformanceFactorDomains_t)] zesDeviceEnumPerformanceFactorDomains(zes_perf_handle_t):
        "Power is not shared out by factors; sysman/performance.yml.";
    #[ze_entry(zes_pfnDeviceEnumPsus_t)] zesDeviceEnumPsus(zes_psu_handle_t):
        "Power supplies are the machine's; sysman/psu.yml.";
    #[ze_entry(zes_pfnDeviceEnumSchedulers_t)] zesDeviceEnumSchedulers(zes_sched_handle_t):
        "The engine has one way to schedule; sysman/scheduler.yml.";
    #[ze_entry(zes_pfnDeviceEnumStandbyDomains_t)] zesDeviceEnumStandbyDomains(zes_standby_handle_t):
        "Idle states are the system's; sysman/standby.yml.";
    #[ze_entry(zes_pfnDeviceEnumActiveVFExp_t)] zesDeviceEnumActiveVFExp(zes_vf_handle_t):
        "No virtual functions; sysman/virtualFunctionManagement.yml.";
    #[ze_entry(zes_pfnDeviceEnumEnabledVFExp_t)] zesDeviceEnumEnabledVFExp(zes_vf_handle_t):
        "No virtual functions; sysman/virtualFunctionManagement.yml.";
}

/// No domain can be overclocked; sysman/Overclock.yml.
#[ze_entry(zes_pfnDeviceGetOverclockDomains_t)]
pub(crate) fn zesDeviceGetOverclockDomains(
    _hDevice: Handle<'_, Device>,
    pOverclockDomains: Out<'_, u32>,
) -> ZeResult {
    pOverclockDomains.write(0);
    Ok(())
}
