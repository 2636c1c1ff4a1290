//! Loop versioning: a divergent branch that is uniform for most chunks is tested at the start of each chunk.
//!
//! ```text
//! if (i < n) c[i] = a[i] + b[i];                 // i: an id, n: an argument
//!
//! if all lanes agree on i < n:  vectors without masks; the branch is uniform
//! else:                         one work-item after another, or, in a sub-group, all lanes under a mask
//! ```

use kernel_ir::index::IndexFacts;
use kernel_ir::passes::ids;
use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{
    BinaryOp, BlockId, Builtin, Function, InstId, MathFn, Op, Predicate, TypeId, UnaryOp, ValueDef,
    ValueId,
};

use crate::input::Input;
use crate::no_wrap::from_ids;
use crate::region::Region;

/// Operations from a condition back to its comparisons: a bound on compile time. Largest in 17,722 modules of dpctl and
/// dpnp: 3; in our corpora: 6 (2026-11).
const DEPTH: usize = 16;
/// Instructions of the longest body of a branch that runs under a mask instead of being tested. Chosen for stencils of
/// several dimensions, which ran at half of Intel's speed (commit 8a2c457); the number is not measured.
const MASKED: usize = 80;

/// Whether few chunks of a row diverge on Bool `v`: it compares ids with values that are uniform along the row.
fn rarely_parts(region: &Region, shapes: &Shapes, v: ValueId, depth: usize) -> bool {
    let function = &region.function;
    if shapes.of(v) == Shape::Uniform {
        return true;
    }
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return false;
    };
    kernel_ir::reach!(DEPTH, DEPTH + 1 - depth);
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
            // Equality holds for a single work-item: one chunk of the row diverges, and often a row has only one chunk.
            let one = matches!(predicate, Predicate::IEq | Predicate::INe);
            // A large step makes many chunks diverge.
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

/// Whether few chunks of a row diverge at the branch at the end of `block`.
pub(crate) fn rarely_diverges(region: &Region, shapes: &Shapes, block: BlockId) -> bool {
    let cond = region.function.blocks[block.index()].term.operand();
    cond.is_some_and(|cond| rarely_parts(region, shapes, cond, DEPTH))
}

/// Whether a test before the branch at the end of `block` can find it uniform, and mostly does.
pub(crate) fn can_test(
    facts: &IndexFacts<'_>,
    region: &Region,
    shapes: &Shapes,
    block: BlockId,
) -> bool {
    let term = &region.function.blocks[block.index()].term;
    matches!(term, kernel_ir::Terminator::CondBr { .. })
        && term
            .operand()
            .is_some_and(|cond| from_ids(facts, cond) && rarely_parts(region, shapes, cond, DEPTH))
}

/// The divergent branches that are tested at the start of a chunk. With ids of several dimensions rows are short, and
/// the chunks at their ends, which diverge, are many: bodies that run well under a mask are then not tested.
pub(crate) fn assumed_uniform(input: &Input<'_>, region: &Region, shapes: &Shapes) -> Vec<BlockId> {
    if !input.module.uses(kernel_ir::Transform::Versioning) {
        return Vec::new();
    }
    let rows = has_rows(input.function);
    let facts = IndexFacts::new(input.module, &region.function);
    let order = region.cfg.reverse_post_order().iter().copied();
    order
        .filter(|&block| shapes.is_divergent(block) && can_test(&facts, region, shapes, block))
        .filter(|&block| !(rows && runs_well_masked(input, region, shapes, block)))
        .collect()
}

/// Whether the function uses ids beyond the first dimension.
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

/// Whether the body of the branch of `block` costs little more under a mask than without: no loops, no stops, and
/// contiguous accesses.
fn runs_well_masked(input: &Input<'_>, region: &Region, shapes: &Shapes, block: BlockId) -> bool {
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
        kernel_ir::reach!(MASKED, count);
        if count > MASKED
            || !insts
                .iter()
                .all(|i| is_row_work(input, function, shapes, *i))
        {
            return false;
        }
        work.extend_from_slice(region.cfg.successors(at));
    }
    true
}

/// Whether an instruction is plain arithmetic, or an access that is as fast under a mask.
fn is_row_work(input: &Input<'_>, function: &Function, shapes: &Shapes, inst: InstId) -> bool {
    let inst = &function.insts[inst.index()];
    let is_row = |ptr: ValueId, ty: TypeId| {
        let size = input.module.types.size_of(ty);
        let step = shapes.of(ptr).step();
        step.is_some_and(|step| u64::try_from(step) == Ok(size))
            && input.target.has_masked(&input.module.types, ty)
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
        } => input.target.has_mask_registers && is_row(*ptr, function.ty(*value)),
        Op::Math(math, ..) => {
            matches!(
                math,
                MathFn::Fma
                    | MathFn::Mad
                    | MathFn::Fabs
                    | MathFn::Fmin
                    | MathFn::Fmax
                    | MathFn::Sqrt
            ) || crate::functions::has_vector_form(*math)
        }
        Op::Binary(op, ..) => !matches!(
            op,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem | BinaryOp::SMod
        ),
        op => op.is_pure(),
    }
}
