//! Mutable command lists: commands that change after they were recorded.
//!
//! A change replaces the command; running executions keep the old one. So cloned or running lists never see half a change.

use crate::check::{error, flags, not_null};
use crate::core::event::Event;
use crate::core::kernel::{Kernel, check_group_size, write_argument};
use crate::core::launch::{check_argument, check_groups, check_local, follow_nulls, kept, launch};
use crate::core::list::CommandList;
use crate::core::module::built_late;
use crate::core::mutable_commands::{MutableCommands, Slot};
use crate::core::recorded_list::Recording;
use crate::device::{GroupCount, Launch, Work};
use crate::schedule::{Command, Op};
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use ze_abi::{Chain, Handle, Handles, In, Object, OptHandle, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Supported changes: all but graph arguments.
pub(crate) const MUTABLE_FLAGS: u32 = 0x7f;

/// Runs `change` on a mutable list, which must be closed again before it is executed.
fn with<T>(
    list: &CommandList,
    change: impl FnOnce(&mut Recording, &mut MutableCommands) -> ZeResult<T>,
) -> ZeResult<T> {
    list.context().check()?;
    list.change(|recording| {
        // Taken out, because `change` needs both mutably.
        let Some(mut mutable) = recording.mutable.take() else {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList was created without ze_mutable_command_list_exp_desc_t",
            );
        };
        let result = change(recording, &mut mutable);
        recording.mutable = Some(mutable);
        result
    })
}

/// The new commands of a change, which replace the list's own when all are known to be valid.
struct Change<'a> {
    recording: &'a mut Recording,
    /// By their position in the list.
    commands: BTreeMap<usize, Command>,
}

impl<'a> Change<'a> {
    fn of(recording: &'a mut Recording) -> Self {
        Self {
            recording,
            commands: BTreeMap::new(),
        }
    }

    /// Changes one command.
    fn one(
        recording: &'a mut Recording,
        index: usize,
        edit: impl FnOnce(&mut Command),
    ) -> ZeResult {
        let mut change = Self::of(recording);
        edit(change.command(index)?);
        change.commit();
        Ok(())
    }

    fn command(&mut self, index: usize) -> ZeResult<&mut Command> {
        Ok(match self.commands.entry(index) {
            Entry::Occupied(changed) => changed.into_mut(),
            Entry::Vacant(place) => match self.recording.commands.get(index) {
                Some(command) => place.insert(command.copy()),
                None => {
                    return error(
                        ZE_RESULT_ERROR_UNKNOWN,
                        "a command of the list is missing: this is a bug in the driver",
                    );
                }
            },
        })
    }

    fn launch(&mut self, index: usize) -> ZeResult<&mut Launch> {
        match &mut self.command(index)?.op {
            Op::Work(Work::Launch(launch)) => Ok(launch),
            _ => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "the command launches no kernel",
            ),
        }
    }

    /// Replaces the list's commands.
    fn commit(self) {
        if self.commands.is_empty() {
            return;
        }
        for (index, command) in self.commands {
            self.recording.commands[index] = Arc::new(command);
        }
        self.recording.reopen();
    }
}

fn next_id(list: &CommandList, wanted: u32, kernels: Vec<Arc<Kernel>>) -> ZeResult<u64> {
    flags("desc->flags", wanted, MUTABLE_FLAGS)?;
    let flags = match wanted {
        0 => MUTABLE_FLAGS & !ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION,
        some => some,
    };
    with(list, |recording, mutable| {
        if recording.is_closed() {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is closed: no command follows",
            );
        }
        mutable.last += 1;
        let slot = Slot {
            flags,
            kernels,
            ..Slot::default()
        };
        mutable.next = Some((mutable.last, slot));
        Ok(mutable.last)
    })
}

/// An identifier for the next append; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListGetNextCommandIdExp_t)]
pub(crate) fn zeCommandListGetNextCommandIdExp(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, ze_mutable_command_id_exp_desc_t>,
    pCommandId: Out<'_, u64>,
) -> ZeResult {
    pCommandId.write(next_id(&hCommandList, desc.flags, Vec::new())?);
    Ok(())
}

