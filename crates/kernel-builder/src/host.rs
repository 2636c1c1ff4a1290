//! The work-item that this thread runs on the host, and how it meets the others of its work-group.

use std::cell::Cell;

use crate::collective::Team;

/// Index and range of a work-item, with leading dimensions of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostItem {
    pub(crate) id: [usize; 3],
    pub(crate) range: [usize; 3],
    pub(crate) local_id: [usize; 3],
    pub(crate) local_range: [usize; 3],
    /// Work-items of a sub-group.
    pub(crate) sub_group: usize,
}

thread_local! {
    static ITEM: Cell<HostItem> = const {
        Cell::new(HostItem { id: [0; 3], range: [1; 3], local_id: [0; 3], local_range: [1; 3], sub_group: 1 })
    };
}

/// The position of an index in a range.
pub(crate) fn linear(index: [usize; 3], range: [usize; 3]) -> usize {
    (index[0] * range[1] + index[1]) * range[2] + index[2]
}

/// The number of indices of a range.
pub(crate) fn size(range: [usize; 3]) -> usize {
    range.iter().product()
}

/// All indices of a range, the last dimension first.
pub(crate) fn indices(range: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [planes, rows, columns] = range;
    (0..planes).flat_map(move |z| (0..rows).flat_map(move |y| (0..columns).map(move |x| [z, y, x])))
}

/// A range of one to three dimensions, with leading dimensions of 1.
pub(crate) fn three<const D: usize>(range: [usize; D]) -> [usize; 3] {
    const { assert!(D >= 1 && D <= 3, "a range has one to three dimensions") };
    let mut all = [1; 3];
    all[3 - D..].copy_from_slice(&range);
    all
}

impl HostItem {
    /// The work-item of this thread.
    pub(crate) fn current() -> Self {
        ITEM.get()
    }

    pub(crate) fn set(self) {
        ITEM.set(self);
    }

    pub(crate) fn group_id(self) -> [usize; 3] {
        std::array::from_fn(|axis| self.id[axis] / self.local_range[axis].max(1))
    }

    pub(crate) fn group_range(self) -> [usize; 3] {
        std::array::from_fn(|axis| self.range[axis] / self.local_range[axis].max(1))
    }
}

/// Calls a kernel on the host, once for each index of a range, one after another.
///
/// Each work-item is a work-group of its own. Index and range are those of [`crate::item`].
///
/// ```
/// use kernel_builder::{for_each, item};
/// let mut squares = [0; 4];
/// for_each([4], || {
///     let i = item::<1>().id();
///     squares[i] = i * i;
/// });
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn for_each<const D: usize>(range: [usize; D], mut work_item: impl FnMut()) {
    let range = three(range);
    let before = HostItem::current();
    for id in indices(range) {
        let item = HostItem {
            id,
            range,
            local_id: [0; 3],
            local_range: [1; 3],
            sub_group: 1,
        };
        item.set();
        work_item();
    }
    before.set();
}

/// The position of this work-item in its team, and the number of members.
pub(crate) fn position(team: Team) -> (usize, usize) {
    let item = HostItem::current();
    let own = linear(item.local_id, item.local_range);
    let all = size(item.local_range);
    match team {
        Team::Group => (own, all),
        Team::SubGroup => {
            let before = own - own % item.sub_group;
            (own % item.sub_group, item.sub_group.min(all - before))
        }
    }
}

/// The position of this work-item's sub-group in the work-group, and the number of sub-groups.
pub(crate) fn sub_groups() -> (usize, usize) {
    let item = HostItem::current();
    let own = linear(item.local_id, item.local_range);
    let all = size(item.local_range);
    (own / item.sub_group, all.div_ceil(item.sub_group))
}
