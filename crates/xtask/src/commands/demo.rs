//! `demo`: examples of all kinds of clients.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::arguments::DemoPart;
use crate::artefacts;
use crate::checks::{LAUNCH_KERNELS, SMOKE_DPNP};
use crate::client_programs;
use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;

/// Shows one part, or all of them.
pub(super) fn run(session: &Session, part: DemoPart) -> Result<()> {
    artefacts::build(session)?;
    let is_shown = |this| part == DemoPart::All || part == this;
    if is_shown(DemoPart::Rust) {
        rust(session)?;
    }
    if is_shown(DemoPart::Check) {
        check(session)?;
    }
    if !matches!(part, DemoPart::Rust | DemoPart::Check) {
        Environment::Wheels.install(session).context(
            "the wheels could not be installed (no network?): ./x demo rust and check need none",
        )?;
    }
    if is_shown(DemoPart::Dpnp) {
        dpnp(session)?;
    }
    if is_shown(DemoPart::Sycl) {
        let program = client_programs::sycl(session, "run_time_kernel")?;
        session.say("a SYCL C++ program built with g++, its kernels compiled at run time");
        let run = session.solum().words("run --require-kernels --");
        session.run(&run.arg(program))?;
    }
    if is_shown(DemoPart::Trace) {
        trace(session)?;
    }
    session.say(&session.green("demo: ok"));
    Ok(())
}

fn rust(session: &Session) -> Result<()> {
    session.say("the devices of this machine");
    session.run(&session.solum().arg("ls"))?;
    session.say("a Rust program on Level Zero renders a picture with a kernel");
    artefacts::build_more(session, "-p level-zero --examples")?;
    let picture = session
        .solum()
        .args(["run", "--"])
        .arg(session.release("examples/mandelbrot"))
        .arg("target/demo/mandelbrot.png");
    session.run(&picture)?;
    session.say(
        "a SYCL program in Rust with the driver inside it: no loader, no SOLUM variable (docs/sycl.md)",
    );
    artefacts::build_more(session, "-p sycl --examples")?;
    session.run(&Program::new(session.release("examples/blur")).arg("target/demo"))?;
    session.say("a path tracer in Rust alone, kernels included (docs/rust-kernels.md)");
    let tracer = Program::new(session.release("examples/path_tracer"));
    session.run(&tracer.arg("target/demo"))
}

/// A race that no result shows, found by `solum check`.
fn check(session: &Session) -> Result<()> {
    const RUNS: usize = 10;
    /// The sum of the numbers below 16384.
    const SUM: &str = "134209536";
    packages::install(session, &["clang-15", "llvm-spirv-15"])?;
    artefacts::build_more(session, LAUNCH_KERNELS)?;
    let launched = |verb: &str, name: &str| -> Result<Program> {
        let source = session.path("tests/check/demo").join(name);
        let module = compiled(session, &source)?;
        let launch = session.solum().args([verb, "--"]);
        let launch = launch.arg(session.release("examples/launch_kernels"));
        // It prints what is in the buffer of argument 1.
        Ok(launch.arg(source).arg(module).arg("1"))
    };
    session.say("sums in local memory with a mistake: tests/check/demo/reduction.cl");
    let run = launched("run", "reduction.cl")?;
    let mut right = 0;
    for _ in 0..RUNS {
        right += usize::from(session.answer(&run, SUM)? == SUM);
    }
    session.say(&format!(
        "the sum was right in {right} of {RUNS} runs here; another device may run work-items in another order"
    ));
    session.say("the same program under solum check (docs/check.md)");
    let is_clean = session.succeeds(&launched("check", "reduction.cl")?)?;
    ensure!(session.is_dry || !is_clean, "solum check found nothing");
    session.say("with the barrier that was missing");
    session.run(&launched("check", "reduction-corrected.cl")?)
}

/// A kernel as SPIR-V with lines.
fn compiled(session: &Session, source: &Path) -> Result<PathBuf> {
    let folder = session.path("target/demo");
    session.make_folder(&folder)?;
    let name = source.file_stem().unwrap_or_default();
    let module = folder.join(name).with_extension("spv");
    let bitcode = module.with_extension("bc");
    let clang = Program::new("clang-15")
        .words("-cl-std=CL3.0 --target=spir64 -O1 -gline-tables-only -emit-llvm -c")
        .arg(source)
        .arg("-o")
        .arg(&bitcode);
    session.run(&clang)?;
    let translator = Program::new("llvm-spirv-15")
        .words("--spirv-max-version=1.3 --spirv-debug-info-version=ocl-100")
        .arg(&bitcode)
        .arg("-o")
        .arg(&module);
    session.run(&translator)?;
    Ok(module)
}

fn dpnp(session: &Session) -> Result<()> {
    session.say("unmodified dpnp, every result checked beside NumPy's");
    let run = session
        .solum()
        .words("run --require-kernels --")
        .arg(Environment::Wheels.python(session))
        .arg(session.path(SMOKE_DPNP));
    session.run(&run)
}

fn trace(session: &Session) -> Result<()> {
    let program = client_programs::sycl(session, "pipeline")?;
    session.say(
        "solum trace: what that kind of program does, from kernel to source line (docs/tracing.md)",
    );
    let trace = session.solum().words("trace -o target/demo/trace --");
    session.run(&trace.arg(program))
}
