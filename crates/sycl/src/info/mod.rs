//! Information descriptors: typed properties of platforms, devices, contexts, queues, events and kernels.
//!
//! Each descriptor is a type; `device.info::<info::device::Name>()` returns its [`Info::Value`]. A descriptor of
//! another class does not compile. A property that the driver does not report is `FeatureNotSupported`, never an
//! invented value.

pub mod context;
pub(crate) mod descriptor;
pub mod device;
pub mod event;
pub mod kernel;
pub mod kernel_device;
pub mod platform;
pub mod queue;

pub use descriptor::Info;
