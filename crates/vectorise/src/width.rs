//! The width of a chunk, where only speed decides. (Sub-group operations decide it otherwise.)
//!
//! ```text
//! most values have 4 bytes                         16 lanes: two registers of 32 bytes for each value
//! most values have 8 bytes                         8 lanes
//! a loop is one chain of arithmetic                up to 32 lanes: independent registers hide the latency
//! a loop sums elements that lie far apart          up to 32 lanes with mask registers: an iteration reads more neighbours
//! much arithmetic for each access, or in a loop    twice the lanes with mask registers: two registers of 64 bytes
//!   that lanes leave in different iterations
//! rows may be shorter than a chunk                 more copies of the code, with fewer lanes
//! ```

use kernel_ir::passes::ids;
use kernel_ir::passes::shape::{self, LaneScope, Shape, Shapes};
use kernel_ir::{
    AddressSpace, BlockId, Builtin, Function, MathFn, Op, Type, TypeId, Types, ValueId,
};

use crate::checked;
use crate::input::Input;
use crate::operation_cost;
use crate::region::Region;
use crate::versioning::rarely_diverges;

/// Lanes of the widest chunk of a chain. Loops of a 32-bit generator and of a logistic map took, in groups of 256
/// work-items, with at most 16 lanes 1.6 and 1.7 times as long as with 32, with 64 lanes 0.67 and 0.61 (x86-64-v4: 0.76
/// and 0.74). In groups of 100 they took 1.3 times as long with 16 lanes and 4.6 and 5 times with 64, because more
/// work-items remain at the end of a row and run one by one. Without a tail, 16 lanes are better in groups of 48, with
/// 0.2 of the time, and of 250, with 0.75 (2026-11, AMD EPYC of Zen 4, two processors).
const MOST: u32 = 32;
/// Bytes of a vector register, and the registers that the varying values of a chain may fill. Chosen for a 64-bit hash
/// that took 1.8 times Intel's time (commit c571b81); the numbers are not measured one by one.
const REGISTER: u64 = 32;
const REGISTERS: u64 = 8;
/// Instructions of the longest kernel that has copies of fewer lanes: a bound on code size and compile time. A kernel
/// of 60 multiplications and additions in groups of 8 x 8 took 6.3 times as long without the copies, and about half the
/// time to compile (2026-11, AMD EPYC of Zen 4, two processors). Of the kernels of dpctl and dpnp that have vectors, a
/// fifth is longer, up to 1076 instructions.
const MOST_WITH_TAILS: usize = 150;
/// The same of kernels with checks, which are several times as long. Not measured: a bound on compile time.
const MOST_CHECKED: usize = 600;
/// Instructions of arithmetic for each access from which the width doubles. In kernels of one load, one store and 16, 32,
/// 64 and 128 integer operations, twice the lanes took 1.0, 0.94, 0.9 and 0.8 of the time; blackscholes of tests/kernels
/// took 0.93, bytesearch 0.42, pa_sort 0.8; sums of 32 and 128 products with different constants took 1.07 and 1.15
/// (2026-12, AMD EPYC of Zen 4, which processes a register of 64 bytes in halves; two processors). On Zen 5 (the same
/// month, with SOLUM_LANES=32) blackscholes took 0.82, bytesearch 0.43, pa_sort 0.71, bits 0.89. Kernels with scattered
/// accesses become slower: on Zen 4, hist_local took 1.3 and matvec4 2.0 of the time.
const INTENSITY: u64 = 10;
/// Instructions of the longest loop that counts as a chain: a bound on compile time. Chains of 80 and 120 instructions
/// took, in groups of 256 work-items, 0.6 and 0.5 of the time with the wider chunk, in groups of 100 0.74 and 0.7, in
/// groups of 250 1.3 (2026-11, AMD EPYC of Zen 4, two processors). Largest in 17,722 modules of dpctl and dpnp: 11; in
/// our corpora: 28.
const CHAIN: usize = 256;

