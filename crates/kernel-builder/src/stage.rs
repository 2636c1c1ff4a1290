//! The typed face of the builder, which `#[kernel]` and `#[device]` call.
//!
//! Each operation gets the user's own expression as a closure that nobody calls: the compiler infers the result's type
//! from it, as in the plain function, and its errors speak of the user's types.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::builder::{Builder, Operand, Refusal};
use crate::control;
use crate::fault_sites::FaultSite;
use crate::kernel_type::{Constant, KernelType};
use crate::types::Type;
use crate::work_item::Query;

/// A value or a place of type `T` in a kernel that is being staged.
pub struct Staged<T> {
    operand: Operand,
    ty: PhantomData<fn() -> T>,
}

impl<T> Clone for Staged<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Staged<T> {}
impl<T> std::fmt::Debug for Staged<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", std::any::type_name::<T>(), self.operand)
    }
}

impl<T> Staged<T> {
    /// Gives an operand its type.
    #[must_use]
    pub fn new(operand: Operand) -> Self {
        Self {
            operand,
            ty: PhantomData,
        }
    }

    /// Returns the operand.
    #[must_use]
    pub fn operand(self) -> Operand {
        self.operand
    }
}

/// The kernel that is being staged.
#[derive(Clone, Debug, Default)]
pub struct Stage(Rc<RefCell<Builder>>);

/// A tuple of staged values.
pub trait Parts {
    /// The tuple of their types.
    type Types;
    /// The operands.
    fn operands(&self) -> Vec<Operand>;
    /// The names of their types.
    fn names(&self) -> Vec<&'static str>;
}
impl Parts for () {
    type Types = ();
    fn operands(&self) -> Vec<Operand> {
        Vec::new()
    }
    fn names(&self) -> Vec<&'static str> {
        Vec::new()
    }
}
macro_rules! parts {
    ($first:ident $($rest:ident)*) => {
        impl<$first, $($rest),*> Parts for (Staged<$first>, $(Staged<$rest>,)*) {
            type Types = ($first, $($rest,)*);
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn operands(&self) -> Vec<Operand> {
                let ($first, $($rest,)*) = self;
                vec![$first.operand, $($rest.operand),*]
            }
            fn names(&self) -> Vec<&'static str> {
                vec![std::any::type_name::<$first>(), $(std::any::type_name::<$rest>()),*]
            }
        }
        parts!($($rest)*);
    };
    () => {};
}
parts!(A B C D E F G H I J K L M N O P);

/// An `if` before its `else`.
#[derive(Debug)]
pub struct If(control::If);
/// An `if` whose first branch has a value.
#[derive(Debug)]
pub struct Else<T>(control::If, PhantomData<fn() -> T>);
/// A loop whose value is of type `T`.
#[derive(Debug)]
pub struct Loop<T>(RefCell<Option<control::Loop>>, PhantomData<fn(T)>);
/// A `for` loop.
#[derive(Debug)]
pub struct For(RefCell<Option<control::Counter>>);
/// A call of a device function.
#[derive(Debug)]
pub struct Call<T>(RefCell<Option<control::Call>>, PhantomData<fn(T)>);

