//! Accesses that race.

use std::sync::Arc;

use kernel_ir::passes::KNOWS_SUB_GROUPS;
use kernel_ir::{AddressSpace, CheckOp, Touch};

use super::{Call, Run};
use crate::allocations::Found;
use crate::cell::{Cell, Reach, is_same_sub_group};
use crate::checker::State;
use crate::history::Earlier;
use crate::lanes::Lanes;
use crate::mistake::{AllocationOffset, MistakeKind, Side};

impl Run<'_> {
    pub(super) fn race(
        &self,
        state: &mut State,
        call: &Call,
        lanes: &Lanes<'_>,
        (lane, address, local): (u32, u64, Option<(u64, u64)>),
        earlier: Earlier,
    ) {
        let CheckOp::Access(touch, size) = call.what.op else {
            return;
        };
        let old = earlier.access.cell;
        let item = call.item + lane;
        let is_local = local.is_some();
        let other_launch = match is_local {
            true => Some(Arc::clone(&self.launch)),
            false => state
                .launches
                .get(usize::from(old.tag()))
                .cloned()
                .flatten(),
        };
        let Some(other_launch) = other_launch else {
            return;
        };
        let same_launch = Arc::ptr_eq(&other_launch, &self.launch);
        let same_group = is_local || (same_launch && old.group() == call.group as u16);
        let site = state.sites[usize::from(earlier.access.site)].clone();
        let writes = !matches!(touch, Touch::Read | Touch::Atomic { writes: false, .. });
        let value = lanes.values.and_then(|values| values.get(lane as usize));
        let is_atomic = matches!(touch, Touch::Atomic { .. });
        let kind = match (old.reach(), is_atomic) {
            (Reach::NotAtomic, false) => {
                let same = earlier.is_write
                    && touch == Touch::Write
                    && value.is_some_and(|&value| {
                        has_value(
                            state,
                            lanes,
                            call.item,
                            (old, same_group),
                            (address, size),
                            value,
                        )
                    });
                match same {
                    true if self.checker.rules.allow_same_value => return,
                    true => MistakeKind::SameValueWrite,
                    false if !same_launch => MistakeKind::RaceOfLaunches,
                    false if same_group => {
                        let size = self.launch.kernel.sub_group_size;
                        let knows = call.epoch & KNOWS_SUB_GROUPS != 0;
                        let is_near = is_same_sub_group(old.item(), item, size);
                        // Both sides of one instruction cannot be in any order, whatever runs in lock step.
                        match knows && is_near && site.word != call.word {
                            true => MistakeKind::LockStep,
                            false => MistakeKind::RaceOfWorkItems,
                        }
                    }
                    false => MistakeKind::RaceOfGroups,
                }
            }
            (_, true) if old.reach() != Reach::NotAtomic => MistakeKind::AtomicScope,
            _ => MistakeKind::MixedAtomic,
        };
        let group = match same_group {
            true => call.group,
            false => other_launch.group_near(u64::from(old.group()), call.group),
        };
        let place = match local {
            Some((start, size)) => Some((start, size, AddressSpace::Local, None)),
            None => match state.allocations.find(address) {
                Found::Live { start, size, id } => {
                    Some((start, size, AddressSpace::Global, Some(id)))
                }
                _ => None,
            },
        };
        let mut mistake = self.mistake(call, item, kind);
        mistake.side.touch = Some(touch);
        mistake.size = size;
        mistake.values = [value.copied().filter(|_| writes), None];
        mistake.other = Some(Side {
            launch: other_launch,
            word: site.word,
            group,
            item: old.item(),
            touch: site.touch,
        });
        mistake.place = place.map(|(start, size, space, id)| AllocationOffset {
            start,
            size,
            offset: address.wrapping_sub(start).cast_signed(),
            space,
            id,
        });
        state.tell(&mistake);
    }
}

/// Whether the earlier write has left `value` at the address.
fn has_value(
    state: &State,
    lanes: &Lanes<'_>,
    first: u32,
    (old, same_group): (Cell, bool),
    (address, size): (u64, u32),
    value: u64,
) -> bool {
    // The earlier write may be a lane of this call, whose store is still to come.
    if same_group
        && lanes.active.count_ones() > 1
        && let Some(lane) = old.item().checked_sub(first)
        && lane < 64
        && lanes.active >> lane & 1 != 0
    {
        return lanes.values.and_then(|values| values.get(lane as usize)) == Some(&value);
    }
    let mut bytes = [0u8; 8];
    let Some(bytes) = bytes.get_mut(..size as usize) else {
        return false;
    };
    let is_read = state.reporter.read(address, bytes);
    let mut found = [0u8; 8];
    found[..bytes.len()].copy_from_slice(bytes);
    is_read && u64::from_le_bytes(found) == value
}
