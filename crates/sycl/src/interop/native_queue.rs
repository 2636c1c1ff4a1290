//! The handle that a queue appends to.

use level_zero::sys::*;

use crate::engine::command_lane::NativeLane;

/// The handle that a queue appends to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeQueue {
    /// A command queue, which executes lists.
    CommandQueue(ze_command_queue_handle_t),
    /// An immediate command list.
    ImmediateList(ze_command_list_handle_t),
}

impl NativeQueue {
    /// Returns the command queue, as versions 1 to 3 of the extension did.
    #[must_use]
    pub fn command_queue(self) -> Option<ze_command_queue_handle_t> {
        match self {
            Self::CommandQueue(queue) => Some(queue),
            Self::ImmediateList(_) => None,
        }
    }

    pub(super) fn is_null(self) -> bool {
        match self {
            Self::CommandQueue(queue) => queue.is_null(),
            Self::ImmediateList(list) => list.is_null(),
        }
    }

    pub(super) fn lane(self) -> NativeLane {
        match self {
            Self::CommandQueue(queue) => NativeLane::Queue(queue),
            Self::ImmediateList(list) => NativeLane::List(list),
        }
    }
}

impl From<NativeLane> for NativeQueue {
    fn from(lane: NativeLane) -> Self {
        match lane {
            NativeLane::Queue(queue) => Self::CommandQueue(queue),
            NativeLane::List(list) => Self::ImmediateList(list),
        }
    }
}
