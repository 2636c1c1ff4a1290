//! Functions of vectors beyond those of each lane, on the host and staged: making, geometry, casts, swizzles.

use half::f16;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::kernel_type::KernelType;
use crate::stage::{Stage, Staged};
use crate::vector::Vector;
use crate::vector_storage::{Element, Lanes, Xy, Xyz, Xyzw};

macro_rules! constructors {
    ($($count:literal $store:ident ($($lane:ident),*);)*) => { $(
        impl<T: Element> Vector<T, $count> {
            /// A vector of these lanes.
            #[must_use]
            pub const fn new($($lane: T),*) -> Self {
                Self::from_store($store::from_lanes($($lane),*))
            }
            #[doc(hidden)]
            pub fn __stage_new(stage: &Stage, $($lane: Staged<T>),*) -> Staged<Self> {
                stage.operation(|b| b.compose(&Self::describe(), &[$($lane.operand()),*]))
            }
        }
    )* };
}
constructors! {
    2 Xy (x, y);
    3 Xyz (x, y, z);
    4 Xyzw (x, y, z, w);
}

/// The staged forms of [`Vector`]'s own functions.
#[doc(hidden)]
impl<T: Lanes<N>, const N: usize> Vector<T, N> {
    pub fn __stage_splat(stage: &Stage, value: Staged<T>) -> Staged<Self> {
        stage.operation(|b| b.compose(&Self::describe(), &[value.operand(); N]))
    }
    pub fn __stage_from_array(stage: &Stage, lanes: Staged<[T; N]>) -> Staged<Self> {
        stage.operation(|builder| {
            let lanes = builder.array_elements(lanes.operand(), N, &T::describe());
            builder.compose(&Self::describe(), &lanes)
        })
    }
    pub fn __stage_to_array(self) -> impl Fn(&Stage, Operand) -> Staged<[T; N]> + Copy {
        |stage, vector| {
            stage.operation(|builder| {
                let lanes = builder.lanes(vector);
                builder.compose(&<[T; N]>::describe(), &lanes)
            })
        }
    }
    pub fn __stage_cast<U: Lanes<N>>(
        self,
    ) -> impl Fn(&Stage, Operand) -> Staged<Vector<U, N>> + Copy {
        |stage, vector| {
            stage.operation(|builder| {
                let lanes = builder.lanes(vector);
                let cast: Vec<Operand> = lanes
                    .into_iter()
                    .map(|lane| builder.cast(lane, &U::describe()))
                    .collect();
                builder.compose(&Vector::<U, N>::describe(), &cast)
            })
        }
    }
}

/// Numbers that `as` makes of other numbers.
pub trait CastFrom<T> {
    #[doc(hidden)]
    fn cast_from(value: T) -> Self;
}
macro_rules! casts {
    ($($to:ident)*) => { $( casts!(@to $to i8 u8 i16 u16 i32 u32 i64 u64 f32 f64); )* };
    (@to $to:ident $($from:ident)*) => { $(
        impl CastFrom<$from> for $to {
            fn cast_from(value: $from) -> Self {
                value as Self
            }
        }
    )* };
}
casts!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

macro_rules! half_casts {
    ($($ty:ident)*) => { $(
        impl CastFrom<$ty> for f16 {
            fn cast_from(value: $ty) -> Self {
                Self::from_f64(value as f64)
            }
        }
        impl CastFrom<f16> for $ty {
            fn cast_from(value: f16) -> Self {
                value.to_f64() as Self
            }
        }
    )* };
}
half_casts!(i8 u8 i16 u16 i32 u32 i64 u64 f64);
impl CastFrom<f32> for f16 {
    fn cast_from(value: f32) -> Self {
        Self::from_f32(value)
    }
}
impl CastFrom<f16> for f32 {
    fn cast_from(value: f16) -> Self {
        value.to_f32()
    }
}
impl CastFrom<Self> for f16 {
    fn cast_from(value: Self) -> Self {
        value
    }
}

impl<T: Lanes<N>, const N: usize> Vector<T, N> {
    /// Casts each lane, as `as` does: `v.cast::<i32>()`.
    #[must_use]
    pub fn cast<U: Lanes<N> + CastFrom<T>>(self) -> Vector<U, N> {
        self.each(U::cast_from)
    }
}

