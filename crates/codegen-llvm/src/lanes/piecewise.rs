//! Loops of masked chunks: piecewise-contiguous loads, uniform-step induction, and results in memory. All of it is for
//! kernels that have one copy of the code, for rows of any length.
//!
//! The lanes of a masked chunk are the end of a row and the start of the next, or several short rows. So their elements
//! mostly lie in contiguous pieces. Loads in loops, if the plan chooses them, test for that and read a register at a
//! time:
//!
//! ```text
//! rows of 4 work-items, a sub-group of 8, a[8 * y + x]:
//!
//! lanes     x 0 1 2 3, y 0     x 0 1 2 3, y 1
//! reads     a[0..4]            a[8..12]             two vector loads of four elements
//! ```

use kernel_ir::index::{extended, terms};
use kernel_ir::{BlockId, ConvertOp, TypeId, ValueId};

use super::narrow_index::Indexed;
use super::region::Lanes;
use super::rep::{Rep, Stored, UniformStep};
use crate::llvm::{IntPred, Opcode, Ty, Val};
use crate::memory::sane_align;

/// The pieces of a load.
struct Pieces {
    /// Bool: whether all lanes are active, and the elements of each piece are contiguous.
    test: Val,
    /// The address of each piece's first element.
    at: Vec<Val>,
}

