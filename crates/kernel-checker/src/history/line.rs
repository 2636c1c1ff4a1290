//! The last accesses to the 64 bytes of a line, as up to four *patterns* with a bit for each byte.
//!
//! ```text
//! y[i] += x[i], work-items 16 to 31 of a group:     write  16 + byte / 4   ffff ffff ffff ffff
//!                                                   read   16 + byte / 4   ffff ffff ffff ffff
//! ```
//!
//! Neighbouring work-items access neighbouring places in most kernels, and a pattern describes these accesses whatever their
//! number. Where four are too few the line becomes planes (see there).

use super::access::{Access, Earlier, Order};
use crate::cell::Cell;

/// Bytes of a line.
pub(crate) const LINE: u64 = 64;
/// In place of a pattern's shift: the line has become planes, whose number is in the cell.
const PLANES: u8 = u8::MAX;

/// Accesses by work-items whose numbers follow from the byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Without the work-item.
    pub(super) cell: Cell,
    /// The work-item of byte 0; it may be none.
    pub(super) item: i32,
    pub(super) site: u16,
    /// Each work-item has two to this bytes.
    pub(super) shift: u8,
    pub(super) writes: bool,
}

/// The work-items of two patterns at the same bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    Same,
    Other,
    Mixed,
}

impl Pattern {
    /// An access of `size` bytes from `byte` on.
    #[inline(always)]
    pub(super) fn single(byte: u32, size: u32, access: Access, writes: bool) -> Self {
        let shift = match size.is_power_of_two() && byte.is_multiple_of(size) {
            true => size.trailing_zeros(),
            false => LINE.trailing_zeros(),
        };
        let item = access.cell.item().cast_signed() - (byte >> shift).cast_signed();
        Self {
            cell: access.cell.without_item(),
            item,
            site: access.site,
            shift: shift as u8,
            writes,
        }
    }

    pub(super) fn item_at(&self, byte: u32) -> i32 {
        self.item.wrapping_add((byte >> self.shift).cast_signed())
    }

    pub(super) fn access_at(&self, byte: u32) -> Access {
        Access {
            cell: self.cell.by(self.item_at(byte).cast_unsigned()),
            site: self.site,
        }
    }

    /// The bytes of the work-item that has `byte`.
    fn bytes_of(&self, byte: u32) -> u64 {
        let width = 1u32 << self.shift;
        let ones = u64::MAX >> (u64::BITS - width.min(u64::BITS));
        ones << (byte & !(width - 1))
    }

    /// The work-item of all bytes of `mask`, if it is one.
    fn only_item(&self, mask: u64) -> Option<i32> {
        let first = mask.trailing_zeros();
        (mask != 0 && mask & !self.bytes_of(first) == 0).then(|| self.item_at(first))
    }

    fn items(&self, other: &Self, mask: u64) -> Items {
        if self.shift == other.shift {
            return match self.item == other.item {
                true => Items::Same,
                false => Items::Other,
            };
        }
        let finer = if self.shift < other.shift {
            self
        } else {
            other
        };
        let (mut same, mut differs) = (false, false);
        let mut rest = mask;
        while rest != 0 {
            let byte = rest.trailing_zeros();
            rest &= !finer.bytes_of(byte);
            match self.item_at(byte) == other.item_at(byte) {
                true => same = true,
                false => differs = true,
            }
        }
        match (same, differs) {
            (true, true) => Items::Mixed,
            (false, true) => Items::Other,
            _ => Items::Same,
        }
    }

    /// Whether it may race with an earlier access to the bytes of `mask`, as far as one look tells.
    fn may_race(&self, old: &Self, mask: u64) -> bool {
        (self.writes || old.writes)
            && self.cell.may_race_with_items(old.cell)
            && (self.cell.place() != old.cell.place() || self.items(old, mask) != Items::Same)
    }

