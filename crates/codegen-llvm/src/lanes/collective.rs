//! Sub-group operations: operations among the lanes of a chunk that is a sub-group. Only active lanes take part.
//!
//! ```text
//! sub_group_reduce_add(x)        one scalar: inactive lanes give 0, then all lanes are added
//! sub_group_shuffle_xor(x, 1)    a vector: lane l gets the value of lane l ^ 1
//! ```

use kernel_ir::{BuildError, GroupOp, Reduction, ValueId};

use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// Emits a sub-group operation. Returns its result, if it has one.
    pub(super) fn collective(
        &mut self,
        op: GroupOp,
        operands: &[ValueId],
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Rep, BuildError> {
        let ir = self.low.ir;
        if matches!(op, GroupOp::BlockRead | GroupOp::BlockWrite) {
            return self.block_access(op, operands, result, word);
        }
        let Some(result) = result else {
            return Ok(Rep::vector(Vec::new()));
        };
        let value: Vec<Val> = match operands.first() {
            Some(&v) => self.vectors(v),
            None => Vec::new(),
        };
        let each = |lanes: &Self, value: Vec<Val>, f: &dyn Fn(&Self, Val) -> Val| {
            value.into_iter().map(|v| f(lanes, v)).collect::<Vec<Val>>()
        };
        // Results that all lanes share are scalars.
        let shared = match op {
            GroupOp::Reduce(r) => Some(each(self, value.clone(), &|lanes, v| {
                let v = lanes.running_or(v, lanes.low.identity(r, ir.type_of(v)));
                lanes.reduce(r, v)
            })),
            GroupOp::All => {
                let held = match self.mask {
                    Some(mask) => ir.or(value[0], ir.not(mask)),
                    None => value[0],
                };
                Some(vec![self.all(held)])
            }
            GroupOp::Any => {
                let held = self.running_or(value[0], ir.null(ir.type_of(value[0])));
                Some(vec![self.any(held)])
            }
            GroupOp::AllEqual => {
                let first = self.first_running();
                let mut same = ir.int_const(ir.vector(ir.i1, self.width), 1);
                for &v in &value {
                    let one = self.splat(ir.extract_element(v, first));
                    let scalar = ir.scalar(ir.type_of(v));
                    let float = [ir.half, ir.float, ir.double].contains(&scalar);
                    let equal = if float {
                        ir.fcmp(RealPred::LLVMRealOEQ, v, one)
                    } else {
                        ir.icmp(IntPred::LLVMIntEQ, v, one)
                    };
                    same = ir.and(same, equal);
                }
                let same = self.running_or(same, ir.int_const(ir.type_of(same), 1));
                Some(vec![self.all(same)])
            }
            GroupOp::BroadcastFirst => {
                let first = self.first_running();
                Some(each(self, value.clone(), &|_, v| {
                    ir.extract_element(v, first)
                }))
            }
            GroupOp::Ballot => {
                let held = self.running_or(value[0], ir.null(ir.type_of(value[0])));
                let bits = ir.cast(Opcode::LLVMBitCast, held, ir.int(self.width));
                let zero = ir.i32c(0);
                Some(vec![ir.zext_or_trunc(bits, ir.i32), zero, zero, zero])
            }
            GroupOp::Broadcast => {
                // All active lanes name the same lane; the first active lane's operand is read.
                let lane = self.scalar(operands[1]);
                let lane = ir.zext_or_trunc(lane, ir.i32);
                let lane = ir.and(lane, ir.i32c(self.width - 1));
                Some(each(self, value.clone(), &|lanes, v| {
                    let v = lanes.running_or(v, ir.null(ir.type_of(v)));
                    ir.extract_element(v, lane)
                }))
            }
            _ => None,
        };
        if let Some(scalars) = shared {
            kernel_ir::mark!(CollectiveShared);
            let ty = self.low.ty(result);
            let whole = self.low.join_scalars(ty, &mut scalars.into_iter());
            return Ok(Rep::uniform(whole));
        }
        let made = match op {
            GroupOp::ClusteredReduce(r, cluster) => each(self, value, &|lanes, v| {
                kernel_ir::mark!(CollectiveClustered);
                let mut v = lanes.running_or(v, lanes.low.identity(r, ir.type_of(v)));
                let mut step = 1;
                while step < cluster.min(lanes.width) {
                    let from: Vec<u32> = (0..lanes.width).map(|l| l ^ step).collect();
                    v = lanes.low.combine(r, v, ir.shuffle(v, v, &from));
                    step *= 2;
                }
                v
            }),
            GroupOp::InclusiveScan(r) | GroupOp::ExclusiveScan(r) => {
                kernel_ir::mark!(CollectiveScan);
                each(self, value, &|lanes, v| {
                    let identity = lanes.low.identity(r, ir.type_of(v));
                    let v = lanes.scan(r, lanes.running_or(v, identity));
                    match op {
                        GroupOp::ExclusiveScan(_) => lanes.shifted_up(v, identity, 1),
                        _ => v,
                    }
                })
            }
            GroupOp::Elect => {
                kernel_ir::mark!(CollectiveElect);
                let first = ir.cast(Opcode::LLVMTrunc, self.first_running(), ir.i32);
                let first = self.splat(first);
                vec![ir.icmp(IntPred::LLVMIntEQ, self.steps(ir.i32, 1), first)]
            }
            _ => self.exchange(op, operands, value),
        };
        Ok(Rep::vector(made))
    }

    /// `v` in active lanes, `other` elsewhere.
    fn running_or(&self, v: Val, other: Val) -> Val {
        match self.mask {
            Some(mask) => self.low.ir.select(mask, v, other),
            None => v,
        }
    }

    /// Number of the first active lane, 64 bits.
    fn first_running(&self) -> Val {
        match self.mask {
            Some(mask) => self.first_lane(mask),
            None => self.low.ir.i64c(0),
        }
    }

    /// Each lane's value moved up by `by` lanes, with `fill` in the lowest ones.
    pub(super) fn shifted_up(&self, v: Val, fill: Val, by: u32) -> Val {
        let lanes: Vec<u32> = (0..self.width)
            .map(|l| if l >= by { l - by } else { self.width + l })
            .collect();
        self.low.ir.shuffle(v, fill, &lanes)
    }

    /// In each lane, the reduction of its value and those of all lanes before it.
    pub(super) fn scan(&self, reduction: Reduction, v: Val) -> Val {
        let identity = self.low.identity(reduction, self.low.ir.type_of(v));
        let mut v = v;
        let mut step = 1;
        while step < self.width {
            let before = self.shifted_up(v, identity, step);
            v = self.low.combine(reduction, before, v);
            step *= 2;
        }
        v
    }

    /// The reduction of all lanes, a scalar.
    pub(super) fn reduce(&self, reduction: Reduction, v: Val) -> Val {
        use Reduction as R;
        let ir = self.low.ir;
        let ty = ir.type_of(v);
        let name = match reduction {
            R::IAdd => "llvm.vector.reduce.add",
            R::IMul => "llvm.vector.reduce.mul",
            R::SMin => "llvm.vector.reduce.smin",
            R::SMax => "llvm.vector.reduce.smax",
            R::UMin => "llvm.vector.reduce.umin",
            R::UMax => "llvm.vector.reduce.umax",
            R::And | R::LogicalAnd => "llvm.vector.reduce.and",
            R::Or | R::LogicalOr => "llvm.vector.reduce.or",
            R::Xor | R::LogicalXor => "llvm.vector.reduce.xor",
            R::FMin => "llvm.vector.reduce.fmin",
            R::FMax => "llvm.vector.reduce.fmax",
            R::FAdd | R::FMul => {
                let name = if reduction == R::FAdd {
                    "llvm.vector.reduce.fadd"
                } else {
                    "llvm.vector.reduce.fmul"
                };
                let start = self.low.identity(reduction, ir.scalar(ty));
                let sum = ir.intrinsic(name, &[ty], &[start, v]);
                // The order of a sub-group's sum is free: it may be a tree.
                ir.set_fast(sum, 1);
                return sum;
            }
        };
        ir.intrinsic(name, &[ty], &[v])
    }

    /// Operations that give each lane the value of another one.
    fn exchange(&mut self, op: GroupOp, operands: &[ValueId], value: Vec<Val>) -> Vec<Val> {
        let ir = self.low.ir;
        kernel_ir::mark!(CollectiveExchange);
        let i32s = ir.vector(ir.i32, self.width);
        let lane = self.steps(ir.i32, 1);
        let last = ir.int_const(i32s, u64::from(self.width - 1));
        let pair = matches!(op, GroupOp::ShuffleUpPair | GroupOp::ShuffleDownPair);
        let index = self.vectors(operands[if pair { 2 } else { 1 }])[0];
        let index = ir.zext_or_trunc(index, i32s);
        let (source, second) = match op {
            GroupOp::ShuffleXor => (ir.xor(lane, index), None),
            GroupOp::ShuffleUp => (ir.sub(lane, index), None),
            GroupOp::ShuffleDown => (ir.add(lane, index), None),
            GroupOp::ShuffleUpPair => {
                let inside = ir.icmp(IntPred::LLVMIntUGE, lane, index);
                (ir.sub(lane, index), Some(inside))
            }
            GroupOp::ShuffleDownPair => {
                let at = ir.add(lane, index);
                let width = ir.int_const(i32s, u64::from(self.width));
                (at, Some(ir.icmp(IntPred::LLVMIntUGE, at, width)))
            }
            GroupOp::Rotate(cluster) => {
                let cluster = match cluster {
                    0 => self.width,
                    c => c.clamp(1, self.width),
                };
                let inner = ir.int_const(i32s, u64::from(cluster - 1));
                let base = ir.and(lane, ir.not(inner));
                (ir.or(base, ir.and(ir.add(lane, index), inner)), None)
            }
            _ => (index, None),
        };
        let source = ir.and(source, last);
        let other = if pair {
            self.vectors(operands[1])
        } else {
            Vec::new()
        };
        let mut made = Vec::new();
        for (i, v) in value.into_iter().enumerate() {
            let mut moved = self.move_lanes(v, source);
            if let (Some(second), Some(&other)) = (second, other.get(i)) {
                let other = self.move_lanes(other, source);
                moved = ir.select(second, other, moved);
            }
            made.push(moved);
        }
        made
    }

    /// For each lane l, the value of `v` in lane `source[l]`; 0 if that lane is inactive. LLVM recognises this form as
    /// one of the processor's permutations.
    fn move_lanes(&self, v: Val, source: Val) -> Val {
        let ir = self.low.ir;
        let ty = ir.type_of(v);
        let v = self.running_or(v, ir.null(ty));
        let bools = ir.scalar(ty) == ir.i1;
        let memory = if bools {
            ir.vector(ir.i8, self.width)
        } else {
            ty
        };
        let v = ir.cast(Opcode::LLVMZExt, v, memory);
        let mut moved = ir.poison(memory);
        for lane in 0..self.width {
            let from = ir.extract_element(source, ir.i32c(lane));
            let one = ir.extract_element(v, from);
            moved = ir.insert_element(moved, one, ir.i32c(lane));
        }
        ir.cast(Opcode::LLVMTrunc, moved, ty)
    }

    /// Intel's block accesses: component `c` of lane `l` is element `c * W + l` behind the pointer.
    fn block_access(
        &mut self,
        op: GroupOp,
        operands: &[ValueId],
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Rep, BuildError> {
        let ir = self.low.ir;
        let value = match op {
            GroupOp::BlockRead => result,
            _ => operands.get(1).copied(),
        };
        let (Some(&ptr), Some(value)) = (operands.first(), value) else {
            let what = "a block access without pointer or value";
            return Err(crate::lower::unsupported(word, what));
        };
        let base = self.rep(ptr);
        let types = &self.low.values.module.types;
        let ty = self.low.ty(value);
        let (Some(first), Some(element)) = (
            base.first.filter(|_| base.is_uniform()),
            types.scalar_of(ty),
        ) else {
            let op = kernel_ir::Op::Group(op, kernel_ir::GroupScope::Subgroup, operands.to_vec());
            return self.scalarise(&op, result, word).map(Rep::vector);
        };
        let size = types.size_of(element);
        let row_bytes = size * u64::from(self.width);
        let memory: Ty = ir.vector(self.low.values.memory(element), self.width);
        let rows = u64::from(types.lane_count(ty).max(1));
        let at = |row: u64| ir.offset_by(first, row * row_bytes);
        kernel_ir::mark!(CollectiveBlock);
        if op == GroupOp::BlockRead {
            let parts = (0..rows)
                .map(|row| {
                    let loaded = match self.mask {
                        Some(mask) => {
                            let args = [at(row), mask, ir.poison(memory)];
                            ir.intrinsic("llvm.masked.load", &[memory, ir.ptr], &args)
                        }
                        None => ir.load(memory, at(row), size),
                    };
                    ir.cast(Opcode::LLVMTrunc, loaded, self.lane_type(element))
                })
                .collect();
            return Ok(Rep::vector(parts));
        }
        for (row, part) in self.vectors(value).into_iter().enumerate() {
            let part = ir.cast(Opcode::LLVMZExt, part, memory);
            match self.mask {
                Some(mask) => {
                    let args = [part, at(row as u64), mask];
                    ir.intrinsic("llvm.masked.store", &[memory, ir.ptr], &args);
                }
                None => {
                    ir.store(part, at(row as u64), size);
                }
            }
        }
        Ok(Rep::vector(Vec::new()))
    }
}
