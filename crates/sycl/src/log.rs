//! `SOLUM_SYCL_TRACE`: what the runtime does, one line each on stderr. Level 1: drivers, devices, queues and built kernels;
//! 2: memory and copies too; 3: command groups and failed calls of Level Zero too.
//!
//! Invariants: without the variable each call costs a load and a branch and formats nothing. `solum trace` shows times;
//! the module `trace` notifies tools.

use crate::environment;

/// Choices: drivers, devices, queues, kernels.
pub(crate) const CHOICES: usize = 1;
/// Allocations, releases and copies.
pub(crate) const MEMORY: usize = 2;
/// Submissions and failed calls.
pub(crate) const COMMANDS: usize = 3;

/// Writes a line if the level is high enough.
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

/// Writes one line to stderr, regardless of `SOLUM_SYCL_TRACE`.
pub(crate) fn complain(line: &str) {
    signal_mask::write_stderr(format!("sycl: {line}\n").as_bytes());
}
