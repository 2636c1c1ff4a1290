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
use kernel_ir::passes::shape::{self, Given, LaneScope};
use kernel_ir::{BlockId, Function, InstId, Op, Terminator, ValueDef, ValueId};

use crate::checked::{self, Copy};
use crate::facts::Facts;
use crate::input::Input;
use crate::region::Region;
use crate::segments::Segments;
use crate::sub_groups::Rows;

/// All regions, the first one first.
pub(crate) fn regions(input: &Input<'_>, facts: &Facts) -> Vec<Region> {
    let segments = input.segments;
    let mut all = vec![region(input, facts, None, 0, Copy::Fast)];
    for stop in 0..segments.stops.len() {
        all.push(region(
            input,
            facts,
            Some(stop),
            segments.stops[stop].resume,
            Copy::Fast,
        ));
    }
    kernel_ir::mark!(Regions, all.len() > 1);
    all
}

/// The region of a kernel's copy with checks, beside one of its copy without.
pub(crate) fn checked_region(input: &Input<'_>, facts: &Facts) -> Region {
    region(input, facts, None, 0, Copy::Checked)
}

/// The region behind stop `after`, or of the kernel's start, from segment `first` on. `which`: of two copies.
fn region(
    input: &Input<'_>,
    facts: &Facts,
    after: Option<usize>,
    first: usize,
    which: Copy,
) -> Region {
    let segments = input.segments;
    let mut cut = Blocks::new(segments, &facts.function, first);
    cut.keep_remaining_edges(segments);
    if !segments.stops.is_empty() {
        rematerialise(segments, &mut cut.function, &cut.exits);
    }
    let Blocks {
        mut function,
        mut exits,
        returns,
        ..
    } = cut;
    let copies = checked::copies(input, facts, &function);
    if let Some(copies) = &copies {
        checked::keep(&mut function, copies, which);
    }
    let tested = copies.map(|copies| copies.cond);
    let stop = after.map(|stop| &segments.stops[stop]);
    let mut live: Vec<ValueId> = stop.map(|s| s.live.clone()).unwrap_or_default();
    live.sort_unstable();
    let cfg = Cfg::new(&function);
    exits.retain(|block, _| cfg.position(*block).is_some());
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
        tested: tested.filter(|_| which == Copy::Fast),
        cfg,
        loops,
        post,
        home,
    };
    find_shapes(input, facts, &mut region);
    region
}

/// The blocks of a region: those of the segments that it reaches.
struct Blocks {
    function: Function,
    /// The block of each segment.
    of_segment: HashMap<usize, BlockId>,
    exits: HashMap<BlockId, Option<usize>>,
    returns: bool,
}

impl Blocks {
    /// A segment becomes a block when it is first reached.
    fn new(segments: &Segments, original: &Function, first: usize) -> Self {
        let mut function = Function {
            blocks: Vec::new(),
            ..original.clone()
        };
        let mut of_segment: HashMap<usize, BlockId> = HashMap::new();
        let mut order = vec![first];
        of_segment.insert(first, function.add_block());
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
                *to = *of_segment.entry(target).or_insert_with(|| {
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
        Self {
            function,
            of_segment,
            exits,
            returns,
        }
    }

    /// Phis keep the edges that remain. They name a block by its last segment.
    fn keep_remaining_edges(&mut self, segments: &Segments) {
        let mut new_name: HashMap<BlockId, BlockId> = HashMap::new();
        for (&segment, &block) in &self.of_segment {
            if segments.list[segment].stop.is_none() {
                let old = BlockId(segments.list[segment].block as u32);
                new_name.insert(old, block);
            }
        }
        let function = &mut self.function;
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
    }
}

/// Finds the shapes of the region's values, over rows and over sub-groups, and the branches that are versioned.
fn find_shapes(input: &Input<'_>, facts: &Facts, region: &mut Region) {
    let module = input.module;
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
    let shapes_given = |assumed: Vec<BlockId>| {
        shape::shapes_given(module, &region.function, LaneScope::Row, &given(assumed))
    };
    let plain = shapes_given(Vec::new());
    let assumed = crate::versioning::assumed_uniform(input, region, &plain);
    let shapes = match assumed.is_empty() {
        true => plain,
        false => shapes_given(assumed.clone()),
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
            let scope = match input.one_row {
                true => LaneScope::Row,
                false => LaneScope::SubGroup,
            };
            Some(shape::shapes_given(module, function, scope, &given))
        }
        None => None,
    };
    region.shapes = Some(shapes);
    region.assumed_uniform = assumed;
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
    let shapes = shape::shapes(input.module, input.function, input.group_scope());
    input
        .segments
        .list
        .iter()
        .filter(|segment| segment.stop.is_some())
        .all(|segment| !shapes.is_masked(BlockId(segment.block as u32)))
}
