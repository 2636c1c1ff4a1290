//! The table of a module's ids: the entity that each id names.

use super::fault::{Res, invalid, unsupported};
use crate::{
    AddressSpace, Builtin, ConstId, Constant, FunctionId, GlobalId, Module, Predicate, Type,
    TypeId, ValueId,
};
use spirv_reader::OpenClStd;

/// The entity that an id names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    /// Nothing yet.
    None,
    /// A type: index into [`Table::types`].
    Type(u32),
    /// A constant.
    Const(ConstId),
    /// The address of a variable plus an offset in bytes.
    Address {
        global: GlobalId,
        offset: i64,
        space: AddressSpace,
    },
    /// The address of a variable plus an offset in bytes, as a number of `bits` bits.
    AddressNumber {
        global: GlobalId,
        offset: i64,
        bits: u8,
    },
    /// A pointer to a built-in variable.
    BuiltinPart(BuiltinPart),
    /// A function.
    Function,
    /// An extended instruction set.
    Set(ExtSet),
    /// A value of the current function.
    Value(ValueId),
    /// An id without a value: string, label, hint.
    Named,
}

/// A pointer to a built-in variable, or into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltinPart {
    pub(super) item: Item,
    /// 1, 3 or (masks) 4.
    pub(super) lanes: u32,
    /// Of each lane.
    pub(super) bits: u8,
    /// Offset in the variable, in bytes.
    pub(super) offset: i64,
}

/// The content of a built-in variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Value(Builtin),
    /// A mask of the lanes of the sub-group that compare so with the own lane.
    Mask(Predicate),
}

/// An extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtSet {
    OpenCl,
    /// Debug information and other sets without effect on the result.
    Ignored,
}

/// A SPIR-V type: its IR type, and details that the IR type does not have.
#[derive(Clone, Debug)]
pub(super) struct Ty {
    pub(super) ir: TypeId,
    pub(super) kind: Kind,
    /// Nesting of arrays, structs and vectors.
    pub(super) depth: u16,
    /// Structs and scalars in it, counting an array as one element.
    pub(super) nodes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Void,
    Bool,
    Int,
    Float,
    /// A bfloat16; its IR type is an integer with its bits.
    Bfloat16,
    Vector(u32, u32),
    Array(u32),
    /// Member type ids and their offsets in bytes.
    Struct(Vec<u32>, Vec<u64>),
    /// Address space and pointee type id; 0 for an untyped or not yet declared one.
    Pointer(AddressSpace, u32),
    Function(u32, Vec<u32>),
    Event,
    Image(Shape),
    Sampler,
    /// An image and a sampler together; the shape of the image.
    SampledImage(Shape),
    Opaque,
}

/// The coordinates of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// 1 to 3.
    pub(super) dimensions: u8,
    /// One more coordinate selects a layer.
    pub(super) layered: bool,
}

/// The ids of one module.
pub(super) struct Table {
    entities: Vec<Entity>,
    /// Type id of each id that has a type; 0 otherwise.
    type_of: Vec<u32>,
    pub(super) types: Vec<Ty>,
    /// Ids defined by the current function.
    local: Vec<u32>,
}

impl Table {
    pub(super) fn new(bound: u32) -> Self {
        Self {
            entities: vec![Entity::None; bound as usize],
            type_of: vec![0; bound as usize],
            types: Vec::new(),
            local: Vec::new(),
        }
    }

    /// The entity that `id` names.
    pub(super) fn get(&self, id: u32) -> Res<Entity> {
        match self.entities.get(id as usize) {
            Some(Entity::None) | None => {
                invalid(format!("id %{id} is not defined before this use"))
            }
            Some(&entity) => Ok(entity),
        }
    }

    /// Defines `id`, which must be undefined; `ty` is the id of its type, or 0.
    pub(super) fn define(&mut self, id: u32, ty: u32, entity: Entity) -> Res<()> {
        let Some(slot) = self.entities.get_mut(id as usize).filter(|_| id != 0) else {
            let bound = self.entities.len();
            return invalid(format!("id %{id} is not in 1 to {}", bound - 1));
        };
        if !matches!(slot, Entity::None) {
            return invalid(format!("id %{id} is defined a second time"));
        }
        *slot = entity;
        if let Some(slot) = self.type_of.get_mut(id as usize) {
            *slot = ty;
        }
        Ok(())
    }

    /// As [`Self::define`], for ids of a function: valid until [`Self::forget_locals`].
    pub(super) fn define_local(&mut self, id: u32, ty: u32, entity: Entity) -> Res<()> {
        self.define(id, ty, entity)?;
        self.local.push(id);
        Ok(())
    }

