//! Descriptors of queues.

use super::descriptor::{Info, descriptors};
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;
use crate::queue::Queue;

descriptors! { Queue;
    /// The context.
    OfContext: Context = |it| Ok(it.context());
    /// The device.
    OfDevice: Device = |it| Ok(it.device());
    /// Whether commands run in submission order.
    InOrder: bool = |it| Ok(it.is_in_order());
    /// The index of the device's compute engine, if one was requested.
    ComputeIndex: Option<u32> = |it| Ok(it.props().compute_index);
    /// The priority.
    Priority: crate::Priority = |it| Ok(it.props().priority.unwrap_or(crate::Priority::Normal));
}

impl Queue {
    /// Returns a property.
    ///
    /// # Errors
    /// See the descriptor.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }
}
