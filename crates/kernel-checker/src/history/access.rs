//! Accesses, and what orders them.

use crate::cell::Cell;

/// An access and the instruction that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) cell: Cell,
    /// Number of the instruction in the table of sites; 0 is unknown.
    pub(crate) site: u16,
}

/// An earlier access that a new one conflicts with, if nothing orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) access: Access,
    pub(crate) is_write: bool,
}

/// How accesses are ordered.
pub(crate) trait Order {
    /// Whether an earlier and a new access, of which at least one writes, may happen in any order.
    fn races(&self, old: Access, new: Access, both_write: bool) -> bool;
    /// Whether a barrier orders two accesses of one group.
    fn is_separated(&self, old: Cell, new: Cell) -> bool;
}
