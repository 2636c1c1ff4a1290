//! Facts about single values: bounds, low bits, and the operations that compute them.

use std::cell::RefCell;

use crate::abi::MOST_ITEMS;
use crate::ir::{
    BinaryOp, Builtin, ConvertOp, Function, Module, Op, UnaryOp, ValueDef, ValueId, known_signed,
};
use crate::types::{Constant, Constants, Type, Types};

/// Both ends of a range, inclusive.
pub type Range = [i64; 2];

/// The largest bound of a range: sums and products of two fit an `i128`.
const FAR: u128 = 1 << 62;
/// Times that the values of a loop are computed until they stay the same. If they do not, they are computed once more
/// from nothing: low bits that a loop carries are unknown then. A loop that shifts to the right loses one bit in each
/// round. In our corpora 69 questions reach this bound; without it the longest takes 66 rounds (2026-11).
const ROUNDS: usize = 8;
/// Low bits of an integer that is zero.
const ALL_BITS: u32 = 64;

/// The operations that compute a value from ids, arguments and constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FromIds {
    /// Operations on the longest path.
    pub depth: u32,
    /// Operations and operands on all paths: an operand that is used twice counts twice.
    pub size: u32,
}

/// The facts about a value.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Known {
    range: Option<Range>,
    zero_bits: u32,
    constant_term: u64,
    from_ids: Option<FromIds>,
}

impl Known {
    /// Of any value.
    const NOTHING: Self = Self {
        range: None,
        zero_bits: 0,
        constant_term: 0,
        from_ids: None,
    };
    /// The start of a fixed point: operands can only lower the number of zero bits.
    const OPEN: Self = Self {
        zero_bits: ALL_BITS,
        ..Self::NOTHING
    };
}

/// The index facts of a function. Each value is analysed once, when it is asked for.
///
/// ```
/// use kernel_ir::index::IndexFacts;
/// let text = "kernel @k(%out: ptr<local>) {
/// b0:
///   %l: i64 = wi.LocalInvocationId 0
///   %m: i64 = shl %l, i64 2
///   store %out, %m align 8
///   ret
/// }";
/// let module = kernel_ir::parse(text)?;
/// let function = &module.functions[0];
/// let facts = IndexFacts::new(&module, function);
/// let m = function.insts[1].result.ok_or("no result")?;
/// assert_eq!(facts.range(m), Some([0, 65_535 * 4]));
/// assert_eq!(facts.zero_bits(m), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IndexFacts<'f> {
    types: &'f Types,
    constants: &'f Constants,
    function: &'f Function,
    /// By value; empty until the first question.
    known: RefCell<Vec<State>>,
}

/// The progress of the analysis at a value.
#[derive(Clone, Copy)]
enum State {
    Unseen,
    /// Its operands come first.
    Waiting,
    Known(Known),
}

impl State {
    fn known(self) -> Option<Known> {
        match self {
            Self::Known(known) => Some(known),
            Self::Unseen | Self::Waiting => None,
        }
    }
}

impl<'f> IndexFacts<'f> {
    /// Of a function of `module`.
    #[must_use]
    pub fn new(module: &'f Module, function: &'f Function) -> Self {
        Self::with(&module.types, &module.constants, function)
    }

    /// As [`Self::new`], from the module's types and constants.
    pub(crate) fn with(types: &'f Types, constants: &'f Constants, function: &'f Function) -> Self {
        Self {
            types,
            constants,
            function,
            known: RefCell::default(),
        }
    }

    /// The bounds of a number that equals the integer `v` modulo its width; `None` where nothing is known.
    #[must_use]
    pub fn range(&self, v: ValueId) -> Option<Range> {
        self.known(v).range
    }

    /// The number of low bits of `v` that are certainly zero: up to 64, whatever its width.
    #[must_use]
    pub fn zero_bits(&self, v: ValueId) -> u32 {
        self.known(v).zero_bits
    }

    /// Whether extending the integer `v` by `op` gives the number that [`Self::range`] bounds. Steps along a row count
    /// with that number.
    #[must_use]
    pub fn cannot_wrap(&self, op: ConvertOp, v: ValueId) -> bool {
        self.extended(op, v, self.known(v)).is_some()
    }

    /// The operations that compute `v` from ids, arguments and constants; `None` if others, divisions or phis take
    /// part.
    #[must_use]
    pub fn from_ids(&self, v: ValueId) -> Option<FromIds> {
        self.known(v).from_ids
    }

    /// The value of `v`, modulo a power of two, in a work-item whose ids are multiples of it; unknown summands count as
    /// zero.
    #[must_use]
    pub fn constant_term(&self, v: ValueId) -> u64 {
        self.known(v).constant_term
    }

