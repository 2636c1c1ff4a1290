//! `nightly`: the verbs that take hours, each as a step.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use crate::program::Program;
use crate::session::Session;
use crate::step::Steps;

/// For one step.
const LIMIT: Duration = Duration::from_secs(43200);

/// The steps, by their command lines.
const STEPS: [(&str, &str); 11] = [
    ("the book, with all its links", "doc book"),
    ("unmodified clients", "wheels"),
    ("all of dpnp's test files", "wheels dpnp --files all"),
    ("scikit-learn-intelex and intel-pti", "wheels sklearnex"),
    ("dpctl's tests under solum check", "wheels dpctl --check"),
    ("dpnp's tests under solum check", "wheels dpnp --check"),
    (
        "the kernels of the benchmarks under solum check",
        "bench check --alone --rounds 1",
    ),
    ("awkward ends, limits and hostile peers", "soak 60"),
    ("two builds of a release", "check reproducible"),
    ("random kernels", "random --count 2000"),
    ("random kernels in Rust", "random --rust"),
];

/// Runs all of them.
pub(super) fn run(session: &Session) -> Result<ExitCode> {
    let mut steps = Steps::with_limit(session, LIMIT);
    for (name, line) in STEPS {
        steps.step(name, Program::new(session.path("x")).words(line));
    }
    steps.finish()
}
