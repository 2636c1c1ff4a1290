//! Which Level Zero devices DPC++ shows: its own rule about drivers, then `ONEAPI_DEVICE_SELECTOR`.
//!
//! The variable is a list of terms between semicolons, `[!]BACKEND:DEVICE,DEVICE…`: a device is a type, `*`, or a number
//! over the backend's devices, and with a point behind it stands for sub-devices; terms with `!` take away, stand behind
//! those that add, and take no numbers. All of it without blanks. (Measured on DPC++ 2026.2, which shows nothing when it
//! cannot read the variable. The names that its tools print, `level_zero:gpu:0`, are no values of it.)

use super::probe::{Device, Step};
use super::report::Check;
use super::setting::Setting;

const AREA: &str = "devices";
const NAME: &str = "ONEAPI_DEVICE_SELECTOR";
const BACKENDS: [&str; 7] = [
    "*",
    "level_zero",
    "opencl",
    "cuda",
    "hip",
    "native_cpu",
    "offload",
];
const KINDS: [&str; 5] = ["*", "gpu", "cpu", "fpga", "acc"];

/// One device of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Choice {
    Kind(String),
    /// A root device.
    Number(usize),
    /// Sub-devices of such.
    Below(Box<Choice>),
}

impl Choice {
    fn matches(&self, number: usize, device: &Device) -> bool {
        match self {
            Choice::Kind(wanted) => wanted == "*" || *wanted == device.kind,
            Choice::Number(wanted) => *wanted == number,
            Choice::Below(root) => device.sub_devices > 0 && root.matches(number, device),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Term {
    discard: bool,
    backend: String,
    choices: Vec<Choice>,
}

impl Term {
    fn is_level_zero(&self) -> bool {
        self.backend == "*" || self.backend == "level_zero"
    }

    fn matches(&self, number: usize, device: &Device) -> bool {
        self.is_level_zero()
            && self
                .choices
                .iter()
                .any(|choice| choice.matches(number, device))
    }
}

/// Reads the variable.
///
/// # Errors
/// What is wrong with it.
fn parse(text: &str) -> Result<Vec<Term>, String> {
    if text.contains(char::is_whitespace) {
        return Err("it holds a blank, which no name has".into());
    }
    let mut terms = Vec::new();
    for part in text.split(';').filter(|part| !part.is_empty()) {
        let (discard, rest) = match part.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, part),
        };
        let (backend, devices) = rest.split_once(':').ok_or_else(|| {
            format!("\"{part}\" has no colon: a term is BACKEND:DEVICES, such as level_zero:gpu")
        })?;
        let backend = backend.to_ascii_lowercase();
        if !BACKENDS.contains(&backend.as_str()) {
            return Err(format!(
                "\"{backend}\" is no backend; there are {}",
                BACKENDS.join(", ")
            ));
        }
        if !discard && terms.iter().any(|term: &Term| term.discard) {
            return Err(format!(
                "\"{part}\" stands behind a term with !, which must come last"
            ));
        }
        let mut choices = Vec::new();
        for word in devices.split(',').filter(|word| !word.is_empty()) {
            let word = word.to_ascii_lowercase();
            let root = word.split('.').next().unwrap_or_default();
            let choice = if KINDS.contains(&root) {
                Choice::Kind(root.to_owned())
            } else if let Ok(number) = root.parse() {
                if discard {
                    return Err(format!(
                        "\"{part}\": a term with ! takes types, not numbers"
                    ));
                }
                Choice::Number(number)
            } else {
                return Err(format!(
                    "\"{word}\" is no device; there are {} and numbers",
                    KINDS.join(", ")
                ));
            };
            choices.push(if root == word {
                choice
            } else {
                Choice::Below(Box::new(choice))
            });
        }
        if choices.is_empty() {
            return Err(format!("\"{part}\" names no device behind its colon"));
        }
        terms.push(Term {
            discard,
            backend,
            choices,
        });
    }
    Ok(terms)
}

/// One device as DPC++ shows it.
struct Shown<'d> {
    device: &'d Device,
    /// Over all of the backend.
    number: usize,
    /// Over those of its type.
    of_kind: usize,
}

impl Shown<'_> {
    fn name(&self) -> String {
        format!("level_zero:{}:{}", self.device.kind, self.of_kind)
    }
}

fn kept<'s, 'd>(terms: &[Term], all: &'s [Shown<'d>]) -> Vec<&'s Shown<'d>> {
    let adds = terms.iter().any(|term| !term.discard);
    all.iter()
        .filter(|shown| {
            let by = |discard| {
                terms
                    .iter()
                    .any(|term| term.discard == discard && term.matches(shown.number, shown.device))
            };
            (!adds || by(false)) && !by(true)
        })
        .collect()
}

