//! Expansion of work-group operations (reductions, scans, broadcasts) into local memory and barriers.
//!
//! ```text
//!                              store %block[local id], %x
//!                              barrier Workgroup
//! %r = group.reduce.fadd %x    if local id == 0: store %result, sum of %block
//!                         =>   barrier Workgroup
//!                              %r = load %result
//! ```
//!
//! Each work-item stores its value into a block of scratch. Work-item 0 combines the block in work-item order,
//! [`VALUES_AT_ONCE`] values at a time for reductions. Each work-item then reads its result. A barrier stands between
//! the last read of a slot and its next write, so the code is correct in loops.

use std::collections::HashMap;

use super::edit::{Edit, Replacements};
use crate::build::BuildError;
use crate::ir::{
    BinaryOp, BlockId, Builtin, Flags, Function, FunctionId, Global, GlobalId, GroupOp, GroupScope,
    Inst, MathFn, Module, Op, Predicate, Reduction, Scope, Terminator, ValueDef, ValueId,
};
use crate::types::{AddressSpace, ConstId, Constant, Constants, Type, TypeId, Types};

/// Values that work-item 0 combines as a vector. Scalar additions form a chain with a latency of 4 cycles each: 1.6 us for
/// a group of 1024 at 2.5 GHz (commit f8fcc98).
const VALUES_AT_ONCE: u32 = 16;

/// Expands every work-group operation of function `id`.
///
/// # Errors
/// An operation that exists for sub-groups only.
pub(super) fn expand(
    module: &mut Module,
    id: FunctionId,
    slots: &mut Slots,
) -> Result<(), BuildError> {
    let has = |f: &Function| {
        f.blocks.iter().flat_map(|b| &b.insts).any(|i| {
            matches!(
                f.insts[i.index()].op,
                Op::Group(_, GroupScope::Workgroup, _)
            )
        })
    };
    if !has(&module.functions[id.index()]) {
        return Ok(());
    }
    crate::mark!(WorkGroupExpansion);
    let mut f = std::mem::take(&mut module.functions[id.index()]);
    let result = Expansion {
        edit: Edit::new(&mut module.types, &mut module.constants, &mut f),
        globals: &mut module.globals,
        slots,
        here: BlockId(0),
    }
    .run();
    module.functions[id.index()] = f;
    result
}

/// The scratch memory of a module: one block and one result slot for each type, shared by all operations.
#[derive(Default)]
pub(super) struct Slots {
    blocks: HashMap<TypeId, GlobalId>,
    results: HashMap<TypeId, GlobalId>,
}

/// How the block of values is combined.
#[derive(Clone, Copy)]
enum Walk {
    Reduce(Reduction),
    Inclusive(Reduction),
    Exclusive(Reduction),
    AllEqual,
}

struct Expansion<'m, 's> {
    edit: Edit<'m>,
    globals: &'m mut Vec<Global>,
    slots: &'s mut Slots,
    /// The block at whose end code is added.
    here: BlockId,
}

impl Expansion<'_, '_> {
    fn run(mut self) -> Result<(), BuildError> {
        let original = self.edit.f.blocks.len();
        let mut replace = Replacements::new(self.edit.f);
        let mut exit: Vec<BlockId> = (0..original as u32).map(BlockId).collect();
        for (b, end) in exit.iter_mut().enumerate() {
            let insts = std::mem::take(&mut self.edit.f.blocks[b].insts);
            let term = std::mem::replace(&mut self.edit.f.blocks[b].term, Terminator::Unreachable);
            self.here = BlockId(b as u32);
            for inst in insts {
                let Inst { op, result, word } = &self.edit.f.insts[inst.index()];
                let Op::Group(op, GroupScope::Workgroup, args) = op else {
                    self.edit.f.blocks[self.here.index()].insts.push(inst);
                    continue;
                };
                let (op, args, word) = (*op, args.clone(), *word);
                let Some(result) = *result else {
                    return Err(BuildError::unsupported(
                        word,
                        format!("{op:?} on a work-group"),
                    ));
                };
                let value = self.operation(op, &args, word)?;
                replace.set(result, value);
            }
            self.edit.f.blocks[self.here.index()].term = term;
            *end = self.here;
        }
        for block in self.edit.f.blocks.iter().take(original) {
            for &inst in &block.insts {
                if let Op::Phi(incoming) = &mut self.edit.f.insts[inst.index()].op {
                    for (from, _) in incoming {
                        // Blocks made here belong to this position.
                        *from = exit.get(from.index()).copied().unwrap_or(*from);
                    }
                }
            }
        }
        replace.apply(self.edit.f);
        Ok(())
    }

