//! Unroll-and-jam over chunks: chunks of a few neighbouring rows, or a few chunks of one row, run through a region
//! together. The plan allows it where all work-items of a group take the same branches, and chooses the number of
//! chunks.
//!
//! ```text
//! one chunk      for k: s += a[y][k] * b[k][x]
//! two, jammed    for k: v = b[k][x];  s0 += a[y][k] * v;  s1 += a[y + 1][k] * v
//! ```
//!
//! Values that the chunks share are loaded once, additions to different sums do not wait for each other, and all sums
//! stay in registers.
//!
//! Each instruction is emitted for one chunk after another. An [`Instance`] has a chunk's ids and values; it changes
//! places with the state of `Lanes` while code for that chunk is emitted.

use std::collections::HashMap;

use kernel_ir::{BlockId, BuildError, Op, Terminator, ValueId};

use super::region::Lanes;
use super::rep::{Rep, Stored};
use crate::llvm::{Bb, IntPred, Opcode, Val};
use crate::lower::Item;

/// The state of one of the chunks.
pub(super) struct Instance {
    item: Item,
    block_values: HashMap<ValueId, Rep>,
    stored: HashMap<ValueId, Stored>,
    arrays: HashMap<ValueId, (Val, u64)>,
    rows: HashMap<ValueId, (BlockId, Val)>,
    spans: Vec<super::rep::Span>,
    phis: HashMap<ValueId, Stored>,
}

impl Instance {
    pub(super) fn new(item: Item) -> Self {
        Self {
            item,
            block_values: HashMap::new(),
            stored: HashMap::new(),
            arrays: HashMap::new(),
            rows: HashMap::new(),
            spans: Vec::new(),
            phis: HashMap::new(),
        }
    }
}

