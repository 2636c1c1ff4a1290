//! The map by which `perf` names addresses of compiled code: a line for each kernel in `/tmp/perf-PID.map`.
//!
//! Off unless `SOLUM_PERF` is 1. A file that cannot be written leaves addresses without names, and nothing else.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use owned_file::Content;

static WANTED: AtomicBool = AtomicBool::new(false);

/// Enables the maps, if requested.
pub(crate) fn want(wanted: bool) {
    WANTED.store(wanted, Ordering::Relaxed);
}

/// Whether they are.
pub(super) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Names code: address, bytes, name.
pub(super) fn name<'a>(functions: impl Iterator<Item = (usize, u64, &'a str)>) {
    if !is_wanted() {
        return;
    }
    let mut lines = String::new();
    for (address, bytes, name) in functions {
        // Writing to a string does not fail. A name is one line.
        let name = name.replace(['\n', '\r'], " ");
        let _ = writeln!(lines, "{address:x} {bytes:x} {name}");
    }
    // Others can put files, links and pipes into `/tmp`.
    let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
    if let Ok(mut file) = owned_file::open(&path, Content::Kept, 0o600) {
        // In one write, so that lines of several threads do not mix.
        let _ = signal_mask::without_write_signals(|| file.write_all(lines.as_bytes()));
    }
}
