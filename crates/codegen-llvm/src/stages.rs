//! `SOLUM_LOG=compile`: a line on stderr for each compiled part of a program, with the time of each stage.

use std::sync::OnceLock;
use std::time::Instant;

use kernel_ir::abi::ModuleInfo;
use kernel_ir::report::{Stage, log_line};

/// Names of the stages, in order. The first one reads and links SPIR-V.
pub(crate) const FRONT_END: &str = "front end";
/// Inlines calls and turns variables into values.
pub(crate) const SCALAR_PASSES: &str = "scalar passes";
/// Lowers kernel-ir to LLVM's language, vectors of work-items included.
pub(crate) const LANES: &str = "lanes";
/// LLVM's optimisation.
pub(crate) const LLVM_PASSES: &str = "LLVM passes";
/// LLVM's code generation, from instruction selection to the object.
pub(crate) const INSTRUCTIONS: &str = "instructions";

/// The stages that have ended, with their times.
pub(crate) struct Clock {
    since: Instant,
    stages: Vec<Stage>,
}

impl Clock {
    /// Begins the first stage.
    pub(crate) fn start() -> Self {
        Self {
            since: Instant::now(),
            stages: Vec::new(),
        }
    }

    /// Ends a stage and begins the next one.
    pub(crate) fn ended(&mut self, name: &str) {
        let now = Instant::now();
        self.stages.push(Stage {
            name: name.to_owned(),
            microseconds: u64::try_from((now - self.since).as_micros()).unwrap_or(u64::MAX),
        });
        self.since = now;
    }

    /// Leaves the time since the last stage out of all stages.
    pub(crate) fn skip(&mut self) {
        self.since = Instant::now();
    }

    /// The stages that have ended.
    pub(crate) fn stages(self) -> Vec<Stage> {
        self.stages
    }
}

/// Whether the variable asks for it. The driver has refused invalid values.
fn is_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    let wants = |value: String| value.split(',').any(|one| one.trim() == "compile");
    *WANTED.get_or_init(|| std::env::var("SOLUM_LOG").is_ok_and(wants))
}

/// Writes the stages of the clock, named by `what`, if that is wanted.
pub(crate) fn write(clock: Clock, what: impl FnOnce() -> String) {
    if is_wanted() {
        signal_mask::write_stderr(log_line(&what(), &clock.stages()).as_bytes());
    }
}

/// Writes a note, if that is wanted.
pub(crate) fn note(what: impl FnOnce() -> String) {
    if is_wanted() {
        let line = format!("solum: compile: {}\n", what());
        signal_mask::write_stderr(line.as_bytes());
    }
}

/// The names of an object's kernels, as text.
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
