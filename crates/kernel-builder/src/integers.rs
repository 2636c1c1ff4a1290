//! Methods of integers and floating-point numbers that are more than one instruction: Euclidean division, powers, and
//! the results of operations that may overflow.

use spirv::{Op, OpenclStd100Op as Cl};

use crate::arithmetic::{Binary, Unary};
use crate::builder::{Builder, Operand};
use crate::types::Type;

impl Builder {
    /// The wrapped result of an operation, and whether it has wrapped.
    pub(crate) fn overflowing(
        &mut self,
        operator: Binary,
        l: u32,
        r: u32,
    ) -> Option<(Operand, Operand)> {
        let ty = self.type_of(l);
        let Type::Int { bits, signed } = ty else {
            return None;
        };
        let value = Operand::Value;
        let result = self.binary(operator, value(l), value(r));
        let Operand::Value(of) = result else {
            return None;
        };
        let zero = self.integer(bits, signed, 0);
        let wraps = match (operator, signed) {
            (Binary::Add, false) => self.value(Op::ULessThan, &Type::Bool, &[of, l]),
            (Binary::Sub, false) => self.value(Op::ULessThan, &Type::Bool, &[l, r]),
            (Binary::Mul, false) => {
                let high = self.function(Cl::u_mul_hi, &ty, &[l, r]);
                self.binary(Binary::NotEqual, high, zero)
            }
            (Binary::Add | Binary::Sub, true) => {
                // The signs of both operands differ from that of the sum; of a difference's left side and result.
                let other = if operator == Binary::Add { r } else { l };
                let a = match operator {
                    Binary::Add => self.emit(Op::BitwiseXor, &ty, &[l, of]),
                    _ => self.emit(Op::BitwiseXor, &ty, &[l, r]),
                };
                let b = self.emit(Op::BitwiseXor, &ty, &[other, of]);
                let both = self.value(Op::BitwiseAnd, &ty, &[a, b]);
                self.binary(Binary::Less, both, zero)
            }
            (Binary::Mul, true) => {
                let high = self.function(Cl::s_mul_hi, &ty, &[l, r]);
                let last = self.integer(bits, signed, u64::from(bits - 1));
                let sign = self.binary(Binary::Shr, result, last);
                self.binary(Binary::NotEqual, high, sign)
            }
            _ => return None,
        };
        Some((result, wraps))
    }

    /// `checked_add` and its like; `result` is the type of the option.
    fn checked(&mut self, operator: Binary, l: u32, r: u32, result: &Type) -> Option<Operand> {
        let (value, wraps) = self.overflowing(operator, l, r)?;
        let fits = self.unary(Unary::Not, wraps);
        Some(self.some_if(fits, result, value))
    }

    /// The name's operator: `add` of `checked_add`.
    fn named_operator(name: &str) -> Option<Binary> {
        Some(match name {
            "add" => Binary::Add,
            "sub" => Binary::Sub,
            "mul" => Binary::Mul,
            "div" => Binary::Div,
            "rem" => Binary::Rem,
            _ => return None,
        })
    }

    /// Division or remainder, or nothing if there is none.
    fn checked_division(
        &mut self,
        operator: Binary,
        l: u32,
        r: u32,
        result: &Type,
    ) -> Option<Operand> {
        let ty = self.type_of(l);
        let Type::Int { bits, signed } = ty else {
            return None;
        };
        let good = match self.has_quotient((bits, signed), l, r) {
            Some(good) => Operand::Value(good),
            None => self.bool(true),
        };
        let mut state = self.if_begin(good);
        let op = match (operator, signed) {
            (Binary::Div, true) => Op::SDiv,
            (Binary::Div, false) => Op::UDiv,
            (_, true) => Op::SRem,
            _ => Op::UMod,
        };
        let quotient = self.value(op, &ty, &[l, r]);
        let some = self.some(result, quotient);
        self.if_else(&mut state, some);
        let none = self.none(result);
        Some(self.if_end(state, none))
    }

