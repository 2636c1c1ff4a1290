//! The ends between which an index stays in a whole function, as values at its start.
//!
//! ```text
//! for k in 0..n { ... a[i * n + k] ... }       %i: an id; %n: an argument
//!
//! from  i * n          to  i * n + (n - 1)
//! ```
//!
//! Ends are exact integers in 64 bits. An index of fewer bits equals one of them modulo its width; conditions, which
//! are collected beside the ends, make sure that it is that integer.

use std::collections::HashMap;

use super::edit::Edit;
use super::exact_numbers::{Ends, FAR, Number, Numbers, is_near, limits};
use crate::cfg::{Cfg, Dominators, Loops};
use crate::ir::{
    BinaryOp, BlockId, Builtin, ConvertOp, InstId, Op, Predicate, Terminator, ValueDef, ValueId,
};

/// The largest argument of 64 bits: sums of a few stay below [`FAR`]. A bound of the arithmetic, not a measurement.
const LARGEST_GIVEN: i128 = 1 << 56;
/// The largest id and size: launches have 2^32 work-groups in a dimension at most, and groups fewer than 2^17 work-items.
const LARGEST_ID: i128 = 1 << 49;
/// Branches before an index that are looked at, and comparisons of one of them: a bound on compile time. Not measured.
const GUARDS: usize = 16;
/// Values visited behind one index: a bound on compile time. Not measured.
const VISITED: usize = 256;
/// The largest factor: products of two, and sums of two such products, are not far.
const LARGEST_FACTOR: i128 = 1 << 29;
/// Operations behind one index: a bound on compile time. Not measured.
const DEPTH: usize = 24;

/// The graph of a function that is not changed while indices are followed.
pub(super) struct Graph {
    pub(super) cfg: Cfg,
    pub(super) dominators: Dominators,
    pub(super) loops: Loops,
    /// The block of each instruction.
    pub(super) home: HashMap<InstId, BlockId>,
}

impl Graph {
    pub(super) fn new(f: &crate::ir::Function) -> Self {
        let cfg = Cfg::new(f);
        let mut home = HashMap::new();
        for &block in cfg.reverse_post_order() {
            home.extend(
                f.blocks[block.index()]
                    .insts
                    .iter()
                    .map(|&inst| (inst, block)),
            );
        }
        Self {
            dominators: Dominators::new(&cfg),
            loops: Loops::new(&cfg),
            cfg,
            home,
        }
    }
}

/// Follows indices, and collects instructions for the function's start.
pub(super) struct Follow<'f, 'e, 'm> {
    pub(super) numbers: Numbers<'e, 'm>,
    pub(super) graph: &'f Graph,
    known: HashMap<(ValueId, bool, BlockId), Option<Ends>>,
    /// Whether ids stand for all work-items of the launch, and not for the one at hand.
    is_for_all: bool,
    /// Work-items of the largest sub-group.
    lanes: i128,
    visited: usize,
}

impl<'f, 'e, 'm> Follow<'f, 'e, 'm> {
    /// `lanes`: the work-items of the largest sub-group.
    pub(super) fn new(e: &'e mut Edit<'m>, graph: &'f Graph, lanes: u32) -> Self {
        Self {
            numbers: Numbers::new(e),
            graph,
            known: HashMap::new(),
            is_for_all: false,
            lanes: i128::from(lanes),
            visited: 0,
        }
    }

    /// From here on ids stand for all work-items of the launch, or for the one at hand. Returns the conditions so far.
    pub(super) fn begin(&mut self, is_for_all: bool) -> Vec<ValueId> {
        self.is_for_all = is_for_all;
        self.known.clear();
        std::mem::take(&mut self.numbers.conditions)
    }

    /// Makes it a condition that index `v`, used in block `at`, is less than `bound` wherever it is used; `None` if no
    /// value at the function's start can say so.
    pub(super) fn bounded(&mut self, v: ValueId, bound: ValueId, at: BlockId) -> Option<()> {
        let bits = self.numbers.bits(v)?;
        let before = self.numbers.conditions.len();
        self.visited = 0;
        let done = self.try_bounded(v, bound, at, bits);
        if done.is_none() {
            self.back_to(before);
        }
        done
    }

    /// Drops later conditions.
    fn back_to(&mut self, before: usize) {
        self.numbers.conditions.truncate(before);
        // They rely on these conditions.
        self.known.clear();
    }

