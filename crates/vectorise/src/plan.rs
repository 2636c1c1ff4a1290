//! The plan of a kernel: how its work-items run as lanes of vectors, and where their state lies between barriers.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use kernel_ir::{Function, GroupScope, InstId, Kernel, Op, Transform, ValueDef, ValueId};

use crate::array_layout::private_arrays;
use crate::facts::Facts;
use crate::form_regions::{checked_region, meet_as_a_group, regions};
use crate::input::Input;
use crate::privatise::{self, Privatised};
use crate::region::Region;
use crate::search_loops;
use crate::sub_groups::{self, Rows};
use crate::tighten::{self, Tightening};
use crate::unroll_and_jam::{self, UnrollAndJam};
use crate::width;

/// Instructions of a kernel: a bound on compile time. Kernels of 100 and 200 loads, multiplications and additions took
/// 0.3 of the time as vectors and 6 to 8 times as long to compile; with 400 of them, above the bound, 0.22 of the time
/// and 9 times as long to compile (2026-11, AMD EPYC of Zen 4, two processors). Larger: 21 of 53,220 plans for dpctl
/// and dpnp.
const MOST_INSTRUCTIONS: usize = 1500;
/// Instructions of a kernel with sub-group operations whose rows may have any length: both of its copies have vectors.
/// Beyond, there is one copy at most, for any rows, and only where the kernel has loops: a bound on compile time. Of the
/// plans with sub-group operations for dpctl and dpnp 28 % are larger, with up to 1038 instructions. Loops of 60 to 120
/// multiplications and additions took this part of the time of single work-items with the one copy: with work-groups'
/// barriers 0.11, with a divergent number of rounds 0.22, with 12 contiguous loads 0.07, with 12 scattered ones 0.11;
/// loops of 45 scattered loads 0.78. Without loops 70 scattered loads took 1.06 of it, 70 contiguous ones 2.7
/// (2026-11, AMD EPYC of Zen 4, two processors).
const MOST_WITH_SUB_GROUPS: usize = 200;
/// Instructions of all regions together; a block may be in several. A bound on compile time. Largest in 17,722 modules
/// of dpctl and dpnp: 2054; in our corpora: 528 (2026-11).
const MOST_IN_REGIONS: usize = 4000;
/// Scalars of a value that lives in registers: a bound on compile time. Largest in 17,722 modules of dpctl and dpnp,
/// and in our corpora: 16 (2026-11).
const MOST_SCALARS: usize = 32;
/// Bytes of the private arrays of all lanes, which lie on the stack.
const MOST_PRIVATE_BYTES: u64 = 64 << 10;

/// Why a kernel with barriers has no plan: groups of one row may have one all the same.
pub(crate) const MAY_PART: &str = "work-items may part where they wait for each other";

/// A region and the loops over its chunks.
pub struct RegionPlan {
    /// The code.
    pub region: Region,
    /// How several chunks run together, if they do.
    pub jam: Option<UnrollAndJam>,
    /// The chunks that have work, if some have none. Not together with `jam`.
    pub tightening: Option<Tightening>,
    /// The code with checks, for chunks in which `region.tested` does not hold, and for single work-items.
    pub checked: Option<Region>,
}

