//! The command list object: a handle with one of two types behind it.
//!
//! ```text
//! CommandList ─┬─ RecordedList    keeps commands, which queues execute as often as the program likes
//!              └─ ImmediateList   submits commands to its own lane
//! ```

use crate::check::error;
use crate::core::capture::CaptureSlot;
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::device::Device;
use crate::core::immediate_list::ImmediateList;
use crate::core::object;
use crate::core::recorded_list::{RecordedList, Recording};
use crate::core::reservations::VIRTUAL_MEMORY;
use crate::device::MemoryKind;
use crate::dispatch;
use crate::schedule::{Command, CommandLane, Executable, Op};
use level_zero_sys::*;
use std::fmt::Display;
use std::sync::Arc;
use ze_abi::{Head, ZeResult};

/// A list.
#[repr(C)]
pub(crate) struct CommandList {
    pub(super) head: Head,
    pub(super) context: Arc<Context>,
    pub(super) device: Arc<Device>,
    pub(super) in_order: bool,
    pub(super) kind: Kind,
}
object!(
    CommandList,
    _ze_command_list_handle_t,
    b"ZeCl",
    "command list"
);

pub(super) enum Kind {
    Recorded(RecordedList),
    Immediate(ImmediateList),
}

impl CommandList {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// INVALID_ARGUMENT for an address in device memory that the list's device cannot access. Only devices with separate
    /// memories have such.
    pub(crate) fn check_reach<T>(&self, name: impl Display, address: *const T) -> ZeResult {
        if self.device.facts().integrated {
            return Ok(());
        }
        let driver = self.context.driver();
        let known = match self.context.platform().find(address.cast()) {
            Some(info) => Some((info.kind, info.device)),
            None => VIRTUAL_MEMORY.mapped(address.addr()).map(|found| {
                let (kind, device, _) = found.properties();
                (kind, device)
            }),
        };
        let Some((MemoryKind::Device, Some(index))) = known else {
            return Ok(());
        };
        let mine = self.device.root_index();
        let other = driver
            .devices()
            .get(index)
            .map(|device| device.root_index());
        if other.is_none_or(|other| other == mine) {
            return Ok(());
        }
        error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "{name} is {address:p}, in memory of device {}, which device {mine} of the list has no peer access to",
                other.unwrap_or_default()
            ),
        )
    }

    /// INVALID_ARGUMENT unless the device has the same root as the list's device.
    pub(crate) fn check_device(&self, name: &str, root_device: usize) -> ZeResult {
        let mine = self.device.root_index();
        if root_device != mine {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "{name} is for device {root_device}, the command list for device {mine}: both must be for the same"
                ),
            );
        }
        Ok(())
    }

    /// Appends one command.
    pub(crate) fn append(&self, op: Op, dependencies: &Dependencies<'_>) -> ZeResult {
        self.context.check()?;
        let drain = self.in_order || dependencies.drain;
        match &self.kind {
            Kind::Recorded(list) => list.append(dependencies, || {
                std::iter::once(dependencies.command(op, drain))
            }),
            Kind::Immediate(list) => match list.capture_slot_for(dependencies)? {
                Some(slot) => {
                    let command = Command {
                        op,
                        ..Command::empty(Vec::new(), drain)
                    };
                    slot.record(std::iter::once(command), dependencies)
                }
                // Created before the lane takes its lock.
                None => list.submit(std::iter::once(dependencies.command(op, drain))),
            },
        }
    }

    /// Appends commands: the first waits, the last signals.
    pub(crate) fn append_all(
        &self,
        ops: impl IntoIterator<Item = Op, IntoIter: ExactSizeIterator>,
        dependencies: &Dependencies<'_>,
    ) -> ZeResult {
        self.context.check()?;
        let (ops, in_order) = (ops.into_iter(), self.in_order);
        match &self.kind {
            Kind::Recorded(list) => {
                list.append(dependencies, || dependencies.commands(ops, in_order))
            }
            Kind::Immediate(list) => match list.capture_slot_for(dependencies)? {
                Some(slot) => {
                    let last = ops.len().saturating_sub(1);
                    let commands = ops.enumerate().map(|(i, op)| Command {
                        op,
                        ..Command::empty(
                            Vec::new(),
                            in_order || (dependencies.drain && i == 0) || (i == last && i > 0),
                        )
                    });
                    slot.record(commands, dependencies)
                }
                None => list.submit(dependencies.commands(ops, in_order)),
            },
        }
    }

    /// The commands of a closed list, for execution in a lane of group `on`.
    pub(crate) fn executable(&self, on: u32, lane: &CommandLane) -> ZeResult<Arc<Executable>> {
        let Kind::Recorded(list) = &self.kind else {
            return error(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                "phCommandLists contains an immediate list, which cannot be executed on a queue",
            );
        };
        if list.ordinal != on {
            return error(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                format!(
                    "phCommandLists holds a list for queue group {}, which group {on} does not execute",
                    list.ordinal
                ),
            );
        }
        let devices = self.context.driver().devices();
        let root = devices[lane.device()].root_index();
        // Lenient: the list may be of another context (`crate::leniency`).
        self.check_device("what executes phCommandLists", root)?;
        list.executable()
    }

    /// Runs `change` on the content of a recorded list.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Recording) -> ZeResult<T>,
    ) -> ZeResult<T> {
        match &self.kind {
            Kind::Recorded(list) => list.change(change),
            Kind::Immediate(_) => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is an immediate list, which keeps no commands",
            ),
        }
    }

    /// Whether commands may change after they were recorded.
    pub(crate) fn is_mutable(&self) -> bool {
        match &self.kind {
            Kind::Recorded(list) => list.is_mutable(),
            Kind::Immediate(_) => false,
        }
    }

    /// A closed list with the same commands.
    pub(crate) fn duplicate(&self) -> ZeResult<Self> {
        let Kind::Recorded(list) = &self.kind else {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is an immediate list, which cannot be cloned",
            );
        };
        Ok(Self {
            head: Head::new::<Self>(dispatch::tables()),
            context: Arc::clone(&self.context),
            device: Arc::clone(&self.device),
            in_order: self.in_order,
            kind: Kind::Recorded(list.duplicate()?),
        })
    }

    /// The queue group.
    pub(crate) fn ordinal(&self) -> u32 {
        match &self.kind {
            Kind::Recorded(list) => list.ordinal,
            Kind::Immediate(list) => list.desc.ordinal,
        }
    }

    /// Every command waits for the one before.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// The list's place in a graph capture, if it is in one.
    pub(crate) fn capture_slot(&self) -> Option<CaptureSlot> {
        match &self.kind {
            Kind::Recorded(_) => None,
            Kind::Immediate(list) => list.capture_slot(),
        }
    }

    /// The immediate list.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a recorded one.
    pub(crate) fn immediate(&self) -> ZeResult<&ImmediateList> {
        match &self.kind {
            Kind::Immediate(list) => Ok(list),
            Kind::Recorded(_) => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "the list is not an immediate command list",
            ),
        }
    }
}