    fn try_bounded(&mut self, v: ValueId, bound: ValueId, at: BlockId, bits: u8) -> Option<()> {
        let ends = self.ends(v, false, at, DEPTH)?;
        self.numbers.fits(ends, bits, false)?;
        if let Some(bound) = self.numbers.constant(bound) {
            let bound = if bound < 0 {
                bound + (1 << bits)
            } else {
                bound
            };
            return match bound > FAR {
                true => Some(()),
                false => self.numbers.at_most(ends.high, bound - 1),
            };
        }
        if !self.is_given(bound) {
            return None;
        }
        is_near(ends.high)?;
        let bound = self.numbers.widened(bound, false);
        let high = self.numbers.value(ends.high);
        let test = self.numbers.compare(Predicate::ULt, high, bound);
        self.numbers.condition(test);
        Some(())
    }

    /// Whether a value is there at the function's start: an argument or a constant.
    fn is_given(&self, v: ValueId) -> bool {
        !matches!(self.numbers.e.f.values[v.index()].def, ValueDef::Inst(_))
    }

    // Values.

    /// The ends of an integer that equals `v`, used in block `at`, modulo its width. `signed`: how a value that is
    /// taken as it is becomes a number.
    fn ends(&mut self, v: ValueId, signed: bool, at: BlockId, depth: usize) -> Option<Ends> {
        if let Some(known) = self.known.get(&(v, signed, at)) {
            return *known;
        }
        let depth = depth.checked_sub(1)?;
        self.visited += 1;
        crate::reach!(VISITED, self.visited);
        crate::reach!(DEPTH, DEPTH - depth);
        if self.visited > VISITED {
            return None;
        }
        // A value that depends on itself is not known.
        self.known.insert((v, signed, at), None);
        let found = self.find(v, signed, at, depth);
        let found = found.map(|ends| self.guarded(ends, v, at, depth));
        self.known.insert((v, signed, at), found);
        found
    }

    fn find(&mut self, v: ValueId, signed: bool, at: BlockId, depth: usize) -> Option<Ends> {
        let bits = self.numbers.bits(v)?;
        if let Some(number) = self.numbers.constant(v) {
            let number = Number::whole(number);
            return Some(Ends {
                low: number,
                high: number,
            });
        }
        let ValueDef::Inst(inst) = self.numbers.e.f.values[v.index()].def else {
            return self.given(v, bits, signed);
        };
        match self.numbers.e.f.insts[inst.index()].op.clone() {
            Op::WorkItem(Builtin::SubgroupLocalInvocationId, _) => Some(Ends {
                low: Number::whole(0),
                high: Number::whole(self.lanes - 1),
            }),
            Op::WorkItem(builtin, dimension) if bits == 64 => self.id(builtin, dimension),
            Op::Copy(a) => self.ends(a, signed, at, depth),
            Op::Convert(ConvertOp::ZExt, a, _) => self.extended(a, false, at, depth),
            Op::Convert(ConvertOp::SExt, a, _) => self.extended(a, true, at, depth),
            Op::Convert(ConvertOp::Trunc, a, _) => self.ends(a, signed, at, depth),
            Op::Binary(op, a, b, _) => self.binary(op, a, b, signed, at, depth),
            Op::Phi(_) => self.counter(inst, v, at, depth),
            _ => None,
        }
    }

    /// An argument.
    fn given(&mut self, v: ValueId, bits: u8, signed: bool) -> Option<Ends> {
        let value = self.numbers.widened(v, signed);
        let (least, most) = limits(bits, signed);
        let mut number = Number {
            value: Some(value),
            least,
            most,
            step: Some(0),
        };
        if bits == 64 {
            (number.least, number.most) = limits(bits, true);
            let low = if signed { -LARGEST_GIVEN } else { 0 };
            self.numbers.at_most(number, LARGEST_GIVEN)?;
            self.numbers.at_least(number, low)?;
            (number.least, number.most) = (low, LARGEST_GIVEN);
        }
        Some(Ends {
            low: number,
            high: number,
        })
    }

    /// An id or a size.
    fn id(&mut self, builtin: Builtin, dimension: u8) -> Option<Ends> {
        use Builtin as B;
        // For ids: what their largest value is computed from.
        let (size, offset) = match builtin {
            B::GlobalInvocationId => (B::GlobalSize, Some(B::GlobalOffset)),
            B::LocalInvocationId => (B::WorkgroupSize, None),
            B::WorkgroupId => (B::NumWorkgroups, None),
            B::GlobalSize | B::WorkgroupSize | B::NumWorkgroups | B::GlobalOffset => {
                let this = self.built_in(builtin, dimension);
                return Some(Ends {
                    low: this,
                    high: this,
                });
            }
            _ => return None,
        };
        if !self.is_for_all {
            // The same for a row, or one more in each lane.
            let is_affine = dimension == 0 && builtin != B::WorkgroupId;
            let this = Number {
                step: Some(i128::from(is_affine)),
                ..self.built_in(builtin, dimension)
            };
            return Some(Ends {
                low: this,
                high: this,
            });
        }
        let size = self.built_in(size, dimension);
        let mut high = self.numbers.subtract(size, Number::whole(1))?;
        if let Some(offset) = offset {
            let offset = self.built_in(offset, dimension);
            high = self.numbers.add(high, offset)?;
        }
        Some(Ends {
            low: Number::whole(0),
            high,
        })
    }