    fn operation(
        &mut self,
        op: GroupOp,
        args: &[ValueId],
        word: u32,
    ) -> Result<ValueId, BuildError> {
        Ok(match (op, args) {
            (GroupOp::Reduce(r), &[x]) => self.walk(Walk::Reduce(r), x),
            (GroupOp::InclusiveScan(r), &[x]) => self.walk(Walk::Inclusive(r), x),
            (GroupOp::ExclusiveScan(r), &[x]) => self.walk(Walk::Exclusive(r), x),
            (GroupOp::All, &[x]) => self.walk(Walk::Reduce(Reduction::LogicalAnd), x),
            (GroupOp::Any, &[x]) => self.walk(Walk::Reduce(Reduction::LogicalOr), x),
            (GroupOp::AllEqual, &[x]) => self.walk(Walk::AllEqual, x),
            (GroupOp::Broadcast, &[x, index]) => self.broadcast(x, index),
            (GroupOp::BroadcastFirst, &[x]) => {
                let zero = self.edit.int(64, 0);
                self.broadcast(x, zero)
            }
            (GroupOp::Elect, _) => {
                let index = self.item_index();
                let zero = self.edit.int(64, 0);
                self.compare(Predicate::IEq, index, zero)
            }
            _ => {
                return Err(BuildError::unsupported(
                    word,
                    format!("group operation {op:?} exists for sub-groups only"),
                ));
            }
        })
    }

    fn append(&mut self, op: Op, ty: TypeId) -> ValueId {
        self.edit.append(self.here, op, ty)
    }
    fn compare(&mut self, p: Predicate, a: ValueId, b: ValueId) -> ValueId {
        self.edit.compare(self.here, p, a, b)
    }
    fn effect(&mut self, op: Op) {
        self.edit.f.push(self.here, op, None, 0);
    }
    fn barrier(&mut self) {
        self.effect(Op::Barrier(Scope::Workgroup));
    }
    fn jump(&mut self, to: BlockId) {
        self.edit.f.blocks[self.here.index()].term = Terminator::Br(to);
    }
    fn branch(&mut self, cond: ValueId, then: BlockId, otherwise: BlockId) {
        self.edit.f.blocks[self.here.index()].term = Terminator::CondBr {
            cond,
            then,
            otherwise,
        };
    }
    fn item_index(&mut self) -> ValueId {
        let ty = self.edit.types.int(64);
        self.append(Op::WorkItem(Builtin::LocalInvocationIndex, 0), ty)
    }

    /// The variable that holds one value of `ty` for each item, or one for the group.
    fn slot(&mut self, ty: TypeId, per_work_item: bool) -> ValueId {
        let (table, name) = if per_work_item {
            (&mut self.slots.blocks, "group scratch")
        } else {
            (&mut self.slots.results, "group result")
        };
        let (globals, types) = (&mut *self.globals, &*self.edit.types);
        let id = *table.entry(ty).or_insert_with(|| {
            let id = GlobalId(globals.len() as u32);
            globals.push(Global {
                name: format!("{name} {}", id.0),
                space: AddressSpace::Local,
                ty,
                size: types.size_of(ty),
                per_work_item,
                // Blocks of per-work-item scratch are aligned to 16 bytes and no more.
                align: types.align_of(ty).min(16),
                init: None,
                exported: false,
            });
            id
        });
        let ptr = self.edit.types.ptr(AddressSpace::Local);
        let values = &self.edit.f.values;
        let known = values.iter().rposition(|v| v.def == ValueDef::Global(id));
        match known {
            Some(i) => ValueId(i as u32),
            None => self.edit.f.add_value(ptr, ValueDef::Global(id)),
        }
    }

