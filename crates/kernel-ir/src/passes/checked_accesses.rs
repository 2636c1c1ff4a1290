//! Checked accesses: a kernel whose indices are compared with lengths runs without the comparisons where its ids and
//! arguments say that all of them hold.
//!
//! ```text
//!                                           %ok = ...    from ids and arguments
//!                                           br_if %ok, fast, checked
//! %in = cmp.ult %i, %len                  fast:
//! br_if %in, load, join                     assume %ok
//! load:                                     %v = load %p
//!   %v = load %p                    =>      ...
//!   br join                               checked:
//! join:                                     the kernel as it was
//!   %w = phi entry: 0, load: %v
//! ```
//!
//! A vectoriser compiles `fast` for whole vectors, and finds no branches there. Kernels in Rust, whose indices are all
//! checked, ran at 0.54 of the speed of the same kernels in OpenCL C, and run at 0.83 (`./x bench rust`, 2026-11).
//! Indices that are loaded from memory keep their comparisons, in `fast` too.

use std::collections::HashMap;

use super::edit::{self, Edit};
use super::index_ends::{Follow, Graph};
use super::simplify::simplify;
use crate::ir::{
    BinaryOp, BlockId, Builtin, Flags, Function, FunctionId, InstId, Module, Op, Predicate,
    Terminator, ValueDef, ValueId,
};
use crate::transforms::Transform;

/// Instructions of the largest kernel of which there are two copies: a bound on compile time. The longest kernel in
/// Rust of `tests/kernels` has 168 (2026-11).
const INSTRUCTIONS: usize = 600;
/// Conditions of one kernel, for the launch or for a vector: a bound on compile time. Of the kernels in Rust of
/// `tests/kernels` a stencil of three dimensions has the most, 32 for both together (2026-11).
const CONDITIONS: usize = 40;
/// Instructions behind one comparison: a vector of numbers is loaded, or each number of a structure. Not measured.
const BEHIND: usize = 40;

/// Work-items of the largest sub-group that a kernel without a required size may get: `SOLUM_SUB_GROUP_SIZE`.
const MOST_LANES: u32 = 32;

/// A branch around accesses.
struct Check {
    block: BlockId,
    accesses: BlockId,
    join: BlockId,
    /// Each index with its bound.
    tests: Vec<(ValueId, ValueId)>,
}

/// Makes the two copies of a kernel; returns whether it did.
pub(super) fn version(module: &mut Module, id: FunctionId) -> bool {
    let mut kernels = module.kernels.iter();
    let Some(kernel) = kernels.find(|kernel| kernel.function == id) else {
        return false;
    };
    let lanes = match kernel.required_sub_group_size {
        0 => MOST_LANES,
        required => required,
    };
    if !module.uses(Transform::CheckedAccesses) {
        return false;
    }
    let f = &module.functions[id.index()];
    if !can_be_copied(f) {
        return false;
    }
    let meets = has_meetings(f);
    let graph = Graph::new(f);
    let checks = checks(f, &graph);
    let is_in_loop = |check: &Check| graph.loops.innermost(check.block).is_some();
    if checks.len() < 2 && !checks.iter().any(is_in_loop) {
        return false;
    }
    let f = &mut module.functions[id.index()];
    let mut e = Edit::new(&mut module.types, &mut module.constants, f);
    let mut follow = Follow::new(&mut e, &graph, lanes);
    follow.begin(true);
    let holds = |follow: &mut Follow<'_, '_, '_>, check: &Check| {
        let mut tests = check.tests.iter();
        let mut each =
            |&(index, bound): &(ValueId, ValueId)| follow.bounded(index, bound, check.block);
        tests.all(|test| each(test).is_some())
    };
    let found: Vec<&Check> = checks
        .iter()
        .filter(|check| holds(&mut follow, check))
        .collect();
    let for_all = follow.begin(false);
    // Work-items that meet choose one copy together.
    let is_each_known = !meets && found.iter().all(|check| holds(&mut follow, check));
    let for_one = follow.begin(true);
    let for_one = if is_each_known { for_one } else { Vec::new() };
    let insts = follow.numbers.insts;
    crate::reach!(CONDITIONS, for_all.len().max(for_one.len()));
    let gains = found.len() > 1 || found.iter().any(|check| is_in_loop(check));
    if !gains || for_all.len().max(for_one.len()) > CONDITIONS {
        return false;
    }
    crate::mark!(CheckedAccesses);
    let always = for_all.is_empty() || is_each_known && for_one.is_empty();
    if !always {
        two_copies(&mut e, &graph, insts, [&for_all, &for_one]);
    }
    for check in found {
        // The first block has moved.
        let block = check_block(e.f, check);
        e.f.blocks[block.index()].term = Terminator::Br(check.accesses);
        for k in 0..e.f.blocks[check.join.index()].insts.len() {
            let inst = e.f.blocks[check.join.index()].insts[k];
            if let Op::Phi(incoming) = &mut e.f.insts[inst.index()].op {
                incoming.retain(|i| i.0 != block);
            }
        }
    }
    simplify(&mut e);
    edit::compact(e.f);
    true
}

