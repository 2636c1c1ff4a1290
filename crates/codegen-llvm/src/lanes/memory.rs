//! Loads and stores, by the class that the plan gives each access (`vectorise::Access`):
//!
//! ```text
//! b[0]            uniform         one scalar access
//! a[i]            contiguous      one vector access
//! a[n - i]        reversed        one vector access and a shuffle
//! a[2 * i]        interleaved     vectors of neighbouring elements, and shuffles (`interleaved_loads`, `…_stores`)
//! a[index[i]]     gather          the processor's gather or scatter (`gather`)
//!                 piecewise       one vector load for each contiguous piece (`piecewise`)
//!                 scalarised      one access for each lane
//! ```
//!
//! A contiguous access may have a test at run time: of its no-wrap predicate, and, where masked accesses are slow, of
//! the mask. Where the test fails, its elements are gathered, or scalarised.

use kernel_ir::{BuildError, Type, TypeId, ValueId};
use vectorise::{Access, Accesses, Tuple, store_groups};

use super::region::Lanes;
use super::rep::Rep;
use crate::llvm::{Opcode, Ty, Val};
use crate::memory::sane_align;

impl Lanes<'_, '_, '_> {
    /// Calls `f` with the classes of the region's accesses; `None` where none are known.
    fn accesses<R>(&self, f: impl FnOnce(&Accesses<'_>) -> R) -> Option<R> {
        let held = self.held.as_ref()?;
        Some(f(&Accesses {
            input: &self.low.input(),
            plan: self.form,
            region: self.region,
            held,
            width: self.width,
            chunk: self.chunk(),
        }))
    }

    /// The class of an access where none is known: such code does not run.
    const UNPLANNED: Access = Access::Scalarised { in_loop: false };

    /// The class, if `rep` is what it needs: an address that is a vector is accessed lane by lane.
    fn supported(class: Option<Access>, rep: &Rep) -> Access {
        let class = class.unwrap_or(Self::UNPLANNED);
        let needs_first = matches!(
            class,
            Access::Contiguous { .. } | Access::Reversed | Access::Interleaved(_)
        );
        debug_assert!(!needs_first || rep.first.is_some(), "{class:?}: {rep:?}");
        match needs_first && rep.first.is_none() {
            true => Self::UNPLANNED,
            false => class,
        }
    }

    /// Asks the plan which stores of the block at hand are written together.
    pub(super) fn plan_stores(&mut self) {
        let (block, masked) = (self.block_at_hand, self.mask.is_some());
        let groups = self.accesses(|accesses| store_groups(accesses, block, masked));
        self.store_groups = groups.unwrap_or_default();
    }

    pub(super) fn load(
        &mut self,
        ptr: ValueId,
        result: ValueId,
        align: u64,
    ) -> Result<Rep, BuildError> {
        let ir = self.low.ir;
        let ty = self.low.ty(result);
        let rep = self.rep(ptr);
        let (block, some) = (self.block_at_hand, self.mask.is_some());
        let class = self.accesses(|accesses| accesses.load(ptr, ty, block, some));
        match Self::supported(class, &rep) {
            Access::Uniform => {
                let at = self.scalar(ptr);
                return Ok(Rep::uniform(self.low.load(at, ty, align, false)));
            }
            Access::Contiguous { .. } => {}
            Access::Reversed | Access::Interleaved(_) => {
                return Ok(Rep::vector(vec![self.load_interleaved(ptr, ty, align)]));
            }
            Access::Piecewise(_) | Access::Gather | Access::Scalarised { .. } => {
                return Ok(Rep::vector(self.gather(ptr, ty, align)));
            }
        }
        let (first, holds) = (self.scalar(ptr), rep.holds);
        let masked = some && self.accesses(|accesses| accesses.has_masked(ty)) == Some(false);
        // Bool: whether one vector access serves; `None` if it always does.
        let test = match (holds, self.mask) {
            (Some(holds), Some(mask)) if masked => Some(ir.and(holds, self.all(mask))),
            (None, Some(mask)) if masked => Some(self.all(mask)),
            (holds, _) => holds,
        };
        let Some(test) = test else {
            kernel_ir::mark!(LoadContiguous, self.mask.is_none());
            kernel_ir::mark!(LoadContiguousMasked, self.mask.is_some());
            if self.mask.is_none() {
                self.rows.insert(result, (self.block_at_hand, first));
            }
            return Ok(Rep::vector(self.load_row(first, ty, align, masked)));
        };
        let [fast, slow, join] =
            [c"load.row", c"load.apart", c"loaded"].map(|name| self.low.new_block(name));
        ir.cond_br(test, fast, slow);
        ir.at_end(fast);
        kernel_ir::mark!(LoadContiguousTested);
        let whole = self.load_row(first, ty, align, masked);
        let fast = ir.here();
        ir.br(join);
        ir.at_end(slow);
        let lane_by_lane = self.gather(ptr, ty, align);
        let is_index = matches!(self.low.values.module.types.get(ty), Type::Int(_));
        let row = (self.mask.is_none() && is_index).then(|| {
            // Later accesses read these indices from memory, lane by lane: they must lie there on this path too.
            let slot = self.low.entry_alloca(ir.type_of(lane_by_lane[0]), 64);
            ir.store(lane_by_lane[0], slot, 64);
            slot
        });
        let slow = ir.here();
        ir.br(join);
        ir.at_end(join);
        if let Some(row) = row {
            let at = ir.phi(ir.ptr);
            ir.add_incoming(at, first, fast);
            ir.add_incoming(at, row, slow);
            self.rows.insert(result, (self.block_at_hand, at));
        }
        let both = whole
            .iter()
            .zip(&lane_by_lane)
            .map(|(&a, &b)| {
                let phi = ir.phi(ir.type_of(a));
                ir.add_incoming(phi, a, fast);
                ir.add_incoming(phi, b, slow);
                phi
            })
            .collect();
        Ok(Rep::vector(both))
    }

    /// Loads all lanes' elements, contiguous from `first` on. `certain`: all lanes are active, whatever the mask says.
    fn load_row(&mut self, first: Val, ty: TypeId, align: u64, certain: bool) -> Vec<Val> {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let align = sane_align(align);
        let parts = types.lane_count(ty).max(1);
        let element = types.scalar_of(ty).unwrap_or(ty);
        let memory = self.low.values.memory(element);
        if let Some(tuple) = self.tuple(ty).filter(Tuple::is_word) {
            let words = self.load_lanes(self.word(tuple), first, align, certain);
            return self.split_words(tuple, words);
        }
        if parts > 1 {
            let whole = ir.vector(memory, self.width * parts);
            let whole = ir.load(whole, first, align);
            return self.split_row(whole, ty);
        }
        let loaded = self.load_lanes(memory, first, align, certain);
        vec![ir.cast(Opcode::LLVMTrunc, loaded, self.lane_type(element))]
    }

    /// Splits the lanes' elements, as they lie in memory, into one vector for each component.
    pub(super) fn split_row(&self, whole: Val, ty: TypeId) -> Vec<Val> {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let parts = types.lane_count(ty).max(1);
        if let Some(tuple) = self.tuple(ty).filter(Tuple::is_word) {
            let words = ir.vector(self.word(tuple), self.width);
            let words = ir.cast(Opcode::LLVMBitCast, whole, words);
            return self.split_words(tuple, words);
        }
        if parts > 1 {
            return (0..parts)
                .map(|part| {
                    let lanes: Vec<u32> = (0..self.width).map(|l| l * parts + part).collect();
                    ir.shuffle(whole, whole, &lanes)
                })
                .collect();
        }
        let element = types.scalar_of(ty).unwrap_or(ty);
        vec![ir.cast(Opcode::LLVMTrunc, whole, self.lane_type(element))]
    }

    /// Loads `width` neighbouring scalars from `first` on, under the mask unless `certain`.
    fn load_lanes(&self, scalar: Ty, first: Val, align: u64, certain: bool) -> Val {
        let ir = self.low.ir;
        let row = ir.vector(scalar, self.width);
        match self.mask {
            Some(mask) if !certain => ir.intrinsic(
                "llvm.masked.load",
                &[row, ir.ptr],
                &[first, mask, ir.poison(row)],
            ),
            _ => ir.load(row, first, align),
        }
    }

    fn store_lanes(&self, row: Val, first: Val, align: u64, certain: bool) {
        let ir = self.low.ir;
        match self.mask {
            Some(mask) if !certain => {
                let ty = ir.type_of(row);
                ir.intrinsic("llvm.masked.store", &[ty, ir.ptr], &[row, first, mask]);
            }
            _ => {
                ir.store(row, first, align);
            }
        }
    }

    /// The lanes' addresses. Inactive lanes get that of a scratch area of `size` bytes, so that no lane needs a branch.
    pub(super) fn addresses(&mut self, ptr: ValueId, size: u64) -> Vec<Val> {
        let ir = self.low.ir;
        let lanes: Vec<Val> = (0..self.width).map(|l| ir.i32c(l)).collect();
        if let Some(mask) = self.mask {
            let nowhere = self.low.scratch(size);
            let all = self.vectors(ptr)[0];
            let all = ir.select(mask, all, self.splat(nowhere));
            return lanes
                .into_iter()
                .map(|lane| ir.extract_element(all, lane))
                .collect();
        }
        if let Some((indexed, indices)) = self.narrow_index(ptr) {
            return indexed.addresses(self.low, indices, self.width);
        }
        let rep = self.rep(ptr);
        if rep.holds.is_none()
            && let Some(first) = rep.first
        {
            return (0..i64::from(self.width))
                .map(|l| ir.offset_by(first, l.wrapping_mul(rep.step).cast_unsigned()))
                .collect();
        }
        let all = self.spread(ptr, &rep)[0];
        lanes
            .into_iter()
            .map(|lane| ir.extract_element(all, lane))
            .collect()
    }

    /// Loads elements from unrelated addresses: in pieces, by the processor's gather, or scalarised, as the plan says.
    fn gather(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> Vec<Val> {
        let ir = self.low.ir;
        let block = self.block_at_hand;
        let class = self.accesses(|accesses| accesses.scattered_load(ty, block));
        let class = class.unwrap_or(Self::UNPLANNED);
        match class {
            Access::Piecewise(lanes) => return self.gather_pieces(ptr, ty, align, lanes),
            Access::Scalarised { in_loop: true } => return self.gather_in_loop(ptr, ty, align),
            _ => {}
        }
        if let Some(tuple) = self.tuple(ty) {
            if class == Access::Gather {
                let words = self.gather_at_once(ptr, self.word(tuple));
                return self.split_words(tuple, words);
            }
            kernel_ir::mark!(LoadEach);
            let align = sane_align(align);
            let at = self.addresses(ptr, tuple.bytes());
            if !tuple.is_word() {
                let memory = ir.vector(self.low.values.memory(tuple.element), tuple.count);
                let each: Vec<Val> = at.iter().map(|&at| ir.load(memory, at, align)).collect();
                return self.split_tuples(tuple, &each);
            }
            let word = self.word(tuple);
            let mut words = ir.poison(ir.vector(word, self.width));
            for (lane, at) in at.into_iter().enumerate() {
                let one = ir.load(word, at, align);
                words = ir.insert_element(words, one, ir.i32c(lane as u32));
            }
            return self.split_words(tuple, words);
        }
        if class == Access::Gather {
            return vec![self.gather_at_once(ptr, self.low.values.memory(ty))];
        }
        let mut leaves = Vec::new();
        self.low.values.module.types.scalars(ty, 0, &mut leaves);
        kernel_ir::mark!(LoadEach);
        let mut whole: Vec<Val> = leaves
            .iter()
            .map(|&(ty, _)| ir.poison(self.lane_type(ty)))
            .collect();
        let size = self.low.values.module.types.size_of(ty);
        for (lane, at) in self.addresses(ptr, size).into_iter().enumerate() {
            let one = self.low.load(at, ty, align, false);
            let mut scalars = Vec::new();
            self.low.split_scalars(one, ty, &mut scalars);
            for (whole, scalar) in whole.iter_mut().zip(scalars) {
                *whole = ir.insert_element(*whole, scalar, ir.i32c(lane as u32));
            }
        }
        whole
    }

    pub(super) fn store(
        &mut self,
        ptr: ValueId,
        value: ValueId,
        align: u64,
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let ty = self.low.ty(value);
        let size = self.low.values.module.types.size_of(ty);
        let rep = self.rep(ptr);
        let (block, some) = (self.block_at_hand, self.mask.is_some());
        let class = self.accesses(|accesses| accesses.store(ptr, ty, block, some));
        match Self::supported(class, &rep) {
            Access::Uniform => {
                // All lanes write one place: the last lane's value remains.
                kernel_ir::mark!(StoreUniform);
                let at = self.scalar(ptr);
                let one = self.last_scalar(value);
                self.low.store(one, at, ty, align, false);
                return Ok(());
            }
            Access::Contiguous { .. } => {}
            Access::Reversed => {
                let first = self.scalar(ptr);
                let row = self.vectors(value)[0];
                let row = self.reversed(row);
                kernel_ir::mark!(StoreReversed);
                let distance = (size * u64::from(self.width - 1)).wrapping_neg();
                let low = ir.offset_by(first, distance);
                self.store_row(low, &[row], ty, align.min(size), false);
                return Ok(());
            }
            _ if self.store_in_group() => return Ok(()),
            _ => return self.scatter(ptr, value, align),
        }
        let (first, holds) = (self.scalar(ptr), rep.holds);
        let masked = some && self.accesses(|accesses| accesses.has_masked(ty)) == Some(false);
        let test = match (holds, self.mask) {
            (Some(holds), Some(mask)) if masked => Some(ir.and(holds, self.all(mask))),
            (None, Some(mask)) if masked => Some(self.all(mask)),
            (holds, _) => holds,
        };
        let parts = self.vectors(value);
        let Some(test) = test else {
            kernel_ir::mark!(StoreContiguous, self.mask.is_none());
            kernel_ir::mark!(StoreContiguousMasked, self.mask.is_some());
            self.store_row(first, &parts, ty, align, masked);
            return Ok(());
        };
        let [fast, slow, join] =
            [c"store.row", c"store.apart", c"stored"].map(|name| self.low.new_block(name));
        ir.cond_br(test, fast, slow);
        ir.at_end(fast);
        kernel_ir::mark!(StoreContiguousTested);
        self.store_row(first, &parts, ty, align, masked);
        ir.br(join);
        ir.at_end(slow);
        self.scatter(ptr, value, align)?;
        ir.br(join);
        ir.at_end(join);
        Ok(())
    }

    fn store_row(&mut self, first: Val, parts: &[Val], ty: TypeId, align: u64, certain: bool) {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let align = sane_align(align);
        let element = types.scalar_of(ty).unwrap_or(ty);
        let memory = ir.vector(self.low.values.memory(element), self.width);
        if let Some(tuple) = self.tuple(ty).filter(Tuple::is_word) {
            let words = self.join_words(tuple, parts);
            self.store_lanes(words, first, align, certain);
            return;
        }
        if parts.len() > 1 {
            let whole = self.interleave(parts);
            ir.store(whole, first, align);
            return;
        }
        let row = ir.cast(Opcode::LLVMZExt, parts[0], memory);
        self.store_lanes(row, first, align, certain);
    }

    /// Interleaves the parts: lane 0 of each part, lane 1 of each part, and so on.
    pub(super) fn interleave(&self, parts: &[Val]) -> Val {
        let ir = self.low.ir;
        let (width, count) = (self.width, parts.len() as u32);
        // First all parts one behind the other, then one shuffle.
        let mut whole = parts[0];
        let mut have = width;
        for &part in &parts[1..] {
            let wide: Vec<u32> = (0..have)
                .map(|l| if l < width { l } else { u32::MAX })
                .collect();
            let part = if have == width {
                part
            } else {
                ir.shuffle(part, ir.poison(ir.type_of(part)), &wide)
            };
            let lanes: Vec<u32> = (0..have + width).collect();
            let lanes: Vec<u32> = lanes
                .into_iter()
                .map(|l| if l < have { l } else { have + (l - have) })
                .collect();
            whole = ir.shuffle(whole, part, &lanes);
            have += width;
        }
        let lanes: Vec<u32> = (0..width)
            .flat_map(|l| (0..count).map(move |part| part * width + l))
            .collect();
        ir.shuffle(whole, whole, &lanes)
    }

    /// The last active lane's value.
    pub(super) fn last_scalar(&mut self, value: ValueId) -> Val {
        let rep = self.rep(value);
        match rep.first {
            Some(first) if rep.is_uniform() => first,
            _ => {
                let lane = self.last_lane();
                let parts = self.spread(value, &rep);
                let ir = self.low.ir;
                let mut scalars = parts.into_iter().map(|part| ir.extract_element(part, lane));
                self.low.join_scalars(self.low.ty(value), &mut scalars)
            }
        }
    }

    /// Number of the last active lane, 64 bits.
    fn last_lane(&self) -> Val {
        let ir = self.low.ir;
        let Some(mask) = self.mask else {
            return ir.i64c(u64::from(self.width - 1));
        };
        let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
        let bits = ir.zext_or_trunc(bits, ir.i64);
        let zeros = ir.intrinsic("llvm.ctlz", &[ir.i64], &[bits, ir.int_const(ir.i1, 1)]);
        ir.sub(ir.i64c(63), zeros)
    }

    /// As [`Self::gather`], with a loop over the lanes: less code, for masked chunks.
    pub(super) fn gather_in_loop(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> Vec<Val> {
        kernel_ir::mark!(LoadEachLoop);
        let mut leaves = Vec::new();
        let types = &self.low.values.module.types;
        types.scalars(ty, 0, &mut leaves);
        let outputs: Vec<Ty> = leaves
            .iter()
            .map(|&(ty, _)| self.low.values.register(ty))
            .collect();
        let inputs = self.vectors(ptr);
        let made = self.lane_loop(&inputs, &outputs, |lanes, _, scalars| {
            let one = lanes.low.load(scalars[0], ty, align, false);
            let mut parts = Vec::new();
            lanes.low.split_scalars(one, ty, &mut parts);
            Ok(parts)
        });
        // The body never fails.
        made.unwrap_or_default()
    }

    /// Stores elements to unrelated addresses, as if lanes wrote one after another: by the processor's scatter, or
    /// scalarised, as the plan says.
    pub(super) fn scatter(
        &mut self,
        ptr: ValueId,
        value: ValueId,
        align: u64,
    ) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let ty = self.low.ty(value);
        let tuple = self.tuple(ty);
        let some = self.mask.is_some();
        let class = self.accesses(|accesses| accesses.scattered_store(ty, some));
        let class = class.unwrap_or(Self::UNPLANNED);
        if class == (Access::Scalarised { in_loop: true }) {
            kernel_ir::mark!(StoreEachLoop);
            let mut inputs = self.vectors(ptr);
            inputs.extend(self.vectors(value));
            let none: [Ty; 0] = [];
            self.lane_loop(&inputs, &none, |lanes, _, scalars| {
                let mut parts = scalars[1..].iter().copied();
                let one = lanes.low.join_scalars(ty, &mut parts);
                lanes.low.store(one, scalars[0], ty, align, false);
                Ok(Vec::new())
            })?;
            return Ok(());
        }
        let size = self.low.values.module.types.size_of(ty);
        if class == Access::Gather {
            let parts = self.vectors(value);
            let row = match tuple {
                Some(tuple) => self.join_words(tuple, &parts),
                None => parts[0],
            };
            self.scatter_at_once(ptr, row);
            return Ok(());
        }
        let rep = self.rep(value);
        let shared = rep.first.filter(|_| rep.is_uniform());
        kernel_ir::mark!(StoreEach);
        let at = self.addresses(ptr, size);
        if let Some(one) = shared {
            for at in at {
                self.low.store(one, at, ty, align, false);
            }
            return Ok(());
        }
        let parts = self.spread(value, &rep);
        if let Some(tuple) = tuple {
            let each = if tuple.is_word() {
                let words = self.join_words(tuple, &parts);
                let lanes = 0..self.width;
                lanes
                    .map(|l| ir.extract_element(words, ir.i32c(l)))
                    .collect()
            } else {
                self.join_tuples(tuple, &parts)
            };
            for (at, one) in at.into_iter().zip(each) {
                ir.store(one, at, sane_align(align));
            }
            return Ok(());
        }
        for (lane, at) in at.into_iter().enumerate() {
            let lane = ir.i32c(lane as u32);
            let mut scalars = parts.iter().map(|&part| ir.extract_element(part, lane));
            let one = self.low.join_scalars(ty, &mut scalars);
            self.low.store(one, at, ty, align, false);
        }
        Ok(())
    }
}
