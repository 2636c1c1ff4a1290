//! `SOLUM_LOG=calls`: a line on stderr for each call that fails, for each launch that does nothing, and for null arguments
//! that are ignored.

use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);

/// Turns the lines on.
pub fn want() {
    WANTED.store(true, Ordering::Relaxed);
    ze_abi::observe_errors(|function, text| write(&format!("{function}: {text}")));
}

/// Writes a line about a call that succeeds, if lines are on.
pub(crate) fn note(text: impl FnOnce() -> String) {
    if WANTED.load(Ordering::Relaxed) {
        write(&text());
    }
}

fn write(text: &str) {
    signal_mask::write_stderr(format!("solum: {text}\n").as_bytes());
}
