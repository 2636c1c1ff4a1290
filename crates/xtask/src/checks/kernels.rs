//! Planted mistakes in kernels, which `solum check` must find, and correct kernels, in which it must find nothing.

use anyhow::Result;

use crate::artefacts;
use crate::client_programs;
use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;

/// Compiles, runs and judges the kernels of tests/check.
pub(super) fn check(session: &Session, names: &[String], is_json: bool) -> Result<()> {
    artefacts::build(session)?;
    artefacts::build_more(session, LAUNCH_KERNELS)?;
    // Only the old one writes lines, and only the new one compiles plain C.
    packages::install(session, &["clang-15", "llvm-spirv-15", "clang-22"])?;
    let suite = Program::new(session.release("check-kernels"))
        .arg(session.path("tests/check"))
        .arg(session.path("target/check-kernels"))
        .flag("--json", is_json)
        .args(names);
    session.run(&suite)
}

/// The same of the SYCL C++ kernels of tests/sycl/check, which the wheel's libsycl-jit compiles.
pub(super) fn check_sycl(session: &Session, names: &[String], is_json: bool) -> Result<()> {
    artefacts::build(session)?;
    Environment::Wheels.install(session)?;
    let program = client_programs::sycl(session, "checked")?;
    let suite = Program::new(session.release("check-kernels"))
        .arg(session.path("tests/sycl/check"))
        .arg(program)
        .flag("--json", is_json)
        .args(names);
    session.run(&suite)
}

/// Builds the program that launches these kernels.
pub(crate) const LAUNCH_KERNELS: &str = "-p conformance --example launch_kernels";
