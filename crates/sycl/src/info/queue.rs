//! Of queues.

use super::descriptor::{Info, descriptors};
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;
use crate::queue::Queue;

descriptors! { Queue;
    /// Its context.
    OfContext: Context = |it| Ok(it.context());
    /// Its device.
    OfDevice: Device = |it| Ok(it.device());
    /// Whether commands run in the order of submission.
    InOrder: bool = |it| Ok(it.is_in_order());
    /// Which of the device's compute engines, when one was asked for.
    ComputeIndex: Option<u32> = |it| Ok(it.props().compute_index);
    /// How urgent it is.
    Priority: crate::Priority = |it| Ok(it.props().priority.unwrap_or(crate::Priority::Normal));
}

impl Queue {
    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }
}
