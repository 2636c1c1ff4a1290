//! Checks which Level Zero devices DPC++ shows: its rule about drivers, then `ONEAPI_DEVICE_SELECTOR`.
//!
//! The names that DPC++'s tools print, such as `level_zero:gpu:0`, are not values of the variable.

use device_selector::{DeviceSelector, Kind, Rules};

use super::environment::Environment;
use super::report::Check;
use super::step::{Device, Step};
use super::sycl_config::{self, ALLOW_LIST};

const AREA: &str = "devices";
const NAME: &str = "ONEAPI_DEVICE_SELECTOR";

/// A device as DPC++ shows it.
struct Shown<'d> {
    device: &'d Device,
    /// Its number among all devices of the backend.
    number: usize,
    /// Its number among the devices of its type.
    of_kind: usize,
}

impl Shown<'_> {
    fn name(&self) -> String {
        format!("level_zero:{}:{}", self.device.kind, self.of_kind)
    }
}

/// The device, for the selector.
fn selectable(device: &Device) -> device_selector::Device {
    let kind = match device.kind.as_str() {
        "cpu" => Kind::Cpu,
        "gpu" => Kind::Gpu,
        _ => Kind::Accelerator,
    };
    device_selector::Device {
        kind,
        parts: (0..device.sub_devices)
            .map(|_| device_selector::Device::root(kind))
            .collect(),
    }
}

