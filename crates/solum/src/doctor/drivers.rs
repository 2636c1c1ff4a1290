//! Each driver library that the loader would try: where it is, and how far it gets by itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::linker::Process;
use super::loader;
use super::probe::{self, End, Outcome, Step};
use super::report::Check;
use super::setting::Setting;

const AREA: &str = "driver";
/// Vendors' drivers, under the names that loaders look for.
const VENDORS: [&str; 4] = [
    "libze_intel_gpu.so.1",
    "libze_intel_gpu_legacy1.so.1",
    "libze_intel_vpu.so.1",
    "libze_intel_npu.so.1",
];
/// Ours, beside the loader.
const OWN: [&str; 2] = ["libze_solum_cpu.so.1", "libze_solum_cpu.so"];
const LIMIT: Duration = Duration::from_secs(30);

/// What was found out about the drivers.
pub(crate) struct Drivers {
    pub(crate) checks: Vec<Check>,
    /// Where our driver was opened from.
    pub(crate) own: Option<PathBuf>,
}

/// Whose a candidate is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Named by `ZE_ENABLE_ALT_DRIVERS`.
    Named,
    Vendor,
    Own,
}

/// Tries each candidate of the loader at `path` in a child of its own.
pub(crate) fn check(
    process: &Process,
    setting: &Setting,
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
    for (name, origin) in candidates(setting, path, loader_is_ours) {
        if name.is_empty() {
            drivers.checks.push(Check::warn(
                AREA,
                "ZE_ENABLE_ALT_DRIVERS has an empty entry",
                "an empty name names no library; Solum's loader passes over it, others may crash",
                "put names or paths between the commas, or unset it",
            ));
            continue;
        }
        if origin == Origin::Vendor && process.search(&name, 0).found.is_none() {
            absent.push(name.to_string_lossy().into_owned());
            continue;
        }
        let outcome = probe::run(setting, "driver", &name, &[], LIMIT);
        let own = outcome
            .opened()
            .map(PathBuf::from)
            .filter(|path| is_own(path));
        if own.is_some() {
            drivers.own = own;
        }
        let masked = masked(setting, &name, &outcome);
        let checks = judge(&name, origin, &outcome, through, works, masked.as_ref());
        drivers.checks.extend(checks);
    }
    if !absent.is_empty() {
        drivers.checks.push(Check::note(
            AREA,
            format!("no vendor's driver under the name {}", absent.join(", ")),
        ));
    }
    if drivers.checks.iter().all(|check| check.check != AREA) {
        drivers.checks.push(Check::fail(
            AREA,
            "there is no driver to try",
            "ZE_ENABLE_ALT_DRIVERS is set and names none",
            "unset ZE_ENABLE_ALT_DRIVERS",
        ));
    }
    drivers
}

const MASK: &str = "ZE_AFFINITY_MASK";

/// A mask that hides devices of a driver.
struct Masked {
    mask: String,
    /// What the driver has without it.
    all: usize,
}

fn devices_of(outcome: &Outcome) -> usize {
    let counts = outcome.steps.iter().map(|step| match step {
        Step::Driver { devices, .. } => devices.len(),
        _ => 0,
    });
    counts.sum()
}

/// Whether the driver has devices that `ZE_AFFINITY_MASK` hides: it is asked again without.
fn masked(setting: &Setting, name: &OsStr, outcome: &Outcome) -> Option<Masked> {
    let mask = setting.given(MASK)?.to_string_lossy().into_owned();
    if outcome.end != End::Done {
        return None;
    }
    let mut setting = setting.clone();
    setting.remove(MASK);
    let all = devices_of(&probe::run(&setting, "driver", name, &[], LIMIT));
    (all > devices_of(outcome)).then_some(Masked { mask, all })
}

fn is_own(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| OWN.iter().any(|own| name == OsStr::new(own)))
}

/// The libraries that the loader tries, in its order.
fn candidates(setting: &Setting, loader: &Path, loader_is_ours: bool) -> Vec<(OsString, Origin)> {
    if let Some(list) = setting.get("ZE_ENABLE_ALT_DRIVERS") {
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

/// The line about one driver, from how far it came alone and whether the loader has devices anyway.
fn judge(
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
    // While another driver works, one that does not is no more than something to look at.
    let bad = |found: String, cause: String, cure: &str| {
        if works {
            Check::warn(AREA, found, cause, cure)
        } else {
            Check::fail(AREA, found, cause, cure)
        }
    };
    if let Some(reason) = outcome.refused() {
        let cure = match origin {
            Origin::Named => "correct the name in ZE_ENABLE_ALT_DRIVERS, or unset it",
            Origin::Own => {
                "install loader and driver side by side from one build: ./x install PREFIX"
            }
            Origin::Vendor => "install what the reason names, or remove the driver",
        };
        return vec![bad(
            format!("{shown} cannot be used"),
            reason.to_owned(),
            cure,
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
                let (cause, cure) = match (text.is_empty(), hardware) {
                    (false, _) => (text.clone(), "do what the reason says"),
                    (true, Some(nodes)) => (
                        format!("it gives no reason; {nodes}"),
                        "let the user into the group of /dev/dri/renderD* (render or video), or install no driver for \
                         hardware that is not there",
                    ),
                    (true, None) => (
                        "it gives no reason".into(),
                        "its own documentation may know; ZE_ENABLE_ALT_DRIVERS can leave it out",
                    ),
                };
                checks.push(bad(
                    format!("{shown}: {function} answered {code}"),
                    cause,
                    cure,
                ));
            }
            Step::Failed { what } => checks.push(bad(
                format!("{shown}: {what}"),
                "a call fails that a working driver answers".into(),
                "update the driver, or leave it out by ZE_ENABLE_ALT_DRIVERS",
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
                        "{shown}: specification {api}, version {version:#010x}, {ddi}; {}",
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
            format!("{shown} takes the process down"),
            outcome.end_text(),
            "update or remove it, or leave it out by ZE_ENABLE_ALT_DRIVERS",
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
                    "it gives no reason: the driver is not for GPU programs (DPC++ asks for GPU drivers only)".into()
                }),
                "ZE_ENABLE_ALT_DRIVERS may name it alone; ZE_ENABLE_LOADER_DEBUG_TRACE=1 makes the loader say more",
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
                    &format!("unset {MASK}, or name devices from 0 to {}", all - 1),
                )
            } else {
                Check::note(AREA, format!("{shown}: {hidden}"))
            });
        } else if devices_seen == 0 {
            checks.push(bad(
                format!("{shown} has no device"),
                "it is there, but finds nothing to drive".into(),
                "check the hardware and the rights on its device files",
            ));
        }
    }
    checks
}

/// The state of the kernel's graphics devices, when something about it is worth telling.
fn nodes() -> Option<String> {
    let mut names: Vec<PathBuf> = std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().contains("renderD"))
        .collect();
    names.sort();
    if names.is_empty() {
        return Some("there is no /dev/dri/renderD*: the kernel drives no GPU here".into());
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
    (!closed.is_empty()).then(|| format!("this user may not open {}", closed.join(", ")))
}
