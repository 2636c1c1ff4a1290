//! Formats of values in texts.

/// How a value is printed: what stands between `{` and `}`, taken apart by the macro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Zeros instead of spaces.
    pub zeros: bool,
    /// The least number of characters.
    pub width: u32,
    /// Digits after the point.
    pub digits: Option<u32>,
    /// Hexadecimal, in small letters or in capitals.
    pub hexadecimal: Option<bool>,
}
