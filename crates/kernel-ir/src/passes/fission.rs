//! Loop fission for sub-group loops with more accumulators than the target has registers.
//!
//! A matrix product in tiles carries a tile of sums through its loop. Where the sums do not fit into the vector
//! registers, each iteration would spill all of them. Several loops, each with a part of the sums, keep theirs in
//! registers; the instructions that they share are repeated in each:
//!
//! ```text
//! loop:                                 loop1:  %a = phi 0, %a2         loop2:  %b = phi 0, %b2
//!   %a = phi 0, %a2                       %x = load ...                   %x' = load ...
//!   %b = phi 0, %b2               =>      %a2 = fadd %a, %x               %b2 = fadd %b, %x'
//!   %x = load ...                         br_if %more, loop1, loop2       br_if %more', loop2, end
//!   %a2 = fadd %a, %x
//!   %b2 = fadd %b, %x
//!   br_if %more, loop, end
//! ```
//!
//! The pass takes loops that are a single chain of blocks and have no effects but sub-group operations. Each accumulator
//! may depend on itself and on values that are no accumulators. The back end describes the register file
//! ([`Registers`]); the pass compares the cost of one to [`MAX_LOOPS`] loops and takes the cheapest.

use std::collections::{HashMap, HashSet};

use super::edit;
use crate::cfg::{Cfg, Loop, Loops};
use crate::ir::{
    Block, BlockId, Function, GroupOp, GroupScope, InstId, Module, Op, ValueDef, ValueId,
};

/// Loops that one becomes: more loops repeat the shared instructions more often. Outside of products of matrices
/// fission may lose: on x86-64-v3 a loop of 32 sums took with it 1.2 times as long, one of 16 sums and 16 maxima 1.8
/// times, and with at most 2 loops 1.07 and 1.04 times. Products of 48 rows gain on x86-64-v4, 1.2 to 1.3 times, those
/// of 32 rows lose as much (2026-11, AMD EPYC of Zen 4, two processors).
const MAX_LOOPS: usize = 6;
/// Instructions of a loop: a bound on compile time. Largest loop with sub-group operations in 17,722 modules of dpctl
/// and dpnp: 15; in our corpora: 7 (2026-11).
const MAX_LOOP_INSTRUCTIONS: usize = 400;

/// The target's vector registers, as the back end describes them: this crate knows no machine.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// Vector registers.
    pub count: u64,
    /// Bytes of a vector register.
    pub bytes: u64,
    /// Lanes of a sub-group.
    pub lanes: u64,
    /// Registers that a loop needs for other values than accumulators.
    pub reserved: u64,
    /// Cost of storing a register in one iteration and loading it in the next, in vector operations.
    pub spill_cost: u64,
    /// Cost of loading a register from memory, in vector operations.
    pub load_cost: u64,
}

/// Distributes such loops of `f`; returns whether there were any.
pub(super) fn fission_loops(module: &Module, f: &mut Function, registers: Registers) -> bool {
    if !module.uses(crate::Transform::Fission) {
        return false;
    }
    let cfg = Cfg::new(f);
    let loops = Loops::new(&cfg);
    let inner = |l: u32| loops.loops.iter().all(|other| other.parent != Some(l));
    let found: Vec<ChainLoop> = (0u32..)
        .zip(&loops.loops)
        .filter(|(l, this)| inner(*l) && !this.irreducible)
        .filter_map(|(_, this)| ChainLoop::new(f, &cfg, this))
        .collect();
    // Of adjacent loops only the first one is taken: its copies would change the entry of the second.
    let all: HashSet<BlockId> = found.iter().flat_map(|c| c.blocks.clone()).collect();
    let independent = found.iter().filter(|chain| !all.contains(&chain.entry));
    let mut changed = false;
    for chain in independent {
        let Some(loops) = partition(module, f, chain, registers) else {
            continue;
        };
        chain.distribute(f, &loops);
        crate::mark!(Fission);
        changed = true;
    }
    if changed {
        edit::drop_dead(f);
        edit::compact(f);
    }
    changed
}

/// A loop whose blocks form a single chain.
struct ChainLoop {
    /// In the order of the chain, the header first.
    blocks: Vec<BlockId>,
    /// The only block that leaves the loop, and its successor outside.
    exiting: BlockId,
    exit: BlockId,
    /// The only predecessor of the header outside the loop.
    entry: BlockId,
    /// All instructions in order, the header's phis first.
    insts: Vec<InstId>,
    phis: usize,
}

