//! The state of the machine while it works: `ze_driver::telemetry` over the system's files, our own counters and perf events.
//!
//! Invariants
//! - Files are read on request only.
//! - Root devices of one machine report the same values: they are the same cores.
//!
//! Non-goals: no privileged interfaces (model-specific registers, drivers of our own).

mod counters;
mod frequency;
mod load;
mod pages;
mod power;
mod sources;
mod temperature;
mod usage;

use crate::clock::now_ns;
use counters::Counters;
pub(crate) use sources::Sources;
use std::sync::OnceLock;
pub use usage::read_counters;
pub(crate) use usage::{Kind, Meter, Usage};
use ze_driver::device::DeviceFacts;
use ze_driver::telemetry::*;

/// The machine's telemetry.
pub(crate) struct Sensors {
    sources: Sources,
    usage: &'static Usage,
    counters: Counters,
    /// CPUs that the process may use.
    cpus: Vec<usize>,
    devices: Vec<Known>,
    model: String,
    frequencies: OnceLock<Vec<frequency::Domain>>,
    temperatures: OnceLock<Vec<temperature::Sensor>>,
    powers: OnceLock<Vec<power::Zone>>,
    nodes: OnceLock<Vec<String>>,
}

/// The facts of a device that telemetry needs.
struct Known {
    uuid: [u8; 16],
    physical_memory: u64,
    /// How many sub-devices it has.
    subs: usize,
    sub_of: Option<usize>,
}

impl Sensors {
    /// Reads the files below `sources`, for those devices of a machine whose processor is `model`.
    pub(crate) fn new(
        sources: Sources,
        usage: &'static Usage,
        cpus: Vec<usize>,
        model: &str,
        facts: &[DeviceFacts],
    ) -> Self {
        let subs_of = |index| facts.iter().filter(|f| f.sub_of == Some(index)).count();
        let known = |(index, facts): (usize, &DeviceFacts)| Known {
            uuid: facts.uuid,
            physical_memory: facts.physical_memory,
            subs: subs_of(index),
            sub_of: facts.sub_of,
        };
        let devices: Vec<Known> = facts.iter().enumerate().map(known).collect();
        let uuids: Vec<[u8; 16]> = devices.iter().map(|device| device.uuid).collect();
        usage.name_devices(&uuids);
        Self {
            sources,
            usage,
            counters: Counters::new(),
            cpus,
            devices,
            model: model.to_owned(),
            frequencies: OnceLock::new(),
            temperatures: OnceLock::new(),
            powers: OnceLock::new(),
            nodes: OnceLock::new(),
        }
    }

    fn frequency(&self, domain: usize) -> Reading<&frequency::Domain> {
        part(self.all_frequencies(), domain)
    }

    fn all_frequencies(&self) -> &[frequency::Domain] {
        self.frequencies
            .get_or_init(|| frequency::domains(&self.sources))
    }

    fn all_temperatures(&self) -> &[temperature::Sensor] {
        self.temperatures
            .get_or_init(|| temperature::sensors(&self.sources))
    }

    fn all_powers(&self) -> &[power::Zone] {
        self.powers.get_or_init(|| power::zones(&self.sources))
    }

    /// Nodes, if they are the device's sub-devices too.
    fn nodes(&self, device: usize) -> &[String] {
        let nodes = self.nodes.get_or_init(|| load::nodes(&self.sources));
        let subs = self.devices.get(device).map_or(0, |device| device.subs);
        if nodes.len() == subs { nodes } else { &[] }
    }

    fn total(&self, device: usize) -> u64 {
        self.devices
            .get(device)
            .map_or(0, |device| device.physical_memory)
    }

    /// A share of all cores' time.
    fn per_core(&self, us: u64) -> u64 {
        us / self.cpus.len().max(1) as u64
    }
}

fn part<T>(parts: &[T], index: usize) -> Reading<&T> {
    parts
        .get(index)
        .ok_or_else(|| ReadError::Absent(format!("part {index} is not there any more")))
}

fn now_us() -> u64 {
    now_ns() / 1000
}

/// Keeps letters and digits of a name: serial and board numbers have no other characters.
fn alphanumeric(text: String) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

impl Telemetry for Sensors {
    fn identity(&self, _device: usize) -> Identity {
        let dmi = |file: &str| {
            let text = self.sources.read(&format!("sys/class/dmi/id/{file}"));
            text.unwrap_or_default().trim().to_owned()
        };
        let brand = ["AMD", "Intel", "Hygon", "Zhaoxin"]
            .into_iter()
            .find(|maker| self.model.contains(maker));
        Identity {
            serial_number: alphanumeric(dmi("product_serial")),
            board_number: alphanumeric(dmi("board_name")),
            brand_name: brand.unwrap_or_default().to_owned(),
            model_name: self.model.clone(),
            vendor_name: brand.unwrap_or_default().to_owned(),
        }
    }

    fn processes(&self, device: usize) -> Reading<Vec<ProcessUse>> {
        let known = part(&self.devices, device)?;
        Ok(self.usage.processes(&known.uuid))
    }

    fn engines(&self, _device: usize) -> Vec<EngineKind> {
        let mut engines = vec![EngineKind::All, EngineKind::ComputeAll, EngineKind::CopyAll];
        engines.extend(self.cpus.iter().map(|_| EngineKind::Core));
        engines
    }

    fn engine_activity(&self, _device: usize, engine: usize) -> Reading<Stamped> {
        let value = match engine {
            0 => {
                let busy = load::busy_us(&self.sources, &self.cpus)?;
                self.per_core(busy.iter().sum())
            }
            1 | 2 => self.per_core(self.usage.times()[engine - 1] / 1000),
            core => {
                let cpu = part(&self.cpus, core - 3)?;
                let busy = load::busy_us(&self.sources, &[*cpu])?;
                *part(&busy, 0)?
            }
        };
        Ok(Stamped {
            value,
            time_us: now_us(),
        })
    }

