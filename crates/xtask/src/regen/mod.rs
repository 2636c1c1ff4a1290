//! `xtask regen`: writes every generated file from the API table; `--check` compares instead.
//!
//! Each room yields [`Output`]s and touches no file; writing and comparing happen here only.

mod rust;
mod spec;
mod sys;
mod unsupported;

use crate::table::Table;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// One generated file.
pub(crate) struct Output {
    /// From the repository's root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Output {
    pub(crate) fn new(path: impl Into<PathBuf>, text: String) -> Output {
        Output { path: path.into(), text }
    }
}

/// Every generated file.
fn outputs(table: &Table) -> Result<Vec<Output>> {
    let mut all = Vec::new();
    all.extend(sys::generate(table)?);
    all.extend(spec::generate(table)?);
    all.extend(unsupported::generate(table)?);
    Ok(all)
}

/// Writes what differs, or with `check` fails naming it.
pub(crate) fn run(root: &Path, check: bool) -> Result<Vec<PathBuf>> {
    let table = Table::load(root)?;
    let mut stale = Vec::new();
    for output in outputs(&table)? {
        let path = root.join(&output.path);
        if std::fs::read_to_string(&path).ok().as_deref() == Some(&output.text) {
            continue;
        }
        if !check {
            let folder = path.parent().context("an output without a folder")?;
            std::fs::create_dir_all(folder)?;
            std::fs::write(&path, &output.text).with_context(|| format!("writing {}", path.display()))?;
        }
        stale.push(output.path);
    }
    if check && !stale.is_empty() {
        let names: Vec<String> = stale.iter().map(|p| p.display().to_string()).collect();
        bail!("not what the API table says, run `cargo xtask regen`: {}", names.join(", "));
    }
    Ok(stale)
}
