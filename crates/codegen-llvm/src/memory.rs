//! Loads, stores, addresses, fences.

use kernel_ir::{AddressSpace, BuildError, GroupOp, Order, Scope, TypeId, ValueId};

use crate::atomic::ordering;
use crate::llvm::{IntPred, Opcode, Val};
use crate::lower::{Lower, unsupported};

/// An alignment that LLVM accepts: a power of two.
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
        let local = within(self.memory, self.at.launch.state_offset);
        let (frame, record_size) = self.private_places();
        let in_records = within(self.state, record_size);
        // Private arrays on the stack lie in this function's frame or in those of its callers.
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

    /// The end of the private memory on the stack, and the bytes of private memory in records.
    pub(crate) fn private_places(&self) -> (Val, Val) {
        let ir = self.ir;
        if let Some(within) = self.within {
            return (within.top, within.records);
        }
        let mut items = self.at.launch.items;
        if self.whole_sub_groups {
            // The state area covers whole sub-groups, also where the last one is not full.
            let last = u64::from(self.sub_group_size - 1);
            items = ir.and(ir.add(items, ir.i64c(last)), ir.i64c(!last));
        }
        let records = ir.mul(items, ir.i64c(self.cut.record.stride.max(1)));
        let frame = ir.intrinsic("llvm.frameaddress", &[ir.ptr], &[ir.i32c(0)]);
        (frame, records)
    }

    pub(crate) fn fence(&self, scope: Scope, order: Order) {
        if order == Order::Relaxed {
            return;
        }
        // The work-items of a group run on one thread: only the compiler must keep their accesses in order.
        let one_thread = matches!(
            scope,
            Scope::Workgroup | Scope::Subgroup | Scope::Invocation
        );
        self.ir.fence(ordering(order), one_thread);
    }

    /// Intel's block accesses: row `r` of lane `l` is the element at index `r * size + l` from the pointer.
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