    fn built_in(&mut self, builtin: Builtin, dimension: u8) -> Number {
        let ty = self.numbers.e.types.int(64);
        let value = self.numbers.emit(Op::WorkItem(builtin, dimension), ty);
        Number {
            value: Some(value),
            least: 0,
            most: LARGEST_ID,
            step: Some(0),
        }
    }

    /// What `a` is extended to.
    pub(super) fn extended(
        &mut self,
        a: ValueId,
        signed: bool,
        at: BlockId,
        depth: usize,
    ) -> Option<Ends> {
        let bits = self.numbers.bits(a)?;
        let ends = self.ends(a, signed, at, depth)?;
        self.numbers.fits(ends, bits, signed)?;
        Some(ends)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: ValueId,
        b: ValueId,
        signed: bool,
        at: BlockId,
        depth: usize,
    ) -> Option<Ends> {
        use BinaryOp as B;
        let bits = self.numbers.bits(a)?;
        let count = self.numbers.constant(b);
        match op {
            B::And => {
                // Of a number without a sign and a mask.
                let mask = count
                    .or_else(|| self.numbers.constant(a))
                    .filter(|mask| *mask >= 0)?;
                return Some(Ends {
                    low: Number::whole(0),
                    high: Number::whole(mask),
                });
            }
            B::URem => {
                let by = self.extended(b, false, at, depth)?;
                self.numbers.at_least(by.low, 1)?;
                return Some(Ends {
                    low: Number::whole(0),
                    high: self.numbers.subtract(by.high, Number::whole(1))?,
                });
            }
            B::LShr => {
                let by = Number::whole(count.map(|by| by & i128::from(bits - 1))?);
                let of = self.extended(a, false, at, depth)?;
                let mut less = |this: Number| {
                    let ends = [this.least, this.most].map(|end| end.max(0) >> by.least);
                    self.numbers.operate(op, this, by, ends[0], ends[1])
                };
                return Some(Ends {
                    low: less(of.low)?,
                    high: less(of.high)?,
                });
            }
            B::SMin | B::SMax => return self.clamped(op, a, b, bits, at, depth),
            B::IAdd | B::ISub | B::IMul | B::Shl => {}
            _ => return None,
        }
        let left = self.ends(a, signed, at, depth)?;
        if let (B::Shl, Some(count)) = (op, count) {
            let by = Number::whole(1 << (count as u32 & (u32::from(bits) - 1)).min(62));
            return self.product(left, Ends { low: by, high: by });
        }
        let right = self.ends(b, signed, at, depth)?;
        match op {
            B::IAdd => Some(Ends {
                low: self.numbers.add(left.low, right.low)?,
                high: self.numbers.add(left.high, right.high)?,
            }),
            B::ISub => Some(Ends {
                low: self.numbers.subtract(left.low, right.high)?,
                high: self.numbers.subtract(left.high, right.low)?,
            }),
            B::IMul => self.product(left, right),
            _ => None,
        }
    }

    /// The product of numbers that are not negative.
    fn product(&mut self, a: Ends, b: Ends) -> Option<Ends> {
        let one =
            |ends: Ends| ends.low.value.is_none() && ends.low.least == 1 && ends.high.most == 1;
        if one(a) {
            return Some(b);
        }
        if one(b) {
            return Some(a);
        }
        let [a, b] = [self.factor(a)?, self.factor(b)?];
        let both = |this: &mut Self, a: Number, b: Number| {
            this.numbers
                .operate(BinaryOp::IMul, a, b, a.least * b.least, a.most * b.most)
        };
        Some(Ends {
            low: both(self, a.low, b.low)?,
            high: both(self, a.high, b.high)?,
        })
    }

    /// Makes it a condition that these are small enough as a factor.
    fn factor(&mut self, mut ends: Ends) -> Option<Ends> {
        self.numbers.at_least(ends.low, 0)?;
        self.numbers.at_most(ends.high, LARGEST_FACTOR)?;
        for number in [&mut ends.low, &mut ends.high] {
            number.least = number.least.clamp(0, LARGEST_FACTOR);
            number.most = number.most.clamp(0, LARGEST_FACTOR);
        }
        Some(ends)
    }

