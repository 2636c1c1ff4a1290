//! Loops over the rows and chunks of a group, where lanes exchange no values.
//!
//! ```text
//! for z                                             plane
//!   for y                                           row
//!     where the row fits: jammed rows               strip
//!     for x in steps of the width                   chunk
//!       where several fit: jammed chunks of a row   several
//!       where one fits: one chunk                   vector
//!       else: a narrower chunk, or one work-item    narrow, one
//! ```
//!
//! A chunk whose assumptions fail runs one work-item after another.

use std::collections::HashMap;

use kernel_ir::{BuildError, ValueId};
use vectorise::{Plan, Region, RegionPlan, Tightening, UnrollAndJam};

use super::region::{Lanes, place, place_among};
use super::rep::Saved;
use super::unroll_and_jam::Instance;
use crate::llvm::{Bb, IntPred, Ir, Val};
use crate::lower::Lower;

/// Where a chunk of a tightened row has no more than `width / FEW` work-items with work, these run one after another.
const FEW: u64 = 4;

/// Emits the loops that run all work-items of a group through one region.
pub(super) fn chunks(
    low: &mut Lower<'_>,
    form: &Plan,
    plan: &RegionPlan,
    saved: &HashMap<ValueId, Saved>,
    next: Val,
) -> Result<(), BuildError> {
    let ir = low.ir;
    let (jam, tightening) = (plan.jam.as_ref(), plan.tightening.as_ref());
    let mut rows = Rows::new(low, form, plan, saved, next);
    rows.put(ir.i64c(0), rows.z);
    ir.br(rows.plane);
    ir.at_end(rows.plane);
    rows.put(ir.i64c(0), rows.y);
    rows.put(ir.i64c(0), rows.strip_end);
    ir.br(rows.row);
    ir.at_end(rows.row);
    rows.put(ir.i64c(0), rows.x);
    if let Some(tightening) = tightening {
        rows.tighten(tightening);
    }
    if jam.is_none() {
        rows.test_row();
    }
    // Whether chunks may also run one by one: strips may cover all rows.
    let mut has_chunks = true;
    match jam.filter(|jam| jam.rows > 1) {
        Some(jam) => has_chunks = rows.strips(jam)?,
        None => ir.br(rows.chunk),
    }
    if has_chunks {
        ir.at_end(rows.chunk);
        let mut may_fail = true;
        if tightening.is_some_and(|tightening| tightening.scattered) {
            rows.scalarise_rest();
        } else {
            if let Some(jam) = jam.filter(|jam| jam.chunks > 1) {
                rows.several(jam)?;
            }
            may_fail = rows.vectors()?;
        }
        rows.scalar_loop(may_fail)?;
    } else {
        // No jump leads to these blocks; they still need a terminator.
        for at in [rows.chunk, rows.one] {
            ir.at_end(at);
            ir.br(rows.row_end);
        }
    }
    rows.finish();
    Ok(())
}

/// The loops while they are being emitted. Names of blocks and variables are those of the table above.
struct Rows<'l, 'a, 'r> {
    low: &'l mut Lower<'a>,
    ir: &'a Ir,
    form: &'r Plan,
    region: &'r Region,
    /// The code for chunks in which the region's condition does not hold, and for single work-items.
    checked: Option<&'r Region>,
    saved: &'r HashMap<ValueId, Saved>,
    next: Val,
    width: u64,
    /// Variables: the local id of the chunk's first work-item.
    x: Val,
    y: Val,
    z: Val,
    /// Variables: the work-items of the row that run one after another.
    i: Val,
    end: Val,
    plane: Bb,
    row: Bb,
    chunk: Bb,
    one: Bb,
    row_end: Bb,
    plane_end: Bb,
    region_end: Bb,
    /// Variable: the end of the row's work, if the row is tightened.
    row_stop: Option<Val>,
    /// Whether the row's length is known to be a multiple of the width; whether it is known to be the width.
    whole_rows: bool,
    one_chunk: bool,
    /// A strip is the neighbouring rows that run jammed. If its test fails in a chunk, its rows run one after another,
    /// each from that chunk on. Variables: that chunk's first id; the row behind the strip.
    begun: Val,
    strip_end: Val,
    /// Whether the assumptions about a whole row were tested at its start.
    is_row_tested: bool,
}

