//! Checks with the clients of the wheels: dpctl, dpnp, scikit-learn-intelex, SYCL C++, MPI.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::client_programs;
use crate::clients::{Device, Mpi, Word as _};
use crate::program::Program;
use crate::python::Environment;
use crate::session::{Capture, Session};

/// The ways to run a kernel, as variables; all must give the same bits.
const WAYS: [&[(&str, &str)]; 4] = [
    &[("SOLUM_TIERS", "full")],
    &[("SOLUM_TIERS", "baseline")],
    &[("SOLUM_TIERS", "full"), ("SOLUM_LANES", "1")],
    &[("SOLUM_COMPILER", "interpreter")],
];

/// The number of ranks that dpnp runs in.
const RANKS: &str = "4";

/// Lines of tests/sycl/pipeline.cpp that a trace must name.
const PIPELINE_LINES: [&str; 2] = ["tests/sycl/pipeline.cpp:64", "tests/sycl/pipeline.cpp:74"];

/// A package's own test suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// dpctl's.
    Dpctl,
    /// dpnp's.
    Dpnp,
    /// scikit-learn-intelex's.
    Sklearnex,
}

/// The program `solum` of the wheel, which is installed beside the clients.
fn solum(session: &Session, environment: Environment) -> PathBuf {
    environment.path(session, "bin/solum")
}

fn python3(session: &Session, script: &str) -> Program {
    Program::new("python3").arg(session.path(script))
}

/// `solum run OPTIONS -- PYTHON SCRIPT` with the interpreter of `environment`.
fn client(session: &Session, options: &str, environment: Environment, script: &str) -> Program {
    let run = Program::new(solum(session, environment)).arg("run");
    let run = run.words(options).arg("--");
    run.arg(environment.python(session))
        .arg(session.path(script))
}

/// dpnp's functions beside NumPy's.
pub(crate) fn smoke_dpnp(session: &Session, device: Device) -> Program {
    let options = format!("--require-kernels --as {}", device.word());
    client(session, &options, Environment::Wheels, SMOKE_DPNP)
}

pub(crate) const SMOKE_DPNP: &str = "tests/wheels/smoke_dpnp.py";
const SMOKE_DPCTL: &str = "tests/wheels/smoke_dpctl.py";

/// dpctl's devices, queues and memory.
pub(crate) fn smoke_dpctl(session: &Session, device: Device) -> Program {
    let options = format!("--as {}", device.word());
    client(session, &options, Environment::Wheels, SMOKE_DPCTL)
}

/// The tests of a package, compared with its list of known failures.
pub(crate) fn suite(
    session: &Session,
    suite: Suite,
    device: Device,
    options: &[OsString],
) -> Program {
    let (name, environment) = match suite {
        Suite::Dpctl => ("dpctl", Environment::Wheels),
        Suite::Dpnp => ("dpnp", Environment::Wheels),
        Suite::Sklearnex => ("sklearnex", Environment::Sklearnex),
    };
    python3(session, "tests/wheels/run_suite.py")
        .args([name, &device.word(), "--solum"])
        .arg(solum(session, environment))
        .arg("--python")
        .arg(environment.python(session))
        .args(options)
}

/// Estimators of scikit-learn-intelex beside scikit-learn's.
pub(crate) fn estimators(session: &Session) -> Program {
    let script = "tests/wheels/estimators.py";
    client(session, GPU, Environment::Sklearnex, script)
}

const GPU: &str = "--require-kernels --as gpu";

/// intel-pti's views over the XPTI framework in the file `framework`.
pub(crate) fn pti_views(session: &Session, framework: &Path) -> Program {
    let script = "tests/wheels/pti_views.py";
    client(session, GPU, Environment::Sklearnex, script).arg(framework)
}

/// A SYCL program under each of DPC++'s adapters for Level Zero.
pub(super) fn sycl_run(session: &Session, name: &str, device: Device) -> Result<()> {
    let program = client_programs::sycl(session, name)?;
    for adapter in ["0", "1"] {
        let run = Program::new(solum(session, Environment::Wheels))
            .args(["run", "--as", &device.word(), "--"])
            .arg(&program)
            .env("UR_LOADER_USE_LEVEL_ZERO_V2", adapter);
        session.run(&run)?;
    }
    Ok(())
}

/// A SYCL program in each way to run its kernels: it compares results with the host's, and its output must not differ.
pub(super) fn sycl_ways(
    session: &Session,
    name: &str,
    device: Device,
    rounds: Option<u32>,
) -> Result<()> {
    let program = client_programs::sycl(session, name)?;
    let mut first: Option<String> = None;
    for way in WAYS {
        let mut run = with_cache(session, Program::new(solum(session, Environment::Wheels)))
            .args(["run", "--require-kernels", "--as", &device.word(), "--"])
            .arg(&program);
        for (variable, value) in way {
            run = run.env(variable, value);
        }
        if let Some(rounds) = rounds {
            run = run.arg(format!("--rounds={rounds}"));
        }
        let Some(output) = session.capture(&run, Capture::Output)? else {
            continue;
        };
        if !output.success {
            bail!("{}\nfailed: {}", output.text, run.line());
        }
        match &first {
            None => first = Some(output.text),
            Some(first) if *first == output.text => {}
            Some(first) => bail!(
                "the output differs from that with SOLUM_TIERS=full:\n{}\nof: {}",
                differences(first, &output.text),
                run.line()
            ),
        }
    }
    Ok(())
}

