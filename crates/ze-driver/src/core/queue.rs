//! Command queues: lanes that execute closed lists in order.

use crate::check::{enumeration, error, flags, not_ready};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::list::CommandList;
use crate::core::object;
use crate::device::Priority;
use crate::dispatch;
use crate::schedule::{Command, Lane};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, Handles, Head, In, Object, OptHandle, Out, OutHandle, ZeResult};
use ze_entry::ze_entry;

/// Bits of `ze_command_queue_flags_t`.
const QUEUE_FLAGS: u32 = 0x7;

/// A queue.
#[repr(C)]
pub(crate) struct CommandQueue {
    head: Head,
    context: Arc<Context>,
    desc: QueueDesc,
    lane: Arc<Lane>,
}
object!(
    CommandQueue,
    _ze_command_queue_handle_t,
    b"ZeCq",
    "command queue"
);

/// What a queue descriptor says, checked.
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

    /// As the platform knows it.
    pub(crate) fn lane_priority(&self) -> Priority {
        match self.priority {
            ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW => Priority::Low,
            ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH => Priority::High,
            _ => Priority::Normal,
        }
    }

    /// Calls return when the work is done.
    pub(crate) fn is_synchronous(&self) -> bool {
        self.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
    }
}

/// Flags of the queue groups, by ordinal: everything, and copies alone.
pub(crate) const GROUPS: [u32; 2] = [
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE
        | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
        | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS,
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
];

/// Queues of a group: one for copies, because all share the same memory and workers.
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

impl CommandQueue {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

/// A queue; core/cmdqueue.yml. In a lost context, too, as lists are.
#[ze_entry(ze_pfnCommandQueueCreate_t)]
pub(crate) fn zeCommandQueueCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_command_queue_desc_t>,
    phCommandQueue: OutHandle<'_, _ze_command_queue_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    let desc = QueueDesc::check(&desc, "desc", &hDevice)?;
    let context = hContext.arc();
    let queue = CommandQueue {
        head: Head::new::<CommandQueue>(dispatch::tables()),
        lane: Lane::new(&context, hDevice.index(), desc.lane_priority()),
        context,
        desc,
    };
    phCommandQueue.write(Object::give(Arc::new(queue)));
    Ok(())
}

/// Ends the handle; what was submitted runs on; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueDestroy_t)]
pub(crate) fn zeCommandQueueDestroy(hCommandQueue: Handle<'_, CommandQueue>) -> ZeResult {
    drop(hCommandQueue.take());
    Ok(())
}

/// Executes closed lists, each after the one before; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueExecuteCommandLists_t)]
pub(crate) fn zeCommandQueueExecuteCommandLists(
    hCommandQueue: Handle<'_, CommandQueue>,
    phCommandLists: Handles<'_, CommandList>,
    hFence: OptHandle<'_, Fence>,
) -> ZeResult {
    hCommandQueue.context.check()?;
    if phCommandLists.get().is_empty() {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            "numCommandLists is 0, at least 1 is required",
        );
    }
    let lane = &hCommandQueue.lane;
    if let Some(fence) = hFence.0 {
        fence.check_submission(&hCommandQueue)?;
    }
    let recorded = phCommandLists
        .get()
        .iter()
        .map(|list| list.recorded(hCommandQueue.desc.ordinal, lane))
        .collect::<ZeResult<Vec<_>>>()?;
    let mut last = lane.pushed();
    for list in recorded {
        last = lane.push_list(&list);
    }
    if let Some(fence) = hFence.0 {
        // It tells of this submission from here on, whatever it told of.
        fence.signal().reset();
        last = lane.push(
            [Arc::new(
                Command::gate(Vec::new(), true)
                    .signalling(Some((Arc::clone(fence.signal()), false))),
            )],
            true,
        );
    }
    if hCommandQueue.desc.is_synchronous() {
        lane.wait(last, u64::MAX);
    }
    hCommandQueue.context.check()
}

/// Blocks until everything submitted is done or the timeout in ns; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueSynchronize_t)]
pub(crate) fn zeCommandQueueSynchronize(
    hCommandQueue: Handle<'_, CommandQueue>,
    timeout: u64,
) -> ZeResult {
    let lane = &hCommandQueue.lane;
    let met = lane.wait(lane.pushed(), timeout);
    hCommandQueue.context.check()?;
    if met { Ok(()) } else { not_ready() }
}

/// As created; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueGetOrdinal_t)]
pub(crate) fn zeCommandQueueGetOrdinal(
    hCommandQueue: Handle<'_, CommandQueue>,
    pOrdinal: Out<'_, u32>,
) -> ZeResult {
    pOrdinal.write(hCommandQueue.desc.ordinal);
    Ok(())
}

/// As created; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueGetIndex_t)]
pub(crate) fn zeCommandQueueGetIndex(
    hCommandQueue: Handle<'_, CommandQueue>,
    pIndex: Out<'_, u32>,
) -> ZeResult {
    pIndex.write(hCommandQueue.desc.index);
    Ok(())
}

/// As created; core/cmdqueue.yml (1.17).
#[ze_entry(ze_pfnCommandQueueGetFlags_t)]
pub(crate) fn zeCommandQueueGetFlags(
    hCmdQueue: Handle<'_, CommandQueue>,
    pFlags: Out<'_, ze_command_queue_flags_t>,
) -> ZeResult {
    pFlags.write(hCmdQueue.desc.flags);
    Ok(())
}

/// As created; core/cmdqueue.yml (1.17).
#[ze_entry(ze_pfnCommandQueueGetMode_t)]
pub(crate) fn zeCommandQueueGetMode(
    hCmdQueue: Handle<'_, CommandQueue>,
    pMode: Out<'_, ze_command_queue_mode_t>,
) -> ZeResult {
    pMode.write(hCmdQueue.desc.mode);
    Ok(())
}

/// As created; core/cmdqueue.yml (1.17).
#[ze_entry(ze_pfnCommandQueueGetPriority_t)]
pub(crate) fn zeCommandQueueGetPriority(
    hCmdQueue: Handle<'_, CommandQueue>,
    pPriority: Out<'_, ze_command_queue_priority_t>,
) -> ZeResult {
    pPriority.write(hCmdQueue.desc.priority);
    Ok(())
}
