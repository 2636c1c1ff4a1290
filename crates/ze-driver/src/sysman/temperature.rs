//! Thermometers; sysman/temperature.yml. Thresholds are kept here, because processors have none for programs.

use crate::check::{error, lock};
use crate::core::device::Device;
use crate::sysman::{answer, fill, part, telemetry};
use crate::telemetry::{SensorPlace, TemperatureSensor};
use level_zero_sys::*;
use std::sync::Mutex;
use ze_abi::{Enumerate, Handle, In, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// A thermometer.
    Temperature(Sensor), _zes_temp_handle_t, b"ZsTe", "temperature sensor"
);

/// The events of thermometers.
pub(super) const EVENTS: u32 = ZES_EVENT_TYPE_FLAG_TEMP_CRITICAL
    | ZES_EVENT_TYPE_FLAG_TEMP_THRESHOLD1
    | ZES_EVENT_TYPE_FLAG_TEMP_THRESHOLD2;

/// Constant facts of a thermometer, and its configured events.
struct Sensor {
    facts: TemperatureSensor,
    config: Mutex<Config>,
}

#[derive(Clone, Copy, Default)]
struct Config {
    critical: bool,
    thresholds: [zes_temp_threshold_t; 2],
    /// The last reading, for crossings.
    last: Option<f64>,
}

/// Sensors of processors under `hwmon` and `thermal`; sysman/temperature.yml.
#[ze_entry(zes_pfnDeviceEnumTemperatureSensors_t)]
pub(crate) fn zesDeviceEnumTemperatureSensors(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_temp_handle_t>,
) -> ZeResult {
    fill(pCount, all(&hDevice)?);
    Ok(())
}

fn all(device: &Device) -> ZeResult<&'static [std::sync::Arc<Temperature>]> {
    Temperature::all(device, |telemetry, device| {
        let sensors = telemetry.temperatures(device).into_iter();
        let make = |facts| Sensor {
            facts,
            config: Mutex::default(),
        };
        sensors.map(make).collect()
    })
}

/// Location and critical temperature; sysman/temperature.yml.
#[ze_entry(zes_pfnTemperatureGetProperties_t)]
pub(crate) fn zesTemperatureGetProperties(
    hTemperature: Handle<'_, Temperature>,
    mut pProperties: Prop<'_, zes_temp_properties_t>,
) -> ZeResult {
    let facts = &hTemperature.value.facts;
    let out = &mut *pProperties;
    out.r#type = match facts.place {
        SensorPlace::Global => ZES_TEMP_SENSORS_GLOBAL,
        SensorPlace::Cores => ZES_TEMP_SENSORS_GPU,
        SensorPlace::Memory => ZES_TEMP_SENSORS_MEMORY,
    };
    (out.onSubdevice, out.subdeviceId) = (0, 0);
    out.maxTemperature = facts.critical.unwrap_or(-1.0);
    out.isCriticalTempSupported = ze_bool_t::from(facts.critical.is_some());
    out.isThreshold1Supported = 1;
    out.isThreshold2Supported = 1;
    Ok(())
}

/// The configuration; sysman/temperature.yml.
#[ze_entry(zes_pfnTemperatureGetConfig_t)]
pub(crate) fn zesTemperatureGetConfig(
    hTemperature: Handle<'_, Temperature>,
    mut pConfig: Prop<'_, zes_temp_config_t>,
) -> ZeResult {
    let config = *lock(&hTemperature.value.config);
    pConfig.enableCritical = ze_bool_t::from(config.critical);
    [pConfig.threshold1, pConfig.threshold2] = config.thresholds;
    Ok(())
}

/// Configures events, which are polled while a program listens; sysman/temperature.yml.
#[ze_entry(zes_pfnTemperatureSetConfig_t)]
pub(crate) fn zesTemperatureSetConfig(
    hTemperature: Handle<'_, Temperature>,
    pConfig: In<'_, zes_temp_config_t>,
) -> ZeResult {
    if pConfig.enableCritical != 0 && hTemperature.value.facts.critical.is_none() {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "pConfig->enableCritical is set, but the sensor's critical temperature is not known",
        );
    }
    let thresholds = [pConfig.threshold1, pConfig.threshold2];
    for (number, threshold) in thresholds.iter().enumerate() {
        if threshold.enableLowToHigh != 0 && threshold.enableHighToLow != 0 {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "pConfig->threshold{} has enableLowToHigh and enableHighToLow set, one is allowed",
                    number + 1
                ),
            );
        }
        if !threshold.threshold.is_finite() {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("pConfig->threshold{} is not a finite number", number + 1),
            );
        }
    }
    *lock(&hTemperature.value.config) = Config {
        critical: pConfig.enableCritical != 0,
        thresholds,
        last: None,
    };
    Ok(())
}

/// Degrees Celsius; sysman/temperature.yml.
#[ze_entry(zes_pfnTemperatureGetState_t)]
pub(crate) fn zesTemperatureGetState(
    hTemperature: Handle<'_, Temperature>,
    pTemperature: Out<'_, f64>,
) -> ZeResult {
    let reading = telemetry()?.temperature(hTemperature.device, hTemperature.index);
    pTemperature.write(answer(reading)?);
    Ok(())
}

impl Temperature {
    /// Reads the sensor. Returns its configured events.
    fn look(&self) -> u32 {
        let value = telemetry().ok().and_then(|telemetry| {
            let reading = telemetry.temperature(self.device, self.index);
            reading.ok()
        });
        let mut config = lock(&self.value.config);
        let (Some(now), last) = (value, config.last) else {
            return 0;
        };
        config.last = Some(now);
        let critical = self.value.facts.critical;
        let reached = |limit: f64| now >= limit && last.is_none_or(|last| last < limit);
        let mut events = 0;
        if config.critical && critical.is_some_and(reached) {
            events |= ZES_EVENT_TYPE_FLAG_TEMP_CRITICAL;
        }
        let flags = [
            ZES_EVENT_TYPE_FLAG_TEMP_THRESHOLD1,
            ZES_EVENT_TYPE_FLAG_TEMP_THRESHOLD2,
        ];
        for (threshold, flag) in config.thresholds.iter().zip(flags) {
            let limit = threshold.threshold;
            let fell = now <= limit && last.is_none_or(|last| last > limit);
            if (threshold.enableLowToHigh != 0 && reached(limit))
                || (threshold.enableHighToLow != 0 && fell)
            {
                events |= flag;
            }
        }
        events
    }
}

/// The configured events of all sensors of `device`.
pub(super) fn look(device: &Device) -> u32 {
    let sensors = all(device).unwrap_or(&[]);
    sensors
        .iter()
        .fold(0, |events, sensor| events | sensor.look())
        & EVENTS
}
