//! Instructions in their vector form, and operations among the lanes.

use kernel_ir::{
    BuildError, Builtin, GroupOp, GroupScope, InstId, MathFn, Op, Reduction, TypeId, ValueId,
};

use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};
use crate::wide::Wide;

impl Wide<'_, '_> {
    pub(crate) fn instruction(&mut self, inst: InstId) -> Result<(), BuildError> {
        let function = self.low.function;
        let inst = &function.insts[inst.index()];
        let word = inst.word;
        // Phis are set where a block is entered; allocas are addresses made on use.
        if matches!(
            inst.op,
            Op::Phi(_) | Op::Alloca { .. } | Op::Assume(_) | Op::Barrier(_)
        ) {
            return Ok(());
        }
        let Some(result) = inst.result else {
            if let Op::Store {
                ptr,
                value,
                volatile: false,
                ..
            } = inst.op
                && self.leaves_of(value).len() == 1
            {
                return self.store(&inst.op, ptr, value, word);
            }
            if let Op::Fence(scope, order) = inst.op {
                self.low.fence(scope, order);
                return Ok(());
            }
            return self.one_by_one(&inst.op, None, word);
        };
        let ir = self.low.ir;
        let ty = function.ty(result);
        let value = match &inst.op {
            Op::Binary(op, a, b, flags) if !calls_a_function(*op) => {
                let (a, b) = (self.get(*a), self.get(*b));
                let each = a.into_iter().zip(b);
                each.map(|(a, b)| self.low.binary(*op, a, b, *flags))
                    .collect()
            }
            Op::Unary(op, a, flags) => {
                use kernel_ir::UnaryOp::{AllLanes, AnyLane};
                let to = self.leaf_type(ty);
                let parts = self.get(*a);
                match op {
                    // Over the vector of each lane, not over the lanes.
                    AnyLane | AllLanes => {
                        let join = |a: Val, b: Val| {
                            if *op == AnyLane {
                                ir.or(a, b)
                            } else {
                                ir.and(a, b)
                            }
                        };
                        parts.into_iter().reduce(join).into_iter().collect()
                    }
                    _ => parts
                        .into_iter()
                        .map(|a| self.low.unary(*op, a, *flags, to))
                        .collect(),
                }
            }
            Op::Compare(predicate, a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                let each = a.into_iter().zip(b);
                each.map(|(a, b)| self.low.compare(*predicate, a, b))
                    .collect()
            }
            Op::Convert(op, a, rounding) => {
                let parts = self.get(*a);
                if parts.len() != self.leaves_of(result).len() {
                    // Bits of a vector as another one.
                    return self.one_by_one(&inst.op, Some(result), word);
                }
                let to = self.leaf_type(ty);
                let mut out = Vec::new();
                for a in parts {
                    out.push(self.low.convert(*op, a, *rounding, to, word)?);
                }
                out
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                let (cond, a, b) = (self.get(*cond), self.get(*then), self.get(*otherwise));
                let each = a.into_iter().zip(b).enumerate();
                each.map(|(i, (a, b))| ir.select(cond[i.min(cond.len() - 1)], a, b))
                    .collect()
            }
            Op::Math(math, args, flags) if is_inline(*math) => {
                let args: Vec<Vec<Val>> = args.iter().map(|&a| self.get(a)).collect();
                let to = self.leaf_type(ty);
                let mut out = Vec::new();
                for i in 0..self.leaves_of(result).len() {
                    let operands: Vec<Val> = args.iter().map(|a| a[i.min(a.len() - 1)]).collect();
                    out.push(self.low.math(*math, &operands, *flags, to, word)?);
                }
                out
            }
            Op::Construct(parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    all.extend(self.get(part));
                }
                all
            }
            Op::Extract(whole, path) => {
                let all = self.get(*whole);
                let (from, count) = self.low.place_of(function.ty(*whole), path);
                all[from..from + count].to_vec()
            }
            Op::Insert(whole, part, path) => {
                let (mut all, part) = (self.get(*whole), self.get(*part));
                let (from, count) = self.low.place_of(function.ty(*whole), path);
                all.splice(from..from + count, part);
                all
            }
            Op::Shuffle(a, b, lanes) => {
                let mut all = self.get(*a);
                all.extend(self.get(*b));
                lanes
                    .iter()
                    .map(|&l| all[(l as usize).min(all.len() - 1)])
                    .collect()
            }
            Op::PtrOffset { ptr, index, offset } => {
                let base = self.get(*ptr)[0];
                let mut at = base;
                if let Some((index, stride)) = index {
                    let index = self.get(*index)[0];
                    let step = ir.int_const(ir.type_of(index), *stride as u64);
                    at = ir.offset(at, ir.mul(index, step));
                }
                if *offset != 0 {
                    at = ir.offset(at, self.splat(ir.i64c(*offset as u64)));
                }
                vec![at]
            }
            Op::Copy(v) => self.get(*v),
            Op::Load {
                ptr,
                volatile: false,
                ..
            } if self.leaves_of(result).len() == 1 => {
                return self.load(&inst.op, *ptr, result, word);
            }
            Op::WorkItem(builtin, dimension) => vec![self.work_item(*builtin, *dimension, ty)],
            Op::Group(op, GroupScope::Subgroup, _)
                if !matches!(op, GroupOp::BlockRead | GroupOp::BlockWrite) =>
            {
                // Stops of the plan, handled there.
                return Ok(());
            }
            _ => return self.one_by_one(&inst.op, Some(result), word),
        };
        self.define(result, value);
        Ok(())
    }

    /// Bool: whether all lanes run and their addresses lie side by side; and the first address.
    fn side_by_side(&mut self, ptr: ValueId, ty: TypeId) -> (Val, Val) {
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(ty);
        let at = self.get(ptr)[0];
        let first = ir.extract_element(at, ir.i32c(0));
        let steps: Vec<Val> = (0..u64::from(self.width))
            .map(|l| ir.i64c(l * size))
            .collect();
        let wanted = ir.offset(self.splat(first), ir.const_vector(&steps));
        let same = ir.icmp(IntPred::LLVMIntEQ, at, wanted);
        let all = self.reduce(Reduction::And, ir.and(same, self.mask));
        (all, first)
    }

    /// A load: one of a whole vector where lanes lie side by side, else lane by lane.
    fn load(
        &mut self,
        op: &Op,
        ptr: ValueId,
        result: ValueId,
        word: u32,
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let (ty, _) = self.leaves_of(result)[0];
        let (together, first) = self.side_by_side(ptr, ty);
        let [fast, slow, join] =
            [c"load.vector", c"load.lanes", c"loaded"].map(|name| self.low.new_block(name));
        ir.cond_br(together, fast, slow);
        ir.at_end(fast);
        let memory = ir.vector(self.low.values.memory(ty), self.width);
        let align = match op {
            Op::Load { align, .. } => crate::memory::sane_align(*align),
            _ => 1,
        };
        let whole = ir.load(memory, first, align);
        let whole = ir.cast(Opcode::LLVMTrunc, whole, self.lane_type(ty));
        ir.br(join);
        ir.at_end(slow);
        let apart = self.one_by_one_values(op, Some(result), word)?;
        let end = ir.here();
        ir.br(join);
        ir.at_end(join);
        let both = ir.phi(self.lane_type(ty));
        ir.add_incoming(both, whole, fast);
        ir.add_incoming(both, apart[0], end);
        self.define(result, vec![both]);
        Ok(())
    }

    /// A store, as [`Self::load`].
    fn store(
        &mut self,
        op: &Op,
        ptr: ValueId,
        value: ValueId,
        word: u32,
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let (ty, _) = self.leaves_of(value)[0];
        let whole = self.get(value)[0];
        let (together, first) = self.side_by_side(ptr, ty);
        let [fast, slow, join] =
            [c"store.vector", c"store.lanes", c"stored"].map(|name| self.low.new_block(name));
        ir.cond_br(together, fast, slow);
        ir.at_end(fast);
        let memory = ir.vector(self.low.values.memory(ty), self.width);
        let align = match op {
            Op::Store { align, .. } => crate::memory::sane_align(*align),
            _ => 1,
        };
        ir.store(ir.cast(Opcode::LLVMZExt, whole, memory), first, align);
        ir.br(join);
        ir.at_end(slow);
        self.one_by_one_values(op, None, word)?;
        ir.br(join);
        ir.at_end(join);
        Ok(())
    }

    /// The scalar of `ty`, in all lanes.
    fn leaf_type(&self, ty: TypeId) -> Ty {
        let types = &self.low.values.module.types;
        self.lane_type(types.scalar_of(ty).unwrap_or(ty))
    }

    fn work_item(&mut self, builtin: Builtin, dimension: u8, ty: TypeId) -> Val {
        use Builtin as B;
        let ir = self.low.ir;
        let (local, linear, start) = self.place();
        let d = usize::from(dimension);
        let global = |d: usize| ir.add(self.splat(self.low.base[d]), local[d]);
        let v = match builtin {
            B::LocalInvocationId if d < 3 => local[d],
            B::GlobalInvocationId if d < 3 => global(d),
            B::LocalInvocationIndex => linear,
            B::SubgroupLocalInvocationId => ir.cast(
                Opcode::LLVMZExt,
                self.lane_numbers(),
                ir.vector(ir.i64, self.width),
            ),
            B::GlobalLinearId => {
                let launch = &self.low.launch;
                let at = |d: usize| ir.sub(global(d), self.splat(launch.offset[d]));
                let extent = |d: usize| self.splat(ir.mul(launch.count[d], launch.size[d]));
                let plane = ir.add(ir.mul(at(2), extent(1)), at(1));
                ir.add(ir.mul(plane, extent(0)), at(0))
            }
            _ => {
                // The same for the whole sub-group.
                self.low.item.linear = start;
                let one = self.low.work_item(builtin, dimension, ty);
                return self.splat(one);
            }
        };
        ir.cast(Opcode::LLVMTrunc, v, self.lane_type(ty))
    }

    /// `v` where lanes run, `other` elsewhere.
    fn running(&self, v: Val, other: Val) -> Val {
        self.low.ir.select(self.mask, v, other)
    }

    /// Number of the first running lane, `i32`.
    fn first_lane(&self) -> Val {
        let ir = self.low.ir;
        let bits = ir.cast(Opcode::LLVMBitCast, self.mask, ir.int(self.width));
        let bits = ir.zext_or_trunc(bits, ir.i64);
        let first = ir.intrinsic("llvm.cttz", &[ir.i64], &[bits, ir.int_const(ir.i1, 1)]);
        ir.cast(Opcode::LLVMTrunc, first, ir.i32)
    }

    fn rotate_up(&self, v: Val, fill: Val, by: u32) -> Val {
        let lanes: Vec<u32> = (0..self.width)
            .map(|l| if l >= by { l - by } else { self.width + l })
            .collect();
        self.low.ir.shuffle(v, fill, &lanes)
    }

    fn reduce(&self, reduction: Reduction, v: Val) -> Val {
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
                // As a tree: the order of a sub-group's sum is free.
                ir.set_fast(sum, 1);
                return sum;
            }
        };
        ir.intrinsic(name, &[ty], &[v])
    }

    pub(crate) fn group_operation(&mut self, group: InstId) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let function = self.low.function;
        let inst = &function.insts[group.index()];
        let (Op::Group(op, _, operands), Some(result)) = (&inst.op, inst.result) else {
            return Ok(());
        };
        let value: Vec<Val> = match operands.first() {
            Some(&v) => self.get(v),
            None => Vec::new(),
        };
        let bools = ir.vector(ir.i1, self.width);
        let made: Vec<Val> = match *op {
            GroupOp::Reduce(r) => value
                .into_iter()
                .map(|v| {
                    let v = self.running(v, self.low.identity(r, ir.type_of(v)));
                    self.splat(self.reduce(r, v))
                })
                .collect(),
            GroupOp::ClusteredReduce(r, cluster) => value
                .into_iter()
                .map(|v| {
                    let mut v = self.running(v, self.low.identity(r, ir.type_of(v)));
                    let mut step = 1;
                    while step < cluster.min(self.width) {
                        let lanes: Vec<u32> = (0..self.width).map(|l| l ^ step).collect();
                        v = self.low.combine(r, v, ir.shuffle(v, v, &lanes));
                        step *= 2;
                    }
                    v
                })
                .collect(),
            GroupOp::InclusiveScan(r) | GroupOp::ExclusiveScan(r) => value
                .into_iter()
                .map(|v| {
                    let identity = self.low.identity(r, ir.type_of(v));
                    let mut v = self.running(v, identity);
                    let mut step = 1;
                    while step < self.width {
                        v = self.low.combine(r, self.rotate_up(v, identity, step), v);
                        step *= 2;
                    }
                    match op {
                        GroupOp::ExclusiveScan(_) => self.rotate_up(v, identity, 1),
                        _ => v,
                    }
                })
                .collect(),
            GroupOp::All => {
                let held = ir.or(value[0], ir.not(self.mask));
                vec![self.splat(self.reduce(Reduction::And, held))]
            }
            GroupOp::Any => {
                let held = ir.and(value[0], self.mask);
                vec![self.splat(self.reduce(Reduction::Or, held))]
            }
            GroupOp::AllEqual => {
                let first = self.first_lane();
                let mut same = ir.int_const(bools, 1);
                for v in value {
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
                let held = ir.or(same, ir.not(self.mask));
                vec![self.splat(self.reduce(Reduction::And, held))]
            }
            GroupOp::BroadcastFirst => {
                let first = self.first_lane();
                let one = |v: Val| self.splat(ir.extract_element(v, first));
                value.into_iter().map(one).collect()
            }
            GroupOp::Elect => {
                let first = self.splat(self.first_lane());
                vec![ir.icmp(IntPred::LLVMIntEQ, self.lane_numbers(), first)]
            }
            GroupOp::Ballot => {
                let held = ir.and(value[0], self.mask);
                let bits = ir.cast(Opcode::LLVMBitCast, held, ir.int(self.width));
                let word = self.splat(ir.zext_or_trunc(bits, ir.i32));
                let zero = ir.null(ir.type_of(word));
                vec![word, zero, zero, zero]
            }
            GroupOp::Broadcast => {
                let index = self.index(operands[1]);
                let index = ir.extract_element(index, self.first_lane());
                value
                    .into_iter()
                    .map(|v| {
                        let v = self.running(v, ir.null(ir.type_of(v)));
                        self.splat(ir.extract_element(v, index))
                    })
                    .collect()
            }
            GroupOp::Shuffle
            | GroupOp::ShuffleXor
            | GroupOp::ShuffleUp
            | GroupOp::ShuffleDown
            | GroupOp::ShuffleUpPair
            | GroupOp::ShuffleDownPair
            | GroupOp::Rotate(_) => self.shuffle(*op, operands, value),
            GroupOp::BlockRead | GroupOp::BlockWrite => return Ok(()),
        };
        self.define(result, made);
        Ok(())
    }

    /// A lane index operand, `i32`, within the sub-group.
    fn index(&mut self, v: ValueId) -> Val {
        let ir = self.low.ir;
        let i32s = ir.vector(ir.i32, self.width);
        let index = self.get(v)[0];
        let index = ir.zext_or_trunc(index, i32s);
        ir.and(index, ir.int_const(i32s, u64::from(self.width - 1)))
    }

    fn shuffle(&mut self, op: GroupOp, operands: &[ValueId], value: Vec<Val>) -> Vec<Val> {
        let ir = self.low.ir;
        let i32s = ir.vector(ir.i32, self.width);
        let lane = self.lane_numbers();
        let last = ir.int_const(i32s, u64::from(self.width - 1));
        let pair = matches!(op, GroupOp::ShuffleUpPair | GroupOp::ShuffleDownPair);
        let raw = self.get(operands[if pair { 2 } else { 1 }])[0];
        let index = ir.zext_or_trunc(raw, i32s);
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
            self.get(operands[1])
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

    /// Lane `source[l]` of `v` for each lane l; 0 from lanes that do not run. Through memory.
    fn move_lanes(&mut self, v: Val, source: Val) -> Val {
        let ir = self.low.ir;
        let ty = ir.type_of(v);
        let scalar = ir.scalar(ty);
        let v = self.running(v, ir.null(ty));
        let byte = if scalar == ir.i1 { ir.i8 } else { scalar };
        let memory = ir.vector(byte, self.width);
        let place = self.low.room(memory, 64);
        ir.store(ir.cast(Opcode::LLVMZExt, v, memory), place, 64);
        let mut moved = ir.poison(memory);
        for lane in 0..self.width {
            let lane = ir.i32c(lane);
            let from = ir.extract_element(source, lane);
            let from = ir.zext_or_trunc(from, ir.i64);
            let one = ir.load(byte, ir.element(byte, place, from), 1);
            moved = ir.insert_element(moved, one, lane);
        }
        ir.cast(Opcode::LLVMTrunc, moved, ty)
    }
}

/// Operations that are calls of C's library: better once for each running lane.
fn calls_a_function(op: kernel_ir::BinaryOp) -> bool {
    matches!(op, kernel_ir::BinaryOp::FRem | kernel_ir::BinaryOp::FMod)
}

/// Mathematics made of instructions only.
fn is_inline(math: MathFn) -> bool {
    use MathFn as M;
    matches!(
        math,
        M::Ceil
            | M::Floor
            | M::Trunc
            | M::Rint
            | M::Round
            | M::Fabs
            | M::Copysign
            | M::Fmax
            | M::Fmin
            | M::Fma
            | M::Mad
            | M::Sqrt
            | M::Rsqrt
            | M::NativeSqrt
            | M::NativeRsqrt
            | M::NativeDivide
            | M::NativeRecip
            | M::Maxmag
            | M::Minmag
            | M::ModfInteger
            | M::ModfFraction
            | M::Fract
    )
}
