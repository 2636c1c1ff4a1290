//! Atomic operations on integers in global or local memory. They order nothing else, and hold for all work-items of the
//! device.
//!
//! On the host work-items run one after another, so these are plain operations there.

use spirv::{MemorySemantics, Op, Scope};

use crate::builder::{Builder, Operand};
use crate::stage::{Stage, Staged};
use crate::types::{Space, Type};

/// Integers with atomic operations: of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    note = "use i32, u32, i64, u64, isize or usize"
)]
pub trait Atomic: Copy {}
impl Atomic for i32 {}
impl Atomic for u32 {}
impl Atomic for i64 {}
impl Atomic for u64 {}
impl Atomic for isize {}
impl Atomic for usize {}

impl Builder {
    /// An atomic operation with one operand.
    fn atomic(&mut self, signed: Op, unsigned: Op, place: Operand, value: Operand) -> Operand {
        let (Operand::Value(pointer), Operand::Value(value)) = (self.read(place), self.read(value))
        else {
            return Operand::Never;
        };
        let pointed = self.type_of(pointer);
        let Type::Pointer(space, of) = &pointed else {
            return self.refuse("an atomic operation on something that is no reference");
        };
        if *space == Space::Private {
            return self
                .refuse("an atomic operation on a variable of the work-item, which no other sees");
        }
        let op = match &**of {
            Type::Int { signed: true, .. } => signed,
            _ => unsigned,
        };
        if matches!(**of, Type::Int { bits: 64, .. }) {
            self.module.need(spirv::Capability::Int64Atomics);
        }
        let scope = self.module.integer(32, Scope::Device as u64);
        let order = self
            .module
            .integer(32, u64::from(MemorySemantics::RELAXED.bits()));
        let ty = (**of).clone();
        let old = self.values_inside(pointer, |builder| {
            vec![builder.value(op, &ty, &[pointer, scope, order, value])]
        });
        old.first().copied().unwrap_or(Operand::Never)
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $signed:ident $unsigned:ident [$($bound:tt)*] |$old:ident, $value:ident| $new:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name<T: Atomic + $($bound)*>(place: &mut T, $value: T) -> T {
            let $old = *place;
            *place = $new;
            $old
        }
        #[doc(hidden)]
        #[expect(non_camel_case_types, reason = "the staged form has the function's name")]
        #[derive(Debug)]
        pub enum $name {}
        impl $name {
            #[doc(hidden)]
            pub fn __stage<T: Atomic + $($bound)*>(
                stage: &Stage,
                place: Staged<&mut T>,
                value: Staged<T>,
            ) -> Staged<T> {
                stage.operation(|builder| {
                    builder.atomic(Op::$signed, Op::$unsigned, place.operand(), value.operand())
                })
            }
        }
    )* };
}
operations! {
    /// Adds and returns the old value; wraps around.
    add AtomicIAdd AtomicIAdd [Wrapping] |old, value| old.add(value);
    /// Subtracts and returns the old value; wraps around.
    sub AtomicISub AtomicISub [Wrapping] |old, value| old.sub(value);
    /// Stores the smaller and returns the old value.
    min AtomicSMin AtomicUMin [Ord] |old, value| old.min(value);
    /// Stores the larger and returns the old value.
    max AtomicSMax AtomicUMax [Ord] |old, value| old.max(value);
    /// Stores the bits that both have, and returns the old value.
    and AtomicAnd AtomicAnd [std::ops::BitAnd<Output = T>] |old, value| old & value;
    /// Stores the bits that either has, and returns the old value.
    or AtomicOr AtomicOr [std::ops::BitOr<Output = T>] |old, value| old | value;
    /// Stores the bits that one of both has, and returns the old value.
    xor AtomicXor AtomicXor [std::ops::BitXor<Output = T>] |old, value| old ^ value;
    /// Stores a value and returns the old one.
    exchange AtomicExchange AtomicExchange [Copy] |old, value| value;
}

/// Sums that wrap around.
pub trait Wrapping: Copy {
    #[doc(hidden)]
    #[must_use]
    fn add(self, value: Self) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn sub(self, value: Self) -> Self;
}
macro_rules! wrapping {
    ($($ty:ty)*) => { $(
        impl Wrapping for $ty {
            fn add(self, value: Self) -> Self {
                self.wrapping_add(value)
            }
            fn sub(self, value: Self) -> Self {
                self.wrapping_sub(value)
            }
        }
    )* };
}
wrapping!(i32 u32 i64 u64 isize usize);
