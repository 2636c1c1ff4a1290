//! Loop peeling: iterations of a loop over a barrier in which the stride between work-items is small leave the loop.
//!
//! Reduction trees, scans and butterflies index local memory by `l * off`, where `l` is the local id and `off`
//! doubles in each iteration. Inside the loop the stride is unknown, so a vectoriser would have to gather. In a
//! peeled iteration `off` is a constant, and a small stride becomes contiguous loads and shuffles:
//!
//! ```text
//! loop:                                     %a1 = imul %l, 1     stride 1: contiguous
//!   %off = phi entry: 1, loop: %double      ... load, store, barrier ...
//!   %at = imul %l, %off                =>   %a2 = imul %l, 2     stride 2: interleaved
//!   ... load, store, barrier ...            ...
//!   %double = shl %off, 1                 loop:                  strides 16, 32, 64
//!   br_if %more, loop, end                  %off = phi ...
//! ```
//!
//! Only the first or the last iterations of a counted loop are peeled, and only while the stride is at most
//! [`MAX_NEAR_STRIDE`]: most work-items are active in these, and each peeled iteration is compiled like a small
//! kernel of its own.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::counted_loops::{Counted, Known, Tables, phis, redirect, scalar, value};
use super::edit::{self, Edit};
use super::fold::Scalar;
use super::shape::{self, LaneScope, MAX_NEAR_STRIDE, Shapes};
use super::simplify::simplify;
use crate::cfg::{Cfg, Dominators, Loop, Loops};
use crate::ir::{
    BinaryOp, BlockId, Function, GroupScope, InstId, Module, Op, Predicate, Scope, Terminator,
    ValueDef, ValueId,
};
use crate::types::Type;

/// Loops of a function that are peeled: a bound on compile time. Largest in our corpora: 2 (2026-11).
const MAX_PEELED_LOOPS: usize = 8;
/// Instructions and terminators of a function after peeling: a bound on compile time. Of 17,722 modules of dpctl and dpnp
/// 12 have larger functions with barriers, up to 1352; in our corpora peeling leaves no more than 899 (2026-11).
const MAX_FUNCTION_INSTRUCTIONS: usize = 1000;
/// Barriers of a function after peeling: a bound on compile time, because a back end compiles the code between two
/// barriers like a kernel of its own. Largest in our corpora: 10 (2026-11).
const MAX_FUNCTION_BARRIERS: usize = 32;
/// Operations followed from an address back to a product in its index: a bound on compile time. Largest in 17,722 modules
/// of dpctl and dpnp: 4; in our corpora: 6 (2026-11).
const ADDRESS_DEPTH: usize = 12;

/// Peels loops of `f`; returns whether there were any to peel.
pub(super) fn peel_loops(module: &mut Module, f: &mut Function) -> bool {
    if !module.uses(crate::Transform::Peeling) {
        return false;
    }
    let mut changed = false;
    for peeled in 0..MAX_PEELED_LOOPS {
        let Some(peeling) = find(module, f) else {
            break;
        };
        crate::reach!(MAX_PEELED_LOOPS, peeled + 1);
        let mut e = Edit::new(&mut module.types, &mut module.constants, f);
        crate::mark!(PeelFirst, matches!(peeling.peeled, Peeled::First(_)));
        crate::mark!(PeelLast, matches!(peeling.peeled, Peeled::Last(..)));
        peeling.apply(&mut e);
        simplify(&mut e);
        edit::compact(f);
        changed = true;
    }
    changed
}

/// The iterations to peel.
#[derive(Clone, Copy)]
enum Peeled {
    /// This many at the start.
    First(usize),
    /// This many at the end. The remaining loop ends in the iteration in which the value equals the number.
    Last(usize, ValueId, u64),
}

/// A loop to peel.
struct Peeling {
    counted: Counted,
    peeled: Peeled,
}

/// The first loop of `f` that is worth peeling.
fn find(module: &Module, f: &Function) -> Option<Peeling> {
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
    if barriers == 0 || has_sub_group_operations(f) {
        return None;
    }
    // Terminators count too.
    let size = |block: BlockId| f.blocks[block.index()].insts.len() + 1;
    let instructions: usize = (0..f.blocks.len()).map(|b| size(BlockId(b as u32))).sum();
    crate::reach!(MAX_FUNCTION_INSTRUCTIONS, instructions);
    if instructions > MAX_FUNCTION_INSTRUCTIONS {
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
        let shapes = || shapes.get_or_init(|| shape::shapes(module, f, LaneScope::Row));
        let near = small_strides(tables, f, this, &found.iterations, shapes);
        let Some((peeled, count)) = choose(tables, f, &found, &near) else {
            continue;
        };
        crate::reach!(MAX_FUNCTION_INSTRUCTIONS, instructions + len * count);
        crate::reach!(MAX_FUNCTION_BARRIERS, barriers + own * count);
        if instructions + len * count <= MAX_FUNCTION_INSTRUCTIONS
            && barriers + own * count <= MAX_FUNCTION_BARRIERS
        {
            return Some(Peeling {
                counted: found,
                peeled,
            });
        }
    }
    None
}

/// The iterations with small strides and their count, if they are the first ones or the last ones.
fn choose(
    tables: Tables<'_>,
    f: &Function,
    found: &Counted,
    near: &[bool],
) -> Option<(Peeled, usize)> {
    // An iteration that leaves the loop before its accesses counts as neither near nor far.
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
        return Some((Peeled::First(count), count));
    }
    if all(&near[near.len() - count..]) {
        let (value, number) = last_iteration_test(tables, f, found, near.len() - count)?;
        let count = count + ending;
        return Some((Peeled::Last(count, value, number), count));
    }
    None
}

