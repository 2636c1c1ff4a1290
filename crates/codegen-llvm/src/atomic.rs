//! Atomic operations of one work-item.

use kernel_ir::{AddressSpace, AtomicOp, BuildError, Op, Order, Reduction, Type, TypeId, ValueId};

use crate::llvm::{IntPred, Opcode, Ordering, Rmw, Val};
use crate::lower::{Lower, unsupported};

pub(crate) fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::LLVMAtomicOrderingMonotonic,
        Order::Acquire => Ordering::LLVMAtomicOrderingAcquire,
        Order::Release => Ordering::LLVMAtomicOrderingRelease,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingAcquireRelease,
        Order::SequentiallyConsistent => Ordering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}
/// The memory order of the load in an operation of this order.
pub(crate) fn load_ordering(order: Order) -> Ordering {
    match order {
        Order::Release => Ordering::LLVMAtomicOrderingMonotonic,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingAcquire,
        other => ordering(other),
    }
}
/// The memory order of the store in an operation of this order.
pub(crate) fn store_ordering(order: Order) -> Ordering {
    match order {
        Order::Acquire => Ordering::LLVMAtomicOrderingMonotonic,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingRelease,
        other => ordering(other),
    }
}

/// The associative operation that an atomic operation applies, if it applies one.
pub(crate) fn reduction_of(op: AtomicOp) -> Option<Reduction> {
    Some(match op {
        AtomicOp::IAdd | AtomicOp::ISub => Reduction::IAdd,
        AtomicOp::SMin => Reduction::SMin,
        AtomicOp::SMax => Reduction::SMax,
        AtomicOp::UMin => Reduction::UMin,
        AtomicOp::UMax => Reduction::UMax,
        AtomicOp::And => Reduction::And,
        AtomicOp::Or => Reduction::Or,
        AtomicOp::Xor => Reduction::Xor,
        AtomicOp::FAdd => Reduction::FAdd,
        AtomicOp::FMin => Reduction::FMin,
        AtomicOp::FMax => Reduction::FMax,
        _ => return None,
    })
}

