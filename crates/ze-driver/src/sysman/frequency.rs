//! Clocks of sets of cores; sysman/frequency.yml. Overclocking functions are not supported.

use crate::check::error;
use crate::core::device::Device;
use crate::sysman::{answer, fill, part, telemetry};
use crate::telemetry::FrequencyDomain;
use level_zero_sys::*;
use ze_abi::{Enumerate, Handle, In, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// A set of cores with one clock.
    Frequency(FrequencyDomain), _zes_freq_handle_t, b"ZsFr", "frequency domain"
);

/// One domain for each policy of `cpufreq`; sysman/frequency.yml.
#[ze_entry(zes_pfnDeviceEnumFrequencyDomains_t)]
pub(crate) fn zesDeviceEnumFrequencyDomains(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_freq_handle_t>,
) -> ZeResult {
    fill(pCount, all(&hDevice)?);
    Ok(())
}

/// The device's domains.
pub(super) fn all(device: &Device) -> ZeResult<&'static [std::sync::Arc<Frequency>]> {
    Frequency::all(device, |telemetry, device| telemetry.frequencies(device))
}

/// The hardware's range; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencyGetProperties_t)]
pub(crate) fn zesFrequencyGetProperties(
    hFrequency: Handle<'_, Frequency>,
    mut pProperties: Prop<'_, zes_freq_properties_t>,
) -> ZeResult {
    let (domain, out) = (&hFrequency.value, &mut *pProperties);
    out.r#type = ZES_FREQ_DOMAIN_GPU;
    (out.onSubdevice, out.subdeviceId) = (0, 0);
    out.canControl = ze_bool_t::from(domain.can_control);
    out.isThrottleEventSupported = ze_bool_t::from(domain.counts_throttling);
    out.min = domain.min_mhz;
    out.max = domain.max_mhz;
    Ok(())
}

/// MHz, rising; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencyGetAvailableClocks_t)]
pub(crate) fn zesFrequencyGetAvailableClocks(
    hFrequency: Handle<'_, Frequency>,
    pCount: Enumerate<'_, f64>,
) -> ZeResult {
    let clocks = telemetry()?.frequency_clocks(hFrequency.device, hFrequency.index);
    let clocks = answer(clocks)?;
    pCount.fill(clocks.len(), |i, slot| *slot = clocks[i]);
    Ok(())
}

/// The limits in force; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencyGetRange_t)]
pub(crate) fn zesFrequencyGetRange(
    hFrequency: Handle<'_, Frequency>,
    mut pLimits: Prop<'_, zes_freq_range_t>,
) -> ZeResult {
    let range = telemetry()?.frequency_range(hFrequency.device, hFrequency.index);
    (pLimits.min, pLimits.max) = answer(range)?;
    Ok(())
}

/// Sets the limits within the hardware's; negative ones mean the default; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencySetRange_t)]
pub(crate) fn zesFrequencySetRange(
    hFrequency: Handle<'_, Frequency>,
    pLimits: In<'_, zes_freq_range_t>,
) -> ZeResult {
    let domain = &hFrequency.value;
    let (min, max) = (pLimits.min, pLimits.max);
    if min.is_nan() || max.is_nan() || (min >= 0.0 && max >= 0.0 && min > max) {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("pLimits is {min} to {max} MHz, the first may not be above the second"),
        );
    }
    let inside = |value: f64| (value >= 0.0).then(|| value.clamp(domain.min_mhz, domain.max_mhz));
    let set = telemetry()?.set_frequency_range(
        hFrequency.device,
        hFrequency.index,
        (inside(min), inside(max)),
    );
    answer(set)
}

/// The state of the clock; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencyGetState_t)]
pub(crate) fn zesFrequencyGetState(
    hFrequency: Handle<'_, Frequency>,
    mut pState: Prop<'_, zes_freq_state_t>,
) -> ZeResult {
    let state = answer(telemetry()?.frequency_state(hFrequency.device, hFrequency.index))?;
    let known = |value: Option<f64>| value.unwrap_or(-1.0);
    pState.currentVoltage = -1.0;
    pState.request = known(state.request);
    pState.tdp = known(state.tdp);
    pState.efficient = known(state.efficient);
    pState.actual = known(state.actual);
    pState.throttleReasons = if state.thermal {
        ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT
    } else {
        0
    };
    Ok(())
}

/// Microseconds of thermal throttling, where the processor counts them; sysman/frequency.yml.
#[ze_entry(zes_pfnFrequencyGetThrottleTime_t)]
pub(crate) fn zesFrequencyGetThrottleTime(
    hFrequency: Handle<'_, Frequency>,
    pThrottleTime: Out<'_, zes_freq_throttle_time_t>,
) -> ZeResult {
    let stamped = answer(telemetry()?.throttle_time(hFrequency.device, hFrequency.index))?;
    pThrottleTime.write(zes_freq_throttle_time_t {
        throttleTime: stamped.value,
        timestamp: stamped.time_us,
    });
    Ok(())
}

impl Frequency {
    /// Microseconds of throttling, where they are counted.
    pub(super) fn throttled(&self) -> Option<u64> {
        let telemetry = telemetry().ok()?;
        let stamped = telemetry.throttle_time(self.device, self.index);
        Some(stamped.ok()?.value)
    }
}
