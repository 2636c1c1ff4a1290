//! Queue groups, and the descriptors of queues.

use crate::check::{enumeration, error, flags};
use crate::core::device::Device;
use crate::device::Priority;
use level_zero_sys::*;
use ze_abi::ZeResult;

/// Bits of `ze_command_queue_flags_t`.
const QUEUE_FLAGS: u32 = 0x7;

/// A checked queue descriptor.
#[derive(Clone, Copy)]
pub(crate) struct QueueDesc {
    /// Queue group.
    pub(crate) ordinal: u32,
    /// Queue in the group.
    pub(crate) index: u32,
    /// `ze_command_queue_flags_t`.
    pub(crate) flags: u32,
    /// Mode.
    pub(crate) mode: ze_command_queue_mode_t,
    /// Priority.
    pub(crate) priority: ze_command_queue_priority_t,
}

impl QueueDesc {
    /// Checks a descriptor; core/cmdqueue.yml.
    pub(crate) fn check(
        desc: &ze_command_queue_desc_t,
        name: &str,
        device: &Device,
    ) -> ZeResult<Self> {
        flags(&format!("{name}->flags"), desc.flags, QUEUE_FLAGS)?;
        enumeration(
            &format!("{name}->mode"),
            desc.mode.0,
            ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS.0,
        )?;
        enumeration(
            &format!("{name}->priority"),
            desc.priority.0,
            ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH.0,
        )?;
        check_ordinal(&format!("{name}->ordinal"), desc.ordinal)?;
        let count = queues_of(device, desc.ordinal);
        if desc.index >= count {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "{name}->index is {}, the group has {count} queues: less is required",
                    desc.index
                ),
            );
        }
        Ok(Self {
            ordinal: desc.ordinal,
            index: desc.index,
            flags: desc.flags,
            mode: desc.mode,
            priority: desc.priority,
        })
    }

    /// The platform's priority.
    pub(crate) fn lane_priority(&self) -> Priority {
        match self.priority {
            ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW => Priority::Low,
            ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH => Priority::High,
            _ => Priority::Normal,
        }
    }

    /// Whether calls return only when the work is done.
    pub(crate) fn is_synchronous(&self) -> bool {
        self.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
    }
}

/// Flags of the queue groups by ordinal: one for all commands, one for copies.
pub(crate) const GROUPS: [u32; 2] = [
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE
        | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
        | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS,
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
];

/// Number of queues in a group; one for copies, because all queues share memory and workers.
pub(crate) fn queues_of(device: &Device, ordinal: u32) -> u32 {
    match ordinal {
        0 => device.facts().queue_count,
        _ => 1,
    }
}

/// INVALID_ARGUMENT unless the queue group exists.
pub(crate) fn check_ordinal(name: &str, ordinal: u32) -> ZeResult {
    if (ordinal as usize) < GROUPS.len() {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!(
            "{name} is {ordinal}, the device has {} queue groups: less is required",
            GROUPS.len()
        ),
    )
}
