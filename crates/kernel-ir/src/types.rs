//! Types and constants: interned, so equal types have equal handles.

use std::collections::HashMap;

use crate::ids::{FunctionId, GlobalId};

/// Handle of a [`Type`] in a [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// Handle of a [`Constant`] in a [`Constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// The memory that a pointer points into (SPIR-V storage classes of the kernel environment).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSpace {
    /// `Function`: one work-item's own memory.
    Private,
    /// `CrossWorkgroup`: device memory.
    Global,
    /// `Workgroup`: one work-group's memory.
    Local,
    /// `UniformConstant`: read-only program memory.
    Constant,
    /// `Generic`: private, global or local, known at run time only.
    Generic,
}

/// A value's type. Pointers are opaque; loads and stores carry the accessed type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// One bit in a register, one byte in memory (0 or 1).
    Bool,
    /// Integer of 8, 16, 32 or 64 bits, without a sign of its own.
    Int(u8),
    /// IEEE float of 16, 32 or 64 bits.
    Float(u8),
    /// 64-bit pointer.
    Ptr(AddressSpace),
    /// 2, 3, 4, 8 or 16 scalars (Bool, Int, Float, Ptr); a vector of 3 has the size of 4 in memory.
    Vector(TypeId, u32),
    /// `len` elements in a row.
    Array(TypeId, u64),
    /// Fields in order, at C offsets, or without padding when `packed`.
    Struct {
        /// Field types.
        fields: Vec<TypeId>,
        /// SPIR-V `CPacked`.
        packed: bool,
    },
}

/// The interner of types, with the layout rules of the OpenCL memory model.
#[derive(Clone, Debug, Default)]
pub struct Types {
    all: Vec<Type>,
    /// Size and alignment of each type. Computed once: types may share parts (40 nested structs can have 2^40 leaves).
    layout: Vec<(u64, u64)>,
    index: HashMap<Type, TypeId>,
}

