//! Why a text is not IR.

/// Where and why the text is not IR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// The text that was found, and the texts that are allowed.
    pub message: String,
}

pub(super) type Result<T, E = ParseError> = std::result::Result<T, E>;
