//! Exact integers at a function's start, and conditions about them: what [`super::index_ends`] computes with.

use std::collections::HashMap;

use super::edit::Edit;
use crate::ir::{
    BinaryOp, ConvertOp, Flags, InstId, Op, Predicate, Rounding, ValueId, known_signed,
};
use crate::types::{Type, TypeId};

/// The largest end: sums of two fit 64 bits.
pub(super) const FAR: i128 = 1 << 61;
/// The largest step from lane to lane in a condition: all lanes agree in most vectors. Not measured.
const NEAR: i128 = 4;

/// An integer at the function's start: a constant, or a value of 64 bits that lies between two constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub(super) value: Option<ValueId>,
    pub(super) least: i128,
    pub(super) most: i128,
    /// The step from lane to lane of a row, if it is constant.
    pub(super) step: Option<i128>,
}

/// Both ends, inclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) low: Number,
    pub(super) high: Number,
}

/// The bits of an integer as a number between these two.
pub(super) fn limits(bits: u8, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// Collects instructions and conditions for the function's start.
pub(super) struct Numbers<'e, 'm> {
    pub(super) e: &'e mut Edit<'m>,
    /// The instructions, in order.
    pub(super) insts: Vec<InstId>,
    /// The conditions, Bools.
    pub(super) conditions: Vec<ValueId>,
    made: HashMap<String, ValueId>,
}

impl Number {
    /// A constant.
    pub(super) fn whole(number: i128) -> Self {
        Self {
            value: None,
            least: number,
            most: number,
            step: Some(0),
        }
    }
}

impl<'e, 'm> Numbers<'e, 'm> {
    pub(super) fn new(e: &'e mut Edit<'m>) -> Self {
        Self {
            e,
            insts: Vec::new(),
            conditions: Vec::new(),
            made: HashMap::new(),
        }
    }

    pub(super) fn condition(&mut self, test: ValueId) {
        if !self.conditions.contains(&test) {
            self.conditions.push(test);
        }
    }

    pub(super) fn bits(&self, v: ValueId) -> Option<u8> {
        match *self.e.ty(v) {
            Type::Int(bits) if bits <= 64 => Some(bits),
            _ => None,
        }
    }

    pub(super) fn constant(&self, v: ValueId) -> Option<i128> {
        known_signed(self.e.types, self.e.constants, self.e.f, v).map(i128::from)
    }

    /// The result of an operation, which is computed once.
    pub(super) fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let key = format!("{op:?} {ty:?}");
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        let (inst, value) = self.e.make(op, ty, 0);
        self.insts.push(inst);
        self.made.insert(key, value);
        value
    }

    pub(super) fn compare(&mut self, predicate: Predicate, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.e.types.bool();
        self.emit(Op::Compare(predicate, a, b), ty)
    }

    /// `v` in 64 bits.
    pub(super) fn widened(&mut self, v: ValueId, signed: bool) -> ValueId {
        if self.bits(v) == Some(64) {
            return v;
        }
        let op = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        let ty = self.e.types.int(64);
        self.emit(Op::Convert(op, v, Rounding::Default), ty)
    }

    pub(super) fn value(&mut self, number: Number) -> ValueId {
        match number.value {
            Some(value) => value,
            None => self.e.int(64, number.least as u64),
        }
    }

    pub(super) fn operate(
        &mut self,
        op: BinaryOp,
        a: Number,
        b: Number,
        least: i128,
        most: i128,
    ) -> Option<Number> {
        if least < -FAR || most > FAR {
            return None;
        }
        if least == most {
            return Some(Number::whole(least));
        }
        let step = match (op, a.step, b.step) {
            (BinaryOp::IAdd, Some(a), Some(b)) => Some(a + b),
            (BinaryOp::ISub, Some(a), Some(b)) => Some(a - b),
            (_, Some(0), Some(0)) => Some(0),
            (BinaryOp::IMul, Some(step), _) if b.value.is_none() => step.checked_mul(b.least),
            (BinaryOp::IMul, _, Some(step)) if a.value.is_none() => step.checked_mul(a.least),
            _ => None,
        };
        let (a, b) = (self.value(a), self.value(b));
        let ty = self.e.types.int(64);
        let value = self.emit(Op::Binary(op, a, b, Flags::default()), ty);
        Some(Number {
            value: Some(value),
            least,
            most,
            step,
        })
    }

    pub(super) fn add(&mut self, a: Number, b: Number) -> Option<Number> {
        match (a.value, b.value) {
            (None, _) if a.least == 0 => Some(b),
            (_, None) if b.least == 0 => Some(a),
            _ => self.operate(BinaryOp::IAdd, a, b, a.least + b.least, a.most + b.most),
        }
    }

    pub(super) fn subtract(&mut self, a: Number, b: Number) -> Option<Number> {
        match b.value {
            None => self.add(a, Number::whole(-b.least)),
            Some(_) => self.operate(BinaryOp::ISub, a, b, a.least - b.most, a.most - b.least),
        }
    }

    pub(super) fn larger(&mut self, a: Number, b: Number) -> Option<Number> {
        if a.least >= b.most {
            return Some(a);
        }
        if b.least >= a.most {
            return Some(b);
        }
        self.operate(
            BinaryOp::SMax,
            a,
            b,
            a.least.max(b.least),
            a.most.max(b.most),
        )
    }

    pub(super) fn smaller(&mut self, a: Number, b: Number) -> Option<Number> {
        if a.most <= b.least {
            return Some(a);
        }
        if b.most <= a.least {
            return Some(b);
        }
        self.operate(
            BinaryOp::SMin,
            a,
            b,
            a.least.min(b.least),
            a.most.min(b.most),
        )
    }

    /// Makes a condition of `number <= limit`, unless it is known. `None` if it is known to fail.
    pub(super) fn at_most(&mut self, number: Number, limit: i128) -> Option<()> {
        self.limited(
            Predicate::SLe,
            number,
            limit,
            number.most <= limit,
            number.least > limit,
        )
    }

    /// The same of `number >= limit`.
    pub(super) fn at_least(&mut self, number: Number, limit: i128) -> Option<()> {
        self.limited(
            Predicate::SGe,
            number,
            limit,
            number.least >= limit,
            number.most < limit,
        )
    }

    pub(super) fn limited(
        &mut self,
        predicate: Predicate,
        number: Number,
        limit: i128,
        holds: bool,
        fails: bool,
    ) -> Option<()> {
        if holds {
            return Some(());
        }
        let value = number.value.filter(|_| !fails)?;
        is_near(number)?;
        let to = self.e.int(64, limit as u64);
        let test = self.compare(predicate, value, to);
        self.condition(test);
        Some(())
    }

    /// Makes it a condition that the ends are numbers of so many bits.
    pub(super) fn fits(&mut self, ends: Ends, bits: u8, signed: bool) -> Option<()> {
        let (least, most) = limits(bits, signed);
        self.at_least(ends.low, least)?;
        match most > FAR {
            true => Some(()),
            false => self.at_most(ends.high, most),
        }
    }
}

/// `Some` if few vectors have lanes on both sides of a limit.
pub(super) fn is_near(number: Number) -> Option<()> {
    number.step.filter(|step| step.abs() <= NEAR).map(|_| ())
}
