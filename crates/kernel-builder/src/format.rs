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
    /// With an exponent, whose letter is small or a capital.
    pub scientific: Option<bool>,
    /// A sign of positive numbers too.
    pub plus: bool,
    /// On the left of the width, or on the right.
    pub left: Option<bool>,
}
