//! Stores of lanes that lie a few elements apart, `a[2 * i]` or a member of a structure. What a block stores of one
//! structure for each lane is written together, as rows: each member's lanes are brought to their places once, and
//! rows are blended of them. What lies between them is not touched.

use kernel_ir::passes::shape::NEAR;
use kernel_ir::{BuildError, InstId, Op, Type, TypeId, ValueDef, ValueId};

use super::Lanes;
use crate::llvm::{Opcode, Val};

/// A store of one element for each lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    id: InstId,
    ptr: ValueId,
    value: ValueId,
    align: u64,
    /// Bytes from where the structures' addresses come from.
    far: i64,
}

/// Where the members of a structure for each lane lie.
struct Layout {
    /// Elements of the structure.
    apart: u32,
    /// Elements of the structure before the lowest member.
    lead: u64,
    /// Constant offset of the lowest member.
    low: i64,
}

/// A test counts the instructions that are looked at beside the one at hand.
pub(super) fn looked() {
    #[cfg(test)]
    tests::LOOKED.set(tests::LOOKED.get() + 1);
}

impl Lanes<'_, '_, '_> {
    /// Stores an element for each lane where they lie apart; with others of the same structures if that can be,
    /// and then it is the last of those that stores them.
    pub(super) fn store_strided(
        &mut self,
        ptr: ValueId,
        value: ValueId,
        align: u64,
    ) -> Result<(), BuildError> {
        let deferred = std::mem::take(&mut self.deferred);
        if let Some((members, layout)) = self.members(ptr, value) {
            let last = members.len() - 1;
            if self.at_hand != Some(members[last].id) {
                self.deferred = deferred;
                let own = members.into_iter().find(|m| Some(m.id) == self.at_hand);
                self.deferred.extend(own);
                return Ok(());
            }
            if deferred == members[..last] {
                self.store_members(&members, &layout);
                return Ok(());
            }
        }
        // They have the same shape as this one, so that this is for itself here.
        for member in deferred {
            self.scatter(member.ptr, member.value, member.align)?;
        }
        self.scatter(ptr, value, align)
    }

    /// The stores that are done with the one at hand, itself among them, in their order, if they can be done as rows.
    fn members(&mut self, ptr: ValueId, value: ValueId) -> Option<(Vec<Member>, Layout)> {
        let rep = self.rep(ptr);
        let ty = self.low.ty(value);
        let types = &self.low.values.module.types;
        let size = types.size_of(ty);
        let here = self.mask.is_none() && self.present.is_none();
        if !here || rep.first.is_none() || rep.holds.is_some() || types.scalar_of(ty) != Some(ty) {
            return None;
        }
        let bytes = size as i64;
        let apart = rep.step.checked_div(bytes)?;
        if rep.step % bytes != 0 || !(2..=NEAR.cast_signed()).contains(&apart) {
            return None;
        }
        let members = self.stored_together(ptr, ty, rep.step)?;
        let lowest = members.iter().min_by_key(|member| member.far)?;
        let (low, lowest) = (lowest.far, lowest.ptr);
        let high = members.iter().map(|member| member.far).max()?;
        let apart = apart as u32;
        let whole = members.len() == apart as usize;
        let lead = match whole {
            true if self.low.target.has_mask_registers || apart <= self.few() => 0,
            // Rows that are not whole anyway begin where memory's lines do.
            _ if self.low.target.has_mask_registers
                && self
                    .low
                    .target
                    .has_masked(&self.low.values.module.types, ty) =>
            {
                let lead = self.lead(lowest, u64::from(apart), size);
                let inside = |lead: &u64| lead * size + ((high - low) as u64) < rep.step as u64;
                lead.filter(inside).unwrap_or(0)
            }
            _ => return None,
        };
        Some((members, Layout { apart, lead, low }))
    }

    /// Whole structures of no more elements than this LLVM puts together well by itself. Those of more take too many
    /// shuffles where there are neither blends by masks nor shuffles of two registers.
    fn few(&self) -> u32 {
        if self.low.target.has_mask_registers {
            3
        } else {
            4
        }
    }

    /// Stores of the block at hand, the one at hand among them, of different members of the same structures, `step`
    /// bytes apart, between which nothing is read or written. They are looked for from the first of them on, once.
    fn stored_together(&mut self, ptr: ValueId, ty: TypeId, step: i64) -> Option<Vec<Member>> {
        let is_at_hand = |member: &Member| Some(member.id) == self.at_hand;
        if !self.together.iter().any(is_at_hand) {
            self.together = self.stored_from_here(ptr, ty, step);
        }
        let found = self.together.iter().any(is_at_hand);
        found.then(|| self.together.clone())
    }

    /// The store at hand and those behind it that are of other members of the same structures.
    fn stored_from_here(&self, ptr: ValueId, ty: TypeId, step: i64) -> Vec<Member> {
        let types = &self.low.values.module.types;
        let size = types.size_of(ty) as i64;
        let origin = self.origin(ptr).0;
        let is_pointer = |ty: TypeId| matches!(types.get(ty), Type::Ptr(_));
        let mut members: Vec<Member> = Vec::new();
        for &id in &self.f.blocks[self.block_at_hand.index()].insts[self.place_at_hand..] {
            looked();
            let op = &self.f.insts[id.index()].op;
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
            let of = self.low.ty(value);
            let (from, far) = self.origin(ptr);
            let alike = from == origin
                && types.size_of(of) as i64 == size
                && types.scalar_of(of) == Some(of)
                && is_pointer(of) == is_pointer(ty);
            // Each lane's lie within one structure, none upon another.
            let fits = |other: &Member| {
                let far = far.checked_sub(other.far);
                far.is_some_and(|far| {
                    far != 0 && far % size == 0 && far.unsigned_abs() < step.unsigned_abs()
                })
            };
            let first = members.is_empty();
            if !alike || !members.iter().all(fits) || !(first || self.is_made_here(ptr)) {
                break;
            }
            members.push(Member {
                id,
                ptr,
                value,
                align,
                far,
            });
            if first && !self.is_made_here(ptr) {
                break;
            }
        }
        members
    }

    /// Whether an address is made in the block at hand from its origin on: then all such addresses of an origin have
    /// one shape.
    fn is_made_here(&self, mut ptr: ValueId) -> bool {
        while let ValueDef::Inst(inst) = self.f.values[ptr.index()].def
            && let Op::PtrOffset {
                ptr: base, index, ..
            } = self.f.insts[inst.index()].op
        {
            if self.region.block_of(ptr) != Some(self.block_at_hand) {
                return false;
            }
            if index.is_some() {
                break;
            }
            ptr = base;
        }
        true
    }

    /// Writes the members, where the last one of them is at hand.
    fn store_members(&mut self, members: &[Member], layout: &Layout) {
        let ir = self.low.ir;
        let types = &self.low.values.module.types;
        let &Layout { apart, lead, low } = layout;
        let last = members[members.len() - 1];
        let ty = self.low.ty(last.value);
        let size = types.size_of(ty);
        let row = ir.vector(self.low.values.memory(ty), self.width);
        let align = members.iter().map(|member| member.align).min();
        let align = crate::memory::sane_align(align.unwrap_or(1)).min(size);
        let mut elements = vec![None; apart as usize];
        for member in members {
            let all = self.vectors(member.value)[0];
            let memory = self.low.values.memory(self.low.ty(member.value));
            let all = ir.cast(Opcode::LLVMZExt, all, ir.vector(memory, self.width));
            let at = lead + ((member.far - low) as u64) / size;
            elements[at as usize] = Some(ir.cast(Opcode::LLVMBitCast, all, row));
        }
        let first = self.scalar(last.ptr);
        let before = low - last.far - (lead * size) as i64;
        let begin = ir.offset_by(first, before.cast_unsigned());
        let parts: Vec<Val> = elements.iter().flatten().copied().collect();
        if parts.len() == elements.len() && apart <= self.few() {
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

    /// Structures of `elements`, lane after lane, as rows, each with what of it is there.
    fn structures(&self, elements: &[Option<Val>]) -> Vec<(Val, Vec<bool>)> {
        let ir = self.low.ir;
        let (width, apart) = (self.width, elements.len() as u32);
        // So many neighbours are woven; lanes of one such vector have places of their own in all rows then.
        let strand = 1 << apart.trailing_zeros().min(width.trailing_zeros());
        let lanes = width / strand;
        let Some(any) = elements.iter().flatten().next() else {
            return Vec::new();
        };
        let none = ir.poison(ir.type_of(*any));
        let woven: Vec<Vec<Option<Val>>> = (0..apart / strand)
            .map(|q| {
                let own = &elements[(q * strand) as usize..((q + 1) * strand) as usize];
                let place = |j: u32, e: u32| {
                    let lane = j * lanes + e / strand;
                    (apart * lane + q * strand + e % strand) % width
                };
                self.weave(own, &place)
            })
            .collect();
        (0..apart)
            .map(|row| {
                let source = |at: u32| {
                    let (lane, element) = ((row * width + at) / apart, (row * width + at) % apart);
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

    /// As many vectors as there are `elements`, a power of two: lanes of all of them, lane after lane, element `e` of
    /// vector `j` in `place(j, e)`.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt::Write as _;
    use std::sync::mpsc::channel;

    use kernel_ir::Options;
    use kernel_ir::build::Compiled;

    use crate::compile::{Settings, translate};
    use crate::llvm::Ir;
    use crate::service;

    thread_local! {
        pub(super) static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    /// A kernel of so many stores, `apart` bytes from one to the next, of elements that lie 8 bytes apart from lane to lane.
    fn stores(count: usize, apart: usize) -> String {
        let mut text = "kernel @k(%out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
"
        .to_owned();
        for i in 0..count {
            let at = i * apart;
            writeln!(text, "  %p{i}: ptr<global> = offset %out [%g * 8 + {at}]").expect("a string");
            writeln!(text, "  store %p{i}, %n align 4").expect("a string");
        }
        text + "  ret\n}"
    }

    /// Instructions that are looked at for such a kernel, in 8 lanes.
    fn looked_at(text: &str) -> usize {
        let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let settings = Settings {
            cpu: "x86-64-v3".into(),
            features: String::new(),
            sub_group_size: 8,
            options: Options::default(),
            wide: true,
            lanes: Some(8),
            baseline: false,
        };
        let (sender, receiver) = channel();
        let reply = service::run(move || {
            LOOKED.set(0);
            let ir = Ir::new(c"kernels");
            let info = translate(&ir, module, 0, &settings, None)?;
            let _ = sender.send(LOOKED.get());
            Ok(Compiled {
                object: Vec::new(),
                info,
            })
        });
        reply.unwrap_or_else(|e| panic!("{e}\n{text}"));
        receiver.recv().expect("a count")
    }

    #[test]
    fn stores_that_lie_apart_are_looked_at_a_few_times_each() {
        // Alone, in pairs, and each in the midst of another's structure.
        for apart in [64, 4, 12] {
            let [few, many] = [70, 700].map(|count| looked_at(&stores(count, apart)));
            assert!((70..=70 * 6).contains(&few), "{apart}: {few}");
            assert!(many <= 10 * few + 20, "{apart}: {few} and {many}");
        }
    }
}
