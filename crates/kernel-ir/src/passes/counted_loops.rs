//! Counted loops: loops whose iterations can be evaluated at compile time, and copies of their iterations.
//!
//! ```text
//! head: %i = phi before: 0, head: %next      iterations: [{%i: 0, %next: 1}, {%i: 1, %next: 2}]
//!       ...
//!       %next = iadd %i, 1
//!       %end = cmp.ieq %next, 2
//!       br_if %end, after, head
//! ```

use std::collections::HashMap;

use super::edit::Replacements;
use super::fold::{self, Scalar};
use crate::cfg::{Cfg, Dominators, Loop, Loops};
use crate::ir::{BlockId, Function, InstId, Op, Terminator, ValueDef, ValueId};
use crate::types::{Constant, Constants, Type, Types};

/// Iterations of a counted loop. Reductions over a work-group of 65,536 work-items, which is more than any device
/// here offers, halve their stride 16 times.
const MAX_ITERATIONS: usize = 16;

/// The module's types and constants.
#[derive(Clone, Copy)]
pub(super) struct Tables<'m> {
    pub(super) types: &'m Types,
    pub(super) constants: &'m Constants,
}

/// The known integers and Bools of one iteration, as bits.
pub(super) type Known = HashMap<ValueId, u64>;

/// A phi: its instruction, its result, its inputs.
pub(super) type Joined = (InstId, ValueId, Vec<(BlockId, ValueId)>);

