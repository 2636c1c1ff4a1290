//! Loads, stores, addresses, atomics, fences.

use kernel_ir::{
    AddressSpace, AtomicOp, BuildError, GroupOp, Op, Order, Scope, Type, TypeId, ValueId,
};

use crate::kernel::{Lower, unsupported};
use crate::llvm::{IntPred, Opcode, Ordering, Val};

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::LLVMAtomicOrderingMonotonic,
        Order::Acquire => Ordering::LLVMAtomicOrderingAcquire,
        Order::Release => Ordering::LLVMAtomicOrderingRelease,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingAcquireRelease,
        Order::SequentiallyConsistent => Ordering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}
/// The part of an order that a load can keep.
fn load_ordering(order: Order) -> Ordering {
    match order {
        Order::Release => Ordering::LLVMAtomicOrderingMonotonic,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingAcquire,
        other => ordering(other),
    }
}
/// The part of an order that a store can keep.
fn store_ordering(order: Order) -> Ordering {
    match order {
        Order::Acquire => Ordering::LLVMAtomicOrderingMonotonic,
        Order::AcquireRelease => Ordering::LLVMAtomicOrderingRelease,
        other => ordering(other),
    }
}

/// An alignment that LLVM takes: a power of two.
pub(crate) fn sane_align(align: u64) -> u64 {
    let align = align.clamp(1, 4096);
    if align.is_power_of_two() {
        align
    } else {
        1 << align.trailing_zeros()
    }
}

impl Lower<'_> {
    pub(crate) fn load(&self, ptr: Val, ty: TypeId, align: u64, volatile: bool) -> Val {
        let loaded = self.ir.load(self.values.memory(ty), ptr, sane_align(align));
        if volatile {
            self.ir.set_volatile(loaded);
        }
        self.values.to_register(loaded, ty)
    }

    pub(crate) fn store(&self, value: Val, ptr: Val, ty: TypeId, align: u64, volatile: bool) {
        let value = self.values.to_memory(value, ty);
        let store = self.ir.store(value, ptr, sane_align(align));
        if volatile {
            self.ir.set_volatile(store);
        }
    }

    pub(crate) fn copy_memory(&self, dst: Val, src: Val, size: Val, align: u64) {
        self.ir.memcpy(dst, src, size, sane_align(align));
    }

    /// `ptr + index * stride + offset`.
    pub(crate) fn pointer(&self, ptr: Val, index: Option<(Val, i64)>, offset: i64) -> Val {
        let ir = self.ir;
        let mut at = ptr;
        if let Some((index, stride)) = index {
            let scaled = match stride {
                1 => index,
                _ => ir.mul(index, ir.i64c(stride as u64)),
            };
            at = ir.offset(at, scaled);
        }
        ir.offset_by(at, offset as u64)
    }

    /// Bool: whether generic `ptr` points into `space`.
    pub(crate) fn points_into(&mut self, ptr: Val, space: AddressSpace) -> Val {
        let ir = self.ir;
        let address = ir.cast(Opcode::LLVMPtrToInt, ptr, ir.i64);
        let within = |base: Val, size: Val| {
            let base = ir.cast(Opcode::LLVMPtrToInt, base, ir.i64);
            ir.icmp(IntPred::LLVMIntULT, ir.sub(address, base), size)
        };
        let local = within(self.memory, self.launch.state_offset);
        let mut items = self.launch.items;
        if self.wide {
            // A sub-group's record is whole even where its last lanes are not.
            let last = u64::from(self.sub_group_size - 1);
            items = ir.and(ir.add(items, ir.i64c(last)), ir.i64c(!last));
        }
        let record_size = ir.mul(items, ir.i64c(self.record.stride.max(1)));
        let in_records = within(self.state, record_size);
        let frame = ir.intrinsic("llvm.frameaddress", &[ir.ptr], &[ir.i32c(0)]);
        // Everything is inlined: private arrays on the stack are in this very frame.
        let low = ir.intrinsic("llvm.stacksave", &[ir.ptr], &[]);
        let top = ir.cast(Opcode::LLVMPtrToInt, frame, ir.i64);
        let bottom = ir.cast(Opcode::LLVMPtrToInt, low, ir.i64);
        let on_stack = within(low, ir.sub(top, bottom));
        let private = ir.or(in_records, on_stack);
        let private = ir.and(private, ir.not(local));
        match space {
            AddressSpace::Local => local,
            AddressSpace::Private => private,
            _ => {
                let some = ir.icmp(IntPred::LLVMIntNE, address, ir.i64c(0));
                ir.and(some, ir.not(ir.or(local, private)))
            }
        }
    }

    pub(crate) fn fence(&self, scope: Scope, order: Order) {
        if order == Order::Relaxed {
            return;
        }
        // A work-group runs on one thread: only the compiler must keep its accesses in order.
        let one_thread = matches!(
            scope,
            Scope::Workgroup | Scope::Subgroup | Scope::Invocation
        );
        self.ir.fence(ordering(order), one_thread);
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
                // Only integers and pointers may be compared in memory.
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

    /// INTEL's block accesses: row `r`, lane `l` is element `r * size + l` behind the pointer.
    pub(crate) fn block_access(
        &mut self,
        op: GroupOp,
        operands: &[ValueId],
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Option<Val>, BuildError> {
        let ir = self.ir;
        let value = match op {
            GroupOp::BlockRead => result,
            _ => operands.get(1).copied(),
        };
        let (Some(&ptr), Some(value)) = (operands.first(), value) else {
            return Err(unsupported(word, "a block access without pointer or value"));
        };
        let ty = self.ty(value);
        let types = &self.values.module.types;
        let Some(element) = types.scalar_of(ty) else {
            return Err(unsupported(word, "a block access of an aggregate"));
        };
        let (size, rows) = (types.size_of(element), types.lane_count(ty));
        let base = self.get(ptr);
        let lane = self.lane();
        let first = ir.offset(base, ir.mul(lane, ir.i64c(size)));
        let row_bytes = size * u64::from(self.sub_group_size);
        let memory = self.values.memory(element);
        if op == GroupOp::BlockRead {
            let mut whole = ir.poison(self.values.register(ty));
            for row in 0..rows {
                let at = ir.offset_by(first, u64::from(row) * row_bytes);
                let part = self.values.to_register(ir.load(memory, at, size), element);
                if rows == 1 {
                    return Ok(Some(part));
                }
                whole = ir.insert_element(whole, part, ir.i32c(row));
            }
            return Ok(Some(whole));
        }
        let whole = self.get(value);
        for row in 0..rows {
            let at = ir.offset_by(first, u64::from(row) * row_bytes);
            let part = if rows == 1 {
                whole
            } else {
                ir.extract_element(whole, ir.i32c(row))
            };
            ir.store(self.values.to_memory(part, element), at, size);
        }
        Ok(None)
    }
}
