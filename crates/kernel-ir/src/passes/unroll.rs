//! Loops over barriers in which the distance between work-items' elements changes from turn to turn, `t[off * (2 * l + 1)]`
//! with an `off` that doubles: trees of sums, scans, butterflies. Turns in which elements lie near each other, which
//! also are those in which most work-items take part, are taken out of the loop, at its start or its end: their distance
//! is a constant then, and lanes that run side by side read and write rows where they would gather. The other turns
//! stay a loop: what is compiled for a turn costs as much as a small kernel.
//!
//! Only loops whose turns can be counted now, and whose turns end at one place that all work-items come to.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::counted::{Counted, Known, Tables, phis, redirect, scalar, value};
use super::edit::{self, Edit};
use super::fold::Scalar;
use super::shape::{self, Lanes, NEAR, Shapes};
use super::simplify::simplify;
use crate::cfg::{Cfg, Dominators, Loop, Loops};
use crate::ir::{
    BinaryOp, BlockId, Function, GroupScope, InstId, Module, Op, Predicate, Scope, Terminator,
    ValueDef, ValueId,
};
use crate::types::Type;

/// Loops of a function.
const LOOPS: usize = 8;
/// Instructions and blocks of a function afterwards.
const INSTRUCTIONS: usize = 1000;
/// Barriers of a function afterwards: back ends compile what lies between two like a kernel of its own.
const BARRIERS: usize = 32;
/// Operations from an address back to the factor of its index.
const DEPTH: usize = 12;

/// Unrolls such loops of `f`; whether there were any.
pub(super) fn unroll(module: &mut Module, f: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..LOOPS {
        let Some(turning) = find(module, f) else {
            break;
        };
        let mut e = Edit::new(&mut module.types, &mut module.constants, f);
        crate::mark!(PeelFirst, matches!(turning.part, Part::First(_)));
        crate::mark!(PeelLast, matches!(turning.part, Part::Last(..)));
        turning.unroll(&mut e);
        simplify(&mut e);
        edit::compact(f);
        changed = true;
    }
    changed
}

/// Which turns are taken out of a loop.
#[derive(Clone, Copy)]
enum Part {
    First(usize),
    /// The loop then ends when that value is that number.
    Last(usize, ValueId, u64),
}

/// A loop that is worth it.
struct Turning {
    counted: Counted,
    part: Part,
}

/// The first such loop.
fn find(module: &Module, f: &Function) -> Option<Turning> {
    let is_barrier = |inst: &InstId| {
        let op = &f.insts[inst.index()].op;
        matches!(op, Op::Barrier(scope) if *scope != Scope::Subgroup)
    };
    let barriers_of = |block: BlockId| {
        let insts = &f.blocks[block.index()].insts;
        insts.iter().filter(|inst| is_barrier(inst)).count()
    };
    let all = (0..f.blocks.len()).map(|b| BlockId(b as u32));
    let barriers: usize = all.map(barriers_of).sum();
    if barriers == 0 || talks_in_sub_groups(f) {
        return None;
    }
    // Blocks' ends count too.
    let size = |block: BlockId| f.blocks[block.index()].insts.len() + 1;
    let instructions: usize = (0..f.blocks.len()).map(|b| size(BlockId(b as u32))).sum();
    if instructions > INSTRUCTIONS {
        return None;
    }
    let cfg = Cfg::new(f);
    let loops = Loops::new(&cfg);
    let dominators = Dominators::new(&cfg);
    let shapes = OnceCell::new();
    let tables = Tables {
        types: &module.types,
        constants: &module.constants,
    };
    for (l, this) in loops.loops.iter().enumerate() {
        let own = this.blocks.iter().map(|&b| barriers_of(b)).sum::<usize>();
        let nested = this
            .blocks
            .iter()
            .any(|&b| barriers_of(b) > 0 && loops.innermost(b) != Some(l as u32));
        if own == 0 || nested {
            continue;
        }
        let Some(found) = Counted::find(tables, f, &cfg, &dominators, &loops, l as u32) else {
            continue;
        };
        let len: usize = this.blocks.iter().map(|&b| size(b)).sum();
        let shapes = || shapes.get_or_init(|| shape::shapes(module, f, Lanes::Row));
        let near = near(tables, f, this, &found.iterations, shapes);
        let Some((part, count)) = part(tables, f, &found, &near) else {
            continue;
        };
        if instructions + len * count <= INSTRUCTIONS && barriers + own * count <= BARRIERS {
            return Some(Turning {
                counted: found,
                part,
            });
        }
    }
    None
}

