//! Energy and limits of power, from `powercap` (RAPL).

use super::sources::Sources;
use crate::sync::lock;
use std::sync::Mutex;
use ze_driver::telemetry::{PowerDomain, PowerLimit, PowerPlace, ReadError, Reading};

const FOLDER: &str = "sys/class/powercap";

/// A zone of `powercap`.
#[derive(Debug)]
pub(super) struct Zone {
    place: PowerPlace,
    folder: String,
    /// The counter wraps after this value.
    range: u64,
    /// The last raw value, and the sum.
    energy: Mutex<Option<(u64, u64)>>,
}

/// Zones of packages, their cores and their memory.
pub(super) fn zones(sources: &Sources) -> Vec<Zone> {
    let mut zones = Vec::new();
    for name in sources.list(FOLDER, "intel-rapl:") {
        let folder = format!("{FOLDER}/{name}");
        let kind = sources.read(&format!("{folder}/name")).unwrap_or_default();
        let place = match kind.trim() {
            kind if kind.starts_with("package") => PowerPlace::Package,
            "core" => PowerPlace::Cores,
            "dram" => PowerPlace::Memory,
            _ => continue,
        };
        zones.push(Zone {
            place,
            range: sources
                .number(&format!("{folder}/max_energy_range_uj"))
                .unwrap_or(u64::MAX),
            folder,
            energy: Mutex::new(None),
        });
    }
    zones
}

impl Zone {
    fn number(&self, sources: &Sources, file: &str) -> Reading<u64> {
        sources.number(&format!("{}/{file}", self.folder))
    }

    /// Which constraint is the sustained (`long_term`) or the burst (`short_term`) one.
    fn constraint(&self, sources: &Sources, burst: bool) -> Option<usize> {
        let wanted = if burst { "short_term" } else { "long_term" };
        (0..4).find(|number| {
            let name = sources.read(&format!("{}/constraint_{number}_name", self.folder));
            name.is_ok_and(|name| name.trim() == wanted)
        })
    }

    /// The fixed properties.
    pub(super) fn facts(&self, sources: &Sources) -> PowerDomain {
        let long = self.constraint(sources, false);
        let of = |file: &str| {
            let number = self.number(sources, &format!("constraint_{}_{file}", long?));
            milliwatts(number.ok().filter(|uw| *uw > 0)?)
        };
        PowerDomain {
            place: self.place,
            default_limit_mw: of("power_limit_uw"),
            max_limit_mw: of("max_power_uw"),
            can_control: long.is_some_and(|long| {
                sources.is_writable(&format!("{}/constraint_{long}_power_limit_uw", self.folder))
            }),
        }
    }

    /// Microjoules, continued across the counter's restarts if it is read at least once between them.
    pub(super) fn energy_uj(&self, sources: &Sources) -> Reading<u64> {
        let raw = self.number(sources, "energy_uj")?;
        let mut energy = lock(&self.energy);
        let sum = match *energy {
            None => raw,
            Some((last, sum)) => {
                let step = match raw.checked_sub(last) {
                    Some(step) => step,
                    None => self.range.saturating_sub(last).saturating_add(raw),
                };
                sum.saturating_add(step)
            }
        };
        *energy = Some((raw, sum));
        Ok(sum)
    }

    /// The limits in force.
    pub(super) fn limits(&self, sources: &Sources) -> Reading<Vec<PowerLimit>> {
        let enabled = self.number(sources, "enabled").unwrap_or(1) != 0;
        let mut limits = Vec::new();
        for burst in [false, true] {
            let Some(number) = self.constraint(sources, burst) else {
                continue;
            };
            let power = self.number(sources, &format!("constraint_{number}_power_limit_uw"))?;
            let window = self.number(sources, &format!("constraint_{number}_time_window_us"));
            limits.push(PowerLimit {
                enabled,
                power_mw: milliwatts(power).unwrap_or(i32::MAX),
                interval_ms: window
                    .ok()
                    .and_then(|us| i32::try_from(us / 1000).ok())
                    .unwrap_or(0),
                burst,
            });
        }
        Ok(limits)
    }

    /// Sets a limit.
    pub(super) fn set_limit(&self, sources: &Sources, burst: bool, power_mw: i32) -> Reading<()> {
        let Some(number) = self.constraint(sources, burst) else {
            return Err(ReadError::Absent(format!(
                "/{} has no {} limit",
                self.folder,
                if burst { "burst" } else { "sustained" }
            )));
        };
        let microwatts = u64::from(power_mw.max(0).cast_unsigned()) * 1000;
        sources.write(
            &format!("{}/constraint_{number}_power_limit_uw", self.folder),
            microwatts,
        )
    }
}

fn milliwatts(microwatts: u64) -> Option<i32> {
    i32::try_from(microwatts / 1000).ok()
}
