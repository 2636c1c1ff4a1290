//! Kernels of which there are two copies: one without checks of indices, for vectors whose ids and the arguments say that
//! all of them hold, and one with them (`checked_accesses` of kernel-ir).
//!
//! ```text
//!   %ok = cmp.ult %i, %len
//!   br_if %ok, fast, checked      a test at the start of each chunk chooses one of two regions
//! fast:
//!   assume %ok
//! ```

use kernel_ir::index::IndexFacts;
use kernel_ir::passes::cfg::Cfg;
use kernel_ir::{
    BinaryOp, BlockId, Function, Op, Predicate, Terminator, Transform, ValueDef, ValueId,
};

use crate::facts::Facts;
use crate::input::Input;
use crate::no_wrap::from_ids;

/// Conditions of one branch: a bound on compile time, above that of kernel-ir.
const CONDITIONS: usize = 128;

/// The branch between the copies.
pub(crate) struct Copies {
    block: BlockId,
    pub(crate) cond: ValueId,
    fast: BlockId,
    checked: BlockId,
}

/// Which copy a region has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copy {
    Fast,
    Checked,
}

/// The branch between two copies of a kernel without stops, if a test of a chunk's ends can decide it.
pub(crate) fn copies(input: &Input<'_>, facts: &Facts, function: &Function) -> Option<Copies> {
    let module = input.module;
    if facts.sub_groups.is_some()
        || !input.segments.stops.is_empty()
        || !module.uses(Transform::CheckedAccesses)
    {
        return None;
    }
    let found = marked(function)?;
    // So small a step does not wrap around twice in a chunk.
    let is_near = |step: Option<i64>| step.is_some_and(|step| step.unsigned_abs() <= 4);
    let index_facts = IndexFacts::new(module, function);
    let parts = alternatives(function, found.cond);
    // The first of two is tested for one lane only.
    let fits = |v: ValueId, is_first: bool| {
        let step = facts.row_shape(v).step();
        from_ids(&index_facts, v) && is_near(step) && (!is_first || step == Some(0))
    };
    for (i, &part) in parts.iter().enumerate() {
        let is_first = parts.len() == 2 && i == 0;
        let mut operands = comparisons(function, part)?
            .into_iter()
            .flat_map(|(_, of)| of);
        if !operands.all(|v| fits(v, is_first)) {
            return None;
        }
    }
    Some(found)
}

/// The conditions of which one must hold: one that is the same for the whole launch and one for each work-item, or
/// `cond` alone.
#[must_use]
pub fn alternatives(function: &Function, cond: ValueId) -> Vec<ValueId> {
    let ValueDef::Inst(inst) = function.values[cond.index()].def else {
        return vec![cond];
    };
    match function.insts[inst.index()].op {
        Op::Binary(BinaryOp::Or, a, b, _) => vec![a, b],
        _ => vec![cond],
    }
}

/// The first block whose branch is known to hold behind it, because it says so there.
fn marked(function: &Function) -> Option<Copies> {
    function.blocks.iter().enumerate().find_map(|(b, block)| {
        let Terminator::CondBr {
            cond,
            then,
            otherwise,
        } = block.term
        else {
            return None;
        };
        let is_assumed = |inst: &kernel_ir::InstId| matches!(function.insts[inst.index()].op, Op::Assume(v) if v == cond);
        let insts = &function.blocks[then.index()].insts;
        (then != otherwise && insts.iter().any(is_assumed)).then_some(Copies {
            block: BlockId(b as u32),
            cond,
            fast: then,
            checked: otherwise,
        })
    })
}

/// The comparisons of which `cond` is the conjunction, each with its operands; `None` if it is another condition.
pub fn comparisons(function: &Function, cond: ValueId) -> Option<Vec<(ValueId, [ValueId; 2])>> {
    let mut found = Vec::new();
    let mut work = vec![cond];
    while let Some(v) = work.pop() {
        let ValueDef::Inst(inst) = function.values[v.index()].def else {
            return None;
        };
        match function.insts[inst.index()].op {
            Op::Compare(predicate, a, b) if is_order(predicate) => found.push((v, [a, b])),
            Op::Binary(BinaryOp::And, a, b, _) => work.extend([a, b]),
            _ => return None,
        }
        if found.len() + work.len() > CONDITIONS {
            return None;
        }
    }
    Some(found)
}

/// Whether a comparison of integers that holds at both ends of a row, on which they change evenly, holds between too.
fn is_order(predicate: Predicate) -> bool {
    use Predicate as P;
    matches!(
        predicate,
        P::ULt | P::ULe | P::UGt | P::UGe | P::SLt | P::SLe | P::SGt | P::SGe
    )
}

/// Leaves one of the copies in `function`.
pub(crate) fn keep(function: &mut Function, copies: &Copies, which: Copy) {
    let to = match which {
        Copy::Fast => copies.fast,
        Copy::Checked => copies.checked,
    };
    function.blocks[copies.block.index()].term = Terminator::Br(to);
    let cfg = Cfg::new(function);
    for b in 0..function.blocks.len() {
        if cfg.position(BlockId(b as u32)).is_none() {
            function.blocks[b].insts.clear();
            function.blocks[b].term = Terminator::Unreachable;
            continue;
        }
        for k in 0..function.blocks[b].insts.len() {
            let inst = function.blocks[b].insts[k];
            if let Op::Phi(incoming) = &mut function.insts[inst.index()].op {
                incoming.retain(|(from, _)| {
                    cfg.position(*from).is_some()
                        && cfg.successors(*from).contains(&BlockId(b as u32))
                });
            }
        }
    }
}

/// The function with the fast copy only, as far as single instructions decide; `None` if there are no copies.
pub(crate) fn fast_only(input: &Input<'_>) -> Option<Function> {
    if !input.module.uses(Transform::CheckedAccesses) {
        return None;
    }
    let copies = marked(input.function)?;
    let mut function = input.function.clone();
    keep(&mut function, &copies, Copy::Fast);
    drop_condition(&mut function, copies.cond);
    Some(function)
}

/// Removes what only the condition is computed from.
fn drop_condition(function: &mut Function, cond: ValueId) {
    for block in &mut function.blocks {
        let insts = &function.insts;
        block
            .insts
            .retain(|inst| !matches!(insts[inst.index()].op, Op::Assume(v) if v == cond));
    }
    let mut used = vec![false; function.values.len()];
    for _ in 0..CONDITIONS {
        used.fill(false);
        for block in &function.blocks {
            for inst in &block.insts {
                function.insts[inst.index()]
                    .op
                    .operands(|v| used[v.index()] = true);
            }
            if let Some(v) = block.term.operand() {
                used[v.index()] = true;
            }
        }
        let mut changed = false;
        let insts = &function.insts;
        for block in &mut function.blocks {
            let before = block.insts.len();
            block.insts.retain(|inst| {
                let inst = &insts[inst.index()];
                !inst.op.is_pure() || inst.result.is_none_or(|v| used[v.index()])
            });
            changed |= block.insts.len() != before;
        }
        if !changed {
            break;
        }
    }
}
