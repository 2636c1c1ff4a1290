//! For tests: other packages' libraries and examples, built in the profile and target folder of the running test.
//!
//! Cargo builds neither a shell's library nor another package's for an integration test, so the test asks for them
//! here. Invariants: what is returned is fresh, for cargo itself decides whether to build; profile and target folder
//! are the test's own, so that no test looks at an older build. Not here: what tests do with the files.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this test's profile, where libraries and programs lie (examples in `examples`).
///
/// # Panics
/// If the running program does not lie where cargo puts test programs.
pub fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    program
        .ancestors()
        .nth(2)
        .map(Path::to_owned)
        .expect("cargo puts test programs two levels deep")
}

/// Whether this test, and with it what it asks for, is a release build.
pub fn is_release() -> bool {
    profile_folder().ends_with("release")
}

/// Runs `cargo build` with `arguments` (such as `-p`, a package) and returns the [`profile_folder`] that now holds what
/// they name.
///
/// # Panics
/// If cargo cannot be started, or the build fails; cargo has said why by then.
pub fn build(arguments: &[&str]) -> PathBuf {
    let folder = profile_folder();
    let target = folder
        .parent()
        .expect("a profile's folder lies in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet"]).args(arguments);
    cargo.arg("--target-dir").arg(target);
    if is_release() {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    let status = status.expect("cargo can be started");
    assert!(status.success(), "cargo build {arguments:?}: {status}");
    folder
}