    /// Methods of integers that are more than one instruction.
    pub(crate) fn long_int_method(
        &mut self,
        name: &str,
        ids: &[u32],
        result: &Type,
    ) -> Option<Operand> {
        let l = *ids.first()?;
        let ty = self.type_of(l);
        let Type::Int { bits, signed } = ty else {
            return None;
        };
        let value = Operand::Value;
        let zero = self.integer(bits, signed, 0);
        if let Some((kind, operator)) = name.split_once('_')
            && let Some(operator) = Self::named_operator(operator)
        {
            let r = *ids.get(1)?;
            let divides = matches!(operator, Binary::Div | Binary::Rem);
            match kind {
                "checked" if divides => return self.checked_division(operator, l, r, result),
                "checked" => return self.checked(operator, l, r, result),
                "overflowing" if !divides => {
                    let (of, wraps) = self.overflowing(operator, l, r)?;
                    return Some(self.compose(result, &[of, wraps]));
                }
                "saturating" if operator == Binary::Mul => {
                    let (of, wraps) = self.overflowing(operator, l, r)?;
                    let most = self.saturated(bits, signed, l, r);
                    return Some(self.chosen(wraps, most, of));
                }
                _ => return None,
            }
        }
        Some(match name {
            "leading_ones" | "trailing_ones" => {
                let not = self.emit(Op::Not, &ty, &[l]);
                let function = if name == "leading_ones" {
                    Cl::clz
                } else {
                    Cl::ctz
                };
                self.counted(function, not, &ty, result)
            }
            "is_power_of_two" => {
                let count = self.counted(Cl::popcount, l, &ty, &ty);
                let one = self.integer(bits, signed, 1);
                self.binary(Binary::Equal, count, one)
            }
            "ilog2" => {
                let positive = match signed {
                    true => self.binary(Binary::Greater, value(l), zero),
                    false => self.binary(Binary::NotEqual, value(l), zero),
                };
                let text = "argument of integer logarithm must be positive";
                self.end_unless(positive, &[text], &[]);
                let zeros = self.counted(Cl::clz, l, &ty, result);
                let last = self.integer(32, false, u64::from(bits - 1));
                self.binary(Binary::Sub, last, zeros)
            }
            "div_ceil" => {
                let r = value(*ids.get(1)?);
                let quotient = self.binary(Binary::Div, value(l), r);
                let rest = self.binary(Binary::Rem, value(l), r);
                let more = self.binary(Binary::NotEqual, rest, zero);
                let more = self.cast(more, &ty);
                self.binary(Binary::Add, quotient, more)
            }
            "rem_euclid" => {
                let r = *ids.get(1)?;
                let rest = self.binary(Binary::Rem, value(l), value(r));
                if !signed {
                    return Some(rest);
                }
                let size = self.function(Cl::s_abs, &ty, &[r]);
                let above = self.binary(Binary::Add, rest, size);
                let negative = self.binary(Binary::Less, rest, zero);
                self.chosen(negative, above, rest)
            }
            "div_euclid" => {
                let r = *ids.get(1)?;
                let quotient = self.binary(Binary::Div, value(l), value(r));
                if !signed {
                    return Some(quotient);
                }
                let rest = self.binary(Binary::Rem, value(l), value(r));
                let one = self.integer(bits, true, 1);
                let (down, up) = (
                    self.binary(Binary::Sub, quotient, one),
                    self.binary(Binary::Add, quotient, one),
                );
                let positive = self.binary(Binary::Greater, value(r), zero);
                let rounded = self.chosen(positive, down, up);
                let negative = self.binary(Binary::Less, rest, zero);
                self.chosen(negative, rounded, quotient)
            }
            "pow" | "wrapping_pow" => self.power(&ty, bits, l, *ids.get(1)?),
            "cmp" => self.order(result, l, *ids.get(1)?),
            _ => return None,
        })
    }

    /// The end of the range on the side of a product.
    fn saturated(&mut self, bits: u32, signed: bool, l: u32, r: u32) -> Operand {
        if !signed {
            return self.integer(bits, false, u64::MAX >> (64 - bits));
        }
        let ty = self.type_of(l);
        let signs = self.value(Op::BitwiseXor, &ty, &[l, r]);
        let zero = self.integer(bits, true, 0);
        let negative = self.binary(Binary::Less, signs, zero);
        let least = self.integer(bits, true, 1 << (bits - 1));
        let most = self.integer(bits, true, (1 << (bits - 1)) - 1);
        self.chosen(negative, least, most)
    }

    /// One of two values, both of which are computed.
    fn chosen(&mut self, condition: Operand, yes: Operand, no: Operand) -> Operand {
        match (self.read(condition), self.read(yes), self.read(no)) {
            (Operand::Value(condition), Operand::Value(yes), Operand::Value(no)) => {
                let ty = self.type_of(yes);
                self.value(Op::Select, &ty, &[condition, yes, no])
            }
            _ => Operand::Never,
        }
    }

