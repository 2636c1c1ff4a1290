//! Solum's own chores, as `cargo xtask VERB`: `regen` writes the files generated from the API table, `tidy` checks the
//! rules of the house, `same-code` compares the code that two checkouts make.
//!
//! Invariants: it writes only files it names itself, and with `--check` none at all. It is not a build system: `./x`
//! and cargo are.

mod cycles;
mod regen;
mod same_code;
mod status;
mod table;
mod tidy;

use anyhow::{Context as _, Result, bail};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const USAGE: &str = "usage: cargo xtask regen [--check] | tidy | same-code BEFORE [FOLDER...]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root()?;
    let mut out = std::io::stdout().lock();
    match arguments.as_slice() {
        ["regen"] => {
            for path in regen::run(&root, false)? {
                writeln!(out, "wrote {}", path.display())?;
            }
        }
        ["regen", "--check"] => {
            regen::run(&root, true)?;
        }
        ["tidy"] => tidy::run(&root)?,
        ["same-code", before, more @ ..] => same_code::run(&root, Path::new(before), more)?,
        _ => bail!("{USAGE}"),
    }
    Ok(())
}

/// The repository's root, from where cargo built this crate or else the working directory.
fn root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let start = match manifest {
        Some(folder) => folder,
        None => std::env::current_dir()?,
    };
    let root = start
        .ancestors()
        .find(|folder| folder.join(table::FOLDER).is_dir());
    root.map(Path::to_path_buf)
        .with_context(|| format!("no {} above {}", table::FOLDER, start.display()))
}