impl Lanes<'_, '_, '_> {
    /// The value that an edge adds to the uniform-step induction variable `phi`, if it goes back.
    fn increment(&self, phi: ValueId, from: BlockId, v: ValueId) -> Option<ValueId> {
        vectorise::increment(self.region, self.shapes?, phi, from, v)
    }

    /// Makes the variables of a phi that has uniform-step induction.
    pub(super) fn find_uniform_step(&mut self, phi: ValueId) {
        let ty = self.low.ty(phi);
        if self
            .held
            .as_ref()
            .is_some_and(|held| held.is_uniform_step(phi))
        {
            let (scalar, lanes) = (self.low.values.register(ty), self.lane_type(ty));
            let uniform_step = UniformStep {
                first: self.low.entry_alloca(scalar, 0),
                distances: self.low.entry_alloca(lanes, 0),
                scalar,
                lanes,
            };
            kernel_ir::mark!(LoopInduction);
            self.uniform_steps.insert(phi, uniform_step);
        }
    }

    /// The value, in all lanes, of a phi that has uniform-step induction.
    pub(super) fn uniform_step(&self, phi: ValueId) -> Option<Rep> {
        let ir = self.low.ir;
        let uniform_step = self.uniform_steps.get(&phi)?;
        let first = ir.load(uniform_step.scalar, uniform_step.first, 0);
        let distances = ir.load(uniform_step.lanes, uniform_step.distances, 0);
        Some(Rep::vector(vec![ir.add(self.splat(first), distances)]))
    }

    /// Updates a phi that has uniform-step induction on the edge from block `from` to its own. Returns whether it has.
    pub(super) fn advance_uniform_step(&mut self, from: BlockId, phi: ValueId, v: ValueId) -> bool {
        let ir = self.low.ir;
        let Some(&uniform_step) = self.uniform_steps.get(&phi) else {
            return false;
        };
        if let Some(by) = self.increment(phi, from, v) {
            let by = self.scalar(by);
            let first = ir.load(uniform_step.scalar, uniform_step.first, 0);
            ir.store(ir.add(first, by), uniform_step.first, 0);
        } else {
            // The first lane of a sub-group always exists.
            let all = self.vectors(v)[0];
            let first = ir.extract_element(all, ir.i32c(0));
            ir.store(first, uniform_step.first, 0);
            ir.store(ir.sub(all, self.splat(first)), uniform_step.distances, 0);
        }
        true
    }

    /// Writes the result of a loop that waits in memory; volatile, so that LLVM keeps it there.
    pub(super) fn store_spilled(&self, slot: &Stored, rep: &Rep) {
        let ir = self.low.ir;
        let parts = rep.vector.iter().flatten();
        for (&(slot, _), &part) in slot.vector.iter().flatten().zip(parts) {
            ir.set_volatile(ir.store(part, slot, 0));
        }
    }

    /// Reads such a result from memory.
    pub(super) fn fetch_spilled(&self, slot: &Stored) -> Rep {
        let ir = self.low.ir;
        let get = |&(slot, ty): &(Val, Ty)| {
            let part = ir.load(ty, slot, 0);
            ir.set_volatile(part);
            part
        };
        Rep::vector(slot.vector.iter().flatten().map(get).collect())
    }

    /// Loads the active lanes' elements: `piece` lanes at once if each piece is contiguous, else with a loop over the
    /// lanes.
    pub(super) fn gather_pieces(
        &mut self,
        ptr: ValueId,
        ty: TypeId,
        align: u64,
        piece: u32,
    ) -> Vec<Val> {
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(ty);
        let pieces = match self.pieces_of_uniform_step(ptr, size, piece) {
            Some(pieces) => pieces,
            None => self.pieces(ptr, size, piece),
        };
        let [fast, slow, join] =
            [c"load.pieces", c"load.apart", c"loaded"].map(|name| self.low.new_block(name));
        kernel_ir::mark!(LoadPiecewise);
        ir.cond_br(pieces.test, fast, slow);
        ir.at_end(fast);
        let in_pieces = self.load_pieces(&pieces.at, ty, align, piece);
        ir.br(join);
        ir.at_end(slow);
        let lane_by_lane = self.gather_in_loop(ptr, ty, align);
        let slow = ir.here();
        ir.br(join);
        ir.at_end(join);
        let both = in_pieces.into_iter().zip(lane_by_lane);
        both.map(|(whole, lane_by_lane)| {
            let phi = ir.phi(ir.type_of(whole));
            ir.add_incoming(phi, whole, fast);
            ir.add_incoming(phi, lane_by_lane, slow);
            phi
        })
        .collect()
    }

    /// The pieces of a pointer's lanes, with elements of `size` bytes.
    fn pieces(&mut self, ptr: ValueId, size: u64, piece: u32) -> Pieces {
        let ir = self.low.ir;
        let all = self.vectors(ptr)[0];
        let bytes = ir.cast(Opcode::LLVMPtrToInt, all, ir.vector(ir.i64, self.width));
        let firsts = (0..self.width).step_by(piece as usize);
        Pieces {
            test: self.pieces_are_contiguous(bytes, size, piece),
            at: firsts
                .map(|lane| ir.extract_element(all, ir.i32c(lane)))
                .collect(),
        }
    }

    /// The same if the pointer's index has uniform-step induction: the lanes' distances are the same in each iteration,
    /// and the pieces' addresses are scalars.
    fn pieces_of_uniform_step(&mut self, ptr: ValueId, size: u64, piece: u32) -> Option<Pieces> {
        let ir = self.low.ir;
        let term = terms(self.f, ptr).next()?;
        let (index, stride) = term.index?;
        let (op, narrow) = extended(self.f, index).unwrap_or((ConvertOp::ZExt, index));
        let signed = op == ConvertOp::SExt;
        let uniform_step = *self.uniform_steps.get(&narrow)?;
        // Outside of the loop the variables may hold another iteration's value.
        let home = self.region.block_of(narrow)?;
        let own = self.region.loops.innermost(home)?;
        if !self.region.loops.contains(own, self.block_at_hand) {
            return None;
        }
        let distance = size.checked_div(stride.try_into().ok()?)?;
        if distance == 0 || !size.is_multiple_of(stride.unsigned_abs()) {
            return None;
        }
        let rep = self.rep(term.base);
        let indexed = Indexed {
            base: rep.first.filter(|_| rep.is_uniform())?,
            stride,
            offset: term.offset,
            signed,
        };
        let first = ir.load(uniform_step.scalar, uniform_step.first, 0);
        let distances = ir.load(uniform_step.lanes, uniform_step.distances, 0);
        let mut test = self.pieces_are_contiguous(distances, distance, piece);
        let bits = self.low.values.module.types.size_of(self.low.ty(narrow)) * 8;
        let mut at = Vec::new();
        for lane in (0..self.width).step_by(piece as usize) {
            let begin = ir.add(first, ir.extract_element(distances, ir.i32c(lane)));
            if bits < 64 {
                // No lane's index may wrap around within a piece.
                let most = (1u64 << (bits - u64::from(signed))) - 1;
                let last = most.saturating_sub(distance * u64::from(piece - 1));
                let pred = match signed {
                    true => IntPred::LLVMIntSLE,
                    false => IntPred::LLVMIntULE,
                };
                let fits = ir.icmp(pred, begin, ir.int_const(uniform_step.scalar, last));
                test = ir.and(test, fits);
            }
            at.push(indexed.address(self.low, begin));
        }
        kernel_ir::mark!(LoadPiecewiseInduction);
        Some(Pieces { test, at })
    }

    /// Bool: whether all lanes are active, and in each piece the integers are `distance` apart from lane to lane.
    fn pieces_are_contiguous(&self, all: Val, distance: u64, piece: u32) -> Val {
        let ir = self.low.ir;
        let scalar = ir.scalar(ir.type_of(all));
        let begin: Vec<u32> = (0..self.width).map(|l| l / piece * piece).collect();
        let more: Vec<Val> = (0..self.width)
            .map(|l| ir.int_const(scalar, u64::from(l % piece) * distance))
            .collect();
        let wanted = ir.add(ir.shuffle(all, all, &begin), ir.const_vector(&more));
        let pieces_are_contiguous = ir.icmp(IntPred::LLVMIntEQ, all, wanted);
        self.all(match self.mask {
            Some(mask) => ir.and(pieces_are_contiguous, mask),
            None => pieces_are_contiguous,
        })
    }

    /// Loads all lanes' elements, one vector for each piece.
    fn load_pieces(&mut self, at: &[Val], ty: TypeId, align: u64, piece: u32) -> Vec<Val> {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let parts = types.lane_count(ty).max(1);
        let element = types.scalar_of(ty).unwrap_or(ty);
        let memory = ir.vector(self.low.values.memory(element), piece * parts);
        let pieces = at.iter().map(|&at| ir.load(memory, at, sane_align(align)));
        let whole = self.concatenate(pieces.collect());
        self.split_row(whole, ty)
    }
}
