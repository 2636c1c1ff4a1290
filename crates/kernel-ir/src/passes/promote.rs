//! Promotion of private memory to values: SSA construction for the variables that [`super::slots`] finds.
//!
//! ```text
//! %v = alloca 4
//! store %v, %x        =>
//! %y = load %v             (%y is %x)
//! ```

use super::edit::{Edit, Replacements};
use super::slots::{AllocaOffset, Group, Plan, fill, leaves, plan};
use crate::cfg::{Cfg, Dominators};
use crate::ir::{
    BlockId, ConvertOp, Flags, InstId, Op, Predicate, Rounding, UnaryOp, ValueDef, ValueId,
};
use crate::types::{Constant, Type, TypeId};

const NONE: ValueId = ValueId(u32::MAX);
/// Values visited behind one volatile store. A vector of 16 made by insertions has 32; the rest is a bound on compile
/// time.
const MAX_VOLATILE_VALUES: usize = 64;

/// Promotes what it can; returns whether anything changed. There must be no unreachable blocks.
pub(super) fn promote(e: &mut Edit<'_>) -> bool {
    let has_alloca = e.f.blocks.first().is_some_and(|b| {
        b.insts
            .iter()
            .any(|i| matches!(e.f.insts[i.index()].op, Op::Alloca { .. }))
    });
    if !has_alloca {
        return false;
    }
    let cfg = Cfg::new(e.f);
    let Some(plan) = plan(e, &cfg) else {
        return false;
    };
    let count = plan.variables.len();
    let blocks = e.f.blocks.len();
    let mut promotion = Promotion {
        replace: Replacements::new(e.f),
        e,
        plan,
        current: vec![NONE; count],
        undo: Vec::new(),
        phis: vec![Vec::new(); blocks],
        out: Vec::new(),
        changed: false,
    };
    promotion.place_phis(&cfg);
    promotion.rename(&cfg);
    promotion.replace.apply(promotion.e.f);
    crate::mark!(Promotion, promotion.changed);
    promotion.changed
}

struct Promotion<'e, 'm> {
    e: &'e mut Edit<'m>,
    plan: Plan,
    replace: Replacements,
    /// Current value of each variable.
    current: Vec<ValueId>,
    /// Values to restore when the walk leaves a block.
    undo: Vec<(u32, ValueId)>,
    /// New phis of each block: variable, instruction, value.
    phis: Vec<Vec<(u32, InstId, ValueId)>>,
    /// The block that is being rewritten.
    out: Vec<InstId>,
    changed: bool,
}

/// Source or destination of a copy.
#[derive(Clone, Copy)]
enum End {
    Variables(AllocaOffset),
    Memory(ValueId),
}

impl Promotion<'_, '_> {
    /// Calls `f` with each variable that `inst` touches and whether it writes it, reads first.
    fn touched(&self, inst: InstId, mut f: impl FnMut(u32, bool)) {
        let entry = &self.e.f.insts[inst.index()];
        let mut range = |place: AllocaOffset, bytes: u64, write: bool| {
            let Some(groups) = self.plan.groups.get(place.alloca as usize) else {
                return;
            };
            let end = place.offset.saturating_add(bytes);
            let from = groups.partition_point(|g| g.high <= place.offset);
            for g in groups[from..].iter().take_while(|g| g.low < end) {
                let Some(first) = g.first else { continue };
                let low = (g.low.max(place.offset) - g.low) / g.piece;
                let high = (g.high.min(end) - g.low).div_ceil(g.piece);
                for k in low..high {
                    f(first + k as u32, write);
                }
            }
        };
        match &entry.op {
            Op::Load { ptr, .. } => {
                if let (Some(&place), Some(result)) = (self.plan.places.get(ptr), entry.result) {
                    range(place, self.e.types.size_of(self.e.f.ty(result)), false);
                }
            }
            Op::Store { ptr, value, .. } => {
                if let Some(&place) = self.plan.places.get(ptr) {
                    if let Some((bytes, _)) = fill(self.e, *value) {
                        range(place, bytes, true);
                        return;
                    }
                    // Only whole variables count as written: the padding of a vector of three may belong to another
                    // variable.
                    for leaf in leaves(self.e, self.e.f.ty(*value)).unwrap_or_default() {
                        let at = AllocaOffset {
                            offset: place.offset.wrapping_add(leaf.offset),
                            ..place
                        };
                        range(at, self.bytes(leaf.ty), true);
                    }
                }
            }
            Op::CopyMemory { dst, src, size, .. } => {
                let bytes = self.e.known_int(*size).unwrap_or(0);
                if let Some(&place) = self.plan.places.get(src) {
                    range(place, bytes, false);
                }
                if let Some(&place) = self.plan.places.get(dst) {
                    range(place, bytes, true);
                }
            }
            _ => {}
        }
    }

