//! Canonical form of index arithmetic, for the divergence analysis ([`super::shape`]).
//!
//! ```text
//! %i = and %id, 0xffffffff     =>   %t = trunc %id, %i = zext %t     uint i = get_global_id(0)
//! %j = or %twice, 1            =>   %j = iadd %twice, 1              2 * i + 1
//! ```
//!
//! Front ends write the left forms. The right ones compute the same and keep the step from lane to lane: a zero-extended
//! truncation is contiguous unless the narrow value wraps around, and an `or` with bits that are known to be zero is
//! an addition.

use crate::index::IndexFacts;
use crate::ir::{BinaryOp, ConvertOp, Function, Op, Rounding, ValueDef, ValueId};
use crate::types::{Constant, Constants, Types};

/// Rewrites the index arithmetic of `f`.
pub(super) fn canonicalise(types: &mut Types, constants: &Constants, f: &mut Function) {
    or_as_addition(types, constants, f);
    low_half_as_extension(types, constants, f);
}

/// Makes an addition of each `or` with bits that are zero in its other operand.
fn or_as_addition(types: &Types, constants: &Constants, f: &mut Function) {
    let facts = IndexFacts::with(types, constants, f);
    let insts = f.blocks.iter().flat_map(|b| &b.insts).copied();
    let additions = insts.filter(|inst| {
        let Op::Binary(BinaryOp::Or, a, b, _) = f.insts[inst.index()].op else {
            return false;
        };
        with_constant(constants, f, a, b).is_some_and(|(v, bits)| {
            let zeros = facts.zero_bits(v);
            bits.checked_shr(zeros).unwrap_or(0) == 0
        })
    });
    let additions: Vec<_> = additions.collect();
    for inst in additions {
        if let Op::Binary(op, ..) = &mut f.insts[inst.index()].op {
            *op = BinaryOp::IAdd;
        }
    }
}

/// Makes an extension of each `and` that keeps the low half of 64 bits.
fn low_half_as_extension(types: &mut Types, constants: &Constants, f: &mut Function) {
    let (wide, half) = (types.int(64), types.int(32));
    for block in 0..f.blocks.len() {
        let mut at = 0;
        while at < f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[at];
            at += 1;
            let entry = &f.insts[inst.index()];
            let (&Op::Binary(BinaryOp::And, a, b, _), Some(result)) = (&entry.op, entry.result)
            else {
                continue;
            };
            let low_half = u64::from(u32::MAX);
            let Some((v, bits)) = with_constant(constants, f, a, b) else {
                continue;
            };
            if bits == low_half && f.ty(result) == wide {
                let cut = Op::Convert(ConvertOp::Trunc, v, Rounding::Default);
                let (before, cut) = f.add_inst(cut, Some(half), entry.word);
                let Some(cut) = cut else { continue };
                f.insts[inst.index()].op = Op::Convert(ConvertOp::ZExt, cut, Rounding::Default);
                f.blocks[block].insts.insert(at - 1, before);
                at += 1;
            }
        }
    }
}

/// The operand that is not constant, and the bits of the other.
fn with_constant(
    constants: &Constants,
    f: &Function,
    a: ValueId,
    b: ValueId,
) -> Option<(ValueId, u64)> {
    match (constant(constants, f, a), constant(constants, f, b)) {
        (None, Some(bits)) => Some((a, bits)),
        (Some(bits), None) => Some((b, bits)),
        _ => None,
    }
}

fn constant(constants: &Constants, f: &Function, v: ValueId) -> Option<u64> {
    match f.values[v.index()].def {
        ValueDef::Const(c) => match constants.get(c) {
            Constant::Int(n) => Some(*n),
            _ => None,
        },
        _ => None,
    }
}
