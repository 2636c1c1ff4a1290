//! Energy and limits of power; sysman/power.yml, powerLimits.yml, powerDomainProperties.yml.

use crate::check::{error, lock};
use crate::core::device::Device;
use crate::sysman::{answer, fill, part, telemetry};
use crate::telemetry::{PowerDomain, PowerLimit, PowerPlace, Stamped};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::{ChainMut, Enumerate, Handle, Object, OptIn, OptOut, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// A power domain.
    Power(Domain), _zes_pwr_handle_t, b"ZsPo", "power domain"
);

/// Constant facts of a domain, and its last reading for averages.
struct Domain {
    facts: PowerDomain,
    last: Mutex<Option<Stamped>>,
}

/// Packages, cores and memory that `powercap` counts; sysman/power.yml.
#[ze_entry(zes_pfnDeviceEnumPowerDomains_t)]
pub(crate) fn zesDeviceEnumPowerDomains(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_pwr_handle_t>,
) -> ZeResult {
    fill(pCount, all(&hDevice)?);
    Ok(())
}

fn all(device: &Device) -> ZeResult<&'static [Arc<Power>]> {
    Power::all(device, |telemetry, device| {
        let domains = telemetry.powers(device).into_iter();
        let make = |facts| Domain {
            facts,
            last: Mutex::default(),
        };
        domains.map(make).collect()
    })
}

/// The first package, in place of a card; sysman/power.yml.
#[ze_entry(zes_pfnDeviceGetCardPowerDomain_t)]
pub(crate) fn zesDeviceGetCardPowerDomain(
    hDevice: Handle<'_, Device>,
    phPower: Out<'_, zes_pwr_handle_t>,
) -> ZeResult {
    let package = all(&hDevice)?
        .iter()
        .find(|domain| domain.value.facts.place == PowerPlace::Package);
    let Some(package) = package else {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "no energy counter: /sys/class/powercap lists no package",
        );
    };
    phPower.write(package.handle());
    Ok(())
}

fn domain(place: PowerPlace) -> zes_power_domain_t {
    match place {
        PowerPlace::Package => ZES_POWER_DOMAIN_PACKAGE,
        PowerPlace::Memory => ZES_POWER_DOMAIN_MEMORY,
        PowerPlace::Cores => ZES_POWER_DOMAIN_GPU,
    }
}

/// Limits' range; chains: domain, default limit; sysman/power.yml.
#[ze_entry(zes_pfnPowerGetProperties_t)]
pub(crate) fn zesPowerGetProperties(
    hPower: Handle<'_, Power>,
    mut pProperties: Prop<'_, zes_power_properties_t>,
) -> ZeResult {
    let (facts, out) = (&hPower.value.facts, &mut *pProperties);
    (out.onSubdevice, out.subdeviceId) = (0, 0);
    out.canControl = ze_bool_t::from(facts.can_control);
    out.isEnergyThresholdSupported = 0;
    out.defaultLimit = facts.default_limit_mw.unwrap_or(-1);
    out.minLimit = -1;
    out.maxLimit = facts.max_limit_mw.unwrap_or(-1);
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        match zes_structure_type_t(link.stype.0) {
            ZES_STRUCTURE_TYPE_POWER_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zes_power_ext_properties_t>() };
                ext.domain = domain(facts.place);
                // SAFETY: null or the caller's struct, valid for the call.
                if let Some(limit) = unsafe { ext.defaultLimit.as_mut() } {
                    *limit = describe(limit.pNext, facts, &default_limit(facts));
                }
            }
            ZES_STRUCTURE_TYPE_POWER_DOMAIN_EXP_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zes_power_domain_exp_properties_t>() };
                ext.powerDomain = domain(facts.place);
            }
            _ => {}
        }
    }
    Ok(())
}

fn default_limit(facts: &PowerDomain) -> PowerLimit {
    PowerLimit {
        enabled: facts.default_limit_mw.is_some(),
        power_mw: facts.default_limit_mw.unwrap_or(-1),
        interval_ms: 0,
        burst: false,
    }
}

