//! A region while it is being emitted: the state that the other modules of `lanes` share.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{BlockId, BuildError, Function, InstId, Op, ValueDef, ValueId};
use vectorise::{Chunk, Plan, Region, Representation, Representations, StoreGroup};

use super::rep::{ExistingLanes, Rep, Saved, Span, Stored, UniformStep};
use crate::llvm::{Bb, Val};
use crate::lower::Lower;

/// One region being emitted for `width` lanes.
pub(super) struct Lanes<'l, 'a, 'r> {
    pub(super) low: &'l mut Lower<'a>,
    pub(super) form: &'r Plan,
    pub(super) region: &'r Region,
    pub(super) f: &'r Function,
    pub(super) width: u32,
    /// Shapes of values over the lanes; `None` with one lane.
    pub(super) shapes: Option<&'r Shapes>,
    /// The active mask; `None` if all lanes are active.
    pub(super) mask: Option<Val>,
    /// The lanes that exist and their ids, if the lanes are no part of a row or some of them do not exist.
    pub(super) existing: Option<ExistingLanes>,
    pub(super) saved: &'r HashMap<ValueId, Saved>,
    /// Values that were computed or read in the block at hand.
    pub(super) block_values: HashMap<ValueId, Rep>,
    /// Variables of values that other blocks use.
    pub(super) stored: HashMap<ValueId, Stored>,
    /// Values that come from an earlier region and are made again in this one.
    pub(super) made_again: HashSet<ValueId>,
    /// Phis with uniform-step induction: each iteration changes them by as much in all lanes of a masked chunk.
    pub(super) uniform_steps: HashMap<ValueId, UniformStep>,
    pub(super) block_at_hand: BlockId,
    /// Private arrays: the first lane's address, and the distance in bytes from lane to lane.
    pub(super) arrays: HashMap<ValueId, (Val, u64)>,
    /// Extensions of narrower integers that are known not to wrap around, or were tested.
    pub(super) proved: HashSet<InstId>,
    /// The instruction at hand.
    pub(super) at_hand: Option<InstId>,
    /// Its index in the block at hand.
    pub(super) place_at_hand: usize,
    /// Loaded vectors that still lie in memory, lane after lane: the block that loaded them, and the address. Cleared
    /// by writes.
    pub(super) rows: HashMap<ValueId, (BlockId, Val)>,
    /// Vectors of neighbouring elements that interleaved loads have read. Cleared by writes.
    pub(super) spans: Vec<Span>,
    /// Stores of the block at hand that are written together.
    pub(super) store_groups: Vec<StoreGroup>,
    /// Whether several chunks run jammed.
    pub(super) is_jammed: bool,
    /// How the plan holds each value; `None` until the region's code begins.
    pub(super) held: Option<Representations>,
    /// The block behind the chunk.
    pub(super) done: Bb,
    /// Variable: the number of the region that comes next.
    pub(super) next: Val,
}

/// Makes `local` the local id of the chunk's first work-item.
pub(super) fn place(low: &mut Lower<'_>, local: [Val; 3]) {
    place_among(low, local, [1; 3], [0; 3]);
}

/// The same for `local + more`, where `local` is a multiple of `of`, a power of two greater than `more`. If the group's
/// size is known, masks tell LLVM which bits an id can have.
pub(super) fn place_among(low: &mut Lower<'_>, local: [Val; 3], of: [u64; 3], more: [u64; 3]) {
    let ir = low.ir;
    let mut ids = local;
    for (d, id) in ids.iter_mut().enumerate() {
        match low.group_size {
            Some(size) => {
                let bits = u64::from(size[d]).next_power_of_two() - 1;
                *id = if more[d] < of[d] {
                    let own = ir.and(*id, ir.i64c(bits & !(of[d] - 1)));
                    ir.or(own, ir.i64c(more[d]))
                } else {
                    ir.and(ir.add(*id, ir.i64c(more[d])), ir.i64c(bits))
                };
            }
            None if more[d] == 0 => {}
            None => *id = ir.add(*id, ir.i64c(more[d])),
        }
    }
    let local = ids;
    let row = ir.add(ir.mul(local[2], low.at.launch.size[1]), local[1]);
    low.at.item.linear = ir.add(ir.mul(row, low.at.launch.size[0]), local[0]);
    low.at.item.local = local;
}

