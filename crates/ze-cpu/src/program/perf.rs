//! The map by which `perf` names addresses of compiled code: a line for each kernel in `/tmp/perf-PID.map`.
//!
//! Off unless `SOLUM_PERF` is 1. A file that cannot be written leaves addresses without names, and nothing else.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);

/// Maps are written from now on, if that is wanted.
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
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK)
        .open(format!("/tmp/perf-{}.map", std::process::id()));
    if let Ok(mut file) = file
        && is_own(&file)
    {
        // In one write, so that lines of several threads do not mix.
        let _ = signal_mask::without_write_signals(|| file.write_all(lines.as_bytes()));
    }
}

/// Whether a file is an ordinary one of this user's, under this name alone: others can put files and pipes into `/tmp`.
fn is_own(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.nlink() == 1 && ze_driver::user::owns(data.uid()))
}
