//! Unrolls short loops whose iterations exchange values between the lanes of a sub-group, at distances that are known.
//!
//! A shuffle by a constant distance is one instruction. Inside the loop the distance is a number like any other.
//!
//! ```text
//! head: %m = phi entry: 1, head: %next        %o1 = group.shuffle_xor Subgroup %v, 1
//!       %o = group.shuffle_xor Subgroup %v, %m    ...
//!       ...                                   =>  %o2 = group.shuffle_xor Subgroup %w, 2
//!       %next = shl %m, 1                         ...
//!       br_if (%next == 16), after, head
//! ```
//!
//! A butterfly of 16 lanes in Rust took 1.6 times the time of the same kernel in OpenCL C, which clang unrolls (2026-11,
//! Xeon with AVX-512).

use super::counted_loops::{Counted, Tables};
use super::edit::Edit;
use super::private_loops::{has_barriers, size};
use super::simplify::simplify;
use crate::cfg::{Cfg, Dominators, Loops};
use crate::ir::{BlockId, GroupOp, GroupScope, Op, ValueId};

/// Instructions and terminators of a function after unrolling. A butterfly of 16 lanes has 50; kernels of more than 200
/// instructions have vectors only in loops, so that unrolling would cost more than it gains.
const MAX_INSTRUCTIONS: usize = 160;

/// Unrolls such loops; returns whether there were any.
pub(super) fn unroll(e: &mut Edit<'_>) -> bool {
    let mut changed = false;
    while let Some(counted) = find(e) {
        crate::mark!(ShuffleLoops);
        counted.peel_first(e.f, counted.iterations.len());
        simplify(e);
        changed = true;
    }
    changed
}

/// The first loop to unroll.
fn find(e: &Edit<'_>) -> Option<Counted> {
    let all: Vec<BlockId> = (0..e.f.blocks.len() as u32).map(BlockId).collect();
    let left = MAX_INSTRUCTIONS.checked_sub(size(e.f, &all))?;
    if !all
        .iter()
        .any(|&block| distances(e, block).next().is_some())
    {
        return None;
    }
    let cfg = Cfg::new(e.f);
    let loops = Loops::new(&cfg);
    let dominators = Dominators::new(&cfg);
    let tables = Tables {
        types: e.types,
        constants: e.constants,
    };
    (0..loops.loops.len() as u32).find_map(|l| {
        let blocks = &loops.loops[l as usize].blocks;
        let all: Vec<ValueId> = blocks.iter().flat_map(|&b| distances(e, b)).collect();
        if all.is_empty() || has_barriers(e.f, blocks) || size(e.f, blocks) > left {
            return None;
        }
        let counted = Counted::find(tables, e.f, &cfg, &dominators, &loops, l)?;
        let iterations = &counted.iterations;
        let some = |v: &ValueId| iterations.iter().all(|known| known.contains_key(v));
        let added = size(e.f, blocks) * (iterations.len() - 1);
        crate::reach!(MAX_INSTRUCTIONS, MAX_INSTRUCTIONS - left + added);
        (all.iter().any(some) && added <= left).then_some(counted)
    })
}

/// The distances of a block's shuffles that are not constants.
fn distances<'e>(e: &'e Edit<'_>, block: BlockId) -> impl Iterator<Item = ValueId> + 'e {
    let insts = e.f.blocks[block.index()].insts.iter();
    insts.filter_map(|inst| match &e.f.insts[inst.index()].op {
        Op::Group(
            GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown,
            GroupScope::Subgroup,
            args,
        ) => args.get(1).copied().filter(|&v| e.const_of(v).is_none()),
        _ => None,
    })
}
