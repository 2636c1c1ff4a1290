//! Operators and casts, with Rust's meaning: integers wrap, a shift uses the low bits of its count, `as` saturates.
//! A division by zero gives zero. Checks of the user's operators come before.

use spirv::{Decoration, Op};

use crate::builder::{Builder, Operand};
use crate::facts::Condition;
use crate::types::Type;

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Neg,
    /// `!`
    Not,
}

impl Builder {
    /// `left operator right`.
    pub fn binary(&mut self, operator: Binary, left: Operand, right: Operand) -> Operand {
        let (left, right) = (self.value_of(left), self.value_of(right));
        let (Operand::Value(l), Operand::Value(r)) = (left, right) else {
            return Operand::Never;
        };
        if let Some(vector) = self.binary_vector(operator, l, r) {
            return vector;
        }
        let ty = self.type_of(l);
        match &ty {
            Type::Bool => self.binary_bool(operator, l, r),
            Type::Float(_) => self.binary_float(operator, &ty, l, r),
            Type::Int { bits, signed } => self.binary_int(operator, &ty, (*bits, *signed), l, r),
            other => self.refuse(format!(
                "an operator on values of {other}: kernels have operators on numbers and bool only; write a #[device] function"
            )),
        }
    }

    /// The value behind references, as operators on references have it.
    pub(crate) fn value_of(&mut self, operand: Operand) -> Operand {
        let operand = self.follow(operand);
        self.read(operand)
    }

    pub(crate) fn compare(&mut self, op: Op, left: Operand, right: Operand) -> Operand {
        let (Operand::Value(l), Operand::Value(r)) = (left, right) else {
            return Operand::Never;
        };
        let signed = matches!(self.type_of(l), Type::Int { signed: true, .. });
        let chosen = match (op, signed) {
            (Op::ULessThan, true) => Op::SLessThan,
            (Op::ULessThanEqual, true) => Op::SLessThanEqual,
            (Op::UGreaterThan, true) => Op::SGreaterThan,
            (Op::UGreaterThanEqual, true) => Op::SGreaterThanEqual,
            (op, _) => op,
        };
        let id = self.emit(chosen, &Type::Bool, &[l, r]);
        let condition = match chosen {
            Op::ULessThan => Some(Condition::Less(l, r)),
            Op::UGreaterThan => Some(Condition::Less(r, l)),
            Op::UGreaterThanEqual => Some(Condition::NotLess(l, r)),
            Op::ULessThanEqual => Some(Condition::NotLess(r, l)),
            _ => None,
        };
        if let Some(condition) = condition {
            self.conditions.insert(id, condition);
        }
        Operand::Value(id)
    }

    fn binary_bool(&mut self, operator: Binary, l: u32, r: u32) -> Operand {
        // A pattern's tests are often known.
        if let (Binary::And, Some(known)) = (operator, self.constants.get(&l)) {
            return Operand::Value(if *known == 0 { l } else { r });
        }
        let not = |builder: &mut Self, id| builder.emit(Op::LogicalNot, &Type::Bool, &[id]);
        let (op, l, r) = match operator {
            Binary::And => (Op::LogicalAnd, l, r),
            Binary::Or => (Op::LogicalOr, l, r),
            Binary::Xor | Binary::NotEqual => (Op::LogicalNotEqual, l, r),
            Binary::Equal => (Op::LogicalEqual, l, r),
            // false is less than true.
            Binary::Less => (Op::LogicalAnd, not(self, l), r),
            Binary::Greater => (Op::LogicalAnd, l, not(self, r)),
            Binary::LessEqual => (Op::LogicalOr, not(self, l), r),
            Binary::GreaterEqual => (Op::LogicalOr, l, not(self, r)),
            _ => return self.refuse("arithmetic on bool"),
        };
        let id = self.emit(op, &Type::Bool, &[l, r]);
        if operator == Binary::And {
            self.conditions.insert(id, Condition::Both(l, r));
        }
        Operand::Value(id)
    }

