//! Blocks that all work-items of a group execute, the same number of times: where they cannot miss each other at a barrier.
//!
//! Values from memory count as different in each work-item, whatever their address: a race may make them so.

use crate::ir::{Function, Module, ValueDef, ValueId};
use crate::passes::shape::{Given, LaneScope, Shape, shapes_given};
use crate::types::Type;

/// By block, whether it is one of them.
pub(super) fn convergent_blocks(module: &Module, f: &Function) -> Vec<bool> {
    let values = (0..f.values.len() as u32).map(ValueId);
    let from_outside = values.filter(|&v| {
        let def = &f.values[v.index()].def;
        matches!(def, ValueDef::Param(_) | ValueDef::Global(_))
            && matches!(module.types.get(f.ty(v)), Type::Ptr(_))
    });
    let given = Given {
        values: from_outside.map(|v| (v, Shape::Varying)).collect(),
        ..Given::default()
    };
    let shapes = shapes_given(module, f, LaneScope::Group, &given);
    let blocks = (0..f.blocks.len() as u32).map(crate::ir::BlockId);
    blocks.map(|block| !shapes.is_masked(block)).collect()
}
