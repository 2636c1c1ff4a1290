//! The values of a body: in registers, in memory, or rematerialised.

use kernel_ir::{Constant, ValueDef, ValueId};

use super::Lower;
use crate::llvm::Val;

impl Lower<'_> {
    /// Defines `v`, for this segment and those that follow.
    pub(crate) fn define(&mut self, v: ValueId, value: Val) {
        self.held.block_values.insert(v, value);
        if self.cut.segments.rematerialised[v.index()] {
            return;
        }
        if let Some(&slot) = self.held.slots.get(&v) {
            let stored = self.values.to_memory(value, self.ty(v));
            self.ir
                .store(stored, slot, self.cut.record.align_of_value(v));
        } else {
            self.held.known[v.index()] = Some(value);
        }
    }

    pub(crate) fn param(&self, index: usize) -> Val {
        match self.cut.record.by_value.get(&index) {
            Some(&offset) if !self.cut.segments.stops.is_empty() => {
                self.ir.offset_by(self.at.item.record, offset)
            }
            _ => self.held.params[index],
        }
    }

    /// The value of `v` at the builder's position.
    pub(crate) fn get(&mut self, v: ValueId) -> Val {
        let ir = self.ir;
        match self.function.values[v.index()].def {
            ValueDef::Const(id) => {
                if let Constant::GlobalAddress(global, offset) =
                    self.values.module.constants.get(id)
                    && let Some(&base) = self.held.locals.get(global)
                {
                    return ir.offset_by(base, *offset as u64);
                }
                return self.values.constant(id);
            }
            ValueDef::Global(global) => {
                return match self.held.locals.get(&global) {
                    Some(&base) => base,
                    None => self.values.global(global),
                };
            }
            ValueDef::Param(index) => return self.param(index as usize),
            ValueDef::Inst(_) => {}
        }
        if let Some(&near) = self.held.block_values.get(&v) {
            return near;
        }
        if let Some(&slot) = self.held.slots.get(&v) {
            let ty = self.values.memory(self.ty(v));
            let loaded = ir.load(ty, slot, self.cut.record.align_of_value(v));
            let value = self.values.to_register(loaded, self.ty(v));
            self.held.block_values.insert(v, value);
            return value;
        }
        if self.cut.segments.rematerialised[v.index()]
            && let ValueDef::Inst(inst) = self.function.values[v.index()].def
        {
            // Cheap: the caller of `Segments::new` bounds the number of operations.
            if self.instruction(inst).is_ok()
                && let Some(&near) = self.held.block_values.get(&v)
            {
                return near;
            }
        }
        // No definition reaches this use: such code does not run.
        self.held.known[v.index()].unwrap_or_else(|| ir.null(self.values.register(self.ty(v))))
    }

    /// Forgets the values loaded or rematerialised in the segment that ends.
    pub(crate) fn clear_block_values(&mut self) {
        self.held.block_values.clear();
    }

    /// Sets the value of `v` in the current segment.
    pub(crate) fn set_block_value(&mut self, v: ValueId, value: Val) {
        self.held.block_values.insert(v, value);
    }

    /// Address of a private array.
    pub(crate) fn alloca_address(&self, result: ValueId) -> Val {
        match self.cut.record.allocas.get(&result) {
            Some(&offset) => self.ir.offset_by(self.at.item.record, offset),
            None => self.held.stack_allocas[&result],
        }
    }
}
