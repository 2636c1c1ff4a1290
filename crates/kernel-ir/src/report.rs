//! The compilation report: how each kernel was vectorised and why not better, in terms that its author can act on.
//!
//! A back end fills a [`Report`] while it compiles. Invariants: a report changes no code; every place is a word of the
//! module, with its source line where the module has one.

use serde::{Deserialize, Serialize};

use crate::BuildError;
use crate::wire::{Reader, WireError, Writer};

/// A stage of the compiler whose output can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Only the report.
    Report,
    /// The kernel-ir of one work-item, in its text form.
    Scalar,
    /// LLVM's text of the vectorised kernel, after all passes.
    Lanes,
    /// The processor's instructions.
    Assembly,
    /// The relocatable object.
    Object,
    /// How each kernel's work-items run as lanes of vectors.
    Plan,
    /// The kernel-ir of one work-item with the facts about its values.
    Facts,
}

impl Emit {
    /// All stages; the index of a stage is its number in the code generator's interface.
    pub const ALL: [Self; 7] = [
        Self::Report,
        Self::Scalar,
        Self::Lanes,
        Self::Assembly,
        Self::Object,
        Self::Plan,
        Self::Facts,
    ];
}

/// The report of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// LLVM's name of the processor that the code is for.
    pub cpu: String,
    /// The build log.
    pub log: String,
    /// Undefined imports; no kernel is compiled while there are any.
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
    /// Its name for `zeKernelCreate`.
    pub name: String,
    /// How its work-items run.
    pub form: Form,
    /// Why the kernel is not vectorised, or why a better form was not possible.
    pub why: Option<String>,
    /// Work-items that run at once.
    pub width: u32,
    /// The sub-group size that the kernel sees.
    pub sub_group_size: u32,
    /// Work-group barriers.
    pub barriers: u32,
    /// Bytes of state that each work-item keeps in memory across barriers.
    pub bytes_over_barriers: u64,
    /// Bytes of private memory of each work-item.
    pub private_bytes: u64,
    /// Bytes of the kernel's own local memory.
    pub local_bytes: u64,
    /// Memory accesses, if the kernel is vectorised.
    pub accesses: Vec<Access>,
    /// Divergent branches and loops, if the kernel is vectorised.
    pub branches: Vec<Branch>,
    /// Machine instructions.
    pub instructions: u32,
    /// How its work-items run as lanes, in the plan's text form; not serialised.
    #[serde(skip)]
    pub plan: String,
    /// Of these, register spills and reloads.
    pub spills: u32,
}

/// How a kernel's work-items are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Vectorised: several work-items at once.
    Lanes,
    /// One after another.
    #[default]
    Loop,
    /// One after another, in one pass for each region between barriers.
    Passes,
}

/// A place in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// Offset in the module, in words; 0 if no instruction of it is meant.
    pub word: u32,
    /// `FILE:LINE:COLUMN`, where the module notes it.
    pub source: Option<String>,
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Where.
    pub place: SourceLocation,
    /// The kind of access.
    pub what: AccessKind,
    /// To which memory.
    pub space: String,
    /// Bytes of one work-item's.
    pub bytes: u64,
    /// The pattern of the addresses.
    pub pattern: Pattern,
    /// Bytes between the addresses of neighbouring work-items, if constant.
    pub step: Option<i64>,
    /// Whether the access may be executed by some of the work-items only.
    pub masked: bool,
    /// Why the pattern is not better.
    pub why: Option<String>,
}

/// The kind of an access.
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

/// The pattern of the addresses of neighbouring work-items, cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// All at the same address.
    Uniform,
    /// At consecutive addresses.
    Contiguous,
    /// At a constant stride.
    Strided,
    /// Anywhere: one access for each work-item.
    Scattered,
}

/// A divergent branch or loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Where its condition is computed.
    pub place: SourceLocation,
    /// Whether it is a loop that work-items leave in different iterations.
    pub is_loop: bool,
    /// Why the condition is not uniform.
    pub why: Option<String>,
}

/// A report with the output of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The report.
    pub report: Report,
    /// The stage's text or bytes; empty with [`Emit::Report`].
    pub output: Vec<u8>,
}

/// The bytes of the result.
#[must_use]
pub fn encode_explained(answer: &Result<Explained, BuildError>) -> Vec<u8> {
    let mut w = Writer::default();
    match answer {
        Ok(explained) => {
            w.u32(0);
            // Cannot fail: the report has only numbers, texts and lists.
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

/// Reads the bytes of [`encode_explained`].
///
/// # Errors
/// The position of the first byte that is not valid.
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
