//! Errors in assembly text.

use std::fmt;

/// The position and the reason of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TextError {
    /// From one.
    pub(crate) line: usize,
    /// From one, in characters.
    pub(crate) column: usize,
    /// The words found and the words allowed.
    pub(crate) reason: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}