/// How a kernel runs as lanes of vectors.
pub struct Plan {
    /// The transform that made the form: loop fission, loop peeling or if-conversion; `None` for the function itself.
    pub transform: Option<Transform>,
    /// Whether it is only for launches whose groups extend in dimension 0 only.
    pub one_row: bool,
    /// Work-items that run as one: lanes of its vectors.
    pub width: u32,
    /// Widths for rows, and ends of rows, that are shorter than `width`; the widest first.
    pub tail_widths: Vec<u32>,
    /// How rows and sub-groups meet, where the lanes are those of a sub-group.
    pub sub_groups: Option<Rows>,
    /// The code between barriers; the first region is the kernel's start.
    pub regions: Vec<RegionPlan>,
    /// The region that begins at each stop.
    pub region_of_stop: Vec<usize>,
    /// Saved values that are the same for the whole group: one variable each.
    pub group_uniform: HashSet<ValueId>,
    /// Other saved values, which have an element for each work-item: byte offsets of their scalars in the state area,
    /// per work-item, and the step from lane to lane where it is known.
    pub per_item: HashMap<ValueId, (Vec<u64>, Option<i64>)>,
    /// The values of `per_item` that are the same for the lanes of a sub-group.
    pub sub_group_uniform: HashSet<ValueId>,
    /// Results of extensions that must not wrap around in a chunk, with the steps of their operands: a test at the
    /// start of each chunk or row makes sure.
    pub no_wrap: Vec<(ValueId, i64)>,
    /// Extensions that never wrap around.
    pub never_wraps: HashSet<InstId>,
    /// Byte offset per work-item, and bytes, of each private array that lives in the state area.
    pub arrays: HashMap<ValueId, (u64, u64)>,
    /// Element sizes of the private arrays that are laid out by lane.
    pub array_elements: HashMap<ValueId, u64>,
    /// The privatised atomics.
    pub privatised: Privatised,
    /// Bytes of state per work-item.
    pub state_bytes: u64,
    /// Predicted cost as lanes, and one work-item after another; `None` where the width was asked for, or is that of a
    /// sub-group.
    pub cost: Option<(u64, u64)>,
}

impl Plan {
    /// Whether lanes are those of a sub-group.
    #[must_use]
    pub fn has_sub_groups(&self) -> bool {
        self.sub_groups.is_some()
    }

    /// Work-items for which state is allocated as a block, even if some of them do not exist.
    #[must_use]
    pub fn items_per_block(&self) -> u32 {
        if self.has_sub_groups() { self.width } else { 1 }
    }

    /// Plans `kernel` with the body of `input`. `copies`: work-items have copies of arguments that they write to.
    /// `wanted`: lanes of kernels without sub-group operations; by speed when `None`.
    ///
    /// # Errors
    /// The reason, for the kernel's author, why it cannot run so.
    pub(crate) fn new(
        input: &Input<'_>,
        kernel: &Kernel,
        copies: bool,
        wanted: Option<u32>,
    ) -> Result<Self, &'static str> {
        if copies {
            return Err("the kernel writes to an argument passed by value");
        }
        let function = input.function;
        let rows = sub_groups::rows(kernel, function, input.sub_group_size);
        if rows.is_some() && !matches!(input.sub_group_size, 4 | 8 | 16 | 32) {
            return Err("it has sub-group operations, and sub-groups of neither 4, 8, 16 nor 32");
        }
        let count = instructions(input)?;
        let rows = bounded_rows(rows, function, count)?;
        let has_stops = !input.segments.stops.is_empty();
        if has_stops && !meet_as_a_group(input) {
            return Err(MAY_PART);
        }
        let Formed {
            width,
            is_doubled,
            facts,
            regions,
        } = formed(input, rows, wanted)?;

        let state = State::new(input, &facts);
        let private = private_bytes(function, width);
        kernel_ir::reach!(MOST_PRIVATE_BYTES, if has_stops { 0 } else { private });
        if !has_stops && private > MOST_PRIVATE_BYTES {
            return Err(
                "its private arrays, for all work-items side by side, take more than 64 KiB",
            );
        }
        let is_tested = regions.iter().any(|region| region.tested.is_some());
        let checked = is_tested.then(|| checked_region(input, &facts));
        if !regions.iter().chain(&checked).all(Region::can_run) {
            return Err(
                "it has a loop with two entries, or work-items may part where they wait for each other",
            );
        }
        let mut region_of_stop = vec![0; input.segments.stops.len()];
        for (i, region) in regions.iter().enumerate() {
            if let Some(stop) = region.after {
                region_of_stop[stop] = i;
            }
        }
        let count = match is_tested {
            true => regions.iter().map(Region::instruction_count).sum(),
            false => count,
        };
        let mut regions: Vec<RegionPlan> = regions
            .into_iter()
            .map(|region| RegionPlan::new(input, region, width, rows, &state))
            .collect();
        // Kernels with two copies have one region.
        if let (Some(only), Some(checked)) = (regions.first_mut(), checked) {
            only.tightening = None;
            only.checked = Some(checked);
        }
        let inst_of = |v: &ValueId| match function.values[v.index()].def {
            ValueDef::Inst(inst) => Some(inst),
            _ => None,
        };
        Ok(Self {
            transform: None,
            one_row: input.one_row,
            width,
            tail_widths: match (rows, wanted) {
                (None, None) => width::tail_widths(input, width, is_doubled, count),
                _ => Vec::new(),
            },
            sub_groups: rows,
            regions,
            region_of_stop,
            group_uniform: state.group_uniform,
            per_item: state.per_item,
            sub_group_uniform: facts.in_sub_group,
            no_wrap: facts.no_wrap,
            never_wraps: facts.never_wraps.iter().filter_map(inst_of).collect(),
            arrays: state.arrays,
            array_elements: facts.arrays.element,
            privatised: match rows {
                None => privatise::privatised(input.module, function),
                Some(_) => Privatised::default(),
            },
            state_bytes: state.bytes.next_multiple_of(64),
            cost: None,
        })
    }
}

