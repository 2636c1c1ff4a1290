//! Redirects an arm that ends in a trap to the other arm of its branch.
//!
//! ```text
//!   br_if %ok, go, fail           br_if %ok, go, fail
//! fail: trap               =>   fail: trap
//!   unreachable                   br go
//! go: ...                       go: ...
//! ```
//!
//! Nothing executes after a trap, so the new edge is never taken. With it `go` post-dominates the branch: the
//! divergence analysis ([`super::shape`]) sees that all lanes reach `go`, and code after the branch needs no mask.

use crate::cfg::{Cfg, Dominators};
use crate::ir::{BlockId, Function, Op, Terminator};

/// Redirects the trapping arms of `f`.
pub(super) fn redirect_trap_arms(f: &mut Function) {
    let traps = |f: &Function, block: BlockId| {
        let block = &f.blocks[block.index()];
        matches!(block.term, Terminator::Unreachable)
            && block
                .insts
                .last()
                .is_some_and(|last| matches!(f.insts[last.index()].op, Op::Trap(_)))
    };
    let all = (0..f.blocks.len()).map(|i| BlockId(i as u32));
    let arms: Vec<BlockId> = all.filter(|&block| traps(f, block)).collect();
    if arms.is_empty() {
        return;
    }
    let cfg = Cfg::new(f);
    let dominators = Dominators::new(&cfg);
    for arm in arms.into_iter().filter(|&arm| cfg.is_reachable(arm)) {
        let &[from] = cfg.predecessors(arm) else {
            continue;
        };
        let Terminator::CondBr {
            then, otherwise, ..
        } = f.blocks[from.index()].term
        else {
            continue;
        };
        let other = if then == arm { otherwise } else { then };
        // A back edge would make the trap a part of the loop.
        if other == arm || traps(f, other) || dominators.dominates(other, from) {
            continue;
        }
        for &inst in &f.blocks[other.index()].insts {
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            let of = incoming.iter().find(|(block, _)| *block == from);
            if let Some(&(_, value)) = of {
                incoming.push((arm, value));
            }
        }
        crate::mark!(TrapArms);
        f.blocks[arm.index()].term = Terminator::Br(other);
    }
}
