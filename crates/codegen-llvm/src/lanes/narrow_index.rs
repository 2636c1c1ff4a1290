//! Addresses that are a base and an index of fewer bits: with them lanes need no vector of 64-bit addresses.
//!
//! ```text
//! a[(long) i[l]]      base a, indices i: one vector of 32-bit integers
//! ```

use kernel_ir::index::{extended, terms};
use kernel_ir::{ConvertOp, ValueId};

use super::region::Lanes;
use crate::llvm::{Opcode, Val};
use crate::lower::Lower;

/// Addresses `base + index * stride + offset` without their indices.
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    /// One address for all lanes.
    pub base: Val,
    /// Bytes.
    pub stride: i64,
    /// Bytes.
    pub offset: i64,
    /// Whether indices are signed.
    pub signed: bool,
}

impl Indexed {
    /// The address with that index, an integer of up to 64 bits.
    pub(super) fn address(&self, low: &Lower<'_>, index: Val) -> Val {
        let extend = match self.signed {
            true => Opcode::LLVMSExt,
            false => Opcode::LLVMZExt,
        };
        let index = low.ir.cast(extend, index, low.ir.i64);
        low.pointer(self.base, Some((index, self.stride)), self.offset)
    }

    /// The addresses of `width` lanes with these indices, a vector.
    pub(super) fn addresses(&self, low: &Lower<'_>, indices: Val, width: u32) -> Vec<Val> {
        let lanes = (0..width).map(|lane| {
            let index = low.ir.extract_element(indices, low.ir.i32c(lane));
            self.address(low, index)
        });
        lanes.collect()
    }
}

impl Lanes<'_, '_, '_> {
    /// The address as a base that is the same in all lanes and a vector of narrower indices, if it is one.
    pub(super) fn narrow_index(&mut self, ptr: ValueId) -> Option<(Indexed, Val)> {
        let term = terms(self.f, ptr).next()?;
        let (index, stride) = term.index?;
        let (op, narrow) = extended(self.f, index)?;
        // Only in the block that makes both: elsewhere their operands may have no variable, or hold another iteration's
        // values.
        let is_of_here = |v: ValueId| {
            self.block_values.contains_key(&v)
                && self.region.block_of(v) == Some(self.block_at_hand)
        };
        if !is_of_here(ptr) || !is_of_here(index) {
            return None;
        }
        let near = self.block_values.get(&narrow)?.clone();
        let base = self.rep(term.base);
        if !base.is_uniform() || near.first.is_some() {
            return None;
        }
        let indices = near.vector?.first().copied()?;
        let indexed = Indexed {
            base: base.first?,
            stride,
            offset: term.offset,
            signed: op == ConvertOp::SExt,
        };
        Some((indexed, indices))
    }

    /// Where the narrow index of a pointer lies in memory, lane after lane: this block loaded it from there, and has
    /// written nothing since.
    pub(super) fn row_of_index(&self, ptr: ValueId) -> Option<Val> {
        let (index, _) = terms(self.f, ptr).next()?.index?;
        let (_, narrow) = extended(self.f, index)?;
        let &(block, first) = self.rows.get(&narrow)?;
        (block == self.block_at_hand).then_some(first)
    }
}