/// Sub-group operations fix which work-items form a vector; such kernels are vectorised by sub-group.
fn has_sub_group_operations(f: &Function) -> bool {
    let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|inst| {
        let op = &f.insts[inst.index()].op;
        matches!(op, Op::Group(_, GroupScope::Subgroup, _))
    })
}

/// A phi of the header, and the number that it has in the last of the first `count` iterations only.
fn last_iteration_test(
    tables: Tables<'_>,
    f: &Function,
    found: &Counted,
    count: usize,
) -> Option<(ValueId, u64)> {
    let last = found.iterations.get(count.checked_sub(1)?)?;
    let header = phis(f, found.this.header);
    header.iter().find_map(|(_, v, _)| {
        let number = *last.get(v)?;
        let is_integer = matches!(scalar(tables, f, *v), Some(Scalar::Int(_)));
        let before = found.iterations[..count - 1].iter();
        let other = |known: &Known| known.get(v).is_some_and(|n| *n != number);
        (is_integer && before.into_iter().all(other)).then_some((*v, number))
    })
}

/// For each iteration: whether all strides that an iteration scales are at most [`MAX_NEAR_STRIDE`]. Empty when no
/// index of the loop has such a stride.
///
/// A scaled stride is a product `even * factor` in an index, where `even` grows by a constant step from lane to lane
/// and `factor` is known in each iteration but changes between iterations.
fn small_strides<'s>(
    tables: Tables<'_>,
    f: &Function,
    this: &Loop,
    iterations: &[Known],
    shapes: impl Fn() -> &'s Shapes,
) -> Vec<bool> {
    let mut near = vec![true; iterations.len()];
    let mut any = false;
    let changes = |v: ValueId| {
        let known = |iteration: &Known| iteration.get(&v).copied();
        let (first, second) = (known(&iterations[0]), iterations.get(1).and_then(known));
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
    let mut work: Vec<(ValueId, usize)> = accesses.map(|ptr| (ptr, ADDRESS_DEPTH)).collect();
    while let Some((v, depth)) = work.pop() {
        let ValueDef::Inst(inst) = f.values[v.index()].def else {
            continue;
        };
        if !inside.contains(&v) || (depth > 0 && !seen.insert(v)) {
            continue;
        }
        crate::reach!(ADDRESS_DEPTH, ADDRESS_DEPTH + 1 - depth);
        if depth == 0 {
            continue;
        }
        let op = &f.insts[inst.index()].op;
        let step = |v: ValueId| shapes().of(v).step().map_or(0, i64::unsigned_abs);
        // The two factors, and whether the second one is a shift amount.
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
            for (near, known) in near.iter_mut().zip(iterations) {
                let by = value(tables, f, known, factor);
                let stride = by.and_then(|by| match shift {
                    true => step(even).checked_mul(1u64.checked_shl(by.try_into().ok()?)?),
                    false => step(even).checked_mul(by),
                });
                *near &= stride.is_some_and(|stride| stride <= MAX_NEAR_STRIDE);
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

impl Peeling {
    /// Copies the loop's body once for each peeled iteration, before or after the loop.
    fn apply(&self, e: &mut Edit<'_>) {
        match self.peeled {
            Peeled::First(count) => self.counted.peel_first(e.f, count),
            Peeled::Last(count, value, number) => {
                if let Type::Int(bits) = *e.ty(value) {
                    let number = e.int(bits, number);
                    let last = e.compare(self.counted.latch, Predicate::IEq, value, number);
                    let known = self.constant_phis(e, count);
                    self.peel_last(e.f, &known, last);
                }
            }
        }
    }

    /// For each of the last `count` iterations: the header's phis that are constants in it.
    fn constant_phis(&self, e: &mut Edit<'_>, count: usize) -> Vec<HashMap<ValueId, ValueId>> {
        let counted = &self.counted;
        let header = phis(e.f, counted.this.header);
        let iterations = &counted.iterations[counted.iterations.len() - count..];
        let of = iterations.iter().map(|known| {
            let constants = header.iter().filter_map(|&(_, v, _)| {
                let Type::Int(bits) = *e.ty(v) else {
                    return None;
                };
                Some((v, e.int(bits, *known.get(&v)?)))
            });
            constants.collect()
        });
        of.collect()
    }

    /// Moves the last iterations behind the loop. `last`: a Bool of the latch, true in the last iteration that stays in
    /// the loop; `known`: the constant phis of each peeled iteration.
    fn peel_last(&self, f: &mut Function, known: &[HashMap<ValueId, ValueId>], last: ValueId) {
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
            counted.branch_to_next_iteration(f, &block_of);
            before = Some(block_of[&counted.latch]);
            ends = block_of[&counted.exiting];
            carried = counted.next_iteration(&header, &value_of);
            values = value_of;
        }
        let Some(begin) = begin else { return };
        f.blocks[ends.index()].term = Terminator::Br(counted.exit);
        f.blocks[counted.exiting.index()].term = Terminator::Br(counted.staying_successor(f));
        f.blocks[counted.latch.index()].term = Terminator::CondBr {
            cond: last,
            then: begin,
            otherwise: counted.this.header,
        };
        // Code after the loop uses the values of the last peeled iteration.
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
