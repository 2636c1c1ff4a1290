//! Runs the work-items of a kernel as lanes of vectors, as the plan of the crate `vectorise` says.
//!
//! A *chunk* is W consecutive work-items of a row that run as one. A value that is the same for all of them is a
//! scalar; any other is a scalar and a step from lane to lane, or a vector:
//!
//! ```text
//! out[i] = a[i] * factor         i: the work-item's id; W = 8
//!
//! i        scalar, step 1        the first lane's id
//! &a[i]    scalar, step 4        the first lane's address
//! a[i]     vector                one load of <8 x float>
//! factor   scalar                broadcast where the product needs it
//! out[i]                         one store of <8 x float>
//! ```
//!
//! In a kernel with sub-group operations a chunk is a sub-group: its operations are operations on vectors
//! (`collective`).
//!
//! The plan cuts a kernel at its work-group barriers into *regions*: code without stops, with or without loops. All
//! work-items of the group run a region, chunk by chunk, before the next region begins. Values that a later region
//! needs are saved in the state area, one array for each. Some work-items need other copies of the region:
//!
//! - the rest of a row that is shorter than W: copies with fewer lanes, the last of them with one;
//! - a chunk for which a test at its start fails: one work-item after another;
//! - a sub-group that is no part of a row, or not complete: under a mask of the lanes that exist, each with ids of its
//!   own (`sub_group`).
//!
//! | question | modules |
//! |---|---|
//! | loops over regions and chunks | this one, `sub_group` |
//! | loops over several chunks, over fewer chunks | `unroll_and_jam`, `tighten` (iteration ranges) |
//! | tests at the start of chunks | `versioning` |
//! | the region being emitted, its branches and loops | `region`, `flow` |
//! | how values are held | `rep`, `values`, `tuples` |
//! | arithmetic | `operate`, `clamp`, `divide` |
//! | memory | `memory`, `gather`, `piecewise` (piecewise-contiguous loads) |
//! | interleaved accesses | `interleaved_loads`, `interleaved_stores` |
//! | atomic operations | `atomic`, `privatise` |
//! | sub-group operations | `collective` |
//!
//! Kernels whose lanes may diverge at a barrier, and kernels with irreducible loops, have no plan.

mod atomic;
mod clamp;
mod collective;
mod divide;
mod flow;
mod gather;
mod interleaved_loads;
mod interleaved_stores;
mod memory;
mod operate;
mod piecewise;
mod privatise;
mod region;
mod rep;
mod sub_group;
mod tighten;
mod tuples;
mod unroll_and_jam;
mod values;
mod versioning;

use std::collections::HashMap;

use kernel_ir::{BuildError, ValueId};
use vectorise::{Plan, Region, RegionPlan, UnrollAndJam};

use crate::llvm::{Bb, IntPred, Val};
use crate::lower::Lower;
use region::{Lanes, place, place_among};
use rep::Saved;
use unroll_and_jam::Instance;

/// Where a chunk of a tightened row has no more than `width / FEW` work-items with work, these run one after another.
const FEW: u64 = 4;
/// Emits the loops over regions and work-items where the builder stands, then jumps to `done`.
pub(crate) fn emit(low: &mut Lower<'_>, form: &Plan, done: Bb) -> Result<(), BuildError> {
    let ir = low.ir;
    low.record.stride = form.state_bytes.max(1);
    let mut saved = HashMap::new();
    // Sorted, so that a kernel always gives the same LLVM text.
    let mut uniform: Vec<ValueId> = form.group_uniform.iter().copied().collect();
    uniform.sort_unstable_by_key(|v| v.index());
    for v in uniform {
        let ty = low.values.register(low.ty(v));
        saved.insert(
            v,
            Saved::Group(low.entry_alloca(ty, 0), low.entry_alloca(ty, 0)),
        );
    }
    for (&v, (places, step)) in &form.per_item {
        let places = places.clone();
        let kind = match form.sub_group_uniform.contains(&v) {
            true => Saved::SubGroups(places),
            false => Saved::Items(places, *step),
        };
        saved.insert(v, kind);
    }
    let next = low.entry_alloca(ir.i32, 4);
    let heads: Vec<Bb> = form
        .regions
        .iter()
        .map(|_| low.new_block(c"region"))
        .collect();
    ir.br(heads[0]);
    for (i, region_plan) in form.regions.iter().enumerate() {
        let region = &region_plan.region;
        ir.at_end(heads[i]);
        match form.sub_groups {
            Some(rows) => sub_group::chunks(low, form, rows, region_plan, &saved, next)?,
            None => chunks(low, form, region_plan, &saved, next)?,
        }
        // The stops where the region may end; usually one.
        let mut ways: Vec<usize> = region.exits.values().flatten().copied().collect();
        ways.sort_unstable();
        ways.dedup();
        let mut written: Vec<ValueId> = ways
            .iter()
            .flat_map(|&stop| low.segments.stops[stop].live.iter().copied())
            .collect();
        written.sort_unstable();
        written.dedup();
        for v in written {
            if let Some(Saved::Group(read, write)) = saved.get(&v) {
                let ty = low.values.register(low.ty(v));
                ir.store(ir.load(ty, *write, 0), *read, 0);
            }
        }
        let returns = region.returns;
        let target = |stop: usize| form.region_of_stop[stop];
        match (ways.as_slice(), returns) {
            ([], _) => ir.br(done),
            ([one], false) => ir.br(heads[target(*one)]),
            _ => {
                let which = ir.load(ir.i32, next, 4);
                let cases: Vec<(Val, Bb)> = ways
                    .iter()
                    .map(|&stop| {
                        let at = target(stop);
                        (ir.i32c(at as u32), heads[at])
                    })
                    .collect();
                ir.switch(which, done, &cases);
            }
        }
    }
    Ok(())
}

