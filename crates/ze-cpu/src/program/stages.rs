//! `SOLUM_LOG=compile`: a line on stderr for each program and kernel that is made, with the time of each stage. The
//! code generator logs its own stages. Problems that do not fail a build are logged, too.

use kernel_ir::report::{Stage, log_line};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

static WANTED: AtomicBool = AtomicBool::new(false);

/// Turns the log on or off for programs that are made from now on.
pub(crate) fn want(wanted: bool) {
    WANTED.store(wanted, Ordering::Relaxed);
}

/// A line of the log about compiling, if there is a log.
pub(super) fn remark(text: &str) {
    note(&format!("compile: {text}"));
}

/// A line of the log about something else that goes wrong without an error.
pub(crate) fn note(text: &str) {
    if WANTED.load(Ordering::Relaxed) {
        signal_mask::write_stderr(format!("solum: {text}\n").as_bytes());
    }
}

/// The stages of a program or kernel under construction; empty if the log is off.
pub(super) struct Stages(Option<(Instant, Vec<Stage>)>);

impl Stages {
    /// Begins the first stage.
    pub(super) fn start() -> Self {
        let wanted = WANTED.load(Ordering::Relaxed);
        Self(wanted.then(|| (Instant::now(), Vec::new())))
    }

    /// Ends a stage and begins the next one.
    pub(super) fn ended(&mut self, name: &str) {
        if let Some((since, stages)) = &mut self.0 {
            let now = Instant::now();
            stages.push(Stage {
                name: name.to_owned(),
                microseconds: u64::try_from((now - *since).as_micros()).unwrap_or(u64::MAX),
            });
            *since = now;
        }
    }

    /// Logs the product, and how it was made.
    pub(super) fn tell(self, what: impl FnOnce() -> String) {
        if let Some((_, stages)) = &self.0 {
            signal_mask::write_stderr(log_line(&what(), stages).as_bytes());
        }
    }
}
