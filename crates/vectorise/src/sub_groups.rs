//! How the rows of a work-group meet its sub-groups, in kernels whose lanes exchange values.
//!
//! ```text
//! rows of 32, sub-groups of 16:   a row is two whole sub-groups: a chunk is half a row, as in other kernels
//! rows of 24, sub-groups of 16:   sub-group 1 has 8 work-items of row 0 and 8 of row 1
//! ```
//!
//! A sub-group that is not part of a row runs under a mask of the lanes that exist, with a vector of ids in each
//! dimension. So do the last sub-group of a group and a chunk for which a test fails.

use kernel_ir::passes::cfg::{Cfg, Loops};
use kernel_ir::{BlockId, Builtin, Function, GroupScope, Kernel, Op, Scope};

/// The rows of a work-group for which code is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Rows of whole sub-groups only: the kernel requires a group size.
    Whole,
    /// Rows of any length, in one copy of the code under a mask: the kernel requires another group size, or is too
    /// large for two copies.
    Broken,
    /// Two copies of the code: the launch decides.
    Any,
}

/// Whether an operation needs its lanes to be those of one sub-group.
fn talks(op: &Op) -> bool {
    use Builtin as B;
    matches!(
        op,
        Op::Group(_, GroupScope::Subgroup, _)
            | Op::Barrier(Scope::Subgroup | Scope::Invocation)
            | Op::WorkItem(
                B::SubgroupId | B::SubgroupLocalInvocationId | B::SubgroupSize,
                _
            )
    )
}

/// How rows and sub-groups meet; `None` where lanes need not be those of one sub-group.
pub(crate) fn rows(kernel: &Kernel, function: &Function, sub_group_size: u32) -> Option<Rows> {
    let mut insts = function.blocks.iter().flat_map(|b| &b.insts);
    if !insts.any(|inst| talks(&function.insts[inst.index()].op)) {
        return None;
    }
    Some(match kernel.required_group_size {
        Some([x, ..]) if x.is_multiple_of(sub_group_size) => Rows::Whole,
        Some(_) => Rows::Broken,
        None => Rows::Any,
    })
}

/// Whether sub-groups exchange values in a loop without group barriers, where the kernel then spends its time.
pub(crate) fn repeats(function: &Function) -> bool {
    let has = |block: BlockId, what: fn(&Op) -> bool| {
        let mut insts = function.blocks[block.index()].insts.iter();
        insts.any(|inst| what(&function.insts[inst.index()].op))
    };
    let exchanges = |op: &Op| matches!(op, Op::Group(_, GroupScope::Subgroup, _));
    let waits = |op: &Op| matches!(op, Op::Barrier(scope) if !matches!(scope, Scope::Subgroup | Scope::Invocation));
    let loops = Loops::new(&Cfg::new(function));
    loops.loops.iter().any(|around| {
        let mut blocks = around.blocks.iter();
        blocks.any(|&block| has(block, exchanges))
            && !around.blocks.iter().any(|&block| has(block, waits))
    })
}
