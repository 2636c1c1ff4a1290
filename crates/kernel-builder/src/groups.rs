//! Work-groups and sub-groups: questions about them, barriers, votes, exchanges of values, and combinations.
//!
//! All work-items of the team call such a function together, as in SYCL: from code that each of them reaches.

use half::f16;

use crate::builder::Operand;
use crate::collective::{Extent, Shuffle, Team, TeamQuery};
use crate::host::{self, HostItem};
use crate::host_groups;
use crate::kernel_type::{Constant, KernelType};
use crate::operation::Combine;
use crate::stage::{Stage, Staged};
use crate::types::Type;
use crate::vector::Vector;
use crate::vector_storage::Lanes;

/// Values that the work-items of a group exchange: numbers, `bool`, and vectors.
#[diagnostic::on_unimplemented(
    message = "work-items of a group do not exchange values of `{Self}`",
    note = "they exchange numbers, bool, and vectors of numbers; exchange a structure by its members"
)]
pub trait GroupValue: Constant + Send + Sync + 'static {}
impl GroupValue for bool {}
impl<T: GroupNumber + Lanes<N>, const N: usize> GroupValue for Vector<T, N> {}

/// Numbers that the work-items of a group combine.
#[diagnostic::on_unimplemented(
    message = "work-items of a group do not combine values of `{Self}`",
    note = "they combine integers of 8 to 64 bits, f16, f32 and f64; combine a vector by its lanes"
)]
pub trait GroupNumber: GroupValue {}
macro_rules! numbers {
    ($($ty:ident)*) => { $(
        impl GroupValue for $ty {}
        impl GroupNumber for $ty {}
    )* };
}
numbers!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize f16 f32 f64);

/// The results of a scan, from all members' values and the own position.
fn scanned<T: GroupNumber, O: Combine<T>>(values: &[T], operation: O) -> T {
    let neutral = operation.neutral();
    values
        .iter()
        .fold(neutral, |all, value| operation.combine(all, *value))
}

