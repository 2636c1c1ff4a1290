//! `same-code BEFORE [FOLDER...]`: whether this checkout and the one in BEFORE make the same LLVM text of the corpus, the
//! golden files and the benchmark's kernels, and of the modules below more folders.
//!
//! Each checkout runs its own `code_digest` (an example of codegen-llvm) over the same files, those of this checkout.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Folders of this checkout with modules; `target/kernels` is there after `./x bench kernels`.
const FOLDERS: [&str; 6] = [
    "crates/kernel-ir/tests/corpus",
    "crates/codegen-llvm/tests",
    "crates/conformance/c",
    "crates/sycl/kernels",
    "crates/level-zero/kernels",
    "target/kernels",
];

/// Differences that are printed.
const SHOWN: usize = 20;

pub(crate) fn run(root: &Path, before: &Path, more: &[PathBuf]) -> Result<()> {
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|f| root.join(f)).collect();
    folders.retain(|folder| folder.exists());
    folders.extend_from_slice(more);
    let before = digests(before, &folders)?;
    let after = digests(root, &folders)?;
    let differ: Vec<&String> = after
        .iter()
        .filter(|(key, digest)| before.get(*key) != Some(digest))
        .map(|(key, _)| key)
        .chain(before.keys().filter(|key| !after.contains_key(*key)))
        .collect();
    let mut out = std::io::stdout().lock();
    for key in differ.iter().take(SHOWN) {
        writeln!(out, "differs: {key}")?;
    }
    if !differ.is_empty() {
        bail!("{} of {} texts differ", differ.len(), after.len());
    }
    writeln!(out, "{} texts, all the same", after.len())?;
    Ok(())
}

/// Digests by module and setting.
fn digests(checkout: &Path, folders: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    let mut command = Command::new("cargo");
    command
        .args([
            "run",
            "--quiet",
            "--manifest-path",
            "crates/codegen-llvm/Cargo.toml",
        ])
        .args(["--example", "code_digest", "--"])
        .args(folders)
        .current_dir(checkout)
        // Cargo's own variables name this checkout.
        .env_remove("CARGO_MANIFEST_DIR")
        .stderr(Stdio::inherit());
    let output = command.output().context("running cargo")?;
    if !output.status.success() {
        bail!("code_digest failed in {}", checkout.display());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().filter_map(|line| line.rsplit_once('\t'));
    Ok(lines
        .map(|(key, digest)| (key.to_owned(), digest.to_owned()))
        .collect())
}
