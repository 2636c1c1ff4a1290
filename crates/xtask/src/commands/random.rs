//! `random`: random kernels of OpenCL C in all execution modes, and random kernels in Rust beside plain Rust.

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;

use crate::arguments::{Peer, Random};
use crate::artefacts::{self, RUN_TIME};
use crate::packages;
use crate::program::Program;
use crate::python;
use crate::session::Session;

/// Where the distribution's packages list their OpenCL runtimes.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// Compares kernels, with the user's options for tests/random/run.py.
pub(super) fn run(session: &Session, options: &Random) -> Result<()> {
    if options.rust {
        return rust(session, options);
    }
    artefacts::build_libraries(session, &RUN_TIME)?;
    packages::install(session, &["clang-22", "python3", "spirv-tools"])?;
    if !options.peer.is_empty() {
        packages::install(session, &["ocl-icd-libopencl1", "pocl-opencl-icd"])?;
    }
    let mut run = Program::new("python3")
        .arg(session.path("tests/random/run.py"))
        .arg("--libraries")
        .arg(session.release_folder())
        .option("--count", options.count.as_ref())
        .option("--first", options.first.map(|seed| seed.to_string()))
        .option("--keep", options.keep.as_ref())
        .option("--clang", options.clang.as_ref());
    for peer in &options.peer {
        let name = peer.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        run = run.args(["--peer", name]);
    }
    if options.peer.contains(&Peer::Intel) {
        run = with_intel(session, run)?;
    }
    session.replace(&run)
}

/// The crate `random-kernels`, with new kernels unless the first seed is given.
fn rust(session: &Session, options: &Random) -> Result<()> {
    packages::install_toolchain(session)?;
    let count: u64 = match options.count.as_deref() {
        None => 200,
        Some(count) => count
            .parse()
            .context("random --rust --count: a number, because all kernels are compiled first")?,
    };
    let first = match options.first {
        Some(first) => first,
        None => {
            let now = session.answer(&Program::new("date").words("+%s"), "0")?;
            now.trim().parse::<u64>().unwrap_or_default() / 86_400 * 1000
        }
    };
    session.say(&format!(
        "random kernels in Rust: seeds {first} to {}",
        first + count
    ));
    let test = Program::cargo("test --quiet -p random-kernels")
        .env("SOLUM_RANDOM_RUST_FIRST", first.to_string())
        .env("SOLUM_RANDOM_RUST_KERNELS", count.to_string());
    session.run(&test)
}

/// Adds Intel's runtime to those that the loader of OpenCL finds.
fn with_intel(session: &Session, run: Program) -> Result<Program> {
    let libraries = python::install_intel_opencl(session)
        .context("Intel's OpenCL runtime could not be installed: is there a network?")?;
    let vendors = session.path("target/random");
    session.make_folder(&vendors)?;
    for entry in std::fs::read_dir(VENDORS).into_iter().flatten().flatten() {
        let is_vendor = entry.path().extension().is_some_and(|e| e == "icd");
        if is_vendor && !session.is_dry {
            session.copy(&entry.path(), &vendors.join(entry.file_name()))?;
        }
    }
    session.write(&vendors.join("intel.icd"), &python::icd(&libraries))?;
    Ok(run
        .env("OCL_ICD_VENDORS", vendors)
        .env("LD_LIBRARY_PATH", libraries))
}
