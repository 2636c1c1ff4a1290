//! `demo`: examples of all kinds of clients.

use anyhow::{Context as _, Result};

use crate::arguments::DemoPart;
use crate::artefacts;
use crate::checks::SMOKE_DPNP;
use crate::client_programs;
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
    if part != DemoPart::Rust {
        Environment::Wheels
            .install(session)
            .context("the wheels could not be installed (no network?): ./x demo rust needs none")?;
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
    session.run(&Program::new(session.release("examples/blur")).arg("target/demo"))
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
