//! What is at hand of a value while lanes run: a scalar, a scalar and a step, or vectors; in registers, in variables, in
//! the state area.

use kernel_ir::BlockId;
use vectorise::Origin;

use crate::llvm::{Ty, Val};

/// A value of all lanes.
#[derive(Clone, Debug)]
pub(super) struct Rep {
    /// The first lane's, when each lane's is `step` more than the one's before it.
    pub(super) first: Option<Val>,
    pub(super) step: i64,
    /// Bool: whether that is so, where a narrower integer might have wrapped around; `vector` is there too.
    pub(super) holds: Option<Val>,
    /// One vector for each scalar.
    pub(super) vector: Option<Vec<Val>>,
}

impl Rep {
    pub(super) fn uniform(v: Val) -> Self {
        Self::affine(v, 0)
    }
    pub(super) fn affine(first: Val, step: i64) -> Self {
        Self {
            first: Some(first),
            step,
            holds: None,
            vector: None,
        }
    }
    pub(super) fn vector(parts: Vec<Val>) -> Self {
        Self {
            first: None,
            step: 0,
            holds: None,
            vector: Some(parts),
        }
    }
    /// The same in all lanes, for certain.
    pub(super) fn is_uniform(&self) -> bool {
        self.first.is_some() && self.step == 0 && self.holds.is_none()
    }
}

/// Variables of a value that other blocks use.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) first: Option<(Val, Ty)>,
    pub(super) step: i64,
    pub(super) holds: Option<Val>,
    pub(super) vector: Option<Vec<(Val, Ty)>>,
}

/// Where a value lives between regions.
#[derive(Clone)]
pub(super) enum Kept {
    /// The same for the whole group: the variable that a region reads, and the one that it writes; a value of
    /// a loop may be both.
    Group(Val, Val),
    /// One array of the group for each scalar; offsets in bytes per work-item. With a step, if all lanes of a
    /// chunk hold to one.
    Items(Vec<u64>, Option<i64>),
    /// The same for the lanes of a sub-group: an element for each of those, in such arrays.
    SubGroups(Vec<u64>),
}

/// Rows that cover what several lanes read.
#[derive(Clone)]
pub(super) struct Span {
    /// The block that read them, the only one that may use them.
    pub(super) block: BlockId,
    pub(super) origin: Origin,
    /// Bytes from lane to lane, and of an element.
    pub(super) step: i64,
    pub(super) size: u64,
    /// The type of the rows' elements.
    pub(super) element: Ty,
    /// Elements of the first row before the lowest one that is wanted.
    pub(super) lead: u64,
    /// Constant offsets of the first lane's elements: the lowest and the highest.
    pub(super) offsets: (i64, i64),
    /// Each with the number of its first element.
    pub(super) rows: Vec<(u64, Val)>,
}

/// Variables of an integer that each turn of a loop changes by as much in all lanes.
#[derive(Clone, Copy)]
pub(super) struct Convoy {
    /// The first lane's.
    pub(super) first: Val,
    /// How much more the lanes' are, turn after turn.
    pub(super) apart: Val,
    pub(super) scalar: Ty,
    pub(super) lanes: Ty,
}

/// Lanes that are no row: which exist, and their local ids.
#[derive(Clone, Copy)]
pub(super) struct Present {
    pub(super) mask: Val,
    pub(super) local: [Val; 3],
}
