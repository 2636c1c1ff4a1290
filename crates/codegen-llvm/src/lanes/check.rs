//! Assumptions that are tested once, at the start of a chunk of lanes: then code without masks and with plain
//! addresses serves; where the test fails, the chunk runs one work-item after another.

use std::collections::HashMap;

use kernel_ir::passes::ids;
use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{
    BinaryOp, BlockId, Builtin, ConvertOp, Function, InstId, MathFn, Module, Op, Predicate, Type,
    TypeId, UnaryOp, ValueDef, ValueId,
};

use super::Lanes;
use super::region::Region;
use crate::kernel::Lower;
use crate::llvm::{IntPred, Opcode, Val};

/// Instructions computed beforehand for one test, one of the other, and ways on which they are come to: what is made of
/// itself twice over has more than anyone can follow.
const DEPTH: usize = 16;
const VISITS: usize = 1000;

/// Extensions that are tested for one chunk at most.
const TESTS: usize = 32;
/// Instructions under a branch that some lanes may run alone.
const MASKED: usize = 80;
/// Steps that are tested for a whole row at once: it stays far from the narrower integer's ends.
const ROW_STEP: u64 = 1 << 12;

/// Whether `v` is made of ids, arguments and constants by a few steps of arithmetic.
fn from_ids(function: &Function, v: ValueId) -> bool {
    made_of_ids(function, v, DEPTH, &mut 0)
}

fn made_of_ids(function: &Function, v: ValueId, depth: usize, visits: &mut usize) -> bool {
    *visits += 1;
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return true;
    };
    if depth == 0 || *visits >= VISITS {
        return false;
    }
    let op = &function.insts[inst.index()].op;
    let simple = match op {
        Op::WorkItem(..) => true,
        Op::Binary(op, ..) => !matches!(
            op,
            BinaryOp::FRem
                | BinaryOp::FMod
                | BinaryOp::UDiv
                | BinaryOp::SDiv
                | BinaryOp::URem
                | BinaryOp::SRem
                | BinaryOp::SMod
        ),
        Op::Convert(..) | Op::Compare(..) | Op::Select { .. } | Op::Copy(_) => true,
        Op::Unary(op, ..) => *op == UnaryOp::Not,
        _ => false,
    };
    let mut all = simple;
    if all {
        op.operands(|v| all = all && made_of_ids(function, v, depth - 1, visits));
    }
    all
}

/// Whether few chunks of a row part on Bool `v`: it compares ids with what is the same for all.
fn rarely_parts(region: &Region, shapes: &Shapes, v: ValueId, depth: usize) -> bool {
    let function = &region.function;
    if shapes.of(v) == Shape::Uniform {
        return true;
    }
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return false;
    };
    if depth == 0 {
        return false;
    }
    let step = |v: ValueId| shapes.of(v).step();
    match &function.insts[inst.index()].op {
        Op::Compare(predicate, a, b) => {
            let float = matches!(
                predicate,
                Predicate::FOrdEq
                    | Predicate::FOrdNe
                    | Predicate::FOrdLt
                    | Predicate::FOrdLe
                    | Predicate::FOrdGt
                    | Predicate::FOrdGe
                    | Predicate::FUnordEq
                    | Predicate::FUnordNe
                    | Predicate::FUnordLt
                    | Predicate::FUnordLe
                    | Predicate::FUnordGt
                    | Predicate::FUnordGe
                    | Predicate::FOrdered
                    | Predicate::FUnordered
            );
            // One item is always alone with its answer: of a row some chunk parts, and often it is the only one.
            let one = matches!(predicate, Predicate::IEq | Predicate::INe);
            // A large step parts lanes often.
            let near = |s: Option<i64>| s.is_some_and(|s| s.unsigned_abs() <= 4);
            !float && !one && near(step(*a)) && near(step(*b))
        }
        Op::Binary(
            BinaryOp::And | BinaryOp::Or | BinaryOp::LogicalEqual | BinaryOp::LogicalNotEqual,
            a,
            b,
            _,
        ) => {
            rarely_parts(region, shapes, *a, depth - 1)
                && rarely_parts(region, shapes, *b, depth - 1)
        }
        Op::Unary(UnaryOp::Not, a, _) => rarely_parts(region, shapes, *a, depth - 1),
        Op::Select {
            cond,
            then,
            otherwise,
        } => [cond, then, otherwise]
            .iter()
            .all(|v| rarely_parts(region, shapes, **v, depth - 1)),
        _ => false,
    }
}

