//! Thermometers, from `hwmon` or, if that has none of the processor, from thermal zones.

use super::sources::Sources;
use ze_driver::telemetry::{ReadError, Reading, SensorPlace, TemperatureSensor};

/// Drivers of processors' thermometers.
const PROCESSORS: [&str; 6] = [
    "coretemp",
    "k10temp",
    "k8temp",
    "zenpower",
    "cpu_thermal",
    "via_cputemp",
];
/// Drivers of memory modules' thermometers.
const MEMORIES: [&str; 2] = ["jc42", "spd5118"];
/// Thermal zones of processors.
const ZONES: [&str; 3] = ["x86_pkg_temp", "cpu-thermal", "acpitz"];

/// Thermometers of one place: the hottest counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sensor {
    place: SensorPlace,
    /// Files in thousandths of a degree.
    files: Vec<String>,
    critical: Option<f64>,
}

/// The thermometers of the machine, one for each location.
pub(super) fn sensors(sources: &Sources) -> Vec<Sensor> {
    let mut sensors: Vec<Sensor> = Vec::new();
    let mut add = |place, file: String, critical: Option<i64>| {
        let critical = critical.map(|milli| milli as f64 / 1000.0);
        match sensors.iter_mut().find(|sensor| sensor.place == place) {
            Some(sensor) => {
                sensor.files.push(file);
                sensor.critical = match (sensor.critical, critical) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
            None => sensors.push(Sensor {
                place,
                files: vec![file],
                critical,
            }),
        }
    };
    for chip in sources.list("sys/class/hwmon", "hwmon") {
        let chip = format!("sys/class/hwmon/{chip}");
        let name = sources.read(&format!("{chip}/name")).unwrap_or_default();
        let name = name.trim();
        let memory = MEMORIES.contains(&name);
        if !memory && !PROCESSORS.contains(&name) {
            continue;
        }
        for file in sources.list(&chip, "temp") {
            let Some(sensor) = file.strip_suffix("_input") else {
                continue;
            };
            let label = sources.read(&format!("{chip}/{sensor}_label"));
            let label = label.unwrap_or_default();
            let place = if memory {
                SensorPlace::Memory
            } else if label.starts_with("Core") || label.starts_with("Tccd") {
                SensorPlace::Cores
            } else {
                SensorPlace::Global
            };
            let critical = sources.number(&format!("{chip}/{sensor}_crit")).ok();
            add(place, format!("{chip}/{file}"), critical);
        }
    }
    if !sensors
        .iter()
        .any(|sensor| sensor.place != SensorPlace::Memory)
    {
        for zone in sources.list("sys/class/thermal", "thermal_zone") {
            let zone = format!("sys/class/thermal/{zone}");
            let kind = sources.read(&format!("{zone}/type")).unwrap_or_default();
            if ZONES.contains(&kind.trim()) {
                sensors.push(Sensor {
                    place: SensorPlace::Global,
                    files: vec![format!("{zone}/temp")],
                    critical: None,
                });
                break;
            }
        }
    }
    sensors
}

impl Sensor {
    /// The fixed properties.
    pub(super) fn facts(&self) -> TemperatureSensor {
        TemperatureSensor {
            place: self.place,
            critical: self.critical,
        }
    }

    /// Degrees Celsius, of the hottest.
    pub(super) fn read(&self, sources: &Sources) -> Reading<f64> {
        let mut hottest: Option<f64> = None;
        let mut failed = None;
        for file in &self.files {
            match sources.number::<i64>(file) {
                Ok(milli) => {
                    let value = milli as f64 / 1000.0;
                    hottest = Some(hottest.map_or(value, |h| h.max(value)));
                }
                Err(error) => failed = Some(error),
            }
        }
        hottest.ok_or_else(|| {
            failed.unwrap_or_else(|| ReadError::Absent("the sensor has no file".to_owned()))
        })
    }
}
