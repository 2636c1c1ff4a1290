//! Addresses as sums: a base, scaled indices, and constant offsets.

use crate::ir::{ConvertOp, Function, Op, ValueDef, ValueId};

/// One summand of an address: `ptr = base + index * stride + offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The address.
    pub ptr: ValueId,
    /// The address that it counts from.
    pub base: ValueId,
    /// The index and its stride in bytes.
    pub index: Option<(ValueId, i64)>,
    /// Bytes.
    pub offset: i64,
}

/// The summands of `ptr`, from the last one that was added to the first. The last base is no sum.
pub fn terms(function: &Function, ptr: ValueId) -> impl Iterator<Item = Term> + '_ {
    std::iter::successors(term(function, ptr), |last| term(function, last.base))
}

fn term(function: &Function, ptr: ValueId) -> Option<Term> {
    let ValueDef::Inst(inst) = function.values[ptr.index()].def else {
        return None;
    };
    match function.insts[inst.index()].op {
        Op::PtrOffset {
            ptr: base,
            index,
            offset,
        } => Some(Term {
            ptr,
            base,
            index,
            offset,
        }),
        _ => None,
    }
}

/// The narrower integer that `index` extends, and the extension.
#[must_use]
pub fn extended(function: &Function, index: ValueId) -> Option<(ConvertOp, ValueId)> {
    let ValueDef::Inst(inst) = function.values[index.index()].def else {
        return None;
    };
    match function.insts[inst.index()].op {
        Op::Convert(op @ (ConvertOp::SExt | ConvertOp::ZExt), narrow, _) => Some((op, narrow)),
        _ => None,
    }
}
