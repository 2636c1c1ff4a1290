//! Traps and failed assertions: a record on the stack holds the work-item's ids; a function of the host reads it.

use kernel_ir::ValueId;
use kernel_ir::abi::{ASSERTION_WORDS, TRAP_SYMBOL};

use crate::lower::Lower;

impl Lower<'_> {
    /// Ends the launch; `word`: the instruction's place in the SPIR-V module.
    pub(crate) fn trap(&mut self, args: &[ValueId], word: u32) {
        let ir = self.ir;
        let count = args.len() as u64;
        let record = match self.trap_record {
            Some(made) => made,
            None => self.entry_alloca(ir.array(ir.i64, ASSERTION_WORDS as u64), 8),
        };
        self.trap_record = Some(record);
        for (at, &arg) in (0..).step_by(8).zip(args) {
            let value = self.get(arg);
            let value = self.values.to_memory(value, self.ty(arg));
            ir.store(value, ir.offset_by(record, at), 8);
        }
        let (function, ty) = ir.last_external(TRAP_SYMBOL, &[ir.ptr, ir.i32, ir.i32]);
        let args = [record, ir.i32c(count as u32), ir.i32c(word)];
        ir.call(function, ty, &args);
    }
}