impl<'l, 'a, 'r> Rows<'l, 'a, 'r> {
    fn new(
        low: &'l mut Lower<'a>,
        form: &'r Plan,
        plan: &'r RegionPlan,
        saved: &'r HashMap<ValueId, Saved>,
        next: Val,
    ) -> Self {
        let is_tightened = plan.tightening.is_some();
        let ir = low.ir;
        let width = u64::from(form.width);
        let [x, y, z, i, end] = [0; 5].map(|_| low.entry_alloca(ir.i64, 8));
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
        let row_stop = is_tightened.then(|| low.entry_alloca(ir.i64, 8));
        let length = low.group_size.map(|size| u64::from(size[0]));
        let [begun, strip_end] = [0; 2].map(|_| low.entry_alloca(ir.i64, 8));
        Self {
            low,
            ir,
            form,
            region: &plan.region,
            checked: plan.checked.as_ref(),
            saved,
            next,
            width,
            x,
            y,
            z,
            i,
            end,
            plane,
            row,
            chunk,
            one,
            row_end,
            plane_end,
            region_end,
            row_stop,
            whole_rows: length.is_some_and(|length| length.is_multiple_of(width)),
            one_chunk: length == Some(width),
            begun,
            strip_end,
            is_row_tested: false,
        }
    }

    fn get(&self, variable: Val) -> Val {
        self.ir.load(self.ir.i64, variable, 8)
    }

    fn put(&self, value: Val, variable: Val) {
        self.ir.store(value, variable, 8);
    }

    /// The local id of the chunk's first work-item.
    fn here(&self) -> [Val; 3] {
        [self.x, self.y, self.z].map(|id| self.get(id))
    }

    /// The end of the row's work.
    fn length(&self) -> Val {
        self.row_stop
            .map_or(self.low.at.launch.size[0], |stop| self.get(stop))
    }

