//! The editor that all passes use: constants and new instructions of a function, replacement of values, removal of dead
//! code.

use std::collections::HashMap;

use crate::cfg::Cfg;
use crate::ir::{
    BinaryOp, BlockId, Flags, Function, InstId, Op, Predicate, Terminator, ValueDef, ValueId,
};
use crate::types::{ConstId, Constant, Constants, Type, TypeId, Types};

/// A function that a pass changes, with the module's types and constants.
pub(super) struct Edit<'m> {
    pub(super) types: &'m mut Types,
    pub(super) constants: &'m mut Constants,
    pub(super) f: &'m mut Function,
    /// Values of the function that are constants.
    pool: HashMap<ConstId, ValueId>,
}

impl<'m> Edit<'m> {
    pub(super) fn new(
        types: &'m mut Types,
        constants: &'m mut Constants,
        f: &'m mut Function,
    ) -> Self {
        let mut pool = HashMap::new();
        for (i, value) in f.values.iter().enumerate() {
            if let ValueDef::Const(c) = value.def {
                pool.entry(c).or_insert(ValueId(i as u32));
            }
        }
        Self {
            types,
            constants,
            f,
            pool,
        }
    }

    /// The value of constant `id`.
    pub(super) fn constant(&mut self, id: ConstId) -> ValueId {
        let ty = self.constants.ty(id);
        let f = &mut *self.f;
        *self
            .pool
            .entry(id)
            .or_insert_with(|| f.add_value(ty, ValueDef::Const(id)))
    }
    pub(super) fn int(&mut self, bits: u8, v: u64) -> ValueId {
        let ty = self.types.int(bits);
        let id = self.constants.intern(ty, Constant::Int(v));
        self.constant(id)
    }
    pub(super) fn undef(&mut self, ty: TypeId) -> ValueId {
        let id = self.constants.intern(ty, Constant::Undef);
        self.constant(id)
    }
    pub(super) fn const_of(&self, v: ValueId) -> Option<ConstId> {
        match self.f.values[v.index()].def {
            ValueDef::Const(c) => Some(c),
            _ => None,
        }
    }
    /// The value of integer constant `v`, zero-extended.
    pub(super) fn known_int(&self, v: ValueId) -> Option<u64> {
        match self.constants.get(self.const_of(v)?) {
            Constant::Int(n) => Some(*n),
            _ => None,
        }
    }
    pub(super) fn ty(&self, v: ValueId) -> &Type {
        self.types.get(self.f.ty(v))
    }
    /// The operation that defines `v`.
    pub(super) fn def(&self, v: ValueId) -> Option<&Op> {
        match self.f.values[v.index()].def {
            ValueDef::Inst(i) => Some(&self.f.insts[i.index()].op),
            _ => None,
        }
    }
    /// A new instruction in no block yet, and its result.
    pub(super) fn make(&mut self, op: Op, ty: TypeId, word: u32) -> (InstId, ValueId) {
        let id = InstId(self.f.insts.len() as u32);
        let value = self.f.add_value(ty, ValueDef::Inst(id));
        self.f.insts.push(crate::ir::Inst {
            op,
            result: Some(value),
            word,
        });
        (id, value)
    }
    /// A new instruction at the end of `block`.
    pub(super) fn append(&mut self, block: BlockId, op: Op, ty: TypeId) -> ValueId {
        let (id, value) = self.make(op, ty, 0);
        self.f.blocks[block.index()].insts.push(id);
        value
    }
    pub(super) fn binary(
        &mut self,
        block: BlockId,
        op: BinaryOp,
        a: ValueId,
        b: ValueId,
    ) -> ValueId {
        let ty = self.f.ty(a);
        self.append(block, Op::Binary(op, a, b, Flags::default()), ty)
    }
    pub(super) fn compare(
        &mut self,
        block: BlockId,
        p: Predicate,
        a: ValueId,
        b: ValueId,
    ) -> ValueId {
        let boolean = self.types.bool();
        let ty = match *self.ty(a) {
            Type::Vector(_, n) => self.types.intern(Type::Vector(boolean, n)),
            _ => boolean,
        };
        self.append(block, Op::Compare(p, a, b), ty)
    }
}

