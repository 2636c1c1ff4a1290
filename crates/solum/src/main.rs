//! `solum`, the command line: runs unmodified oneAPI programs on Solum, shows devices, explains problems.
//!
//! `solum` is an ordinary Level Zero client. It opens `libze_loader.so.1` as any program does, so `ls`, `info`, `top`
//! and `doctor` also work with drivers of other vendors. Only `compile` talks to a library of its own, the code
//! generator `libsolum_codegen.so.1`. A typical session:
//!
//! ```text
//! $ solum ls                            which devices are there?
//! $ solum run -- python program.py      run a program on them; the exit code is the program's
//! $ solum check -- python program.py    find the mistakes in its kernels
//! $ solum doctor -- python program.py   why does it find no device? (starts nothing)
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | [`run`], [`trace`], [`check`], [`list`], [`info`], [`top`], [`compile`], [`mod@env`] | one subcommand each |
//! | [`doctor`] | `solum doctor`: one module per area, and the child processes that try risky things |
//! | [`shell_files`] | `solum completions`, `solum man` |
//! | [`install`], [`library`] | finding and opening Solum's libraries |
//! | [`pass_through`], [`program`] | starting a program, and reporting why it cannot be started |
//! | [`variables`] | the table of environment variables |
//! | [`elf`], [`regular_file`], [`folder`] | reading and writing files safely |
//! | [`output`], [`exit`], [`units`] | stdout, stderr, JSON, exit codes, number formats |
//!
//! Subcommands use the modules below them in this table and never each other's parents; `cargo xtask tidy` checks that
//! there are no dependency cycles.
//!
//! # Invariants
//!
//! - The answer goes to stdout, messages go to stderr. `--json` prints one document whose first key is `schema`, also on
//!   errors.
//! - `solum run` and `solum trace` do not change the behaviour of the program; its exit code passes through, also that of
//!   a checked program without mistakes.
//! - `solum doctor` never starts the user's program. Whatever may crash or hang runs in a child process.
//!
//! # Not here
//!
//! Device code and the code generator: those are in the libraries.

mod check;
mod compile;
mod doctor;
mod elf;
mod env;
mod exit;
mod folder;
mod info;
mod install;
mod library;
mod list;
mod output;
mod pass_through;
mod program;
mod regular_file;
mod run;
mod shell_files;
mod top;
mod trace;
mod units;
mod variables;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes:
  0    success
  1    a problem was found: no device, a failed check, a rejected kernel
  2    error: wrong usage, file or name not found, missing libraries, stdout not writable
run, trace and check exit with the program's own code (128 + n if signal n killed it), except:
  1    run --require-kernels: the program succeeded but ran no kernel on Solum
  98   check: mistakes were found in kernels
  125  solum itself failed: missing libraries, unusable output folder or file, lost trace
  126  the program cannot be executed
  127  the program was not found";

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
    /// Run a program and record what it does: timelines, task graph, summary.
    Trace(trace::Options),
    /// Run a program and find the mistakes in its kernels.
    Check(check::Options),
    /// List the devices and how to select one.
    Ls(list::Options),
    /// Show all properties of drivers and devices.
    Info(info::Options),
    /// Live device utilisation: engines, memory, power, processes, as reported by the drivers.
    Top(top::Options),
    /// Compile SPIR-V as the driver does and report on each kernel.
    Compile(compile::Options),
    /// List every environment variable that Solum reads: value, default, reader, meaning.
    Env(env::Options),
    /// Check everything between a program and a device; report the cause and fix of each problem.
    Doctor(doctor::Options),
    /// Print the completion script of a shell.
    Completions(shell_files::CompletionOptions),
    /// Write the manual pages into a folder.
    #[command(hide = true)]
    Man(shell_files::ManualOptions),
    /// Runs inside a child process of doctor.
    #[command(name = doctor::CHILD_VERB, hide = true)]
    Probe(doctor::child::Options),
}

/// Turns a write beyond `ulimit -f` into an error instead of a fatal signal. Uses a handler instead of SIG_IGN because
/// started programs would inherit SIG_IGN.
fn expect_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing. A signal that the parent process ignored stays ignored.
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
            let code = u8::try_from(usage.exit_code()).unwrap_or(exit::ERROR);
            if usage.use_stderr() {
                // clap repeats arguments, which may be file names chosen by other users.
                output::message(usage.render().to_string().trim_end());
                return ExitCode::from(code);
            }
            return ExitCode::from(output::written(usage.print(), code));
        }
    };
    let code = match verb {
        Verb::Run(options) => run::run(&options),
        Verb::Trace(options) => trace::trace(&options),
        Verb::Check(options) => check::check(&options),
        Verb::Ls(options) => list::list(&options),
        Verb::Info(options) => info::info(&options),
        Verb::Top(options) => top::top(&options),
        Verb::Compile(options) => compile::compile(&options),
        Verb::Env(options) => env::show(&options),
        Verb::Doctor(options) => doctor::doctor(&options),
        Verb::Completions(options) => shell_files::completions(&options, &Arguments::command()),
        Verb::Man(options) => shell_files::manual(&options, Arguments::command()),
        Verb::Probe(options) => doctor::child::run(&options),
    };
    ExitCode::from(code)
}
