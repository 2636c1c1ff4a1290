//! `OpSpecConstantOp`: constants computed from constants, specialised or not.

use super::constants::{Constants, null};
use super::fault::{Res, invalid, unsupported};
use super::float_bits::{float_bits, float_value};
use super::table::{Entity, Kind, low_bits};
use crate::types::sign_extend;
use crate::{AddressSpace, ConstId, Constant, Module, Type, TypeId};
use spirv::Op;
use spirv_reader::Operands;

/// The scalars of a scalar or vector constant.
fn lanes(module: &Module, constant: ConstId) -> Option<Vec<u64>> {
    let ty = module.constants.ty(constant);
    let n = module.types.lane_count(ty) as usize;
    match module.constants.get(constant) {
        Constant::Bool(value) => Some(vec![u64::from(*value)]),
        Constant::Int(value) | Constant::Float(value) => Some(vec![*value]),
        Constant::Null | Constant::Undef if n > 0 => Some(vec![0; n]),
        Constant::Composite(parts) if n > 1 => parts
            .iter()
            .map(|&part| match module.constants.get(part) {
                Constant::Bool(value) => Some(u64::from(*value)),
                Constant::Int(value) | Constant::Float(value) => Some(*value),
                Constant::Null | Constant::Undef => Some(0),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// Evaluates `OpSpecConstantOp` of type `ty`.
pub(super) fn fold(d: &mut Constants<'_>, ty: u32, operands: &mut Operands<'_>) -> Res<Entity> {
    let number = operands.next()?;
    let Some(op) = Op::from_u32(number) else {
        return unsupported(format!("opcode {number} in a constant expression"));
    };
    let name = format!("Op{op:?}");
    let ir = d.table.sized(ty)?;
    if op == Op::FConvert && d.table.is_bfloat16(ty)
        || operands
            .clone()
            .rest()
            .iter()
            .any(|&id| d.table.is_bfloat16(d.table.type_id_of(id)))
    {
        return unsupported(format!("{name} of bfloat16 in a constant expression"));
    }
    match op {
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain => return chain(d, op, ty, operands),
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::Bitcast | Op::ConvertUToPtr => {
            let Kind::Pointer(space, _) = d.table.ty(ty)?.kind else {
                let from = operands.next()?;
                return scalar_bitcast(d, op, ir, from);
            };
            let from = operands.next()?;
            return pointer_cast(d, ir, space, from);
        }
        Op::ConvertPtrToU => {
            let from = operands.next()?;
            return address_number(d, ir, from);
        }
        Op::CompositeExtract => {
            let whole = operands.next()?;
            let mut constant = d.table.constant(d.module, whole)?;
            for &index in operands.rest() {
                constant = part(d.module, constant, index)?;
            }
            return typed(d.module, constant, ir);
        }
        Op::CompositeInsert => {
            let (object, whole) = (operands.next()?, operands.next()?);
            let object = d.table.constant(d.module, object)?;
            let whole = d.table.constant(d.module, whole)?;
            let path = operands.rest().to_vec();
            let constant = insert(d, whole, object, &path, 0)?;
            return typed(d.module, constant, ir);
        }
        Op::VectorShuffle => {
            let (a, b) = (operands.next()?, operands.next()?);
            let a = d.table.constant(d.module, a)?;
            let b = d.table.constant(d.module, b)?;
            let (Some(mut all), Some(more)) = (lanes(d.module, a), lanes(d.module, b)) else {
                return invalid("an operand is no vector of numbers");
            };
            all.extend(more);
            let picked: Option<Vec<u64>> = operands
                .rest()
                .iter()
                .map(|&lane| match lane {
                    u32::MAX => Some(0),
                    _ => all.get(lane as usize).copied(),
                })
                .collect();
            return match picked {
                Some(picked) => build(d, ir, picked),
                None => invalid("a component that the vectors do not have"),
            };
        }
        _ => {}
    }
    let mut args = Vec::new();
    let mut bits = Vec::new();
    for &id in operands.rest() {
        let constant = d.table.constant(d.module, id)?;
        let own = d.module.constants.ty(constant);
        let scalar = d.module.types.scalar_of(own);
        let width = match scalar.map(|s| d.module.types.get(s)) {
            Some(Type::Bool) => 1,
            Some(Type::Int(width) | Type::Float(width)) => *width,
            _ => return unsupported(format!("{name} of this type in a constant expression")),
        };
        match lanes(d.module, constant) {
            Some(lanes) => args.push(lanes),
            None => return unsupported(format!("{name} of an address in a constant expression")),
        }
        bits.push(width);
    }
    let n = d.module.types.lane_count(ir) as usize;
    let to = match d.module.types.scalar_of(ir).map(|s| d.module.types.get(s)) {
        Some(Type::Bool) => 1,
        Some(Type::Int(width) | Type::Float(width)) => *width,
        _ => return unsupported(format!("{name} of this type in a constant expression")),
    };
    let mut result = Vec::with_capacity(n);
    for lane in 0..n {
        let pick = |list: &Vec<u64>| {
            let only = (list.len() == 1).then(|| list.first()).flatten();
            list.get(lane).or(only).copied()
        };
        let Some(values) = args.iter().map(pick).collect::<Option<Vec<u64>>>() else {
            return invalid("operands of different lengths");
        };
        let value = evaluate(op, &values, bits.first().copied().unwrap_or(64), to);
        match value {
            Some(value) => result.push(low_bits(value, to)),
            None => return unsupported(format!("{name} in a constant expression")),
        }
    }
    build(d, ir, result)
}

/// One lane. `from` is the width of the first operand, `to` that of the result.
fn evaluate(op: Op, values: &[u64], from: u8, to: u8) -> Option<u64> {
    let signed = |value: u64| sign_extend(value, from);
    let float = |value: u64| float_value(from, value);
    let truth = |value: bool| Some(u64::from(value));
    Some(match (op, values) {
        (Op::UConvert, &[a]) => a,
        (Op::SConvert, &[a]) => signed(a) as u64,
        (Op::FConvert, &[a]) => float_bits(to, float(a)),
        (Op::ConvertFToS, &[a]) => (float(a) as i64) as u64,
        (Op::ConvertFToU, &[a]) => float(a) as u64,
        (Op::ConvertSToF, &[a]) => float_bits(to, signed(a) as f64),
        (Op::ConvertUToF, &[a]) => float_bits(to, a as f64),
        (Op::CopyObject, &[a]) => a,
        (Op::SNegate, &[a]) => a.wrapping_neg(),
        (Op::Not, &[a]) => !a,
        (Op::LogicalNot, &[a]) => a ^ 1,
        (Op::IAdd, &[a, b]) => a.wrapping_add(b),
        (Op::ISub, &[a, b]) => a.wrapping_sub(b),
        (Op::IMul, &[a, b]) => a.wrapping_mul(b),
        (Op::UDiv, &[a, b]) => a.checked_div(b).unwrap_or(0),
        (Op::UMod, &[a, b]) => a.checked_rem(b).unwrap_or(0),
        (Op::SDiv, &[a, b]) => signed(a).checked_div(signed(b)).unwrap_or(0) as u64,
        (Op::SRem, &[a, b]) => signed(a).checked_rem(signed(b)).unwrap_or(0) as u64,
        (Op::SMod, &[a, b]) => {
            let (a, b) = (signed(a), signed(b));
            let rest = a.checked_rem(b).unwrap_or(0);
            let fix = if rest != 0 && (rest < 0) != (b < 0) {
                b
            } else {
                0
            };
            rest.wrapping_add(fix) as u64
        }
        (Op::ShiftLeftLogical, &[a, b]) => a.checked_shl(b.min(64) as u32).unwrap_or(0),
        (Op::ShiftRightLogical, &[a, b]) => a.checked_shr(b.min(64) as u32).unwrap_or(0),
        (Op::ShiftRightArithmetic, &[a, b]) => (signed(a) >> b.min(63)) as u64,
        (Op::BitwiseOr | Op::LogicalOr, &[a, b]) => a | b,
        (Op::BitwiseAnd | Op::LogicalAnd, &[a, b]) => a & b,
        (Op::BitwiseXor | Op::LogicalNotEqual, &[a, b]) => a ^ b,
        (Op::LogicalEqual, &[a, b]) => u64::from(a == b),
        (Op::Select, &[c, a, b]) => {
            if c & 1 == 1 {
                a
            } else {
                b
            }
        }
        (Op::IEqual, &[a, b]) => return truth(a == b),
        (Op::INotEqual, &[a, b]) => return truth(a != b),
        (Op::ULessThan, &[a, b]) => return truth(a < b),
        (Op::ULessThanEqual, &[a, b]) => return truth(a <= b),
        (Op::UGreaterThan, &[a, b]) => return truth(a > b),
        (Op::UGreaterThanEqual, &[a, b]) => return truth(a >= b),
        (Op::SLessThan, &[a, b]) => return truth(signed(a) < signed(b)),
        (Op::SLessThanEqual, &[a, b]) => return truth(signed(a) <= signed(b)),
        (Op::SGreaterThan, &[a, b]) => return truth(signed(a) > signed(b)),
        (Op::SGreaterThanEqual, &[a, b]) => return truth(signed(a) >= signed(b)),
        (Op::FNegate, &[a]) => a ^ (1 << (from.clamp(1, 64) - 1)),
        (Op::FAdd, &[a, b]) => float_bits(to, float(a) + float(b)),
        (Op::FSub, &[a, b]) => float_bits(to, float(a) - float(b)),
        (Op::FMul, &[a, b]) => float_bits(to, float(a) * float(b)),
        (Op::FDiv, &[a, b]) => float_bits(to, float(a) / float(b)),
        (Op::FRem, &[a, b]) => float_bits(to, float(a) % float(b)),
        (Op::FOrdEqual, &[a, b]) => return truth(float(a) == float(b)),
        (Op::FOrdLessThan, &[a, b]) => return truth(float(a) < float(b)),
        (Op::FOrdGreaterThan, &[a, b]) => return truth(float(a) > float(b)),
        (Op::FOrdLessThanEqual, &[a, b]) => return truth(float(a) <= float(b)),
        (Op::FOrdGreaterThanEqual, &[a, b]) => return truth(float(a) >= float(b)),
        (Op::FUnordNotEqual, &[a, b]) => return truth(float(a) != float(b)),
        _ => return None,
    })
}

/// A scalar or vector of `ir` from its lanes.
fn build(d: &mut Constants<'_>, ir: TypeId, values: Vec<u64>) -> Res<Entity> {
    let Some(scalar) = d.module.types.scalar_of(ir) else {
        return invalid("the result type is no scalar or vector");
    };
    if values.len() as u32 != d.module.types.lane_count(ir) {
        return invalid("the result type has another number of components");
    }
    let kind = d.module.types.get(scalar).clone();
    let parts: Vec<ConstId> = values
        .into_iter()
        .map(|value| {
            let value = match kind {
                Type::Bool => Constant::Bool(value & 1 == 1),
                Type::Int(_) => Constant::Int(value),
                _ => Constant::Float(value),
            };
            d.module.constants.intern(scalar, value)
        })
        .collect();
    let constant = match parts.as_slice() {
        [only] => *only,
        _ => d.composite(ir, parts)?,
    };
    Ok(Entity::Const(constant))
}

fn typed(module: &Module, constant: ConstId, ir: TypeId) -> Res<Entity> {
    if module.constants.ty(constant) != ir {
        return invalid("the operands give another type than the result type");
    }
    Ok(Entity::Const(constant))
}

/// Part `index` of a composite.
fn part(module: &mut Module, whole: ConstId, index: u32) -> Res<ConstId> {
    let ty = module.constants.ty(whole);
    let Some(element) = module.types.element(ty, u64::from(index)) else {
        return invalid(format!("part {index} of a constant that has fewer"));
    };
    let value = match module.constants.get(whole) {
        Constant::Composite(parts) => match parts.get(index as usize) {
            Some(&part) => return Ok(part),
            None => return invalid("a part that the constant does not have"),
        },
        Constant::Undef => Constant::Undef,
        _ => null(&module.types, element),
    };
    Ok(module.constants.intern(element, value))
}

fn insert(
    d: &mut Constants<'_>,
    whole: ConstId,
    object: ConstId,
    path: &[u32],
    depth: u32,
) -> Res<ConstId> {
    let Some((&index, rest)) = path.split_first() else {
        return Ok(object);
    };
    let ty = d.module.constants.ty(whole);
    let len = match d.module.types.get(ty) {
        Type::Vector(_, len) => u64::from(*len),
        Type::Array(_, len) => *len,
        Type::Struct { fields, .. } => fields.len() as u64,
        _ => 0,
    };
    // Paths are no longer than types are deep, which is bounded.
    if len > 4096 || depth > 64 {
        return unsupported("OpCompositeInsert into a constant of this size");
    }
    let mut parts = Vec::new();
    for i in 0..len as u32 {
        parts.push(part(d.module, whole, i)?);
    }
    let Some(slot) = parts.get(index as usize).copied() else {
        return invalid(format!("part {index} of a constant that has fewer"));
    };
    let new = insert(d, slot, object, rest, depth + 1)?;
    if d.module.constants.ty(new) != d.module.constants.ty(slot) {
        return invalid("the object has not the type of the part");
    }
    if let Some(slot) = parts.get_mut(index as usize) {
        *slot = new;
    }
    d.composite(ty, parts)
}

fn scalar_bitcast(d: &mut Constants<'_>, op: Op, ir: TypeId, from: u32) -> Res<Entity> {
    let constant = d.table.constant(d.module, from)?;
    let same =
        d.module.types.size_of(d.module.constants.ty(constant)) == d.module.types.size_of(ir);
    let (Some(values), true, Op::Bitcast) = (lanes(d.module, constant), same, op) else {
        return unsupported("this bit cast in a constant expression");
    };
    build(d, ir, values)
}

fn pointer_cast(d: &mut Constants<'_>, ir: TypeId, space: AddressSpace, from: u32) -> Res<Entity> {
    match d.table.get(from)? {
        Entity::Address { global, offset, .. } => Ok(Entity::Address {
            global,
            offset,
            space,
        }),
        // A truncated address is no address.
        Entity::AddressNumber {
            global,
            offset,
            bits: 64,
        } => Ok(Entity::Address {
            global,
            offset,
            space,
        }),
        place @ Entity::BuiltinPart(_) => Ok(place),
        Entity::Const(constant) => {
            let value = match d.module.constants.get(constant) {
                Constant::Null | Constant::Int(0) => Constant::Null,
                Constant::Undef => Constant::Undef,
                Constant::FunctionAddress(function) => Constant::FunctionAddress(*function),
                _ => return unsupported("a pointer from a number in a constant expression"),
            };
            Ok(Entity::Const(d.module.constants.intern(ir, value)))
        }
        _ => invalid(format!("id %{from} is no constant")),
    }
}

/// The address `from` as a number of type `ir`; its value is known only when the program is loaded.
fn address_number(d: &mut Constants<'_>, ir: TypeId, from: u32) -> Res<Entity> {
    let Type::Int(bits) = *d.module.types.get(ir) else {
        return invalid("the result type is no integer");
    };
    match d.table.get(from)? {
        Entity::Address { global, offset, .. } => Ok(Entity::AddressNumber {
            global,
            offset,
            bits,
        }),
        Entity::Const(constant)
            if matches!(
                d.module.constants.get(constant),
                Constant::Null | Constant::Undef
            ) =>
        {
            build(d, ir, vec![0])
        }
        _ => unsupported("OpConvertPtrToU of this address in a constant expression"),
    }
}

fn chain(d: &mut Constants<'_>, op: Op, ty: u32, operands: &mut Operands<'_>) -> Res<Entity> {
    let base = operands.next()?;
    let mut at = d.table.pointee_of(base)?;
    let mut offset = 0i64;
    let mut last = (0i64, 0i64);
    let mut first = matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
    for &id in operands.rest() {
        let value = d.table.integer(d.module, id)?;
        let bits = match d.module.types.get(d.table.type_of(id)?.ir) {
            Type::Int(bits) => *bits,
            _ => 64,
        };
        let index = sign_extend(value, bits);
        let bytes = |d: &Constants<'_>, ty: u32| -> Res<i64> {
            let size = d.module.types.size_of(d.table.sized(ty)?);
            Ok(index.wrapping_mul(i64::try_from(size).unwrap_or(0)))
        };
        let step = if std::mem::take(&mut first) {
            bytes(d, at)?
        } else {
            match &d.table.ty(at)?.kind {
                &(Kind::Vector(element, _) | Kind::Array(element)) => {
                    at = element;
                    bytes(d, element)?
                }
                Kind::Struct(members, offsets) => {
                    let i = usize::try_from(index).unwrap_or(usize::MAX);
                    let (Some(&member), Some(&bytes)) = (members.get(i), offsets.get(i)) else {
                        return invalid(format!("member {index} of a struct that has fewer"));
                    };
                    at = member;
                    i64::try_from(bytes).unwrap_or(0)
                }
                _ => return invalid("a type without parts"),
            }
        };
        last = (offset, index);
        offset = offset.wrapping_add(step);
    }
    // LLVM 22 emits a constant offset in bytes as an index of an array of larger elements, with a pointer to bytes as
    // the result type.
    let (_, pointee) = d.table.pointer(ty)?;
    let size_of = |ty| d.table.sized(ty).map_or(0, |ty| d.module.types.size_of(ty));
    if pointee != 0 && size_of(pointee) == 1 && size_of(at) > 1 {
        offset = last.0.wrapping_add(last.1);
    }
    match d.table.get(base)? {
        Entity::Address {
            global,
            offset: before,
            space,
        } => Ok(Entity::Address {
            global,
            offset: before.wrapping_add(offset),
            space,
        }),
        Entity::BuiltinPart(mut place) => {
            place.offset = place.offset.wrapping_add(offset);
            Ok(Entity::BuiltinPart(place))
        }
        _ => unsupported("a constant address that is not in a variable"),
    }
}