    /// The region in `width` lanes, which jump to `done`.
    fn lanes(&mut self, width: u32, done: Bb) -> Lanes<'_, 'a, 'r> {
        let region = match self.checked {
            Some(checked) if width == 1 => checked,
            _ => self.region,
        };
        self.lanes_of(region, width, done)
    }

    fn lanes_of(&mut self, region: &'r Region, width: u32, done: Bb) -> Lanes<'_, 'a, 'r> {
        let (form, saved) = (self.form, self.saved);
        Lanes::new(self.low, form, region, width, saved, done, self.next)
    }

    /// Advances along the row by `by` work-items: to `again`, or to `after` at the row's end.
    fn advance(&self, by: u64, again: Bb, after: Bb) {
        let ir = self.ir;
        if self.one_chunk {
            ir.br(after);
            return;
        }
        self.put(ir.add(self.get(self.x), ir.i64c(by)), self.x);
        let more = ir.icmp(IntPred::LLVMIntULT, self.get(self.x), self.length());
        ir.cond_br(more, again, after);
    }

    /// Makes the work-items from the chunk on run one after another.
    fn scalarise_rest(&self) {
        self.put(self.get(self.x), self.i);
        self.put(self.length(), self.end);
        self.ir.br(self.one);
    }

    /// At the row's start: finds the part of it that has work.
    fn tighten(&mut self, tightening: &Tightening) {
        let (ir, Some(row_stop)) = (self.ir, self.row_stop) else {
            return;
        };
        let here = [ir.i64c(0), self.get(self.y), self.get(self.z)];
        place(self.low, here);
        let once = ir.icmp(IntPred::LLVMIntEQ, ir.or(here[1], here[2]), ir.i64c(0));
        let (length, row_end) = (self.low.at.launch.size[0], self.row_end);
        let mut lanes = self.lanes(self.form.width, row_end);
        let [from, to] = lanes.tightened(tightening, length, once);
        self.put(from, self.x);
        self.put(to, row_stop);
        let some = self.low.new_block(c"row.some");
        ir.cond_br(ir.icmp(IntPred::LLVMIntULT, from, to), some, row_end);
        ir.at_end(some);
    }

    /// At the row's start: tests the assumptions about whole rows once.
    fn test_row(&mut self) {
        let ir = self.ir;
        if self.form.no_wrap.is_empty() {
            return;
        }
        if !self.form.arrays.is_empty() {
            // The addresses of private arrays depend on the work-item at hand.
            place(self.low, [ir.i64c(0), self.get(self.y), self.get(self.z)]);
        }
        let (row_end, row) = (self.row_end, [self.y, self.z]);
        let mut lanes = self.lanes(self.form.width, row_end);
        let Some(holds) = lanes.check_row(row) else {
            return;
        };
        let other = self.low.new_block(c"row.wraps");
        let in_order = self.low.new_block(c"row.holds");
        ir.cond_br(holds, in_order, other);
        ir.at_end(other);
        self.scalarise_rest();
        ir.at_end(in_order);
        self.is_row_tested = true;
    }

    /// Strips of jammed rows. Returns whether rows may also run chunk by chunk.
    fn strips(&mut self, jam: &UnrollAndJam) -> Result<bool, BuildError> {
        let ir = self.ir;
        let rows = u64::from(jam.rows);
        let strip = self.low.new_block(c"strip");
        let strip_done = self.low.new_block(c"strip.done");
        let strip_next = self.low.new_block(c"strip.next");
        let certain = self.whole_rows
            && self
                .low
                .group_size
                .is_some_and(|size| u64::from(size[1]).is_multiple_of(rows));
        // If certain, strips begin at multiples of their number of rows.
        let strip_of = if certain { rows } else { 1 };
        let known = certain
            && self.form.no_wrap.is_empty()
            && jam.assumed_uniform.is_empty()
            && self.region.tested.is_none();
        if known {
            ir.br(strip);
        } else {
            self.enter_strip(rows, strip);
        }
        ir.at_end(strip);
        kernel_ir::mark!(JamRows);
        let here = self.here();
        let all = (0..rows).map(|r| {
            place_among(self.low, here, [1, strip_of, 1], [0, r, 0]);
            Instance::new(self.low.at.item)
        });
        let all = all.collect();
        if let Some(failed) = self.jammed(jam, all, strip_done)? {
            ir.at_end(failed);
            self.put(self.get(self.x), self.begun);
            self.put(ir.add(self.get(self.y), ir.i64c(rows)), self.strip_end);
            ir.br(self.chunk);
        }
        ir.at_end(strip_done);
        self.advance(self.width, strip, strip_next);
        ir.at_end(strip_next);
        self.put(ir.add(self.get(self.y), ir.i64c(rows)), self.y);
        let more = ir.icmp(
            IntPred::LLVMIntULT,
            self.get(self.y),
            self.low.at.launch.size[1],
        );
        ir.cond_br(more, self.row, self.plane_end);
        Ok(!known)
    }

    /// Enters a strip of `rows` rows if so many are left, each of whole chunks; else the row's chunks.
    fn enter_strip(&self, rows: u64, strip: Bb) {
        let ir = self.ir;
        let [sx, sy, _] = self.low.at.launch.size;
        let inside = ir.icmp(
            IntPred::LLVMIntULT,
            self.get(self.y),
            self.get(self.strip_end),
        );
        self.put(ir.select(inside, self.get(self.begun), ir.i64c(0)), self.x);
        let behind = ir.add(self.get(self.y), ir.i64c(rows));
        let fits = ir.icmp(IntPred::LLVMIntULE, behind, sy);
        let rest = ir.and(sx, ir.i64c(self.width - 1));
        let whole = ir.icmp(IntPred::LLVMIntEQ, rest, ir.i64c(0));
        let can = ir.and(ir.and(fits, whole), ir.not(inside));
        ir.cond_br(can, strip, self.chunk);
    }

    /// Jammed chunks of one row, as long as so many are left.
    fn several(&mut self, jam: &UnrollAndJam) -> Result<(), BuildError> {
        let (ir, width, several) = (self.ir, self.width, u64::from(jam.chunks));
        let [many, few, many_done] =
            [c"several", c"few", c"several.done"].map(|name| self.low.new_block(name));
        let left = ir.sub(self.low.at.launch.size[0], self.get(self.x));
        let enough = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(width * several));
        ir.cond_br(enough, many, few);
        ir.at_end(many);
        kernel_ir::mark!(JamRow);
        let here = self.here();
        let all = (0..several).map(|c| {
            place_among(self.low, here, [1; 3], [0; 3]);
            let x = ir.add(self.low.at.item.local[0], ir.i64c(c * width));
            place(self.low, [x, here[1], here[2]]);
            Instance::new(self.low.at.item)
        });
        let all = all.collect();
        if let Some(failed) = self.jammed(jam, all, many_done)? {
            ir.at_end(failed);
            ir.br(few);
        }
        ir.at_end(many_done);
        self.advance(width * several, self.chunk, self.row_end);
        ir.at_end(few);
        Ok(())
    }

    /// Runs the chunks `all` jammed, then jumps to `done`. Returns the block to continue in if their assumptions fail;
    /// `None` if they have no assumptions.
    fn jammed(
        &mut self,
        jam: &UnrollAndJam,
        mut all: Vec<Instance>,
        done: Bb,
    ) -> Result<Option<Bb>, BuildError> {
        let ir = self.ir;
        let mut lanes = self.lanes(self.form.width, done);
        let mut failed = None;
        if let Some(holds) = lanes.check_all(&mut all, &jam.assumed_uniform) {
            let [body, other] = [c"in.step", c"not.in.step"].map(|name| lanes.low.new_block(name));
            ir.cond_br(holds, body, other);
            ir.at_end(body);
            failed = Some(other);
        }
        lanes.run_jammed(&mut all, &jam.assumed_uniform)?;
        Ok(failed)
    }

    /// One chunk: of the full width if so many work-items are left, else of the first narrower width that fits, else
    /// one work-item after another. Returns whether an assumption about a full chunk may fail.
    fn vectors(&mut self) -> Result<bool, BuildError> {
        let (ir, width) = (self.ir, self.width);
        let [vector, vector_done] =
            [c"vector", c"vector.done"].map(|name| self.low.new_block(name));
        if self.whole_rows {
            ir.br(vector);
        } else {
            let left = ir.sub(self.low.at.launch.size[0], self.get(self.x));
            let mut whole = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(width));
            if self.row_stop.is_some() {
                // So few remaining work-items are faster one after another.
                let rest = ir.sub(self.length(), self.get(self.x));
                let many = ir.icmp(IntPred::LLVMIntUGT, rest, ir.i64c(width / FEW));
                whole = ir.and(whole, many);
            }
            let part = self.low.new_block(c"part");
            ir.cond_br(whole, vector, part);
            self.tails(part, left)?;
        }
        ir.at_end(vector);
        let may_fail = self.tested_chunk(self.form.width, vector_done)?;
        ir.at_end(vector_done);
        self.advance(width, self.chunk, self.row_end);
        Ok(may_fail)
    }

    /// In block `part`, the end of a row with `left` work-items: a chunk of the first narrower width that fits.
    fn tails(&mut self, mut part: Bb, left: Val) -> Result<(), BuildError> {
        let ir = self.ir;
        for &few in &self.form.tail_widths {
            kernel_ir::mark!(NarrowerTails);
            let [narrow, rest, done] =
                [c"narrow", c"part", c"narrow.done"].map(|name| self.low.new_block(name));
            ir.at_end(part);
            let enough = ir.icmp(IntPred::LLVMIntUGE, left, ir.i64c(u64::from(few)));
            ir.cond_br(enough, narrow, rest);
            ir.at_end(narrow);
            self.tested_chunk(few, done)?;
            ir.at_end(done);
            self.advance(u64::from(few), self.chunk, self.row_end);
            part = rest;
        }
        ir.at_end(part);
        self.scalarise_rest();
        Ok(())
    }

    /// A chunk of `width` lanes, which jump to `done`; its work-items run one after another if an assumption fails.
    /// Returns whether one may fail.
    fn tested_chunk(&mut self, width: u32, done: Bb) -> Result<bool, BuildError> {
        let Some(checked) = self.checked else {
            return self.chunk_of(self.region, width, done, self.is_row_tested);
        };
        let (ir, here) = (self.ir, self.here());
        place(self.low, here);
        let is_row_tested = self.is_row_tested;
        let mut lanes = self.lanes(width, done);
        if let Some(holds) = lanes.check(is_row_tested) {
            let [body, other] = [c"fast", c"checked"].map(|name| lanes.low.new_block(name));
            ir.cond_br(holds, body, other);
            ir.at_end(body);
            lanes.run()?;
            ir.at_end(other);
        }
        // The row's test is that of the fast copy's extensions.
        self.chunk_of(checked, width, done, false)
    }

    /// The same of a region without a condition. `is_row_tested`: the row's test is that of its extensions.
    fn chunk_of(
        &mut self,
        region: &'r Region,
        width: u32,
        done: Bb,
        is_row_tested: bool,
    ) -> Result<bool, BuildError> {
        let (ir, here) = (self.ir, self.here());
        place(self.low, here);
        let row_stop = self.row_stop;
        let (x, i, end, one) = (self.x, self.i, self.end, self.one);
        let mut lanes = self.lanes_of(region, width, done);
        let holds = lanes.check(is_row_tested);
        if let Some(holds) = holds {
            let body = lanes.low.new_block(c"lanes");
            let failed = lanes.low.new_block(c"assumption.failed");
            ir.cond_br(holds, body, failed);
            ir.at_end(failed);
            let first = ir.load(ir.i64, x, 8);
            ir.store(first, i, 8);
            let mut behind = ir.add(first, ir.i64c(u64::from(width)));
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

    /// The loop over work-items that run one after another. `may_fail`: whether assumptions about chunks may fail.
    fn scalar_loop(&mut self, may_fail: bool) -> Result<(), BuildError> {
        let ir = self.ir;
        ir.at_end(self.one);
        if self.whole_rows && !may_fail && !self.is_row_tested {
            ir.br(self.row_end);
            return Ok(());
        }
        let [one_body, one_done, ones_end] =
            [c"one.body", c"one.done", c"ones.end"].map(|name| self.low.new_block(name));
        ir.br(one_body);
        ir.at_end(one_body);
        let here = [self.i, self.y, self.z].map(|id| self.get(id));
        place(self.low, here);
        self.lanes(1, one_done).run()?;
        ir.at_end(one_done);
        self.put(ir.add(self.get(self.i), ir.i64c(1)), self.i);
        let more = ir.icmp(IntPred::LLVMIntULT, self.get(self.i), self.get(self.end));
        ir.cond_br(more, one_body, ones_end);
        ir.at_end(ones_end);
        self.put(self.get(self.end), self.x);
        let more = ir.icmp(IntPred::LLVMIntULT, self.get(self.end), self.length());
        ir.cond_br(more, self.chunk, self.row_end);
        Ok(())
    }

    /// The ends of the loops over rows and planes.
    fn finish(self) {
        let ir = self.ir;
        let [_, sy, sz] = self.low.at.launch.size;
        for (at, size, from, to, id) in [
            (self.row_end, sy, self.row, self.plane_end, self.y),
            (self.plane_end, sz, self.plane, self.region_end, self.z),
        ] {
            ir.at_end(at);
            self.put(ir.add(self.get(id), ir.i64c(1)), id);
            let more = ir.icmp(IntPred::LLVMIntULT, self.get(id), size);
            ir.cond_br(more, from, to);
        }
        ir.at_end(self.region_end);
        self.low.clear_block_values();
    }
}
