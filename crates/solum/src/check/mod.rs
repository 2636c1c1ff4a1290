//! `solum check`: runs a program whose kernels Solum's driver checks, and reports the mistakes that it found.
//!
//! Each process of the program writes its findings to a stream in a private temporary folder. The streams are read after
//! the program's end, also if it crashed or was killed.

mod program_lines;
mod report;
mod streams;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use check_report::stream::{CHECKS, OUTPUT};
use check_report::suppress::Suppressions;
use check_report::{Checks, Kind};
use clap::{Args, ValueEnum, ValueHint};
use owned_file::Content;

use report::Report;
use streams::Streams;
pub(crate) use streams::{is_left_name, streams_in};

use crate::output::Failure;
use crate::{exit, install, pass_through, regular_file, run, variables};

/// Run a program and find the mistakes in its kernels.
#[derive(Args)]
pub(crate) struct Options {
    /// What to look for: groups (memory, race, uninitialised, sync, value, lifetime) and kinds, separated by commas.
    #[arg(long, value_name = "LIST", value_parser = Checks::parse)]
    only: Option<Checks>,
    /// Also report what is wrong on some devices only, such as the expectation of sub-groups in lock step.
    #[arg(long)]
    strict: bool,
    /// Accept what is usually benign; same-value: unordered writes of the same value.
    #[arg(long, value_enum)]
    allow: Option<Allowed>,
    /// File of findings that are known and accepted, one a line: KIND [kernel=GLOB] [file=GLOB] [line=N] [function=GLOB].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    suppress: Vec<PathBuf>,
    /// Default device type [default: cpu, unless ONEAPI_DEVICE_SELECTOR is set].
    #[arg(long = "as", value_enum)]
    device: Option<run::Device>,
    /// Print the report as one JSON document on stdout; the program's output goes to stderr.
    #[arg(long)]
    json: bool,
    /// Also write the report to this file, as SARIF 2.1.0.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    sarif: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

/// What `--allow` names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allowed {
    /// Unordered writes of the same value.
    SameValue,
}

impl Options {
    fn checks(&self) -> Checks {
        let mut checks = self.only.unwrap_or_default();
        if self.strict {
            checks = checks.strict();
        }
        match self.allow {
            Some(Allowed::SameValue) => checks.without(Kind::SameValueWrite),
            None => checks,
        }
    }
}

/// The folder of `solum trace`, if that runs `solum check`.
const TRACE: &str = "SOLUM_TRACE";

/// Runs the program. Returns its exit code, 98 if something was found, or 125 to 127.
pub(crate) fn check(options: &Options) -> u8 {
    attempt(options).unwrap_or_else(|failure| {
        let printed = failure.print(options.json.then_some(report::SCHEMA));
        exit::or_wrapper(failure.code, printed == failure.code)
    })
}

fn wrapper(error: impl Into<String>) -> Failure {
    Failure::new(exit::WRAPPER, error)
}

