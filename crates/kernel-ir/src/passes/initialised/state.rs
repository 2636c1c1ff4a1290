//! The kernel at hand, and the instructions that are added to it.

use std::collections::{HashMap, HashSet};

use super::needs::Needs;
use crate::ir::{BinaryOp, CheckOp, Flags, Global, InstId, Op, ValueId};
use crate::passes::edit::Edit;
use crate::passes::roots::Roots;
use crate::types::TypeId;

/// Stores that one instruction of the program has become, such as a copy of a structure.
#[derive(Clone, Copy, Default)]
pub(super) struct Pieces {
    /// Those that are still to come.
    pub(super) left: usize,
    /// One of them is always initialised.
    pub(super) has_good: bool,
    /// Whether all so far are not initialised, as a flag of the kernel.
    pub(super) all_bad: Option<ValueId>,
}

/// A kernel while it gets its shadows.
pub(super) struct Initialised<'m> {
    pub(super) e: Edit<'m>,
    pub(super) globals: &'m mut Vec<Global>,
    pub(super) roots: Roots,
    pub(super) needs: Needs,
    /// Shadows of values.
    pub(super) shadows: HashMap<ValueId, ValueId>,
    /// Pointers to the shadow of what a pointer points to.
    pub(super) pointers: HashMap<ValueId, ValueId>,
    /// Instructions for the start of the kernel.
    pub(super) prologue: Vec<InstId>,
    /// The block at hand, as it becomes.
    pub(super) out: Vec<InstId>,
    /// Values of the block at hand.
    pub(super) here: HashSet<ValueId>,
    /// Shadows of addresses that were checked in it.
    pub(super) checked: HashSet<ValueId>,
    /// The position in the SPIR-V module of the instruction at hand.
    pub(super) word: u32,
    /// The pieces of structures that the block at hand copies, by word.
    pub(super) pieces: HashMap<u32, Pieces>,
}

impl<'m> Initialised<'m> {
    pub(super) fn new(
        e: Edit<'m>,
        globals: &'m mut Vec<Global>,
        roots: Roots,
        needs: Needs,
    ) -> Self {
        Self {
            e,
            globals,
            roots,
            needs,
            shadows: HashMap::new(),
            pointers: HashMap::new(),
            prologue: Vec::new(),
            out: Vec::new(),
            here: HashSet::new(),
            checked: HashSet::new(),
            word: 0,
            pieces: HashMap::new(),
        }
    }

    pub(super) fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let (id, value) = self.e.make(op, ty, self.word);
        self.out.push(id);
        value
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.e.f.ty(a);
        self.emit(Op::Binary(op, a, b, Flags::default()), ty)
    }

    pub(super) fn tell(&mut self, check: CheckOp, operands: Vec<ValueId>) {
        self.tell_op(Op::Check(check, operands));
    }

    pub(super) fn tell_op(&mut self, op: Op) {
        let (id, _) = self.e.f.add_inst(op, None, self.word);
        self.out.push(id);
    }
}
