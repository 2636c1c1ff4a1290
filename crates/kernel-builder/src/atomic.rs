//! Atomic operations on numbers in global or local memory.
//!
//! The functions order nothing else, and hold for all work-items of the device: `atomic::add(&mut counts[i], 1)`.
//! [`with`] chooses order and scope: `atomic::with(Order::AcqRel, Scope::WorkGroup).fetch_add(&mut counts[i], 1)`.
//!
//! On the host work-items run one at a time, so these are plain operations there.

use spirv::{Capability, MemorySemantics, Op};

use crate::builder::{Builder, Operand};
use crate::kernel_type::{Constant, KernelType};
use crate::module::Id;
use crate::stage::{Stage, Staged};
use crate::types::{Space, Type};

/// How an atomic operation orders other accesses of the work-item: Rust's and SYCL's memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It orders nothing.
    Relaxed,
    /// Later accesses happen after it.
    Acquire,
    /// Earlier accesses happen before it.
    Release,
    /// Both.
    AcqRel,
    /// Both, and all such operations have one order.
    SeqCst,
}

/// The work-items for which an operation is atomic and ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the sub-group.
    SubGroup,
    /// Those of the work-group.
    WorkGroup,
    /// Those of the device.
    Device,
    /// Those of all devices, and the host's threads.
    System,
}

impl Order {
    fn semantics(self) -> MemorySemantics {
        let ordered = MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::CROSS_WORKGROUP_MEMORY;
        match self {
            Self::Relaxed => MemorySemantics::RELAXED,
            Self::Acquire => MemorySemantics::ACQUIRE | ordered,
            Self::Release => MemorySemantics::RELEASE | ordered,
            Self::AcqRel => MemorySemantics::ACQUIRE_RELEASE | ordered,
            Self::SeqCst => MemorySemantics::SEQUENTIALLY_CONSISTENT | ordered,
        }
    }

    const ALL: [Self; 5] = [
        Self::Relaxed,
        Self::Acquire,
        Self::Release,
        Self::AcqRel,
        Self::SeqCst,
    ];
}

impl Scope {
    fn spirv(self) -> spirv::Scope {
        match self {
            Self::SubGroup => spirv::Scope::Subgroup,
            Self::WorkGroup => spirv::Scope::Workgroup,
            Self::Device => spirv::Scope::Device,
            Self::System => spirv::Scope::CrossDevice,
        }
    }

    const ALL: [Self; 4] = [Self::SubGroup, Self::WorkGroup, Self::Device, Self::System];
}

/// Order and scope of atomic operations, from [`with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    order: Order,
    scope: Scope,
}

/// Order and scope of the functions that do not name them.
const PLAIN: Access = Access {
    order: Order::Relaxed,
    scope: Scope::Device,
};

/// Chooses order and scope of atomic operations.
#[must_use]
pub fn with(order: Order, scope: Scope) -> Access {
    Access { order, scope }
}

// In the staged code these are integers that are known when the kernel is staged.

macro_rules! coded {
    ($($ty:ident $example:expr, |$value:ident| $code:expr;)*) => { $(
        impl KernelType for $ty {
            type Plain = Self;
            fn describe() -> Type {
                Type::Int { bits: 32, signed: false }
            }
            fn example() -> Self {
                $example
            }
            fn copied(self, builder: &mut Builder) -> Operand {
                let $value = self;
                builder.integer(32, false, $code)
            }
        }
        impl Constant for $ty {}
    )* };
}
coded! {
    Order Self::Relaxed, |order| order as u64;
    Scope Self::Device, |scope| scope as u64;
    Access PLAIN, |access| access.scope as u64 * 8 + access.order as u64;
}

#[doc(hidden)]
#[expect(
    non_camel_case_types,
    reason = "the staged form has the function's name"
)]
#[derive(Debug)]
pub enum with {}
impl with {
    #[doc(hidden)]
    pub fn __stage(stage: &Stage, order: Staged<Order>, scope: Staged<Scope>) -> Staged<Access> {
        stage.operation(|builder| {
            let known = |builder: &Builder, operand: Operand| match operand {
                Operand::Value(id) => builder.constants.get(&id).copied(),
                _ => None,
            };
            let (order, scope) = (
                known(builder, order.operand()),
                known(builder, scope.operand()),
            );
            match (order, scope) {
                (Some(order), Some(scope)) => builder.integer(32, false, scope * 8 + order),
                _ => builder.refuse(UNKNOWN),
            }
        })
    }
}

/// Why order and scope are constants.
const UNKNOWN: &str =
    "order or scope of an atomic operation that is computed: name them, as in `Order::AcqRel`";

