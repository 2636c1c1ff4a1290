//! Tests of the plan's assumptions, at the start of a chunk or a row.
//!
//! The plan assumes that some divergent branches go one way for a whole chunk (loop versioning), and that some narrow
//! integers do not wrap around in it. Where the tests hold, the chunk runs without masks and with scalar addresses.
//! Where one fails, its work-items run one after another, or, if the chunk is a sub-group, under a mask.
//!
//! ```text
//! if (i < n) out[(long)i] = 0;
//!
//! branch      `i < n` is true in all lanes, or false in all lanes
//! no-wrap     the last lane's `i` is not below the first lane's
//! ```

use std::collections::HashMap;

use kernel_ir::index::extension;
use kernel_ir::{ConvertOp, InstId, Op, Predicate, ValueDef, ValueId};

use super::region::Lanes;
use crate::llvm::{IntPred, Opcode, Val};

/// Largest step that is tested for a whole row at once: with such steps few rows reach the ends of the narrow integer.
const ROW_STEP: u64 = 1 << 12;

/// How a later value of a series with that step compares with the first one, if the series did not wrap around.
fn in_order(op: ConvertOp, step: i64) -> IntPred {
    match (op == ConvertOp::SExt, step > 0) {
        (true, true) => IntPred::LLVMIntSGE,
        (true, false) => IntPred::LLVMIntSLE,
        (false, true) => IntPred::LLVMIntUGE,
        (false, false) => IntPred::LLVMIntULE,
    }
}

