//! LLVM's fast-math flags, by their numbers in LLVM's C interface.

/// Operations may be reassociated.
pub(crate) const REASSOC: u32 = 1;
/// No operand or result is NaN.
pub(crate) const NNAN: u32 = 2;
/// No operand or result is infinite.
pub(crate) const NINF: u32 = 4;
/// The sign of a zero does not matter.
pub(crate) const NSZ: u32 = 8;
/// A division may be a product with the reciprocal.
pub(crate) const ARCP: u32 = 16;
/// A product and a sum may be one operation.
pub(crate) const CONTRACT: u32 = 32;
/// Functions may be approximated.
pub(crate) const AFN: u32 = 64;
