//! A side of a branch that ends in a trap leads on to where the other side does.
//!
//! Nothing behind a trap happens, so it may lead anywhere. What leads to where all others go lets them meet there:
//! back ends that run work-items side by side would else take all that follows for a way that some did not go.

use crate::cfg::{Cfg, Dominators};
use crate::ir::{BlockId, Function, Op, Terminator};

/// Leads traps of `f` on.
pub(super) fn lead_on(f: &mut Function) {
    let ends = |f: &Function, block: BlockId| {
        let block = &f.blocks[block.index()];
        matches!(block.term, Terminator::Unreachable)
            && block
                .insts
                .last()
                .is_some_and(|last| matches!(f.insts[last.index()].op, Op::Trap(_)))
    };
    let all = (0..f.blocks.len()).map(|i| BlockId(i as u32));
    let sides: Vec<BlockId> = all.filter(|&block| ends(f, block)).collect();
    if sides.is_empty() {
        return;
    }
    let cfg = Cfg::new(f);
    let dominators = Dominators::new(&cfg);
    for side in sides.into_iter().filter(|&side| cfg.is_reachable(side)) {
        let &[from] = cfg.predecessors(side) else {
            continue;
        };
        let Terminator::CondBr {
            then, otherwise, ..
        } = f.blocks[from.index()].term
        else {
            continue;
        };
        let other = if then == side { otherwise } else { then };
        // A way back would make the trap a part of the loop.
        if other == side || ends(f, other) || dominators.dominates(other, from) {
            continue;
        }
        for &inst in &f.blocks[other.index()].insts {
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            let of = incoming.iter().find(|(block, _)| *block == from);
            if let Some(&(_, value)) = of {
                incoming.push((side, value));
            }
        }
        crate::mark!(TrapsLeadOn);
        f.blocks[side.index()].term = Terminator::Br(other);
    }
}
