//! Vectors of 2, 3, 4, 8 and 16 numbers: `f32x4` and its like, for kernels and for the host.
//!
//! Operators and methods act on each lane, and mean what they mean for the numbers. Sums over lanes (`dot`, `length`) begin
//! with the first lane, so host and device agree.

use std::fmt;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::rc::Rc;

use half::f16;

use crate::builder::{Builder, Operand};
use crate::kernel_type::{Constant, KernelType};
use crate::types::Type;
use crate::vector_storage::{Lanes, Storage};

/// A vector of `N` numbers. Vectors of up to four have the members `x`, `y`, `z` and `w`; `v[i]` is lane `i`.
///
/// ```
/// use kernel_builder::vectors::{f32x3, f32x4};
/// let v = f32x3::new(1.0, 2.0, 2.0);
/// assert_eq!(v.length(), 3.0);
/// assert_eq!(2.0 * v + v, f32x3::new(3.0, 6.0, 6.0));
/// assert_eq!(v.zyx().x + v.y + v[0], 5.0);
/// assert_eq!(size_of::<f32x3>(), size_of::<f32x4>());
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Vector<T: Lanes<N>, const N: usize>(T::Store);

impl<T: Lanes<N>, const N: usize> Vector<T, N> {
    /// A vector of lanes by their number.
    pub(crate) fn of(lanes: impl Fn(usize) -> T) -> Self {
        Self(T::Store::of(lanes))
    }

    /// A vector with this memory.
    pub(crate) const fn from_store(store: T::Store) -> Self {
        Self(store)
    }

    /// A vector whose lanes have one value.
    #[must_use]
    pub fn splat(value: T) -> Self {
        Self::of(|_| value)
    }

    /// The lanes of an array.
    #[must_use]
    pub fn from_array(lanes: [T; N]) -> Self {
        Self::of(|index| lanes.get(index).copied().unwrap_or_default())
    }

    /// Returns the lanes as an array.
    #[must_use]
    pub fn to_array(self) -> [T; N] {
        std::array::from_fn(|index| self[index])
    }

    /// Applies a function to each lane, on the host.
    pub(crate) fn each<U: Lanes<N>>(self, act: impl Fn(T) -> U) -> Vector<U, N> {
        Vector::of(|index| act(self[index]))
    }

    /// Applies a function to each pair of lanes, on the host.
    pub(crate) fn pairs(self, other: Self, act: impl Fn(T, T) -> T) -> Self {
        Self::of(|index| act(self[index], other[index]))
    }
}

impl<T: Lanes<N>, const N: usize> Index<usize> for Vector<T, N> {
    type Output = T;
    fn index(&self, index: usize) -> &T {
        match self.0.lane(index) {
            Some(lane) => lane,
            None => panic!("lane {index} of a vector of {N}"),
        }
    }
}
impl<T: Lanes<N>, const N: usize> IndexMut<usize> for Vector<T, N> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        match self.0.lane_mut(index) {
            Some(lane) => lane,
            None => panic!("lane {index} of a vector of {N}"),
        }
    }
}

// The members `x`, `y`, `z`, `w`.
impl<T: Lanes<N>, const N: usize> Deref for Vector<T, N> {
    type Target = T::Store;
    fn deref(&self) -> &T::Store {
        &self.0
    }
}
impl<T: Lanes<N>, const N: usize> DerefMut for Vector<T, N> {
    fn deref_mut(&mut self) -> &mut T::Store {
        &mut self.0
    }
}