macro_rules! team {
    ($($(#[$doc:meta])* $name:ident $function:ident $team:ident [$of:literal];)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(());

        #[doc = concat!("Returns the ", $of, " of the work-item that runs this code.")]
        #[must_use]
        pub fn $function() -> $name {
            $name(())
        }

        impl KernelType for $name {
            type Plain = Self;
            fn describe() -> Type {
                Type::Unit
            }
            fn example() -> Self {
                Self(())
            }
        }

        #[doc(hidden)]
        #[expect(non_camel_case_types, reason = "the staged form has the function's name")]
        #[derive(Debug)]
        pub enum $function {}
        impl $function {
            #[doc(hidden)]
            #[must_use]
            pub fn __stage(_: &Stage) -> Staged<$name> {
                Staged::new(Operand::Unit)
            }
        }

        impl $name {
            #[doc = concat!("Returns the position of the work-item in the ", $of, ".")]
            #[must_use]
            pub fn local_id(self) -> usize {
                host::position(Team::$team).0
            }
            #[doc = concat!("Returns the number of work-items of the ", $of, ".")]
            #[must_use]
            pub fn size(self) -> usize {
                host::position(Team::$team).1
            }
            #[doc = concat!("Waits until all work-items of the ", $of, " are here; what they wrote before is visible after it.")]
            pub fn barrier(self) {
                host_groups::exchange(Team::$team, ());
            }
            #[doc = concat!("Returns whether the condition holds for all work-items of the ", $of, ".")]
            #[must_use]
            pub fn all(self, condition: bool) -> bool {
                host_groups::exchange(Team::$team, condition).into_iter().all(|holds| holds)
            }
            #[doc = concat!("Returns whether the condition holds for any work-item of the ", $of, ".")]
            #[must_use]
            pub fn any(self, condition: bool) -> bool {
                host_groups::exchange(Team::$team, condition).into_iter().any(|holds| holds)
            }
            /// Returns the value of the work-item at a position, which is the same for all.
            #[must_use]
            pub fn broadcast<T: GroupValue>(self, value: T, position: usize) -> T {
                host_groups::exchange(Team::$team, value)[position]
            }
            #[doc = concat!("Combines the values of the ", $of, ": `reduce(x, Plus)` is the sum.")]
            ///
            /// The order of the operations is the device's: the last digits of a floating-point sum may differ.
            #[must_use]
            pub fn reduce<T: GroupNumber, O: Combine<T>>(self, value: T, operation: O) -> T {
                scanned(&host_groups::exchange(Team::$team, value), operation)
            }
            /// Combines the values of the work-items up to this one.
            #[must_use]
            pub fn inclusive_scan<T: GroupNumber, O: Combine<T>>(self, value: T, operation: O) -> T {
                let own = self.local_id();
                scanned(&host_groups::exchange(Team::$team, value)[..=own], operation)
            }
            /// Combines the values of the work-items before this one; the first gets the neutral value.
            #[must_use]
            pub fn exclusive_scan<T: GroupNumber, O: Combine<T>>(self, value: T, operation: O) -> T {
                let own = self.local_id();
                scanned(&host_groups::exchange(Team::$team, value)[..own], operation)
            }
            /// Adds the values: `reduce(value, Plus)`.
            #[must_use]
            pub fn reduce_add<T: GroupNumber>(self, value: T) -> T
            where
                crate::operation::Plus: Combine<T>,
            {
                self.reduce(value, crate::operation::Plus)
            }
            /// Returns the smallest value: `reduce(value, Minimum)`.
            #[must_use]
            pub fn reduce_min<T: GroupNumber>(self, value: T) -> T
            where
                crate::operation::Minimum: Combine<T>,
            {
                self.reduce(value, crate::operation::Minimum)
            }
            /// Returns the largest value: `reduce(value, Maximum)`.
            #[must_use]
            pub fn reduce_max<T: GroupNumber>(self, value: T) -> T
            where
                crate::operation::Maximum: Combine<T>,
            {
                self.reduce(value, crate::operation::Maximum)
            }
        }

        /// The staged forms.
        #[doc(hidden)]
        impl $name {
            pub fn __stage_local_id(self) -> impl Fn(&Stage, Operand) -> Staged<usize> + Copy {
                |stage, _| stage.operation(|b| b.team_query(Team::$team, TeamQuery::LocalId))
            }
            pub fn __stage_size(self) -> impl Fn(&Stage, Operand) -> Staged<usize> + Copy {
                |stage, _| stage.operation(|b| b.team_query(Team::$team, TeamQuery::Size))
            }
            pub fn __stage_group_id(self) -> impl Fn(&Stage, Operand) -> Staged<usize> + Copy {
                |stage, _| stage.operation(|b| b.team_query(Team::$team, TeamQuery::Id))
            }
            pub fn __stage_group_count(self) -> impl Fn(&Stage, Operand) -> Staged<usize> + Copy {
                |stage, _| stage.operation(|b| b.team_query(Team::$team, TeamQuery::Count))
            }
            pub fn __stage_barrier(self) -> impl Fn(&Stage, Operand) -> Staged<()> + Copy {
                |stage, _| stage.operation(|b| { b.team_barrier(Team::$team); Operand::Unit })
            }
            pub fn __stage_all(self) -> impl Fn(&Stage, Operand, Staged<bool>) -> Staged<bool> + Copy {
                |stage, _, condition| stage.operation(|b| b.vote(Team::$team, true, condition.operand()))
            }
            pub fn __stage_any(self) -> impl Fn(&Stage, Operand, Staged<bool>) -> Staged<bool> + Copy {
                |stage, _, condition| stage.operation(|b| b.vote(Team::$team, false, condition.operand()))
            }
            pub fn __stage_broadcast<T: GroupValue>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>, Staged<usize>) -> Staged<T> + Copy {
                |stage, _, value, position| {
                    stage.operation(|b| b.broadcast(Team::$team, value.operand(), position.operand()))
                }
            }
            pub fn __stage_reduce<T: GroupNumber, O: Combine<T>>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>, Staged<O>) -> Staged<T> + Copy {
                combined::<T, O>(Team::$team, Extent::Reduce)
            }
            pub fn __stage_inclusive_scan<T: GroupNumber, O: Combine<T>>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>, Staged<O>) -> Staged<T> + Copy {
                combined::<T, O>(Team::$team, Extent::InclusiveScan)
            }
            pub fn __stage_exclusive_scan<T: GroupNumber, O: Combine<T>>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>, Staged<O>) -> Staged<T> + Copy {
                combined::<T, O>(Team::$team, Extent::ExclusiveScan)
            }
            pub fn __stage_reduce_add<T: GroupNumber>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>) -> Staged<T> + Copy
            where
                crate::operation::Plus: Combine<T>,
            {
                reduced::<T, crate::operation::Plus>(Team::$team)
            }
            pub fn __stage_reduce_min<T: GroupNumber>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>) -> Staged<T> + Copy
            where
                crate::operation::Minimum: Combine<T>,
            {
                reduced::<T, crate::operation::Minimum>(Team::$team)
            }
            pub fn __stage_reduce_max<T: GroupNumber>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>) -> Staged<T> + Copy
            where
                crate::operation::Maximum: Combine<T>,
            {
                reduced::<T, crate::operation::Maximum>(Team::$team)
            }
        }
    )* };
}
team! {
    /// The work-items that run in one work-group. Numbers count in one dimension, the last one the fastest.
    Group group Group ["work-group"];
    /// Work-items of a work-group that run side by side, as lanes of vectors.
    SubGroup sub_group SubGroup ["sub-group"];
}

