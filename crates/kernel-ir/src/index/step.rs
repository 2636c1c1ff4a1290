//! Steps from lane to lane: the transfer function of one operation.

use super::facts::shift_count;
use crate::ir::{BinaryOp, ConvertOp, Function, Module, Op, ValueId};
use crate::types::Type;

/// The step of the result of `op`, given the steps of its operands; `None` where they do not determine it. Steps are
/// taken modulo 2^64. The step of an [`extension`] holds only where its operand does not wrap around.
pub fn step(
    module: &Module,
    function: &Function,
    op: &Op,
    of: impl Fn(ValueId) -> Option<i64>,
) -> Option<i64> {
    let known = |v: ValueId| module.known_signed(function, v);
    let count = |v: ValueId| match *module.types.get(function.ty(v)) {
        Type::Int(bits) => Some(shift_count(known(v)?, bits)),
        _ => None,
    };
    match op {
        Op::Binary(op, a, b, _) => {
            let (x, y) = (of(*a)?, of(*b)?);
            match op {
                BinaryOp::IAdd => Some(x.wrapping_add(y)),
                BinaryOp::ISub => Some(x.wrapping_sub(y)),
                BinaryOp::IMul => match (known(*a), known(*b)) {
                    (_, Some(n)) => Some(x.wrapping_mul(n)),
                    (Some(n), _) => Some(y.wrapping_mul(n)),
                    _ => None,
                },
                BinaryOp::Shl => Some(x.wrapping_mul(1i64.checked_shl(count(*b)?)?)),
                // The bits shifted out must be equal in all lanes.
                BinaryOp::AShr | BinaryOp::LShr => {
                    let by = count(*b)?;
                    let kept = x.checked_shr(by)?;
                    (kept.checked_shl(by)? == x).then_some(kept)
                }
                _ => None,
            }
        }
        Op::Convert(
            ConvertOp::Trunc
            | ConvertOp::SExt
            | ConvertOp::ZExt
            | ConvertOp::PtrToInt
            | ConvertOp::IntToPtr
            | ConvertOp::AddressSpace,
            a,
            _,
        )
        | Op::Copy(a) => of(*a),
        Op::PtrOffset { ptr, index, .. } => {
            let scaled = match index {
                Some((index, stride)) => of(*index)?.wrapping_mul(*stride),
                None => 0,
            };
            Some(of(*ptr)?.wrapping_add(scaled))
        }
        _ => None,
    }
}

/// An operation that carries its operand into more bits, so that the operand must not wrap around from lane to lane:
/// extensions, and shifts to the right.
#[must_use]
pub fn extension(op: &Op) -> Option<(ConvertOp, ValueId)> {
    match op {
        Op::Convert(op @ (ConvertOp::SExt | ConvertOp::ZExt), from, _) => Some((*op, *from)),
        Op::Binary(BinaryOp::AShr, from, ..) => Some((ConvertOp::SExt, *from)),
        Op::Binary(BinaryOp::LShr, from, ..) => Some((ConvertOp::ZExt, *from)),
        _ => None,
    }
}
