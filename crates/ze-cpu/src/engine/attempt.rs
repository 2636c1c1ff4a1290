//! Launches with checks that several threads attempt: see `check/attempt`.

use super::launch::{LaunchedKernel, Prepared};
use super::share::{Body, Share};
use super::worker::Worker;
use crate::check::Turn;
use crate::clock::now_ns;
use std::sync::Arc;
use work_group_pool::Plan;
use ze_driver::device::Task;

/// Parts are this many times as long as those of launches without checks: at 1 the checker's work for each part takes as long as
/// the accesses of a streaming kernel (saxpy over 8 million elements: 90 ms of processor time, at 8 65 ms; AMD EPYC, 2026-11).
const LONGER: u64 = 8;

impl Worker {
    /// Runs a launch with other threads, and again in order on this one if that has failed; its fault.
    pub(super) fn attempt(
        &mut self,
        task: &Arc<dyn Task>,
        launched: LaunchedKernel<'_>,
        prepared: Prepared,
        turn: Turn,
        start_ns: u64,
    ) -> Option<String> {
        let threads = self.scheduler.threads;
        let (next, plan) = match self.alone(launched, &prepared, threads, start_ns) {
            Ok(Some(rest)) => rest,
            Ok(None) => return self.decide(launched, &prepared, turn, None),
            Err(fault) => return self.decide(launched, &prepared, turn, Some(fault)),
        };
        let left = prepared.groups - next;
        let by_share = left / (plan.threads as u64 * 4);
        let plan = Plan {
            chunk: (plan.chunk * LONGER).min(by_share).max(plan.chunk),
            ..plan
        };
        let body = Body::Attempt(Box::new(prepared));
        let share = Share::new(Arc::clone(task), next, left, plan, start_ns, body);
        self.lead(&share, plan.threads - 1, plan.wakes);
        share.wait();
        let fault = share.fault.get().cloned();
        match &share.body {
            Body::Attempt(prepared) => self.decide(launched, prepared, turn, fault),
            _ => fault,
        }
    }

    /// An attempt has ended, perhaps with a fault.
    fn decide(
        &mut self,
        launched: LaunchedKernel<'_>,
        prepared: &Prepared,
        turn: Turn,
        fault: Option<String>,
    ) -> Option<String> {
        let is_undone = prepared.undo();
        drop(turn);
        let fault = match is_undone {
            true => self.alone(launched, prepared, 1, now_ns()).err(),
            false => fault,
        };
        prepared.end();
        self.executor.shrink();
        fault
    }
}
