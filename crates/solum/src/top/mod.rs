//! `solum top`: live device utilisation, read through Level Zero's system management (`zes*`).
//!
//! Rates are differences between two readings of counters. A value that a driver does not report is shown as `n/a` or
//! left out; nothing is estimated.

mod figures;
mod sysman;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;

use crate::output::{self, Failure};
use crate::{exit, install, list};
use figures::Figures;
use sysman::Calls;

/// Show live device utilisation.
#[derive(Args)]
pub(crate) struct Options {
    /// Print one snapshot and exit.
    #[arg(long)]
    once: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Time between updates, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    interval: u64,
    /// Use this Level Zero loader instead of Solum's.
    #[arg(long, value_name = "FILE")]
    loader: Option<PathBuf>,
}

const SCHEMA: &str = "solum.top/1";

#[derive(Serialize)]
struct Snapshot<'p> {
    schema: &'static str,
    /// Milliseconds since 1970.
    time_ms: u64,
    interval_ms: u64,
    devices: &'p [Figures],
}

/// Prints snapshots until it is interrupted. Returns 1 if no driver offers system management.
pub(crate) fn top(options: &Options) -> u8 {
    stream(options).unwrap_or_else(|failure| failure.print(options.json.then_some(SCHEMA)))
}

fn stream(options: &Options) -> Result<u8, Failure> {
    let (library, loader) = install::loader(options.loader.as_deref())?;
    let calls = Calls::of(&library);
    let devices = calls.open().map_err(|error| {
        Failure::new(exit::PROBLEM, error)
            .hint("solum info shows static properties; solum doctor checks the drivers")
    })?;
    // The devices' names in solum ls; system management has only UUIDs.
    let selectors = list::selectors(&loader);
    let interval = Duration::from_millis(options.interval);
    let read = || -> Vec<_> { devices.iter().map(|device| calls.read(*device)).collect() };
    let terminal = !options.json && std::io::stdout().is_terminal();
    let mut before = (Instant::now(), read());
    loop {
        std::thread::sleep(interval);
        let after = (Instant::now(), read());
        let all: Vec<Figures> = before
            .1
            .iter()
            .zip(&after.1)
            .map(|(before, after)| {
                figures::between(before, after, selectors.get(&after.uuid).cloned())
            })
            .collect();
        let shown = show(options, terminal, after.0.duration_since(before.0), &all);
        let is_over = options.once || shown.is_err();
        let code = output::written(shown, 0);
        if is_over {
            return Ok(code);
        }
        before = after;
    }
}

