//! Of contexts.

use super::descriptor::descriptors;
use super::device;
use crate::context::Context;
use crate::device::Device;
use crate::platform::Platform;

descriptors! { Context;
    /// Its platform.
    OfPlatform: Platform = |it| Ok(it.platform());
    /// Its devices.
    Devices: Vec<Device> = |it| Ok(it.devices());
    /// Orders of atomic operations of all its devices. Level Zero does not tell.
    AtomicMemoryOrderCapabilities: Vec<device::MemoryOrder> =
        |_it| Err(device::unanswered("orders of atomic operations"));
    /// Orders of fences of all its devices. Level Zero does not tell.
    AtomicFenceOrderCapabilities: Vec<device::MemoryOrder> = |_it| Err(device::unanswered("orders of fences"));
    /// Scopes of atomic operations of all its devices. Level Zero does not tell.
    AtomicMemoryScopeCapabilities: Vec<device::MemoryScope> =
        |_it| Err(device::unanswered("scopes of atomic operations"));
    /// Scopes of fences of all its devices. Level Zero does not tell.
    AtomicFenceScopeCapabilities: Vec<device::MemoryScope> = |_it| Err(device::unanswered("scopes of fences"));
}
