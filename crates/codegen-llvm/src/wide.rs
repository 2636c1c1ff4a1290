//! Kernels whose lanes talk to each other: W work-items at once, every value a vector of W lanes, masks always
//! on.
//!
//! Each lane has the number of the segment that it stands before. The lowest number runs, for the lanes that
//! stand there; loops are contiguous in that order, so lanes that parted meet again behind the branch. A
//! value that is used in another segment lives in the sub-group's record, where only the running lanes change
//! it: not on the stack, where LLVM would make registers of all of them at once. What has no vector form
//! (memory, calls) is a loop over the running lanes around the scalar code.
//!
//! At a work-group stop a sub-group leaves, and the next one runs with its own record.

use std::collections::{HashMap, HashSet};

use kernel_ir::{BuildError, Op, Terminator, Type, TypeId, ValueDef, ValueId};

use crate::kernel::{Item, Lower};
use crate::llvm::{Bb, IntPred, Opcode, Ty, Val};
use crate::plan::StopKind;

/// In a lane's number: it waits at a work-group stop; the rest is the segment behind it.
const WAITS: u32 = 1 << 28;
/// A lane's number when it has returned, or was never there.
const DONE: u32 = 0x7fff_ffff;
/// Scalars in a value; beyond, lanes run one after another.
const LEAVES: usize = 64;
/// Instructions; beyond, vectors of vectors take too long to compile.
const INSTRUCTIONS: usize = 500;
/// Bytes of private arrays of all lanes.
const PRIVATE: u64 = 64 << 10;

/// What running W lanes at once adds to a kernel being lowered.
pub(crate) struct Wide<'l, 'a> {
    pub(crate) low: &'l mut Lower<'a>,
    pub(crate) width: u32,
    /// The running lanes.
    pub(crate) mask: Val,
    /// Work-items before this sub-group's first.
    start: Val,
    local: [Val; 3],
    linear: Val,
    numbers: Val,
    /// Byte offsets in the record of values that other segments use, one for each scalar.
    rooms: HashMap<ValueId, Vec<u64>>,
    /// The sub-group's record.
    record: Val,
    near: HashMap<ValueId, Vec<Val>>,
    allocas: HashMap<ValueId, (Val, u64)>,
    blocks: Vec<Bb>,
    scheduler: Bb,
}

/// The scalars of a type with their byte offsets.
pub(crate) fn leaves(types: &kernel_ir::Types, ty: TypeId, at: u64, out: &mut Vec<(TypeId, u64)>) {
    if out.len() > LEAVES {
        return;
    }
    match types.get(ty) {
        Type::Void => {}
        Type::Vector(element, n) => {
            let size = types.size_of(*element);
            for i in 0..u64::from(*n) {
                out.push((*element, at + i * size));
            }
        }
        Type::Array(element, len) => {
            let size = types.size_of(*element);
            for i in 0..*len {
                if out.len() > LEAVES {
                    return;
                }
                leaves(types, *element, at + i * size, out);
            }
        }
        Type::Struct { fields, .. } => {
            for (i, &field) in fields.iter().enumerate() {
                leaves(types, field, at + types.field_offset(ty, i), out);
            }
        }
        _ => out.push((ty, at)),
    }
}

/// Whether the kernel is to run W lanes at once: it has sub-group operations, and nothing that only lanes
/// one after another can do well.
pub(crate) fn wanted(low: &Lower<'_>, copies: bool, private: u64) -> bool {
    let types = &low.values.module.types;
    let function = low.function;
    let talks = low.plan.stops.iter().any(|s| s.group.is_some());
    let width = low.sub_group_size;
    if !talks || copies || !matches!(width, 4 | 8 | 16 | 32) {
        return false;
    }
    if private.saturating_mul(u64::from(width)) > PRIVATE {
        return false;
    }
    let mut count = 0;
    for segment in &low.plan.segments {
        for inst in &function.blocks[segment.block].insts[segment.insts.clone()] {
            count += 1;
            let inst = &function.insts[inst.index()];
            let mut values = Vec::new();
            inst.op.operands(|v| values.push(v));
            values.extend(inst.result);
            for v in values {
                let mut all = Vec::new();
                leaves(types, function.ty(v), 0, &mut all);
                if all.len() > LEAVES {
                    return false;
                }
            }
        }
    }
    count <= INSTRUCTIONS
}

