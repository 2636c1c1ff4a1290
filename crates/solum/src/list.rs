//! `solum ls`: the devices, under the names that DPC++'s tools give them.

use std::collections::BTreeMap;

use clap::Args;
use level_zero::{DeviceKind, DeviceProperties, Loader};
use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::Style;

use crate::{complain, exit, install};

/// List the devices.
#[derive(Args)]
pub(crate) struct Options {
    /// More figures of each device, and the drivers' extensions.
    #[arg(short, long)]
    verbose: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    drivers: Vec<DriverEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
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
    /// Its name with DPC++'s tools.
    selector: String,
    /// The value of ONEAPI_DEVICE_SELECTOR that leaves this device alone, if DPC++ shows it.
    oneapi_device_selector: String,
    name: String,
    kind: String,
    uuid: String,
    threads: u64,
    memory_bytes: u64,
    max_group_size: u32,
    local_memory_bytes: u32,
    sub_group_sizes: Vec<u32>,
    vendor_id: u32,
    device_id: u32,
    choose: String,
}

/// Prints the list; 1 when there is no device.
pub(crate) fn list(options: &Options) -> u8 {
    let drivers = match collect() {
        Ok(drivers) => drivers,
        Err(error) => {
            if options.json {
                print_json(&Document {
                    schema: "solum.ls/1",
                    drivers: Vec::new(),
                    error: Some(error),
                });
            } else {
                complain(
                    &format!("no device: {error}"),
                    Some("solum doctor finds the cause"),
                );
            }
            return exit::NO;
        }
    };
    let count: usize = drivers.iter().map(|driver| driver.devices.len()).sum();
    if options.json {
        print_json(&Document {
            schema: "solum.ls/1",
            drivers,
            error: None,
        });
    } else {
        print_people(&drivers, options.verbose);
    }
    if count == 0 { exit::NO } else { 0 }
}

fn print_json(document: &Document) {
    match serde_json::to_string_pretty(document) {
        Ok(text) => anstream::println!("{text}"),
        Err(error) => complain(&format!("cannot print JSON: {error}"), None),
    }
}

fn collect() -> Result<Vec<DriverEntry>, String> {
    let folder = install::library_folder()?;
    let loader =
        Loader::open_at(&folder.join("libze_loader.so.1")).map_err(|error| error.to_string())?;
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
        DeviceKind::Cpu => (
            "cpu",
            "solum run --as cpu (the default; oneMKL is whole here)",
        ),
        DeviceKind::Gpu => (
            "gpu",
            "solum run --as gpu (for programs that insist on a GPU)",
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
        threads: properties.thread_count,
        memory_bytes: properties.memory_bytes,
        max_group_size: properties.max_group_size,
        local_memory_bytes: properties.local_memory_bytes,
        sub_group_sizes: properties.sub_group_sizes.clone(),
        vendor_id: properties.raw.vendorId,
        device_id: properties.raw.deviceId,
        choose: choose.to_owned(),
    }
}

fn print_people(drivers: &[DriverEntry], verbose: bool) {
    let mut table = Builder::default();
    table.push_record(["name", "device", "threads", "memory", "choose with"]);
    for device in drivers.iter().flat_map(|driver| &driver.devices) {
        table.push_record([
            &device.selector,
            &device.name,
            &device.threads.to_string(),
            &format!("{:.1} GiB", device.memory_bytes as f64 / f64::from(1 << 30)),
            &device.choose,
        ]);
    }
    anstream::println!("{}", table.build().with(Style::blank()));
    if !verbose {
        return;
    }
    for driver in drivers {
        for device in &driver.devices {
            let sizes: Vec<String> = device.sub_group_sizes.iter().map(u32::to_string).collect();
            anstream::println!();
            anstream::println!("{}: {}", device.selector, device.name);
            for (what, value) in [
                (
                    "vendor, device",
                    format!("{:#06x}, {:#06x}", device.vendor_id, device.device_id),
                ),
                ("uuid", device.uuid.clone()),
                (
                    "largest work-group",
                    format!("{} work-items", device.max_group_size),
                ),
                (
                    "local memory",
                    format!("{} KiB", device.local_memory_bytes / 1024),
                ),
                ("sub-group sizes", sizes.join(", ")),
            ] {
                anstream::println!("  {what:<20}{value}");
            }
        }
        anstream::println!();
        anstream::println!(
            "driver: Level Zero {}, version {:#010x}",
            driver.api_version,
            driver.driver_version
        );
        for extension in &driver.extensions {
            anstream::println!("  {extension}");
        }
    }
}
