//! The ends of counters: of values that a loop changes in each iteration.
//!
//! ```text
//! head: %i = phi before: %first, head: %next        from  %first        to  %n - 1
//!       %next = iadd %i, 1
//!       %more = cmp.ult %next, %n
//!       br_if %more, head, after
//! ```

use super::exact_numbers::{Ends, FAR, Number, limits};
use super::index_ends::Follow;
use crate::ir::{BinaryOp, BlockId, InstId, Op, Predicate, Terminator, ValueDef, ValueId};

/// The largest step of a counter: added to an end, it stays below 2^62. A bound of the arithmetic.
const LARGEST_STEP: i128 = 1 << 31;

/// How a counter is compared in order to stay in its loop.
struct Stay {
    /// The value compared: the counter, or the counter of the next iteration.
    is_next: bool,
    /// Whether the counter of the next iteration cannot wrap around, whatever the step is.
    is_exact: bool,
    predicate: Predicate,
    end: ValueId,
    /// The block in which an iteration begins after the comparison.
    to: BlockId,
}

impl Follow<'_, '_, '_> {
    /// The counter of a loop, in a block of that loop.
    pub(super) fn counter(
        &mut self,
        inst: InstId,
        v: ValueId,
        at: BlockId,
        depth: usize,
    ) -> Option<Ends> {
        let graph = self.graph;
        let bits = self.numbers.bits(v)?;
        let header = *graph.home.get(&inst)?;
        let l = graph.loops.innermost(header)?;
        let this = &graph.loops.loops[l as usize];
        if this.header != header || this.irreducible || !graph.loops.contains(l, at) {
            return None;
        }
        let Op::Phi(incoming) = self.numbers.e.f.insts[inst.index()].op.clone() else {
            return None;
        };
        let (inside, outside): (Vec<_>, Vec<_>) = incoming
            .into_iter()
            .partition(|i| graph.loops.contains(l, i.0));
        let ([(latch, next)], [(before, first)]) = (&inside[..], &outside[..]) else {
            return None;
        };
        let (by, step) = match self.numbers.e.def(*next) {
            Some(&Op::Binary(BinaryOp::IAdd, a, b, _)) if a == v => (b, self.numbers.constant(b)),
            Some(&Op::Binary(BinaryOp::LShr, a, b, _)) if a == v => {
                // It never grows.
                self.numbers.constant(b)?;
                let begin = self.extended(*first, false, *before, depth)?;
                return Some(Ends {
                    low: Number::whole(0),
                    high: begin.high,
                });
            }
            _ => return None,
        };
        let stay = self.stay(l, *latch, v, (*next, by), at)?;
        // A step that cannot wrap around may have any length.
        let step = match step {
            _ if stay.is_exact => 1,
            Some(step) => step,
            None => {
                self.reaches(by, &stay, header, bits, depth)?;
                1
            }
        };
        use Predicate as P;
        if step > LARGEST_STEP || stay.predicate == P::INe && step.abs() != 1 {
            return None;
        }
        let signed = matches!(stay.predicate, P::SLt | P::SLe | P::SGt | P::SGe);
        let begin = self.extended(*first, signed, *before, depth)?;
        let end = self.extended(stay.end, signed, header, depth)?;
        let (least, most) = limits(bits, signed);
        let enters = self.enters((*before, header), *first, &stay, step);
        if stay.predicate == P::INe && !enters {
            // A counter that meets its end begins before it.
            let of_loop = match self.numbers.e.f.values[stay.end.index()].def {
                ValueDef::Inst(inst) => graph
                    .home
                    .get(&inst)
                    .is_none_or(|&home| graph.loops.contains(l, home)),
                _ => false,
            };
            if of_loop {
                return None;
            }
            let left = match step {
                1 => self.numbers.subtract(end.low, begin.high)?,
                _ => self.numbers.subtract(begin.low, end.high)?,
            };
            self.numbers.at_least(left, i128::from(stay.is_next))?;
        }
        // The first iteration has no comparison behind it, unless one stands before the loop.
        let is_entered = !stay.is_next || enters || stay.predicate == P::INe;
        match (step, stay.predicate) {
            (1.., P::ULt | P::SLt | P::ULe | P::SLe | P::INe) => {
                let last = match stay.predicate {
                    P::ULe | P::SLe => end.high,
                    _ => self.numbers.subtract(end.high, Number::whole(1))?,
                };
                let high = match is_entered {
                    true => last,
                    false => self.numbers.larger(begin.high, last)?,
                };
                // The step behind the last iteration must not wrap around.
                if most <= FAR
                    && !stay.is_exact
                    && (step != 1 || matches!(stay.predicate, P::ULe | P::SLe) || !is_entered)
                {
                    self.numbers.at_most(high, most - step)?;
                }
                Some(Ends {
                    low: begin.low,
                    high,
                })
            }
            (-1, P::UGt | P::SGt | P::UGe | P::SGe | P::INe) => {
                let last = match stay.predicate {
                    P::UGe | P::SGe => end.low,
                    _ => self.numbers.add(end.low, Number::whole(1))?,
                };
                let low = match is_entered {
                    true => last,
                    false => self.numbers.smaller(begin.low, last)?,
                };
                self.numbers.at_least(low, least + 1)?;
                Some(Ends {
                    low,
                    high: begin.high,
                })
            }
            _ => None,
        }
    }

    /// Makes it a condition that a step without a sign from below the end of a counter does not wrap around.
    fn reaches(
        &mut self,
        by: ValueId,
        stay: &Stay,
        header: BlockId,
        bits: u8,
        depth: usize,
    ) -> Option<()> {
        if stay.predicate != Predicate::ULt {
            return None;
        }
        let by = self.extended(by, false, header, depth)?;
        let end = self.extended(stay.end, false, header, depth)?;
        let reached = self.numbers.add(end.high, by.high)?;
        let (_, most) = limits(bits, false);
        self.numbers.at_most(reached, most.min(FAR))
    }

    /// The comparison of the counter that each iteration passes before `at`, or before the next iteration.
    fn stay(
        &self,
        l: u32,
        latch: BlockId,
        v: ValueId,
        (next, by): (ValueId, ValueId),
        at: BlockId,
    ) -> Option<Stay> {
        let graph = self.graph;
        let this = &graph.loops.loops[l as usize];
        let all = this.blocks.iter().copied();
        let mut passed = all.filter(|&block| graph.dominators.dominates(block, latch));
        passed.find_map(|block| {
            let Terminator::CondBr {
                cond,
                then,
                otherwise,
            } = self.numbers.e.f.blocks[block.index()].term
            else {
                return None;
            };
            let (stays, to) = match (
                graph.loops.contains(l, then),
                graph.loops.contains(l, otherwise),
            ) {
                (true, false) => (true, then),
                (false, true) => (false, otherwise),
                _ => return None,
            };
            let &Op::Compare(predicate, a, b) = self.numbers.e.def(cond)? else {
                return None;
            };
            let predicate = if stays {
                predicate
            } else {
                predicate.inverse()
            };
            let (predicate, of, end) = match (a == v || a == next, b == v || b == next) {
                (true, false) => (predicate, a, b),
                (false, true) => (predicate.swapped(), b, a),
                _ => return None,
            };
            let is_next = of == next;
            if let Some(end) = self.end_of_steps(end, by)
                && of == v
                && predicate == Predicate::ULt
                && to == this.header
            {
                return Some(Stay {
                    is_next: true,
                    is_exact: true,
                    predicate,
                    end,
                    to,
                });
            }
            let is_behind = to != this.header
                && graph.cfg.predecessors(to).len() == 1
                && graph.dominators.dominates(to, at);
            (is_next || is_behind).then_some(Stay {
                is_next,
                is_exact: false,
                predicate,
                end,
                to,
            })
        })
    }

    /// The end of a counter without a sign that takes a step while it is below `limit`: the end less the step, or 0.
    fn end_of_steps(&self, limit: ValueId, step: ValueId) -> Option<ValueId> {
        let e = &self.numbers.e;
        let &Op::Select {
            cond,
            then,
            otherwise,
        } = e.def(limit)?
        else {
            return None;
        };
        let end = match *e.def(cond)? {
            Op::Compare(Predicate::ULt, a, end) if a == step => end,
            Op::Compare(Predicate::UGt, end, a) if a == step => end,
            _ => return None,
        };
        let is_rest = match *e.def(then)? {
            Op::Binary(BinaryOp::ISub, of, by, _) => of == end && by == step,
            Op::Binary(BinaryOp::IAdd, of, by, _) => {
                let by = self.numbers.constant(by)?;
                of == end && self.numbers.constant(step)? == -by
            }
            _ => false,
        };
        (is_rest && self.numbers.constant(otherwise)? == 0).then_some(end)
    }

    /// Whether a branch before the loop, which an edge enters, says of the counter's first value that the loop has an
    /// iteration, and that the counter moves towards its end.
    fn enters(&self, edge: (BlockId, BlockId), first: ValueId, stay: &Stay, step: i128) -> bool {
        let (mut from, mut to) = edge;
        debug_assert!(stay.is_next || stay.to != to);
        for _ in 0..4 {
            if let Terminator::CondBr {
                cond,
                then,
                otherwise,
            } = self.numbers.e.f.blocks[from.index()].term
                && then != otherwise
                && let Some(&Op::Compare(predicate, a, b)) = self.numbers.e.def(cond)
            {
                let predicate = if to == then {
                    predicate
                } else {
                    predicate.inverse()
                };
                let same = |a: ValueId, b: ValueId, predicate| {
                    a == first && b == stay.end && self.implies(predicate, stay, first, step)
                };
                if same(a, b, predicate) || same(b, a, predicate.swapped()) {
                    return true;
                }
            }
            let [only] = self.graph.cfg.predecessors(from) else {
                return false;
            };
            (from, to) = (*only, from);
        }
        false
    }

    /// Whether a comparison of `first` with the end says that the loop begins before its end.
    fn implies(&self, given: Predicate, stay: &Stay, first: ValueId, step: i128) -> bool {
        use Predicate as P;
        let is_zero = |v: ValueId| self.numbers.constant(v) == Some(0);
        // Of two numbers that differ, zero is the smaller one.
        let is_less = given == P::ULt || given == P::INe && is_zero(first);
        let is_greater = given == P::UGt || given == P::INe && is_zero(stay.end);
        match stay.predicate {
            P::INe if step < 0 => is_greater,
            P::INe | P::ULt => is_less,
            P::UGt => is_greater,
            _ => given == stay.predicate,
        }
    }
}
