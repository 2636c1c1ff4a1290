//! What `./x VERB` does, also as `cargo xtask VERB`: it builds, installs, demonstrates, tests and measures Solum, and
//! keeps its generated files and its rules.
//!
//! | module | verbs |
//! |---|---|
//! | `commands` | one module for each verb |
//! | `checks` | checks of more than one program, which `check`, `test`, `wheels` run |
//! | `regen`, `table`, `status` | `regen` writes the files that are generated from the API table |
//! | `tidy`, `cycles` | `tidy` checks rules that the compiler does not check |
//! | `same_code` | `same-code` compares the code that two checkouts generate |
//!
//! A command is data (`program`) that the `session` runs, or prints with `--dry-run`; a `step` has a name, a time limit
//! (`process_tree`) and a line that repeats it. `packages` and `python` install what is missing, `artefacts` and
//! `client_programs` build what the verbs run, `links` finds dead ones in texts. `third_party` lists the software of others
//! in the binaries, `published` the packages of the
//! registry; `stamp` has the version and the time that built files carry.
//!
//! Invariants: it writes into the target folder, `dist`, the folder that `install` names and the generated files only, and
//! `release --prepare` into manifests and the changelog; with `--check` and `--dry-run` it writes nothing. Every verb can
//! be repeated, and works in every current folder. Without the feature `sources` it depends on no crate of this
//! repository, so that a first `./x` has little to build.
//!
//! It is not a build system: cargo is.

mod arguments;
mod artefacts;
mod checks;
mod client_programs;
mod clients;
mod commands;
mod failure_lines;
mod links;
mod packages;
mod process_tree;
mod program;
mod published;
mod python;
mod session;
mod stamp;
mod step;
mod third_party;

#[cfg(feature = "sources")]
mod cycles;
#[cfg(feature = "sources")]
mod regen;
#[cfg(feature = "sources")]
mod same_code;
#[cfg(feature = "sources")]
mod status;
#[cfg(feature = "sources")]
mod table;
#[cfg(feature = "sources")]
mod tidy;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use clap::error::ErrorKind;

use arguments::{CommandLine, HELP};
use session::Session;

/// The exit status of a wrong command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match run(std::env::args_os().collect()) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "x: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let line = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line,
        Err(error) => {
            error.print()?;
            let is_help = error.kind() == ErrorKind::DisplayHelp;
            return Ok(ExitCode::from(if is_help { 0 } else { USAGE }));
        }
    };
    let Some(verb) = line.verb else {
        write!(std::io::stdout(), "{HELP}")?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut session = Session::new(root()?, line.dry_run)?;
    if let Some(error) = commands::wrong_usage(&session, &verb) {
        writeln!(std::io::stderr(), "x: {error}")?;
        return Ok(ExitCode::from(USAGE));
    }
    let code = commands::run(&mut session, &verb)?;
    write!(std::io::stdout(), "{}", session.shown())?;
    Ok(code)
}

/// The repository's root: above the manifest of this crate under cargo, else above the current folder.
fn root() -> Result<PathBuf> {
    const TABLE: &str = "spec/level-zero-1.17";
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::current_dir()?,
    };
    let mut above = start.ancestors();
    let root = above.find(|folder| folder.join(TABLE).is_dir());
    let root = root.with_context(|| format!("no {TABLE} above {}", start.display()))?;
    Ok(root.to_owned())
}