/// Layout of a sub-group's record: its lanes' numbers at 0, each scalar of each shared value, the private
/// arrays; and its size.
struct Layout {
    rooms: HashMap<ValueId, Vec<u64>>,
    allocas: HashMap<ValueId, u64>,
    size: u64,
}

fn lay_out(low: &Lower<'_>, shared: &[ValueId]) -> Layout {
    let types = &low.values.module.types;
    let width = u64::from(low.sub_group_size);
    let mut at = 4 * width;
    let mut take = |size: u64| {
        at = at.next_multiple_of(64);
        let offset = at;
        at += size;
        offset
    };
    let mut rooms = HashMap::new();
    for &v in shared {
        let mut all = Vec::new();
        leaves(types, low.function.ty(v), 0, &mut all);
        let places = all.iter().map(|&(ty, _)| take(types.size_of(ty) * width));
        rooms.insert(v, places.collect());
    }
    let allocas = crate::arguments::private_arrays(low.function)
        .into_iter()
        .map(|(v, size, align)| (v, take(size.next_multiple_of(align) * width)))
        .collect();
    Layout {
        rooms,
        allocas,
        size: at.next_multiple_of(64),
    }
}

impl<'l, 'a> Wide<'l, 'a> {
    /// Emits the loops over sub-groups and their segments where the builder stands, then jumps to `done`.
    /// Returns the bytes of a sub-group's record.
    pub(crate) fn run(low: &'l mut Lower<'a>, done: Bb) -> Result<u64, BuildError> {
        let ir = low.ir;
        let width = low.sub_group_size;
        let layout = lay_out(low, &shared_values(low));
        let stride = layout.size;
        low.record.stride = stride / u64::from(width);
        let null = ir.null(ir.ptr);
        let mut wide = Wide {
            width,
            mask: null,
            start: null,
            local: [null; 3],
            linear: null,
            numbers: low.room(ir.vector(ir.i32, width), 64),
            rooms: layout.rooms,
            record: null,
            near: HashMap::new(),
            allocas: HashMap::new(),
            blocks: Vec::new(),
            scheduler: low.entry,
            low,
        };
        let stops = wide
            .low
            .plan
            .stops
            .iter()
            .any(|s| s.kind == StopKind::Workgroup);
        let [round, group, scheduler, leave, round_end] =
            [c"round", c"sub_group", c"scheduler", c"leave", c"round.end"]
                .map(|name| wide.low.new_block(name));
        wide.scheduler = scheduler;
        let (begun, alive) = (wide.low.room(ir.i1, 1), wide.low.room(ir.i1, 1));
        let start = wide.low.room(ir.i64, 8);
        ir.store(ir.int_const(ir.i1, 0), begun, 1);
        ir.br(round);

        ir.at_end(round);
        ir.store(ir.int_const(ir.i1, 0), alive, 1);
        ir.store(ir.i64c(0), start, 8);
        ir.br(group);

        ir.at_end(group);
        wide.start = ir.load(ir.i64, start, 8);
        let index = ir.lshr(wide.start, ir.i64c(u64::from(width.trailing_zeros())));
        // Without work-group stops a sub-group is done before the next one begins.
        let record = if stops {
            ir.offset(wide.low.state, ir.mul(index, ir.i64c(stride)))
        } else {
            wide.low.state
        };
        wide.record = record;
        wide.find_place();
        let numbers_ty = ir.vector(ir.i32, width);
        let items = wide.splat(wide.low.launch.items);
        let exists = ir.icmp(IntPred::LLVMIntULT, wide.linear, items);
        let none = ir.int_const(numbers_ty, u64::from(DONE));
        let fresh = ir.select(exists, ir.null(numbers_ty), none);
        ir.store(fresh, wide.numbers, 64);
        for (v, size, align) in crate::arguments::private_arrays(wide.low.function) {
            let step = size.next_multiple_of(align);
            let place = ir.offset_by(record, layout.allocas[&v]);
            wide.allocas.insert(v, (place, step));
        }
        if stops {
            let [again, first] = [c"again", c"first"].map(|name| wide.low.new_block(name));
            ir.cond_br(ir.load(ir.i1, begun, 1), again, first);
            ir.at_end(again);
            let old = ir.load(numbers_ty, record, 64);
            let waits = ir.icmp(IntPred::LLVMIntNE, old, none);
            let behind = ir.and(old, ir.int_const(numbers_ty, u64::from(WAITS - 1)));
            ir.store(ir.select(waits, behind, none), wide.numbers, 64);
            ir.br(scheduler);
            ir.at_end(first);
        }
        ir.br(scheduler);

        wide.blocks = wide
            .low
            .plan
            .segments
            .iter()
            .map(|_| wide.low.new_block(c"segment"))
            .collect();
        ir.at_end(scheduler);
        let numbers = ir.load(numbers_ty, wide.numbers, 64);
        let lowest = ir.intrinsic("llvm.vector.reduce.umin", &[numbers_ty], &[numbers]);
        let cases: Vec<(Val, Bb)> = (0..wide.blocks.len())
            .filter(|&at| !wide.falls_into(at))
            .map(|at| (ir.i32c(at as u32), wide.blocks[at]))
            .collect();
        ir.switch(lowest, leave, &cases);

        wide.segments()?;

        ir.at_end(leave);
        if stops {
            let numbers = ir.load(numbers_ty, wide.numbers, 64);
            ir.store(numbers, record, 64);
            let left = ir.icmp(IntPred::LLVMIntNE, lowest, ir.i32c(DONE));
            ir.store(ir.or(ir.load(ir.i1, alive, 1), left), alive, 1);
        }
        let next = ir.add(wide.start, ir.i64c(u64::from(width)));
        ir.store(next, start, 8);
        let more = ir.icmp(IntPred::LLVMIntULT, next, wide.low.launch.items);
        ir.cond_br(more, group, round_end);

        ir.at_end(round_end);
        ir.store(ir.int_const(ir.i1, 1), begun, 1);
        ir.cond_br(ir.load(ir.i1, alive, 1), round, done);
        Ok(stride)
    }

