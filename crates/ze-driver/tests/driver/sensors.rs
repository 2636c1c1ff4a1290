//! A device's telemetry with fixed figures: one package of power, memory errors, no more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use ze_driver::telemetry::*;

/// The one of the test platform.
pub(crate) struct Sensors {
    readings: AtomicU64,
    limit_mw: Mutex<i32>,
}

/// As the machine came.
pub(crate) const LIMIT_MW: i32 = 120_000;
/// The highest allowed.
pub(crate) const MOST_MW: i32 = 200_000;
/// Sensors that this user may not set.
pub(crate) const DENIED_MW: i32 = 13_000;

impl Sensors {
    pub(crate) const fn new() -> Self {
        Self {
            readings: AtomicU64::new(0),
            limit_mw: Mutex::new(LIMIT_MW),
        }
    }
}

fn absent<T>() -> Reading<T> {
    Err(ReadError::Absent(
        "the test does not have this sensor".to_owned(),
    ))
}

impl Telemetry for Sensors {
    fn identity(&self, _: usize) -> Identity {
        Identity::default()
    }
    fn processes(&self, _: usize) -> Reading<Vec<ProcessUse>> {
        absent()
    }
    fn engines(&self, _: usize) -> Vec<EngineKind> {
        Vec::new()
    }
    fn engine_activity(&self, _: usize, _: usize) -> Reading<Stamped> {
        absent()
    }
    fn memories(&self, _: usize) -> Vec<MemoryModule> {
        Vec::new()
    }
    fn memory_state(&self, _: usize, _: usize) -> Reading<MemoryState> {
        absent()
    }
    fn frequencies(&self, _: usize) -> Vec<FrequencyDomain> {
        Vec::new()
    }
    fn frequency_state(&self, _: usize, _: usize) -> Reading<FrequencyState> {
        absent()
    }
    fn frequency_clocks(&self, _: usize, _: usize) -> Reading<Vec<f64>> {
        absent()
    }
    fn frequency_range(&self, _: usize, _: usize) -> Reading<(f64, f64)> {
        absent()
    }
    fn set_frequency_range(
        &self,
        _: usize,
        _: usize,
        _: (Option<f64>, Option<f64>),
    ) -> Reading<()> {
        absent()
    }
    fn throttle_time(&self, _: usize, _: usize) -> Reading<Stamped> {
        absent()
    }
    fn temperatures(&self, _: usize) -> Vec<TemperatureSensor> {
        Vec::new()
    }
    fn temperature(&self, _: usize, _: usize) -> Reading<f64> {
        absent()
    }
    fn powers(&self, _: usize) -> Vec<PowerDomain> {
        vec![PowerDomain {
            place: PowerPlace::Package,
            default_limit_mw: Some(LIMIT_MW),
            max_limit_mw: Some(MOST_MW),
            can_control: true,
        }]
    }
    /// 40 W: 40 millijoules more with each millisecond, of which each reading is one.
    fn energy(&self, _: usize, _: usize) -> Reading<Stamped> {
        let ms = self.readings.fetch_add(1, Ordering::Relaxed);
        Ok(Stamped {
            value: ms * 40_000,
            time_us: ms * 1000,
        })
    }
    fn power_limits(&self, _: usize, _: usize) -> Reading<Vec<PowerLimit>> {
        Ok(vec![PowerLimit {
            enabled: true,
            power_mw: *self.limit_mw.lock().expect("no panic under the lock"),
            interval_ms: 1000,
            burst: false,
        }])
    }
    fn set_power_limit(&self, _: usize, _: usize, burst: bool, power_mw: i32) -> Reading<()> {
        if burst {
            return absent();
        }
        if power_mw == DENIED_MW {
            return Err(ReadError::Denied("allow it with chmod".to_owned()));
        }
        *self.limit_mw.lock().expect("no panic under the lock") = power_mw;
        Ok(())
    }
    fn memory_errors(&self, _: usize) -> Option<Reading<MemoryErrors>> {
        Some(Ok(MemoryErrors {
            corrected: 5,
            uncorrected: 1,
        }))
    }
    fn firmwares(&self, _: usize) -> Vec<(String, String)> {
        Vec::new()
    }
    fn reset(&self, _: usize) {}
    fn work(&self) -> Work {
        Work::default()
    }
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
    fn counters_missing(&self) -> String {
        String::new()
    }
    fn count(&self) -> Reading<Vec<u64>> {
        Ok(Vec::new())
    }
}
