//! The child process of `solum doctor`: tries one loader, driver or library and reports each step.

use std::ffi::OsString;

use clap::Args;

use super::{try_driver, try_library, try_loader};

/// The trial.
#[derive(Args)]
pub(crate) struct Options {
    /// `loader`, `driver` or `library`.
    kind: String,
    /// The file, or the name that `dlopen` gets.
    name: OsString,
    /// For `library`: the symbols that it must export.
    symbols: Vec<String>,
}

/// Runs in the child.
pub(crate) fn run(options: &Options) -> u8 {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid limit. A crash here is a finding and needs no core file.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    match options.kind.as_str() {
        "loader" => try_loader::run(&options.name),
        "driver" => try_driver::run(&options.name),
        "library" => try_library::run(&options.name, &options.symbols),
        _ => return crate::exit::ERROR,
    }
    0
}
