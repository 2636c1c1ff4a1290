//! Errors of malformed modules.

use std::fmt;

/// A malformed module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// Offset of the offending word from the start of the module, in words.
    pub word: usize,
    /// The error.
    pub kind: ErrorKind,
}

/// The ways a module can be malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not a whole number of words.
    #[error("module has {0} bytes, a multiple of 4 is needed")]
    Bytes(usize),
    /// Fewer than the five header words.
    #[error("module has {0} words, the header alone needs 5")]
    Truncated(usize),
    /// First word is not `0x07230203` in either byte order.
    #[error("magic number is {0:#010x}, expected 0x07230203")]
    Magic(u32),
    /// A version that this reader does not know.
    #[error("version word is {0:#010x}, known are 0x00010000 (1.0) to 0x00010600 (1.6)")]
    Version(u32),
    /// The id bound is zero, or larger than a module of this length needs.
    #[error("id bound is {bound}, a module of {words} words may claim 1 to {limit}")]
    Bound {
        /// The id bound.
        bound: u32,
        /// Words of the module.
        words: usize,
        /// The largest accepted bound.
        limit: u32,
    },
    /// The reserved header word is not zero.
    #[error("schema word is {0}, expected 0")]
    Schema(u32),
    /// An instruction whose word count is zero or exceeds the module.
    #[error("opcode {opcode} claims {claimed} words, {left} are left")]
    WordCount {
        /// Opcode of the instruction.
        opcode: u16,
        /// Its word count field.
        claimed: u16,
        /// Words from the instruction's first word to the end of the module.
        left: usize,
    },
    /// An instruction with too few operands.
    #[error("has {have} operand words, at least {need} are needed")]
    Operands {
        /// Operand words found.
        have: usize,
        /// Operand words needed.
        need: usize,
    },
    /// A literal string without its final zero byte.
    #[error("literal string has no final zero byte")]
    StringEnd,
    /// A literal string that is not UTF-8.
    #[error("literal string is not UTF-8")]
    StringUtf8,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SPIR-V word {}: {}", self.word, self.kind)
    }
}

impl std::error::Error for Error {}
