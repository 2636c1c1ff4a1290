//! Unified shared memory: typed blocks that are freed on drop, SYCL's raw functions, and queue operations on pointers.

pub(crate) mod block;
pub(crate) mod pointer;
mod queue;

pub use block::{Block, DeviceKind, HostKind, HostVisible, Kind, SharedKind, free, malloc};
pub use pointer::{PointerType, pointer_device, pointer_type};
pub use queue::Pitched;
