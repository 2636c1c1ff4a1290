//! `solum info` and `solum top` on our driver and on one that shares no code with it.

use serde_json::Value;

use crate::doctor::{run, stage};
use crate::text;

const DRIVER: (&str, &str) = ("ZE_ENABLE_ALT_DRIVERS", "{stage}/driver.so");
const STUB: (&str, &str) = ("ZE_ENABLE_ALT_DRIVERS", "{stage}/stub.so");

#[test]
fn properties_are_those_that_ls_shows_too() {
    let stage = stage("info-json");
    let json = |verb: &str, arguments: &[&str]| -> Value {
        let (code, stdout, stderr) = text(&run(&stage, verb, arguments, &[DRIVER]));
        assert_eq!(code, 0, "{stdout}{stderr}");
        serde_json::from_str(&stdout).unwrap()
    };
    let list = json("ls", &["--json"]);
    let info = json("info", &["--json"]);
    assert_eq!(info["schema"], "solum.info/2");
    let devices = list["drivers"][0]["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 2);
    for device in devices {
        let mut subjects = info["subjects"].as_array().unwrap().iter();
        let subject = subjects
            .find(|subject| subject["selector"] == device["selector"])
            .unwrap_or_else(|| panic!("{} is not in {info}", device["selector"]));
        assert_eq!(subject["name"], device["name"]);
        let field = |function: &str, layout: &str, field: &str| {
            subject["functions"][function][0][layout][field].clone()
        };
        for (function, layout, name, same) in [
            (
                "zeDeviceGetProperties",
                "ze_device_properties_t",
                "name",
                "name",
            ),
            (
                "zeDeviceGetProperties",
                "ze_device_properties_t",
                "uuid",
                "uuid",
            ),
            (
                "zeDeviceGetProperties",
                "ze_device_properties_t",
                "vendorId",
                "vendor_id",
            ),
            (
                "zeDeviceGetProperties",
                "ze_device_properties_t",
                "deviceId",
                "device_id",
            ),
            (
                "zeDeviceGetComputeProperties",
                "ze_device_compute_properties_t",
                "maxTotalGroupSize",
                "max_group_size",
            ),
            (
                "zeDeviceGetComputeProperties",
                "ze_device_compute_properties_t",
                "maxSharedLocalMemory",
                "local_memory_bytes",
            ),
            (
                "zeDeviceGetMemoryProperties",
                "ze_device_memory_properties_t",
                "totalSize",
                "memory_bytes",
            ),
        ] {
            assert_eq!(field(function, layout, name), device[same], "{name}");
        }
        // Through the chain: only what the driver wrote.
        let chained = field("zeDeviceGetProperties", "ze_eu_count_ext_t", "numTotalEUs");
        assert!(chained.as_u64().is_some_and(|count| count > 0), "{subject}");
        let unknown = field(
            "zeDeviceGetProperties",
            "ze_device_luid_ext_properties_t",
            "luid",
        );
        assert_eq!(unknown, Value::Null);
    }
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn one_property_of_one_device_in_its_unit() {
    let stage = stage("info-text");
    for (arguments, environment, code, stdout, stderr) in [
        (
            &["cpu", "--prop", "sharedlocal"][..],
            DRIVER,
            0,
            "CPU-typed)\n  zeDeviceGetComputeProperties\n    maxSharedLocalMemory                 128 KiB (131072)\n",
            "",
        ),
        (
            &["--prop", "ddi_handles"],
            DRIVER,
            0,
            "ZE_extension_driver_ddi_handles                        1.1 (0x10001)",
            "",
        ),
        (
            &["--prop", "driverVersion"],
            STUB,
            0,
            "driver 0  Level Zero 1.17\n  zeDriverGetProperties\n    driverVersion                        0x1\n",
            "",
        ),
        (
            &["fpga"],
            STUB,
            2,
            "",
            "no device fpga\nhint: the devices are level_zero:gpu:0",
        ),
        (
            &["--prop", "no such thing"],
            STUB,
            1,
            "",
            "no property contains \"no such thing\"",
        ),
        (
            &["--loader", "/nonexistent/loader"],
            STUB,
            2,
            "",
            "/nonexistent/loader cannot be opened",
        ),
        (
            &[],
            ("ZE_ENABLE_ALT_DRIVERS", "/nonexistent/driver"),
            1,
            "",
            "no usable Level Zero driver was found",
        ),
    ] {
        let output = run(&stage, "info", arguments, &[environment]);
        let (found, out, err) = text(&output);
        assert_eq!(found, code, "{arguments:?}: {out}{err}");
        assert!(out.contains(stdout), "{arguments:?}: {out}");
        assert!(err.contains(stderr), "{arguments:?}: {err}");
        assert!(
            !out.contains('\u{1b}') && !err.contains('\u{1b}'),
            "colours in a pipe"
        );
    }
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn top_says_why_there_is_nothing_to_see() {
    let stage = stage("top");
    let stub_refuses = ("SOLUM_STUB_RESULT", "zesInit=0x78000003");
    for (arguments, environment, want, stdout, stderr) in [
        (
            &["--once"][..],
            &[STUB, stub_refuses][..],
            1,
            "",
            "no driver offers system management",
        ),
        (
            &["--once", "--json"],
            &[STUB, stub_refuses],
            1,
            "\"schema\":\"solum.top/1\"",
            "",
        ),
        (
            &["--once", "--loader", "/nonexistent/loader"],
            &[],
            2,
            "",
            "/nonexistent/loader cannot be opened",
        ),
    ] {
        let (code, out, err) = text(&run(&stage, "top", arguments, environment));
        assert_eq!(code, want, "{arguments:?}: {out}{err}");
        assert!(
            out.contains(stdout) && err.contains(stderr),
            "{arguments:?}: {out}{err}"
        );
    }
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn top_shows_what_the_machine_tells() {
    let stage = stage("top-json");
    let arguments = ["--once", "--json", "--interval", "20"];
    let (code, out, err) = text(&run(&stage, "top", &arguments, &[DRIVER]));
    assert_eq!(code, 0, "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 1, "one picture: {out}");
    let picture: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(picture["schema"], "solum.top/1");
    assert!(picture["interval_ms"].as_u64().is_some_and(|ms| ms >= 20));
    let devices = picture["devices"].as_array().unwrap();
    assert!(!devices.is_empty(), "{picture}");
    let (code, list, _) = text(&run(&stage, "ls", &["--json"], &[DRIVER]));
    assert_eq!(code, 0);
    let list: Value = serde_json::from_str(&list).unwrap();
    let known = list["drivers"][0]["devices"].as_array().unwrap();
    for device in devices {
        assert!(
            known.iter().any(|other| ["selector", "name", "uuid"]
                .iter()
                .all(|key| other[*key] == device[*key])),
            "{device}"
        );
        let list = |name: &str| device[name].as_array().unwrap().clone();
        let shares: Vec<f64> = list("engines")
            .iter()
            .filter_map(|engine| engine["busy_share"].as_f64())
            .collect();
        assert!(!shares.is_empty(), "{device}");
        assert!(
            shares.iter().all(|share| (0.0..=1.0).contains(share)),
            "{device}"
        );
        // Read by the driver from the same file a moment ago, so never more than there is.
        let machine = std::fs::read_to_string("/proc/meminfo").unwrap();
        let total = machine.lines().find_map(|line| {
            let rest = line.strip_prefix("MemTotal:")?;
            rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        });
        let memories = list("memories");
        let memory = &memories[0];
        let (size, free) = (memory["size_bytes"].as_u64(), memory["free_bytes"].as_u64());
        assert!(size <= total.map(|kib| kib * 1024), "{memory}");
        assert!(free > Some(0) && free <= size, "{memory}");
        // The one that asks is itself a user of the device.
        assert!(
            list("processes")
                .iter()
                .any(|one| one["name"] == "solum" && one["pid"].as_u64() > Some(0)),
            "{device}"
        );
        for power in list("power_w") {
            assert!(power.is_null() || power.as_f64() >= Some(0.0), "{device}");
        }
    }
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn without_a_device_every_verb_says_why() {
    let stage = stage("none");
    let masked = ("ZE_AFFINITY_MASK", "9");
    for (verb, arguments) in [("ls", &[][..]), ("ls", &["--json"]), ("info", &["--json"])] {
        let (code, out, err) = text(&run(&stage, verb, arguments, &[DRIVER, masked]));
        assert_eq!(code, 1, "{verb}: {out}{err}");
        let said = if arguments.is_empty() { &err } else { &out };
        assert!(
            said.contains("no device: ZE_AFFINITY_MASK=9 hides all devices"),
            "{verb}: {out}{err}"
        );
    }
    std::fs::remove_file(stage.join("libze_loader.so.1")).unwrap();
    for verb in ["ls", "info", "top"] {
        let (code, out, _) = text(&run(&stage, verb, &["--json"], &[]));
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(code, 2, "{verb}: {out}");
        assert!(out.starts_with("{\"schema\""), "{out}");
        let hint = document["hint"].as_str().unwrap();
        assert!(hint.contains("./x install"), "{verb}: {out}");
    }
    std::fs::remove_dir_all(&stage).unwrap();
}