/// libsycl-jit's modules are kept, for all runs. DPC++ keeps no code of devices, or one run would execute the code of another.
fn with_cache(session: &Session, program: Program) -> Program {
    program
        .env("SYCL_CACHE_PERSISTENT", "1")
        .env(
            "SYCL_CACHE_DIR",
            Environment::Wheels.path(session, "sycl-cache"),
        )
        .env("SYCL_CACHE_MIN_DEVICE_IMAGE_SIZE", "1000000000")
}

/// A SYCL program with correct kernels under `solum check`, which ends with another code if it finds something that is not
/// known.
pub(super) fn sycl_correct(
    session: &Session,
    name: &str,
    device: Device,
    rounds: Option<u32>,
) -> Result<()> {
    let program = client_programs::sycl(session, name)?;
    let check = with_cache(session, Program::new(session.release("solum")))
        .args(["check", "--as", &device.word(), "--suppress"])
        .arg(session.path("tests/sycl/known.txt"))
        .arg("--")
        .arg(&program)
        .args(rounds.map(|rounds| format!("--rounds={rounds}")));
    session.run(&check)
}

/// The lines in which two outputs differ, as `diff` marks them.
fn differences(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let mut lines = Vec::new();
    for i in 0..before.len().max(after.len()) {
        let (one, other) = (before.get(i), after.get(i));
        if one != other {
            lines.extend(one.map(|line| format!("< {line}")));
            lines.extend(other.map(|line| format!("> {line}")));
        }
    }
    lines.join("\n")
}

/// `tests/wheels/traced.py` without its program.
fn traced(session: &Session, name: &str, device: Device) -> Program {
    let out = format!("target/traced/{name}-{}", device.word());
    python3(session, "tests/wheels/traced.py")
        .arg("--solum")
        .arg(solum(session, Environment::Wheels))
        .arg("--out")
        .arg(session.path(&out))
        .args(["--as", &device.word()])
}

/// A trace of a SYCL program names lines of its source, and is as docs/tracing.md shows it.
pub(super) fn trace_pipeline(session: &Session, device: Device) -> Result<()> {
    let program = client_programs::sycl(session, "pipeline")?;
    let mut trace = traced(session, "pipeline", device);
    for line in PIPELINE_LINES {
        trace = trace.args(["--line", line]);
    }
    // The page shows the report of this device.
    if device == Device::Cpu {
        trace = trace.arg("--shown").arg(session.path("docs/tracing.md"));
    }
    session.run(&trace.arg("--").arg(program))
}

/// A trace of dpnp.
pub(crate) fn trace_dpnp(session: &Session, device: Device) -> Program {
    let trace = traced(session, "dpnp", device).arg("--");
    trace
        .arg(Environment::Wheels.python(session))
        .arg(session.path(SMOKE_DPNP))
}

/// A trace of dpctl, with its copies.
pub(crate) fn trace_dpctl(session: &Session, device: Device) -> Program {
    let trace = traced(session, "dpctl", device).args(["--copies", "--"]);
    trace
        .arg(Environment::Wheels.python(session))
        .arg(session.path(SMOKE_DPCTL))
}

/// A program of tests/mpi under Intel MPI, set up for device memory as its manual says.
pub(crate) fn mpi_intel(session: &Session, name: &str, ranks: u32) -> Program {
    let intel = |name| Environment::IntelMpi.path(session, name);
    let libraries = [intel("lib"), Environment::Wheels.path(session, "lib")];
    let libraries: Vec<_> = libraries
        .iter()
        .map(|path| path.to_string_lossy())
        .collect();
    python3(session, "tests/mpi/run.py")
        .env("I_MPI_ROOT", Environment::IntelMpi.root(session))
        .env("I_MPI_OFFLOAD", "1")
        .env("I_MPI_FABRICS", "shm")
        .env("LD_LIBRARY_PATH", libraries.join(":"))
        .env("SOLUM_DEVICES", "gpu")
        .arg(format!("{name}-{ranks}"))
        .arg("--")
        .arg(solum(session, Environment::Wheels))
        .words("run --as gpu --")
        .arg(intel("bin/mpiexec"))
        .arg("-n")
        .arg(ranks.to_string())
        .arg(session.path("target/mpi/programs").join(name))
}

/// dpnp in ranks.
pub(super) fn mpi_dpnp(session: &Session, mpi: Mpi) -> Program {
    let mpich = |name| Environment::Mpich.path(session, name);
    let run = Program::new(solum(session, Environment::Wheels));
    // mpi4py opens the library of MPI by its name.
    let run = match mpi {
        Mpi::Mpich => run
            .env("LD_LIBRARY_PATH", mpich("lib"))
            .env("MPI4PY_MPIABI", "mpich")
            .args(["run", "--"])
            .arg(mpich("bin/mpiexec")),
        // Open MPI refuses to run as root, and to start more ranks than processors, unless asked for both.
        Mpi::Openmpi => run
            .env("LD_LIBRARY_PATH", "")
            .env("MPI4PY_MPIABI", "openmpi")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .args(["run", "--", "/usr/bin/mpirun", "--oversubscribe"]),
    };
    run.args(["-n", RANKS])
        .arg(mpich("bin/python"))
        .arg(session.path("tests/mpi/dpnp_ranks.py"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_show_the_lines_of_both_sides() {
        assert_eq!(differences("a\nb\nc", "a\nB"), "< b\n> B\n< c");
        assert_eq!(differences("a", "a"), "");
    }
}
