//! kernel-ir