/// Checks which devices DPC++ shows.
pub(crate) fn check(environment: &Environment, steps: &[Step]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut all = Vec::new();
    for step in steps {
        let Step::Driver { devices, .. } = step else {
            continue;
        };
        if !devices.is_empty() && !devices.iter().any(|device| device.kind == "gpu") {
            let names: Vec<String> = devices
                .iter()
                .map(|device| format!("{} ({})", device.name, device.kind))
                .collect();
            checks.push(Check::warn(
                AREA,
                format!("DPC++ does not show {}", names.join(", ")),
                "DPC++ ignores Level Zero drivers that have no device of type GPU",
                "with Solum's driver: include gpu in SOLUM_DEVICES (default: gpu,cpu); programs that use Level Zero directly \
                 see all devices",
            ));
            continue;
        }
        for device in devices {
            let of_kind = all
                .iter()
                .filter(|shown: &&Shown<'_>| shown.device.kind == device.kind)
                .count();
            all.push(Shown {
                device,
                number: all.len(),
                of_kind,
            });
        }
    }
    if environment.get("SYCL_DEVICE_FILTER").is_some() {
        checks.push(Check::warn(
            "selector",
            "SYCL_DEVICE_FILTER is set",
            "DPC++ no longer reads it",
            format!("set {NAME} instead, and unset SYCL_DEVICE_FILTER"),
        ));
    }
    checks.extend(adapters(environment));
    checks.extend(skipped(environment, steps));
    if all.is_empty() {
        return checks;
    }
    let everything: Vec<&Shown<'_>> = all.iter().collect();
    let Some(text) = environment
        .text(NAME)
        .filter(|text| !text.trim().is_empty())
    else {
        checks.push(allowed(environment, &everything, None));
        return checks;
    };
    let selector = match DeviceSelector::parse(&text, Rules::Dpcpp) {
        Ok(selector) => selector,
        Err(error) => {
            checks.push(Check::fail(
                "selector",
                format!("{NAME}={text}"),
                format!("{}; DPC++ then shows no device", error.reason),
                format!("unset {NAME}, or set it to {}", values(&all)),
            ));
            return checks;
        }
    };
    let devices: Vec<_> = all.iter().map(|shown| selectable(shown.device)).collect();
    let chosen = selector.choose(&devices).devices;
    let kept: Vec<&Shown<'_>> = all
        .iter()
        .filter(|shown| {
            chosen
                .iter()
                .any(|path| path.first() == Some(&shown.number))
        })
        .collect();
    if kept.is_empty() {
        let hides = selector.is_for_other_backends();
        let (cause, fix) = (
            format!("it selects none of:\n{}", names(&everything)),
            format!("unset {NAME}, or set it to {}", values(&all)),
        );
        let found = format!("{NAME}={text} hides every Level Zero device");
        checks.push(if hides {
            Check::warn("selector", found, cause, fix)
        } else {
            Check::fail("selector", found, cause, fix)
        });
        return checks;
    }
    checks.push(allowed(environment, &kept, Some(&text)));
    checks
}

/// The devices that `SYCL_DEVICE_ALLOWLIST` shows of `selected`: those that `ONEAPI_DEVICE_SELECTOR` of this value selects,
/// without a value all.
fn allowed(environment: &Environment, selected: &[&Shown<'_>], selector: Option<&str>) -> Check {
    let list = environment.text(ALLOW_LIST).filter(|list| !list.is_empty());
    let mut hidden = Vec::new();
    let mut shown = Vec::new();
    for device in selected {
        let is_allowed = list
            .as_ref()
            .map_or(Ok(true), |list| sycl_config::allows(list, device.device));
        match is_allowed {
            Ok(true) => shown.push(*device),
            Ok(false) => hidden.push(*device),
            Err(part) => {
                return Check::warn(
                    AREA,
                    format!("{ALLOW_LIST} is set, and may hide devices"),
                    format!("doctor does not know its part {part}"),
                    "see the devices that the program shows, or unset the variable",
                );
            }
        }
    }
    if shown.is_empty() {
        return Check::fail(
            AREA,
            format!("{ALLOW_LIST} hides:\n{}", names(&hidden)),
            "no Level Zero device is left",
            format!("set {ALLOW_LIST}=BackendName:level_zero"),
        );
    }
    let by = selector.map_or(String::new(), |value| format!(", with {NAME}={value}"));
    let mut text = format!(
        "DPC++ shows{by}:\n{}\n{}",
        names(&shown),
        default_of(&shown)
    );
    if !hidden.is_empty() {
        let all = names(&hidden);
        text.push_str(&format!("\nhidden by {ALLOW_LIST}:\n{all}"));
    }
    if let Some(list) = list.filter(|_| !hidden.is_empty() && selector.is_none())
        && selected
            .iter()
            .any(|shown| shows_gpus_of(&list, shown.device))
    {
        text.push_str(&format!("\n{NAME}=level_zero:gpu shows Solum's"));
    }
    Check::ok(AREA, text)
}

/// Whether the list shows GPUs with the vendor ID of this device of Solum's, which a selected GPU-typed device has too.
fn shows_gpus_of(list: &str, device: &Device) -> bool {
    let selected = Device {
        kind: "gpu".into(),
        ..device.clone()
    };
    device.kind == "cpu" && sycl_config::allows(list, &selected) == Ok(true)
}

fn names(shown: &[&Shown<'_>]) -> String {
    let lines: Vec<String> = shown
        .iter()
        .map(|shown| format!("{}  {}", shown.name(), shown.device.name))
        .collect();
    lines.join("\n")
}

/// Values of the variable that select one of these devices.
fn values(all: &[Shown<'_>]) -> String {
    let mut values: Vec<String> = Vec::new();
    for shown in all {
        let value = if shown.of_kind == 0 {
            format!("level_zero:{}", shown.device.kind)
        } else {
            format!("level_zero:{}", shown.number)
        };
        values.push(value);
    }
    values.join(" or ")
}

/// A failure if `UR_ADAPTERS_FORCE_LOAD` excludes the Level Zero adapter.
fn adapters(environment: &Environment) -> Option<Check> {
    const NAME: &str = "UR_ADAPTERS_FORCE_LOAD";
    let list = environment.text(NAME).filter(|list| !list.is_empty())?;
    (!list.contains("level_zero")).then(|| {
        Check::fail(
            "selector",
            format!("{NAME}={list}"),
            "DPC++ loads only these adapters; none of them is for Level Zero",
            format!("unset {NAME}, or add the path of libur_adapter_level_zero.so.0"),
        )
    })
}

/// A failure if `SYCL_UR_L0_LOADER_SKIPLIST` excludes this loader.
fn skipped(environment: &Environment, steps: &[Step]) -> Option<Check> {
    const NAME: &str = "SYCL_UR_L0_LOADER_SKIPLIST";
    let list = environment.text(NAME)?;
    let version = steps.iter().find_map(|step| match step {
        Step::Version { library, .. } => Some(library),
        _ => None,
    })?;
    list.split(',')
        .any(|skipped| skipped.trim() == version)
        .then(|| {
            Check::fail(
                "selector",
                format!("{NAME}={list}"),
                format!("it excludes this loader, version {version}, so DPC++ shows no device"),
                format!("unset {NAME}"),
            )
        })
}

/// The default device: DPC++ prefers GPUs to CPUs, then the first.
fn default_of(shown: &[&Shown<'_>]) -> String {
    let best = shown
        .iter()
        .find(|shown| shown.device.kind == "gpu")
        .or_else(|| shown.first());
    best.map_or(String::new(), |shown| {
        format!("default device: {}", shown.name())
    })
}

/// A problem of DPC++ with the loader's version, if any.
pub(crate) fn loader_version(library: &str) -> Option<Check> {
    let mut parts = library
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (
        parts.next().unwrap_or(0),
        parts.next().unwrap_or(0),
        parts.next().unwrap_or(0),
    );
    let fix = "use Solum's loader (solum run), or install a newer one";
    if version.0 != 1 || version < (1, 8, 0) {
        return Some(Check::fail(
            "loader",
            format!("the loader is version {library}"),
            "DPC++ accepts loaders from version 1.8.0 to below 2.0 and shows no device with others",
            fix,
        ));
    }
    (version < (1, 21, 2)).then(|| {
        Check::warn(
            "loader",
            format!("the loader is version {library}"),
            "DPC++ prints a warning for loaders before 1.21.2",
            fix,
        )
    })
}

/// Notes about drivers that lack extensions of DPC++'s libraries.
pub(crate) fn driver_remarks(steps: &[Step]) -> Vec<Check> {
    let lacking = steps.iter().filter_map(|step| match step {
        Step::Driver {
            version,
            module_program: false,
            ..
        } => Some(version),
        _ => None,
    });
    lacking
        .map(|version| {
            Check::note(
                AREA,
                format!(
                    "the driver of version {version:#010x} lacks ZE_experimental_module_program, which oneMKL's vector functions \
                     and many functions of dpnp need"
                ),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::State;
    use super::*;

    fn driver(kinds: &[&str]) -> Step {
        Step::Driver {
            api: "1.17".into(),
            version: 1,
            ddi_handles: true,
            module_program: true,
            devices: kinds
                .iter()
                .map(|kind| Device {
                    name: format!("a {kind}"),
                    kind: (*kind).into(),
                    vendor_id: if *kind == "cpu" { 0x1022 } else { 0x8086 },
                    sub_devices: u32::from(*kind == "cpu"),
                })
                .collect(),
        }
    }

    #[test]
    fn selectors_choose_what_dpcpp_chooses() {
        let steps = [driver(&["gpu", "cpu"]), driver(&["gpu"])];
        for (selector, state, want) in [
            ("", State::Ok, "gpu:0 cpu:0 gpu:1"),
            ("level_zero:cpu", State::Ok, "cpu:0"),
            ("LEVEL_ZERO:GPU", State::Ok, "gpu:0 gpu:1"),
            ("level_zero:2", State::Ok, "gpu:1"),
            ("level_zero:0,1", State::Ok, "gpu:0 cpu:0"),
            ("level_zero:1.0", State::Ok, "cpu:0"),
            ("level_zero:0.1", State::Fail, ""),
            ("level_zero:*.*", State::Ok, "cpu:0"),
            ("*:cpu", State::Ok, "cpu:0"),
            ("opencl:*;level_zero:cpu", State::Ok, "cpu:0"),
            ("level_zero:cpu,;", State::Ok, "cpu:0"),
            (";level_zero:00", State::Ok, "gpu:0"),
            ("!level_zero:gpu", State::Ok, "cpu:0"),
            ("level_zero:*;!level_zero:cpu", State::Ok, "gpu:0 gpu:1"),
            ("level_zero:*;!level_zero:0", State::Fail, ""),
            ("level_zero:7", State::Fail, ""),
            ("opencl:*", State::Warn, ""),
            ("!*:*", State::Fail, ""),
            ("gpu", State::Fail, ""),
            ("level0:gpu", State::Fail, ""),
            ("level_zero:tpu", State::Fail, ""),
            ("level_zero:", State::Fail, ""),
            ("level_zero:gpu:0", State::Fail, ""),
            ("level_zero:gpu, cpu", State::Fail, ""),
            (" level_zero:gpu", State::Fail, ""),
            ("!opencl:*;level_zero:*", State::Fail, ""),
        ] {
            let checks = check(&Environment::of(&[(NAME, selector)]), &steps);
            let last = checks
                .last()
                .map(|check| (check.state, check.found.clone()));
            let (found, text) = last.expect("one check at least");
            assert_eq!(found, state, "{selector}: {text}");
            let shown: Vec<&str> = text
                .lines()
                .filter_map(|line| line.strip_prefix("level_zero:")?.split("  ").next())
                .collect();
            assert_eq!(shown.join(" "), want, "{selector}");
        }
    }

    #[test]
    fn allow_lists_hide_devices() {
        let steps = [driver(&["gpu", "cpu"])];
        for (list, state, default) in [
            ("DeviceType:cpu", State::Ok, "level_zero:cpu:0"),
            ("", State::Ok, "level_zero:gpu:0"),
            ("DeviceVendorId:0x8086", State::Ok, "level_zero:gpu:0"),
            ("BackendName:opencl", State::Fail, ""),
            ("DriverVersion:{{1}}", State::Warn, ""),
        ] {
            let checks = check(&Environment::of(&[(ALLOW_LIST, list)]), &steps);
            let last = checks.last().expect("one check at least");
            let text = &last.found;
            assert_eq!(last.state, state, "{list}: {text}");
            let found = text
                .lines()
                .find_map(|line| line.strip_prefix("default device: "));
            assert_eq!(found.unwrap_or_default(), default, "{list}: {text}");
            assert_eq!(
                text.contains("hidden by"),
                list.contains(":cpu") || list.contains("0x")
            );
        }
    }

    #[test]
    fn exclusion_lists_are_reported() {
        let mut steps = vec![driver(&["gpu"])];
        steps.push(Step::Version {
            library: "1.32.0".into(),
            api: "1.17".into(),
        });
        for (name, value, failed) in [
            ("UR_ADAPTERS_FORCE_LOAD", "/x/libur_adapter_opencl.so", true),
            (
                "UR_ADAPTERS_FORCE_LOAD",
                "/x/libur_adapter_level_zero.so.0",
                false,
            ),
            ("UR_ADAPTERS_FORCE_LOAD", "", false),
            ("SYCL_UR_L0_LOADER_SKIPLIST", "1.2.3, 1.32.0", true),
            ("SYCL_UR_L0_LOADER_SKIPLIST", "1.32", false),
        ] {
            let checks = check(&Environment::of(&[(name, value)]), &steps);
            let found = checks.iter().any(|check| check.state == State::Fail);
            assert_eq!(found, failed, "{name}={value}: {checks:?}");
        }
    }

    #[test]
    fn drivers_without_a_gpu_are_dropped() {
        let checks = check(&Environment::of(&[]), &[driver(&["cpu"])]);
        assert_eq!(checks.len(), 1);
        assert_eq!(checks[0].state, State::Warn);
        assert!(checks[0].found.contains("a cpu"));
    }

    #[test]
    fn old_loaders_are_named() {
        for (version, want) in [
            ("1.32.0", None),
            ("1.21.2", None),
            ("1.20.6", Some(State::Warn)),
            ("1.5.0", Some(State::Fail)),
            ("2.0.0", Some(State::Fail)),
            ("nonsense", Some(State::Fail)),
        ] {
            assert_eq!(loader_version(version).map(|c| c.state), want, "{version}");
        }
    }
}
