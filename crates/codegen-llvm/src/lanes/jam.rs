//! Several chunks of work-items in step: where all of a group go the same way through a loop, the chunks of a
//! few rows, or a few chunks of one row, run it together. What they share is loaded once, sums that wait for
//! each other stand beside others that do not, and everything stays in registers.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::shape::{self, Given, Lanes as Together, Shape, Shapes};
use kernel_ir::{BlockId, BuildError, Builtin, Function, Op, Terminator, Type, ValueDef, ValueId};

use super::Lanes;
use super::region::Region;
use super::values::{Rep, Stored};
use crate::kernel::{Item, Lower};
use crate::llvm::{Bb, IntPred, Opcode, Val};

/// Instructions of a region that is worth copies.
const INSTRUCTIONS: usize = 100;
/// Instructions of all copies together.
const COPIES: usize = 400;
/// Weight of mathematical functions among instructions.
const FUNCTION: usize = 12;
/// Chunks at once where the group's size is not known.
const UNKNOWN: u32 = 4;

/// How many chunks run in step.
pub(super) struct Jam {
    /// Of as many rows.
    pub(super) rows: u32,
    /// Of one row.
    pub(super) row: u32,
    /// Branches that are tested to be the same for all chunks.
    pub(super) together: Vec<BlockId>,
}

/// Whether and how a region's chunks may run in step.
pub(super) fn jam(
    low: &Lower<'_>,
    uniform: &HashSet<ValueId>,
    width: u32,
    region: &Region,
) -> Option<Jam> {
    let module = low.values.module;
    let function = &region.function;
    let rows_of = region.shapes.as_ref()?;
    if region.len() > INSTRUCTIONS || width < 4 {
        return None;
    }
    let mut weight = 0;
    for &inst in function.blocks.iter().flat_map(|b| &b.insts) {
        match &function.insts[inst.index()].op {
            Op::Atomic { .. }
            | Op::CopyMemory { .. }
            | Op::Printf(..)
            | Op::Group(..)
            | Op::Call(..)
            | Op::CallIndirect(..) => {
                return None;
            }
            Op::Alloca { .. } => return None,
            Op::Math(math, ..) if crate::mathematics::has(*math) => weight += FUNCTION,
            _ => weight += 1,
        }
    }
    let given = |together: Vec<BlockId>| Given {
        values: region
            .live
            .iter()
            .map(|&v| {
                let same = uniform.contains(&v);
                (v, if same { Shape::Uniform } else { Shape::Varying })
            })
            .collect(),
        together,
        ..Given::default()
    };
    let group = shape::shapes_given(module, function, Together::Group, &given(Vec::new()));
    let mut together = Vec::new();
    let blocks = region.cfg.reverse_post_order();
    for &block in blocks {
        if group.is_divergent(block) {
            if !super::check::can_test(region, rows_of, block) {
                return None;
            }
            together.push(block);
        }
    }
    let group = if together.is_empty() {
        group
    } else {
        shape::shapes_given(module, function, Together::Group, &given(together.clone()))
    };
    if blocks
        .iter()
        .any(|&b| group.is_divergent(b) || group.is_masked(b))
    {
        return None;
    }
    let gain = gain(low, region, rows_of, width)?;
    let most = (COPIES / weight.max(1)).min(gain.most as usize);
    let most = if most < 2 {
        return None;
    } else {
        1 << most.ilog2().min(3)
    };
    let (mut rows, mut row) = match low.group_size {
        Some([x, y, _]) => {
            let row = if x.is_multiple_of(width) {
                x / width
            } else {
                1
            };
            let whole = x.is_multiple_of(width);
            (if whole { y } else { 1 }, row)
        }
        None => {
            let stops = !low.plan.stops.is_empty();
            (if stops && gain.rows { UNKNOWN } else { 1 }, UNKNOWN)
        }
    };
    let power = |n: u32| 1 << n.max(1).ilog2();
    rows = power(rows.min(most));
    row = power(row.min(most));
    if !gain.rows && (gain.row || row >= rows) {
        rows = 1;
    }
    if rows > 1 && low.group_size.is_some() {
        row = 1;
    }
    (rows > 1 || row > 1).then_some(Jam {
        rows,
        row,
        together,
    })
}

/// What is to be had.
struct Gain {
    /// Chunks that the registers take.
    most: u32,
    /// Rows share what they load.
    rows: bool,
    /// Chunks of one row do.
    row: bool,
}

