//! The operations of `solum check` for all lanes of a chunk: one call for each access, and one branch for each test.

use kernel_ir::abi::check::{CHECK_LANES_SYMBOL, CHECK_ROW_SYMBOL};
use kernel_ir::{BuildError, CheckOp, Inst, Op, Touch, ValueId};

use super::region::Lanes;
use crate::llvm::{Opcode, Val};

impl Lanes<'_, '_, '_> {
    pub(super) fn kernel_check(
        &mut self,
        op: CheckOp,
        args: &[ValueId],
        inst: &Inst,
    ) -> Result<(), BuildError> {
        if op.is_conditional() {
            return self.check_if_any(args, inst);
        }
        if op == CheckOp::Unseen {
            return self.scalarise(&inst.op, None, inst.word).map(|_| ());
        }
        if let CheckOp::ArgumentRead(n, size) = op {
            let next = self.low.if_written(n);
            // Values that this block reads or computes are not there in the next one.
            let outside = self.block_values.clone();
            let access = CheckOp::Access(Touch::Read, size);
            let told = Inst {
                op: Op::Check(access, args.to_vec()),
                ..inst.clone()
            };
            self.kernel_check(access, args, &told)?;
            self.block_values = outside;
            self.low.ir.br(next);
            self.low.ir.at_end(next);
            return Ok(());
        }
        let ir = self.low.ir;
        let zero = ir.i64c(0);
        let is_access = matches!(op, CheckOp::Access(..));
        // Operands: pointer, epoch, value; or epoch, value.
        let (ptr, epoch, value) = match (is_access, args) {
            (true, &[ptr, epoch, ..]) => (Some(ptr), epoch, args.get(2).copied()),
            (_, &[epoch, ..]) => (None, epoch, args.get(1).copied()),
            _ => return Ok(()),
        };
        // A work-item's epoch may differ from its neighbour's where the program is wrong: then each is told alone.
        let epoch = self.rep(epoch);
        let Some(epoch) = epoch.first.filter(|_| epoch.is_uniform()) else {
            return self.scalarise(&inst.op, None, inst.word).map(|_| ());
        };
        let lanes = self.active_lanes();
        let values = match value {
            Some(value) => self.in_memory(value),
            None => zero,
        };
        let what = self.low.what(op, args);
        let site = self.low.site(epoch, inst.word);
        let head = [self.low.checker(), self.low.who(), site, what];
        let pointer = ptr.map(|ptr| (ptr, self.rep(ptr)));
        match pointer {
            Some((ptr, rep)) if rep.first.is_none() || rep.holds.is_some() => {
                let addresses = self.in_memory(ptr);
                let (function, ty) = ir.external(CHECK_LANES_SYMBOL, ir.void, &[ir.i64; 7]);
                let [a, b, c, d] = head;
                ir.call(function, ty, &[a, b, c, d, addresses, lanes, values]);
            }
            pointer => {
                let (first, step) = match &pointer {
                    Some((ptr, rep)) => (self.scalar(*ptr), rep.step),
                    None => (ir.i64c(u64::from(value.is_some())), 0),
                };
                let first = self.low.as_word(first);
                let step = ir.i64c(step.cast_unsigned());
                let (function, ty) = ir.external(CHECK_ROW_SYMBOL, ir.void, &[ir.i64; 8]);
                let [a, b, c, d] = head;
                ir.call(function, ty, &[a, b, c, d, first, step, lanes, values]);
            }
        }
        Ok(())
    }

    /// A check that reports only the lanes in which its first operand is true.
    fn check_if_any(&mut self, args: &[ValueId], inst: &Inst) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let Some(&wrong) = args.first() else {
            return Ok(());
        };
        let rep = self.rep(wrong);
        let any = match rep.first {
            Some(first) if rep.is_uniform() => first,
            _ => {
                let wrong = self.vectors(wrong)[0];
                let wrong = self.mask.map_or(wrong, |mask| ir.and(wrong, mask));
                self.any(wrong)
            }
        };
        let [report, next] = [c"report", c"checked"].map(|name| self.low.new_block(name));
        ir.cond_br(any, report, next);
        ir.at_end(report);
        // Values that this block reads or computes are not there in the next one.
        let outside = self.block_values.clone();
        self.scalarise(&inst.op, None, inst.word)?;
        self.block_values = outside;
        ir.br(next);
        ir.at_end(next);
        Ok(())
    }

    /// The active lanes as bits.
    fn active_lanes(&self) -> Val {
        let ir = self.low.ir;
        match self.mask {
            Some(mask) => {
                let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
                ir.zext_or_trunc(bits, ir.i64)
            }
            None => ir.i64c(u64::MAX >> (64 - self.width)),
        }
    }

    /// The address of an array with the lanes' 64 bits of `v`.
    fn in_memory(&mut self, v: ValueId) -> Val {
        let ir = self.low.ir;
        let all = self.vectors(v)[0];
        let words = ir.vector(ir.i64, self.width);
        let all = match ir.scalar(ir.type_of(all)) == ir.ptr {
            true => ir.cast(Opcode::LLVMPtrToInt, all, words),
            false => all,
        };
        let slot = self.low.entry_alloca(words, 64);
        ir.store(all, slot, 64);
        self.low.as_word(slot)
    }
}
