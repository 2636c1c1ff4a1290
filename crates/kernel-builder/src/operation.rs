//! The operations by which the work-items of a group combine their values: SYCL's function objects.

use half::f16;

use crate::builder::{Builder, Operand};
use crate::kernel_type::{Constant, KernelType};
use crate::types::Type;

/// Which operation; the types of the values choose the instruction.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Add,
    Multiply,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
}

/// An operation that combines the values of a group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine values of `{T}`",
    note = "Plus, Multiplies, Minimum and Maximum combine integers of 8 to 64 bits, f16, f32 and f64; BitAnd, BitOr and BitXor the integers"
)]
pub trait Combine<T>: Copy {
    #[doc(hidden)]
    const KIND: Kind;
    /// Combines two values.
    #[must_use]
    fn combine(self, left: T, right: T) -> T;
    /// Returns the value that changes no other: the exclusive scan's first result.
    #[must_use]
    fn neutral(self) -> T;
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
        impl KernelType for $name {
            type Plain = Self;
            fn describe() -> Type {
                Type::Unit
            }
            fn example() -> Self {
                Self
            }
            fn copied(self, _: &mut Builder) -> Operand {
                Operand::Unit
            }
        }
        impl Constant for $name {}
    )* };
}
operations! {
    /// `a + b`; integers wrap around.
    Plus
    /// `a * b`; integers wrap around.
    Multiplies
    /// The smaller value.
    Minimum
    /// The larger value.
    Maximum
    /// `a & b`.
    BitAnd
    /// `a | b`.
    BitOr
    /// `a ^ b`.
    BitXor
}

macro_rules! combine {
    ($name:ident $kind:ident $($ty:ident)* |$a:ident, $b:ident| $value:expr, $neutral:expr) => { $(
        impl Combine<$ty> for $name {
            const KIND: Kind = Kind::$kind;
            fn combine(self, $a: $ty, $b: $ty) -> $ty {
                $value
            }
            fn neutral(self) -> $ty {
                type Number = $ty;
                $neutral
            }
        }
    )* };
}
combine!(Plus Add i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a.wrapping_add(b), 0 as Number);
combine!(Plus Add f32 f64 |a, b| a + b, 0.0 as Number);
combine!(Plus Add f16 |a, b| a + b, Number::ZERO);
combine!(Multiplies Multiply i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a.wrapping_mul(b), 1 as Number);
combine!(Multiplies Multiply f32 f64 |a, b| a * b, 1.0 as Number);
combine!(Multiplies Multiply f16 |a, b| a * b, Number::ONE);
combine!(Minimum Minimum i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a.min(b), Number::MAX);
combine!(Minimum Minimum f16 f32 f64 |a, b| a.min(b), Number::INFINITY);
combine!(Maximum Maximum i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a.max(b), Number::MIN);
combine!(Maximum Maximum f16 f32 f64 |a, b| a.max(b), Number::NEG_INFINITY);
combine!(BitAnd And i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a & b, !(0 as Number));
combine!(BitOr Or i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a | b, 0 as Number);
combine!(BitXor Xor i8 u8 i16 u16 i32 u32 i64 u64 isize usize |a, b| a ^ b, 0 as Number);
