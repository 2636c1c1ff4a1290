//! `wheels`: unmodified clients from PyPI, compared with lists of what is known to fail.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::wheel;
use crate::arguments::{Wheels, WheelsPart};
use crate::artefacts;
use crate::checks::{self, Check, Suite};
use crate::client_programs;
use crate::clients::{Device, Mpi, Word as _};
use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;
use crate::step::Steps;

/// For one step. The suites have limits of their own, for a file and for a test.
const LIMIT: Duration = Duration::from_secs(21600);

/// Sizes of work-groups that the kernels of tests/sycl run with, and under `solum check`, which is slower.
const SIZES: u32 = 6;
const CHECKED_SIZES: u32 = 2;

const NOT_INSTALLED: &str = "the wheels could not be installed: is there a network?";

/// Runs a part.
pub(super) fn run(session: &Session, options: &Wheels) -> Result<ExitCode> {
    artefacts::build(session)?;
    let mut steps = Steps::with_limit(session, LIMIT);
    let environment = if options.part == WheelsPart::Sklearnex {
        Environment::Sklearnex
    } else {
        Environment::Wheels
    };
    environment.install(session).context(NOT_INSTALLED)?;
    wheel::install_into(session, &wheel::build_once(session)?, environment)?;
    match options.part {
        WheelsPart::Sklearnex => sklearnex(session, &mut steps, options),
        WheelsPart::Mpi => {
            install_mpi(session)?;
            if options.bench {
                bench_mpi(session, options)?;
                return Ok(ExitCode::SUCCESS);
            }
            mpi(session, &mut steps)?;
        }
        _ => {
            for device in options.device.list() {
                on_device(session, &mut steps, options, *device);
            }
        }
    }
    if is_run(options, WheelsPart::Sycl) {
        steps.step(
            "solum check finds the mistakes in tests/sycl/check, and nothing in its correct kernels",
            Check::SyclKernels {
                names: Vec::new(),
                json: false,
            },
        );
    }
    if is_run(options, WheelsPart::CompileAll) {
        compile_all(session, &mut steps);
    }
    steps.finish()
}

fn is_run(options: &Wheels, part: WheelsPart) -> bool {
    options.part == WheelsPart::All || options.part == part
}

fn sklearnex(session: &Session, steps: &mut Steps<'_>, options: &Wheels) {
    let intels = Environment::Sklearnex.path(session, "lib/libxptifw.so.1");
    steps.step(
        "25 estimators beside scikit-learn's",
        checks::estimators(session),
    );
    steps.step(
        "intel-pti's views over Intel's XPTI framework",
        checks::pti_views(session, &intels),
    );
    steps.step(
        "intel-pti's views over ours",
        checks::pti_views(session, &session.release("libxptifw.so.1")),
    );
    let words = options.suite.words();
    steps.step(
        "scikit-learn-intelex's own tests",
        checks::suite(session, Suite::Sklearnex, Device::Gpu, &words),
    );
}

fn install_mpi(session: &Session) -> Result<()> {
    packages::install(session, &["openmpi-bin"])?;
    for environment in [Environment::IntelMpi, Environment::Mpich] {
        environment.install(session).context(
            "the wheels of Intel MPI, oneCCL, MPICH could not be installed: is there a network?",
        )?;
    }
    Ok(())
}

fn bench_mpi(session: &Session, options: &Wheels) -> Result<()> {
    let mut bench = Program::new("python3")
        .arg(session.path("tests/mpi/bench_ranks.py"))
        .arg("--solum")
        .arg(session.release("solum"))
        .arg("--mpiexec")
        .arg(Environment::Mpich.path(session, "bin/mpiexec"))
        .arg("--python")
        .arg(Environment::Mpich.python(session));
    if !options.ranks.is_empty() {
        let ranks = options.ranks.iter().map(u32::to_string);
        bench = bench.arg("--ranks").args(ranks);
    }
    let rounds = options.rounds.map(|rounds| rounds.to_string());
    session.replace(&bench.option("--rounds", rounds))
}

fn mpi(session: &Session, steps: &mut Steps<'_>) -> Result<()> {
    client_programs::mpi(session).context(
        "the programs of tests/mpi could not be built: the compiler's messages are above",
    )?;
    for ranks in [2, 3] {
        steps.step(
            &format!("Intel MPI with device, host and shared memory, {ranks} ranks"),
            checks::mpi_intel(session, "transfers", ranks),
        );
    }
    for ranks in [2, 4] {
        steps.step(
            &format!("oneCCL's collectives, {ranks} ranks"),
            checks::mpi_intel(session, "collectives", ranks),
        );
    }
    for mpi in [Mpi::Mpich, Mpi::Openmpi] {
        steps.step(
            &format!("dpnp in 4 ranks of {}", mpi.word()),
            Check::MpiDpnp { mpi },
        );
    }
    Ok(())
}

fn on_device(session: &Session, steps: &mut Steps<'_>, options: &Wheels, device: Device) {
    let on = device.word();
    if is_run(options, WheelsPart::Sycl) {
        for name in ["idioms", "awkward"] {
            steps.step(
                &format!(
                    "the kernels of tests/sycl/{name}.cpp in 4 ways, {SIZES} sizes of work-groups ({on})"
                ),
                Check::SyclWays {
                    name: name.to_owned(),
                    device,
                    rounds: Some(SIZES),
                },
            );
            steps.step(
                &format!("solum check finds nothing in tests/sycl/{name}.cpp ({on})"),
                Check::SyclCorrect {
                    name: name.to_owned(),
                    device,
                    rounds: Some(CHECKED_SIZES),
                },
            );
        }
    }
    if is_run(options, WheelsPart::Smoke) {
        let dpctl = checks::smoke_dpctl(session, device);
        steps.step(&format!("smoke_dpctl.py ({on})"), dpctl);
        let dpnp = checks::smoke_dpnp(session, device);
        steps.step(&format!("smoke_dpnp.py ({on})"), dpnp);
    }
    let words = options.suite.words();
    for (part, suite, name) in [
        (WheelsPart::Dpctl, Suite::Dpctl, "dpctl"),
        (WheelsPart::Dpnp, Suite::Dpnp, "dpnp"),
    ] {
        if is_run(options, part) {
            let tests = checks::suite(session, suite, device, &words);
            steps.step(&format!("{name}'s tests ({on})"), tests);
        }
    }
}

fn compile_all(session: &Session, steps: &mut Steps<'_>) {
    let compile = Program::new(session.release("compile-wheels"));
    let compile = compile.arg(Environment::Wheels.root(session));
    steps.step(
        "reading, validating and compiling every module of the dpctl and dpnp wheels",
        compile.clone(),
    );
    steps.step("the same as baseline code", compile.arg("baseline"));
}