/// The near turns, if they are the first ones or the last ones, and how many.
fn part(tables: Tables<'_>, f: &Function, found: &Counted, near: &[bool]) -> Option<(Part, usize)> {
    // The turn that ends before its work is neither.
    let ending = usize::from(found.exiting != found.latch);
    let near = near.get(..near.len().checked_sub(ending)?)?;
    let count = near.iter().filter(|near| **near).count();
    let all = |part: &[bool]| count > 0 && part.iter().all(|near| *near);
    if all(&near[..count]) {
        let count = if count == near.len() {
            count + ending
        } else {
            count
        };
        return Some((Part::First(count), count));
    }
    if all(&near[near.len() - count..]) {
        let (told, number) = told(tables, f, found, near.len() - count)?;
        let count = count + ending;
        return Some((Part::Last(count, told, number), count));
    }
    None
}

/// Whether lanes are those of sub-groups, which have forms of their own.
fn talks_in_sub_groups(f: &Function) -> bool {
    let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|inst| {
        let op = &f.insts[inst.index()].op;
        matches!(op, Op::Group(_, GroupScope::Subgroup, _))
    })
}

/// A value of the header by which the last of the first `count` turns is told from those before it.
fn told(tables: Tables<'_>, f: &Function, found: &Counted, count: usize) -> Option<(ValueId, u64)> {
    let last = found.iterations.get(count.checked_sub(1)?)?;
    let header = phis(f, found.this.header);
    header.iter().find_map(|(_, v, _)| {
        let number = *last.get(v)?;
        let is_integer = matches!(scalar(tables, f, *v), Some(Scalar::Int(_)));
        let before = found.iterations[..count - 1].iter();
        let other = |turn: &Known| turn.get(v).is_some_and(|n| *n != number);
        (is_integer && before.into_iter().all(other)).then_some((*v, number))
    })
}

/// In which turns the loop's accesses have no index in which something that differs evenly from lane to lane is
/// multiplied by what is known of the turn but not of the loop, but such as leave neighbours near. None, if there is no
/// such index.
fn near<'s>(
    tables: Tables<'_>,
    f: &Function,
    this: &Loop,
    turns: &[Known],
    shapes: impl Fn() -> &'s Shapes,
) -> Vec<bool> {
    let mut near = vec![true; turns.len()];
    let mut any = false;
    let changes = |v: ValueId| {
        let known = |turn: &Known| turn.get(&v).copied();
        let (first, second) = (known(&turns[0]), turns.get(1).and_then(known));
        first.is_some() && second.is_some() && first != second
    };
    let mut inside = HashSet::new();
    for block in &this.blocks {
        for inst in &f.blocks[block.index()].insts {
            inside.extend(f.insts[inst.index()].result);
        }
    }
    let mut seen = HashSet::new();
    let insts = this.blocks.iter().flat_map(|b| &f.blocks[b.index()].insts);
    let accesses = insts.filter_map(|inst| match &f.insts[inst.index()].op {
        Op::Load { ptr, .. } | Op::Store { ptr, .. } => Some(*ptr),
        _ => None,
    });
    let mut work: Vec<(ValueId, usize)> = accesses.map(|ptr| (ptr, DEPTH)).collect();
    while let Some((v, depth)) = work.pop() {
        let ValueDef::Inst(inst) = f.values[v.index()].def else {
            continue;
        };
        if depth == 0 || !inside.contains(&v) || !seen.insert(v) {
            continue;
        }
        let op = &f.insts[inst.index()].op;
        let step = |v: ValueId| shapes().of(v).step().map_or(0, i64::unsigned_abs);
        // What is multiplied, by what, and whether that is a shift.
        let product = match *op {
            Op::Binary(BinaryOp::IMul, a, b, _) if changes(a) => Some((b, a, false)),
            Op::Binary(BinaryOp::IMul, a, b, _) if changes(b) => Some((a, b, false)),
            Op::Binary(BinaryOp::Shl, a, by, _) if changes(by) => Some((a, by, true)),
            _ => None,
        };
        if let Some((even, factor, shift)) = product
            && step(even) != 0
        {
            any = true;
            for (near, turn) in near.iter_mut().zip(turns) {
                let by = value(tables, f, turn, factor);
                let far = by.and_then(|by| match shift {
                    true => step(even).checked_mul(1u64.checked_shl(by.try_into().ok()?)?),
                    false => step(even).checked_mul(by),
                });
                *near &= far.is_some_and(|far| far <= NEAR);
            }
        }
        match op {
            Op::Binary(
                BinaryOp::IAdd | BinaryOp::ISub | BinaryOp::Or | BinaryOp::IMul | BinaryOp::Shl,
                ..,
            )
            | Op::Convert(..)
            | Op::PtrOffset { .. } => op.operands(|v| work.push((v, depth - 1))),
            _ => {}
        }
    }
    if any { near } else { Vec::new() }
}

