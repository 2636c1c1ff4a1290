//! Scalar replacement of aggregates, the analysis: which allocas can become values, and the variables that each is
//! split into.
//!
//! An alloca qualifies if its address does not escape. It is split into the pieces in which the program reads and
//! writes it; overlapping accesses form a group of equal pieces.

use std::collections::HashMap;

use super::edit::Edit;
use crate::cfg::Cfg;
use crate::ir::{ConvertOp, InstId, Op, ValueDef, ValueId};
use crate::types::{Constant, Type, TypeId};

/// Pieces of one group of overlapping accesses, and of one copied range: a bound on compile time. Largest in 17,722
/// modules of dpctl and dpnp: 32; in our corpora: 4 (2026-11).
const MAX_PIECES: u64 = 64;
/// Variables of a function: a bound on compile time. Largest in 17,722 modules of dpctl and dpnp: 36; in our corpora: 9
/// (2026-11).
const MAX_VARIABLES: usize = 1 << 14;
/// Scalars of one aggregate that is loaded or stored as a whole: a bound on compile time. Largest in 17,722 modules of
/// dpctl and dpnp: 1; in our corpora: 6 (2026-11).
const MAX_LEAVES: usize = 64;

/// A pointer with a known offset into an alloca.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AllocaOffset {
    pub(super) alloca: u32,
    pub(super) offset: u64,
}

/// A scalar or vector within an aggregate.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: Vec<u32>,
    pub(super) offset: u64,
    pub(super) ty: TypeId,
}

/// Bytes `low..high` of an alloca, split into equal pieces of one variable each.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) piece: u64,
    /// Number of the first piece's variable; `None` when the group stays in memory.
    pub(super) first: Option<u32>,
}

/// The decision for each alloca of a function.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Pointers with known offsets, into allocas that do not escape.
    pub(super) places: HashMap<ValueId, AllocaOffset>,
    /// For each alloca: its groups by address; none when it stays in memory.
    pub(super) groups: Vec<Vec<Group>>,
    /// Type of each variable.
    pub(super) variables: Vec<TypeId>,
    /// Whether the alloca is promoted: copies to and from it are then split.
    pub(super) taken: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Access {
    offset: u64,
    bytes: u64,
    ty: TypeId,
}

/// A copy between two allocas, or between an alloca and other memory; for a fill only `dst` is set.
struct CopyInst {
    dst: Option<AllocaOffset>,
    src: Option<AllocaOffset>,
    bytes: u64,
}

#[derive(Default)]
struct Private {
    size: u64,
    escaped: bool,
    accesses: Vec<Access>,
    /// Bytes of the narrowest access with an index.
    indexed: Option<u64>,
}

/// Bytes of a scalar or vector in memory, without padding.
fn stored_bytes(e: &Edit<'_>, ty: TypeId) -> u64 {
    match e.types.get(ty) {
        Type::Vector(element, n) => e.types.size_of(*element) * u64::from(*n),
        _ => e.types.size_of(ty),
    }
}

/// The scalars and vectors of `ty`; `None` when they are too many.
pub(super) fn leaves(e: &Edit<'_>, ty: TypeId) -> Option<Vec<Leaf>> {
    let mut all = Vec::new();
    let mut stack = vec![Leaf {
        path: Vec::new(),
        offset: 0,
        ty,
    }];
    while let Some(leaf) = stack.pop() {
        crate::reach!(MAX_LEAVES, all.len() + stack.len() + 1);
        if all.len() + stack.len() >= MAX_LEAVES || leaf.path.len() > 16 {
            return None;
        }
        match e.types.get(leaf.ty) {
            Type::Array(element, n) => {
                crate::reach!(MAX_LEAVES, *n);
                if *n as usize > MAX_LEAVES {
                    return None;
                }
                let size = e.types.size_of(*element);
                for i in (0..*n).rev() {
                    let mut path = leaf.path.clone();
                    path.push(i as u32);
                    stack.push(Leaf {
                        path,
                        offset: leaf.offset.saturating_add(size.saturating_mul(i)),
                        ty: *element,
                    });
                }
            }
            Type::Struct { fields, .. } => {
                crate::reach!(MAX_LEAVES, fields.len());
                if fields.len() > MAX_LEAVES {
                    return None;
                }
                for (i, &field) in fields.iter().enumerate().rev() {
                    let mut path = leaf.path.clone();
                    path.push(i as u32);
                    stack.push(Leaf {
                        path,
                        offset: leaf.offset.saturating_add(e.types.field_offset(leaf.ty, i)),
                        ty: field,
                    });
                }
            }
            Type::Void => return None,
            _ => all.push(leaf),
        }
    }
    Some(all)
}

