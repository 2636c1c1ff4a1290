//! `Option` in kernels, its methods, and the methods of slices that return one.
//!
//! A method `f` has the staged form `__stage_f`, which the compiler finds where it finds `f`.

use crate::builder::{Builder, Operand};
use crate::kernel_type::{Constant, KernelType};
use crate::stage::{Stage, Staged};
use crate::types::{Space, Type};

/// The type of an option.
pub(crate) fn option(of: Type) -> Type {
    let number = Type::Int {
        bits: 32,
        signed: false,
    };
    let some = ("Some", 1, vec![("0", of)]);
    Type::enumeration("Option", number, vec![("None", 0, Vec::new()), some])
}

impl Builder {
    /// `Some(value)`.
    pub(crate) fn some(&mut self, ty: &Type, value: Operand) -> Operand {
        self.construct_variant(ty, "Some", &["0"], &[value])
    }

    /// `None`.
    pub(crate) fn none(&mut self, ty: &Type) -> Operand {
        self.construct_variant(ty, "None", &[], &[])
    }

    /// `condition.then_some(value)`.
    pub(crate) fn some_if(&mut self, condition: Operand, ty: &Type, value: Operand) -> Operand {
        let mut state = self.if_begin(condition);
        let some = self.some(ty, value);
        self.if_else(&mut state, some);
        let none = self.none(ty);
        self.if_end(state, none)
    }

    /// `values.get(index)`: a reference to the element if there is one.
    fn get(&mut self, values: Operand, index: Operand, of: &Type) -> Operand {
        let values = self.follow(values);
        let length = self.length(values);
        let inside = self.binary(crate::Binary::Less, index, length);
        let space = match values {
            Operand::Value(id) | Operand::Memory(id) => match self.type_of(id) {
                Type::Slice(space, _) | Type::Pointer(space, _) => space,
                _ => Space::Private,
            },
            _ => return Operand::Never,
        };
        let ty = option(Type::Pointer(space, of.clone().into()));
        let mut state = self.if_begin(inside);
        let place = self.index(values, index);
        let reference = self.borrow(place);
        let some = self.some(&ty, reference);
        self.if_else(&mut state, some);
        let none = self.none(&ty);
        self.if_end(state, none)
    }

    /// `values.first()` or `values.last()`.
    fn end(&mut self, values: Operand, is_last: bool, of: &Type) -> Operand {
        let mut index = Operand::Value(self.size(0));
        if is_last {
            // Of an empty slice an index that is none.
            let (length, one) = (self.length(values), Operand::Value(self.size(1)));
            index = self.binary(crate::Binary::Sub, length, one);
        }
        self.get(values, index, of)
    }
}

impl<T: KernelType> KernelType for Option<T> {
    type Plain = Self;
    fn describe() -> Type {
        option(T::describe())
    }
    fn example() -> Self {
        None
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        let ty = Self::describe();
        match self {
            Some(value) => {
                let value = value.copied(builder);
                builder.some(&ty, value)
            }
            None => builder.none(&ty),
        }
    }
}
impl<T: Constant> Constant for Option<T> {}

impl Stage {
    /// `None`.
    pub fn none<T: KernelType>(&self) -> Staged<Option<T>> {
        self.operation(|builder| builder.none(&Option::<T>::describe()))
    }

    fn some<T: KernelType>(&self, value: Staged<T>) -> Staged<Option<T>> {
        self.operation(|builder| builder.some(&Option::<T>::describe(), value.operand()))
    }

    fn is_some(&self, option: Operand) -> Staged<bool> {
        self.operation(|builder| builder.is_variant(option, "Some"))
    }

    fn inside<T>(&self, option: Operand) -> Staged<T> {
        self.operation(|builder| {
            let option = builder.follow(option);
            builder.project(option, "Some", "0")
        })
    }

    /// One value if there is something, another if not.
    fn choose<T, U>(
        &self,
        option: Operand,
        some: impl FnOnce(Staged<T>) -> Staged<U>,
        none: impl FnOnce() -> Staged<U>,
    ) -> Staged<U> {
        let state = self.if_begin(self.is_some(option));
        let value = some(self.inside(option));
        let state = self.if_else(state, value);
        self.if_end(state, none())
    }
}

/// A method with one argument.
type Method<A, R> = fn(&Stage, Operand, Staged<A>) -> Staged<R>;
/// Two parts of a slice.
type Halves<'a, T> = (&'a [T], &'a [T]);
/// Two parts of a slice that is written.
type HalvesMut<'a, T> = (&'a mut [T], &'a mut [T]);

