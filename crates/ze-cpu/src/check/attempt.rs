//! Launches with checks that several threads attempt.
//!
//! Groups of a launch with checks run in order on one thread, so that two runs give one report. Most launches have nothing to
//! report, though. So several threads *attempt* a launch first, as without checks. If any of them finds anything the attempt
//! fails: memory gets back its contents from before the launch, and the launch runs in order. A kernel that has failed once is
//! not attempted again.
//!
//! ```text
//! attempt on all threads ── nothing found ──> the launch has ended
//!                       └── a finding ──────> undo, run in order, report
//! ```
//!
//! Only a launch that no other task runs beside is attempted ([`CheckedLaunch::attempt`]). The bytes that the launch has
//! written are saved one by one (kernel-checker's `history/before`): the host may write other bytes of the same memory
//! meanwhile.

use super::launch::CheckedLaunch;
use super::program_memory::DeviceMemory;
use std::sync::MutexGuard;

/// The turn of a launch that is attempted.
pub(crate) struct Turn(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl CheckedLaunch {
    /// Begins an attempt, if the launch may be attempted. No other launch runs until the result is dropped.
    pub(crate) fn attempt(&self) -> Option<Turn> {
        if !self.may_attempt {
            return None;
        }
        let turn = crate::sync::lock(&self.check.turn);
        crate::sync::lock(&self.launch).attempt();
        Some(Turn(turn))
    }

    /// Ends the attempt: whether it has failed. The kernel's next launches run in order if threads have hindered each other.
    pub(crate) fn end_attempt(&self) -> bool {
        let launch = crate::sync::lock(&self.launch);
        if launch.is_contended() {
            self.kernel.run_in_order();
        }
        launch.has_failed()
    }

    /// Undoes a failed attempt: the launch may run in order, after the turn has been given away.
    pub(crate) fn undo(&self) {
        self.kernel.run_in_order();
        let mut launch = crate::sync::lock(&self.launch);
        let again = self.check.checker.undo(&launch, &DeviceMemory);
        *launch = again;
    }
}
