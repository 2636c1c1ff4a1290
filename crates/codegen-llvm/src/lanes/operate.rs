//! Instructions, each in the form that the plan gives its result:
//!
//! ```text
//! i + 1        uniform or affine    scalar operation on the first lane's operands; step 1
//! x[i] * n     vector               vector operation
//! f(x[i])      vector               no vector form: scalarised, a loop over the active lanes
//! ```

use kernel_ir::passes::shape::Shape;
use kernel_ir::{
    BinaryOp, BuildError, Builtin, ConvertOp, InstId, Op, TypeId, UnaryOp, ValueDef, ValueId,
};

use vectorise::{Operation, Representation};

use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{IntPred, Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// Emits the instruction at index `at` of the block at hand.
    pub(super) fn instruction(&mut self, at: usize) -> Result<(), BuildError> {
        let id = self.f.blocks[self.block_at_hand.index()].insts[at];
        let inst = &self.f.insts[id.index()];
        self.at_hand = Some(id);
        self.place_at_hand = at;
        self.guard(id);
        let made = self.perform(id);
        if !inst.op.is_pure() {
            // Memory may have changed: what was loaded before must be loaded again.
            self.rows.clear();
            self.spans.clear();
        }
        made
    }

    fn perform(&mut self, id: InstId) -> Result<(), BuildError> {
        let inst = &self.f.insts[id.index()];
        // Phis are defined where their block begins. Private arrays are addresses, computed on use.
        if matches!(
            inst.op,
            Op::Phi(_) | Op::Alloca { .. } | Op::Assume(_) | Op::Barrier(_)
        ) {
            return Ok(());
        }
        if self.width == 1 {
            let value = self.once(&inst.op, 0, inst.result, inst.word)?;
            if let (Some(result), Some(value)) = (inst.result, value) {
                self.define(result, Rep::uniform(value));
            }
            return Ok(());
        }
        let Some(result) = inst.result else {
            return match &inst.op {
                Op::Store {
                    ptr,
                    value,
                    align,
                    volatile: false,
                } => self.store(*ptr, *value, *align),
                Op::Fence(scope, order) => {
                    self.low.fence(*scope, *order);
                    Ok(())
                }
                op @ Op::Atomic { .. } => self.atomic(op, None, inst.word).map(|_| ()),
                Op::Group(op, _, operands) => {
                    self.collective(*op, operands, None, inst.word).map(|_| ())
                }
                Op::Check(check, args) => self.kernel_check(*check, args, inst),
                op => self.scalarise(op, None, inst.word).map(|_| ()),
            };
        };
        let rep = self.evaluate(id, &inst.op, result, inst.word)?;
        self.define(result, rep);
        Ok(())
    }

    /// The scalar form of an operation, on the first lane's operands; the other lanes' results lie `step` apart.
    fn once(
        &mut self,
        op: &Op,
        step: i64,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Option<Val>, BuildError> {
        let mut operands = Vec::new();
        op.operands(|v| operands.push(v));
        let values: Vec<(ValueId, Val)> = operands
            .into_iter()
            .filter(|v| matches!(self.f.values[v.index()].def, ValueDef::Inst(_)))
            .map(|v| (v, self.scalar(v)))
            .collect();
        self.low.clear_block_values();
        for (v, value) in values {
            self.low.set_block_value(v, value);
        }
        // If lanes differ, the first one may be inactive while the others' values are computed from it: its value must
        // not be poison.
        self.low.wrap_flags = step == 0;
        let value = self.low.operation(op, result, word);
        self.low.wrap_flags = true;
        self.low.clear_block_values();
        value
    }

    fn evaluate(
        &mut self,
        id: InstId,
        op: &Op,
        result: ValueId,
        word: u32,
    ) -> Result<Rep, BuildError> {
        if let Op::WorkItem(builtin, dimension) = op {
            return Ok(self.work_item(*builtin, *dimension, result));
        }
        if let Op::Atomic { .. } = op {
            return self.atomic(op, Some(result), word);
        }
        if let Op::Group(op, _, operands) = op {
            return self.collective(*op, operands, Some(result), word);
        }
        match (self.planned(result), op) {
            (
                held,
                Op::Load {
                    ptr,
                    align,
                    volatile: false,
                },
            ) if held == Representation::Vector || self.shape(result) != Shape::Uniform => {
                self.load(*ptr, result, *align)
            }
            (Representation::Affine { step, .. }, Op::Binary(clamp, a, b, _))
                if vectorise::is_clamp(*clamp) =>
            {
                Ok(self.clamped(op, *clamp, [*a, *b], step, result))
            }
            (held, _) => match held.step() {
                Some((step, _)) => self.on_first_lane(id, op, step, result, word),
                None => self.on_vectors(op, result, word),
            },
        }
    }

    /// An operation on the first lane's operands, if their steps determine the result's.
    fn on_first_lane(
        &mut self,
        id: InstId,
        op: &Op,
        step: i64,
        result: ValueId,
        word: u32,
    ) -> Result<Rep, BuildError> {
        let ir = self.low.ir;
        let mut operands = Vec::new();
        op.operands(|v| operands.push(v));
        let mut tests: Vec<Val> = Vec::new();
        for v in operands {
            tests.extend(self.rep(v).holds);
        }
        if let Some((convert, from)) = kernel_ir::index::extension(op)
            && step != 0
            && !self.proved.contains(&id)
        {
            let rep = self.rep(from);
            let first = self.scalar(from);
            let Some(test) = self.does_not_wrap(convert, first, rep.step) else {
                return self.on_vectors(op, result, word);
            };
            tests.push(test);
            kernel_ir::mark!(NoWrapAccess);
        }
        let first = self.once(op, step, Some(result), word)?;
        kernel_ir::mark!(LoadUniform, matches!(op, Op::Load { .. }));
        let holds = tests.into_iter().reduce(|a, b| ir.and(a, b));
        let vector = holds.map(|_| self.lane_operation(op, result));
        Ok(Rep {
            first,
            step,
            holds,
            vector,
        })
    }

    /// An operation whose lanes have no common step.
    fn on_vectors(&mut self, op: &Op, result: ValueId, word: u32) -> Result<Rep, BuildError> {
        let parts = match (self.operation_class(op, result), op) {
            (Operation::Divided(bits), &Op::Binary(op, a, b, flags)) => {
                vec![self.divided(op, [a, b], flags, bits)]
            }
            (Operation::Scalarised, _) => self.scalarise(op, Some(result), word)?,
            _ => self.lane_operation(op, result),
        };
        Ok(Rep::vector(parts))
    }

    /// How the plan performs an operation on vectors.
    fn operation_class(&self, op: &Op, result: ValueId) -> Operation {
        Operation::of(&self.low.input(), self.region, op, result)
    }

    pub(super) fn work_item(&mut self, builtin: Builtin, dimension: u8, result: ValueId) -> Rep {
        use Builtin as B;
        if let Some(own) = self.own_id(builtin, dimension, self.low.ty(result)) {
            return own;
        }
        let mut first = self.low.work_item(builtin, dimension, self.low.ty(result));
        let step = match builtin {
            B::GlobalInvocationId | B::LocalInvocationId => i64::from(dimension == 0),
            B::GlobalLinearId | B::LocalInvocationIndex => 1,
            B::SubgroupLocalInvocationId if self.form.has_sub_groups() => {
                first = self.low.ir.null(self.low.ir.type_of(first));
                1
            }
            _ => 0,
        };
        Rep::affine(first, if self.width == 1 { 0 } else { step })
    }

    /// Records the first error, for which all output is discarded, and returns a placeholder.
    fn fail(&mut self, error: BuildError, ty: Ty) -> Val {
        self.low.fault.get_or_insert(error);
        self.low.ir.null(ty)
    }

    /// The vector form of a pure operation: one vector for each scalar of the result.
    pub(super) fn lane_operation(&mut self, whole: &Op, result: ValueId) -> Vec<Val> {
        let ir = self.low.ir;
        let ty = self.low.ty(result);
        let count = self.leaves(result).len();
        match whole {
            Op::Binary(op, a, b, flags) => {
                let (a, b) = (self.vectors(*a), self.vectors(*b));
                let each = a.into_iter().zip(b);
                each.map(|(a, b)| self.low.binary(*op, a, b, *flags))
                    .collect()
            }
            Op::Unary(op @ (UnaryOp::AnyLane | UnaryOp::AllLanes), a, _) => {
                let parts = self.vectors(*a);
                let join = |a: Val, b: Val| match op {
                    UnaryOp::AnyLane => ir.or(a, b),
                    _ => ir.and(a, b),
                };
                parts.into_iter().reduce(join).into_iter().collect()
            }
            Op::Unary(op, a, flags) => {
                let to = self.scalar_type(ty);
                let parts = self.vectors(*a);
                parts
                    .into_iter()
                    .map(|a| self.low.unary(*op, a, *flags, to))
                    .collect()
            }
            Op::Compare(predicate, a, b) => {
                let (a, b) = (self.vectors(*a), self.vectors(*b));
                let each = a.into_iter().zip(b);
                each.map(|(a, b)| self.low.compare(*predicate, a, b))
                    .collect()
            }
            Op::Convert(op, a, rounding) => {
                let to = self.scalar_type(ty);
                let parts = self.vectors(*a);
                if *op == ConvertOp::Bitcast
                    && let Operation::Recast(recast) = self.operation_class(whole, result)
                {
                    kernel_ir::mark!(TupleRecast);
                    return self.recast_parts(parts, recast, to);
                }
                parts
                    .into_iter()
                    .map(|a| {
                        self.low
                            .convert(*op, a, *rounding, to, 0)
                            .unwrap_or_else(|error| self.fail(error, to))
                    })
                    .collect()
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                let rep = self.rep(*cond);
                let uniform = rep.is_uniform() && self.leaves(*cond).len() == 1;
                let conds = if uniform {
                    rep.first.into_iter().collect()
                } else {
                    self.spread(*cond, &rep)
                };
                let (a, b) = (self.vectors(*then), self.vectors(*otherwise));
                let each = a.into_iter().zip(b).enumerate();
                each.map(|(i, (a, b))| ir.select(conds[i.min(conds.len() - 1)], a, b))
                    .collect()
            }
            Op::Math(math, args, flags) => {
                let args: Vec<Vec<Val>> = args.iter().map(|&a| self.vectors(a)).collect();
                let to = self.scalar_type(ty);
                (0..count)
                    .map(|i| {
                        let operands: Vec<Val> =
                            args.iter().map(|a| a[i.min(a.len() - 1)]).collect();
                        self.low
                            .math(*math, &operands, *flags, to, 0)
                            .unwrap_or_else(|error| self.fail(error, to))
                    })
                    .collect()
            }
            Op::Construct(parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    all.extend(self.vectors(part));
                }
                all
            }
            Op::Extract(whole, path) => {
                let all = self.vectors(*whole);
                let (from, count) = self.low.place_of(self.low.ty(*whole), path);
                all[from..from + count].to_vec()
            }
            Op::Insert(whole, part, path) => {
                let (mut all, part) = (self.vectors(*whole), self.vectors(*part));
                let (from, count) = self.low.place_of(self.low.ty(*whole), path);
                all.splice(from..from + count, part);
                all
            }
            Op::ExtractDynamic(whole, index) => {
                let (all, index) = (self.vectors(*whole), self.vectors(*index)[0]);
                let mut found = all[0];
                for (i, &part) in all.iter().enumerate().skip(1) {
                    let here = ir.int_const(ir.type_of(index), i as u64);
                    let here = ir.icmp(IntPred::LLVMIntEQ, index, here);
                    found = ir.select(here, part, found);
                }
                vec![found]
            }
            Op::InsertDynamic(whole, part, index) => {
                let all = self.vectors(*whole);
                let (part, index) = (self.vectors(*part)[0], self.vectors(*index)[0]);
                all.into_iter()
                    .enumerate()
                    .map(|(i, old)| {
                        let here = ir.int_const(ir.type_of(index), i as u64);
                        let here = ir.icmp(IntPred::LLVMIntEQ, index, here);
                        ir.select(here, part, old)
                    })
                    .collect()
            }
            Op::Shuffle(a, b, lanes) => {
                let mut all = self.vectors(*a);
                all.extend(self.vectors(*b));
                lanes
                    .iter()
                    .map(|&l| all[(l as usize).min(all.len() - 1)])
                    .collect()
            }
            Op::PtrOffset { ptr, index, offset } => {
                let base = self.rep(*ptr);
                let mut at = match base.first {
                    // A uniform base needs no vector.
                    Some(first) if base.is_uniform() => first,
                    _ => self.spread(*ptr, &base)[0],
                };
                if let Some((index, stride)) = index {
                    let mut index = *index;
                    // The uniform part of an index is added to a uniform base, once for all lanes.
                    if base.is_uniform()
                        && let Some((rest, uniform)) = self.uniform_summand(index)
                    {
                        let step = ir.int_const(ir.i64, *stride as u64);
                        at = ir.offset(at, ir.mul(uniform, step));
                        index = rest;
                    }
                    let index = self.vectors(index)[0];
                    let step = ir.int_const(ir.type_of(index), *stride as u64);
                    at = ir.offset(at, ir.mul(index, step));
                }
                at = ir.offset_by(at, *offset as u64);
                if ir.lanes(ir.type_of(at)).is_none() {
                    at = self.splat(at);
                }
                vec![at]
            }
            Op::Copy(v) => self.vectors(*v),
            _ => {
                let parts = self.leaves(result);
                parts
                    .iter()
                    .map(|&(ty, _)| ir.null(self.lane_type(ty)))
                    .collect()
            }
        }
    }

    /// The summands of an index of 64 bits: one that varies, and the value of one that is uniform.
    fn uniform_summand(&mut self, index: ValueId) -> Option<(ValueId, Val)> {
        let ValueDef::Inst(inst) = self.f.values[index.index()].def else {
            return None;
        };
        let Op::Binary(BinaryOp::IAdd, a, b, _) = self.f.insts[inst.index()].op else {
            return None;
        };
        // In other blocks the operands may hold another iteration's values.
        let block = &self.f.blocks[self.block_at_hand.index()];
        if !block.insts.contains(&inst) {
            return None;
        }
        let wide = self.low.values.module.types.size_of(self.f.ty(index)) == 8;
        let (rest, uniform) = match (self.shape(a), self.shape(b)) {
            (Shape::Uniform, Shape::Varying) => (b, a),
            (Shape::Varying, Shape::Uniform) => (a, b),
            _ => return None,
        };
        if !wide || !self.is_at_hand(rest) || !self.is_at_hand(uniform) {
            return None;
        }
        let uniform = self.rep(uniform);
        let first = uniform.first.filter(|_| uniform.is_uniform())?;
        Some((rest, first))
    }

    /// The vector type, in all lanes, of the scalar of `ty`.
    fn scalar_type(&self, ty: TypeId) -> Ty {
        let types = &self.low.values.module.types;
        self.lane_type(types.scalar_of(ty).unwrap_or(ty))
    }

    /// Emits a loop over the active lanes around `body`. The body gets the lane's number (64 bits) and the lane's
    /// scalars of `inputs`, and returns the lane's scalars of `outputs`. Results of inactive lanes are arbitrary.
    pub(super) fn lane_loop(
        &mut self,
        inputs: &[Val],
        outputs: &[Ty],
        body: impl FnOnce(&mut Self, Val, &[Val]) -> Result<Vec<Val>, BuildError>,
    ) -> Result<Vec<Val>, BuildError> {
        let ir = self.low.ir;
        let width = self.width;
        // Bits are not addressable: Bools are stored as bytes.
        let byte = |ty: Ty| if ty == ir.i1 { ir.i8 } else { ty };
        let mut places = Vec::new();
        for &v in inputs {
            let scalar = ir.scalar(ir.type_of(v));
            let memory = ir.vector(byte(scalar), width);
            let place = self.low.entry_alloca(memory, 64);
            ir.store(ir.cast(Opcode::LLVMZExt, v, memory), place, 64);
            places.push((place, scalar));
        }
        let results: Vec<(Val, Ty)> = outputs
            .iter()
            .map(|&ty| (self.low.entry_alloca(ir.vector(byte(ty), width), 64), ty))
            .collect();
        let element = |place: Val, ty: Ty, lane: Val| ir.element(byte(ty), place, lane);
        let bits = match self.mask {
            Some(mask) => {
                let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(width));
                ir.zext_or_trunc(bits, ir.i64)
            }
            None => ir.i64c(u64::MAX >> (64 - width)),
        };
        let before = ir.here();
        let [head, end] = [c"lane", c"lanes"].map(|name| self.low.new_block(name));
        ir.br(head);
        ir.at_end(head);
        let left = ir.phi(ir.i64);
        ir.add_incoming(left, bits, before);
        let lane = ir.intrinsic("llvm.cttz", &[ir.i64], &[left, ir.int_const(ir.i1, 1)]);
        let scalars: Vec<Val> = places
            .iter()
            .map(|&(place, ty)| {
                let v = ir.load(byte(ty), element(place, ty, lane), 1);
                ir.cast(Opcode::LLVMTrunc, v, ty)
            })
            .collect();
        let made = body(self, lane, &scalars)?;
        for (&(place, ty), &v) in results.iter().zip(&made) {
            let v = ir.cast(Opcode::LLVMZExt, v, byte(ty));
            ir.store(v, element(place, ty, lane), 1);
        }
        let rest = ir.and(left, ir.sub(left, ir.i64c(1)));
        ir.add_incoming(left, rest, ir.here());
        ir.cond_br(ir.icmp(IntPred::LLVMIntNE, rest, ir.i64c(0)), head, end);
        ir.at_end(end);
        Ok(results
            .iter()
            .map(|&(place, ty)| {
                let v = ir.load(ir.vector(byte(ty), width), place, 64);
                // For inactive lanes this reads whatever the stack held.
                ir.cast(Opcode::LLVMTrunc, ir.freeze(v), ir.vector(ty, width))
            })
            .collect())
    }

    /// Scalarises an instruction: its scalar form in a loop over the active lanes.
    pub(super) fn scalarise(
        &mut self,
        op: &Op,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Vec<Val>, BuildError> {
        kernel_ir::mark!(Scalarised);
        let mut operands = Vec::new();
        op.operands(|v| operands.push(v));
        operands.sort_unstable();
        operands.dedup();
        operands.retain(|v| matches!(self.f.values[v.index()].def, ValueDef::Inst(_)));
        // Uniform operands need no array.
        let mut inputs = Vec::new();
        let mut shared = Vec::new();
        let mut own = Vec::new();
        for &v in &operands {
            let rep = self.rep(v);
            match rep.first {
                Some(first) if rep.is_uniform() => shared.push((v, first)),
                _ => {
                    own.push(v);
                    inputs.extend(self.spread(v, &rep));
                }
            }
        }
        let outputs: Vec<Ty> = result.map_or_else(Vec::new, |r| {
            self.leaves(r)
                .iter()
                .map(|&(ty, _)| self.low.values.register(ty))
                .collect()
        });
        let item = self.low.at.item;
        let made = self.lane_loop(&inputs, &outputs, |lanes, lane, scalars| {
            let mut scalars = scalars.iter().copied();
            lanes.low.clear_block_values();
            for &v in &own {
                let whole = lanes.low.join_scalars(lanes.low.ty(v), &mut scalars);
                lanes.low.set_block_value(v, whole);
            }
            for &(v, value) in &shared {
                lanes.low.set_block_value(v, value);
            }
            let ir = lanes.low.ir;
            lanes.low.at.item.linear = ir.add(item.linear, lane);
            lanes.low.at.item.local[0] = ir.add(item.local[0], lane);
            if matches!(op, Op::Call(..) | Op::CallIndirect(..))
                && let Some(local) = lanes.existing.and_then(|existing| existing.local)
            {
                lanes.low.at.item.local = local.map(|of| ir.extract_element(of, lane));
            }
            let value = lanes.low.operation(op, result, word)?;
            lanes.low.clear_block_values();
            let mut out = Vec::new();
            if let (Some(value), Some(result)) = (value, result) {
                lanes
                    .low
                    .split_scalars(value, lanes.low.ty(result), &mut out);
            }
            Ok(out)
        });
        self.low.at.item = item;
        made
    }
}
