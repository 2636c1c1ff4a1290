//! Address-space inference: a generic pointer that can only point into one address space becomes a pointer to that
//! space.
//!
//! ```text
//! %g = addrspace %p: ptr<local> to ptr<generic>
//! %x = load %g                                    =>   %x = load %p
//! ```

use std::collections::HashMap;

use super::edit::Edit;
use crate::cfg::Cfg;
use crate::ir::{ConvertOp, GroupOp, InstId, Op, Rounding, ValueId};
use crate::types::{AddressSpace, Constant, Type, TypeId};

/// The lattice of a generic pointer's address space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// No origin seen yet.
    Nothing,
    One(AddressSpace),
    /// Several spaces, or an unknown origin.
    Any,
}

impl Known {
    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Known::Nothing, x) | (x, Known::Nothing) => x,
            (x, y) if x == y => x,
            _ => Known::Any,
        }
    }
}

struct Inference {
    generic: TypeId,
    /// State of each generic value that is computed from other pointers.
    state: HashMap<ValueId, Known>,
    /// The pointer in the inferred space.
    typed: HashMap<ValueId, ValueId>,
}

/// Infers address spaces and rewrites the pointers; returns whether anything changed.
pub(super) fn infer_spaces(e: &mut Edit<'_>) -> bool {
    let Some(generic) = e.types.find(&Type::Ptr(AddressSpace::Generic)) else {
        return false;
    };
    let cfg = Cfg::new(e.f);
    let mut inference = Inference {
        generic,
        state: HashMap::new(),
        typed: HashMap::new(),
    };
    let mut candidates: Vec<(InstId, ValueId)> = Vec::new();
    for block in cfg.reverse_post_order() {
        for &inst in &e.f.blocks[block.index()].insts {
            let entry = &e.f.insts[inst.index()];
            if let Some(result) = entry.result
                && e.f.ty(result) == generic
                && match &entry.op {
                    Op::Convert(ConvertOp::AddressSpace, a, _) => e.f.ty(*a) != generic,
                    Op::PtrOffset { ptr, .. } => e.const_of(*ptr).is_none(),
                    Op::Phi(_) | Op::Select { .. } => true,
                    _ => false,
                }
            {
                candidates.push((inst, result));
                inference.state.insert(result, Known::Nothing);
            }
        }
    }
    if candidates.is_empty() {
        return false;
    }
    inference.solve(e, &candidates);
    let changed = inference.rewrite(e, &cfg, &candidates);
    crate::mark!(AddressSpaces, changed);
    changed
}

/// The operands whose address space the result of `op` has, if it is a candidate.
fn sources(op: &Op) -> Vec<ValueId> {
    match op {
        Op::Convert(_, a, _) | Op::PtrOffset { ptr: a, .. } => vec![*a],
        Op::Select {
            then, otherwise, ..
        } => vec![*then, *otherwise],
        Op::Phi(incoming) => incoming.iter().map(|i| i.1).collect(),
        _ => Vec::new(),
    }
}

impl Inference {
    fn solve(&mut self, e: &Edit<'_>, candidates: &[(InstId, ValueId)]) {
        let mut users: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (i, (inst, _)) in candidates.iter().enumerate() {
            for source in sources(&e.f.insts[inst.index()].op) {
                if self.state.contains_key(&source) {
                    users.entry(source).or_default().push(i);
                }
            }
        }
        let mut work: Vec<usize> = (0..candidates.len()).rev().collect();
        while let Some(i) = work.pop() {
            let (inst, result) = candidates[i];
            let mut known = Known::Nothing;
            for source in sources(&e.f.insts[inst.index()].op) {
                known = known.meet(self.of(e, source));
            }
            if self.state.insert(result, known) != Some(known)
                && let Some(users) = users.get(&result)
            {
                work.extend(users);
            }
        }
    }

    fn of(&self, e: &Edit<'_>, v: ValueId) -> Known {
        if let Some(known) = self.state.get(&v) {
            return *known;
        }
        if let Type::Ptr(space) = *e.ty(v)
            && space != AddressSpace::Generic
        {
            return Known::One(space);
        }
        match e.const_of(v).map(|c| e.constants.get(c)) {
            Some(Constant::Null | Constant::Undef) => Known::Nothing,
            _ => Known::Any,
        }
    }

    /// `v` as a pointer into its inferred `space`.
    fn in_space(&self, e: &mut Edit<'_>, v: ValueId, space: AddressSpace) -> ValueId {
        if let Some(&typed) = self.typed.get(&v) {
            return typed;
        }
        let ty = e.types.ptr(space);
        if self.state.get(&v) == Some(&Known::Nothing) {
            // All its origins are null or undefined.
            let id = e.constants.intern(ty, Constant::Null);
            return e.constant(id);
        }
        match e.const_of(v).map(|c| e.constants.get(c).clone()) {
            Some(value @ (Constant::Null | Constant::Undef)) => {
                let id = e.constants.intern(ty, value);
                e.constant(id)
            }
            _ => v,
        }
    }

