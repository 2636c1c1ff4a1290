//! Clock frequencies, from `cpufreq` or, if that is missing, from `/proc/cpuinfo`.

use super::sources::Sources;
use ze_driver::telemetry::{FrequencyDomain, FrequencyState, ReadError, Reading};

const FOLDER: &str = "sys/devices/system/cpu/cpufreq";
const CPUS: &str = "sys/devices/system/cpu";

/// Policies with the same range: on a machine with two kinds of cores each kind is a domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Domain {
    policies: Vec<String>,
    /// MHz.
    min: f64,
    max: f64,
}

/// The domains of the machine.
pub(super) fn domains(sources: &Sources) -> Vec<Domain> {
    let mut domains: Vec<Domain> = Vec::new();
    for name in sources.list(FOLDER, "policy") {
        let policy = format!("{FOLDER}/{name}");
        let limit = |file: &str| {
            let khz = sources.number::<u64>(&format!("{policy}/{file}"));
            khz.map(|khz| khz as f64 / 1000.0)
        };
        let (Ok(min), Ok(max)) = (limit("cpuinfo_min_freq"), limit("cpuinfo_max_freq")) else {
            continue;
        };
        match domains.iter_mut().find(|d| d.min == min && d.max == max) {
            Some(domain) => domain.policies.push(policy),
            None => domains.push(Domain {
                policies: vec![policy],
                min,
                max,
            }),
        }
    }
    if domains.is_empty() && shown(sources).is_some() {
        // A virtual machine: the clock is shown, its range is the host's affair.
        domains.push(Domain {
            policies: Vec::new(),
            min: -1.0,
            max: -1.0,
        });
    }
    domains
}

/// The mean clock that `/proc/cpuinfo` shows, MHz.
fn shown(sources: &Sources) -> Option<f64> {
    let text = sources.read("proc/cpuinfo").ok()?;
    let clocks = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_clock = name.trim() == "cpu MHz";
        is_clock.then(|| value.trim().parse::<f64>().ok())?
    });
    mean(clocks)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

impl Domain {
    /// The fixed properties.
    pub(super) fn facts(&self, sources: &Sources) -> FrequencyDomain {
        let control = |policy: &String| {
            sources.is_writable(&format!("{policy}/scaling_min_freq"))
                && sources.is_writable(&format!("{policy}/scaling_max_freq"))
        };
        FrequencyDomain {
            min_mhz: self.min,
            max_mhz: self.max,
            can_control: !self.policies.is_empty() && self.policies.iter().all(control),
            counts_throttling: throttle_files(sources).next().is_some(),
        }
    }

    /// The mean over the policies of a file in kHz, as MHz.
    fn mean(&self, sources: &Sources, file: &str) -> Reading<Option<f64>> {
        let mut values = Vec::new();
        for policy in &self.policies {
            match sources.number::<u64>(&format!("{policy}/{file}")) {
                Ok(khz) => values.push(khz as f64 / 1000.0),
                Err(denied @ ReadError::Denied(_)) => return Err(denied),
                Err(ReadError::Absent(_)) => {}
            }
        }
        Ok(mean(values.into_iter()))
    }

    /// The current state of the clock.
    pub(super) fn state(&self, sources: &Sources) -> Reading<FrequencyState> {
        if self.policies.is_empty() {
            return Ok(FrequencyState {
                actual: shown(sources),
                ..FrequencyState::default()
            });
        }
        Ok(FrequencyState {
            request: self.mean(sources, "scaling_max_freq")?,
            tdp: None,
            efficient: self.mean(sources, "base_frequency")?,
            actual: self.mean(sources, "scaling_cur_freq")?,
            thermal: false,
        })
    }

    /// In MHz, ascending: the driver's list, else the two limits.
    pub(super) fn clocks(&self, sources: &Sources) -> Vec<f64> {
        let Some(policy) = self.policies.first() else {
            return Vec::new();
        };
        let text = sources.read(&format!("{policy}/scaling_available_frequencies"));
        let mut clocks: Vec<f64> = text
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|khz| khz.parse::<u64>().ok())
            .map(|khz| khz as f64 / 1000.0)
            .filter(|mhz| (self.min..=self.max).contains(mhz))
            .collect();
        if clocks.is_empty() {
            clocks = vec![self.min, self.max];
        }
        clocks.sort_by(f64::total_cmp);
        clocks.dedup();
        clocks
    }

    /// The limits in force, MHz.
    pub(super) fn range(&self, sources: &Sources) -> Reading<(f64, f64)> {
        Ok((
            self.mean(sources, "scaling_min_freq")?.unwrap_or(-1.0),
            self.mean(sources, "scaling_max_freq")?.unwrap_or(-1.0),
        ))
    }

    /// Sets the limits, MHz; without one the hardware's.
    pub(super) fn set_range(
        &self,
        sources: &Sources,
        (min, max): (Option<f64>, Option<f64>),
    ) -> Reading<()> {
        if self.policies.is_empty() {
            return Err(ReadError::Absent(format!(
                "/{FOLDER} has no policies: the clock of this machine cannot be set"
            )));
        }
        // Rounded, because a fraction of a kHz is not significant.
        let khz = |mhz: f64| (mhz * 1000.0).round() as u64;
        let (min, max) = (khz(min.unwrap_or(self.min)), khz(max.unwrap_or(self.max)));
        for policy in &self.policies {
            let (low, high) = (
                format!("{policy}/scaling_min_freq"),
                format!("{policy}/scaling_max_freq"),
            );
            // The lower may never be above the higher: widen first.
            sources.write(&low, khz(self.min))?;
            sources.write(&high, max)?;
            sources.write(&low, min)?;
        }
        Ok(())
    }
}

/// Files that count throttling, in milliseconds, one a core.
fn throttle_files(sources: &Sources) -> impl Iterator<Item = String> {
    let cpus = sources.list(CPUS, "cpu");
    let file = |cpu: String| format!("{CPUS}/{cpu}/thermal_throttle/core_throttle_total_time_ms");
    let files: Vec<_> = cpus
        .into_iter()
        .filter(|cpu| cpu[3..].parse::<u32>().is_ok())
        .map(file)
        .filter(|file| sources.exists(file))
        .collect();
    files.into_iter()
}

/// Microseconds that cores were held back by heat, all together.
pub(super) fn throttled_us(sources: &Sources) -> Reading<u64> {
    let mut total = None;
    for file in throttle_files(sources) {
        let ms: u64 = sources.number(&file)?;
        total = Some(total.unwrap_or(0) + ms * 1000);
    }
    total.ok_or_else(|| {
        ReadError::Absent(format!(
            "no /{CPUS}/cpu*/thermal_throttle: this processor does not count throttling"
        ))
    })
}
