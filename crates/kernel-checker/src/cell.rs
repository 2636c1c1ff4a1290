//! One access in 64 bits: the launch, the work-item, the barriers and releases before it, and whether it was atomic.
//!
//! | bits | field | when it does not fit |
//! |---|---|---|
//! | 10 | tag of the launch | tags are reused after all histories were cleared |
//! | 16 | group | groups 65,536 apart look like one: a race between them is missed |
//! | 10 | work-group barriers | stops at the largest number, which counts as ordered with itself |
//! | 6 | sub-group barriers since | as above |
//! | 16 | work-item in the group | always fits |
//! | 4 | releases of the group since | as above |
//! | 2 | not atomic, atomic in the work-group, atomic on the device | always fits |
//!
//! A field that does not fit hides races, and never invents one.

use kernel_ir::passes::{KNOWS_SUB_GROUPS, SUB_GROUP_BITS};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell(pub(crate) u64);

const ATOMIC_AT: u32 = 0;
const PHASE_AT: u32 = 2;
const ITEM_AT: u32 = 6;
const SUB_AT: u32 = 22;
const BARRIERS_AT: u32 = 28;
const GROUP_AT: u32 = 38;
const TAG_AT: u32 = 54;

/// Work-groups that a cell tells apart.
pub(crate) const MOST_GROUPS: u64 = 1 << (TAG_AT - GROUP_AT);
/// Largest number of work-group barriers that a cell tells apart.
pub(crate) const MOST_BARRIERS: u64 = (1 << (GROUP_AT - BARRIERS_AT)) - 1;
/// Largest number of sub-group barriers.
const MOST_SUB: u64 = (1 << (BARRIERS_AT - SUB_AT)) - 1;
/// Largest number of releases.
pub(crate) const MOST_PHASES: u8 = 15;
/// Tags: 1 to this; 0 marks an empty cell.
pub(crate) const MOST_TAGS: u16 = (1 << (64 - TAG_AT)) - 1;

/// How far an atomic access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    NotAtomic = 0,
    WorkGroup = 1,
    Device = 2,
}

impl Cell {
    /// An access by work-item 0 of `group`, before any release; [`Self::by`] and [`Self::after_releases`] complete it.
    pub(crate) fn new(tag: u16, group: u64, epoch: u32, reach: Reach) -> Self {
        let epoch = epoch & !KNOWS_SUB_GROUPS;
        let barriers = u64::from(epoch >> SUB_GROUP_BITS).min(MOST_BARRIERS);
        let sub = u64::from(epoch & ((1 << SUB_GROUP_BITS) - 1)).min(MOST_SUB);
        Self(
            u64::from(tag) << TAG_AT
                | (group & 0xffff) << GROUP_AT
                | barriers << BARRIERS_AT
                | sub << SUB_AT
                | (reach as u64) << ATOMIC_AT,
        )
    }

    pub(crate) fn by(self, item: u32) -> Self {
        Self(self.0 | u64::from(item & 0xffff) << ITEM_AT)
    }

    /// `releases`: of the group since the last barrier.
    pub(crate) fn after_releases(self, releases: u8) -> Self {
        Self(self.0 | u64::from(releases.min(MOST_PHASES)) << PHASE_AT)
    }

    /// Whether an earlier access may be unordered with this one, as far as one look at the bits tells: of the same launch,
    /// and of another group, or of another work-item of the group at the same number of barriers.
    #[inline(always)]
    pub(crate) fn is_unordered(self, earlier: Self) -> bool {
        let differs = self.0 ^ earlier.0;
        let same_launch = differs >> TAG_AT == 0;
        let other_group = differs >> GROUP_AT != 0;
        let same_barriers = differs >> BARRIERS_AT & MOST_BARRIERS == 0;
        let other_item = differs >> ITEM_AT & 0xffff != 0;
        // Without branches: rows of cells are compared.
        same_launch & (other_group | (same_barriers & other_item))
    }

    /// As [`Self::is_unordered`], and not both are atomic.
    #[inline(always)]
    pub(crate) fn may_race(self, earlier: Self) -> bool {
        self.is_unordered(earlier) & !self.is_atomic_with(earlier)
    }

    /// As [`Self::may_race`], if the work-items differ.
    #[inline(always)]
    pub(crate) fn may_race_with_items(self, earlier: Self) -> bool {
        let differs = self.0 ^ earlier.0;
        let same_launch = differs >> TAG_AT == 0;
        let other_group = differs >> GROUP_AT != 0;
        let same_barriers = differs >> BARRIERS_AT & MOST_BARRIERS == 0;
        same_launch & (other_group | same_barriers) & !self.is_atomic_with(earlier)
    }

    /// Whether both are atomic, and each reaches the other's work-item.
    #[inline(always)]
    fn is_atomic_with(self, other: Self) -> bool {
        let both_device = self.0 & other.0 & Reach::Device as u64 != 0;
        let both_atomic = (self.0 & 3 != 0) & (other.0 & 3 != 0);
        both_device | (both_atomic & ((self.0 ^ other.0) >> GROUP_AT == 0))
    }

    /// The same access, by no work-item.
    pub(crate) fn without_item(self) -> Self {
        Self(self.0 & !(0xffff << ITEM_AT))
    }

    /// Whether accesses to local memory like the earlier one are over: of another group, or before a later barrier.
    #[inline(always)]
    pub(crate) fn is_after_barrier(self, earlier: Self) -> bool {
        let other_group = (self.0 ^ earlier.0) >> TAG_AT != 0;
        other_group | (self.barriers() > earlier.barriers())
    }

