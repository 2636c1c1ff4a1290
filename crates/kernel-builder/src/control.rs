//! Control flow: branches, loops, ranges, calls, faults, and the facts that comparisons leave behind.

use std::collections::HashMap;

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::facts::Condition;
use crate::module::Id;
use crate::types::Type;

/// The deepest nesting of calls; a function that calls itself ends here.
const DEEPEST: usize = 64;

/// Where the values of several paths meet: numbers and truth values in a phi, others in a variable.
#[derive(Clone, Debug, Default)]
struct Meeting {
    place: Option<Operand>,
    /// Each value, and the block from which it comes.
    values: Vec<(Id, Id)>,
}

/// The most instructions that run whether or not the left side of `&&` holds.
const BOTH_SIDES: usize = 12;

/// An `if` in the making.
#[derive(Debug)]
pub struct If {
    condition: Operand,
    otherwise: Id,
    merge: Id,
    facts: usize,
    /// The values of variables before the branches.
    held: HashMap<Id, Operand>,
    /// The block of the first branch.
    then: usize,
    value: Meeting,
    then_ends: bool,
}

/// A loop in the making.
#[derive(Debug)]
pub struct Loop {
    header: Id,
    next: Id,
    exit: Id,
    facts: usize,
    value: Meeting,
}

/// The bounds of a `for` loop.
#[derive(Debug)]
pub struct Counter {
    inside: Loop,
    place: Operand,
    start: Operand,
    end: Operand,
    step: Option<Operand>,
    /// The counter makes another step while it is below this number.
    limit: Option<Operand>,
    inclusive: bool,
    reversed: bool,
}

/// A call of a device function, whose body is staged in place.
#[derive(Debug)]
pub struct Call {
    exit: Id,
    /// The caller's file.
    file: &'static str,
    facts: usize,
    value: Meeting,
}

impl Builder {
    /// Adds the value of this path, which ends with the next jump.
    fn meet(&mut self, meeting: &mut Meeting, value: Operand) {
        if !self.is_live() {
            return;
        }
        let value = self.read(value);
        let is_scalar = |builder: &Self, id| {
            let ty = builder.type_of(id);
            matches!(ty, Type::Bool | Type::Int { .. } | Type::Float(_))
        };
        match (meeting.place, value) {
            (_, Operand::Never | Operand::Memory(_)) => {}
            (_, Operand::Unit) => meeting.place = Some(Operand::Unit),
            (None, Operand::Value(id)) if is_scalar(self, id) => {
                meeting.values.push((id, self.block()));
            }
            (None, value) => meeting.place = Some(self.variable(value)),
            (Some(place), value) => self.store(place, value),
        }
    }

    /// The value at the label to which all paths jump, which has just begun.
    fn met(&mut self, meeting: Meeting) -> Operand {
        match (meeting.place, &meeting.values[..]) {
            (Some(place), _) => self.read(place),
            (None, []) => Operand::Never,
            (None, [(only, _)]) => Operand::Value(*only),
            (None, values @ [(first, _), ..]) => {
                let ty = self.type_of(*first);
                let operands: Vec<Id> = values.iter().flat_map(|(id, from)| [*id, *from]).collect();
                self.value(Op::Phi, &ty, &operands)
            }
        }
    }

    /// Ends the work-item unless the condition holds.
    pub fn fault_unless(&mut self, condition: Operand) {
        let condition = self.read(condition);
        let Operand::Value(id) = condition else {
            return;
        };
        let on = self.label();
        self.branch_if(id, on, self.exit);
        self.begin(on);
        self.assume(condition, true);
    }

    /// Ends the work-item.
    pub fn fault(&mut self) -> Operand {
        self.branch(self.exit);
        Operand::Never
    }

    /// Begins the first branch of an `if`.
    pub fn if_begin(&mut self, condition: Operand) -> If {
        let condition = self.read(condition);
        let (then, otherwise, merge) = (self.label(), self.label(), self.label());
        let facts = self.facts.len();
        let held = self.held.clone();
        if let Operand::Value(id) = condition {
            match self.constants.get(&id) {
                Some(0) => self.branch(otherwise),
                Some(_) => self.branch(then),
                None => self.branch_if(id, then, otherwise),
            }
        }
        self.begin(then);
        self.assume(condition, true);
        If {
            condition,
            otherwise,
            merge,
            facts,
            held,
            then: self.block_count(),
            value: Meeting::default(),
            then_ends: false,
        }
    }