/// The size of an aggregate constant that is all zero or undefined, and whether it is undefined. Storing it does not
/// determine the types of the pieces.
pub(super) fn fill(e: &Edit<'_>, v: ValueId) -> Option<(u64, bool)> {
    let ty = e.f.ty(v);
    if !is_aggregate(e, ty) {
        return None;
    }
    match e.constants.get(e.const_of(v)?) {
        Constant::Null => Some((e.types.size_of(ty), false)),
        Constant::Undef => Some((e.types.size_of(ty), true)),
        _ => None,
    }
}

fn is_aggregate(e: &Edit<'_>, ty: TypeId) -> bool {
    matches!(e.types.get(ty), Type::Array(..) | Type::Struct { .. })
}

struct Survey<'e, 'm> {
    e: &'e Edit<'m>,
    places: HashMap<ValueId, AllocaOffset>,
    /// The alloca of each pointer that has an index.
    indexed: HashMap<ValueId, u32>,
    privates: Vec<Private>,
    copies: Vec<CopyInst>,
}

/// Finds the allocas that can be promoted; `None` when there are none.
pub(super) fn plan(e: &mut Edit<'_>, cfg: &Cfg) -> Option<Plan> {
    for bits in [8, 16, 32, 64] {
        // The analysis only reads the module's types and constants.
        e.types.int(bits);
    }
    let mut survey = Survey {
        e,
        places: HashMap::new(),
        indexed: HashMap::new(),
        privates: Vec::new(),
        copies: Vec::new(),
    };
    survey.find_places(cfg);
    if survey.privates.is_empty() {
        return None;
    }
    survey.find_accesses(cfg);
    if survey.privates.iter().all(|p| p.escaped) {
        return None;
    }
    // An alloca that stays in memory changes the pieces of allocas copied from or to it, so the analysis starts again
    // without it. Each round removes at least one.
    for round in 0.. {
        if round == 8 {
            survey.give_up_copies();
        }
        let mut accesses: Vec<Vec<Access>> =
            survey.privates.iter().map(|p| p.accesses.clone()).collect();
        let fine = survey.share_accesses(&mut accesses)
            && survey.fill_gaps(&mut accesses)
            && survey.share_accesses(&mut accesses);
        if !fine {
            continue;
        }
        if let Some((groups, kinds)) = survey.group(&accesses) {
            let Survey {
                places, privates, ..
            } = survey;
            let variables = kinds
                .into_iter()
                .map(|kind| match kind {
                    Kind::Type(ty) => ty,
                    Kind::Bits(bits) => e.types.int(bits),
                })
                .collect();
            return Some(Plan {
                places,
                groups,
                variables,
                taken: privates.iter().map(|p| !p.escaped).collect(),
            });
        }
    }
    None
}

/// Type of a variable, interned later.
#[derive(Clone, Copy)]
enum Kind {
    Type(TypeId),
    Bits(u8),
}