impl<T: Lanes<N>, const N: usize> fmt::Debug for Vector<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_array()).finish()
    }
}
/// As the lanes are displayed, `[1, 2.5]`: width and digits are those of each lane.
impl<T: Lanes<N> + fmt::Display, const N: usize> fmt::Display for Vector<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, lane) in self.to_array().iter().enumerate() {
            f.write_str(if index == 0 { "[" } else { ", " })?;
            fmt::Display::fmt(lane, f)?;
        }
        f.write_str("]")
    }
}
impl<T: Lanes<N>, const N: usize> PartialEq for Vector<T, N> {
    fn eq(&self, other: &Self) -> bool {
        (0..N).all(|index| self[index] == other[index])
    }
}
impl<T: Lanes<N>, const N: usize> Default for Vector<T, N> {
    fn default() -> Self {
        Self::splat(T::default())
    }
}
impl<T: Lanes<N>, const N: usize> From<[T; N]> for Vector<T, N> {
    fn from(lanes: [T; N]) -> Self {
        Self::from_array(lanes)
    }
}
impl<T: Lanes<N>, const N: usize> From<Vector<T, N>> for [T; N] {
    fn from(vector: Vector<T, N>) -> Self {
        vector.to_array()
    }
}

impl<T: Lanes<N>, const N: usize> KernelType for Vector<T, N> {
    type Plain = Self;
    fn describe() -> Type {
        Type::Vector(Rc::new(T::describe()), N as u32)
    }
    fn example() -> Self {
        Self::default()
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        let parts = self.to_array().map(|lane| lane.copied(builder));
        builder.compose(&Self::describe(), &parts)
    }
}
impl<T: Lanes<N>, const N: usize> Constant for Vector<T, N> {}

macro_rules! operators {
    ($($trait:ident $name:ident $assign_trait:ident $assign:ident)*) => { $(
        impl<T: Lanes<N> + std::ops::$trait<Output = T>, const N: usize> std::ops::$trait for Vector<T, N> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.pairs(other, std::ops::$trait::$name)
            }
        }
        impl<T: Lanes<N> + std::ops::$trait<Output = T>, const N: usize> std::ops::$trait<T> for Vector<T, N> {
            type Output = Self;
            fn $name(self, other: T) -> Self {
                self.each(|lane| std::ops::$trait::$name(lane, other))
            }
        }
        impl<T: Lanes<N> + std::ops::$trait<Output = T>, const N: usize> std::ops::$assign_trait for Vector<T, N> {
            fn $assign(&mut self, other: Self) {
                *self = std::ops::$trait::$name(*self, other);
            }
        }
        impl<T: Lanes<N> + std::ops::$trait<Output = T>, const N: usize> std::ops::$assign_trait<T> for Vector<T, N> {
            fn $assign(&mut self, other: T) {
                *self = std::ops::$trait::$name(*self, other);
            }
        }
    )* };
}
operators! {
    Add add AddAssign add_assign
    Sub sub SubAssign sub_assign
    Mul mul MulAssign mul_assign
    Div div DivAssign div_assign
    Rem rem RemAssign rem_assign
    BitAnd bitand BitAndAssign bitand_assign
    BitOr bitor BitOrAssign bitor_assign
    BitXor bitxor BitXorAssign bitxor_assign
    Shl shl ShlAssign shl_assign
    Shr shr ShrAssign shr_assign
}
impl<T: Lanes<N> + std::ops::Neg<Output = T>, const N: usize> std::ops::Neg for Vector<T, N> {
    type Output = Self;
    fn neg(self) -> Self {
        self.each(std::ops::Neg::neg)
    }
}
impl<T: Lanes<N> + std::ops::Not<Output = T>, const N: usize> std::ops::Not for Vector<T, N> {
    type Output = Self;
    fn not(self) -> Self {
        self.each(std::ops::Not::not)
    }
}

/// `2.0 * v`: the number on the left.
macro_rules! scaled {
    ($($ty:ident)*) => { $( scaled!(@one $ty Add add, Sub sub, Mul mul, Div div); )* };
    (@one $ty:ident $($trait:ident $name:ident),*) => { $(
        impl<const N: usize> std::ops::$trait<Vector<$ty, N>> for $ty
        where
            $ty: Lanes<N>,
        {
            type Output = Vector<$ty, N>;
            fn $name(self, vector: Vector<$ty, N>) -> Vector<$ty, N> {
                vector.each(|lane| std::ops::$trait::$name(self, lane))
            }
        }
    )* };
}
scaled!(i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64);

