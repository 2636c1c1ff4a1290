//! The cost model: is a kernel faster as lanes of vectors, or one work-item after another?
//!
//! Each region has two estimates for one chunk, in rough numbers of instructions:
//!
//! ```text
//! 16 lanes                             as lanes    one after another
//! %v: f32 = load %p    contiguous      2           16
//! %w: f32 = load %q    scattered       32          16
//! %s: f32 = fadd %v, %w                2           16
//! ```
//!
//! A loop counts as eight iterations.
//!
//! `cargo bench -p solum-codegen-llvm --bench classes` prints the model's factor between both forms beside the measured one
//! for each class of access and operation. The measurements below are of an AMD EPYC without AVX-512, in November 2026.
//! There all factors of the model are about 1.6 times the measured ones: a scalar loop runs several instructions at once
//! too.

use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{BlockId, InstId, Op, ValueId};

use crate::access::{Access, Accesses};
use crate::input::Input;
use crate::interleave::{StoreGroup, store_groups};
use crate::operation::Operation;
use crate::operation_cost::{self, math_costs};
use crate::plan::{Plan, RegionPlan};
use crate::representation::{Chunk, Representations};
use crate::search_loops::is_search;

/// Bytes of a vector register: AVX2's, for all processors.
const REGISTER: u64 = 32;
/// Instructions for each lane of a division with doubles. Measured 4.1 times faster than one work-item after another
/// (32 bits; model: 4.6) and 5.2 times (64 bits; model: 4.4).
const DIVIDED: u64 = 2;
/// Factor of a divergent loop, in halves: its iterations also run for lanes that have left it. Loops of two
/// instructions are as fast as one work-item after another (model: 4.6 times faster); longer ones were not measured.
const DIVERGENT: u64 = 3;
/// Factor of a search loop one work-item after another, on processors with mask registers: each iteration waits for the
/// one before. dpnp's merges of an argsort of doubles are 1.6 times faster with 32 lanes (the model without the factor:
/// equal); on x86-64-v3 they are slower, with 0.85 of the speed (2026-12, AMD EPYC of Zen 5, two processors).
const WAIT: u64 = 2;

/// The costs of all regions of `plan`: as lanes, and one work-item after another.
pub(crate) fn costs(input: &Input<'_>, plan: &Plan) -> (u64, u64) {
    let costs = plan
        .regions
        .iter()
        .map(|region| region_costs(input, plan, region));
    costs.fold((0u64, 0u64), |all, one| {
        (all.0.saturating_add(one.0), all.1.saturating_add(one.1))
    })
}

/// The costs of a region: as lanes, and one work-item after another.
fn region_costs(input: &Input<'_>, plan: &Plan, region_plan: &RegionPlan) -> (u64, u64) {
    let region = &region_plan.region;
    let Some(shapes) = &region.shapes else {
        return (1, 0);
    };
    let (width, chunk) = (plan.width, Chunk::Row);
    let held = Representations::new(input, plan, region, width, chunk);
    let accesses = Accesses {
        input,
        plan,
        region,
        held: &held,
        width,
        chunk,
    };
    let lanes = u64::from(width);
    let has_masks = input.target.has_mask_registers;
    let waits: Vec<bool> = (0..region.loops.loops.len() as u32)
        .map(|l| has_masks && is_search(region, shapes, l))
        .collect();
    let (mut as_lanes, mut in_turn) = (0u64, 0u64);
    for &block in region.loops.order() {
        // Iterations and their factor count in halves.
        let iterations = 2 * region.estimated_iterations(block);
        let is_divergent = region
            .loops_around(block)
            .any(|l| shapes.is_divergent_loop(l));
        let factor = if is_divergent { DIVERGENT } else { 2 };
        let innermost = region.loops.innermost(block);
        let waits = innermost.is_some_and(|l| waits[l as usize]);
        let masked = shapes.is_masked(block);
        let block = Block {
            accesses: &accesses,
            shapes,
            groups: store_groups(&accesses, block, masked),
            block,
            masked,
        };
        // The terminator; a masked block also tests whether any lane is active.
        let (mut wide, mut narrow) = (if masked { 3 } else { 1 }, lanes);
        for &inst in &region.function.blocks[block.block.index()].insts {
            let (all, one) = block.instruction(inst);
            wide += all;
            narrow += one * lanes;
        }
        as_lanes =
            as_lanes.saturating_add(wide.saturating_mul(iterations).saturating_mul(factor) / 4);
        if waits {
            narrow *= WAIT;
        }
        in_turn = in_turn.saturating_add(narrow.saturating_mul(iterations) / 2);
    }
    (as_lanes, in_turn)
}