    fn memories(&self, device: usize) -> Vec<MemoryModule> {
        let nodes = self.nodes(device).iter().enumerate();
        let modules: Vec<MemoryModule> = nodes
            .map(|(number, file)| MemoryModule {
                sub_device: u32::try_from(number).ok(),
                size: load::field(&self.sources, file, "MemTotal:").unwrap_or(0),
            })
            .collect();
        if !modules.is_empty() {
            return modules;
        }
        vec![MemoryModule {
            sub_device: None,
            size: self.total(device),
        }]
    }

    fn memory_state(&self, device: usize, module: usize) -> Reading<MemoryState> {
        let (size, free) = match self.nodes(device) {
            [] => (self.total(device), load::available(&self.sources)?),
            nodes => {
                let file = part(nodes, module)?;
                (
                    load::field(&self.sources, file, "MemTotal:")?,
                    load::field(&self.sources, file, "MemFree:")?,
                )
            }
        };
        let errors = self.memory_errors(device).and_then(Result::ok);
        Ok(MemoryState {
            free: free.min(size),
            size,
            healthy: errors.map(|errors| errors.uncorrected == 0),
        })
    }

    fn frequencies(&self, _device: usize) -> Vec<FrequencyDomain> {
        let domains = self.all_frequencies().iter();
        domains.map(|domain| domain.facts(&self.sources)).collect()
    }

    fn frequency_state(&self, _device: usize, domain: usize) -> Reading<FrequencyState> {
        self.frequency(domain)?.state(&self.sources)
    }

    fn frequency_clocks(&self, _device: usize, domain: usize) -> Reading<Vec<f64>> {
        Ok(self.frequency(domain)?.clocks(&self.sources))
    }

    fn frequency_range(&self, _device: usize, domain: usize) -> Reading<(f64, f64)> {
        self.frequency(domain)?.range(&self.sources)
    }

    fn set_frequency_range(
        &self,
        _device: usize,
        domain: usize,
        range: (Option<f64>, Option<f64>),
    ) -> Reading<()> {
        self.frequency(domain)?.set_range(&self.sources, range)
    }

    fn throttle_time(&self, _device: usize, domain: usize) -> Reading<Stamped> {
        self.frequency(domain)?;
        Ok(Stamped {
            value: frequency::throttled_us(&self.sources)?,
            time_us: now_us(),
        })
    }

    fn temperatures(&self, _device: usize) -> Vec<TemperatureSensor> {
        let sensors = self.all_temperatures().iter();
        sensors.map(temperature::Sensor::facts).collect()
    }

    fn temperature(&self, _device: usize, sensor: usize) -> Reading<f64> {
        part(self.all_temperatures(), sensor)?.read(&self.sources)
    }

    fn powers(&self, _device: usize) -> Vec<PowerDomain> {
        let zones = self.all_powers().iter();
        zones.map(|zone| zone.facts(&self.sources)).collect()
    }

    fn energy(&self, _device: usize, domain: usize) -> Reading<Stamped> {
        Ok(Stamped {
            value: part(self.all_powers(), domain)?.energy_uj(&self.sources)?,
            time_us: now_us(),
        })
    }

    fn power_limits(&self, _device: usize, domain: usize) -> Reading<Vec<PowerLimit>> {
        part(self.all_powers(), domain)?.limits(&self.sources)
    }

    fn set_power_limit(
        &self,
        _device: usize,
        domain: usize,
        burst: bool,
        power_mw: i32,
    ) -> Reading<()> {
        let zone = part(self.all_powers(), domain)?;
        zone.set_limit(&self.sources, burst, power_mw)
    }

    fn memory_errors(&self, _device: usize) -> Option<Reading<MemoryErrors>> {
        const FOLDER: &str = "sys/devices/system/edac/mc";
        let controllers: Vec<String> = self
            .sources
            .list(FOLDER, "mc")
            .into_iter()
            .filter(|name| name[2..].parse::<u32>().is_ok())
            .collect();
        if controllers.is_empty() {
            return None;
        }
        let sum = || {
            let mut errors = MemoryErrors::default();
            for name in &controllers {
                let of = |file: &str| {
                    self.sources
                        .number::<u64>(&format!("{FOLDER}/{name}/{file}"))
                };
                errors.corrected += of("ce_count")?;
                errors.uncorrected += of("ue_count")?;
            }
            Ok(errors)
        };
        Some(sum())
    }

    fn firmwares(&self, _device: usize) -> Vec<(String, String)> {
        let text = self.sources.read("proc/cpuinfo").unwrap_or_default();
        let version = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == "microcode").then(|| value.trim().to_owned())
        });
        let version = version.filter(|version| !version.is_empty());
        version
            .map(|version| ("microcode".to_owned(), version))
            .into_iter()
            .collect()
    }

    fn reset(&self, device: usize) {
        let of_root = |index: &usize| {
            *index == device
                || self
                    .devices
                    .get(*index)
                    .is_some_and(|known| known.sub_of == Some(device))
        };
        let all: Vec<usize> = (0..self.devices.len()).filter(of_root).collect();
        crate::fault::watchdog::end(&all);
    }

    fn work(&self) -> Work {
        self.usage.work()
    }

    fn counters(&self) -> Vec<Counter> {
        self.counters.list(&self.sources)
    }

    fn counters_missing(&self) -> String {
        self.counters.missing(&self.sources)
    }

    fn count(&self) -> Reading<Vec<u64>> {
        self.counters.read(&self.sources)
    }
}

#[cfg(test)]
mod tests;