    /// Ends the first branch with its value, and begins the second.
    pub fn if_else(&mut self, state: &mut If, value: Operand) {
        self.meet(&mut state.value, value);
        state.then_ends = !self.is_live();
        self.branch(state.merge);
        self.facts.truncate(state.facts);
        self.held = std::mem::take(&mut state.held);
        self.begin(state.otherwise);
        self.assume(state.condition, false);
    }

    /// Ends the second branch with its value.
    pub fn if_end(&mut self, mut state: If, value: Operand) -> Operand {
        self.meet(&mut state.value, value);
        let else_ends = !self.is_live();
        self.branch(state.merge);
        self.facts.truncate(state.facts);
        self.join(state.merge);
        match (state.then_ends, else_ends) {
            (true, false) => self.assume(state.condition, false),
            (false, true) => self.assume(state.condition, true),
            _ => {}
        }
        self.met(state.value)
    }

    /// `left && right`, where the right side was staged as the first branch of an `if` with the left as its condition.
    pub fn if_both(&mut self, mut state: If, right: Operand) -> Operand {
        let left = state.condition;
        let right = self.read(right);
        if let (Operand::Value(left), Operand::Value(right)) = (left, right)
            && self.is_live()
            && self.block_count() == state.then
            && self.join_pure(BOTH_SIDES)
        {
            self.facts.truncate(state.facts);
            let both = self.emit(Op::LogicalAnd, &Type::Bool, &[left, right]);
            self.conditions.insert(both, Condition::Both(left, right));
            return Operand::Value(both);
        }
        self.if_else(&mut state, right);
        let no = self.bool(false);
        let both = self.if_end(state, no);
        if let (Operand::Value(both), Operand::Value(left), Operand::Value(right)) =
            (both, left, right)
        {
            self.conditions.insert(both, Condition::Both(left, right));
        }
        both
    }

    /// Begins a loop.
    pub fn loop_begin(&mut self) -> Loop {
        let (header, next, exit) = (self.label(), self.label(), self.label());
        self.branch(header);
        self.loop_at(header, next, exit)
    }

    /// Begins a loop that is skipped unless the condition holds.
    fn loop_begin_if(&mut self, condition: Operand) -> Loop {
        let (header, next, exit) = (self.label(), self.label(), self.label());
        if let Operand::Value(id) = condition {
            self.branch_if(id, header, exit);
        }
        self.loop_at(header, next, exit)
    }

    fn loop_at(&mut self, header: Id, next: Id, exit: Id) -> Loop {
        self.join(header);
        Loop {
            header,
            next,
            exit,
            facts: self.facts.len(),
            value: Meeting::default(),
        }
    }

    /// Leaves the loop unless the condition holds.
    pub fn loop_while(&mut self, state: &mut Loop, condition: Operand) {
        let condition = self.read(condition);
        let body = self.label();
        self.meet(&mut state.value, Operand::Unit);
        if let Operand::Value(id) = condition {
            self.branch_if(id, body, state.exit);
        }
        self.begin(body);
        self.assume(condition, true);
    }

    /// `break value`.
    pub fn loop_break(&mut self, state: &mut Loop, value: Operand) {
        self.meet(&mut state.value, value);
        self.branch(state.exit);
    }

    /// `continue`.
    pub fn loop_continue(&mut self, state: &Loop) {
        self.branch(state.next);
    }

    /// Ends the loop.
    pub fn loop_end(&mut self, state: Loop) -> Operand {
        self.branch(state.next);
        self.join(state.next);
        self.branch(state.header);
        self.loop_exit(state)
    }

    fn loop_exit(&mut self, state: Loop) -> Operand {
        self.facts.truncate(state.facts);
        self.join(state.exit);
        self.met(state.value)
    }