/// Emits the loops that run all work-items of a group through one region.
fn chunks(
    low: &mut Lower<'_>,
    form: &Plan,
    plan: &RegionPlan,
    saved: &HashMap<ValueId, Saved>,
    next: Val,
) -> Result<(), BuildError> {
    let ir = low.ir;
    let region = &plan.region;
    let (jam, narrow) = (plan.jam.as_ref(), plan.tightening.as_ref());
    let width = u64::from(form.width);
    let [x, y, z, i, end] = [0; 5].map(|_| low.entry_alloca(ir.i64, 8));
    let get = |v: Val| ir.load(ir.i64, v, 8);
    let put = |value: Val, to: Val| ir.store(value, to, 8);
    let [plane, row, chunk, one, row_end, plane_end, region_end] = [
        c"plane",
        c"row",
        c"chunk",
        c"one",
        c"row.end",
        c"plane.end",
        c"region.end",
    ]
    .map(|name| low.new_block(name));
    let [sx, sy, sz] = low.launch.size;
    // The end of the row's work, if the row is tightened.
    let row_stop = narrow.map(|_| low.entry_alloca(ir.i64, 8));
    let length = || row_stop.map_or(sx, get);
    // Facts about all rows, known if the group's size is.
    let whole_rows = low
        .group_size
        .is_some_and(|size| u64::from(size[0]).is_multiple_of(width));
    let one_chunk = whole_rows && low.group_size.is_some_and(|s| u64::from(s[0]) == width);
    // Advances along the row by `by` work-items: to `again`, or to `after` at the row's end.
    let advance = |by: u64, again: Bb, after: Bb| {
        if one_chunk {
            ir.br(after);
            return;
        }
        put(ir.add(get(x), ir.i64c(by)), x);
        let more = ir.icmp(IntPred::LLVMIntULT, get(x), length());
        ir.cond_br(more, again, after);
    };
    let rows = jam.map_or(1, |jam| u64::from(jam.rows));
    let several = jam.map_or(1, |jam| u64::from(jam.chunks));
    // A strip is the neighbouring rows that run jammed. If its test fails in a chunk, its rows run one after another,
    // each from that chunk on: `begun` is the chunk's first id, `strip_end` the row behind the strip.
    let [begun, strip_end] = [0; 2].map(|_| low.entry_alloca(ir.i64, 8));
    put(ir.i64c(0), z);
    ir.br(plane);
    ir.at_end(plane);
    put(ir.i64c(0), y);
    put(ir.i64c(0), strip_end);
    ir.br(row);
    ir.at_end(row);
    put(ir.i64c(0), x);
    if let (Some(narrow), Some(row_stop)) = (narrow, row_stop) {
        let here = [ir.i64c(0), get(y), get(z)];
        place(low, here);
        let once = ir.icmp(IntPred::LLVMIntEQ, ir.or(here[1], here[2]), ir.i64c(0));
        let mut lanes = Lanes::new(low, form, region, form.width, saved, row_end, next);
        let [from, to] = lanes.tightened(narrow, sx, once);
        put(from, x);
        put(to, row_stop);
        let some = low.new_block(c"row.some");
        ir.cond_br(ir.icmp(IntPred::LLVMIntULT, from, to), some, row_end);
        ir.at_end(some);
    }
    // Assumptions about a whole row are tested once per row.
    let whole_row = match jam {
        None if !form.no_wrap.is_empty() => {
            if !form.arrays.is_empty() {
                // The addresses of private arrays depend on the work-item at hand.
                place(low, [ir.i64c(0), get(y), get(z)]);
            }
            Lanes::new(low, form, region, form.width, saved, row_end, next).check_row([y, z])
        }
        _ => None,
    };
    if let Some(holds) = whole_row {
        let (other, in_order) = (low.new_block(c"row.wraps"), low.new_block(c"row.holds"));
        ir.cond_br(holds, in_order, other);
        ir.at_end(other);
        put(get(x), i);
        put(length(), end);
        ir.br(one);
        ir.at_end(in_order);
    }
    let mut alone = true;
    if let Some(jam) = jam
        && rows > 1
    {
        let strip = low.new_block(c"strip");
        let strip_done = low.new_block(c"strip.done");
        let strip_next = low.new_block(c"strip.next");
        let certain = whole_rows
            && low
                .group_size
                .is_some_and(|size| u64::from(size[1]).is_multiple_of(rows));
        // If certain, strips begin at multiples of their number of rows.
        let strip_of = if certain { rows } else { 1 };
        let known = certain && form.no_wrap.is_empty() && jam.assumed_uniform.is_empty();
        if known {
            alone = false;
            ir.br(strip);
        } else {
            let inside = ir.icmp(IntPred::LLVMIntULT, get(y), get(strip_end));
            put(ir.select(inside, get(begun), ir.i64c(0)), x);
            let fits = ir.icmp(IntPred::LLVMIntULE, ir.add(get(y), ir.i64c(rows)), sy);
            let rest = ir.and(sx, ir.i64c(width - 1));
            let whole = ir.icmp(IntPred::LLVMIntEQ, rest, ir.i64c(0));
            let can = ir.and(ir.and(fits, whole), ir.not(inside));
            ir.cond_br(can, strip, chunk);
        }
        ir.at_end(strip);
        kernel_ir::mark!(JamRows);
        let here = [x, y, z].map(get);
        let all = (0..rows).map(|r| {
            place_among(low, here, [1, strip_of, 1], [0, r, 0]);
            Instance::new(low.item)
        });
        let all = all.collect();
        let failed = in_step(low, form, region, jam, all, saved, strip_done, next)?;
        if let Some(failed) = failed {
            ir.at_end(failed);
            put(get(x), begun);
            put(ir.add(get(y), ir.i64c(rows)), strip_end);
            ir.br(chunk);
        }
        ir.at_end(strip_done);
        advance(width, strip, strip_next);
        ir.at_end(strip_next);
        put(ir.add(get(y), ir.i64c(rows)), y);
        let more = ir.icmp(IntPred::LLVMIntULT, get(y), sy);
        ir.cond_br(more, row, plane_end);
    } else {
        ir.br(chunk);
    }
    if !alone {
        // No jump leads to these blocks; they still need a terminator.
        for at in [chunk, one] {
            ir.at_end(at);
            ir.br(row_end);
        }
    } else {
        ir.at_end(chunk);
        let mut may_fail = true;
        if narrow.is_some_and(|narrow| narrow.scattered) {
            put(get(x), i);
            put(length(), end);
            ir.br(one);
        } else {
            if let Some(jam) = jam
                && several > 1
            {
                let [many, few, many_done] =
                    [c"several", c"few", c"several.done"].map(|name| low.new_block(name));
                let left = ir.sub(sx, get(x));
                let enough = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(width * several));
                ir.cond_br(enough, many, few);
                ir.at_end(many);
                kernel_ir::mark!(JamRow);
                let here = [x, y, z].map(get);
                let all = (0..several).map(|c| {
                    place_among(low, here, [1; 3], [0; 3]);
                    let x = ir.add(low.item.local[0], ir.i64c(c * width));
                    place(low, [x, here[1], here[2]]);
                    Instance::new(low.item)
                });
                let all = all.collect();
                let failed = in_step(low, form, region, jam, all, saved, many_done, next)?;
                if let Some(failed) = failed {
                    ir.at_end(failed);
                    ir.br(few);
                }
                ir.at_end(many_done);
                advance(width * several, chunk, row_end);
                ir.at_end(few);
            }
            let [vector, vector_done] = [c"vector", c"vector.done"].map(|name| low.new_block(name));
            if whole_rows {
                ir.br(vector);
            } else {
                // Does a whole chunk fit?
                let left = ir.sub(sx, get(x));
                let mut whole = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(width));
                if row_stop.is_some() {
                    // So few remaining work-items are faster one after another.
                    let rest = ir.sub(length(), get(x));
                    let many = ir.icmp(IntPred::LLVMIntUGT, rest, ir.i64c(width / FEW));
                    whole = ir.and(whole, many);
                }
                let mut part = low.new_block(c"part");
                ir.cond_br(whole, vector, part);
                for &few in &form.tail_widths {
                    kernel_ir::mark!(NarrowerTails);
                    let [narrow, rest, done] =
                        [c"narrow", c"part", c"narrow.done"].map(|name| low.new_block(name));
                    ir.at_end(part);
                    let enough = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(u64::from(few)));
                    ir.cond_br(enough, narrow, rest);
                    ir.at_end(narrow);
                    place(low, [x, y, z].map(get));
                    let lanes = Lanes::new(low, form, region, few, saved, done, next);
                    tested(lanes, whole_row.is_some(), [x, i, end], row_stop, one)?;
                    ir.at_end(done);
                    advance(u64::from(few), chunk, row_end);
                    part = rest;
                }
                ir.at_end(part);
                put(get(x), i);
                put(length(), end);
                ir.br(one);
            }
            ir.at_end(vector);
            place(low, [x, y, z].map(get));
            let lanes = Lanes::new(low, form, region, form.width, saved, vector_done, next);
            may_fail = tested(lanes, whole_row.is_some(), [x, i, end], row_stop, one)?;
            ir.at_end(vector_done);
            advance(width, chunk, row_end);
        }

        // One work-item after another.
        ir.at_end(one);
        if whole_rows && !may_fail && whole_row.is_none() {
            ir.br(row_end);
        } else {
            let [one_body, one_done, ones_end] =
                [c"one.body", c"one.done", c"ones.end"].map(|name| low.new_block(name));
            ir.br(one_body);
            ir.at_end(one_body);
            place(low, [i, y, z].map(get));
            Lanes::new(low, form, region, 1, saved, one_done, next).run()?;
            ir.at_end(one_done);
            put(ir.add(get(i), ir.i64c(1)), i);
            let more = ir.icmp(IntPred::LLVMIntULT, get(i), get(end));
            ir.cond_br(more, one_body, ones_end);
            ir.at_end(ones_end);
            put(get(end), x);
            let more = ir.icmp(IntPred::LLVMIntULT, get(end), length());
            ir.cond_br(more, chunk, row_end);
        }
    }

    for (at, size, from, to, id) in [
        (row_end, sy, row, plane_end, y),
        (plane_end, sz, plane, region_end, z),
    ] {
        ir.at_end(at);
        put(ir.add(get(id), ir.i64c(1)), id);
        let more = ir.icmp(IntPred::LLVMIntULT, get(id), size);
        ir.cond_br(more, from, to);
    }
    ir.at_end(region_end);
    low.clear_near();
    Ok(())
}

