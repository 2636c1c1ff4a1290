//! Types in memory: sizes, alignments and layouts.

use std::rc::Rc;

use spirv::StorageClass;

/// The address space of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum AddressSpace {
    /// `global`: CrossWorkgroup.
    Global,
    /// `constant`: UniformConstant.
    Constant,
    /// `local`: Workgroup.
    Local,
    /// `private`: Function.
    Private,
    /// Generic.
    Generic,
    /// Another storage class, by its number.
    Other(u32),
}

impl AddressSpace {
    pub(crate) fn from_storage_class(class: u32) -> Self {
        match StorageClass::from_u32(class) {
            Some(StorageClass::UniformConstant) => Self::Constant,
            Some(StorageClass::Workgroup) => Self::Local,
            Some(StorageClass::CrossWorkgroup) => Self::Global,
            Some(StorageClass::Function) => Self::Private,
            Some(StorageClass::Generic) => Self::Generic,
            _ => Self::Other(class),
        }
    }
}

/// A type with a size. Integers have no sign in a kernel's module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Type {
    /// An integer, by its bits.
    Int(u32),
    /// A floating-point number, by its bits.
    Float(u32),
    /// A vector: scalar type and number of components.
    Vector(Rc<Type>, u32),
    /// An array: element type and number of elements.
    Array(Rc<Type>, u64),
    /// A structure.
    Struct(Rc<Struct>),
    /// An address of 64 bits.
    Address,
}

/// A structure with its layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Struct {
    /// Its debug name, if the module keeps one.
    pub name: Option<String>,
    /// Members in order.
    pub members: Vec<Member>,
    /// Size in bytes, including padding after the last member.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A member of a [`Struct`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    /// Its debug name, if the module keeps one.
    pub name: Option<String>,
    /// Offset in bytes.
    pub offset: u64,
    /// Its type.
    pub ty: Type,
}

impl Type {
    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Int(bits) | Self::Float(bits) => u64::from(bits.div_ceil(8)),
            Self::Vector(scalar, count) => scalar.size() * u64::from(room(*count)),
            Self::Array(element, count) => element.size().saturating_mul(*count),
            Self::Struct(layout) => layout.size,
            Self::Address => 8,
        }
    }
    /// Alignment in bytes, a power of two for types that OpenCL C has.
    #[must_use]
    pub fn align(&self) -> u64 {
        match self {
            Self::Array(element, _) => element.align(),
            Self::Struct(layout) => layout.align,
            other => other.size().max(1),
        }
    }
    /// As OpenCL C writes it: `uint`, `float4`, `struct Particle`, `float[16]`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Int(8) => "char".to_owned(),
            Self::Int(16) => "short".to_owned(),
            Self::Int(32) => "int".to_owned(),
            Self::Int(64) => "long".to_owned(),
            Self::Int(bits) => format!("int of {bits} bits"),
            Self::Float(16) => "half".to_owned(),
            Self::Float(32) => "float".to_owned(),
            Self::Float(64) => "double".to_owned(),
            Self::Float(bits) => format!("float of {bits} bits"),
            Self::Vector(scalar, count) => format!("{}{count}", scalar.name()),
            Self::Array(element, count) => format!("{}[{count}]", element.name()),
            Self::Struct(layout) => match &layout.name {
                Some(name) => format!("struct {name}"),
                None => format!("struct of {} bytes", layout.size),
            },
            Self::Address => "pointer".to_owned(),
        }
    }
}

/// Components of a vector in memory, including padding.
fn room(count: u32) -> u32 {
    if count == 3 { 4 } else { count }
}

impl Struct {
    /// Assigns offsets to `members` in order; without padding if `packed`.
    pub(crate) fn lay_out(
        name: Option<String>,
        members: Vec<(Option<String>, Type)>,
        packed: bool,
    ) -> Option<Self> {
        let mut offset = 0u64;
        let mut align = 1;
        let mut laid = Vec::with_capacity(members.len());
        for (name, ty) in members {
            let own = if packed { 1 } else { ty.align() };
            align = align.max(own);
            offset = offset.checked_next_multiple_of(own)?;
            let size = ty.size();
            laid.push(Member { name, offset, ty });
            offset = offset.checked_add(size)?;
        }
        Some(Self {
            name,
            members: laid,
            size: offset.checked_next_multiple_of(align)?,
            align,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_opencl_c() {
        let float = || Type::Float(32);
        let vector = |count| Type::Vector(Rc::new(float()), count);
        type Case<'a> = (&'a [Type], bool, &'a [u64], u64, u64);
        let cases: &[Case<'_>] = &[
            (&[Type::Int(8), Type::Int(32)], false, &[0, 4], 8, 4),
            (&[Type::Int(8), Type::Int(32)], true, &[0, 1], 5, 1),
            (&[float(), vector(3), float()], false, &[0, 16, 32], 48, 16),
            (&[vector(2), Type::Address], false, &[0, 8], 16, 8),
            (
                &[Type::Array(Rc::new(Type::Int(16)), 3), Type::Int(8)],
                false,
                &[0, 6],
                8,
                2,
            ),
            (&[], false, &[], 0, 1),
        ];
        for (members, packed, offsets, size, align) in cases {
            let members = members.iter().map(|ty| (None, ty.clone())).collect();
            let laid = Struct::lay_out(None, members, *packed).expect("small");
            let got: Vec<u64> = laid.members.iter().map(|member| member.offset).collect();
            assert_eq!((&got[..], laid.size, laid.align), (*offsets, *size, *align));
        }
        let huge = Type::Array(Rc::new(Type::Int(64)), u64::MAX);
        assert_eq!(
            Struct::lay_out(None, vec![(None, huge.clone()), (None, huge)], false),
            None
        );
    }
}
