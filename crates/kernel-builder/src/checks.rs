//! Operators of integers that fault in a kernel's reporting form: overflow, division by zero, shifts by too much.
//!
//! Known ranges and orders of the operands save checks, as for indices.

use spirv::Op;

use crate::arithmetic::{Binary, Unary};
use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::types::Type;

/// The text of an overflow.
fn overflow_of(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "attempt to add with overflow",
        Binary::Sub => "attempt to subtract with overflow",
        Binary::Mul => "attempt to multiply with overflow",
        Binary::Div => "attempt to divide with overflow",
        Binary::Rem => "attempt to calculate the remainder with overflow",
        Binary::Shl => "attempt to shift left with overflow",
        _ => "attempt to shift right with overflow",
    }
}

/// The text of a division by zero.
fn division_by_zero(operator: Binary) -> &'static str {
    match operator {
        Binary::Div => "attempt to divide by zero",
        _ => "attempt to calculate the remainder with a divisor of zero",
    }
}

impl Builder {
    /// `left operator right` of the user, checked in the reporting form.
    pub(crate) fn binary_checked(
        &mut self,
        operator: Binary,
        left: Operand,
        right: Operand,
    ) -> Operand {
        if !self.reports() {
            return self.binary(operator, left, right);
        }
        let (left, right) = (self.value_of(left), self.value_of(right));
        let (Operand::Value(l), Operand::Value(r)) = (left, right) else {
            return Operand::Never;
        };
        let (Type::Int { bits, signed }, Type::Int { .. }) = (self.type_of(l), self.type_of(r))
        else {
            return self.binary(operator, left, right);
        };
        match operator {
            Binary::Add | Binary::Sub | Binary::Mul => {
                if !self.may_overflow(operator, (bits, signed), l, r) {
                    return self.binary(operator, left, right);
                }
                let Some((result, wraps)) = self.overflowing(operator, l, r) else {
                    return Operand::Never;
                };
                let fits = self.unary(Unary::Not, wraps);
                self.report_unless(fits, &[overflow_of(operator)], &[]);
                result
            }
            Binary::Div | Binary::Rem => {
                self.check_division(operator, (bits, signed), l, r);
                self.binary(operator, left, right)
            }
            Binary::Shl | Binary::Shr => {
                self.check_shift(operator, bits, r);
                self.binary(operator, left, right)
            }
            _ => self.binary(operator, left, right),
        }
    }

    /// `operator operand` of the user, checked in the reporting form.
    pub(crate) fn unary_checked(&mut self, operator: Unary, operand: Operand) -> Operand {
        if !self.reports() || operator != Unary::Neg {
            return self.unary(operator, operand);
        }
        let value = self.value_of(operand);
        if let Operand::Value(id) = value {
            self.check_negation(id);
        }
        self.unary(operator, value)
    }

    /// Whether a sum, a difference or a product is not known to fit.
    fn may_overflow(&self, operator: Binary, (bits, signed): (u32, bool), l: Id, r: Id) -> bool {
        if signed {
            return true;
        }
        let (left, right) = (self.most(l), self.most(r));
        let most = match operator {
            Binary::Add => left.checked_add(right),
            Binary::Mul => left.checked_mul(right),
            _ => return !self.is_below(r, l, false),
        };
        if most.is_some_and(|most| most <= u64::MAX >> (64 - bits)) {
            return false;
        }
        let is_less_than_another = |id| {
            let mut facts = self.facts.iter();
            facts.any(|fact| fact.low == id && fact.strict)
        };
        let small = bits == 64 && self.is_small(l) && self.is_small(r);
        let counts = |at, by| self.known(by) == Some(1) && is_less_than_another(at);
        operator != Binary::Add || !(small || counts(l, r) || counts(r, l))
    }

    fn check_division(&mut self, operator: Binary, (bits, signed): (u32, bool), l: Id, r: Id) {
        let all = u64::MAX >> (64 - bits);
        let constant = |builder: &Self, id| builder.constants.get(&id).map(|value| value & all);
        let zero = match self.integer(bits, signed, 0) {
            Operand::Value(zero) => zero,
            _ => return,
        };
        let divisor = constant(self, r);
        if divisor.is_none_or(|divisor| divisor == 0) && !self.is_less(zero, r) {
            let some = self.value(Op::INotEqual, &Type::Bool, &[r, zero]);
            self.report_unless(some, &[division_by_zero(operator)], &[]);
        }
        let least = 1 << (bits - 1);
        let may_be = |value: Option<u64>, wanted| value.is_none_or(|value| value == wanted);
        if signed && may_be(divisor, all) && may_be(constant(self, l), least) {
            let (least, minus_one) = (
                self.module.integer(bits, least),
                self.module.integer(bits, all),
            );
            let l = self.emit(Op::INotEqual, &Type::Bool, &[l, least]);
            let r = self.emit(Op::INotEqual, &Type::Bool, &[r, minus_one]);
            let fits = self.value(Op::LogicalOr, &Type::Bool, &[l, r]);
            self.report_unless(fits, &[overflow_of(operator)], &[]);
        }
    }

    fn check_shift(&mut self, operator: Binary, bits: u32, count: Id) {
        let Type::Int { bits: own, .. } = self.type_of(count) else {
            return;
        };
        // A negative count is a large one.
        let known = self
            .known(count)
            .or_else(|| self.bounds.get(&count).copied());
        if known.is_some_and(|known| known < u64::from(bits)) {
            return;
        }
        let limit = self.module.integer(own, u64::from(bits));
        let fits = self.value(Op::ULessThan, &Type::Bool, &[count, limit]);
        self.report_unless(fits, &[overflow_of(operator)], &[]);
    }

    /// Reports the negation of the least number.
    fn check_negation(&mut self, id: Id) {
        if let Type::Int { bits, signed: true } = self.type_of(id) {
            let least = self.module.integer(bits, 1 << (bits - 1));
            let fits = self.value(Op::INotEqual, &Type::Bool, &[id, least]);
            self.report_unless(fits, &["attempt to negate with overflow"], &[]);
        }
    }

    /// Checks the operands of a method of integers in the reporting form.
    pub(crate) fn check_method(&mut self, name: &str, ids: &[Id]) {
        let Some(Type::Int { bits, signed }) = ids.first().map(|id| self.type_of(*id)) else {
            return;
        };
        if !self.reports() {
            return;
        }
        match (name, ids) {
            ("abs", [x]) => self.check_negation(*x),
            ("div_ceil" | "div_euclid", [l, r]) => {
                self.check_division(Binary::Div, (bits, signed), *l, *r);
            }
            ("rem_euclid", [l, r]) => self.check_division(Binary::Rem, (bits, signed), *l, *r),
            _ => {}
        }
    }
}
