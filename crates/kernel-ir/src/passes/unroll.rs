//! Loops over barriers in which the distance between work-items' elements changes from turn to turn, `t[off * (2 * l + 1)]`
//! with an `off` that doubles: trees of sums, scans, butterflies. Turns in which elements lie near each other, which
//! also are those in which most work-items take part, are taken out of the loop, at its start or its end: their distance
//! is a constant then, and lanes that run side by side read and write rows where they would gather. The other turns
//! stay a loop: what is compiled for a turn costs as much as a small kernel.
//!
//! Only loops whose turns can be counted now, and whose turns end at one place that all work-items come to.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::cfg::{Cfg, Dominators, Loop, Loops};
use super::edit::{self, Edit, Replacements};
use super::fold::{self, Scalar};
use super::shape::{self, Lanes, NEAR, Shapes};
use crate::ir::{
    BinaryOp, BlockId, Function, GroupScope, InstId, Module, Op, Predicate, Scope, Terminator,
    ValueDef, ValueId,
};
use crate::types::{Constant, Type};

/// Turns of a loop.
const TURNS: usize = 16;
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
        turning.unroll(&mut e);
        super::simplify(&mut e);
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
    this: Loop,
    /// The block that goes back to the header.
    latch: BlockId,
    /// The block that ends the loop, and where to.
    exiting: BlockId,
    exit: BlockId,
    /// What is known of each turn.
    turns: Vec<HashMap<ValueId, u64>>,
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
    for (l, this) in loops.loops.iter().enumerate() {
        let own = this.blocks.iter().map(|&b| barriers_of(b)).sum::<usize>();
        let nested = this
            .blocks
            .iter()
            .any(|&b| barriers_of(b) > 0 && loops.innermost(b) != Some(l as u32));
        if own == 0 || nested {
            continue;
        }
        let Some(mut found) = ends(f, &cfg, &dominators, &loops, l as u32) else {
            continue;
        };
        let Some(turns) = turns(module, f, &found) else {
            continue;
        };
        found.turns = turns;
        let len: usize = this.blocks.iter().map(|&b| size(b)).sum();
        let shapes = || shapes.get_or_init(|| shape::shapes(module, f, Lanes::Row));
        let near = near(module, f, this, &found.turns, shapes);
        let Some((part, count)) = part(module, f, &found, &near) else {
            continue;
        };
        found.part = part;
        if instructions + len * count <= INSTRUCTIONS && barriers + own * count <= BARRIERS {
            return Some(found);
        }
    }
    None
}

/// The near turns, if they are the first ones or the last ones, and how many.
fn part(module: &Module, f: &Function, found: &Turning, near: &[bool]) -> Option<(Part, usize)> {
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
        let (told, number) = told(module, f, found, near.len() - count)?;
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

/// Loop `l`, if it goes on from one block, and ends in one that each turn comes to.
fn ends(
    f: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
    loops: &Loops,
    l: u32,
) -> Option<Turning> {
    let this = &loops.loops[l as usize];
    if this.irreducible || this.header.0 == 0 {
        return None;
    }
    let back = cfg.predecessors(this.header).iter();
    let mut back = back.filter(|&&from| loops.contains(l, from));
    let (Some(&latch), None) = (back.next(), back.next()) else {
        return None;
    };
    let mut ends = this.blocks.iter().flat_map(|&from| {
        let to = cfg.successors(from).iter();
        to.filter(|&&to| !loops.contains(l, to))
            .map(move |&to| (from, to))
    });
    let (Some((exiting, exit)), None) = (ends.next(), ends.next()) else {
        return None;
    };
    let term = &f.blocks[exiting.index()].term;
    let goes_back = matches!(f.blocks[latch.index()].term, Terminator::Br(_));
    (matches!(term, Terminator::CondBr { .. })
        && dominators.dominates(exiting, latch)
        && (goes_back || latch == exiting))
        .then(|| Turning {
            this: this.clone(),
            latch,
            exiting,
            exit,
            turns: Vec::new(),
            part: Part::First(0),
        })
}

/// A phi: its instruction, its result, its inputs.
type Joined = (InstId, ValueId, Vec<(BlockId, ValueId)>);

/// The phis at the start of a block.
fn phis(f: &Function, block: BlockId) -> Vec<Joined> {
    let insts = f.blocks[block.index()].insts.iter();
    insts
        .map_while(|&id| match &f.insts[id.index()] {
            inst if let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) => {
                Some((id, result, incoming.clone()))
            }
            _ => None,
        })
        .collect()
}