impl RegionPlan {
    fn new(
        input: &Input<'_>,
        region: Region,
        width: u32,
        rows: Option<Rows>,
        state: &State,
    ) -> Self {
        let uniform = &state.group_uniform;
        let jam = match rows {
            None => unroll_and_jam::unroll_and_jam(input, uniform, width, &region),
            Some(_) => None,
        };
        let tightening = match jam {
            None => tighten::tighten(input, uniform, &state.per_item, &region, width),
            Some(_) => None,
        };
        Self {
            region,
            jam,
            tightening,
            checked: None,
        }
    }
}

/// The number of instructions of the kernel, if a plan can hold all of them.
fn instructions(input: &Input<'_>) -> Result<usize, &'static str> {
    let (function, types) = (input.function, &input.module.types);
    let mut count = 0;
    for segment in &input.segments.list {
        for inst in &function.blocks[segment.block].insts[segment.insts.clone()] {
            count += 1;
            let inst = &function.insts[inst.index()];
            if matches!(inst.op, Op::Group(_, GroupScope::Workgroup, _)) {
                return Err("it has operations of the whole group");
            }
            let mut scalars = Vec::new();
            if let Some(result) = inst.result {
                types.scalars(function.ty(result), 0, &mut scalars);
            }
            kernel_ir::reach!(MOST_SCALARS, scalars.len());
            if scalars.len() > MOST_SCALARS {
                return Err("it has values of more than 32 scalars outside memory");
            }
        }
    }
    kernel_ir::reach!(MOST_INSTRUCTIONS, count);
    if count > MOST_INSTRUCTIONS {
        return Err("it has more than 1,500 instructions");
    }
    Ok(count)
}

/// The rows for which code is emitted. Larger kernels have one copy of the code.
fn bounded_rows(
    rows: Option<Rows>,
    function: &Function,
    instructions: usize,
) -> Result<Option<Rows>, &'static str> {
    if rows != Some(Rows::Any) {
        return Ok(rows);
    }
    kernel_ir::reach!(MOST_WITH_SUB_GROUPS, instructions);
    if instructions <= MOST_WITH_SUB_GROUPS {
        return Ok(rows);
    }
    if !sub_groups::repeats(function) {
        return Err("it has more than 200 instructions and sub-group operations, and no loops");
    }
    Ok(Some(Rows::Broken))
}

/// A width, the facts about the kernel at that width, and its regions.
struct Formed {
    width: u32,
    /// Whether arithmetic has doubled the width.
    is_doubled: bool,
    facts: Facts,
    regions: Vec<Region>,
}

