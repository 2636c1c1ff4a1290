//! The optimised libraries and programs of this checkout.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::packages;
use crate::program::Program;
use crate::session::Session;

/// The libraries that are installed, by the name of their crate without `lib`.
pub(crate) const LIBRARIES: [&str; 8] = [
    "ze_loader",
    "ze_solum_cpu",
    "solum_codegen",
    "xptifw",
    "solum_trace",
    "ze_validation_layer",
    "ze_tracing_layer",
    "ze_null",
];

/// The libraries that run programs.
pub(crate) const RUN_TIME: [&str; 3] = ["ze_loader", "ze_solum_cpu", "solum_codegen"];

/// Builds everything in release mode.
///
/// # Errors
/// A package is missing, or the build fails.
pub(crate) fn build(session: &Session) -> Result<()> {
    packages::install_toolchain(session)?;
    session.say(&format!(
        "building solum and {} (release)",
        named(&LIBRARIES)
    ));
    let crates = crates(&LIBRARIES).words("-p solum -p conformance --bins --lib");
    compile(session, &crates)?;
    link_versions(session, &LIBRARIES)
}

/// Builds some of the libraries alone, for verbs that need no more.
///
/// # Errors
/// As [`build`].
pub(crate) fn build_libraries(session: &Session, names: &[&str]) -> Result<()> {
    packages::install_toolchain(session)?;
    session.say(&format!("building {} (release)", named(names)));
    compile(session, &crates(names))?;
    link_versions(session, names)
}

/// Builds parts of crates in release mode; `what` is the rest of cargo's command line.
///
/// # Errors
/// The build fails.
pub(crate) fn build_more(session: &Session, what: &str) -> Result<()> {
    compile(
        session,
        &Program::cargo("build --release --quiet").words(what),
    )
}

fn compile(session: &Session, cargo: &Program) -> Result<()> {
    if !session.succeeds(cargo)? {
        bail!("the build failed: see the compiler's messages above");
    }
    Ok(())
}

fn crates(names: &[&str]) -> Program {
    Program::cargo("build --release --quiet").args(names.iter().map(|name| format!("-plib{name}")))
}

fn named(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("lib{name}")).collect();
    names.join(" ")
}

/// The file of a library.
pub(crate) fn library(session: &Session, name: &str) -> PathBuf {
    session.release(&format!("lib{name}.so"))
}

/// Gives each library the name with its version, by which clients open it.
fn link_versions(session: &Session, names: &[&str]) -> Result<()> {
    for name in names {
        let file = library(session, name);
        let link = file.with_extension("so.1");
        session.run(&Program::new("ln").arg("-f").arg(file).arg(link))?;
    }
    Ok(())
}
