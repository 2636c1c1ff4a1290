//! The operations at which work-items meet.

use crate::ir::{Builtin, GroupOp, GroupScope, Op, Scope};

/// Whether all work-items of the group meet here.
pub(super) fn is_group_stop(op: &Op) -> bool {
    match op {
        Op::Barrier(scope) => *scope == Scope::Workgroup,
        Op::Group(op, GroupScope::Workgroup, _) => *op != GroupOp::Elect,
        _ => false,
    }
}

/// Whether the kernel looks at its sub-group.
pub(super) fn asks_for_sub_groups(op: &Op) -> bool {
    matches!(
        op,
        Op::WorkItem(
            Builtin::SubgroupSize
                | Builtin::SubgroupMaxSize
                | Builtin::SubgroupId
                | Builtin::NumSubgroups
                | Builtin::NumEnqueuedSubgroups
                | Builtin::SubgroupLocalInvocationId,
            _
        )
    )
}

/// Whether the work-items of a sub-group meet here.
pub(super) fn is_sub_group_stop(op: &Op) -> bool {
    matches!(
        op,
        Op::Barrier(Scope::Subgroup) | Op::Group(_, GroupScope::Subgroup, _)
    )
}