    /// Begins `for i in start..end`, or `start..=end`, reversed or with steps; returns the counter's value.
    pub fn for_begin(
        &mut self,
        start: Operand,
        end: Operand,
        step: Option<Operand>,
        inclusive: bool,
        reversed: bool,
    ) -> (Counter, Operand) {
        let (start, mut end) = (self.read(start), self.read(end));
        let step = step.map(|step| self.read_step(step));
        let mut inclusive = inclusive;
        if inclusive
            && !reversed
            && let Some(after) = self.known_successor(end)
        {
            (end, inclusive) = (after, false);
        }
        if let (Some(step), Operand::Value(to)) = (step, end)
            && !reversed
            && !inclusive
            && !self.steps_fit(step, to)
        {
            return self.limited_begin(start, end, step);
        }
        let place = self.variable(if reversed { end } else { start });
        let mut inside = self.loop_begin();
        let at = self.read(place);
        let (low, high) = if reversed { (start, at) } else { (at, end) };
        let compare = if inclusive {
            Op::ULessThanEqual
        } else {
            Op::ULessThan
        };
        let condition = self.compare(compare, low, high);
        self.loop_while(&mut inside, condition);
        let at = match (reversed, inclusive) {
            (true, false) => {
                let value = self.add_one(at, Op::ISub);
                // The counter begins at the end and only falls.
                self.assume_order(value, end, true);
                value
            }
            _ => at,
        };
        self.assume_order(start, at, false);
        let counter = Counter {
            inside,
            place,
            start,
            end,
            step,
            limit: None,
            inclusive,
            reversed,
        };
        (counter, at)
    }

    /// Begins `for i in (start..end).step_by(step)`, where the counter may pass the end of its type. It makes a step
    /// while it is below the end less the step, so each iteration has one comparison.
    fn limited_begin(&mut self, start: Operand, end: Operand, step: Operand) -> (Counter, Operand) {
        let any = self.compare(Op::ULessThan, start, end);
        let (step, limit) = self.limit(end, step);
        let place = self.variable(start);
        let inside = self.loop_begin_if(any);
        let at = self.read(place);
        self.assume_order(at, end, true);
        self.assume_order(start, at, false);
        let counter = Counter {
            inside,
            place,
            start,
            end,
            step: Some(step),
            limit: Some(limit),
            inclusive: false,
            reversed: false,
        };
        (counter, at)
    }

    /// The step in the type of the end, and the end less the step; the least number if there is none.
    fn limit(&mut self, end: Operand, step: Operand) -> (Operand, Operand) {
        let (Operand::Value(end), Operand::Value(mut by)) = (end, step) else {
            return (Operand::Never, Operand::Never);
        };
        let ty = self.type_of(end);
        let Type::Int { bits, signed } = ty else {
            let refused = self.refuse(format!("a range of {ty}: count with integers"));
            return (refused, refused);
        };
        // A step that the type does not have is as good as its largest number.
        let most = u64::MAX >> (64 - bits);
        if self.most(by) > most {
            let most = self.size(most);
            let has = self.emit(Op::ULessThan, &Type::Bool, &[by, most]);
            by = self.emit(Op::Select, &Type::SIZE, &[has, by, most]);
        }
        let unsigned = Type::Int {
            bits,
            signed: false,
        };
        let least = if signed { u64::MAX << (bits - 1) } else { 0 };
        let least = self.integer(bits, signed, least);
        let step = self.cast(Operand::Value(by), &unsigned);
        let (Operand::Value(least), Operand::Value(by)) = (least, step) else {
            return (Operand::Never, Operand::Never);
        };
        let room = match signed {
            true => self.emit(Op::ISub, &unsigned, &[end, least]),
            false => end,
        };
        let fits = self.emit(Op::ULessThan, &Type::Bool, &[by, room]);
        let rest = self.emit(Op::ISub, &ty, &[end, by]);
        (step, self.value(Op::Select, &ty, &[fits, rest, least]))
    }

