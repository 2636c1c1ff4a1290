//! Pointers, loads, stores and copies.

use super::fault::{Res, invalid, unsupported};
use super::limits::MAX_PRIVATE;
use super::lower::Lower;
use super::table::{Entity, Kind};
use crate::types::sign_extend;
use crate::{
    AddressSpace, BinaryOp, BlockId, ConvertOp, Op, Predicate, Type, TypeId, ValueDef, ValueId,
};
use spirv::Op as Spv;
use spirv_reader::Operands;

/// The memory operands of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) volatile: bool,
    /// `Aligned`, when given.
    pub(super) align: Option<u64>,
}

/// One step of an access chain.
enum Step {
    /// To member `.0`, at an offset of `.1` bytes.
    Member(u32, i64),
    /// To an element of type `.0`, each `.1` bytes long.
    Element(u32, i64),
}

impl Lower<'_, '_> {
    /// Reads memory operands, if there are any.
    pub(super) fn access(&self, operands: &mut Operands<'_>) -> Res<Access> {
        let mut access = Access {
            volatile: false,
            align: None,
        };
        let Some(mask) = operands.maybe() else {
            return Ok(access);
        };
        access.volatile = mask & 1 != 0;
        if mask & 2 != 0 {
            let align = operands.next()?;
            // LLVM's translator uses 0 for an unknown alignment.
            access.align = Some(if align.is_power_of_two() {
                u64::from(align.min(1 << 12))
            } else {
                1
            });
        }
        // Availability, visibility and alias scopes have one id each.
        for bit in [8, 16, 0x1_0000, 0x2_0000] {
            if mask & bit != 0 {
                operands.next()?;
            }
        }
        Ok(access)
    }

    /// The alignment of an access of type `ty`.
    pub(super) fn alignment(&self, access: Access, ty: TypeId) -> u64 {
        match access.align {
            Some(align) => align,
            None if self.source.any_packed => 1,
            None => match self.module.types.scalar_of(ty) {
                Some(scalar) => self.module.types.align_of(scalar),
                None => self.module.types.align_of(ty),
            },
        }
    }

    /// The value of `id`, which must be a pointer.
    pub(super) fn pointer(&mut self, id: u32) -> Res<ValueId> {
        let value = self.value(id)?;
        match self.module.types.get(self.f.ty(value)) {
            Type::Ptr(_) => Ok(value),
            _ => invalid(format!("id %{id} is no pointer")),
        }
    }

