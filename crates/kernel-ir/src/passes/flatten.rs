//! Sides of branches that lanes take in different directions, when they only compute a little: all lanes
//! compute all of them and each picks its own. Lanes that run side by side would compute all of them anyway,
//! with a test before each.

use super::edit::{self, Edit};
use super::shape::{self, Lanes};
use super::simplify::simplify;
use crate::cfg::{Cfg, Loops};
use crate::ir::{
    BinaryOp, BlockId, ConvertOp, Function, InstId, MathFn, Module, Op, Predicate, Terminator,
    ValueId,
};
use crate::types::Type;

/// Instructions of one side.
const SIDE: usize = 8;
/// Instructions of all sides of one branch.
const SIDES: usize = 40;
/// Branches within branches.
const ROUNDS: usize = 4;

/// Takes such branches from `f`, for lanes of a row; whether there were any.
pub(super) fn flatten(module: &mut Module, f: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        if !has_sides(f) {
            break;
        }
        let shapes = shape::shapes(module, f, Lanes::Row);
        let parts: Vec<BlockId> = f
            .reverse_post_order()
            .into_iter()
            .filter(|&b| shapes.is_divergent(b))
            .collect();
        let mut e = Edit::new(&mut module.types, &mut module.constants, f);
        let mut again = false;
        // Inner branches first.
        for &block in parts.iter().rev() {
            again |= flatten_branch(&mut e, block);
        }
        if !again {
            break;
        }
        changed = true;
        simplify(&mut e);
        edit::compact(f);
    }
    changed
}

/// Whether any branch has a side that could go.
fn has_sides(f: &Function) -> bool {
    let before = f.predecessors();
    f.blocks.iter().any(|block| {
        let mut some = false;
        if matches!(
            block.term,
            Terminator::CondBr { .. } | Terminator::Switch { .. }
        ) {
            block
                .term
                .successors(|to| some |= side(f, &before, to).is_some());
        }
        some
    })
}

/// Where `block` leads, if it is a side: only entered from one block, and only computing a little.
fn side(f: &Function, before: &[Vec<BlockId>], block: BlockId) -> Option<BlockId> {
    let this = &f.blocks[block.index()];
    let Terminator::Br(to) = this.term else {
        return None;
    };
    let few = this.insts.len() <= SIDE && before[block.index()].len() == 1 && to != block;
    let cheap = |inst: &InstId| is_cheap(&f.insts[inst.index()].op);
    (few && this.insts.iter().all(cheap)).then_some(to)
}

/// Whether every lane can compute it for next to nothing, whatever its operands.
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

/// Folds the sides of `block`'s branch that lead to one place into it.
fn flatten_branch(e: &mut Edit<'_>, block: BlockId) -> bool {
    let before = e.f.predecessors();
    let term = e.f.blocks[block.index()].term.clone();
    let mut targets = Vec::new();
    term.successors(|to| targets.push(to));
    targets.sort_unstable();
    targets.dedup();
    if targets.len() < 2 {
        return false;
    }
    // Where most of them lead.
    let sides: Vec<(BlockId, BlockId)> = targets
        .iter()
        .filter_map(|&t| Some((t, side(e.f, &before, t)?)))
        .collect();
    let ways = |to: BlockId| {
        sides.iter().filter(|s| s.1 == to).count() + usize::from(targets.contains(&to))
    };
    let Some(join) = sides.iter().map(|s| s.1).max_by_key(|&to| (ways(to), to)) else {
        return false;
    };
    let cfg = Cfg::new(e.f);
    let loops = Loops::new(&cfg);
    let header = |l: u32| loops.loops[l as usize].header;
    let mut at = loops.innermost(block);
    while let Some(l) = at {
        if header(l) == join {
            return false;
        }
        at = loops.loops[l as usize].parent;
    }
    if join == block {
        return false;
    }
    let mut room = SIDES;
    let mut folded: Vec<BlockId> = Vec::new();
    for &(t, to) in &sides {
        let len = e.f.blocks[t.index()].insts.len();
        if to == join && t != join && len <= room {
            room -= len;
            folded.push(t);
        }
    }
    // One side alone beside code that stays: nothing is won but a block.
    let direct = targets.contains(&join);
    if folded.is_empty() || (folded.len() == 1 && !direct) {
        return false;
    }
    let Some(ways) = conditions(e, block, &term, &folded, direct.then_some(join)) else {
        return false;
    };
    crate::mark!(IfConversion);
    for &t in &folded {
        let insts = std::mem::take(&mut e.f.blocks[t.index()].insts);
        e.f.blocks[block.index()].insts.extend(insts);
        e.f.blocks[t.index()].term = Terminator::Unreachable;
    }
    // What each phi of the join gets from here.
    let phis: Vec<InstId> = e.f.blocks[join.index()]
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
        for (way, cond) in &ways {
            let Some(v) = of(way.unwrap_or(block)) else {
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
            .filter(|(from, _)| *from != block && !folded.contains(from))
            .collect();
        if let Some(v) = picked {
            rest.push((block, v));
        }
        e.f.insts[phi.index()].op = Op::Phi(rest);
    }
    let mut term = term;
    term.successors_mut(|to| {
        if folded.contains(to) {
            *to = join;
        }
    });
    let mut left = Vec::new();
    term.successors(|to| left.push(to));
    left.sort_unstable();
    left.dedup();
    let term = match (left.as_slice(), term) {
        ([only], _) => Terminator::Br(*only),
        // Two ways are one question.
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
    };
    e.f.blocks[block.index()].term = term;
    true
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

/// The ways out of `block` that are folded (`None`: straight to the join), each with the Bool that says whether
/// it is taken; the first one is taken where no other is.
fn conditions(
    e: &mut Edit<'_>,
    block: BlockId,
    term: &Terminator,
    folded: &[BlockId],
    direct: Option<BlockId>,
) -> Option<Vec<(Option<BlockId>, Option<ValueId>)>> {
    let way = |to: BlockId| match folded.contains(&to) {
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
            let mut found: Vec<(Option<BlockId>, Option<ValueId>)> = Vec::new();
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
