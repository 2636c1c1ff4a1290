//! Simplifies the control flow: folds branches on constants, threads jumps through empty blocks, merges chains of blocks.

use super::edit::{Edit, Replacements, drop_unreachable};
use super::value_numbering::known_condition;
use crate::cfg::Cfg;
use crate::ir::{BlockId, Function, Op, Terminator, UnaryOp, ValueId};

/// Inputs of a join into which empty blocks are threaded: a bound on compile time, because each threaded block scans all
/// inputs. Largest in 17,722 modules of dpctl and dpnp: 12; in our corpora: 13 (2026-11).
const MAX_THREADED_INPUTS: usize = 64;

/// Simplifies the graph; returns whether anything changed.
pub(super) fn simplify_cfg(e: &mut Edit<'_>) -> bool {
    let mut changed = false;
    for b in 0..e.f.blocks.len() {
        changed |= fold_branch(e, BlockId(b as u32));
    }
    let cfg = Cfg::new(e.f);
    if cfg.reverse_post_order().len() != e.f.blocks.len() {
        drop_unreachable(e.f, &cfg);
    }
    let mut predecessors: Vec<Vec<BlockId>> = (0..e.f.blocks.len() as u32)
        .map(|b| cfg.predecessors(BlockId(b)).to_vec())
        .collect();
    for &block in cfg.reverse_post_order() {
        changed |= thread(e.f, &mut predecessors, block);
    }
    changed | merge(e.f, &predecessors, cfg.reverse_post_order())
}

/// Replaces the terminator of `block`; phis of former successors lose their input from it.
fn set_terminator(f: &mut Function, block: BlockId, term: Terminator) {
    let mut lost = Vec::new();
    f.blocks[block.index()].term.successors(|to| lost.push(to));
    term.successors(|to| lost.retain(|l| *l != to));
    f.blocks[block.index()].term = term;
    for to in lost {
        for k in 0..f.blocks[to.index()].insts.len() {
            let inst = f.blocks[to.index()].insts[k];
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            incoming.retain(|(from, _)| *from != block);
        }
    }
}

fn fold_branch(e: &mut Edit<'_>, block: BlockId) -> bool {
    let new = match &e.f.blocks[block.index()].term {
        Terminator::CondBr {
            cond,
            then,
            otherwise,
        } => {
            if then == otherwise {
                Terminator::Br(*then)
            } else if let Some(known) = known_condition(e, *cond) {
                Terminator::Br(if known { *then } else { *otherwise })
            } else if let Some(Op::Unary(UnaryOp::Not, inner, _)) = e.def(*cond) {
                Terminator::CondBr {
                    cond: *inner,
                    then: *otherwise,
                    otherwise: *then,
                }
            } else {
                return false;
            }
        }
        Terminator::Switch {
            value,
            default,
            cases,
        } => {
            if let Some(known) = e.known_int(*value) {
                let hit = cases.iter().find(|c| c.0 == known);
                Terminator::Br(hit.map_or(*default, |c| c.1))
            } else if cases.iter().all(|c| c.1 == *default) {
                Terminator::Br(*default)
            } else {
                return false;
            }
        }
        _ => return false,
    };
    set_terminator(e.f, block, new);
    true
}

fn phi_inputs(f: &Function, block: BlockId) -> impl Iterator<Item = &Vec<(BlockId, ValueId)>> {
    let insts = f.blocks[block.index()].insts.iter();
    insts.map_while(|i| match &f.insts[i.index()].op {
        Op::Phi(incoming) => Some(incoming),
        _ => None,
    })
}

fn input(incoming: &[(BlockId, ValueId)], from: BlockId) -> Option<ValueId> {
    incoming.iter().find(|i| i.0 == from).map(|i| i.1)
}

/// Redirects the predecessors of an empty block to its successor.
fn thread(f: &mut Function, predecessors: &mut [Vec<BlockId>], block: BlockId) -> bool {
    let Terminator::Br(to) = f.blocks[block.index()].term else {
        return false;
    };
    let before = &predecessors[block.index()];
    if !f.blocks[block.index()].insts.is_empty()
        || to == block
        || block.0 == 0
        || before.is_empty()
        || before.contains(&block)
    {
        return false;
    }
    let has_phis = phi_inputs(f, to).next().is_some();
    if has_phis {
        crate::reach!(
            MAX_THREADED_INPUTS,
            before.len() + predecessors[to.index()].len()
        );
        if before.len() + predecessors[to.index()].len() > MAX_THREADED_INPUTS {
            return false;
        }
        for &from in before {
            // A predecessor that already reaches the join must have the same inputs on both edges.
            let conflict = predecessors[to.index()].contains(&from)
                && phi_inputs(f, to).any(|p| input(p, from) != input(p, block));
            if conflict {
                return false;
            }
        }
    }
    let before = std::mem::take(&mut predecessors[block.index()]);
    for k in 0..f.blocks[to.index()].insts.len() {
        let inst = f.blocks[to.index()].insts[k];
        let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
            break;
        };
        let value = input(incoming, block);
        incoming.retain(|i| i.0 != block);
        for &from in &before {
            if let (None, Some(value)) = (input(incoming, from), value) {
                incoming.push((from, value));
            }
        }
    }
    for &from in &before {
        f.blocks[from.index()].term.successors_mut(|s| {
            if *s == block {
                *s = to;
            }
        });
    }
    let after = &mut predecessors[to.index()];
    after.retain(|p| *p != block);
    after.extend(before);
    after.sort_unstable();
    after.dedup();
    f.blocks[block.index()].term = Terminator::Unreachable;
    true
}

/// Merges each block into its only predecessor, if that has no other successor.
fn merge(f: &mut Function, predecessors: &[Vec<BlockId>], order: &[BlockId]) -> bool {
    let mut into: Vec<BlockId> = (0..f.blocks.len() as u32).map(BlockId).collect();
    let mut replace = Replacements::new(f);
    let mut changed = false;
    for &block in order {
        if into[block.index()] != block {
            continue;
        }
        while let Terminator::Br(to) = f.blocks[block.index()].term {
            let [only] = predecessors[to.index()][..] else {
                break;
            };
            if to == block || to.0 == 0 || find(&mut into, only) != block {
                break;
            }
            let moved = std::mem::take(&mut f.blocks[to.index()].insts);
            for inst in moved {
                let entry = &f.insts[inst.index()];
                if let (Op::Phi(incoming), Some(result)) = (&entry.op, entry.result)
                    && let Some(&(_, value)) = incoming.first()
                    && value != result
                {
                    replace.set(result, value);
                } else {
                    f.blocks[block.index()].insts.push(inst);
                }
            }
            f.blocks[block.index()].term =
                std::mem::replace(&mut f.blocks[to.index()].term, Terminator::Unreachable);
            into[to.index()] = block;
            changed = true;
        }
    }
    if changed {
        for b in 0..f.blocks.len() {
            for k in 0..f.blocks[b].insts.len() {
                let inst = f.blocks[b].insts[k];
                let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                    break;
                };
                for (from, _) in incoming {
                    *from = find(&mut into, *from);
                }
            }
        }
        replace.apply(f);
    }
    changed
}

fn find(into: &mut [BlockId], block: BlockId) -> BlockId {
    let mut at = block;
    while into[at.index()] != at {
        at = into[at.index()];
    }
    let mut step = block;
    while into[step.index()] != at {
        step = std::mem::replace(&mut into[step.index()], at);
    }
    at
}
