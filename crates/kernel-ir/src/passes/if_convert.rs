//! If-conversion: short arms of divergent branches become straight-line code and a select.
//!
//! ```text
//!   br_if %c, a, b                 %x = iadd %p, %q
//! a: %x = iadd %p, %q              %y = isub %p, %q
//!   br join                  =>    %r = select %c, %x, %y
//! b: %y = isub %p, %q
//!   br join
//! join: %r = phi a: %x, b: %y
//! ```
//!
//! A vectorised kernel executes both arms of a divergent branch anyway, and tests the mask before each.

use super::edit::{self, Edit};
use super::shape::{self, LaneScope};
use super::simplify::simplify;
use crate::cfg::{Cfg, Loops};
use crate::ir::{
    BinaryOp, BlockId, ConvertOp, Function, InstId, MathFn, Module, Op, Predicate, Terminator,
    ValueId,
};
use crate::types::Type;

/// Instructions of one arm. Without conversion, a `switch` of four arms of 4 and of 8 instructions took 2.3 and 1.75
/// times as long, an `if` with two arms of 4 instructions 1.13 times. Arms of 12 instructions would gain as well: 0.62
/// of the time in a `switch`, 0.93 in an `if`, but 1.1 where one lane in 30 takes the arm (2026-11, AMD EPYC of Zen 4,
/// two processors).
const ARM_INSTRUCTIONS: usize = 8;
/// Instructions of all arms of one branch: a bound on work that only some lanes need. Largest in 17,722 modules of
/// dpctl and dpnp: 11; in our corpora: 18 (2026-11).
const BRANCH_INSTRUCTIONS: usize = 40;
/// Levels of nested branches: a bound on compile time. Largest in 17,722 modules of dpctl and dpnp: 1; in our corpora:
/// 3 (2026-11).
const NESTED_BRANCHES: usize = 4;

/// Converts the branches of `f` that diverge within a row of work-items; returns whether there were any.
pub(super) fn if_convert(module: &mut Module, f: &mut Function) -> bool {
    if !module.uses(crate::Transform::IfConversion) {
        return false;
    }
    let mut changed = false;
    for nested in 0..NESTED_BRANCHES {
        if !has_convertible_arm(f) {
            break;
        }
        let shapes = shape::shapes(module, f, LaneScope::Row);
        let divergent: Vec<BlockId> = f
            .reverse_post_order()
            .into_iter()
            .filter(|&b| shapes.is_divergent(b))
            .collect();
        let mut e = Edit::new(&mut module.types, &mut module.constants, f);
        let mut again = false;
        // Inner branches first.
        for &block in divergent.iter().rev() {
            again |= convert_branch(&mut e, block);
        }
        if !again {
            break;
        }
        changed = true;
        crate::reach!(NESTED_BRANCHES, nested + 1);
        simplify(&mut e);
        edit::compact(f);
    }
    changed
}

/// Whether any branch has an arm that could be converted.
fn has_convertible_arm(f: &Function) -> bool {
    let before = f.predecessors();
    f.blocks.iter().any(|block| {
        let mut some = false;
        if matches!(
            block.term,
            Terminator::CondBr { .. } | Terminator::Switch { .. }
        ) {
            block
                .term
                .successors(|to| some |= arm_join(f, &before, to).is_some());
        }
        some
    })
}

/// The successor of `block` if it is a convertible arm: one predecessor, few cheap instructions, one successor.
fn arm_join(f: &Function, before: &[Vec<BlockId>], block: BlockId) -> Option<BlockId> {
    let this = &f.blocks[block.index()];
    let Terminator::Br(to) = this.term else {
        return None;
    };
    let few =
        this.insts.len() <= ARM_INSTRUCTIONS && before[block.index()].len() == 1 && to != block;
    let cheap = |inst: &InstId| is_cheap(&f.insts[inst.index()].op);
    if before[block.index()].len() == 1 && to != block && this.insts.iter().all(cheap) {
        crate::reach!(ARM_INSTRUCTIONS, this.insts.len());
    }
    (few && this.insts.iter().all(cheap)).then_some(to)
}

