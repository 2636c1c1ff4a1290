//! Values for which an instruction has no meaning: zero divisors, shifts beyond the width, floats beyond the integer.

use std::collections::HashSet;

use super::state::Instrument;
use crate::ir::{
    BinaryOp, CheckOp, ConvertOp, Function, Op, Predicate, UnaryOp, ValueId, ValueMistake,
};
use crate::types::{Constant, Type, TypeId};

/// The values that only selects use, as one of their two.
pub(super) fn only_selected(f: &Function) -> HashSet<ValueId> {
    let mut selected = HashSet::new();
    let mut other = HashSet::new();
    for block in &f.blocks {
        for id in &block.insts {
            match &f.insts[id.index()].op {
                Op::Select {
                    cond,
                    then,
                    otherwise,
                } => {
                    other.insert(*cond);
                    selected.extend([*then, *otherwise]);
                }
                op => op.operands(|v| {
                    other.insert(v);
                }),
            }
        }
        other.extend(block.term.operand());
    }
    selected.retain(|v| !other.contains(v));
    selected
}

impl Instrument<'_> {
    pub(super) fn is_selected(&self, result: Option<ValueId>) -> bool {
        result.is_some_and(|result| self.selected.contains(&result))
    }

    pub(super) fn check_binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) {
        use BinaryOp as B;
        let scalar = self.e.types.scalar_of(self.e.f.ty(b));
        let Some(&Type::Int(bits)) = scalar.map(|ty| self.e.types.get(ty)) else {
            return;
        };
        match op {
            B::UDiv | B::URem => self.check_divisor(a, b, None),
            B::SDiv | B::SRem | B::SMod => self.check_divisor(a, b, Some(1 << (bits - 1))),
            B::Shl | B::LShr | B::AShr => self.check_shift(a, b, bits),
            _ => {}
        }
    }

    /// `least`: the number that division by -1 does not leave in range.
    fn check_divisor(&mut self, a: ValueId, b: ValueId, least: Option<u64>) {
        let ty = self.e.f.ty(b);
        let zero = self.splat(ty, 0);
        let known = self.e.known_int(b);
        let minus_one = match *self.e.ty(b) {
            Type::Int(bits) => u64::MAX >> (64 - u32::from(bits)),
            _ => u64::MAX,
        };
        if known.is_some_and(|n| n != 0 && (least.is_none() || n != minus_one)) {
            return;
        }
        let Some(zero) = zero else { return };
        let mut wrong = self.compare(Predicate::IEq, b, zero);
        if let Some(least) = least
            && let Some(least) = self.splat(ty, least)
            && let Some(minus_one) = self.splat(ty, u64::MAX)
        {
            let is_least = self.compare(Predicate::IEq, a, least);
            let is_minus_one = self.compare(Predicate::IEq, b, minus_one);
            let overflows = self.binary(BinaryOp::And, is_least, is_minus_one);
            wrong = self.binary(BinaryOp::Or, wrong, overflows);
        }
        self.report(ValueMistake::Division, wrong, a, b);
    }

    fn check_shift(&mut self, a: ValueId, b: ValueId, bits: u8) {
        let width = u64::from(bits);
        if self.e.known_int(b).is_some_and(|n| n < width) || self.is_masked(b, width) {
            return;
        }
        // The second half of a rotation, which compilers write as `x << n | x >> (width - n)` for any n.
        if let Some(&Op::Binary(BinaryOp::ISub, whole, _, _)) = self.e.def(b)
            && (self.e.known_int(whole) == Some(width) || self.is_splat_of(whole, width))
        {
            return;
        }
        let ty = self.e.f.ty(b);
        let Some(width) = self.splat(ty, width) else {
            return;
        };
        let wrong = self.compare(Predicate::UGe, b, width);
        self.report(ValueMistake::Shift, wrong, a, b);
    }

    /// Whether `v` is less than `bound`, because it is masked. OpenCL C's compilers mask each shift.
    fn is_masked(&self, v: ValueId, bound: u64) -> bool {
        match self.e.def(v) {
            Some(Op::Binary(BinaryOp::And, a, b, _)) => [a, b].into_iter().any(|&mask| {
                self.e.known_int(mask).is_some_and(|n| n < bound)
                    || self.is_splat_below(mask, bound)
            }),
            Some(&Op::Convert(ConvertOp::ZExt | ConvertOp::Trunc, v, _)) => {
                self.is_masked(v, bound)
            }
            _ => self.is_splat_below(v, bound),
        }
    }

    fn is_splat_of(&self, v: ValueId, value: u64) -> bool {
        self.is_splat_below(v, value + 1) && !self.is_splat_below(v, value)
    }

    fn is_splat_below(&self, v: ValueId, bound: u64) -> bool {
        let below = |id| match self.e.constants.get(id) {
            Constant::Int(n) => *n < bound,
            _ => false,
        };
        match self.e.const_of(v).map(|id| self.e.constants.get(id)) {
            Some(Constant::Composite(parts)) => parts.iter().all(|&part| below(part)),
            _ => false,
        }
    }

    /// Float to integer: what lies outside the integer's range is wrong, and so is NaN.
    pub(super) fn check_conversion(&mut self, op: ConvertOp, a: ValueId, result: ValueId) {
        let scalar = |ty| self.e.types.scalar_of(ty).map(|ty| self.e.types.get(ty));
        let (Some(&Type::Float(from)), Some(&Type::Int(to))) =
            (scalar(self.e.f.ty(a)), scalar(self.e.f.ty(result)))
        else {
            return;
        };
        if from < 32 {
            return;
        }
        let exact = |power: i32| 2f64.powi(power);
        let bits = i32::from(to);
        // The integers below `low` are out of range; `low` itself may be none that the float type can tell from its
        // neighbour, and is then in range.
        let (low, is_low_allowed, high) = match op {
            ConvertOp::FToU => (-1.0, false, exact(bits)),
            _ if from > to => (-exact(bits - 1) - 1.0, false, exact(bits - 1)),
            _ => (-exact(bits - 1), true, exact(bits - 1)),
        };
        let ty = self.e.f.ty(a);
        let (low, high) = (self.float(ty, from, low), self.float(ty, from, high));
        let below = match is_low_allowed {
            true => Predicate::FUnordLt,
            false => Predicate::FUnordLe,
        };
        let is_below = self.compare(below, a, low);
        let is_above = self.compare(Predicate::FUnordGe, a, high);
        let wrong = self.binary(BinaryOp::Or, is_below, is_above);
        let bits = self.e.int(64, u64::from(to));
        self.report(ValueMistake::Conversion, wrong, a, bits);
    }

    fn report(&mut self, mistake: ValueMistake, wrong: ValueId, a: ValueId, b: ValueId) {
        let flag = self.e.types.bool();
        let zero = self.e.int(64, 0);
        let (wrong, a, b) = match self.e.ty(wrong) {
            Type::Vector(..) => {
                let any = Op::Unary(UnaryOp::AnyLane, wrong, crate::ir::Flags::default());
                (self.emit(any, flag), zero, zero)
            }
            _ => {
                let a = self.as_word(a).unwrap_or(zero);
                let b = self.as_word(b).unwrap_or(zero);
                (wrong, a, b)
            }
        };
        self.tell(CheckOp::Value(mistake), vec![wrong, a, b]);
    }

    fn compare(&mut self, predicate: Predicate, a: ValueId, b: ValueId) -> ValueId {
        let flag = self.e.types.bool();
        let ty = match *self.e.ty(a) {
            Type::Vector(_, n) => self.e.types.intern(Type::Vector(flag, n)),
            _ => flag,
        };
        self.emit(Op::Compare(predicate, a, b), ty)
    }

    /// The integer, or a vector of it.
    fn splat(&mut self, ty: TypeId, value: u64) -> Option<ValueId> {
        let (scalar, lanes) = match *self.e.types.get(ty) {
            Type::Vector(element, n) => (element, Some(n)),
            _ => (ty, None),
        };
        let &Type::Int(bits) = self.e.types.get(scalar) else {
            return None;
        };
        let value = value & (u64::MAX >> (64 - u32::from(bits)));
        let one = self.e.constants.intern(scalar, Constant::Int(value));
        let id = match lanes {
            None => one,
            Some(n) => {
                let parts = Constant::Composite(vec![one; n as usize]);
                self.e.constants.intern(ty, parts)
            }
        };
        Some(self.e.constant(id))
    }

    /// The number, or a vector of it.
    fn float(&mut self, ty: TypeId, bits: u8, value: f64) -> ValueId {
        let bits = match bits {
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let id = match *self.e.types.get(ty) {
            Type::Vector(element, n) => {
                let one = self.e.constants.intern(element, Constant::Float(bits));
                let parts = Constant::Composite(vec![one; n as usize]);
                self.e.constants.intern(ty, parts)
            }
            _ => self.e.constants.intern(ty, Constant::Float(bits)),
        };
        self.e.constant(id)
    }
}