/// The width by speed: two registers of 32 bytes for each 32-bit value, or for each 64-bit value where most of the values
/// that vary from lane to lane have 64 bits. A product of matrices of `f32` with indices of 64 bits takes 0.67 of the time
/// that it takes when indices with a constant step count too (2026-11, Xeon with AVX-512). The length of a kernel does not
/// count: kernels of 300 to 1400 instructions of 32 bits, with branches or gathers or without, took with 16 lanes 0.51 to
/// 0.74 of the time with 8, and with 24 values at a time 0.66 to 0.71; on x86-64-v3 0.55 to 0.65, and 0.88 to 1.04. They
/// took 1.4 to 1.7 times as long to compile (2026-12, AMD EPYC of Zen 4).
pub(crate) fn usual(input: &Input<'_>) -> u32 {
    if is_checked(input) {
        return if input.is_flat() { MOST } else { 16 };
    }
    let fast = checked::fast_only(input);
    match is_wide(input, fast.as_ref().unwrap_or(input.function)) {
        true => 8,
        false => 16,
    }
}

/// Whether most of the values that vary from lane to lane have 8 bytes. Indices with a constant step stay in scalar
/// registers.
fn is_wide(input: &Input<'_>, function: &Function) -> bool {
    let types = &input.module.types;
    let shapes = shape::shapes(input.module, function, LaneScope::Row);
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let (mut varying, mut wide) = (0, 0);
    for inst in insts.map(|inst| &function.insts[inst.index()]) {
        let is_index = matches!(
            inst.op,
            Op::WorkItem(..) | Op::Convert(..) | Op::PtrOffset { .. } | Op::Alloca { .. }
        );
        let result = inst
            .result
            .filter(|&v| !is_index && shapes.of(v) == Shape::Varying);
        let scalar = result.and_then(|result| types.scalar_of(function.ty(result)));
        let Some(scalar) = scalar.filter(|&ty| !matches!(types.get(ty), Type::Bool)) else {
            continue;
        };
        varying += 1;
        wide += usize::from(types.size_of(scalar) == 8);
    }
    wide * 2 > varying
}

/// Twice the width with mask registers, where each access is contiguous and comes with much arithmetic or in a divergent
/// loop: the instructions of two registers hide each other's latency. 32 lanes only in kernels that are short enough for
/// a tail ([`tail_widths`]); longer ones go from 8 to 16: 48 to 330 products of doubles took 0.8 to 0.56 of the time
/// (2026-12, AMD EPYC of Zen 4).
pub(crate) fn for_arithmetic(input: &Input<'_>, regions: &[Region], usual: u32) -> u32 {
    let may_double = input.module.uses(kernel_ir::Transform::WiderArithmetic)
        && input.target.has_mask_registers
        && usual < MOST
        && input.fills_rows(2 * usual)
        && input.is_flat();
    let instructions: usize = regions.iter().map(Region::instruction_count).sum();
    let needs_tail = 2 * usual == MOST && input.group_size.is_none();
    if !may_double || needs_tail && instructions > MOST_WITH_TAILS {
        return usual;
    }
    let counted = regions.iter().map(|region| intensity(input, region));
    let sum = counted.reduce(|a, b| a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)));
    match sum.flatten() {
        Some((arithmetic, accesses)) if arithmetic > 0 && arithmetic >= INTENSITY * accesses => {
            kernel_ir::mark!(WiderArithmetic);
            2 * usual
        }
        _ => usual,
    }
}

