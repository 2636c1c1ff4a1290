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
//! | loops over regions | this one |
//! | loops over rows and chunks | `rows`, `sub_group` |
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
mod check;
mod clamp;
mod collective;
mod divide;
mod flow;
mod gather;
mod interleaved_loads;
mod interleaved_stores;
mod memory;
mod narrow_index;
mod operate;
mod piecewise;
mod privatise;
mod region;
mod rep;
mod rows;
mod sub_group;
mod tighten;
mod tuples;
mod unroll_and_jam;
mod values;
mod versioning;

use std::collections::HashMap;

use kernel_ir::{BuildError, ValueId};
use vectorise::Plan;

use crate::llvm::{Bb, Val};
use crate::lower::Lower;
use rep::Saved;

/// Emits the loops over regions and work-items where the builder stands, then jumps to `done`.
pub(crate) fn emit(low: &mut Lower<'_>, form: &Plan, done: Bb) -> Result<(), BuildError> {
    let ir = low.ir;
    low.cut.record.stride = form.state_bytes.max(1);
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
            None => rows::chunks(low, form, region_plan, &saved, next)?,
        }
        // The stops where the region may end; usually one.
        let mut ways: Vec<usize> = region.exits.values().flatten().copied().collect();
        ways.sort_unstable();
        ways.dedup();
        let mut written: Vec<ValueId> = ways
            .iter()
            .flat_map(|&stop| low.cut.segments.stops[stop].live.iter().copied())
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
