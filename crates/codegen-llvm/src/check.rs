//! The operations of `solum check`: calls of the runtime, behind a branch where the check itself is arithmetic.

use kernel_ir::abi::check::{ArgumentBounds, CHECK_SYMBOL, ITEM_BITS, What};
use kernel_ir::abi::launch_offset;
use kernel_ir::{AddressSpace, CheckOp, Type, ValueId};

use crate::llvm::{Bb, IntPred, Opcode, Val};
use crate::lower::Lower;

impl Lower<'_> {
    /// A check by one work-item.
    pub(crate) fn kernel_check(&mut self, op: CheckOp, args: &[ValueId], word: u32) -> Option<Val> {
        let ir = self.ir;
        let at = |table: Val, n: u32, field: u64| {
            let size = size_of::<ArgumentBounds>() as u64;
            ir.load(ir.i64, ir.offset_by(table, u64::from(n) * size + field), 8)
        };
        match op {
            CheckOp::ArgumentStart(n) => return Some(at(self.argument_bounds(), n, 0)),
            CheckOp::ArgumentSize(n) => return Some(at(self.argument_bounds(), n, 8)),
            CheckOp::ArgumentShadow(n) => {
                let field = std::mem::offset_of!(ArgumentBounds, shadow) as u64;
                let shadow = at(self.argument_bounds(), n, field);
                return Some(ir.cast(Opcode::LLVMIntToPtr, shadow, ir.ptr));
            }
            _ => {}
        }
        let values: Vec<Val> = args.iter().map(|&arg| self.get(arg)).collect();
        let zero = ir.i64c(0);
        let what = self.what(op, args);
        if op.is_conditional() {
            let [report, next] = [c"report", c"checked"].map(|name| self.new_block(name));
            ir.cond_br(values[0], report, next);
            ir.at_end(report);
            let second = values.get(2).copied();
            let a = self.as_word(values[1]);
            let b = second.map_or(zero, |b| self.as_word(b));
            // Where other checks have the epoch, this one has the source.
            let source = values.get(3).copied().unwrap_or(zero);
            self.call_check([what, a, b], source, word);
            ir.br(next);
            ir.at_end(next);
            return None;
        }
        let next = match op {
            CheckOp::ArgumentRead(n, _) => Some(self.if_written(n)),
            _ => None,
        };
        let (a, epoch, b) = match op {
            CheckOp::Access(..) | CheckOp::ArgumentRead(..) => {
                (values[0], values[1], values.get(2).copied())
            }
            CheckOp::Fence(..)
            | CheckOp::Arrive
            | CheckOp::ArriveSubGroup
            | CheckOp::Agree
            | CheckOp::Leave => {
                // Whether there is a value.
                let has_value = ir.i64c(u64::from(values.len() > 1));
                (has_value, values[0], values.get(1).copied())
            }
            CheckOp::Unseen => (zero, zero, None),
            _ => (values[0], zero, None),
        };
        let a = self.as_word(a);
        let b = b.map_or(zero, |b| self.as_word(b));
        let result = self.call_check([what, a, b], epoch, word);
        if let Some(next) = next {
            ir.br(next);
            ir.at_end(next);
        }
        match op {
            CheckOp::AllocationShadow => Some(ir.cast(Opcode::LLVMIntToPtr, result, ir.ptr)),
            _ => op.is_pure().then_some(result),
        }
    }

    /// Branches to a new block, now at hand, if reads through an argument count, and otherwise to the block returned.
    pub(crate) fn if_written(&mut self, argument: u32) -> Bb {
        let ir = self.ir;
        let size = size_of::<ArgumentBounds>() as u64;
        let field = std::mem::offset_of!(ArgumentBounds, is_written) as u64;
        let at = u64::from(argument) * size + field;
        let is_written = ir.load(ir.i64, ir.offset_by(self.argument_bounds(), at), 8);
        let [tell, next] = [c"tell", c"told"].map(|name| self.new_block(name));
        let is_written = ir.icmp(IntPred::LLVMIntNE, is_written, ir.i64c(0));
        ir.cond_br(is_written, tell, next);
        ir.at_end(tell);
        next
    }

    fn call_check(&mut self, [what, a, b]: [Val; 3], epoch: Val, word: u32) -> Val {
        let ir = self.ir;
        let who = self.who();
        let args = [self.checker(), who, self.site(epoch, word), what, a, b];
        let (function, ty) = ir.external(CHECK_SYMBOL, ir.i64, &[ir.i64; 6]);
        ir.call(function, ty, &args)
    }

    /// The check's bits.
    pub(crate) fn what(&self, op: CheckOp, args: &[ValueId]) -> Val {
        let types = &self.values.module.types;
        let mut spaces = args
            .iter()
            .filter_map(|&arg| match types.get(self.ty(arg)) {
                Type::Ptr(space) => Some(*space),
                _ => None,
            });
        let space = spaces.next().unwrap_or(AddressSpace::Private);
        self.ir.i64c(What { op, space }.encode())
    }

    pub(crate) fn checker(&self) -> Val {
        let ir = self.ir;
        let launch = self.launch_record();
        ir.load(ir.i64, ir.offset_by(launch, launch_offset::CHECK), 8)
    }

    fn argument_bounds(&self) -> Val {
        let ir = self.ir;
        let launch = ir.param(self.llvm_function, 1);
        ir.load(
            ir.ptr,
            ir.offset_by(launch, launch_offset::CHECK_ARGUMENTS),
            8,
        )
    }

    /// The number of the work-item at hand.
    pub(crate) fn who(&self) -> Val {
        let ir = self.ir;
        let [x, y, z] = self.at.group;
        let [nx, ny, _] = self.at.launch.count;
        let group = ir.add(x, ir.mul(nx, ir.add(y, ir.mul(ny, z))));
        ir.or(
            ir.shl(group, ir.i64c(u64::from(ITEM_BITS))),
            self.at.item.linear,
        )
    }

    pub(crate) fn site(&self, epoch: Val, word: u32) -> Val {
        let ir = self.ir;
        let epoch = ir.zext_or_trunc(epoch, ir.i64);
        ir.or(epoch, ir.i64c(u64::from(word) << 32))
    }

    /// A pointer or an integer as Int(64).
    pub(crate) fn as_word(&self, value: Val) -> Val {
        let ir = self.ir;
        match ir.type_of(value) == ir.ptr {
            true => ir.cast(Opcode::LLVMPtrToInt, value, ir.i64),
            false => ir.zext_or_trunc(value, ir.i64),
        }
    }
}