/// What is known of the values of each turn, if it can be told how many there are.
fn turns(module: &Module, f: &Function, found: &Turning) -> Option<Vec<HashMap<ValueId, u64>>> {
    let header = phis(f, found.this.header);
    let Terminator::CondBr { cond, then, .. } = f.blocks[found.exiting.index()].term else {
        return None;
    };
    let mut known: HashMap<ValueId, u64> = HashMap::new();
    for (_, result, incoming) in &header {
        let first = incoming.iter().filter(|i| i.0 != found.latch);
        let first: Vec<Option<u64>> = first.map(|i| constant(module, f, i.1)).collect();
        if let [Some(one), rest @ ..] = first.as_slice()
            && rest.iter().all(|other| *other == Some(*one))
        {
            known.insert(*result, *one);
        }
    }
    let mut turns = Vec::new();
    while turns.len() < TURNS {
        for &block in &found.this.blocks {
            for &inst in &f.blocks[block.index()].insts {
                let is_header = block == found.this.header;
                evaluate(module, f, inst, is_header, &mut known);
            }
        }
        let goes_then = value(module, f, &known, cond)? != 0;
        let mut next = HashMap::new();
        for (_, result, incoming) in &header {
            let again = incoming.iter().find(|i| i.0 == found.latch)?.1;
            if let Some(n) = value(module, f, &known, again) {
                next.insert(*result, n);
            }
        }
        turns.push(std::mem::replace(&mut known, next));
        if goes_then == (then == found.exit) {
            return (turns.len() > 1).then_some(turns);
        }
    }
    None
}

/// A value of the header by which the last of the first `count` turns is told from those before it.
fn told(module: &Module, f: &Function, found: &Turning, count: usize) -> Option<(ValueId, u64)> {
    let last = found.turns.get(count.checked_sub(1)?)?;
    let header = phis(f, found.this.header);
    header.iter().find_map(|(_, v, _)| {
        let number = *last.get(v)?;
        let is_integer = matches!(scalar(module, f, *v), Some(Scalar::Int(_)));
        let before = found.turns[..count - 1].iter();
        let other = |turn: &HashMap<ValueId, u64>| turn.get(v).is_some_and(|n| *n != number);
        (is_integer && before.into_iter().all(other)).then_some((*v, number))
    })
}

fn scalar(module: &Module, f: &Function, v: ValueId) -> Option<Scalar> {
    match module.types.get(f.ty(v)) {
        Type::Bool => Some(Scalar::Bool),
        Type::Int(bits) => Some(Scalar::Int(*bits)),
        _ => None,
    }
}

/// The bits of an integer or Bool constant.
fn constant(module: &Module, f: &Function, v: ValueId) -> Option<u64> {
    let ValueDef::Const(c) = f.values[v.index()].def else {
        return None;
    };
    match module.constants.get(c) {
        Constant::Int(n) => Some(*n),
        Constant::Bool(b) => Some(u64::from(*b)),
        _ => None,
    }
}

fn value(module: &Module, f: &Function, known: &HashMap<ValueId, u64>, v: ValueId) -> Option<u64> {
    constant(module, f, v).or_else(|| known.get(&v).copied())
}

/// Adds the result of `inst` to what is known of the turn, if it follows from that.
fn evaluate(
    module: &Module,
    f: &Function,
    inst: InstId,
    is_header: bool,
    known: &mut HashMap<ValueId, u64>,
) {
    let inst = &f.insts[inst.index()];
    let Some(result) = inst.result else { return };
    let Some(to) = scalar(module, f, result) else {
        return;
    };
    let get = |v: ValueId| value(module, f, known, v);
    let of = |v: ValueId| scalar(module, f, v);
    let found = (|| match &inst.op {
        Op::Phi(incoming) if !is_header => {
            let first = get(incoming.first()?.1)?;
            let same = incoming.iter().all(|i| get(i.1) == Some(first));
            same.then_some(first)
        }
        Op::Binary(op, a, b, _) => fold::binary(*op, to, get(*a)?, get(*b)?),
        Op::Unary(op, a, _) => fold::unary(*op, of(*a)?, get(*a)?),
        Op::Compare(p, a, b) => fold::compare(*p, of(*a)?, get(*a)?, get(*b)?).map(u64::from),
        Op::Convert(op, a, rounding) => fold::convert(*op, of(*a)?, to, *rounding, get(*a)?),
        Op::Select {
            cond,
            then,
            otherwise,
        } => get(if get(*cond)? != 0 { *then } else { *otherwise }),
        _ => None,
    })();
    if let Some(found) = found {
        known.insert(result, found);
    }
}

