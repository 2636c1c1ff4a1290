//! Relations between integers, and conditions that imply them.

use std::collections::{HashMap, HashSet};

use crate::module::Id;

/// The first is less than the second, or equal unless strict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation {
    pub(crate) low: Id,
    pub(crate) high: Id,
    pub(crate) strict: bool,
}

/// Relations of a comparison or a conjunction, by the id of its result.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// The first is less than the second, both without a sign.
    Less(Id, Id),
    /// The first is greater than or equal to the second.
    NotLess(Id, Id),
    Equal(Id, Id),
    Unequal(Id, Id),
    Both(Id, Id),
    Not(Id),
}

/// Relations that hold always.
#[derive(Default)]
pub(crate) struct Always {
    pub(crate) above: HashMap<Id, Vec<(Id, bool)>>,
    /// Numbers far below the largest: sums of two do not wrap around.
    pub(crate) small: HashSet<Id>,
    /// Operations by operator and operands: the place of the fact that marks the result, and the result.
    pub(crate) computed: HashMap<(u32, Id, Id), (usize, Id)>,
}
