//! Loads and stores whose lanes are a few elements apart: `a[2 * i]`, or a member of a structure.
//!
//! Loads of a structure's members share the vector accesses that cover all of them ([`load_span`]). Stores to a
//! structure's members wait for the last of them, which writes whole vectors ([`store_groups`]):
//!
//! ```text
//! store %p.x, %x        offset 0, 8 bytes from lane to lane    waits
//! store %p.y, %y        offset 4, 8 bytes from lane to lane    writes the vectors x0 y0 x1 y1 x2 y2 ...
//! ```

use kernel_ir::index::{IndexFacts, terms};
use kernel_ir::passes::shape::MAX_NEAR_STRIDE;
use kernel_ir::{BlockId, Function, InstId, Module, Op, Type, ValueId};

use crate::access::Accesses;
use crate::input::Input;
use crate::target::TargetInfo;

/// Instructions after a load that are searched for loads of the same structure: a bound on compile time. Largest in
/// 17,722 modules of dpctl and dpnp: 16; in our corpora: 104 (2026-11).
const BEHIND: usize = 256;

/// An address without its constant offset: base, index and stride.
pub type Origin = (ValueId, Option<(ValueId, i64)>);

/// The origin of an address, and its constant offset in bytes.
#[must_use]
pub fn origin(function: &Function, ptr: ValueId) -> (Origin, i64) {
    let (mut base, mut distance) = (ptr, 0i64);
    for term in terms(function, ptr) {
        base = term.base;
        distance = distance.wrapping_add(term.offset);
        if term.index.is_some() {
            return ((base, term.index), distance);
        }
    }
    ((base, None), distance)
}

/// A store of one element for each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The store.
    pub inst: InstId,
    /// Its address.
    pub ptr: ValueId,
    /// Its value.
    pub value: ValueId,
    /// Its alignment in bytes.
    pub align: u64,
    /// Offset in bytes from the origin.
    pub distance: i64,
}

/// Stores of a block to different members of the same structures. The last of them writes them all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreGroup {
    /// The stores, in the block's order.
    pub members: Vec<Member>,
    /// Elements of the structure.
    pub element_step: u32,
    /// Elements of the first vector before the lowest member: vectors begin where cache lines probably do.
    pub lead: u64,
    /// Constant offset of the lowest member.
    pub low: i64,
}

/// Elements of the largest structures that LLVM interleaves well by itself. Structures of more elements take too many
/// shuffles where there are neither blends by masks nor shuffles of two registers.
#[must_use]
pub fn plain_interleaving(target: &TargetInfo) -> u32 {
    if target.has_mask_registers { 3 } else { 4 }
}

/// The groups of `block`; none if `masked`: some lanes may be inactive.
#[must_use]
pub fn store_groups(accesses: &Accesses<'_>, block: BlockId, masked: bool) -> Vec<StoreGroup> {
    if !accesses
        .input
        .module
        .uses(kernel_ir::Transform::InterleavedStores)
    {
        return Vec::new();
    }
    groups(accesses, block, masked, &mut 0)
}

/// `visits` counts the instructions visited.
fn groups(
    accesses: &Accesses<'_>,
    block: BlockId,
    masked: bool,
    visits: &mut usize,
) -> Vec<StoreGroup> {
    let (input, region) = (accesses.input, accesses.region);
    let function = &region.function;
    let facts = IndexFacts::new(input.module, function);
    let mut groups: Vec<StoreGroup> = Vec::new();
    let mut seen: Vec<InstId> = Vec::new();
    let insts = &function.blocks[block.index()].insts;
    for (place, &inst) in insts.iter().enumerate() {
        let Op::Store {
            ptr,
            value,
            volatile: false,
            ..
        } = function.insts[inst.index()].op
        else {
            continue;
        };
        let element_step = accesses.element_step(ptr, function.ty(value), block, masked);
        let Some(element_step) = element_step
            .filter(|element_step| (2..=MAX_NEAR_STRIDE.cast_signed()).contains(element_step))
        else {
            continue;
        };
        if seen.last() == Some(&inst) || seen.contains(&inst) {
            continue;
        }
        let members = stored_from(accesses, block, place, element_step, visits);
        seen.clear();
        seen.extend(members.iter().map(|member| member.inst));
        let is_one = |member: &Member| {
            let ty = function.ty(member.value);
            accesses.element_step(member.ptr, ty, block, masked) == Some(element_step)
        };
        if members.iter().all(is_one)
            && let Some(group) = group(input, &facts, function, members, element_step)
        {
            groups.push(group);
        }
    }
    groups
}

