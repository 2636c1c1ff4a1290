//! The buffers that a command group uses.

use std::sync::Arc;

use smallvec::SmallVec;
use sycl_graph::Access;

use crate::storage::BufferCore;

/// How a group uses one buffer.
pub(crate) struct Use {
    pub(crate) core: Arc<BufferCore>,
    /// Accesses on the queue's device; `None` without such an accessor.
    pub(crate) device: Option<SmallVec<[Access; 2]>>,
    /// Accesses of host tasks.
    pub(crate) host: Vec<Access>,
}

/// The buffers of one group, by their numbers.
pub(crate) type Uses = SmallVec<[Use; 4]>;

impl Use {
    /// All accesses, as two lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &[Access]> {
        let device = self.device.iter().map(SmallVec::as_slice);
        device.chain([self.host.as_slice()])
    }
}