    /// Inserts empty phis in the dominance frontiers of definitions, where the variable is live.
    fn place_phis(&mut self, cfg: &Cfg) {
        let count = self.plan.variables.len();
        let mut written_in: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        let mut wanted_in: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for &block in cfg.reverse_post_order() {
            for &inst in &self.e.f.blocks[block.index()].insts {
                self.touched(inst, |variable, write| {
                    let written = &mut written_in[variable as usize];
                    let is_written = written.last() == Some(&block);
                    if write {
                        if !is_written {
                            written.push(block);
                        }
                    } else if !is_written && wanted_in[variable as usize].last() != Some(&block) {
                        wanted_in[variable as usize].push(block);
                    }
                });
            }
        }
        if wanted_in.iter().all(Vec::is_empty) {
            return;
        }
        let dominators = Dominators::new(cfg);
        let frontiers = dominators.frontiers(cfg);
        let n = cfg.block_count();
        // A mark holds the number of the variable for which it was set, so marks need no clearing.
        let (mut live, mut writes, mut joined) = (vec![0u32; n], vec![0u32; n], vec![0u32; n]);
        for variable in 0..count {
            let mark = variable as u32 + 1;
            let mut stack = std::mem::take(&mut wanted_in[variable]);
            if stack.is_empty() || written_in[variable].is_empty() {
                continue;
            }
            for block in &written_in[variable] {
                writes[block.index()] = mark;
            }
            for block in &stack {
                live[block.index()] = mark;
            }
            while let Some(block) = stack.pop() {
                for &from in cfg.predecessors(block) {
                    if writes[from.index()] != mark && live[from.index()] != mark {
                        live[from.index()] = mark;
                        stack.push(from);
                    }
                }
            }
            let mut work = std::mem::take(&mut written_in[variable]);
            while let Some(block) = work.pop() {
                for &join in &frontiers[block.index()] {
                    if joined[join.index()] == mark || live[join.index()] != mark {
                        continue;
                    }
                    joined[join.index()] = mark;
                    let ty = self.plan.variables[variable];
                    let (inst, value) = self.e.make(Op::Phi(Vec::new()), ty, 0);
                    self.phis[join.index()].push((variable as u32, inst, value));
                    work.push(join);
                }
            }
        }
    }

