//! Descriptors of contexts.

use super::descriptor::descriptors;
use super::device;
use crate::context::Context;
use crate::device::Device;
use crate::platform::Platform;

descriptors! { Context;
    /// The platform.
    OfPlatform: Platform = |it| Ok(it.platform());
    /// The devices.
    Devices: Vec<Device> = |it| Ok(it.devices());
    /// Memory orders of atomic operations on all devices. Not reported by Level Zero.
    AtomicMemoryOrderCapabilities: Vec<device::MemoryOrder> =
        |_it| Err(device::unanswered("orders of atomic operations"));
    /// Memory orders of fences on all devices. Not reported by Level Zero.
    AtomicFenceOrderCapabilities: Vec<device::MemoryOrder> = |_it| Err(device::unanswered("orders of fences"));
    /// Memory scopes of atomic operations on all devices. Not reported by Level Zero.
    AtomicMemoryScopeCapabilities: Vec<device::MemoryScope> =
        |_it| Err(device::unanswered("scopes of atomic operations"));
    /// Memory scopes of fences on all devices. Not reported by Level Zero.
    AtomicFenceScopeCapabilities: Vec<device::MemoryScope> = |_it| Err(device::unanswered("scopes of fences"));
}
