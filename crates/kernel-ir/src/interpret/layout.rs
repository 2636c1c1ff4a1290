//! Layouts of values in registers and in memory, and the bits of constants.

use super::number::Kind;
use crate::build::{BuildError, BuildErrorKind};
use crate::ir::{FunctionId, GlobalId, Module};
use crate::types::{ConstId, Constant, Type, TypeId, Types};
use std::collections::HashMap;

/// Registers of one function. A function that needs more is refused.
pub(super) const MAX_SLOTS: u64 = 1 << 22;

/// The layout of a value's scalars in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    /// Byte offset and kind of each scalar, in register order.
    pub(super) scalars: Vec<(u64, Kind)>,
}

/// The source of a template register that is filled in when a run starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Late {
    Global(GlobalId, i64),
    Function(FunctionId),
}

/// Layouts of types, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Flats {
    pub(super) all: Vec<Flat>,
    index: HashMap<TypeId, u32>,
}

pub(super) fn scalar_kind(types: &Types, ty: TypeId) -> Option<Kind> {
    Some(match types.get(ty) {
        Type::Bool => Kind::Bool,
        Type::Int(8) => Kind::I8,
        Type::Int(16) => Kind::I16,
        Type::Int(32) => Kind::I32,
        Type::Int(_) | Type::Ptr(_) => Kind::I64,
        Type::Float(16) => Kind::F16,
        Type::Float(32) => Kind::F32,
        Type::Float(_) => Kind::F64,
        _ => return None,
    })
}

/// The number of scalars in a value of type `ty`.
pub(super) fn scalar_count(types: &Types, ty: TypeId) -> u64 {
    match types.get(ty) {
        Type::Void => 0,
        Type::Bool | Type::Int(_) | Type::Float(_) | Type::Ptr(_) => 1,
        Type::Vector(_, n) => u64::from(*n),
        Type::Array(element, n) => scalar_count(types, *element).saturating_mul(*n),
        Type::Struct { fields, .. } => fields
            .iter()
            .fold(0u64, |sum, &f| sum.saturating_add(scalar_count(types, f))),
    }
}

fn flatten(types: &Types, ty: TypeId, at: u64, out: &mut Vec<(u64, Kind)>) {
    if let Some(kind) = scalar_kind(types, ty) {
        out.push((at, kind));
        return;
    }
    match types.get(ty) {
        Type::Vector(element, n) => {
            let size = types.size_of(*element);
            for i in 0..u64::from(*n) {
                flatten(types, *element, at + i * size, out);
            }
        }
        Type::Array(element, n) => {
            let size = types.size_of(*element);
            // An array of empty structs has no scalars, however long it is.
            if scalar_count(types, *element) > 0 {
                for i in 0..*n {
                    flatten(types, *element, at + i * size, out);
                }
            }
        }
        Type::Struct { fields, .. } => {
            for (i, &field) in fields.iter().enumerate() {
                flatten(types, field, at + types.field_offset(ty, i), out);
            }
        }
        _ => {}
    }
}

impl Flats {
    pub(super) fn of(&mut self, types: &Types, ty: TypeId) -> Result<u32, BuildError> {
        if let Some(&id) = self.index.get(&ty) {
            return Ok(id);
        }
        let count = scalar_count(types, ty);
        if count > MAX_SLOTS {
            return Err(too_large(count));
        }
        let mut scalars = Vec::new();
        flatten(types, ty, 0, &mut scalars);
        let id = self.all.len() as u32;
        self.all.push(Flat { scalars });
        self.index.insert(ty, id);
        Ok(id)
    }
}

pub(super) fn too_large(count: u64) -> BuildError {
    unsupported(format!(
        "values of {count} scalars in one function; the interpreter allows {MAX_SLOTS}"
    ))
}

fn unsupported(message: String) -> BuildError {
    BuildError {
        kind: BuildErrorKind::Unsupported,
        module: 0,
        word: None,
        instruction: None,
        message,
    }
}

/// Appends the scalars of constant `id` to `bits`; scalars that depend on addresses go to `late`, with their positions.
pub(super) fn constant(
    module: &Module,
    id: ConstId,
    bits: &mut Vec<u64>,
    late: &mut Vec<(usize, Late)>,
) {
    match module.constants.get(id) {
        Constant::Null | Constant::Undef => {
            let n = scalar_count(&module.types, module.constants.ty(id)).min(MAX_SLOTS);
            bits.resize(bits.len() + n as usize, 0);
        }
        Constant::Bool(b) => bits.push(u64::from(*b)),
        Constant::Int(v) | Constant::Float(v) => bits.push(*v),
        Constant::Composite(parts) => {
            for &part in parts {
                constant(module, part, bits, late);
            }
        }
        Constant::GlobalAddress(global, offset) => {
            late.push((bits.len(), Late::Global(*global, *offset)));
            bits.push(0);
        }
        Constant::FunctionAddress(function) => {
            late.push((bits.len(), Late::Function(*function)));
            bits.push(0);
        }
    }
}