impl Survey<'_, '_> {
    fn find_places(&mut self, cfg: &Cfg) {
        let f = &*self.e.f;
        for block in cfg.reverse_post_order() {
            for &inst in &f.blocks[block.index()].insts {
                let entry = &f.insts[inst.index()];
                let Some(result) = entry.result else { continue };
                if let Op::PtrOffset { ptr, index, .. } = &entry.op {
                    let place = self.places.get(ptr).filter(|_| index.is_some());
                    let alloca = place.map(|p| p.alloca);
                    if let Some(alloca) = alloca.or(self.indexed.get(ptr).copied()) {
                        self.indexed.insert(result, alloca);
                    }
                }
                let place = match &entry.op {
                    Op::Alloca { size, .. } => {
                        self.privates.push(Private {
                            size: *size,
                            ..Private::default()
                        });
                        Some(AllocaOffset {
                            alloca: self.privates.len() as u32 - 1,
                            offset: 0,
                        })
                    }
                    Op::PtrOffset {
                        ptr,
                        index: None,
                        offset,
                    } => self.places.get(ptr).map(|p| AllocaOffset {
                        offset: p.offset.wrapping_add_signed(*offset),
                        ..*p
                    }),
                    Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, a, _)
                        if matches!(self.e.ty(result), Type::Ptr(_)) =>
                    {
                        self.places.get(a).copied()
                    }
                    _ => None,
                };
                if let Some(place) = place {
                    self.places.insert(result, place);
                }
            }
        }
    }

    /// Whether `v` comes from a call that is not inlined yet.
    fn is_call_result(&self, v: ValueId) -> bool {
        match self.e.f.values[v.index()].def {
            ValueDef::Param(_) => true,
            ValueDef::Inst(_) => matches!(
                self.e.def(v),
                Some(Op::Call { .. } | Op::CallIndirect { .. })
            ),
            _ => false,
        }
    }

    fn escape(&mut self, v: ValueId) {
        if let Some(place) = self.places.get(&v) {
            self.privates[place.alloca as usize].escaped = true;
        }
    }

    fn find_accesses(&mut self, cfg: &Cfg) {
        for block in cfg.reverse_post_order() {
            for i in 0..self.e.f.blocks[block.index()].insts.len() {
                let inst = self.e.f.blocks[block.index()].insts[i];
                self.access(inst);
            }
            if let Some(v) = self.e.f.blocks[block.index()].term.operand() {
                self.escape(v);
            }
        }
    }

    fn access(&mut self, inst: InstId) {
        let f = &*self.e.f;
        let entry = &f.insts[inst.index()];
        match &entry.op {
            // No one else can observe private memory, so volatile accesses are promoted too, except those of
            // aggregates: their scalars may stay in memory one by one and would not be volatile there.
            Op::Load { ptr, volatile, .. } => {
                if let Some(result) = entry.result {
                    if *volatile && is_aggregate(self.e, f.ty(result)) {
                        self.escape(*ptr);
                    }
                    self.typed(*ptr, f.ty(result));
                }
            }
            Op::Store {
                ptr,
                value,
                volatile,
                ..
            } => {
                self.escape(*value);
                if *volatile && (is_aggregate(self.e, f.ty(*value)) || self.is_call_result(*value))
                {
                    self.escape(*ptr);
                }
                if let Some((bytes, _)) = fill(self.e, *value) {
                    self.filled(*ptr, bytes);
                } else {
                    self.typed(*ptr, f.ty(*value));
                }
            }
            Op::CopyMemory { dst, src, size, .. } => self.copied(*dst, *src, *size),
            Op::PtrOffset { index: None, .. } => {}
            Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, a, _)
                if entry.result.is_some_and(|r| self.places.contains_key(&r)) =>
            {
                debug_assert!(self.places.contains_key(a));
            }
            op => {
                let mut operands = Vec::new();
                op.operands(|v| operands.push(v));
                for v in operands {
                    self.escape(v);
                }
            }
        }
    }

    fn typed(&mut self, ptr: ValueId, ty: TypeId) {
        let Some(&place) = self.places.get(&ptr) else {
            if let Some(&alloca) = self.indexed.get(&ptr) {
                let bytes = stored_bytes(self.e, ty);
                let narrowest = &mut self.privates[alloca as usize].indexed;
                *narrowest = Some(narrowest.map_or(bytes, |n| n.min(bytes)));
            }
            return;
        };
        let all = leaves(self.e, ty);
        let private = &mut self.privates[place.alloca as usize];
        let Some(all) = all else {
            private.escaped = true;
            return;
        };
        for leaf in all {
            let bytes = stored_bytes(self.e, leaf.ty);
            let offset = place.offset.wrapping_add(leaf.offset);
            if offset
                .checked_add(bytes)
                .is_none_or(|end| end > private.size)
            {
                private.escaped = true;
                return;
            }
            private.accesses.push(Access {
                offset,
                bytes,
                ty: leaf.ty,
            });
        }
    }

    fn filled(&mut self, ptr: ValueId, bytes: u64) {
        if let Some(&place) = self.places.get(&ptr) {
            let private = &mut self.privates[place.alloca as usize];
            let end = place.offset.checked_add(bytes);
            private.escaped |= end.is_none_or(|end| end > private.size);
            self.copies.push(CopyInst {
                dst: Some(place),
                src: None,
                bytes,
            });
        }
    }

    fn copied(&mut self, dst: ValueId, src: ValueId, size: ValueId) {
        let (to, from) = (self.places.get(&dst), self.places.get(&src));
        if to.is_none() && from.is_none() {
            return;
        }
        let copy = CopyInst {
            dst: to.copied(),
            src: from.copied(),
            bytes: self.e.known_int(size).unwrap_or(u64::MAX),
        };
        for place in [copy.dst, copy.src].into_iter().flatten() {
            let private = &mut self.privates[place.alloca as usize];
            let end = place.offset.checked_add(copy.bytes);
            private.escaped |= end.is_none_or(|end| end > private.size);
        }
        self.copies.push(copy);
    }

    /// The alloca on one side of a copy, unless it stays in memory.
    fn candidate(&self, place: Option<AllocaOffset>) -> Option<AllocaOffset> {
        place.filter(|p| !self.privates[p.alloca as usize].escaped)
    }

    fn give_up_copies(&mut self) {
        for copy in &self.copies {
            for place in [copy.dst, copy.src].into_iter().flatten() {
                self.privates[place.alloca as usize].escaped = true;
            }
        }
    }

    /// Accesses to one side of a copy are also recorded for the other side, if that is an alloca. False when an alloca
    /// had to stay in memory.
    fn share_accesses(&mut self, accesses: &mut [Vec<Access>]) -> bool {
        for list in &mut *accesses {
            list.sort_unstable();
            list.dedup();
        }
        for round in 0..8 {
            let mut grown = false;
            for step in 0..self.copies.len() {
                // In both directions, so that a chain of copies takes one round whatever its order.
                let i = if round % 2 == 0 {
                    self.copies.len() - 1 - step
                } else {
                    step
                };
                let copy = &self.copies[i];
                let (dst, src) = (self.candidate(copy.dst), self.candidate(copy.src));
                for (here, there) in [(dst, src), (src, dst)] {
                    let Some(here) = here else { continue };
                    let (low, high) = (here.offset, here.offset + copy.bytes);
                    let mut within = Vec::new();
                    for access in &accesses[here.alloca as usize] {
                        let end = access.offset + access.bytes;
                        if end <= low || access.offset >= high {
                            continue;
                        }
                        if access.offset < low || end > high {
                            // Only a part of the value is copied.
                            self.privates[here.alloca as usize].escaped = true;
                            return false;
                        }
                        within.push(*access);
                    }
                    crate::reach!(MAX_PIECES, within.len().div_ceil(4));
                    if within.len() as u64 > MAX_PIECES * 4 {
                        self.privates[here.alloca as usize].escaped = true;
                        return false;
                    }
                    let Some(there) = there else { continue };
                    let other = &mut accesses[there.alloca as usize];
                    for mut access in within {
                        access.offset = access.offset - low + there.offset;
                        if let Err(at) = other.binary_search(&access) {
                            other.insert(at, access);
                            grown = true;
                        }
                    }
                }
            }
            if !grown {
                return true;
            }
        }
        self.give_up_copies();
        false
    }

    /// Bytes copied to other memory need a variable even if no access names them. Copies to an array that stays in memory
    /// have its elements as pieces, so that vectorised code can lay it out by lane.
    fn fill_gaps(&mut self, accesses: &mut [Vec<Access>]) -> bool {
        for i in 0..self.copies.len() {
            let copy = &self.copies[i];
            let (Some(src), None) = (self.candidate(copy.src), self.candidate(copy.dst)) else {
                continue;
            };
            let (mut at, end) = (src.offset, src.offset + copy.bytes);
            let mut gaps = Vec::new();
            for access in &accesses[src.alloca as usize] {
                if access.offset >= end {
                    break;
                }
                if access.offset > at {
                    gaps.push((at, access.offset));
                }
                at = at.max(access.offset + access.bytes);
            }
            if at < end {
                gaps.push((at, end));
            }
            let element = copy
                .dst
                .and_then(|p| self.privates[p.alloca as usize].indexed);
            let widest = element.filter(|n| *n > 0 && copy.bytes / n <= MAX_PIECES);
            let sizes = [8u64, 4, 2, 1].map(|s| s.min(widest.unwrap_or(8)));
            let ints = sizes.map(|s| self.e.types.find(&Type::Int(s as u8 * 8)));
            let mut new = Vec::new();
            for (mut at, end) in gaps {
                while at < end && new.len() as u64 <= MAX_PIECES {
                    let fit = sizes
                        .iter()
                        .zip(ints)
                        .find_map(|(s, ty)| (at % s == 0 && at + s <= end).then_some((*s, ty?)));
                    let Some((bytes, ty)) = fit else {
                        self.privates[src.alloca as usize].escaped = true;
                        return false;
                    };
                    new.push(Access {
                        offset: at,
                        bytes,
                        ty,
                    });
                    at += bytes;
                }
            }
            crate::reach!(MAX_PIECES, new.len());
            if new.len() as u64 > MAX_PIECES {
                self.privates[src.alloca as usize].escaped = true;
                return false;
            }
            let list = &mut accesses[src.alloca as usize];
            list.extend(new);
            list.sort_unstable();
        }
        true
    }

    /// Splits every candidate into groups; `None` when one had to stay in memory.
    fn group(&mut self, accesses: &[Vec<Access>]) -> Option<(Vec<Vec<Group>>, Vec<Kind>)> {
        let mut copied = vec![false; self.privates.len()];
        for copy in &self.copies {
            for place in [copy.dst, copy.src].into_iter().flatten() {
                copied[place.alloca as usize] = true;
            }
        }
        let mut variables = Vec::new();
        let mut all = Vec::with_capacity(accesses.len());
        for (i, list) in accesses.iter().enumerate() {
            let mut groups: Vec<Group> = Vec::new();
            if self.privates[i].escaped {
                all.push(groups);
                continue;
            }
            let mut start = 0;
            while start < list.len() {
                let low = list[start].offset;
                let mut high = low + list[start].bytes;
                let mut end = start + 1;
                while end < list.len() && list[end].offset < high {
                    high = high.max(list[end].offset + list[end].bytes);
                    end += 1;
                }
                let room = MAX_VARIABLES - variables.len().min(MAX_VARIABLES);
                let split = self.split(&list[start..end], low, high, room);
                if split.is_none() && copied[i] {
                    self.privates[i].escaped = true;
                    return None;
                }
                let first = split.as_ref().map(|_| variables.len() as u32);
                let (piece, kinds) = split.unwrap_or((high - low, Vec::new()));
                variables.extend(kinds);
                groups.push(Group {
                    low,
                    high,
                    piece,
                    first,
                });
                start = end;
            }
            all.push(groups);
        }
        Some((all, variables))
    }

    /// The size of equal pieces such that every access of a group covers whole pieces, and their types.
    fn split(
        &self,
        accesses: &[Access],
        low: u64,
        high: u64,
        room: usize,
    ) -> Option<(u64, Vec<Kind>)> {
        let first = accesses.first()?;
        let same = |a: &Access| a.offset == low && a.offset + a.bytes == high;
        if accesses.iter().all(same) {
            // Vectors of the same size with other elements are split like overlapping accesses.
            let one_type = accesses.iter().all(|a| a.ty == first.ty);
            if one_type && room > 0 {
                return Some((high - low, vec![Kind::Type(first.ty)]));
            }
        }
        let scalar = |a: &Access| self.e.types.scalar_of(a.ty);
        let mut piece = u64::MAX;
        for access in accesses {
            piece = piece.min(self.e.types.size_of(scalar(access)?));
        }
        let count = (high - low) / piece.max(1);
        crate::reach!(MAX_PIECES, count);
        crate::reach!(MAX_VARIABLES, MAX_VARIABLES - room + count as usize);
        if !matches!(piece, 1 | 2 | 4 | 8) || count > MAX_PIECES || count as usize > room {
            return None;
        }
        let mut kinds: Vec<Option<Kind>> = vec![None; count as usize];
        for access in accesses {
            if !(access.offset - low).is_multiple_of(piece) || !access.bytes.is_multiple_of(piece) {
                return None;
            }
            let element = scalar(access)?;
            let whole = self.e.types.size_of(element) == piece;
            let parts = access.bytes / piece;
            if !whole {
                let is_pointer = matches!(self.e.types.get(element), Type::Ptr(_));
                let is_vector = element != access.ty;
                if !matches!(parts, 2 | 3 | 4 | 8 | 16) || (is_pointer && is_vector) {
                    return None;
                }
            }
            let from = (access.offset - low) / piece;
            for kind in &mut kinds[from as usize..(from + parts) as usize] {
                *kind = Some(match *kind {
                    None if whole => Kind::Type(element),
                    Some(Kind::Type(ty)) if whole && ty == element => Kind::Type(ty),
                    _ => Kind::Bits(piece as u8 * 8),
                });
            }
        }
        let kinds: Option<Vec<Kind>> = kinds.into_iter().collect();
        Some((piece, kinds?))
    }
}

impl Plan {
    /// The group that holds byte `offset` of an alloca.
    pub(super) fn group_at(&self, place: AllocaOffset) -> Option<&Group> {
        let groups = self.groups.get(place.alloca as usize)?;
        let at = groups.partition_point(|g| g.high <= place.offset);
        groups.get(at).filter(|g| g.low <= place.offset)
    }
}
