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

use crate::ir::{BinaryOp, ConvertOp, Function, Op, Rounding, ValueDef, ValueId};
use crate::types::{Constant, Constants, Types};

/// Operations followed to find low bits that are zero. Not measured: a bound on compile time.
const KNOWN_BITS_DEPTH: usize = 6;

/// Rewrites the index arithmetic of `f`.
pub(super) fn canonicalise(types: &mut Types, constants: &Constants, f: &mut Function) {
    let (wide, half) = (types.int(64), types.int(32));
    for block in 0..f.blocks.len() {
        let mut at = 0;
        while at < f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[at];
            at += 1;
            let entry = &f.insts[inst.index()];
            let (Op::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b, flags), Some(result)) =
                (&entry.op, entry.result)
            else {
                continue;
            };
            let (op, a, b, flags, word) = (*op, *a, *b, *flags, entry.word);
            let (v, bits) = match (constant(constants, f, a), constant(constants, f, b)) {
                (None, Some(bits)) => (a, bits),
                (Some(bits), None) => (b, bits),
                _ => continue,
            };
            if op == BinaryOp::Or {
                let zeros = low_zeros(constants, f, v, KNOWN_BITS_DEPTH);
                if bits.checked_shr(zeros).unwrap_or(0) == 0 {
                    f.insts[inst.index()].op = Op::Binary(BinaryOp::IAdd, a, b, flags);
                }
            } else if bits == u64::from(u32::MAX) && f.ty(result) == wide {
                let cut = Op::Convert(ConvertOp::Trunc, v, Rounding::Default);
                let (before, cut) = f.add_inst(cut, Some(half), word);
                let Some(cut) = cut else { continue };
                f.insts[inst.index()].op = Op::Convert(ConvertOp::ZExt, cut, Rounding::Default);
                f.blocks[block].insts.insert(at - 1, before);
                at += 1;
            }
        }
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

/// Number of low bits of an integer that are known to be zero.
fn low_zeros(constants: &Constants, f: &Function, v: ValueId, depth: usize) -> u32 {
    if let Some(n) = constant(constants, f, v) {
        return n.trailing_zeros();
    }
    let (ValueDef::Inst(inst), Some(depth)) = (f.values[v.index()].def, depth.checked_sub(1))
    else {
        return 0;
    };
    let of = |v: ValueId| low_zeros(constants, f, v, depth);
    match &f.insts[inst.index()].op {
        Op::Binary(BinaryOp::Shl, a, by, _) => match constant(constants, f, *by) {
            Some(by) => of(*a).saturating_add(by.min(64) as u32),
            None => of(*a),
        },
        Op::Binary(BinaryOp::IMul, a, b, _) => of(*a).saturating_add(of(*b)),
        Op::Binary(BinaryOp::And, a, b, _) => of(*a).max(of(*b)),
        Op::Binary(BinaryOp::IAdd | BinaryOp::ISub | BinaryOp::Or | BinaryOp::Xor, a, b, _) => {
            of(*a).min(of(*b))
        }
        Op::Convert(ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Trunc, a, _) => of(*a),
        Op::Copy(a) => of(*a),
        _ => 0,
    }
}
