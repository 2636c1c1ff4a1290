//! The Rust types that kernels can use.

use std::rc::Rc;

use half::f16;

use crate::builder::{Builder, Operand};
use crate::types::{Space, Type};

/// Types that kernels can use.
///
/// `#[derive(Device)]` implements it for structures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in a kernel",
    note = "kernels use integers of 8 to 64 bits, f16, f32, f64, bool, char, tuples, arrays, references, slices, `Option`, and structures and enums with `#[derive(Device)]`"
)]
pub trait KernelType: Sized {
    /// The type in the builder.
    fn describe() -> Type;
    /// The type without references: that of a literal in a pattern.
    #[doc(hidden)]
    type Plain;
    /// Some value: the compiler finds a method by its receiver, and the builder has no receiver of its own.
    fn example() -> Self;
    /// A value of the program, copied into the code.
    #[doc(hidden)]
    fn copied(self, builder: &mut Builder) -> Operand {
        builder.refuse(
            "a constant that contains a reference in a kernel: pass the value as an argument",
        )
    }
    /// All values of an enum without data; nothing for other types.
    #[doc(hidden)]
    #[must_use]
    fn values() -> Vec<Self> {
        Vec::new()
    }
}

/// Types of constants: a value of the program that a kernel uses is copied into its code.
#[diagnostic::on_unimplemented(
    message = "a value of `{Self}` cannot be copied into a kernel",
    note = "constants in kernels are numbers, bool, char, types with `#[derive(Device)]`, arrays and tuples of them; pass other values as arguments"
)]
pub trait Constant: KernelType + Copy {}

macro_rules! integers {
    ($($ty:ident $bits:literal $signed:literal $from:ident)*) => { $(
        impl KernelType for $ty {
            type Plain = Self;
            fn describe() -> Type {
                Type::Int { bits: $bits, signed: $signed }
            }
            fn example() -> Self {
                Self::default()
            }
            fn copied(self, builder: &mut Builder) -> Operand {
                builder.integer($bits, $signed, self as u64)
            }
        }
        impl Constant for $ty {}
    )* };
}
integers! {
    u8 8 false u8
    i8 8 true i8
    u16 16 false u16
    i16 16 true i16
    u32 32 false u32
    i32 32 true i32
    u64 64 false u64
    i64 64 true i64
    usize 64 false usize
    isize 64 true isize
    char 32 false char
}

macro_rules! floats {
    ($($ty:ident $bits:literal)*) => { $(
        impl KernelType for $ty {
            type Plain = Self;
            fn describe() -> Type {
                Type::Float($bits)
            }
            fn example() -> Self {
                Self::default()
            }
            fn copied(self, builder: &mut Builder) -> Operand {
                builder.float($bits, u64::from(self.to_bits()))
            }
        }
        impl Constant for $ty {}
    )* };
}
floats!(f16 16 f32 32 f64 64);

impl KernelType for bool {
    type Plain = Self;
    fn describe() -> Type {
        Type::Bool
    }
    fn example() -> Self {
        false
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        builder.bool(self)
    }
}
impl Constant for bool {}

impl KernelType for std::cmp::Ordering {
    type Plain = Self;
    fn describe() -> Type {
        let number = Type::Int {
            bits: 8,
            signed: true,
        };
        let of = |name, order: Self| (name, order as u64, Vec::new());
        let variants = vec![
            of("Less", Self::Less),
            of("Equal", Self::Equal),
            of("Greater", Self::Greater),
        ];
        Type::enumeration("Ordering", number, variants)
    }
    fn example() -> Self {
        Self::Equal
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        let name = match self {
            Self::Less => "Less",
            Self::Equal => "Equal",
            Self::Greater => "Greater",
        };
        builder.construct_variant(&Self::describe(), name, &[], &[])
    }
    fn values() -> Vec<Self> {
        vec![Self::Less, Self::Equal, Self::Greater]
    }
}
impl Constant for std::cmp::Ordering {}

impl KernelType for () {
    type Plain = Self;
    fn describe() -> Type {
        Type::Unit
    }
    fn example() -> Self {}
    fn copied(self, _: &mut Builder) -> Operand {
        Operand::Unit
    }
}
impl Constant for () {}

impl<T: KernelType, const N: usize> KernelType for [T; N] {
    type Plain = Self;
    fn describe() -> Type {
        Type::Array(Rc::new(T::describe()), N as u64)
    }
    fn example() -> Self {
        std::array::from_fn(|_| T::example())
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        let parts = self.map(|part| part.copied(builder));
        builder.compose(&Self::describe(), &parts)
    }
}
impl<T: Constant, const N: usize> Constant for [T; N] {}

// Examples of references live as long as the program: a few bytes for each call of a method in a kernel.
impl<T: KernelType> KernelType for &T {
    type Plain = T::Plain;
    fn describe() -> Type {
        Type::Pointer(Space::Global, Rc::new(T::describe()))
    }
    fn example() -> Self {
        Box::leak(Box::new(T::example()))
    }
}
impl<T: KernelType> KernelType for &mut T {
    type Plain = T::Plain;
    fn describe() -> Type {
        Type::Pointer(Space::Global, Rc::new(T::describe()))
    }
    fn example() -> Self {
        Box::leak(Box::new(T::example()))
    }
}
impl<T: KernelType> KernelType for &[T] {
    type Plain = Self;
    fn describe() -> Type {
        Type::Slice(Space::Global, Rc::new(T::describe()))
    }
    fn example() -> Self {
        &[]
    }
}
impl<T: KernelType> KernelType for &mut [T] {
    type Plain = Self;
    fn describe() -> Type {
        Type::Slice(Space::Global, Rc::new(T::describe()))
    }
    fn example() -> Self {
        &mut []
    }
}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<$first: KernelType, $($rest: KernelType),*> KernelType for ($first, $($rest,)*) {
            type Plain = Self;
            fn describe() -> Type {
                Type::tuple(vec![$first::describe(), $($rest::describe()),*])
            }
            fn example() -> Self {
                ($first::example(), $($rest::example(),)*)
            }
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn copied(self, builder: &mut Builder) -> Operand {
                let ($first, $($rest,)*) = self;
                let parts = [$first.copied(builder), $($rest.copied(builder)),*];
                builder.compose(&Self::describe(), &parts)
            }
        }
        impl<$first: Constant, $($rest: Constant),*> Constant for ($first, $($rest,)*) {}
        tuples!($($rest)*);
    };
    () => {};
}
tuples!(A B C D E F G H);