/// Runs the chunks `all` jammed, then jumps to `done`. Returns the block to continue in if their assumptions fail;
/// `None` if they have no assumptions.
#[expect(clippy::too_many_arguments, reason = "what a region is run with")]
fn in_step(
    low: &mut Lower<'_>,
    form: &Plan,
    region: &Region,
    jam: &UnrollAndJam,
    mut all: Vec<Instance>,
    saved: &HashMap<ValueId, Saved>,
    done: Bb,
    next: Val,
) -> Result<Option<Bb>, BuildError> {
    let ir = low.ir;
    let mut lanes = Lanes::new(low, form, region, form.width, saved, done, next);
    let mut failed = None;
    if let Some(holds) = lanes.check_all(&mut all, &jam.assumed_uniform) {
        let [body, other] = [c"in.step", c"not.in.step"].map(|name| lanes.low.new_block(name));
        ir.cond_br(holds, body, other);
        ir.at_end(body);
        failed = Some(other);
    }
    lanes.run_in_step(&mut all, &jam.assumed_uniform)?;
    Ok(failed)
}

/// Runs a chunk as lanes, or, if an assumption fails, its work-items one after another in block `one`. Variables: `x`
/// is the chunk's first id; `i` and `end` are the range that `one` runs, which ends at `row_stop` at the latest. `row`:
/// the assumptions about its row were tested before. Returns whether an assumption may fail.
fn tested(
    mut lanes: Lanes<'_, '_, '_>,
    row: bool,
    [x, i, end]: [Val; 3],
    row_stop: Option<Val>,
    one: Bb,
) -> Result<bool, BuildError> {
    let ir = lanes.low.ir;
    let holds = lanes.check(row);
    if let Some(holds) = holds {
        let body = lanes.low.new_block(c"lanes");
        let failed = lanes.low.new_block(c"assumption.failed");
        ir.cond_br(holds, body, failed);
        ir.at_end(failed);
        let first = ir.load(ir.i64, x, 8);
        ir.store(first, i, 8);
        let mut behind = ir.add(first, ir.i64c(u64::from(lanes.width)));
        if let Some(stop) = row_stop {
            let stop = ir.load(ir.i64, stop, 8);
            behind = ir.intrinsic("llvm.umin", &[ir.i64], &[behind, stop]);
        }
        ir.store(behind, end, 8);
        ir.br(one);
        ir.at_end(body);
    }
    lanes.run()?;
    Ok(holds.is_some())
}