/// Whether an instruction is cheap and safe to execute speculatively, whatever its operands.
fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Binary(op, ..) => !matches!(
            op,
            BinaryOp::UDiv
                | BinaryOp::SDiv
                | BinaryOp::URem
                | BinaryOp::SRem
                | BinaryOp::SMod
                | BinaryOp::FDiv
                | BinaryOp::FRem
                | BinaryOp::FMod
        ),
        Op::Math(math, ..) => matches!(
            math,
            MathFn::Fma | MathFn::Mad | MathFn::Fabs | MathFn::Fmin | MathFn::Fmax
        ),
        Op::Convert(op, ..) => !matches!(op, ConvertOp::IntToPtr),
        Op::Unary(..)
        | Op::Compare(..)
        | Op::Select { .. }
        | Op::PtrOffset { .. }
        | Op::Copy(_)
        | Op::Extract(..)
        | Op::Insert(..)
        | Op::Construct(_)
        | Op::Shuffle(..) => true,
        _ => false,
    }
}

/// A converted edge (`None`: from the branch directly to the join), and the Bool that says whether it is taken. The first
/// edge of a branch has no Bool: it is taken where no other is.
type Edge = (Option<BlockId>, Option<ValueId>);

/// A branch whose arms can be converted.
struct Convertible {
    /// The arms that are moved before the branch.
    arms: Vec<BlockId>,
    /// The block to which they lead.
    join: BlockId,
    /// Whether the branch also leads there directly.
    is_direct: bool,
}

