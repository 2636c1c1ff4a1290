//! The workspace as cargo describes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
}

#[derive(Default, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest_path: PathBuf,
    pub(super) rust_version: Option<String>,
    /// Registries; `None` is any.
    pub(super) publish: Option<Vec<String>>,
    pub(super) description: Option<String>,
    pub(super) documentation: Option<String>,
    pub(super) readme: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) categories: Vec<String>,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Default, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) req: String,
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) optional: bool,
    pub(super) path: Option<String>,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`.
    pub(super) fn of(root: &Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let run = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(root)
            .output()
            .context("running cargo metadata")?;
        if !run.status.success() {
            bail!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&run.stderr).trim()
            );
        }
        Ok(serde_json::from_slice(&run.stdout)?)
    }
}
