//! Adds the checks of uninitialised values to a kernel: each value that may not be initialised gets a *shadow*, in which bits
//! are set where the value's are not initialised.
//!
//! ```text
//! %4: i32 = load %3 align 4          =>    %4: i32 = load %3 align 4
//!                                          %9: i32 = load %8 align 4
//! %5: i32 = and %4, i32 15                 %5: i32 = and %4, i32 15
//!                                          %10: i32 = and %9, i32 15
//! br_if ... %5 ...                         check.uninitialised branch 0 ...
//! ```
//!
//! A value is told when something relies on it: a branch, an address, an atomic operation, memory that outlives the launch.
//! It may be loaded, copied and computed with before. The shadow of memory lies beside it, a byte for a byte:
//!
//! - **device memory**: where the runtime says. Shared and host memory, and memory that it does not know, have a shadow that is
//!   always zero; a store of a value that is not initialised is told.
//! - **local memory and private arrays**: in variables of the same kind. In those of local memory bits are set where memory *is*
//!   initialised: it is zero when a group begins, and so nothing is. Variables whose address escapes have no shadow, and count as
//!   initialised.
//!
//! What is not followed counts as initialised: aggregates as values, arguments, program-scope variables. The pass runs after
//! [`instrument`](super::instrument()), so that the shadows' accesses are not checked.

mod memory;
mod needs;
mod state;
mod values;

use std::collections::HashSet;

use super::edit::Edit;
use super::roots::Roots;
use crate::checks::Checks;
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, CheckOp, ConvertOp, GroupOp, InstId, Module, Op, Reliance,
    Terminator, ValueDef, ValueId,
};
use needs::{Finder, ShadowKind};
use state::Initialised;

/// Adds checks of uninitialised values to all kernels of a module that [`stand_alone`](super::stand_alone) has prepared.
pub fn initialised(module: &mut Module, checks: Checks) {
    if !checks.uninitialised {
        return;
    }
    for i in 0..module.kernels.len() {
        let id = module.kernels[i].function;
        let f = &mut module.functions[id.index()];
        if f.blocks.is_empty() {
            continue;
        }
        let roots = Roots::new(
            &module.types,
            &module.globals,
            &module.kernels[i].arg_infos,
            f,
        );
        let finder = Finder {
            types: &module.types,
            constants: &module.constants,
            globals: &module.globals,
            f,
            roots: &roots,
        };
        let needs = finder.find();
        let e = Edit::new(&mut module.types, &mut module.constants, f);
        Initialised::new(e, &mut module.globals, roots, needs).run();
    }
}