/// In which turns the loop's accesses have no index in which something that differs evenly from lane to lane is
/// multiplied by what is known of the turn but not of the loop, but such as leave neighbours near. None, if there is no
/// such index.
fn near<'s>(
    module: &Module,
    f: &Function,
    this: &Loop,
    turns: &[HashMap<ValueId, u64>],
    shapes: impl Fn() -> &'s Shapes,
) -> Vec<bool> {
    let mut near = vec![true; turns.len()];
    let mut any = false;
    let changes = |v: ValueId| {
        let known = |turn: &HashMap<ValueId, u64>| turn.get(&v).copied();
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
                let by = value(module, f, turn, factor);
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
            Part::First(count) => self.first(e.f, count),
            Part::Last(count, told, number) => {
                if let Type::Int(bits) = *e.ty(told) {
                    let number = e.int(bits, number);
                    let last = e.compare(self.latch, Predicate::IEq, told, number);
                    let known = self.known(e, count);
                    self.last(e.f, &known, last);
                }
            }
        }
    }

    /// Takes the first `count` turns out of the loop; the last one of all is the loop itself.
    fn first(&self, f: &mut Function, count: usize) {
        let header = phis(f, self.this.header);
        let all = f.predecessors();
        let outside = all[self.this.header.index()].iter().copied();
        let mut before: Vec<BlockId> = outside.filter(|from| *from != self.latch).collect();
        let mut carried: Option<Vec<ValueId>> = None;
        for _ in 0..count.min(self.turns.len() - 1) {
            let (block_of, value_of) = self.copy(f, carried.as_deref());
            for from in before {
                lead(f, from, self.this.header, block_of[&self.this.header]);
            }
            self.go_on(f, &block_of);
            before = vec![block_of[&self.latch]];
            carried = Some(self.next_turn(&header, &value_of));
        }
        let (Some(carried), Some(&last)) = (carried, before.first()) else {
            return;
        };
        if count < self.turns.len() {
            for ((inst, ..), value) in header.iter().zip(carried) {
                if let Op::Phi(incoming) = &mut f.insts[inst.index()].op {
                    incoming.retain(|i| i.0 == self.latch);
                    incoming.push((last, value));
                }
            }
            return;
        }
        f.blocks[self.exiting.index()].term = Terminator::Br(self.exit);
        let mut replace = Replacements::new(f);
        for ((_, result, _), value) in header.iter().zip(carried) {
            replace.set(*result, value);
        }
        let insts = &mut f.blocks[self.this.header.index()].insts;
        insts.drain(..header.len());
        replace.apply(f);
    }

    /// The header's phis that are constants in each of the last `count` turns.
    fn known(&self, e: &mut Edit<'_>, count: usize) -> Vec<HashMap<ValueId, ValueId>> {
        let header = phis(e.f, self.this.header);
        let turns = &self.turns[self.turns.len() - count..];
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
        let header = phis(f, self.this.header);
        let old = f.blocks.len();
        let mut carried = self.next_turn(&header, &HashMap::new());
        let mut begin = None;
        let mut before: Option<BlockId> = None;
        let mut values = HashMap::new();
        let mut ends = self.exiting;
        for known in known {
            for ((_, v, _), value) in header.iter().zip(&mut carried) {
                *value = known.get(v).copied().unwrap_or(*value);
            }
            let (block_of, value_of) = self.copy(f, Some(&carried));
            let head = block_of[&self.this.header];
            match before {
                Some(latch) => lead(f, latch, self.this.header, head),
                None => begin = Some(head),
            }
            self.go_on(f, &block_of);
            before = Some(block_of[&self.latch]);
            ends = block_of[&self.exiting];
            carried = self.next_turn(&header, &value_of);
            values = value_of;
        }
        let Some(begin) = begin else { return };
        f.blocks[ends.index()].term = Terminator::Br(self.exit);
        f.blocks[self.exiting.index()].term = Terminator::Br(self.stays(f));
        f.blocks[self.latch.index()].term = Terminator::CondBr {
            cond: last,
            then: begin,
            otherwise: self.this.header,
        };
        // What is behind the loop is behind the last turn.
        let inside: HashSet<usize> = self.this.blocks.iter().map(|b| b.index()).collect();
        for block in (0..old).filter(|block| !inside.contains(block)) {
            let Function { blocks, insts, .. } = &mut *f;
            let block = &mut blocks[block];
            let mut own = |v: &mut ValueId| *v = values.get(v).copied().unwrap_or(*v);
            for inst in &block.insts {
                let op = &mut insts[inst.index()].op;
                op.operands_mut(&mut own);
                if let Op::Phi(incoming) = op {
                    for (from, _) in incoming.iter_mut().filter(|i| i.0 == self.exiting) {
                        *from = ends;
                    }
                }
            }
            if let Some(v) = block.term.operand_mut() {
                own(v);
            }
        }
    }

    /// What the header's phis are in the turn behind that of a copy, whose values are `value_of`.
    fn next_turn(&self, header: &[Joined], value_of: &HashMap<ValueId, ValueId>) -> Vec<ValueId> {
        let next = header.iter().map(|(_, result, incoming)| {
            let again = incoming.iter().find(|i| i.0 == self.latch);
            let again = again.map_or(*result, |i| i.1);
            value_of.get(&again).copied().unwrap_or(again)
        });
        next.collect()
    }

    /// Lets a copy of a turn go on where the loop might end.
    fn go_on(&self, f: &mut Function, block_of: &HashMap<BlockId, BlockId>) {
        let stays = self.stays(f);
        f.blocks[block_of[&self.exiting].index()].term =
            Terminator::Br(match block_of.get(&stays) {
                Some(&block) if stays != self.this.header => block,
                _ => self.this.header,
            });
    }

    /// Where the block that may end the loop goes on else.
    fn stays(&self, f: &Function) -> BlockId {
        match f.blocks[self.exiting.index()].term {
            Terminator::CondBr {
                then, otherwise, ..
            } if then == self.exit => otherwise,
            Terminator::CondBr { then, .. } => then,
            _ => self.this.header,
        }
    }

    /// A copy of the loop's blocks, which still goes back to the header itself; `carried`: what the header's phis are,
    /// unless it is the first turn.
    fn copy(
        &self,
        f: &mut Function,
        carried: Option<&[ValueId]>,
    ) -> (HashMap<BlockId, BlockId>, HashMap<ValueId, ValueId>) {
        let blocks = &self.this.blocks;
        let block_of: HashMap<BlockId, BlockId> =
            blocks.iter().map(|&block| (block, f.add_block())).collect();
        let mut value_of: HashMap<ValueId, ValueId> = HashMap::new();
        let header = phis(f, self.this.header);
        let mut made: Vec<InstId> = Vec::new();
        if let Some(carried) = carried {
            value_of.extend(header.iter().map(|h| h.1).zip(carried.iter().copied()));
        }
        for block in blocks {
            let to = block_of[block];
            let skipped = match carried {
                Some(_) if *block == self.this.header => header.len(),
                _ => 0,
            };
            for at in skipped..f.blocks[block.index()].insts.len() {
                let old = f.blocks[block.index()].insts[at];
                let inst = f.insts[old.index()].clone();
                let mut op = inst.op;
                if at < header.len()
                    && *block == self.this.header
                    && let Op::Phi(incoming) = &mut op
                {
                    incoming.retain(|i| i.0 != self.latch);
                }
                let ty = inst.result.map(|v| f.ty(v));
                let (id, result) = f.add_inst(op, ty, inst.word);
                f.blocks[to.index()].insts.push(id);
                made.push(id);
                if let (Some(old), Some(new)) = (inst.result, result) {
                    value_of.insert(old, new);
                }
            }
            let mut term = f.blocks[block.index()].term.clone();
            term.successors_mut(|next| {
                if *next != self.this.header {
                    *next = block_of.get(next).copied().unwrap_or(*next);
                }
            });
            f.blocks[to.index()].term = term;
        }
        let own = |v: &mut ValueId| {
            if let Some(&new) = value_of.get(v) {
                *v = new;
            }
        };
        for id in made {
            let op = &mut f.insts[id.index()].op;
            op.operands_mut(own);
            if let Op::Phi(incoming) = op {
                for (from, _) in incoming {
                    *from = block_of.get(from).copied().unwrap_or(*from);
                }
            }
        }
        for block in block_of.values() {
            if let Some(v) = f.blocks[block.index()].term.operand_mut() {
                own(v);
            }
        }
        (block_of, value_of)
    }
}

/// Lets `from` go to `new` where it went to `old`.
fn lead(f: &mut Function, from: BlockId, old: BlockId, new: BlockId) {
    f.blocks[from.index()].term.successors_mut(|to| {
        if *to == old {
            *to = new;
        }
    });
}
