//! Known orders of integers: indices that are known to be inside are not checked.
//!
//! All relations are of unsigned numbers. Some hold always, because of how a value was computed; others, the builder's
//! facts, hold where a condition does, and end with the code that it guards.

use std::collections::HashSet;

use spirv::Op;

use crate::builder::{Builder, Operand};
use crate::facts::{Condition, Relation};
use crate::module::Id;
use crate::types::Type;

/// The most values that the search for a relation visits.
const VISITED: usize = 64;

impl Builder {
    /// A constant without a sign.
    pub(crate) fn known(&self, id: Id) -> Option<u64> {
        let value = *self.constants.get(&id)?;
        match self.type_of(id) {
            Type::Int { bits, .. } => Some(value & (u64::MAX >> (64 - bits.clamp(1, 64)))),
            _ => None,
        }
    }

    /// The largest number of a narrow type.
    fn type_limit(&self, id: Id) -> Option<u64> {
        if let Some(bound) = self.bounds.get(&id) {
            return Some(*bound);
        }
        match self.type_of(id) {
            Type::Int { bits, .. } if bits < 64 => Some((1 << bits) - 1),
            _ => None,
        }
    }

    /// Whether the first is known to be less than the second here.
    pub(crate) fn is_less(&self, low: Id, high: Id) -> bool {
        self.is_below(low, high, true)
    }

    /// Whether the first is known to be less than the second, or equal unless strict.
    pub(crate) fn is_below(&self, low: Id, high: Id, strict: bool) -> bool {
        let limit = self.known(high);
        let mut next = vec![(low, false)];
        let mut seen = HashSet::new();
        while let Some((at, is_less)) = next.pop() {
            let enough = is_less || !strict;
            if at == high && enough {
                return true;
            }
            let value = self.known(at);
            let most = value.or_else(|| self.type_limit(at));
            if let (Some(value), Some(limit)) = (most, limit)
                && (value < limit || value == limit && enough)
            {
                return true;
            }
            if !seen.insert((at, is_less)) || seen.len() > VISITED {
                continue;
            }
            for fact in &self.facts {
                if fact.low == at {
                    next.push((fact.high, is_less || fact.strict));
                } else if let (Some(value), Some(low)) = (value, self.known(fact.low))
                    && value <= low
                {
                    // A smaller constant.
                    next.push((fact.high, is_less || fact.strict || value < low));
                } else if let (Some(value), Some(low)) = (value, self.known(fact.low))
                    && fact.strict
                    && value == low + 1
                {
                    next.push((fact.high, is_less));
                }
            }
            for (above, is_strict) in self.always.above.get(&at).into_iter().flatten() {
                next.push((*above, is_less || *is_strict));
            }
        }
        false
    }

    /// Whether a number is far below the largest.
    pub(crate) fn is_small(&self, id: Id) -> bool {
        let is = |id: Id| {
            self.always.small.contains(&id) || self.known(id).is_some_and(|value| value < 1 << 32)
        };
        is(id)
            || self
                .facts
                .iter()
                .any(|fact| fact.low == id && is(fact.high))
            || self
                .always
                .above
                .get(&id)
                .is_some_and(|all| all.iter().any(|(high, _)| is(*high)))
    }

    /// A length, which memory bounds, or an index of a work-item, which Level Zero's launches bound.
    pub(crate) fn small(&mut self, operand: Operand) -> Operand {
        if let Operand::Value(id) = operand {
            self.always.small.insert(id);
        }
        operand
    }

    /// A number that is never zero.
    pub(crate) fn positive(&mut self, id: Id) {
        let zero = self.size(0);
        self.always(zero, id, true);
    }

    fn always(&mut self, low: Id, high: Id, strict: bool) {
        let above = self.always.above.entry(low).or_default();
        above.push((high, strict));
    }

