//! The function that receives the code of mathematics.

use crate::llvm::{Ir, Val};

/// Bytes of all vector registers of a processor with AVX-512.
pub(super) const AVX512: u64 = 32 * 64;

/// The function under construction and the processor's registers.
pub(crate) struct Mathematics<'a> {
    pub(crate) ir: &'a Ir,
    /// The function under construction.
    pub(crate) function: Val,
    /// Bytes of the processor's vector registers.
    pub(crate) registers: u64,
}