/// The group that these members form, if it is worthwhile.
fn group(
    input: &Input<'_>,
    facts: &IndexFacts<'_>,
    function: &Function,
    members: Vec<Member>,
    element_step: i64,
) -> Option<StoreGroup> {
    let (target, types) = (&input.target, &input.module.types);
    let lowest = *members.iter().min_by_key(|member| member.distance)?;
    let high = members.iter().map(|member| member.distance).max()?;
    let ty = function.ty(members.last()?.value);
    let size = types.size_of(ty);
    let element_step = u32::try_from(element_step).ok()?;
    let is_whole = members.len() == element_step as usize;
    let lead = match is_whole {
        true if target.has_mask_registers || element_step <= plain_interleaving(target) => 0,
        // Vectors that are partly masked anyway begin where cache lines do.
        _ if target.has_mask_registers && target.has_masked(types, ty) => {
            let lead = lead(
                facts,
                function,
                target,
                lowest.ptr,
                u64::from(element_step),
                size,
            );
            let span = (high - lowest.distance).cast_unsigned();
            let is_inside = |lead: &u64| lead * size + span < u64::from(element_step) * size;
            lead.filter(is_inside).unwrap_or(0)
        }
        _ => return None,
    };
    Some(StoreGroup {
        members,
        element_step,
        lead,
        low: lowest.distance,
    })
}

/// The store at `place` and the stores that follow it to other members of the same structures, with no other access to
/// memory between them.
fn stored_from(
    accesses: &Accesses<'_>,
    block: BlockId,
    place: usize,
    element_step: i64,
    visits: &mut usize,
) -> Vec<Member> {
    let (region, types) = (accesses.region, &accesses.input.module.types);
    let function = &region.function;
    let mut members: Vec<Member> = Vec::new();
    let mut first: Option<(Origin, u64, bool)> = None;
    for &inst in &function.blocks[block.index()].insts[place..] {
        *visits += 1;
        let op = &function.insts[inst.index()].op;
        if op.is_pure() && !matches!(op, Op::Load { .. }) {
            continue;
        }
        let Op::Store {
            ptr,
            value,
            align,
            volatile: false,
        } = *op
        else {
            break;
        };
        let ty = function.ty(value);
        let size = types.size_of(ty);
        let is_pointer = matches!(types.get(ty), Type::Ptr(_));
        let (from, distance) = origin(function, ptr);
        let (like, is_first) = (
            *first.get_or_insert((from, size, is_pointer)),
            members.is_empty(),
        );
        let is_alike = (from, size, is_pointer) == like && types.scalar_of(ty) == Some(ty);
        let bytes = size.cast_signed();
        // All members lie within one structure, and no two overlap.
        let fits = |other: &Member| {
            distance
                .checked_sub(other.distance)
                .is_some_and(|distance| {
                    distance != 0
                        && distance % bytes == 0
                        && distance.unsigned_abs() < (element_step * bytes).unsigned_abs()
                })
        };
        let is_local = is_made_in(accesses, block, ptr);
        if !is_alike || !members.iter().all(fits) || !(is_first || is_local) {
            break;
        }
        members.push(Member {
            inst,
            ptr,
            value,
            align,
            distance,
        });
        if !is_local {
            break;
        }
    }
    members
}

/// Whether `block` computes the address from its origin on: then all such addresses of an origin are held alike.
fn is_made_in(accesses: &Accesses<'_>, block: BlockId, ptr: ValueId) -> bool {
    let region = accesses.region;
    for term in terms(&region.function, ptr) {
        if region.block_of(term.ptr) != Some(block) {
            return false;
        }
        if term.index.is_some() {
            break;
        }
    }
    true
}

