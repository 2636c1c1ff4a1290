//! Adds the operations of `solum check` to a kernel: the only place that knows where checks belong.
//!
//! ```text
//! %4: f32 = load %3 align 4    =>    %9: i64 = to.ptrtoint %3
//!                                    %10: i64 = isub %9, %start
//!                                    %11: bool = cmp.uge %10, %limit
//!                                    check.bounds read 4 %11, %3, %start
//!                                    check.access read 4 %3, %epoch
//!                                    %4: f32 = load %3 align 4
//! ```
//!
//! - **Bounds** belong to the pointer that an address was computed from ([`super::roots`]), not to the address: an access that
//!   lands in the neighbouring allocation is outside all the same.
//! - **Accesses** are told to the runtime with the work-item's *epoch*, which counts the barriers that it has passed. Two
//!   accesses of a work-group are ordered if their epochs differ. A work-group barrier adds to the upper bits, a
//!   sub-group barrier to the lower [`SUB_GROUP_BITS`].
//!   The members of a structure that one line copies are told as one access.
//! - **Arrivals** at barriers, and the ends of work-items, are told to the runtime, which compares them; but not where all
//!   work-items of a group arrive together in any case.
//! - **Values** are tested before divisions, shifts and conversions.
//!
//! The pass runs after inlining and before work-group operations become local memory, so that it sees the program's
//! accesses only. Functions that are still called get the epoch as one more parameter: they cannot wait, so it stays what it
//! is while they run.

mod blocks;
mod bounds;
mod callees;
mod convergent;
mod copies;
mod intervals;
mod parts;
mod state;
mod stops;
mod values;
mod written;

use std::collections::BTreeSet;

use super::edit::Edit;
use super::roots::{Root, Roots};
use crate::checks::Checks;
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, CheckOp, ConvertOp, GroupOp, InstId, LineStarts, Module, Op,
    Terminator, Touch, ValueId,
};
use crate::types::{AddressSpace, Type};
use parts::Part;
use state::{Bounds, Instrument};
use stops::{asks_for_sub_groups, is_group_stop, is_sub_group_stop};
pub use written::{can_be_repeated, written_arguments};

/// Bits of an epoch that count sub-group barriers since the last work-group barrier.
pub const SUB_GROUP_BITS: u32 = 12;
/// Bit of an epoch: the kernel asks for sub-groups or uses their operations, and may rely on their lock step.
pub const KNOWS_SUB_GROUPS: u32 = 1 << 31;

/// Adds what has to be there before calls are inlined.
pub fn before_inlining(module: &mut Module, checks: Checks) {
    copies::prepare_copies(module, checks);
}

/// Adds `checks` to all kernels of a module that [`stand_alone`](super::stand_alone) has prepared, and to the functions that
/// they call.
pub fn instrument(module: &mut Module, checks: Checks) {
    if checks.is_empty() {
        return;
    }
    let callees = callees::pass_epochs(module);
    for i in 0..module.functions.len() {
        let is_callee = callees[i].is_some();
        let mut convergent = convergent::convergent_blocks(module, &module.functions[i]);
        if is_callee {
            // A part of the work-items may call it.
            convergent.fill(false);
        }
        let f = &mut module.functions[i];
        if f.blocks.is_empty() {
            continue;
        }
        let kernel = module.kernels.iter().find(|k| k.function.index() == i);
        let arguments = kernel.map_or(&[][..], |k| &k.arg_infos);
        let required = kernel.is_some_and(|k| k.required_sub_group_size != 0);
        let roots = match is_callee {
            true => Roots::of_callee(&module.types, &module.globals, f),
            false => Roots::new(&module.types, &module.globals, arguments, f),
        };
        let edit = Edit::new(&mut module.types, &mut module.constants, f);
        let mut all = Instrument::new(
            edit,
            checks,
            roots,
            (required, convergent),
            (&module.non_uniform, &module.lines),
        );
        if is_callee {
            all.passed_epoch = callees[i];
            // Its callers may write what it reads.
            all.quiet.clear();
        }
        all.run(&callees);
    }
}