/// What DPC++ shows of the drivers that the loader found.
pub(crate) fn check(setting: &Setting, steps: &[Step]) -> Vec<Check> {
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
                "it drops each Level Zero driver that has no device of type GPU",
                "with Solum's driver: let SOLUM_DEVICES hold gpu (gpu,cpu is the default); programs that use Level Zero \
                 themselves see the devices as they are",
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
    if setting.get("SYCL_DEVICE_FILTER").is_some() {
        checks.push(Check::warn(
            "selector",
            "SYCL_DEVICE_FILTER is set",
            "DPC++ does not read it any more: it chooses nothing",
            format!("set {NAME} instead, and unset SYCL_DEVICE_FILTER"),
        ));
    }
    checks.extend(adapters(setting));
    checks.extend(skipped(setting, steps));
    if all.is_empty() {
        return checks;
    }
    let names = |shown: &[&Shown<'_>]| -> String {
        let lines: Vec<String> = shown
            .iter()
            .map(|shown| format!("{}  {}", shown.name(), shown.device.name))
            .collect();
        lines.join("\n")
    };
    let everything: Vec<&Shown<'_>> = all.iter().collect();
    let Some(text) = setting.text(NAME).filter(|text| !text.trim().is_empty()) else {
        checks.push(Check::ok(
            AREA,
            format!(
                "DPC++ shows:\n{}\n{}",
                names(&everything),
                default_of(&everything)
            ),
        ));
        return checks;
    };
    let terms = match parse(&text) {
        Ok(terms) => terms,
        Err(reason) => {
            checks.push(Check::fail(
                "selector",
                format!("{NAME}={text}"),
                format!("{reason}; DPC++ shows no device then"),
                format!("unset {NAME}, or set it to {}", values(&all)),
            ));
            return checks;
        }
    };
    let kept = kept(&terms, &all);
    if kept.is_empty() {
        let hides = !terms
            .iter()
            .any(|term| term.is_level_zero() && !term.discard)
            && terms.iter().any(|term| !term.discard);
        let (cause, cure) = (
            format!("the selector leaves none of:\n{}", names(&everything)),
            format!("unset {NAME}, or set it to {}", values(&all)),
        );
        let found = format!("{NAME}={text} hides every Level Zero device");
        checks.push(if hides {
            Check::warn("selector", found, cause, cure)
        } else {
            Check::fail("selector", found, cause, cure)
        });
        return checks;
    }
    checks.push(Check::ok(
        AREA,
        format!(
            "DPC++ shows, with {NAME}={text}:\n{}\n{}",
            names(&kept),
            default_of(&kept)
        ),
    ));
    checks
}

/// What the variable may be to have one of these devices.
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

/// A list of adapters without ours.
fn adapters(setting: &Setting) -> Option<Check> {
    const NAME: &str = "UR_ADAPTERS_FORCE_LOAD";
    let list = setting.text(NAME).filter(|list| !list.is_empty())?;
    (!list.contains("level_zero")).then(|| {
        Check::fail(
            "selector",
            format!("{NAME}={list}"),
            "DPC++ opens these adapters and no other: none of them is for Level Zero",
            format!("unset {NAME}, or add the path of libur_adapter_level_zero.so.0"),
        )
    })
}

/// Versions that DPC++ was told to refuse.
fn skipped(setting: &Setting, steps: &[Step]) -> Option<Check> {
    const NAME: &str = "SYCL_UR_L0_LOADER_SKIPLIST";
    let list = setting.text(NAME)?;
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
                format!(
                    "it names the version of this loader, {version}: DPC++ shows no device with it"
                ),
                format!("unset {NAME}"),
            )
        })
}

/// DPC++ scores GPUs above CPUs; the first of the best is the default.
fn default_of(shown: &[&Shown<'_>]) -> String {
    let best = shown
        .iter()
        .find(|shown| shown.device.kind == "gpu")
        .or_else(|| shown.first());
    best.map_or(String::new(), |shown| {
        format!("default selection: {}", shown.name())
    })
}

/// What DPC++ thinks of a loader's version; `None` when it takes it.
pub(crate) fn loader_version(library: &str) -> Option<Check> {
    let mut parts = library
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (
        parts.next().unwrap_or(0),
        parts.next().unwrap_or(0),
        parts.next().unwrap_or(0),
    );
    let cure = "use Solum's loader (solum run), or install a newer one";
    if version.0 != 1 || version < (1, 8, 0) {
        return Some(Check::fail(
            "loader",
            format!("the loader is version {library}"),
            "DPC++ takes loaders from 1.8.0 below 2.0 only, and shows no device with others",
            cure,
        ));
    }
    (version < (1, 21, 2)).then(|| {
        Check::warn(
            "loader",
            format!("the loader is version {library}"),
            "DPC++ warns about loaders before 1.21.2",
            cure,
        )
    })
}

/// Drivers that only part of DPC++'s libraries can use.
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
                    "the driver of version {version:#010x} offers no ZE_experimental_module_program: oneMKL's vector \
                     functions, and with them many of dpnp's, need it"
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
                    sub_devices: u32::from(*kind == "cpu"),
                })
                .collect(),
        }
    }

    #[test]
    fn selectors_leave_what_dpcpp_leaves() {
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
            let checks = check(&Setting::of(&[(NAME, selector)]), &steps);
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
    fn what_dpcpp_is_told_to_leave_out_is_told() {
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
            let checks = check(&Setting::of(&[(name, value)]), &steps);
            let found = checks.iter().any(|check| check.state == State::Fail);
            assert_eq!(found, failed, "{name}={value}: {checks:?}");
        }
    }

    #[test]
    fn drivers_without_a_gpu_are_dropped() {
        let checks = check(&Setting::of(&[]), &[driver(&["cpu"])]);
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
