//! The command queue object: a lane that executes closed lists in order.

use crate::core::context::Context;
use crate::core::object;
use crate::core::queue_desc::QueueDesc;
use crate::schedule::CommandLane;
use std::sync::Arc;
use ze_abi::Head;

/// A queue.
#[repr(C)]
pub(crate) struct CommandQueue {
    pub(super) head: Head,
    pub(super) context: Arc<Context>,
    pub(super) desc: QueueDesc,
    pub(super) lane: Arc<CommandLane>,
}
object!(
    CommandQueue,
    _ze_command_queue_handle_t,
    b"ZeCq",
    "command queue"
);

impl CommandQueue {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
}
