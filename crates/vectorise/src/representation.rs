//! How each value of a region is held while its lanes run: as one scalar, as a scalar and a step, or as a vector.
//!
//! Values stay scalars for as long as they can. The address of `a[i]` is the first lane's address and a step of four
//! bytes until an instruction needs all addresses. A contiguous load never does.
//!
//! ```text
//! %i: i32 = wi.GlobalInvocationId 0      affine, step 1
//! %w: i64 = to.sext %i                   affine, step 1; tested unless %i is known not to wrap around
//! %p: ptr<global> = offset %a [%w * 4]   affine, step 4
//! %v: f32 = load %p                      vector
//! %n: f32 = load %b                      uniform
//! ```

use std::collections::{HashMap, HashSet};

use kernel_ir::index::{self, extension};
use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{
    AtomicOp, BinaryOp, BlockId, Builtin, GroupOp, InstId, Op, Transform, Type, TypeId, ValueDef,
    ValueId,
};

use crate::array_layout::private_arrays;
use crate::input::Input;
use crate::outer_uses::OuterUses;
use crate::plan::Plan;
use crate::region::Region;
use crate::sub_groups::Rows;

/// How a value is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Representation {
    /// One scalar for all lanes.
    Uniform,
    /// The first lane's scalar; each lane has `step` more than the lane before it.
    Affine {
        /// Bytes, for addresses; not zero.
        step: i64,
        /// Whether that holds only if a test at run time says so: the vector is there too.
        tested: bool,
    },
    /// One vector for each of its scalars.
    Vector,
}

impl Representation {
    fn affine(step: i64) -> Self {
        match step {
            0 => Self::Uniform,
            step => Self::Affine {
                step,
                tested: false,
            },
        }
    }

    /// The step from lane to lane, and whether it is tested; `None` for vectors.
    #[must_use]
    pub fn step(self) -> Option<(i64, bool)> {
        match self {
            Self::Uniform => Some((0, false)),
            Self::Affine { step, tested } => Some((step, tested)),
            Self::Vector => None,
        }
    }
}

/// Work-items that run as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunk {
    /// Neighbours in a row, all of which exist.
    Row,
    /// The same, jammed with other chunks: all of them take the same branches.
    Jammed,
    /// The lanes of a sub-group that exist, under a mask; each has ids of its own.
    Masked,
}

/// The representations of a region's values.
#[derive(Debug)]
pub struct Representations {
    /// In the block that makes the value, or for values of earlier regions.
    own: Vec<Representation>,
    /// In other blocks, for values that come from an earlier region and are computed again in this one.
    elsewhere: HashMap<ValueId, Representation>,
    uses: OuterUses,
    in_memory: HashSet<ValueId>,
    uniform_step: HashSet<ValueId>,
}

impl Representations {
    /// The representations of `region`'s values for `width` lanes.
    #[must_use]
    pub fn new(input: &Input<'_>, plan: &Plan, region: &Region, width: u32, chunk: Chunk) -> Self {
        let shapes = match chunk {
            Chunk::Row | Chunk::Jammed => &region.shapes,
            Chunk::Masked => &region.sub_group_shapes,
        };
        let shapes = shapes.as_ref().filter(|_| width > 1);
        let mut analysis = Analysis {
            input,
            plan,
            region,
            width,
            chunk,
            shapes,
            found: Self {
                own: vec![Representation::Uniform; region.function.values.len()],
                elsewhere: HashMap::new(),
                uses: OuterUses::new(input, region, shapes),
                in_memory: HashSet::new(),
                uniform_step: HashSet::new(),
            },
        };
        analysis.run();
        analysis.found
    }

    /// How `v` is held in the block that makes it.
    #[must_use]
    pub fn of(&self, v: ValueId) -> Representation {
        self.own[v.index()]
    }