impl<'m> Instrument<'m> {
    fn new(
        e: Edit<'m>,
        checks: Checks,
        roots: Roots,
        (requires_sub_groups, convergent): (bool, Vec<bool>),
        (non_uniform, lines): (&'m BTreeSet<u32>, &LineStarts),
    ) -> Self {
        let insts = || e.f.blocks.iter().flat_map(|block| &block.insts);
        let is = |test: fn(&Op) -> bool| insts().any(|id| test(&e.f.insts[id.index()].op));
        let has_barriers = is(is_group_stop);
        let has_sub_groups = is(is_sub_group_stop);
        let counts = has_barriers || has_sub_groups;
        let knows = requires_sub_groups || has_sub_groups || is(asks_for_sub_groups);
        let quiet = intervals::quiet_reads(e.types, e.f, &roots);
        let parts = parts::parts(e.types, e.f, lines, &quiet);
        let selected = values::only_selected(e.f);
        let written = written::written(e.types, e.f, &roots);
        // Functions that are called may have barriers.
        let is_call = |op: &Op| matches!(op, Op::Call(..) | Op::CallIndirect(..));
        let meets = |op: &Op| is_group_stop(op) || is_sub_group_stop(op) || is_call(op);
        let may_miss =
            e.f.blocks
                .iter()
                .zip(&convergent)
                .any(|(block, is_convergent)| {
                    let mut ops = block.insts.iter().map(|id| &e.f.insts[id.index()].op);
                    !is_convergent && ops.any(meets)
                });
        let mut all = Self {
            may_miss,
            e,
            checks,
            roots,
            selected,
            quiet,
            parts,
            part: None,
            written,
            non_uniform,
            bounds: Bounds::default(),
            epoch: None,
            passed_epoch: None,
            first_epoch: if knows { KNOWS_SUB_GROUPS } else { 0 },
            prologue: Vec::new(),
            out: Vec::new(),
            word: 0,
            is_quiet: false,
            is_volatile: false,
        };
        if counts {
            all.make_epoch();
        }
        all
    }

    /// `callees`: by function, the parameter with the epoch, if it has one.
    fn run(mut self, callees: &[Option<ValueId>]) {
        for at in 0..self.e.f.blocks.len() {
            self.block(BlockId(at as u32), callees);
        }
        self.place_facts();
        let entry = &mut self.e.f.blocks[0].insts;
        entry.splice(0..0, self.prologue);
    }

    fn block(&mut self, id: BlockId, callees: &[Option<ValueId>]) {
        let old = std::mem::take(&mut self.e.f.blocks[id.index()].insts);
        self.out = Vec::with_capacity(old.len() * 3);
        for inst in old {
            let op = self.e.f.insts[inst.index()].op.clone();
            self.word = self.e.f.insts[inst.index()].word;
            let result = self.e.f.insts[inst.index()].result;
            self.is_quiet = self.quiet.contains(&inst);
            self.part = self.parts.get(&inst).copied();
            self.is_volatile = matches!(op, Op::Load { volatile: true, .. });
            self.before(&op, result);
            self.give_epoch(inst, callees);
            self.out.push(inst);
            self.after(&op);
        }
        let ends = matches!(self.e.f.blocks[id.index()].term, Terminator::Ret(_));
        if ends && self.epoch.is_some() && self.checks.barriers && self.may_miss {
            self.word = 0;
            let epoch = self.load_epoch();
            self.tell(CheckOp::Leave, vec![epoch]);
        }
        self.e.f.blocks[id.index()].insts = std::mem::take(&mut self.out);
    }

    /// Adds the epoch to a call, and to a check that was made before inlining.
    fn give_epoch(&mut self, inst: InstId, callees: &[Option<ValueId>]) {
        let wants = match &self.e.f.insts[inst.index()].op {
            Op::Call(callee, _) => callees.get(callee.index()).is_some_and(Option::is_some),
            Op::CallIndirect(..) | Op::Check(CheckOp::Agree, _) => true,
            _ => false,
        };
        if !wants {
            return;
        }
        let epoch = self.load_epoch();
        match &mut self.e.f.insts[inst.index()].op {
            Op::Call(_, args) | Op::CallIndirect(_, args) => args.push(epoch),
            Op::Check(_, args) => args[0] = epoch,
            _ => {}
        }
    }

    /// Checks that go before an instruction.
    fn before(&mut self, op: &Op, result: Option<ValueId>) {
        match op {
            Op::Load { ptr, align, .. } => {
                let Some(result) = result else { return };
                let size = self.e.types.unpadded_size_of(self.e.f.ty(result));
                self.check_alignment(*ptr, *align, size, Touch::Read);
                self.access(*ptr, size, Touch::Read, None);
            }
            Op::Store {
                ptr, value, align, ..
            } => {
                let size = self.e.types.unpadded_size_of(self.e.f.ty(*value));
                self.check_alignment(*ptr, *align, size, Touch::Write);
                self.access(*ptr, size, Touch::Write, Some(*value));
            }
            Op::CopyMemory { dst, src, size, .. } => match self.e.known_int(*size) {
                Some(bytes) => {
                    self.access(*src, bytes, Touch::Read, None);
                    self.access(*dst, bytes, Touch::Write, None);
                }
                None => {
                    self.check_bounds_of(*src, *size, Touch::Read);
                    self.check_bounds_of(*dst, *size, Touch::Write);
                }
            },
            Op::Atomic {
                op,
                ptr,
                value,
                scope,
                order,
                ..
            } => {
                let operand = value.or(result.filter(|_| *op == AtomicOp::Load));
                let size = operand.map_or(4, |v| self.e.types.size_of(self.e.f.ty(v)));
                let touch = Touch::Atomic {
                    writes: *op != AtomicOp::Load,
                    commutes: op.commutes(),
                    scope: *scope,
                    order: *order,
                };
                self.check_alignment(*ptr, size, size, touch);
                self.access(*ptr, size, touch, None);
            }
            Op::Group(GroupOp::BlockRead, _, args) => {
                if let (&[ptr], Some(result)) = (&args[..], result) {
                    self.check_block(ptr, self.e.f.ty(result), Touch::Read);
                }
                self.check_arrival(op);
            }
            Op::Group(GroupOp::BlockWrite, _, args) => {
                if let &[ptr, value] = &args[..] {
                    self.check_block(ptr, self.e.f.ty(value), Touch::Write);
                }
                self.check_arrival(op);
            }
            Op::Fence(scope, order) if self.checks.races => {
                let epoch = self.load_epoch();
                self.tell(CheckOp::Fence(*scope, *order), vec![epoch]);
            }
            Op::Binary(binary, a, b, _) if self.checks.values && !self.is_selected(result) => {
                self.check_binary(*binary, *a, *b);
            }
            Op::Convert(convert @ (ConvertOp::FToS | ConvertOp::FToU), a, _)
                if self.checks.values && !self.is_selected(result) =>
            {
                if let Some(result) = result {
                    self.check_conversion(*convert, *a, result);
                }
            }
            op => self.check_arrival(op),
        }
    }

    /// Checks that work-items arrive together where they have to.
    fn check_arrival(&mut self, op: &Op) {
        match op {
            op if is_group_stop(op) && self.checks.barriers => {
                // All work-items have to name one source of a broadcast.
                let source =
                    source_of_broadcast(op).filter(|&source| *self.e.ty(source) == Type::Int(64));
                self.arrive(CheckOp::Arrive, source);
            }
            op if is_sub_group_stop(op) && self.non_uniform.contains(&self.word) => {}
            op if is_sub_group_stop(op) && self.checks.barriers => {
                // The same in a sub-group.
                let source = source_of_broadcast(op).and_then(|source| self.as_word(source));
                self.arrive(CheckOp::ArriveSubGroup, source);
            }
            _ => {}
        }
    }

    /// Tells that a work-item has come where others of its group or sub-group have to come, too, and a value that all have to
    /// have; not where all come, and have no value.
    fn arrive(&mut self, check: CheckOp, value: Option<ValueId>) {
        if self.may_miss || value.is_some() {
            let epoch = self.load_epoch();
            let operands = std::iter::once(epoch).chain(value).collect();
            self.tell(check, operands);
        }
    }

    /// Counts a barrier behind it.
    fn after(&mut self, op: &Op) {
        let Some(place) = self.epoch else { return };
        let next = if is_group_stop(op) {
            let old = self.load_epoch();
            let low = self.e.int(32, (1 << SUB_GROUP_BITS) - 1);
            let full = self.binary(BinaryOp::Or, old, low);
            let one = self.e.int(32, 1);
            self.binary(BinaryOp::IAdd, full, one)
        } else if is_sub_group_stop(op) && !self.non_uniform.contains(&self.word) {
            let old = self.load_epoch();
            let one = self.e.int(32, 1);
            self.binary(BinaryOp::IAdd, old, one)
        } else {
            return;
        };
        self.tell_op(Op::Store {
            ptr: place,
            value: next,
            align: 4,
            volatile: false,
        });
    }

    /// Checks of an access of `size` bytes; `value`: what is stored.
    fn access(&mut self, ptr: ValueId, size: u64, touch: Touch, value: Option<ValueId>) {
        let Ok(bytes) = u32::try_from(size) else {
            return;
        };
        // Outside an image nothing is read or written, by definition.
        if self.roots.is_image(ptr) {
            return;
        }
        if self.checks.memory {
            self.check_bounds(ptr, bytes, touch);
        }
        let is_shared = !matches!(
            self.e.ty(ptr),
            Type::Ptr(AddressSpace::Private | AddressSpace::Constant)
        );
        if !self.checks.races || !is_shared || self.is_quiet || self.roots.is_private(ptr) {
            return;
        }
        let bytes = match self.part {
            Some(Part::Told) => return,
            Some(Part::First(all)) => u32::try_from(all).unwrap_or(bytes),
            None => bytes,
        };
        let mut operands = vec![ptr, self.load_epoch()];
        if touch == Touch::Write && self.part.is_none() {
            operands.extend(value.and_then(|value| self.as_word(value)));
        }
        let check = match (touch, self.roots.of(ptr)) {
            // A loop that waits for the host has to call the runtime, which lets the host's threads in.
            (Touch::Read, Some(Root::Argument(n))) if self.is_only_read(n) && !self.is_volatile => {
                CheckOp::ArgumentRead(n, bytes)
            }
            _ => CheckOp::Access(touch, bytes),
        };
        self.tell(check, operands);
    }

    /// Whether the kernel writes through other arguments only, as far as it is known.
    fn is_only_read(&self, argument: u32) -> bool {
        self.written
            .as_ref()
            .is_some_and(|written| !written.contains(&argument))
    }
}

/// The work-item whose value a broadcast takes.
fn source_of_broadcast(op: &Op) -> Option<ValueId> {
    match op {
        Op::Group(GroupOp::Broadcast, _, args) => args.get(1).copied(),
        _ => None,
    }
}
