//! Settings of DPC++ that hide devices: its file `sycl.conf`, and the list in `SYCL_DEVICE_ALLOWLIST`.
//!
//! Solum's wheel installs such a file: `SYCL_DEVICE_ALLOWLIST=DeviceType:cpu|DeviceVendorId:0x8086` shows devices of type
//! CPU, and all of Intel's.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::report::Check;
use super::step::Device;
use crate::regular_file;

/// The variable that hides devices by their properties.
pub(crate) const ALLOW_LIST: &str = "SYCL_DEVICE_ALLOWLIST";
/// The variable that names another file.
const FILE: &str = "SYCL_CONFIG_FILE_NAME";
/// Bytes of the file that are read; Solum's has 600.
const MOST: u64 = 1 << 16;
/// Variables of the file that this check knows.
const KNOWN: [&str; 2] = ["ONEAPI_DEVICE_SELECTOR", ALLOW_LIST];

/// The environment as DPC++'s runtime in `folder` sees it: variables that are not set come from its file.
pub(crate) fn apply(environment: &Environment, folder: Option<&Path>) -> (Environment, Vec<Check>) {
    let mut all = environment.clone();
    let named = environment.given(FILE).map(PathBuf::from);
    let Some(file) = named.or_else(|| folder.map(|folder| folder.join("sycl.conf"))) else {
        return (all, Vec::new());
    };
    let Ok(text) = regular_file::start(&file, MOST) else {
        return (all, Vec::new());
    };
    let mut set = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        if KNOWN.contains(&name) && environment.get(name).is_none() {
            all.set(name, value);
            set.push(name.to_owned());
        }
    }
    if set.is_empty() {
        return (all, Vec::new());
    }
    let found = format!(
        "{} sets {} (variables of the environment replace it)",
        file.display(),
        set.join(" and ")
    );
    (all, vec![Check::note("dpcpp", found)])
}

/// Whether the list shows a device of Level Zero.
///
/// # Errors
/// A part of the list that this check does not know.
pub(crate) fn allows(list: &str, device: &Device) -> Result<bool, String> {
    let mut is_allowed = false;
    for alternative in list.split('|') {
        let mut matches = true;
        for condition in alternative.split(',') {
            matches &= match condition.split_once(':') {
                Some(("BackendName", "*")) => true,
                Some(("BackendName", name)) => name == "level_zero",
                Some(("DeviceType", "*")) => true,
                Some(("DeviceType", kind)) => kind == device.kind,
                Some(("DeviceVendorId", id)) => *id == format!("{:#x}", device.vendor_id),
                _ => return Err(condition.to_owned()),
            };
        }
        is_allowed |= matches;
    }
    Ok(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_show_devices_of_any_alternative() {
        let device = Device {
            name: "a device".into(),
            kind: "gpu".into(),
            vendor_id: 0x8086,
            sub_devices: 0,
        };
        for (list, allowed) in [
            ("DeviceType:gpu", Ok(true)),
            ("DeviceType:cpu", Ok(false)),
            ("DeviceType:cpu|DeviceVendorId:0x8086", Ok(true)),
            ("DeviceType:cpu,DeviceVendorId:0x8086", Ok(false)),
            ("BackendName:level_zero,DeviceType:*", Ok(true)),
            ("BackendName:opencl|BackendName:*", Ok(true)),
            ("DeviceVendorId:0x808", Ok(false)),
            ("DeviceName:{{.*}}", Err("DeviceName:{{.*}}")),
            ("nonsense", Err("nonsense")),
        ] {
            let expected = allowed.map_err(str::to_owned);
            assert_eq!(allows(list, &device), expected, "{list}");
        }
    }

    #[test]
    fn the_file_gives_variables_that_are_not_set() {
        let folder = std::env::temp_dir().join(format!("solum-sycl-conf-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("sycl.conf");
        std::fs::write(
            &file,
            "# why\nONEAPI_DEVICE_SELECTOR=level_zero:cpu\nOTHER=1\n",
        )
        .unwrap();
        let value = |environment: &Environment, name| environment.text(name).unwrap_or_default();
        let seen = |pairs: &[(&str, &str)], folder: Option<&Path>| {
            let (environment, checks) = apply(&Environment::of(pairs), folder);
            assert_eq!(value(&environment, "OTHER"), "");
            (value(&environment, KNOWN[0]), checks.len())
        };
        assert_eq!(seen(&[], Some(&folder)), ("level_zero:cpu".into(), 1));
        assert_eq!(seen(&[], None), (String::new(), 0));
        assert_eq!(seen(&[(KNOWN[0], "*:*")], Some(&folder)), ("*:*".into(), 0));
        let named = file.to_string_lossy();
        assert_eq!(seen(&[(FILE, &named)], None), ("level_zero:cpu".into(), 1));
        assert_eq!(seen(&[(FILE, "/none")], Some(&folder)), (String::new(), 0));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_wheels_file_is_understood() {
        let text = include_str!("../../../../python/sycl.conf");
        let list = text
            .lines()
            .find_map(|line| line.strip_prefix("SYCL_DEVICE_ALLOWLIST="))
            .unwrap();
        for (kind, vendor_id, allowed) in [
            ("cpu", 0x1022, true),
            ("gpu", 0x8086, true),
            ("gpu", 0x1022, true),
            ("gpu", 0x1af4, true),
            ("gpu", 0x1b36, false),
        ] {
            let device = Device {
                name: String::new(),
                kind: kind.into(),
                vendor_id,
                sub_devices: 0,
            };
            assert_eq!(
                allows(list, &device),
                Ok(allowed),
                "{kind} of {vendor_id:#x}"
            );
        }
    }
}