/// Arithmetic that varies from lane to lane and the accesses for it, in instructions of one work-item; a loop counts as
/// eight iterations. Accesses of private memory count as arithmetic, and so do all instructions of a loop that lanes leave
/// in different iterations. `None` if another access is not contiguous, or lanes call functions one by one.
fn intensity(input: &Input<'_>, region: &Region) -> Option<(u64, u64)> {
    let (function, types) = (&region.function, &input.module.types);
    let shapes = region.shapes.as_ref()?;
    let loops = region.loops.loops.iter().zip(0..);
    let waiting: Vec<bool> = loops
        .map(|(this, l)| {
            let mut blocks = this.blocks.iter();
            shapes.is_divergent_loop(l) && blocks.any(|&b| often_diverges(region, shapes, b))
        })
        .collect();
    let (mut arithmetic, mut accesses) = (0u64, 0u64);
    for &block in region.loops.order() {
        let iterations = region.estimated_iterations(block);
        let waits = region.loops_around(block).any(|l| waiting[l as usize]);
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let access = match &inst.op {
                Op::Load { ptr, .. } => Some((*ptr, inst.result?)),
                Op::Store { ptr, value, .. } => Some((*ptr, *value)),
                Op::Atomic { ptr, .. } if shapes.of(*ptr) == Shape::Uniform => None,
                Op::Atomic { .. }
                | Op::CopyMemory { .. }
                | Op::Call(..)
                | Op::CallIndirect(..)
                | Op::Group(..) => return None,
                op if operation_cost::calls_library(op) => return None,
                _ => None,
            };
            let mut is_counted = waits;
            if let Some((ptr, value)) = access {
                let ty = function.ty(value);
                let size = types.size_of(ty) as i64;
                match shapes.of(ptr).step() {
                    _ if is_private(types, function.ty(ptr)) => is_counted = true,
                    Some(0) => {}
                    Some(step) if types.scalar_of(ty) == Some(ty) && step == size => {
                        accesses += if waits { 0 } else { iterations };
                    }
                    _ => return None,
                }
            } else {
                let result = inst.result.map(|v| shapes.of(v));
                is_counted |= result == Some(Shape::Varying);
            }
            if is_counted {
                arithmetic += operation_cost::of_one(&inst.op) * iterations;
            }
        }
    }
    Some((arithmetic, accesses))
}

/// Whether many chunks diverge at the branch at the end of `block`. A loop over every n-th element diverges once, at its
/// end.
fn often_diverges(region: &Region, shapes: &Shapes, block: BlockId) -> bool {
    shapes.is_divergent(block) && !rarely_diverges(region, shapes, block)
}

fn is_private(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Ptr(AddressSpace::Private))
}

/// Whether the kernel has checks (`solum check`). Most of the time goes into these: a call for all lanes of a chunk, or
/// a test of all addresses of a chunk and a branch. With 32 lanes instead of 8 all checks of saxpy of tests/kernels took 0.3
/// of the time, those of transpose 0.4; those of bounds alone 0.4 and 0.2, with 16 lanes of gemm_tiled 0.2, of spmv 1.2
/// (2026-11, AMD EPYC, two processors, busy).
fn is_checked(input: &Input<'_>) -> bool {
    let function = input.function;
    let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(function.insts[inst.index()].op, Op::Check(..)))
}

/// At most as many lanes as a row has work-items, where the kernel requires a group size.
pub(crate) fn within_rows(input: &Input<'_>, usual: u32) -> u32 {
    match input.group_size {
        Some([x, ..]) if x >= 4 => usual.min(1 << x.ilog2()),
        _ => usual,
    }
}

/// The narrower widths for ends of rows. Small kernels with ids of several dimensions have 8 lanes, and 4: rows of groups
/// of 8 x 8 or 4 x 4 x 4 work-items are shorter than a chunk. Small kernels with ids of one dimension have half their
/// width if arithmetic has doubled it (`is_doubled`). A search has none: `interp` of tests/kernels takes 1.15 of the time
/// with a tail, because the constants of both copies share the registers (2026-12, AMD EPYC of Zen 4).
pub(crate) fn tail_widths(
    input: &Input<'_>,
    width: u32,
    is_doubled: bool,
    instructions: usize,
) -> Vec<u32> {
    if !input.module.uses(kernel_ir::Transform::NarrowerTails) {
        return Vec::new();
    }
    let is_checked = is_checked(input);
    if !is_checked {
        kernel_ir::reach!(MOST_WITH_TAILS, instructions);
    }
    let most = if is_checked {
        MOST_CHECKED
    } else {
        MOST_WITH_TAILS
    };
    if input.group_size.is_some() || instructions > most {
        return Vec::new();
    }
    let dimensions = ids(input.function).into_iter();
    let dimensions = dimensions.filter_map(|(builtin, dimension)| match builtin {
        Builtin::GlobalInvocationId | Builtin::LocalInvocationId | Builtin::WorkgroupId => {
            Some(dimension)
        }
        _ => None,
    });
    let half = [width / 2];
    let some: &[u32] = match dimensions.max() {
        Some(2) => &[8, 4],
        Some(1) => &[8],
        _ if is_checked => &[16, 8],
        _ if is_doubled => &half,
        _ => &[],
    };
    some.iter().copied().filter(|&few| few < width).collect()
}