fn describe(
    next: *const std::ffi::c_void,
    facts: &PowerDomain,
    limit: &PowerLimit,
) -> zes_power_limit_ext_desc_t {
    let locked = ze_bool_t::from(!facts.can_control);
    zes_power_limit_ext_desc_t {
        stype: ZES_STRUCTURE_TYPE_POWER_LIMIT_EXT_DESC,
        pNext: next,
        level: if limit.burst {
            ZES_POWER_LEVEL_BURST
        } else {
            ZES_POWER_LEVEL_SUSTAINED
        },
        source: ZES_POWER_SOURCE_ANY,
        limitUnit: ZES_LIMIT_UNIT_POWER,
        enabledStateLocked: 1,
        enabled: ze_bool_t::from(limit.enabled),
        intervalValueLocked: 1,
        interval: limit.interval_ms,
        limitValueLocked: locked,
        limit: limit.power_mw,
    }
}

fn energy(power: &Power) -> ZeResult<Stamped> {
    answer(telemetry()?.energy(power.device, power.index))
}

/// Microjoules; sysman/power.yml.
#[ze_entry(zes_pfnPowerGetEnergyCounter_t)]
pub(crate) fn zesPowerGetEnergyCounter(
    hPower: Handle<'_, Power>,
    pEnergy: Out<'_, zes_power_energy_counter_t>,
) -> ZeResult {
    let stamped = energy(&hPower)?;
    pEnergy.write(zes_power_energy_counter_t {
        energy: stamped.value,
        timestamp: stamped.time_us,
    });
    Ok(())
}

/// Milliwatts since the last call, as instant and average; sysman/power.yml (1.16).
#[ze_entry(zes_pfnPowerGetUsage_t)]
pub(crate) fn zesPowerGetUsage(
    hPower: Handle<'_, Power>,
    pInstantPower: Out<'_, u32>,
    pAveragePower: Out<'_, u32>,
) -> ZeResult {
    let now = energy(&hPower)?;
    let last = lock(&hPower.value.last).replace(now);
    let watts = last.and_then(|last| {
        let time = now.time_us.checked_sub(last.time_us).filter(|us| *us > 0)?;
        // Microjoules over microseconds are watts.
        let used = now.value.saturating_sub(last.value);
        u32::try_from(used.saturating_mul(1000) / time).ok()
    });
    let Some(milliwatts) = watts else {
        return error(
            ZE_RESULT_ERROR_NOT_AVAILABLE,
            "power is energy over time: the first call only notes the counter, call again later",
        );
    };
    pInstantPower.write(milliwatts);
    pAveragePower.write(milliwatts);
    Ok(())
}

fn limits(power: &Power) -> ZeResult<Vec<PowerLimit>> {
    answer(telemetry()?.power_limits(power.device, power.index))
}

/// Sustained and burst limit; there is no peak limit; sysman/power.yml.
#[ze_entry(zes_pfnPowerGetLimits_t)]
pub(crate) fn zesPowerGetLimits(
    hPower: Handle<'_, Power>,
    pSustained: OptOut<'_, zes_power_sustained_limit_t>,
    pBurst: OptOut<'_, zes_power_burst_limit_t>,
    pPeak: OptOut<'_, zes_power_peak_limit_t>,
) -> ZeResult {
    let limits = limits(&hPower)?;
    let of = |burst| limits.iter().find(|limit| limit.burst == burst);
    let (sustained, burst) = (of(false), of(true));
    pSustained.write(zes_power_sustained_limit_t {
        enabled: ze_bool_t::from(sustained.is_some_and(|limit| limit.enabled)),
        power: sustained.map_or(-1, |limit| limit.power_mw),
        interval: sustained.map_or(-1, |limit| limit.interval_ms),
    });
    pBurst.write(zes_power_burst_limit_t {
        enabled: ze_bool_t::from(burst.is_some_and(|limit| limit.enabled)),
        power: burst.map_or(-1, |limit| limit.power_mw),
    });
    pPeak.write(zes_power_peak_limit_t {
        powerAC: -1,
        powerDC: -1,
    });
    Ok(())
}

