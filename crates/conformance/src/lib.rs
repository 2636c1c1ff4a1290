//! Real programs against the built libraries: what the crates' own tests cannot see.
//!
//! The libraries are opened as clients open them, through `dlopen` or the linker; nothing of the driver is linked in.
//! [`artefacts`] is the folder they lie in. Beside the tests live three programs: `bench`, `compile-wheels` and `endings`, and
//! the example `launch_kernels`, which runs the kernels of `tests/check`.
//!
//! Invariants: a test fails when it cannot run; nothing is read from outside the repository but the system's own
//! packages.
//!
//! Non-goals: no unit tests of other crates; those live beside the code.

pub mod check_kernels;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder with `libze_loader.so.1` and the rest: `$SOLUM_ARTEFACTS`, else what `./x build` makes now.
///
/// # Panics
/// The build fails.
pub fn artefacts() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        if let Some(folder) = std::env::var_os("SOLUM_ARTEFACTS") {
            return folder.into();
        }
        let root = root();
        let built = Command::new(root.join("x")).arg("build").status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "./x build failed"
        );
        std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), PathBuf::from)
            .join("release")
    })
}

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