    /// Whether a barrier of the group lies between two accesses of one group.
    pub(crate) fn is_separated_for_all(self, other: Self) -> bool {
        self.barriers() != other.barriers() || self.barriers() == MOST_BARRIERS
    }

    /// Whether no barrier of a sub-group lies between two accesses of one group with as many barriers of the group.
    pub(crate) fn is_same_interval(self, other: Self) -> bool {
        self.sub() == other.sub() && self.sub() != MOST_SUB
    }

    pub(crate) fn tag(self) -> u16 {
        (self.0 >> TAG_AT) as u16
    }

    /// Tag and group: equal for accesses of one group of one launch.
    pub(crate) fn place(self) -> u64 {
        self.0 >> GROUP_AT
    }

    pub(crate) fn group(self) -> u16 {
        (self.0 >> GROUP_AT) as u16
    }

    pub(crate) fn item(self) -> u32 {
        (self.0 >> ITEM_AT & 0xffff) as u32
    }

    pub(crate) fn phase(self) -> u8 {
        (self.0 >> PHASE_AT & 15) as u8
    }

    pub(crate) fn barriers(self) -> u64 {
        self.0 >> BARRIERS_AT & MOST_BARRIERS
    }

    fn sub(self) -> u64 {
        self.0 >> SUB_AT & MOST_SUB
    }

    pub(crate) fn reach(self) -> Reach {
        match self.0 & 3 {
            0 => Reach::NotAtomic,
            1 => Reach::WorkGroup,
            _ => Reach::Device,
        }
    }

    /// Whether it is the same work-item of the same launch.
    pub(crate) fn is_same_item(self, other: Self) -> bool {
        self.place() == other.place() && self.item() == other.item()
    }

    /// Whether an access that happened is ordered before a release by the same group.
    pub(crate) fn is_before_release(self, release: Self, sub_group_size: u32) -> bool {
        let barriers = release.barriers();
        if self.barriers() != barriers || barriers == MOST_BARRIERS {
            return self.barriers() <= barriers;
        }
        if self.item() == release.item() {
            return self.phase() <= release.phase();
        }
        is_same_sub_group(self.item(), release.item(), sub_group_size)
            && (self.sub() < release.sub() || release.sub() == MOST_SUB)
    }

    /// Whether a barrier lies between two accesses of different work-items of one group.
    pub(crate) fn is_separated(self, other: Self, sub_group_size: u32) -> bool {
        let barriers = self.barriers();
        if barriers != other.barriers() || barriers == MOST_BARRIERS {
            return true;
        }
        is_same_sub_group(self.item(), other.item(), sub_group_size)
            && (self.sub() != other.sub() || self.sub() == MOST_SUB)
    }
}

/// Whether two work-items of a group are in one sub-group. Sizes of sub-groups are powers of two.
pub(crate) fn is_same_sub_group(a: u32, b: u32, size: u32) -> bool {
    (a ^ b) >> size.max(1).trailing_zeros() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap() {
        let cell = Cell::new(1023, 0x1_2345, 5 << SUB_GROUP_BITS | 7, Reach::Device);
        let cell = cell.by(65_535).after_releases(10);
        assert_eq!(
            (cell.tag(), cell.group(), cell.item(), cell.phase()),
            (1023, 0x2345, 65_535, 10)
        );
        assert_eq!((cell.barriers(), cell.sub()), (5, 7));
        assert_eq!(cell.reach(), Reach::Device);
    }

    #[test]
    fn one_look_finds_all_that_may_race() {
        let at = |tag, group, barriers: u32, item| {
            Cell::new(tag, group, barriers << SUB_GROUP_BITS, Reach::NotAtomic).by(item)
        };
        let new = at(1, 1, 1, 5);
        for (old, may) in [
            (at(1, 1, 1, 5), false),
            (at(1, 1, 1, 6), true),
            (at(1, 1, 0, 6), false),
            (at(1, 2, 0, 5), true),
            (at(2, 2, 1, 6), false),
            (Cell::default(), false),
        ] {
            assert_eq!(new.may_race(old), may, "{old:?}");
        }
        assert_eq!(new.without_item().by(8), at(1, 1, 1, 8));
    }

    #[test]
    fn a_release_covers_what_its_work_item_did_and_what_barriers_order() {
        let at = |barriers: u32, item: u32, releases: u8| {
            let epoch = barriers << SUB_GROUP_BITS;
            let cell = Cell::new(1, 0, epoch, Reach::NotAtomic);
            cell.by(item).after_releases(releases)
        };
        let release = at(2, 5, 1);
        for (access, covered) in [
            (at(2, 5, 1), true),
            (at(2, 5, 2), false),
            (at(2, 6, 0), false),
            (at(1, 6, 3), true),
            (at(3, 5, 0), false),
        ] {
            assert_eq!(access.is_before_release(release, 16), covered, "{access:?}");
        }
    }

    #[test]
    fn barriers_separate_work_items_of_their_scope() {
        let at = |barriers: u32, sub: u32, item: u32| {
            Cell::new(1, 0, barriers << SUB_GROUP_BITS | sub, Reach::NotAtomic).by(item)
        };
        for (a, b, separated) in [
            (at(0, 0, 0), at(0, 0, 1), false),
            (at(0, 0, 0), at(1, 0, 1), true),
            // A sub-group barrier orders the sub-group's own work-items only.
            (at(0, 1, 0), at(0, 2, 1), true),
            (at(0, 1, 0), at(0, 2, 16), false),
            // Numbers that do not fit count as ordered.
            (at(5000, 0, 0), at(6000, 0, 16), true),
        ] {
            assert_eq!(a.is_separated(b, 16), separated, "{a:?} {b:?}");
        }
    }
}