    /// The smaller or the larger of two numbers with a sign. A value that cannot be followed does not move the end on
    /// the other side.
    fn clamped(
        &mut self,
        op: BinaryOp,
        a: ValueId,
        b: ValueId,
        bits: u8,
        at: BlockId,
        depth: usize,
    ) -> Option<Ends> {
        let (least, most) = limits(bits, true);
        if most > FAR {
            return None;
        }
        // The operand that clamps is a constant or made of arguments; clang and the builder put it second.
        let by = self.extended(b, true, at, depth)?;
        let before = self.numbers.conditions.len();
        // The clamped value may be anything; only a clamp before this one is followed.
        let is_clamp = |this: &Self, v: ValueId| {
            let op = this.numbers.e.def(v);
            matches!(op, Some(Op::Binary(BinaryOp::SMin | BinaryOp::SMax, ..)))
        };
        let of = match is_clamp(self, a) {
            true => self.extended(a, true, at, depth),
            false => None,
        };
        if of.is_none() {
            self.back_to(before);
        }
        let of = of.unwrap_or(Ends {
            low: Number::whole(least),
            high: Number::whole(most),
        });
        match op {
            BinaryOp::SMin => Some(Ends {
                low: self.numbers.smaller(of.low, by.low)?,
                high: by.high,
            }),
            _ => Some(Ends {
                low: by.low,
                high: self.numbers.larger(of.high, by.high)?,
            }),
        }
    }

    // Guards.

    /// The ends of `v` in block `at` after the comparisons that lead there. Only ends for all work-items are moved: those
    /// of one would have no step from lane to lane.
    fn guarded(&mut self, ends: Ends, v: ValueId, at: BlockId, depth: usize) -> Ends {
        let is_id = matches!(
            self.numbers.e.def(v),
            Some(Op::WorkItem(..) | Op::Convert(ConvertOp::Trunc, ..))
        );
        if !self.is_for_all || !is_id {
            return ends;
        }
        let mut moved = ends;
        for (predicate, by) in self.guards(v, at) {
            let before = self.numbers.conditions.len();
            match self.moved(moved, predicate, v, by, at, depth) {
                Some(next) => moved = next,
                None => self.back_to(before),
            }
        }
        moved
    }

    /// The comparisons of `v` that hold in block `at`, each with the other operand.
    fn guards(&self, v: ValueId, at: BlockId) -> Vec<(Predicate, ValueId)> {
        let mut found = Vec::new();
        let mut to = at;
        for _ in 0..GUARDS {
            let Some(from) = self.graph.dominators.immediate(to) else {
                break;
            };
            if let Terminator::CondBr {
                cond,
                then,
                otherwise,
            } = self.numbers.e.f.blocks[from.index()].term
                && then != otherwise
                && [then, otherwise].contains(&to)
                && self.graph.cfg.predecessors(to) == [from]
            {
                let mut work = vec![(cond, to == then)];
                while let Some((cond, holds)) = work.pop() {
                    match self.numbers.e.def(cond) {
                        Some(&Op::Binary(BinaryOp::And, a, b, _))
                            if holds && work.len() < GUARDS =>
                        {
                            work.extend([(a, true), (b, true)]);
                        }
                        Some(&Op::Binary(BinaryOp::Or, a, b, _))
                            if !holds && work.len() < GUARDS =>
                        {
                            work.extend([(a, false), (b, false)]);
                        }
                        Some(&Op::Compare(predicate, a, b)) => {
                            let predicate = if holds {
                                predicate
                            } else {
                                predicate.inverse()
                            };
                            if a == v {
                                found.push((predicate, b));
                            } else if b == v {
                                found.push((predicate.swapped(), a));
                            }
                        }
                        _ => {}
                    }
                }
            }
            to = from;
        }
        found
    }

    /// The ends of `v` where a comparison with `by` holds.
    fn moved(
        &mut self,
        mut ends: Ends,
        predicate: Predicate,
        v: ValueId,
        by: ValueId,
        at: BlockId,
        depth: usize,
    ) -> Option<Ends> {
        use Predicate as P;
        let bits = self.numbers.bits(v)?;
        self.numbers.fits(ends, bits, false)?;
        let by = self.extended(by, false, at, depth)?;
        let one = Number::whole(1);
        match predicate {
            P::ULt => {
                let last = self.numbers.subtract(by.high, one)?;
                ends.high = self.numbers.smaller(ends.high, last)?;
            }
            P::ULe => ends.high = self.numbers.smaller(ends.high, by.high)?,
            P::UGt => {
                let first = self.numbers.add(by.low, one)?;
                ends.low = self.numbers.larger(ends.low, first)?;
            }
            P::UGe => ends.low = self.numbers.larger(ends.low, by.low)?,
            P::INe if by.high.most == 0 => ends.low = self.numbers.larger(ends.low, one)?,
            P::INe => {
                // The largest number of the range is left out.
                let beyond = self.numbers.subtract(ends.high, by.low)?;
                self.numbers.at_most(beyond, 0)?;
                let last = self.numbers.subtract(by.high, one)?;
                ends.high = self.numbers.smaller(ends.high, last)?;
            }
            _ => return None,
        }
        Some(ends)
    }
}
