//! Loops in which sub-groups exchange values and that carry more along than a processor has registers for, as products
//! of tiles of matrices do: each turn would read all of it from the stack and write it back. Several loops after one
//! another then carry a part of it each. What they have in common is done in each of them, so that it must be little.
//!
//! Only loops of one block after another that write nothing, and what is carried along must depend on itself and on
//! what does not depend on it.

use std::collections::{HashMap, HashSet};

use super::edit;
use crate::cfg::{Cfg, Loop, Loops};
use crate::ir::{
    Block, BlockId, Function, GroupOp, GroupScope, InstId, Module, Op, ValueDef, ValueId,
};

/// Registers for what is not carried along by a part alone.
const OTHERS: u64 = 8;
/// What it costs to keep a register's content on the stack for a turn, in operations.
const SPILL: u64 = 3;
/// What it costs to read a register's content from wherever lanes' elements lie.
const READ: u64 = 3;
/// Loops that one becomes.
const PARTS: usize = 6;
/// Instructions of a loop.
const INSTRUCTIONS: usize = 400;

/// The processor's vector registers: how many, and the bytes of one; and lanes of a sub-group.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// How many there are.
    pub count: u64,
    /// Bytes of one.
    pub bytes: u64,
    /// Lanes of a sub-group.
    pub lanes: u64,
}

/// Splits such loops of `f`; whether there were any.
pub(super) fn split(module: &Module, f: &mut Function, registers: Registers) -> bool {
    let cfg = Cfg::new(f);
    let loops = Loops::new(&cfg);
    let inner = |l: u32| loops.loops.iter().all(|other| other.parent != Some(l));
    let found: Vec<Chain> = (0u32..)
        .zip(&loops.loops)
        .filter(|(l, this)| inner(*l) && !this.irreducible)
        .filter_map(|(_, this)| Chain::new(f, &cfg, this))
        .collect();
    // Of loops that lead to each other the first one: its parts are what the second one knows nothing of.
    let all: HashSet<BlockId> = found.iter().flat_map(|c| c.blocks.clone()).collect();
    let apart = found.iter().filter(|chain| !all.contains(&chain.entry));
    let mut changed = false;
    for chain in apart {
        let Some(parts) = parts(module, f, chain, registers) else {
            continue;
        };
        chain.split(f, &parts);
        crate::mark!(Fission);
        changed = true;
    }
    if changed {
        edit::drop_dead(f);
        edit::compact(f);
    }
    changed
}

/// A loop of one block after another.
struct Chain {
    /// In their order, the header first.
    blocks: Vec<BlockId>,
    /// The one that ends the loop, and where to.
    exiting: BlockId,
    exit: BlockId,
    /// The only way in.
    entry: BlockId,
    /// All of its instructions in order, the phis of the header first.
    insts: Vec<InstId>,
    phis: usize,
}

/// Whether an instruction may run more often than it is written.
fn repeats(op: &Op) -> bool {
    match op {
        Op::Group(GroupOp::BlockWrite, ..) => false,
        Op::Group(_, GroupScope::Subgroup, _) => true,
        _ => op.is_pure(),
    }
}

impl Chain {
    fn new(f: &Function, cfg: &Cfg, this: &Loop) -> Option<Self> {
        let (mut blocks, mut ends) = (vec![this.header], Vec::new());
        loop {
            let at = *blocks.last()?;
            let mut inside = Vec::new();
            f.blocks[at.index()].term.successors(|to| match to {
                to if this.blocks.contains(&to) => inside.push(to),
                to => ends.push((at, to)),
            });
            match inside[..] {
                [next] if next == this.header => break,
                [next] if !blocks.contains(&next) => blocks.push(next),
                _ => return None,
            }
        }
        let [(exiting, exit)] = ends[..] else {
            return None;
        };
        let latch = *blocks.last()?;
        let outside = cfg.predecessors(this.header).iter();
        let outside: Vec<BlockId> = outside.copied().filter(|&from| from != latch).collect();
        let &[entry] = outside.as_slice() else {
            return None;
        };
        let insts: Vec<InstId> = blocks
            .iter()
            .flat_map(|b| f.blocks[b.index()].insts.iter().copied())
            .collect();
        let op = |inst: &InstId| &f.insts[inst.index()].op;
        let is_phi = |inst: &InstId| matches!(op(inst), Op::Phi(_));
        let phis = insts.iter().take_while(|i| is_phi(i)).count();
        let exchanges = |inst: &InstId| matches!(op(inst), Op::Group(_, GroupScope::Subgroup, _));
        let fits = blocks.len() == this.blocks.len()
            && insts.len() <= INSTRUCTIONS
            && insts.iter().all(|inst| repeats(op(inst)))
            && insts.iter().any(exchanges)
            && !insts[phis..].iter().any(is_phi);
        fits.then_some(Self {
            blocks,
            exiting,
            exit,
            entry,
            insts,
            phis,
        })
    }

