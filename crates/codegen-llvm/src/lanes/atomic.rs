//! Atomic operations of lanes.
//!
//! ```text
//! atomic_add(&n, x[i])          one address            one atomic operation with the sum of all lanes
//! atomic_add(&own[k[i]], 1)     this thread's memory   plain updates, lane after lane, without a loop
//! atomic_add(&bins[k[i]], 1)    other memory           privatised (`privatise`), or scalarised
//! ```

use kernel_ir::{AtomicOp, BuildError, Op, Order, Reduction, Type, TypeId, ValueId};

use super::narrow_index::Indexed;
use super::region::Lanes;
use super::rep::Rep;
use crate::atomic::{load_ordering, ordering, reduction_of, store_ordering};
use crate::llvm::{IntPred, Opcode, Val};
use crate::lower::Lower;

/// The parts of an atomic operation.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub(super) op: AtomicOp,
    pub(super) ptr: ValueId,
    pub(super) value: Option<ValueId>,
    pub(super) comparator: Option<ValueId>,
    pub(super) order: Order,
    /// The type of the content of memory.
    pub(super) ty: TypeId,
    /// Whether only this thread can reach the memory.
    pub(super) own: bool,
    pub(super) result: Option<ValueId>,
}

impl Lanes<'_, '_, '_> {
    /// Emits an atomic operation. Its result counts only if it is used.
    pub(super) fn atomic(
        &mut self,
        op: &Op,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Rep, BuildError> {
        let Op::Atomic {
            op: kind,
            ptr,
            value,
            comparator,
            order,
            ..
        } = op
        else {
            return Ok(Rep::vector(Vec::new()));
        };
        let update = Update {
            op: *kind,
            ptr: *ptr,
            value: *value,
            comparator: *comparator,
            order: *order,
            ty: match (*value, result) {
                (Some(v), _) | (None, Some(v)) => self.low.ty(v),
                (None, None) => self.low.ty(*ptr),
            },
            own: self.low.is_own(*ptr),
            result: result.filter(|&v| self.is_used(v)),
        };
        let place = self.rep(*ptr);
        if let Some(at) = place.first.filter(|_| place.is_uniform())
            && let Some(rep) = self.at_one_place(at, &update)
        {
            kernel_ir::mark!(AtomicUniform);
            return Ok(rep);
        }
        if update.own
            && self.existing.is_none()
            && !matches!(kind, AtomicOp::FlagTestAndSet | AtomicOp::FlagClear)
        {
            kernel_ir::mark!(AtomicOwn);
            return Ok(self.own_updates(&update, None));
        }
        if update.result.is_none() && self.privatised_updates(op, &update, word)? {
            let nobody = self.low.values.register(update.ty);
            return Ok(Rep::uniform(self.low.ir.null(nobody)));
        }
        kernel_ir::mark!(AtomicEach);
        let parts = self.scalarise(op, update.result, word)?;
        if update.result.is_none()
            && let Some(v) = result
        {
            let nobody = self.low.values.register(self.low.ty(v));
            return Ok(Rep::uniform(self.low.ir.null(nobody)));
        }
        Ok(Rep::vector(parts))
    }

    fn is_used(&self, v: ValueId) -> bool {
        let mut used = false;
        for block in &self.f.blocks {
            for inst in &block.insts {
                let op = &self.f.insts[inst.index()].op;
                op.operands(|operand| used |= operand == v);
            }
            used |= block.term.operand() == Some(v);
        }
        used || self.low.cut.segments.saved.contains(&v)
    }

    /// All lanes at the one address `at`; `None` if the operation must be scalarised.
    fn at_one_place(&mut self, at: Val, update: &Update) -> Option<Rep> {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let (ty, align) = (update.ty, types.align_of(update.ty));
        match (update.op, update.value) {
            (AtomicOp::Load, _) => {
                let loaded = ir.load(self.low.values.memory(ty), at, align);
                if !update.own {
                    ir.set_ordering(loaded, load_ordering(update.order));
                }
                return Some(Rep::uniform(self.low.values.to_register(loaded, ty)));
            }
            (AtomicOp::Store, Some(value)) => {
                // All lanes write one place: the last lane's value remains.
                let one = self.last_scalar(value);
                let one = self.low.values.to_memory(one, ty);
                let store = ir.store(one, at, align);
                if !update.own {
                    ir.set_ordering(store, store_ordering(update.order));
                }
                return Some(Rep::vector(Vec::new()));
            }
            _ => {}
        }
        let reduction = reduction_of(update.op)?;
        let value = update.value?;
        let float = matches!(types.get(ty), Type::Float(_));
        let rep = self.rep(value);
        if reduction == Reduction::FAdd {
            // The sum is made in the order of lanes, as if they came one after another.
            if update.result.is_some() {
                return None;
            }
            let parts = self.spread(value, &rep);
            self.add_in_order(at, parts[0], update);
            return Some(Rep::vector(Vec::new()));
        }
        if reduction == Reduction::IAdd
            && rep.is_uniform()
            && let Some(one) = rep.first
        {
            return Some(self.add_the_same(at, one, value, update));
        }
        let v = self.spread(value, &rep)[0];
        let identity = self.low.identity(reduction, ir.type_of(v));
        let v = match self.mask {
            Some(mask) => ir.select(mask, v, identity),
            None => v,
        };
        let (all, before) = if update.result.is_some() {
            let scanned = self.scan(reduction, v);
            let last = ir.i32c(self.width - 1);
            let before = self.shifted_up(scanned, identity, 1);
            (ir.extract_element(scanned, last), Some(before))
        } else {
            (self.reduce(reduction, v), None)
        };
        let old = self.once_at(at, all, update, float)?;
        let Some(before) = before else {
            return Some(Rep::uniform(old));
        };
        let old = self.splat(old);
        let each = match update.op {
            AtomicOp::ISub => ir.sub(old, before),
            _ => self.low.combine(reduction, old, before),
        };
        Some(Rep::vector(vec![each]))
    }

    /// One operation with the scalar `v`. Returns the old content.
    fn once_at(&self, at: Val, v: Val, update: &Update, float: bool) -> Option<Val> {
        if update.own {
            return self.low.update_own(update.op, at, update.ty, Some(v), None);
        }
        let rmw = Lower::rmw_of(update.op, float)?;
        Some(self.low.ir.atomic_rmw(rmw, at, v, ordering(update.order)))
    }

    /// Every active lane adds (or subtracts) `one`.
    fn add_the_same(&mut self, at: Val, one: Val, value: ValueId, update: &Update) -> Rep {
        let ir = self.low.ir;
        let ty = ir.type_of(one);
        let (count, before) = match self.mask {
            None => (ir.int_const(ty, u64::from(self.width)), None),
            Some(mask) => {
                let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
                let bits = ir.zext_or_trunc(bits, ir.i64);
                let count = ir.intrinsic("llvm.ctpop", &[ir.i64], &[bits]);
                let before = update.result.map(|_| {
                    let lanes = ir.vector(ty, self.width);
                    let running = ir.cast(Opcode::LLVMZExt, mask, lanes);
                    let counted = self.scan(Reduction::IAdd, running);
                    ir.sub(counted, running)
                });
                (ir.zext_or_trunc(count, ty), before)
            }
        };
        let old = self.once_at(at, ir.mul(one, count), update, false);
        let old = old.unwrap_or_else(|| ir.null(ty));
        if update.result.is_none() {
            return Rep::uniform(old);
        }
        let constant = self.low.values.module.known_signed(self.f, value);
        let minus = update.op == AtomicOp::ISub;
        if self.mask.is_none()
            && let Some(n) = constant.filter(|_| ir.int_width(ty) >= 32)
        {
            return Rep::affine(old, if minus { n.wrapping_neg() } else { n });
        }
        let before = before.unwrap_or_else(|| self.steps(ty, 1));
        let before = ir.mul(before, self.splat(one));
        let old = self.splat(old);
        Rep::vector(vec![if minus {
            ir.sub(old, before)
        } else {
            ir.add(old, before)
        }])
    }

    /// Adds the lanes' floats, one after another, to the content of `at`.
    fn add_in_order(&self, at: Val, v: Val, update: &Update) {
        let ir = self.low.ir;
        let lanes = ir.type_of(v);
        let scalar = ir.scalar(lanes);
        let types = &self.low.values.module.types;
        let v = match self.mask {
            // The identity of addition: 0 + -0 is 0, and -0 + -0 is -0.
            Some(mask) => ir.select(mask, v, ir.float_const(lanes, -0.0)),
            None => v,
        };
        let add = |old: Val| ir.intrinsic("llvm.vector.reduce.fadd", &[lanes], &[old, v]);
        let old = ir.load(scalar, at, types.align_of(update.ty));
        if update.own {
            ir.store(add(old), at, types.align_of(update.ty));
            return;
        }
        ir.set_ordering(old, crate::llvm::Ordering::LLVMAtomicOrderingMonotonic);
        let int = ir.int(types.size_of(update.ty) as u32 * 8);
        let bits = |v: Val| ir.cast(Opcode::LLVMBitCast, v, int);
        let first = bits(old);
        let before = ir.here();
        let [again, done] = [c"again", c"added"].map(|name| self.low.new_block(name));
        ir.br(again);
        ir.at_end(again);
        let expected = ir.phi(int);
        ir.add_incoming(expected, first, before);
        let new = add(ir.cast(Opcode::LLVMBitCast, expected, scalar));
        let order = ordering(update.order);
        let found = ir.cmpxchg(at, expected, bits(new), order, load_ordering(update.order));
        ir.add_incoming(expected, found, again);
        ir.cond_br(ir.icmp(IntPred::LLVMIntEQ, found, expected), done, again);
        ir.at_end(done);
    }

    /// Each lane's address, computed when it is asked for, if the index lies in memory or has one or two bytes: it is
    /// faster to load an index than to take it out of a vector.
    fn through_memory(
        &mut self,
        ptr: ValueId,
        moved: Option<(Val, Val)>,
    ) -> Option<impl Fn(&Lower<'_>, u64) -> Val + use<>> {
        let ir = self.low.ir;
        let (indexed, indices) = self.narrow_index(ptr)?;
        let lanes = ir.type_of(indices);
        let scalar = ir.scalar(lanes);
        let row = self.row_of_index(ptr);
        if row.is_none() && ir.int_width(scalar) > 16 {
            return None;
        }
        let base = self.moved(indexed.base, moved);
        let indexed = Indexed { base, ..indexed };
        // Volatile, so that LLVM does not replace the loads by the vector.
        let slot = row.unwrap_or_else(|| {
            let slot = self.low.entry_alloca(lanes, 64);
            ir.set_volatile(ir.store(indices, slot, 64));
            slot
        });
        Some(move |low: &Lower<'_>, lane: u64| {
            let ir = low.ir;
            let one = ir.load(scalar, ir.element(scalar, slot, ir.i64c(lane)), 1);
            ir.set_volatile(one);
            indexed.address(low, one)
        })
    }

    /// The address in `to.0` that stands for `address`, where `to.0` stands for `to.1`; without `to`, the address
    /// itself.
    fn moved(&self, address: Val, to: Option<(Val, Val)>) -> Val {
        let Some((slot, at)) = to else {
            return address;
        };
        let ir = self.low.ir;
        let number = self.as_numbers(address);
        let at = match ir.lanes(ir.type_of(number)) {
            Some(_) => self.splat(at),
            None => at,
        };
        ir.offset(slot, ir.sub(number, at))
    }

    /// Addresses of all lanes, moved to the memory that stands for theirs.
    fn moved_addresses(&mut self, ptr: ValueId, to: (Val, Val)) -> Vec<Val> {
        let ir = self.low.ir;
        let lanes = (0..self.width).map(|l| ir.i32c(l));
        if let Some((indexed, indices)) = self.narrow_index(ptr) {
            let base = self.moved(indexed.base, Some(to));
            let indexed = Indexed { base, ..indexed };
            return indexed.addresses(self.low, indices, self.width);
        }
        let all = self.vectors(ptr)[0];
        let all = self.moved(all, Some(to));
        lanes.map(|lane| ir.extract_element(all, lane)).collect()
    }

    /// Updates this thread's memory, each lane at its own address. `moved`: memory at `moved.0` stands for that at
    /// `moved.1`.
    pub(super) fn own_updates(&mut self, update: &Update, moved: Option<(Val, Val)>) -> Rep {
        let ir = self.low.ir;
        let ty = update.ty;
        let memory = self.low.values.memory(ty);
        let size = self.low.values.module.types.size_of(ty);
        let through_memory = match self.mask {
            None => self.through_memory(update.ptr, moved),
            Some(_) => None,
        };
        let places = match self.mask {
            None if through_memory.is_some() => Vec::new(),
            None => match moved {
                Some(to) => self.moved_addresses(update.ptr, to),
                None => self.addresses(update.ptr, size),
            },
            Some(mask) => {
                // Inactive lanes update a scratch variable.
                let nowhere = self.low.entry_alloca(memory, size.max(1));
                ir.store(ir.null(memory), nowhere, size.max(1));
                let all = self.vectors(update.ptr)[0];
                let all = self.moved(all, moved);
                let all = ir.select(mask, all, self.splat(nowhere));
                (0..self.width)
                    .map(|lane| ir.extract_element(all, ir.i32c(lane)))
                    .collect()
            }
        };
        let each = |lanes: &mut Self, v: Option<ValueId>| {
            v.map(|v| {
                let rep = lanes.rep(v);
                let one = rep.first.filter(|_| rep.is_uniform());
                let all = one.is_none().then(|| lanes.spread(v, &rep)[0]);
                (one, all)
            })
        };
        let (value, comparator) = (each(self, update.value), each(self, update.comparator));
        let pick = |from: Option<(Option<Val>, Option<Val>)>, lane: Val| match from {
            Some((Some(one), _)) => Some(one),
            Some((None, Some(all))) => Some(ir.extract_element(all, lane)),
            _ => None,
        };
        let mut results = update
            .result
            .map(|v| ir.poison(self.lane_type(self.low.ty(v))));
        for lane in 0..self.width {
            let at = match &through_memory {
                Some(place) => place(self.low, u64::from(lane)),
                None => places[lane as usize],
            };
            let lane = ir.i32c(lane);
            let operand = pick(value, lane).map(|v| self.low.values.to_memory(v, ty));
            let expected = pick(comparator, lane);
            let old = self.low.update_own(update.op, at, ty, operand, expected);
            if let (Some(all), Some(old)) = (results, old) {
                results = Some(ir.insert_element(all, old, lane));
            }
        }
        match results {
            Some(all) => Rep::vector(vec![all]),
            None => Rep::uniform(ir.null(self.low.values.register(ty))),
        }
    }
}