    fn load(&mut self, ptr: ValueId, ty: TypeId) -> ValueId {
        let align = self.edit.types.align_of(ty).min(16);
        let op = Op::Load {
            ptr,
            align,
            volatile: false,
        };
        self.append(op, ty)
    }
    fn store(&mut self, ptr: ValueId, value: ValueId) {
        let align = self.edit.types.align_of(self.edit.f.ty(value)).min(16);
        self.effect(Op::Store {
            ptr,
            value,
            align,
            volatile: false,
        });
    }
    fn element(&mut self, block: ValueId, index: ValueId, size: u64) -> ValueId {
        let ty = self.edit.f.ty(block);
        let op = Op::PtrOffset {
            ptr: block,
            index: Some((index, size as i64)),
            offset: 0,
        };
        self.append(op, ty)
    }

    /// Number of work-items of the group.
    fn item_count(&mut self) -> ValueId {
        let ty = self.edit.types.int(64);
        let [x, y, z] = [0, 1, 2].map(|d| self.append(Op::WorkItem(Builtin::WorkgroupSize, d), ty));
        let xy = self.edit.binary(self.here, BinaryOp::IMul, x, y);
        self.edit.binary(self.here, BinaryOp::IMul, xy, z)
    }

    fn broadcast(&mut self, x: ValueId, index: ValueId) -> ValueId {
        let ty = self.edit.f.ty(x);
        let slot = self.slot(ty, false);
        let item = self.item_index();
        let mine = self.compare(Predicate::IEq, item, index);
        let (write, join) = (self.edit.f.add_block(), self.edit.f.add_block());
        self.branch(mine, write, join);
        self.here = write;
        self.store(slot, x);
        self.jump(join);
        self.here = join;
        self.barrier();
        let result = self.load(slot, ty);
        self.barrier();
        result
    }

    fn walk(&mut self, walk: Walk, x: ValueId) -> ValueId {
        let ty = self.edit.f.ty(x);
        let i64_ty = self.edit.types.int(64);
        let bool_ty = self.edit.types.bool();
        let size = self.edit.types.size_of(ty);
        let block = self.slot(ty, true);
        let (zero, one) = (self.edit.int(64, 0), self.edit.int(64, 1));
        let item = self.item_index();
        let mine = self.element(block, item, size);
        self.store(mine, x);
        self.barrier();
        let is_first = self.compare(Predicate::IEq, item, zero);
        let [lead, single, body, done, join] = [(); 5].map(|()| self.edit.f.add_block());
        self.branch(is_first, lead, join);

        // Work-item 0: the carried value starts as the first value, or as true for "all equal".
        self.here = lead;
        let count = self.item_count();
        let first = self.load(block, ty);
        let truth = self.edit.constants.intern(bool_ty, Constant::Bool(true));
        let (start, carried_ty) = match walk {
            Walk::Reduce(_) | Walk::Inclusive(_) => (first, ty),
            Walk::Exclusive(r) => {
                let id = identity(self.edit.types, self.edit.constants, r, ty);
                let value = self.edit.constant(id);
                self.store(block, value);
                (first, ty)
            }
            Walk::AllEqual => (self.edit.constant(truth), bool_ty),
        };
        // Edges into the loop over single values: source block, first index, carried value.
        let mut ways = vec![(single, one, start)];
        match walk {
            Walk::Reduce(r) if self.is_number(ty) => {
                let (fold, at, total) = self.fold_vectors(r, (block, ty), count, single);
                let more = self.compare(Predicate::ULt, at, count);
                self.branch(more, body, done);
                ways.push((fold, at, total));
            }
            _ => self.jump(single),
        }
        self.here = single;
        let more = self.compare(Predicate::UGt, count, one);
        self.branch(more, body, done);

        self.here = body;
        let carried = self.append(Op::Phi(Vec::new()), carried_ty);
        let at = self.append(Op::Phi(Vec::new()), i64_ty);
        let place = self.element(block, at, size);
        let value = self.load(place, ty);
        let next = match walk {
            Walk::Reduce(r) => self.combine(r, carried, value),
            Walk::Inclusive(r) => {
                let next = self.combine(r, carried, value);
                self.store(place, next);
                next
            }
            Walk::Exclusive(r) => {
                self.store(place, carried);
                self.combine(r, carried, value)
            }
            Walk::AllEqual => {
                let same = self.equal(first, value);
                self.edit.binary(self.here, BinaryOp::And, carried, same)
            }
        };
        let step = self.edit.binary(self.here, BinaryOp::IAdd, at, one);
        let more = self.compare(Predicate::ULt, step, count);
        self.branch(more, body, done);
        let begins = ways.iter().map(|&(from, at, _)| (from, at));
        self.inputs(at, begins.chain([(body, step)]).collect());
        let values = ways.iter().map(|&(from, _, value)| (from, value));
        let values: Vec<_> = values.chain([(body, next)]).collect();
        self.inputs(carried, values.clone());

        self.here = done;
        let reduces = matches!(walk, Walk::Reduce(_) | Walk::AllEqual);
        let slot = reduces.then(|| self.slot(carried_ty, false));
        if let Some(slot) = slot {
            let total = self.append(Op::Phi(values), carried_ty);
            self.store(slot, total);
        }
        self.jump(join);

        self.here = join;
        self.barrier();
        match slot {
            Some(slot) => self.load(slot, carried_ty),
            None => self.load(mine, ty),
        }
    }

