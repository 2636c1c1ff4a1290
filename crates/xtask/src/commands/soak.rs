//! `soak`: repeats tests of failures that occur once in a thousand runs.

use anyhow::Result;

use crate::artefacts;
use crate::client_programs;
use crate::packages;
use crate::program::Program;
use crate::session::Session;

/// Runs tests/soak/run.py for some minutes.
pub(super) fn run(session: &Session, minutes: f64, seed: Option<u64>) -> Result<()> {
    artefacts::build(session)?;
    packages::install(session, &["python3", "gcc"])?;
    artefacts::build_more(session, "-p level-zero --example mandelbrot")?;
    session.run(&Program::cargo(
        "test --quiet -p solum-ze-cpu --test process --no-run",
    ))?;
    let cancel = client_programs::cancel(session)?;
    let soak = Program::new("python3")
        .arg(session.path("tests/soak/run.py"))
        .arg("--libraries")
        .arg(session.release_folder())
        .arg("--cancel")
        .arg(cancel)
        .arg("--kernels")
        .arg(session.path("crates/conformance/c/kernels.spv"))
        .option("--seed", seed.map(|seed| seed.to_string()))
        .arg(minutes.to_string());
    session.replace(&soak)
}
