//! Exit codes of `solum`.
//!
//! `run`, `trace` and `check` pass the exit code of the program through; 125 to 127 follow the convention of `env` and `timeout`.

/// A problem was found: no device, a failed check, a rejected kernel.
pub(crate) const PROBLEM: u8 = 1;
/// Error: wrong usage, file or name not found, missing libraries, output not writable.
pub(crate) const ERROR: u8 = 2;
/// `check`: mistakes were found.
pub(crate) const FINDINGS: u8 = 98;
/// `run`, `trace` and `check`: `solum` itself failed, the program was not started.
pub(crate) const WRAPPER: u8 = 125;
/// `run`, `trace` and `check`: the program exists but cannot be executed.
pub(crate) const CANNOT_EXECUTE: u8 = 126;
/// `run`, `trace` and `check`: the program was not found.
pub(crate) const NOT_FOUND: u8 = 127;

/// The program's exit code; 125 if the program succeeded but what `solum` says about it could not be printed.
pub(crate) fn or_wrapper(code: u8, is_printed: bool) -> u8 {
    match code {
        0 if !is_printed => WRAPPER,
        code => code,
    }
}
