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
mod info;
mod install;
mod library;
mod list;
mod pass_through;
mod run;
mod top;
mod trace;
mod units;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit codes of our own (the program's pass through): the answer is no, wrong usage, the wrapper failed.
pub(crate) mod exit {
    pub(crate) const NO: u8 = 1;
    pub(crate) const CANNOT: u8 = 2;
    pub(crate) const WRAPPER: u8 = 125;
}

/// Level Zero everywhere: run oneAPI programs on any machine.
#[derive(Parser)]
#[command(
    version,
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
    /// Every SOLUM_* variable: value, default, reader, meaning.
    Env(environment::Options),
    /// Check everything between a program and a device: cause and cure of what is not well.
    Doctor(doctor::Options),
    /// One of doctor's children.
    #[command(name = doctor::probe::VERB, hide = true)]
    Probe(doctor::probe::Options),
}

fn main() -> ExitCode {
    let code = match Arguments::parse().verb {
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

/// A message on stderr, with what to do next when there is something.
pub(crate) fn complain(what: &str, hint: Option<&str>) {
    anstream::eprintln!("\u{1b}[31msolum: {what}\u{1b}[0m");
    if let Some(hint) = hint {
        anstream::eprintln!("hint: {hint}");
    }
}