    pub(crate) fn leaves_of(&self, v: ValueId) -> Vec<(TypeId, u64)> {
        let mut all = Vec::new();
        leaves(
            &self.low.values.module.types,
            self.low.function.ty(v),
            0,
            &mut all,
        );
        all
    }

    /// Local ids of the sub-group's lanes.
    fn find_place(&mut self) {
        let ir = self.low.ir;
        let lanes: Vec<Val> = (0..u64::from(self.width)).map(|l| ir.i64c(l)).collect();
        let lanes = ir.const_vector(&lanes);
        self.linear = ir.add(self.splat(self.start), lanes);
        // Below 2^32 a quotient of doubles, cut, is the exact one.
        let wide = ir.type_of(self.linear);
        let double = ir.vector(ir.double, self.width);
        let divide = |a: Val, b: Val| {
            let (x, y) = (
                ir.cast(Opcode::LLVMUIToFP, a, double),
                ir.cast(Opcode::LLVMUIToFP, b, double),
            );
            let q = ir.bin(Opcode::LLVMFDiv, x, y);
            let q = ir.cast(Opcode::LLVMFPToUI, q, wide);
            (q, ir.sub(a, ir.mul(q, b)))
        };
        let [sx, sy, _] = self.low.launch.size.map(|s| self.splat(s));
        let (row, x) = divide(self.linear, sx);
        let (z, y) = divide(row, sy);
        self.local = [x, y, z];
    }

    pub(crate) fn splat(&self, v: Val) -> Val {
        let ir = self.low.ir;
        let ty = ir.vector(ir.type_of(v), self.width);
        let one = ir.insert_element(ir.poison(ty), v, ir.i32c(0));
        ir.shuffle(one, ir.poison(ty), &vec![0; self.width as usize])
    }

    /// The lanes' numbers in the sub-group, `i32`.
    pub(crate) fn lane_numbers(&self) -> Val {
        let ir = self.low.ir;
        let lanes: Vec<Val> = (0..self.width).map(|l| ir.i32c(l)).collect();
        ir.const_vector(&lanes)
    }

