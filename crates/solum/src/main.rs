//! `solum`: run unmodified oneAPI programs on Solum, list its devices, explain its environment.
//!
//! Invariants
//! - A client like any other: everything it knows of devices comes through `libze_loader.so.1`, and of compiled
//!   kernels through `libsolum_codegen.so.1`.
//! - stdout is the answer, stderr is talk; `--json` prints one document whose first key is `schema`.
//! - `solum run` never changes what a program does or how it ends: the exit code is the program's.
//!
//! Non-goals: no device code, no code generator; those are the libraries'.

mod compile;
mod doctor;
mod environment;
mod folder;
mod info;
mod install;
mod library;
mod list;
mod pass_through;
mod run;
mod say;
mod top;
mod trace;
mod units;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit codes of our own; those of programs that `run` and `trace` start pass through.
pub(crate) mod exit {
    /// The answer is no: no device, something in the way, a program that the compiler refuses.
    pub(crate) const NO: u8 = 1;
    /// No answer: wrong usage, no such file or name, missing libraries, output that cannot be written.
    pub(crate) const CANNOT: u8 = 2;
    /// `run` and `trace`: the wrapper failed, the program was not started.
    pub(crate) const WRAPPER: u8 = 125;
    /// `run` and `trace`: there is a program, but it cannot be started.
    pub(crate) const UNSTARTABLE: u8 = 126;
    /// `run` and `trace`: there is no such program.
    pub(crate) const NO_PROGRAM: u8 = 127;
}

const EXIT_CODES: &str = "Exit codes:
  0    yes, done
  1    the answer is no: no device, something in the way, kernels that are refused
  2    no answer: wrong usage, no such file or name, missing libraries, stdout cannot be written
  run and trace end with the program's code (128 + n when signal n killed it), or with
  1    run --require-kernels: the program ended well, but ran no kernel on Solum
  125  the wrapper failed: missing libraries, an unusable folder, a trace that is lost
  126  the program cannot be started
  127  there is no such program";

/// Level Zero everywhere: run oneAPI programs on any machine.
#[derive(Parser)]
#[command(
    version,
    after_long_help = EXIT_CODES,
    before_help = "Examples:\n  solum ls\n  solum doctor\n  solum run -- python -c 'import dpnp; print(dpnp.arange(5).sum())'"
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run a program on Solum.
    Run(run::Options),
    /// Run a program and tell what it did: timelines, task graph, summary.
    Trace(trace::Options),
    /// List the devices, and how to choose one.
    Ls(list::Options),
    /// Every property of drivers and devices.
    Info(info::Options),
    /// What devices do now: engines, memory, power, as far as their drivers tell.
    Top(top::Options),
    /// Compile SPIR-V as the driver does, and tell what became of each kernel.
    Compile(compile::Options),
    /// Every variable that Solum reads: value, default, reader, meaning.
    Env(environment::Options),
    /// Check everything between a program and a device: cause and cure of what is not well.
    Doctor(doctor::Options),
    /// One of doctor's children.
    #[command(name = doctor::probe::VERB, hide = true)]
    Probe(doctor::probe::Options),
}

/// Makes a write beyond the limit of file sizes an error. A handler and not SIG_IGN: programs that are started inherit
/// the latter.
fn expect_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing. What the program's parent chose to ignore stays ignored.
    unsafe {
        if libc::signal(libc::SIGXFSZ, handler) == libc::SIG_IGN {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}

fn main() -> ExitCode {
    expect_file_size_limit();
    pass_through::expect_children();
    let verb = match Arguments::try_parse() {
        Ok(arguments) => arguments.verb,
        Err(usage) => {
            let code = u8::try_from(usage.exit_code()).unwrap_or(exit::CANNOT);
            if usage.use_stderr() {
                // It repeats arguments, which may be names of others' files.
                say::remark(usage.render().to_string().trim_end());
                return ExitCode::from(code);
            }
            return ExitCode::from(say::written(usage.print(), code));
        }
    };
    let code = match verb {
        Verb::Run(options) => run::run(&options),
        Verb::Trace(options) => trace::trace(&options),
        Verb::Ls(options) => list::list(&options),
        Verb::Info(options) => info::info(&options),
        Verb::Top(options) => top::top(&options),
        Verb::Compile(options) => compile::compile(&options),
        Verb::Env(options) => environment::show(&options),
        Verb::Doctor(options) => doctor::doctor(&options),
        Verb::Probe(options) => doctor::probe::child(&options),
    };
    ExitCode::from(code)
}
