//! The kernel at hand, and the instructions that are added to it.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::parts::Part;
use crate::checks::Checks;
use crate::ir::{BinaryOp, CheckOp, ConvertOp, Flags, InstId, Op, Rounding, ValueId};
use crate::passes::edit::Edit;
use crate::passes::roots::{Root, Roots};
use crate::types::{AddressSpace, Type, TypeId};

/// The allocations of roots, as values of the kernel.
#[derive(Default)]
pub(super) struct Bounds {
    /// First byte and size, both Int(64).
    pub(super) of: HashMap<Root, (ValueId, ValueId)>,
    /// First offset at which an access of so many bytes is outside.
    pub(super) limits: HashMap<(Root, u32), ValueId>,
    /// Instructions that go behind the definition of a root.
    pub(super) behind: HashMap<ValueId, Vec<InstId>>,
}

/// A kernel while it gets its checks.
pub(super) struct Instrument<'m> {
    pub(super) e: Edit<'m>,
    pub(super) checks: Checks,
    pub(super) roots: Roots,
    /// Values that only selects use, as one of two: compilers compute them in vain where the other one is meant.
    pub(super) selected: HashSet<ValueId>,
    /// Loads that cannot race.
    pub(super) quiet: HashSet<InstId>,
    /// Accesses that are told together.
    pub(super) parts: HashMap<InstId, Part>,
    /// How the one at hand is told with others.
    pub(super) part: Option<Part>,
    /// Arguments that the kernel writes through; `None` if these are not known.
    pub(super) written: Option<HashSet<u32>>,
    /// Whether work-items may miss each other at a barrier.
    pub(super) may_miss: bool,
    /// Words of operations that a part of a sub-group may carry out.
    pub(super) non_uniform: &'m BTreeSet<u32>,
    pub(super) bounds: Bounds,
    /// The private variable that holds the epoch; `None` in kernels without barriers.
    pub(super) epoch: Option<ValueId>,
    pub(super) first_epoch: u32,
    /// The parameter that holds the epoch, in functions that are called.
    pub(super) passed_epoch: Option<ValueId>,
    /// Instructions for the start of the kernel.
    pub(super) prologue: Vec<InstId>,
    /// The block at hand, as it becomes.
    pub(super) out: Vec<InstId>,
    /// The position in the SPIR-V module of the instruction at hand.
    pub(super) word: u32,
    /// Whether it is a load that cannot race.
    pub(super) is_quiet: bool,
    /// Whether it is a volatile load.
    pub(super) is_volatile: bool,
}

impl Instrument<'_> {
    /// The bits of a scalar in an Int(64); `None` for other values.
    pub(super) fn as_word(&mut self, value: ValueId) -> Option<ValueId> {
        let word = self.e.types.int(64);
        let bits = match *self.e.ty(value) {
            Type::Int(64) => return Some(value),
            Type::Int(_) => value,
            Type::Ptr(_) => return Some(self.convert(ConvertOp::PtrToInt, value, word)),
            Type::Float(bits) => {
                let integer = self.e.types.int(bits);
                let integer = self.convert(ConvertOp::Bitcast, value, integer);
                if bits == 64 {
                    return Some(integer);
                }
                integer
            }
            _ => return None,
        };
        Some(self.convert(ConvertOp::ZExt, bits, word))
    }

    pub(super) fn make_epoch(&mut self) {
        let ty = self.e.types.ptr(AddressSpace::Private);
        let (place, address) = self.e.make(Op::Alloca { size: 4, align: 4 }, ty, 0);
        let first = self.e.int(32, u64::from(self.first_epoch));
        let store = Op::Store {
            ptr: address,
            value: first,
            align: 4,
            volatile: false,
        };
        let (store, _) = self.e.f.add_inst(store, None, 0);
        self.prologue.extend([place, store]);
        self.epoch = Some(address);
    }

    pub(super) fn load_epoch(&mut self) -> ValueId {
        if let Some(epoch) = self.passed_epoch {
            return epoch;
        }
        let Some(ptr) = self.epoch else {
            return self.e.int(32, u64::from(self.first_epoch));
        };
        let ty = self.e.types.int(32);
        let load = Op::Load {
            ptr,
            align: 4,
            volatile: false,
        };
        self.emit(load, ty)
    }

    pub(super) fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let (id, value) = self.e.make(op, ty, self.word);
        self.out.push(id);
        value
    }

    pub(super) fn convert(&mut self, op: ConvertOp, value: ValueId, ty: TypeId) -> ValueId {
        self.emit(Op::Convert(op, value, Rounding::Default), ty)
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