    /// The value of `v` in all lanes, one vector for each scalar.
    pub(crate) fn get(&mut self, v: ValueId) -> Vec<Val> {
        let ir = self.low.ir;
        if !matches!(self.low.function.values[v.index()].def, ValueDef::Inst(_)) {
            let one = self.low.get(v);
            let mut scalars = Vec::new();
            self.low
                .take_apart(one, self.low.function.ty(v), &mut scalars);
            return scalars.into_iter().map(|s| self.splat(s)).collect();
        }
        if let Some(near) = self.near.get(&v) {
            return near.clone();
        }
        if let Some(&(base, step)) = self.allocas.get(&v) {
            let lanes: Vec<Val> = (0..u64::from(self.width))
                .map(|l| ir.i64c(l * step))
                .collect();
            let at = ir.offset(self.splat(base), ir.const_vector(&lanes));
            return vec![at];
        }
        let all = self.leaves_of(v);
        let found: Vec<Val> = match self.rooms.get(&v) {
            Some(rooms) => all
                .iter()
                .zip(rooms)
                .map(|(&(ty, _), &room)| {
                    let memory = ir.vector(self.low.values.memory(ty), self.width);
                    let loaded = ir.load(memory, ir.offset_by(self.record, room), 64);
                    ir.cast(Opcode::LLVMTrunc, loaded, self.lane_type(ty))
                })
                .collect(),
            // A use that no definition reaches: such code does not run.
            None => all
                .iter()
                .map(|&(ty, _)| ir.null(self.lane_type(ty)))
                .collect(),
        };
        self.near.insert(v, found.clone());
        found
    }

    /// One scalar type in all lanes.
    pub(crate) fn lane_type(&self, ty: TypeId) -> Ty {
        self.low.ir.vector(self.low.values.register(ty), self.width)
    }

    pub(crate) fn define(&mut self, v: ValueId, value: Vec<Val>) {
        if self.rooms.contains_key(&v) {
            self.blend(v, &value, self.mask);
        }
        self.near.insert(v, value);
    }

    /// Changes the variables of `v` in the lanes of `mask`.
    fn blend(&self, v: ValueId, value: &[Val], mask: Val) {
        let ir = self.low.ir;
        let Some(rooms) = self.rooms.get(&v) else {
            return;
        };
        for ((&(ty, _), &room), &new) in self.leaves_of(v).iter().zip(rooms).zip(value) {
            let memory = ir.vector(self.low.values.memory(ty), self.width);
            let new = ir.cast(Opcode::LLVMZExt, new, memory);
            let room = ir.offset_by(self.record, room);
            let old = ir.load(memory, room, 64);
            ir.store(ir.select(mask, new, old), room, 64);
        }
    }

    fn falls_into(&self, at: usize) -> bool {
        falls_into(&self.low.plan, at)
    }

