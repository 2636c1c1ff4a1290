//! `solum ls`: lists the devices under the names that DPC++'s tools use.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use level_zero::{DeviceKind, DeviceProperties, Loader};
use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::Style;

use crate::output::{self, Failure};
use crate::{exit, install, units};

/// List the devices.
#[derive(Args)]
pub(crate) struct Options {
    /// Also show details of each device and the drivers' extensions.
    #[arg(short, long)]
    verbose: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    drivers: Vec<DriverEntry>,
}

#[derive(Serialize)]
struct DriverEntry {
    api_version: String,
    driver_version: u32,
    extensions: Vec<String>,
    devices: Vec<DeviceEntry>,
}

#[derive(Serialize)]
struct DeviceEntry {
    /// The device's name in DPC++'s tools.
    selector: String,
    /// The value of ONEAPI_DEVICE_SELECTOR that selects only this device.
    oneapi_device_selector: String,
    name: String,
    kind: String,
    uuid: String,
    compute_units: u64,
    memory_bytes: u64,
    max_group_size: u32,
    local_memory_bytes: u32,
    sub_group_sizes: Vec<u32>,
    vendor_id: u32,
    device_id: u32,
    choose: String,
}

const SCHEMA: &str = "solum.ls/1";

/// Prints the list. Returns 1 if there is no device.
pub(crate) fn list(options: &Options) -> u8 {
    let drivers = match collect() {
        Ok(drivers) => drivers,
        Err(failure) => return failure.print(options.json.then_some(SCHEMA)),
    };
    if options.json {
        let document = Document {
            schema: SCHEMA,
            drivers,
        };
        return output::json(&document, 0);
    }
    output::answer(&text(&drivers, options.verbose), 0)
}

/// The variable with which users hide devices.
const MASK: &str = "ZE_AFFINITY_MASK";

/// Why working drivers list no device.
pub(crate) fn no_device() -> Failure {
    let mask = std::env::var_os(MASK).filter(|mask| !mask.is_empty());
    if let Some(mask) = mask
        && shows_devices_without(MASK)
    {
        let mask = mask.display();
        return Failure::new(
            exit::PROBLEM,
            format!("no device: {MASK}={mask} hides all devices"),
        )
        .hint(format!(
            "unset {MASK} or correct it; docs/environment.md describes its syntax"
        ));
    }
    Failure::new(exit::PROBLEM, "no device: the drivers list none").hint(install::DOCTOR)
}

/// Whether there are devices without that variable. Drivers read it once per process, so a child process checks.
fn shows_devices_without(variable: &str) -> bool {
    let Ok(program) = std::env::current_exe() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(["ls", "--json"])
        .env_remove(variable)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The drivers with their devices; fails if there is no device.
fn collect() -> Result<Vec<DriverEntry>, Failure> {
    let folder = install::needed()?;
    let drivers = ask(&folder.join(install::LOADER)).map_err(|error| {
        Failure::new(exit::PROBLEM, format!("no device: {error}")).hint(install::DOCTOR)
    })?;
    if drivers.iter().all(|driver| driver.devices.is_empty()) {
        return Err(no_device());
    }
    Ok(drivers)
}

/// The selectors of the devices behind a loader, by UUID.
pub(crate) fn selectors(loader: &Path) -> BTreeMap<String, String> {
    let drivers = ask(loader).unwrap_or_default();
    let devices = drivers.into_iter().flat_map(|driver| driver.devices);
    devices
        .map(|device| (device.uuid, device.selector))
        .collect()
}

fn ask(loader: &Path) -> Result<Vec<DriverEntry>, String> {
    let loader = Loader::open_at(loader).map_err(|error| error.to_string())?;
    // DPC++ numbers devices of one type across drivers.
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for driver in loader.drivers().map_err(|error| error.to_string())? {
        let text = |error: level_zero::Error| error.to_string();
        let (major, minor) = driver.api_version().map_err(text)?;
        let extensions = driver.extensions().map_err(text)?;
        let mut devices = Vec::new();
        for device in driver.devices().map_err(text)? {
            devices.push(entry(&device.properties().map_err(text)?, &mut numbers));
        }
        all.push(DriverEntry {
            api_version: format!("{major}.{minor}"),
            driver_version: driver.version().map_err(text)?,
            extensions: extensions
                .into_iter()
                .map(|(name, v)| format!("{name} {}.{}", v >> 16, v & 0xffff))
                .collect(),
            devices,
        });
    }
    Ok(all)
}

fn entry(properties: &DeviceProperties, numbers: &mut BTreeMap<String, usize>) -> DeviceEntry {
    let (kind, choose) = match properties.kind {
        DeviceKind::Cpu => ("cpu", "solum run --as cpu (default; all of oneMKL works)"),
        DeviceKind::Gpu => (
            "gpu",
            "solum run --as gpu (for programs that require a GPU)",
        ),
        _ => ("other", ""),
    };
    let number = numbers.entry(kind.to_owned()).or_default();
    let selector = format!("level_zero:{kind}:{number}");
    *number += 1;
    let place: usize = numbers.values().sum::<usize>() - 1;
    DeviceEntry {
        selector,
        oneapi_device_selector: format!("level_zero:{place}"),
        name: properties.name.clone(),
        kind: kind.to_owned(),
        uuid: properties
            .uuid
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        compute_units: properties.compute_units,
        memory_bytes: properties.memory_bytes,
        max_group_size: properties.max_group_size,
        local_memory_bytes: properties.local_memory_bytes,
        sub_group_sizes: properties.sub_group_sizes.clone(),
        vendor_id: properties.raw.vendorId,
        device_id: properties.raw.deviceId,
        choose: choose.to_owned(),
    }
}

fn text(drivers: &[DriverEntry], verbose: bool) -> String {
    let mut table = Builder::default();
    table.push_record(["name", "device", "units", "memory", "select with"]);
    for device in drivers.iter().flat_map(|driver| &driver.devices) {
        table.push_record([
            &device.selector,
            &output::escape(&device.name).into_owned(),
            &device.compute_units.to_string(),
            &units::bytes(device.memory_bytes),
            &device.choose,
        ]);
    }
    let mut out = format!("{}\n", table.build().with(Style::blank()));
    if verbose {
        let _ = details(&mut out, drivers);
    }
    out
}

fn details(out: &mut String, drivers: &[DriverEntry]) -> std::fmt::Result {
    for driver in drivers {
        for device in &driver.devices {
            let sizes: Vec<String> = device.sub_group_sizes.iter().map(u32::to_string).collect();
            writeln!(out)?;
            writeln!(out, "{}: {}", device.selector, output::escape(&device.name))?;
            for (what, value) in [
                (
                    "vendor, device",
                    format!("{:#06x}, {:#06x}", device.vendor_id, device.device_id),
                ),
                ("uuid", device.uuid.clone()),
                (
                    "max work-group size",
                    format!("{} work-items", device.max_group_size),
                ),
                (
                    "local memory",
                    format!("{} KiB", device.local_memory_bytes / 1024),
                ),
                ("sub-group sizes", sizes.join(", ")),
            ] {
                writeln!(out, "  {what:<20}{value}")?;
            }
        }
        writeln!(out)?;
        writeln!(
            out,
            "driver: Level Zero {}, version {:#010x}",
            driver.api_version, driver.driver_version
        )?;
        for extension in &driver.extensions {
            writeln!(out, "  {}", output::escape(extension))?;
        }
    }
    Ok(())
}