    /// A pattern for both: this one's bytes and those of `new`.
    fn with(&self, bytes: u64, new: &Self, mask: u64) -> Option<Self> {
        if (self.cell, self.site, self.writes) != (new.cell, new.site, new.writes) {
            return None;
        }
        if (self.item, self.shift) == (new.item, new.shift) {
            return Some(*self);
        }
        let (own, others) = (self.only_item(bytes), new.only_item(mask));
        if others.is_some() && self.only_item(mask) == others {
            return Some(*self);
        }
        if own.is_some() && new.only_item(bytes) == own {
            return Some(*new);
        }
        let item = own.filter(|_| own == others)?;
        Some(Self {
            item,
            shift: LINE.trailing_zeros() as u8,
            ..*self
        })
    }
}

/// See the module.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Line {
    masks: [u64; 4],
    patterns: [Pattern; 4],
}

/// What became of an access to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    /// It is recorded.
    Yes,
    /// It may race.
    MayRace,
    /// The line has no room for it.
    NoRoom,
}

impl Line {
    /// The number of its planes, if it has become such.
    pub(super) fn planes(&self) -> Option<usize> {
        (self.patterns[0].shift == PLANES).then_some(self.patterns[0].cell.0 as usize)
    }

    /// Its patterns go into planes of that number; the last of them that was accessed is `last`.
    pub(super) fn become_planes(&mut self, number: usize, last: Cell) {
        *self = Self::default();
        self.patterns[0].shift = PLANES;
        self.patterns[0].cell = Cell(number as u64);
        self.patterns[1].cell = last;
    }