/// Whether an instruction may be repeated in several loops.
fn repeats(op: &Op) -> bool {
    match op {
        Op::Group(GroupOp::BlockWrite, ..) => false,
        Op::Group(_, GroupScope::Subgroup, _) => true,
        _ => op.is_pure(),
    }
}

impl ChainLoop {
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
            && insts.iter().all(|inst| repeats(op(inst)))
            && insts.iter().any(exchanges)
            && !insts[phis..].iter().any(is_phi);
        crate::reach!(MAX_LOOP_INSTRUCTIONS, if fits { insts.len() } else { 0 });
        let fits = fits && insts.len() <= MAX_LOOP_INSTRUCTIONS;
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

    /// Makes a loop of each set of instructions. The first loop that has an instruction keeps it, others get a copy.
    fn distribute(&self, f: &mut Function, loops: &[HashSet<InstId>]) {
        let mut made: HashSet<InstId> = HashSet::new();
        let mut exiting = self.exiting;
        let blocks = self.blocks.iter().map(|b| f.blocks[b.index()].clone());
        let own: Vec<Block> = blocks.collect();
        let mut before: Option<BlockId> = None;
        for (i, part) in loops.iter().enumerate() {
            let blocks: Vec<BlockId> = match i {
                0 => self.blocks.clone(),
                _ => self.blocks.iter().map(|_| f.add_block()).collect(),
            };
            let name = |old: BlockId| {
                let at = self.blocks.iter().position(|&b| b == old);
                at.map_or(old, |at| blocks[at])
            };
            let mut renames: HashMap<ValueId, ValueId> = HashMap::new();
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
                        renames.insert(old, result);
                    }
                    some.push(new);
                }
                insts.push(some);
            }
            let renamed = |v: &mut ValueId| {
                if let Some(&new) = renames.get(v) {
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
                // The previous loop is followed by this one instead of the exit.
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

/// The instructions of each loop; `None` where one loop is cheapest.
fn partition(
    module: &Module,
    f: &Function,
    chain: &ChainLoop,
    registers: Registers,
) -> Option<Vec<HashSet<InstId>>> {
    let inside: HashSet<InstId> = chain.insts.iter().copied().collect();
    // Instructions of the loop that a value depends on, in this iteration and earlier ones.
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
    // Accumulators, by the position of their update.
    let mut accumulators: Vec<(usize, InstId, &HashSet<InstId>)> = Vec::new();
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
        accumulators.push((place, *phi, own));
    }
    accumulators.sort_unstable_by_key(|accumulator| accumulator.0);
    let size = |inst: InstId| {
        let result = f.insts[inst.index()].result;
        let bytes = result.map_or(0, |v| module.types.size_of(f.ty(v)));
        (bytes * registers.lanes).div_ceil(registers.bytes)
    };
    let carried: u64 = accumulators
        .iter()
        .map(|accumulator| size(accumulator.1))
        .sum();
    let available = registers.count.saturating_sub(registers.reserved);
    if carried <= available {
        return None;
    }
    let cost = |inst: InstId| match &f.insts[inst.index()].op {
        // Choose among registers, at no cost.
        Op::Phi(_)
        | Op::Extract(..)
        | Op::Insert(..)
        | Op::Shuffle(..)
        | Op::Construct(_)
        | Op::Convert(..) => 0,
        Op::Load { .. } => registers.load_cost * size(inst),
        _ => size(inst),
    };
    let mut accumulated: HashSet<InstId> = HashSet::new();
    for accumulator in &accumulators {
        accumulated.extend(accumulator.2);
    }
    // The first loop also computes what no accumulator needs.
    let rest = chain
        .insts
        .iter()
        .filter(|inst| !accumulated.contains(inst));
    let rest = rest.filter_map(|inst| f.insts[inst.index()].result);
    let rest: HashSet<InstId> = rest.flat_map(needs).collect();
    let mut best: Option<(u64, Vec<HashSet<InstId>>)> = None;
    for count in 1..=MAX_LOOPS.min(accumulators.len()) {
        let each = carried.div_ceil(count as u64);
        let mut all: Vec<(u64, HashSet<InstId>)> = Vec::new();
        for (_, phi, own) in &accumulators {
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
            work + size_of.saturating_sub(available) * registers.spill_cost
        });
        let costs: u64 = costs.sum();
        if best.as_ref().is_none_or(|(least, _)| costs < *least) {
            best = Some((costs, all.into_iter().map(|part| part.1).collect()));
        }
    }
    let (_, mut loops) = best?;
    crate::reach!(MAX_LOOPS, loops.len());
    loops[0].extend(rest);
    (loops.len() > 1).then_some(loops)
}