    fn latch(&self) -> BlockId {
        self.blocks[self.blocks.len() - 1]
    }

    /// Makes a loop of each part: the instructions that it needs, and the phis. Those that others need as well are made
    /// anew for all but the first one.
    fn split(&self, f: &mut Function, parts: &[HashSet<InstId>]) {
        let mut made: HashSet<InstId> = HashSet::new();
        let mut exiting = self.exiting;
        let blocks = self.blocks.iter().map(|b| f.blocks[b.index()].clone());
        let own: Vec<Block> = blocks.collect();
        let mut before: Option<BlockId> = None;
        for (i, part) in parts.iter().enumerate() {
            let blocks: Vec<BlockId> = match i {
                0 => self.blocks.clone(),
                _ => self.blocks.iter().map(|_| f.add_block()).collect(),
            };
            let name = |old: BlockId| {
                let at = self.blocks.iter().position(|&b| b == old);
                at.map_or(old, |at| blocks[at])
            };
            let mut news: HashMap<ValueId, ValueId> = HashMap::new();
            let mut insts: Vec<Vec<InstId>> = Vec::new();
            for block in &own {
                let mut some = Vec::new();
                for &inst in block.insts.iter().filter(|inst| part.contains(inst)) {
                    if made.insert(inst) {
                        some.push(inst);
                        continue;
                    }
                    let old = f.insts[inst.index()].clone();
                    let ty = old.result.map(|v| f.ty(v));
                    let (new, result) = f.add_inst(old.op, ty, old.word);
                    if let (Some(old), Some(result)) = (old.result, result) {
                        news.insert(old, result);
                    }
                    some.push(new);
                }
                insts.push(some);
            }
            let renamed = |v: &mut ValueId| {
                if let Some(&new) = news.get(v) {
                    *v = new;
                }
            };
            for (at, some) in insts.into_iter().enumerate() {
                for &inst in &some {
                    let op = &mut f.insts[inst.index()].op;
                    op.operands_mut(renamed);
                    if let Op::Phi(incoming) = op {
                        for (from, _) in incoming {
                            *from = match before {
                                Some(before) if *from == self.entry => before,
                                _ => name(*from),
                            };
                        }
                    }
                }
                let mut term = own[at].term.clone();
                if i > 0 {
                    term.successors_mut(|to| *to = name(*to));
                    if let Some(v) = term.operand_mut() {
                        renamed(v);
                    }
                }
                f.blocks[blocks[at].index()] = Block { insts: some, term };
            }
            if let Some(before) = before {
                // A first part that led to the exit leads here.
                f.blocks[before.index()].term.successors_mut(|to| {
                    if *to == self.exit {
                        *to = blocks[0];
                    }
                });
            }
            exiting = name(self.exiting);
            before = Some(exiting);
        }
        for &inst in &f.blocks[self.exit.index()].insts {
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            for (from, _) in incoming {
                if *from == self.exiting {
                    *from = exiting;
                }
            }
        }
    }
}

