//! `cts DIR`: programs of the Level Zero conformance suite.

use anyhow::Result;

use crate::arguments::Cts;
use crate::artefacts::{self, RUN_TIME};
use crate::packages;
use crate::program::Program;
use crate::session::Session;

/// Runs the programs, with the user's options for tests/cts/run_cts.py.
pub(super) fn run(session: &Session, options: &Cts) -> Result<()> {
    packages::install(session, &["python3"])?;
    artefacts::build_libraries(session, &RUN_TIME)?;
    let run = Program::new("python3")
        .arg(session.path("tests/cts/run_cts.py"))
        .arg("--libraries")
        .arg(session.release_folder())
        .arg(&options.directory)
        .args(&options.words);
    session.replace(&run)
}
