//! `test`: all that CI runs, in three parts; and a fast part for the time between two edits.

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::{TestPart, Verb};
use crate::artefacts;
use crate::checks::{self, Check, Suite};
use crate::clients::{Device, Mpi, Word as _};
use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;
use crate::step::{Steps, Work};

/// Gibibytes of disk that the first run needs.
const SPACE: u64 = 14;

/// Whether a verb tests with the LLVM that users get. Builds for development link the shared one.
pub(super) fn wants_users_llvm(verb: &Verb) -> bool {
    match verb {
        Verb::Test { part } => *part != TestPart::Fast,
        Verb::Nightly => true,
        _ => false,
    }
}

/// Runs the steps of a part.
pub(super) fn run(session: &Session, part: TestPart) -> Result<ExitCode> {
    // The bootstrap has made the target folder itself.
    if part == TestPart::All && !session.exists(&session.target.join("debug")) {
        session.warn_about_space(SPACE, "a first ./x test");
    }
    let is_run = |this| part == TestPart::All || part == this;
    let mut steps = Steps::new(session);
    if part == TestPart::Fast {
        fast(&mut steps);
    }
    if is_run(TestPart::Rust) {
        rust(session, &mut steps)?;
    }
    if is_run(TestPart::Clients) {
        clients(session, &mut steps)?;
    }
    if is_run(TestPart::Wheels) {
        wheels(session, &mut steps)?;
    }
    steps.finish()
}

/// Crates whose tests need no LLVM: `default-members` of the workspace, the loader, and this crate.
const FAST: &str = "-p solum-kernel-ir -p solum-spirv-reader -p solum-spirv-reflection -p solum-vectorise -p solum-ze-spec -p solum-ze-loader -p xtask";

fn fast(steps: &mut Steps<'_>) {
    steps.step("formatting", Program::cargo("fmt --all --check"));
    steps.step(
        "clippy of the crates without LLVM",
        Program::cargo("clippy --quiet --all-targets")
            .words(FAST)
            .words("-- -D warnings"),
    );
    steps.step(
        "tests of the crates without LLVM",
        Program::cargo("test --quiet --no-fail-fast").words(FAST),
    );
    steps.step("crate levels, generated files, house rules", tidy());
}

/// `cargo xtask tidy`.
pub(super) fn tidy() -> Program {
    Program::cargo("run --quiet -p xtask -- tidy")
}

fn rust(session: &Session, steps: &mut Steps<'_>) -> Result<()> {
    packages::install_toolchain(session)?;
    packages::install(session, &["binutils", "libze1", "valgrind", "python3"])?;
    steps.step(
        "unit and integration tests of every crate",
        Program::cargo("test --quiet --no-fail-fast --workspace --exclude conformance"),
    );
    steps.step("models of the lock-free parts (loom)", Check::Loom);
    steps.step(
        "the SYCL runtime and its benchmark with all, some and no instrumentation",
        Check::SyclFeatures,
    );
    if checks::has_aarch64_library(session)? {
        steps.step(
            "all crates compile for AArch64, where nothing is run",
            Check::Aarch64,
        );
    } else {
        steps.skip("compiling for AArch64 (its standard library could not be added)");
    }
    steps.step(
        "threads of the driver and the engine under valgrind",
        Check::Memcheck,
    );
    steps.step("crate levels, generated files, house rules", tidy());
    steps.step(
        "the runner of conformance programs",
        Program::new("python3").words("-B tests/cts/test_run_cts.py"),
    );
    Ok(())
}

fn clients(session: &Session, steps: &mut Steps<'_>) -> Result<()> {
    artefacts::build(session)?;
    packages::install(session, &["binutils", "libze1", "python3"])?;
    steps.step(
        "real programs against the release artefacts",
        Program::cargo("test --quiet --release -p conformance")
            .env("SOLUM_ARTEFACTS", session.release_folder()),
    );
    steps.step(
        "solum check finds planted mistakes of kernels, and nothing in correct ones",
        Check::Kernels {
            names: Vec::new(),
            json: false,
        },
    );
    steps.step(
        "a crate that depends on the packaged crate sycl runs without a loader",
        Check::FreshCrate,
    );
    steps.step(
        "built without LLVM 22 it opens an installed code generator",
        Check::OpenedGenerator,
    );
    steps.step(
        "the examples of docs/sycl.md compute what they should",
        Check::RustExamples,
    );
    steps.step(
        "without loader and driver a SYCL program has no platforms, which is no error",
        Check::BareCrate,
    );
    steps.step(
        "the SYCL runtime's benchmark without instrumentation",
        Program::cargo("bench --quiet -p sycl --no-default-features")
            .words("--features embedded --bench runtime -- chain"),
    );
    steps.step(
        "a Rust program with the driver and the compiler inside",
        Program::cargo("test --quiet --release -p solum-ze-cpu --features embedded --test process"),
    );
    Ok(())
}

