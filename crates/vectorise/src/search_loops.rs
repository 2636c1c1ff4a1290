//! Search loops: the value loaded in one iteration decides the address loaded in the next.
//!
//! ```text
//! while (low < high) {                        // a binary search; a walk along a list is another
//!     middle = (low + high) / 2;
//!     if (a[middle] < key) low = middle + 1; else high = middle;
//! }
//! ```
//!
//! Each iteration waits for the one before: a load, a comparison and a select. More lanes take almost the same time.

use kernel_ir::passes::shape::Shapes;
use kernel_ir::{Op, Terminator, ValueId};

use crate::input::Input;
use crate::region::Region;

/// Lanes of kernels with search loops, and with mask registers. Chosen for dpnp's merges (sort, searchsorted, histogram's
/// edges; commit c04889b). With mask registers, 32 lanes take 0.6 of the time of 16 in the merges of an argsort of
/// doubles, and 0.7 in its sort inside a work-group, which has barriers and 826 instructions (2026-12, AMD EPYC of Zen 5,
/// two processors).
const LANES: u32 = 16;
const MOST: u32 = 32;
/// Instructions of the longest kernel that is widened: a bound on compile time. Of 1768 plans with search loops for dpctl
/// and dpnp, 32 exceed it, with up to 2054 (2026-11). The gain is general: without wider chunks a binary search, an
/// interpolation in a table and a walk along a linked list, all with 64-bit indices, took 1.2 to 1.3 times as long on
/// x86-64-v3 and 1.6 to 1.9 times on x86-64-v4, a search tree with 32-bit indices 1.0 and 1.4 times (2026-11, AMD EPYC
/// of Zen 4, two processors).
const LONG: usize = 1500;

/// The dependences of a value of a loop: on the previous iteration, and a value loaded from an address that depends on it.
const PREVIOUS: u8 = 1;
const FOUND: u8 = 2;

/// The width of a kernel with search loops. Wider only for kernels of one dimension, whose rows are long.
pub(crate) fn wider(input: &Input<'_>, regions: &[Region], usual: u32) -> u32 {
    if !input.module.uses(kernel_ir::Transform::WiderSearches) {
        return usual;
    }
    let instructions: usize = regions.iter().map(Region::instruction_count).sum();
    if !regions.iter().any(searches) {
        return usual;
    }
    kernel_ir::reach!(LONG, instructions);
    if instructions > LONG {
        return usual;
    }
    let is_flat = input.is_flat();
    let many = input.target.has_mask_registers && input.fills_rows(MOST);
    kernel_ir::mark!(WiderSearch, is_flat && (many || input.fills_rows(LANES)));
    match is_flat {
        true if many => MOST,
        true if input.fills_rows(LANES) => usual.max(LANES),
        _ => usual,
    }
}

/// Whether the region has a search loop.
fn searches(region: &Region) -> bool {
    let Some(shapes) = &region.shapes else {
        return false;
    };
    (0..region.loops.loops.len() as u32).any(|l| is_search(region, shapes, l))
}

/// Whether `l` is an innermost loop that searches.
pub(crate) fn is_search(region: &Region, shapes: &Shapes, l: u32) -> bool {
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

/// The values of loop `l` that depend on `phi` of its header, and how.
fn made_of(region: &Region, shapes: &Shapes, l: u32, phi: ValueId) -> Vec<(ValueId, u8)> {
    let function = &region.function;
    let this = &region.loops.loops[l as usize];
    let mut made = vec![(phi, PREVIOUS)];
    let of = |made: &[(ValueId, u8)], v: ValueId| {
        let known = made.iter().find(|known| known.0 == v);
        known.map_or(0, |known| known.1)
    };
    // Phis behind a branch depend on its condition.
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
                Op::Load { ptr, .. } if from & PREVIOUS != 0 => {
                    from = if shapes.of(*ptr).step().is_none() {
                        PREVIOUS | FOUND
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