    fn known(&self, v: ValueId) -> Known {
        let mut all = self.known.borrow_mut();
        if all.is_empty() {
            all.resize(self.function.values.len(), State::Unseen);
        }
        if let State::Known(known) = all[v.index()] {
            return known;
        }
        let (order, has_phi) = self.order(v, &mut all);
        let mut is_stable = !has_phi;
        for round in 0..ROUNDS {
            crate::reach!(ROUNDS, if has_phi { round + 1 } else { 0 });
            let mut same = true;
            for &v in &order {
                let new = self.evaluate(v, &all);
                let old = std::mem::replace(&mut all[v.index()], State::Known(new));
                same &= old.known() == Some(new);
            }
            is_stable |= same;
            if is_stable {
                break;
            }
        }
        if !is_stable {
            // Begin again with nothing known. One more evaluation is sound, because each operand's fact is.
            for &v in &order {
                all[v.index()] = State::Known(Known::NOTHING);
            }
            for &v in &order {
                all[v.index()] = State::Known(self.evaluate(v, &all));
            }
        }
        all[v.index()].known().unwrap_or(Known::NOTHING)
    }

    /// `v` and the values that it is computed from by index arithmetic, as far as they are not known yet: operands
    /// before results, except for phis. Also whether there are phis. All of them are open afterwards.
    fn order(&self, v: ValueId, all: &mut [State]) -> (Vec<ValueId>, bool) {
        let (mut order, mut has_phi) = (Vec::new(), false);
        let mut stack = vec![v];
        while let Some(&v) = stack.last() {
            match all[v.index()] {
                State::Known(_) => {
                    stack.pop();
                }
                State::Waiting => {
                    all[v.index()] = State::Known(Known::OPEN);
                    order.push(v);
                    stack.pop();
                }
                State::Unseen => {
                    all[v.index()] = State::Waiting;
                    if let Some(op) = self.op(v).filter(|op| self.is_followed(op, v)) {
                        has_phi |= matches!(op, Op::Phi(_));
                        op.operands(|v| {
                            if matches!(all[v.index()], State::Unseen) {
                                stack.push(v);
                            }
                        });
                    }
                }
            }
        }
        (order, has_phi)
    }

    /// Whether facts about `v`, the result of `op`, may come from its operands.
    fn is_followed(&self, op: &Op, v: ValueId) -> bool {
        match op {
            Op::Phi(_) => self.bits(v).is_some(),
            Op::Binary(..)
            | Op::Convert(..)
            | Op::Compare(..)
            | Op::Select { .. }
            | Op::Copy(_)
            | Op::Unary(..) => true,
            _ => false,
        }
    }