    fn segments(&mut self) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let function = self.low.function;
        let numbers_ty = ir.vector(ir.i32, self.width);
        for at in 0..self.blocks.len() {
            if self.falls_into(at) {
                // The lanes that met go on together.
                ir.br(self.blocks[at]);
                ir.at_end(self.blocks[at]);
            } else {
                self.near.clear();
                ir.at_end(self.blocks[at]);
                let numbers = ir.load(numbers_ty, self.numbers, 64);
                let own = ir.int_const(numbers_ty, at as u64);
                self.mask = ir.icmp(IntPred::LLVMIntEQ, numbers, own);
            }
            let segment = &self.low.plan.segments[at];
            let (block, range, stop) = (segment.block, segment.insts.clone(), segment.stop);
            for &inst in &function.blocks[block].insts[range] {
                self.instruction(inst)?;
            }
            if let Some(stop) = stop {
                let stop = &self.low.plan.stops[stop];
                if stop.kind == StopKind::Subgroup {
                    if let Some(group) = stop.group {
                        self.group_operation(group)?;
                    }
                    continue;
                }
                let waits = WAITS + stop.resume as u32;
                let waits = ir.int_const(numbers_ty, u64::from(waits));
                self.renumber(waits);
                ir.br(self.scheduler);
                continue;
            }
            self.end_block(at, block)?;
        }
        Ok(())
    }

    /// Gives the running lanes new numbers.
    fn renumber(&self, new: Val) {
        let ir = self.low.ir;
        let old = ir.load(ir.type_of(new), self.numbers, 64);
        ir.store(ir.select(self.mask, new, old), self.numbers, 64);
    }

    fn end_block(&mut self, at: usize, block: usize) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let numbers_ty = ir.vector(ir.i32, self.width);
        let function = self.low.function;
        let number = |low: &Lower<'_>, to: kernel_ir::BlockId| low.plan.first_segment[to.index()];
        let number_val = |n: usize| ir.int_const(numbers_ty, n as u64);
        match &function.blocks[block].term {
            Terminator::Br(to) => {
                let target = number(self.low, *to);
                self.enter(block, to.index(), self.mask);
                self.renumber(number_val(target));
                // Nobody stands before the target: it is the next, or one that all others have passed.
                let direct = target <= at + 1;
                ir.br(if direct {
                    self.blocks[target]
                } else {
                    self.scheduler
                });
            }
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.get(*cond)[0];
                let goes = ir.and(self.mask, cond);
                let stays = ir.and(self.mask, ir.not(cond));
                let targets = [number(self.low, *then), number(self.low, *otherwise)];
                if then == otherwise {
                    self.enter(block, then.index(), self.mask);
                } else {
                    self.enter(block, then.index(), goes);
                    self.enter(block, otherwise.index(), stays);
                }
                let new = ir.select(cond, number_val(targets[0]), number_val(targets[1]));
                self.renumber(new);
                ir.br(self.scheduler);
            }
            Terminator::Switch {
                value,
                default,
                cases,
            } => {
                let value = self.get(*value)[0];
                let ty = ir.type_of(value);
                let mut new = number_val(number(self.low, *default));
                let mut masks: Vec<(usize, Val)> = Vec::new();
                let mut left = self.mask;
                for &(case, to) in cases {
                    let here = ir.icmp(IntPred::LLVMIntEQ, value, ir.int_const(ty, case));
                    new = ir.select(here, number_val(number(self.low, to)), new);
                    let here = ir.and(self.mask, here);
                    left = ir.and(left, ir.not(here));
                    match masks.iter_mut().find(|m| m.0 == to.index()) {
                        Some(known) => known.1 = ir.or(known.1, here),
                        None => masks.push((to.index(), here)),
                    }
                }
                match masks.iter_mut().find(|m| m.0 == default.index()) {
                    Some(known) => known.1 = ir.or(known.1, left),
                    None => masks.push((default.index(), left)),
                }
                for (to, mask) in masks {
                    self.enter(block, to, mask);
                }
                self.renumber(new);
                ir.br(self.scheduler);
            }
            Terminator::Ret(_) | Terminator::Unreachable => {
                self.renumber(ir.int_const(numbers_ty, u64::from(DONE)));
                ir.br(self.scheduler);
            }
        }
        Ok(())
    }

    /// The phis of block `to` for the lanes of `mask` that come from block `from`; all are read before one
    /// is changed.
    fn enter(&mut self, from: usize, to: usize, mask: Val) {
        let function = self.low.function;
        let mut changes = Vec::new();
        for inst in &function.blocks[to].insts {
            let inst = &function.insts[inst.index()];
            let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) else {
                break;
            };
            if let Some(&(_, v)) = incoming.iter().find(|i| i.0.index() == from) {
                changes.push((result, self.get(v)));
            }
        }
        for (result, value) in changes {
            self.blend(result, &value, mask);
        }
    }

    /// A loop over the running lanes around `body`, which gets the lane's number (64 bits) and its scalars of
    /// `inputs`, and gives its scalars of `outputs`. Other lanes' results are any value.
    pub(crate) fn lane_loop(
        &mut self,
        inputs: &[Val],
        outputs: &[Ty],
        body: impl FnOnce(&mut Self, Val, &[Val]) -> Result<Vec<Val>, BuildError>,
    ) -> Result<Vec<Val>, BuildError> {
        let ir = self.low.ir;
        let width = self.width;
        // Bools have no addresses of their own: bytes instead.
        let byte = |ty: Ty| if ty == ir.i1 { ir.i8 } else { ty };
        let mut places = Vec::new();
        for &v in inputs {
            let scalar = ir.scalar(ir.type_of(v));
            let memory = ir.vector(byte(scalar), width);
            let place = self.low.room(memory, 64);
            ir.store(ir.cast(Opcode::LLVMZExt, v, memory), place, 64);
            places.push((place, scalar));
        }
        let results: Vec<(Val, Ty)> = outputs
            .iter()
            .map(|&ty| (self.low.room(ir.vector(byte(ty), width), 64), ty))
            .collect();
        let element = |place: Val, ty: Ty, lane: Val| ir.element(byte(ty), place, lane);
        let bits = ir.cast(Opcode::LLVMBitCast, self.mask, ir.int(width));
        let bits = ir.zext_or_trunc(bits, ir.i64);
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
                // Lanes that did not run hold what the stack held.
                ir.cast(Opcode::LLVMTrunc, ir.freeze(v), ir.vector(ty, width))
            })
            .collect())
    }

    /// Any instruction, by its scalar form in a loop over the running lanes.
    pub(crate) fn one_by_one(
        &mut self,
        op: &Op,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<(), BuildError> {
        let made = self.one_by_one_values(op, result, word)?;
        if let Some(result) = result {
            self.define(result, made);
        }
        Ok(())
    }

    /// The result of [`Self::one_by_one`], not yet defined.
    pub(crate) fn one_by_one_values(
        &mut self,
        op: &Op,
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Vec<Val>, BuildError> {
        let mut operands = Vec::new();
        op.operands(|v| operands.push(v));
        operands.sort_unstable();
        operands.dedup();
        operands.retain(|v| matches!(self.low.function.values[v.index()].def, ValueDef::Inst(_)));
        let mut inputs = Vec::new();
        for &v in &operands {
            inputs.extend(self.get(v));
        }
        let outputs: Vec<Ty> = result.map_or_else(Vec::new, |r| {
            self.leaves_of(r)
                .iter()
                .map(|&(ty, _)| self.low.values.register(ty))
                .collect()
        });
        self.lane_loop(&inputs, &outputs, |wide, lane, scalars| {
            let mut scalars = scalars.iter().copied();
            wide.low.clear_near();
            for &v in &operands {
                let whole = wide.low.put_together(wide.low.function.ty(v), &mut scalars);
                wide.low.set_near(v, whole);
            }
            let linear = wide.low.ir.add(wide.start, lane);
            wide.low.item = Item {
                linear,
                ..wide.low.item
            };
            let value = wide.low.operation(op, result, word)?;
            wide.low.clear_near();
            let mut out = Vec::new();
            if let (Some(value), Some(result)) = (value, result) {
                wide.low
                    .take_apart(value, wide.low.function.ty(result), &mut out);
            }
            Ok(out)
        })
    }

    pub(crate) fn place(&mut self) -> ([Val; 3], Val, Val) {
        (self.local, self.linear, self.start)
    }
}

/// Whether the segment is entered from the one before it only, by lanes that met at a sub-group stop.
fn falls_into(plan: &crate::plan::Plan, at: usize) -> bool {
    at > 0
        && plan.segments[at - 1]
            .stop
            .is_some_and(|stop| plan.stops[stop].kind == StopKind::Subgroup)
}

/// Phis, and values that a segment uses which another one makes, in a fixed order.
fn shared_values(low: &Lower<'_>) -> Vec<ValueId> {
    let function = low.function;
    let mut home = HashMap::new();
    let mut shared: Vec<ValueId> = Vec::new();
    let segments = &low.plan.segments;
    // A sub-group stop does not end a run of segments.
    let mut run = 0;
    let mut run_of = vec![0; segments.len()];
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 && !falls_into(&low.plan, at) {
            run += 1;
        }
        run_of[at] = run;
        let block = &function.blocks[segment.block];
        for inst in &block.insts[segment.insts.clone()] {
            let inst = &function.insts[inst.index()];
            if let Some(result) = inst.result {
                home.insert(result, run);
                if matches!(inst.op, Op::Phi(_)) {
                    shared.push(result);
                }
            }
        }
        if let Some(group) = segment.stop.and_then(|stop| low.plan.stops[stop].group)
            && let Some(result) = function.insts[group.index()].result
        {
            home.insert(result, run);
        }
    }
    for (at, segment) in segments.iter().enumerate() {
        let mut used = Vec::new();
        let block = &function.blocks[segment.block];
        for inst in &block.insts[segment.insts.clone()] {
            let inst = &function.insts[inst.index()];
            if !matches!(inst.op, Op::Phi(_)) {
                inst.op.operands(|v| used.push(v));
            }
        }
        if let Some(group) = segment.stop.and_then(|stop| low.plan.stops[stop].group) {
            function.insts[group.index()].op.operands(|v| used.push(v));
        }
        if segment.stop.is_none() {
            used.extend(block.term.operand());
            block.term.successors(|to| {
                for inst in &function.blocks[to.index()].insts {
                    if let Op::Phi(incoming) = &function.insts[inst.index()].op {
                        let here = incoming.iter().filter(|i| i.0.index() == segment.block);
                        used.extend(here.map(|i| i.1));
                    }
                }
            });
        }
        shared.extend(
            used.into_iter()
                .filter(|v| home.get(v).is_some_and(|&h| h != run_of[at])),
        );
    }
    let mut seen = HashSet::new();
    shared.retain(|&v| seen.insert(v));
    shared
}