/// Which instructions each loop has; `None` where one is best.
fn parts(
    module: &Module,
    f: &Function,
    chain: &Chain,
    registers: Registers,
) -> Option<Vec<HashSet<InstId>>> {
    let inside: HashSet<InstId> = chain.insts.iter().copied().collect();
    // All that a value needs in a turn and the ones before.
    let needs = |v: ValueId| {
        let (mut all, mut stack) = (HashSet::new(), vec![v]);
        while let Some(v) = stack.pop() {
            let ValueDef::Inst(inst) = f.values[v.index()].def else {
                continue;
            };
            if inside.contains(&inst) && all.insert(inst) {
                f.insts[inst.index()].op.operands(|v| stack.push(v));
            }
        }
        all
    };
    let control = needs(f.blocks[chain.exiting.index()].term.operand()?);
    let needed: Vec<(InstId, HashSet<InstId>)> = chain.insts[..chain.phis]
        .iter()
        .filter_map(|&phi| Some((phi, needs(f.insts[phi.index()].result?))))
        .collect();
    // What is carried along for its own sake, by the place where it is made anew.
    let mut sums: Vec<(usize, InstId, &HashSet<InstId>)> = Vec::new();
    for (phi, own) in &needed {
        let others = needed.iter().filter(|other| other.0 != *phi);
        let mut others = others.map(|other| &other.1);
        if control.contains(phi) || others.any(|needs| needs.contains(phi)) {
            continue;
        }
        let Op::Phi(incoming) = &f.insts[phi.index()].op else {
            continue;
        };
        let (_, next) = incoming.iter().find(|i| i.0 == chain.latch())?;
        let ValueDef::Inst(next) = f.values[next.index()].def else {
            continue;
        };
        let place = chain.insts.iter().position(|&inst| inst == next)?;
        sums.push((place, *phi, own));
    }
    sums.sort_unstable_by_key(|sum| sum.0);
    let size = |inst: InstId| {
        let result = f.insts[inst.index()].result;
        let bytes = result.map_or(0, |v| module.types.size_of(f.ty(v)));
        (bytes * registers.lanes).div_ceil(registers.bytes)
    };
    let carried: u64 = sums.iter().map(|sum| size(sum.1)).sum();
    let room = registers.count.saturating_sub(OTHERS);
    if carried <= room {
        return None;
    }
    let cost = |inst: InstId| match &f.insts[inst.index()].op {
        // Names of registers.
        Op::Phi(_)
        | Op::Extract(..)
        | Op::Insert(..)
        | Op::Shuffle(..)
        | Op::Construct(_)
        | Op::Convert(..) => 0,
        Op::Load { .. } => READ * size(inst),
        _ => size(inst),
    };
    let mut summed: HashSet<InstId> = HashSet::new();
    for sum in &sums {
        summed.extend(sum.2);
    }
    // What no sum needs is done by the first part.
    let rest = chain.insts.iter().filter(|inst| !summed.contains(inst));
    let rest = rest.filter_map(|inst| f.insts[inst.index()].result);
    let rest: HashSet<InstId> = rest.flat_map(needs).collect();
    let mut best: Option<(u64, Vec<HashSet<InstId>>)> = None;
    for count in 1..=PARTS.min(sums.len()) {
        let each = carried.div_ceil(count as u64);
        let mut all: Vec<(u64, HashSet<InstId>)> = Vec::new();
        for (_, phi, own) in &sums {
            match all.last_mut() {
                Some((size_of, part)) if *size_of < each => {
                    *size_of += size(*phi);
                    part.extend(*own);
                }
                _ => {
                    let mut part = control.clone();
                    part.extend(*own);
                    all.push((size(*phi), part));
                }
            }
        }
        let costs = all.iter().map(|(size_of, part)| {
            let work: u64 = part.iter().map(|&inst| cost(inst)).sum();
            work + size_of.saturating_sub(room) * SPILL
        });
        let costs: u64 = costs.sum();
        if best.as_ref().is_none_or(|(least, _)| costs < *least) {
            best = Some((costs, all.into_iter().map(|part| part.1).collect()));
        }
    }
    let (_, mut parts) = best?;
    parts[0].extend(rest);
    (parts.len() > 1).then_some(parts)
}