fn gain(low: &Lower<'_>, region: &Region, shapes: &Shapes, width: u32) -> Option<Gain> {
    let types = &low.values.module.types;
    let function = &region.function;
    let by_row = depends_on_row(low.function);
    let mut found = Gain {
        most: 8,
        rows: false,
        row: false,
    };
    // Loops without loops in them; or all of a region that adds to what an earlier one began.
    let loops = &region.loops.loops;
    let innermost = (0..loops.len() as u32).filter(|&l| loops.iter().all(|o| o.parent != Some(l)));
    let mut bodies: Vec<Vec<BlockId>> = innermost
        .map(|l| loops[l as usize].blocks.clone())
        .collect();
    let mut any = false;
    if bodies.is_empty() {
        any = region.live.iter().any(|&v| {
            shapes.of(v) == Shape::Varying
                && types
                    .scalar_of(function.ty(v))
                    .is_some_and(|ty| matches!(types.get(ty), Type::Float(_)))
        });
        bodies.push(region.cfg.reverse_post_order().to_vec());
    }
    for body in &bodies {
        // Vectors that live through the loop.
        let mut live: HashSet<ValueId> = HashSet::new();
        let (mut sums, mut widest) = (false, 4);
        for &block in body {
            for &inst in &function.blocks[block.index()].insts {
                let inst = &function.insts[inst.index()];
                if let Some(result) = inst.result
                    && shapes.of(result) == Shape::Varying
                {
                    if matches!(inst.op, Op::Phi(_)) {
                        live.insert(result);
                        sums = true;
                    }
                    if let Some(scalar) = types.scalar_of(function.ty(result)) {
                        widest = widest.max(types.size_of(scalar));
                    }
                }
                inst.op.operands(|v| {
                    let inside = region.block_of(v).is_some_and(|b| body.contains(&b));
                    let made = matches!(function.values[v.index()].def, ValueDef::Inst(_));
                    if made && !inside && shapes.of(v) == Shape::Varying {
                        live.insert(v);
                    }
                });
                let ptr = match &inst.op {
                    Op::Load { ptr, .. } => ptr,
                    Op::Store { ptr, value, .. } => {
                        let size = types.size_of(function.ty(*value));
                        if shapes
                            .of(*ptr)
                            .step()
                            .is_none_or(|s| s.unsigned_abs() > size)
                        {
                            return None;
                        }
                        continue;
                    }
                    _ => continue,
                };
                let size = inst
                    .result
                    .map_or(4, |v| types.size_of(function.ty(v)) as i64);
                match shapes.of(*ptr).step() {
                    Some(0) => found.row = true,
                    Some(step) if step == size => {}
                    // Each lane's load alone is more work than all the rest.
                    _ => return None,
                }
                found.rows |= !by_row[ptr.index()];
            }
        }
        any |= sums;
        let vectors: u64 = live
            .iter()
            .map(|&v| {
                let mut leaves = Vec::new();
                crate::values::leaves(types, function.ty(v), 0, &mut leaves);
                leaves.iter().map(|&(ty, _)| types.size_of(ty)).sum::<u64>()
            })
            .sum();
        let each = (vectors + widest) * u64::from(width);
        let room = low.registers.saturating_sub(widest * u64::from(width)) / each.max(1);
        found.most = found.most.min(u32::try_from(room).unwrap_or(1));
    }
    (any && found.most >= 2 && (found.rows || found.row)).then_some(found)
}

