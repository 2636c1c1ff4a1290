//! Checks of the crates themselves: models, features, another processor, memcheck.

use anyhow::{Result, bail};

use crate::packages;
use crate::program::Program;
use crate::published::PUBLIC;
use crate::session::{Capture, Session};

const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// The models of the lock-free parts.
pub(super) fn loom(session: &Session) -> Result<()> {
    let models = Program::cargo("test --quiet --release --lib")
        .words("--test claims --test queue --test readers --test lanes --test milestone")
        .words("-p solum-work-group-pool -p solum-sycl-graph -p solum-ze-driver")
        .words("-p solum-xpti-framework -p solum-ze-layers -p solum-ze-loader")
        // Code that only the models use looks dead to the other crates.
        .env("RUSTFLAGS", "--cfg loom -A dead_code")
        .env("LOOM_MAX_PREEMPTIONS", "3")
        .env("CARGO_TARGET_DIR", session.path("target/loom"));
    session.run(&models)
}

/// The sets of features that nothing else is built with.
pub(super) fn sycl_features(session: &Session) -> Result<()> {
    for features in ["driver", "driver,xpti", "driver,source-locations"] {
        let check = Program::cargo("check --quiet -p sycl --no-default-features --features")
            .arg(features)
            .words("--lib --bench runtime");
        session.run(&check)?;
    }
    Ok(())
}

/// Whether Rust's library for AArch64 is there or can be added.
pub(crate) fn has_aarch64_library(session: &Session) -> Result<bool> {
    let sysroot = Program::new("rustc").args(["--print", "sysroot"]);
    let Some(sysroot) = session.capture(&sysroot, Capture::Output)? else {
        return Ok(true);
    };
    let library = format!("{}/lib/rustlib/{AARCH64}", sysroot.text);
    if session.exists(library.as_ref()) {
        return Ok(true);
    }
    let add = Program::new("rustup")
        .words("--quiet target add")
        .arg(AARCH64);
    Ok(packages::is_program("rustup") && session.succeeds(&add)?)
}

/// Compiles all crates for AArch64. Those with assembly are compiled to the end, since `cargo check` does not assemble.
pub(super) fn aarch64(session: &Session) -> Result<()> {
    let check = Program::cargo("check --quiet --workspace --target").arg(AARCH64);
    session.run(&check)?;
    for name in ["solum-ze-cpu", "libxptifw"] {
        let compile = Program::cargo("rustc --quiet -p")
            .arg(name)
            .words("--lib --crate-type rlib --target")
            .arg(AARCH64);
        session.run(&compile)?;
    }
    Ok(())
}

/// The tests of threads under valgrind.
///
/// It leaves out tests that copy through bad pointers, which valgrind counts as errors even where the program survives
/// them, and tests whose threads write or fork without a pause while memory moves: valgrind runs one thread at a time,
/// so they take minutes.
pub(super) fn memcheck(session: &Session) -> Result<()> {
    // Fair scheduling: a thread that only polls must not keep the others from running.
    let runner = "valgrind --quiet --fair-sched=try --error-exitcode=9";
    for tests in [
        "-p solum-work-group-pool --test claims",
        "-p solum-ze-driver --test driver -- order counters graphs mutable memory random_programs_keep random_programs_agree",
        "-p solum-ze-cpu --lib -- engine:: memory:: --skip bad_pointers --skip a_fault --skip an_unlimited_wait \
         --skip lose_nothing --skip loses_nothing --skip exporting_thread --skip children_forked --skip children_of_a_bare",
    ] {
        let test = Program::cargo("test --quiet")
            .words(tests)
            .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
        session.run(&test)?;
    }
    Ok(())
}

/// The interfaces of the public crates, beside those of the commit `since` or of the last release.
pub(super) fn semver(session: &Session, since: Option<&str>) -> Result<()> {
    let releases = Program::new("git")
        .words("-c versionsort.suffix=- tag --list v* --sort=version:refname --merged HEAD");
    let last = match since {
        Some(since) => since.to_owned(),
        None => session.answer(&releases, "LAST")?,
    };
    let Some(since) = last.lines().last() else {
        session.say("nothing has been released that the interfaces could be compared with");
        return Ok(());
    };
    if !session.is_dry && !packages::is_program("cargo-semver-checks") {
        bail!("cargo-semver-checks is not installed: cargo install cargo-semver-checks --locked");
    }
    // A macro has no interface that it could compare.
    let libraries = PUBLIC.iter().filter(|name| **name != "sycl-macros");
    let compare = Program::cargo("semver-checks --baseline-rev")
        .arg(since)
        .args(libraries.flat_map(|name| ["-p", name]))
        // Interfaces need no LLVM.
        .env("DOCS_RS", "1");
    session.run(&compare)
}