impl Turning {
    /// Makes a copy of the loop for each turn of the part, before or behind the loop.
    fn unroll(&self, e: &mut Edit<'_>) {
        match self.part {
            Part::First(count) => self.counted.peel_first(e.f, count),
            Part::Last(count, told, number) => {
                if let Type::Int(bits) = *e.ty(told) {
                    let number = e.int(bits, number);
                    let last = e.compare(self.counted.latch, Predicate::IEq, told, number);
                    let known = self.known(e, count);
                    self.last(e.f, &known, last);
                }
            }
        }
    }

    /// The header's phis that are constants in each of the last `count` turns.
    fn known(&self, e: &mut Edit<'_>, count: usize) -> Vec<HashMap<ValueId, ValueId>> {
        let counted = &self.counted;
        let header = phis(e.f, counted.this.header);
        let turns = &counted.iterations[counted.iterations.len() - count..];
        let of = turns.iter().map(|turn| {
            let constants = header.iter().filter_map(|&(_, v, _)| {
                let Type::Int(bits) = *e.ty(v) else {
                    return None;
                };
                Some((v, e.int(bits, *turn.get(&v)?)))
            });
            constants.collect()
        });
        of.collect()
    }

    /// Takes the last turns out of the loop, which ends before them, where Bool `last` holds; `known`: what the
    /// header's phis are in each, as far as that is known.
    fn last(&self, f: &mut Function, known: &[HashMap<ValueId, ValueId>], last: ValueId) {
        let counted = &self.counted;
        let header = phis(f, counted.this.header);
        let old = f.blocks.len();
        let mut carried = counted.next_iteration(&header, &HashMap::new());
        let mut begin = None;
        let mut before: Option<BlockId> = None;
        let mut values = HashMap::new();
        let mut ends = counted.exiting;
        for known in known {
            for ((_, v, _), value) in header.iter().zip(&mut carried) {
                *value = known.get(v).copied().unwrap_or(*value);
            }
            let (block_of, value_of) = counted.copy(f, Some(&carried));
            let head = block_of[&counted.this.header];
            match before {
                Some(latch) => redirect(f, latch, counted.this.header, head),
                None => begin = Some(head),
            }
            counted.go_on(f, &block_of);
            before = Some(block_of[&counted.latch]);
            ends = block_of[&counted.exiting];
            carried = counted.next_iteration(&header, &value_of);
            values = value_of;
        }
        let Some(begin) = begin else { return };
        f.blocks[ends.index()].term = Terminator::Br(counted.exit);
        f.blocks[counted.exiting.index()].term = Terminator::Br(counted.stays(f));
        f.blocks[counted.latch.index()].term = Terminator::CondBr {
            cond: last,
            then: begin,
            otherwise: counted.this.header,
        };
        // What is behind the loop is behind the last turn.
        let inside: HashSet<usize> = counted.this.blocks.iter().map(|b| b.index()).collect();
        for block in (0..old).filter(|block| !inside.contains(block)) {
            let Function { blocks, insts, .. } = &mut *f;
            let block = &mut blocks[block];
            let mut own = |v: &mut ValueId| *v = values.get(v).copied().unwrap_or(*v);
            for inst in &block.insts {
                let op = &mut insts[inst.index()].op;
                op.operands_mut(&mut own);
                if let Op::Phi(incoming) = op {
                    for (from, _) in incoming.iter_mut().filter(|i| i.0 == counted.exiting) {
                        *from = ends;
                    }
                }
            }
            if let Some(v) = block.term.operand_mut() {
                own(v);
            }
        }
    }
}