/// Which values may differ from row to row of a group.
fn depends_on_row(function: &Function) -> Vec<bool> {
    let mut differs = vec![false; function.values.len()];
    let order = function.reverse_post_order();
    loop {
        let mut changed = false;
        for &inst in order.iter().flat_map(|b| &function.blocks[b.index()].insts) {
            let inst = &function.insts[inst.index()];
            let Some(result) = inst.result else { continue };
            if differs[result.index()] {
                continue;
            }
            let mut by_row = match &inst.op {
                Op::WorkItem(
                    Builtin::GlobalInvocationId | Builtin::LocalInvocationId,
                    dimension,
                ) => *dimension != 0,
                Op::WorkItem(Builtin::GlobalLinearId | Builtin::LocalInvocationIndex, _)
                | Op::Alloca { .. } => true,
                _ => false,
            };
            inst.op.operands(|v| by_row |= differs[v.index()]);
            if by_row {
                differs[result.index()] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    differs
}

/// One of the chunks.
pub(super) struct Instance {
    item: Item,
    near: HashMap<ValueId, Rep>,
    stored: HashMap<ValueId, Stored>,
    arrays: HashMap<ValueId, (Val, u64)>,
    rows: HashMap<ValueId, (BlockId, Val)>,
    spans: Vec<super::strided::Span>,
    deferred: Vec<super::members::Member>,
    phis: HashMap<ValueId, Stored>,
}

impl Instance {
    pub(super) fn new(item: Item) -> Self {
        Self {
            item,
            near: HashMap::new(),
            stored: HashMap::new(),
            arrays: HashMap::new(),
            rows: HashMap::new(),
            spans: Vec::new(),
            deferred: Vec::new(),
            phis: HashMap::new(),
        }
    }
}

impl Lanes<'_, '_, '_> {
    /// Takes up what is known of a chunk, or lays it down again.
    fn swap(&mut self, one: &mut Instance) {
        std::mem::swap(&mut self.low.item, &mut one.item);
        std::mem::swap(&mut self.near, &mut one.near);
        std::mem::swap(&mut self.stored, &mut one.stored);
        std::mem::swap(&mut self.arrays, &mut one.arrays);
        std::mem::swap(&mut self.rows, &mut one.rows);
        std::mem::swap(&mut self.spans, &mut one.spans);
        std::mem::swap(&mut self.deferred, &mut one.deferred);
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

    /// Bool: whether the assumptions hold for all chunks; `None` when there are none.
    pub(super) fn check_all(&mut self, all: &mut [Instance], together: &[BlockId]) -> Option<Val> {
        let ir = self.low.ir;
        let mut tests: Vec<Val> = Vec::new();
        let mut ways: Vec<Vec<Val>> = vec![Vec::new(); together.len()];
        for one in all.iter_mut() {
            self.with(one, |lanes, _| {
                for (at, ways) in together.iter().zip(&mut ways) {
                    ways.extend(lanes.ways(*at));
                }
                tests.extend(lanes.exact_tests(false));
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
        tests.into_iter().reduce(|a, b| ir.and(a, b))
    }

    /// The chunks in step through the region, then to `done`.
    pub(super) fn run_in_step(
        &mut self,
        all: &mut [Instance],
        together: &[BlockId],
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let region = self.region;
        let function = self.f;
        self.find_crossing();
        for one in all.iter_mut() {
            self.with(one, |lanes, phis| {
                lanes.place_arrays();
                lanes.find_twice();
                for &block in region.loops.order() {
                    for &inst in &function.blocks[block.index()].insts {
                        let inst = &function.insts[inst.index()];
                        let (Op::Phi(_), Some(result)) = (&inst.op, inst.result) else {
                            break;
                        };
                        let step = lanes.phi_step(result);
                        phis.insert(result, lanes.phi_room(result, step));
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
            let insts = &function.blocks[block.index()].insts;
            let is_phi =
                |inst: &kernel_ir::InstId| matches!(function.insts[inst.index()].op, Op::Phi(_));
            let phis = insts.iter().take_while(|i| is_phi(i)).count();
            for one in all.iter_mut() {
                self.with(one, |lanes, rooms| {
                    lanes.near.clear();
                    let results = insts[..phis].iter();
                    let results = results.filter_map(|i| function.insts[i.index()].result);
                    let made: Vec<(ValueId, Rep)> =
                        results.map(|v| (v, lanes.take(&rooms[&v]))).collect();
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
            self.end_in_step(all, together, block, &bodies);
        }
        self.low.clear_near();
        Ok(())
    }

    fn end_in_step(
        &mut self,
        all: &mut [Instance],
        together: &[BlockId],
        block: BlockId,
        bodies: &HashMap<BlockId, Bb>,
    ) {
        let ir = self.low.ir;
        let function = self.f;
        if let Some(exit) = self.region.exits.get(&block) {
            let next = match exit {
                Some(stop) => {
                    let live = self.low.plan.stops[*stop].live.clone();
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
            let tested = together.contains(&block);
            lanes.with(&mut all[0], |lanes, _| {
                if tested {
                    lanes.first_beforehand(v, &mut HashMap::new())
                } else {
                    lanes.scalar(v)
                }
            })
        };
        let go = |lanes: &mut Self, all: &mut [Instance], to: BlockId| {
            for one in all.iter_mut() {
                lanes.with(one, |lanes, rooms| {
                    let near = lanes.near.clone();
                    let mut changes = Vec::new();
                    for inst in &function.blocks[to.index()].insts {
                        let inst = &function.insts[inst.index()];
                        let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) else {
                            break;
                        };
                        if let Some(&(_, v)) = incoming.iter().find(|i| i.0 == block) {
                            let room = rooms[&result].clone();
                            let rep = lanes.as_stored(v, &room);
                            changes.push((room, rep));
                        }
                    }
                    for (room, rep) in changes {
                        lanes.blend(&room, &rep, None);
                    }
                    lanes.near = near;
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
            // Ends of work-items are exits.
            Terminator::Ret(_) | Terminator::Unreachable => ir.br(self.done),
        }
    }

    /// Bits: which lanes of the chunk take the first way out of `block`, computed beforehand.
    fn ways(&mut self, block: BlockId) -> Option<Val> {
        let ir = self.low.ir;
        let cond = self.region.function.blocks[block.index()].term.operand()?;
        let lanes = self.beforehand(cond, &mut HashMap::new())[0];
        self.low.clear_near();
        self.near.clear();
        Some(ir.cast(Opcode::LLVMBitCast, lanes, ir.int(self.width)))
    }
}
