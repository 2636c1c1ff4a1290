//! Regions: the code between two barriers as a function of its own, and what is known of it.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::cfg::{Cfg, Loops, PostDominators};
use kernel_ir::passes::shape::{self, Given, Lanes as Together, Shape, Shapes};
use kernel_ir::{BlockId, Function, InstId, Module, Op, Terminator, ValueDef, ValueId};

use super::arrays::ByLane;
use super::sub_group::Rows;
use crate::kernel::Lower;
use crate::plan::Plan;

/// Code from one stop to the next ones. Values and instructions keep their numbers.
pub(super) struct Region {
    /// Its blocks; the first one is entered from outside only.
    pub(super) function: Function,
    /// The stop behind which it begins; `None` for the kernel's start.
    pub(super) after: Option<usize>,
    /// Blocks that end it, with the stop they end at.
    pub(super) exits: HashMap<BlockId, Option<usize>>,
    /// Whether a work-item may return in it.
    pub(super) returns: bool,
    /// Kept values that it uses.
    pub(super) live: Vec<ValueId>,
    /// Shapes of rows.
    pub(super) shapes: Option<Shapes>,
    /// Shapes of sub-groups that are no part of a row, where there may be any.
    pub(super) apart: Option<Shapes>,
    /// Divergent branches that a test at the start of a chunk makes the same for all lanes.
    pub(super) together: Vec<BlockId>,
    pub(super) cfg: Cfg,
    pub(super) loops: Loops,
    pub(super) post: PostDominators,
    /// Block of each instruction.
    pub(super) home: HashMap<InstId, BlockId>,
}

impl Region {
    /// Instructions.
    pub(super) fn len(&self) -> usize {
        self.function.blocks.iter().map(|b| b.insts.len()).sum()
    }

    /// Whether lanes are together wherever it ends, and no shape is a guess that control flow hangs on.
    pub(super) fn can_run(&self) -> bool {
        let all = [&self.shapes, &self.apart];
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

    pub(super) fn block_of(&self, v: ValueId) -> Option<BlockId> {
        match self.function.values[v.index()].def {
            ValueDef::Inst(inst) => self.home.get(&inst).copied(),
            _ => None,
        }
    }
}

/// What is known of the whole kernel.
pub(super) struct Known {
    /// The kernel, its private arrays laid out by lane where they can be.
    function: Function,
    pub(super) arrays: ByLane,
    /// Where lanes are those of a sub-group.
    sub_groups: Option<Rows>,
    shapes: Shapes,
    /// Values of loops that lanes leave at different times.
    apart: HashSet<ValueId>,
    /// Kept values that are the same in the whole group.
    pub(super) group: HashSet<ValueId>,
    /// Others that are the same in each sub-group, where lanes are those of one.
    pub(super) in_sub_group: HashSet<ValueId>,
    /// Extensions that are known not to wrap around.
    pub(super) certain: Vec<ValueId>,
    /// Extensions that are tested at the start of each chunk, with the steps of what they extend.
    pub(super) exact: Vec<(ValueId, i64)>,
}

impl Known {
    pub(super) fn new(low: &Lower<'_>, width: u32, sub_groups: Option<Rows>) -> Self {
        let module = low.values.module;
        let mut function = low.function.clone();
        // Between regions arrays live with their items: chunks must be at multiples of their width then.
        let whole =
            sub_groups.is_some() || low.group_size.is_some_and(|s| s[0].is_multiple_of(width));
        let arrays = if low.plan.stops.is_empty() || whole {
            ByLane::new(module, &function)
        } else {
            ByLane::default()
        };
        arrays.apply(&mut function, width);
        let places = Given {
            arrays: arrays.steps(),
            ..Given::default()
        };
        let plain = shape::shapes_given(module, &function, Together::Row, &places);
        let function = &function;
        let [certain, exact] = super::check::exact(module, function, &plain);
        let given = Given {
            exact: [certain.as_slice(), &exact].concat(),
            ..places
        };
        let shapes = if given.exact.is_empty() {
            plain
        } else {
            shape::shapes_given(module, function, Together::Row, &given)
        };
        let step = |v: ValueId| match function.values[v.index()].def {
            ValueDef::Inst(inst) => super::check::extension(&function.insts[inst.index()].op)
                .and_then(|(_, from)| shapes.of(from).step()),
            _ => None,
        };
        let exact = exact.iter().filter_map(|&v| Some((v, step(v)?))).collect();
        let apart = left_apart(function, &shapes);
        let kept = &low.plan.kept;
        let own = Given {
            arrays: arrays.steps(),
            ..Given::default()
        };
        let group = uniform_in(module, function, kept, Together::Group, &Given::default());
        let in_sub_group = match sub_groups {
            None => HashSet::new(),
            Some(_) => {
                let others = kept.iter().copied().filter(|v| !group.contains(v));
                let others: Vec<ValueId> = others.collect();
                uniform_in(module, function, &others, Together::SubGroup, &own)
            }
        };
        Self {
            sub_groups,
            group,
            in_sub_group,
            function: function.clone(),
            arrays,
            shapes,
            apart,
            certain,
            exact,
        }
    }