    fn is_number(&self, ty: TypeId) -> bool {
        matches!(self.edit.types.get(ty), Type::Int(_) | Type::Float(_))
    }

    /// Combines the whole vectors of `block`, which holds `count` values of type `ty`. Branches to `single` when there
    /// are none. Returns a new block without a terminator, the index of the first remaining value, and the result so
    /// far.
    fn fold_vectors(
        &mut self,
        r: Reduction,
        (block, ty): (ValueId, TypeId),
        count: ValueId,
        single: BlockId,
    ) -> (BlockId, ValueId, ValueId) {
        let size = self.edit.types.size_of(ty);
        let i64_ty = self.edit.types.int(64);
        let vector_ty = self.edit.types.intern(Type::Vector(ty, VALUES_AT_ONCE));
        let width = self.edit.int(64, u64::from(VALUES_AT_ONCE));
        let [start, body, fold] = [(); 3].map(|()| self.edit.f.add_block());
        let any = self.compare(Predicate::UGe, count, width);
        self.branch(any, start, single);

        self.here = start;
        let first = self.load(block, vector_ty);
        let rest = self.edit.binary(self.here, BinaryOp::ISub, count, width);
        let more = self.compare(Predicate::UGe, rest, width);
        self.branch(more, body, fold);

        self.here = body;
        let carried = self.append(Op::Phi(Vec::new()), vector_ty);
        let at = self.append(Op::Phi(Vec::new()), i64_ty);
        let place = self.element(block, at, size);
        let value = self.load(place, vector_ty);
        let next = self.combine(r, carried, value);
        let step = self.edit.binary(self.here, BinaryOp::IAdd, at, width);
        let rest = self.edit.binary(self.here, BinaryOp::ISub, count, step);
        let more = self.compare(Predicate::UGe, rest, width);
        self.branch(more, body, fold);
        self.inputs(carried, vec![(start, first), (body, next)]);
        self.inputs(at, vec![(start, width), (body, step)]);

        self.here = fold;
        let whole = self.append(Op::Phi(vec![(start, first), (body, next)]), vector_ty);
        let at = self.append(Op::Phi(vec![(start, width), (body, step)]), i64_ty);
        let mut parts: Vec<ValueId> = (0..VALUES_AT_ONCE)
            .map(|k| self.append(Op::Extract(whole, vec![k]), ty))
            .collect();
        while let [_, _, ..] = parts.as_slice() {
            let half = parts.split_off(parts.len() / 2);
            let pairs: Vec<_> = parts.into_iter().zip(half).collect();
            parts = pairs
                .into_iter()
                .map(|(a, b)| self.combine(r, a, b))
                .collect();
        }
        (fold, at, parts[0])
    }

