//! Which accesses are ordered.

use std::sync::Arc;

use crate::cell::{Cell, Reach};
use crate::history::{Access, Order};
use crate::launch::Launch;
use crate::mistake::Rules;
use crate::synchronisation::Synchronisation;

/// The order between accesses, from one access's point of view.
pub(crate) struct AccessOrder<'s> {
    pub(crate) rules: Rules,
    pub(crate) launch: &'s Launch,
    /// By tag.
    pub(crate) launches: &'s [Option<Arc<Launch>>],
    pub(crate) synchronisation: Option<&'s Synchronisation>,
    pub(crate) knows_sub_groups: bool,
}

impl Order for AccessOrder<'_> {
    fn races(&self, old: Access, new: Access, both_write: bool) -> bool {
        let (cell, by) = (old.cell, new.cell);
        if cell.tag() != by.tag() {
            let both_atomic = [cell, by].map(|cell| cell.reach()) == [Reach::Device; 2];
            if both_atomic {
                return false;
            }
            // Local memory of an earlier group: tags there are of groups, and no other launch is given.
            if self.launches.is_empty() {
                return false;
            }
            let other = self.launches.get(usize::from(cell.tag()));
            return !self
                .launch
                .is_after(cell.tag(), other.and_then(Option::as_ref));
        }
        if cell.is_same_item(by) {
            return false;
        }
        let same_group = cell.place() == by.place();
        if cell.reach() != Reach::NotAtomic && by.reach() != Reach::NotAtomic {
            let narrow = cell.reach() == Reach::WorkGroup || by.reach() == Reach::WorkGroup;
            return narrow && !same_group;
        }
        let size = self.launch.kernel.sub_group_size.max(1);
        if same_group {
            if cell.is_separated(by, size) {
                return false;
            }
            let in_lock_step = self.knows_sub_groups
                && !self.rules.strict
                && cell.item() / size == by.item() / size;
            if in_lock_step && !(both_write && old.site == new.site) {
                return false;
            }
        }
        !self
            .synchronisation
            .is_some_and(|known| known.orders(cell, by, size))
    }

    fn is_separated(&self, old: Cell, new: Cell) -> bool {
        old.is_separated(new, self.launch.kernel.sub_group_size)
    }
}
