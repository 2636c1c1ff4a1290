//! Checks of indices. A pointer that may be outside its slice or array is guarded by a condition: a read there gives
//! zero, a write is left out, as robust buffer access has it in other languages for kernels.
//!
//! The work-item goes on. If it ended, loops would have further exits and others would wait for it at barriers:
//! compilers then run work-items one after another, which made kernels 5 to 20 times slower. In the reporting form a bad
//! index is reported before.
//!
//! Guards are held where instructions are emitted: an instruction that uses a guarded pointer in another way than to
//! compute an address ends the work-item unless the condition holds.

use spirv::Op;

use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::types::Type;

/// The operands that may be pointers; `None` for instructions that compute addresses, whose result is guarded too.
fn pointers(op: Op, operands: &[Id]) -> Option<&[Id]> {
    let from = |at: usize| operands.get(at..).unwrap_or_default();
    Some(match op {
        Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain | Op::AccessChain => return None,
        Op::PtrAccessChain | Op::Bitcast | Op::CopyObject => return None,
        Op::Load => operands.get(2..3).unwrap_or_default(),
        Op::Store => operands.get(..2).unwrap_or_default(),
        // Literals among these operands are no ids.
        Op::CompositeExtract | Op::Branch | Op::BranchConditional | Op::Variable => &[],
        Op::VectorShuffle | Op::ImageSampleExplicitLod => &[],
        Op::CompositeInsert => operands.get(2..4).unwrap_or_default(),
        Op::ExtInst => from(4),
        _ => operands,
    })
}

/// A branch around what a guard protects.
struct Guarded {
    before: Id,
    merge: Id,
}

impl Builder {
    /// Guards a pointer: it is outside unless the condition and the guard of the pointer that it was made of hold.
    pub(crate) fn guard(&mut self, pointer: Id, base: Id, condition: Id) {
        let condition = match self.guards.get(&base).copied() {
            Some(outer) if outer != condition => {
                self.emit(Op::LogicalAnd, &Type::Bool, &[outer, condition])
            }
            _ => condition,
        };
        self.guards.insert(pointer, condition);
    }

    /// Before an instruction: its guarded pointers are checked, or guard its result.
    pub(crate) fn keep_guards(&mut self, op: Op, operands: &[Id]) {
        if self.guards.is_empty() {
            return;
        }
        let Some(pointers) = pointers(op, operands) else {
            let of = operands
                .get(2)
                .and_then(|base| self.guards.get(base))
                .copied();
            if let (Some(condition), Some(result)) = (of, operands.get(1)) {
                self.guards.insert(*result, condition);
            }
            return;
        };
        let unchecked: Vec<Id> = pointers
            .iter()
            .filter_map(|pointer| self.guards.get(pointer).copied())
            .filter(|condition| !self.open_guards.contains(condition))
            .collect();
        for condition in unchecked {
            self.fault_unless(Operand::Value(condition));
        }
    }

    /// The guard of a pointer, unless the code is already under it.
    fn closed_guard(&self, pointer: Id) -> Option<Id> {
        let condition = self.guards.get(&pointer).copied();
        condition.filter(|condition| !self.open_guards.contains(condition))
    }

    fn guard_begin(&mut self, condition: Id) -> Guarded {
        let (inside, merge) = (self.label(), self.label());
        let before = self.block();
        self.branch_if(condition, inside, merge);
        self.begin(inside);
        self.open_guards.push(condition);
        Guarded { before, merge }
    }

    fn guard_end(&mut self, state: &Guarded) -> Id {
        self.open_guards.pop();
        let from = self.block();
        self.branch(state.merge);
        self.begin(state.merge);
        from
    }

    /// Loads a number or a vector; zero where the pointer's guard does not hold.
    pub(crate) fn load(&mut self, ty: &Type, type_id: Id, operands: &[Id]) -> Id {
        let guard = operands
            .first()
            .and_then(|pointer| self.closed_guard(*pointer));
        let Some(condition) = guard else {
            return self.emit_as(Op::Load, ty, type_id, operands);
        };
        let state = self.guard_begin(condition);
        let loaded = self.emit_as(Op::Load, ty, type_id, operands);
        let from = self.guard_end(&state);
        let zero = self.module.constant(Op::ConstantNull, type_id, &[]);
        self.emit_as(Op::Phi, ty, type_id, &[loaded, from, zero, state.before])
    }

    /// An effect on what a pointer leads to, where its guard holds.
    pub(crate) fn where_inside(&mut self, pointer: Id, act: impl FnOnce(&mut Self)) {
        let Some(condition) = self.closed_guard(pointer) else {
            return act(self);
        };
        let state = self.guard_begin(condition);
        act(self);
        self.guard_end(&state);
    }

    /// A value of what a pointer leads to; zero where its guard does not hold.
    pub(crate) fn value_inside(
        &mut self,
        pointer: Id,
        act: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let values = self.values_inside(pointer, |builder| vec![act(builder)]);
        values.first().copied().unwrap_or(Operand::Never)
    }

    /// Values of what a pointer leads to; zeros where its guard does not hold.
    pub(crate) fn values_inside(
        &mut self,
        pointer: Id,
        act: impl FnOnce(&mut Self) -> Vec<Operand>,
    ) -> Vec<Operand> {
        match self.closed_guard(pointer) {
            Some(condition) => self.values_where(condition, act),
            None => act(self),
        }
    }

    /// Values that are computed where a condition holds; zeros elsewhere.
    pub(crate) fn values_where(
        &mut self,
        condition: Id,
        act: impl FnOnce(&mut Self) -> Vec<Operand>,
    ) -> Vec<Operand> {
        let state = self.guard_begin(condition);
        let values = act(self);
        let from = self.guard_end(&state);
        let phi = |builder: &mut Self, value| {
            let Operand::Value(id) = value else {
                return value;
            };
            let ty = builder.type_of(id);
            let of = builder.module.type_id(&ty);
            let zero = builder.module.constant(Op::ConstantNull, of, &[]);
            builder.value(Op::Phi, &ty, &[id, from, zero, state.before])
        };
        values.into_iter().map(|value| phi(self, value)).collect()
    }
}
