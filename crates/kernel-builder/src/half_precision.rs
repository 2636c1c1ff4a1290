//! Methods of `f16`, with the meaning that crate `half` gives them.

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::types::Type;

/// The bit of the sign.
const SIGN: u64 = 0x8000;
/// The bits of 1.
const ONE: u64 = 0x3c00;

/// Whether a function only changes the type of a number from or to `f16`.
pub(crate) fn is_half_conversion(name: &str) -> bool {
    matches!(
        name,
        "from_f32"
            | "from_f32_const"
            | "from_f64"
            | "from_f64_const"
            | "to_f32"
            | "to_f32_const"
            | "to_f64"
            | "to_f64_const"
    )
}

impl Builder {
    /// A method of `f16`. Functions of mathematics are computed in `f32`, as `half` computes them.
    pub(crate) fn half_method(&mut self, name: &str, ids: &[Id], result: &Type) -> Option<Operand> {
        let half = Type::Float(16);
        let x = *ids.first()?;
        Some(match name {
            "is_nan" => self.value(Op::FUnordNotEqual, &Type::Bool, &[x, x]),
            "is_finite" => self.value(Op::IsFinite, &Type::Bool, &[x]),
            "is_infinite" => self.value(Op::IsInf, &Type::Bool, &[x]),
            "is_normal" => self.value(Op::IsNormal, &Type::Bool, &[x]),
            "is_sign_negative" => self.value(Op::SignBitSet, &Type::Bool, &[x]),
            "is_sign_positive" => {
                let negative = self.emit(Op::SignBitSet, &Type::Bool, &[x]);
                self.value(Op::LogicalNot, &Type::Bool, &[negative])
            }
            "to_bits" => self.value(Op::Bitcast, result, &[x]),
            // The other number where the first is none, and the first of two equal ones.
            "max" | "min" => {
                let y = *ids.get(1)?;
                let op = match name {
                    "max" => Op::FOrdGreaterThan,
                    _ => Op::FOrdLessThan,
                };
                let beyond = self.emit(op, &Type::Bool, &[y, x]);
                let nan = self.emit(Op::FUnordNotEqual, &Type::Bool, &[x, x]);
                let other = self.emit(Op::LogicalOr, &Type::Bool, &[nan, beyond]);
                self.value(Op::Select, &half, &[other, y, x])
            }
            "clamp" => {
                let (low, high) = (*ids.get(1)?, *ids.get(2)?);
                let below = self.emit(Op::FOrdLessThan, &Type::Bool, &[x, low]);
                let x = self.emit(Op::Select, &half, &[below, low, x]);
                let above = self.emit(Op::FOrdGreaterThan, &Type::Bool, &[x, high]);
                self.value(Op::Select, &half, &[above, high, x])
            }
            "copysign" => {
                let sign = *ids.get(1)?;
                self.with_sign(x, sign)
            }
            "signum" => {
                let one = self.float(16, ONE);
                let Operand::Value(one) = one else {
                    return None;
                };
                let Operand::Value(signed) = self.with_sign(one, x) else {
                    return None;
                };
                let nan = self.emit(Op::FUnordNotEqual, &Type::Bool, &[x, x]);
                self.value(Op::Select, &half, &[nan, x, signed])
            }
            _ if *result == half => {
                let single = Type::Float(32);
                let mut wide = Vec::new();
                for id in ids {
                    let operand = Operand::Value(*id);
                    wide.push(match self.type_of(*id) {
                        Type::Float(16) => self.cast(operand, &single),
                        _ => operand,
                    });
                }
                let value = self.method(name, &wide, &single);
                self.cast(value, &half)
            }
            _ => return None,
        })
    }

    /// A number with the sign of another.
    fn with_sign(&mut self, number: Id, sign: Id) -> Operand {
        let bits = Type::Int {
            bits: 16,
            signed: false,
        };
        let mut part = |id, mask| {
            let all = Operand::Value(self.emit(Op::Bitcast, &bits, &[id]));
            let mask = self.integer(16, false, mask);
            self.binary(Binary::And, all, mask)
        };
        let (number, sign) = (part(number, SIGN - 1), part(sign, SIGN));
        let Operand::Value(both) = self.binary(Binary::Or, number, sign) else {
            return Operand::Never;
        };
        self.value(Op::Bitcast, &Type::Float(16), &[both])
    }
}
