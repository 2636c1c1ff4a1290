//! level-zero-sys
