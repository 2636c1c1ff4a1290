//! The functions that only kernels have: work-items, barriers, local memory, atomics. Each is a plain function for the
//! host, and has a staged form beside it.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::builder::Operand;
use crate::collective::Team;
use crate::host::HostItem;
use crate::host_groups;
use crate::kernel_type::KernelType;
use crate::stage::{Stage, Staged};
use crate::types::{Space, Type};
use crate::work_item::Query;

/// The work-item that runs this code, in a range of `D` dimensions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item<const D: usize>;

/// Returns the work-item that runs this code, in a range of `D` dimensions.
#[must_use]
pub fn item<const D: usize>() -> Item<D> {
    Item
}

/// Indices of `D` dimensions: a number, or an array whose last element is the fastest dimension.
pub trait Rank {
    /// `usize`, or an array of them.
    type Index: KernelType;
    #[doc(hidden)]
    const DIMENSIONS: usize;
    #[doc(hidden)]
    fn of(all: [usize; 3]) -> Self::Index;
}
impl Rank for Item<1> {
    type Index = usize;
    const DIMENSIONS: usize = 1;
    fn of(all: [usize; 3]) -> usize {
        all[2]
    }
}
impl Rank for Item<2> {
    type Index = [usize; 2];
    const DIMENSIONS: usize = 2;
    fn of(all: [usize; 3]) -> [usize; 2] {
        [all[1], all[2]]
    }
}
impl Rank for Item<3> {
    type Index = [usize; 3];
    const DIMENSIONS: usize = 3;
    fn of(all: [usize; 3]) -> [usize; 3] {
        all
    }
}

impl<const D: usize> KernelType for Item<D> {
    type Plain = Self;
    fn describe() -> Type {
        Type::Unit
    }
    fn example() -> Self {
        Self
    }
}

#[doc(hidden)]
#[expect(
    non_camel_case_types,
    reason = "the staged form has the function's name"
)]
#[derive(Debug)]
pub enum item {}
impl item {
    #[doc(hidden)]
    #[must_use]
    pub fn __stage<const D: usize>(_: &Stage) -> Staged<Item<D>> {
        Staged::new(Operand::Unit)
    }
}

macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident $staged:ident $query:ident |$item:ident| $host:expr;)*) => {
        impl<const D: usize> Item<D>
        where
            Self: Rank,
        {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(self) -> <Self as Rank>::Index {
                    let $item = HostItem::current();
                    Self::of($host)
                }
                #[doc(hidden)]
                pub fn $staged(self) -> impl Fn(&Stage, Operand) -> Staged<<Self as Rank>::Index> + Copy {
                    |stage, _| stage.query(Query::$query, Self::DIMENSIONS)
                }
            )*
        }
    };
}
queries! {
    /// Returns its index in the whole range.
    id __stage_id Id |item| item.id;
    /// Returns the whole range.
    range __stage_range Range |item| item.range;
    /// Returns its index in its work-group.
    local_id __stage_local_id LocalId |item| item.local_id;
    /// Returns the range of a work-group.
    local_range __stage_local_range LocalRange |item| item.local_range;
    /// Returns the index of its work-group.
    group_id __stage_group_id GroupId |item| item.group_id();
    /// Returns the number of work-groups.
    group_range __stage_group_range GroupRange |item| item.group_range();
}

/// Waits until all work-items of the work-group are here; what they wrote before is visible after it.
///
/// Under [`crate::for_each`] each work-item is a work-group of its own.
pub fn barrier() {
    host_groups::exchange(Team::Group, ());
}

#[doc(hidden)]
#[expect(
    non_camel_case_types,
    reason = "the staged form has the function's name"
)]
#[derive(Debug)]
pub enum barrier {}
impl barrier {
    #[doc(hidden)]
    pub fn __stage(stage: &Stage) -> Staged<()> {
        stage.operation(|builder| {
            builder.barrier();
            Operand::Unit
        })
    }
}

/// Memory that the work-items of a work-group share. Its contents are undefined at first.
///
/// On the host it is a work-item's copy, which barriers and operations of the group renew.
#[derive(Debug)]
pub struct Local<T> {
    value: Box<T>,
    /// Its number in the group.
    number: Option<usize>,
}

/// Allocates memory that the work-items of a work-group share: `let mut tile = local::<[f32; 256]>();`
#[must_use]
pub fn local<T: KernelType + Copy + Send + Sync + 'static>() -> Local<T> {
    let (value, number) = host_groups::local(T::example);
    Local {
        value: Box::new(value),
        number,
    }
}

impl<T: Copy + Send + Sync + 'static> Local<T> {
    /// Gives the copy to the group; the expansion of `#[kernel]` calls this.
    #[doc(hidden)]
    pub fn put(&mut self) {
        host_groups::put_local(self.number, &*self.value);
    }

    /// Renews the copy.
    #[doc(hidden)]
    pub fn take(&mut self) {
        host_groups::take_local(self.number, &mut *self.value);
    }
}

impl<T> Deref for Local<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}
impl<T> DerefMut for Local<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
impl<T: KernelType + Copy + Send + Sync + 'static> KernelType for Local<T> {
    type Plain = T::Plain;
    fn describe() -> Type {
        Type::Pointer(Space::Local, Rc::new(T::describe()))
    }
    fn example() -> Self {
        local()
    }
}

#[doc(hidden)]
#[expect(
    non_camel_case_types,
    reason = "the staged form has the function's name"
)]
#[derive(Debug)]
pub enum local {}
impl local {
    #[doc(hidden)]
    #[must_use]
    pub fn __stage<T: KernelType + Copy + Send + Sync + 'static>(
        stage: &Stage,
    ) -> Staged<Local<T>> {
        stage.operation(|builder| builder.local_variable(&T::describe()))
    }
}