/// Numbers with atomic operations: of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    note = "SPIR-V for OpenCL has atomic operations of 32 and 64 bits only: i32, u32, i64, u64, isize, usize, f32 and f64; for narrower numbers use elements of 32 bits"
)]
pub trait Atomic: Constant {
    #[doc(hidden)]
    #[must_use]
    fn add(self, value: Self) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn sub(self, value: Self) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn least(self, value: Self) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn most(self, value: Self) -> Self;
}

/// Integers with atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operation of this kind",
    note = "only integers of 32 and 64 bits have: i32, u32, i64, u64, isize, usize"
)]
pub trait AtomicInteger:
    Atomic
    + Eq
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
{
}

macro_rules! atomics {
    ($($ty:ident)*, |$a:ident, $b:ident| $add:expr, $sub:expr) => { $(
        impl Atomic for $ty {
            fn add(self, $b: Self) -> Self {
                let $a = self;
                $add
            }
            fn sub(self, $b: Self) -> Self {
                let $a = self;
                $sub
            }
            fn least(self, value: Self) -> Self {
                self.min(value)
            }
            fn most(self, value: Self) -> Self {
                self.max(value)
            }
        }
    )* };
}
atomics!(i32 u32 i64 u64 isize usize, |a, b| a.wrapping_add(b), a.wrapping_sub(b));
atomics!(f32 f64, |a, b| a + b, a - b);
impl AtomicInteger for i32 {}
impl AtomicInteger for u32 {}
impl AtomicInteger for i64 {}
impl AtomicInteger for u64 {}
impl AtomicInteger for isize {}
impl AtomicInteger for usize {}

/// An operation, by its instructions for signed, unsigned and floating-point numbers.
#[derive(Clone, Copy)]
struct Operation(Op, Op, Op);

impl Builder {
    /// A reference to shared memory, and the type behind it.
    fn shared(&mut self, place: Operand) -> Option<(Id, Type)> {
        let Operand::Value(pointer) = self.read(place) else {
            return None;
        };
        let pointed = self.type_of(pointer);
        let Type::Pointer(space, of) = &pointed else {
            self.refuse("an atomic operation on something that is no reference");
            return None;
        };
        if *space == Space::Private {
            self.refuse("an atomic operation on a variable of the work-item, which no other sees");
            return None;
        }
        Some((pointer, (**of).clone()))
    }

    /// Scope and semantics of an operation.
    fn access(&mut self, access: Access) -> (Id, Id) {
        let scope = self.module.integer(32, access.scope.spirv() as u64);
        let semantics = access.order.semantics().bits();
        (scope, self.module.integer(32, u64::from(semantics)))
    }

    /// The order and scope that a staged value stands for.
    fn chosen_access(&mut self, access: Operand) -> Option<Access> {
        let access = self.follow(access);
        let Operand::Value(id) = self.read(access) else {
            return None;
        };
        let code = self.constants.get(&id).copied();
        let found = code.and_then(|code| {
            Some(Access {
                order: *Order::ALL.get(usize::try_from(code % 8).ok()?)?,
                scope: *Scope::ALL.get(usize::try_from(code / 8).ok()?)?,
            })
        });
        if found.is_none() {
            self.refuse(UNKNOWN);
        }
        found
    }

