//! `SOLUM_LOG=compile`: a line on stderr for each part of a program that is compiled, with the time of each stage.

use std::sync::OnceLock;
use std::time::Instant;

use kernel_ir::abi::ModuleInfo;
use kernel_ir::report::{Stage, log_line};

/// Names of stages, in order.
pub(crate) const FRONT_END: &str = "front end";
/// Calls inlined, values found.
pub(crate) const SCALAR_PASSES: &str = "scalar passes";
/// From our language to LLVM's, work-items side by side.
pub(crate) const LANES: &str = "lanes";
/// LLVM's passes.
pub(crate) const LLVM_PASSES: &str = "LLVM passes";
/// LLVM's selection of instructions, up to the object.
pub(crate) const INSTRUCTIONS: &str = "instructions";

/// Stages as they end.
pub(crate) struct Clock {
    since: Instant,
    stages: Vec<Stage>,
}

impl Clock {
    /// The first stage begins now.
    pub(crate) fn start() -> Self {
        Self {
            since: Instant::now(),
            stages: Vec::new(),
        }
    }

    /// A stage ends, and the next one begins.
    pub(crate) fn ended(&mut self, name: &str) {
        let now = Instant::now();
        self.stages.push(Stage {
            name: name.to_owned(),
            microseconds: u64::try_from((now - self.since).as_micros()).unwrap_or(u64::MAX),
        });
        self.since = now;
    }

    /// What was done since the last stage belongs to none.
    pub(crate) fn skip(&mut self) {
        self.since = Instant::now();
    }

    /// All stages that have ended.
    pub(crate) fn stages(self) -> Vec<Stage> {
        self.stages
    }
}

/// Whether the variable asks for it. What is no value of it the driver has refused.
fn is_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    let wants = |value: String| value.split(',').any(|one| one.trim() == "compile");
    *WANTED.get_or_init(|| std::env::var("SOLUM_LOG").is_ok_and(wants))
}

/// Writes what the clock says of `what`, if that is wanted.
pub(crate) fn write(clock: Clock, what: impl FnOnce() -> String) {
    if is_wanted() {
        signal_mask::write_stderr(log_line(&what(), &clock.stages()).as_bytes());
    }
}

/// Writes what happened, if that is wanted.
pub(crate) fn note(what: impl FnOnce() -> String) {
    if is_wanted() {
        let line = format!("solum: compile: {}\n", what());
        signal_mask::write_stderr(line.as_bytes());
    }
}

/// The kernels of an object, in words.
pub(crate) fn kernels(info: &ModuleInfo) -> String {
    match info.kernels.as_slice() {
        [] => "no kernel".to_owned(),
        [one] => format!("kernel {:?}", one.name),
        [first, .., last] => format!(
            "{} kernels, {:?} to {:?}",
            info.kernels.len(),
            first.name,
            last.name
        ),
    }
}
