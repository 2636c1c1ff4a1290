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

use kernel_ir::passes::shape::Shape;
use kernel_ir::{BinaryOp, MathFn, Module, Op, ValueId};

use crate::region::Region;

/// Bytes of a vector register: AVX2's, for all processors.
const REGISTER: u64 = 32;
/// Instructions that a call of C's library counts for. Not measured.
const CALL: u64 = 30;
/// Factor of a divergent loop, in halves: its iterations also run for lanes that have left it. Not measured.
const DIVERGENT: u64 = 3;

/// The costs of all regions: as lanes, and one work-item after another.
pub(crate) fn costs(module: &Module, regions: &[Region], width: u32) -> (u64, u64) {
    let costs = regions
        .iter()
        .map(|region| region_costs(module, region, width));
    costs.fold((0u64, 0u64), |all, one| {
        (all.0.saturating_add(one.0), all.1.saturating_add(one.1))
    })
}

/// The costs of a region: as lanes, and one work-item after another.
fn region_costs(module: &Module, region: &Region, width: u32) -> (u64, u64) {
    let Some(shapes) = &region.shapes else {
        return (1, 0);
    };
    let function = &region.function;
    let lanes = u64::from(width);
    let uniform = |v: ValueId| shapes.of(v) == Shape::Uniform;
    let (mut together, mut apart) = (0u64, 0u64);
    for &block in region.loops.order() {
        // Iterations and their factor count in halves.
        let mut turns = 2u64;
        let mut factor = 2u64;
        let mut l = region.loops.innermost(block);
        while let Some(i) = l {
            turns = turns.saturating_mul(8).min(1 << 30);
            if shapes.is_divergent_loop(i) {
                factor = DIVERGENT;
            }
            l = region.loops.loops[i as usize].parent;
        }
        let masked = shapes.is_masked(block);
        let (mut wide, mut narrow) = (0u64, 0u64);
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            // The value whose vector the operation makes or reads.
            let value = match &inst.op {
                Op::Store { value, .. } => Some(*value),
                Op::Compare(_, a, _) => Some(*a),
                _ => inst.result,
            };
            let bytes = value.map_or(4, |v| module.types.size_of(function.ty(v)));
            let registers = (bytes * lanes).div_ceil(REGISTER).max(1);
            let each = 1 + bytes / 16;
            let (one, all) = match &inst.op {
                Op::Phi(_) | Op::Alloca { .. } | Op::Assume(_) | Op::Trap(_) | Op::Barrier(_) => {
                    continue;
                }
                Op::Load { ptr, .. } | Op::Store { ptr, .. } => {
                    let size = value.map_or(4, |v| module.types.size_of(function.ty(v)));
                    let store = matches!(inst.op, Op::Store { .. });
                    let all = match shapes.of(*ptr).step() {
                        Some(0) => 1,
                        Some(step) if step.unsigned_abs() == size && step > 0 => registers,
                        _ if masked && store => 6 * lanes,
                        _ if masked => 3 * lanes,
                        _ => 2 * lanes,
                    };
                    (each, all * (1 + size / 16))
                }
                Op::Atomic { .. }
                | Op::CopyMemory { .. }
                | Op::Printf(..)
                | Op::Clock
                | Op::Call(..)
                | Op::CallIndirect(..) => (4, 8 * lanes),
                Op::Math(math, ..) => {
                    let inline = matches!(
                        math,
                        MathFn::Ceil
                            | MathFn::Floor
                            | MathFn::Trunc
                            | MathFn::Rint
                            | MathFn::Fabs
                            | MathFn::Copysign
                            | MathFn::Fmax
                            | MathFn::Fmin
                            | MathFn::Fma
                            | MathFn::Mad
                    );
                    // Square roots, divisions and functions that have a vector form.
                    let series = matches!(
                        math,
                        MathFn::Sqrt
                            | MathFn::Rsqrt
                            | MathFn::NativeSqrt
                            | MathFn::NativeRsqrt
                            | MathFn::NativeDivide
                            | MathFn::NativeRecip
                            | MathFn::Round
                            | MathFn::Fract
                            | MathFn::Maxmag
                            | MathFn::Minmag
                            | MathFn::ModfFraction
                            | MathFn::ModfInteger
                    ) || crate::functions::has_vector_form(*math);
                    if inline {
                        (1, registers)
                    } else if series {
                        (CALL / 2, CALL / 2 * registers)
                    } else {
                        // One call for each lane, an extract and an insert.
                        (CALL, (CALL + 2) * lanes)
                    }
                }
                Op::Binary(
                    BinaryOp::UDiv
                    | BinaryOp::SDiv
                    | BinaryOp::URem
                    | BinaryOp::SRem
                    | BinaryOp::SMod,
                    ..,
                ) => (8, 10 * lanes),
                _ => (1, registers),
            };
            let same = inst.result.is_some_and(uniform);
            wide += if same { one } else { all };
            narrow += one * lanes;
        }
        // The terminator; a masked block also tests whether any lane is active.
        wide += if masked { 3 } else { 1 };
        narrow += lanes;
        together = together.saturating_add(wide.saturating_mul(turns).saturating_mul(factor) / 4);
        apart = apart.saturating_add(narrow.saturating_mul(turns) / 2);
    }
    (together, apart)
}
