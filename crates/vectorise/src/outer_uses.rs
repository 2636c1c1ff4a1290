//! The values of a region that are used outside of the block, or behind the loop, that makes them.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::shape::Shapes;
use kernel_ir::{BlockId, Op, ValueId};

use crate::input::Input;
use crate::region::Region;

/// Uses of a region's values outside of the block that makes them.
#[derive(Default, Debug)]
pub(crate) struct OuterUses {
    /// Values that other blocks use.
    pub(crate) crossing: HashSet<ValueId>,
    /// Values that are used behind a divergent loop that computes them, with that loop.
    pub(crate) divergent: HashMap<ValueId, u32>,
    /// Values of a loop's header that are used behind that loop, with the outermost such loop. A value of `divergent`
    /// is none of them.
    pub(crate) of_headers: HashMap<ValueId, u32>,
}

impl OuterUses {
    /// The outer uses in `region`. `shapes` tells which loops are divergent; without it none is.
    pub(crate) fn new(input: &Input<'_>, region: &Region, shapes: Option<&Shapes>) -> Self {
        let mut found = Self::default();
        let function = &region.function;
        for &block in region.cfg.reverse_post_order() {
            let code = &function.blocks[block.index()];
            for &inst in &code.insts {
                match &function.insts[inst.index()].op {
                    Op::Phi(incoming) => {
                        for &(from, v) in incoming {
                            found.used(region, shapes, v, from);
                        }
                    }
                    op => op.operands(|v| found.used(region, shapes, v, block)),
                }
            }
            if let Some(v) = code.term.operand() {
                found.used(region, shapes, v, block);
            }
            if let Some(Some(stop)) = region.exits.get(&block) {
                for &v in &input.segments.stops[*stop].live {
                    found.used(region, shapes, v, block);
                }
            }
        }
        let divergent = &found.divergent;
        found.of_headers.retain(|v, _| !divergent.contains_key(v));
        found
    }

    fn used(&mut self, region: &Region, shapes: Option<&Shapes>, v: ValueId, at: BlockId) {
        let Some(home) = region.block_of(v).filter(|&home| home != at) else {
            return;
        };
        self.crossing.insert(v);
        let mut l = region.loops.innermost(home);
        while let Some(i) = l.filter(|&i| !region.loops.contains(i, at)) {
            if shapes.is_some_and(|shapes| shapes.is_divergent_loop(i)) {
                self.divergent.entry(v).or_insert(i);
                return;
            }
            let this = &region.loops.loops[i as usize];
            if this.header == home {
                self.of_headers.insert(v, i);
            }
            l = this.parent;
        }
    }
}
