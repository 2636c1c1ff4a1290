//! Exit codes of `solum`.
//!
//! `run` and `trace` pass the exit code of the program through; 125 to 127 follow the convention of `env` and `timeout`.

/// A problem was found: no device, a failed check, a rejected kernel.
pub(crate) const PROBLEM: u8 = 1;
/// Error: wrong usage, file or name not found, missing libraries, output not writable.
pub(crate) const ERROR: u8 = 2;
/// `run` and `trace`: `solum` itself failed, the program was not started.
pub(crate) const WRAPPER: u8 = 125;
/// `run` and `trace`: the program exists but cannot be executed.
pub(crate) const CANNOT_EXECUTE: u8 = 126;
/// `run` and `trace`: the program was not found.
pub(crate) const NOT_FOUND: u8 = 127;