impl Lower<'_> {
    /// Whether only this thread can reach the memory: a work-group runs on one thread.
    pub(crate) fn is_own(&self, ptr: ValueId) -> bool {
        matches!(
            self.values.module.types.get(self.ty(ptr)),
            Type::Ptr(AddressSpace::Local | AddressSpace::Private)
        )
    }

    /// An atomic operation on memory that only this thread reaches. Returns its result, for most operations the old
    /// value.
    pub(crate) fn update_own(
        &self,
        op: AtomicOp,
        at: Val,
        ty: TypeId,
        operand: Option<Val>,
        comparator: Option<Val>,
    ) -> Option<Val> {
        let ir = self.ir;
        let align = self.values.module.types.align_of(ty);
        let memory = self.values.memory(ty);
        if let (AtomicOp::Store, Some(operand)) = (op, operand) {
            ir.store(operand, at, align);
            return None;
        }
        match op {
            AtomicOp::FlagClear => {
                ir.store(ir.i32c(0), at, 4);
                return None;
            }
            AtomicOp::FlagTestAndSet => {
                let old = ir.load(ir.i32, at, 4);
                ir.store(ir.i32c(1), at, 4);
                return Some(ir.icmp(IntPred::LLVMIntNE, old, ir.i32c(0)));
            }
            _ => {}
        }
        let old = ir.load(memory, at, align);
        let new = match (op, operand) {
            (AtomicOp::Exchange, Some(v)) => Some(v),
            (AtomicOp::CompareExchange, Some(v)) => comparator.map(|expected| {
                let int = ir.int(self.values.module.types.size_of(ty) as u32 * 8);
                let bits = |v: Val| match self.values.module.types.get(ty) {
                    Type::Float(_) => ir.cast(Opcode::LLVMBitCast, v, int),
                    _ => v,
                };
                let expected = self.values.to_memory(expected, ty);
                let same = ir.icmp(IntPred::LLVMIntEQ, bits(old), bits(expected));
                ir.select(same, v, old)
            }),
            (AtomicOp::ISub, Some(v)) => Some(ir.sub(old, v)),
            (op, Some(v)) => reduction_of(op).map(|reduction| self.combine(reduction, old, v)),
            (_, None) => None,
        };
        if let Some(new) = new {
            ir.store(new, at, align);
        }
        Some(self.values.to_register(old, ty))
    }

    pub(crate) fn atomic(
        &mut self,
        op: &Op,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Option<Val>, BuildError> {
        let Op::Atomic {
            op,
            ptr,
            value,
            comparator,
            order,
            ..
        } = op
        else {
            return Ok(None);
        };
        let ir = self.ir;
        let at = self.get(*ptr);
        let ty = match (value, result) {
            (Some(v), _) => self.ty(*v),
            (None, Some(v)) => self.ty(v),
            (None, None) => self.ty(*ptr),
        };
        let types = &self.values.module.types;
        let align = types.align_of(ty);
        let float = matches!(types.get(ty), Type::Float(_));
        let operand = match value {
            Some(v) => {
                let v = self.get(*v);
                Some(self.values.to_memory(v, ty))
            }
            None => None,
        };
        if self.is_own(*ptr) {
            let comparator = comparator.map(|v| self.get(v));
            return Ok(self.update_own(*op, at, ty, operand, comparator));
        }
        let order_of = ordering(*order);
        let needs = |operand: Option<Val>| {
            operand.ok_or_else(|| unsupported(word, "an atomic operation without its operand"))
        };
        Ok(Some(match op {
            AtomicOp::Load => {
                let loaded = ir.load(self.values.memory(ty), at, align);
                ir.set_ordering(loaded, load_ordering(*order));
                self.values.to_register(loaded, ty)
            }
            AtomicOp::Store => {
                let store = ir.store(needs(operand)?, at, align);
                ir.set_ordering(store, store_ordering(*order));
                return Ok(None);
            }
            AtomicOp::CompareExchange => {
                let expected = comparator
                    .ok_or_else(|| unsupported(word, "a compare-exchange without comparator"))?;
                let expected = self.get(expected);
                let (new, memory) = (needs(operand)?, self.values.memory(ty));
                // LLVM compares only integers and pointers in memory.
                let int = ir.int(types.size_of(ty) as u32 * 8);
                let bits = |v: Val| {
                    if float {
                        ir.cast(Opcode::LLVMBitCast, v, int)
                    } else {
                        v
                    }
                };
                let old = ir.cmpxchg(
                    at,
                    bits(self.values.to_memory(expected, ty)),
                    bits(new),
                    order_of,
                    load_ordering(*order),
                );
                if float {
                    ir.cast(Opcode::LLVMBitCast, old, memory)
                } else {
                    self.values.to_register(old, ty)
                }
            }
            AtomicOp::FlagTestAndSet => {
                let one = ir.i32c(1);
                let old =
                    ir.atomic_rmw(crate::llvm::Rmw::LLVMAtomicRMWBinOpXchg, at, one, order_of);
                ir.icmp(IntPred::LLVMIntNE, old, ir.i32c(0))
            }
            AtomicOp::FlagClear => {
                let store = ir.store(ir.i32c(0), at, 4);
                ir.set_ordering(store, store_ordering(*order));
                return Ok(None);
            }
            _ => {
                let rmw = Self::rmw_of(*op, float)
                    .ok_or_else(|| unsupported(word, format!("atomic {op:?} on this type")))?;
                let old = ir.atomic_rmw(rmw, at, needs(operand)?, order_of);
                self.values.to_register(old, ty)
            }
        }))
    }

    /// LLVM's atomic operation for a kernel-ir one that has a single counterpart.
    pub(crate) fn rmw_of(op: AtomicOp, float: bool) -> Option<Rmw> {
        use kernel_ir::AtomicOp as A;
        Some(match op {
            A::Exchange => Rmw::LLVMAtomicRMWBinOpXchg,
            A::IAdd => Rmw::LLVMAtomicRMWBinOpAdd,
            A::ISub => Rmw::LLVMAtomicRMWBinOpSub,
            A::SMin => Rmw::LLVMAtomicRMWBinOpMin,
            A::SMax => Rmw::LLVMAtomicRMWBinOpMax,
            A::UMin => Rmw::LLVMAtomicRMWBinOpUMin,
            A::UMax => Rmw::LLVMAtomicRMWBinOpUMax,
            A::And => Rmw::LLVMAtomicRMWBinOpAnd,
            A::Or => Rmw::LLVMAtomicRMWBinOpOr,
            A::Xor => Rmw::LLVMAtomicRMWBinOpXor,
            A::FAdd if float => Rmw::LLVMAtomicRMWBinOpFAdd,
            A::FMin if float => Rmw::LLVMAtomicRMWBinOpFMin,
            A::FMax if float => Rmw::LLVMAtomicRMWBinOpFMax,
            _ => return None,
        })
    }
}
