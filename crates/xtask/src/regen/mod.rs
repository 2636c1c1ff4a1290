//! `xtask regen`: writes every generated file from the API table; `--check` compares instead.
//!
//! Each room yields [`Output`]s and touches no file; writing and comparing happen here only.

mod environment;
mod headers;
mod layers;
mod loader;
mod rust;
mod spec;
mod spirv;
mod stub;
mod sys;
mod unsupported;
mod validation;

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
        Output {
            path: path.into(),
            text,
        }
    }
}

/// A room: its name for errors, and what it yields.
type Room = (&'static str, fn(&Table) -> Result<Vec<Output>>);

/// Every room, one line each.
const ROOMS: &[Room] = &[
    ("sys", sys::generate),
    ("spec", spec::generate),
    ("unsupported", unsupported::generate),
    ("headers", headers::generate),
    ("loader", loader::generate),
    ("stub", stub::generate),
    ("layers", layers::generate),
];

/// Writes what differs, or with `check` fails naming it. A room that fails does not keep the others from writing.
pub(crate) fn run(root: &Path, check: bool) -> Result<Vec<PathBuf>> {
    let table = Table::load(root)?;
    let mut failed = None;
    let mut outputs = Vec::new();
    for (name, room) in ROOMS {
        match room(&table) {
            Ok(files) => outputs.extend(files),
            Err(error) => failed = failed.or(Some(error.context(format!("room '{name}'")))),
        }
    }
    outputs.push(Output::new(
        "STATUS.md",
        crate::status::generate(&table, root)?,
    ));
    outputs.push(spirv::generate(root)?);
    outputs.push(environment::generate(root)?);
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
            "not what the API table says, run `cargo xtask regen`: {}",
            names.join(", ")
        );
    }
    failed.map_or(Ok(stale), Err)
}