/// The staged forms of the methods of `Option`.
#[doc(hidden)]
pub trait OptionMethods<T: KernelType>: Sized {
    fn __stage_is_some(self) -> fn(&Stage, Operand) -> Staged<bool> {
        |stage, this| stage.is_some(this)
    }
    fn __stage_is_none(self) -> fn(&Stage, Operand) -> Staged<bool> {
        |stage, this| stage.operation(|builder| builder.is_variant(this, "None"))
    }
    fn __stage_unwrap(self) -> fn(&Stage, Operand) -> Staged<T> {
        |stage, this| {
            let is_some = stage.is_some(this);
            let text = "called `Option::unwrap()` on a `None` value";
            stage.assert_or(is_some, &[text], &[], || ());
            stage.inside(this)
        }
    }
    fn __stage_unwrap_or(self) -> fn(&Stage, Operand, Staged<T>) -> Staged<T> {
        |stage, this, other| stage.choose(this, |value| value, || other)
    }
    fn __stage_or(self) -> Method<Option<T>, Option<T>> {
        |stage, this, other| stage.choose(this, |value| stage.some(value), || other)
    }
    fn __stage_unwrap_or_else<F: Fn(&Stage) -> Staged<T>>(
        self,
    ) -> fn(&Stage, Operand, F) -> Staged<T> {
        |stage, this, other| stage.choose(this, |value| value, || other(stage))
    }
    fn __stage_map<R: KernelType, F: Fn(&Stage, Staged<T>) -> Staged<R>>(
        self,
    ) -> fn(&Stage, Operand, F) -> Staged<Option<R>> {
        |stage, this, map| {
            let some = |value| stage.some(map(stage, value));
            stage.choose(this, some, || stage.none())
        }
    }
    fn __stage_and_then<R: KernelType, F: Fn(&Stage, Staged<T>) -> Staged<Option<R>>>(
        self,
    ) -> fn(&Stage, Operand, F) -> Staged<Option<R>> {
        |stage, this, then| stage.choose(this, |value| then(stage, value), || stage.none())
    }
    fn __stage_map_or<R, F: Fn(&Stage, Staged<T>) -> Staged<R>>(
        self,
    ) -> fn(&Stage, Operand, Staged<R>, F) -> Staged<R> {
        |stage, this, other, map| stage.choose(this, |value| map(stage, value), || other)
    }
    fn __stage_is_some_and<F: Fn(&Stage, Staged<T>) -> Staged<bool>>(
        self,
    ) -> fn(&Stage, Operand, F) -> Staged<bool> {
        |stage, this, test| stage.choose(this, |value| test(stage, value), || stage.constant(false))
    }
}
impl<T: KernelType> OptionMethods<T> for Option<T> {}

/// The staged forms of methods of options of references.
#[doc(hidden)]
pub trait ReferenceOptionMethods<T: KernelType>: Sized {
    fn __stage_copied(self) -> fn(&Stage, Operand) -> Staged<Option<T>> {
        |stage, this| {
            let copy = |reference: Staged<&T>| {
                stage.operation(|builder| {
                    let place = builder.deref(reference.operand());
                    builder.read(place)
                })
            };
            stage.choose(this, |value| stage.some(copy(value)), || stage.none())
        }
    }
}
impl<T: KernelType> ReferenceOptionMethods<T> for Option<&T> {}

/// The staged forms of methods of slices.
#[doc(hidden)]
pub trait SliceMethods<'a, T: KernelType + 'a>: Sized {
    fn __stage_get(self) -> fn(&Stage, Operand, Staged<usize>) -> Staged<Option<&'a T>> {
        |stage, this, index| stage.operation(|b| b.get(this, index.operand(), &T::describe()))
    }
    fn __stage_first(self) -> fn(&Stage, Operand) -> Staged<Option<&'a T>> {
        |stage, this| stage.operation(|builder| builder.end(this, false, &T::describe()))
    }
    fn __stage_last(self) -> fn(&Stage, Operand) -> Staged<Option<&'a T>> {
        |stage, this| stage.operation(|builder| builder.end(this, true, &T::describe()))
    }
    fn __stage_as_slice(self) -> fn(&Stage, Operand) -> Staged<&'a [T]> {
        |stage, this| stage.operation(|builder| builder.slice(this, None, None, false))
    }
    fn __stage_split_at(self) -> Method<usize, Halves<'a, T>> {
        |stage, this, middle| stage.operation(|builder| builder.split(this, middle.operand()))
    }
}
impl<'a, T: KernelType> SliceMethods<'a, T> for &'a [T] {}

/// The staged forms of methods of slices that write.
#[doc(hidden)]
pub trait SliceMutMethods<'a, T: KernelType + 'a>: Sized {
    fn __stage_get_mut(self) -> fn(&Stage, Operand, Staged<usize>) -> Staged<Option<&'a mut T>> {
        |stage, this, index| stage.operation(|b| b.get(this, index.operand(), &T::describe()))
    }
    fn __stage_as_mut_slice(self) -> fn(&Stage, Operand) -> Staged<&'a mut [T]> {
        |stage, this| stage.operation(|builder| builder.slice(this, None, None, false))
    }
    fn __stage_split_at_mut(self) -> Method<usize, HalvesMut<'a, T>> {
        |stage, this, middle| stage.operation(|builder| builder.split(this, middle.operand()))
    }
    fn __stage_swap(self) -> fn(&Stage, Operand, Staged<usize>, Staged<usize>) -> Staged<()> {
        |stage, this, a, b| {
            stage.operation(|builder| {
                let (a, b) = (
                    builder.index(this, a.operand()),
                    builder.index(this, b.operand()),
                );
                let (x, y) = (builder.read(a), builder.read(b));
                builder.store(a, y);
                builder.store(b, x);
                Operand::Unit
            })
        }
    }
    fn __stage_fill(self) -> fn(&Stage, Operand, Staged<T>) -> Staged<()> {
        |stage, this, value| {
            stage.operation(|builder| {
                let value = builder.read(value.operand());
                let (counter, element) = builder.elements_begin(this);
                let place = builder.deref(element);
                builder.store(place, value);
                builder.for_end(counter)
            })
        }
    }
}
impl<'a, T: KernelType> SliceMutMethods<'a, T> for &'a mut [T] {}
