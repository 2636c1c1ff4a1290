//! Recorded command lists: commands kept until a queue or an immediate list executes them.

use crate::check::{error, lock};
use crate::core::capture::CAPTURES;
use crate::core::dependencies::Dependencies;
use crate::core::mutable_commands::MutableCommands;
use crate::schedule::{Command, Executable};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::ZeResult;

/// A list that records commands.
pub(crate) struct RecordedList {
    /// The queue group that may execute it.
    pub(super) ordinal: u32,
    /// `ze_command_list_flags_t`.
    pub(super) flags: u32,
    state: Mutex<Recording>,
}

/// The content of a list.
#[derive(Clone, Default)]
pub(crate) struct Recording {
    /// In order.
    pub(super) commands: Vec<Arc<Command>>,
    /// For mutable lists.
    pub(super) mutable: Option<MutableCommands>,
    closed: bool,
    /// `commands` for executions, made by the first execution after a close.
    executable: Option<Arc<Executable>>,
}

impl Recording {
    /// True between close and reset.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Marks commands as changed: the list must be closed again.
    pub(super) fn reopen(&mut self) {
        self.closed = false;
        self.executable = None;
    }
}

impl RecordedList {
    /// An empty list.
    pub(super) fn new(ordinal: u32, flags: u32, is_mutable: bool) -> Self {
        let recording = Recording {
            mutable: is_mutable.then(MutableCommands::default),
            ..Recording::default()
        };
        Self {
            ordinal,
            flags,
            state: Mutex::new(recording),
        }
    }

    /// Adds the commands of `make`; a closed list leaves them out.
    pub(super) fn append<I: IntoIterator<Item = Arc<Command>>>(
        &self,
        dependencies: &Dependencies<'_>,
        make: impl FnOnce() -> I,
    ) -> ZeResult {
        CAPTURES.check_uncaptured(dependencies)?;
        if lock(&self.state).closed {
            // Lenient: see `crate::leniency`.
            ze_abi::record_error(
                "zeCommandListAppend*",
                "hCommandList is closed: the command is left out; reset the list before more is appended",
            );
            return Ok(());
        }
        let commands = make();
        let state = &mut *lock(&self.state);
        let before = state.commands.len();
        state.commands.extend(commands);
        if let Some(mutable) = &mut state.mutable {
            mutable.appended(&state.commands, before);
        }
        Ok(())
    }

    /// The commands, for execution.
    pub(super) fn executable(&self) -> ZeResult<Arc<Executable>> {
        let state = &mut *lock(&self.state);
        if !state.closed {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "phCommandLists holds a list that is not closed",
            );
        }
        let commands = &state.commands;
        let executable = state
            .executable
            .get_or_insert_with(|| Executable::new(commands));
        Ok(Arc::clone(executable))
    }

    /// A closed list with the same commands.
    pub(super) fn duplicate(&self) -> ZeResult<Self> {
        let state = lock(&self.state).clone();
        if !state.closed {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is not closed; only closed lists are cloned",
            );
        }
        Ok(Self {
            ordinal: self.ordinal,
            flags: self.flags,
            state: Mutex::new(state),
        })
    }

    /// Runs `change` on the content.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Recording) -> T) -> T {
        change(&mut lock(&self.state))
    }

    /// Whether commands may change after they were recorded.
    pub(super) fn is_mutable(&self) -> bool {
        lock(&self.state).mutable.is_some()
    }

    /// Ends recording.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
    }

    /// Empties the list for new recording.
    pub(super) fn reset(&self) {
        let mut state = lock(&self.state);
        state.reopen();
        state.commands = Vec::new();
        if let Some(mutable) = &mut state.mutable {
            mutable.clear();
        }
    }
}
