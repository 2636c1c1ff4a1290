//! The built libraries, and folders with copies of them for each case.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use test_artifacts::is_release;

/// This profile's folder with the loader and the stub driver.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| test_artifacts::build(&["-p", "libze_loader", "-p", "libze_stub"]))
}

/// A new folder of the case `name` with the loader and one copy of the stub for each of `stubs`.
pub(crate) fn stage(name: &str, stubs: &[&str]) -> PathBuf {
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("loader-{name}-{}", std::process::id()));
    // Left over from a process with the same id.
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