impl Builder {
    /// Products of lanes, added from the first to the last.
    fn dot(&mut self, left: Operand, right: Operand) -> Operand {
        let (left, right) = (self.lanes(left), self.lanes(right));
        let mut sum = None;
        for (l, r) in left.into_iter().zip(right) {
            let product = self.binary(Binary::Mul, l, r);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.binary(Binary::Add, sum, product),
            });
        }
        sum.unwrap_or(Operand::Never)
    }

    fn lane_sum(&mut self, vector: Operand) -> Operand {
        let lanes = self.lanes(vector);
        let sum = lanes
            .into_iter()
            .reduce(|sum, lane| self.binary(Binary::Add, sum, lane));
        sum.unwrap_or(Operand::Never)
    }

    fn norm(&mut self, vector: Operand, ty: &crate::types::Type) -> Operand {
        let square = self.dot(vector, vector);
        self.method("sqrt", &[square], ty)
    }
}

macro_rules! geometry {
    ($($ty:ident)*) => { $(
        impl<const N: usize> Vector<$ty, N>
        where
            $ty: Lanes<N>,
        {
            /// Returns the square root of the sum of the lanes' squares.
            #[must_use]
            pub fn length(self) -> $ty {
                self.dot(self).sqrt()
            }
            /// Returns the length of the difference.
            #[must_use]
            pub fn distance(self, other: Self) -> $ty {
                (self - other).length()
            }
            /// Divides by the length.
            #[must_use]
            pub fn normalize(self) -> Self {
                self / self.length()
            }
            #[doc(hidden)]
            pub fn __stage_length(self) -> impl Fn(&Stage, Operand) -> Staged<$ty> + Copy {
                |stage, vector| stage.operation(|builder| builder.norm(vector, &<$ty>::describe()))
            }
            #[doc(hidden)]
            pub fn __stage_distance(self) -> impl Fn(&Stage, Operand, Staged<Self>) -> Staged<$ty> + Copy {
                |stage, vector, other| {
                    stage.operation(|builder| {
                        let way = builder.binary(Binary::Sub, vector, other.operand());
                        builder.norm(way, &<$ty>::describe())
                    })
                }
            }
            #[doc(hidden)]
            pub fn __stage_normalize(self) -> impl Fn(&Stage, Operand) -> Staged<Self> + Copy {
                |stage, vector| {
                    stage.operation(|builder| {
                        let length = builder.norm(vector, &<$ty>::describe());
                        builder.binary(Binary::Div, vector, length)
                    })
                }
            }
        }
        impl Vector<$ty, 3> {
            /// Returns the vector product: at right angles to both.
            #[must_use]
            pub fn cross(self, other: Self) -> Self {
                self.yzx() * other.zxy() - self.zxy() * other.yzx()
            }
            #[doc(hidden)]
            pub fn __stage_cross(self) -> impl Fn(&Stage, Operand, Staged<Self>) -> Staged<Self> + Copy {
                |stage, vector, other| {
                    stage.operation(|b| {
                        let other = other.operand();
                        let (yzx, zxy) = ([1, 2, 0], [2, 0, 1]);
                        let (a, b1) = (b.swizzle(vector, &yzx), b.swizzle(other, &zxy));
                        let (c, d) = (b.swizzle(vector, &zxy), b.swizzle(other, &yzx));
                        let plus = b.binary(Binary::Mul, a, b1);
                        let minus = b.binary(Binary::Mul, c, d);
                        b.binary(Binary::Sub, plus, minus)
                    })
                }
            }
        }
    )* };
}
geometry!(f32 f64);

macro_rules! sums {
    ($($ty:ident)*) => { $(
        impl<const N: usize> Vector<$ty, N>
        where
            $ty: Lanes<N>,
        {
            /// Returns the sum of the products of lanes.
            #[must_use]
            pub fn dot(self, other: Self) -> $ty {
                (self * other).sum()
            }
            /// Returns the sum of the lanes.
            #[must_use]
            pub fn sum(self) -> $ty {
                (1..N).fold(self[0], |sum, index| sum + self[index])
            }
            #[doc(hidden)]
            pub fn __stage_dot(self) -> impl Fn(&Stage, Operand, Staged<Self>) -> Staged<$ty> + Copy {
                |stage, vector, other| stage.operation(|builder| builder.dot(vector, other.operand()))
            }
            #[doc(hidden)]
            pub fn __stage_sum(self) -> impl Fn(&Stage, Operand) -> Staged<$ty> + Copy {
                |stage, vector| stage.operation(|builder| builder.lane_sum(vector))
            }
        }
    )* };
}
sums!(i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64);