/// The same with the kernels that the command may be switched to; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListGetNextCommandIdWithKernelsExp_t)]
pub(crate) fn zeCommandListGetNextCommandIdWithKernelsExp(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, ze_mutable_command_id_exp_desc_t>,
    phKernels: Handles<'_, Kernel>,
    pCommandId: Out<'_, u64>,
) -> ZeResult {
    let kernels = phKernels.get().iter().map(|kernel| kernel.shared());
    pCommandId.write(next_id(&hCommandList, desc.flags, kernels.collect())?);
    Ok(())
}

/// Whether the list was created mutable; core/mutableCommandList.yml (1.17).
#[ze_entry(ze_pfnCommandListIsMutableExp_t)]
pub(crate) fn zeCommandListIsMutableExp(
    hCommandList: Handle<'_, CommandList>,
    pIsMutable: Out<'_, ze_bool_t>,
) -> ZeResult {
    pIsMutable.write(u8::from(hCommandList.is_mutable()));
    Ok(())
}

/// Changes arguments, group counts and sizes, and offsets; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListUpdateMutableCommandsExp_t)]
pub(crate) fn zeCommandListUpdateMutableCommandsExp(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, ze_mutable_commands_exp_desc_t>,
) -> ZeResult {
    flags("desc->flags", desc.flags, 0)?;
    let limits = hCommandList.device().facts();
    with(&hCommandList, |recording, mutable| {
        let mut change = Change::of(recording);
        let mut arguments: Vec<(usize, u32)> = Vec::new();
        // SAFETY: the caller's chain of descriptors, valid for the call.
        for link in unsafe { Chain::new(desc.pNext) } {
            match link.stype {
                ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC => {
                    // SAFETY: the type says which struct it is.
                    let new = unsafe { link.get::<ze_mutable_kernel_argument_exp_desc_t>() };
                    let flag = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS;
                    let index = mutable.slot(new.commandId, flag)?.last;
                    let launch = change.launch(index)?;
                    let facts = built_late(launch.program.kernel(launch.kernel))?;
                    // SAFETY: null or `argSize` readable bytes, by the specification.
                    let image = unsafe {
                        write_argument(
                            facts,
                            new.argIndex,
                            new.argSize,
                            new.pArgValue,
                            &mut launch.args,
                        )
                    }?;
                    if let Some(image) = image {
                        launch.keeps.replace(kept((new.argIndex, image)));
                    }
                    arguments.push((index, new.argIndex));
                }
                ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC => {
                    // SAFETY: the type says which struct it is.
                    let new = unsafe { link.get::<ze_mutable_group_count_exp_desc_t>() };
                    not_null("pGroupCount", new.pGroupCount)?;
                    // SAFETY: not null, so the caller's counts.
                    let count = unsafe { *new.pGroupCount };
                    let slot =
                        mutable.slot(new.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT)?;
                    change.launch(slot.last)?.groups = GroupCount::Direct([
                        count.groupCountX,
                        count.groupCountY,
                        count.groupCountZ,
                    ]);
                }
                ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC => {
                    // SAFETY: the type says which struct it is.
                    let new = unsafe { link.get::<ze_mutable_group_size_exp_desc_t>() };
                    let slot =
                        mutable.slot(new.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE)?;
                    let launch = change.launch(slot.last)?;
                    let size = [new.groupSizeX, new.groupSizeY, new.groupSizeZ];
                    let facts = built_late(launch.program.kernel(launch.kernel))?;
                    check_group_size(facts, limits, size)?;
                    launch.group_size = size;
                }
                ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC => {
                    // SAFETY: the type says which struct it is.
                    let new = unsafe { link.get::<ze_mutable_global_offset_exp_desc_t>() };
                    let slot =
                        mutable.slot(new.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET)?;
                    change.launch(slot.last)?.offset =
                        [new.offsetX, new.offsetY, new.offsetZ].map(u64::from);
                }
                other => {
                    return error(
                        ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        format!(
                            "desc's chain has {other:?}, which does not change a mutable command"
                        ),
                    );
                }
            }
        }
        // Checks the combined result of all links.
        for (index, command) in &mut change.commands {
            let Op::Work(Work::Launch(launch)) = &mut command.op else {
                continue;
            };
            if arguments.iter().any(|(of, _)| of == index) {
                follow_nulls(&hCommandList, launch)?;
            }
            let facts = built_late(launch.program.kernel(launch.kernel))?;
            check_local(&hCommandList, facts, launch)?;
            check_groups(&hCommandList, facts, launch)?;
            for (_, argument) in arguments.iter().filter(|(of, _)| of == index) {
                check_argument(&hCommandList, facts, *argument as usize, launch)?;
            }
        }
        change.commit();
        Ok(())
    })
}

