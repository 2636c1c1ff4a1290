//! Cuts a kernel into regions at its stops.
//!
//! ```text
//! b0:                      region 0, from the start: b0 up to the barrier
//!   %v = load %p
//!   barrier Workgroup      stop 0: %v is saved
//!   store %q, %v           region 1, after stop 0: the rest of b0
//!   ret
//! ```
//!
//! A region is a function of its own. A block that several regions reach is copied into each.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::cfg::{Cfg, Loops, PostDominators};
use kernel_ir::passes::shape::{self, Given, LaneScope as Together};
use kernel_ir::{BlockId, Function, InstId, Op, Terminator, ValueDef, ValueId};

use crate::facts::Facts;
use crate::input::Input;
use crate::region::Region;
use crate::segments::Segments;
use crate::sub_groups::Rows;

/// All regions, the first one first.
pub(crate) fn regions(input: &Input<'_>, facts: &Facts) -> Vec<Region> {
    let segments = input.segments;
    let mut all = vec![region(input, facts, None, 0)];
    for stop in 0..segments.stops.len() {
        all.push(region(
            input,
            facts,
            Some(stop),
            segments.stops[stop].resume,
        ));
    }
    kernel_ir::mark!(Regions, all.len() > 1);
    all
}

fn region(input: &Input<'_>, facts: &Facts, after: Option<usize>, first: usize) -> Region {
    let (segments, original) = (input.segments, &facts.function);
    let module = input.module;
    let mut function = Function {
        blocks: Vec::new(),
        ..original.clone()
    };
    // A segment becomes a block when it is first reached.
    let mut block_of: HashMap<usize, BlockId> = HashMap::new();
    let mut order = vec![first];
    block_of.insert(first, function.add_block());
    let mut exits = HashMap::new();
    let mut returns = false;
    let mut at = 0;
    while at < order.len() {
        let segment = &segments.list[order[at]];
        let own = BlockId(at as u32);
        at += 1;
        let block = &original.blocks[segment.block];
        function.blocks[own.index()].insts = block.insts[segment.insts.clone()].to_vec();
        if let Some(stop) = segment.stop {
            exits.insert(own, Some(stop));
            function.blocks[own.index()].term = Terminator::Ret(None);
            continue;
        }
        let mut term = block.term.clone();
        term.successors_mut(|to| {
            let target = segments.first_segment[to.index()];
            *to = *block_of.entry(target).or_insert_with(|| {
                order.push(target);
                function.blocks.push(kernel_ir::Block {
                    insts: Vec::new(),
                    term: Terminator::Unreachable,
                });
                BlockId(order.len() as u32 - 1)
            });
        });
        if matches!(term, Terminator::Ret(_) | Terminator::Unreachable) {
            exits.insert(own, None);
            returns = true;
        }
        function.blocks[own.index()].term = term;
    }
    // Phis keep the edges that remain. They name a block by its last segment.
    let mut new_name: HashMap<BlockId, BlockId> = HashMap::new();
    for (&segment, &block) in &block_of {
        if segments.list[segment].stop.is_none() {
            let old = BlockId(segments.list[segment].block as u32);
            new_name.insert(old, block);
        }
    }
    let predecessors = function.predecessors();
    for (at, before) in predecessors.iter().enumerate() {
        for i in 0..function.blocks[at].insts.len() {
            let inst = function.blocks[at].insts[i];
            if let Op::Phi(incoming) = &mut function.insts[inst.index()].op {
                incoming.retain_mut(|(from, _)| match new_name.get(from) {
                    Some(&name) if before.contains(&name) => {
                        *from = name;
                        true
                    }
                    _ => false,
                });
            }
        }
    }
    let stop = after.map(|stop| &segments.stops[stop]);
    if !segments.stops.is_empty() {
        rematerialise(segments, &mut function, &exits);
    }
    let mut live: Vec<ValueId> = stop.map(|s| s.live.clone()).unwrap_or_default();
    live.sort_unstable();
    let cfg = Cfg::new(&function);
    let loops = Loops::new(&cfg);
    let post = PostDominators::new(&cfg);
    let mut home = HashMap::new();
    for (b, block) in function.blocks.iter().enumerate() {
        for &inst in &block.insts {
            home.insert(inst, BlockId(b as u32));
        }
    }
    let mut region = Region {
        function,
        after,
        exits,
        returns,
        live,
        shapes: None,
        sub_group_shapes: None,
        assumed_uniform: Vec::new(),
        cfg,
        loops,
        post,
        home,
    };
    let given = |assumed: Vec<BlockId>| Given {
        values: region
            .live
            .iter()
            .map(|&v| (v, facts.row_shape(v)))
            .collect(),
        assumed_uniform: assumed,
        no_wrap_values: {
            let tested = facts.no_wrap.iter().map(|e| e.0);
            tested.chain(facts.never_wraps.iter().copied()).collect()
        },
        arrays: facts.arrays.steps(),
    };
    let plain = shape::shapes_given(module, &region.function, Together::Row, &given(Vec::new()));
    let assumed = crate::versioning::assumed_uniform(input, &region, &plain);
    let shapes = if assumed.is_empty() {
        plain
    } else {
        shape::shapes_given(
            module,
            &region.function,
            Together::Row,
            &given(assumed.clone()),
        )
    };
    // A chunk whose test fails runs like a sub-group that is not part of a row.
    let tested = !assumed.is_empty() || !facts.no_wrap.is_empty();
    region.sub_group_shapes = match facts.sub_groups {
        Some(Rows::Whole) if !tested => None,
        Some(_) => {
            let live = region.live.iter();
            let given = Given {
                values: live.map(|&v| (v, facts.sub_group_shape(v))).collect(),
                arrays: facts.arrays.steps(),
                ..Given::default()
            };
            let function = &region.function;
            Some(shape::shapes_given(
                module,
                function,
                Together::SubGroup,
                &given,
            ))
        }
        None => None,
    };
    region.shapes = Some(shapes);
    region.assumed_uniform = assumed;
    region
}

