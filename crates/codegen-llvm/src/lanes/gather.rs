//! Gathers and scatters by the processor's own instructions, where the plan finds them faster than one access per lane.
//!
//! The instructions take one base and 32-bit offsets for sixteen lanes at once, or 64-bit addresses for eight. So
//! addresses in local and private memory, which are small, become a base and offsets. Inactive lanes access nothing. If
//! two lanes write one element, the later one's value remains, as if lanes wrote one after another.

use kernel_ir::index::terms;
use kernel_ir::{AddressSpace, Type, ValueDef, ValueId};

use super::region::Lanes;
use crate::llvm::{Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// Loads the active lanes' elements, of 4 or 8 bytes.
    pub(super) fn gather_at_once(&mut self, ptr: ValueId, scalar: Ty) -> Val {
        let ir = self.low.ir;
        kernel_ir::mark!(LoadGather);
        let from = self.lane_pointers(ptr);
        let row = ir.vector(scalar, self.width);
        let types = [row, ir.type_of(from)];
        let mask = self.mask_or_all();
        ir.intrinsic("llvm.masked.gather", &types, &[from, mask, ir.poison(row)])
    }

    /// Stores the active lanes' elements.
    pub(super) fn scatter_at_once(&mut self, ptr: ValueId, row: Val) {
        let ir = self.low.ir;
        kernel_ir::mark!(StoreScatter);
        let to = self.lane_pointers(ptr);
        let types = [ir.type_of(row), ir.type_of(to)];
        let mask = self.mask_or_all();
        ir.intrinsic("llvm.masked.scatter", &types, &[row, to, mask]);
    }

    fn mask_or_all(&self) -> Val {
        let ir = self.low.ir;
        let all = || ir.const_vector(&vec![ir.int_const(ir.i1, 1); self.width as usize]);
        self.mask.unwrap_or_else(all)
    }

    /// Addresses of all lanes, if possible as one base and narrow offsets.
    fn lane_pointers(&mut self, ptr: ValueId) -> Val {
        let rep = self.rep(ptr);
        if let Some(first) = rep.first.filter(|_| rep.holds.is_none()) {
            let ir = self.low.ir;
            return ir.offset(first, self.steps(ir.i64, rep.step));
        }
        let by_base = self.by_small_offsets(ptr);
        let by_base = by_base.or_else(|| self.by_narrow_index(ptr));
        by_base.unwrap_or_else(|| self.spread(ptr, &rep)[0])
    }

    /// Addresses of all lanes in local or private memory: one base and 32-bit offsets.
    fn by_small_offsets(&mut self, ptr: ValueId) -> Option<Val> {
        let ir = self.low.ir;
        // Offsets within such memory have no more than 32 bits; others are undefined behaviour.
        let is_small = match self.low.values.module.types.get(self.low.ty(ptr)) {
            Type::Ptr(AddressSpace::Local) => true,
            Type::Ptr(AddressSpace::Private) => {
                let lanes = u64::from(self.width);
                self.form.state_bytes.saturating_mul(lanes) < 1 << 31
            }
            _ => false,
        };
        if !is_small {
            return None;
        }
        // Only in the block that makes the address: elsewhere its operands may hold another iteration's values.
        let (inst, _) = self.made_by(ptr)?;
        if !self.f.blocks[self.block_at_hand.index()]
            .insts
            .contains(&inst)
        {
            return None;
        }
        let term = terms(self.f, ptr).next()?;
        let (index, stride) = term.index?;
        if !self.is_at_hand(term.base) || !self.is_at_hand(index) {
            return None;
        }
        let at = self.rep(term.base);
        let first = at.first.filter(|_| at.holds.is_none())?;
        let first = ir.offset_by(first, term.offset.cast_unsigned());
        let index = self.vectors(index)[0];
        let narrow = ir.vector(ir.i32, self.width);
        let index = ir.zext_or_trunc(index, narrow);
        let stride = self.splat(ir.int_const(ir.i32, stride.cast_unsigned()));
        let bytes = ir.mul(index, stride);
        let bytes = match at.step {
            0 => bytes,
            step => ir.add(bytes, self.steps(ir.i32, step)),
        };
        let wide = ir.vector(ir.i64, self.width);
        let bytes = ir.cast(Opcode::LLVMSExt, bytes, wide);
        Some(ir.offset(first, bytes))
    }

    /// Addresses of all lanes from one base and a signed 32-bit index.
    fn by_narrow_index(&mut self, ptr: ValueId) -> Option<Val> {
        let ir = self.low.ir;
        let (indexed, indices) = self.narrow_index(ptr)?;
        let is_word = ir.scalar(ir.type_of(indices)) == ir.i32;
        if !indexed.signed || !is_word || !matches!(indexed.stride, 1 | 2 | 4 | 8) {
            return None;
        }
        let indices = ir.cast(Opcode::LLVMSExt, indices, ir.vector(ir.i64, self.width));
        let first = ir.offset_by(indexed.base, indexed.offset.cast_unsigned());
        Some(ir.element(ir.int(indexed.stride as u32 * 8), first, indices))
    }

    /// Whether the known representation of `v` is its value here.
    pub(super) fn is_at_hand(&self, v: ValueId) -> bool {
        !matches!(self.f.values[v.index()].def, ValueDef::Inst(_))
            || self.block_values.contains_key(&v)
            || self.stored.contains_key(&v)
            || self.arrays.contains_key(&v)
    }
}