impl Types {
    /// Handle of `ty`; the same for equal types.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.index.get(&ty) {
            return id;
        }
        let id = TypeId(self.all.len() as u32);
        let layout = self.lay_out(&ty);
        self.all.push(ty.clone());
        self.layout.push(layout);
        self.index.insert(ty, id);
        id
    }
    /// Size and alignment of a type whose parts are interned.
    fn lay_out(&self, ty: &Type) -> (u64, u64) {
        match ty {
            Type::Void => (0, 1),
            Type::Bool => (1, 1),
            Type::Int(bits) | Type::Float(bits) => {
                let bytes = u64::from(*bits / 8);
                (bytes, bytes.next_power_of_two())
            }
            Type::Ptr(_) => (8, 8),
            Type::Vector(element, n) => {
                let n = if *n == 3 { 4 } else { *n };
                let size = self.size_of(*element).saturating_mul(u64::from(n));
                (size, size.checked_next_power_of_two().unwrap_or(1))
            }
            Type::Array(element, len) => (
                self.size_of(*element).saturating_mul(*len),
                self.align_of(*element),
            ),
            Type::Struct { fields, packed } => {
                let mut end = 0u64;
                let mut widest = 1;
                for &field in fields {
                    if !packed {
                        end = align_up(end, self.align_of(field));
                        widest = self.align_of(field).max(widest);
                    }
                    end = end.saturating_add(self.size_of(field));
                }
                (align_up(end, widest), widest)
            }
        }
    }
    /// The type behind `id`.
    #[must_use]
    pub fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0 as usize]
    }
    /// Handle of a type that was interned before.
    #[must_use]
    pub fn find(&self, ty: &Type) -> Option<TypeId> {
        self.index.get(ty).copied()
    }
    /// `Int(bits)`.
    pub fn int(&mut self, bits: u8) -> TypeId {
        self.intern(Type::Int(bits))
    }
    /// `Float(bits)`.
    pub fn float(&mut self, bits: u8) -> TypeId {
        self.intern(Type::Float(bits))
    }
    /// `Bool`.
    pub fn bool(&mut self) -> TypeId {
        self.intern(Type::Bool)
    }
    /// `Void`.
    pub fn void(&mut self) -> TypeId {
        self.intern(Type::Void)
    }
    /// `Ptr(space)`.
    pub fn ptr(&mut self, space: AddressSpace) -> TypeId {
        self.intern(Type::Ptr(space))
    }
    /// The scalar type of a scalar or vector; `None` for aggregates and void.
    #[must_use]
    pub fn scalar_of(&self, id: TypeId) -> Option<TypeId> {
        match self.get(id) {
            Type::Vector(element, _) => Some(*element),
            Type::Bool | Type::Int(_) | Type::Float(_) | Type::Ptr(_) => Some(id),
            Type::Void | Type::Array(..) | Type::Struct { .. } => None,
        }
    }
    /// 1 for scalars, n for vectors; 0 for aggregates and void.
    #[must_use]
    pub fn lane_count(&self, id: TypeId) -> u32 {
        match self.get(id) {
            Type::Vector(_, n) => *n,
            Type::Bool | Type::Int(_) | Type::Float(_) | Type::Ptr(_) => 1,
            Type::Void | Type::Array(..) | Type::Struct { .. } => 0,
        }
    }
    /// Bytes of a value in memory, including padding at its end. Saturates; [`crate::front`] refuses types larger than
    /// 2^40 bytes.
    #[must_use]
    pub fn size_of(&self, id: TypeId) -> u64 {
        self.layout[id.0 as usize].0
    }
    /// As [`Self::size_of`], without the padding of a vector of three components.
    #[must_use]
    pub fn unpadded_size_of(&self, id: TypeId) -> u64 {
        match *self.get(id) {
            Type::Vector(element, 3) => self.size_of(element).saturating_mul(3),
            _ => self.size_of(id),
        }
    }
    /// Natural alignment in bytes, a power of two.
    #[must_use]
    pub fn align_of(&self, id: TypeId) -> u64 {
        self.layout[id.0 as usize].1
    }
    /// Appends the scalars of type `id`, each with its byte offset from `at`. It stops once `out` has more than
    /// [`Self::MOST_SCALARS`]: no back end keeps such values in registers, and an array may have billions.
    pub fn scalars(&self, id: TypeId, at: u64, out: &mut Vec<(TypeId, u64)>) {
        if out.len() > Self::MOST_SCALARS {
            return;
        }
        match self.get(id) {
            Type::Void => {}
            Type::Vector(element, n) => {
                let size = self.size_of(*element);
                out.extend((0..u64::from(*n)).map(|i| (*element, at + i * size)));
            }
            Type::Array(element, len) => {
                let size = self.size_of(*element);
                for i in 0..*len {
                    if out.len() > Self::MOST_SCALARS {
                        return;
                    }
                    let before = out.len();
                    self.scalars(*element, at + i * size, out);
                    if out.len() == before {
                        // No element adds anything: the length may be in the billions.
                        return;
                    }
                }
            }
            Type::Struct { fields, .. } => {
                for (i, &field) in fields.iter().enumerate() {
                    self.scalars(field, at + self.field_offset(id, i), out);
                }
            }
            _ => out.push((id, at)),
        }
    }
    /// Scalars after which [`Self::scalars`] stops: more than any plan of a kernel takes.
    pub const MOST_SCALARS: usize = 64;
    /// Byte offset of field `index` of struct `id` (0 when `id` is no struct or has no such field).
    #[must_use]
    pub fn field_offset(&self, id: TypeId, index: usize) -> u64 {
        let Type::Struct { fields, packed } = self.get(id) else {
            return 0;
        };
        let mut at = 0u64;
        for (i, &field) in fields.iter().enumerate() {
            if !packed {
                at = align_up(at, self.align_of(field));
            }
            if i == index {
                return at;
            }
            at = at.saturating_add(self.size_of(field));
        }
        0
    }
    /// Type of element or field `index` of a vector, array or struct.
    #[must_use]
    pub fn element(&self, id: TypeId, index: u64) -> Option<TypeId> {
        match self.get(id) {
            Type::Vector(e, n) => (index < u64::from(*n)).then_some(*e),
            Type::Array(e, n) => (index < *n).then_some(*e),
            Type::Struct { fields, .. } => fields.get(usize::try_from(index).ok()?).copied(),
            _ => None,
        }
    }
    /// Number of interned types.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }
    /// Whether nothing was interned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

