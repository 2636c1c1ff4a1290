//! Checks of the Python wheel as its users get it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::wheels::SMOKE_DPNP;
use crate::artefacts;
use crate::commands::wheel;
use crate::program::Program;
use crate::python::Environment;
use crate::session::{Capture, Session};
use crate::third_party;

/// The interpreters to try. A machine has some of them.
const PYTHONS: [&str; 6] = [
    "python3",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
];

/// Bytes that the wheel may have. It had 25.6 MB in 2026-11; peers have 58 (PoCL) and 225 MB (Intel's OpenCL runtime).
const LARGEST: u64 = 30_000_000;

/// Variables that select a loader or devices.
const SELECTING: [&str; 4] = [
    "LD_LIBRARY_PATH",
    "ONEAPI_DEVICE_SELECTOR",
    "SOLUM_DEVICES",
    "SYCL_DEVICE_ALLOWLIST",
];

/// Packs the wheel, examines it, and installs it into fresh environments: its tests pass, and nothing stays when it is
/// uninstalled. Then installs it beside the clients, where there are any.
pub(super) fn check(session: &Session) -> Result<()> {
    artefacts::build(session)?;
    let wheel = wheel::build(session, &third_party::collect(session)?)?;
    let audit = Environment::WheelTools.path(session, "bin/auditwheel");
    let audit = Program::new(audit).arg("show").arg(&wheel);
    if let Some(shown) = session.capture(&audit, Capture::Output)? {
        // It breaks lines between words.
        let words: Vec<&str> = shown.text.split_whitespace().collect();
        let tag = format!("following platform tag: \"{}\"", wheel::PLATFORM);
        ensure!(
            shown.success && words.join(" ").contains(&tag),
            "auditwheel does not say {tag}:\n{}",
            shown.text
        );
        let size = std::fs::metadata(&wheel)?.len();
        ensure!(
            size <= LARGEST,
            "the wheel has {size} bytes, allowed are {LARGEST}"
        );
    }
    let mut versions = BTreeSet::new();
    for python in PYTHONS {
        let version = Program::new(python).words("-I --version");
        match session.capture(&version, Capture::OutputAndErrors) {
            Ok(Some(found)) if found.success && versions.insert(found.text.clone()) => {
                session.say(&format!(
                    "the wheel in a fresh environment of {}",
                    found.text
                ));
                fresh(session, python, &wheel)?;
            }
            Ok(None) => fresh(session, python, &wheel)?,
            // Not installed, or the same version as an earlier one.
            Ok(Some(_)) | Err(_) => {}
        }
    }
    if session.is_dry || session.exists(&Environment::Wheels.python(session)) {
        wheel::install_into(session, &wheel, Environment::Wheels)?;
    }
    Ok(())
}

fn fresh(session: &Session, python: &str, wheel: &Path) -> Result<()> {
    let folder = session.path("target/wheel").join(python);
    session.remove_folder(&folder)?;
    session.run(&Program::new(python).words("-m venv").arg(&folder))?;
    let before = files(&folder)?;
    let pip = || Program::new(folder.join("bin/python")).words("-m pip --quiet");
    session.run(&pip().words("install --no-index --no-deps").arg(wheel))?;
    let tests = Program::new(folder.join("bin/python"))
        .arg("-B")
        .arg(session.path("python/tests/test_package.py"))
        .without(&SELECTING);
    session.run(&tests)?;
    session.run(&pip().words("uninstall --yes solum-level-zero"))?;
    let left: Vec<_> = files(&folder)?.difference(&before).cloned().collect();
    if !left.is_empty() {
        bail!("files stay when the wheel is uninstalled: {left:?}");
    }
    Ok(())
}

/// The files below a folder, without Python's caches; none in a dry run.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut all = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("reading {}", folder.display()))?;
            if entry.file_name() == "__pycache__" {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
            all.insert(entry.path());
        }
    }
    Ok(all)
}

/// dpnp as users start it.
pub(super) fn dpnp(session: &Session) -> Result<()> {
    let python = || Program::new(Environment::Wheels.python(session)).without(&SELECTING);
    session.run(&python().arg(session.path(SMOKE_DPNP)))?;
    let device = python().args(["-c", "import dpnp; print(dpnp.ones(3).device)"]);
    if let Some(shown) = session.capture(&device, Capture::Output)? {
        ensure!(
            shown.text == "Device(level_zero:cpu:0)",
            "dpnp's default device is {}",
            shown.text
        );
    }
    Ok(())
}
