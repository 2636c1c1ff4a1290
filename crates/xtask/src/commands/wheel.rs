//! `wheel`: the Python wheel in `dist/`.
//!
//! The libraries go to `<prefix>/lib`, where DPC++'s adapters look first, and `solum` to `<prefix>/bin`. Only
//! `libxptifw.so.1` goes to `<prefix>/lib/solum`, because Intel's wheels install a file of that name.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::artefacts::{self, LIBRARIES};
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;
use crate::{stamp, third_party};

/// Name of the distribution in file names.
const NAME: &str = "solum_level_zero";

/// The oldest C library that the wheel runs with is glibc 2.34.
pub(crate) const PLATFORM: &str = "manylinux_2_34_x86_64";

/// The library that Intel's wheels install, too.
const XPTI: &str = "xptifw";

/// Builds everything, then the wheel, and examines it.
pub(super) fn run(session: &Session) -> Result<()> {
    artefacts::build(session)?;
    let wheel = build(session)?;
    let audit = Environment::WheelTools.path(session, "bin/auditwheel");
    session.run(&Program::new(audit).arg("show").arg(&wheel))?;
    session.say(&format!(
        "{}: pip install it, or give it to others",
        wheel.display()
    ));
    Ok(())
}

/// Packs the wheel from the release build, with the time of the last commit in all entries.
///
/// # Errors
/// The tools cannot be installed, or a file is missing.
pub(crate) fn build(session: &Session) -> Result<PathBuf> {
    Environment::WheelTools
        .install(session)
        .context("the tools of python/tools.txt could not be installed: is there a network?")?;
    // Python's form of a release candidate.
    let version = &stamp::version(session).replacen("-rc.", "rc", 1);
    let stem = format!("{NAME}-{version}");
    let stage = session.path("target/wheel").join(&stem);
    session.remove_folder(&stage)?;
    libraries(session, &stage, &stem)?;
    package(session, &stage)?;
    metadata(session, &stage.join(format!("{stem}.dist-info")), version)?;
    // The wheel keeps permissions, which depend on the user's mask.
    session.run(&Program::new("chmod").words("-R u=rwX,go=rX").arg(&stage))?;
    let dist = session.path("dist");
    session.make_folder(&dist)?;
    let pack = Program::new(Environment::WheelTools.python(session))
        .words("-m wheel pack --dest-dir")
        .args([&dist, &stage])
        .env("SOURCE_DATE_EPOCH", stamp::seconds(session)?);
    session.run(&pack)?;
    Ok(dist.join(format!("{stem}-py3-none-{PLATFORM}.whl")))
}

/// Installs the wheel into an environment with clients, which then run on it.
///
/// # Errors
/// pip fails.
pub(crate) fn install_into(
    session: &Session,
    wheel: &Path,
    environment: Environment,
) -> Result<()> {
    let pip = Program::new(environment.python(session))
        .words("-m pip install --quiet --disable-pip-version-check")
        .words("--force-reinstall --no-index --no-deps");
    session.run(&pip.arg(wheel))
}

fn libraries(session: &Session, stage: &Path, stem: &str) -> Result<()> {
    let data = stage.join(format!("{stem}.data"));
    for name in LIBRARIES {
        let folder = if name == XPTI { "lib/solum" } else { "lib" };
        let file = data
            .join("data")
            .join(folder)
            .join(format!("lib{name}.so.1"));
        install(
            session,
            "-s -m 755",
            &artefacts::library(session, name),
            &file,
        )?;
    }
    let program = data.join("scripts/solum");
    install(session, "-s -m 755", &session.release("solum"), &program)?;
    let selection = session.path("python/sycl.conf");
    install(
        session,
        "-m 644",
        &selection,
        &data.join("data/lib/sycl.conf"),
    )
}

fn package(session: &Session, stage: &Path) -> Result<()> {
    for name in ["__init__.py", "__main__.py", "py.typed"] {
        let file = Path::new(NAME).join(name);
        let from = session.path("python").join(&file);
        install(session, "-m 644", &from, &stage.join(&file))?;
    }
    Ok(())
}

fn metadata(session: &Session, folder: &Path, version: &str) -> Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let to = folder.join("licenses").join(name);
        install(session, "-m 644", &session.path(name), &to)?;
    }
    let bill = folder.join("sboms/solum.cdx.json");
    session.make_folder(&folder.join("sboms"))?;
    third_party::write(session, &folder.join("licenses"), &bill)?;
    let read = |name: &str| {
        let file = session.path("python").join(name);
        std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))
    };
    let mut text = String::new();
    if !session.is_dry {
        text = read("METADATA.in")?.replace("@VERSION@", version) + &read("README.md")?;
    }
    session.write(&folder.join("METADATA"), &text)?;
    let tags = format!(
        "Wheel-Version: 1.0\nGenerator: solum {version}\nRoot-Is-Purelib: false\nTag: py3-none-{PLATFORM}\n"
    );
    session.write(&folder.join("WHEEL"), &tags)
}

fn install(session: &Session, options: &str, from: &Path, to: &Path) -> Result<()> {
    let copy = Program::new("install").arg("-D").words(options);
    session.run(&copy.args([from, to]))
}
