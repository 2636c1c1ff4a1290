//! Unroll-and-jam: several chunks of a work-group run the same loop together.
//!
//! ```text
//! before:  for each chunk c:          for k { sum[c] += a[c][k] * b[k]; }
//! after:   for each two chunks c, d:  for k { x = b[k]; sum[c] += a[c][k] * x; sum[d] += a[d][k] * x; }
//! ```
//!
//! It applies where all work-items of a group take the same path through the region. The chunks are one each of several
//! rows, or several of one row. They load once what they share, independent sums hide each other's latency, and
//! everything stays in registers. Without it, tiled matrix products ran at a third of the speed (commit e15d95b).

use std::collections::HashSet;

use kernel_ir::index::IndexFacts;
use kernel_ir::passes::shape::{self, Given, LaneScope, Shape, Shapes};
use kernel_ir::{BlockId, Builtin, Function, Op, Type, ValueDef, ValueId};

use crate::input::Input;
use crate::region::Region;

/// Instructions of the longest region that is copied: a bound on compile time. A fifth of the regions of dpctl and dpnp
/// is longer, up to 1076 instructions (2026-11).
const INSTRUCTIONS: usize = 100;
/// Instructions of all copies together: a bound on compile time. It lowers the number of copies for a fifth of the
/// regions of dpctl and dpnp that gain, which would have up to 735 (2026-11). A product of matrices took the same with
/// 200.
const COPIES: usize = 400;
/// Chunks that run together where the group's size is not known. With 2 a convolution took 1.7 times as long; with 8,
/// on x86-64-v4, a product of matrices took 1.5 times as long, the convolution 0.92. Without unroll-and-jam they took
/// 3.2 and 1.5 times as long; a sum of forces between bodies took 0.6 of the time on x86-64-v4, the same on x86-64-v3
/// (2026-11, AMD EPYC of Zen 4, two processors).
const UNKNOWN: u32 = 4;

/// How many chunks run together. One of the two numbers is 1 where the group's size is known.
pub struct UnrollAndJam {
    /// Chunks of neighbouring rows, one each.
    pub rows: u32,
    /// Chunks of one row.
    pub chunks: u32,
    /// Branches that are tested to be uniform for all of the chunks.
    pub assumed_uniform: Vec<BlockId>,
}

/// How many of a region's chunks run together, if that is possible and gains.
pub(crate) fn unroll_and_jam(
    input: &Input<'_>,
    uniform: &HashSet<ValueId>,
    width: u32,
    region: &Region,
) -> Option<UnrollAndJam> {
    if !input.module.uses(kernel_ir::Transform::Jam) {
        return None;
    }
    let module = input.module;
    let function = &region.function;
    let rows_of = region.shapes.as_ref()?;
    kernel_ir::reach!(INSTRUCTIONS, region.instruction_count());
    if region.instruction_count() > INSTRUCTIONS || width < 4 {
        return None;
    }
    let mut weight = 0;
    for &inst in function.blocks.iter().flat_map(|b| &b.insts) {
        match &function.insts[inst.index()].op {
            Op::Atomic { .. }
            | Op::CopyMemory { .. }
            | Op::Printf(..)
            | Op::Check(..)
            | Op::Group(..)
            | Op::Call(..)
            | Op::CallIndirect(..) => {
                return None;
            }
            Op::Alloca { .. } => return None,
            _ => weight += 1,
        }
    }
    let given = |assumed: Vec<BlockId>| Given {
        values: region
            .live
            .iter()
            .map(|&v| {
                let same = uniform.contains(&v);
                (v, if same { Shape::Uniform } else { Shape::Varying })
            })
            .collect(),
        assumed_uniform: assumed,
        ..Given::default()
    };
    let group = shape::shapes_given(module, function, LaneScope::Group, &given(Vec::new()));
    let facts = IndexFacts::new(module, function);
    let mut assumed = Vec::new();
    let blocks = region.cfg.reverse_post_order();
    for &block in blocks {
        if group.is_divergent(block) {
            if !crate::versioning::can_test(&facts, region, rows_of, block) {
                return None;
            }
            assumed.push(block);
        }
    }
    let group = if assumed.is_empty() {
        group
    } else {
        shape::shapes_given(module, function, LaneScope::Group, &given(assumed.clone()))
    };
    if blocks
        .iter()
        .any(|&b| group.is_divergent(b) || group.is_masked(b))
    {
        return None;
    }
    let gain = gain(input, region, rows_of, width)?;
    kernel_ir::reach!(COPIES, weight * gain.most as usize);
    let most = (COPIES / weight.max(1)).min(gain.most as usize);
    let most = if most < 2 {
        return None;
    } else {
        1 << most.ilog2().min(3)
    };
    let (mut rows, mut row) = match input.group_size {
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
            let stops = !input.segments.stops.is_empty();
            (if stops && gain.rows { UNKNOWN } else { 1 }, UNKNOWN)
        }
    };
    let power = |n: u32| 1 << n.max(1).ilog2();
    rows = power(rows.min(most));
    row = power(row.min(most));
    if !gain.rows && (gain.row || row >= rows) {
        rows = 1;
    }
    if rows > 1 && input.group_size.is_some() {
        row = 1;
    }
    (rows > 1 || row > 1).then_some(UnrollAndJam {
        rows,
        chunks: row,
        assumed_uniform: assumed,
    })
}

/// The gain of running together.
struct Gain {
    /// Chunks whose values fit the registers.
    most: u32,
    /// Whether chunks of different rows share loads.
    rows: bool,
    /// Whether chunks of one row share loads.
    row: bool,
}

fn gain(input: &Input<'_>, region: &Region, shapes: &Shapes, width: u32) -> Option<Gain> {
    let types = &input.module.types;
    let function = &region.function;
    let by_row = depends_on_row(input.function);
    let mut found = Gain {
        most: 8,
        rows: false,
        row: false,
    };
    // The bodies of innermost loops; without loops, a region that adds to a saved sum.
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
        // Vectors that are live throughout the loop.
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
                    // Loads for single lanes outweigh all the rest.
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
                types.scalars(function.ty(v), 0, &mut leaves);
                leaves.iter().map(|&(ty, _)| types.size_of(ty)).sum::<u64>()
            })
            .sum();
        let each = (vectors + widest) * u64::from(width);
        let room = input
            .target
            .vector_bytes()
            .saturating_sub(widest * u64::from(width))
            / each.max(1);
        found.most = found.most.min(u32::try_from(room).unwrap_or(1));
    }
    (any && found.most >= 2 && (found.rows || found.row)).then_some(found)
}

/// The values that may differ from row to row of a group.
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
