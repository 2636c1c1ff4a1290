//! Privatised atomics: updates of global memory are collected in memory of this thread. A histogram's bins are counted
//! with plain additions; atomic operations add the counts to global memory when the call of the kernel ends.
//!
//! The plan chooses the operations (`vectorise::Privatised`): they have relaxed order and an unused result, so that
//! other threads may see their effect at any later time.
//!
//! A *window* stands for the bytes of global memory behind the base address of such operations. It is an array on the
//! stack, zero where nothing was added yet. It opens after so many operations on global memory that its own cost is
//! small beside theirs. It closes at the end of the call, or when the same work-item is about to read or write memory
//! that the window stands for.
//!
//! ```text
//! atomic_add(&bins[x[i]], 1)
//!
//! all lanes' bins in the window     window[x[i]] += 1, lane after lane
//! else                              atomic additions to bins[x[i]], and after enough of them the window opens at bins
//! ```

use kernel_ir::index::terms;
use kernel_ir::{AtomicOp, BuildError, InstId, Op};
use vectorise::Privatised;

use super::atomic::Update;
use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{IntPred, Linkage, Opcode, Ordering, Rmw, Val};
use crate::lower::{Lower, Window};

/// Bytes of global memory that a window stands for: the bins of a large histogram, half of the first-level cache.
const BYTES: u64 = 16 << 10;
/// The address of a closed window; no memory is near it.
const CLOSED: u64 = 1 << 63;
/// Operations of whole chunks before a window opens for the first time; each time takes four times as many.
const FIRST: u64 = 4;

impl Lower<'_> {
    /// Makes the windows that `privatised` needs, closed, where the builder stands: before the first group.
    pub(crate) fn make_windows(&mut self, privatised: &Privatised) {
        let ir = self.ir;
        for &vectorise::Window { op, size } in &privatised.windows {
            let rmw = match op {
                AtomicOp::Or => Rmw::LLVMAtomicRMWBinOpOr,
                AtomicOp::Xor => Rmw::LLVMAtomicRMWBinOpXor,
                AtomicOp::UMax => Rmw::LLVMAtomicRMWBinOpUMax,
                _ => Rmw::LLVMAtomicRMWBinOpAdd,
            };
            let [at, count, goal] = [CLOSED, 0, FIRST].map(|value| {
                let slot = self.entry_alloca(ir.i64, 8);
                ir.store(ir.i64c(value), slot, 8);
                slot
            });
            let slot = self.entry_alloca(ir.array(ir.i8, BYTES), 64);
            self.windows.push(Window {
                at,
                count,
                goal,
                slot,
                rmw,
                size,
            });
        }
    }

    /// Closes all windows: brings their content to global memory.
    pub(crate) fn close_windows(&mut self) {
        for window in self.windows.clone() {
            self.close(window);
        }
    }

    fn close(&mut self, window: Window) {
        self.move_window(window, self.ir.i64c(CLOSED));
    }

    /// Brings a window's content to global memory, and lets the window stand for `to`.
    fn move_window(&mut self, window: Window, to: Val) {
        let (function, ty) = self.mover(window);
        self.ir.call(function, ty, &[window.at, window.slot, to]);
    }

    /// The function that does so. Its parameters: the variable of the window's address, the window's array, the next
    /// address.
    fn mover(&mut self, window: Window) -> (Val, crate::llvm::Ty) {
        const ROW: u64 = 64;
        let ir = self.ir;
        let ty = ir.function_type(ir.void, &[ir.ptr, ir.ptr, ir.i64]);
        let key = (window.rmw as u32, window.size);
        let mut made = self.values.movers.borrow_mut();
        if let Some(&function) = made.get(&key) {
            return (function, ty);
        }
        let name = format!("solum.move_window.{}.{}", key.0, key.1);
        let function = ir.add_function(&name, ty);
        made.insert(key, function);
        ir.set_linkage(function, Linkage::LLVMInternalLinkage);
        for attribute in ["nounwind", "noinline", "noredzone"] {
            ir.attribute(function, None, attribute, 0);
        }
        let back = ir.here();
        let [
            entry,
            row,
            some,
            each,
            add,
            next,
            row_end,
            moved,
            clear,
            end,
        ] = [
            c"entry", c"row", c"some", c"each", c"add", c"next", c"row.end", c"moved", c"clear",
            c"end",
        ]
        .map(|name| ir.block(function, name));
        let [at, slot, to] = [0, 1, 2].map(|i| ir.param(function, i));
        ir.at_end(entry);
        let base = ir.load(ir.i64, at, 8);
        ir.store(to, at, 8);
        let open = ir.icmp(IntPred::LLVMIntNE, base, ir.i64c(CLOSED));
        ir.cond_br(open, row, moved);
        ir.at_end(row);
        let first = ir.phi(ir.i64);
        ir.add_incoming(first, ir.i64c(0), entry);
        let words = ir.vector(ir.i64, 8);
        let all = ir.load(words, ir.offset(slot, first), 64);
        let any = ir.intrinsic("llvm.vector.reduce.or", &[words], &[all]);
        let any = ir.icmp(IntPred::LLVMIntNE, any, ir.i64c(0));
        ir.cond_br(any, some, row_end);
        ir.at_end(some);
        let row_stop = ir.add(first, ir.i64c(ROW));
        ir.br(each);
        ir.at_end(each);
        let place = ir.phi(ir.i64);
        ir.add_incoming(place, first, some);
        let element = ir.int(window.size as u32 * 8);
        let value = ir.load(element, ir.offset(slot, place), window.size);
        let zero = ir.icmp(IntPred::LLVMIntEQ, value, ir.null(element));
        ir.cond_br(zero, next, add);
        ir.at_end(add);
        let memory = ir.cast(Opcode::LLVMIntToPtr, ir.add(base, place), ir.ptr);
        ir.atomic_rmw(
            window.rmw,
            memory,
            value,
            Ordering::LLVMAtomicOrderingMonotonic,
        );
        ir.br(next);
        ir.at_end(next);
        let following = ir.add(place, ir.i64c(window.size));
        ir.add_incoming(place, following, next);
        let more = ir.icmp(IntPred::LLVMIntULT, following, row_stop);
        ir.cond_br(more, each, row_end);
        ir.at_end(row_end);
        let following = ir.add(first, ir.i64c(ROW));
        ir.add_incoming(first, following, row_end);
        let more = ir.icmp(IntPred::LLVMIntULT, following, ir.i64c(BYTES));
        ir.cond_br(more, row, moved);
        ir.at_end(moved);
        let opens = ir.icmp(IntPred::LLVMIntNE, to, ir.i64c(CLOSED));
        ir.cond_br(opens, clear, end);
        ir.at_end(clear);
        let first = ir.phi(ir.i64);
        ir.add_incoming(first, ir.i64c(0), moved);
        ir.store(ir.null(words), ir.offset(slot, first), ROW);
        let following = ir.add(first, ir.i64c(ROW));
        ir.add_incoming(first, following, clear);
        let more = ir.icmp(IntPred::LLVMIntULT, following, ir.i64c(BYTES));
        ir.cond_br(more, clear, end);
        ir.at_end(end);
        ir.ret_void();
        ir.at_end(back);
        (function, ty)
    }
}

