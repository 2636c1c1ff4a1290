//! How a value is held during emission: as a scalar, as a scalar and a step, or as vectors; in registers, in variables,
//! or in the state area.
//!
//! ```text
//! n            uniform     first = %n
//! &a[i]        affine      first = %p, step = 4          lane l: %p + 4 * l
//! a[i]         vector      vector = [<8 x float>]        one vector for each scalar of the type
//! (long)i      tested      first, step, holds, vector    the step is valid only if `holds` is true
//! ```

use kernel_ir::BlockId;
use vectorise::Origin;

use crate::llvm::{Ty, Val};

/// A value in all lanes.
#[derive(Clone, Debug)]
pub(super) struct Rep {
    /// The first lane's value, if each lane has `step` more than the lane before it.
    pub(super) first: Option<Val>,
    pub(super) step: i64,
    /// Bool: the no-wrap predicate, if the step is valid only while a narrower integer does not wrap around. Then
    /// `vector` is there too, and valid in any case.
    pub(super) holds: Option<Val>,
    /// One vector for each scalar of the type.
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
    /// Whether all lanes have the same value, without any test.
    pub(super) fn is_uniform(&self) -> bool {
        self.first.is_some() && self.step == 0 && self.holds.is_none()
    }
}

/// Entry allocas of a value that other blocks use.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) first: Option<(Val, Ty)>,
    pub(super) step: i64,
    pub(super) holds: Option<Val>,
    pub(super) vector: Option<Vec<(Val, Ty)>>,
}

/// Where a saved value lives between regions.
#[derive(Clone)]
pub(super) enum Saved {
    /// The same for the whole group: the variable that a region reads, and the one that it writes. In a loop around a
    /// barrier one region may do both.
    Group(Val, Val),
    /// One array of the group for each scalar, by its offset in bytes per work-item. The step from lane to lane, if all
    /// lanes of a chunk of a row have one.
    Items(Vec<u64>, Option<i64>),
    /// The same for the lanes of a sub-group: such arrays, with one element for each sub-group.
    SubGroups(Vec<u64>),
}

/// Vectors of neighbouring elements that cover all elements which interleaved loads of one structure read.
#[derive(Clone)]
pub(super) struct Span {
    /// The block that read them; no other block may use them.
    pub(super) block: BlockId,
    pub(super) origin: Origin,
    /// Bytes from lane to lane, and bytes of an element.
    pub(super) step: i64,
    pub(super) size: u64,
    /// The type of the vectors' elements.
    pub(super) element: Ty,
    /// Elements of the first vector before the lowest one that is wanted.
    pub(super) lead: u64,
    /// Constant offsets of the first lane's elements: the lowest and the highest.
    pub(super) offsets: (i64, i64),
    /// The vectors, each with the number of its first element.
    pub(super) rows: Vec<(u64, Val)>,
}

/// Entry allocas of a phi with uniform-step induction: each iteration changes it by as much in all lanes.
#[derive(Clone, Copy)]
pub(super) struct UniformStep {
    /// The first lane's value.
    pub(super) first: Val,
    /// The other lanes' distances from it, which no iteration changes.
    pub(super) distances: Val,
    pub(super) scalar: Ty,
    pub(super) lanes: Ty,
}

/// The lanes of a masked chunk: which of them exist, and their local ids unless they are those of a row.
#[derive(Clone, Copy)]
pub(super) struct ExistingLanes {
    pub(super) mask: Val,
    pub(super) local: Option<[Val; 3]>,
}
