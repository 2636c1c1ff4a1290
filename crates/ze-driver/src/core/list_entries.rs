//! Entry points of command lists, without the appends.

use crate::check::{error, flags, not_ready, refuse_parameters};
use crate::core::capture::unsupported;
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::device::Device;
use crate::core::event::Event;
use crate::core::immediate_list::ImmediateList;
use crate::core::list::{CommandList, Kind};
use crate::core::queue_desc::{QueueDesc, check_ordinal};
use crate::core::recorded_list::RecordedList;
use crate::dispatch;
use crate::schedule::{Command, CommandLane};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Chain, Handle, Handles, Head, In, Object, OptHandle, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Bits of `ze_command_list_flags_t`.
const LIST_FLAGS: u32 = 0x3f;

fn is_mutable(next: *const std::ffi::c_void) -> bool {
    // SAFETY: the caller's chain of descriptors, valid for the call.
    unsafe { Chain::new(next) }
        .any(|link| link.stype == ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC)
}

/// A list to be recorded, also in a lost context (`crate::leniency`); chain: a mutable list; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListCreate_t)]
pub(crate) fn zeCommandListCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_command_list_desc_t>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    flags("desc->flags", desc.flags, LIST_FLAGS)?;
    check_ordinal(
        "desc->commandQueueGroupOrdinal",
        desc.commandQueueGroupOrdinal,
    )?;
    let list = CommandList {
        head: Head::new::<CommandList>(dispatch::tables()),
        context: hContext.arc(),
        device: hDevice.arc(),
        in_order: desc.flags & ZE_COMMAND_LIST_FLAG_IN_ORDER != 0,
        kind: Kind::Recorded(RecordedList::new(
            desc.commandQueueGroupOrdinal,
            desc.flags,
            is_mutable(desc.pNext),
        )),
    };
    phCommandList.write(Object::give(Arc::new(list)));
    Ok(())
}

/// A list that executes commands when they are appended; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListCreateImmediate_t)]
pub(crate) fn zeCommandListCreateImmediate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    altdesc: In<'_, ze_command_queue_desc_t>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    let desc = QueueDesc::check(&altdesc, "altdesc", &hDevice)?;
    let context = hContext.arc();
    let list = CommandList {
        head: Head::new::<CommandList>(dispatch::tables()),
        device: hDevice.arc(),
        in_order: desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER != 0,
        kind: Kind::Immediate(ImmediateList::new(
            desc,
            CommandLane::new(&context, hDevice.index(), desc.lane_priority()),
        )),
        context,
    };
    phCommandList.write(Object::give(Arc::new(list)));
    Ok(())
}

/// The program destroys the list or queue of a lane, whose handle has that address.
pub(super) fn give_up(lane: &CommandLane, handle: usize) {
    let context = lane.context();
    if !context.is_lost() {
        let last = lane.position(lane.pushed());
        context.platform().gives_up(handle, last);
    }
}

/// Destroys the handle; submitted work continues; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListDestroy_t)]
pub(crate) fn zeCommandListDestroy(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    if let Kind::Immediate(list) = &hCommandList.kind {
        list.forget(hCommandList.handle().addr());
        give_up(&list.lane, hCommandList.handle().addr());
    }
    drop(hCommandList.take());
    Ok(())
}

/// Ends recording; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListClose_t)]
pub(crate) fn zeCommandListClose(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    hCommandList.context.check()?;
    if let Kind::Recorded(list) = &hCommandList.kind {
        list.close();
    }
    Ok(())
}

/// Empties a list for new recording; running executions keep their commands; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListReset_t)]
pub(crate) fn zeCommandListReset(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    hCommandList.context.check()?;
    if let Kind::Recorded(list) = &hCommandList.kind {
        list.reset();
    }
    Ok(())
}

/// Blocks until an immediate list's commands are done or the timeout in ns; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListHostSynchronize_t)]
pub(crate) fn zeCommandListHostSynchronize(
    hCommandList: Handle<'_, CommandList>,
    timeout: u64,
) -> ZeResult {
    let list = hCommandList.immediate()?;
    if list.capture_slot().is_some() {
        return Err(unsupported(
            "hCommandList is in graph capture mode: its commands are recorded, there is nothing to wait for",
        ));
    }
    let met = list.lane.wait(list.lane.pushed(), timeout);
    hCommandList.context.check()?;
    if met { Ok(()) } else { not_ready() }
}

/// Executes closed lists on an immediate one; core/immediateCommandListAppend.yml.
#[ze_entry(ze_pfnCommandListImmediateAppendCommandListsExp_t)]
pub(crate) fn zeCommandListImmediateAppendCommandListsExp(
    hCommandListImmediate: Handle<'_, CommandList>,
    phCommandLists: Handles<'_, CommandList>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    append_lists(
        &hCommandListImmediate,
        phCommandLists.get(),
        &Dependencies::new(&hSignalEvent, &phWaitEvents),
    )
}

