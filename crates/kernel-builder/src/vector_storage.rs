//! How the lanes of a vector lie in memory: SYCL's sizes and alignments, with three lanes as four.

use std::fmt::Debug;

use half::f16;

use crate::kernel_type::Constant;

macro_rules! alignments {
    ($($name:ident $bytes:literal)*) => { $(
        /// Nothing, at a multiple of some bytes.
        #[derive(Clone, Copy, Debug)]
        #[repr(C, align($bytes))]
        pub struct $name;
    )* };
}
alignments!(Align2 2 Align4 4 Align8 8 Align16 16 Align32 32 Align64 64 Align128 128);

/// Numbers that vectors have as lanes.
#[diagnostic::on_unimplemented(
    message = "there are no vectors of `{Self}`",
    note = "vectors have lanes of i8, u8, i16, u16, i32, u32, i64, u64, f16, f32 or f64"
)]
pub trait Element: Constant + Default + PartialEq + Debug + Send + Sync + 'static {
    /// The alignment of two lanes.
    type Two: Copy + Send + Sync + 'static;
    /// The alignment of three and four lanes.
    type Four: Copy + Send + Sync + 'static;
    /// The alignment of eight lanes.
    type Eight: Copy + Send + Sync + 'static;
    /// The alignment of sixteen lanes.
    type Sixteen: Copy + Send + Sync + 'static;
}
macro_rules! elements {
    ($($ty:ident)*, $two:ident $four:ident $eight:ident $sixteen:ident) => { $(
        impl Element for $ty {
            type Two = $two;
            type Four = $four;
            type Eight = $eight;
            type Sixteen = $sixteen;
        }
    )* };
}
elements!(i8 u8, Align2 Align4 Align8 Align16);
elements!(i16 u16 f16, Align4 Align8 Align16 Align32);
elements!(i32 u32 f32, Align8 Align16 Align32 Align64);
elements!(i64 u64 f64, Align16 Align32 Align64 Align128);

/// The memory of a vector.
pub trait Storage<T>: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    fn of(lanes: impl Fn(usize) -> T) -> Self;
    #[doc(hidden)]
    fn lane(&self, index: usize) -> Option<&T>;
    #[doc(hidden)]
    fn lane_mut(&mut self, index: usize) -> Option<&mut T>;
}

/// Numbers of which there are vectors with `N` lanes: 2, 3, 4, 8 or 16.
#[diagnostic::on_unimplemented(
    message = "there is no vector of {N} lanes of `{Self}`",
    note = "vectors have 2, 3, 4, 8 or 16 lanes of i8, u8, i16, u16, i32, u32, i64, u64, f16, f32 or f64"
)]
pub trait Lanes<const N: usize>: Element {
    /// The memory.
    type Store: Storage<Self>;
}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident $count:literal $align:ident [$($lane:ident $index:literal)*] [$($pad:ident = $copy:ident)?];)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $name<T: Element> {
            align: [T::$align; 0],
            $(
                #[doc = concat!("Lane ", $index, ".")]
                pub $lane: T,
            )*
            $( $pad: T, )?
        }
        impl<T: Element> $name<T> {
            /// These lanes.
            pub(crate) const fn from_lanes($($lane: T),*) -> Self {
                Self { align: [], $($lane,)* $( $pad: $copy, )? }
            }
        }
        impl<T: Element> Storage<T> for $name<T> {
            fn of(lanes: impl Fn(usize) -> T) -> Self {
                Self {
                    align: [],
                    $( $lane: lanes($index), )*
                    $( $pad: T::default(), )?
                }
            }
            fn lane(&self, index: usize) -> Option<&T> {
                match index {
                    $( $index => Some(&self.$lane), )*
                    _ => None,
                }
            }
            fn lane_mut(&mut self, index: usize) -> Option<&mut T> {
                match index {
                    $( $index => Some(&mut self.$lane), )*
                    _ => None,
                }
            }
        }
        impl<T: Element> Lanes<$count> for T {
            type Store = $name<T>;
        }
    )* };
}
named! {
    /// The lanes of a vector with two.
    Xy 2 Two [x 0 y 1] [];
    /// The lanes of a vector with three.
    Xyz 3 Four [x 0 y 1 z 2] [pad = x];
    /// The lanes of a vector with four.
    Xyzw 4 Four [x 0 y 1 z 2 w 3] [];
}

macro_rules! wide {
    ($($(#[$doc:meta])* $name:ident $count:literal $align:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $name<T: Element> {
            align: [T::$align; 0],
            lanes: [T; $count],
        }
        impl<T: Element> Storage<T> for $name<T> {
            fn of(lanes: impl Fn(usize) -> T) -> Self {
                Self { align: [], lanes: std::array::from_fn(lanes) }
            }
            fn lane(&self, index: usize) -> Option<&T> {
                self.lanes.get(index)
            }
            fn lane_mut(&mut self, index: usize) -> Option<&mut T> {
                self.lanes.get_mut(index)
            }
        }
        impl<T: Element> Lanes<$count> for T {
            type Store = $name<T>;
        }
    )* };
}
wide! {
    /// The lanes of a vector with eight.
    Eight 8 Eight;
    /// The lanes of a vector with sixteen.
    Sixteen 16 Sixteen;
}