macro_rules! methods {
    ([$($ty:ident)*] $list:tt) => { $( methods!(@one $ty $list); )* };
    (@one $ty:ident { $($name:ident($($more:ident),*);)* }) => {
        impl<const N: usize> Vector<$ty, N>
        where
            $ty: Lanes<N>,
        {
            $(
                #[doc = concat!("Applies `", stringify!($name), "` to each lane.")]
                #[must_use]
                pub fn $name(self, $($more: Self),*) -> Self {
                    Self::of(|index| self[index].$name($($more[index]),*))
                }
            )*
        }
    };
}
methods! { [f32 f64] {
    abs(); acos(); asin(); atan(); atan2(other); cbrt(); ceil(); clamp(low, high); copysign(sign); cos(); exp(); exp2(); floor();
    ln(); log2(); log10(); max(other); min(other); mul_add(factor, summand); powf(exponent); recip(); round();
    round_ties_even(); signum(); sin(); sqrt(); tan(); tanh(); trunc();
} }
methods! { [f16] {
    clamp(low, high); copysign(sign); max(other); min(other); signum();
} }
methods! { [i8 i16 i32 i64] {
    abs(); clamp(low, high); max(other); min(other); saturating_add(other); saturating_sub(other); signum();
    wrapping_add(other); wrapping_mul(other); wrapping_neg(); wrapping_sub(other);
} }
methods! { [u8 u16 u32 u64] {
    abs_diff(other); clamp(low, high); max(other); min(other); saturating_add(other); saturating_sub(other);
    wrapping_add(other); wrapping_mul(other); wrapping_neg(); wrapping_sub(other);
} }

macro_rules! names {
    ($($ty:ident [$two:ident $three:ident $four:ident $eight:ident $sixteen:ident])*) => { $(
        names!(@one $ty 2 $two); names!(@one $ty 3 $three); names!(@one $ty 4 $four);
        names!(@one $ty 8 $eight); names!(@one $ty 16 $sixteen);
    )* };
    (@one $ty:ident $count:literal $name:ident) => {
        #[doc = concat!("A vector of ", $count, " `", stringify!($ty), "`.")]
        pub type $name = Vector<$ty, $count>;
    };
}

/// The names of all vectors.
pub mod vectors {
    #![expect(non_camel_case_types, reason = "the names of vectors in SIMD code")]
    use super::{Vector, f16};
    names! {
        i8 [i8x2 i8x3 i8x4 i8x8 i8x16]
        u8 [u8x2 u8x3 u8x4 u8x8 u8x16]
        i16 [i16x2 i16x3 i16x4 i16x8 i16x16]
        u16 [u16x2 u16x3 u16x4 u16x8 u16x16]
        i32 [i32x2 i32x3 i32x4 i32x8 i32x16]
        u32 [u32x2 u32x3 u32x4 u32x8 u32x16]
        i64 [i64x2 i64x3 i64x4 i64x8 i64x16]
        u64 [u64x2 u64x3 u64x4 u64x8 u64x16]
        f16 [f16x2 f16x3 f16x4 f16x8 f16x16]
        f32 [f32x2 f32x3 f32x4 f32x8 f32x16]
        f64 [f64x2 f64x3 f64x4 f64x8 f64x16]
    }
}

/// Whether a name is that of a vector type, such as `f32x4`: the macro stages its functions as those of a type.
#[must_use]
pub fn is_vector_name(name: &str) -> bool {
    let Some((element, count)) = name.split_once('x') else {
        return false;
    };
    let elements = [
        "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64",
    ];
    elements.contains(&element) && ["2", "3", "4", "8", "16"].contains(&count)
}
