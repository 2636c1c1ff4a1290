//! The C ABI of Level Zero 1.17 (`ze`, `zet`, `zes`, `zer`, `zel`), as the headers spell it.
//!
//! Everything lies flat in the crate root under its C name: handles (`ze_driver_handle_t`), enumerations (newtypes over
//! `u32` with free constants), sets of bits (`u32`), structs (`Default` is all zero with the right `stype`), DDI tables
//! and function pointer types (`ze_pfnInit_t`).
//!
//! Invariants: all of it is generated from the API table by `cargo xtask regen`, no hand-written facts; size, alignment
//! and offset of every struct are asserted at compile time against the reference headers' numbers. `no_std`, no
//! dependencies. It is not an API to program against: `level-zero` is.

#![no_std]
#![expect(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are C's; fields and enumerators are documented by the Level Zero specification"
)]

/// An enumeration of C: any value may arrive, so it is a newtype and not a Rust enum.
macro_rules! c_enum {
    (
        $(#[$meta:meta])*
        $ty:ident { $($name:ident = $value:literal,)* } aliases { $($alias:ident = $other:literal,)* }
    ) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $ty(pub u32);
        $(pub const $name: $ty = $ty($value);)*
        $(pub const $alias: $ty = $ty($other);)*
        impl $ty {
            /// The C name of the value, when the specification gives it one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
        impl core::fmt::Debug for $ty {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($ty), "({:#x})"), self.0),
                }
            }
        }
    };
}

/// `Default` for a C struct: zero, and its own `stype`, which is also `Self::STYPE`.
macro_rules! c_default {
    ($ty:ident $(, $stype:ident: $of:ident)?) => {
        impl Default for $ty {
            fn default() -> Self {
                // SAFETY: C structs of numbers, pointers, function pointers and arrays of them; zero is valid for each.
                let zero: Self = unsafe { core::mem::zeroed() };
                $(let zero = Self { stype: $stype, ..zero };)?
                zero
            }
        }
        $(impl $ty {
            /// The structure type that marks this struct in a chain.
            pub const STYPE: $of = $stype;
        })?
    };
}

/// Asserts the layout that the reference headers have.
macro_rules! layout {
    ($ty:ident, $size:literal, $align:literal, $($field:ident $offset:literal),*) => {
        const _: () = {
            assert!(size_of::<$ty>() == $size, concat!("size of ", stringify!($ty)));
            assert!(align_of::<$ty>() == $align, concat!("alignment of ", stringify!($ty)));
            $(assert!(
                core::mem::offset_of!($ty, $field) == $offset,
                concat!("offset of ", stringify!($ty), ".", stringify!($field))
            );)*
        };
    };
}

#[rustfmt::skip]
mod generated;

pub use generated::*;
