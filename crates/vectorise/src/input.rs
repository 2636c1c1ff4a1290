//! The input of a plan: one kernel, the processor, and what is known about launches.

use kernel_ir::passes::ids;
use kernel_ir::passes::shape::LaneScope;
use kernel_ir::{Builtin, Function, Module};

use crate::segments::Segments;
use crate::target::TargetInfo;

/// A kernel to be planned. The function may be another form of the kernel's own, as
/// [`vector_forms`](kernel_ir::passes::vector_forms) makes them.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The module that has the kernel's types and constants.
    pub module: &'a Module,
    /// The kernel's body.
    pub function: &'a Function,
    /// The body, cut where work-items wait; lanes in lock step ([`LaneOrder`](crate::LaneOrder)).
    pub segments: &'a Segments,
    /// Work-items of a group in each dimension, where the kernel requires a size; none of them is zero.
    pub group_size: Option<[u32; 3]>,
    /// Whether only launches count whose groups extend in dimension 0 only.
    pub one_row: bool,
    /// Lanes of a sub-group.
    pub sub_group_size: u32,
    /// The processor.
    pub target: TargetInfo,
}

impl Input<'_> {
    /// The work-items of a group, as lanes.
    pub(crate) fn group_scope(&self) -> LaneScope {
        let is_row = self.group_size.is_some_and(|size| size[1..] == [1, 1]);
        match self.one_row || is_row {
            true => LaneScope::OneRow,
            false => LaneScope::Group,
        }
    }

    /// Whether the kernel uses ids of one dimension only, so that its rows are long.
    pub(crate) fn is_flat(&self) -> bool {
        let is_local = |id| matches!(id, Builtin::GlobalInvocationId | Builtin::LocalInvocationId);
        let mut ids = ids(self.function).into_iter();
        !ids.any(|(id, dimension)| is_local(id) && dimension > 0)
    }

    /// Whether chunks of `width` lanes fill each row, as far as it is known.
    pub(crate) fn fills_rows(&self, width: u32) -> bool {
        self.group_size
            .is_none_or(|size| size[0].is_multiple_of(width))
    }
}
