//! The built libraries, and folders where copies of them lie as a case needs them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of this profile's artefacts: the test binary lies in its `deps`.
fn profile_folder() -> PathBuf {
    let binary = std::env::current_exe().unwrap();
    binary
        .parent()
        .and_then(Path::parent)
        .expect("cargo puts test binaries two levels deep")
        .to_owned()
}

/// True when the libraries under test are release builds.
pub(crate) fn is_release() -> bool {
    profile_folder()
        .file_name()
        .is_some_and(|name| name == "release")
}

/// Builds loader and stub in this profile (a no-op when they are fresh) and returns their folder.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let folder = profile_folder();
        let mut command = Command::new(cargo);
        command.args([
            "build",
            "--quiet",
            "-p",
            "libze_loader",
            "-p",
            "libze_stub",
            "--target-dir",
        ]);
        command.arg(
            folder
                .parent()
                .expect("a profile's folder lies in the target folder"),
        );
        if is_release() {
            command.arg("--release");
        }
        let status = command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo can be started");
        assert!(status.success(), "building loader and stub: {status}");
        folder
    })
}

/// A fresh folder of the case `name` with the loader in it and one copy of the stub for each of `stubs`.
pub(crate) fn stage(name: &str, stubs: &[&str]) -> PathBuf {
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("loader-{name}-{}", std::process::id()));
    // Left over from a process of the same number.
    let _ = std::fs::remove_dir_all(&stage);
    std::fs::create_dir_all(&stage).unwrap();
    std::fs::copy(
        folder().join("libze_loader.so"),
        stage.join("libze_loader.so.1"),
    )
    .unwrap();
    for stub in stubs {
        std::fs::copy(folder().join("libze_stub.so"), stage.join(stub)).unwrap();
    }
    stage
}
