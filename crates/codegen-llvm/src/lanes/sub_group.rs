//! Loops over the chunks of a group in kernels whose lanes exchange values: a chunk is a sub-group.
//!
//! Where a row is whole sub-groups, a chunk is a part of a row, as in other kernels. Any other sub-group (of rows of
//! another length, the last one of a group, a chunk for which an assumption fails) is a *masked chunk*: it runs under a
//! mask of the lanes that exist, with a vector of ids in each dimension:
//!
//! ```text
//! rows of 12 work-items, sub-groups of 8:
//!
//! sub-group 0     x 0 1 2 3 4 5 6 7      y 0 0 0 0 0 0 0 0
//! sub-group 1     x 8 9 10 11 0 1 2 3    y 0 0 0 0 1 1 1 1
//! ```

use std::collections::HashMap;

use kernel_ir::{BuildError, Builtin, TypeId, ValueId};
use vectorise::{Plan, Region, RegionPlan, Rows, Tightening};

use super::region::{Lanes, place};
use super::rep::Rep;
use super::rep::{ExistingLanes, Saved};
use crate::llvm::{Bb, IntPred, Opcode, Val};
use crate::lower::Lower;

/// Emits the loops that run all sub-groups of a group through one region.
pub(super) fn chunks(
    low: &mut Lower<'_>,
    form: &Plan,
    rows: Rows,
    plan: &RegionPlan,
    saved: &HashMap<ValueId, Saved>,
    next: Val,
) -> Result<(), BuildError> {
    let ir = low.ir;
    let region = &plan.region;
    let [row, masked, part_done, all_masked, end] = [
        c"row",
        c"masked",
        c"part.done",
        c"all.masked",
        c"region.end",
    ]
    .map(|name| low.new_block(name));
    let width = u64::from(form.width);
    let [start, stop] = [0; 2].map(|_| low.entry_alloca(ir.i64, 8));
    let rest = ir.and(low.at.launch.size[0], ir.i64c(width - 1));
    kernel_ir::mark!(RowsWhole, rows == Rows::Whole);
    kernel_ir::mark!(RowsAny, rows == Rows::Any);
    kernel_ir::mark!(RowsBroken, rows == Rows::Broken);
    let whole = match rows {
        Rows::Whole => ir.int_const(ir.i1, 1),
        Rows::Broken => ir.int_const(ir.i1, 0),
        Rows::Any => ir.icmp(IntPred::LLVMIntEQ, rest, ir.i64c(0)),
    };
    let narrow = plan.tightening.as_ref();
    ir.cond_br(whole, row, all_masked);
    ir.at_end(all_masked);
    let items = low.at.launch.items;
    let (mut from, mut to) = (ir.i64c(0), items);
    if let Some(narrow) = narrow
        && rows != Rows::Whole
    {
        // If the group is one row, its sub-groups are chunks of that row, and its range can be tightened.
        place(low, [ir.i64c(0); 3]);
        let mut lanes = Lanes::new(low, form, region, form.width, saved, end, next);
        let tightened = lanes.tightened(narrow, items, ir.int_const(ir.i1, 1));
        let flat = ir.icmp(IntPred::LLVMIntEQ, low.at.launch.size[0], items);
        (from, to) = (
            ir.select(flat, tightened[0], from),
            ir.select(flat, tightened[1], to),
        );
    }
    ir.store(from, start, 8);
    ir.store(to, stop, 8);
    ir.br(masked);

    ir.at_end(row);
    if rows == Rows::Broken {
        // These blocks are never reached; they still need a terminator.
        ir.br(end);
        ir.at_end(part_done);
        ir.br(end);
    } else {
        let part = Part {
            start,
            stop,
            masked,
            done: part_done,
        };
        in_rows(low, form, region, saved, next, narrow, &part, end)?;
    }

    // Masked chunks, from work-item `start` to `stop`.
    ir.at_end(masked);
    if region.sub_group_shapes.is_some() {
        let first = ir.load(ir.i64, start, 8);
        let existing = existing_lanes(low, first, form);
        let done = low.new_block(c"masked.done");
        let mut lanes = Lanes::new(low, form, region, form.width, saved, done, next);
        lanes.shapes = region.sub_group_shapes.as_ref();
        lanes.existing = Some(existing);
        lanes.run()?;
        ir.at_end(done);
        let following = ir.add(first, ir.i64c(width));
        ir.store(following, start, 8);
        let more = ir.icmp(IntPred::LLVMIntULT, following, ir.load(ir.i64, stop, 8));
        let over = low.new_block(c"over");
        ir.cond_br(more, masked, over);
        ir.at_end(over);
        if rows == Rows::Broken {
            ir.br(end);
        } else {
            ir.cond_br(whole, part_done, end);
        }
    } else {
        ir.br(end);
    }
    ir.at_end(end);
    low.clear_block_values();
    Ok(())
}

/// The way out for a chunk of a row that must run masked: block `masked` runs the work-items from `start` to `stop`.
struct Part {
    start: Val,
    stop: Val,
    masked: Bb,
    /// The block that follows then.
    done: Bb,
}