impl Stage {
    /// The kernel runs in sub-groups of this size.
    pub fn sub_group_size(&self, size: u32) {
        let _: Staged<()> = self.operation(|builder| {
            builder.sub_group_size(size);
            Operand::Unit
        });
    }

    /// The kernel runs in work-groups of this range.
    pub fn work_group_size<const D: usize>(&self, size: [u32; D]) {
        let _: Staged<()> = self.operation(|builder| {
            let mut all = [1; 3];
            all[3 - D..].copy_from_slice(&size);
            builder.work_group_size(all);
            Operand::Unit
        });
    }
}

fn combined<T, O: Combine<T>>(
    team: Team,
    extent: Extent,
) -> impl Fn(&Stage, Operand, Staged<T>, Staged<O>) -> Staged<T> + Copy {
    move |stage, _, value, _| {
        stage.operation(|builder| builder.combine(team, extent, O::KIND, value.operand()))
    }
}

fn reduced<T, O: Combine<T>>(
    team: Team,
) -> impl Fn(&Stage, Operand, Staged<T>) -> Staged<T> + Copy {
    move |stage, _, value| {
        stage.operation(|builder| builder.combine(team, Extent::Reduce, O::KIND, value.operand()))
    }
}

impl Group {
    /// Returns the position of the work-group among all.
    #[must_use]
    pub fn group_id(self) -> usize {
        let item = HostItem::current();
        host::linear(item.group_id(), item.group_range())
    }

    /// Returns the number of work-groups.
    #[must_use]
    pub fn group_count(self) -> usize {
        host::size(HostItem::current().group_range())
    }
}

impl SubGroup {
    /// Returns the position of the sub-group in its work-group.
    #[must_use]
    pub fn group_id(self) -> usize {
        host::sub_groups().0
    }

    /// Returns the number of sub-groups of the work-group.
    #[must_use]
    pub fn group_count(self) -> usize {
        host::sub_groups().1
    }
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident $staged:ident $kind:ident |$own:ident, $by:ident| $from:expr;)*) => {
        impl SubGroup { $(
            $(#[$doc])*
            ///
            /// Where there is no such work-item, the value is any; on the host it is the own one.
            #[must_use]
            pub fn $name<T: GroupValue>(self, value: T, $by: usize) -> T {
                let $own = self.local_id();
                let all = host_groups::exchange(Team::SubGroup, value);
                let from: Option<usize> = $from;
                from.and_then(|from| all.get(from).copied()).unwrap_or(value)
            }
            #[doc(hidden)]
            pub fn $staged<T: GroupValue>(
                self,
            ) -> impl Fn(&Stage, Operand, Staged<T>, Staged<usize>) -> Staged<T> + Copy {
                |stage, _, value, by| {
                    stage.operation(|b| b.shuffle(Shuffle::$kind, value.operand(), by.operand()))
                }
            }
        )* }
    };
}
shuffles! {
    /// Returns the value of the work-item at a position.
    shuffle __stage_shuffle From |_own, position| Some(position);
    /// Returns the value of the work-item at the own position with the bits of a mask flipped.
    shuffle_xor __stage_shuffle_xor Xor |own, mask| Some(own ^ mask);
    /// Returns the value of the work-item so many positions before.
    shuffle_up __stage_shuffle_up Up |own, distance| own.checked_sub(distance);
    /// Returns the value of the work-item so many positions after.
    shuffle_down __stage_shuffle_down Down |own, distance| own.checked_add(distance);
}