    /// For planes of local memory: whether all accesses in them are over for one that comes now.
    pub(super) fn is_over(&mut self, now: Cell) -> bool {
        let last = &mut self.patterns[1].cell;
        let is_over = now.is_after_barrier(*last);
        *last = now;
        is_over
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = (&Pattern, u64)> {
        let all = self.patterns.iter().zip(self.masks);
        all.filter(|(_, mask)| *mask != 0)
    }

    /// Forgets accesses to local memory that are over for one that comes now.
    #[inline(always)]
    pub(super) fn forget_before(&mut self, now: Cell) {
        for (pattern, mask) in self.patterns.iter().zip(&mut self.masks) {
            if *mask != 0 && now.is_after_barrier(pattern.cell) {
                *mask = 0;
            }
        }
    }

    /// Records an access, if one look tells that it does not race.
    #[inline(always)]
    pub(super) fn note_if_quiet(&mut self, new: &Pattern, mask: u64) -> Noted {
        // Most lines hold accesses by earlier launches, and by these work-items, only.
        let (mut own, mut free) = (None, None);
        for at in 0..self.masks.len() {
            let (old, bytes) = (&self.patterns[at], &mut self.masks[at]);
            if *bytes & mask == 0 {
                if *bytes == 0 {
                    free = free.or(Some(at));
                } else if old == new {
                    own = Some(at);
                }
                continue;
            }
            if old.cell.tag() == new.cell.tag() {
                if (old.cell, old.item, old.shift) != (new.cell, new.item, new.shift) {
                    return self.note_if_quiet_among_others(new, mask);
                }
                if old == new {
                    own = Some(at);
                    continue;
                }
            }
            if old.writes == new.writes {
                *bytes &= !mask;
                if *bytes == 0 {
                    free = free.or(Some(at));
                }
            }
        }
        match own.or(free) {
            Some(at) if own.is_some() => self.masks[at] |= mask,
            Some(at) => {
                self.patterns[at] = *new;
                self.masks[at] = mask;
            }
            None => return self.note(new, mask),
        }
        Noted::Yes
    }

    #[inline(never)]
    fn note_if_quiet_among_others(&mut self, new: &Pattern, mask: u64) -> Noted {
        for (old, bytes) in self.patterns.iter().zip(self.masks) {
            if bytes & mask != 0 && new.may_race(old, bytes & mask) {
                return Noted::MayRace;
            }
        }
        self.note(new, mask)
    }

    /// The first earlier access to bytes of `mask` that `new` races with.
    pub(super) fn race(&self, new: &Pattern, mask: u64, order: &impl Order) -> Option<Earlier> {
        for is_write in [true, false] {
            for (old, bytes) in self.patterns() {
                if old.writes != is_write || !(new.writes || is_write) {
                    continue;
                }
                let mut rest = bytes & mask;
                while rest != 0 {
                    let byte = rest.trailing_zeros();
                    rest &= !(old.bytes_of(byte) & new.bytes_of(byte));
                    let access = old.access_at(byte);
                    if order.races(access, new.access_at(byte), new.writes && is_write) {
                        return Some(Earlier { access, is_write });
                    }
                }
            }
        }
        None
    }

    /// Records an access. Without room for it what it replaces may be gone.
    #[inline(always)]
    pub(super) fn note(&mut self, new: &Pattern, mask: u64) -> Noted {
        let rest = match new.writes {
            true => {
                for (old, bytes) in self.patterns.iter().zip(&mut self.masks) {
                    if old.writes && old != new {
                        *bytes &= !mask;
                    }
                }
                Some(mask)
            }
            false => self.kept_reads(new, mask),
        };
        match rest {
            None => Noted::NoRoom,
            Some(0) => Noted::Yes,
            Some(rest) => self.add(new, rest),
        }
    }

    fn add(&mut self, new: &Pattern, mask: u64) -> Noted {
        let mut free = None;
        for (at, bytes) in self.masks.iter_mut().enumerate() {
            if *bytes == 0 {
                free = free.or(Some(at));
            } else if let Some(both) = self.patterns[at].with(*bytes, new, mask) {
                self.patterns[at] = both;
                *bytes |= mask;
                return Noted::Yes;
            }
        }
        let Some(free) = free else {
            return Noted::NoRoom;
        };
        self.patterns[free] = *new;
        self.masks[free] = mask;
        Noted::Yes
    }

    /// The bytes at which a read is worth keeping, where earlier reads make room for it; `None` if patterns cannot say that.
    #[inline(always)]
    fn kept_reads(&mut self, new: &Pattern, mask: u64) -> Option<u64> {
        let (mut once, mut twice) = (0, 0);
        for (old, bytes) in self.patterns.iter().zip(&mut self.masks) {
            let common = *bytes & mask;
            if common == 0 || old.writes || old == new {
                continue;
            }
            let is_replaced = if old.cell.place() == new.cell.place() {
                if new.cell.is_separated_for_all(old.cell) {
                    true
                } else {
                    match old.items(new, common) {
                        Items::Same => true,
                        Items::Mixed => return None,
                        // A barrier of the sub-group may lie between some of them.
                        Items::Other if !new.cell.is_same_interval(old.cell) => return None,
                        Items::Other => false,
                    }
                }
            } else {
                old.cell.tag() != new.cell.tag()
            };
            if is_replaced {
                *bytes &= !mask;
            } else {
                twice |= once & common;
                once |= common;
            }
        }
        match twice {
            0 => Some(mask),
            _ => Some(self.third_reads(new, mask)),
        }
    }

    /// As [`Self::kept_reads`], where some bytes have two other readers. These stay, unless both are of one group, and the new
    /// one of another.
    fn third_reads(&mut self, new: &Pattern, mask: u64) -> u64 {
        let mut rest = mask;
        for b in 1..self.masks.len() {
            for a in 0..b {
                let both = self.masks[a] & self.masks[b] & rest;
                let (old, other) = (&self.patterns[a], &self.patterns[b]);
                if both == 0 || old.writes || other.writes || old == new || other == new {
                    continue;
                }
                let place = old.cell.place();
                let makes_room = place == other.cell.place() && place != new.cell.place();
                match makes_room {
                    true => self.masks[b] &= !both,
                    false => rest &= !both,
                }
            }
        }
        rest
    }
}