/// Emits the loops over rows that are whole sub-groups, then jumps to `end`.
#[expect(clippy::too_many_arguments, reason = "what a region is run with")]
fn in_rows(
    low: &mut Lower<'_>,
    form: &Plan,
    region: &Region,
    saved: &HashMap<ValueId, Saved>,
    next: Val,
    narrow: Option<&Tightening>,
    part: &Part,
    end: Bb,
) -> Result<(), BuildError> {
    let ir = low.ir;
    let width = u64::from(form.width);
    let ids = [0; 3].map(|_| low.entry_alloca(ir.i64, 8));
    let get = |v: Val| ir.load(ir.i64, v, 8);
    for id in ids {
        ir.store(ir.i64c(0), id, 8);
    }
    let [chunk, done, failed] =
        [c"chunk", c"chunk.done", c"assumption.failed"].map(|name| low.new_block(name));
    // The block in which a row begins, and the end of its work if the row is tightened.
    let (mut row, mut row_stop) = (chunk, None);
    let row_over = low.new_block(c"over");
    if let Some(narrow) = narrow {
        row = low.new_block(c"row");
        ir.br(row);
        ir.at_end(row);
        let here = [ir.i64c(0), get(ids[1]), get(ids[2])];
        place(low, here);
        let once = ir.icmp(IntPred::LLVMIntEQ, ir.or(here[1], here[2]), ir.i64c(0));
        let length = low.at.launch.size[0];
        let mut lanes = Lanes::new(low, form, region, form.width, saved, done, next);
        let [from, to] = lanes.tightened(narrow, length, once);
        let slot = low.entry_alloca(ir.i64, 8);
        ir.store(from, ids[0], 8);
        ir.store(to, slot, 8);
        row_stop = Some(slot);
        let some = ir.icmp(IntPred::LLVMIntULT, from, to);
        ir.cond_br(some, chunk, row_over);
    } else {
        ir.br(chunk);
    }
    ir.at_end(chunk);
    place(low, ids.map(get));
    let linear = low.at.item.linear;
    let mut lanes = Lanes::new(low, form, region, form.width, saved, done, next);
    let holds = lanes.check(false);
    if let Some(holds) = holds {
        let body = lanes.low.new_block(c"lanes");
        ir.cond_br(holds, body, failed);
        ir.at_end(body);
    }
    lanes.run()?;
    ir.at_end(failed);
    ir.store(linear, part.start, 8);
    ir.store(ir.add(linear, ir.i64c(width)), part.stop, 8);
    ir.br(part.masked);
    ir.at_end(part.done);
    ir.br(done);
    ir.at_end(done);
    for (d, step) in [width, 1, 1].into_iter().enumerate() {
        let following = ir.add(get(ids[d]), ir.i64c(step));
        ir.store(following, ids[d], 8);
        let over = match d {
            0 => row_over,
            1 => low.new_block(c"over"),
            _ => end,
        };
        let size = match row_stop {
            Some(slot) if d == 0 => get(slot),
            _ => low.at.launch.size[d],
        };
        let more = ir.icmp(IntPred::LLVMIntULT, following, size);
        ir.cond_br(more, if d == 0 { chunk } else { row }, over);
        if d < 2 {
            ir.at_end(over);
            ir.store(ir.i64c(0), ids[d], 8);
        }
    }
    Ok(())
}

/// The lanes of a masked chunk that begins at work-item `first`.
fn existing_lanes(low: &mut Lower<'_>, first: Val, form: &Plan) -> ExistingLanes {
    let ir = low.ir;
    let (width, zero) = (form.width, ir.i64c(0));
    let splat = |v: Val| ir.splat(v, width);
    let lanes: Vec<Val> = (0..u64::from(width)).map(|l| ir.i64c(l)).collect();
    let linear = ir.add(splat(first), ir.const_vector(&lanes));
    let mask = ir.icmp(IntPred::LLVMIntULT, linear, splat(low.at.launch.items));
    if form.one_row {
        place(low, [first, zero, zero]);
        return ExistingLanes { mask, local: None };
    }
    // Below 2^32 the truncated quotient of two doubles is the exact one.
    let (wide, double) = (ir.type_of(linear), ir.vector(ir.double, width));
    let divide = |a: Val, b: Val| {
        let [x, y] = [a, b].map(|v| ir.cast(Opcode::LLVMUIToFP, v, double));
        let quotient = ir.bin(Opcode::LLVMFDiv, x, y);
        let quotient = ir.cast(Opcode::LLVMFPToUI, quotient, wide);
        (quotient, ir.sub(a, ir.mul(quotient, b)))
    };
    let [sx, sy, _] = low.at.launch.size.map(splat);
    let (row, x) = divide(linear, sx);
    let (z, y) = divide(row, sy);
    low.at.item.linear = first;
    low.at.item.local = [zero; 3];
    ExistingLanes {
        mask,
        local: Some([x, y, z]),
    }
}

impl Lanes<'_, '_, '_> {
    /// An id in the lanes of a masked chunk; `None` for an id that is computed as in a row, and for chunks of rows.
    pub(super) fn own_id(&self, builtin: Builtin, dimension: u8, ty: TypeId) -> Option<Rep> {
        use Builtin as B;
        let ir = self.low.ir;
        let d = usize::from(dimension);
        let local = self.existing?.local?;
        let global = |d: usize| ir.add(self.splat(self.low.at.base[d]), local[d]);
        let v = match builtin {
            B::LocalInvocationId if d < 3 => local[d],
            B::GlobalInvocationId if d < 3 => global(d),
            B::GlobalLinearId => {
                let launch = &self.low.at.launch;
                let at = |d: usize| ir.sub(global(d), self.splat(launch.offset[d]));
                let extent = |d: usize| self.splat(ir.mul(launch.count[d], launch.size[d]));
                let plane = ir.add(ir.mul(at(2), extent(1)), at(1));
                ir.add(ir.mul(plane, extent(0)), at(0))
            }
            _ => return None,
        };
        let v = ir.cast(Opcode::LLVMTrunc, v, self.lane_type(ty));
        Some(Rep::vector(vec![v]))
    }
}