fn show(
    options: &Options,
    terminal: bool,
    interval: Duration,
    devices: &[Figures],
) -> std::io::Result<()> {
    let mut out = anstream::stdout().lock();
    if options.json {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let snapshot = Snapshot {
            schema: SCHEMA,
            time_ms: since.map_or(0, |since| since.as_millis() as u64),
            interval_ms: interval.as_millis() as u64,
            devices,
        };
        let line = serde_json::to_string(&snapshot).map_err(std::io::Error::other)?;
        writeln!(out, "{}", output::escape_json(&line))?;
        return out.flush();
    }
    if terminal && !options.once {
        // Cursor to the top left, clear to the end of the screen.
        write!(out, "\u{1b}[H\u{1b}[J")?;
    }
    for device in devices {
        write!(out, "{}", figures::text(device))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use level_zero::sys::*;

    use super::sysman::Calls;

    // A driver with one device, one engine and one memory, as the specification has them.
    unsafe extern "C" fn init(_: zes_init_flags_t) -> ze_result_t {
        ZE_RESULT_SUCCESS
    }

    /// Answers any list with one handle.
    unsafe fn one<T>(count: *mut u32, array: *mut *mut T) -> ze_result_t {
        // SAFETY: the caller follows the two-call idiom.
        unsafe {
            if !array.is_null() && *count > 0 {
                *array = std::ptr::without_provenance_mut(1);
            }
            *count = 1;
        }
        ZE_RESULT_SUCCESS
    }

    unsafe extern "C" fn drivers(count: *mut u32, array: *mut zes_driver_handle_t) -> ze_result_t {
        // SAFETY: as the caller's.
        unsafe { one(count, array) }
    }

    unsafe extern "C" fn devices(
        _: zes_driver_handle_t,
        count: *mut u32,
        array: *mut zes_device_handle_t,
    ) -> ze_result_t {
        // SAFETY: as the caller's.
        unsafe { one(count, array) }
    }

    unsafe extern "C" fn engines(
        _: zes_device_handle_t,
        count: *mut u32,
        array: *mut zes_engine_handle_t,
    ) -> ze_result_t {
        // SAFETY: as the caller's.
        unsafe { one(count, array) }
    }

    unsafe extern "C" fn engine_properties(
        _: zes_engine_handle_t,
        properties: *mut zes_engine_properties_t,
    ) -> ze_result_t {
        // SAFETY: the caller passes a whole struct.
        unsafe {
            assert_eq!((*properties).stype, ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES);
            (*properties).r#type = ZES_ENGINE_GROUP_COMPUTE_SINGLE;
        }
        ZE_RESULT_SUCCESS
    }

    unsafe extern "C" fn engine_activity(
        _: zes_engine_handle_t,
        stats: *mut zes_engine_stats_t,
    ) -> ze_result_t {
        // SAFETY: the caller passes a whole struct.
        unsafe {
            *stats = zes_engine_stats_t {
                activeTime: 5,
                timestamp: 10,
            }
        };
        ZE_RESULT_SUCCESS
    }

    unsafe extern "C" fn memories(
        _: zes_device_handle_t,
        count: *mut u32,
        array: *mut zes_mem_handle_t,
    ) -> ze_result_t {
        // SAFETY: as the caller's.
        unsafe { one(count, array) }
    }

    unsafe extern "C" fn memory_state(
        _: zes_mem_handle_t,
        state: *mut zes_mem_state_t,
    ) -> ze_result_t {
        // SAFETY: the caller passes a whole struct.
        unsafe {
            assert_eq!((*state).stype, ZES_STRUCTURE_TYPE_MEM_STATE);
            (*state).size = 100;
            (*state).free = 40;
        }
        ZE_RESULT_SUCCESS
    }

    unsafe extern "C" fn refuse(_: zes_init_flags_t) -> ze_result_t {
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
    }

    #[test]
    fn what_a_driver_offers_is_read_and_the_rest_is_absent() {
        let calls = Calls {
            init: Some(init),
            drivers: Some(drivers),
            devices: Some(devices),
            engines: Some(engines),
            engine_properties: Some(engine_properties),
            engine_activity: Some(engine_activity),
            memories: Some(memories),
            memory_state: Some(memory_state),
            ..Calls::default()
        };
        let devices = calls.open().expect("one device");
        let device = calls.read(devices[0]);
        assert_eq!(device.engines[0].kind, "compute_single");
        assert_eq!(
            device.engines[0].active.map(|stamped| stamped.value),
            Some(5)
        );
        assert_eq!(
            (device.memories[0].size_bytes, device.memories[0].free_bytes),
            (100, 40)
        );
        assert!(device.memories[0].traffic.is_none());
        assert!(device.powers.is_empty() && device.frequencies.is_empty());
        assert!(device.temperatures.is_empty() && device.processes.is_empty());

        let refusing = Calls {
            init: Some(refuse),
            ..Calls::default()
        };
        let reason = refusing.open().expect_err("it refuses");
        assert!(
            reason.contains("ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"),
            "{reason}"
        );
        assert!(
            Calls::default()
                .open()
                .is_err_and(|reason| reason.contains("no zesInit"))
        );
        let empty = Calls {
            init: Some(init),
            ..Calls::default()
        };
        assert!(
            empty
                .open()
                .is_err_and(|reason| reason.contains("no device"))
        );
    }
}