fn wheels(session: &Session, steps: &mut Steps<'_>) -> Result<()> {
    artefacts::build(session)?;
    if let Err(error) = Environment::Wheels.install(session) {
        steps.fail("installing dpctl, dpnp and the SYCL runtime", &error);
        return Ok(());
    }
    steps.step(
        "the Python wheel in fresh environments, and beside the clients",
        Check::Wheel,
    );
    steps.step(
        "dpnp on the installed wheel, without a variable",
        Check::WheelDpnp,
    );
    for device in Device::ALL {
        clients_on(session, steps, device);
    }
    steps.step(
        "solum check finds the mistakes in the SYCL kernels of tests/sycl/check, and nothing in correct ones",
        Check::SyclKernels {
            names: Vec::new(),
            json: false,
        },
    );
    if let Err(error) = Environment::Mpich.install(session) {
        steps.fail("installing mpi4py and MPICH", &error);
    } else {
        packages::install(session, &["openmpi-bin"])?;
        for (name, mpi) in [("MPICH", Mpi::Mpich), ("Open MPI", Mpi::Openmpi)] {
            steps.step(
                &format!("dpnp in 4 ranks of {name}"),
                Check::MpiDpnp { mpi },
            );
        }
    }
    steps.step(
        "DPC++ tells its subscribers the same under our XPTI framework as under Intel's",
        xpti(session),
    );
    Ok(())
}

/// The clients of the wheels on one device.
fn clients_on(session: &Session, steps: &mut Steps<'_>, device: Device) {
    let on = format!("on the {}-typed device", device.word());
    let mut step = |name: &str, work: Work| steps.step(&format!("{name} {on}"), work);
    let sycl_run = |name: &str| Check::SyclRun {
        name: name.to_owned(),
        device,
    };
    let sycl_ways = |name: &str| Check::SyclWays {
        name: name.to_owned(),
        device,
        rounds: None,
    };
    step(
        "smoke_dpctl.py",
        checks::smoke_dpctl(session, device).into(),
    );
    step("smoke_dpnp.py", checks::smoke_dpnp(session, device).into());
    step(
        "dpctl's own tests",
        checks::suite(session, Suite::Dpctl, device, &[]).into(),
    );
    step(
        "SYCL C++ compiled at run time",
        sycl_run("run_time_kernel").into(),
    );
    step(
        "kernels as in GPU benchmarks, in 4 ways",
        sycl_ways("idioms").into(),
    );
    step(
        "kernels with awkward control flow, memory and types, in 4 ways",
        sycl_ways("awkward").into(),
    );
    step(
        "SYCL C++ over native handles",
        sycl_run("interoperate").into(),
    );
    step(
        "SYCL C++ after a kernel that faults",
        sycl_run("lost").into(),
    );
    step(
        "solum trace follows SYCL C++",
        Check::TracePipeline { device }.into(),
    );
    step(
        "solum trace follows dpnp",
        checks::trace_dpnp(session, device).into(),
    );
    step(
        "solum trace follows dpctl",
        checks::trace_dpctl(session, device).into(),
    );
}

/// The reports of DPC++ under both XPTI frameworks.
fn xpti(session: &Session) -> Program {
    Program::new("python3")
        .arg(session.path("tests/xpti/compare.py"))
        .arg("--solum")
        .arg(session.release("solum"))
        .arg("--ours")
        .arg(session.release("libxptifw.so.1"))
        .arg("--venv")
        .arg(Environment::Wheels.root(session))
        .arg("--out")
        .arg(session.path("target/xpti"))
}
