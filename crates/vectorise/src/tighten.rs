//! Iteration-range tightening: the loop over a row's chunks visits only the chunks that have work.
//!
//! ```text
//! if (l < half) sum[l] += sum[l + half];     // only the chunks below `half` have work
//! if (l == 0) out[group] = sum[0];           // only the first chunk has work
//!
//! before:  for each chunk of the row { ... }
//! after:   for each chunk with an l below half { ... }
//! ```
//!
//! It applies where comparisons of ids with limits that are uniform along the row guard all effects of a region. The
//! comparisons stay in the code, so that a visit too many does no harm.
//!
//! One chunk of the group runs in any case: it writes the values that the whole group shares, and tells the next
//! region.

use std::collections::{HashMap, HashSet};

use kernel_ir::index::{self, IndexFacts};
use kernel_ir::passes::shape::Shape;
use kernel_ir::{
    AddressSpace, BinaryOp, BlockId, Builtin, ConvertOp, Op, Predicate, Terminator, Type, UnaryOp,
    ValueDef, ValueId,
};

use crate::input::Input;
use crate::region::Region;

/// Operations from a comparison back to its ids: a bound on the code before the loop. Largest in 17,722 modules of
/// dpctl and dpnp: 6; in our corpora: 2 (2026-11).
const DEPTH: usize = 8;
/// Largest step from chunk to chunk: sums of steps along a row fit 64 bits.
const STEP: i64 = 1 << 20;
/// Branches that are examined, and comparisons that are used: bounds on compile time and on the code before the loop.
/// Of the regions of dpctl and dpnp 4 % have more branches, up to 174; no comparison is found behind the first 16 in
/// every 20th of the modules and in our corpora. Most comparisons of a region: 1 (2026-11).
const BRANCHES: usize = 16;
const BOUNDS: usize = 4;

/// How much larger a value is in the next chunk of a row, and in the next lane of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// To the next chunk.
    pub chunk: i64,
    /// To the next lane.
    pub lane: i64,
}

impl Steps {
    const NONE: Self = Self { chunk: 0, lane: 0 };

    fn of(chunk: Option<i64>, lane: Option<i64>) -> Option<Self> {
        let (chunk, lane) = (chunk?, lane?);
        let near = |step: i64| step.unsigned_abs() <= STEP.unsigned_abs();
        (near(chunk) && near(lane)).then_some(Self { chunk, lane })
    }
}

/// A comparison without which a region has no effect.
pub struct Bound {
    /// How `ids` compares with `limit`.
    pub predicate: Predicate,
    /// The side that is computed from ids.
    pub ids: ValueId,
    /// The side that is the same along a row.
    pub limit: ValueId,
    /// How `ids` changes along a row.
    pub steps: Steps,
    /// Integers that might wrap around along the row and must not: `ids`, and operands of extensions.
    pub no_wrap: Vec<(ValueId, ConvertOp, Steps)>,
}

/// The tightened range of a region.
pub struct Tightening {
    /// Comparisons that guard the region; none: its only effects are the values that the group shares.
    pub bounds: Vec<Bound>,
    /// Work-items of a chunk.
    pub width: u32,
    /// Whether its work-items run one after another: it does little but access scattered addresses.
    pub scattered: bool,
}

/// Instructions, beside accesses, of the longest region that counts as scattered. As vectors, a scan in local memory
/// and a search for the maximum took 1.03 and 1.04 times as long, a sum the same (2026-11, AMD EPYC of Zen 4, two
/// processors). Regions of dpctl and dpnp have up to 9 or more than 24, those of our corpora up to 22.
const SCATTERED: usize = 24;

