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
use crate::third_party::Notices;
use crate::{stamp, third_party};

/// Name of the distribution in file names.
const NAME: &str = "solum_level_zero";

/// The oldest C library that the wheel runs with is glibc 2.34.
pub(crate) const PLATFORM: &str = "manylinux_2_34_x86_64";

/// Files of the Python package.
const PACKAGE: [&str; 3] = ["__init__.py", "__main__.py", "py.typed"];

/// The library that Intel's wheels install, too.
const XPTI: &str = "xptifw";

/// Builds everything, then the wheel, and examines it.
pub(super) fn run(session: &Session) -> Result<()> {
    artefacts::build(session)?;
    let wheel = build(session, &third_party::collect(session)?)?;
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
pub(crate) fn build(session: &Session, notices: &Notices) -> Result<PathBuf> {
    Environment::WheelTools
        .install(session)
        .context("the tools of python/tools.txt could not be installed: is there a network?")?;
    let version = &version(session);
    let stem = format!("{NAME}-{version}");
    let stage = session.path("target/wheel").join(&stem);
    session.remove_folder(&stage)?;
    libraries(session, &stage, &stem)?;
    package(session, &stage)?;
    let texts = stage.join(format!("{stem}.dist-info"));
    metadata(session, &texts, version, notices)?;
    // The wheel keeps permissions, which depend on the user's mask.
    session.run(&Program::new("chmod").words("-R u=rwX,go=rX").arg(&stage))?;
    let packed = session.path("target/wheel/packed");
    session.make_folder(&packed)?;
    let pack = Program::new(Environment::WheelTools.python(session))
        .words("-m wheel pack --dest-dir")
        .args([&packed, &stage])
        .env("SOURCE_DATE_EPOCH", stamp::seconds(session)?);
    session.run(&pack)?;
    // Whole, by a rename: another command may be installing the wheel.
    let wheel = file(session);
    session.make_folder(&session.path("dist"))?;
    let packed = packed.join(wheel.file_name().context("the wheel's name")?);
    session.run(&Program::new("mv").args([&packed, &wheel]))?;
    Ok(wheel)
}

/// Packs the wheel unless that of the last call is there and was packed from the same files: the parts of `./x wheels` run
/// one after another, each in its own process.
///
/// # Errors
/// As [`build`].
pub(crate) fn build_once(session: &Session) -> Result<PathBuf> {
    let (wheel, stamp) = (file(session), session.path("target/wheel/packed.txt"));
    if !session.is_dry && std::fs::read_to_string(&stamp).is_ok_and(|old| old == state(session)) {
        return Ok(wheel);
    }
    build(session, &third_party::collect(session)?)?;
    let state = if session.is_dry {
        String::new()
    } else {
        state(session)
    };
    session.write(&stamp, &state)?;
    Ok(wheel)
}

/// Size and time of the wheel and of each file that decides what is in it; the program that packs is one of them.
fn state(session: &Session) -> String {
    let libraries = LIBRARIES.map(|name| artefacts::library(session, name));
    let texts = [
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "python/METADATA.in",
        "python/README.md",
        "python/sycl.conf",
    ];
    let package = PACKAGE.map(|name| format!("python/{NAME}/{name}"));
    let texts = texts.into_iter().chain(package.iter().map(String::as_str));
    let mut files = vec![file(session), session.release("solum")];
    files.extend(libraries);
    files.extend(texts.map(|name| session.path(name)));
    files.extend(std::env::current_exe());
    let line = |file: PathBuf| {
        let facts = std::fs::metadata(&file).map(|facts| (facts.len(), facts.modified().ok()));
        format!("{} {:?}\n", file.display(), facts.ok())
    };
    files.into_iter().map(line).collect()
}

/// Python's form of the version, which may be a release candidate.
fn version(session: &Session) -> String {
    stamp::version(session).replacen("-rc.", "rc", 1)
}

/// The wheel's file.
fn file(session: &Session) -> PathBuf {
    let name = format!("{NAME}-{}-py3-none-{PLATFORM}.whl", version(session));
    session.path("dist").join(name)
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
    for name in PACKAGE {
        let file = Path::new(NAME).join(name);
        let from = session.path("python").join(&file);
        install(session, "-m 644", &from, &stage.join(&file))?;
    }
    Ok(())
}

fn metadata(session: &Session, folder: &Path, version: &str, notices: &Notices) -> Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let to = folder.join("licenses").join(name);
        install(session, "-m 644", &session.path(name), &to)?;
    }
    let bill = folder.join("sboms/solum.cdx.json");
    session.make_folder(&folder.join("sboms"))?;
    notices.write(session, &folder.join("licenses"), &bill)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_is_the_same_until_a_file_of_it_changes() {
        let root = std::env::temp_dir().join(format!("xtask-wheel-{}", std::process::id()));
        std::fs::create_dir_all(root.join("python")).unwrap();
        std::fs::create_dir_all(root.join("dist")).unwrap();
        let session = Session::new(root.clone(), false).unwrap();
        for name in [
            PathBuf::from("python/sycl.conf"),
            file(&session).strip_prefix(&session.root).unwrap().into(),
        ] {
            let file = root.join(name);
            let without = state(&session);
            std::fs::write(&file, "a").unwrap();
            let packed = state(&session);
            assert_ne!(without, packed, "{}", file.display());
            assert_eq!(packed, state(&session));
            std::fs::write(&file, "another").unwrap();
            assert_ne!(packed, state(&session), "{}", file.display());
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