/// As the experimental one; no parameters are supported; core/immediateCommandListAppend.yml (1.16).
#[ze_entry(ze_pfnCommandListImmediateAppendCommandListsWithParameters_t)]
pub(crate) fn zeCommandListImmediateAppendCommandListsWithParameters(
    hCommandListImmediate: Handle<'_, CommandList>,
    phCommandLists: Handles<'_, CommandList>,
    pNext: *const std::ffi::c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    refuse_parameters(pNext)?;
    append_lists(
        &hCommandListImmediate,
        phCommandLists.get(),
        &Dependencies::new(&hSignalEvent, &phWaitEvents),
    )
}

fn append_lists(
    list: &CommandList,
    lists: &[&CommandList],
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    let immediate = list.immediate()?;
    if lists.is_empty() {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            "numCommandLists is 0, at least 1 is required",
        );
    }
    list.context.check()?;
    let recorded = lists
        .iter()
        .map(|list| list.executable(immediate.desc.ordinal, &immediate.lane))
        .collect::<ZeResult<Vec<_>>>()?;
    if let Some(slot) = immediate.capture_slot_for(dependencies)? {
        let mut all = vec![Command::empty(Vec::new(), true)];
        for list in recorded {
            all.extend(list.commands.iter().map(|command| command.copy()));
            all.push(Command::empty(Vec::new(), true));
        }
        return slot.record(all.into_iter(), dependencies);
    }
    let waits = dependencies.waits.iter().map(|event| event.waited());
    let mut all = vec![Arc::new(Command::empty(waits.collect(), true))];
    for list in recorded {
        all.extend(list.commands.iter().cloned());
        all.push(Arc::new(Command::empty(Vec::new(), true)));
    }
    let signal = dependencies.signal.map(Event::signalled);
    all.push(Arc::new(
        Command::empty(Vec::new(), true).signalling(signal),
    ));
    immediate.submit(all)?;
    list.context.check()
}

/// The device; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetDeviceHandle_t)]
pub(crate) fn zeCommandListGetDeviceHandle(
    hCommandList: Handle<'_, CommandList>,
    phDevice: OutHandle<'_, _ze_device_handle_t>,
) -> ZeResult {
    phDevice.write(hCommandList.device.handle());
    Ok(())
}

/// The context; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetContextHandle_t)]
pub(crate) fn zeCommandListGetContextHandle(
    hCommandList: Handle<'_, CommandList>,
    phContext: OutHandle<'_, _ze_context_handle_t>,
) -> ZeResult {
    phContext.write(hCommandList.context.handle());
    Ok(())
}

/// The queue group; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetOrdinal_t)]
pub(crate) fn zeCommandListGetOrdinal(
    hCommandList: Handle<'_, CommandList>,
    pOrdinal: Out<'_, u32>,
) -> ZeResult {
    pOrdinal.write(hCommandList.ordinal());
    Ok(())
}

/// As created; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListImmediateGetIndex_t)]
pub(crate) fn zeCommandListImmediateGetIndex(
    hCommandListImmediate: Handle<'_, CommandList>,
    pIndex: Out<'_, u32>,
) -> ZeResult {
    pIndex.write(hCommandListImmediate.immediate()?.desc.index);
    Ok(())
}

/// Recorded or immediate; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListIsImmediate_t)]
pub(crate) fn zeCommandListIsImmediate(
    hCommandList: Handle<'_, CommandList>,
    pIsImmediate: Out<'_, ze_bool_t>,
) -> ZeResult {
    pIsImmediate.write(u8::from(hCommandList.immediate().is_ok()));
    Ok(())
}

/// As created; of an immediate list the in-order and copy-offload bits; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListGetFlags_t)]
pub(crate) fn zeCommandListGetFlags(
    hCommandList: Handle<'_, CommandList>,
    pFlags: Out<'_, ze_command_list_flags_t>,
) -> ZeResult {
    pFlags.write(match &hCommandList.kind {
        Kind::Recorded(list) => list.flags,
        Kind::Immediate(immediate) => [
            (
                ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY,
                ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY,
            ),
            (
                ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                ZE_COMMAND_LIST_FLAG_IN_ORDER,
            ),
            (
                ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
                ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT,
            ),
        ]
        .iter()
        .filter(|(queue, _)| immediate.desc.flags & queue != 0)
        .fold(0, |all, (_, list)| all | list),
    });
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetFlags_t)]
pub(crate) fn zeCommandListImmediateGetFlags(
    hCommandList: Handle<'_, CommandList>,
    pFlags: Out<'_, ze_command_queue_flags_t>,
) -> ZeResult {
    pFlags.write(hCommandList.immediate()?.desc.flags);
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetMode_t)]
pub(crate) fn zeCommandListImmediateGetMode(
    hCommandList: Handle<'_, CommandList>,
    pMode: Out<'_, ze_command_queue_mode_t>,
) -> ZeResult {
    pMode.write(hCommandList.immediate()?.desc.mode);
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetPriority_t)]
pub(crate) fn zeCommandListImmediateGetPriority(
    hCommandList: Handle<'_, CommandList>,
    pPriority: Out<'_, ze_command_queue_priority_t>,
) -> ZeResult {
    pPriority.write(hCommandList.immediate()?.desc.priority);
    Ok(())
}
