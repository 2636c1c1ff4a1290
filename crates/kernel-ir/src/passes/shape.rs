//! Divergence analysis: how each value differs from lane to lane ([`Shape`]), and which branches, loops and blocks are
//! divergent.
//!
//! ```text
//! %i = wi.GlobalInvocationId 0      contiguous: one more in each lane of a row
//! %p = offset %base [%i * 4 + 0]    strided(4)
//! %x = load %p                      varying
//! %n = load %count                  uniform: one address, one value
//! br_if %less, a, b                 divergent if %less is not uniform
//! ```
//!
//! Which work-items are the lanes is a [`LaneScope`]. The analysis starts from "uniform" and moves forward until
//! nothing changes. A divergent branch makes the phis of its joins varying; a loop that lanes leave in different
//! iterations makes its values varying after the loop (temporal divergence). The program is assumed to have no data
//! races: a plain load from a uniform address gives a uniform value.

use std::collections::{BTreeSet, HashMap};

use crate::cfg::{Cfg, Loops, PostDominators};
use crate::index;
use crate::ir::{
    BlockId, Builtin, ConvertOp, Function, GroupOp, GroupScope, InstId, Module, Op, Terminator,
    ValueDef, ValueId,
};
use crate::types::{AddressSpace, ConstId, Constant, Type};

/// The work-items that form the lanes of a vector, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneScope {
    /// All of a work-group, by linear index.
    Group,
    /// All of a work-group that extends in dimension 0 only.
    OneRow,
    /// Consecutive work-items in dimension 0 that lie in one sub-group: their ids in dimensions 1 and 2 are equal.
    Row,
    /// All of a sub-group, by linear index; dimension 1 may change within it.
    SubGroup,
}

/// How a value differs from lane to lane. Integers and addresses are taken modulo their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The same in all lanes.
    Uniform,
    /// One more in each lane.
    Contiguous,
    /// More by this step in each lane (in bytes for pointers); neither 0 nor 1.
    Strided(i64),
    /// No known relation between lanes.
    Varying,
}

impl Shape {
    /// The shape of a value that grows by `by` from lane to lane.
    #[must_use]
    pub fn stride(by: i64) -> Self {
        match by {
            0 => Shape::Uniform,
            1 => Shape::Contiguous,
            n => Shape::Strided(n),
        }
    }
    /// The step from lane to lane; `None` when it is not constant.
    #[must_use]
    pub fn step(self) -> Option<i64> {
        match self {
            Shape::Uniform => Some(0),
            Shape::Contiguous => Some(1),
            Shape::Strided(n) => Some(n),
            Shape::Varying => None,
        }
    }
}

/// The shapes of a function.
#[derive(Clone, Debug)]
pub struct Shapes {
    values: Vec<Option<Shape>>,
    no_wrap: Vec<bool>,
    divergent: Vec<bool>,
    masked: Vec<bool>,
    divergent_loops: Vec<bool>,
}

impl Shapes {
    /// The shape of `value`.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Shape {
        // Unreachable code has no shape; its values are undefined, so uniform is correct.
        self.values[value.index()].unwrap_or(Shape::Uniform)
    }
    /// Whether the shape of `value` is valid only if narrower values that it is computed from do not
    /// wrap around between lanes.
    #[must_use]
    pub fn assumes_no_wrap(&self, value: ValueId) -> bool {
        self.no_wrap[value.index()]
    }
    /// Whether the branch at the end of `block` is divergent.
    #[must_use]
    pub fn is_divergent(&self, block: BlockId) -> bool {
        self.divergent[block.index()]
    }
    /// Whether `block` may run with only some of the lanes that entered the function.
    #[must_use]
    pub fn is_masked(&self, block: BlockId) -> bool {
        self.masked[block.index()]
    }
    /// Whether lanes leave loop `index` of [`Loops::loops`] in different iterations or by different exits.
    #[must_use]
    pub fn is_divergent_loop(&self, index: u32) -> bool {
        self.divergent_loops[index as usize]
    }
}

/// Largest stride between lanes, in elements, at which contiguous loads and shuffles beat an access for each lane.
/// Chosen with the Blelloch scan whose loop `peel` peels (commit e78f5ab); other values were not measured.
pub const MAX_NEAR_STRIDE: u64 = 8;

