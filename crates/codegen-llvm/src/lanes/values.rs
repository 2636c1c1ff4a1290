//! Values during emission: reads, definitions and blends of them, and their place between regions.
//!
//! A value that only its own block uses stays in a register. A value that other blocks use lives in entry allocas;
//! where only some lanes are active, phis blend theirs over the other lanes'. A value that crosses a barrier is saved
//! in the state area, or, if the whole group shares it, in a variable.

use kernel_ir::{TypeId, ValueDef, ValueId};
use vectorise::Representation;

use super::region::Lanes;
use super::rep::{Rep, Saved, Stored};
use crate::llvm::{Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    pub(super) fn leaves(&self, v: ValueId) -> Vec<(TypeId, u64)> {
        let mut all = Vec::new();
        let types = &self.low.values.module.types;
        types.scalars(self.low.function.ty(v), 0, &mut all);
        all
    }

    /// The vector type of a scalar in all lanes.
    pub(super) fn lane_type(&self, ty: TypeId) -> Ty {
        self.low.ir.vector(self.low.values.register(ty), self.width)
    }

    pub(super) fn splat(&self, v: Val) -> Val {
        self.low.ir.splat(v, self.width)
    }

    /// The vector `0, step, 2 * step, ...` of integers.
    pub(super) fn steps(&self, scalar: Ty, step: i64) -> Val {
        let ir = self.low.ir;
        let lanes: Vec<Val> = (0..i64::from(self.width))
            .map(|l| ir.int_const(scalar, l.wrapping_mul(step) as u64))
            .collect();
        ir.const_vector(&lanes)
    }

    /// The representation of `v` where the builder stands.
    pub(super) fn rep(&mut self, v: ValueId) -> Rep {
        if let Some(near) = self.block_values.get(&v) {
            return near.clone();
        }
        if !matches!(self.f.values[v.index()].def, ValueDef::Inst(_)) {
            return Rep::uniform(self.low.get(v));
        }
        if let Some(&(at, step)) = self.arrays.get(&v) {
            return Rep::affine(at, step as i64);
        }
        if !self.made_again.contains(&v)
            && self.region.live.binary_search(&v).is_ok()
            && let Some(saved) = self.saved.get(&v).cloned()
        {
            return self.fetch(v, &saved);
        }
        let ir = self.low.ir;
        let Some(stored) = self.stored.get(&v).cloned() else {
            // No definition reaches this use: such code does not run.
            return Rep::uniform(ir.null(self.low.values.register(self.low.ty(v))));
        };
        let get = |&(slot, ty): &(Val, Ty)| ir.load(ty, slot, 0);
        let rep = Rep {
            first: stored.first.as_ref().map(get),
            step: stored.step,
            holds: stored.holds.map(|slot| ir.load(ir.i1, slot, 1)),
            vector: stored
                .vector
                .as_ref()
                .map(|parts| parts.iter().map(get).collect()),
        };
        self.block_values.insert(v, rep.clone());
        rep
    }

    /// Defines `v`, for this block and for the others that use it. Debug builds check that it is held as planned.
    pub(super) fn define(&mut self, v: ValueId, rep: Rep) {
        #[cfg(debug_assertions)]
        if self.width > 1
            && let Some(held) = &self.held
        {
            use Representation as R;
            let found = match (rep.first, rep.step, rep.holds) {
                (Some(_), 0, None) => R::Uniform,
                (Some(_), step, holds) => R::Affine {
                    step,
                    tested: holds.is_some(),
                },
                (None, ..) => R::Vector,
            };
            let is_atomic = matches!(self.made_by(v), Some((_, kernel_ir::Op::Atomic { .. })));
            assert!(
                held.of(v) == found || is_atomic,
                "{v:?} {:?}: planned {:?}, found {found:?}, width {}",
                self.made_by(v),
                held.of(v),
                self.width
            );
        }
        if self.made_again.contains(&v)
            && let Some(stored) = self.stored.get(&v).cloned()
        {
            self.block_values.insert(v, rep);
            let saved = self.as_stored(v, &stored);
            // A scalar needs no blend; in a vector inactive lanes keep their elements.
            let mask = if saved.first.is_some() {
                None
            } else {
                self.mask
            };
            self.blend(&stored, &saved, mask);
            return;
        }
        if self.crosses(v) {
            self.put(v, &rep);
        }
        self.block_values.insert(v, rep);
    }

    fn put(&mut self, v: ValueId, rep: &Rep) {
        let ir = self.low.ir;
        let slot = |low: &crate::lower::Lower<'_>, value: Val| {
            let ty = ir.type_of(value);
            (low.entry_alloca(ty, 0), ty)
        };
        let stored = Stored {
            first: rep.first.map(|v| slot(self.low, v)),
            step: rep.step,
            holds: rep.holds.map(|v| slot(self.low, v).0),
            vector: rep
                .vector
                .as_ref()
                .map(|parts| parts.iter().map(|&v| slot(self.low, v)).collect()),
        };
        let each = stored.first.iter().chain(stored.vector.iter().flatten());
        let values = rep.first.iter().chain(rep.vector.iter().flatten());
        for (&(slot, _), &value) in each.zip(values) {
            ir.store(value, slot, 0);
        }
        if let (Some(slot), Some(value)) = (stored.holds, rep.holds) {
            ir.store(value, slot, 1);
        }
        self.stored.insert(v, stored);
    }

    /// Poisons the variables of `v` at the start of an iteration, in which `v` is made again before it is used.
    pub(super) fn forget(&mut self, v: ValueId) {
        if self.made_again.contains(&v) {
            return;
        }
        let ir = self.low.ir;
        let Some(stored) = self.stored.get(&v) else {
            return;
        };
        for &(slot, ty) in stored.first.iter().chain(stored.vector.iter().flatten()) {
            ir.store(ir.poison(ty), slot, 0);
        }
    }

    /// Poisons a variable that holds a scalar.
    pub(super) fn forget_scalar(&self, stored: &Stored) {
        let ir = self.low.ir;
        if let (Some((slot, ty)), Some(_)) = (stored.first, self.shapes) {
            ir.store(ir.poison(ty), slot, 0);
        }
    }

    /// Entry allocas for `v`, not initialised: for a scalar, or for vectors.
    pub(super) fn phi_variable(&mut self, v: ValueId, held: Representation) -> Stored {
        let ty = self.low.ty(v);
        match held.step() {
            Some((step, _)) => {
                let register = self.low.values.register(ty);
                Stored {
                    first: Some((self.low.entry_alloca(register, 0), register)),
                    step,
                    holds: None,
                    vector: None,
                }
            }
            None => {
                let parts = self.leaves(v);
                let slots = parts
                    .iter()
                    .map(|&(ty, _)| {
                        let ty = self.lane_type(ty);
                        (self.low.entry_alloca(ty, 0), ty)
                    })
                    .collect();
                Stored {
                    first: None,
                    step: 0,
                    holds: None,
                    vector: Some(slots),
                }
            }
        }
    }

    /// Reads such variables.
    pub(super) fn take(&self, stored: &Stored) -> Rep {
        let ir = self.low.ir;
        let get = |&(slot, ty): &(Val, Ty)| ir.load(ty, slot, 0);
        Rep {
            first: stored.first.as_ref().map(get),
            step: stored.step,
            holds: None,
            vector: stored
                .vector
                .as_ref()
                .map(|parts| parts.iter().map(get).collect()),
        }
    }

    /// The value `v` in the representation that the variables `stored` have.
    pub(super) fn as_stored(&mut self, v: ValueId, stored: &Stored) -> Rep {
        if stored.vector.is_some() {
            return Rep::vector(self.vectors(v));
        }
        Rep::affine(self.scalar(v), stored.step)
    }

    /// Writes `rep` to `stored` for the lanes of `mask`, or all lanes if there is none.
    pub(super) fn blend(&self, stored: &Stored, rep: &Rep, mask: Option<Val>) {
        let ir = self.low.ir;
        if let (Some((slot, ty)), Some(new)) = (stored.first, rep.first) {
            let new = match mask {
                Some(mask) => {
                    let some = self.any(mask);
                    ir.select(some, new, ir.load(ty, slot, 0))
                }
                None => new,
            };
            ir.store(new, slot, 0);
        }
        let (Some(slots), Some(parts)) = (&stored.vector, &rep.vector) else {
            return;
        };
        for (&(slot, ty), &new) in slots.iter().zip(parts) {
            let new = match mask {
                Some(mask) => ir.select(mask, new, ir.load(ty, slot, 0)),
                None => new,
            };
            ir.store(new, slot, 0);
        }
    }

    /// The value of `v` in all lanes, one vector for each scalar.
    pub(super) fn vectors(&mut self, v: ValueId) -> Vec<Val> {
        let rep = self.rep(v);
        self.spread(v, &rep)
    }

    pub(super) fn spread(&self, v: ValueId, rep: &Rep) -> Vec<Val> {
        if let Some(parts) = &rep.vector {
            return parts.clone();
        }
        let ir = self.low.ir;
        let Some(first) = rep.first else {
            return Vec::new();
        };
        if rep.step == 0 {
            let mut scalars = Vec::new();
            self.low.split_scalars(first, self.low.ty(v), &mut scalars);
            return scalars.into_iter().map(|s| self.splat(s)).collect();
        }
        let base = self.splat(first);
        if ir.type_of(first) == ir.ptr {
            return vec![ir.offset(base, self.steps(ir.i64, rep.step))];
        }
        vec![ir.add(base, self.steps(ir.type_of(first), rep.step))]
    }

    /// The first lane's value of `v`. If `v` is held as a vector, it must be the same in all active lanes.
    pub(super) fn scalar(&mut self, v: ValueId) -> Val {
        let rep = self.rep(v);
        if let Some(first) = rep.first {
            return first;
        }
        let ir = self.low.ir;
        let lane = match self.mask {
            Some(mask) => self.first_lane(mask),
            None => ir.i64c(0),
        };
        let parts = rep.vector.unwrap_or_default();
        let mut scalars = parts.into_iter().map(|part| ir.extract_element(part, lane));
        self.low.join_scalars(self.low.ty(v), &mut scalars)
    }

    /// At the region's start: makes variables of the values that come from an earlier region and are defined again in
    /// this one, as in loops around a barrier.
    pub(super) fn find_made_again(&mut self) {
        for &v in &self.region.live {
            if self.region.block_of(v).is_none() {
                continue;
            }
            let Some(saved) = self.saved.get(&v).cloned() else {
                continue;
            };
            self.fetch(v, &saved);
            let held = self.held.as_ref();
            let held = held.map_or(Representation::Uniform, |held| held.carried(v));
            let slot = self.phi_variable(v, held);
            let rep = self.as_stored(v, &slot);
            self.blend(&slot, &rep, None);
            self.block_values.remove(&v);
            self.stored.insert(v, slot);
            self.made_again.insert(v);
        }
    }

    /// Reads a saved value from where an earlier region left it.
    fn fetch(&mut self, v: ValueId, saved: &Saved) -> Rep {
        let ir = self.low.ir;
        let rep = match saved {
            Saved::Group(slot, _) => {
                let ty = self.low.values.register(self.low.ty(v));
                Rep::uniform(ir.load(ty, *slot, 0))
            }
            Saved::SubGroups(places) => {
                let mut parts = Vec::new();
                for (&(ty, _), &place) in self.leaves(v).iter().zip(places) {
                    let (at, size) = self.sub_group_place(ty, place);
                    let part = ir.load(self.low.values.memory(ty), at, size);
                    parts.push(self.low.values.to_register(part, ty));
                }
                let ty = self.low.ty(v);
                Rep::uniform(self.low.join_scalars(ty, &mut parts.into_iter()))
            }
            Saved::Items(places, step) => {
                // Only the lanes of a row have the row's step.
                let once = self.width == 1 || (step.is_some() && self.existing.is_none());
                let mut parts = Vec::new();
                for (&(ty, _), &place) in self.leaves(v).iter().zip(places) {
                    let (at, size) = self.item_place(ty, place);
                    let memory = self.low.values.memory(ty);
                    if once {
                        let part = ir.load(memory, at, size);
                        parts.push(self.low.values.to_register(part, ty));
                    } else {
                        let part = ir.load(ir.vector(memory, self.width), at, size);
                        parts.push(ir.cast(Opcode::LLVMTrunc, part, self.lane_type(ty)));
                    }
                }
                if once {
                    let ty = self.low.ty(v);
                    let first = self.low.join_scalars(ty, &mut parts.into_iter());
                    let step = if self.width == 1 { None } else { *step };
                    Rep::affine(first, step.unwrap_or(0))
                } else {
                    Rep::vector(parts)
                }
            }
        };
        self.block_values.insert(v, rep.clone());
        rep
    }

    /// Saves `v` for later regions.
    pub(super) fn keep(&mut self, v: ValueId) {
        let ir = self.low.ir;
        match self.saved.get(&v).cloned() {
            None => {}
            Some(Saved::Group(_, slot)) => {
                let value = self.scalar(v);
                ir.store(value, slot, 0);
            }
            Some(Saved::SubGroups(places)) => {
                let value = self.scalar(v);
                let mut parts = Vec::new();
                self.low.split_scalars(value, self.low.ty(v), &mut parts);
                for ((&(ty, _), &place), part) in self.leaves(v).iter().zip(&places).zip(parts) {
                    let (at, size) = self.sub_group_place(ty, place);
                    ir.store(self.low.values.to_memory(part, ty), at, size);
                }
            }
            Some(Saved::Items(places, _)) => {
                let parts = if self.width == 1 {
                    let value = self.scalar(v);
                    let mut parts = Vec::new();
                    self.low.split_scalars(value, self.low.ty(v), &mut parts);
                    parts
                } else {
                    self.vectors(v)
                };
                for ((&(ty, _), &place), part) in self.leaves(v).iter().zip(&places).zip(parts) {
                    let (at, size) = self.item_place(ty, place);
                    let memory = ir.shaped(self.low.values.memory(ty), ir.type_of(part));
                    ir.store(ir.cast(Opcode::LLVMZExt, part, memory), at, size);
                }
            }
        }
    }

    /// Address of the sub-group's element in an array of the state area, and the size of an element.
    fn sub_group_place(&self, ty: TypeId, place: u64) -> (Val, u64) {
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(ty).max(1);
        let array = ir.mul(self.items(), ir.i64c(place));
        let width = ir.i64c(u64::from(self.form.width));
        let number = ir.bin(Opcode::LLVMUDiv, self.low.at.item.linear, width);
        let own = ir.mul(number, ir.i64c(size));
        (ir.offset(self.low.state, ir.add(array, own)), size)
    }

    /// Address of the first lane's element in an array of the state area, and the size of an element.
    fn item_place(&self, ty: TypeId, place: u64) -> (Val, u64) {
        let ir = self.low.ir;
        let size = self.low.values.module.types.size_of(ty).max(1);
        let array = ir.mul(self.items(), ir.i64c(place));
        let own = ir.mul(self.low.at.item.linear, ir.i64c(size));
        (ir.offset(self.low.state, ir.add(array, own)), size)
    }
}
