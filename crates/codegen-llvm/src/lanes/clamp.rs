//! Clamps of an id to a bound that all lanes share, `min(i, n - 1)`, and an id's lowest bits, `i & 255`.
//!
//! In most chunks no lane's value is clamped, and no bit that the mask cuts off changes from lane to lane. So the
//! result has the id's step under a test at run time: `a[min(i, n - 1)]` is one vector load where the test holds.

use kernel_ir::{BinaryOp, Op, ValueId};

use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{IntPred, Val};

impl Lanes<'_, '_, '_> {
    /// The result of the clamping operation `op` of kind `which`, which the plan gives the step `step`.
    pub(super) fn clamped(
        &mut self,
        op: &Op,
        which: BinaryOp,
        operands: [ValueId; 2],
        step: i64,
        result: ValueId,
    ) -> Rep {
        let ir = self.low.ir;
        let [mut id, mut bound] = operands;
        if self.rep(id).is_uniform() {
            (id, bound) = (bound, id);
        }
        let before = self.rep(id).holds;
        let (first, bound) = (self.scalar(id), self.scalar(bound));
        let (first, holds) = match which {
            BinaryOp::And => self.low_bits(first, step, bound),
            _ => (first, self.keeps(which, first, step, bound)),
        };
        let holds = before.map_or(holds, |before| ir.and(before, holds));
        Rep {
            first: Some(first),
            step,
            holds: Some(holds),
            vector: Some(self.lane_operation(op, result)),
        }
    }

    /// An id under a mask of its lowest bits; Bool: whether the lanes' results are `step` apart.
    fn low_bits(&self, first: Val, step: i64, mask: Val) -> (Val, Val) {
        kernel_ir::mark!(ClampLowBits);
        let ir = self.low.ir;
        let ty = ir.type_of(first);
        let distance = ir.int_const(ty, self.distance_of_last(step));
        let low = ir.and(first, mask);
        let more = ir.add(mask, ir.int_const(ty, 1));
        let of_bits = ir.icmp(IntPred::LLVMIntEQ, ir.and(mask, more), ir.int_const(ty, 0));
        let enough = ir.icmp(IntPred::LLVMIntUGE, mask, distance);
        let within = ir.icmp(IntPred::LLVMIntULE, low, ir.sub(mask, distance));
        (low, ir.and(of_bits, ir.and(enough, within)))
    }

    /// The last lane's value less the first lane's. The plan makes sure that the value's type can hold it.
    fn distance_of_last(&self, step: i64) -> u64 {
        step.wrapping_mul(i64::from(self.width) - 1).cast_unsigned()
    }

    /// Bool: whether `first`, `first + step`, ... neither wrap around nor pass `bound`.
    fn keeps(&self, clamp: BinaryOp, first: Val, step: i64, bound: Val) -> Val {
        use IntPred::{LLVMIntSGE, LLVMIntSLE, LLVMIntUGE, LLVMIntULE};
        kernel_ir::mark!(ClampBounds);
        let ir = self.low.ir;
        let ty = ir.type_of(first);
        let last = ir.add(first, ir.int_const(ty, self.distance_of_last(step)));
        let (at_least, at_most) = match clamp {
            BinaryOp::SMax | BinaryOp::SMin => (LLVMIntSGE, LLVMIntSLE),
            _ => (LLVMIntUGE, LLVMIntULE),
        };
        let (low, high) = if step > 0 {
            (first, last)
        } else {
            (last, first)
        };
        let in_order = ir.icmp(at_most, low, high);
        let within = match clamp {
            BinaryOp::SMax | BinaryOp::UMax => ir.icmp(at_least, low, bound),
            _ => ir.icmp(at_most, high, bound),
        };
        ir.and(in_order, within)
    }
}
