//! level-zero