/// Computes rematerialised values at the start of the first block, those from before the stop included.
fn rematerialise(
    segments: &Segments,
    function: &mut Function,
    exits: &HashMap<BlockId, Option<usize>>,
) {
    let mut wanted: Vec<ValueId> = Vec::new();
    for (b, block) in function.blocks.iter().enumerate() {
        for inst in &block.insts {
            function.insts[inst.index()].op.operands(|v| wanted.push(v));
        }
        wanted.extend(block.term.operand());
        if let Some(Some(stop)) = exits.get(&BlockId(b as u32)) {
            wanted.extend(&segments.stops[*stop].live);
        }
    }
    let mut made: HashSet<ValueId> = HashSet::new();
    let mut front: Vec<InstId> = Vec::new();
    let mut stack: Vec<(ValueId, bool)> = wanted.into_iter().rev().map(|v| (v, false)).collect();
    while let Some((v, ready)) = stack.pop() {
        let ValueDef::Inst(inst) = function.values[v.index()].def else {
            continue;
        };
        if ready {
            front.push(inst);
        } else if segments.rematerialised.get(v.index()) == Some(&true) && made.insert(v) {
            stack.push((v, true));
            let op = &function.insts[inst.index()].op;
            op.operands(|v| stack.push((v, false)));
        }
    }
    // They depend on ids, arguments and constants only: one place serves all uses.
    let moved: HashSet<InstId> = front.iter().copied().collect();
    for block in &mut function.blocks {
        block.insts.retain(|inst| !moved.contains(inst));
    }
    let rest = std::mem::take(&mut function.blocks[0].insts);
    function.blocks[0].insts = front.into_iter().chain(rest).collect();
}

/// Whether all work-items of a group are sure to reach the same stops. The next region is then the same for all of
/// them.
pub(crate) fn meet_as_a_group(input: &Input<'_>) -> bool {
    let shapes = shape::shapes(input.module, input.function, Together::Group);
    input
        .segments
        .list
        .iter()
        .filter(|segment| segment.stop.is_some())
        .all(|segment| !shapes.is_masked(BlockId(segment.block as u32)))
}
