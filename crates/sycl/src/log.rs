//! `SOLUM_SYCL_TRACE`: what the runtime found, chose and does, a line each on stderr. 1: drivers, devices, queues, built
//! kernels; 2: memory and copies too; 3: each command group and each call of Level Zero that failed too.
//!
//! Invariants: without the variable each place costs a load and a branch, and nothing is formatted. Not here: times,
//! which `solum trace` shows; what tools are told, which is the room `trace`.

use crate::environment;

/// What was found and chosen.
pub(crate) const CHOICES: usize = 1;
/// What is allocated, freed and copied.
pub(crate) const MEMORY: usize = 2;
/// What is submitted, and what failed.
pub(crate) const COMMANDS: usize = 3;

/// Says a line if so much is to be said.
#[inline]
pub(crate) fn say<T: AsRef<str>>(level: usize, line: impl FnOnce() -> T) {
    if environment::trace() >= level {
        tell(line);
    }
}

#[cold]
fn tell<T: AsRef<str>>(line: impl FnOnce() -> T) {
    complain(line().as_ref());
}

/// Writes one line to stderr, whatever `SOLUM_SYCL_TRACE` says.
pub(crate) fn complain(line: &str) {
    signal_mask::write_stderr(format!("sycl: {line}\n").as_bytes());
}
