//! A region: the code between two barriers, as a function of its own.

use std::collections::HashMap;

use kernel_ir::passes::cfg::{Cfg, Loops, PostDominators};
use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{BlockId, Function, InstId, ValueDef, ValueId};

/// The code from one stop to the next ones, entered at its first block. Values and instructions keep the numbers that
/// they have in the kernel.
pub struct Region {
    /// Its blocks; the first one is entered from outside only.
    pub function: Function,
    /// The stop behind which it begins; `None` for the kernel's start.
    pub after: Option<usize>,
    /// Blocks that end it, with the stop at which they end it; `None`: work-items return.
    pub exits: HashMap<BlockId, Option<usize>>,
    /// Whether a work-item may return in it.
    pub returns: bool,
    /// Saved values that it uses, in order.
    pub live: Vec<ValueId>,
    /// Shapes of its values over the lanes of a row; `None` while the region is being formed.
    pub shapes: Option<Shapes>,
    /// Shapes of its values over the lanes of sub-groups that are not part of a row, if there may be any.
    pub sub_group_shapes: Option<Shapes>,
    /// Divergent branches that are assumed uniform: a test at the start of each chunk says so.
    pub assumed_uniform: Vec<BlockId>,
    /// A condition that holds in all lanes: a test at the start of each chunk says so. Its comparisons are of values with
    /// known steps ([`comparisons`](crate::comparisons)).
    pub tested: Option<ValueId>,
    /// Its control-flow graph.
    pub cfg: Cfg,
    /// Its loops, and an order of blocks in which each is contiguous.
    pub loops: Loops,
    /// Blocks that every path to an exit goes through.
    pub post: PostDominators,
    /// Block of each instruction.
    pub home: HashMap<InstId, BlockId>,
}

impl Region {
    /// The number of instructions.
    pub fn instruction_count(&self) -> usize {
        self.function.blocks.iter().map(|b| b.insts.len()).sum()
    }

    /// Whether all lanes are active wherever the region ends, and no value is uniform only under an assumption of
    /// no-wrap.
    pub fn can_run(&self) -> bool {
        let all = [&self.shapes, &self.sub_group_shapes];
        self.shapes.is_some()
            && all
                .into_iter()
                .flatten()
                .all(|shapes| self.can_run_with(shapes))
    }

    fn can_run_with(&self, shapes: &Shapes) -> bool {
        if self.loops.loops.iter().any(|l| l.irreducible) {
            return false;
        }
        let apart = self
            .exits
            .iter()
            .any(|(block, stop)| stop.is_some() && shapes.is_masked(*block));
        let guess = self.home.keys().any(|inst| {
            self.function.insts[inst.index()]
                .result
                .is_some_and(|v| shapes.of(v) == Shape::Uniform && shapes.assumes_no_wrap(v))
        });
        !apart && !guess
    }

    /// The loops around `block`, the innermost first.
    pub(crate) fn loops_around(&self, block: BlockId) -> impl Iterator<Item = u32> {
        let parent = |l: &u32| self.loops.loops[*l as usize].parent;
        std::iter::successors(self.loops.innermost(block), parent)
    }

    /// Iterations of `block` for estimates: eight in each loop around it.
    pub(crate) fn estimated_iterations(&self, block: BlockId) -> u64 {
        self.loops_around(block)
            .fold(1, |iterations: u64, _| (8 * iterations).min(1 << 29))
    }

    /// The block that makes `v`; `None` for values of earlier regions, arguments and constants.
    #[must_use]
    pub fn block_of(&self, v: ValueId) -> Option<BlockId> {
        match self.function.values[v.index()].def {
            ValueDef::Inst(inst) => self.home.get(&inst).copied(),
            _ => None,
        }
    }
}
