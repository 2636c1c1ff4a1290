//! Errors of the front end: kind, place and reason.

use crate::{BuildError, BuildErrorKind};
use spirv_reader::Words;

/// An error before it becomes a [`BuildError`]; the loop over instructions adds the place.
#[derive(Debug)]
pub(super) struct Fault {
    kind: BuildErrorKind,
    word: Option<usize>,
    message: String,
}

/// Boxed, so that results stay small.
pub(super) type Res<T> = Result<T, Box<Fault>>;

/// A rule of SPIR-V is broken.
pub(super) fn invalid<T>(message: impl Into<String>) -> Res<T> {
    fail(BuildErrorKind::Invalid, message)
}

/// Valid, but not supported by this compiler.
pub(super) fn unsupported<T>(message: impl Into<String>) -> Res<T> {
    fail(BuildErrorKind::Unsupported, message)
}

/// The modules cannot be linked.
pub(super) fn unlinkable<T>(message: impl Into<String>) -> Res<T> {
    fail(BuildErrorKind::Link, message)
}

fn fail<T>(kind: BuildErrorKind, message: impl Into<String>) -> Res<T> {
    Err(Box::new(Fault {
        kind,
        word: None,
        message: message.into(),
    }))
}

/// Adds the place of an instruction to errors that have none yet.
pub(super) trait At<T> {
    /// `word` is the offset of the instruction that broke the rule.
    fn at(self, word: usize) -> Res<T>;
}

impl<T> At<T> for Res<T> {
    fn at(self, word: usize) -> Res<T> {
        self.map_err(|mut fault| {
            fault.word.get_or_insert(word);
            fault
        })
    }
}

impl From<spirv_reader::Error> for Box<Fault> {
    fn from(error: spirv_reader::Error) -> Self {
        Box::new(Fault {
            kind: BuildErrorKind::Invalid,
            word: Some(error.word),
            message: error.kind.to_string(),
        })
    }
}

impl Fault {
    /// Adds the name of an extended instruction.
    pub(super) fn within(mut self: Box<Self>, name: &str) -> Box<Self> {
        self.message = format!("{name}: {}", self.message);
        self
    }
    /// Converts to a [`BuildError`]; `words` gives the name of the instruction.
    pub(super) fn into_error(self, module: usize, words: Option<&Words>) -> BuildError {
        let known = self.word.zip(words);
        let line = known.and_then(|(word, words)| super::source_lines(words, &[word]).pop()?);
        BuildError {
            kind: self.kind,
            module: module as u32,
            word: self.word.map(|word| word as u32),
            instruction: known.and_then(|(word, words)| words.name_at(word)),
            message: match line {
                Some(line) => format!("{} (at {line})", self.message),
                None => self.message,
            },
        }
    }
}