/// A block whose instructions are counted.
struct Block<'a> {
    accesses: &'a Accesses<'a>,
    shapes: &'a Shapes,
    groups: Vec<StoreGroup>,
    block: BlockId,
    masked: bool,
}

impl Block<'_> {
    /// The costs of an instruction: for all lanes, and for one work-item.
    fn instruction(&self, inst: InstId) -> (u64, u64) {
        let function = &self.accesses.region.function;
        let types = &self.accesses.input.module.types;
        let at = inst;
        let inst = &function.insts[inst.index()];
        let lanes = u64::from(self.accesses.width);
        // The value whose vector the operation makes or reads.
        let value = match &inst.op {
            Op::Store { value, .. } => Some(*value),
            Op::Compare(_, a, _) => Some(*a),
            _ => inst.result,
        };
        let bytes = value.map_or(4, |v| types.size_of(function.ty(v)));
        let registers = (bytes * lanes).div_ceil(REGISTER).max(1);
        let (one, all) = match &inst.op {
            Op::Phi(_)
            | Op::Alloca { .. }
            | Op::Assume(_)
            | Op::Trap(_)
            | Op::Barrier(_)
            | Op::Check(..) => {
                return (0, 0);
            }
            Op::Load { ptr, .. } => {
                let all = self.load(*ptr, inst.result, registers);
                (1 + bytes / 16, all * (1 + bytes / 16))
            }
            Op::Store { ptr, value, .. } => {
                let all = self.store(at, *ptr, *value, registers);
                (1 + bytes / 16, all * (1 + bytes / 16))
            }
            Op::Atomic { .. }
            | Op::CopyMemory { .. }
            | Op::Printf(..)
            | Op::Clock
            | Op::Call(..)
            | Op::CallIndirect(..) => (4, 8 * lanes),
            Op::Math(math, ..) => math_costs(*math, lanes, registers),
            Op::Binary(binary, ..) if operation_cost::divides(*binary) => {
                let one = operation_cost::of_one(&inst.op);
                match self.class(&inst.op, inst.result) {
                    Operation::Divided(_) => (one, DIVIDED * lanes),
                    _ => (one, 10 * lanes),
                }
            }
            _ => (1, registers),
        };
        let is_uniform = |v: ValueId| self.shapes.of(v) == Shape::Uniform;
        let same = inst.result.is_some_and(is_uniform);
        (if same { one } else { all }, one)
    }

    fn class(&self, op: &Op, result: Option<ValueId>) -> Operation {
        let accesses = self.accesses;
        result.map_or(Operation::Vectors, |result| {
            Operation::of(accesses.input, accesses.region, op, result)
        })
    }

    fn load(&self, ptr: ValueId, result: Option<ValueId>, registers: u64) -> u64 {
        let Some(result) = result else {
            return 1;
        };
        let ty = self.accesses.region.function.ty(result);
        let class = self.accesses.load(ptr, ty, self.block, self.masked);
        self.access(class, registers, 3)
    }

    fn store(&self, inst: InstId, ptr: ValueId, value: ValueId, registers: u64) -> u64 {
        let is_member = |group: &StoreGroup| group.members.iter().any(|m| m.inst == inst);
        if self.groups.iter().any(is_member) {
            return 2 * registers;
        }
        let ty = self.accesses.region.function.ty(value);
        let class = self.accesses.store(ptr, ty, self.block, self.masked);
        self.access(class, registers, 6)
    }

    /// The cost of an access of one scalar for each lane. `masked`: the cost for each lane of a scattered access in a
    /// masked block.
    fn access(&self, class: Access, registers: u64, masked: u64) -> u64 {
        let lanes = u64::from(self.accesses.width);
        match class {
            Access::Uniform => 1,
            Access::Contiguous { .. } => registers,
            Access::Reversed => 2 * registers,
            // Each register is loaded, and shuffled once at least.
            Access::Interleaved(step) => (2 * step.unsigned_abs() * registers).min(2 * lanes),
            _ if self.masked => masked * lanes,
            _ => 2 * lanes,
        }
    }
}
