//! The device object.

use crate::core::object;
use crate::device::{DeviceFacts, Platform};
use crate::dispatch;
use std::sync::Arc;
use ze_abi::Head;

/// One device; never freed.
#[repr(C)]
pub(crate) struct Device {
    head: Head,
    platform: Arc<dyn Platform>,
    index: usize,
}
object!(Device, _ze_device_handle_t, b"ZeDv", "device");

impl Device {
    /// The platform's device of that index.
    pub(crate) fn new(platform: &Arc<dyn Platform>, index: usize) -> Arc<Self> {
        Arc::new(Self {
            head: Head::new::<Self>(dispatch::tables()),
            platform: Arc::clone(platform),
            index,
        })
    }

    /// Position among the platform's devices and sub-devices.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The position of the device that owns the memory: the root for a sub-device, else itself.
    pub(crate) fn root_index(&self) -> usize {
        self.facts().sub_of.unwrap_or(self.index)
    }

    /// The platform.
    pub(crate) fn platform(&self) -> &Arc<dyn Platform> {
        &self.platform
    }

    /// The device's properties.
    pub(crate) fn facts(&self) -> &DeviceFacts {
        self.platform.devices()[self.index].facts()
    }

    /// Threads that can run at once, as the properties say.
    pub(crate) fn threads(&self) -> u32 {
        let facts = self.facts();
        [
            facts.num_subslices_per_slice,
            facts.num_eus_per_subslice,
            facts.num_threads_per_eu,
        ]
        .iter()
        .fold(facts.num_slices, |n, factor| n.saturating_mul(*factor))
    }

    /// Free bytes; the total where the platform cannot say.
    pub(crate) fn usable_memory(&self) -> u64 {
        let (facts, root) = (self.facts(), self.root_index());
        let part = facts.sub_of.map(|_| facts.sub_number);
        let free = self.platform.telemetry().and_then(|telemetry| {
            let modules = telemetry.memories(root);
            let mine = modules.iter().enumerate().filter(|(_, module)| {
                part.is_none() || module.sub_device.is_none() || module.sub_device == part
            });
            mine.map(|(at, _)| telemetry.memory_state(root, at).ok())
                .map(|state| state.map(|state| state.free))
                .reduce(|a, b| Some(a?.saturating_add(b?)))?
        });
        free.map_or(facts.total_memory, |free| free.min(facts.total_memory))
    }

    /// A time of the device clock with the valid bits of kernel timestamps.
    pub(crate) fn kernel_time(&self, ns: u64) -> u64 {
        ns & mask(self.facts().kernel_timestamp_valid_bits)
    }
}

fn mask(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}