impl Lanes<'_, '_, '_> {
    /// Exchanges the state at hand with that of a chunk; a second call restores it.
    fn swap(&mut self, one: &mut Instance) {
        std::mem::swap(&mut self.low.at.item, &mut one.item);
        std::mem::swap(&mut self.block_values, &mut one.block_values);
        std::mem::swap(&mut self.stored, &mut one.stored);
        std::mem::swap(&mut self.arrays, &mut one.arrays);
        std::mem::swap(&mut self.rows, &mut one.rows);
        std::mem::swap(&mut self.spans, &mut one.spans);
    }

    fn with<T>(
        &mut self,
        one: &mut Instance,
        run: impl FnOnce(&mut Self, &mut HashMap<ValueId, Stored>) -> T,
    ) -> T {
        self.swap(one);
        let made = run(self, &mut one.phis);
        self.swap(one);
        made
    }

    /// Bool: whether the assumptions hold for all chunks; `None` if there are none. `assumed`: branches that must go
    /// one way for all of them.
    pub(super) fn check_all(&mut self, all: &mut [Instance], assumed: &[BlockId]) -> Option<Val> {
        let ir = self.low.ir;
        let mut tests: Vec<Val> = Vec::new();
        let mut ways: Vec<Vec<Val>> = vec![Vec::new(); assumed.len()];
        for one in all.iter_mut() {
            self.with(one, |lanes, _| {
                for (at, ways) in assumed.iter().zip(&mut ways) {
                    ways.extend(lanes.ways(*at));
                }
                tests.extend(lanes.condition_test());
                tests.extend(lanes.no_wrap_tests(false));
            });
        }
        for ways in ways {
            let Some(&first) = ways.first() else { continue };
            let ty = ir.type_of(first);
            let every = ways
                .iter()
                .copied()
                .reduce(|a, b| ir.and(a, b))
                .unwrap_or(first);
            let some = ways
                .iter()
                .copied()
                .reduce(|a, b| ir.or(a, b))
                .unwrap_or(first);
            let all = ir.icmp(IntPred::LLVMIntEQ, every, ir.int_const(ty, u64::MAX));
            let none = ir.icmp(IntPred::LLVMIntEQ, some, ir.int_const(ty, 0));
            tests.push(ir.or(all, none));
        }
        kernel_ir::mark!(JamVersioned, !assumed.is_empty());
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// Runs the chunks jammed through the region, then jumps to `done`.
    pub(super) fn run_jammed(
        &mut self,
        all: &mut [Instance],
        assumed: &[BlockId],
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let region = self.region;
        let function = self.f;
        self.plan_values(true);
        for one in all.iter_mut() {
            self.with(one, |lanes, phis| {
                lanes.place_arrays();
                lanes.find_made_again();
                for &block in region.loops.order() {
                    for &inst in &function.blocks[block.index()].insts {
                        let inst = &function.insts[inst.index()];
                        let (Op::Phi(_), Some(result)) = (&inst.op, inst.result) else {
                            break;
                        };
                        let variable = lanes.phi_variable(result, lanes.planned(result));
                        phis.insert(result, variable);
                    }
                }
            });
        }
        let order = region.loops.order();
        let bodies: HashMap<BlockId, Bb> = order
            .iter()
            .map(|&block| (block, self.low.new_block(c"block")))
            .collect();
        ir.br(bodies[&BlockId(0)]);
        for &block in order {
            ir.at_end(bodies[&block]);
            self.mask = None;
            self.block_at_hand = block;
            self.plan_stores();
            let insts = &function.blocks[block.index()].insts;
            let is_phi =
                |inst: &kernel_ir::InstId| matches!(function.insts[inst.index()].op, Op::Phi(_));
            let phis = insts.iter().take_while(|i| is_phi(i)).count();
            for one in all.iter_mut() {
                self.with(one, |lanes, slots| {
                    lanes.block_values.clear();
                    let results = insts[..phis].iter();
                    let results = results.filter_map(|i| function.insts[i.index()].result);
                    let made: Vec<(ValueId, Rep)> =
                        results.map(|v| (v, lanes.take(&slots[&v]))).collect();
                    for (result, rep) in made {
                        lanes.define(result, rep);
                    }
                });
            }
            for at in phis..insts.len() {
                for one in all.iter_mut() {
                    self.with(one, |lanes, _| lanes.instruction(at))?;
                }
            }
            self.end_jammed(all, assumed, block, &bodies);
        }
        self.low.clear_block_values();
        Ok(())
    }

    fn end_jammed(
        &mut self,
        all: &mut [Instance],
        assumed: &[BlockId],
        block: BlockId,
        bodies: &HashMap<BlockId, Bb>,
    ) {
        let ir = self.low.ir;
        let function = self.f;
        if let Some(exit) = self.region.exits.get(&block) {
            let next = match exit {
                Some(stop) => {
                    let live = self.low.cut.segments.stops[*stop].live.clone();
                    for one in all.iter_mut() {
                        self.with(one, |lanes, _| {
                            for &v in &live {
                                lanes.keep(v);
                            }
                        });
                    }
                    self.form.region_of_stop[*stop] as u32
                }
                None => u32::MAX,
            };
            ir.store(ir.i32c(next), self.next, 4);
            ir.br(self.done);
            return;
        }
        let value = |lanes: &mut Self, all: &mut [Instance], v: ValueId| {
            let tested = assumed.contains(&block);
            lanes.with(&mut all[0], |lanes, _| {
                if tested {
                    lanes.rematerialise_first(v, &mut HashMap::new())
                } else {
                    lanes.scalar(v)
                }
            })
        };
        let go = |lanes: &mut Self, all: &mut [Instance], to: BlockId| {
            for one in all.iter_mut() {
                lanes.with(one, |lanes, slots| {
                    let near = lanes.block_values.clone();
                    let mut changes = Vec::new();
                    for inst in &function.blocks[to.index()].insts {
                        let inst = &function.insts[inst.index()];
                        let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) else {
                            break;
                        };
                        if let Some(&(_, v)) = incoming.iter().find(|i| i.0 == block) {
                            let slot = slots[&result].clone();
                            let rep = lanes.as_stored(v, &slot);
                            changes.push((slot, rep));
                        }
                    }
                    for (slot, rep) in changes {
                        lanes.blend(&slot, &rep, None);
                    }
                    lanes.block_values = near;
                });
            }
            ir.br(bodies[&to]);
        };
        match &function.blocks[block.index()].term {
            Terminator::Br(to) => go(self, all, *to),
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => {
                let cond = value(self, all, *cond);
                let ways = [*then, *otherwise].map(|to| (to, self.low.new_block(c"way")));
                ir.cond_br(cond, ways[0].1, ways[1].1);
                for (to, way) in ways {
                    ir.at_end(way);
                    go(self, all, to);
                }
            }
            Terminator::Switch {
                value: v,
                default,
                cases,
            } => {
                let selector = value(self, all, *v);
                for (to, way) in self.switch_ways(selector, *default, cases) {
                    ir.at_end(way);
                    go(self, all, to);
                }
            }
            // Blocks that end work-items are exits, handled above.
            Terminator::Ret(_) | Terminator::Unreachable => ir.br(self.done),
        }
    }

    /// One bit per lane: whether it takes the first way out of `block`. Computed at the start of the chunk.
    fn ways(&mut self, block: BlockId) -> Option<Val> {
        let ir = self.low.ir;
        let cond = self.region.function.blocks[block.index()].term.operand()?;
        let lanes = self.rematerialise_lanes(cond, &mut HashMap::new())[0];
        self.low.clear_block_values();
        self.block_values.clear();
        Some(ir.cast(Opcode::LLVMBitCast, lanes, ir.int(self.width)))
    }
}