    fn rewrite(&mut self, e: &mut Edit<'_>, cfg: &Cfg, candidates: &[(InstId, ValueId)]) -> bool {
        // A cast is replaced by its operand; other operations change their result type.
        let mut changed_type: HashMap<ValueId, InstId> = HashMap::new();
        for &(inst, result) in candidates {
            let Known::One(space) = self.state[&result] else {
                continue;
            };
            if let Op::Convert(_, source, _) = e.f.insts[inst.index()].op {
                self.typed.insert(result, source);
            } else {
                e.f.values[result.index()].ty = e.types.ptr(space);
                self.typed.insert(result, result);
                changed_type.insert(result, inst);
            }
        }
        if self.typed.is_empty() {
            return false;
        }
        for &(inst, result) in candidates {
            if !changed_type.contains_key(&result) {
                continue;
            }
            let Known::One(space) = self.state[&result] else {
                continue;
            };
            let mut op = e.f.insts[inst.index()].op.clone();
            match &mut op {
                Op::PtrOffset { ptr, .. } => *ptr = self.in_space(e, *ptr, space),
                Op::Select {
                    then, otherwise, ..
                } => {
                    *then = self.in_space(e, *then, space);
                    *otherwise = self.in_space(e, *otherwise, space);
                }
                Op::Phi(incoming) => {
                    for (_, v) in incoming {
                        *v = self.in_space(e, *v, space);
                    }
                }
                _ => {}
            }
            e.f.insts[inst.index()].op = op;
        }
        let mut changed = !changed_type.is_empty();
        let mut generic_copies: HashMap<ValueId, ValueId> = HashMap::new();
        let mut new_casts: HashMap<InstId, InstId> = HashMap::new();
        for block in cfg.reverse_post_order() {
            for inst in e.f.blocks[block.index()].insts.clone() {
                let result = e.f.insts[inst.index()].result;
                if result.is_some_and(|r| changed_type.contains_key(&r)) {
                    continue;
                }
                let mut op = e.f.insts[inst.index()].op.clone();
                changed |= self.takes_any_space(e, &mut op);
                if let Op::Compare(_, a, b) = op
                    && e.f.ty(a) == e.f.ty(b)
                    && e.f.ty(a) != self.generic
                {
                    e.f.insts[inst.index()].op = op;
                    continue;
                }
                op.operands_mut(|v| {
                    let Some(&home) = changed_type.get(v) else {
                        return;
                    };
                    if keeps_space(&e.f.insts[inst.index()].op, *v) {
                        return;
                    }
                    *v = self.generic_copy(e, *v, home, &mut generic_copies, &mut new_casts);
                });
                e.f.insts[inst.index()].op = op;
            }
            if let Some(v) = e.f.blocks[block.index()].term.operand()
                && let Some(&home) = changed_type.get(&v)
            {
                let copy = self.generic_copy(e, v, home, &mut generic_copies, &mut new_casts);
                if let Some(slot) = e.f.blocks[block.index()].term.operand_mut() {
                    *slot = copy;
                }
            }
        }
        insert_casts(e, cfg, &new_casts);
        changed
    }

    fn generic_copy(
        &self,
        e: &mut Edit<'_>,
        v: ValueId,
        home: InstId,
        copies: &mut HashMap<ValueId, ValueId>,
        casts: &mut HashMap<InstId, InstId>,
    ) -> ValueId {
        *copies.entry(v).or_insert_with(|| {
            let op = Op::Convert(ConvertOp::AddressSpace, v, Rounding::Default);
            let (inst, copy) = e.make(op, self.generic, 0);
            casts.insert(home, inst);
            copy
        })
    }

    /// Replaces pointer operands of `op` that may have any address space.
    fn takes_any_space(&self, e: &Edit<'_>, op: &mut Op) -> bool {
        let mut changed = false;
        let mut better = |v: &mut ValueId| {
            if let Some(&typed) = self.typed.get(v)
                && typed != *v
            {
                *v = typed;
                changed = true;
            }
        };
        match op {
            Op::Load { ptr, .. }
            | Op::Store { ptr, .. }
            | Op::Atomic { ptr, .. }
            | Op::GenericIs(ptr, _)
            | Op::GenericToExplicit(ptr, _)
            | Op::Convert(ConvertOp::PtrToInt | ConvertOp::AddressSpace, ptr, _) => better(ptr),
            Op::CopyMemory { dst, src, .. } => {
                better(dst);
                better(src);
            }
            Op::Group(GroupOp::BlockRead | GroupOp::BlockWrite, _, args) => {
                if let Some(ptr) = args.first_mut() {
                    better(ptr);
                }
            }
            Op::Compare(_, a, b) => {
                let typed = |v: &ValueId| self.typed.get(v).copied();
                if let (Some(x), Some(y)) = (typed(a), typed(b))
                    && e.f.ty(x) == e.f.ty(y)
                {
                    better(a);
                    better(b);
                }
            }
            _ => {}
        }
        changed
    }
}

/// Whether `op` uses `v` only as an operand that may have any address space.
fn keeps_space(op: &Op, v: ValueId) -> bool {
    match op {
        Op::Load { .. }
        | Op::Atomic { .. }
        | Op::GenericIs(..)
        | Op::GenericToExplicit(..)
        | Op::Convert(..) => !matches!(op, Op::Atomic { value, comparator, .. }
            if *value == Some(v) || *comparator == Some(v)),
        Op::Store { value, .. } => *value != v,
        Op::CopyMemory { .. } => true,
        Op::Group(GroupOp::BlockRead, ..) => true,
        Op::Group(GroupOp::BlockWrite, _, args) => args.get(1) != Some(&v),
        _ => false,
    }
}

fn insert_casts(e: &mut Edit<'_>, cfg: &Cfg, casts: &HashMap<InstId, InstId>) {
    if casts.is_empty() {
        return;
    }
    for block in cfg.reverse_post_order() {
        let insts = &e.f.blocks[block.index()].insts;
        if !insts.iter().any(|i| casts.contains_key(i)) {
            continue;
        }
        let mut new = Vec::with_capacity(insts.len() + 1);
        let mut waiting = Vec::new();
        for &inst in insts {
            let is_phi = matches!(e.f.insts[inst.index()].op, Op::Phi(_));
            if !is_phi {
                new.append(&mut waiting);
            }
            new.push(inst);
            waiting.extend(casts.get(&inst));
        }
        new.append(&mut waiting);
        e.f.blocks[block.index()].insts = new;
    }
}
