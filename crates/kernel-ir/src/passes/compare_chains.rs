//! Chains of comparisons become switches.
//!
//! A `match` of a kernel in Rust and `else if` in C++ compare one value with one constant after another. In a
//! chain, a vectoriser combines the mask of each comparison with those before it; a switch has one comparison for each case.
//!
//! ```text
//!   %a = cmp.ieq %v, 0                       switch %v, d [0: x, 1: y, 2: z]
//!   br_if %a, x, next
//! next:
//!   %b = cmp.ieq %v, 1                  =>
//!   br_if %b, y, last
//! last:
//!   %c = cmp.ieq %v, 2
//!   br_if %c, z, d
//! ```

use super::edit::Edit;
use crate::cfg::Cfg;
use crate::ir::{BlockId, Function, InstId, Op, Predicate, Terminator, ValueDef, ValueId};

/// Cases of the shortest switch that is made of a chain. Not measured.
const LEAST: usize = 3;

/// A comparison at the end of a block.
struct Link {
    block: BlockId,
    /// The comparison.
    inst: InstId,
    value: ValueId,
    number: u64,
    /// The successors where the value equals the number, and where it does not.
    equal: BlockId,
    rest: BlockId,
}

/// Makes switches of the chains of a function; returns whether there were any.
pub(super) fn make_switches(e: &mut Edit<'_>) -> bool {
    let cfg = Cfg::new(e.f);
    let mut changed = false;
    let mut taken = vec![false; e.f.blocks.len()];
    for &block in cfg.reverse_post_order() {
        if taken[block.index()] {
            continue;
        }
        let chain = chain(e, &cfg, block);
        if chain.len() >= LEAST {
            for link in &chain {
                taken[link.block.index()] = true;
            }
            replace(e.f, &chain);
            crate::mark!(CompareChains);
            changed = true;
        }
    }
    changed
}

/// The longest chain that begins at the end of a block and can be a switch.
fn chain(e: &Edit<'_>, cfg: &Cfg, head: BlockId) -> Vec<Link> {
    let mut chain: Vec<Link> = link(e, head).into_iter().collect();
    while let Some(last) = chain.last() {
        let next = last.rest;
        let is_own = cfg.predecessors(next) == [last.block] && next.0 != 0;
        let Some(more) = link(e, next).filter(|_| is_own) else {
            break;
        };
        let only = e.f.blocks[next.index()].insts == [more.inst];
        let is_new = chain.iter().all(|link| link.number != more.number);
        if !only || !is_new || more.value != last.value {
            break;
        }
        chain.push(more);
    }
    while !chain.is_empty() && !agrees(e.f, &chain) {
        chain.pop();
    }
    chain
}

/// The comparison that decides the branch at the end of a block.
fn link(e: &Edit<'_>, block: BlockId) -> Option<Link> {
    let Terminator::CondBr {
        cond,
        then,
        otherwise,
    } = e.f.blocks[block.index()].term
    else {
        return None;
    };
    let ValueDef::Inst(inst) = e.f.values[cond.index()].def else {
        return None;
    };
    let Op::Compare(predicate, a, b) = e.f.insts[inst.index()].op else {
        return None;
    };
    let (value, number) = match (e.known_int(a), e.known_int(b)) {
        (None, Some(number)) => (a, number),
        (Some(number), None) => (b, number),
        _ => return None,
    };
    let (equal, rest) = match predicate {
        Predicate::IEq => (then, otherwise),
        Predicate::INe => (otherwise, then),
        _ => return None,
    };
    (equal != rest).then_some(Link {
        block,
        inst,
        value,
        number,
        equal,
        rest,
    })
}

/// The edges of a chain: each has the block that it leaves, and its target.
fn edges(chain: &[Link]) -> impl Iterator<Item = (BlockId, BlockId)> {
    let equal = chain.iter().map(|link| (link.block, link.equal));
    equal.chain(chain.last().map(|link| (link.block, link.rest)))
}

/// Whether the phis of each target have the same inputs on all edges of the chain.
fn agrees(f: &Function, chain: &[Link]) -> bool {
    edges(chain).all(|(_, to)| {
        let insts = f.blocks[to.index()].insts.iter();
        let mut phis = insts.map_while(|inst| match &f.insts[inst.index()].op {
            Op::Phi(incoming) => Some(incoming),
            _ => None,
        });
        phis.all(|incoming| {
            let from = edges(chain).filter(|edge| edge.1 == to);
            let mut inputs = from.map(|(from, _)| incoming.iter().find(|i| i.0 == from));
            let first = inputs.next().flatten();
            inputs.all(|input| input.map(|i| i.1) == first.map(|i| i.1))
        })
    })
}

/// Puts the switch at the end of the chain's first block.
fn replace(f: &mut Function, chain: &[Link]) {
    let [head, others @ ..] = chain else { return };
    let default = others.last().unwrap_or(head).rest;
    for (_, to) in edges(chain) {
        for k in 0..f.blocks[to.index()].insts.len() {
            let inst = f.blocks[to.index()].insts[k];
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            let is_of_chain = |from: BlockId| chain.iter().any(|link| link.block == from);
            let value = incoming.iter().find(|i| is_of_chain(i.0)).map(|i| i.1);
            incoming.retain(|i| !is_of_chain(i.0));
            incoming.extend(value.map(|value| (head.block, value)));
        }
    }
    f.blocks[head.block.index()].term = Terminator::Switch {
        value: head.value,
        default,
        cases: chain.iter().map(|link| (link.number, link.equal)).collect(),
    };
    for link in others {
        let from = &mut f.blocks[link.block.index()];
        from.term = Terminator::Unreachable;
        let moved = std::mem::take(&mut from.insts);
        f.blocks[head.block.index()].insts.extend(moved);
    }
}
