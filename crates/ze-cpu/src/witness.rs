//! The file by which `solum run --require-kernels` learns that a kernel ran here.
//!
//! Invariants: nothing is written unless `SOLUM_WITNESS` names a file, and then once; a launch pays one relaxed load.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static FILE: OnceLock<PathBuf> = OnceLock::new();
static WANTED: AtomicBool = AtomicBool::new(false);

/// Names the file; the first name stays.
pub(crate) fn name(file: Option<&PathBuf>) {
    if let Some(file) = file
        && FILE.set(file.clone()).is_ok()
    {
        WANTED.store(true, Ordering::Release);
    }
}

/// A kernel is about to run.
pub(crate) fn kernel_runs() {
    if WANTED.load(Ordering::Relaxed) && WANTED.swap(false, Ordering::AcqRel) {
        // The file is the runner's own: it exists. One that cannot be written leaves the runner without its witness,
        // and it says so.
        let file = FILE
            .get()
            .map(|file| OpenOptions::new().append(true).open(file));
        if let Some(Ok(mut file)) = file {
            let _ = file.write_all(b"kernel\n");
        }
    }
}