    /// Walks the dominator tree and rewrites every block.
    fn rename(&mut self, cfg: &Cfg) {
        let dominators = Dominators::new(cfg);
        let mut children: Vec<Vec<BlockId>> = vec![Vec::new(); cfg.block_count()];
        for &block in cfg.reverse_post_order().iter().rev() {
            if let Some(parent) = dominators.immediate(block) {
                children[parent.index()].push(block);
            }
        }
        enum Step {
            Enter(BlockId),
            Leave(usize),
        }
        let mut stack = vec![Step::Enter(BlockId(0))];
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave(depth) => {
                    while self.undo.len() > depth {
                        if let Some((variable, old)) = self.undo.pop() {
                            self.current[variable as usize] = old;
                        }
                    }
                }
                Step::Enter(block) => {
                    stack.push(Step::Leave(self.undo.len()));
                    self.block(block, cfg);
                    stack.extend(children[block.index()].iter().map(|c| Step::Enter(*c)));
                }
            }
        }
    }

    fn block(&mut self, block: BlockId, cfg: &Cfg) {
        let insts = std::mem::take(&mut self.e.f.blocks[block.index()].insts);
        self.out = Vec::with_capacity(insts.len());
        for (variable, inst, value) in self.phis[block.index()].clone() {
            self.out.push(inst);
            self.set(variable, value);
            self.changed = true;
        }
        for inst in insts {
            if !self.instruction(inst) {
                self.out.push(inst);
            }
        }
        self.e.f.blocks[block.index()].insts = std::mem::take(&mut self.out);
        for &to in cfg.successors(block) {
            for (variable, inst, _) in self.phis[to.index()].clone() {
                let value = self.value(variable);
                if let Op::Phi(incoming) = &mut self.e.f.insts[inst.index()].op {
                    incoming.push((block, value));
                }
            }
        }
    }

    fn value(&mut self, variable: u32) -> ValueId {
        let v = self.current[variable as usize];
        if v == NONE {
            // Read before it is written.
            let ty = self.plan.variables[variable as usize];
            return self.e.undef(ty);
        }
        self.replace.get(v)
    }

    fn set(&mut self, variable: u32, value: ValueId) {
        let old = std::mem::replace(&mut self.current[variable as usize], value);
        self.undo.push((variable, old));
    }

    fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let (inst, value) = self.e.make(op, ty, 0);
        self.out.push(inst);
        value
    }

    fn effect(&mut self, op: Op) {
        let (inst, _) = self.e.f.add_inst(op, None, 0);
        self.out.push(inst);
    }

    fn bytes(&self, ty: TypeId) -> u64 {
        match self.e.types.get(ty) {
            Type::Vector(element, n) => self.e.types.size_of(*element) * u64::from(*n),
            _ => self.e.types.size_of(ty),
        }
    }

    /// The place that `ptr` points to, if its alloca is promoted.
    fn place(&self, ptr: ValueId) -> Option<AllocaOffset> {
        let place = *self.plan.places.get(&ptr)?;
        self.plan.taken[place.alloca as usize].then_some(place)
    }

    /// Rewrites `inst`; false when it stays.
    fn instruction(&mut self, inst: InstId) -> bool {
        let entry = &self.e.f.insts[inst.index()];
        match entry.op {
            Op::Load { ptr, align, .. } => {
                let (Some(place), Some(result)) = (self.place(ptr), entry.result) else {
                    return false;
                };
                let ty = self.e.f.ty(result);
                if !self.touches(inst) {
                    return false;
                }
                let Some(value) = self.load(place, ptr, align, ty) else {
                    return false;
                };
                self.replace.set(result, value);
            }
            Op::Store {
                ptr,
                value,
                align,
                volatile,
            } => {
                let Some(place) = self.place(ptr) else {
                    return false;
                };
                let value = self.replace.get(value);
                if volatile {
                    self.round(value);
                }
                if let Some((bytes, undefined)) = fill(self.e, value) {
                    self.fill(place, bytes, undefined);
                    self.changed = true;
                    return true;
                }
                if !self.touches(inst) {
                    return false;
                }
                self.store(place, ptr, align, value);
            }
            Op::CopyMemory {
                dst,
                src,
                size,
                align,
            } => {
                let end = |v| self.place(v).map_or(End::Memory(v), End::Variables);
                let (to, from) = (end(dst), end(src));
                if let (End::Memory(_), End::Memory(_)) = (to, from) {
                    return false;
                }
                let Some(bytes) = self.e.known_int(size) else {
                    return false;
                };
                self.copy(to, from, bytes, align);
            }
            _ => return false,
        }
        self.changed = true;
        true
    }

    /// Sets [`Flags::ROUNDED`] on the operations that compute `v` or parts of it.
    fn round(&mut self, v: ValueId) {
        let mut seen = vec![v];
        let mut next = 0;
        while let Some(&v) = seen.get(next) {
            next += 1;
            let ValueDef::Inst(inst) = self.e.f.values[v.index()].def else {
                continue;
            };
            let scalar = self.e.types.scalar_of(self.e.f.ty(v));
            let is_float = scalar.is_some_and(|ty| matches!(self.e.types.get(ty), Type::Float(_)));
            let op = &mut self.e.f.insts[inst.index()].op;
            if is_float
                && let Op::Binary(_, _, _, flags) | Op::Unary(_, _, flags) | Op::Math(_, _, flags) =
                    op
            {
                flags.fast = Flags::ROUNDED;
            }
            // Operations that pass a result on unchanged, except for its sign.
            if matches!(
                op,
                Op::Unary(UnaryOp::FNeg, ..)
                    | Op::Convert(ConvertOp::Bitcast, ..)
                    | Op::Construct(_)
                    | Op::Extract(..)
                    | Op::Insert(..)
                    | Op::Shuffle(..)
                    | Op::Select { .. }
                    | Op::Phi(_)
            ) {
                let mut operands = Vec::new();
                op.operands(|v| operands.push(v));
                for v in operands {
                    let v = self.replace.get(v);
                    if seen.len() < MAX_VOLATILE_VALUES && !seen.contains(&v) {
                        seen.push(v);
                    }
                }
            }
        }
    }

    fn touches(&self, inst: InstId) -> bool {
        let mut any = false;
        self.touched(inst, |_, _| any = true);
        any
    }

    fn pointer(&mut self, ptr: ValueId, offset: u64) -> ValueId {
        if offset == 0 {
            return ptr;
        }
        let ty = self.e.f.ty(ptr);
        let op = Op::PtrOffset {
            ptr,
            index: None,
            offset: offset.cast_signed(),
        };
        self.emit(op, ty)
    }

    fn memory_load(&mut self, ptr: ValueId, offset: u64, align: u64, ty: TypeId) -> ValueId {
        let ptr = self.pointer(ptr, offset);
        let op = Op::Load {
            ptr,
            align: align_at(align, offset),
            volatile: false,
        };
        self.emit(op, ty)
    }

    fn memory_store(&mut self, ptr: ValueId, offset: u64, align: u64, value: ValueId) {
        let ptr = self.pointer(ptr, offset);
        self.effect(Op::Store {
            ptr,
            value,
            align: align_at(align, offset),
            volatile: false,
        });
    }

    fn load(
        &mut self,
        place: AllocaOffset,
        ptr: ValueId,
        align: u64,
        ty: TypeId,
    ) -> Option<ValueId> {
        let all = leaves(self.e, ty)?;
        let mut parts = Vec::with_capacity(all.len());
        for leaf in &all {
            let at = AllocaOffset {
                offset: place.offset + leaf.offset,
                ..place
            };
            parts.push(match self.plan.group_at(at).cloned() {
                Some(group) if group.first.is_some() => self.read(&group, at, leaf.ty),
                _ => self.memory_load(ptr, leaf.offset, align, leaf.ty),
            });
        }
        let mut next = parts.into_iter();
        Some(self.assemble(ty, &mut next))
    }

    /// A value of type `ty` from its leaves in order.
    fn assemble(&mut self, ty: TypeId, parts: &mut dyn Iterator<Item = ValueId>) -> ValueId {
        let inner: Vec<TypeId> = match self.e.types.get(ty) {
            Type::Array(element, n) => vec![*element; *n as usize],
            Type::Struct { fields, .. } => fields.clone(),
            _ => {
                return match parts.next() {
                    Some(v) => v,
                    None => self.e.undef(ty),
                };
            }
        };
        let inner = inner.into_iter().map(|t| self.assemble(t, parts)).collect();
        self.emit(Op::Construct(inner), ty)
    }

    fn store(&mut self, place: AllocaOffset, ptr: ValueId, align: u64, value: ValueId) {
        let ty = self.e.f.ty(value);
        for leaf in leaves(self.e, ty).unwrap_or_default() {
            let part = if leaf.path.is_empty() {
                value
            } else {
                self.emit(Op::Extract(value, leaf.path.clone()), leaf.ty)
            };
            let at = AllocaOffset {
                offset: place.offset + leaf.offset,
                ..place
            };
            match self.plan.group_at(at).cloned() {
                Some(group) if group.first.is_some() => self.write(&group, at, part),
                _ => self.memory_store(ptr, leaf.offset, align, part),
            }
        }
    }

    /// The variables that cover the bytes at `place`: number of the first, and count.
    fn pieces(&self, group: &Group, place: AllocaOffset, bytes: u64) -> (u32, u32) {
        let first = group.first.unwrap_or(0) + ((place.offset - group.low) / group.piece) as u32;
        (first, (bytes / group.piece) as u32)
    }

    fn read(&mut self, group: &Group, place: AllocaOffset, ty: TypeId) -> ValueId {
        let (first, count) = self.pieces(group, place, self.bytes(ty));
        if count <= 1 {
            let value = self.value(first);
            return self.coerce(value, ty);
        }
        let element = self.e.types.scalar_of(ty).unwrap_or(ty);
        if self.e.types.size_of(element) == group.piece {
            let parts = (0..count).map(|k| {
                let value = self.value(first + k);
                self.coerce(value, element)
            });
            let parts = parts.collect();
            return self.emit(Op::Construct(parts), ty);
        }
        let bits = self.e.types.int(group.piece as u8 * 8);
        let parts = (0..count)
            .map(|k| {
                let value = self.value(first + k);
                self.coerce(value, bits)
            })
            .collect();
        let vector = self.e.types.intern(Type::Vector(bits, count));
        let whole = self.emit(Op::Construct(parts), vector);
        if let Type::Ptr(_) = self.e.types.get(ty) {
            let int = self.e.types.int(64);
            let address = self.convert(ConvertOp::Bitcast, whole, int);
            return self.convert(ConvertOp::IntToPtr, address, ty);
        }
        self.convert(ConvertOp::Bitcast, whole, ty)
    }

    fn write(&mut self, group: &Group, place: AllocaOffset, value: ValueId) {
        let ty = self.e.f.ty(value);
        let (first, count) = self.pieces(group, place, self.bytes(ty));
        if count <= 1 {
            let wanted = self.plan.variables[first as usize];
            let value = self.coerce(value, wanted);
            self.set(first, value);
            return;
        }
        let element = self.e.types.scalar_of(ty).unwrap_or(ty);
        let (whole, element) = if self.e.types.size_of(element) == group.piece {
            (value, element)
        } else {
            let bits = self.e.types.int(group.piece as u8 * 8);
            let vector = self.e.types.intern(Type::Vector(bits, count));
            let value = if let Type::Ptr(_) = self.e.types.get(ty) {
                let int = self.e.types.int(64);
                self.convert(ConvertOp::PtrToInt, value, int)
            } else {
                value
            };
            (self.convert(ConvertOp::Bitcast, value, vector), bits)
        };
        for k in 0..count {
            let part = self.emit(Op::Extract(whole, vec![k]), element);
            let wanted = self.plan.variables[(first + k) as usize];
            let part = self.coerce(part, wanted);
            self.set(first + k, part);
        }
    }

    fn convert(&mut self, op: ConvertOp, v: ValueId, ty: TypeId) -> ValueId {
        self.emit(Op::Convert(op, v, Rounding::Default), ty)
    }

    /// Reinterprets the bytes of `v` as another type of the same size.
    fn coerce(&mut self, v: ValueId, ty: TypeId) -> ValueId {
        let from = self.e.f.ty(v);
        if from == ty {
            return v;
        }
        if let Some(id) = self.e.const_of(v)
            && *self.e.constants.get(id) == Constant::Undef
        {
            return self.e.undef(ty);
        }
        match (self.e.types.get(from).clone(), self.e.types.get(ty).clone()) {
            (Type::Ptr(_), Type::Ptr(_)) => self.convert(ConvertOp::AddressSpace, v, ty),
            (Type::Ptr(_), Type::Int(_)) => self.convert(ConvertOp::PtrToInt, v, ty),
            (Type::Int(_), Type::Ptr(_)) => self.convert(ConvertOp::IntToPtr, v, ty),
            (Type::Ptr(_), _) => {
                let int = self.e.types.int(64);
                let bits = self.convert(ConvertOp::PtrToInt, v, int);
                self.convert(ConvertOp::Bitcast, bits, ty)
            }
            (_, Type::Ptr(_)) => {
                let int = self.e.types.int(64);
                let bits = self.convert(ConvertOp::Bitcast, v, int);
                self.convert(ConvertOp::IntToPtr, bits, ty)
            }
            (Type::Bool, _) => {
                let (then, otherwise) = (self.e.int(8, 1), self.e.int(8, 0));
                let op = Op::Select {
                    cond: v,
                    then,
                    otherwise,
                };
                let byte = self.e.types.int(8);
                self.emit(op, byte)
            }
            (_, Type::Bool) => {
                let zero = self.e.int(8, 0);
                self.emit(Op::Compare(Predicate::INe, v, zero), ty)
            }
            _ => self.convert(ConvertOp::Bitcast, v, ty),
        }
    }

    /// Sets all variables of the range to zero, or leaves them undefined.
    fn fill(&mut self, place: AllocaOffset, bytes: u64, undefined: bool) {
        let end = place.offset + bytes;
        let groups = self.plan.groups[place.alloca as usize].clone();
        for group in groups {
            if group.low < place.offset || group.high > end {
                continue;
            }
            for k in 0..(group.high - group.low) / group.piece {
                let variable = group.first.unwrap_or(0) + k as u32;
                let ty = self.plan.variables[variable as usize];
                let value = if undefined {
                    self.e.undef(ty)
                } else {
                    let id = self.e.null(ty);
                    self.e.constant(id)
                };
                self.set(variable, value);
            }
        }
    }

    fn copy(&mut self, to: End, from: End, bytes: u64, align: u64) {
        // The side that is promoted determines the pieces of the copy.
        let lead = match (to, from) {
            (End::Variables(place), _) | (_, End::Variables(place)) => place,
            _ => return,
        };
        let end = lead.offset + bytes;
        let groups = &self.plan.groups[lead.alloca as usize];
        let first = groups.partition_point(|g| g.low < lead.offset);
        let groups: Vec<Group> = groups[first..]
            .iter()
            .take_while(|g| g.high <= end)
            .cloned()
            .collect();
        let mut moved = Vec::new();
        for group in &groups {
            let pieces = (group.high - group.low) / group.piece;
            for k in 0..pieces {
                let offset = group.low - lead.offset + k * group.piece;
                let variable = group.first.unwrap_or(0) + k as u32;
                let value = match from {
                    End::Memory(ptr) => {
                        let ty = self.plan.variables[variable as usize];
                        self.memory_load(ptr, offset, align, ty)
                    }
                    End::Variables(place) => {
                        let at = AllocaOffset {
                            offset: place.offset + offset,
                            ..place
                        };
                        match self.plan.group_at(at).cloned() {
                            Some(source) => {
                                let (first, _) = self.pieces(&source, at, source.piece);
                                debug_assert_eq!(source.piece, group.piece);
                                self.value(first)
                            }
                            None => {
                                debug_assert!(false, "both ends of a copy share their groups");
                                self.e.undef(self.plan.variables[variable as usize])
                            }
                        }
                    }
                };
                moved.push((variable, offset, value));
            }
        }
        for (variable, offset, value) in moved {
            match to {
                End::Variables(_) => {
                    let wanted = self.plan.variables[variable as usize];
                    let value = self.coerce(value, wanted);
                    self.set(variable, value);
                }
                End::Memory(ptr) => self.memory_store(ptr, offset, align, value),
            }
        }
    }
}

/// Alignment of an address `offset` bytes after one of alignment `align`.
fn align_at(align: u64, offset: u64) -> u64 {
    if offset == 0 {
        align
    } else {
        align.min(1 << offset.trailing_zeros())
    }
}