fn align_up(at: u64, align: u64) -> u64 {
    at.checked_next_multiple_of(align.max(1))
        .unwrap_or(u64::MAX)
}

/// A value known at compile time. [`Constants`] holds its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// All bits zero; of any type. Scalar zeros are interned as `Int(0)`, `Float(0)`, `Bool(false)`.
    Null,
    /// Any value; using it is no fault.
    Undef,
    /// Of type `Bool`.
    Bool(bool),
    /// Of type `Int(bits)`: zero-extended to 64 bits.
    Int(u64),
    /// Of type `Float(bits)`: the IEEE bits, zero-extended.
    Float(u64),
    /// Of vector, array or struct type, one constant per element.
    Composite(Vec<ConstId>),
    /// Address of `offset` bytes into a program-scope variable.
    GlobalAddress(GlobalId, i64),
    /// Address of a function (SPV_INTEL_function_pointers).
    FunctionAddress(FunctionId),
}

/// The low `bits` of `value` as a signed number.
pub(crate) fn sign_extend(value: u64, bits: impl Into<u32>) -> i64 {
    let unused = 64 - bits.into().clamp(1, 64);
    (value << unused).cast_signed() >> unused
}

/// The interner of constants.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    all: Vec<(TypeId, Constant)>,
    index: HashMap<(TypeId, Constant), ConstId>,
}

impl Constants {
    /// Handle of `value` of type `ty`; the same for equal constants.
    pub fn intern(&mut self, ty: TypeId, value: Constant) -> ConstId {
        if let Some(&id) = self.index.get(&(ty, value.clone())) {
            return id;
        }
        let id = ConstId(self.all.len() as u32);
        self.all.push((ty, value.clone()));
        self.index.insert((ty, value), id);
        id
    }
    /// The type of `id`.
    #[must_use]
    pub fn ty(&self, id: ConstId) -> TypeId {
        self.all[id.0 as usize].0
    }
    /// The value of `id`.
    #[must_use]
    pub fn get(&self, id: ConstId) -> &Constant {
        &self.all[id.0 as usize].1
    }
    /// Number of interned constants.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }
    /// Whether nothing was interned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_follows_the_opencl_rules() {
        let mut types = Types::default();
        let (i8, i32, f64) = (types.int(8), types.int(32), types.float(64));
        let v3 = types.intern(Type::Vector(i32, 3));
        let array = types.intern(Type::Array(v3, 3));
        let fields = vec![i8, f64, i8, v3];
        let loose = types.intern(Type::Struct {
            fields: fields.clone(),
            packed: false,
        });
        let packed = types.intern(Type::Struct {
            fields,
            packed: true,
        });
        for (name, ty, size, align) in [
            ("i8", i8, 1, 1),
            ("int3", v3, 16, 16),
            ("int3[3]", array, 48, 16),
            ("struct", loose, 48, 16),
            ("packed", packed, 26, 1),
        ] {
            assert_eq!(
                (types.size_of(ty), types.align_of(ty)),
                (size, align),
                "{name}"
            );
        }
        let offsets: Vec<u64> = (0..4).map(|i| types.field_offset(loose, i)).collect();
        assert_eq!(offsets, [0, 8, 16, 32]);
        assert_eq!(types.field_offset(packed, 3), 10);
    }
}