impl Stage {
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut Builder) -> R) -> R {
        act(&mut self.0.borrow_mut())
    }

    /// The position of the code that follows.
    pub fn at(&self, line: u32, column: u32) {
        self.with(|builder| builder.at(line, column));
    }

    /// A stage that emits no bounds checks.
    pub(crate) fn unchecked() -> Self {
        let stage = Self::default();
        stage.with(|builder| builder.unchecked = true);
        stage
    }

    /// Ends the kernel.
    pub(crate) fn finish(
        self,
        name: &str,
        file: &str,
    ) -> Result<(Vec<u32>, Vec<FaultSite>), Refusal> {
        std::mem::take(&mut *self.0.borrow_mut()).finish(name, file)
    }

    /// A parameter of the kernel.
    pub fn parameter<T: KernelType>(&self, name: &str) -> Staged<T> {
        Staged::new(self.with(|builder| builder.parameter(&T::describe(), name)))
    }

    /// `()`.
    pub fn unit(&self) -> Staged<()> {
        Staged::new(Operand::Unit)
    }

    /// The value of code that is never reached.
    pub fn never<T>(&self) -> Staged<T> {
        Staged::new(Operand::Never)
    }

    /// A literal, or a constant of the program.
    pub fn constant<T: Constant>(&self, value: T) -> Staged<T> {
        Staged::new(self.with(|builder| value.copied(builder)))
    }

    /// `let mut x = value`.
    pub fn variable<T>(&self, value: Staged<T>) -> Staged<T> {
        Staged::new(self.with(|builder| builder.variable(value.operand)))
    }

    /// `let x;`
    pub fn declare<T: KernelType>(&self) -> Staged<T> {
        Staged::new(self.with(|builder| builder.allocate(&T::describe())))
    }

    /// The value in a place.
    pub fn read<T>(&self, place: Staged<T>) -> Staged<T> {
        Staged::new(self.with(|builder| builder.read(place.operand)))
    }

    /// `place = value`.
    pub fn assign<T>(&self, place: Staged<T>, value: Staged<T>) -> Staged<()> {
        self.with(|builder| builder.store(place.operand, value.operand));
        self.unit()
    }

    /// `value as C`.
    pub fn cast<A, C: KernelType>(
        &self,
        value: Staged<A>,
        _typed: impl FnOnce(A) -> C,
    ) -> Staged<C> {
        Staged::new(self.with(|builder| builder.cast(value.operand, &C::describe())))
    }

    /// `value.name`.
    pub fn field<A, C>(
        &self,
        value: Staged<A>,
        name: &str,
        _typed: impl FnOnce(A) -> C,
    ) -> Staged<C> {
        Staged::new(self.with(|builder| builder.field(value.operand, name)))
    }

    /// `*value`.
    pub fn deref<A, C>(&self, value: Staged<A>, _typed: impl FnOnce(A) -> C) -> Staged<C> {
        Staged::new(self.with(|builder| builder.deref(value.operand)))
    }

    /// `&place`.
    pub fn borrow<'a, T>(&self, place: Staged<T>) -> Staged<&'a T> {
        Staged::new(self.with(|builder| builder.borrow(place.operand)))
    }

    /// `&mut place`.
    pub fn borrow_mut<'a, T>(&self, place: Staged<T>) -> Staged<&'a mut T> {
        Staged::new(self.with(|builder| builder.borrow(place.operand)))
    }

    /// A method of the language, or a function of a number's type.
    pub fn method<P: Parts, C: KernelType>(
        &self,
        name: &str,
        parts: P,
        _typed: impl FnOnce(P::Types) -> C,
    ) -> Staged<C> {
        let operands = parts.operands();
        Staged::new(self.with(|builder| builder.method(name, &operands, &C::describe())))
    }

    /// The staged form of a user's method.
    pub fn resolve<'a, T: KernelType + 'a, M>(
        &self,
        _receiver: Staged<T>,
        find: impl FnOnce(&'a mut T) -> M,
    ) -> M {
        // A few bytes for each call in a kernel, which is staged once.
        find(Box::leak(Box::new(T::example())))
    }

    /// `&self` or `&mut self` of a method.
    pub fn receiver<T>(&self, receiver: Operand) -> Staged<T> {
        self.with(|builder| {
            let place = builder.follow(receiver);
            Staged::new(builder.borrow(place))
        })
    }

    /// `self` of a method.
    pub fn receiver_value<T>(&self, receiver: Operand) -> Staged<T> {
        self.with(|builder| {
            let place = builder.follow(receiver);
            Staged::new(builder.read(place))
        })
    }

    /// A tuple.
    pub fn tuple<P: Parts>(&self, parts: P) -> Staged<P::Types>
    where
        P::Types: KernelType,
    {
        let operands = parts.operands();
        Staged::new(self.with(|builder| builder.compose(&P::Types::describe(), &operands)))
    }

    /// `[a, b, c]`.
    pub fn array<T: KernelType, const N: usize>(&self, parts: [Staged<T>; N]) -> Staged<[T; N]> {
        let operands = parts.map(Staged::operand);
        Staged::new(self.with(|builder| builder.compose(&<[T; N]>::describe(), &operands)))
    }

    /// `[value; N]`.
    pub fn repeat<T: KernelType, const N: usize>(&self, value: Staged<T>) -> Staged<[T; N]> {
        self.with(|builder| {
            // The words of an instruction are counted in 16 bits.
            if N > 4096 {
                let text =
                    format!("an array of {N} elements that all have a value: 4096 are the most");
                return Staged::new(builder.refuse(text));
            }
            let operands = vec![value.operand; N];
            Staged::new(builder.compose(&<[T; N]>::describe(), &operands))
        })
    }

    /// A structure, or the variant of an enum with the path's last name, from its members.
    pub fn construct<P: Parts, C: KernelType>(
        &self,
        variant: &str,
        parts: P,
        names: &[&str],
        _typed: impl FnOnce(P::Types) -> C,
    ) -> Staged<C> {
        let (ty, operands) = (C::describe(), parts.operands());
        if ty.layout().is_some_and(|of| !of.variants.is_empty()) {
            let make =
                |builder: &mut Builder| builder.construct_variant(&ty, variant, names, &operands);
            return Staged::new(self.with(make));
        }
        self.members(&operands, names, None)
    }

    /// A structure from some members, and the others of another.
    pub fn construct_from<P: Parts, C: KernelType>(
        &self,
        parts: P,
        names: &[&str],
        rest: Staged<C>,
        _typed: impl FnOnce(P::Types, C) -> C,
    ) -> Staged<C> {
        self.members(&parts.operands(), names, Some(rest.operand))
    }

    fn members<C: KernelType>(
        &self,
        given: &[Operand],
        names: &[&str],
        rest: Option<Operand>,
    ) -> Staged<C> {
        let ty = C::describe();
        let mut operands = Vec::new();
        if let Type::Struct(layout) = &ty {
            for (name, _) in &layout.members {
                let at = names.iter().position(|given| given == name);
                let given = at.and_then(|at| given.get(at)).copied();
                operands.extend(given.or_else(|| {
                    let rest = rest?;
                    Some(self.with(|builder| builder.field(rest, name)))
                }));
            }
        }
        Staged::new(self.with(|builder| builder.compose(&ty, &operands)))
    }

    /// Begins an `if`.
    pub fn if_begin(&self, condition: Staged<bool>) -> If {
        If(self.with(|builder| builder.if_begin(condition.operand)))
    }

    /// Begins its second branch.
    pub fn if_else<T>(&self, mut state: If, value: Staged<T>) -> Else<T> {
        self.with(|builder| builder.if_else(&mut state.0, value.operand));
        Else(state.0, PhantomData)
    }

    /// Ends it.
    pub fn if_end<T>(&self, state: Else<T>, value: Staged<T>) -> Staged<T> {
        Staged::new(self.with(|builder| builder.if_end(state.0, value.operand)))
    }

    /// `left && right`: the right side is staged between `if_begin(left)` and this.
    pub fn if_both(&self, state: If, right: Staged<bool>) -> Staged<bool> {
        Staged::new(self.with(|builder| builder.if_both(state.0, right.operand)))
    }

    /// Begins a loop.
    pub fn loop_begin<T>(&self) -> Loop<T> {
        Loop(
            RefCell::new(Some(self.with(Builder::loop_begin))),
            PhantomData,
        )
    }

    /// Begins `for i in start..end`.
    pub fn for_begin<T>(
        &self,
        start: Staged<T>,
        end: Staged<T>,
        step: Option<Staged<usize>>,
        inclusive: bool,
        reversed: bool,
    ) -> (For, Staged<T>) {
        let step = step.map(Staged::operand);
        let (counter, value) = self.with(|builder| {
            builder.for_begin(start.operand, end.operand, step, inclusive, reversed)
        });
        (For(RefCell::new(Some(counter))), Staged::new(value))
    }

    /// The same place, for a method that borrows it.
    pub fn by_reference<'a, T>(&self, place: Staged<T>) -> Staged<&'a mut T> {
        Staged::new(place.operand)
    }

    /// Begins the body of a device function, which is in a file.
    pub fn call_begin<T>(&self, name: &str, file: &'static str) -> Option<Call<T>> {
        let call = self.with(|builder| builder.call_begin(name, file))?;
        Some(Call(RefCell::new(Some(call)), PhantomData))
    }

    /// `assert!`.
    pub fn assert(&self, condition: Staged<bool>) -> Staged<()> {
        self.with(|builder| builder.fault_unless(condition.operand));
        self.unit()
    }

    /// `panic!`.
    pub fn fault<T>(&self) -> Staged<T> {
        Staged::new(self.with(Builder::fault))
    }

    /// A question about the work-item.
    pub fn query<T>(&self, query: Query, dimensions: usize) -> Staged<T> {
        Staged::new(self.with(|builder| builder.query(query, dimensions)))
    }

    /// A specialization constant, by its number and the value that it has unless the program sets it.
    pub fn specialised<N, T>(&self, number: Staged<N>, default: Staged<T>) -> Staged<T> {
        Staged::new(self.with(|builder| builder.specialised(number.operand, default.operand)))
    }

    /// Any other operation.
    pub(crate) fn operation<T>(&self, act: impl FnOnce(&mut Builder) -> Operand) -> Staged<T> {
        Staged::new(self.with(act))
    }
}

