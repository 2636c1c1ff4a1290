//! Implicit sub-group barriers before reads of local memory that another lane may just have written.
//!
//! ```text
//! store %mine, %x              store %mine, %x
//! %y = load %other        =>   barrier Subgroup
//!                              %y = load %other
//! ```
//!
//! Programs are written for machines on which the work-items of a sub-group run in lock step: a store of one lane is
//! visible to the next instruction of the others. The specification promises nothing without a barrier, but kernels
//! that users run rely on it. Where a load from a work-group variable can follow a store to the same variable without a
//! barrier between them, this pass inserts a sub-group barrier before the load.
//!
//! A load from the same pointer as the store needs no barrier, and pointers with an unknown variable are ignored.
//! Kernels with explicit barriers therefore pay nothing.

use crate::ir::{BlockId, Function, InstId, Op, Scope, ValueDef, ValueId};
use crate::types::{AddressSpace, Type, Types};

/// The stores to a variable since the last barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    Through(ValueId),
    Several,
}

impl Written {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Written::Nothing, x) | (x, Written::Nothing) => x,
            (x, y) if x == y => x,
            _ => Written::Several,
        }
    }
}

/// Inserts the barriers into `f`; returns whether there were any.
pub(super) fn insert_implicit_barriers(types: &Types, f: &mut Function) -> bool {
    let (variable_of, count) = variables(types, f);
    if count == 0 {
        return false;
    }
    let order = f.reverse_post_order();
    let predecessors = f.predecessors();
    let mut any = false;
    // Each round inserts at least one barrier, and a barrier makes others unnecessary. 16 rounds: not measured, a bound
    // on compile time.
    for _ in 0..16 {
        let mut after = vec![vec![Written::Nothing; count]; f.blocks.len()];
        loop {
            let mut changed = false;
            for &block in &order {
                let mut state = on_entry(&predecessors[block.index()], &after, count);
                for &inst in &f.blocks[block.index()].insts {
                    step(&f.insts[inst.index()].op, &variable_of, &mut state);
                }
                if state != after[block.index()] {
                    after[block.index()] = state;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for &block in &order {
            let mut state = on_entry(&predecessors[block.index()], &after, count);
            let insts = &f.blocks[block.index()].insts;
            let read_first = insts.iter().position(|inst| {
                let op = &f.insts[inst.index()].op;
                let found =
                    reads(op, &variable_of).is_some_and(|(variable, ptr)| match state[variable] {
                        Written::Nothing => false,
                        Written::Through(stored) => stored != ptr,
                        Written::Several => true,
                    });
                if !found {
                    step(op, &variable_of, &mut state);
                }
                found
            });
            if let Some(at) = read_first {
                places.push((block.index(), at));
            }
        }
        if places.is_empty() {
            break;
        }
        any = true;
        crate::mark!(ImplicitBarriers);
        for (block, at) in places {
            let word = f.insts[f.blocks[block].insts[at].index()].word;
            let (barrier, _): (InstId, _) = f.add_inst(Op::Barrier(Scope::Subgroup), None, word);
            f.blocks[block].insts.insert(at, barrier);
        }
    }
    any
}

/// The state at the start of a block: the join of its predecessors' states.
fn on_entry(predecessors: &[BlockId], after: &[Vec<Written>], count: usize) -> Vec<Written> {
    let mut state = vec![Written::Nothing; count];
    for from in predecessors {
        for (all, one) in state.iter_mut().zip(&after[from.index()]) {
            *all = all.join(*one);
        }
    }
    state
}

/// The effect of one instruction.
fn step(op: &Op, variable_of: &[Option<usize>], state: &mut [Written]) {
    match op {
        Op::Barrier(_) | Op::Group(..) => state.fill(Written::Nothing),
        Op::Store { ptr, .. } | Op::CopyMemory { dst: ptr, .. } => {
            if let Some(variable) = variable_of[ptr.index()] {
                state[variable] = state[variable].join(Written::Through(*ptr));
            }
        }
        _ => {}
    }
}

/// The variable and the pointer that an instruction reads through.
fn reads(op: &Op, variable_of: &[Option<usize>]) -> Option<(usize, ValueId)> {
    match op {
        Op::Load { ptr, .. } | Op::CopyMemory { src: ptr, .. } => {
            Some((variable_of[ptr.index()]?, *ptr))
        }
        _ => None,
    }
}

/// For each value the number of the work-group variable or argument that it points into, and the count of these. A
/// pointer that may point into several has none.
fn variables(types: &Types, f: &Function) -> (Vec<Option<usize>>, usize) {
    let is_local = |value: ValueId| *types.get(f.ty(value)) == Type::Ptr(AddressSpace::Local);
    let mut classes: Vec<u32> = (0..f.values.len() as u32).collect();
    for block in &f.blocks {
        for &inst in &block.insts {
            let inst = &f.insts[inst.index()];
            let Some(result) = inst.result.filter(|&r| is_local(r)) else {
                continue;
            };
            let mut same = |other: ValueId| {
                if is_local(other) {
                    let (a, b) = (class(&mut classes, result.0), class(&mut classes, other.0));
                    classes[a as usize] = b;
                }
            };
            match &inst.op {
                Op::PtrOffset { ptr, .. } => same(*ptr),
                Op::Convert(_, value, _) | Op::Copy(value) => same(*value),
                Op::Select {
                    then, otherwise, ..
                } => {
                    same(*then);
                    same(*otherwise);
                }
                Op::Phi(incoming) => incoming.iter().for_each(|&(_, value)| same(value)),
                _ => {}
            }
        }
    }
    // The origins of each class: parameters, variables, pointers loaded from memory.
    let mut origins = vec![0u32; f.values.len()];
    for (i, value) in f.values.iter().enumerate() {
        let id = ValueId(i as u32);
        let begins = is_local(id)
            && match value.def {
                ValueDef::Param(_) | ValueDef::Global(_) => true,
                ValueDef::Inst(inst) => !matches!(
                    f.insts[inst.index()].op,
                    Op::PtrOffset { .. }
                        | Op::Convert(..)
                        | Op::Copy(_)
                        | Op::Select { .. }
                        | Op::Phi(_)
                ),
                ValueDef::Const(_) => false,
            };
        if begins {
            origins[class(&mut classes, id.0) as usize] += 1;
        }
    }
    let mut numbers: Vec<Option<usize>> = vec![None; f.values.len()];
    let mut count = 0;
    let mut all = vec![None; f.values.len()];
    for (i, variable) in all.iter_mut().enumerate() {
        let root = class(&mut classes, i as u32) as usize;
        if origins[root] == 1 && is_local(ValueId(i as u32)) {
            let number = *numbers[root].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            *variable = Some(number);
        }
    }
    (all, count)
}

/// The representative of a class (union-find with path halving).
fn class(classes: &mut [u32], mut at: u32) -> u32 {
    while classes[at as usize] != at {
        classes[at as usize] = classes[classes[at as usize] as usize];
        at = classes[at as usize];
    }
    at
}
