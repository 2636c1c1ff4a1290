//! The commands of a mutable list that may change.

use crate::check::error;
use crate::core::kernel::Kernel;
use crate::schedule::Command;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use ze_abi::ZeResult;

/// The commands with an identifier.
#[derive(Clone, Default)]
pub(crate) struct MutableCommands {
    pub(super) last: u64,
    /// For the next append.
    pub(super) next: Option<(u64, Slot)>,
    slots: BTreeMap<u64, Slot>,
}

#[derive(Clone, Default)]
pub(super) struct Slot {
    /// `ze_mutable_command_exp_flags_t`.
    pub(super) flags: u32,
    /// Kernels that the command may be switched to; empty: any.
    pub(super) kernels: Vec<Arc<Kernel>>,
    /// Positions of the command that waits, and of the one that works and signals.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) waits: usize,
}

impl MutableCommands {
    /// Binds the requested identifier to the commands just appended.
    pub(crate) fn appended(&mut self, commands: &[Arc<Command>], from: usize) {
        if from >= commands.len() {
            return;
        }
        if let Some((id, mut slot)) = self.next.take() {
            slot.first = from;
            slot.last = commands.len() - 1;
            slot.waits = commands[from].waits.len();
            self.slots.insert(id, slot);
        }
    }

    /// Removes all commands.
    pub(crate) fn clear(&mut self) {
        self.next = None;
        self.slots.clear();
    }

    pub(super) fn slot(&self, id: u64, flag: u32) -> ZeResult<&Slot> {
        match self.slots.get(&id) {
            Some(slot) if slot.flags & flag != 0 => Ok(slot),
            Some(slot) => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "command {id} may change in {:#x} only (ze_mutable_command_exp_flags_t), not in {flag:#x}",
                    slot.flags
                ),
            ),
            None => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("commandId is {id}, no command of the list has it"),
            ),
        }
    }
}