    pub(super) fn load_inst(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, ptr) = (operands.next()?, operands.next()?, operands.next()?);
        let ir = self.value_type(ty)?;
        if let Entity::BuiltinPart(place) = self.table.get(ptr)?
            && let Some(value) = self.load_place(place, ir)
        {
            return self.result(ty, id, value);
        }
        let ptr = self.pointer(ptr)?;
        let access = self.access(operands)?;
        let op = Op::Load {
            ptr,
            align: self.alignment(access, ir),
            volatile: access.volatile,
        };
        let value = self.emit(op, ir);
        self.result(ty, id, value)
    }

    pub(super) fn store_inst(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ptr, value) = (operands.next()?, operands.next()?);
        if let Entity::BuiltinPart(_) = self.table.get(ptr)? {
            return invalid("a store to a built-in variable");
        }
        let (ptr, value) = (self.pointer(ptr)?, self.value(value)?);
        let access = self.access(operands)?;
        let op = Op::Store {
            ptr,
            value,
            align: self.alignment(access, self.f.ty(value)),
            volatile: access.volatile,
        };
        self.emit_void(op);
        Ok(())
    }

    pub(super) fn copy_memory(&mut self, operands: &mut Operands<'_>, sized: bool) -> Res<()> {
        let (to, from) = (operands.next()?, operands.next()?);
        let size = if sized {
            let size = operands.next()?;
            let size = self.value(size)?;
            match self.int_bits(size)? {
                64 => size,
                bits => self.resize(size, bits, 64),
            }
        } else {
            let pointee = self.table.pointee_of(to)?;
            let bytes = self.module.types.size_of(self.table.sized(pointee)?);
            self.int(64, bytes)
        };
        let (to, from) = (self.pointer(to)?, self.pointer(from)?);
        let first = self.access(operands)?;
        let second = if operands.left() > 0 {
            self.access(operands)?
        } else {
            first
        };
        let align = first.align.unwrap_or(1).min(second.align.unwrap_or(1));
        self.emit_void(Op::CopyMemory {
            dst: to,
            src: from,
            size,
            align,
        });
        Ok(())
    }

    fn step(&self, ty: u32, index: Option<i64>) -> Res<Step> {
        let size = |id| -> Res<i64> {
            let size = self.module.types.size_of(self.table.sized(id)?);
            Ok(i64::try_from(size).unwrap_or(i64::MAX))
        };
        match &self.table.ty(ty)?.kind {
            Kind::Vector(element, _) | Kind::Array(element) => {
                Ok(Step::Element(*element, size(*element)?))
            }
            Kind::Struct(members, offsets) => {
                let Some(index) = index else {
                    return invalid("a struct member is named by a constant");
                };
                let found = usize::try_from(index)
                    .ok()
                    .and_then(|i| Some((members.get(i)?, offsets.get(i)?)));
                match found {
                    Some((&member, &offset)) => {
                        Ok(Step::Member(member, i64::try_from(offset).unwrap_or(0)))
                    }
                    None => invalid(format!(
                        "member {index} of a struct of {} members",
                        members.len()
                    )),
                }
            }
            _ => invalid(format!("type %{ty} has no parts to index")),
        }
    }

    /// All eight kinds of access chain.
    pub(super) fn access_chain(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let untyped = matches!(
            op,
            Spv::UntypedAccessChainKHR
                | Spv::UntypedInBoundsAccessChainKHR
                | Spv::UntypedPtrAccessChainKHR
                | Spv::UntypedInBoundsPtrAccessChainKHR
        );
        let element = matches!(
            op,
            Spv::PtrAccessChain
                | Spv::InBoundsPtrAccessChain
                | Spv::UntypedPtrAccessChainKHR
                | Spv::UntypedInBoundsPtrAccessChainKHR
        );
        let mut at = if untyped { operands.next()? } else { 0 };
        let base = operands.next()?;
        if !untyped {
            at = self.table.pointee_of(base)?;
        }
        let mut offset = 0i64;
        let mut scaled: Vec<(ValueId, i64)> = Vec::new();
        let mut first = element;
        while let Some(index) = operands.maybe() {
            let value = self.value(index)?;
            let bits = self.int_bits(value)?;
            let known = self.known(value).map(|value| sign_extend(value, bits));
            let step = if std::mem::take(&mut first) {
                let size = self.module.types.size_of(self.table.sized(at)?);
                Step::Element(at, i64::try_from(size).unwrap_or(i64::MAX))
            } else {
                self.step(at, known)?
            };
            match (step, known) {
                (Step::Member(next, bytes), _) => {
                    at = next;
                    offset = offset.wrapping_add(bytes);
                }
                (Step::Element(next, size), Some(known)) => {
                    at = next;
                    offset = offset.wrapping_add(known.wrapping_mul(size));
                }
                (Step::Element(next, size), None) => {
                    at = next;
                    let index = self.index(value)?;
                    scaled.push((index, size));
                }
            }
        }
        if first {
            return invalid("the element operand is missing");
        }
        if let (Entity::BuiltinPart(mut place), true) = (self.table.get(base)?, scaled.is_empty()) {
            place.offset = place.offset.wrapping_add(offset);
            return self.table.define_local(id, ty, Entity::BuiltinPart(place));
        }
        let mut ptr = self.pointer(base)?;
        let last = scaled.len();
        for (i, (index, stride)) in scaled.into_iter().enumerate() {
            let ty = self.f.ty(ptr);
            let op = Op::PtrOffset {
                ptr,
                index: Some((index, stride)),
                offset: if i + 1 == last { offset } else { 0 },
            };
            ptr = self.emit(op, ty);
        }
        if last == 0 {
            ptr = self.offset(ptr, offset);
        }
        self.result(ty, id, ptr)
    }

    /// `OpVariable` in a function.
    pub(super) fn variable(&mut self, operands: &mut Operands<'_>, untyped: bool) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let class = operands.next()?;
        if class != spirv::StorageClass::Function as u32 {
            return invalid(format!(
                "storage class {class} inside a function, Function (7) is needed"
            ));
        }
        let pointee = if untyped {
            operands.next()?
        } else {
            self.table.pointer(ty)?.1
        };
        let content = self.table.sized(pointee)?;
        let size = self.module.types.size_of(content);
        let align = self.source.alignment(id).map_or(1, u64::from);
        if !align.is_power_of_two() || align > 4096 {
            return invalid(format!(
                "alignment {align}, a power of two to 4096 is needed"
            ));
        }
        let align = align.max(self.module.types.align_of(content));
        if self.private.saturating_add(size) > MAX_PRIVATE {
            return unsupported(format!(
                "more than {} bytes of private variables",
                MAX_PRIVATE
            ));
        }
        let ptr = self.alloca(size, align);
        if let Some(init) = operands.maybe() {
            let init = self.value(init)?;
            if self.f.ty(init) != content {
                return invalid("the initialiser has not the variable's type");
            }
            self.store(ptr, init, align);
        }
        self.result(ty, id, ptr)
    }

    /// A private array of variable length. The length must be known after specialisation.
    pub(super) fn array_of_length(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let element = if op == Spv::UntypedVariableLengthArrayINTEL {
            operands.next()?
        } else {
            self.table.pointer(ty)?.1
        };
        let element = self.table.sized(element)?;
        let length = operands.next()?;
        let length = self.value(length)?;
        self.int_bits(length)?;
        let Some(length) = self.folded(length, 8) else {
            return unsupported(
                "an array whose length is known only when the kernel runs: its length must be a constant once the module is specialised",
            );
        };
        // In a loop each iteration would need its own array.
        if self.block != BlockId(1) && !self.restores {
            return unsupported(
                "an array of this kind outside the function's first block, in a function without OpRestoreMemoryINTEL",
            );
        }
        let size = self.module.types.size_of(element).checked_mul(length);
        let size = size.filter(|&size| self.private.saturating_add(size) <= MAX_PRIVATE);
        let Some(size) = size else {
            return unsupported(format!(
                "more than {} bytes of private variables",
                MAX_PRIVATE
            ));
        };
        let align = self.source.alignment(id).map_or(1, u64::from);
        if !align.is_power_of_two() || align > 4096 {
            return invalid(format!(
                "alignment {align}, a power of two to 4096 is needed"
            ));
        }
        let ptr = self.alloca(size, align.max(self.module.types.align_of(element)));
        self.result(ty, id, ptr)
    }

    /// The value of an integer that is computed from constants in at most `depth` steps.
    fn folded(&self, value: ValueId, depth: u32) -> Option<u64> {
        if let Some(known) = self.known(value) {
            return Some(known);
        }
        let depth = depth.checked_sub(1)?;
        let ValueDef::Inst(inst) = self.f.values.get(value.index())?.def else {
            return None;
        };
        let of = |value| self.folded(value, depth);
        let bits = self.int_bits(value).ok()?;
        let wide = match self.f.insts.get(inst.index())?.op {
            Op::Convert(ConvertOp::ZExt | ConvertOp::Trunc, from, _) => of(from)?,
            Op::Convert(ConvertOp::SExt, from, _) => {
                sign_extend(of(from)?, self.int_bits(from).ok()?) as u64
            }
            Op::Binary(BinaryOp::IMul, a, b, _) => of(a)?.wrapping_mul(of(b)?),
            Op::Binary(BinaryOp::IAdd, a, b, _) => of(a)?.wrapping_add(of(b)?),
            _ => return None,
        };
        Some(super::table::low_bits(wide, bits))
    }

    /// A masked gather; lanes that are off come from the last operand.
    pub(super) fn masked_gather(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, places) = (operands.next()?, operands.next()?, operands.next()?);
        let align = operands.next()?;
        let (mask, rest) = (operands.next()?, operands.next()?);
        let ir = self.value_type(ty)?;
        let rest = self.value(rest)?;
        if self.f.ty(rest) != ir {
            return invalid("what fills the empty lanes has not the result type");
        }
        let lanes = self.masked_places(places, mask, rest, align)?;
        let mut parts = Vec::with_capacity(lanes.len());
        for (place, rest, align) in lanes {
            let ty = self.f.ty(rest);
            parts.push(self.load(place, ty, align));
        }
        let value = self.join(parts);
        self.result(ty, id, value)
    }

    /// A masked scatter.
    pub(super) fn masked_scatter(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (value, places) = (operands.next()?, operands.next()?);
        let (align, mask) = (operands.next()?, operands.next()?);
        let value = self.value(value)?;
        for (place, part, align) in self.masked_places(places, mask, value, align)? {
            self.store(place, part, align);
        }
        Ok(())
    }

    /// For each lane its address, or the address of a private copy where the mask is off; and the alignment.
    fn masked_places(
        &mut self,
        places: u32,
        mask: u32,
        value: ValueId,
        align: u32,
    ) -> Res<Vec<(ValueId, ValueId, u64)>> {
        let (places, mask) = (self.value(places)?, self.value(mask)?);
        let is_pointer = matches!(self.scalar(places), Type::Ptr(_));
        if !is_pointer || self.scalar(mask) != Type::Bool {
            return invalid("a vector of pointers and a mask of Bool are needed");
        }
        let (places, masks) = (self.lanes(places), self.lanes(mask));
        let parts = self.lanes(value);
        if places.len() != parts.len() || masks.len() != parts.len() {
            return invalid("vectors of one length are needed");
        }
        let generic = self.module.types.ptr(AddressSpace::Generic);
        let mut lanes = Vec::with_capacity(parts.len());
        for ((place, mask), part) in places.into_iter().zip(masks).zip(parts) {
            let ty = self.f.ty(part);
            let natural = self.module.types.align_of(ty);
            let align = match u64::from(align) {
                0 => 1,
                align if align.is_power_of_two() => align.min(natural),
                align => return invalid(format!("alignment {align} is no power of two")),
            };
            let own = self.alloca(self.module.types.size_of(ty), natural);
            self.store(own, part, natural);
            let own = self.cast_pointer(own, generic);
            let place = self.cast_pointer(place, generic);
            lanes.push((self.select(mask, place, own), part, align));
        }
        Ok(lanes)
    }

    /// Pointer comparison and difference.
    pub(super) fn compare_pointers(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let (a, b) = (operands.next()?, operands.next()?);
        let int = self.module.types.int(64);
        let size = if op == Spv::PtrDiff {
            let pointee = self.table.pointee_of(a)?;
            self.module.types.size_of(self.table.sized(pointee)?)
        } else {
            1
        };
        let (a, b) = (self.pointer(a)?, self.pointer(b)?);
        let a = self.convert(ConvertOp::PtrToInt, a, int);
        let b = self.convert(ConvertOp::PtrToInt, b, int);
        let value = match op {
            Spv::PtrEqual => self.compare(Predicate::IEq, a, b),
            Spv::PtrNotEqual => self.compare(Predicate::INe, a, b),
            _ => {
                let bytes = self.binary(BinaryOp::ISub, a, b);
                let size = self.int(64, size.max(1));
                let count = self.binary(BinaryOp::SDiv, bytes, size);
                let want = self.value_type(ty)?;
                match *self.module.types.get(want) {
                    Type::Int(bits) => self.resize(count, 64, bits),
                    _ => return invalid("the result type is no integer"),
                }
            }
        };
        self.result(ty, id, value)
    }
}
