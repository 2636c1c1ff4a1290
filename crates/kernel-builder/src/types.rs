//! The types of values in kernels, as the builder knows them.
//!
//! They are Rust's types, except that pointers have an address space. SPIR-V's integers have no sign, so the sign is
//! kept here and chooses the instruction.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// Where a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Memory of one work-item.
    Private,
    /// Buffers and USM.
    Global,
    /// Memory of a work-group.
    Local,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `()`.
    Unit,
    /// `bool`; one byte in memory.
    Bool,
    /// An integer, or `char`.
    Int {
        /// 8, 16, 32 or 64.
        bits: u32,
        /// Has a sign.
        signed: bool,
    },
    /// `f16`, `f32` or `f64`, by its bits.
    Float(u32),
    /// A vector of numbers, such as `f32x4`.
    Vector(Rc<Type>, u32),
    /// An image that a kernel reads or writes; a parameter only.
    Image {
        /// 1 to 3.
        dimensions: u32,
        /// It is written, and not read.
        writes: bool,
    },
    /// A sampler; a parameter only.
    Sampler,
    /// `&T`.
    Pointer(Space, Rc<Type>),
    /// `&[T]`: a pointer and a length of 64 bits.
    Slice(Space, Rc<Type>),
    /// `[T; N]`.
    Array(Rc<Type>, u64),
    /// A structure or a tuple, whose members are named 0, 1 and so on.
    Struct(Rc<Struct>),
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Struct {
    /// The name in Rust; empty for tuples.
    pub name: String,
    /// Names and types of the members, in the order of memory.
    pub members: Vec<(String, Type)>,
    /// The variants of an enum, whose first member is the number of the variant; empty for structures.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The name in Rust.
    pub name: String,
    /// Its number: the discriminant of an enum without data.
    pub number: u64,
    /// Its members among those of the enum.
    pub members: Range<usize>,
}

/// A variant as it is described: name, number, and names and types of its members.
pub type Described<'a> = (&'a str, u64, Vec<(&'a str, Type)>);

impl Type {
    /// The unsigned integer of 64 bits, which is `usize`.
    pub const SIZE: Self = Self::Int {
        bits: 64,
        signed: false,
    };

    /// Returns a tuple's type.
    #[must_use]
    pub fn tuple(members: Vec<Self>) -> Self {
        let members = members.into_iter().enumerate();
        Self::Struct(Rc::new(Struct {
            name: String::new(),
            members: members.map(|(index, ty)| (index.to_string(), ty)).collect(),
            variants: Vec::new(),
        }))
    }

    /// Returns a structure's type.
    #[must_use]
    pub fn structure(name: &str, members: &[(&str, Self)]) -> Self {
        let members = members.iter();
        Self::Struct(Rc::new(Struct {
            name: name.to_owned(),
            members: members
                .map(|(name, ty)| ((*name).to_owned(), ty.clone()))
                .collect(),
            variants: Vec::new(),
        }))
    }

    /// Returns an enum's type: a number of the given type, and after it the members of all variants.
    #[must_use]
    pub fn enumeration(name: &str, number: Self, variants: Vec<Described<'_>>) -> Self {
        let mut members = vec![("variant".to_owned(), number)];
        let mut made = Vec::new();
        for (variant, number, of) in variants {
            let first = members.len();
            let of = of.into_iter();
            members.extend(of.map(|(member, ty)| (format!("{variant}.{member}"), ty)));
            made.push(Variant {
                name: variant.to_owned(),
                number,
                members: first..members.len(),
            });
        }
        Self::Struct(Rc::new(Struct {
            name: name.to_owned(),
            members,
            variants: made,
        }))
    }

    /// Returns the structure or enum behind any references.
    #[must_use]
    pub fn layout(&self) -> Option<&Rc<Struct>> {
        match self {
            Self::Struct(layout) => Some(layout),
            Self::Pointer(_, to) => to.layout(),
            _ => None,
        }
    }

    /// The type and the number of the elements of an array or a vector.
    pub(crate) fn elements(&self) -> Option<(&Rc<Self>, u64)> {
        match self {
            Self::Array(of, count) => Some((of, *count)),
            Self::Vector(of, count) => Some((of, u64::from(*count))),
            _ => None,
        }
    }

    /// Returns the type that a pointer or slice points to.
    #[must_use]
    pub fn pointee(&self) -> Option<&Self> {
        match self {
            Self::Pointer(_, to) | Self::Slice(_, to) => Some(to),
            _ => None,
        }
    }

    /// Whether a pointer is in it, whose address space no type of Rust tells.
    #[must_use]
    pub fn has_pointer(&self) -> bool {
        match self {
            Self::Pointer(..) | Self::Slice(..) => true,
            Self::Array(of, _) => of.has_pointer(),
            Self::Struct(of) => of.members.iter().any(|(_, ty)| ty.has_pointer()),
            _ => false,
        }
    }

    /// Whether a structure, an array or a slice.
    #[must_use]
    pub fn is_composite(&self) -> bool {
        matches!(self, Self::Slice(..) | Self::Array(..) | Self::Struct(_))
    }
}

/// The position of a vector's member: `x`, `y`, `z` or `w`.
pub(crate) fn lane(name: &str) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|known| *known == name)
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("()"),
            Self::Bool => f.write_str("bool"),
            Self::Int { bits, signed } => write!(f, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Self::Float(bits) => write!(f, "f{bits}"),
            Self::Vector(of, count) => write!(f, "{of}x{count}"),
            Self::Image { dimensions, .. } => write!(f, "image of {dimensions} dimensions"),
            Self::Sampler => f.write_str("sampler"),
            Self::Pointer(_, to) => write!(f, "&{to}"),
            Self::Slice(_, to) => write!(f, "&[{to}]"),
            Self::Array(of, count) => write!(f, "[{of}; {count}]"),
            Self::Struct(of) if of.name.is_empty() => {
                f.write_str("(")?;
                for (_, ty) in &of.members {
                    write!(f, "{ty},")?;
                }
                f.write_str(")")
            }
            Self::Struct(of) => f.write_str(&of.name),
        }
    }
}