    /// How `v`, which the region both reads from an earlier one and makes again, is held between blocks.
    #[must_use]
    pub fn carried(&self, v: ValueId) -> Representation {
        self.elsewhere
            .get(&v)
            .copied()
            .unwrap_or_else(|| self.of(v))
    }

    /// Whether blocks use `v` that do not make it.
    #[must_use]
    pub fn crosses(&self, v: ValueId) -> bool {
        self.uses.crossing.contains(&v)
    }

    /// The values that have variables of their own behind a loop, with that loop: results of divergent loops, which are
    /// vectors of the last iterations of all lanes, and results in memory. Sorted.
    #[must_use]
    pub fn behind_loops(&self) -> Vec<(ValueId, u32)> {
        let of_headers = self.uses.of_headers.iter();
        let in_memory = of_headers.filter(|(v, _)| self.in_memory.contains(v));
        let all = self.uses.divergent.iter().chain(in_memory);
        let mut all: Vec<(ValueId, u32)> = all.map(|(&v, &l)| (v, l)).collect();
        all.sort_unstable();
        all
    }

    /// Whether `v`, the result of a loop, waits in memory behind it.
    #[must_use]
    pub fn is_in_memory(&self, v: ValueId) -> bool {
        self.in_memory.contains(&v)
    }

    /// Whether the phi `v` is an induction variable that each iteration changes by as much in all lanes, although the
    /// lanes' values have no common step: uniform-step induction.
    #[must_use]
    pub fn is_uniform_step(&self, v: ValueId) -> bool {
        self.uniform_step.contains(&v)
    }

    /// How `v` is held where `block` uses it.
    #[must_use]
    pub fn at(&self, region: &Region, v: ValueId, block: BlockId) -> Representation {
        if let Some(&l) = self.uses.divergent.get(&v)
            && !region.loops.contains(l, block)
        {
            return Representation::Vector;
        }
        match self.elsewhere.get(&v) {
            Some(&held) if region.block_of(v) != Some(block) => held,
            _ => self.of(v),
        }
    }
}

/// Whether the operation may clamp a value with a step to a uniform bound, or cut off its high bits.
#[must_use]
pub fn is_clamp(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::And | B::SMax | B::UMax | B::SMin | B::UMin)
}

/// The value that `phi` is added to on the edge from block `from`, where it becomes `v`, if that edge goes back and the
/// value is uniform.
#[must_use]
pub fn increment(
    region: &Region,
    shapes: &Shapes,
    phi: ValueId,
    from: BlockId,
    v: ValueId,
) -> Option<ValueId> {
    let block = region.block_of(phi)?;
    let l = region.loops.innermost(block)?;
    let this = &region.loops.loops[l as usize];
    if this.header != block || !this.blocks.contains(&from) {
        return None;
    }
    let &Op::Binary(BinaryOp::IAdd, a, b, _) = made_by(region, v)? else {
        return None;
    };
    let by = match phi {
        _ if a == phi => b,
        _ if b == phi => a,
        _ => return None,
    };
    (shapes.of(by) == Shape::Uniform).then_some(by)
}

fn made_by(region: &Region, v: ValueId) -> Option<&Op> {
    match region.function.values[v.index()].def {
        ValueDef::Inst(inst) => Some(&region.function.insts[inst.index()].op),
        _ => None,
    }
}

struct Analysis<'a> {
    input: &'a Input<'a>,
    plan: &'a Plan,
    region: &'a Region,
    width: u32,
    chunk: Chunk,
    /// The shapes of values; `None` with one lane.
    shapes: Option<&'a Shapes>,
    found: Representations,
}

