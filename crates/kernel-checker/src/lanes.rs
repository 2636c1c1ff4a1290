//! The lanes of a call, and their accesses in rows.

use crate::cell::{Cell, Reach};
use crate::history::{Access, Lines, Row};

/// The lanes of a call.
pub struct Lanes<'a> {
    /// A bit for each that takes part.
    pub active: u64,
    /// Their addresses.
    pub addresses: Addresses<'a>,
    /// What each stores.
    pub values: Option<&'a [u64]>,
}

impl Lanes<'_> {
    pub(crate) fn address(&self, lane: u32) -> Option<u64> {
        match self.addresses {
            Addresses::Row { first, step } => {
                let distance = step.wrapping_mul(i64::from(lane)).cast_unsigned();
                Some(first.wrapping_add(distance))
            }
            Addresses::Each(all) => all.get(lane as usize).copied(),
        }
    }
}

/// Addresses of lanes.
#[derive(Clone, Copy)]
pub enum Addresses<'a> {
    /// `first`, and `step` more for each lane.
    Row {
        /// Lane 0's.
        first: u64,
        /// Bytes from lane to lane.
        step: i64,
    },
    /// One for each lane.
    Each(&'a [u64]),
}

/// An access in parts, for the quick look.
pub(crate) struct Quiet {
    pub(crate) group: u64,
    /// Of lane 0.
    pub(crate) item: u32,
    pub(crate) epoch: u32,
    pub(crate) reach: Reach,
    pub(crate) writes: bool,
    pub(crate) size: u32,
    pub(crate) may_be_local: bool,
    pub(crate) site: u16,
}

/// Lanes of an access at regular distances.
pub(crate) struct Piece {
    /// The first of them.
    pub(crate) lane: u32,
    /// A bit for each, from the first on.
    pub(crate) active: u64,
    /// The first one's.
    pub(crate) address: u64,
    /// Bytes from lane to lane; 0: a lane alone.
    pub(crate) step: u64,
}

impl Piece {
    /// Bytes from the first access to the last one's end.
    pub(crate) fn bytes(&self, size: u32) -> u64 {
        let last = 63 - u64::from(self.active.leading_zeros());
        last * self.step + u64::from(size)
    }

    /// Records it at `offset`; `cell`: of work-item 0.
    #[inline(always)]
    pub(crate) fn record(
        &self,
        history: &mut impl Lines,
        offset: u64,
        new: &Quiet,
        cell: Cell,
    ) -> bool {
        let first = Access {
            cell: cell.by(new.item + self.lane),
            site: new.site,
        };
        if self.step == 0 {
            return history.record_single(offset, new.size, first, new.writes);
        }
        history.record_row(&Row {
            offset,
            step: self.step,
            size: new.size,
            active: self.active,
            first,
            writes: new.writes,
        })
    }
}

/// Calls `record` with pieces of the lanes in `active`; returns the lanes of those for which it was false.
#[inline(always)]
pub(crate) fn rows(
    lanes: &Lanes<'_>,
    active: u64,
    new: &Quiet,
    mut record: impl FnMut(&Piece) -> bool,
) -> u64 {
    let alone = |lane: u32, address: u64| Piece {
        lane,
        active: 1,
        address,
        step: 0,
    };
    let is_width = |bytes: u64| bytes.is_power_of_two() && bytes <= 64;
    match lanes.addresses {
        Addresses::Row { first, step: 0 } => {
            if new.writes && new.reach == Reach::NotAtomic && active.count_ones() > 1 {
                return active;
            }
            // Of many work-items at one place two are enough.
            let quiet = bits(active).take(2).all(|lane| record(&alone(lane, first)));
            if quiet { 0 } else { active }
        }
        Addresses::Row { first, step }
            if step >= i64::from(new.size) && is_width(step.cast_unsigned()) =>
        {
            let step = step.cast_unsigned();
            let lane = active.trailing_zeros();
            let piece = Piece {
                lane,
                active: active.checked_shr(lane).unwrap_or(0),
                address: first.wrapping_add(step * u64::from(lane)),
                step,
            };
            if record(&piece) { 0 } else { active }
        }
        Addresses::Row { first, step } => {
            let mut rest = 0;
            for lane in bits(active) {
                let distance = step.wrapping_mul(i64::from(lane)).cast_unsigned();
                if !record(&alone(lane, first.wrapping_add(distance))) {
                    rest |= 1 << lane;
                }
            }
            rest
        }
        Addresses::Each(all) => {
            let size = u64::from(new.size);
            let mut rest = 0;
            let mut open = active;
            while open != 0 {
                let lane = open.trailing_zeros();
                let Some(&address) = all.get(lane as usize) else {
                    return rest | open;
                };
                // The lanes behind it that follow in memory, too.
                let mut count = 1;
                if is_width(size) {
                    let follows = |count: u32| {
                        let next = lane + count;
                        next < 64
                            && open >> next & 1 != 0
                            && all.get(next as usize)
                                == Some(&address.wrapping_add(u64::from(count) * size))
                    };
                    while follows(count) {
                        count += 1;
                    }
                }
                let own = u64::MAX >> (64 - count);
                let piece = Piece {
                    lane,
                    active: own,
                    address,
                    step: if count == 1 { 0 } else { size },
                };
                if !record(&piece) {
                    rest |= own << lane;
                }
                open &= !(own << lane);
            }
            rest
        }
    }
}

/// Numbers of the bits that are set.
pub(crate) fn bits(mut active: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = active.trailing_zeros();
        active &= active.wrapping_sub(1);
        (lane < 64).then_some(lane)
    })
}