impl Lanes<'_, '_, '_> {
    /// Emits the operation at hand as a privatised one, if the plan says so: in its window where all lanes lie within,
    /// else as atomic operations. Returns whether it did.
    pub(super) fn privatised_updates(
        &mut self,
        op: &Op,
        update: &Update,
        word: u32,
    ) -> Result<bool, BuildError> {
        let site = self
            .at_hand
            .and_then(|id| self.form.privatised.sites.get(&id));
        let Some(&window) = site.and_then(|&window| self.low.windows.get(window)) else {
            return Ok(false);
        };
        // The address that the operation's address counts from, the same in all lanes.
        let bases = terms(self.f, update.ptr).map(|term| term.base);
        let base = std::iter::once(update.ptr).chain(bases).find_map(|base| {
            let rep = self.rep(base);
            rep.is_uniform().then_some(rep.first)
        });
        let base = base.flatten();
        let Some(base) = base.filter(|_| self.existing.is_none()) else {
            return Ok(false);
        };
        let ir = self.low.ir;
        kernel_ir::mark!(AtomicPrivatised);
        // Values read before the branch serve both ways.
        op.operands(|v| {
            self.rep(v);
        });
        let base = ir.cast(Opcode::LLVMPtrToInt, base, ir.i64);
        let at = ir.load(ir.i64, window.at, 8);
        let inside = self.lie_within(update, at);
        let [fast, slow, open, scalarised, join] = [
            c"gathered",
            c"to.memory",
            c"open",
            c"one.by.one",
            c"updated",
        ]
        .map(|name| self.low.new_block(name));
        ir.cond_br(inside, fast, slow);
        ir.at_end(fast);
        let own = Update {
            own: true,
            ..*update
        };
        self.own_updates(&own, Some((window.slot, at)));
        ir.br(join);

        ir.at_end(slow);
        let count = ir.add(ir.load(ir.i64, window.count, 8), ir.i64c(1));
        ir.store(count, window.count, 8);
        let often = ir.icmp(IntPred::LLVMIntUGE, count, ir.load(ir.i64, window.goal, 8));
        let other = ir.icmp(IntPred::LLVMIntNE, at, base);
        ir.cond_br(ir.and(often, other), open, scalarised);
        ir.at_end(open);
        self.low.move_window(window, base);
        ir.store(ir.shl(count, ir.i64c(2)), window.goal, 8);
        ir.br(scalarised);
        ir.at_end(scalarised);
        self.scalarise(op, None, word)?;
        ir.br(join);
        ir.at_end(join);
        Ok(true)
    }

    /// Bool: whether the elements of all active lanes lie in the window that stands for `at`.
    fn lie_within(&mut self, update: &Update, at: Val) -> Val {
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(update.ty);
        if let Some((indexed, indices)) = self.narrow_index(update.ptr)
            && !indexed.signed
            && let bits @ ..=16 = ir.int_width(ir.scalar(ir.type_of(indices)))
            && let Ok(stride) = u64::try_from(indexed.stride)
            && let Some(slot) = (BYTES - size).checked_sub(((1 << bits) - 1) * stride)
        {
            let first = self.low.pointer(indexed.base, None, indexed.offset);
            let first = ir.cast(Opcode::LLVMPtrToInt, first, ir.i64);
            let far = ir.sub(first, at);
            return ir.icmp(IntPred::LLVMIntULE, far, ir.i64c(slot));
        }
        let addresses = self.vectors(update.ptr)[0];
        let far = ir.sub(self.as_numbers(addresses), self.splat(at));
        let most = ir.int_const(ir.type_of(far), BYTES - size);
        let inside = ir.icmp(IntPred::LLVMIntULE, far, most);
        let inside = match self.mask {
            Some(mask) => ir.or(inside, ir.not(mask)),
            None => inside,
        };
        self.all(inside)
    }

    /// Pointers as integers.
    pub(super) fn as_numbers(&self, pointers: Val) -> Val {
        let ir = self.low.ir;
        let numbers = ir.shaped(ir.i64, ir.type_of(pointers));
        ir.cast(Opcode::LLVMPtrToInt, pointers, numbers)
    }

    /// Before an access to memory that a window may stand for: closes the window if the access touches that memory.
    pub(super) fn guard(&mut self, id: InstId) {
        if !self.form.privatised.guarded.contains(&id) {
            return;
        }
        let inst = &self.f.insts[id.index()];
        let (ptr, ty) = match (&inst.op, inst.result) {
            (Op::Load { ptr, .. }, Some(result)) => (*ptr, self.low.ty(result)),
            (Op::Store { ptr, value, .. }, _) => (*ptr, self.low.ty(*value)),
            _ => return,
        };
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(ty).max(1);
        let rep = self.rep(ptr);
        kernel_ir::mark!(AtomicPrivatisedGuard, !self.low.windows.is_empty());
        for window in self.low.windows.clone() {
            let at = ir.load(ir.i64, window.at, 8);
            let touches = match &rep {
                Rep {
                    first: Some(first),
                    step,
                    holds: None,
                    ..
                } => {
                    let all = step.saturating_mul(i64::from(self.width - 1));
                    let first = ir.cast(Opcode::LLVMPtrToInt, *first, ir.i64);
                    let low = ir.add(first, ir.i64c(all.min(0).cast_unsigned()));
                    let bytes = all.unsigned_abs().saturating_add(size);
                    let far = ir.add(ir.sub(low, at), ir.i64c(bytes - 1));
                    ir.icmp(
                        IntPred::LLVMIntULT,
                        far,
                        ir.i64c(BYTES.saturating_add(bytes - 1)),
                    )
                }
                _ => {
                    let all = self.spread(ptr, &rep)[0];
                    let far = ir.sub(self.as_numbers(all), self.splat(at));
                    let numbers = ir.type_of(far);
                    let far = ir.add(far, ir.int_const(numbers, size - 1));
                    let most = ir.int_const(numbers, BYTES + size - 1);
                    let some = ir.icmp(IntPred::LLVMIntULT, far, most);
                    let some = match self.mask {
                        Some(mask) => ir.and(some, mask),
                        None => some,
                    };
                    self.any(some)
                }
            };
            let [seen, unseen] = [c"gathered.seen", c"unseen"].map(|name| self.low.new_block(name));
            ir.cond_br(touches, seen, unseen);
            ir.at_end(seen);
            self.low.close(window);
            ir.br(unseen);
            ir.at_end(unseen);
        }
    }
}