    fn binary_float(&mut self, operator: Binary, ty: &Type, l: u32, r: u32) -> Operand {
        let (op, ty) = match operator {
            Binary::Add => (Op::FAdd, ty),
            Binary::Sub => (Op::FSub, ty),
            Binary::Mul => (Op::FMul, ty),
            Binary::Div => (Op::FDiv, ty),
            Binary::Rem => (Op::FRem, ty),
            Binary::Equal => (Op::FOrdEqual, &Type::Bool),
            Binary::NotEqual => (Op::FUnordNotEqual, &Type::Bool),
            Binary::Less => (Op::FOrdLessThan, &Type::Bool),
            Binary::LessEqual => (Op::FOrdLessThanEqual, &Type::Bool),
            Binary::Greater => (Op::FOrdGreaterThan, &Type::Bool),
            Binary::GreaterEqual => (Op::FOrdGreaterThanEqual, &Type::Bool),
            _ => return self.refuse("an operator on bits of a floating-point number"),
        };
        self.value(op, ty, &[l, r])
    }

    fn binary_int(
        &mut self,
        operator: Binary,
        ty: &Type,
        (bits, signed): (u32, bool),
        l: u32,
        r: u32,
    ) -> Operand {
        let op = match operator {
            Binary::Add => Op::IAdd,
            Binary::Sub => Op::ISub,
            Binary::Mul => Op::IMul,
            Binary::And => Op::BitwiseAnd,
            Binary::Or => Op::BitwiseOr,
            Binary::Xor => Op::BitwiseXor,
            Binary::Div | Binary::Rem if !signed && self.is_power_of_two(r) => {
                let power = self.most(r);
                let (op, other) = match operator {
                    Binary::Div => (Op::ShiftRightLogical, u64::from(power.trailing_zeros())),
                    _ => (Op::BitwiseAnd, power - 1),
                };
                let other = self.module.integer(bits, other);
                let value = self.emit(op, ty, &[l, other]);
                match operator {
                    Binary::Rem => _ = self.bounds.insert(value, power - 1),
                    _ => self.learn(Op::UDiv, Operand::Value(value), l, r),
                }
                return Operand::Value(value);
            }
            Binary::Div | Binary::Rem => {
                let good = self.has_quotient((bits, signed), l, r);
                let op = match (operator, signed) {
                    (Binary::Div, true) => Op::SDiv,
                    (Binary::Div, false) => Op::UDiv,
                    (_, true) => Op::SRem,
                    (_, false) => Op::UMod,
                };
                let Some(good) = good else {
                    let result = self.value(op, ty, &[l, r]);
                    self.learn(op, result, l, r);
                    return result;
                };
                let (one, zero) = (self.module.integer(bits, 1), self.module.integer(bits, 0));
                let divisor = self.emit(Op::Select, ty, &[good, r, one]);
                let quotient = self.emit(op, ty, &[l, divisor]);
                let result = self.value(Op::Select, ty, &[good, quotient, zero]);
                // Zero where there is no quotient: not less than a divisor of zero.
                if !signed {
                    self.learn(Op::UDiv, result, l, r);
                }
                return result;
            }
            Binary::Shl | Binary::Shr => {
                let Operand::Value(r) = self.cast(Operand::Value(r), ty) else {
                    return Operand::Never;
                };
                let mask = self.module.integer(bits, u64::from(bits - 1));
                let count = self.emit(Op::BitwiseAnd, ty, &[r, mask]);
                let op = match (operator, signed) {
                    (Binary::Shl, _) => Op::ShiftLeftLogical,
                    (_, true) => Op::ShiftRightArithmetic,
                    (_, false) => Op::ShiftRightLogical,
                };
                let shifted = self.value(op, ty, &[l, count]);
                self.learn(op, shifted, l, count);
                return shifted;
            }
            Binary::Equal => {
                let id = self.emit(Op::IEqual, &Type::Bool, &[l, r]);
                self.conditions.insert(id, Condition::Equal(l, r));
                return Operand::Value(id);
            }
            Binary::NotEqual => {
                let id = self.emit(Op::INotEqual, &Type::Bool, &[l, r]);
                self.conditions.insert(id, Condition::Unequal(l, r));
                return Operand::Value(id);
            }
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                let op = match operator {
                    Binary::Less => Op::ULessThan,
                    Binary::LessEqual => Op::ULessThanEqual,
                    Binary::Greater => Op::UGreaterThan,
                    _ => Op::UGreaterThanEqual,
                };
                return self.compare(op, Operand::Value(l), Operand::Value(r));
            }
        };
        let value = self.emit(op, ty, &[l, r]);
        if op == Op::BitwiseAnd && !signed {
            self.bounds.insert(value, self.most(l).min(self.most(r)));
        }
        self.learn(op, Operand::Value(value), l, r);
        Operand::Value(value)
    }

    /// Whether a number is a constant power of two: passes that follow a loop's counter know shifts.
    fn is_power_of_two(&self, id: u32) -> bool {
        self.constants.contains_key(&id) && self.most(id).is_power_of_two()
    }

    /// The condition under which a division has a result: not by zero, nor of the least number by -1. `None` if always.
    pub(crate) fn has_quotient(
        &mut self,
        (bits, signed): (u32, bool),
        l: u32,
        r: u32,
    ) -> Option<u32> {
        let all = u64::MAX >> (64 - bits);
        let known = self.constants.get(&r).map(|value| value & all);
        if known != Some(0) && known.is_some_and(|value| !signed || value != all) {
            return None;
        }
        let zero = self.module.integer(bits, 0);
        let mut good = self.emit(Op::INotEqual, &Type::Bool, &[r, zero]);
        if signed {
            let least = self.module.integer(bits, 1 << (bits - 1));
            let minus_one = self.module.integer(bits, all);
            let l = self.emit(Op::INotEqual, &Type::Bool, &[l, least]);
            let r = self.emit(Op::INotEqual, &Type::Bool, &[r, minus_one]);
            let either = self.emit(Op::LogicalOr, &Type::Bool, &[l, r]);
            good = self.emit(Op::LogicalAnd, &Type::Bool, &[good, either]);
        }
        Some(good)
    }

    /// `operator operand`.
    pub fn unary(&mut self, operator: Unary, operand: Operand) -> Operand {
        let Operand::Value(id) = self.value_of(operand) else {
            return Operand::Never;
        };
        if let Some(vector) = self.unary_vector(operator, id) {
            return vector;
        }
        let ty = self.type_of(id);
        let op = match (operator, &ty) {
            (Unary::Not, Type::Bool) => {
                let not = self.emit(Op::LogicalNot, &ty, &[id]);
                self.conditions.insert(not, Condition::Not(id));
                return Operand::Value(not);
            }
            (Unary::Not, Type::Int { .. }) => Op::Not,
            (Unary::Neg, Type::Int { .. }) => Op::SNegate,
            (Unary::Neg, Type::Float(_)) => Op::FNegate,
            (_, other) => {
                let text = format!(
                    "an operator on a value of {other}: kernels have operators on numbers and bool only; write a #[device] function"
                );
                return self.refuse(text);
            }
        };
        self.value(op, &ty, &[id])
    }

    /// `operand as to`.
    pub fn cast(&mut self, operand: Operand, to: &Type) -> Operand {
        let Operand::Value(id) = self.read(operand) else {
            return Operand::Never;
        };
        let from = self.type_of(id);
        if from == *to {
            return Operand::Value(id);
        }
        if from.layout().is_some_and(|of| !of.variants.is_empty()) {
            // An enum without data.
            let number = self.variant_number(operand);
            return self.cast(number, to);
        }
        match (&from, to) {
            (Type::Bool, Type::Int { bits, .. }) => {
                let one = self.module.integer(*bits, 1);
                let zero = self.module.integer(*bits, 0);
                self.value(Op::Select, to, &[id, one, zero])
            }
            (Type::Int { bits: a, signed }, Type::Int { bits: b, .. }) => {
                let op = match (a == b, signed) {
                    (true, _) => Op::CopyObject,
                    (false, true) => Op::SConvert,
                    (false, false) => Op::UConvert,
                };
                let cast = self.emit(op, to, &[id]);
                if op != Op::SConvert {
                    self.learn_conversion(cast, id, b >= a);
                }
                if let Some(known) = self
                    .constants
                    .get(&id)
                    .copied()
                    .filter(|_| b > a && !signed)
                {
                    self.constants.insert(cast, known);
                }
                if b >= a && !signed {
                    self.bounds.insert(cast, self.most(id));
                }
                Operand::Value(cast)
            }
            (Type::Int { signed, .. }, Type::Float(_)) => {
                let op = if *signed {
                    Op::ConvertSToF
                } else {
                    Op::ConvertUToF
                };
                self.value(op, to, &[id])
            }
            (Type::Float(_), Type::Int { signed, .. }) => {
                let op = if *signed {
                    Op::ConvertFToS
                } else {
                    Op::ConvertFToU
                };
                let cast = self.emit(op, to, &[id]);
                self.module
                    .decorate(cast, Decoration::SaturatedConversion, &[]);
                Operand::Value(cast)
            }
            (Type::Float(_), Type::Float(_)) => self.value(Op::FConvert, to, &[id]),
            (from, to) => {
                let text = format!("a cast from {from} to {to}: kernels cast numbers and bool");
                self.refuse(text)
            }
        }
    }
}