/// The block that leads to the accesses.
fn check_block(f: &Function, check: &Check) -> BlockId {
    let before = &f.predecessors()[check.accesses.index()];
    before.first().copied().unwrap_or(check.block)
}

/// Whether the kernel may be there twice.
fn can_be_copied(f: &Function) -> bool {
    let all = || f.blocks.iter().flat_map(|b| &b.insts);
    crate::reach!(INSTRUCTIONS, all().count());
    let is_entered_once = f.predecessors().first().is_some_and(Vec::is_empty);
    let is_plain = |inst: &InstId| {
        let op = &f.insts[inst.index()].op;
        !matches!(op, Op::Check(..) | Op::Call(..) | Op::CallIndirect(..))
    };
    is_entered_once && all().count() <= INSTRUCTIONS && all().all(is_plain)
}

/// Whether a number depends on the sub-group.
fn is_of_sub_group(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::SubgroupSize
            | Builtin::SubgroupMaxSize
            | Builtin::SubgroupId
            | Builtin::NumSubgroups
            | Builtin::NumEnqueuedSubgroups
            | Builtin::SubgroupLocalInvocationId
    )
}

/// Whether work-items meet in the kernel, or know their sub-groups.
fn has_meetings(f: &Function) -> bool {
    let mut all = f.blocks.iter().flat_map(|b| &b.insts);
    all.any(|inst| match &f.insts[inst.index()].op {
        Op::Barrier(_) | Op::Group(..) => true,
        Op::WorkItem(builtin, _) => is_of_sub_group(*builtin),
        _ => false,
    })
}

/// The branches around accesses whose conditions are comparisons of indices with lengths.
fn checks(f: &Function, graph: &Graph) -> Vec<Check> {
    let order = graph.cfg.reverse_post_order().iter();
    let found = order.filter_map(|&block| {
        let Terminator::CondBr {
            cond,
            then,
            otherwise,
        } = f.blocks[block.index()].term
        else {
            return None;
        };
        let leads = matches!(f.blocks[then.index()].term, Terminator::Br(to) if to == otherwise);
        let is_own = then != otherwise && graph.cfg.predecessors(then) == [block];
        (leads && is_own && only_accesses(f, then)).then_some(())?;
        let mut tests = Vec::new();
        let mut work = vec![cond];
        while let Some(v) = work.pop() {
            let ValueDef::Inst(inst) = f.values[v.index()].def else {
                return None;
            };
            match f.insts[inst.index()].op {
                Op::Compare(Predicate::ULt, index, bound) => tests.push((index, bound)),
                Op::Binary(BinaryOp::And, a, b, _) if work.len() < 8 => work.extend([a, b]),
                _ => return None,
            }
        }
        Some(Check {
            block,
            accesses: then,
            join: otherwise,
            tests,
        })
    });
    found.collect()
}

/// Whether a block only loads or only stores.
fn only_accesses(f: &Function, block: BlockId) -> bool {
    let insts = &f.blocks[block.index()].insts;
    let (mut loads, mut stores) = (false, false);
    let fits = |inst: &InstId| match &f.insts[inst.index()].op {
        Op::Load {
            volatile: false, ..
        } => {
            loads = true;
            true
        }
        Op::Store {
            volatile: false, ..
        } => {
            stores = true;
            true
        }
        Op::PtrOffset { .. } | Op::Extract(..) | Op::Construct(_) => true,
        _ => false,
    };
    insts.len() <= BEHIND && insts.iter().all(fits) && loads != stores
}