    /// Begins `for i in (start..end).step_by(step).rev()`, or of `start..=end`: down from the last one that steps from
    /// the start reach.
    pub(crate) fn back_begin(
        &mut self,
        start: Operand,
        end: Operand,
        step: Operand,
        inclusive: bool,
    ) -> (Counter, Operand) {
        let (start, end, step) = (self.read(start), self.read(end), self.read_step(step));
        let (compare, last) = match inclusive {
            true => (Op::ULessThanEqual, end),
            false => (Op::ULessThan, self.add_one(end, Op::ISub)),
        };
        let any = self.compare(compare, start, end);
        // Without a sign: the way between the ends may be longer than the largest number with one.
        let (ty, bits) = match start {
            Operand::Value(id) => match self.type_of(id) {
                Type::Int { bits, signed } => (Type::Int { bits, signed }, bits),
                other => (other, 64),
            },
            _ => (Type::SIZE, 64),
        };
        let way = Type::Int {
            bits,
            signed: false,
        };
        let (from, to) = (self.cast(start, &way), self.cast(last, &way));
        let length = self.binary(Binary::Sub, to, from);
        // A step that the type does not have is longer than the way.
        let length = self.cast(length, &Type::SIZE);
        let rest = self.binary(Binary::Rem, length, step);
        let reached = self.binary(Binary::Sub, length, rest);
        let reached = self.cast(reached, &way);
        let first = self.binary(Binary::Add, from, reached);
        let first = self.cast(first, &ty);
        let place = self.variable(first);
        let mut inside = self.loop_begin();
        let at = self.read(place);
        let on = self.compare(Op::ULessThanEqual, start, at);
        let condition = self.binary(Binary::And, any, on);
        self.loop_while(&mut inside, condition);
        self.assume_order(at, end, !inclusive);
        let counter = Counter {
            inside,
            place,
            start,
            end,
            step: Some(step),
            limit: None,
            inclusive: true,
            reversed: true,
        };
        (counter, at)
    }

    /// The step of a range, which Rust reads before the loop, where it refuses zero.
    fn read_step(&mut self, step: Operand) -> Operand {
        let step = self.read(step);
        if let Operand::Value(id) = step {
            let zero = self.size(0);
            if !self.is_less(zero, id) {
                let moves = self.binary(Binary::NotEqual, step, Operand::Value(zero));
                self.end_unless(moves, &["assertion failed: step != 0"], &[]);
            }
        }
        step
    }

    /// The number after a constant that is not the last of its type.
    fn known_successor(&mut self, value: Operand) -> Option<Operand> {
        let Operand::Value(id) = value else {
            return None;
        };
        let Type::Int { bits, signed } = self.type_of(id) else {
            return None;
        };
        let known = *self.constants.get(&id)? & (u64::MAX >> (64 - bits));
        let last = (u64::MAX >> (64 - bits)) >> u32::from(signed);
        let next = (known + 1) << (64 - bits);
        // Constants of signed types are known with their sign.
        let next = match signed {
            true => (next.cast_signed() >> (64 - bits)).cast_unsigned(),
            false => next >> (64 - bits),
        };
        (known != last).then(|| self.integer(bits, signed, next))
    }

    /// Whether `counter + step` cannot wrap around while the counter is below the end.
    fn steps_fit(&self, step: Operand, end: Id) -> bool {
        let Operand::Value(step) = step else {
            return false;
        };
        let Type::Int { bits, signed } = self.type_of(end) else {
            return false;
        };
        let last = (u64::MAX >> (64 - bits)) >> u32::from(signed);
        // A negative end is far below the last number: it needs no bound.
        let end = match (signed, self.constants.get(&end)) {
            (true, Some(known)) if known.cast_signed() < 0 => 0,
            _ => self.most(end),
        };
        self.most(step)
            .checked_add(end)
            .is_some_and(|most| most <= last)
    }

    fn add_one(&mut self, value: Operand, op: Op) -> Operand {
        let Operand::Value(id) = value else {
            return value;
        };
        let ty = self.type_of(id);
        match ty {
            Type::Int { bits, .. } => {
                let one = self.module.integer(bits, 1);
                self.value(op, &ty, &[id, one])
            }
            _ => self.refuse(format!("a range of {ty}: count with integers")),
        }
    }