    /// The shape of a value that another region made.
    pub(super) fn row_shape(&self, v: ValueId) -> Shape {
        if self.group.contains(&v) || self.in_sub_group.contains(&v) {
            Shape::Uniform
        } else if self.apart.contains(&v) || self.shapes.assumes_no_wrap(v) {
            Shape::Varying
        } else {
            self.shapes.of(v)
        }
    }
}

impl Known {
    /// The same in a sub-group that is no part of a row.
    fn sub_group_shape(&self, v: ValueId) -> Shape {
        if self.group.contains(&v) || self.in_sub_group.contains(&v) {
            Shape::Uniform
        } else {
            Shape::Varying
        }
    }
}

/// All regions, the first one first.
pub(super) fn regions(low: &Lower<'_>, known: &Known) -> Vec<Region> {
    let plan = &low.plan;
    let mut all = vec![region(low, known, None, 0)];
    for stop in 0..plan.stops.len() {
        all.push(region(low, known, Some(stop), plan.stops[stop].resume));
    }
    all
}

fn region(low: &Lower<'_>, known: &Known, after: Option<usize>, first: usize) -> Region {
    let (plan, original) = (&low.plan, &known.function);
    let module = low.values.module;
    let mut function = Function {
        blocks: Vec::new(),
        ..original.clone()
    };
    // Segments become blocks as they are reached.
    let mut block_of: HashMap<usize, BlockId> = HashMap::new();
    let mut order = vec![first];
    block_of.insert(first, function.add_block());
    let mut exits = HashMap::new();
    let mut returns = false;
    let mut at = 0;
    while at < order.len() {
        let segment = &plan.segments[order[at]];
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
            let target = plan.first_segment[to.index()];
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
    // Phis keep the ways that are left. A block's last segment carries its name for phis.
    let mut new_name: HashMap<BlockId, BlockId> = HashMap::new();
    for (&segment, &block) in &block_of {
        if plan.segments[segment].stop.is_none() {
            let old = BlockId(plan.segments[segment].block as u32);
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
    let stop = after.map(|stop| &plan.stops[stop]);
    if !plan.stops.is_empty() {
        remake(plan, &mut function, &exits);
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
        apart: None,
        together: Vec::new(),
        cfg,
        loops,
        post,
        home,
    };
    let given = |together: Vec<BlockId>| Given {
        values: region
            .live
            .iter()
            .map(|&v| (v, known.row_shape(v)))
            .collect(),
        together,
        exact: {
            let tested = known.exact.iter().map(|e| e.0);
            tested.chain(known.certain.iter().copied()).collect()
        },
        arrays: known.arrays.steps(),
    };
    let plain = shape::shapes_given(module, &region.function, Together::Row, &given(Vec::new()));
    let together = super::check::together(low, &region, &plain);
    let shapes = if together.is_empty() {
        plain
    } else {
        shape::shapes_given(
            module,
            &region.function,
            Together::Row,
            &given(together.clone()),
        )
    };
    // A chunk for which a test fails is no row either.
    let tested = !together.is_empty() || !known.exact.is_empty();
    region.apart = match known.sub_groups {
        Some(Rows::Whole) if !tested => None,
        Some(_) => {
            let live = region.live.iter();
            let given = Given {
                values: live.map(|&v| (v, known.sub_group_shape(v))).collect(),
                arrays: known.arrays.steps(),
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
    region.together = together;
    region
}

/// Makes the cheap values in front of the first block: those from before the stop too.
fn remake(plan: &Plan, function: &mut Function, exits: &HashMap<BlockId, Option<usize>>) {
    let mut wanted: Vec<ValueId> = Vec::new();
    for (b, block) in function.blocks.iter().enumerate() {
        for inst in &block.insts {
            function.insts[inst.index()].op.operands(|v| wanted.push(v));
        }
        wanted.extend(block.term.operand());
        if let Some(Some(stop)) = exits.get(&BlockId(b as u32)) {
            wanted.extend(&plan.stops[*stop].live);
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
        } else if plan.remade.get(v.index()) == Some(&true) && made.insert(v) {
            stack.push((v, true));
            let op = &function.insts[inst.index()].op;
            op.operands(|v| stack.push((v, false)));
        }
    }
    // They hang on ids, arguments and constants only: one place is enough.
    let moved: HashSet<InstId> = front.iter().copied().collect();
    for block in &mut function.blocks {
        block.insts.retain(|inst| !moved.contains(inst));
    }
    let rest = std::mem::take(&mut function.blocks[0].insts);
    function.blocks[0].insts = front.into_iter().chain(rest).collect();
}

/// Whether all work-items of a group are sure to come to the same stops: which region is next is then one
/// answer for all.
pub(super) fn meet_as_a_group(low: &Lower<'_>) -> bool {
    let shapes = shape::shapes(low.values.module, low.function, Together::Group);
    low.plan
        .segments
        .iter()
        .filter(|segment| segment.stop.is_some())
        .all(|segment| !shapes.is_masked(BlockId(segment.block as u32)))
}

/// Those of `values` that are the same for all `lanes`.
fn uniform_in(
    module: &Module,
    function: &Function,
    values: &[ValueId],
    lanes: Together,
    given: &Given,
) -> HashSet<ValueId> {
    if values.is_empty() {
        return HashSet::new();
    }
    let shapes = shape::shapes_given(module, function, lanes, given);
    let apart = left_apart(function, &shapes);
    values
        .iter()
        .copied()
        .filter(|v| {
            shapes.of(*v) == Shape::Uniform && !shapes.assumes_no_wrap(*v) && !apart.contains(v)
        })
        .collect()
}

/// Values of loops that lanes leave at different times: behind those they differ.
fn left_apart(function: &Function, shapes: &Shapes) -> HashSet<ValueId> {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    let mut apart = HashSet::new();
    for (b, block) in function.blocks.iter().enumerate() {
        let mut at = loops.innermost(BlockId(b as u32));
        let mut divergent = false;
        while let Some(l) = at {
            divergent |= shapes.is_divergent_loop(l);
            at = loops.loops[l as usize].parent;
        }
        if divergent {
            let results = block.insts.iter();
            apart.extend(results.filter_map(|i| function.insts[i.index()].result));
        }
    }
    apart
}