    fn need_atomics(&mut self, op: Op, ty: &Type) {
        let wide = matches!(ty, Type::Float(64));
        match op {
            Op::AtomicFAddEXT => {
                self.module.need(match wide {
                    true => Capability::AtomicFloat64AddEXT,
                    false => Capability::AtomicFloat32AddEXT,
                });
                self.module
                    .need_extension("SPV_EXT_shader_atomic_float_add");
            }
            Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.module.need(match wide {
                    true => Capability::AtomicFloat64MinMaxEXT,
                    false => Capability::AtomicFloat32MinMaxEXT,
                });
                self.module
                    .need_extension("SPV_EXT_shader_atomic_float_min_max");
            }
            _ => {}
        }
        if wide || matches!(ty, Type::Int { bits: 64, .. }) {
            self.module.need(Capability::Int64Atomics);
        }
    }

    /// An operation that returns the old value.
    fn atomic(
        &mut self,
        access: Access,
        operation: Operation,
        place: Operand,
        value: Operand,
    ) -> Operand {
        let Some((pointer, ty)) = self.shared(place) else {
            return Operand::Never;
        };
        let Operand::Value(mut value) = self.read(value) else {
            return Operand::Never;
        };
        let Operation(signed, unsigned, float) = operation;
        let mut op = match &ty {
            Type::Int { signed: true, .. } => signed,
            Type::Int { .. } => unsigned,
            _ => float,
        };
        if op == Op::FSub {
            // SPIR-V has no atomic subtraction of floating-point numbers.
            value = self.emit(Op::FNegate, &ty, &[value]);
            op = Op::AtomicFAddEXT;
        }
        self.need_atomics(op, &ty);
        let (scope, semantics) = self.access(access);
        self.value_inside(pointer, |builder| {
            builder.value(op, &ty, &[pointer, scope, semantics, value])
        })
    }

    fn atomic_load(&mut self, access: Access, place: Operand) -> Operand {
        let Some((pointer, ty)) = self.shared(place) else {
            return Operand::Never;
        };
        if matches!(access.order, Order::Release | Order::AcqRel) {
            return self.refuse(RELEASE_LOAD);
        }
        self.need_atomics(Op::AtomicLoad, &ty);
        let (scope, semantics) = self.access(access);
        self.value_inside(pointer, |builder| {
            builder.value(Op::AtomicLoad, &ty, &[pointer, scope, semantics])
        })
    }

    fn atomic_store(&mut self, access: Access, place: Operand, value: Operand) -> Operand {
        let Some((pointer, ty)) = self.shared(place) else {
            return Operand::Never;
        };
        let Operand::Value(value) = self.read(value) else {
            return Operand::Never;
        };
        if matches!(access.order, Order::Acquire | Order::AcqRel) {
            return self.refuse(ACQUIRE_STORE);
        }
        self.need_atomics(Op::AtomicStore, &ty);
        let (scope, semantics) = self.access(access);
        self.where_inside(pointer, |builder| {
            builder.effect(Op::AtomicStore, vec![pointer, scope, semantics, value]);
        });
        Operand::Unit
    }

    fn atomic_exchange_if(
        &mut self,
        access: Access,
        place: Operand,
        expected: Operand,
        value: Operand,
    ) -> Operand {
        let Some((pointer, ty)) = self.shared(place) else {
            return Operand::Never;
        };
        let (Operand::Value(expected), Operand::Value(value)) =
            (self.read(expected), self.read(value))
        else {
            return Operand::Never;
        };
        self.need_atomics(Op::AtomicCompareExchange, &ty);
        let (scope, equal) = self.access(access);
        // A comparison that fails stores nothing, so it releases nothing.
        let failed = match access.order {
            Order::AcqRel => Order::Acquire,
            Order::Release => Order::Relaxed,
            order => order,
        };
        let (_, unequal) = self.access(Access {
            order: failed,
            ..access
        });
        let operands = [pointer, scope, equal, unequal, value, expected];
        self.value_inside(pointer, |builder| {
            builder.value(Op::AtomicCompareExchange, &ty, &operands)
        })
    }

    fn fence(&mut self, access: Access) -> Operand {
        let (scope, semantics) = self.access(access);
        self.effect(Op::MemoryBarrier, vec![scope, semantics]);
        Operand::Unit
    }
}

const RELEASE_LOAD: &str = "an atomic load that releases: its order is Relaxed, Acquire or SeqCst";
const ACQUIRE_STORE: &str =
    "an atomic store that acquires: its order is Relaxed, Release or SeqCst";

/// Panics for an order that a load does not have, as [`std::sync::atomic`] does.
fn check_load(access: Access) {
    assert!(
        !matches!(access.order, Order::Release | Order::AcqRel),
        "{RELEASE_LOAD}"
    );
}

