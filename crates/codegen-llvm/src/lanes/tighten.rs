//! Iteration-range tightening: in some regions only some chunks of a row have work, and the loop over the row's chunks
//! visits only those.
//!
//! ```text
//! for (s = 128; s > 0; s /= 2) {
//!     if (l < s) a[l] += a[l + s];     chunks from l = 0 up to s
//!     barrier();
//! }
//! if (l == 0) out[g] = a[0];           the first chunk only
//! ```
//!
//! The plan finds the comparisons without which a region does nothing (`vectorise::Tightening`); this module computes
//! the range from them at the start of each row. The comparisons stay in the region: a visit too many does no harm.
//!
//! One chunk of the group always runs: it writes the values that the whole group shares, and the number of the next
//! region.

use std::collections::HashMap;

use kernel_ir::{ConvertOp, ValueId};
use vectorise::{Steps, Tightening, ends};

use super::region::Lanes;
use super::rep::Saved;
use crate::llvm::{IntPred, Opcode, Val};

impl Lanes<'_, '_, '_> {
    /// The range of ids in which the row at hand has work: its start, a multiple of the width, and its end, one behind
    /// the last id; the two are equal if there is no work. The row's first work-item must be at hand, `length` is the
    /// row's number of work-items, and `once` asks for a range of at least one id.
    pub(super) fn tightened(&mut self, narrow: &Tightening, length: Val, once: Val) -> [Val; 2] {
        let ir = self.low.ir;
        let width = u64::from(narrow.width);
        kernel_ir::mark!(Tightening, !narrow.bounds.is_empty());
        kernel_ir::mark!(TighteningOnce, narrow.bounds.is_empty());
        let chunks = ir.bin(
            Opcode::LLVMUDiv,
            ir.add(length, ir.i64c(width - 1)),
            ir.i64c(width),
        );
        let mut made: HashMap<ValueId, Val> = HashMap::new();
        for &v in &self.region.live {
            if let Some(Saved::Group(slot, _)) = self.saved.get(&v) {
                let ty = self.low.values.register(self.low.ty(v));
                made.insert(v, ir.load(ty, *slot, 0));
            }
        }
        let none = ir.i64c(0);
        // Without bounds the region does only what the whole group shares: no chunk has work of its own.
        let (mut from, mut to) = match narrow.bounds.as_slice() {
            [] => (none, none),
            _ => (none, length),
        };
        for bound in &narrow.bounds {
            let Some((end, start, signed)) = ends(bound.predicate) else {
                continue;
            };
            let op = if signed {
                ConvertOp::SExt
            } else {
                ConvertOp::ZExt
            };
            let [ids, limit] =
                [bound.ids, bound.limit].map(|v| self.rematerialise_frozen(v, &mut made));
            let mut holds = ir.int_const(ir.i1, 1);
            for &(v, op, steps) in &bound.no_wrap {
                let first = self.rematerialise_frozen(v, &mut made);
                holds = ir.and(holds, self.stays(first, op, steps, narrow.width, chunks));
            }
            let [ids, limit] = [ids, limit].map(|v| self.wide(v, op));
            let (below, below_or_same) = if signed {
                (IntPred::LLVMIntSLT, IntPred::LLVMIntSLE)
            } else {
                (IntPred::LLVMIntULT, IntPred::LLVMIntULE)
            };
            let one = ir.i64c(1);
            // How many of the values `0`, `step`, `2 * step`, ... are less than `far`; with `inside`, or equal to it.
            let within = |far: Val, inside: bool, step: i64| {
                let far = if inside { far } else { ir.sub(far, one) };
                let step = ir.i64c(step.cast_unsigned());
                let steps = ir.bin(Opcode::LLVMUDiv, far, step);
                // No more than the row's length is needed: with that limit, adding one does not overflow.
                let steps = ir.intrinsic("llvm.umin", &[ir.i64], &[steps, length]);
                ir.add(steps, one)
            };
            let chunk = bound.steps.chunk;
            if let Some(inside) = end {
                let pred = if inside { below_or_same } else { below };
                let some = ir.icmp(pred, ids, limit);
                let far = ir.sub(limit, ids);
                // Exact to the work-item if chunks and lanes have the same step; else to the chunk.
                let far = match bound.steps.lane {
                    lane @ 1.. if lane.checked_mul(width.cast_signed()) == Some(chunk) => {
                        within(far, inside, lane)
                    }
                    _ => ir.mul(within(far, inside, chunk), ir.i64c(width)),
                };
                let behind = ir.select(some, far, none);
                let behind = ir.select(holds, behind, length);
                to = ir.intrinsic("llvm.umin", &[ir.i64], &[to, behind]);
            }
            if let Some(inside) = start {
                let last = bound.steps.lane.cast_unsigned() * (width - 1);
                let last = ir.add(ids, ir.i64c(last));
                // Chunks whose last lane lies before the limit have no work.
                let pred = if inside { below } else { below_or_same };
                let some = ir.icmp(pred, last, limit);
                let far = within(ir.sub(limit, last), !inside, chunk);
                let before = ir.select(some, far, none);
                let before = ir.select(holds, before, none);
                from = ir.intrinsic("llvm.umax", &[ir.i64], &[from, before]);
            }
        }
        self.low.clear_block_values();
        self.block_values.clear();
        let from = ir.mul(from, ir.i64c(width));
        let empty = ir.icmp(IntPred::LLVMIntUGE, from, to);
        let from = ir.select(empty, none, from);
        let least = ir.cast(Opcode::LLVMZExt, once, ir.i64);
        let to = ir.select(empty, least, to);
        let to = ir.intrinsic("llvm.umin", &[ir.i64], &[to, length]);
        [from, to]
    }

    fn wide(&self, v: Val, op: ConvertOp) -> Val {
        let ir = self.low.ir;
        match op {
            ConvertOp::SExt => ir.cast(Opcode::LLVMSExt, v, ir.i64),
            _ => ir.cast(Opcode::LLVMZExt, v, ir.i64),
        }
    }

    /// Bool: whether an integer that begins with `first` does not wrap around in `chunks` chunks of `width` lanes.
    fn stays(&self, first: Val, op: ConvertOp, steps: Steps, width: u32, chunks: Val) -> Val {
        let ir = self.low.ir;
        let lanes = steps.lane.cast_unsigned() * u64::from(width - 1);
        let far = ir.mul(
            ir.sub(chunks, ir.i64c(1)),
            ir.i64c(steps.chunk.cast_unsigned()),
        );
        let far = ir.add(far, ir.i64c(lanes));
        let wide = self.wide(first, op);
        let last = ir.add(wide, far);
        let bits = ir.int_width(ir.type_of(first));
        match (op, bits) {
            (ConvertOp::SExt, 64) => ir.icmp(IntPred::LLVMIntSGE, last, wide),
            (_, 64) => ir.icmp(IntPred::LLVMIntUGE, last, wide),
            (ConvertOp::SExt, _) => {
                let most = ir.i64c((1 << (bits - 1)) - 1);
                ir.icmp(IntPred::LLVMIntSLE, last, most)
            }
            _ => ir.icmp(IntPred::LLVMIntULE, last, ir.i64c((1 << bits) - 1)),
        }
    }
}
