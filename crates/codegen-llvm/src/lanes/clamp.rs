//! Clamps of an id to a bound that all lanes share, `min(i, n - 1)`, and an id's lowest bits, `i & 255`.
//!
//! In most chunks no lane's value is clamped, and no bit that the mask cuts off changes from lane to lane. So the
//! result has the id's step under a test at run time: `a[min(i, n - 1)]` is one vector load where the test holds.

use kernel_ir::{BinaryOp, Op, ValueId};

use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{IntPred, Val};

impl Lanes<'_, '_, '_> {
    /// The result of a clamping operation, if its lanes probably all keep their value.
    pub(super) fn clamped(&mut self, op: &Op, result: ValueId) -> Option<Rep> {
        let Op::Binary(which, a, b, _) = op else {
            return None;
        };
        if *which == BinaryOp::And {
            return self.low_bits(op, *a, *b, result);
        }
        let (upward, signed) = match which {
            BinaryOp::SMax => (true, true),
            BinaryOp::UMax => (true, false),
            BinaryOp::SMin => (false, true),
            BinaryOp::UMin => (false, false),
            _ => return None,
        };
        let (mut id, mut bound) = (self.rep(*a), self.rep(*b));
        if id.is_uniform() {
            (id, bound) = (bound, id);
        }
        let (first, bound) = (id.first?, bound.first.filter(|_| bound.is_uniform())?);
        if id.step == 0 || self.leaves(result).len() != 1 {
            return None;
        }
        let holds = self.keeps(first, id.step, bound, upward, signed)?;
        kernel_ir::mark!(ClampBounds);
        let ir = self.low.ir;
        let holds = id.holds.map_or(holds, |before| ir.and(before, holds));
        Some(Rep {
            first: Some(first),
            step: id.step,
            holds: Some(holds),
            vector: Some(self.lane_operation(op, result)),
        })
    }

    /// An id under a mask of its lowest bits.
    fn low_bits(&mut self, op: &Op, a: ValueId, b: ValueId, result: ValueId) -> Option<Rep> {
        let ir = self.low.ir;
        let (mut id, mut mask) = (self.rep(a), self.rep(b));
        if id.is_uniform() {
            (id, mask) = (mask, id);
        }
        let (first, mask) = (id.first?, mask.first.filter(|_| mask.is_uniform())?);
        let step = id.step;
        let ty = ir.type_of(first);
        let far = step.checked_mul(i64::from(self.width) - 1)?;
        if step <= 0 || self.leaves(result).len() != 1 || far >> (ir.int_width(ty) - 1).min(62) != 0
        {
            return None;
        }
        let far = ir.int_const(ty, far as u64);
        let low = ir.and(first, mask);
        let more = ir.add(mask, ir.int_const(ty, 1));
        let of_bits = ir.icmp(IntPred::LLVMIntEQ, ir.and(mask, more), ir.int_const(ty, 0));
        let enough = ir.icmp(IntPred::LLVMIntUGE, mask, far);
        let within = ir.icmp(IntPred::LLVMIntULE, low, ir.sub(mask, far));
        let holds = ir.and(of_bits, ir.and(enough, within));
        kernel_ir::mark!(ClampLowBits);
        let holds = id.holds.map_or(holds, |before| ir.and(before, holds));
        Some(Rep {
            first: Some(low),
            step,
            holds: Some(holds),
            vector: Some(self.lane_operation(op, result)),
        })
    }

    /// Bool: whether `first`, `first + step`, ... neither wrap around nor pass `bound`: the lower bound if `lower`,
    /// else the upper one.
    fn keeps(&self, first: Val, step: i64, bound: Val, lower: bool, signed: bool) -> Option<Val> {
        use IntPred::{LLVMIntSGE, LLVMIntSLE, LLVMIntUGE, LLVMIntULE};
        let ir = self.low.ir;
        let ty = ir.type_of(first);
        let far = step.checked_mul(i64::from(self.width) - 1)?;
        if far.unsigned_abs() >= 1 << (ir.int_width(ty) - 1).min(62) {
            return None;
        }
        let last = ir.add(first, ir.int_const(ty, far as u64));
        let (at_least, at_most) = if signed {
            (LLVMIntSGE, LLVMIntSLE)
        } else {
            (LLVMIntUGE, LLVMIntULE)
        };
        let (low, high) = if step > 0 {
            (first, last)
        } else {
            (last, first)
        };
        let in_order = ir.icmp(at_most, low, high);
        let within = if lower {
            ir.icmp(at_least, low, bound)
        } else {
            ir.icmp(at_most, high, bound)
        };
        Some(ir.and(in_order, within))
    }
}