/// Replacements of values by others. Chains are followed. There are no cycles: a value is replaced only once, and only
/// by a value that it does not replace.
pub(super) struct Replacements {
    by: Vec<u32>,
    any: bool,
}

impl Replacements {
    pub(super) fn new(f: &Function) -> Self {
        Self {
            by: (0..f.values.len() as u32).collect(),
            any: false,
        }
    }
    /// The value to use for `v`.
    pub(super) fn get(&mut self, v: ValueId) -> ValueId {
        let mut at = v.0;
        while let Some(&next) = self.by.get(at as usize)
            && next != at
        {
            at = next;
        }
        // Path compression.
        let mut step = v.0;
        while let Some(slot) = self.by.get_mut(step as usize)
            && *slot != at
            && step != at
        {
            step = std::mem::replace(slot, at);
        }
        ValueId(at)
    }
    /// Replaces `old` by `new`.
    pub(super) fn set(&mut self, old: ValueId, new: ValueId) {
        let new = self.get(new);
        if old == new {
            return;
        }
        let known = self.by.len() as u32;
        if old.0 >= known {
            self.by.extend(known..=old.0);
        }
        self.by[old.index()] = new.0;
        self.any = true;
    }
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }
    /// Rewrites every operand.
    pub(super) fn apply(&mut self, f: &mut Function) {
        if !self.any {
            return;
        }
        for block in &mut f.blocks {
            for &inst in &block.insts {
                f.insts[inst.index()].op.operands_mut(|v| *v = self.get(*v));
            }
            if let Some(v) = block.term.operand_mut() {
                *v = self.get(*v);
            }
        }
    }
}

/// Drops unreachable blocks and the phi inputs from them. Blocks keep their ids; dropped ones are
/// empty and end in `Unreachable` until [`compact`].
pub(super) fn drop_unreachable(f: &mut Function, cfg: &Cfg) {
    if cfg.reverse_post_order().len() == f.blocks.len() {
        return;
    }
    for i in 0..f.blocks.len() {
        let id = BlockId(i as u32);
        if !cfg.is_reachable(id) {
            f.blocks[i].insts.clear();
            f.blocks[i].term = Terminator::Unreachable;
            continue;
        }
        for k in 0..f.blocks[i].insts.len() {
            let inst = f.blocks[i].insts[k];
            let Op::Phi(incoming) = &mut f.insts[inst.index()].op else {
                break;
            };
            incoming.retain(|(from, _)| cfg.is_reachable(*from));
        }
    }
}

/// Removes dead instructions, including cycles of phis.
pub(super) fn drop_dead(f: &mut Function) {
    let mut live = vec![false; f.insts.len()];
    let mut stack: Vec<ValueId> = Vec::new();
    for block in &f.blocks {
        stack.extend(block.term.operand());
        for &inst in &block.insts {
            if !f.insts[inst.index()].op.is_pure() {
                live[inst.index()] = true;
                f.insts[inst.index()].op.operands(|v| stack.push(v));
            }
        }
    }
    while let Some(v) = stack.pop() {
        if let ValueDef::Inst(inst) = f.values[v.index()].def
            && !std::mem::replace(&mut live[inst.index()], true)
        {
            f.insts[inst.index()].op.operands(|v| stack.push(v));
        }
    }
    for block in &mut f.blocks {
        block.insts.retain(|i| live[i.index()]);
    }
}

