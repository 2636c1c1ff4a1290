//! `xtask regen`: writes every generated file from the API table, the libraries' tables and recorded benchmarks; `--check`
//! compares instead.
//!
//! Each generator returns [`Output`]s and touches no file; writing and comparing happen here only.

mod driver_tables;
mod environment;
mod headers;
mod layers;
mod loader;
mod output;
mod results;
mod rust;
mod slots;
mod spec;
mod spirv;
mod stub;
mod sys;
mod unsupported;
mod validation;

use crate::table::Table;
use anyhow::{Context as _, Result, bail};
use output::Output;
use std::path::{Path, PathBuf};

/// A generator: its name for errors, and the function that makes its files.
type Generator = (&'static str, fn(&Table) -> Result<Vec<Output>>);

/// The generators that need nothing but the API table.
const GENERATORS: &[Generator] = &[
    ("sys", sys::generate),
    ("spec", spec::generate),
    ("unsupported", unsupported::generate),
    ("headers", headers::generate),
    ("loader", loader::generate),
    ("stub", stub::generate),
    ("layers", layers::generate),
];

/// Writes the files that differ, or with `check` fails and names them. A generator that fails does not keep the others
/// from writing.
pub(crate) fn run(root: &Path, check: bool) -> Result<Vec<PathBuf>> {
    let table = Table::load(root)?;
    let mut failed = None;
    let mut outputs = Vec::new();
    for (name, generate) in GENERATORS {
        match generate(&table) {
            Ok(files) => outputs.extend(files),
            Err(error) => failed = failed.or(Some(error.context(format!("generator '{name}'")))),
        }
    }
    outputs.push(Output::new(
        "STATUS.md",
        crate::status::generate(&table, root)?,
    ));
    outputs.push(spirv::generate(root)?);
    outputs.push(environment::generate(root)?);
    outputs.extend(results::generate(root)?);
    let mut stale = Vec::new();
    for output in outputs {
        let path = root.join(&output.path);
        if std::fs::read_to_string(&path).ok().as_deref() == Some(&output.text) {
            continue;
        }
        if !check {
            let folder = path.parent().context("an output without a folder")?;
            std::fs::create_dir_all(folder)?;
            std::fs::write(&path, &output.text)
                .with_context(|| format!("writing {}", path.display()))?;
        }
        stale.push(output.path);
    }
    if check && !stale.is_empty() {
        let names: Vec<String> = stale.iter().map(|p| p.display().to_string()).collect();
        bail!(
            "not what their sources say, run `cargo xtask regen`: {}",
            names.join(", ")
        );
    }
    failed.map_or(Ok(stale), Err)
}