/// Blocks visited for all divergent branches together; beyond it everything counts as varying. A bound on compile time for
/// hostile modules. Largest in 17,722 modules of dpctl and dpnp: 4717; in our corpora: 141 (2026-11).
const MAX_VISITED_BLOCKS: usize = 20_000_000;

/// Facts that the caller knows before the analysis.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Shapes of parameters, constants and globals.
    pub values: Vec<(ValueId, Shape)>,
    /// Blocks whose branches count as uniform; the caller checks that at run time.
    pub assumed_uniform: Vec<BlockId>,
    /// Values whose computation is known not to wrap around between lanes.
    pub no_wrap_values: Vec<ValueId>,
    /// Private arrays, each with the distance in bytes between the copies of neighbouring lanes.
    pub arrays: Vec<(ValueId, i64)>,
}

/// The shapes of `function` for the lanes of one scope.
#[must_use]
pub fn shapes(module: &Module, function: &Function, lanes: LaneScope) -> Shapes {
    shapes_given(module, function, lanes, &Given::default())
}

/// As [`shapes`], with facts that the caller knows.
#[must_use]
pub fn shapes_given(
    module: &Module,
    function: &Function,
    lanes: LaneScope,
    given: &Given,
) -> Shapes {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    let post = PostDominators::new(&cfg);
    let n = function.blocks.len();
    let mut place = vec![u32::MAX; n];
    for (i, block) in loops.order().iter().enumerate() {
        place[block.index()] = i as u32;
    }
    let mut analysis = Analysis {
        module,
        f: function,
        lanes,
        cfg: &cfg,
        loops: &loops,
        post: &post,
        place,
        users: users(function),
        defining_block: defining_blocks(function),
        shapes: Shapes {
            values: vec![None; function.values.len()],
            no_wrap: vec![false; function.values.len()],
            divergent: vec![false; n],
            masked: vec![false; n],
            divergent_loops: vec![false; loops.loops.len()],
        },
        joins: vec![Joins::default(); n],
        arguments_written: writes_arguments(module, function),
        assumed_uniform: vec![false; n],
        no_wrap_values: vec![false; function.values.len()],
        arrays: given.arrays.iter().copied().collect(),
        work: Vec::new(),
        budget: MAX_VISITED_BLOCKS,
    };
    for &(v, shape) in &given.values {
        analysis.shapes.values[v.index()] = Some(shape);
    }
    for value in &given.no_wrap_values {
        analysis.no_wrap_values[value.index()] = true;
    }
    for block in &given.assumed_uniform {
        analysis.assumed_uniform[block.index()] = true;
    }
    analysis.run();
    analysis.shapes
}

/// Users of each value: instructions, or terminators of blocks.
#[derive(Clone, Copy)]
enum User {
    Inst(InstId),
    Term(BlockId),
}

fn users(f: &Function) -> Vec<Vec<User>> {
    let mut all = vec![Vec::new(); f.values.len()];
    for (b, block) in f.blocks.iter().enumerate() {
        for &inst in &block.insts {
            f.insts[inst.index()]
                .op
                .operands(|v| all[v.index()].push(User::Inst(inst)));
        }
        if let Some(v) = block.term.operand() {
            all[v.index()].push(User::Term(BlockId(b as u32)));
        }
    }
    all
}

fn defining_blocks(f: &Function) -> Vec<Option<BlockId>> {
    let mut defining_block = vec![None; f.insts.len()];
    for (b, block) in f.blocks.iter().enumerate() {
        for inst in &block.insts {
            defining_block[inst.index()] = Some(BlockId(b as u32));
        }
    }
    defining_block
}

