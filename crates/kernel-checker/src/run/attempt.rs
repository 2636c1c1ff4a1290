//! Launches that several threads attempt.
//!
//! The threads run groups in any order, each with the memory of its own group, and record accesses to allocations in common
//! histories. The attempt fails with the first finding, and with everything whose result depends on the order of groups:
//! atomic accesses to global memory that do not commute, fences, writes to memory that is no allocation. The launch is then undone, and runs in
//! order, so that reports do not depend on the schedule. An attempt without races computes what the launch computes in order.

use std::sync::atomic::Ordering;

use kernel_ir::passes::KNOWS_SUB_GROUPS;
use kernel_ir::{AddressSpace, Touch};

use super::{Call, Groups, Run};
use crate::borrowed::Attempted;
use crate::cell::{Cell, Reach};
use crate::history::{Access, Lines};
use crate::lanes::{Lanes, Quiet, bits, rows};
use crate::mistake::ProgramMemory;
use crate::order::AccessOrder;
use crate::synchronisation::releases;

impl Run<'_> {
    /// Whether the kernel has to stop at once: the attempt has failed.
    #[must_use]
    #[inline(always)]
    pub fn has_failed(&self) -> bool {
        self.launch.has_failed()
    }

    /// Lets the attempt fail, if this run is part of one.
    #[must_use]
    pub fn fails_attempt(&self) -> bool {
        let is_attempt = self.attempt.is_some();
        if is_attempt {
            self.fail();
        }
        is_attempt
    }

    fn fail(&self) {
        self.launch
            .attempt
            .has_failed
            .store(true, Ordering::Relaxed);
    }

    /// As [`Run::quiet`], for global memory. `active`: the lanes, and the access without its work-item.
    pub(super) fn quiet_attempt(
        &self,
        program: &dyn ProgramMemory,
        new: &Quiet,
        lanes: &Lanes<'_>,
        (active, cell): (u64, Cell),
        hint: &mut usize,
    ) -> u64 {
        let recorded = self.with_shared_state(|state, borrowed| {
            rows(lanes, active, new, |piece| {
                let Some(allocation) = state.allocations.holding(piece.address, hint) else {
                    return false;
                };
                let offset = piece.address - allocation.start;
                let is_inside = offset + piece.bytes(new.size) <= allocation.size;
                let mut history = Attempted {
                    borrowed,
                    allocations: &state.allocations,
                    place: *hint,
                    contents: allocation.contents(program),
                    tag: self.launch.tag,
                    wanted: &self.launch.attempt.wanted,
                    writes: new.writes,
                };
                is_inside && piece.record(&mut history, offset, new, cell)
            })
        });
        recorded.unwrap_or(active)
    }

    /// Records the lanes of an access that one look does not decide.
    pub(super) fn attempt_access(
        &self,
        program: &dyn ProgramMemory,
        groups: &mut Groups,
        call: &Call,
        (lanes, mut active): (&Lanes<'_>, u64),
        (touch, size, site): (Touch, u32, u16),
    ) {
        if !self.launch.is_after_all.load(Ordering::Relaxed) {
            self.fail();
            return;
        }
        if let Touch::Atomic {
            writes,
            commutes,
            scope,
            order,
        } = touch
        {
            // Nothing uses their results: the kernel's groups may begin in any order.
            let is_sum = commutes && self.reach(scope) == Reach::Device;
            let is_local = call.what.space == AddressSpace::Local;
            if (is_local || is_sum) && !(writes && releases(order)) {
                let quiet = call.atomic(self.reach(scope), writes, size, site);
                active = self.quiet(groups, &quiet, lanes, active, &mut 0);
            }
            if active != 0 {
                self.fail();
            }
            return;
        }
        let mut hint = 0;
        let is_quiet = self.with_shared_state(|state, borrowed| {
            bits(active).all(|lane| {
                let Some(address) = lanes.address(lane) else {
                    return true;
                };
                let (base, len) = groups.local;
                let is_local =
                    call.what.space != AddressSpace::Global && address.wrapping_sub(base) < len;
                let tag = match is_local {
                    true => groups.scratch.tag,
                    false => self.launch.tag,
                };
                let cell = Cell::new(tag, call.group, call.epoch, Reach::NotAtomic);
                let new = Access {
                    cell: cell.by(call.item + lane),
                    site,
                };
                let order = AccessOrder {
                    rules: self.checker.rules,
                    launch: &self.launch,
                    launches: if is_local { &[] } else { &state.launches },
                    synchronisation: None,
                    knows_sub_groups: call.epoch & KNOWS_SUB_GROUPS != 0,
                };
                let (writes, bytes) = (touch == Touch::Write, u64::from(size));
                if is_local {
                    let history = &mut groups.scratch.history;
                    let found = history.record(address - base, bytes, new, writes, &order);
                    return found.is_none();
                }
                let Some(allocation) = state.allocations.holding(address, &mut hint) else {
                    // A read may be told with strict rules.
                    return !writes && !self.checker.rules.strict;
                };
                let offset = address - allocation.start;
                if allocation.size - offset < bytes {
                    return false;
                }
                let mut history = Attempted {
                    borrowed,
                    allocations: &state.allocations,
                    place: hint,
                    contents: allocation.contents(program),
                    tag,
                    wanted: &self.launch.attempt.wanted,
                    writes,
                };
                let found = history.record(offset, bytes, new, writes, &order);
                found.is_none()
            })
        });
        if is_quiet != Some(true) {
            self.fail();
        }
    }
}
