//! Built-in variables: ids and sizes of a work-item.
//!
//! They are variables in SPIR-V and instructions in the IR. A load of a variable or a part of it becomes the
//! instruction; any other use of its pointer gets the address of a private copy.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use super::source::{Linkage, Source};
use super::table::{BuiltinPart, Item, Kind, Table};
use crate::{BinaryOp, Builtin, ConvertOp, Module, Op, Predicate, Rounding, Type, TypeId, ValueId};
use spirv::{BuiltIn, Decoration};

/// The built-in variable `id`; none if it is an ordinary variable.
pub(super) fn variable(
    source: &Source<'_>,
    module: &Module,
    table: &Table,
    id: u32,
    pointee: u32,
) -> Res<Option<BuiltinPart>> {
    let Some(built_in) = named(source, id)? else {
        return Ok(None);
    };
    let item = match built_in {
        BuiltIn::NumWorkgroups => Item::Value(Builtin::NumWorkgroups),
        BuiltIn::WorkgroupSize => Item::Value(Builtin::WorkgroupSize),
        BuiltIn::WorkgroupId => Item::Value(Builtin::WorkgroupId),
        BuiltIn::LocalInvocationId => Item::Value(Builtin::LocalInvocationId),
        BuiltIn::GlobalInvocationId => Item::Value(Builtin::GlobalInvocationId),
        BuiltIn::LocalInvocationIndex => Item::Value(Builtin::LocalInvocationIndex),
        BuiltIn::WorkDim => Item::Value(Builtin::WorkDim),
        BuiltIn::GlobalSize => Item::Value(Builtin::GlobalSize),
        BuiltIn::EnqueuedWorkgroupSize => Item::Value(Builtin::EnqueuedWorkgroupSize),
        BuiltIn::GlobalOffset => Item::Value(Builtin::GlobalOffset),
        BuiltIn::GlobalLinearId => Item::Value(Builtin::GlobalLinearId),
        BuiltIn::SubgroupSize => Item::Value(Builtin::SubgroupSize),
        BuiltIn::SubgroupMaxSize => Item::Value(Builtin::SubgroupMaxSize),
        BuiltIn::NumSubgroups => Item::Value(Builtin::NumSubgroups),
        BuiltIn::NumEnqueuedSubgroups => Item::Value(Builtin::NumEnqueuedSubgroups),
        BuiltIn::SubgroupId => Item::Value(Builtin::SubgroupId),
        BuiltIn::SubgroupLocalInvocationId => Item::Value(Builtin::SubgroupLocalInvocationId),
        BuiltIn::SubgroupEqMask => Item::Mask(Predicate::IEq),
        BuiltIn::SubgroupGeMask => Item::Mask(Predicate::UGe),
        BuiltIn::SubgroupGtMask => Item::Mask(Predicate::UGt),
        BuiltIn::SubgroupLeMask => Item::Mask(Predicate::ULe),
        BuiltIn::SubgroupLtMask => Item::Mask(Predicate::ULt),
        other => return unsupported(format!("built-in variable {other:?}")),
    };
    let kind = table.ty(pointee)?;
    let (scalar, lanes) = match kind.kind {
        Kind::Vector(element, lanes) => (table.ty(element)?.ir, lanes),
        _ => (kind.ir, 1),
    };
    let Type::Int(bits @ (32 | 64)) = *module.types.get(scalar) else {
        return invalid("a built-in variable holds integers of 32 or 64 bits");
    };
    let want = match item {
        Item::Mask(_) => 4,
        Item::Value(builtin) if per_dimension(builtin) => 3,
        Item::Value(_) => 1,
    };
    if lanes != want {
        return invalid(format!(
            "{built_in:?} with {lanes} components, it has {want}"
        ));
    }
    Ok(Some(BuiltinPart {
        item,
        lanes,
        bits,
        offset: 0,
    }))
}

/// The built-in by decoration, or by the name under which LLVM's translator imports it.
pub(super) fn named(source: &Source<'_>, id: u32) -> Res<Option<BuiltIn>> {
    if let Some(number) = source.literal(id, Decoration::BuiltIn) {
        return match BuiltIn::from_u32(number) {
            Some(known) => Ok(Some(known)),
            None => invalid(format!("built-in variable {number} does not exist")),
        };
    }
    let name = match source.linkage(id)? {
        Linkage::Import(name) => name,
        _ => return Ok(None),
    };
    let Some(name) = name.strip_prefix("__spirv_BuiltIn") else {
        return Ok(None);
    };
    match name.parse() {
        Ok(known) => Ok(Some(known)),
        Err(()) => invalid(format!("built-in variable {name} does not exist")),
    }
}

fn per_dimension(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::GlobalInvocationId
            | Builtin::GlobalSize
            | Builtin::GlobalOffset
            | Builtin::WorkgroupId
            | Builtin::NumWorkgroups
            | Builtin::LocalInvocationId
            | Builtin::WorkgroupSize
            | Builtin::EnqueuedWorkgroupSize
    )
}