fn attempt(options: &Options) -> Result<u8, Failure> {
    let folder = install::for_programs().map_err(|failure| Failure {
        code: exit::WRAPPER,
        ..failure
    })?;
    let Some((program, arguments)) = options.program.split_first() else {
        return Ok(exit::ERROR);
    };
    let mut suppressions = Suppressions::default();
    for file in &options.suppress {
        add_suppressions(&mut suppressions, file)?;
    }
    let sarif = options.sarif.as_deref().map(Sarif::prepare).transpose()?;
    let streams = Streams::new().map_err(|error| {
        wrapper(format!("cannot make a temporary folder: {error}"))
            .hint("set TMPDIR to a folder that you can write to")
    })?;
    variables::warn_of_misspellings();
    let checks = options.checks();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(run::variables(
            &folder,
            options.device.map(run::Device::selector),
        ))
        .envs(settings_of_sycl())
        .env(CHECKS, checks.to_string())
        .env(OUTPUT, streams.path());
    if options.json {
        // stdout holds only the document, so the program's output goes to stderr.
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_err(|error| wrapper(format!("no stderr: {error}")))?);
    }
    let running = match pass_through::start(command, run::NO_DEVICE) {
        Ok(running) => running,
        Err(error) => {
            if let Some(sarif) = &sarif {
                sarif.abandon();
            }
            return Err(run::not_started(program, &error));
        }
    };
    let finished = running
        .wait()
        .map_err(|error| wrapper(format!("cannot wait for the program: {error}")))?;
    let code = run::code_of(finished.status);
    let all = streams
        .read()
        .map_err(|error| wrapper(format!("the findings are lost: {error}")))?;
    if let Some(trace) = std::env::var_os(TRACE).filter(|trace| !trace.is_empty()) {
        streams.leave_in(trace.as_ref());
    }
    let report = Report::new(all, &mut suppressions, checks, code);
    // First, because it does not depend on who reads the rest.
    let written = sarif
        .as_ref()
        .map_or(Ok(()), |sarif| sarif.write(&report, program.as_ref()));
    let shown = report.show(options.json);
    match written {
        Ok(()) => Ok(shown),
        Err(failure) => {
            // stdout has its document already.
            failure.print(None);
            Ok(exit::or_wrapper(shown, false))
        }
    }
}

/// Variables of DPC++'s runtime. Small allocations are not parts of pools, whose bounds say nothing. Commands go to immediate
/// lists: without them it executes a list for each, one after another, and what a queue does not order is ordered by that.
fn settings_of_sycl() -> impl Iterator<Item = (&'static str, &'static str)> {
    const NAMES: [&str; 4] = [
        "UR_L0_DISABLE_USM_ALLOCATOR",
        "SYCL_PI_LEVEL_ZERO_DISABLE_USM_ALLOCATOR",
        "UR_L0_USE_IMMEDIATE_COMMANDLISTS",
        "SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS",
    ];
    let unset = NAMES
        .into_iter()
        .filter(|name| std::env::var_os(name).is_none());
    unset.map(|name| (name, "1"))
}

/// The largest file of suppressions.
const MOST_SUPPRESSIONS: u64 = 1 << 20;

fn add_suppressions(all: &mut Suppressions, file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let bytes = regular_file::start(file, MOST_SUPPRESSIONS + 1)
        .map_err(|error| wrapper(format!("cannot read suppressions from {shown}: {error}")))?;
    if bytes.len() as u64 > MOST_SUPPRESSIONS {
        return Err(wrapper(format!("{shown} is longer than 1 MiB")));
    }
    let text = String::from_utf8_lossy(&bytes);
    all.add(&shown.to_string(), &text).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        wrapper(errors.join("\n"))
            .hint("a line is KIND [kernel=GLOB] [file=GLOB] [line=N] [function=GLOB]  # comment")
    })
}

/// The file of `--sarif`.
struct Sarif<'o> {
    path: &'o Path,
    /// It was created by this run.
    is_new: bool,
}

impl<'o> Sarif<'o> {
    /// Checks that it can be written, and leaves its content.
    fn prepare(path: &'o Path) -> Result<Self, Failure> {
        let is_new = path.symlink_metadata().is_err();
        match owned_file::open(path, Content::Kept, 0o666) {
            Ok(_) => Ok(Self { path, is_new }),
            Err(error) => Err(Self { path, is_new }.failure(&error)),
        }
    }

    fn failure(&self, error: &io::Error) -> Failure {
        wrapper(format!("cannot write {}: {error}", self.path.display()))
            .hint("name another file with --sarif")
    }

    /// Removes it if this run created it. Called if the program did not start.
    fn abandon(&self) {
        if self.is_new {
            let _ = std::fs::remove_file(self.path);
        }
    }

    fn write(&self, report: &Report, program: &Path) -> Result<(), Failure> {
        let text = report.sarif(program);
        crate::folder::write(self.path, text.as_bytes()).map_err(|error| self.failure(&error))
    }
}
