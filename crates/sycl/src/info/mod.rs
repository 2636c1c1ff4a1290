//! Information descriptors: typed questions to platforms, devices, contexts, queues, events and kernels.
//!
//! Each is a type; `device.info::<info::device::Name>()` answers its [`Info::Value`], and a question to an object of
//! another class does not compile. What the driver does not answer is `FeatureNotSupported`, never a made-up value.

pub mod context;
pub(crate) mod descriptor;
pub mod device;
pub mod event;
pub mod kernel;
pub mod kernel_device;
pub mod platform;
pub mod queue;

pub use descriptor::Info;
