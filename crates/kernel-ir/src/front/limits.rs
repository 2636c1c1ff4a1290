//! Sizes beyond which a program is refused.

/// Bytes of private variables of one function.
pub(super) const MAX_PRIVATE: u64 = 1 << 30;

/// Bytes of a value outside memory, for example a loaded struct.
pub(super) const MAX_VALUE: u64 = 1 << 16;