/// Whether private memory outside allocas may be written: by-value arguments may then differ between lanes.
fn writes_arguments(module: &Module, f: &Function) -> bool {
    let mut own = vec![false; f.values.len()];
    let is_private = |v: ValueId| {
        matches!(
            module.types.get(f.ty(v)),
            Type::Ptr(AddressSpace::Private | AddressSpace::Generic)
        )
    };
    let mut result = false;
    for &inst in f.blocks.iter().flat_map(|b| &b.insts) {
        let entry = &f.insts[inst.index()];
        match &entry.op {
            Op::Alloca { .. } => {}
            Op::PtrOffset { ptr, .. } if own[ptr.index()] => {}
            Op::Convert(ConvertOp::AddressSpace, a, _) if own[a.index()] => {}
            Op::Store { ptr, .. } | Op::CopyMemory { dst: ptr, .. } | Op::Atomic { ptr, .. }
                if is_private(*ptr) && !own[ptr.index()] =>
            {
                result = true;
                continue;
            }
            Op::CallIndirect(..) | Op::Call(..) => {
                result = true;
                continue;
            }
            _ => continue,
        }
        if let Some(result) = entry.result {
            own[result.index()] = true;
        }
    }
    result
}

/// Whether divergent paths join in a block. Paths into a loop header and back edges are told apart, since lanes that
/// enter a loop are in another iteration than lanes on its back edge.
#[derive(Clone, Copy, Default)]
struct Joins {
    /// Paths from outside the loop, if the block is a header; else all paths.
    forward: bool,
    /// Back edges of the loop.
    back: bool,
}

struct Analysis<'a> {
    module: &'a Module,
    f: &'a Function,
    lanes: LaneScope,
    cfg: &'a Cfg,
    loops: &'a Loops,
    post: &'a PostDominators,
    /// Place of each block in the loop-contiguous order.
    place: Vec<u32>,
    users: Vec<Vec<User>>,
    defining_block: Vec<Option<BlockId>>,
    shapes: Shapes,
    /// Joins of divergent paths.
    joins: Vec<Joins>,
    arguments_written: bool,
    /// Branches that count as uniform, by block.
    assumed_uniform: Vec<bool>,
    /// Values that are known not to wrap around.
    no_wrap_values: Vec<bool>,
    /// Distance between the copies of neighbouring lanes, of private arrays.
    arrays: HashMap<ValueId, i64>,
    work: Vec<User>,
    budget: usize,
}