    /// Removes the ids of the current function.
    pub(super) fn forget_locals(&mut self) {
        for id in self.local.drain(..) {
            if let Some(slot) = self.entities.get_mut(id as usize) {
                *slot = Entity::None;
            }
        }
    }

    /// The type `id`.
    pub(super) fn ty(&self, id: u32) -> Res<&Ty> {
        match self.get(id)? {
            Entity::Type(index) => match self.types.get(index as usize) {
                Some(ty) => Ok(ty),
                None => invalid(format!("id %{id} is no type")),
            },
            _ => invalid(format!("id %{id} is no type")),
        }
    }

    /// Whether type `id` is a bfloat16 or a vector of them.
    pub(super) fn is_bfloat16(&self, id: u32) -> bool {
        match self.ty(id).map(|ty| &ty.kind) {
            Ok(Kind::Bfloat16) => true,
            Ok(&Kind::Vector(element, _)) => {
                matches!(self.ty(element), Ok(ty) if ty.kind == Kind::Bfloat16)
            }
            _ => false,
        }
    }

    /// Id of the type of `id`; 0 when it has none.
    pub(super) fn type_id_of(&self, id: u32) -> u32 {
        self.type_of.get(id as usize).copied().unwrap_or(0)
    }

    /// The type of `id`.
    pub(super) fn type_of(&self, id: u32) -> Res<&Ty> {
        self.get(id)?;
        match self.type_id_of(id) {
            0 => invalid(format!("id %{id} has no type")),
            ty => self.ty(ty),
        }
    }

    /// Address space and pointee type id of pointer type `id`.
    pub(super) fn pointer(&self, id: u32) -> Res<(AddressSpace, u32)> {
        match self.ty(id)?.kind {
            Kind::Pointer(space, pointee) => Ok((space, pointee)),
            _ => invalid(format!("type %{id} is no pointer type")),
        }
    }

    /// Pointee type id of the pointer value `id`.
    pub(super) fn pointee_of(&self, id: u32) -> Res<u32> {
        self.get(id)?;
        let (_, pointee) = self.pointer(self.type_id_of(id))?;
        if pointee == 0 {
            return invalid(format!("pointer %{id} has no pointee type"));
        }
        Ok(pointee)
    }

    /// The IR type of `id`, which must be a type that values have.
    pub(super) fn sized(&self, id: u32) -> Res<TypeId> {
        let ty = self.ty(id)?;
        match ty.kind {
            Kind::Void | Kind::Function(..) | Kind::Opaque => {
                invalid(format!("type %{id} has no values"))
            }
            _ => Ok(ty.ir),
        }
    }

    /// The constant `id`.
    pub(super) fn constant(&self, module: &mut Module, id: u32) -> Res<ConstId> {
        match self.get(id)? {
            Entity::Const(constant) => Ok(constant),
            Entity::Address {
                global,
                offset,
                space,
            } => {
                let ty = module.types.ptr(space);
                Ok(module
                    .constants
                    .intern(ty, Constant::GlobalAddress(global, offset)))
            }
            Entity::AddressNumber { .. } => {
                unsupported("an address as a number inside of another constant")
            }
            _ => invalid(format!("id %{id} is no constant")),
        }
    }

    /// The bits of the integer constant `id`, zero-extended.
    pub(super) fn integer(&self, module: &Module, id: u32) -> Res<u64> {
        match self.get(id)? {
            Entity::Const(constant) => match integer(module, constant) {
                Some(value) => Ok(value),
                None => invalid(format!("id %{id} is no integer constant")),
            },
            _ => invalid(format!("id %{id} is no integer constant")),
        }
    }
}

/// The bits of an integer constant.
pub(super) fn integer(module: &Module, constant: ConstId) -> Option<u64> {
    match module.constants.get(constant) {
        Constant::Int(value) => Some(*value),
        Constant::Null | Constant::Undef => {
            let ty = module.types.get(module.constants.ty(constant));
            matches!(ty, Type::Int(_)).then_some(0)
        }
        _ => None,
    }
}

/// The low `bits` of `value`.
pub(super) fn low_bits(value: u64, bits: u8) -> u64 {
    if bits >= 64 {
        value
    } else {
        value & ((1 << bits) - 1)
    }
}

/// The callee of a call.
#[derive(Clone, Debug)]
pub(super) enum Callee {
    /// In the module, or an import without a body.
    Function(FunctionId),
    /// A built-in function, by name.
    Named(String),
}

/// The OpenCL.std instruction with this number.
pub(super) fn opencl(number: u32) -> Res<OpenClStd> {
    match OpenClStd::from_u32(number) {
        Some(known) => Ok(known),
        None => invalid(format!("OpenCL.std has no instruction {number}")),
    }
}
