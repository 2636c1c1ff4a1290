//! What was made of each kernel, in words that its author can act on.
//!
//! Input: nothing; a back end fills a [`Report`] while it compiles. Invariants: a report changes no code; every place
//! is a word of the module, with its line of source where the module notes one.

use serde::{Deserialize, Serialize};

use crate::BuildError;
use crate::wire::{Reader, WireError, Writer};

/// A stage of compiling whose outcome can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Only the report.
    Report,
    /// The kernel-ir of one work-item, in its text form.
    Scalar,
    /// LLVM's text, work-items side by side, after all passes.
    Lanes,
    /// The processor's instructions.
    Assembly,
    /// The relocatable object.
    Object,
    /// How each kernel's work-items run as lanes of vectors.
    Plan,
}

impl Emit {
    /// All, by the numbers that cross library boundaries.
    pub const ALL: [Self; 6] = [
        Self::Report,
        Self::Scalar,
        Self::Lanes,
        Self::Assembly,
        Self::Object,
        Self::Plan,
    ];
}

/// A compilation, told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// LLVM's name of the processor that the code is for.
    pub cpu: String,
    /// What the build log says.
    pub log: String,
    /// Imports that nothing defines; no kernel is made while there are any.
    pub unresolved: Vec<String>,
    /// How long each stage took, in order.
    pub stages: Vec<Stage>,
    /// In the module's order.
    pub kernels: Vec<KernelReport>,
}

/// The time of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub microseconds: u64,
}

/// The line that `SOLUM_LOG=compile` writes: `solum: compile: WHAT: STAGE N.NNN ms, …`.
#[must_use]
pub fn log_line(what: &str, stages: &[Stage]) -> String {
    let times = stages.iter().map(|stage| {
        let milliseconds = stage.microseconds as f64 / 1e3;
        format!("{} {milliseconds:.3} ms", stage.name)
    });
    let times: Vec<_> = times.collect();
    format!("solum: compile: {what}: {}\n", times.join(", "))
}

/// One kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelReport {
    /// As `zeKernelCreate` asks for it.
    pub name: String,
    /// How its work-items run.
    pub form: Form,
    /// Why they do not run side by side, or not in a better form, which could not be made.
    pub why: Option<String>,
    /// Work-items that run at once.
    pub width: u32,
    /// The sub-group size that the kernel sees.
    pub sub_group_size: u32,
    /// Places where all work-items of a group wait.
    pub barriers: u32,
    /// Bytes of each work-item that live in memory from one barrier to the next.
    pub bytes_over_barriers: u64,
    /// Bytes of private memory of each work-item.
    pub private_bytes: u64,
    /// Bytes of local memory that the kernel itself asks for.
    pub local_bytes: u64,
    /// Accesses to memory, where work-items run side by side.
    pub accesses: Vec<Access>,
    /// Branches and loops at which work-items part, there too.
    pub branches: Vec<Branch>,
    /// Machine instructions.
    pub instructions: u32,
    /// How its work-items run as lanes, in the plan's text form; not serialised.
    #[serde(skip)]
    pub plan: String,
    /// Of these, stores of registers to the stack and loads from it, for want of registers.
    pub spills: u32,
}

/// How a kernel's work-items run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Side by side, as vectors.
    Lanes,
    /// One after another.
    #[default]
    Loop,
    /// One after another, each from barrier to barrier.
    Passes,
}

/// A place in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Offset in the module, in words; 0 if no instruction of it is meant.
    pub word: u32,
    /// `FILE:LINE:COLUMN`, where the module notes it.
    pub source: Option<String>,
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Where.
    pub place: Place,
    /// What is done.
    pub what: AccessKind,
    /// To which memory.
    pub space: String,
    /// Bytes of one work-item's.
    pub bytes: u64,
    /// How the addresses lie.
    pub pattern: Pattern,
    /// Bytes from one work-item's to the next one's, where that is one number.
    pub step: Option<i64>,
    /// Whether only some of the work-items may be here.
    pub masked: bool,
    /// Why it is no better pattern.
    pub why: Option<String>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Both, indivisibly.
    Atomic,
}

/// How the addresses of work-items side by side lie, cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// All at one address.
    Uniform,
    /// One behind another.
    Contiguous,
    /// At a fixed distance.
    Strided,
    /// Anywhere: one access for each work-item.
    Scattered,
}

/// A branch or loop at which work-items part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Where its condition is computed.
    pub place: Place,
    /// Whether it is a loop that work-items leave in different rounds.
    pub is_loop: bool,
    /// What makes the condition differ.
    pub why: Option<String>,
}

/// A report with the outcome of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What was made.
    pub report: Report,
    /// The stage's text or bytes; empty with [`Emit::Report`].
    pub output: Vec<u8>,
}

/// The bytes of an answer.
#[must_use]
pub fn encode_explained(answer: &Result<Explained, BuildError>) -> Vec<u8> {
    let mut w = Writer::default();
    match answer {
        Ok(explained) => {
            w.u32(0);
            // Numbers, texts and lists only: there is nothing that JSON could refuse.
            w.text(&serde_json::to_string(&explained.report).unwrap_or_default());
            w.bytes(&explained.output);
        }
        Err(error) => {
            w.u32(1);
            error.encode(&mut w);
        }
    }
    w.finish()
}

/// Reads what [`encode_explained`] wrote.
///
/// # Errors
/// The position at which the bytes stop making sense.
pub fn decode_explained(bytes: &[u8]) -> Result<Result<Explained, BuildError>, WireError> {
    let mut r = Reader::new(bytes);
    let answer = if r.u32()? == 0 {
        let report = serde_json::from_str(&r.text()?).map_err(|_| WireError { at: 4 })?;
        let output = r.bytes()?.to_vec();
        Ok(Explained { report, output })
    } else {
        Err(BuildError::decode(&mut r)?)
    };
    r.end()?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_names_what_and_each_stage_in_order() {
        let stage = |name: &str, microseconds| Stage {
            name: name.to_owned(),
            microseconds,
        };
        for (what, stages, line) in [
            ("kernel \"k\"", vec![], "solum: compile: kernel \"k\": \n"),
            (
                "program 0123",
                vec![stage("front end", 7), stage("loading", 1_234_567)],
                "solum: compile: program 0123: front end 0.007 ms, loading 1234.567 ms\n",
            ),
        ] {
            assert_eq!(log_line(what, &stages), line);
        }
    }
}
