//! Checks each driver that the loader would try: opens it in a child process, without the loader.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use super::linker::Process;
use super::loader;
use super::probe::{self, End, Outcome};
use super::report::Check;
use super::step::Step;

const AREA: &str = "driver";
/// Other vendors' drivers, under the names that loaders search for.
const VENDORS: [&str; 4] = [
    "libze_intel_gpu.so.1",
    "libze_intel_gpu_legacy1.so.1",
    "libze_intel_vpu.so.1",
    "libze_intel_npu.so.1",
];
/// Solum's driver, beside the loader.
const OWN: [&str; 2] = ["libze_solum_cpu.so.1", "libze_solum_cpu.so"];
const LIMIT: Duration = Duration::from_secs(30);

/// The checks of all drivers.
pub(crate) struct Drivers {
    pub(crate) checks: Vec<Check>,
    /// The path of Solum's driver, if it was opened.
    pub(crate) own: Option<PathBuf>,
}

/// Where a candidate comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Named by `ZE_ENABLE_ALT_DRIVERS`.
    Named,
    Vendor,
    Own,
}

/// Tries each candidate of the loader at `path`, each in a child process.
pub(crate) fn check(
    process: &Process,
    environment: &Environment,
    path: &Path,
    loader_is_ours: bool,
    through: &Outcome,
) -> Drivers {
    let mut drivers = Drivers {
        checks: Vec::new(),
        own: None,
    };
    let mut absent = Vec::new();
    let works = through
        .steps
        .iter()
        .any(|step| matches!(step, Step::Driver { devices, .. } if !devices.is_empty()));
    for (name, origin) in candidates(environment, path, loader_is_ours) {
        if name.is_empty() {
            drivers.checks.push(Check::warn(
                AREA,
                "ZE_ENABLE_ALT_DRIVERS has an empty entry",
                "Solum's loader ignores empty entries, other loaders may crash",
                "remove the extra comma, or unset it",
            ));
            continue;
        }
        if origin == Origin::Vendor && process.search(&name, 0).found.is_none() {
            absent.push(name.to_string_lossy().into_owned());
            continue;
        }
        let outcome = probe::run(environment, "driver", &name, &[], LIMIT);
        let own = outcome
            .opened()
            .map(PathBuf::from)
            .filter(|path| is_own(path));
        if own.is_some() {
            drivers.own = own;
        }
        let masked = masked(environment, &name, &outcome);
        let checks = check_driver(&name, origin, &outcome, through, works, masked.as_ref());
        drivers.checks.extend(checks);
    }
    if !absent.is_empty() {
        drivers.checks.push(Check::note(
            AREA,
            format!("no drivers of other vendors found ({})", absent.join(", ")),
        ));
    }
    if drivers.checks.iter().all(|check| check.check != AREA) {
        drivers.checks.push(Check::fail(
            AREA,
            "no driver to load",
            "ZE_ENABLE_ALT_DRIVERS is set but names none",
            "unset ZE_ENABLE_ALT_DRIVERS",
        ));
    }
    drivers
}

const MASK: &str = "ZE_AFFINITY_MASK";

/// A mask that hides devices of a driver.
struct Masked {
    mask: String,
    /// The number of devices without the mask.
    all: usize,
}

fn devices_of(outcome: &Outcome) -> usize {
    let counts = outcome.steps.iter().map(|step| match step {
        Step::Driver { devices, .. } => devices.len(),
        _ => 0,
    });
    counts.sum()
}

/// Whether `ZE_AFFINITY_MASK` hides devices of the driver: counts them again without it.
fn masked(environment: &Environment, name: &OsStr, outcome: &Outcome) -> Option<Masked> {
    let mask = environment.given(MASK)?.to_string_lossy().into_owned();
    if outcome.end != End::Done {
        return None;
    }
    let mut environment = environment.clone();
    environment.remove(MASK);
    let all = devices_of(&probe::run(&environment, "driver", name, &[], LIMIT));
    (all > devices_of(outcome)).then_some(Masked { mask, all })
}

fn is_own(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| OWN.iter().any(|own| name == OsStr::new(own)))
}

/// The libraries that the loader tries, in its order.
fn candidates(
    environment: &Environment,
    loader: &Path,
    loader_is_ours: bool,
) -> Vec<(OsString, Origin)> {
    if let Some(list) = environment.get("ZE_ENABLE_ALT_DRIVERS") {
        return list
            .as_bytes()
            .split(|byte| *byte == b',')
            .map(|name| (OsStr::from_bytes(name).to_owned(), Origin::Named))
            .collect();
    }
    let mut all: Vec<_> = VENDORS
        .iter()
        .map(|name| (OsString::from(name), Origin::Vendor))
        .collect();
    if loader_is_ours {
        let resolved = loader.canonicalize().ok();
        let beside = [Some(loader.to_owned()), resolved]
            .into_iter()
            .flatten()
            .filter_map(|path| path.parent().map(Path::to_owned))
            .flat_map(|folder| OWN.iter().map(move |name| folder.join(name)))
            .find(|path| path.exists());
        let own = beside.map_or_else(|| OWN[0].into(), PathBuf::into_os_string);
        all.push((own, Origin::Own));
    }
    all
}

