//! Entry points of command queues.

use crate::check::{error, not_ready};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::list::CommandList;
use crate::core::list_entries::give_up;
use crate::core::queue::CommandQueue;
use crate::core::queue_desc::QueueDesc;
use crate::dispatch;
use crate::schedule::{Command, CommandLane};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, Handles, Head, In, Object, OptHandle, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// A queue, also in a lost context (`crate::leniency`); core/cmdqueue.yml.
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
        lane: CommandLane::new(&context, hDevice.index(), desc.lane_priority()),
        context,
        desc,
    };
    phCommandQueue.write(Object::give(Arc::new(queue)));
    Ok(())
}

/// Destroys the handle; submitted work continues; core/cmdqueue.yml.
#[ze_entry(ze_pfnCommandQueueDestroy_t)]
pub(crate) fn zeCommandQueueDestroy(hCommandQueue: Handle<'_, CommandQueue>) -> ZeResult {
    let queue = hCommandQueue.handle().addr();
    give_up(&hCommandQueue.lane, queue);
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
        .map(|list| list.executable(hCommandQueue.desc.ordinal, lane))
        .collect::<ZeResult<Vec<_>>>()?;
    let mut last = lane.pushed();
    for list in recorded {
        last = lane.push_list(&list);
    }
    if let Some(fence) = hFence.0 {
        // From here on the fence is for this submission.
        fence.signal().reset();
        last = lane.push(
            [Arc::new(
                Command::empty(Vec::new(), true)
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

/// Blocks until all submitted work is done or the timeout in ns; core/cmdqueue.yml.
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