/// Whether a region does little but access local memory at scattered addresses. Without fast gathers, vectors need as
/// many accesses as work-items that run one after another, and extracts of the lanes' addresses besides.
fn is_scattered(input: &Input<'_>, region: &Region) -> bool {
    let Some(shapes) = region
        .shapes
        .as_ref()
        .filter(|_| !input.target.has_fast_gathers)
    else {
        return false;
    };
    let function = &region.function;
    let (mut count, mut accesses) = (0, 0);
    for &block in region.cfg.reverse_post_order() {
        for inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } => {
                    let types = &input.module.types;
                    let local =
                        *types.get(input.function.ty(*ptr)) == Type::Ptr(AddressSpace::Local);
                    if shapes.of(*ptr) != Shape::Varying || !local {
                        return false;
                    }
                    accesses += 1;
                }
                op if op.is_pure() => count += 1,
                _ => return false,
            }
        }
    }
    let found = accesses > 0 && region.loops.loops.is_empty();
    kernel_ir::reach!(SCATTERED, if found { count } else { 0 });
    let found = found && count <= SCATTERED;
    kernel_ir::mark!(TighteningScattered, found);
    found
}

struct Search<'s> {
    input: &'s Input<'s>,
    uniform: &'s HashSet<ValueId>,
    per_item: &'s PerItem,
    region: &'s Region,
    width: u32,
    facts: IndexFacts<'s>,
    /// The block whose branch is examined.
    guard: BlockId,
}

/// The saved values that have an element for each work-item: offsets of their scalars, and the step from lane to lane.
type PerItem = HashMap<ValueId, (Vec<u64>, Option<i64>)>;

/// The chunks of `width` work-items in which `region` has work, where comparisons of ids tell. `uniform`, `per_item`:
/// the saved values that are the same for the group, and the others.
pub(crate) fn tighten(
    input: &Input<'_>,
    uniform: &HashSet<ValueId>,
    per_item: &PerItem,
    region: &Region,
    width: u32,
) -> Option<Tightening> {
    if !input.module.uses(kernel_ir::Transform::Tightening) {
        return None;
    }
    // Without stops the chunks of a group are not visited row after row, and none is needed to tell the next region.
    if input.segments.stops.is_empty() {
        return None;
    }
    let search = Search {
        input,
        uniform,
        per_item,
        region,
        width,
        facts: IndexFacts::new(input.module, &region.function),
        guard: BlockId(0),
    };
    search.find()
}