fn check_store(access: Access) {
    assert!(
        !matches!(access.order, Order::Acquire | Order::AcqRel),
        "{ACQUIRE_STORE}"
    );
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])* $name:ident $fetch:ident $staged:ident $bound:ident
        [$signed:ident $unsigned:ident $float:ident] |$old:ident, $value:ident| $new:expr;
    )*) => { $(
        $(#[$doc])*
        pub fn $name<T: $bound>(place: &mut T, value: T) -> T {
            PLAIN.$fetch(place, value)
        }
        #[doc(hidden)]
        #[expect(non_camel_case_types, reason = "the staged form has the function's name")]
        #[derive(Debug)]
        pub enum $name {}
        impl $name {
            #[doc(hidden)]
            pub fn __stage<T: $bound>(stage: &Stage, place: Staged<&mut T>, value: Staged<T>) -> Staged<T> {
                let operation = Operation(Op::$signed, Op::$unsigned, Op::$float);
                stage.operation(|b| b.atomic(PLAIN, operation, place.operand(), value.operand()))
            }
        }
        impl Access {
            $(#[$doc])*
            pub fn $fetch<T: $bound>(self, place: &mut T, $value: T) -> T {
                let $old = *place;
                *place = $new;
                $old
            }
            #[doc(hidden)]
            pub fn $staged<T: $bound>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<&mut T>, Staged<T>) -> Staged<T> + Copy {
                |stage, access, place, value| {
                    let operation = Operation(Op::$signed, Op::$unsigned, Op::$float);
                    stage.operation(|builder| match builder.chosen_access(access) {
                        Some(access) => builder.atomic(access, operation, place.operand(), value.operand()),
                        None => Operand::Never,
                    })
                }
            }
        }
    )* };
}
operations! {
    /// Adds and returns the old value; integers wrap around.
    add fetch_add __stage_fetch_add Atomic [AtomicIAdd AtomicIAdd AtomicFAddEXT] |old, value| old.add(value);
    /// Subtracts and returns the old value; integers wrap around.
    sub fetch_sub __stage_fetch_sub Atomic [AtomicISub AtomicISub FSub] |old, value| old.sub(value);
    /// Stores the smaller and returns the old value.
    min fetch_min __stage_fetch_min Atomic [AtomicSMin AtomicUMin AtomicFMinEXT] |old, value| old.least(value);
    /// Stores the larger and returns the old value.
    max fetch_max __stage_fetch_max Atomic [AtomicSMax AtomicUMax AtomicFMaxEXT] |old, value| old.most(value);
    /// Stores the bits that both have, and returns the old value.
    and fetch_and __stage_fetch_and AtomicInteger [AtomicAnd AtomicAnd AtomicAnd] |old, value| old & value;
    /// Stores the bits that either has, and returns the old value.
    or fetch_or __stage_fetch_or AtomicInteger [AtomicOr AtomicOr AtomicOr] |old, value| old | value;
    /// Stores the bits that one of both has, and returns the old value.
    xor fetch_xor __stage_fetch_xor AtomicInteger [AtomicXor AtomicXor AtomicXor] |old, value| old ^ value;
    /// Stores a value and returns the old one.
    exchange swap __stage_swap Atomic [AtomicExchange AtomicExchange AtomicExchange] |old, value| value;
}

macro_rules! others {
    ($(
        $(#[$doc:meta])* $name:ident $staged:ident $bound:ident |$access:ident, $($parameter:ident: $ty:ty),*| -> $result:ty
        $host:block $builder:ident
    )*) => { $(
        $(#[$doc])*
        pub fn $name<T: $bound>($($parameter: $ty),*) -> $result {
            PLAIN.$name($($parameter),*)
        }
        #[doc(hidden)]
        #[expect(non_camel_case_types, reason = "the staged form has the function's name")]
        #[derive(Debug)]
        pub enum $name {}
        impl $name {
            #[doc(hidden)]
            pub fn __stage<T: $bound>(stage: &Stage, $($parameter: Staged<$ty>),*) -> Staged<$result> {
                stage.operation(|builder| builder.$builder(PLAIN, $($parameter.operand()),*))
            }
        }
        impl Access {
            $(#[$doc])*
            pub fn $name<T: $bound>(self, $($parameter: $ty),*) -> $result {
                let $access = self;
                $host
            }
            #[doc(hidden)]
            pub fn $staged<T: $bound>(
                self,
            ) -> impl Fn(&Stage, Operand, $(Staged<$ty>),*) -> Staged<$result> + Copy {
                |stage, access, $($parameter),*| {
                    stage.operation(|builder| match builder.chosen_access(access) {
                        Some(access) => builder.$builder(access, $($parameter.operand()),*),
                        None => Operand::Never,
                    })
                }
            }
        }
    )* };
}
others! {
    /// Reads a value; no part of it is older than another.
    load __stage_load Atomic |access, place: &T| -> T {
        check_load(access);
        *place
    } atomic_load
    /// Writes a value.
    store __stage_store Atomic |access, place: &mut T, value: T| -> () {
        check_store(access);
        *place = value;
    } atomic_store
    /// Stores a value if the old one is as expected, and returns the old one.
    ///
    /// It has stored the value if the result equals `expected`.
    compare_exchange __stage_compare_exchange AtomicInteger |_access, place: &mut T, expected: T, value: T| -> T {
        let old = *place;
        if old == expected {
            *place = value;
        }
        old
    } atomic_exchange_if
}

impl Access {
    /// Orders the accesses before it and those after it, without one of its own.
    pub fn fence(self) {}

    #[doc(hidden)]
    pub fn __stage_fence(self) -> impl Fn(&Stage, Operand) -> Staged<()> + Copy {
        |stage, access| {
            stage.operation(|builder| match builder.chosen_access(access) {
                Some(access) => builder.fence(access),
                None => Operand::Never,
            })
        }
    }
}