fn set(power: &Power, burst: bool, milliwatts: i32) -> ZeResult {
    let most = power.value.facts.max_limit_mw.unwrap_or(i32::MAX);
    if milliwatts <= 0 || milliwatts > most {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("the limit is {milliwatts} mW, 1 to {most} is allowed"),
        );
    }
    answer(telemetry()?.set_power_limit(power.device, power.index, burst, milliwatts))
}

/// Sets the sustained and the burst limit; limits cannot be switched off; sysman/power.yml.
#[ze_entry(zes_pfnPowerSetLimits_t)]
pub(crate) fn zesPowerSetLimits(
    hPower: Handle<'_, Power>,
    pSustained: OptIn<'_, zes_power_sustained_limit_t>,
    pBurst: OptIn<'_, zes_power_burst_limit_t>,
    pPeak: OptIn<'_, zes_power_peak_limit_t>,
) -> ZeResult {
    if pPeak.0.is_some() {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "pPeak is set, but the processor has no peak limit",
        );
    }
    let wanted = [
        pSustained
            .0
            .map(|limit| (false, limit.enabled, limit.power)),
        pBurst.0.map(|limit| (true, limit.enabled, limit.power)),
    ];
    for (burst, enabled, milliwatts) in wanted.into_iter().flatten() {
        if enabled == 0 {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "a limit with enabled = 0: limits are set but not switched off",
            );
        }
        set(&hPower, burst, milliwatts)?;
    }
    Ok(())
}

/// All limits; sysman/powerLimits.yml.
#[ze_entry(zes_pfnPowerGetLimitsExt_t)]
pub(crate) fn zesPowerGetLimitsExt(
    hPower: Handle<'_, Power>,
    pCount: Enumerate<'_, zes_power_limit_ext_desc_t>,
) -> ZeResult {
    let limits = limits(&hPower)?;
    pCount.fill(limits.len(), |i, slot| {
        *slot = describe(slot.pNext, &hPower.value.facts, &limits[i]);
    });
    Ok(())
}

/// Sets limits by their level; sysman/powerLimits.yml.
#[ze_entry(zes_pfnPowerSetLimitsExt_t)]
pub(crate) fn zesPowerSetLimitsExt(
    hPower: Handle<'_, Power>,
    pCount: Prop<'_, u32>,
    pSustained: *mut zes_power_limit_ext_desc_t,
) -> ZeResult {
    if *pCount == 0 {
        return Ok(());
    }
    crate::check::not_null("pSustained", pSustained)?;
    // SAFETY: not null; as many descriptors as the caller says.
    let wanted = unsafe { std::slice::from_raw_parts(pSustained, *pCount as usize) };
    for limit in wanted {
        let burst = match limit.level {
            ZES_POWER_LEVEL_SUSTAINED => false,
            ZES_POWER_LEVEL_BURST => true,
            other => {
                return error(
                    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                    format!(
                        "a limit of level {:#x}: sustained and burst are there",
                        other.0
                    ),
                );
            }
        };
        set(&hPower, burst, limit.limit)?;
    }
    Ok(())
}

/// The sustained limit in milliwatts; sysman/powerLimits.yml (1.16).
#[ze_entry(zes_pfnPowerGetLimitsExt2_t)]
pub(crate) fn zesPowerGetLimitsExt2(hPower: Handle<'_, Power>, pLimit: Out<'_, u32>) -> ZeResult {
    let limits = limits(&hPower)?;
    let sustained = limits.iter().find(|limit| !limit.burst);
    let Some(limit) = sustained.and_then(|limit| u32::try_from(limit.power_mw).ok()) else {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the domain has no sustained limit",
        );
    };
    pLimit.write(limit);
    Ok(())
}

/// Sets the sustained limit in milliwatts; sysman/powerLimits.yml (1.16).
#[ze_entry(zes_pfnPowerSetLimitsExt2_t)]
pub(crate) fn zesPowerSetLimitsExt2(hPower: Handle<'_, Power>, limit: u32) -> ZeResult {
    set(&hPower, false, i32::try_from(limit).unwrap_or(i32::MAX))
}
