//! Gathers and scatters by the processor's own instructions, where those are faster than an access for each lane.
//!
//! They take one base and 32-bit offsets for sixteen lanes at once, and 64-bit addresses for eight: what lies in small
//! memories, the group's and the work-item's own, is told by offsets. Lanes that are off touch nothing, and where two
//! lanes write one element the later one stays, as with accesses in the order of lanes.

use kernel_ir::{AddressSpace, Op, Type, ValueDef, ValueId};

use super::region::Lanes;
use crate::llvm::{Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// Running lanes' elements, of 4 or 8 bytes.
    pub(super) fn gather_at_once(&mut self, ptr: ValueId, scalar: Ty) -> Val {
        let ir = self.low.ir;
        kernel_ir::mark!(LoadGather);
        let from = self.lane_pointers(ptr);
        let row = ir.vector(scalar, self.width);
        let types = [row, ir.type_of(from)];
        let mask = self.mask_or_all();
        ir.intrinsic("llvm.masked.gather", &types, &[from, mask, ir.poison(row)])
    }

    /// Writes running lanes' elements.
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

    /// Addresses of all lanes, as one base and narrow offsets where they are.
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

    /// Addresses of all lanes in a memory whose offsets need no more than 32 bits, beside one base.
    fn by_small_offsets(&mut self, ptr: ValueId) -> Option<Val> {
        let ir = self.low.ir;
        // No offset inside of them needs more; others are undefined.
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
        // Seen from the block that made it only: in others what it is made of may be another turn's.
        let (inst, op) = self.made_by(ptr)?;
        if !self.f.blocks[self.block_at_hand.index()]
            .insts
            .contains(&inst)
        {
            return None;
        }
        let &Op::PtrOffset {
            ptr: base,
            index: Some((index, stride)),
            offset,
        } = op
        else {
            return None;
        };
        if !self.is_at_hand(base) || !self.is_at_hand(index) {
            return None;
        }
        let at = self.rep(base);
        let first = at.first.filter(|_| at.holds.is_none())?;
        let first = ir.offset_by(first, offset.cast_unsigned());
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

    /// Addresses of all lanes beside one base, where their index has 32 bits and a sign.
    fn by_narrow_index(&mut self, ptr: ValueId) -> Option<Val> {
        let ir = self.low.ir;
        let (base, index, stride, offset, signed) = self.narrow_index(ptr)?;
        let is_word = ir.scalar(ir.type_of(index)) == ir.i32;
        if !signed || !is_word || !matches!(stride, 1 | 2 | 4 | 8) {
            return None;
        }
        let index = ir.cast(Opcode::LLVMSExt, index, ir.vector(ir.i64, self.width));
        let first = ir.offset_by(base, offset.cast_unsigned());
        Some(ir.element(ir.int(stride as u32 * 8), first, index))
    }

    /// Whether what is known of `v` is its value here.
    fn is_at_hand(&self, v: ValueId) -> bool {
        !matches!(self.f.values[v.index()].def, ValueDef::Inst(_))
            || self.near.contains_key(&v)
            || self.stored.contains_key(&v)
            || self.arrays.contains_key(&v)
    }
}