/// The phis at the start of a block.
pub(super) fn phis(f: &Function, block: BlockId) -> Vec<Joined> {
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

/// A loop with a known number of iterations.
pub(super) struct Counted {
    pub(super) this: Loop,
    /// The block that branches back to the header.
    pub(super) latch: BlockId,
    /// The block that leaves the loop.
    pub(super) exiting: BlockId,
    /// Its successor outside.
    pub(super) exit: BlockId,
    /// The known values of each iteration; at least two.
    pub(super) iterations: Vec<Known>,
}

impl Counted {
    /// Loop `l`, if it has one latch and one exit that every iteration passes, and the count of its iterations
    /// is known and within [`MAX_ITERATIONS`].
    pub(super) fn find(
        tables: Tables<'_>,
        f: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        loops: &Loops,
        l: u32,
    ) -> Option<Self> {
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
        let fits = matches!(term, Terminator::CondBr { .. })
            && dominators.dominates(exiting, latch)
            && (goes_back || latch == exiting);
        if !fits {
            return None;
        }
        let mut counted = Self {
            this: this.clone(),
            latch,
            exiting,
            exit,
            iterations: Vec::new(),
        };
        counted.iterations = counted.evaluate(tables, f)?;
        Some(counted)
    }

    /// The known values of each iteration; `None` when their number is not known.
    fn evaluate(&self, tables: Tables<'_>, f: &Function) -> Option<Vec<Known>> {
        let header = phis(f, self.this.header);
        let Terminator::CondBr { cond, then, .. } = f.blocks[self.exiting.index()].term else {
            return None;
        };
        let mut known: Known = HashMap::new();
        for (_, result, incoming) in &header {
            let first = incoming.iter().filter(|i| i.0 != self.latch);
            let first: Vec<Option<u64>> = first.map(|i| constant(tables, f, i.1)).collect();
            if let [Some(one), rest @ ..] = first.as_slice()
                && rest.iter().all(|other| *other == Some(*one))
            {
                known.insert(*result, *one);
            }
        }
        let mut iterations = Vec::new();
        while iterations.len() < MAX_ITERATIONS {
            for &block in &self.this.blocks {
                for &inst in &f.blocks[block.index()].insts {
                    let is_header = block == self.this.header;
                    evaluate_inst(tables, f, inst, is_header, &mut known);
                }
            }
            let goes_then = value(tables, f, &known, cond)? != 0;
            let mut next = HashMap::new();
            for (_, result, incoming) in &header {
                let again = incoming.iter().find(|i| i.0 == self.latch)?.1;
                if let Some(n) = value(tables, f, &known, again) {
                    next.insert(*result, n);
                }
            }
            iterations.push(std::mem::replace(&mut known, next));
            if goes_then == (then == self.exit) {
                return (iterations.len() > 1).then_some(iterations);
            }
        }
        None
    }

    /// Peels the first `count` iterations. With all of them the loop's own blocks are the last iteration.
    pub(super) fn peel_first(&self, f: &mut Function, count: usize) {
        let header = phis(f, self.this.header);
        let all = f.predecessors();
        let outside = all[self.this.header.index()].iter().copied();
        let mut before: Vec<BlockId> = outside.filter(|from| *from != self.latch).collect();
        let mut carried: Option<Vec<ValueId>> = None;
        for _ in 0..count.min(self.iterations.len() - 1) {
            let (block_of, value_of) = self.copy(f, carried.as_deref());
            for from in before {
                redirect(f, from, self.this.header, block_of[&self.this.header]);
            }
            self.branch_to_next_iteration(f, &block_of);
            before = vec![block_of[&self.latch]];
            carried = Some(self.next_iteration(&header, &value_of));
        }
        let (Some(carried), Some(&last)) = (carried, before.first()) else {
            return;
        };
        if count < self.iterations.len() {
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

    /// The values of the header's phis in the iteration after a copied one, whose values are `value_of`.
    pub(super) fn next_iteration(
        &self,
        header: &[Joined],
        value_of: &HashMap<ValueId, ValueId>,
    ) -> Vec<ValueId> {
        let next = header.iter().map(|(_, result, incoming)| {
            let again = incoming.iter().find(|i| i.0 == self.latch);
            let again = again.map_or(*result, |i| i.1);
            value_of.get(&again).copied().unwrap_or(again)
        });
        next.collect()
    }

    /// A copied iteration takes the branch that stays in the loop.
    pub(super) fn branch_to_next_iteration(
        &self,
        f: &mut Function,
        block_of: &HashMap<BlockId, BlockId>,
    ) {
        let stays = self.staying_successor(f);
        f.blocks[block_of[&self.exiting].index()].term =
            Terminator::Br(match block_of.get(&stays) {
                Some(&block) if stays != self.this.header => block,
                _ => self.this.header,
            });
    }

    /// The successor of the exiting block inside the loop.
    pub(super) fn staying_successor(&self, f: &Function) -> BlockId {
        match f.blocks[self.exiting.index()].term {
            Terminator::CondBr {
                then, otherwise, ..
            } if then == self.exit => otherwise,
            Terminator::CondBr { then, .. } => then,
            _ => self.this.header,
        }
    }

    /// A copy of the loop's blocks that still branches back to the loop's own header. `carried`: the values of the
    /// header's phis; `None` for the first iteration.
    pub(super) fn copy(
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

pub(super) fn scalar(tables: Tables<'_>, f: &Function, v: ValueId) -> Option<Scalar> {
    match tables.types.get(f.ty(v)) {
        Type::Bool => Some(Scalar::Bool),
        Type::Int(bits) => Some(Scalar::Int(*bits)),
        _ => None,
    }
}

/// The bits of an integer or Bool constant.
fn constant(tables: Tables<'_>, f: &Function, v: ValueId) -> Option<u64> {
    let ValueDef::Const(c) = f.values[v.index()].def else {
        return None;
    };
    match tables.constants.get(c) {
        Constant::Int(n) => Some(*n),
        Constant::Bool(b) => Some(u64::from(*b)),
        _ => None,
    }
}

/// The bits of `v` in an iteration with the values `known`.
pub(super) fn value(tables: Tables<'_>, f: &Function, known: &Known, v: ValueId) -> Option<u64> {
    constant(tables, f, v).or_else(|| known.get(&v).copied())
}

/// Adds the result of `inst` to the known values of an iteration, when its operands are known.
fn evaluate_inst(
    tables: Tables<'_>,
    f: &Function,
    inst: InstId,
    is_header: bool,
    known: &mut Known,
) {
    let inst = &f.insts[inst.index()];
    let Some(result) = inst.result else { return };
    let Some(to) = scalar(tables, f, result) else {
        return;
    };
    let get = |v: ValueId| value(tables, f, known, v);
    let of = |v: ValueId| scalar(tables, f, v);
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

/// Redirects the edges from `from` to `old` to `new`.
pub(super) fn redirect(f: &mut Function, from: BlockId, old: BlockId, new: BlockId) {
    f.blocks[from.index()].term.successors_mut(|to| {
        if *to == old {
            *to = new;
        }
    });
}