    /// Ends the `for` loop: the counter steps at the label to which `continue` jumps.
    pub fn for_end(&mut self, counter: Counter) -> Operand {
        let state = counter.inside;
        self.branch(state.next);
        self.join(state.next);
        let at = self.read(counter.place);
        let on = self.label();
        let last = if counter.reversed {
            counter.start
        } else {
            counter.end
        };
        let step = counter.step;
        if let (Some(Operand::Value(limit)), Some(Operand::Value(by)), Operand::Value(from)) =
            (counter.limit, step, at)
        {
            let ty = self.type_of(from);
            let more = self.compare(Op::ULessThan, at, Operand::Value(limit));
            let next = self.value(Op::IAdd, &ty, &[from, by]);
            self.store(counter.place, next);
            if let Operand::Value(more) = more {
                self.branch_if(more, state.header, state.exit);
            }
            return self.loop_exit(state);
        }
        // Where a step may pass the end of the type, `for_begin` has made a counter with a limit.
        let fits = step.is_some() && !counter.reversed && !counter.inclusive;
        let next = match (step, at, last) {
            (Some(step), Operand::Value(from), _) if fits => {
                let ty = self.type_of(from);
                match self.cast(step, &ty) {
                    Operand::Value(step) => self.value(Op::IAdd, &ty, &[from, step]),
                    other => other,
                }
            }
            (Some(Operand::Value(step)), Operand::Value(from), Operand::Value(to)) => {
                // The counter may pass the end by less than a step, and must not wrap around.
                let ty = self.type_of(from);
                let bits = match ty {
                    Type::Int { bits, .. } => bits,
                    _ => 64,
                };
                let long = step;
                let step = self.cast(
                    Operand::Value(step),
                    &Type::Int {
                        bits,
                        signed: false,
                    },
                );
                let Operand::Value(step) = step else {
                    return Operand::Never;
                };
                let left = self.emit(
                    Op::ISub,
                    &Type::Int {
                        bits,
                        signed: false,
                    },
                    &match counter.reversed {
                        true => [from, to],
                        false => [to, from],
                    },
                );
                let op = if counter.inclusive {
                    Op::ULessThanEqual
                } else {
                    Op::ULessThan
                };
                // A narrow type may not have the step.
                let (compared, left) = match self.most(long) > u64::MAX >> (64 - bits) {
                    true => match self.cast(Operand::Value(left), &Type::SIZE) {
                        Operand::Value(left) => (long, left),
                        _ => (step, left),
                    },
                    false => (step, left),
                };
                let fits = self.emit(op, &Type::Bool, &[compared, left]);
                self.branch_if(fits, on, state.exit);
                self.begin(on);
                let op = if counter.reversed { Op::ISub } else { Op::IAdd };
                self.value(op, &ty, &[from, step])
            }
            (_, Operand::Value(from), Operand::Value(to)) => {
                if counter.inclusive {
                    let ends = self.emit(Op::IEqual, &Type::Bool, &[from, to]);
                    self.branch_if(ends, state.exit, on);
                    self.begin(on);
                }
                let op = if counter.reversed { Op::ISub } else { Op::IAdd };
                self.add_one(at, op)
            }
            _ => Operand::Never,
        };
        self.store(counter.place, next);
        self.branch(state.header);
        self.loop_exit(state)
    }

    /// Begins the body of a called function, or refuses a call that is nested too deep.
    pub fn call_begin(&mut self, name: &str, file: &'static str) -> Option<Call> {
        if self.depth == DEEPEST {
            self.refuse(format!(
                "calls are nested deeper than {DEEPEST}: does `{name}` call itself? Kernels have no recursion: use a loop",
            ));
            return None;
        }
        self.depth += 1;
        Some(Call {
            exit: self.label(),
            file: std::mem::replace(&mut self.file, file),
            facts: self.facts.len(),
            value: Meeting::default(),
        })
    }

    /// `return value`.
    pub fn call_return(&mut self, call: &mut Call, value: Operand) {
        self.meet(&mut call.value, value);
        self.branch(call.exit);
    }

    /// Ends the body of a called function.
    pub fn call_end(&mut self, mut call: Call, value: Operand) -> Operand {
        self.depth -= 1;
        self.file = call.file;
        self.call_return(&mut call, value);
        self.facts.truncate(call.facts);
        self.join(call.exit);
        self.met(call.value)
    }
}

impl Counter {
    /// The loop, for `break` and `continue`.
    pub fn inside(&mut self) -> &mut Loop {
        &mut self.inside
    }
}