impl Lanes<'_, '_, '_> {
    /// Bool: whether those assumptions hold that are tested for the whole row `y`, `z` (variables), so that
    /// [`Self::check`] may skip them; `None` if there are none.
    pub(super) fn check_row(&mut self, row: [Val; 2]) -> Option<Val> {
        let ir = self.low.ir;
        if !self
            .form
            .no_wrap
            .iter()
            .any(|&(v, step)| self.is_of_row(v, step) && self.relies_on(v))
        {
            return None;
        }
        let [y, z] = row.map(|id| ir.load(ir.i64, id, 8));
        super::region::place(self.low, [ir.i64c(0), y, z]);
        let last = ir.sub(self.low.at.launch.size[0], ir.i64c(1));
        let mut tests: Vec<Val> = Vec::new();
        let mut firsts = HashMap::new();
        for &(result, step) in &self.form.no_wrap {
            let Some((_, op, from)) = self.extended(result) else {
                continue;
            };
            if !self.is_of_row(result, step) || !self.relies_on(result) {
                continue;
            }
            let first = self.rematerialise_first(from, &mut firsts);
            let distance = ir.mul(last, ir.i64c(step.cast_unsigned()));
            let ty = ir.type_of(first);
            tests.push(if ir.int_width(ty) == 64 {
                let at_end = ir.add(first, distance);
                ir.icmp(in_order(op, step), at_end, first)
            } else {
                // The last value is computed in 64 bits, and must be the same after a cut to the narrow type.
                let wide = |v: Val| match op {
                    ConvertOp::SExt => ir.cast(Opcode::LLVMSExt, v, ir.i64),
                    _ => ir.cast(Opcode::LLVMZExt, v, ir.i64),
                };
                let at_end = ir.add(wide(first), distance);
                let again = wide(ir.cast(Opcode::LLVMTrunc, at_end, ty));
                ir.icmp(IntPred::LLVMIntEQ, at_end, again)
            });
        }
        self.low.clear_block_values();
        self.block_values.clear();
        kernel_ir::mark!(NoWrapRow, !tests.is_empty());
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// Whether the region needs the no-wrap test of `result`: it makes that value, or reads values that work-items
    /// saved in earlier regions.
    fn relies_on(&self, result: ValueId) -> bool {
        let region = self.region;
        let made = region.block_of(result).is_some();
        made || region
            .live
            .iter()
            .any(|v| self.form.per_item.contains_key(v))
    }

    /// Whether the extension that makes `result` is tested for whole rows: its step is small and the narrow integer has
    /// at least 32 bits, so few rows fail the test.
    fn is_of_row(&self, result: ValueId, step: i64) -> bool {
        let bits = self.extended(result).map_or(0, |(_, _, from)| {
            8 * self.low.values.module.types.size_of(self.low.ty(from))
        });
        bits >= 32 && step.unsigned_abs() <= ROW_STEP
    }

    /// The extension that makes `result`, if one does: the instruction, its kind, and its operand.
    fn extended(&self, result: ValueId) -> Option<(InstId, ConvertOp, ValueId)> {
        let ValueDef::Inst(inst) = self.f.values[result.index()].def else {
            return None;
        };
        let (op, from) = extension(&self.f.insts[inst.index()].op)?;
        Some((inst, op, from))
    }

    /// Bool: whether all assumptions hold for the chunk; `None` if there are none. `row`: those that are tested for
    /// whole rows are known to hold.
    pub(super) fn check(&mut self, row: bool) -> Option<Val> {
        let ir = self.low.ir;
        let mut tests: Vec<Val> = Vec::new();
        let mut made = HashMap::new();
        let region = self.region;
        for &block in &region.assumed_uniform {
            let Some(cond) = region.function.blocks[block.index()].term.operand() else {
                continue;
            };
            let lanes = self.rematerialise_lanes(cond, &mut made)[0];
            let bits = ir.cast(Opcode::LLVMBitCast, lanes, ir.int(self.width));
            let ty = ir.type_of(bits);
            let none = ir.icmp(IntPred::LLVMIntEQ, bits, ir.int_const(ty, 0));
            let all = ir.icmp(IntPred::LLVMIntEQ, bits, ir.int_const(ty, u64::MAX));
            tests.push(ir.or(none, all));
        }
        tests.extend(self.condition_test());
        tests.extend(self.no_wrap_tests(row));
        self.low.clear_block_values();
        self.block_values.clear();
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// Bool: whether the region's condition holds in all lanes; `None` if it has none.
    pub(super) fn condition_test(&mut self) -> Option<Val> {
        let (ir, cond) = (self.low.ir, self.region.tested?);
        kernel_ir::mark!(FastChunk);
        let [for_all, for_one] = match vectorise::alternatives(self.f, cond)[..] {
            [for_all, for_one] => [for_all, for_one],
            _ => return self.test_at_ends(cond),
        };
        let holds = self.rematerialise_first(for_all, &mut HashMap::new());
        let slot = self.low.entry_alloca(ir.i1, 1);
        ir.store(holds, slot, 1);
        let [each, done] = [c"each.lane", c"tested"].map(|name| self.low.new_block(name));
        ir.cond_br(holds, done, each);
        ir.at_end(each);
        let holds = self.test_at_ends(for_one)?;
        ir.store(holds, slot, 1);
        ir.br(done);
        ir.at_end(done);
        self.low.clear_block_values();
        self.block_values.clear();
        Some(ir.load(ir.i1, slot, 1))
    }

    /// Bool: whether a conjunction of comparisons holds in all lanes. Each does if it holds in the first and in the
    /// last one, because the values between these lie between theirs.
    fn test_at_ends(&mut self, cond: ValueId) -> Option<Val> {
        let ir = self.low.ir;
        let compared = vectorise::comparisons(self.f, cond)?;
        let step_of = |v: ValueId| {
            let shape = self.shapes.map(|shapes| shapes.of(v));
            shape
                .and_then(kernel_ir::passes::shape::Shape::step)
                .unwrap_or(0)
        };
        let steps: Vec<[i64; 2]> = compared.iter().map(|(_, of)| of.map(step_of)).collect();
        let here = self.low.at.item;
        let mut firsts = HashMap::new();
        let mut test = self.rematerialise_first(cond, &mut firsts);
        if steps.iter().any(|steps| *steps != [0; 2]) {
            let [x, y, z] = here.local;
            let last = ir.add(x, ir.i64c(u64::from(self.width) - 1));
            super::region::place(self.low, [last, y, z]);
            let mut lasts = HashMap::new();
            let at_end = self.rematerialise_first(cond, &mut lasts);
            test = ir.and(test, at_end);
            self.low.at.item = here;
            let mut ordered = Vec::new();
            for ((comparison, operands), steps) in compared.into_iter().zip(steps) {
                let signed = self.is_signed(comparison);
                for (v, step) in operands.into_iter().zip(steps) {
                    let (Some(&first), Some(&last)) = (firsts.get(&v), lasts.get(&v)) else {
                        continue;
                    };
                    if step == 0 || ordered.contains(&(v, signed)) {
                        continue;
                    }
                    ordered.push((v, signed));
                    let op = if signed {
                        ConvertOp::SExt
                    } else {
                        ConvertOp::ZExt
                    };
                    test = ir.and(test, ir.icmp(in_order(op, step), last, first));
                }
            }
        }
        self.low.clear_block_values();
        self.block_values.clear();
        Some(test)
    }

    /// Whether an instruction compares numbers with signs.
    fn is_signed(&self, comparison: ValueId) -> bool {
        let ValueDef::Inst(inst) = self.f.values[comparison.index()].def else {
            return false;
        };
        matches!(
            self.f.insts[inst.index()].op,
            Op::Compare(
                Predicate::SLt | Predicate::SLe | Predicate::SGt | Predicate::SGe,
                ..
            )
        )
    }

    /// Bools: whether extensions of ids do not wrap around in the chunk. `row`: those that are tested for whole rows
    /// are left out.
    pub(super) fn no_wrap_tests(&mut self, row: bool) -> Vec<Val> {
        let ir = self.low.ir;
        let mut tests = Vec::new();
        let mut firsts = HashMap::new();
        // All extensions of the kernel: values from earlier regions rely on them too.
        for &(result, step) in &self.form.no_wrap {
            let Some((inst, op, from)) = self.extended(result) else {
                continue;
            };
            self.proved.insert(inst);
            if row && self.is_of_row(result, step) || !self.relies_on(result) {
                continue;
            }
            let first = self.rematerialise_first(from, &mut firsts);
            let test = self.does_not_wrap(op, first, step);
            kernel_ir::mark!(NoWrapChunk);
            tests.push(test.unwrap_or_else(|| ir.int_const(ir.i1, 0)));
        }
        self.low.clear_block_values();
        self.block_values.clear();
        tests
    }

    /// Bool: whether `first`, `first + step`, ... stay in order when they are extended; `None` if the steps are too
    /// large to tell.
    pub(super) fn does_not_wrap(&self, op: ConvertOp, first: Val, step: i64) -> Option<Val> {
        let ir = self.low.ir;
        let ty = ir.type_of(first);
        let bits = ir.int_width(ty);
        let distance = step.checked_mul(i64::from(self.width) - 1)?;
        if distance.unsigned_abs() >= 1 << (bits - 1).min(62) {
            return None;
        }
        let last = ir.add(first, ir.int_const(ty, distance as u64));
        Some(ir.icmp(in_order(op, step), last, first))
    }

    /// Computes here the first lane's value of `v`, which is made of ids, arguments and constants.
    pub(super) fn rematerialise_first(
        &mut self,
        v: ValueId,
        made: &mut HashMap<ValueId, Val>,
    ) -> Val {
        if let Some(&done) = made.get(&v) {
            return done;
        }
        let ValueDef::Inst(inst) = self.f.values[v.index()].def else {
            return self.low.get(v);
        };
        let inst = &self.f.insts[inst.index()];
        let mut operands = Vec::new();
        inst.op.operands(|v| operands.push(v));
        let values: Vec<(ValueId, Val)> = operands
            .into_iter()
            .map(|operand| (operand, self.rematerialise_first(operand, made)))
            .collect();
        self.low.clear_block_values();
        for (operand, value) in values {
            self.low.set_block_value(operand, value);
        }
        let ir = self.low.ir;
        // Work-items have not reached the operation yet, and some never will: its no-wrap flags may not hold.
        self.low.wrap_flags = false;
        let value = self.low.operation(&inst.op, Some(v), inst.word);
        self.low.wrap_flags = true;
        self.low.clear_block_values();
        // The plan asks only for values that have a scalar form.
        let value = value
            .ok()
            .flatten()
            .unwrap_or_else(|| ir.null(self.low.values.register(self.low.ty(v))));
        made.insert(v, value);
        value
    }

    /// The same, frozen: some number even where an operand is poison.
    pub(super) fn rematerialise_frozen(
        &mut self,
        v: ValueId,
        made: &mut HashMap<ValueId, Val>,
    ) -> Val {
        let first = self.rematerialise_first(v, made);
        self.low.ir.freeze(first)
    }

    /// Computes here the lanes of `v`, which is made of ids, arguments and constants.
    pub(super) fn rematerialise_lanes(
        &mut self,
        v: ValueId,
        made: &mut HashMap<ValueId, Vec<Val>>,
    ) -> Vec<Val> {
        if let Some(done) = made.get(&v) {
            return done.clone();
        }
        let ValueDef::Inst(inst) = self.f.values[v.index()].def else {
            return self.vectors(v);
        };
        let op = self.f.insts[inst.index()].op.clone();
        let mut operands = Vec::new();
        op.operands(|v| operands.push(v));
        for operand in operands {
            let parts = self.rematerialise_lanes(operand, made);
            self.block_values
                .insert(operand, super::rep::Rep::vector(parts));
        }
        let parts = match &op {
            Op::WorkItem(builtin, dimension) => {
                let rep = self.work_item(*builtin, *dimension, v);
                self.spread(v, &rep)
            }
            _ => self.lane_operation(&op, v),
        };
        made.insert(v, parts.clone());
        parts
    }
}