/// Checks one driver. `outcome` is its own child process, `through` the loader's; `works`: the loader found a device.
fn check_driver(
    name: &OsStr,
    origin: Origin,
    outcome: &Outcome,
    through: &Outcome,
    works: bool,
    masked: Option<&Masked>,
) -> Vec<Check> {
    let shown = outcome.opened().unwrap_or_default();
    let shown = if shown.is_empty() {
        name.to_string_lossy().into_owned()
    } else {
        shown.to_owned()
    };
    // If another driver works, a broken one is only a warning.
    let bad = |found: String, cause: String, fix: &str| {
        if works {
            Check::warn(AREA, found, cause, fix)
        } else {
            Check::fail(AREA, found, cause, fix)
        }
    };
    if let Some(reason) = outcome.refused() {
        let fix = match origin {
            Origin::Named => "correct the name in ZE_ENABLE_ALT_DRIVERS, or unset it",
            Origin::Own => {
                "install loader and driver side by side from the same build: ./x install PREFIX"
            }
            Origin::Vendor => "install the missing library, or remove the driver",
        };
        return vec![bad(
            format!("{shown} cannot be used"),
            reason.to_owned(),
            fix,
        )];
    }
    let mut checks = Vec::new();
    let mut devices_seen = 0;
    let mut first_version = None;
    for step in &outcome.steps {
        match step {
            Step::Initialised {
                function,
                code,
                text,
            } if code != "ZE_RESULT_SUCCESS" => {
                let hardware = (origin == Origin::Vendor).then(nodes).flatten();
                let (cause, fix) = match (text.is_empty(), hardware) {
                    (false, _) => (text.clone(), "correct what the driver's message names"),
                    (true, Some(nodes)) => (
                        format!("the driver gives no reason; {nodes}"),
                        "add the user to the group of /dev/dri/renderD* (render or video), or remove the driver if its \
                         hardware is absent",
                    ),
                    (true, None) => (
                        "the driver gives no reason".into(),
                        "see the driver's documentation, or exclude it with ZE_ENABLE_ALT_DRIVERS",
                    ),
                };
                checks.push(bad(
                    format!("{shown}: {function} returned {code}"),
                    cause,
                    fix,
                ));
            }
            Step::Failed { what } => checks.push(bad(
                format!("{shown}: {what}"),
                "a call fails that succeeds on a working driver".into(),
                "update the driver, or exclude it with ZE_ENABLE_ALT_DRIVERS",
            )),
            Step::Driver {
                api,
                version,
                ddi_handles,
                devices,
                ..
            } => {
                devices_seen += devices.len();
                first_version.get_or_insert(*version);
                let list: Vec<String> = devices
                    .iter()
                    .map(|device| match device.name.as_str() {
                        "" => format!("unnamed ({})", device.kind),
                        name => format!("{name} ({})", device.kind),
                    })
                    .collect();
                let ddi = if *ddi_handles {
                    "DDI handles"
                } else {
                    "no DDI handles"
                };
                checks.push(Check::ok(
                    AREA,
                    format!(
                        "{shown}: Level Zero {api}, version {version:#010x}, {ddi}; {}",
                        if list.is_empty() {
                            "no device".into()
                        } else {
                            list.join(", ")
                        }
                    ),
                ));
            }
            _ => {}
        }
    }
    if outcome.end != End::Done {
        checks.push(bad(
            format!("{shown} crashes the process"),
            outcome.end_text(),
            "update or remove it, or exclude it with ZE_ENABLE_ALT_DRIVERS",
        ));
    } else if let Some(version) = first_version {
        let used = through
            .steps
            .iter()
            .any(|step| matches!(step, Step::Driver { version: other, .. } if *other == version));
        if !used && through.end == End::Done {
            let reason = loader::reason_against(through, &name.to_string_lossy());
            checks.push(bad(
                format!("the loader does not use {shown}"),
                reason.unwrap_or_else(|| {
                    "it gives no reason; probably the driver has no GPU (DPC++ requests GPU drivers only)".into()
                }),
                "try it alone with ZE_ENABLE_ALT_DRIVERS; ZE_ENABLE_LOADER_DEBUG_TRACE=1 prints what the loader does",
            ));
        } else if let Some(Masked { mask, all }) = masked {
            let hidden = format!(
                "{MASK}={mask} hides {} of {all} devices",
                all - devices_seen
            );
            checks.push(if devices_seen == 0 {
                bad(
                    format!("{shown} has no device"),
                    hidden,
                    &format!("unset {MASK}, or use devices from 0 to {}", all - 1),
                )
            } else {
                Check::note(AREA, format!("{shown}: {hidden}"))
            });
        } else if devices_seen == 0 {
            checks.push(bad(
                format!("{shown} has no device"),
                "the driver works but finds no hardware".into(),
                "check the hardware and the permissions of its device files",
            ));
        }
    }
    checks
}

/// The state of /dev/dri, if it explains a failure.
fn nodes() -> Option<String> {
    let mut names: Vec<PathBuf> = std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().contains("renderD"))
        .collect();
    names.sort();
    if names.is_empty() {
        return Some(
            "/dev/dri/renderD* does not exist: the kernel has no GPU driver loaded".into(),
        );
    }
    let closed: Vec<String> = names
        .iter()
        .filter(|path| {
            std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(path)
                .is_err()
        })
        .map(|path| path.display().to_string())
        .collect();
    (!closed.is_empty()).then(|| format!("this user cannot open {}", closed.join(", ")))
}
