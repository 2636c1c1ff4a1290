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
use kernel_ir::{Builtin, Function, GroupScope, Kernel, Op, Scope};

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

/// Whether the kernel has loops, where it then spends its time. Outside of loops one copy of the code for rows of any
/// length does contiguous accesses lane by lane.
pub(crate) fn repeats(function: &Function) -> bool {
    !Loops::new(&Cfg::new(function)).loops.is_empty()
}
