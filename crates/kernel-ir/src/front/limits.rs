//! Sizes beyond which a program is refused.

/// Private variables of one function may not take more bytes.
pub(super) const MAX_PRIVATE: u64 = 1 << 30;

/// A value outside memory (a loaded struct, say) may not take more bytes.
pub(super) const MAX_VALUE: u64 = 1 << 16;