    /// Learns from an operation on integers.
    pub(crate) fn learn(&mut self, op: Op, result: Operand, left: Id, right: Id) {
        let Operand::Value(result) = result else {
            return;
        };
        self.learn_again(op, result, left, right);
        match op {
            Op::UMod => {
                // The divisor is a constant that is not zero.
                self.always(result, right, true);
                self.always(result, left, false);
            }
            Op::UDiv | Op::ShiftRightLogical => self.always(result, left, false),
            Op::BitwiseAnd => {
                self.always(result, left, false);
                self.always(result, right, false);
            }
            Op::ISub if self.is_below(right, left, false) => {
                let positive = self.known(right).is_some_and(|value| value > 0);
                self.always(result, left, positive);
            }
            Op::IAdd => {
                let bits = match self.type_of(result) {
                    Type::Int { bits, .. } => bits,
                    _ => return,
                };
                if bits == 64 && self.is_small(left) && self.is_small(right) {
                    let positive = |id| self.known(id).is_some_and(|value| value > 0);
                    let (by_left, by_right) = (positive(left), positive(right));
                    self.always(left, result, by_right);
                    self.always(right, result, by_left);
                }
                // Counting up to a limit does not pass it.
                if self.known(right) == Some(1) {
                    let above: Vec<Id> = self
                        .facts
                        .iter()
                        .filter(|fact| fact.low == left && fact.strict)
                        .map(|fact| fact.high)
                        .collect();
                    for high in above {
                        self.always(result, high, false);
                    }
                }
            }
            _ => {}
        }
    }

    /// The same operation on the same operands has the same result.
    fn learn_again(&mut self, op: Op, result: Id, left: Id, right: Id) {
        let key = (op as u32, left, right);
        let before = self.always.computed.get(&key).copied();
        // The fact that marks the first one is known only where that one was computed.
        let is_mark = |of: &Relation, id| of.low == id && of.high == id;
        if let Some((place, first)) = before
            && self.facts.get(place).is_some_and(|of| is_mark(of, first))
        {
            self.fact(first, result, false);
            self.fact(result, first, false);
            return;
        }
        self.always.computed.insert(key, (self.facts.len(), result));
        self.fact(result, result, false);
    }

    /// Learns from the smaller or the larger of two.
    pub(crate) fn learn_choice(&mut self, is_least: bool, result: Operand, ids: &[Id]) {
        let Operand::Value(result) = result else {
            return;
        };
        for id in ids {
            match is_least {
                true => self.always(result, *id, false),
                false => self.always(*id, result, false),
            }
        }
    }

    /// Learns from a conversion between integers that does not extend a sign.
    pub(crate) fn learn_conversion(&mut self, result: Id, from: Id, widens: bool) {
        self.always(result, from, false);
        if widens {
            self.always(from, result, false);
            if matches!(
                self.type_of(from),
                Type::Int {
                    bits: 8 | 16 | 32,
                    ..
                }
            ) {
                self.always.small.insert(result);
            }
        }
    }

    fn fact(&mut self, low: Id, high: Id, strict: bool) {
        self.facts.push(Relation { low, high, strict });
    }

    /// A relation that holds until the facts end that are known now.
    pub(crate) fn assume_order(&mut self, low: Operand, high: Operand, strict: bool) {
        if let (Operand::Value(low), Operand::Value(high)) = (low, high)
            && matches!(self.type_of(low), Type::Int { signed: false, .. })
        {
            self.fact(low, high, strict);
        }
    }

    /// Takes a condition as known to hold, or not to hold.
    pub(crate) fn assume(&mut self, condition: Operand, holds: bool) {
        let Operand::Value(id) = condition else {
            return;
        };
        let mut next = vec![(id, holds)];
        // A constant may be its own condition: true is the negation of false, and false of true.
        let mut seen = HashSet::new();
        while let Some((id, holds)) = next.pop() {
            if !seen.insert((id, holds)) || seen.len() > VISITED {
                continue;
            }
            match (self.conditions.get(&id).copied(), holds) {
                (Some(Condition::Less(low, high)), true)
                | (Some(Condition::NotLess(low, high)), false) => self.fact(low, high, true),
                (Some(Condition::Less(high, low)), false)
                | (Some(Condition::NotLess(high, low)), true) => self.fact(low, high, false),
                (Some(Condition::Equal(a, b)), true) | (Some(Condition::Unequal(a, b)), false) => {
                    self.fact(a, b, false);
                    self.fact(b, a, false);
                }
                (Some(Condition::Both(a, b)), true) => next.extend([(b, true), (a, true)]),
                (Some(Condition::Not(of)), holds) => next.push((of, !holds)),
                _ => {}
            }
        }
    }
}