/// The blocks to which `term` leads, each once.
fn targets(term: &Terminator) -> Vec<BlockId> {
    let mut targets = Vec::new();
    term.successors(|to| targets.push(to));
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The arms of the branch at the end of `block` that lead to one join; `None` if the branch would stay.
fn find_convertible(f: &Function, block: BlockId) -> Option<Convertible> {
    let before = f.predecessors();
    let targets = targets(&f.blocks[block.index()].term);
    if targets.len() < 2 {
        return None;
    }
    // The join is the block to which most arms lead.
    let arms: Vec<(BlockId, BlockId)> = targets
        .iter()
        .filter_map(|&t| Some((t, arm_join(f, &before, t)?)))
        .collect();
    let edges = |to: BlockId| {
        arms.iter().filter(|s| s.1 == to).count() + usize::from(targets.contains(&to))
    };
    let join = arms.iter().map(|s| s.1).max_by_key(|&to| (edges(to), to))?;
    if join == block || is_back_edge(f, block, join) {
        return None;
    }
    let len = |t: BlockId| f.blocks[t.index()].insts.len();
    let to_join = arms.iter().filter(|(t, to)| *to == join && *t != join);
    crate::reach!(
        BRANCH_INSTRUCTIONS,
        to_join.clone().map(|(t, _)| len(*t)).sum::<usize>()
    );
    let mut budget = BRANCH_INSTRUCTIONS;
    let mut converted = Vec::new();
    for &(t, _) in to_join {
        if len(t) <= budget {
            budget -= len(t);
            converted.push(t);
        }
    }
    let is_direct = targets.contains(&join);
    // With one convertible arm beside a long one, the branch would stay.
    let is_whole = !converted.is_empty() && (converted.len() > 1 || is_direct);
    is_whole.then_some(Convertible {
        arms: converted,
        join,
        is_direct,
    })
}

/// Whether `to` is the header of a loop around `from`.
fn is_back_edge(f: &Function, from: BlockId, to: BlockId) -> bool {
    let cfg = Cfg::new(f);
    let loops = Loops::new(&cfg);
    let around = std::iter::successors(loops.innermost(from), |&l| loops.loops[l as usize].parent);
    let mut headers = around.map(|l| loops.loops[l as usize].header);
    headers.any(|header| header == to)
}

/// Moves the arms of `block`'s branch that have one join into `block`.
fn convert_branch(e: &mut Edit<'_>, block: BlockId) -> bool {
    let Some(branch) = find_convertible(e.f, block) else {
        return false;
    };
    let term = e.f.blocks[block.index()].term.clone();
    let direct = branch.is_direct.then_some(branch.join);
    let Some(edges) = conditions(e, block, &term, &branch.arms, direct) else {
        return false;
    };
    crate::mark!(IfConversion);
    for &arm in &branch.arms {
        let insts = std::mem::take(&mut e.f.blocks[arm.index()].insts);
        e.f.blocks[block.index()].insts.extend(insts);
        e.f.blocks[arm.index()].term = Terminator::Unreachable;
    }
    merge_phis(e, block, &branch, &edges);
    let term = shortened(e, block, term, &branch);
    e.f.blocks[block.index()].term = term;
    true
}

/// Replaces the inputs that each phi of the join has from the arms by a select.
fn merge_phis(e: &mut Edit<'_>, block: BlockId, branch: &Convertible, edges: &[Edge]) {
    let phis: Vec<InstId> = e.f.blocks[branch.join.index()]
        .insts
        .iter()
        .copied()
        .take_while(|i| matches!(e.f.insts[i.index()].op, Op::Phi(_)))
        .collect();
    for phi in phis {
        let Op::Phi(incoming) = &e.f.insts[phi.index()].op else {
            continue;
        };
        let incoming = incoming.clone();
        let of = |from: BlockId| incoming.iter().find(|i| i.0 == from).map(|i| i.1);
        let mut picked = None;
        for (edge, cond) in edges {
            let Some(v) = of(edge.unwrap_or(block)) else {
                continue;
            };
            picked = Some(match (picked, cond) {
                (None, _) => v,
                (Some(old), _) if old == v => old,
                (Some(old), None) => old,
                (Some(old), Some(cond)) => {
                    let ty = e.f.ty(v);
                    let cond = *cond;
                    let op = Op::Select {
                        cond,
                        then: v,
                        otherwise: old,
                    };
                    e.append(block, op, ty)
                }
            });
        }
        let mut rest: Vec<(BlockId, ValueId)> = incoming
            .into_iter()
            .filter(|(from, _)| *from != block && !branch.arms.contains(from))
            .collect();
        if let Some(v) = picked {
            rest.push((block, v));
        }
        e.f.insts[phi.index()].op = Op::Phi(rest);
    }
}

/// The branch `term` of `block` when its converted arms lead to the join directly.
fn shortened(
    e: &mut Edit<'_>,
    block: BlockId,
    mut term: Terminator,
    branch: &Convertible,
) -> Terminator {
    term.successors_mut(|to| {
        if branch.arms.contains(to) {
            *to = branch.join;
        }
    });
    let left = targets(&term);
    match (left.as_slice(), term) {
        ([only], _) => Terminator::Br(*only),
        // A switch with two targets left is a conditional branch.
        (
            [_, _],
            Terminator::Switch {
                value,
                default,
                cases,
            },
        ) => {
            let other = left.iter().copied().find(|&to| to != default);
            let other = other.unwrap_or(default);
            let others = cases.iter().filter(|c| c.1 == other).map(|c| c.0);
            match any_of(e, block, value, others) {
                Some(cond) => Terminator::CondBr {
                    cond,
                    then: other,
                    otherwise: default,
                },
                None => Terminator::Br(default),
            }
        }
        (_, term) => term,
    }
}

/// Bool: whether integer `value` is one of `cases`, at the end of `block`; `None` when there are none.
fn any_of(
    e: &mut Edit<'_>,
    block: BlockId,
    value: ValueId,
    cases: impl Iterator<Item = u64>,
) -> Option<ValueId> {
    let Type::Int(bits) = *e.ty(value) else {
        return None;
    };
    let mut any = None;
    for case in cases {
        let case = e.int(bits, case);
        let test = e.compare(block, Predicate::IEq, value, case);
        any = Some(match any {
            None => test,
            Some(old) => e.binary(block, BinaryOp::Or, old, test),
        });
    }
    any
}

/// The converted edges of `block`.
fn conditions(
    e: &mut Edit<'_>,
    block: BlockId,
    term: &Terminator,
    converted: &[BlockId],
    direct: Option<BlockId>,
) -> Option<Vec<Edge>> {
    let way = |to: BlockId| match converted.contains(&to) {
        true => Some(Some(to)),
        false if direct == Some(to) => Some(None),
        false => None,
    };
    match term {
        Terminator::CondBr {
            cond,
            then,
            otherwise,
        } => Some(vec![(way(*otherwise)?, None), (way(*then)?, Some(*cond))]),
        Terminator::Switch {
            value,
            default,
            cases,
        } => {
            if !matches!(e.ty(*value), Type::Int(_)) {
                return None;
            }
            let mut found: Vec<Edge> = Vec::new();
            if let Some(first) = way(*default) {
                found.push((first, None));
            }
            for &(_, to) in cases {
                let Some(way) = way(to) else { continue };
                if found.iter().any(|f| f.0 == way) {
                    continue;
                }
                let own = cases.iter().filter(|c| c.1 == to).map(|c| c.0);
                let test = any_of(e, block, *value, own);
                found.push((way, test));
            }
            Some(found)
        }
        _ => None,
    }
}