    /// `base.pow(exponent)` by squaring.
    fn power(&mut self, ty: &Type, bits: u32, base: u32, exponent: u32) -> Operand {
        let signed = matches!(ty, Type::Int { signed: true, .. });
        let one = self.integer(bits, signed, 1);
        let (product, square) = (self.variable(one), self.variable(Operand::Value(base)));
        let left = self.variable(Operand::Value(exponent));
        let (zero, bit) = (self.integer(32, false, 0), self.integer(32, false, 1));
        let mut inside = self.loop_begin();
        let more = self.binary(Binary::NotEqual, left, zero);
        self.loop_while(&mut inside, more);
        let odd = self.binary(Binary::And, left, bit);
        let odd = self.binary(Binary::NotEqual, odd, zero);
        let mut state = self.if_begin(odd);
        let next = self.binary(Binary::Mul, product, square);
        self.store(product, next);
        self.if_else(&mut state, Operand::Unit);
        self.if_end(state, Operand::Unit);
        let next = self.binary(Binary::Mul, square, square);
        self.store(square, next);
        let next = self.binary(Binary::Shr, left, bit);
        self.store(left, next);
        self.loop_end(inside);
        self.read(product)
    }

    /// `l.cmp(&r)`.
    pub(crate) fn order(&mut self, result: &Type, l: u32, r: u32) -> Operand {
        let (l, r) = (Operand::Value(l), Operand::Value(r));
        let less = self.binary(Binary::Less, l, r);
        let mut state = self.if_begin(less);
        let is_less = self.construct_variant(result, "Less", &[], &[]);
        self.if_else(&mut state, is_less);
        let greater = self.binary(Binary::Greater, l, r);
        let mut inner = self.if_begin(greater);
        let is_greater = self.construct_variant(result, "Greater", &[], &[]);
        self.if_else(&mut inner, is_greater);
        let is_equal = self.construct_variant(result, "Equal", &[], &[]);
        let other = self.if_end(inner, is_equal);
        self.if_end(state, other)
    }

    /// Methods of floating-point numbers that are more than one instruction.
    pub(crate) fn long_float_method(
        &mut self,
        name: &str,
        ids: &[u32],
        bits: u32,
        result: &Type,
    ) -> Option<Operand> {
        let x = Operand::Value(*ids.first()?);
        let ty = Type::Float(bits);
        let number = |builder: &mut Self, value: f64, narrow: f32| match bits {
            64 => builder.float(64, value.to_bits()),
            _ => builder.float(32, u64::from(narrow.to_bits())),
        };
        let zero = number(self, 0.0, 0.0);
        Some(match name {
            "fract" => {
                let whole = self.function(Cl::trunc, &ty, ids);
                self.binary(Binary::Sub, x, whole)
            }
            "to_degrees" => {
                let by = number(self, 180.0 / std::f64::consts::PI, 1f32.to_degrees());
                self.binary(Binary::Mul, x, by)
            }
            "to_radians" => {
                let by = number(self, std::f64::consts::PI / 180.0, 1f32.to_radians());
                self.binary(Binary::Mul, x, by)
            }
            "is_sign_positive" => {
                let negative = self.value(Op::SignBitSet, &Type::Bool, ids);
                self.unary(Unary::Not, negative)
            }
            "is_normal" => self.value(Op::IsNormal, &Type::Bool, ids),
            "sin_cos" => {
                let (sin, cos) = (
                    self.function(Cl::sin, &ty, ids),
                    self.function(Cl::cos, &ty, ids),
                );
                self.compose(result, &[sin, cos])
            }
            "rem_euclid" => {
                let y = *ids.get(1)?;
                let rest = self.binary(Binary::Rem, x, Operand::Value(y));
                let size = self.function(Cl::fabs, &ty, &[y]);
                let above = self.binary(Binary::Add, rest, size);
                let negative = self.binary(Binary::Less, rest, zero);
                self.chosen(negative, above, rest)
            }
            "div_euclid" => {
                let y = Operand::Value(*ids.get(1)?);
                let quotient = self.binary(Binary::Div, x, y);
                let Operand::Value(quotient) = quotient else {
                    return None;
                };
                let quotient = self.function(Cl::trunc, &ty, &[quotient]);
                let one = number(self, 1.0, 1.0);
                let (down, up) = (
                    self.binary(Binary::Sub, quotient, one),
                    self.binary(Binary::Add, quotient, one),
                );
                let positive = self.binary(Binary::Greater, y, zero);
                let rounded = self.chosen(positive, down, up);
                let rest = self.binary(Binary::Rem, x, y);
                let negative = self.binary(Binary::Less, rest, zero);
                self.chosen(negative, rounded, quotient)
            }
            _ => return None,
        })
    }
}
