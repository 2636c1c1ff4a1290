//! Interleaved loads: the lanes' elements lie a few elements apart, `a[2 * i]` or a member of a structure. Vectors of
//! neighbouring elements cover the whole span, and shuffles pick the wanted ones. Loads of other members in the same
//! block share the vectors:
//!
//! ```text
//! p[i].x     loads x0 y0 x1 y1 and x2 y2 x3 y3, and picks x0 x1 x2 x3
//! p[i].y     loads nothing, and picks y0 y1 y2 y3
//! ```
//!
//! Reversed loads, `a[n - i]`, are the case of one element back from lane to lane.

use std::collections::HashSet;

use kernel_ir::index::IndexFacts;
use kernel_ir::{TypeId, ValueId};
use vectorise::{Origin, lead, load_span, origin};

use super::region::Lanes;
use super::rep::Span;
use crate::llvm::{Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// Loads elements that lie a few elements apart from lane to lane.
    pub(super) fn load_interleaved(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> Val {
        let rep = self.rep(ptr);
        let first = self.scalar(ptr);
        let types = &self.low.values.module.types;
        let size = types.size_of(ty);
        let bytes = size as i64;
        let (origin, offset) = origin(self.f, ptr);
        let ir = self.low.ir;
        let element = self.low.values.memory(ty);
        let is_pointer = |ty: Ty| ty == ir.ptr;
        let known = self.spans.iter().find(|span| {
            let inside = (span.offsets.0..=span.offsets.1).contains(&offset);
            (span.block, span.origin) == (self.block_at_hand, origin)
                && (span.step, span.size) == (rep.step, size)
                && inside
                && is_pointer(span.element) == is_pointer(element)
                && (offset - span.offsets.0) % bytes == 0
        });
        kernel_ir::mark!(LoadStridedShared, known.is_some());
        let span = match known {
            Some(span) => span.clone(),
            None => {
                let made = self.load_rows(ptr, first, origin, offset, rep.step, ty, align);
                self.spans.push(made.clone());
                made
            }
        };
        let element_step = rep.step / bytes;
        kernel_ir::mark!(LoadReversed, element_step == -1);
        kernel_ir::mark!(LoadStrided, element_step != -1);
        let begin = span.lead + ((offset - span.offsets.0) / bytes) as u64;
        let lanes = u64::from(self.width);
        let wanted: Vec<u64> = (0..lanes)
            .map(|lane| {
                let lane = if element_step < 0 {
                    lanes - 1 - lane
                } else {
                    lane
                };
                begin + lane * element_step.unsigned_abs()
            })
            .collect();
        let picked = self.pick(&span.rows, &wanted);
        // The vectors have the type of the member that was read first.
        let picked = ir.cast(Opcode::LLVMBitCast, picked, ir.vector(element, self.width));
        ir.cast(Opcode::LLVMTrunc, picked, self.lane_type(ty))
    }

    /// Reads the vectors for the load at hand and for the later ones that read members of the same structures.
    #[expect(clippy::too_many_arguments, reason = "an access and where it lies")]
    fn load_rows(
        &self,
        ptr: ValueId,
        first: Val,
        origin: Origin,
        offset: i64,
        step: i64,
        ty: TypeId,
        align: u64,
    ) -> Span {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let size = types.size_of(ty);
        let bytes = size as i64;
        let module = self.low.values.module;
        let behind = &self.f.blocks[self.block_at_hand.index()].insts[self.place_at_hand..];
        let (low, high) = load_span(module, self.f, behind, ptr, (size, step));
        let lanes = u64::from(self.width);
        let element_step = step.unsigned_abs() / size;
        let count = ((high - low) / bytes) as u64 + (lanes - 1) * element_step + 1;
        let back = if step < 0 {
            step * (lanes as i64 - 1)
        } else {
            0
        };
        let begin = ir.offset_by(first, (low - offset + back).cast_unsigned());
        let row = ir.vector(self.low.values.memory(ty), self.width);
        let align = crate::memory::sane_align(align).min(size);
        let alone =
            (low, high) == (offset, offset) && step > 0 && self.low.target.has_masked(types, ty);
        let lead = match alone {
            true => {
                let facts = IndexFacts::new(module, self.f);
                lead(&facts, self.f, &self.low.target, ptr, element_step, size)
            }
            false => None,
        };
        let rows: Vec<(u64, Val)> = if let Some(lead) = lead {
            kernel_ir::mark!(LoadStridedAligned);
            // The vectors begin where cache lines probably do; masks keep the accesses within the span.
            let begin = ir.offset_by(begin, (lead * size).wrapping_neg());
            let wanted = lead..lead + count;
            let rows = (0..wanted.end.div_ceil(lanes)).map(|i| {
                let at = i * lanes;
                let inside: Vec<bool> = (at..at + lanes).map(|e| wanted.contains(&e)).collect();
                let from = ir.offset_by(begin, at * size);
                let all = inside.iter().all(|inside| *inside);
                let loaded = if all {
                    ir.load(row, from, align)
                } else {
                    let mask = self.constant_mask(&inside);
                    let args = [from, mask, ir.poison(row)];
                    ir.intrinsic("llvm.masked.load", &[row, ir.ptr], &args)
                };
                (at, loaded)
            });
            rows.collect()
        } else {
            // The last vector ends where the span does: nothing behind the lanes' elements is read.
            let places = (0..count.div_ceil(lanes)).map(|i| (i * lanes).min(count - lanes));
            let load = |at: u64| ir.load(row, ir.offset_by(begin, at * size), align);
            places.map(|at| (at, load(at))).collect()
        };
        Span {
            block: self.block_at_hand,
            origin,
            step,
            size,
            element: self.low.values.memory(ty),
            lead: lead.unwrap_or(0),
            offsets: (low, high),
            rows,
        }
    }

    pub(super) fn constant_mask(&self, lanes: &[bool]) -> Val {
        let ir = self.low.ir;
        let lanes = lanes.iter().map(|&on| ir.int_const(ir.i1, u64::from(on)));
        ir.const_vector(&lanes.collect::<Vec<_>>())
    }

    /// Picks the elements `wanted`, by number, out of `rows`: vectors, each with the number of its first element.
    fn pick(&self, rows: &[(u64, Val)], wanted: &[u64]) -> Val {
        const NONE: u32 = u32::MAX;
        let ir = self.low.ir;
        let width = u64::from(self.width);
        // For each lane: the vector that has its element, and the place in it.
        let places: Vec<(usize, u32)> = wanted
            .iter()
            .map(|&at| {
                let row = rows.iter().position(|row| at < row.0 + width);
                let row = row.unwrap_or(rows.len() - 1);
                (row, (at - rows[row].0) as u32)
            })
            .collect();
        let last = rows.len() - 1;
        let mut seen = HashSet::new();
        let distinct = places
            .iter()
            .filter(|place| place.0 != last)
            .all(|place| seen.insert(place.1));
        if distinct && last > 1 {
            // Elements keep their places while the vectors are blended into one, which is cheaper than to move them
            // each time; the last shuffle moves them.
            let mut all = rows[0].1;
            for (i, row) in rows.iter().enumerate().take(last).skip(1) {
                let mut keep: Vec<u32> = (0..self.width).collect();
                for place in places.iter().filter(|place| place.0 == i) {
                    keep[place.1 as usize] += self.width;
                }
                all = ir.shuffle(all, row.1, &keep);
            }
            let order: Vec<u32> = places
                .iter()
                .map(|&(row, at)| if row == last { self.width + at } else { at })
                .collect();
            return ir.shuffle(all, rows[last].1, &order);
        }
        let mut all = rows[0].1;
        let mut order: Vec<u32> = places
            .iter()
            .map(|&(row, at)| if row == 0 { at } else { NONE })
            .collect();
        if last == 0 {
            return ir.shuffle(all, all, &order);
        }
        for (i, row) in rows.iter().enumerate().skip(1) {
            for (lane, place) in places.iter().enumerate() {
                if place.0 == i {
                    order[lane] = self.width + place.1;
                }
            }
            all = ir.shuffle(all, row.1, &order);
            for (lane, at) in order.iter_mut().enumerate() {
                if *at != NONE {
                    *at = lane as u32;
                }
            }
        }
        all
    }

    /// The elements of `row` from the last to the first.
    pub(super) fn reversed(&self, row: Val) -> Val {
        let order: Vec<u32> = (0..self.width).rev().collect();
        self.low.ir.shuffle(row, row, &order)
    }
}
