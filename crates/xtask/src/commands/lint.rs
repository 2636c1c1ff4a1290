//! `lint`: formatting, clippy, house rules, lock files, licences.

use std::process::ExitCode;

use anyhow::Result;

use super::test;
use crate::checks::Check;
use crate::packages;
use crate::program::Program;
use crate::session::Session;
use crate::step::Steps;

/// Runs the steps.
pub(super) fn run(session: &Session) -> Result<ExitCode> {
    packages::install_toolchain(session)?;
    let mut steps = Steps::new(session);
    steps.step("formatting", Program::cargo("fmt --all --check"));
    steps.step(
        "clippy",
        Program::cargo("clippy --quiet --workspace --all-targets -- -D warnings"),
    );
    steps.step("tidy", test::tidy());
    // No other step looks at this lock file: the fuzz targets are a workspace of their own.
    steps.step(
        "lock file of the fuzz targets",
        Program::cargo("fetch --quiet --locked --manifest-path fuzz/Cargo.toml"),
    );
    steps.step("workflows, action.yml, Dockerfile", Check::Files);
    if session.is_dry || packages::is_program("cargo-deny") {
        steps.step(
            "licences and bans",
            Program::cargo("deny check licenses bans sources"),
        );
    } else {
        session.say("cargo-deny is not installed (cargo install cargo-deny): licences not checked");
    }
    steps.finish()
}