/// A wider chunk where the kernel's work is a loop in which each instruction waits for the one before: independent
/// registers keep the processor busy. Only for kernels of one dimension, whose rows are long.
pub(crate) fn for_chains(input: &Input<'_>, region: &Region, usual: u32) -> u32 {
    if !input.module.uses(kernel_ir::Transform::WiderChains) {
        return usual;
    }
    let Some(shapes) = &region.shapes else {
        return usual;
    };
    let chains = region.loops.loops.iter().enumerate();
    let bytes: Vec<u64> = chains
        .filter_map(|(l, _)| chain(input, region, shapes, l as u32))
        .collect();
    let Some(&bytes) = bytes.iter().max().filter(|_| input.is_flat()) else {
        return usual;
    };
    let mut width = usual;
    while width < MOST
        && bytes * u64::from(width) * 2 <= REGISTER * REGISTERS
        && input.fills_rows(2 * width)
    {
        width *= 2;
        kernel_ir::mark!(WiderChains);
    }
    width
}

/// Bytes per lane of the varying values that loop `l` carries or takes from outside, if the loop is uniform and does
/// nothing but arithmetic; with mask registers also if it reads neighbours, and few chunks diverge. The latter take
/// 0.69 of the time with 32 lanes instead of 16 in `reduce` of tests/kernels, on x86-64-v3 1.18 (2026-12, AMD EPYC of
/// Zen 5, two processors).
fn chain(input: &Input<'_>, region: &Region, shapes: &Shapes, l: u32) -> Option<u64> {
    let (function, this) = (&region.function, &region.loops.loops[l as usize]);
    let inner = |other: &kernel_ir::passes::cfg::Loop| other.parent == Some(l);
    if region.loops.loops.iter().any(inner) {
        return None;
    }
    let types = &input.module.types;
    let varying = |v: ValueId| shapes.of(v) == Shape::Varying;
    let (mut count, mut carried, mut seen) = (0, 0, Vec::new());
    let (mut loads, mut masked) = (0, false);
    let may_read = input.target.has_mask_registers;
    for &block in &this.blocks {
        masked |= shapes.is_masked(block);
        if masked && !may_read {
            return None;
        }
        if often_diverges(region, shapes, block) {
            return None;
        }
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            count += 1;
            let plain = match &inst.op {
                Op::Phi(_) => {
                    carried += usize::from(inst.result.is_some_and(varying));
                    seen.extend(inst.result.filter(|&v| varying(v)));
                    continue;
                }
                Op::Math(math, ..) => matches!(
                    math,
                    MathFn::Fabs | MathFn::Fmax | MathFn::Fmin | MathFn::Fma | MathFn::Mad
                ),
                Op::Load {
                    ptr,
                    volatile: false,
                    ..
                } if may_read => {
                    let size = inst.result.map(|v| types.size_of(function.ty(v)) as i64);
                    loads += 1;
                    size.is_some() && shapes.of(*ptr).step() == size
                }
                Op::Load { .. } => false,
                op => op.is_pure(),
            };
            kernel_ir::reach!(CHAIN, count);
            if !plain || count > CHAIN {
                return None;
            }
            inst.op.operands(|v| {
                let home = region.block_of(v);
                let outside = home.is_some_and(|b| !region.loops.contains(l, b));
                if outside && varying(v) && !seen.contains(&v) {
                    seen.push(v);
                }
            });
        }
    }
    if masked && loads == 0 {
        return None;
    }
    let size = |v: &ValueId| types.size_of(function.ty(*v));
    (carried > 0).then(|| seen.iter().map(size).sum())
}
