//! Loops that search: what is loaded decides where the next turn loads from, as in a binary search or along a list.
//!
//! A turn then waits for the one before: a load, a comparison and a choice, one after the other. More lanes are done in
//! almost the same time.

use kernel_ir::passes::ids;
use kernel_ir::passes::shape::Shapes;
use kernel_ir::{Builtin, Op, Terminator, ValueId};

use crate::input::Input;
use crate::region::Region;

/// Lanes of loops that search; of small kernels, where there are registers enough for them.
const LANES: u32 = 16;
const MOST: u32 = 32;
/// Instructions up to which a kernel is worth the compile time of so many lanes.
const LONG: usize = 1500;
const SMALL: usize = 400;

/// What a value in a loop is made of: the turn before, and what is loaded from where that leads.
const TURN: u8 = 1;
const FOUND: u8 = 2;

/// More lanes for kernels that search. Only for those of one dimension, whose rows are long.
pub(crate) fn wider(input: &Input<'_>, regions: &[Region], usual: u32) -> u32 {
    if !input.module.uses(kernel_ir::Transform::WiderSearches) {
        return usual;
    }
    let instructions: usize = regions.iter().map(Region::instruction_count).sum();
    if instructions > LONG || !regions.iter().any(searches) {
        return usual;
    }
    let is_local = |id| matches!(id, Builtin::GlobalInvocationId | Builtin::LocalInvocationId);
    let is_flat = !ids(input.function)
        .into_iter()
        .any(|(id, dimension)| is_local(id) && dimension > 0);
    let row = input.group_size.map(|size| size[0]);
    let fills = |lanes: u32| row.is_none_or(|row| row.is_multiple_of(lanes));
    // Short rows are joined where no work-item waits for others.
    let many = input.segments.stops.is_empty()
        && instructions <= SMALL
        && input.target.has_mask_registers
        && fills(MOST);
    kernel_ir::mark!(WiderSearch, is_flat && (many || fills(LANES)));
    match is_flat {
        true if many => MOST,
        true if fills(LANES) => usual.max(LANES),
        _ => usual,
    }
}

/// Whether there is a loop in it that searches.
fn searches(region: &Region) -> bool {
    let Some(shapes) = &region.shapes else {
        return false;
    };
    (0..region.loops.loops.len() as u32).any(|l| is_search(region, shapes, l))
}

/// Whether loop `l`, an innermost one, is such.
fn is_search(region: &Region, shapes: &Shapes, l: u32) -> bool {
    let function = &region.function;
    let this = &region.loops.loops[l as usize];
    if region
        .loops
        .loops
        .iter()
        .any(|other| other.parent == Some(l))
    {
        return false;
    }
    let phis = function.blocks[this.header.index()].insts.iter();
    let phis = phis.filter_map(|inst| {
        let inst = &function.insts[inst.index()];
        match (&inst.op, inst.result) {
            (Op::Phi(from), Some(result)) if shapes.of(result).step().is_none() => {
                Some((result, from))
            }
            _ => None,
        }
    });
    phis.into_iter().any(|(phi, from)| {
        let made = made_of(region, shapes, l, phi);
        let mut next = from
            .iter()
            .filter(|(block, _)| region.loops.contains(l, *block));
        next.any(|&(_, v)| {
            made.iter()
                .any(|&(known, of)| known == v && of & FOUND != 0)
        })
    })
}

/// What each value of loop `l` is made of, that is made of its header's `phi`.
fn made_of(region: &Region, shapes: &Shapes, l: u32, phi: ValueId) -> Vec<(ValueId, u8)> {
    let function = &region.function;
    let this = &region.loops.loops[l as usize];
    let mut made = vec![(phi, TURN)];
    let of = |made: &[(ValueId, u8)], v: ValueId| {
        let known = made.iter().find(|known| known.0 == v);
        known.map_or(0, |known| known.1)
    };
    // What branches inside of the loop hang on decides what their ways bring together.
    let mut ways = 0;
    for &block in &this.blocks {
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let Some(result) = inst.result.filter(|&v| v != phi) else {
                continue;
            };
            let mut from = 0;
            inst.op.operands(|v| from |= of(&made, v));
            match &inst.op {
                Op::Phi(_) if block == this.header => from = 0,
                Op::Phi(_) => from |= ways,
                Op::Load { ptr, .. } if from & TURN != 0 => {
                    from = if shapes.of(*ptr).step().is_none() {
                        TURN | FOUND
                    } else {
                        0
                    };
                }
                _ => {}
            }
            if from != 0 {
                made.push((result, from));
            }
        }
        match &function.blocks[block.index()].term {
            Terminator::CondBr { cond: on, .. } | Terminator::Switch { value: on, .. } => {
                ways |= of(&made, *on) & FOUND;
            }
            _ => {}
        }
    }
    made
}