    fn inputs(&mut self, phi: ValueId, incoming: Vec<(BlockId, ValueId)>) {
        if let ValueDef::Inst(inst) = self.edit.f.values[phi.index()].def {
            self.edit.f.insts[inst.index()].op = Op::Phi(incoming);
        }
    }

    fn equal(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let scalar = self.edit.types.scalar_of(self.edit.f.ty(a));
        let kind = scalar.map(|s| self.edit.types.get(s).clone());
        let same = match kind {
            Some(Type::Float(_)) => self.compare(Predicate::FOrdEq, a, b),
            Some(Type::Bool) => self.edit.binary(self.here, BinaryOp::LogicalEqual, a, b),
            _ => self.compare(Predicate::IEq, a, b),
        };
        if self.edit.types.lane_count(self.edit.f.ty(same)) == 1 {
            return same;
        }
        let bool_ty = self.edit.types.bool();
        let all = Op::Unary(crate::ir::UnaryOp::AllLanes, same, Flags::default());
        self.append(all, bool_ty)
    }

    fn combine(&mut self, r: Reduction, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.edit.f.ty(a);
        let op = match r {
            Reduction::IAdd => BinaryOp::IAdd,
            Reduction::IMul => BinaryOp::IMul,
            Reduction::SMin => BinaryOp::SMin,
            Reduction::SMax => BinaryOp::SMax,
            Reduction::UMin => BinaryOp::UMin,
            Reduction::UMax => BinaryOp::UMax,
            Reduction::And | Reduction::LogicalAnd => BinaryOp::And,
            Reduction::Or | Reduction::LogicalOr => BinaryOp::Or,
            Reduction::Xor | Reduction::LogicalXor => BinaryOp::Xor,
            Reduction::FAdd => BinaryOp::FAdd,
            Reduction::FMul => BinaryOp::FMul,
            Reduction::FMin | Reduction::FMax => {
                let function = if r == Reduction::FMin {
                    MathFn::Fmin
                } else {
                    MathFn::Fmax
                };
                return self.append(Op::Math(function, vec![a, b], Flags::default()), ty);
            }
        };
        self.append(Op::Binary(op, a, b, Flags::default()), ty)
    }
}

/// The identity element of reduction `r` for type `ty`.
pub fn identity(types: &mut Types, constants: &mut Constants, r: Reduction, ty: TypeId) -> ConstId {
    if let Type::Vector(element, n) = *types.get(ty) {
        let part = identity(types, constants, r, element);
        return constants.intern(ty, Constant::Composite(vec![part; n as usize]));
    }
    let value = match *types.get(ty) {
        Type::Bool => Constant::Bool(matches!(r, Reduction::And | Reduction::LogicalAnd)),
        Type::Int(bits) => {
            let ones = u64::MAX >> (64 - u32::from(bits).clamp(1, 64));
            Constant::Int(match r {
                Reduction::IMul => 1,
                Reduction::SMin => ones >> 1,
                Reduction::SMax => (ones >> 1) + 1,
                Reduction::UMin | Reduction::And => ones,
                _ => 0,
            })
        }
        Type::Float(bits) => {
            let (one, infinity, sign) = match bits {
                16 => (0x3c00, 0x7c00, 1 << 15),
                32 => (0x3f80_0000, 0x7f80_0000, 1 << 31),
                _ => (0x3ff0 << 48, 0x7ff0 << 48, 1 << 63),
            };
            Constant::Float(match r {
                Reduction::FMul => one,
                Reduction::FMin => infinity,
                Reduction::FMax => infinity | sign,
                _ => 0,
            })
        }
        _ => Constant::Null,
    };
    constants.intern(ty, value)
}