impl Analysis<'_> {
    fn run(&mut self) {
        for (i, value) in self.f.values.iter().enumerate() {
            if !matches!(value.def, ValueDef::Inst(_)) {
                // Unless it was given.
                self.shapes.values[i].get_or_insert(Shape::Uniform);
            }
        }
        for block in self.loops.order().iter().rev() {
            self.work.push(User::Term(*block));
            let insts = &self.f.blocks[block.index()].insts;
            self.work.extend(insts.iter().rev().map(|i| User::Inst(*i)));
        }
        while let Some(user) = self.work.pop() {
            match user {
                User::Inst(inst) => self.evaluate(inst),
                User::Term(block) => self.branch(block),
            }
            crate::reach!(MAX_VISITED_BLOCKS, MAX_VISITED_BLOCKS - self.budget);
            if self.budget == 0 {
                self.give_up();
                return;
            }
        }
    }

    fn give_up(&mut self) {
        for (i, value) in self.f.values.iter().enumerate() {
            if matches!(value.def, ValueDef::Inst(_)) {
                self.shapes.values[i] = Some(Shape::Varying);
            }
        }
        self.shapes.divergent.fill(true);
        self.shapes.masked.fill(true);
        self.shapes.divergent_loops.fill(true);
    }

    fn set(&mut self, value: ValueId, shape: Shape, no_wrap: bool) {
        let slot = &mut self.shapes.values[value.index()];
        // Shapes only move towards `Varying`, so the analysis ends.
        let shape = match *slot {
            Some(old) if old != shape => Shape::Varying,
            _ => shape,
        };
        let before = self.shapes.no_wrap[value.index()];
        let no_wrap = (no_wrap || before) && shape != Shape::Varying;
        if *slot != Some(shape) || before != no_wrap {
            *slot = Some(shape);
            self.shapes.no_wrap[value.index()] = no_wrap;
            self.work.extend(&self.users[value.index()]);
        }
    }

    fn evaluate(&mut self, inst: InstId) {
        let entry = &self.f.insts[inst.index()];
        let (Some(result), Some(block)) = (entry.result, self.defining_block[inst.index()]) else {
            return;
        };
        if self.shapes.values[result.index()] == Some(Shape::Varying)
            || !self.cfg.is_reachable(block)
        {
            return;
        }
        if let Some(&step) = self.arrays.get(&result) {
            self.set(result, Shape::stride(step), false);
            return;
        }
        let mut no_wrap = false;
        entry
            .op
            .operands(|v| no_wrap |= self.shapes.no_wrap[v.index()]);
        if let Some(shape) = self.shape(&entry.op, block, &mut no_wrap) {
            no_wrap &= !self.no_wrap_values[result.index()];
            self.set(result, shape, no_wrap);
        }
    }

    /// The shape of operand `v` in `block`: `None` when not known yet.
    fn operand(&self, v: ValueId, block: BlockId) -> Option<Shape> {
        let shape = self.shapes.values[v.index()]?;
        if let ValueDef::Inst(inst) = self.f.values[v.index()].def
            && let Some(defining_block) = self.defining_block[inst.index()]
        {
            // Lanes that left a loop in different rounds carry values of different rounds.
            let mut at = self.loops.innermost(defining_block);
            while let Some(l) = at {
                if self.shapes.divergent_loops[l as usize] && !self.loops.contains(l, block) {
                    return Some(Shape::Varying);
                }
                at = self.loops.loops[l as usize].parent;
            }
        }
        Some(shape)
    }

    fn is_undef(&self, v: ValueId) -> bool {
        let undef = |c: ConstId| *self.module.constants.get(c) == Constant::Undef;
        matches!(self.f.values[v.index()].def, ValueDef::Const(c) if undef(c))
    }

    /// The shape of the result of index arithmetic; `None` while an operand has none.
    fn arithmetic(&self, op: &Op, block: BlockId, no_wrap: &mut bool) -> Option<Shape> {
        let (mut all_known, mut all_uniform) = (true, true);
        op.operands(|v| match self.operand(v, block) {
            None => all_known = false,
            Some(shape) => all_uniform &= shape == Shape::Uniform,
        });
        if !all_known {
            return None;
        }
        if all_uniform {
            return Some(Shape::Uniform);
        }
        let of = |v: ValueId| self.operand(v, block)?.step();
        let Some(step) = index::step(self.module, self.f, op, of) else {
            return Some(Shape::Varying);
        };
        *no_wrap |= step != 0 && index::extension(op).is_some();
        Some(Shape::stride(step))
    }

    /// The shape of the result of `op` in `block`; `None` while an operand has none.
    fn shape(&self, op: &Op, block: BlockId, no_wrap: &mut bool) -> Option<Shape> {
        let get = |v: ValueId| self.operand(v, block);
        Some(match op {
            Op::Phi(incoming) => return self.phi(incoming, block),
            Op::Binary(..) | Op::Convert(..) | Op::Copy(_) | Op::PtrOffset { .. } => {
                return self.arithmetic(op, block, no_wrap);
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                let (cond, x, y) = (get(*cond)?, get(*then)?, get(*otherwise)?);
                if cond == Shape::Uniform && x == y {
                    x
                } else {
                    Shape::Varying
                }
            }
            Op::WorkItem(builtin, dimension) => self.builtin(*builtin, *dimension),
            Op::Load {
                ptr,
                volatile: false,
                ..
            } => {
                let shape = get(*ptr)?;
                let private = matches!(
                    self.module.types.get(self.f.ty(*ptr)),
                    Type::Ptr(AddressSpace::Private)
                );
                if shape == Shape::Uniform && !(private && self.arguments_written) {
                    Shape::Uniform
                } else {
                    Shape::Varying
                }
            }
            Op::Group(op, scope, _) => {
                let one_result = matches!(
                    op,
                    GroupOp::Reduce(_)
                        | GroupOp::Broadcast
                        | GroupOp::BroadcastFirst
                        | GroupOp::All
                        | GroupOp::Any
                        | GroupOp::AllEqual
                        | GroupOp::Ballot
                );
                let within_scope = *scope == GroupScope::Workgroup || self.in_one_sub_group();
                if one_result && within_scope {
                    Shape::Uniform
                } else {
                    Shape::Varying
                }
            }
            // Private memory, effects and unknown functions.
            Op::Alloca { .. }
            | Op::Load { .. }
            | Op::Atomic { .. }
            | Op::Call(..)
            | Op::CallIndirect(..)
            | Op::Clock
            | Op::Printf(..) => Shape::Varying,
            _ => {
                let mut all = Some(Shape::Uniform);
                op.operands(|v| {
                    all = match (all, get(v)) {
                        (Some(Shape::Varying), _) => all,
                        (_, Some(Shape::Uniform)) => all,
                        (_, Some(_)) => Some(Shape::Varying),
                        (_, None) => None,
                    };
                });
                return all;
            }
        })
    }

    fn phi(&self, incoming: &[(BlockId, ValueId)], block: BlockId) -> Option<Shape> {
        let mut result = None;
        // The first value of each kind of edge (forward, back), and whether all others are the same.
        let (mut first, mut same) = ([None; 2], [true; 2]);
        let joins = self.joins[block.index()];
        for &(from, v) in incoming {
            let way = usize::from(self.is_back_edge(from, block));
            same[way] &= *first[way].get_or_insert(v) == v;
            if self.is_undef(v) {
                continue;
            }
            // Inputs without a shape yet are skipped: the phi is evaluated again when they get one.
            let Some(shape) = self.operand(v, block) else {
                continue;
            };
            result = match result {
                None => Some(shape),
                Some(old) if old == shape => Some(old),
                Some(_) => Some(Shape::Varying),
            };
        }
        if joins.forward && !same[0] || joins.back && !same[1] {
            return result.map(|_| Shape::Varying);
        }
        result
    }

    /// Whether the edge from `from` to `to` is a back edge.
    fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        let header = self.loops.innermost(to).filter(|&l| {
            let this = &self.loops.loops[l as usize];
            this.header == to && !this.irreducible
        });
        header.is_some_and(|l| self.loops.contains(l, from))
    }

    /// Whether all lanes are in one sub-group.
    fn in_one_sub_group(&self) -> bool {
        matches!(self.lanes, LaneScope::Row | LaneScope::SubGroup)
    }

    fn builtin(&self, builtin: Builtin, dimension: u8) -> Shape {
        use Builtin as B;
        let row = matches!(self.lanes, LaneScope::Row | LaneScope::OneRow);
        match builtin {
            B::LocalInvocationIndex => Shape::Contiguous,
            B::GlobalInvocationId | B::LocalInvocationId => match (row, dimension) {
                (true, 0) => Shape::Contiguous,
                (true, _) => Shape::Uniform,
                (false, _) => Shape::Varying,
            },
            B::GlobalLinearId if row => Shape::Contiguous,
            B::SubgroupLocalInvocationId if self.in_one_sub_group() => Shape::Contiguous,
            B::SubgroupId | B::SubgroupSize if self.in_one_sub_group() => Shape::Uniform,
            B::GlobalLinearId | B::SubgroupLocalInvocationId | B::SubgroupId | B::SubgroupSize => {
                Shape::Varying
            }
            _ => Shape::Uniform,
        }
    }

    fn branch(&mut self, block: BlockId) {
        let term = &self.f.blocks[block.index()].term;
        if self.shapes.divergent[block.index()]
            || self.assumed_uniform[block.index()]
            || matches!(term, Terminator::Ret(_))
        {
            return;
        }
        let Some(v) = term.operand() else { return };
        let successors = self.cfg.successors(block);
        match self.operand(v, block) {
            None | Some(Shape::Uniform) => return,
            Some(_) if successors.len() < 2 => return,
            Some(_) => {}
        }
        self.shapes.divergent[block.index()] = true;
        let stop = self.post.immediate(block);
        self.irreducible(block);
        self.propagate_divergence(block, successors, self.loops.innermost(block), stop);
    }

    /// Divergent paths from `from` join in `block`.
    fn join(&mut self, from: BlockId, block: BlockId) {
        let back = self.is_back_edge(from, block);
        self.join_from(block, !back, back);
    }

    fn join_from(&mut self, block: BlockId, forward: bool, back: bool) {
        let joins = &mut self.joins[block.index()];
        if (joins.forward || !forward) && (joins.back || !back) {
            return;
        }
        joins.forward |= forward;
        joins.back |= back;
        for &inst in &self.f.blocks[block.index()].insts {
            if !matches!(self.f.insts[inst.index()].op, Op::Phi(_)) {
                break;
            }
            self.work.push(User::Inst(inst));
        }
    }

    /// A divergent branch from `from` to the blocks `to`, within loop `inner`; all lanes reconverge in `stop`. Finds the
    /// joins of its paths, the loops that become divergent, and the blocks that run with some lanes only.
    fn propagate_divergence(
        &mut self,
        from: BlockId,
        to: &[BlockId],
        inner: Option<u32>,
        stop: Option<BlockId>,
    ) {
        let mut around = Vec::new();
        let mut at = inner;
        while let Some(l) = at {
            around.push(l);
            at = self.loops.loops[l as usize].parent;
        }
        let mut search = Search {
            label: HashMap::new(),
            queue: BTreeSet::new(),
            joins: Vec::new(),
            stop,
            headers: around
                .iter()
                .map(|l| self.loops.loops[*l as usize].header)
                .collect(),
        };
        for &block in to {
            search.arrive(block, block, &self.place);
        }
        while let Some(place) = search.queue.pop_first() {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return;
            }
            let block = self.loops.order()[place as usize];
            self.shapes.masked[block.index()] = true;
            self.irreducible(block);
            let label = search.label.get(&block).copied().unwrap_or(block);
            for &next in self.cfg.successors(block) {
                // Other back edges lead to blocks that have been visited.
                if self.place[next.index()] > place || search.headers.contains(&next) {
                    search.arrive(next, label, &self.place);
                }
            }
        }
        for block in std::mem::take(&mut search.joins) {
            self.join(from, block);
        }
        for l in around {
            let header = self.loops.loops[l as usize].header;
            let again = search.label.contains_key(&header);
            let left = search.label.keys().any(|b| !self.loops.contains(l, *b));
            if again && left {
                self.mark_divergent_loop(l);
            }
        }
    }

    /// Loop `l` is divergent: some lanes leave it while others stay.
    fn mark_divergent_loop(&mut self, l: u32) {
        if std::mem::replace(&mut self.shapes.divergent_loops[l as usize], true) {
            return;
        }
        let loops = self.loops;
        let this = &loops.loops[l as usize];
        let mut exits = Vec::new();
        for &block in &this.blocks {
            self.shapes.masked[block.index()] = true;
            for &inst in &self.f.blocks[block.index()].insts {
                if let Some(result) = self.f.insts[inst.index()].result {
                    self.work.extend(&self.users[result.index()]);
                }
            }
            for &to in self.cfg.successors(block) {
                if !loops.contains(l, to) && !exits.contains(&to) {
                    exits.push(to);
                }
            }
        }
        for &block in &exits {
            self.join(this.header, block);
        }
        let Some(&first) = exits.first() else { return };
        let mut stop = Some(first);
        while let Some(block) = stop {
            if exits.iter().all(|e| self.post.dominates(block, *e)) {
                break;
            }
            stop = self.post.immediate(block);
        }
        self.propagate_divergence(this.header, &exits, this.parent, stop);
    }

    /// In an irreducible loop divergent paths may join anywhere.
    fn irreducible(&mut self, block: BlockId) {
        let loops = self.loops;
        let mut at = loops.innermost(block);
        while let Some(l) = at {
            let this = &loops.loops[l as usize];
            if this.irreducible && !self.shapes.divergent_loops[l as usize] {
                for &block in &this.blocks {
                    self.join_from(block, true, true);
                }
                self.mark_divergent_loop(l);
            }
            at = this.parent;
        }
    }
}

/// Propagates labels in topological order: a block that gets two labels is a join, and has a label of its own from there
/// on.
struct Search {
    label: HashMap<BlockId, BlockId>,
    /// Positions of blocks that have a label and are not visited yet.
    queue: BTreeSet<u32>,
    joins: Vec<BlockId>,
    /// Where all lanes reconverge: not visited.
    stop: Option<BlockId>,
    /// Headers of the surrounding loops, where the next iteration begins: not visited.
    headers: Vec<BlockId>,
}

impl Search {
    fn arrive(&mut self, block: BlockId, from: BlockId, place: &[u32]) {
        match self.label.get(&block) {
            None => {
                self.label.insert(block, from);
                if self.stop != Some(block) && !self.headers.contains(&block) {
                    self.queue.insert(place[block.index()]);
                }
            }
            Some(&old) if old == from => {}
            Some(_) => {
                self.label.insert(block, block);
                self.joins.push(block);
            }
        }
    }
}
