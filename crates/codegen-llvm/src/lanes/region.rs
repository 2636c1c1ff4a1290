//! One region being emitted for some lanes.

use std::collections::{HashMap, HashSet};

use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::{BlockId, BuildError, Function, InstId, Op, ValueDef, ValueId};
use vectorise::{Chunk, Plan, Region, Representations, StoreGroup};

use super::rep::{Convoy, Kept, Present, Rep, Span, Stored};
use crate::llvm::{Bb, Val};
use crate::lower::Lower;

/// One region being emitted for `width` lanes.
pub(super) struct Lanes<'l, 'a, 'r> {
    pub(super) low: &'l mut Lower<'a>,
    pub(super) form: &'r Plan,
    pub(super) region: &'r Region,
    pub(super) f: &'r Function,
    pub(super) width: u32,
    /// None with one lane: nothing differs.
    pub(super) shapes: Option<&'r Shapes>,
    /// The running lanes; `None`: all.
    pub(super) mask: Option<Val>,
    /// Lanes that are no row, or not all there.
    pub(super) present: Option<Present>,
    pub(super) kept: &'r HashMap<ValueId, Kept>,
    /// Values of the block at hand.
    pub(super) near: HashMap<ValueId, Rep>,
    /// Values that other blocks use.
    pub(super) stored: HashMap<ValueId, Stored>,
    /// Values that other blocks than their own use.
    pub(super) crossing: HashSet<ValueId>,
    /// Values that come from an earlier region and are made in this one again.
    pub(super) twice: HashSet<ValueId>,
    /// Values that are used behind the divergent loop that makes them.
    pub(super) left_uses: HashMap<ValueId, u32>,
    /// Those of them that wait in memory, whatever LLVM thinks of it: there are more than registers.
    pub(super) away: HashSet<ValueId>,
    /// Integers of loops, for lanes that are no row, that change by as much in all of them.
    pub(super) convoys: HashMap<ValueId, Convoy>,
    pub(super) block_at_hand: BlockId,
    /// Private arrays: first lane's address and the distance to the next one's.
    pub(super) arrays: HashMap<ValueId, (Val, u64)>,
    /// Extensions of narrower integers that were found not to wrap around.
    pub(super) proved: HashSet<InstId>,
    /// The instruction at hand.
    pub(super) at_hand: Option<InstId>,
    /// Its place in the block at hand.
    pub(super) place_at_hand: usize,
    /// Addresses of rows that were loaded, for all lanes, in the block that is named; as long as nothing is written.
    pub(super) rows: HashMap<ValueId, (BlockId, Val)>,
    /// Rows that were read for lanes some elements apart; as long as nothing is written.
    pub(super) spans: Vec<Span>,
    /// Stores of the block at hand that are written together.
    pub(super) store_groups: Vec<StoreGroup>,
    /// Whether several chunks run together.
    pub(super) is_jammed: bool,
    /// How values are held; none before the region's code begins.
    pub(super) held: Option<Representations>,
    /// Where the chunk is done.
    pub(super) done: Bb,
    /// Which region comes next.
    pub(super) next: Val,
}

/// Makes `local` the local id of the work-item at hand, the chunk's first.
pub(super) fn place(low: &mut Lower<'_>, local: [Val; 3]) {
    place_among(low, local, [1; 3], [0; 3]);
}

/// The same for `local` + `more`, where `local` is a multiple of `of`, a power of two greater than `more`. Where
/// the group's size is known LLVM is told which bits an id can have.
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
    let row = ir.add(ir.mul(local[2], low.launch.size[1]), local[1]);
    low.item.linear = ir.add(ir.mul(row, low.launch.size[0]), local[0]);
    low.item.local = local;
}

impl<'l, 'a, 'r> Lanes<'l, 'a, 'r> {
    pub(super) fn new(
        low: &'l mut Lower<'a>,
        form: &'r Plan,
        region: &'r Region,
        width: u32,
        kept: &'r HashMap<ValueId, Kept>,
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
            present: None,
            kept,
            near: HashMap::new(),
            stored: HashMap::new(),
            crossing: HashSet::new(),
            twice: HashSet::new(),
            left_uses: HashMap::new(),
            away: HashSet::new(),
            convoys: HashMap::new(),
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

    /// Addresses of the private arrays.
    pub(super) fn place_arrays(&mut self) {
        let ir = self.low.ir;
        for (v, size, align) in vectorise::private_arrays(self.low.function) {
            let element = self.form.array_elements.get(&v).copied();
            let (at, step) = match self.form.arrays.get(&v) {
                Some(&(offset, step)) => {
                    let items = ir.mul(self.items(), ir.i64c(offset));
                    let linear = self.low.item.linear;
                    let own = match element {
                        None => ir.mul(linear, ir.i64c(step)),
                        // Chunk after chunk, and in it lane after lane.
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
                    // Laid out by lane, an element is a vector.
                    let align = element.map_or(align, |_| align.max(64));
                    (self.low.room(all, align), element.unwrap_or(step))
                }
            };
            self.arrays.insert(v, (at, step));
        }
    }

    /// Work-items that the state area has room for.
    pub(super) fn items(&self) -> Val {
        let ir = self.low.ir;
        let items = self.low.launch.items;
        if !self.form.has_sub_groups() {
            return items;
        }
        let last = u64::from(self.form.width - 1);
        ir.and(ir.add(items, ir.i64c(last)), ir.i64c(!last))
    }

    /// The instruction that makes `v`, and what it does.
    pub(super) fn made_by(&self, v: ValueId) -> Option<(InstId, &'r Op)> {
        match self.f.values[v.index()].def {
            ValueDef::Inst(inst) => Some((inst, &self.f.insts[inst.index()].op)),
            _ => None,
        }
    }

    /// Finds how the region's values are held.
    pub(super) fn plan_values(&mut self, is_jammed: bool) {
        self.is_jammed = is_jammed;
        let (input, width) = (self.low.input(), self.width);
        let held = Representations::new(&input, self.form, self.region, width, self.chunk());
        self.held = Some(held);
    }

    /// What the lanes are.
    pub(super) fn chunk(&self) -> Chunk {
        match self.present {
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
        self.low.clear_near();
        result
    }
}
