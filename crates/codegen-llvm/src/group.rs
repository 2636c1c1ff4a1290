//! Sub-group operations of work-items that run one after another.
//!
//! Lanes that wait at the same stop have stored their operands in their records. The operation runs once for all of
//! them and stores each lane's result in its record:
//!
//! ```text
//! pass:   each lane runs up to the stop of %s = reduce.add %v and stores %v
//! meet:   sum = 0; for each lane at the stop: sum += %v; for each lane at the stop: store sum as %s
//! pass:   each lane runs on from the stop and loads %s
//! ```

use kernel_ir::{BuildError, GroupOp, InstId, Op, Reduction, TypeId, ValueId};

use crate::llvm::{Bb, IntPred, Opcode, Ty, Val};
use crate::lower::{Lower, unsupported};
use vectorise::StopKind;

/// The lanes that meet: those of the sub-group from work-item `start` on that wait at stop `number`.
#[derive(Clone, Copy)]
struct Meeting {
    start: Val,
    len: Val,
    number: u32,
}

impl Lower<'_> {
    /// After a pass: runs the operation of the lowest stop at which lanes wait, and resumes these with another pass.
    /// Continues at `done` if none waits.
    pub(crate) fn meet(
        &mut self,
        lowest: Val,
        start: Val,
        len: Val,
        selector: Val,
        pass: Bb,
        done: Bb,
    ) -> Result<(), BuildError> {
        let ir = self.ir;
        let from = ir.here();
        let mut cases = Vec::new();
        for at in 0..self.cut.segments.stops.len() {
            let stop = &self.cut.segments.stops[at];
            if stop.kind != StopKind::Subgroup {
                continue;
            }
            let (number, group) = (stop.number, stop.group);
            let block = self.new_block(c"meet");
            cases.push((ir.i32c(number), block));
            ir.at_end(block);
            if let Some(group) = group {
                self.group_operation(group, Meeting { start, len, number })?;
            }
            ir.store(ir.i32c(number), selector, 4);
            ir.br(pass);
        }
        ir.at_end(from);
        ir.switch(lowest, done, &cases);
        Ok(())
    }

    /// Stores a lane's operands in its record.
    pub(crate) fn leave_group_operands(&mut self, group: InstId) {
        let mut operands = Vec::new();
        self.function.insts[group.index()]
            .op
            .operands(|v| operands.push(v));
        for (i, v) in operands.into_iter().enumerate() {
            let value = self.get(v);
            let value = self.values.to_memory(value, self.ty(v));
            let place = self.cut.record.operands[&group][i];
            let align = self.place_align(self.ty(v));
            let to = self.ir.offset_by(self.at.item.record, place);
            self.ir.store(value, to, align);
        }
    }

    /// Loads a lane's result from its record.
    pub(crate) fn group_result(&mut self, _stop: usize, result: ValueId) -> Val {
        let ty = self.ty(result);
        let from = self
            .ir
            .offset_by(self.at.item.record, self.cut.record.result);
        let loaded = self
            .ir
            .load(self.values.memory(ty), from, self.place_align(ty));
        self.values.to_register(loaded, ty)
    }

    fn place_align(&self, ty: TypeId) -> u64 {
        self.values.module.types.align_of(ty).min(16)
    }

    fn operand(&self, record: Val, group: InstId, index: usize, ty: TypeId) -> Val {
        let from = self
            .ir
            .offset_by(record, self.cut.record.operands[&group][index]);
        let loaded = self
            .ir
            .load(self.values.memory(ty), from, self.place_align(ty));
        self.values.to_register(loaded, ty)
    }

    fn put_result(&self, record: Val, value: Val, ty: TypeId) {
        let to = self.ir.offset_by(record, self.cut.record.result);
        let value = self.values.to_memory(value, ty);
        self.ir.store(value, to, self.place_align(ty));
    }

    /// A loop over the lanes that meet; `body` gets the lane's number (64 bits) and record.
    fn each_lane(&mut self, meeting: Meeting, mut body: impl FnMut(&mut Self, Val, Val)) {
        let ir = self.ir;
        let before = ir.here();
        let [head, active, next, end] =
            [c"lane", c"lane.active", c"lane.next", c"lane.end"].map(|n| self.new_block(n));
        ir.br(head);
        ir.at_end(head);
        let lane = ir.phi(ir.i64);
        ir.add_incoming(lane, ir.i64c(0), before);
        let record = self.record_of(ir.add(meeting.start, lane));
        let stop = ir.load(ir.i32, record, 4);
        let here = ir.icmp(IntPred::LLVMIntEQ, stop, ir.i32c(meeting.number));
        ir.cond_br(here, active, next);
        ir.at_end(active);
        body(self, lane, record);
        ir.br(next);
        ir.at_end(next);
        let following = ir.add(lane, ir.i64c(1));
        ir.add_incoming(lane, following, next);
        let more = ir.icmp(IntPred::LLVMIntULT, following, meeting.len);
        ir.cond_br(more, head, end);
        ir.at_end(end);
    }

    /// Stores the value of `var` as the result of every lane that meets.
    fn spread(&mut self, meeting: Meeting, var: Val, register: Ty, ty: TypeId) {
        self.each_lane(meeting, |low, _, record| {
            let value = low.ir.load(register, var, 1);
            low.put_result(record, value, ty);
        });
    }

    fn group_operation(&mut self, group: InstId, meeting: Meeting) -> Result<(), BuildError> {
        let ir = self.ir;
        let function = self.function;
        let inst = &function.insts[group.index()];
        let Op::Group(op, _, operands) = &inst.op else {
            return Ok(());
        };
        let Some(result) = inst.result else {
            return Ok(());
        };
        let ty = self.ty(result);
        let register = self.values.register(ty);
        let value_ty = operands.first().map_or(ty, |&v| self.ty(v));
        let value_register = self.values.register(value_ty);
        match *op {
            GroupOp::Reduce(reduction) => {
                let sum = self.entry_alloca(register, 64);
                ir.store(self.identity(reduction, register), sum, 1);
                self.each_lane(meeting, |low, _, record| {
                    let v = low.operand(record, group, 0, ty);
                    let all = low.combine(reduction, ir.load(register, sum, 1), v);
                    ir.store(all, sum, 1);
                });
                self.spread(meeting, sum, register, ty);
            }
            GroupOp::InclusiveScan(reduction) | GroupOp::ExclusiveScan(reduction) => {
                let inclusive = matches!(op, GroupOp::InclusiveScan(_));
                let sum = self.entry_alloca(register, 64);
                ir.store(self.identity(reduction, register), sum, 1);
                self.each_lane(meeting, |low, _, record| {
                    let v = low.operand(record, group, 0, ty);
                    let before = ir.load(register, sum, 1);
                    let after = low.combine(reduction, before, v);
                    ir.store(after, sum, 1);
                    low.put_result(record, if inclusive { after } else { before }, ty);
                });
            }
            GroupOp::ClusteredReduce(reduction, cluster) => {
                let cluster = cluster.clamp(1, self.sub_group_size.max(1));
                // One accumulator for each cluster.
                let size = self.values.module.types.size_of(ty).max(1);
                let sums =
                    self.entry_alloca(ir.array(ir.i8, size * u64::from(self.sub_group_size)), 64);
                let identity = self
                    .values
                    .to_memory(self.identity(reduction, register), ty);
                for i in 0..u64::from(self.sub_group_size / cluster) {
                    ir.store(identity, ir.offset_by(sums, i * size), 1);
                }
                let place = |lane: Val| {
                    let run = ir.bin(Opcode::LLVMUDiv, lane, ir.i64c(u64::from(cluster)));
                    ir.offset(sums, ir.mul(run, ir.i64c(size)))
                };
                let memory = self.values.memory(ty);
                self.each_lane(meeting, |low, lane, record| {
                    let v = low.operand(record, group, 0, ty);
                    let at = place(lane);
                    let before = low.values.to_register(ir.load(memory, at, 1), ty);
                    let after = low.combine(reduction, before, v);
                    ir.store(low.values.to_memory(after, ty), at, 1);
                });
                self.each_lane(meeting, |low, lane, record| {
                    let v = low.values.to_register(ir.load(memory, place(lane), 1), ty);
                    low.put_result(record, v, ty);
                });
            }
            GroupOp::All | GroupOp::Any => {
                let reduction = match op {
                    GroupOp::All => Reduction::LogicalAnd,
                    _ => Reduction::LogicalOr,
                };
                let all = self.entry_alloca(ir.i1, 1);
                ir.store(self.identity(reduction, ir.i1), all, 1);
                self.each_lane(meeting, |low, _, record| {
                    let v = low.operand(record, group, 0, value_ty);
                    let both = low.combine(reduction, ir.load(ir.i1, all, 1), v);
                    ir.store(both, all, 1);
                });
                self.spread(meeting, all, ir.i1, ty);
            }
            GroupOp::AllEqual => {
                let equal = self.entry_alloca(ir.i1, 1);
                let first = self.first_value(group, meeting, value_ty);
                ir.store(ir.int_const(ir.i1, 1), equal, 1);
                self.each_lane(meeting, |low, _, record| {
                    let v = low.operand(record, group, 0, value_ty);
                    let first = ir.load(value_register, first, 1);
                    let same = low.same(v, first, value_ty);
                    let both = ir.and(ir.load(ir.i1, equal, 1), same);
                    ir.store(both, equal, 1);
                });
                self.spread(meeting, equal, ir.i1, ty);
            }
            GroupOp::BroadcastFirst => {
                let first = self.first_value(group, meeting, ty);
                self.spread(meeting, first, register, ty);
            }
            GroupOp::Elect => {
                let unseen = self.entry_alloca(ir.i1, 1);
                ir.store(ir.int_const(ir.i1, 1), unseen, 1);
                self.each_lane(meeting, |low, _, record| {
                    low.put_result(record, ir.load(ir.i1, unseen, 1), ty);
                    ir.store(ir.int_const(ir.i1, 0), unseen, 1);
                });
            }
            GroupOp::Ballot => {
                let bits = self.entry_alloca(ir.i64, 8);
                ir.store(ir.i64c(0), bits, 8);
                self.each_lane(meeting, |low, lane, record| {
                    let v = low.operand(record, group, 0, value_ty);
                    let bit = ir.shl(ir.cast(Opcode::LLVMZExt, v, ir.i64), lane);
                    ir.store(ir.or(ir.load(ir.i64, bits, 8), bit), bits, 8);
                });
                self.each_lane(meeting, |low, _, record| {
                    let all = ir.load(ir.i64, bits, 8);
                    let words = [
                        ir.cast(Opcode::LLVMTrunc, all, ir.i32),
                        ir.cast(Opcode::LLVMTrunc, ir.lshr(all, ir.i64c(32)), ir.i32),
                    ];
                    let mut vector = ir.null(register);
                    for (i, word) in words.into_iter().enumerate() {
                        vector = ir.insert_element(vector, word, ir.i32c(i as u32));
                    }
                    low.put_result(record, vector, ty);
                });
            }
            GroupOp::Broadcast
            | GroupOp::Shuffle
            | GroupOp::ShuffleXor
            | GroupOp::ShuffleUp
            | GroupOp::ShuffleDown
            | GroupOp::ShuffleUpPair
            | GroupOp::ShuffleDownPair
            | GroupOp::Rotate(_) => self.shuffle(*op, group, operands, meeting, ty),
            GroupOp::BlockRead | GroupOp::BlockWrite => {
                return Err(unsupported(inst.word, "a block access is no meeting"));
            }
        }
        Ok(())
    }

    /// A variable that holds the operand of the lowest lane that meets.
    fn first_value(&mut self, group: InstId, meeting: Meeting, ty: TypeId) -> Val {
        let ir = self.ir;
        let register = self.values.register(ty);
        let (first, seen) = (self.entry_alloca(register, 64), self.entry_alloca(ir.i1, 1));
        ir.store(ir.int_const(ir.i1, 0), seen, 1);
        ir.store(ir.null(register), first, 1);
        self.each_lane(meeting, |low, _, record| {
            let own = low.operand(record, group, 0, ty);
            let before = ir.load(register, first, 1);
            let value = ir.select(ir.load(ir.i1, seen, 1), before, own);
            ir.store(value, first, 1);
            ir.store(ir.int_const(ir.i1, 1), seen, 1);
        });
        first
    }

    /// Bool: whether two values are equal in all their parts.
    fn same(&self, a: Val, b: Val, ty: TypeId) -> Val {
        let ir = self.ir;
        let types = &self.values.module.types;
        let float = types
            .scalar_of(ty)
            .is_some_and(|s| matches!(types.get(s), kernel_ir::Type::Float(_)));
        let each = if float {
            ir.fcmp(crate::llvm::RealPred::LLVMRealOEQ, a, b)
        } else {
            ir.icmp(IntPred::LLVMIntEQ, a, b)
        };
        match ir.lanes(ir.type_of(each)) {
            Some(_) => ir.intrinsic("llvm.vector.reduce.and", &[ir.type_of(each)], &[each]),
            None => each,
        }
    }

    fn shuffle(
        &mut self,
        op: GroupOp,
        group: InstId,
        operands: &[ValueId],
        meeting: Meeting,
        ty: TypeId,
    ) {
        let ir = self.ir;
        let size = u64::from(self.sub_group_size);
        let last = ir.i64c(size - 1);
        let pair = matches!(op, GroupOp::ShuffleUpPair | GroupOp::ShuffleDownPair);
        let index_at = if pair { 2 } else { 1 };
        let index_ty = operands.get(index_at).map_or(ty, |&v| self.function.ty(v));
        // Broadcast's index is uniform: the lowest lane's counts.
        let uniform = (op == GroupOp::Broadcast).then(|| {
            let register = self.values.register(index_ty);
            let (first, seen) = (self.entry_alloca(register, 8), self.entry_alloca(ir.i1, 1));
            ir.store(ir.int_const(ir.i1, 0), seen, 1);
            self.each_lane(meeting, |low, _, record| {
                let own = low.operand(record, group, index_at, index_ty);
                let before = ir.load(register, first, 1);
                ir.store(ir.select(ir.load(ir.i1, seen, 1), before, own), first, 1);
                ir.store(ir.int_const(ir.i1, 1), seen, 1);
            });
            first
        });
        self.each_lane(meeting, |low, lane, record| {
            let index = match uniform {
                Some(first) => ir.load(low.values.register(index_ty), first, 1),
                None => low.operand(record, group, index_at, index_ty),
            };
            let index = ir.zext_or_trunc(index, ir.i64);
            let mut second = None;
            let source = match op {
                GroupOp::ShuffleXor => ir.and(ir.xor(lane, index), last),
                GroupOp::ShuffleUp => ir.and(ir.sub(lane, index), last),
                GroupOp::ShuffleDown => ir.and(ir.add(lane, index), last),
                GroupOp::ShuffleUpPair => {
                    let inside = ir.icmp(IntPred::LLVMIntUGE, lane, index);
                    second = Some(inside);
                    ir.and(ir.sub(lane, index), last)
                }
                GroupOp::ShuffleDownPair => {
                    let at = ir.add(lane, index);
                    let inside = ir.icmp(IntPred::LLVMIntULT, at, ir.i64c(size));
                    second = Some(ir.not(inside));
                    ir.and(at, last)
                }
                GroupOp::Rotate(cluster) => {
                    let cluster = match cluster {
                        0 => size,
                        c => u64::from(c).clamp(1, size),
                    };
                    let base = ir.and(lane, ir.i64c(!(cluster - 1)));
                    let turned = ir.and(ir.add(lane, index), ir.i64c(cluster - 1));
                    ir.or(base, turned)
                }
                _ => ir.and(index, last),
            };
            // A lane beyond the group has no record; a lane that waits elsewhere has stored no operand.
            let exists = ir.icmp(IntPred::LLVMIntULT, source, meeting.len);
            let source = ir.select(exists, source, lane);
            let from = low.record_of(ir.add(meeting.start, source));
            let stop = ir.load(ir.i32, from, 4);
            let here = ir.icmp(IntPred::LLVMIntEQ, stop, ir.i32c(meeting.number));
            let here = ir.and(exists, here);
            let mut value = low.operand(from, group, 0, ty);
            if let Some(second) = second {
                let other = low.operand(from, group, 1, ty);
                value = ir.select(second, other, value);
            }
            let value = ir.select(here, value, ir.null(ir.type_of(value)));
            low.put_result(record, value, ty);
        });
    }

    /// The neutral element; for a vector type, in every lane.
    pub(crate) fn identity(&self, reduction: Reduction, ty: Ty) -> Val {
        let ir = self.ir;
        let scalar = ir.scalar(ty);
        let bits = || ir.int_width(scalar);
        let ones = |bits: u32| u64::MAX >> (64 - bits.min(64));
        match reduction {
            Reduction::IAdd
            | Reduction::Or
            | Reduction::Xor
            | Reduction::UMax
            | Reduction::LogicalOr
            | Reduction::LogicalXor => ir.int_const(ty, 0),
            Reduction::IMul | Reduction::LogicalAnd => ir.int_const(ty, 1),
            Reduction::And | Reduction::UMin => ir.int_const(ty, ones(bits())),
            Reduction::SMin => ir.int_const(ty, ones(bits()) >> 1),
            Reduction::SMax => ir.int_const(ty, 1 << (bits() - 1)),
            Reduction::FAdd => ir.float_const(ty, 0.0),
            Reduction::FMul => ir.float_const(ty, 1.0),
            Reduction::FMin => ir.float_const(ty, f64::INFINITY),
            Reduction::FMax => ir.float_const(ty, f64::NEG_INFINITY),
        }
    }

    /// One step of a reduction.
    pub(crate) fn combine(&self, reduction: Reduction, a: Val, b: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        let call = |name: &'static str| ir.intrinsic(name, &[ty], &[a, b]);
        match reduction {
            Reduction::IAdd => ir.add(a, b),
            Reduction::IMul => ir.mul(a, b),
            Reduction::SMin => call("llvm.smin"),
            Reduction::SMax => call("llvm.smax"),
            Reduction::UMin => call("llvm.umin"),
            Reduction::UMax => call("llvm.umax"),
            Reduction::And | Reduction::LogicalAnd => ir.and(a, b),
            Reduction::Or | Reduction::LogicalOr => ir.or(a, b),
            Reduction::Xor | Reduction::LogicalXor => ir.xor(a, b),
            Reduction::FAdd => ir.bin(Opcode::LLVMFAdd, a, b),
            Reduction::FMul => ir.bin(Opcode::LLVMFMul, a, b),
            Reduction::FMin => call("llvm.minnum"),
            Reduction::FMax => call("llvm.maxnum"),
        }
    }
}
