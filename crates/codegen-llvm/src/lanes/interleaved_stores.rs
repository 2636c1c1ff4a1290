//! Interleaved stores: the lanes' elements lie a few elements apart, `a[2 * i]` or a member of a structure. The plan
//! groups a block's stores to members of the same structures, and the last store of a group writes all of them:
//!
//! ```text
//! p[i].x = x     emits nothing
//! p[i].y = y     writes x0 y0 x1 y1 and x2 y2 x3 y3
//! ```
//!
//! Shuffles bring each member's lanes to their places, and blends make vectors of neighbouring elements of them. Masked
//! stores leave members untouched that the group does not write.

use vectorise::{StoreGroup, plain_interleaving};

use super::region::Lanes;
use crate::llvm::{Opcode, Val};

impl Lanes<'_, '_, '_> {
    /// Emits the store at hand if the plan puts it into a group: the whole group if it is the last store, else nothing.
    /// Returns whether it is in one.
    pub(super) fn store_in_group(&mut self) -> bool {
        let Some(id) = self.at_hand else {
            return false;
        };
        let is_own = |group: &&StoreGroup| group.members.iter().any(|member| member.inst == id);
        let Some(group) = self.store_groups.iter().find(is_own).cloned() else {
            return false;
        };
        if group.members.last().is_some_and(|last| last.inst == id) {
            self.store_interleaved(&group);
        }
        true
    }

    /// Writes all members of a group, whose last store is at hand.
    fn store_interleaved(&mut self, group: &StoreGroup) {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let &StoreGroup {
            ref members,
            element_step,
            lead,
            low,
        } = group;
        let last = members[members.len() - 1];
        let ty = self.low.ty(last.value);
        let size = types.size_of(ty);
        let row = ir.vector(self.low.values.memory(ty), self.width);
        let align = members.iter().map(|member| member.align).min();
        let align = crate::memory::sane_align(align.unwrap_or(1)).min(size);
        let mut elements = vec![None; element_step as usize];
        for member in members {
            let all = self.vectors(member.value)[0];
            let memory = self.low.values.memory(self.low.ty(member.value));
            let all = ir.cast(Opcode::LLVMZExt, all, ir.vector(memory, self.width));
            let at = lead + ((member.distance - low) as u64) / size;
            elements[at as usize] = Some(ir.cast(Opcode::LLVMBitCast, all, row));
        }
        let first = self.scalar(last.ptr);
        let before = low - last.distance - (lead * size) as i64;
        let begin = ir.offset_by(first, before.cast_unsigned());
        let parts: Vec<Val> = elements.iter().flatten().copied().collect();
        if parts.len() == elements.len() && element_step <= plain_interleaving(&self.low.target) {
            kernel_ir::mark!(StoreInterleaved);
            ir.store(self.interleave(&parts), begin, align);
            return;
        }
        kernel_ir::mark!(StoreInterleavedBlends, parts.len() == elements.len());
        kernel_ir::mark!(StoreInterleavedPartial, parts.len() != elements.len());
        for (i, (all, there)) in self.structures(&elements).into_iter().enumerate() {
            let at = ir.offset_by(begin, i as u64 * u64::from(self.width) * size);
            if there.iter().all(|&there| there) {
                ir.store(all, at, align);
            } else if there.contains(&true) {
                let args = [all, at, self.constant_mask(&there)];
                ir.intrinsic("llvm.masked.store", &[row, ir.ptr], &args);
            }
        }
    }

    /// The lanes' structures of `elements`, one behind the other, as vectors; each with the places that have an
    /// element.
    fn structures(&self, elements: &[Option<Val>]) -> Vec<(Val, Vec<bool>)> {
        let ir = self.low.ir;
        let (width, element_step) = (self.width, elements.len() as u32);
        // So many neighbouring elements are woven at once. The lanes of a woven vector have distinct places in all
        // output vectors.
        let strand = 1 << element_step.trailing_zeros().min(width.trailing_zeros());
        let lanes = width / strand;
        let Some(any) = elements.iter().flatten().next() else {
            return Vec::new();
        };
        let none = ir.poison(ir.type_of(*any));
        let woven: Vec<Vec<Option<Val>>> = (0..element_step / strand)
            .map(|q| {
                let own = &elements[(q * strand) as usize..((q + 1) * strand) as usize];
                let place = |j: u32, e: u32| {
                    let lane = j * lanes + e / strand;
                    (element_step * lane + q * strand + e % strand) % width
                };
                self.weave(own, &place)
            })
            .collect();
        (0..element_step)
            .map(|row| {
                let source = |at: u32| {
                    let (lane, element) = (
                        (row * width + at) / element_step,
                        (row * width + at) % element_step,
                    );
                    let there = elements[element as usize].is_some();
                    there.then_some((element / strand, lane / lanes))
                };
                let sources: Vec<Option<(u32, u32)>> = (0..width).map(source).collect();
                let mut distinct: Vec<(u32, u32)> = sources.iter().flatten().copied().collect();
                distinct.sort_unstable();
                distinct.dedup();
                let all = distinct.iter().fold(None, |all, &(q, j)| {
                    let one = woven[q as usize][j as usize].unwrap_or(none);
                    let Some(all) = all else { return Some(one) };
                    let keep: Vec<u32> = (0..width)
                        .map(|at| match sources[at as usize] == Some((q, j)) {
                            true => width + at,
                            false => at,
                        })
                        .collect();
                    Some(ir.shuffle(all, one, &keep))
                });
                let there = sources.iter().map(Option::is_some).collect();
                (all.unwrap_or(none), there)
            })
            .collect()
    }

    /// Interleaves the lanes of `elements`, whose number is a power of two, into as many vectors. The `e`-th element of
    /// vector `j`, in the order of lanes, lies at `place(j, e)`.
    fn weave(&self, elements: &[Option<Val>], place: &dyn Fn(u32, u32) -> u32) -> Vec<Option<Val>> {
        let ir = self.low.ir;
        let width = self.width;
        let [one] = elements else {
            let every = |from: usize| -> Vec<Option<Val>> {
                let some: Vec<_> = elements.iter().skip(from).step_by(2).copied().collect();
                match some[..] {
                    [one] => vec![one],
                    _ => self.weave(&some, &|_, e| e),
                }
            };
            let (even, odd) = (every(0), every(1));
            let pairs = even.into_iter().zip(odd).enumerate();
            return pairs
                .flat_map(|(i, pair)| {
                    [0, 1].map(|half| {
                        let any = pair.0.or(pair.1)?;
                        let none = ir.poison(ir.type_of(any));
                        let mut order = vec![u32::MAX; width as usize];
                        for e in 0..width {
                            let (from, there) = match e % 2 {
                                0 => (0, pair.0.is_some()),
                                _ => (width, pair.1.is_some()),
                            };
                            if there {
                                let at = place(2 * i as u32 + half, e);
                                order[at as usize] = from + half * width / 2 + e / 2;
                            }
                        }
                        let (a, b) = (pair.0.unwrap_or(none), pair.1.unwrap_or(none));
                        Some(ir.shuffle(a, b, &order))
                    })
                })
                .collect();
        };
        let moved = one.map(|one| {
            let mut order = vec![0; width as usize];
            for e in 0..width {
                order[place(0, e) as usize] = e;
            }
            ir.shuffle(one, one, &order)
        });
        vec![moved]
    }
}