impl Analysis<'_> {
    fn run(&mut self) {
        let Some(shapes) = self.shapes else {
            return;
        };
        for (v, size, align) in private_arrays(self.input.function) {
            let step = match self.plan.array_elements.get(&v) {
                Some(&element) => element,
                None => size.next_multiple_of(align),
            };
            self.found.own[v.index()] = Representation::affine(step.cast_signed());
        }
        for &v in &self.region.live {
            let saved = self.saved(v);
            if self.region.block_of(v).is_none() {
                self.found.own[v.index()] = saved;
            } else if self.plan.group_uniform.contains(&v) || self.plan.per_item.contains_key(&v) {
                let step = self.stored_step(shapes, v);
                self.found.elsewhere.insert(v, step);
            }
        }
        if self.chunk == Chunk::Jammed {
            // Jammed chunks leave their loops together.
            self.found.uses.divergent.clear();
        }
        for &block in self.region.loops.order() {
            for &inst in &self.region.function.blocks[block.index()].insts {
                let Some(result) = self.region.function.insts[inst.index()].result else {
                    continue;
                };
                let held = self.evaluate(shapes, block, inst, result);
                self.found.own[result.index()] = held;
            }
        }
        self.find_in_memory(shapes);
        self.find_uniform_steps(shapes);
    }

    fn ty(&self, v: ValueId) -> TypeId {
        self.input.function.ty(v)
    }

    fn scalars(&self, v: ValueId) -> usize {
        let mut all = Vec::new();
        self.input.module.types.scalars(self.ty(v), 0, &mut all);
        all.len()
    }

    fn bits(&self, v: ValueId) -> u64 {
        match self.input.module.types.get(self.ty(v)) {
            Type::Int(bits) => u64::from(*bits),
            Type::Bool => 1,
            _ => 8 * self.input.module.types.size_of(self.ty(v)),
        }
    }

    fn is_integer(&self, v: ValueId) -> bool {
        matches!(self.input.module.types.get(self.ty(v)), Type::Int(_))
    }

    fn known(&self, v: ValueId) -> Option<i64> {
        let module = self.input.module;
        module.known_signed(&self.region.function, v)
    }

    /// The representation of a value from the state area.
    fn saved(&self, v: ValueId) -> Representation {
        let plan = self.plan;
        if plan.group_uniform.contains(&v) || plan.sub_group_uniform.contains(&v) {
            return Representation::Uniform;
        }
        match plan.per_item.get(&v) {
            // Masked chunks are not part of a row: the row's step does not hold.
            Some((_, Some(step))) if self.chunk != Chunk::Masked => Representation::affine(*step),
            Some(_) => Representation::Vector,
            // No definition reaches this use: such code does not run.
            None => Representation::Uniform,
        }
    }

    /// The representation of a loop-carried value.
    fn stored_step(&self, shapes: &Shapes, v: ValueId) -> Representation {
        let Some(step) = shapes.of(v).step() else {
            return Representation::Vector;
        };
        // A step that is valid only under no-wrap is not carried along.
        let is_kept = step == 0 || !(self.scalars(v) != 1 || shapes.assumes_no_wrap(v));
        match is_kept {
            true => Representation::affine(step),
            false => Representation::Vector,
        }
    }

    /// Finds the results of loops that wait in memory until they are used: those of a masked chunk's accumulators, if
    /// all of them take more than the vector registers. Otherwise LLVM keeps some of them in registers through loops
    /// that do not use them, and spills values that are used in each iteration.
    fn find_in_memory(&mut self, shapes: &Shapes) {
        let module = self.input.module;
        if !self.is_broken() || !module.uses(Transform::ResultsInMemory) {
            return;
        }
        let is_accumulator = |v: &ValueId| {
            // An affine value stays one: its users count on it.
            shapes.of(*v) == Shape::Varying && self.found.of(*v) == Representation::Vector
        };
        let all = self.found.uses.of_headers.keys().copied();
        let all: HashSet<ValueId> = all.filter(is_accumulator).collect();
        let bytes = |v: &ValueId| module.types.size_of(self.ty(*v)) * u64::from(self.width);
        if all.iter().map(bytes).sum::<u64>() > self.input.target.vector_bytes() {
            self.found.in_memory = all;
        }
    }

    fn find_uniform_steps(&mut self, shapes: &Shapes) {
        if !self.is_broken() || !self.input.module.uses(Transform::Induction) {
            return;
        }
        let function = &self.region.function;
        for &block in self.region.loops.order() {
            for &inst in &function.blocks[block.index()].insts {
                let inst = &function.insts[inst.index()];
                let (Op::Phi(incoming), Some(phi)) = (&inst.op, inst.result) else {
                    break;
                };
                if self.has_uniform_step(shapes, block, phi, incoming) {
                    self.found.uniform_step.insert(phi);
                }
            }
        }
    }

    fn has_uniform_step(
        &self,
        shapes: &Shapes,
        block: BlockId,
        phi: ValueId,
        incoming: &[(BlockId, ValueId)],
    ) -> bool {
        let region = self.region;
        let Some(l) = region.loops.innermost(block) else {
            return false;
        };
        let this = &region.loops.loops[l as usize];
        let is_direct = |block: BlockId| !shapes.is_masked(block) && !shapes.is_divergent(block);
        self.is_integer(phi)
            && shapes.of(phi) == Shape::Varying
            && this.header == block
            && is_direct(block)
            && incoming.iter().all(|&(from, v)| {
                let back = this.blocks.contains(&from);
                is_direct(from) && (!back || increment(region, shapes, phi, from, v).is_some())
            })
    }

    /// Whether the lanes are a masked chunk in the one copy of the code, which serves rows of any length.
    fn is_broken(&self) -> bool {
        self.chunk == Chunk::Masked && self.plan.sub_groups == Some(Rows::Broken)
    }

    fn evaluate(
        &self,
        shapes: &Shapes,
        block: BlockId,
        inst: InstId,
        result: ValueId,
    ) -> Representation {
        let op = &self.region.function.insts[inst.index()].op;
        let at = |v: ValueId| self.found.at(self.region, v, block);
        match op {
            Op::Alloca { .. } => return self.found.of(result),
            // With uniform-step induction its shape is varying, and it is a vector too.
            Op::Phi(_) => return self.stored_step(shapes, result),
            Op::WorkItem(builtin, dimension) => return self.work_item(*builtin, *dimension),
            Op::Atomic { op, ptr, value, .. } => {
                let is_uniform = at(*ptr) == Representation::Uniform;
                return match (is_uniform, op, value) {
                    (true, AtomicOp::Load, _) => Representation::Uniform,
                    (true, AtomicOp::IAdd | AtomicOp::ISub, Some(value)) => {
                        self.added(shapes, block, *op, *value, at(*value))
                    }
                    _ => Representation::Vector,
                };
            }
            Op::Group(op, ..) => {
                use GroupOp as G;
                return match op {
                    G::Reduce(_)
                    | G::All
                    | G::Any
                    | G::AllEqual
                    | G::BroadcastFirst
                    | G::Ballot
                    | G::Broadcast => Representation::Uniform,
                    _ => Representation::Vector,
                };
            }
            _ => {}
        }
        if let Some(held) = self.kept_step(shapes, op, inst, result, &at) {
            return held;
        }
        match op {
            Op::Load {
                ptr,
                volatile: false,
                ..
            } if at(*ptr) == Representation::Uniform => Representation::Uniform,
            Op::Binary(which, a, b, _) => {
                let clamped = self.clamped(*which, at(*a), at(*b), result);
                clamped.unwrap_or(Representation::Vector)
            }
            _ => Representation::Vector,
        }
    }

    fn work_item(&self, builtin: Builtin, dimension: u8) -> Representation {
        use Builtin as B;
        let has_own = match builtin {
            B::LocalInvocationId | B::GlobalInvocationId => dimension < 3,
            B::GlobalLinearId => true,
            _ => false,
        };
        if self.chunk == Chunk::Masked && has_own && !self.plan.one_row {
            return Representation::Vector;
        }
        Representation::affine(match builtin {
            B::GlobalInvocationId | B::LocalInvocationId => i64::from(dimension == 0),
            B::GlobalLinearId | B::LocalInvocationIndex => 1,
            B::SubgroupLocalInvocationId => i64::from(self.plan.has_sub_groups()),
            _ => 0,
        })
    }

    /// The old values that lanes see when all of them add the same value at one address, or subtract it.
    fn added(
        &self,
        shapes: &Shapes,
        block: BlockId,
        op: AtomicOp,
        value: ValueId,
        held: Representation,
    ) -> Representation {
        let is_whole = self.chunk == Chunk::Row && !shapes.is_masked(block);
        let known = self.known(value).filter(|_| self.bits(value) >= 32);
        match known {
            Some(n) if is_whole && held == Representation::Uniform => {
                Representation::affine(if op == AtomicOp::ISub {
                    n.wrapping_neg()
                } else {
                    n
                })
            }
            _ => Representation::Vector,
        }
    }

    /// The result's step, where the steps of the operands determine it.
    fn kept_step(
        &self,
        shapes: &Shapes,
        op: &Op,
        inst: InstId,
        result: ValueId,
        at: &dyn Fn(ValueId) -> Representation,
    ) -> Option<Representation> {
        let mut held = Vec::new();
        op.operands(|v| held.push(at(v)));
        let steps: Option<Vec<(i64, bool)>> = held.iter().map(|held| held.step()).collect();
        let steps = steps?;
        if held.iter().all(|held| *held == Representation::Uniform) {
            let is_once = match op {
                Op::Load { volatile, .. } => !volatile && shapes.of(result) == Shape::Uniform,
                _ => op.is_pure(),
            };
            return is_once.then_some(Representation::Uniform);
        }
        if self.scalars(result) != 1 {
            return None;
        }
        let of = |v: ValueId| at(v).step().map(|step| step.0);
        let step = index::step(self.input.module, &self.region.function, op, of);
        // An integer that wraps around within its own width has no usable step.
        let step = step.filter(|&step| step != 0)?;
        let mut tested = steps.iter().any(|step| step.1);
        if let Some((_, from)) = extension(op)
            && !self.is_proved(inst, result)
        {
            let (by, _) = at(from).step()?;
            self.distance(by, self.bits(from))?;
            tested = true;
        }
        Some(Representation::Affine { step, tested })
    }

    /// Whether an extension is known not to wrap around. In rows the tests at their start prove more of them.
    fn is_proved(&self, inst: InstId, result: ValueId) -> bool {
        let is_tested = || self.plan.no_wrap.iter().any(|&(v, _)| v == result);
        self.plan.never_wraps.contains(&inst) || (self.chunk != Chunk::Masked && is_tested())
    }

    /// The last lane's value less the first lane's; `None` if that many bits cannot tell it from a wrap-around.
    fn distance(&self, step: i64, bits: u64) -> Option<i64> {
        let distance = step.checked_mul(i64::from(self.width) - 1)?;
        (distance.unsigned_abs() < 1 << (bits - 1).min(62)).then_some(distance)
    }

    /// The minimum or maximum of an id and a bound, or the low bits of an id: in most chunks all lanes keep their
    /// value, and a test at run time tells.
    fn clamped(
        &self,
        op: BinaryOp,
        a: Representation,
        b: Representation,
        result: ValueId,
    ) -> Option<Representation> {
        let (id, bound) = match a {
            Representation::Uniform => (b, a),
            _ => (a, b),
        };
        let (step, _) = id.step()?;
        if bound != Representation::Uniform || step == 0 || self.scalars(result) != 1 {
            return None;
        }
        if !is_clamp(op) || (op == BinaryOp::And && step < 0) {
            return None;
        }
        self.distance(step, self.bits(result))?;
        Some(Representation::Affine { step, tested: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_representations() {
        assert_eq!(Representation::affine(0), Representation::Uniform);
        assert_eq!(Representation::affine(4).step(), Some((4, false)));
        assert_eq!(Representation::Vector.step(), None);
    }
}