/// Bits of the instruction's result.
fn natural_bits(builtin: Builtin) -> u8 {
    if per_dimension(builtin)
        || matches!(
            builtin,
            Builtin::GlobalLinearId | Builtin::LocalInvocationIndex
        )
    {
        64
    } else {
        32
    }
}

impl Lower<'_, '_> {
    /// Lane `lane` of `place`, with the width of the variable.
    fn lane(&mut self, place: BuiltinPart, lane: u32) -> ValueId {
        let to = self.module.types.int(place.bits);
        let builtin = match place.item {
            Item::Value(builtin) => builtin,
            Item::Mask(predicate) => return self.mask_lane(predicate, lane, to),
        };
        let bits = natural_bits(builtin);
        let from = self.module.types.int(bits);
        let value = self.emit(Op::WorkItem(builtin, lane as u8), from);
        self.resize(value, bits, place.bits)
    }

    /// Word `lane` of the mask of lanes that compare so with the own lane; bits beyond the sub-group are 0.
    fn mask_lane(&mut self, predicate: Predicate, lane: u32, to: TypeId) -> ValueId {
        let int = self.module.types.int(32);
        if lane > 0 {
            // Sub-groups have at most 32 lanes.
            return self.int_of(to, 0);
        }
        let own = self.emit(Op::WorkItem(Builtin::SubgroupLocalInvocationId, 0), int);
        let size = self.emit(Op::WorkItem(Builtin::SubgroupSize, 0), int);
        let one = self.int(32, 1);
        // In 64 bits, so that shift amounts are below the width.
        let (own, size, one) = (
            self.resize(own, 32, 64),
            self.resize(size, 32, 64),
            self.resize(one, 32, 64),
        );
        let below = |l: &mut Self, n: ValueId| {
            let bit = l.binary(BinaryOp::Shl, one, n);
            l.binary(BinaryOp::ISub, bit, one)
        };
        let next = self.binary(BinaryOp::IAdd, own, one);
        let (all, lt, le) = (below(self, size), below(self, own), below(self, next));
        let mask = match predicate {
            Predicate::ULt => lt,
            Predicate::ULe => le,
            Predicate::UGe => self.binary(BinaryOp::Xor, all, lt),
            Predicate::UGt => self.binary(BinaryOp::Xor, all, le),
            _ => self.binary(BinaryOp::Xor, le, lt),
        };
        let bits = match *self.module.types.get(to) {
            Type::Int(bits) => bits,
            _ => 32,
        };
        let mask = self.resize(mask, 64, 32);
        self.resize(mask, 32, bits)
    }

    /// The whole variable.
    fn whole(&mut self, place: BuiltinPart) -> ValueId {
        let lanes: Vec<ValueId> = (0..place.lanes)
            .map(|lane| self.lane(place, lane))
            .collect();
        match lanes.as_slice() {
            [only] => *only,
            _ => {
                let scalar = self.module.types.int(place.bits);
                let ty = self.module.types.intern(Type::Vector(scalar, place.lanes));
                self.emit(Op::Construct(lanes), ty)
            }
        }
    }

    /// A load of type `ty`; none unless it loads the whole variable or a part of one lane.
    pub(super) fn load_place(&mut self, place: BuiltinPart, ty: TypeId) -> Option<ValueId> {
        let lane_bytes = i64::from(place.bits / 8);
        let scalar = self.module.types.int(place.bits);
        if place.lanes > 1
            && place.offset == 0
            && let Type::Vector(element, lanes) = *self.module.types.get(ty)
            && element == scalar
            && lanes == place.lanes
        {
            return Some(self.whole(place));
        }
        let Type::Int(bits) = *self.module.types.get(ty) else {
            return None;
        };
        let lane = u32::try_from(place.offset.div_euclid(lane_bytes)).ok()?;
        let skip = place.offset.rem_euclid(lane_bytes) * 8;
        if lane >= place.lanes || skip + i64::from(bits) > i64::from(place.bits) {
            return None;
        }
        let mut value = self.lane(place, lane);
        if skip > 0 {
            let by = self.int(place.bits, skip as u64);
            value = self.binary(BinaryOp::LShr, value, by);
        }
        Some(self.resize(value, place.bits, bits))
    }

    /// A private copy of the variable, for other uses of its pointer.
    pub(super) fn copy_of_place(&mut self, place: BuiltinPart) -> ValueId {
        let ptr = self.alloca(32, 32);
        let whole = self.whole(place);
        self.emit_void(Op::Store {
            ptr,
            value: whole,
            align: 8,
            volatile: false,
        });
        self.offset(ptr, place.offset)
    }

    /// Zero-extends or truncates.
    pub(super) fn resize(&mut self, value: ValueId, from: u8, to: u8) -> ValueId {
        let op = match from.cmp(&to) {
            std::cmp::Ordering::Equal => return value,
            std::cmp::Ordering::Less => ConvertOp::ZExt,
            std::cmp::Ordering::Greater => ConvertOp::Trunc,
        };
        let ty = self.like(value, |types| types.int(to));
        self.emit(Op::Convert(op, value, Rounding::Default), ty)
    }
}