impl<'l, 'a, 'r> Lanes<'l, 'a, 'r> {
    pub(super) fn new(
        low: &'l mut Lower<'a>,
        form: &'r Plan,
        region: &'r Region,
        width: u32,
        saved: &'r HashMap<ValueId, Saved>,
        done: Bb,
        next: Val,
    ) -> Self {
        let mut lanes = Self {
            low,
            form,
            region,
            f: &region.function,
            width,
            shapes: if width > 1 {
                region.shapes.as_ref()
            } else {
                None
            },
            mask: None,
            existing: None,
            saved,
            block_values: HashMap::new(),
            stored: HashMap::new(),
            made_again: HashSet::new(),
            uniform_steps: HashMap::new(),
            block_at_hand: BlockId(0),
            arrays: HashMap::new(),
            proved: form.never_wraps.clone(),
            at_hand: None,
            place_at_hand: 0,
            rows: HashMap::new(),
            spans: Vec::new(),
            store_groups: Vec::new(),
            is_jammed: false,
            held: None,
            done,
            next,
        };
        lanes.place_arrays();
        lanes
    }

    /// Computes the addresses of private arrays.
    pub(super) fn place_arrays(&mut self) {
        let ir = self.low.ir;
        for (v, size, align) in vectorise::private_arrays(self.low.function) {
            let element = self.form.array_elements.get(&v).copied();
            let (at, step) = match self.form.arrays.get(&v) {
                Some(&(offset, step)) => {
                    let items = ir.mul(self.items(), ir.i64c(offset));
                    let linear = self.low.at.item.linear;
                    let own = match element {
                        None => ir.mul(linear, ir.i64c(step)),
                        // Chunk after chunk, and lane after lane within each chunk.
                        Some(element) => {
                            let lanes = u64::from(self.form.width);
                            let lane = ir.and(linear, ir.i64c(lanes - 1));
                            let chunk = ir.mul(ir.sub(linear, lane), ir.i64c(step));
                            ir.add(chunk, ir.mul(lane, ir.i64c(element)))
                        }
                    };
                    let at = ir.offset(self.low.state, ir.add(items, own));
                    (at, element.unwrap_or(step))
                }
                None => {
                    let step = size.next_multiple_of(align);
                    let lanes = match element {
                        None => self.width,
                        Some(_) => self.form.width,
                    };
                    let all = ir.array(ir.i8, step * u64::from(lanes));
                    // In an array laid out by lane, the lanes' elements at one index form a vector.
                    let align = element.map_or(align, |_| align.max(64));
                    (self.low.entry_alloca(all, align), element.unwrap_or(step))
                }
            };
            self.arrays.insert(v, (at, step));
        }
    }

    /// Work-items that the state area has space for.
    pub(super) fn items(&self) -> Val {
        let ir = self.low.ir;
        let items = self.low.at.launch.items;
        if !self.form.has_sub_groups() {
            return items;
        }
        let last = u64::from(self.form.width - 1);
        ir.and(ir.add(items, ir.i64c(last)), ir.i64c(!last))
    }

    /// The instruction that makes `v`, and its operation.
    pub(super) fn made_by(&self, v: ValueId) -> Option<(InstId, &'r Op)> {
        match self.f.values[v.index()].def {
            ValueDef::Inst(inst) => Some((inst, &self.f.insts[inst.index()].op)),
            _ => None,
        }
    }

    /// Asks the crate `vectorise` how the region's values are held.
    pub(super) fn plan_values(&mut self, is_jammed: bool) {
        self.is_jammed = is_jammed;
        let (input, width) = (self.low.input(), self.width);
        let held = Representations::new(&input, self.form, self.region, width, self.chunk());
        self.held = Some(held);
    }

    /// How the plan holds `v` in the block that makes it.
    pub(super) fn planned(&self, v: ValueId) -> Representation {
        let held = self.held.as_ref();
        held.map_or(Representation::Uniform, |held| held.of(v))
    }

    /// Which work-items the lanes are.
    pub(super) fn chunk(&self) -> Chunk {
        match self.existing {
            Some(_) => Chunk::Masked,
            None if self.is_jammed => Chunk::Jammed,
            None => Chunk::Row,
        }
    }

    pub(super) fn shape(&self, v: ValueId) -> Shape {
        self.shapes.map_or(Shape::Uniform, |shapes| shapes.of(v))
    }

    pub(super) fn run(&mut self) -> Result<(), BuildError> {
        self.plan_values(false);
        let result = self.flow();
        self.low.clear_block_values();
        result
    }
}