/// Renumbers the function: reachable blocks in loop-contiguous reverse post-order, and only instructions and values
/// that blocks use.
pub(super) fn compact(f: &mut Function) {
    if f.blocks.is_empty() {
        return;
    }
    let cfg = Cfg::new(f);
    drop_unreachable(f, &cfg);
    let loops = crate::cfg::Loops::new(&cfg);
    let order = loops.order();
    let mut block_map = vec![BlockId(u32::MAX); f.blocks.len()];
    for (i, block) in order.iter().enumerate() {
        block_map[block.index()] = BlockId(i as u32);
    }
    let mut value_map = vec![ValueId(u32::MAX); f.values.len()];
    let mut values = Vec::new();
    let mut insts = Vec::new();
    let mut keep = |v: ValueId, def: ValueDef, old: &[crate::ir::Value]| {
        let slot = &mut value_map[v.index()];
        if slot.0 == u32::MAX {
            *slot = ValueId(values.len() as u32);
            let ty = old[v.index()].ty;
            values.push(crate::ir::Value { ty, def });
        }
    };
    for (i, &param) in f.params.iter().enumerate() {
        keep(param, ValueDef::Param(i as u32), &f.values);
    }
    for block in order {
        for &inst in &f.blocks[block.index()].insts {
            if let Some(result) = f.insts[inst.index()].result {
                keep(
                    result,
                    ValueDef::Inst(InstId(insts.len() as u32)),
                    &f.values,
                );
            }
            insts.push(inst);
        }
    }
    for block in order {
        let block = &f.blocks[block.index()];
        let mut constant = |v: ValueId| {
            let def = f.values[v.index()].def;
            if matches!(def, ValueDef::Const(_) | ValueDef::Global(_)) {
                keep(v, def, &f.values);
            }
        };
        for &inst in &block.insts {
            f.insts[inst.index()].op.operands(&mut constant);
        }
        if let Some(v) = block.term.operand() {
            constant(v);
        }
    }
    let mut next = 0u32;
    let mut blocks = Vec::with_capacity(order.len());
    for &block in order {
        let mut block = std::mem::replace(
            &mut f.blocks[block.index()],
            crate::ir::Block {
                insts: Vec::new(),
                term: Terminator::Unreachable,
            },
        );
        for inst in &mut block.insts {
            *inst = InstId(next);
            next += 1;
        }
        block.term.successors_mut(|to| *to = block_map[to.index()]);
        if let Some(v) = block.term.operand_mut() {
            *v = value_map[v.index()];
        }
        blocks.push(block);
    }
    let mut old = std::mem::take(&mut f.insts);
    f.insts = insts
        .into_iter()
        .map(|inst| {
            let mut inst = std::mem::replace(
                &mut old[inst.index()],
                crate::ir::Inst {
                    op: Op::Barrier(crate::ir::Scope::Subgroup),
                    result: None,
                    word: 0,
                },
            );
            inst.op.operands_mut(|v| *v = value_map[v.index()]);
            if let Op::Phi(incoming) = &mut inst.op {
                for (from, _) in incoming.iter_mut() {
                    *from = block_map[from.index()];
                }
                incoming.sort_unstable_by_key(|i| i.0);
            }
            if let Some(result) = &mut inst.result {
                *result = value_map[result.index()];
            }
            inst
        })
        .collect();
    for param in &mut f.params {
        *param = value_map[param.index()];
    }
    f.blocks = blocks;
    f.values = values;
}

/// Moves every alloca to the start of the entry block.
pub(super) fn allocas_to_entry(f: &mut Function) {
    if f.blocks.is_empty() {
        return;
    }
    let mut moved = Vec::new();
    for block in f.blocks.iter_mut().skip(1) {
        let insts = &f.insts;
        block.insts.retain(|&inst| {
            let is_alloca = matches!(insts[inst.index()].op, Op::Alloca { .. });
            if is_alloca {
                moved.push(inst);
            }
            !is_alloca
        });
    }
    if !moved.is_empty() {
        f.blocks[0].insts.splice(0..0, moved);
    }
}