impl<T> Loop<T> {
    fn with<R: Default>(&self, act: impl FnOnce(&mut control::Loop) -> R) -> R {
        self.0.borrow_mut().as_mut().map(act).unwrap_or_default()
    }

    /// `break value`.
    pub fn leave(&self, stage: &Stage, value: Staged<T>) {
        self.with(|state| stage.with(|builder| builder.loop_break(state, value.operand)));
    }

    /// `continue`.
    pub fn next(&self, stage: &Stage) {
        self.with(|state| stage.with(|builder| builder.loop_continue(state)));
    }

    /// Ends it.
    pub fn end(&self, stage: &Stage) -> Staged<T> {
        let state = self.0.take();
        let value = state.map(|state| stage.with(|builder| builder.loop_end(state)));
        Staged::new(value.unwrap_or(Operand::Never))
    }
}

impl Loop<()> {
    /// Leaves the loop unless the condition holds.
    pub fn only_while(&self, stage: &Stage, condition: Staged<bool>) {
        self.with(|state| stage.with(|builder| builder.loop_while(state, condition.operand)));
    }
}

impl For {
    pub(crate) fn new(counter: control::Counter) -> Self {
        Self(RefCell::new(Some(counter)))
    }

    fn with<R: Default>(&self, act: impl FnOnce(&mut control::Counter) -> R) -> R {
        self.0.borrow_mut().as_mut().map(act).unwrap_or_default()
    }

    /// `break`.
    pub fn leave(&self, stage: &Stage, value: Staged<()>) {
        self.with(|state| {
            stage.with(|builder| builder.loop_break(state.inside(), value.operand));
        });
    }

    /// `continue`.
    pub fn next(&self, stage: &Stage) {
        self.with(|state| stage.with(|builder| builder.loop_continue(state.inside())));
    }

    /// Ends it.
    pub fn end(&self, stage: &Stage) -> Staged<()> {
        if let Some(state) = self.0.take() {
            stage.with(|builder| builder.for_end(state));
        }
        stage.unit()
    }
}

impl<T> Call<T> {
    /// `return value`.
    pub fn leave(&self, stage: &Stage, value: Staged<T>) {
        if let Some(call) = self.0.borrow_mut().as_mut() {
            stage.with(|builder| builder.call_return(call, value.operand));
        }
    }

    /// Ends it.
    pub fn end(&self, stage: &Stage, value: Staged<T>) -> Staged<T> {
        let call = self.0.take();
        let value = call.map(|call| stage.with(|builder| builder.call_end(call, value.operand)));
        Staged::new(value.unwrap_or(Operand::Never))
    }
}