/// What an instruction carries over into more room, where a step from lane to lane must not wrap around in the
/// room that there was: extensions, and shifts to the right.
pub(super) fn extension(op: &Op) -> Option<(ConvertOp, ValueId)> {
    match op {
        Op::Convert(op @ (ConvertOp::SExt | ConvertOp::ZExt), from, _) => Some((*op, *from)),
        Op::Binary(BinaryOp::AShr, from, ..) => Some((ConvertOp::SExt, *from)),
        Op::Binary(BinaryOp::LShr, from, ..) => Some((ConvertOp::ZExt, *from)),
        _ => None,
    }
}

/// Results of extensions that do not wrap around: for certain, and because a test at the start of each chunk makes
/// sure of it.
pub(super) fn exact(module: &Module, function: &Function, shapes: &Shapes) -> [Vec<ValueId>; 2] {
    let (mut certain, mut found) = (Vec::new(), Vec::new());
    for block in function.reverse_post_order() {
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let (Some((op, from)), Some(result)) = (extension(&inst.op), inst.result) else {
                continue;
            };
            let steps = |v: ValueId| shapes.of(v).step().is_some_and(|s| s != 0);
            if !(steps(from) && steps(result)) {
                continue;
            }
            if super::range::is_kept(module, function, op, from) {
                certain.push(result);
            } else if from_ids(function, from) {
                found.push(result);
            }
        }
    }
    found.truncate(TESTS);
    [certain, found]
}

/// Whether the branch at the end of `block` can be found beforehand to be one way for all, and mostly is.
pub(super) fn can_test(region: &Region, shapes: &Shapes, block: BlockId) -> bool {
    let term = &region.function.blocks[block.index()].term;
    matches!(term, kernel_ir::Terminator::CondBr { .. })
        && term.operand().is_some_and(|cond| {
            from_ids(&region.function, cond) && rarely_parts(region, shapes, cond, DEPTH)
        })
}

/// Divergent branches that are worth a test at the start. Where ids of several dimensions count, rows are short and
/// their ends part a share of all chunks: what runs well under a mask is not tested.
pub(super) fn together(low: &Lower<'_>, region: &Region, shapes: &Shapes) -> Vec<BlockId> {
    let rows = has_rows(low.function);
    let order = region.cfg.reverse_post_order().iter().copied();
    order
        .filter(|&block| shapes.is_divergent(block) && can_test(region, shapes, block))
        .filter(|&block| !(rows && runs_well_masked(low, region, shapes, block)))
        .collect()
}

/// Whether the function asks where its work-item is beyond the first dimension.
fn has_rows(function: &Function) -> bool {
    ids(function).iter().any(|id| {
        matches!(
            id,
            (
                Builtin::GlobalInvocationId | Builtin::LocalInvocationId | Builtin::WorkgroupId,
                1..
            )
        )
    })
}

/// Whether what hangs on the branch of `block` costs little more for some lanes than for all: no loops, no stops,
/// rows of words.
fn runs_well_masked(low: &Lower<'_>, region: &Region, shapes: &Shapes, block: BlockId) -> bool {
    let function = &region.function;
    let stop = region.post.immediate(block);
    let home = region.loops.innermost(block);
    let mut count = 0;
    let mut seen = vec![block];
    let mut work = region.cfg.successors(block).to_vec();
    while let Some(at) = work.pop() {
        if Some(at) == stop || seen.contains(&at) {
            continue;
        }
        seen.push(at);
        if region.loops.innermost(at) != home || matches!(region.exits.get(&at), Some(Some(_))) {
            return false;
        }
        let insts = &function.blocks[at.index()].insts;
        count += insts.len();
        if count > MASKED || !insts.iter().all(|i| is_row_work(low, function, shapes, *i)) {
            return false;
        }
        work.extend_from_slice(region.cfg.successors(at));
    }
    true
}

/// Whether an instruction is plain arithmetic, or an access that a mask does not slow down.
fn is_row_work(low: &Lower<'_>, function: &Function, shapes: &Shapes, inst: InstId) -> bool {
    let inst = &function.insts[inst.index()];
    let is_row = |ptr: ValueId, ty: TypeId| {
        let size = low.values.module.types.size_of(ty);
        let step = shapes.of(ptr).step();
        step.is_some_and(|step| u64::try_from(step) == Ok(size)) && low.has_masked(ty)
    };
    match &inst.op {
        Op::Load {
            ptr,
            volatile: false,
            ..
        } => {
            let result = inst.result.map(|v| function.ty(v));
            shapes.of(*ptr) == Shape::Uniform || result.is_some_and(|ty| is_row(*ptr, ty))
        }
        Op::Store {
            ptr,
            value,
            volatile: false,
            ..
        } => low.has_mask_registers() && is_row(*ptr, function.ty(*value)),
        Op::Math(math, ..) => {
            matches!(
                math,
                MathFn::Fma
                    | MathFn::Mad
                    | MathFn::Fabs
                    | MathFn::Fmin
                    | MathFn::Fmax
                    | MathFn::Sqrt
            ) || crate::mathematics::has(*math)
        }
        Op::Binary(op, ..) => !matches!(
            op,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem | BinaryOp::SMod
        ),
        op => op.is_pure(),
    }
}

