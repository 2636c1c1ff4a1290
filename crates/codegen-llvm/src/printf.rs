//! printf: a record on the stack holds the arguments; a function of the host reads it.

use kernel_ir::abi::PRINTF_SYMBOL;
use kernel_ir::{BuildError, Constant, Type, ValueDef, ValueId};

use crate::llvm::Val;
use crate::lower::{Lower, unsupported};

impl Lower<'_> {
    pub(crate) fn printf(
        &mut self,
        format: u32,
        args: &[ValueId],
        word: u32,
    ) -> Result<Val, BuildError> {
        let ir = self.ir;
        let types = &self.values.module.types;
        let mut pieces = Vec::new();
        let mut at = 0u64;
        for &arg in args {
            let ty = self.ty(arg);
            let Some(scalar) = types.scalar_of(ty) else {
                return Err(unsupported(word, "printf of an aggregate"));
            };
            let count = types.lane_count(ty);
            let size = types.size_of(scalar);
            let kind = match (types.get(scalar), count) {
                (Type::Float(_), 1) => 1,
                (Type::Float(_), _) => 4,
                (Type::Ptr(_), _) if self.is_constant_text(arg) => 5,
                (Type::Ptr(_), _) => 2,
                (_, 1) => 0,
                _ => 3,
            };
            pieces.push((at, arg, kind, count, size));
            at += 16 + (size * u64::from(count)).next_multiple_of(8);
        }
        let blob = self.entry_alloca(ir.array(ir.i8, at.max(8)), 16);
        for (at, arg, kind, count, size) in pieces {
            for (i, word) in [kind, count, size as u32, 0].into_iter().enumerate() {
                ir.store(ir.i32c(word), ir.offset_by(blob, at + 4 * i as u64), 4);
            }
            let value = self.get(arg);
            let value = self.values.to_memory(value, self.ty(arg));
            ir.store(value, ir.offset_by(blob, at + 16), 8);
        }
        let (function, ty) = ir.external(PRINTF_SYMBOL, ir.i32, &[ir.i64, ir.i32, ir.ptr, ir.i32]);
        let args = [
            self.at.launch.printf,
            ir.i32c(format),
            blob,
            ir.i32c(at as u32),
        ];
        Ok(ir.call(function, ty, &args))
    }

    /// Whether it is the address of program-scope constant bytes: a string for `%s`.
    fn is_constant_text(&self, v: ValueId) -> bool {
        let module = self.values.module;
        let global = match self.function.values[v.index()].def {
            ValueDef::Global(global) => global,
            ValueDef::Const(id) => match module.constants.get(id) {
                Constant::GlobalAddress(global, _) => *global,
                _ => return false,
            },
            _ => return false,
        };
        let global = &module.globals[global.index()];
        let bytes = match module.types.get(global.ty) {
            Type::Array(element, _) => matches!(module.types.get(*element), Type::Int(8)),
            _ => false,
        };
        bytes && global.init.is_some()
    }
}