impl Initialised<'_> {
    fn run(mut self) {
        let order = self.e.f.reverse_post_order();
        let calls = self
            .e
            .f
            .blocks
            .iter()
            .flat_map(|block| &block.insts)
            .any(|inst| {
                let op = &self.e.f.insts[inst.index()].op;
                matches!(op, Op::Call(..) | Op::CallIndirect(..))
            });
        if calls {
            // Functions are not followed.
            let inst = Op::Check(CheckOp::Unseen, Vec::new());
            let (inst, _) = self.e.f.add_inst(inst, None, 0);
            self.e.f.blocks[0].insts.insert(0, inst);
            return;
        }
        let phis = self.phis();
        for &block in &order {
            self.block(block);
        }
        self.finish_phis(&phis);
        let entry = &mut self.e.f.blocks[0].insts;
        entry.splice(0..0, self.prologue);
    }

    /// The phis of the function before the pass.
    fn phis(&self) -> Vec<InstId> {
        let insts = self.e.f.blocks.iter().flat_map(|block| &block.insts);
        insts
            .copied()
            .filter(|inst| matches!(self.e.f.insts[inst.index()].op, Op::Phi(_)))
            .collect()
    }

    fn block(&mut self, id: BlockId) {
        let old = std::mem::take(&mut self.e.f.blocks[id.index()].insts);
        self.out = Vec::with_capacity(old.len() * 3);
        self.here.clear();
        self.checked.clear();
        // No instruction may stand between phis.
        let (phis, others): (Vec<InstId>, Vec<InstId>) = old
            .into_iter()
            .partition(|inst| matches!(self.e.f.insts[inst.index()].op, Op::Phi(_)));
        let mut asked = Vec::new();
        for inst in phis {
            self.out.push(inst);
            let Some(result) = self.e.f.insts[inst.index()].result else {
                continue;
            };
            self.word = 0;
            if self.needs.shadows[result.index()]
                && let Some(ty) = self.shadow_type(self.e.f.ty(result))
            {
                let made = self.emit(Op::Phi(Vec::new()), ty);
                self.shadows.insert(result, made);
            }
            let op = self.e.f.insts[inst.index()].op.clone();
            self.derive_pointer(&op, result);
            let is_root = !self.pointers.contains_key(&result);
            if is_root && self.needs.pointers[result.index()] {
                asked.push(result);
            }
        }
        for ptr in asked {
            self.ask(ptr);
        }
        self.find_pieces(&others);
        for inst in others {
            let op = self.e.f.insts[inst.index()].op.clone();
            let result = self.e.f.insts[inst.index()].result;
            self.word = self.e.f.insts[inst.index()].word;
            self.before(&op, result);
            self.out.push(inst);
            if let Some(result) = result {
                self.behind(&op, result);
                self.here.insert(result);
            }
        }
        self.word = 0;
        let decides = match self.e.f.blocks[id.index()].term {
            Terminator::CondBr { cond, .. } => Some(cond),
            Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if let Some(v) = decides {
            self.word = self.place_of(v);
            self.rely(Reliance::Branch, v);
        }
        self.e.f.blocks[id.index()].insts = std::mem::take(&mut self.out);
    }

    /// Instructions to insert before an instruction.
    fn before(&mut self, op: &Op, result: Option<ValueId>) {
        match op {
            Op::Load { ptr, .. } => self.address(*ptr),
            Op::Store {
                ptr, value, align, ..
            } => {
                self.address(*ptr);
                let ty = self.e.f.ty(*value);
                let shadow = self.shadow(*value);
                self.store_shadow(*ptr, shadow, ty, *align);
                let bad = shadow.map(|shadow| self.any(shadow));
                let (bad, is_piece) = self.of_all_pieces(bad);
                if let Some(bad) = bad {
                    let bytes = self.e.types.unpadded_size_of(ty);
                    // A vector of three is often stored as one of four, whose last component is padding.
                    let is_copy = is_piece
                        || self.e.types.lane_count(ty) == 4
                        || self.is_copy(*value, 8)
                        || self.is_update(*value, *ptr, 8);
                    self.stored(*ptr, bad, bytes, is_copy, Some(*value));
                }
            }
            Op::Atomic { op, ptr, value, .. } => self.atomic(*op, *ptr, *value, result),
            Op::CopyMemory {
                dst,
                src,
                size,
                align,
            } => {
                self.address(*dst);
                self.address(*src);
                self.copy(*dst, *src, *size, *align);
            }
            Op::Group(group, scope, args) => match (group, &args[..]) {
                (GroupOp::BlockRead, &[ptr]) => self.address(ptr),
                (GroupOp::BlockWrite, &[ptr, value]) => {
                    self.address(ptr);
                    let shadow = self.shadow(value);
                    let ty = self.shadow_type(self.e.f.ty(value));
                    if let (true, Some(to), Some(ty)) =
                        (self.needs.has_shadow(ptr), self.shadow_pointer(ptr), ty)
                    {
                        let zeros = self.zeros(ty);
                        let mut stored = shadow.unwrap_or(zeros);
                        if self.is_inverted(ptr) {
                            stored = self.not(stored);
                        }
                        self.tell_op(Op::Group(*group, *scope, vec![to, stored]));
                    }
                }
                (GroupOp::Broadcast, &[_, source]) => self.rely(Reliance::Argument, source),
                _ => {}
            },
            _ => {}
        }
    }

    /// Shadows of the result go behind an instruction.
    fn behind(&mut self, op: &Op, result: ValueId) {
        self.derive_pointer(op, result);
        if !self.needs.shadows[result.index()] || self.shadows.contains_key(&result) {
            return;
        }
        let ty = self.e.f.ty(result);
        let shadow = match op {
            Op::Load { ptr, align, .. } => self.load_shadow(*ptr, ty, *align),
            op => self.shadow_of(op, ty),
        };
        if let Some(shadow) = shadow {
            self.shadows.insert(result, shadow);
        }
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        ptr: ValueId,
        value: Option<ValueId>,
        result: Option<ValueId>,
    ) {
        self.address(ptr);
        let flag = self.e.types.int(32);
        let ty = match op {
            AtomicOp::FlagTestAndSet | AtomicOp::FlagClear => flag,
            _ => value.or(result).map_or(flag, |v| self.e.f.ty(v)),
        };
        let size = self.e.types.size_of(ty);
        let align = self.e.types.align_of(ty);
        let takes = matches!(op, AtomicOp::Load | AtomicOp::Exchange);
        if let Some(result) = result
            && takes
            && self.needs.shadows[result.index()]
            && let Some(old) = self.load_shadow(ptr, ty, align)
        {
            self.shadows.insert(result, old);
        }
        let stored = match op {
            AtomicOp::Load => return,
            AtomicOp::Store | AtomicOp::Exchange => value.and_then(|value| self.shadow(value)),
            AtomicOp::FlagClear => None,
            _ => {
                if let Some(old) = self.load_shadow(ptr, ty, align) {
                    let bad = self.any(old);
                    self.report(Reliance::Atomic, size, bad, Some(ptr), None);
                }
                match op {
                    AtomicOp::CompareExchange | AtomicOp::FlagTestAndSet => None,
                    _ => value.and_then(|value| self.shadow(value)),
                }
            }
        };
        self.store_shadow(ptr, stored, ty, align);
        if let Some(shadow) = stored {
            let bad = self.any(shadow);
            self.stored(ptr, bad, size, false, value);
        }
    }

    /// Tells of an address that is not initialised, once in a block.
    fn address(&mut self, ptr: ValueId) {
        let Some(shadow) = self.shadow(ptr) else {
            return;
        };
        if self.checked.insert(shadow) {
            self.rely(Reliance::Address, ptr);
        }
    }

    /// Tells if `v` is not initialised.
    fn rely(&mut self, how: Reliance, v: ValueId) {
        let Some(shadow) = self.shadow(v) else {
            return;
        };
        let bad = self.any(shadow);
        self.report(how, 0, bad, None, Some(v));
    }

    /// Counts the stores of a block that one instruction has become.
    fn find_pieces(&mut self, insts: &[InstId]) {
        self.pieces.clear();
        let insts = || insts.iter().map(|inst| &self.e.f.insts[inst.index()]);
        // Instructions that passes made may have none.
        let has_words = insts().any(|inst| inst.word != 0);
        for inst in insts() {
            if matches!(inst.op, Op::Store { .. }) && has_words {
                self.pieces.entry(inst.word).or_default().left += 1;
            }
        }
        self.pieces.retain(|_, pieces| pieces.left > 1);
    }

    /// Whether what is stored is not initialised, and is a piece of a structure. Some pieces may be padding: the last one speaks
    /// for all, and only if none is initialised.
    fn of_all_pieces(&mut self, bad: Option<ValueId>) -> (Option<ValueId>, bool) {
        let Some(mut pieces) = self.pieces.get(&self.word).copied() else {
            return (bad, false);
        };
        pieces.left = pieces.left.saturating_sub(1);
        pieces.has_good |= bad.is_none();
        pieces.all_bad = match (pieces.all_bad, bad) {
            (Some(all), Some(bad)) => Some(self.binary(BinaryOp::And, all, bad)),
            (all, bad) => all.or(bad),
        };
        self.pieces.insert(self.word, pieces);
        let is_told = pieces.left == 0 && !pieces.has_good;
        (pieces.all_bad.filter(|_| is_told), true)
    }

    /// Tells of a store of `bytes` bytes to memory that others may read, if `bad`.
    fn stored(
        &mut self,
        ptr: ValueId,
        bad: ValueId,
        bytes: u64,
        is_copy: bool,
        value: Option<ValueId>,
    ) {
        if matches!(
            self.needs.place(ptr),
            ShadowKind::Known | ShadowKind::Local(_)
        ) {
            let how = match is_copy {
                true => Reliance::Copy,
                false => Reliance::Store,
            };
            self.report(how, bytes, bad, Some(ptr), value);
        }
    }

    fn report(
        &mut self,
        how: Reliance,
        bytes: u64,
        bad: ValueId,
        ptr: Option<ValueId>,
        value: Option<ValueId>,
    ) {
        let source = value.and_then(|value| self.source(value));
        let at = ptr.or(source.and_then(|(_, ptr)| ptr));
        let zero = self.e.int(64, 0);
        let shadow = at
            .filter(|&at| self.needs.has_shadow(at))
            .and_then(|at| self.shadow_pointer(at))
            .unwrap_or(zero);
        let source = self
            .e
            .int(32, source.map_or(0, |(word, _)| u64::from(word)));
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let operands = vec![bad, at.unwrap_or(zero), shadow, source];
        self.tell(CheckOp::Uninitialised(how, bytes), operands);
    }

    /// Whether `v` is what was loaded, bit by bit.
    fn is_copy(&self, v: ValueId, depth: u32) -> bool {
        if depth == 0 {
            return true;
        }
        let all = |parts: &[ValueId]| {
            let is_const = |part: ValueId| self.e.const_of(part).is_some();
            let mut variable = parts.iter().filter(|&&part| !is_const(part)).peekable();
            variable.peek().is_some() && variable.all(|&part| self.is_copy(part, depth - 1))
        };
        match self.e.def(v) {
            Some(Op::Load { .. }) => true,
            Some(Op::Copy(v) | Op::Extract(v, _) | Op::Convert(ConvertOp::Bitcast, v, _)) => {
                self.is_copy(*v, depth - 1)
            }
            Some(Op::Select {
                cond,
                then,
                otherwise,
            }) => !self.needs.is_dirty(*cond) && all(&[*then, *otherwise]),
            Some(Op::Phi(incoming)) => {
                let parts: Vec<ValueId> = incoming.iter().map(|&(_, v)| v).collect();
                all(&parts)
            }
            Some(Op::Construct(parts)) => all(parts),
            Some(Op::Shuffle(a, b, _)) => all(&[*a, *b]),
            _ => false,
        }
    }

    /// Whether `v` is what is stored at `ptr` with some of its bits or components replaced.
    fn is_update(&self, v: ValueId, ptr: ValueId, depth: u32) -> bool {
        let part = |v: &ValueId| depth > 0 && self.is_update(*v, ptr, depth - 1);
        match self.e.def(v) {
            Some(Op::Load { ptr: from, .. }) => *from == ptr,
            Some(Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b, _)) => {
                part(a) || part(b)
            }
            Some(Op::Insert(a, ..) | Op::InsertDynamic(a, ..)) => part(a),
            Some(Op::Convert(ConvertOp::Bitcast | ConvertOp::Trunc | ConvertOp::ZExt, a, _)) => {
                part(a)
            }
            _ => false,
        }
    }

    /// The load that brought a value: its word, and its address if that is known where the block at hand ends.
    fn source(&self, v: ValueId) -> Option<(u32, Option<ValueId>)> {
        /// Values that are looked at; more than statements have.
        const MOST: usize = 256;
        let mut seen = HashSet::from([v]);
        let mut queue = std::collections::VecDeque::from([v]);
        while let Some(v) = queue.pop_front() {
            let ValueDef::Inst(inst) = self.e.f.values[v.index()].def else {
                continue;
            };
            let inst = &self.e.f.insts[inst.index()];
            if let Op::Load { ptr, .. } | Op::Atomic { ptr, .. } = inst.op {
                return Some((inst.word, Some(ptr).filter(|_| self.here.contains(&v))));
            }
            inst.op.operands(|v| {
                if self.needs.is_dirty(v) && seen.len() < MOST && seen.insert(v) {
                    queue.push_back(v);
                }
            });
        }
        None
    }

    /// The position in the SPIR-V module of what defines `v`.
    fn place_of(&self, v: ValueId) -> u32 {
        match self.e.f.values[v.index()].def {
            ValueDef::Inst(inst) => self.e.f.insts[inst.index()].word,
            _ => 0,
        }
    }

    /// The inputs of the phis that are shadows.
    fn finish_phis(&mut self, phis: &[InstId]) {
        for &inst in phis {
            let Op::Phi(incoming) = self.e.f.insts[inst.index()].op.clone() else {
                continue;
            };
            let Some(result) = self.e.f.insts[inst.index()].result else {
                continue;
            };
            if let Some(&shadow) = self.shadows.get(&result) {
                let ty = self.e.f.ty(shadow);
                let zeros = self.zeros(ty);
                let inputs = incoming
                    .iter()
                    .map(|&(from, v)| (from, self.shadow(v).unwrap_or(zeros)))
                    .collect();
                self.set_phi(shadow, inputs);
            }
            if let Some(&pointer) = self.pointers.get(&result)
                && matches!(self.e.def(pointer), Some(Op::Phi(_)))
            {
                let inputs = incoming
                    .iter()
                    .map(|&(from, v)| (from, self.shadow_pointer(v).unwrap_or(v)))
                    .collect();
                self.set_phi(pointer, inputs);
            }
        }
    }

    fn set_phi(&mut self, phi: ValueId, inputs: Vec<(BlockId, ValueId)>) {
        if let ValueDef::Inst(inst) = self.e.f.values[phi.index()].def {
            self.e.f.insts[inst.index()].op = Op::Phi(inputs);
        }
    }
}