/// How a later value of a series with that step compares with its first one if it did not wrap around.
fn in_order(op: ConvertOp, step: i64) -> IntPred {
    match (op == ConvertOp::SExt, step > 0) {
        (true, true) => IntPred::LLVMIntSGE,
        (true, false) => IntPred::LLVMIntSLE,
        (false, true) => IntPred::LLVMIntUGE,
        (false, false) => IntPred::LLVMIntULE,
    }
}

impl Lanes<'_, '_, '_> {
    /// Bool: whether assumptions hold for all of the row `y`, `z` (variables) that [`Self::check`] need not look at
    /// then; `None` when there are none.
    pub(super) fn check_row(&mut self, row: [Val; 2]) -> Option<Val> {
        let ir = self.low.ir;
        if !self
            .form
            .exact
            .iter()
            .any(|&(v, step)| self.is_of_row(v, step) && self.relies_on(v))
        {
            return None;
        }
        let [y, z] = row.map(|id| ir.load(ir.i64, id, 8));
        super::place(self.low, [ir.i64c(0), y, z]);
        let last = ir.sub(self.low.launch.size[0], ir.i64c(1));
        let mut tests: Vec<Val> = Vec::new();
        let mut firsts = HashMap::new();
        for &(result, step) in &self.form.exact {
            let Some((_, op, from)) = self.extended(result) else {
                continue;
            };
            if !self.is_of_row(result, step) || !self.relies_on(result) {
                continue;
            }
            let first = self.first_beforehand(from, &mut firsts);
            let far = ir.mul(last, ir.i64c(step.cast_unsigned()));
            let ty = ir.type_of(first);
            tests.push(if ir.int_width(ty) == 64 {
                let at_end = ir.add(first, far);
                ir.icmp(in_order(op, step), at_end, first)
            } else {
                // With room to spare.
                let wide = |v: Val| match op {
                    ConvertOp::SExt => ir.cast(Opcode::LLVMSExt, v, ir.i64),
                    _ => ir.cast(Opcode::LLVMZExt, v, ir.i64),
                };
                let at_end = ir.add(wide(first), far);
                let again = wide(ir.cast(Opcode::LLVMTrunc, at_end, ty));
                ir.icmp(IntPred::LLVMIntEQ, at_end, again)
            });
        }
        self.low.clear_near();
        self.near.clear();
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// Whether the region has to know that `result` does not wrap around: it makes it, or is given what work-items
    /// made before.
    fn relies_on(&self, result: ValueId) -> bool {
        let region = self.region;
        let made = region.block_of(result).is_some();
        made || region.live.iter().any(|v| self.form.items.contains_key(v))
    }

    /// Whether the extension that makes `result` is tested for rows: small steps in enough bits, which few rows
    /// leave.
    fn is_of_row(&self, result: ValueId, step: i64) -> bool {
        let bits = self.extended(result).map_or(0, |(_, _, from)| {
            8 * self.low.values.module.types.size_of(self.low.ty(from))
        });
        bits >= 32 && step.unsigned_abs() <= ROW_STEP
    }

    /// What makes `result`, if it extends something: how, and what.
    fn extended(&self, result: ValueId) -> Option<(InstId, ConvertOp, ValueId)> {
        let ValueDef::Inst(inst) = self.f.values[result.index()].def else {
            return None;
        };
        let (op, from) = extension(&self.f.insts[inst.index()].op)?;
        Some((inst, op, from))
    }

    /// Bool: whether all assumptions hold for the chunk; `None` when there are none. `row`: those of its row do.
    pub(super) fn check(&mut self, row: bool) -> Option<Val> {
        let ir = self.low.ir;
        let mut tests: Vec<Val> = Vec::new();
        let mut made = HashMap::new();
        let region = self.region;
        for &block in &region.together {
            let Some(cond) = region.function.blocks[block.index()].term.operand() else {
                continue;
            };
            let lanes = self.beforehand(cond, &mut made)[0];
            let bits = ir.cast(Opcode::LLVMBitCast, lanes, ir.int(self.width));
            let ty = ir.type_of(bits);
            let none = ir.icmp(IntPred::LLVMIntEQ, bits, ir.int_const(ty, 0));
            let all = ir.icmp(IntPred::LLVMIntEQ, bits, ir.int_const(ty, u64::MAX));
            tests.push(ir.or(none, all));
        }
        tests.extend(self.exact_tests(row));
        self.low.clear_near();
        self.near.clear();
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// Bools: whether extensions of ids do not wrap around in the chunk, but for those that were tested for its
    /// whole `row`.
    pub(super) fn exact_tests(&mut self, row: bool) -> Vec<Val> {
        let ir = self.low.ir;
        let mut tests = Vec::new();
        let mut firsts = HashMap::new();
        // Those of the whole kernel: values that come from earlier regions rely on them too.
        for &(result, step) in &self.form.exact {
            let Some((inst, op, from)) = self.extended(result) else {
                continue;
            };
            self.proved.insert(inst);
            if row && self.is_of_row(result, step) || !self.relies_on(result) {
                continue;
            }
            let first = self.first_beforehand(from, &mut firsts);
            let test = self.does_not_wrap(op, first, step);
            tests.push(test.unwrap_or_else(|| ir.int_const(ir.i1, 0)));
        }
        self.low.clear_near();
        self.near.clear();
        tests
    }

    /// Bool: whether `first`, first + step, ... stay in order when they are extended; `None` when the steps
    /// are too large to tell.
    pub(super) fn does_not_wrap(&self, op: ConvertOp, first: Val, step: i64) -> Option<Val> {
        let ir = self.low.ir;
        let ty = ir.type_of(first);
        let bits = ir.int_width(ty);
        let far = step.checked_mul(i64::from(self.width) - 1)?;
        if far.unsigned_abs() >= 1 << (bits - 1).min(62) {
            return None;
        }
        let last = ir.add(first, ir.int_const(ty, far as u64));
        Some(ir.icmp(in_order(op, step), last, first))
    }

    /// The first lane's value of something made from ids, computed here.
    pub(super) fn first_beforehand(&mut self, v: ValueId, made: &mut HashMap<ValueId, Val>) -> Val {
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
            .map(|operand| (operand, self.first_beforehand(operand, made)))
            .collect();
        self.low.clear_near();
        for (operand, value) in values {
            self.low.set_near(operand, value);
        }
        let ir = self.low.ir;
        // Nobody has come to the operation yet, and not each lane will.
        self.low.wrap_flags = false;
        let value = self.low.operation(&inst.op, Some(v), inst.word);
        self.low.wrap_flags = true;
        self.low.clear_near();
        // What is computed beforehand has a scalar form; anything else would not have been chosen.
        let value = value
            .ok()
            .flatten()
            .unwrap_or_else(|| ir.null(self.low.values.register(self.low.ty(v))));
        made.insert(v, value);
        value
    }

    /// The same, whatever number where what it was made of has none.
    pub(super) fn frozen_beforehand(
        &mut self,
        v: ValueId,
        made: &mut HashMap<ValueId, Val>,
    ) -> Val {
        let first = self.first_beforehand(v, made);
        self.low.ir.freeze(first)
    }

    /// The lanes of something made from ids, computed here.
    pub(super) fn beforehand(
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
            let parts = self.beforehand(operand, made);
            self.near.insert(operand, super::Rep::vector(parts));
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

    /// Whether a value is an integer.
    pub(super) fn is_integer(&self, v: ValueId) -> bool {
        matches!(
            self.low.values.module.types.get(self.low.ty(v)),
            Type::Int(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_itself_twice_over_is_given_up_on() {
        for (line, made_of_ids) in [
            ("iadd X, X", true),
            ("select %c, X, %l", true),
            ("select %c, X, X", true),
            ("udiv X, X", false),
        ] {
            for count in [1, 4, 12, 15, 40] {
                let lines = (1..=count).map(|i| {
                    let x = if i == 1 {
                        "%l".into()
                    } else {
                        format!("%x{}", i - 1)
                    };
                    format!("  %x{i}: i64 = {}\n", line.replace('X', &x))
                });
                let text = format!(
                    "kernel @k(%out: ptr<global>, %n: i64) {{\nb0:\n  %l: i64 = wi.LocalInvocationId 0
  %c: bool = cmp.ult %l, %n\n{}  store %out, %x{count} align 8\n  ret\n}}",
                    lines.collect::<String>()
                );
                let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let function = &module.functions[0];
                let last = function.insts.iter().rev().find_map(|inst| inst.result);
                let last = last.expect("a chain");
                let mut visits = 0;
                let found = super::made_of_ids(function, last, DEPTH, &mut visits);
                assert!(visits <= VISITS + count, "{count} times {line:?}: {visits}");
                assert!(found == made_of_ids || count > 4, "{count} times {line:?}");
            }
        }
    }
}