/// The lowest and the highest constant offset among the load at `place`, an element of `size` bytes whose lanes are
/// `step` bytes apart, and the loads after it of members of the same structures.
#[must_use]
pub fn load_span(
    module: &Module,
    function: &Function,
    insts: &[InstId],
    ptr: ValueId,
    (size, step): (u64, i64),
) -> (i64, i64) {
    let (from, offset) = origin(function, ptr);
    let bytes = size.cast_signed();
    let (mut low, mut high) = (offset, offset);
    for (behind, inst) in insts.iter().take(BEHIND).enumerate() {
        kernel_ir::reach!(BEHIND, behind + 1);
        let inst = &function.insts[inst.index()];
        if !inst.op.is_pure() {
            break;
        }
        let (Op::Load { ptr, .. }, Some(result)) = (&inst.op, inst.result) else {
            continue;
        };
        let (other, at) = origin(function, *ptr);
        let (lower, upper) = (low.min(at), high.max(at));
        // All of them lie in one structure, so that the vectors read them anyway.
        let fits = upper
            .checked_sub(lower)
            .is_some_and(|distance| distance % bytes == 0 && distance <= step.abs() - bytes);
        if other == from && fits && module.types.size_of(function.ty(result)) == size {
            (low, high) = (lower, upper);
        }
    }
    (low, high)
}

/// Elements from an address at which a cache line probably begins to the first lane's element, where masks make it
/// cheap to begin there. A guess: any number below `element_step` is correct.
#[must_use]
pub fn lead(
    facts: &IndexFacts<'_>,
    function: &Function,
    target: &TargetInfo,
    ptr: ValueId,
    element_step: u64,
    size: u64,
) -> Option<u64> {
    if !target.has_mask_registers || !element_step.is_power_of_two() {
        return None;
    }
    let bytes = terms(function, ptr).fold(0u64, |bytes, term| {
        let scaled = term.index.map_or(0, |(index, stride)| {
            let index = facts.constant_term(index);
            index.wrapping_mul(stride.cast_unsigned())
        });
        let bytes = bytes.wrapping_add(term.offset.cast_unsigned());
        bytes.wrapping_add(scaled)
    });
    Some(bytes / size % element_step)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::forms::{first_plan, forms};
    use crate::representation::{Chunk, Representations};
    use crate::segments::{LaneOrder, Segments};

    /// A kernel of `count` stores, `element_step` bytes from one to the next. Their lanes are 8 bytes apart.
    fn stores(count: usize, element_step: usize) -> String {
        let mut text = "kernel @k(%out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
"
        .to_owned();
        for i in 0..count {
            let at = i * element_step;
            writeln!(text, "  %p{i}: ptr<global> = offset %out [%g * 8 + {at}]").expect("a string");
            writeln!(text, "  store %p{i}, %n align 4").expect("a string");
        }
        text + "  ret\n}"
    }

    /// The number of instructions visited to group the stores of such a kernel.
    fn visits(text: &str) -> usize {
        let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let kernel = &module.kernels[0];
        let function = &module.functions[kernel.function.index()];
        let segments = Segments::new(function, &module.constants, None, LaneOrder::Lockstep);
        let input = Input {
            module: &module,
            function,
            segments: &segments,
            group_size: None,
            one_row: false,
            sub_group_size: 8,
            target: TargetInfo::x86_64("x86-64-v3", ""),
        };
        let planned = first_plan(&input, forms(&[], function), kernel, false, Some(8));
        let plan = planned.map(|planned| planned.plan);
        let plan = plan.unwrap_or_else(|why| panic!("{why:?}\n{text}"));
        let region = &plan.regions[0].region;
        let held = Representations::new(&input, &plan, region, 8, Chunk::Row);
        let accesses = Accesses {
            input: &input,
            plan: &plan,
            region,
            held: &held,
            width: 8,
            chunk: Chunk::Row,
        };
        let mut visits = 0;
        groups(&accesses, BlockId(0), false, &mut visits);
        visits
    }

    #[test]
    fn each_store_is_looked_at_a_few_times() {
        // Each store alone, in pairs, and overlapping with others.
        for element_step in [64, 4, 12] {
            let [few, many] = [70, 700].map(|count| visits(&stores(count, element_step)));
            assert!((70..=70 * 6).contains(&few), "{element_step}: {few}");
            assert!(many <= 10 * few + 20, "{element_step}: {few} and {many}");
        }
    }
}
