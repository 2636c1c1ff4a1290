//! The launch record: sizes, counts and offsets of a launch.

use kernel_ir::abi::launch_offset;

use crate::llvm::{Ir, Val};

/// The values of a launch record, loaded once per call of the kernel.
pub(crate) struct LaunchValues {
    pub(crate) size: [Val; 3],
    pub(crate) count: [Val; 3],
    pub(crate) offset: [Val; 3],
    pub(crate) items: Val,
    pub(crate) work_dim: Val,
    pub(crate) printf: Val,
    pub(crate) state_offset: Val,
}

pub(crate) fn load_launch(ir: &Ir, launch: Val) -> LaunchValues {
    let wide = |offset: u64| ir.load(ir.i64, ir.offset_by(launch, offset), 8);
    let narrow = |offset: u64| {
        let v = ir.load(ir.i32, ir.offset_by(launch, offset), 4);
        ir.zext_or_trunc(v, ir.i64)
    };
    LaunchValues {
        size: [0, 4, 8].map(|d| narrow(launch_offset::GROUP_SIZE + d)),
        count: [0, 4, 8].map(|d| narrow(launch_offset::GROUP_COUNT + d)),
        offset: [0, 8, 16].map(|d| wide(launch_offset::GLOBAL_OFFSET + d)),
        items: narrow(launch_offset::ITEMS_PER_GROUP),
        work_dim: narrow(launch_offset::WORK_DIM),
        printf: wide(launch_offset::PRINTF),
        state_offset: wide(launch_offset::STATE_OFFSET),
    }
}