/// Another event to signal, or none; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListUpdateMutableCommandSignalEventExp_t)]
pub(crate) fn zeCommandListUpdateMutableCommandSignalEventExp(
    hCommandList: Handle<'_, CommandList>,
    commandId: u64,
    hSignalEvent: OptHandle<'_, Event>,
) -> ZeResult {
    with(&hCommandList, |recording, mutable| {
        let slot = mutable.slot(commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT)?;
        let signal = hSignalEvent.0.map(|event| event.signalled());
        Change::one(recording, slot.last, |command| {
            (command.signal, command.counts) = match signal {
                Some((signal, counts)) => (Some(signal), counts),
                None => (None, false),
            };
        })
    })
}

/// Other events to wait for, as many as before; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListUpdateMutableCommandWaitEventsExp_t)]
pub(crate) fn zeCommandListUpdateMutableCommandWaitEventsExp(
    hCommandList: Handle<'_, CommandList>,
    commandId: u64,
    numWaitEvents: u32,
    phWaitEvents: *mut ze_event_handle_t,
) -> ZeResult {
    with(&hCommandList, |recording, mutable| {
        let slot = mutable.slot(commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS)?;
        let mut waits = Vec::new();
        if !phWaitEvents.is_null() {
            if numWaitEvents as usize != slot.waits {
                return error(
                    ZE_RESULT_ERROR_INVALID_SIZE,
                    format!(
                        "numWaitEvents is {numWaitEvents}, the command was appended with {}",
                        slot.waits
                    ),
                );
            }
            // SAFETY: not null, so `numWaitEvents` handles or nulls.
            let handles =
                unsafe { std::slice::from_raw_parts(phWaitEvents, numWaitEvents as usize) };
            for &handle in handles.iter().filter(|handle| !handle.is_null()) {
                // SAFETY: not null, so a live handle by the specification.
                waits.push(unsafe { Event::from_handle(handle, "phWaitEvents[i]") }?.waited());
            }
        }
        Change::one(recording, slot.first, |command| command.waits = waits)
    })
}

/// Other kernels, with their current arguments and sizes; core/mutableCommandList.yml.
#[ze_entry(ze_pfnCommandListUpdateMutableCommandKernelsExp_t)]
pub(crate) fn zeCommandListUpdateMutableCommandKernelsExp(
    hCommandList: Handle<'_, CommandList>,
    numKernels: u32,
    pCommandId: *mut u64,
    phKernels: *mut ze_kernel_handle_t,
) -> ZeResult {
    not_null("pCommandId", pCommandId)?;
    not_null("phKernels", phKernels)?;
    // SAFETY: not null, so `numKernels` elements each.
    let (ids, kernels) = unsafe {
        (
            std::slice::from_raw_parts(pCommandId, numKernels as usize),
            std::slice::from_raw_parts(phKernels, numKernels as usize),
        )
    };
    with(&hCommandList, |recording, mutable| {
        let mut change = Change::of(recording);
        for (&id, &handle) in ids.iter().zip(kernels) {
            let slot = mutable.slot(id, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION)?;
            if handle.is_null() {
                return error(
                    ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                    "phKernels[i] is null; a kernel handle is required",
                );
            }
            // SAFETY: not null, so a live handle by the specification.
            let kernel = unsafe { Kernel::from_handle(handle, "phKernels[i]") }?;
            let known = |known: &Arc<Kernel>| std::ptr::eq(&raw const **known, kernel);
            if !slot.kernels.is_empty() && !slot.kernels.iter().any(known) {
                return error(
                    ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE,
                    format!(
                        "phKernels[i] is not one of the kernels that were given for command {id}"
                    ),
                );
            }
            let old = change.launch(slot.last)?;
            *old = launch(&hCommandList, kernel, old.groups, old.cooperative)?;
        }
        change.commit();
        Ok(())
    })
}

/// A closed list with a copy of the commands, which change independently; core/commandListClone.yml.
#[ze_entry(ze_pfnCommandListCreateCloneExp_t)]
pub(crate) fn zeCommandListCreateCloneExp(
    hCommandList: Handle<'_, CommandList>,
    phClonedCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    hCommandList.context().check()?;
    phClonedCommandList.write(Object::give(Arc::new(hCommandList.duplicate()?)));
    Ok(())
}