impl Search<'_> {
    fn find(mut self) -> Option<Tightening> {
        let effects = self.effects()?;
        let region = self.region;
        let blocks = &region.function.blocks;
        let branches = region.cfg.reverse_post_order().iter().copied();
        let branches = branches.filter_map(|block| match blocks[block.index()].term {
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } if then != otherwise => Some((block, cond, then, otherwise)),
            _ => None,
        });
        let mut bounds = Vec::new();
        kernel_ir::reach!(BRANCHES, branches.clone().count());
        for (block, cond, then, otherwise) in branches.take(BRANCHES) {
            self.guard = block;
            for (to, truth) in [(then, true), (otherwise, false)] {
                if !self.reaches(BlockId(0), &effects, Some((block, to))) {
                    self.take(cond, truth, DEPTH, &mut bounds);
                }
            }
        }
        kernel_ir::reach!(BOUNDS, bounds.len());
        bounds.truncate(BOUNDS);
        let width = self.width;
        let scattered = is_scattered(self.input, region);
        (!bounds.is_empty() || effects.is_empty()).then_some(Tightening {
            bounds,
            width,
            scattered,
        })
    }

    /// Blocks with effects that others may notice, or that make a saved value of the work-item; `None` if the first
    /// block is one.
    fn effects(&self) -> Option<Vec<BlockId>> {
        let (region, function) = (self.region, &self.region.function);
        let mut found = Vec::new();
        for &block in region.cfg.reverse_post_order() {
            let mut insts = function.blocks[block.index()].insts.iter();
            let acts = insts.any(|inst| {
                let op = &function.insts[inst.index()].op;
                // Other sub-groups take no part in these.
                let own = matches!(op, Op::Assume(_) | Op::Barrier(_) | Op::Group(..));
                !op.is_pure() && !own
            });
            let leaves = region.exits.get(&block).is_some_and(|stop| {
                let live = stop.map(|stop| &self.input.segments.stops[stop].live);
                live.into_iter().flatten().any(|&v| {
                    let made = region.block_of(v).is_some();
                    made && self.per_item.contains_key(&v)
                })
            });
            if acts || leaves {
                if block == BlockId(0) {
                    return None;
                }
                found.push(block);
            }
        }
        Some(found)
    }

    /// Whether a path from block `from` that avoids the edge `without` reaches one of `blocks`.
    fn reaches(
        &self,
        from: BlockId,
        blocks: &[BlockId],
        without: Option<(BlockId, BlockId)>,
    ) -> bool {
        let cfg = &self.region.cfg;
        let mut seen = vec![false; self.region.function.blocks.len()];
        seen[from.index()] = true;
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if blocks.contains(&at) {
                return true;
            }
            for &to in cfg.successors(at) {
                if Some((at, to)) != without && !std::mem::replace(&mut seen[to.index()], true) {
                    work.push(to);
                }
            }
        }
        false
    }

    /// Collects the comparisons that hold where `cond` is `truth`, if they bound ids.
    fn take(&self, cond: ValueId, truth: bool, depth: usize, bounds: &mut Vec<Bound>) {
        let Some(op) = self.made_of(cond) else {
            return;
        };
        kernel_ir::reach!(DEPTH, DEPTH + 1 - depth);
        if depth == 0 {
            return;
        }
        match op {
            Op::Compare(predicate, a, b) => {
                let predicate = if truth {
                    *predicate
                } else {
                    predicate.inverse()
                };
                let found = self.bound(predicate, *a, *b);
                let found = found.or_else(|| self.bound(predicate.swapped(), *b, *a));
                bounds.extend(found);
            }
            Op::Unary(UnaryOp::Not, a, _) => self.take(*a, !truth, depth - 1, bounds),
            Op::Binary(BinaryOp::And, a, b, _) if truth => {
                self.take(*a, truth, depth - 1, bounds);
                self.take(*b, truth, depth - 1, bounds);
            }
            Op::Binary(BinaryOp::Or, a, b, _) if !truth => {
                self.take(*a, truth, depth - 1, bounds);
                self.take(*b, truth, depth - 1, bounds);
            }
            _ => {}
        }
    }

    fn bound(&self, predicate: Predicate, ids: ValueId, limit: ValueId) -> Option<Bound> {
        // Only comparisons of integers bound a row.
        ends(predicate)?;
        let types = &self.input.module.types;
        if !matches!(types.get(self.input.function.ty(ids)), Type::Int(_)) {
            return None;
        }
        let mut no_wrap = Vec::new();
        let steps = self.steps(ids, DEPTH, &mut no_wrap)?;
        let same = self.steps(limit, DEPTH, &mut Vec::new())? == Steps::NONE;
        let (_, _, signed) = ends(predicate)?;
        let op = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        if !self.facts.cannot_wrap(op, ids) {
            no_wrap.push((ids, op, steps));
        }
        (same && steps.chunk > 0 && steps.lane >= 0).then_some(Bound {
            predicate,
            ids,
            limit,
            steps,
            no_wrap,
        })
    }

    /// The operation that computes `v`, if it is in this region.
    fn made_of(&self, v: ValueId) -> Option<&Op> {
        self.region.block_of(v)?;
        match self.region.function.values[v.index()].def {
            ValueDef::Inst(inst) => Some(&self.region.function.insts[inst.index()].op),
            _ => None,
        }
    }

    /// Whether `v` comes from an earlier region and is the same for the whole group. If this region computes it again,
    /// then only behind the branch.
    fn is_given(&self, v: ValueId) -> bool {
        let made = self.region.block_of(v);
        made.is_none_or(|at| !self.reaches(at, &[self.guard], None))
            && self.region.live.binary_search(&v).is_ok()
            && self.uniform.contains(&v)
    }

    /// How `v` changes along a row, where it is computed from ids and group-uniform values by a few operations.
    fn steps(
        &self,
        v: ValueId,
        depth: usize,
        no_wrap: &mut Vec<(ValueId, ConvertOp, Steps)>,
    ) -> Option<Steps> {
        if !matches!(
            self.region.function.values[v.index()].def,
            ValueDef::Inst(_)
        ) {
            return Some(Steps::NONE);
        }
        if self.is_given(v) {
            return Some(Steps::NONE);
        }
        let op = self.made_of(v)?;
        kernel_ir::reach!(DEPTH, DEPTH + 1 - depth);
        if depth == 0 {
            return None;
        }
        let mut of = |v: ValueId| self.steps(v, depth - 1, no_wrap);
        match op {
            Op::WorkItem(builtin, dimension) => self.id_steps(*builtin, *dimension),
            Op::Copy(a) | Op::Convert(ConvertOp::Trunc, a, _) => of(*a),
            Op::Convert(op @ (ConvertOp::ZExt | ConvertOp::SExt), a, _) => {
                let steps = of(*a)?;
                if steps != Steps::NONE {
                    if steps.chunk < 0 || steps.lane < 0 {
                        return None;
                    }
                    if !self.facts.cannot_wrap(*op, *a) {
                        no_wrap.push((*a, *op, steps));
                    }
                }
                Some(steps)
            }
            Op::Binary(kind, a, b, _) => {
                let (x, y) = (of(*a)?, of(*b)?);
                match kind {
                    BinaryOp::UDiv
                    | BinaryOp::SDiv
                    | BinaryOp::URem
                    | BinaryOp::SRem
                    | BinaryOp::SMod => None,
                    _ if x == Steps::NONE && y == Steps::NONE => Some(Steps::NONE),
                    // Right shifts need a test that their operand does not wrap around.
                    BinaryOp::AShr | BinaryOp::LShr => None,
                    _ => {
                        let (module, function) = (self.input.module, &self.region.function);
                        let step = |part: fn(Steps) -> i64| {
                            let of = |v: ValueId| Some(part(if v == *a { x } else { y }));
                            index::step(module, function, op, of)
                        };
                        Steps::of(step(|steps| steps.chunk), step(|steps| steps.lane))
                    }
                }
            }
            Op::Compare(_, a, b) => {
                let same = of(*a)? == Steps::NONE && of(*b)? == Steps::NONE;
                same.then_some(Steps::NONE)
            }
            _ => None,
        }
    }

    fn id_steps(&self, builtin: Builtin, dimension: u8) -> Option<Steps> {
        use Builtin as B;
        let width = i64::from(self.width);
        let (chunk, lane) = match (builtin, dimension) {
            (B::LocalInvocationId | B::GlobalInvocationId, 0)
            | (B::LocalInvocationIndex | B::GlobalLinearId, _) => (width, 1),
            (B::LocalInvocationId | B::GlobalInvocationId, _) => (0, 0),
            (B::SubgroupId, _) => (1, 0),
            (B::SubgroupLocalInvocationId, _) => (0, 1),
            (B::SubgroupSize, _) => return None,
            _ => (0, 0),
        };
        Some(Steps { chunk, lane })
    }
}

/// The ends that a comparison of ids with a limit sets: an upper and a lower one, each `Some(whether the limit is
/// included)`; then whether the integers are signed.
pub type Ends = (Option<bool>, Option<bool>, bool);

/// The bounds that a comparison of integers sets on its first operand; `None` for the others.
#[must_use]
pub fn ends(predicate: Predicate) -> Option<Ends> {
    use Predicate as P;
    Some(match predicate {
        P::IEq => (Some(true), Some(true), false),
        P::ULt => (Some(false), None, false),
        P::ULe => (Some(true), None, false),
        P::UGt => (None, Some(false), false),
        P::UGe => (None, Some(true), false),
        P::SLt => (Some(false), None, true),
        P::SLe => (Some(true), None, true),
        P::SGt => (None, Some(false), true),
        P::SGe => (None, Some(true), true),
        _ => return None,
    })
}