    fn op(&self, v: ValueId) -> Option<&'f Op> {
        match self.function.values[v.index()].def {
            ValueDef::Inst(inst) => Some(&self.function.insts[inst.index()].op),
            _ => None,
        }
    }

    fn bits(&self, v: ValueId) -> Option<u8> {
        match *self.types.get(self.function.ty(v)) {
            Type::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// The constant shift count `v`, modulo the width.
    fn count(&self, v: ValueId) -> Option<u32> {
        let count = known_signed(self.types, self.constants, self.function, v)?;
        Some(shift_count(count, self.bits(v)?))
    }

    fn evaluate(&self, v: ValueId, all: &[State]) -> Known {
        let of = |v: ValueId| all[v.index()].known().unwrap_or(Known::NOTHING);
        match self.op(v) {
            Some(op) if self.is_followed(op, v) || matches!(op, Op::WorkItem(..)) => Known {
                range: self.bits(v).and_then(|_| self.range_of(op, of)),
                zero_bits: self.zero_bits_of(op, of),
                constant_term: constant_term_of(op, of),
                from_ids: from_ids_of(op, of),
            },
            Some(_) => Known::NOTHING,
            None => self.given(v),
        }
    }

    /// Of a constant, an argument or a variable.
    fn given(&self, v: ValueId) -> Known {
        let from_ids = Some(FromIds { depth: 0, size: 1 });
        let unknown = Known {
            from_ids,
            ..Known::NOTHING
        };
        let ValueDef::Const(c) = self.function.values[v.index()].def else {
            return unknown;
        };
        let zero_bits = match self.constants.get(c) {
            Constant::Int(n) => n.trailing_zeros(),
            Constant::Null => ALL_BITS,
            _ => 0,
        };
        let n = known_signed(self.types, self.constants, self.function, v);
        Known {
            range: n.and_then(|n| near([n.into(); 2])),
            zero_bits,
            constant_term: n.map_or(0, i64::cast_unsigned),
            from_ids,
        }
    }

    /// The bounds of the result of `op`, an integer.
    fn range_of(&self, op: &Op, of: impl Fn(ValueId) -> Known) -> Option<Range> {
        let range = |v: ValueId| self.bits(v).and(of(v).range);
        match op {
            Op::WorkItem(Builtin::LocalInvocationId | Builtin::LocalInvocationIndex, _) => {
                near([0, i128::from(MOST_ITEMS) - 1])
            }
            Op::Copy(a) | Op::Convert(ConvertOp::Trunc, a, _) => range(*a),
            Op::Convert(op @ (ConvertOp::ZExt | ConvertOp::SExt), a, _) => {
                self.extended(*op, *a, of(*a))
            }
            Op::Binary(op, a, b, _) => {
                let by = self.count(*b);
                let (a, b) = (range(*a)?.map(i128::from), range(*b)?.map(i128::from));
                match op {
                    BinaryOp::IAdd => near([a[0] + b[0], a[1] + b[1]]),
                    BinaryOp::ISub => near([a[0] - b[1], a[1] - b[0]]),
                    BinaryOp::IMul => {
                        let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
                        near([*all.iter().min()?, *all.iter().max()?])
                    }
                    // 2^62 shifted by 63 is less than 2^127.
                    BinaryOp::Shl => by.and_then(|by| near(a.map(|end| end << by))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The bounds of `v`, if extending it keeps its mathematical value.
    fn extended(&self, op: ConvertOp, v: ValueId, known: Known) -> Option<Range> {
        let bits = self.bits(v)?;
        let [least, most] = match op {
            ConvertOp::SExt => [-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1],
            _ => [0, (1 << bits) - 1],
        };
        let range = known.range;
        range.filter(|[low, high]| i128::from(*low) >= least && i128::from(*high) <= most)
    }

    fn zero_bits_of(&self, op: &Op, of: impl Fn(ValueId) -> Known) -> u32 {
        let of = |v: ValueId| of(v).zero_bits;
        match op {
            Op::Binary(op, a, b, _) => match op {
                BinaryOp::IAdd | BinaryOp::ISub | BinaryOp::Or | BinaryOp::Xor => {
                    of(*a).min(of(*b))
                }
                BinaryOp::And => of(*a).max(of(*b)),
                BinaryOp::IMul => of(*a).saturating_add(of(*b)).min(ALL_BITS),
                BinaryOp::Shl => {
                    let more = self.count(*b).unwrap_or(0);
                    of(*a).saturating_add(more).min(ALL_BITS)
                }
                BinaryOp::AShr | BinaryOp::LShr => match self.count(*b) {
                    Some(fewer) => of(*a).saturating_sub(fewer),
                    None => 0,
                },
                _ => 0,
            },
            Op::Convert(ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Trunc, a, _)
            | Op::Copy(a) => of(*a),
            Op::Select {
                then, otherwise, ..
            } => of(*then).min(of(*otherwise)),
            Op::Phi(incoming) => incoming.iter().map(|i| of(i.1)).min().unwrap_or(0),
            _ => 0,
        }
    }
}

/// A shift count of operands of `bits` bits, a power of two: the code generator and the interpreter take it modulo the
/// width too.
pub(super) fn shift_count(count: i64, bits: u8) -> u32 {
    count as u32 & (u32::from(bits) - 1)
}

/// A range whose ends are near enough.
fn near(ends: [i128; 2]) -> Option<Range> {
    let is_near = ends.iter().all(|end| end.unsigned_abs() <= FAR);
    let ends = ends.map(i64::try_from);
    match ends {
        [Ok(low), Ok(high)] if is_near => Some([low, high]),
        _ => None,
    }
}

fn constant_term_of(op: &Op, of: impl Fn(ValueId) -> Known) -> u64 {
    let of = |v: ValueId| of(v).constant_term;
    match op {
        Op::Convert(ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Trunc, a, _) => of(*a),
        Op::Binary(BinaryOp::IAdd, a, b, _) => of(*a).wrapping_add(of(*b)),
        Op::Binary(BinaryOp::ISub, a, b, _) => of(*a).wrapping_sub(of(*b)),
        Op::Binary(BinaryOp::IMul, a, b, _) => of(*a).wrapping_mul(of(*b)),
        Op::Binary(BinaryOp::Shl, a, by, _) => of(*a).wrapping_shl(of(*by) as u32),
        _ => 0,
    }
}

fn from_ids_of(op: &Op, of: impl Fn(ValueId) -> Known) -> Option<FromIds> {
    use BinaryOp as B;
    let is_simple = match op {
        Op::Binary(op, ..) => !matches!(
            op,
            B::FRem | B::FMod | B::UDiv | B::SDiv | B::URem | B::SRem | B::SMod
        ),
        Op::Unary(op, ..) => *op == UnaryOp::Not,
        Op::WorkItem(..) | Op::Convert(..) | Op::Compare(..) | Op::Select { .. } | Op::Copy(_) => {
            true
        }
        _ => false,
    };
    let mut all = is_simple.then_some(FromIds { depth: 0, size: 0 });
    op.operands(|v| {
        all = all.zip(of(v).from_ids).map(|(all, one)| FromIds {
            depth: all.depth.max(one.depth),
            size: all.size.saturating_add(one.size),
        });
    });
    let all = all?;
    Some(FromIds {
        depth: all.depth.saturating_add(1),
        size: all.size.saturating_add(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for a fact of the last value of a chain of such lines. Each line makes `Y` of `X`, the value before; the
    /// first value is a place in the group.
    fn chain<R>(count: usize, line: &str, ask: impl Fn(&IndexFacts<'_>, ValueId) -> R) -> R {
        let lines = (0..count).map(|i| {
            let names = [("X", format!("%x{i}")), ("Y", format!("%x{}", i + 1))];
            let names = names.into_iter().chain([("T", format!("%t{i}"))]);
            names.fold(line.to_string(), |line, (of, name)| line.replace(of, &name))
        });
        let lines: Vec<String> = lines.collect();
        last(
            &format!(
                "%l: i64 = wi.LocalInvocationId 0\n  %x0: i32 = to.trunc %l\n  {}",
                lines.join("\n  ")
            ),
            &format!("%x{count}"),
            ask,
        )
    }

    /// Asks for a fact of the value that is stored behind `lines`.
    fn last<R>(lines: &str, v: &str, ask: impl Fn(&IndexFacts<'_>, ValueId) -> R) -> R {
        let text = format!(
            "kernel @k(%out: ptr<global>, %n: i32) {{\nb0:\n  {lines}\n  store %out, {v} align 4\n  ret\n}}"
        );
        let module = crate::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        crate::validate(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let function = &module.functions[0];
        let stored = function.insts.iter().find_map(|inst| match inst.op {
            Op::Store { value, .. } => Some(value),
            _ => None,
        });
        let facts = IndexFacts::new(&module, function);
        ask(&facts, stored.expect("a store"))
    }

    const LAST: i64 = MOST_ITEMS as i64 - 1;

    #[test]
    fn each_operation_moves_the_ends() {
        let range = |line: &str| chain(1, line, |facts, v| facts.range(v));
        for (line, ends) in [
            ("Y: i32 = iadd X, X", [0, 2 * LAST]),
            ("Y: i32 = isub X, i32 7", [-7, LAST - 7]),
            ("Y: i32 = isub i32 7, X", [7 - LAST, 7]),
            ("Y: i32 = imul X, i32 4294967293", [-3 * LAST, 0]),
            ("Y: i32 = shl X, i32 5", [0, LAST << 5]),
            ("Y: i32 = shl X, i32 33", [0, LAST << 1]),
            ("T: i16 = to.trunc X\n  Y: i32 = to.zext T", [0, LAST]),
        ] {
            assert_eq!(range(line), Some(ends), "{line}");
        }
        for line in [
            "Y: i32 = and X, i32 3",
            "T: i16 = to.trunc X\n  Y: i32 = to.sext T",
        ] {
            assert_eq!(range(line), None, "{line}");
        }
    }

    #[test]
    fn a_wrap_around_depends_on_the_width_and_the_extension() {
        let cannot = |line: &str, op| chain(1, line, |facts, v| facts.cannot_wrap(op, v));
        for (line, signed, unsigned) in [
            ("Y: i32 = shl X, i32 4", true, true),
            ("Y: i32 = shl X, i32 16", false, true),
            ("Y: i32 = shl X, i32 20", false, false),
            ("Y: i32 = isub X, i32 1", true, false),
            ("Y: i32 = iadd X, %n", false, false),
        ] {
            assert_eq!(cannot(line, ConvertOp::SExt), signed, "{line}");
            assert_eq!(cannot(line, ConvertOp::ZExt), unsigned, "{line}");
        }
    }

    #[test]
    fn low_bits_of_products_sums_and_shifts() {
        for (line, zeros) in [
            ("Y: i32 = shl X, i32 3", 3),
            ("Y: i32 = imul X, i32 12", 2),
            ("T: i32 = shl X, i32 3\n  Y: i32 = iadd T, i32 12", 2),
            ("T: i32 = shl X, i32 3\n  Y: i32 = lshr T, i32 1", 2),
            ("T: i32 = shl X, i32 3\n  Y: i32 = lshr T, %n", 0),
            ("Y: i32 = and X, i32 4294967280", 4),
            ("Y: i32 = iadd X, i32 8", 0),
            ("Y: i32 = shl X, i32 33", 1),
            ("T: i32 = shl X, i32 3\n  Y: i32 = lshr T, i32 34", 1),
        ] {
            assert_eq!(
                chain(1, line, |facts, v| facts.zero_bits(v)),
                zeros,
                "{line}"
            );
        }
    }

    #[test]
    fn low_bits_of_a_loop_are_those_of_its_start_and_its_step() {
        for (step, zeros) in [
            ("iadd %i, i32 8", 3),
            ("iadd %i, i32 6", 1),
            ("imul %i, i32 3", 16),
            // A bit less in each iteration: more iterations than the analysis has rounds.
            ("lshr %i, i32 1", 0),
            ("iadd %i, %n", 0),
        ] {
            for stored in ["%i", "%next"] {
                let lines = format!(
                    "br b1
b1:
  %i: i32 = phi b0: i32 65536, b1: %next
  %next: i32 = {step}
  %more: bool = cmp.ult %next, %n
  br_if %more, b1, b2
b2:"
                );
                let found = last(&lines, stored, |facts, v| facts.zero_bits(v));
                assert_eq!(found, zeros, "{step}, {stored}");
            }
        }
    }

    #[test]
    fn a_phi_of_vectors_has_no_facts_whichever_value_is_asked_for_first() {
        let text = "kernel @k(%out: ptr<global>, %n: i32) {
b0:
  %x: <2 x i32> = load %out align 8
  br b1
b1:
  %p: <2 x i32> = phi b0: <2 x i32> null, b1: %q
  %s: <2 x i32> = iadd %p, %x
  %c: bool = cmp.ult %n, i32 7
  %q: <2 x i32> = select %c, %s, <2 x i32> null
  store %out, %q align 8
  br_if %c, b1, b2
b2:
  ret
}";
        let module = crate::parse(text).unwrap_or_else(|e| panic!("{e}"));
        crate::validate(&module).unwrap_or_else(|e| panic!("{e}"));
        let function = &module.functions[0];
        let results: Vec<ValueId> = function.insts.iter().filter_map(|i| i.result).collect();
        for first in &results {
            let facts = IndexFacts::new(&module, function);
            let _ = facts.cannot_wrap(ConvertOp::SExt, *first);
            for v in &results {
                assert_eq!(facts.zero_bits(*v), 0, "{v:?} after {first:?}");
            }
        }
    }

    #[test]
    fn shared_operands_are_visited_once() {
        for line in [
            "Y: i32 = iadd X, X",
            "Y: i32 = imul X, X",
            "T: i32 = iadd X, X\n  Y: i32 = isub T, X",
        ] {
            // As a tree each of these has more than 2^1000 operations.
            let known = chain(1000, line, |facts, v| {
                let _ = facts.range(v);
                let all = facts.known.borrow();
                all.iter().filter(|state| state.known().is_some()).count()
            });
            assert!(known <= 2 * 1000 + 2, "{line}: {known}");
        }
        let tree = |count| chain(count, "Y: i32 = iadd X, X", |facts, v| facts.from_ids(v));
        assert_eq!(tree(3), Some(FromIds { depth: 5, size: 23 }));
        assert_eq!(tree(1000).map(|made| made.size), Some(u32::MAX));
    }

    #[test]
    fn divisions_and_loads_are_not_made_of_ids() {
        let made = |line: &str| chain(1, line, |facts, v| facts.from_ids(v));
        assert_eq!(
            made("Y: i32 = and X, %n"),
            Some(FromIds { depth: 3, size: 4 })
        );
        for line in ["Y: i32 = udiv X, %n", "Y: i32 = load %out align 4"] {
            assert_eq!(made(line), None, "{line}");
        }
    }

    #[test]
    fn ids_count_as_zero_in_the_constant_term() {
        for (line, term) in [
            ("T: i32 = shl X, i32 3\n  Y: i32 = iadd T, i32 20", 20),
            ("T: i32 = iadd X, i32 5\n  Y: i32 = shl T, i32 2", 20),
            ("T: i32 = iadd X, i32 5\n  Y: i32 = imul T, i32 3", 15),
        ] {
            assert_eq!(
                chain(1, line, |facts, v| facts.constant_term(v)),
                term,
                "{line}"
            );
        }
    }
}