/// The kernel at its width: the one that is `wanted`, or the one by speed.
fn formed(
    input: &Input<'_>,
    rows: Option<Rows>,
    wanted: Option<u32>,
) -> Result<Formed, &'static str> {
    let mut width = match (rows, wanted) {
        (Some(_), _) => input.sub_group_size,
        (None, Some(wanted)) => wanted,
        (None, None) => width::within_rows(input, width::usual(input)),
    };
    let has_stops = !input.segments.stops.is_empty();
    let one = private_bytes(input.function, 1);
    // Private arrays lie on the stack, or with the values that are saved across stops.
    let fits = |width: u32| has_stops || one.saturating_mul(width.into()) <= MOST_PRIVATE_BYTES;
    while rows.is_none() && wanted.is_none() && width > 8 && !fits(width) {
        width /= 2;
    }
    let mut facts = Facts::new(input, width, rows);
    let mut cut = regions(input, &facts);
    let in_regions: usize = cut.iter().map(Region::instruction_count).sum();
    kernel_ir::reach!(MOST_IN_REGIONS, in_regions);
    if in_regions > MOST_IN_REGIONS {
        return Err("the code between its barriers has more than 4,000 instructions in all");
    }
    let mut is_doubled = false;
    if rows.is_none() && wanted.is_none() {
        let searching = search_loops::wider(input, &cut, width);
        let mut wider = if fits(searching) { searching } else { width };
        if fits(2 * wider) {
            let doubled = width::for_arithmetic(input, &cut, wider);
            is_doubled = doubled != wider;
            wider = doubled;
        }
        if wider != width {
            width = wider;
            facts = Facts::new(input, width, rows);
            cut = regions(input, &facts);
        }
        // Several regions were measured with mask registers only (`reduce` of tests/kernels).
        let is_measured = cut.len() == 1 || input.target.has_mask_registers;
        if is_measured && facts.arrays.element.is_empty() {
            let wider = cut
                .iter()
                .map(|region| width::for_chains(input, region, width));
            width = wider.max().filter(|&wider| fits(wider)).unwrap_or(width);
        }
    }
    Ok(Formed {
        width,
        is_doubled,
        facts,
        regions: cut,
    })
}

/// Bytes of the private arrays of `width` work-items.
fn private_bytes(function: &Function, width: u32) -> u64 {
    let arrays = private_arrays(function);
    let sizes = arrays.iter().map(|p| p.1.next_multiple_of(p.2));
    let one = sizes.fold(0, u64::saturating_add);
    one.saturating_mul(u64::from(width))
}

/// The places in memory of values that are saved across stops.
struct State {
    group_uniform: HashSet<ValueId>,
    per_item: HashMap<ValueId, (Vec<u64>, Option<i64>)>,
    arrays: HashMap<ValueId, (u64, u64)>,
    /// Bytes per work-item.
    bytes: u64,
}

impl State {
    fn new(input: &Input<'_>, facts: &Facts) -> Self {
        let (function, types) = (input.function, &input.module.types);
        let mut state = Self {
            group_uniform: HashSet::new(),
            per_item: HashMap::new(),
            arrays: HashMap::new(),
            bytes: 0,
        };
        if input.segments.stops.is_empty() {
            return state;
        }
        let mut saved: Vec<ValueId> = input.segments.saved.clone();
        // Widest first: every array begins aligned for its elements.
        saved.sort_by_key(|&v| (Reverse(types.align_of(function.ty(v))), v));
        for v in saved {
            if facts.group.contains(&v) {
                state.group_uniform.insert(v);
                continue;
            }
            let mut scalars = Vec::new();
            types.scalars(function.ty(v), 0, &mut scalars);
            let offsets = scalars.iter().map(|&(ty, _)| {
                let size = types.size_of(ty);
                state.bytes = state.bytes.next_multiple_of(size.max(1));
                state.bytes += size;
                state.bytes - size
            });
            let offsets = offsets.collect();
            let step = facts.row_shape(v).step();
            let step = step.filter(|&step| step == 0 || scalars.len() == 1);
            state.per_item.insert(v, (offsets, step));
        }
        for (v, size, align) in private_arrays(function) {
            state.bytes = state.bytes.next_multiple_of(align.max(16));
            let step = size.next_multiple_of(align);
            state.arrays.insert(v, (state.bytes, step));
            state.bytes += step;
        }
        state
    }
}