/// Copies the function, and tests conditions, which `insts` compute, before the original and the copy: all of the first
/// ones, or all of the second ones, if there are any.
fn two_copies(e: &mut Edit<'_>, graph: &Graph, insts: Vec<InstId>, conditions: [&[ValueId]; 2]) {
    let entry = BlockId(0);
    let original = e.f.add_block();
    let (moved, term) = {
        let block = &mut e.f.blocks[entry.index()];
        (
            std::mem::take(&mut block.insts),
            std::mem::replace(&mut block.term, Terminator::Unreachable),
        )
    };
    // Both copies have the same private memory.
    let is_alloca =
        |f: &Function, inst: &InstId| matches!(f.insts[inst.index()].op, Op::Alloca { .. });
    let (allocas, rest): (Vec<InstId>, Vec<InstId>) =
        moved.into_iter().partition(|inst| is_alloca(e.f, inst));
    e.f.blocks[original.index()].insts = rest;
    e.f.blocks[original.index()].term = term;
    let mut blocks = vec![original];
    blocks.extend(
        graph
            .cfg
            .reverse_post_order()
            .iter()
            .copied()
            .filter(|&block| block != entry),
    );
    for &block in &blocks {
        for k in 0..e.f.blocks[block.index()].insts.len() {
            let inst = e.f.blocks[block.index()].insts[k];
            if let Op::Phi(incoming) = &mut e.f.insts[inst.index()].op {
                for (from, _) in incoming.iter_mut().filter(|i| i.0 == entry) {
                    *from = original;
                }
            }
        }
    }
    let copies = copy(e.f, &blocks);
    e.f.blocks[entry.index()].insts = allocas.into_iter().chain(insts).collect();
    let ty = e.types.bool();
    let mut append = |op, a, b| e.append(entry, Op::Binary(op, a, b, Flags::default()), ty);
    let [for_all, for_one] = conditions.map(|all| {
        all.iter()
            .copied()
            .reduce(|a, b| append(BinaryOp::And, a, b))
    });
    let Some(for_all) = for_all else { return };
    let ok = match for_one {
        Some(for_one) => append(BinaryOp::Or, for_all, for_one),
        None => for_all,
    };
    let fast = e.f.add_block();
    e.f.push(fast, Op::Assume(ok), None, 0);
    e.f.blocks[fast.index()].term = Terminator::Br(original);
    e.f.blocks[entry.index()].term = Terminator::CondBr {
        cond: ok,
        then: fast,
        otherwise: copies[&original],
    };
}

/// Copies blocks that lead to each other only; returns the copy of each.
fn copy(f: &mut Function, blocks: &[BlockId]) -> HashMap<BlockId, BlockId> {
    let block_of: HashMap<BlockId, BlockId> =
        blocks.iter().map(|&block| (block, f.add_block())).collect();
    let mut value_of: HashMap<ValueId, ValueId> = HashMap::new();
    let mut made = Vec::new();
    for block in blocks {
        let to = block_of[block];
        for inst in f.blocks[block.index()].insts.clone() {
            let inst = f.insts[inst.index()].clone();
            let ty = inst.result.map(|v| f.ty(v));
            let (id, result) = f.add_inst(inst.op, ty, inst.word);
            f.blocks[to.index()].insts.push(id);
            made.push(id);
            value_of.extend(inst.result.zip(result));
        }
        let mut term = f.blocks[block.index()].term.clone();
        term.successors_mut(|next| *next = block_of.get(next).copied().unwrap_or(*next));
        if let Some(v) = term.operand_mut() {
            *v = value_of.get(v).copied().unwrap_or(*v);
        }
        f.blocks[to.index()].term = term;
    }
    for id in made {
        let op = &mut f.insts[id.index()].op;
        op.operands_mut(|v| *v = value_of.get(v).copied().unwrap_or(*v));
        if let Op::Phi(incoming) = op {
            for (from, _) in incoming {
                *from = block_of.get(from).copied().unwrap_or(*from);
            }
        }
    }
    block_of
}
