//! Operators of the user's types: `a + b` calls the staged form of the user's `impl Add`.
//!
//! Which `impl` an operator means is known to the compiler alone, so the expression itself is run once, on example
//! values, while a kernel is staged: `#[device]` has made the called function one that stages its body then, with the
//! operands that wait here. On the host the same function tests one flag of the thread.

use std::any::type_name;
use std::cell::{Cell, RefCell};

use crate::arithmetic::{Binary, Unary};
use crate::builder::{Builder, Operand};
use crate::kernel_type::KernelType;
use crate::stage::{Stage, Staged};

/// An operator whose function is about to be called.
struct Waiting {
    stage: Stage,
    operands: Vec<Operand>,
    types: Vec<&'static str>,
    result: Option<(&'static str, Operand)>,
}

thread_local! {
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Whether a function of an operator has to stage itself instead of computing.
#[must_use]
#[inline]
pub fn is_staging() -> bool {
    IS_WAITING.get()
}

/// A call of an operator's function that stages itself.
#[derive(Debug)]
pub struct Call {
    /// The kernel.
    pub stage: Stage,
    operands: Vec<Operand>,
}

impl Call {
    /// The operand at an index: a reference for `&self`, else a value.
    #[must_use]
    pub fn operand<T: KernelType>(&self, index: usize, by_reference: bool) -> Staged<T> {
        let operand = self.operands.get(index).copied();
        let operand = operand.unwrap_or(Operand::Never);
        match by_reference {
            true => self.stage.receiver(operand),
            false => self.stage.receiver_value(operand),
        }
    }
}

/// Stages an operator's function, which is called `name`, in place of running it; `types` are those of its operands.
pub fn operator<C: KernelType>(
    name: &'static str,
    types: &[&'static str],
    body: impl FnOnce(&Call) -> Staged<C>,
) -> C {
    IS_WAITING.set(false);
    let waiting = WAITING.take();
    if let Some(mut waiting) = waiting {
        // Another function's call inside of one that is not for kernels has other operands.
        if waiting.types == types {
            let call = Call {
                stage: waiting.stage.clone(),
                operands: waiting.operands.clone(),
            };
            waiting.result = Some((name, body(&call).operand()));
        }
        WAITING.set(Some(waiting));
    }
    C::example()
}

/// The type's name without references: comparisons of references compare what they refer to.
fn plain_name<T>() -> &'static str {
    let name = type_name::<T>();
    name.trim_start_matches("&mut ").trim_start_matches('&')
}

/// Calls an operator on examples, and returns the name and the result of the function that has staged itself.
fn call(
    stage: &Stage,
    operands: &[Operand],
    types: Vec<&'static str>,
    run: impl FnOnce(),
) -> Option<(&'static str, Operand)> {
    /// Ends the waiting, also when the user's function panics on the examples.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_WAITING.set(false);
            WAITING.set(None);
        }
    }
    let end = End;
    WAITING.set(Some(Waiting {
        stage: stage.clone(),
        operands: operands.to_vec(),
        types,
        result: None,
    }));
    IS_WAITING.set(true);
    run();
    let found = WAITING.take().and_then(|waiting| waiting.result);
    drop(end);
    found
}

impl Builder {
    /// Whether an operator on this operand is the user's: of a structure or an enum.
    fn is_overloaded(&mut self, operand: Operand) -> bool {
        match self.follow(operand) {
            Operand::Value(id) | Operand::Memory(id) => self.type_of(id).layout().is_some(),
            _ => false,
        }
    }
}

impl Stage {
    fn overloaded(&self, operands: &[Operand]) -> bool {
        self.with(|builder| operands.iter().any(|of| builder.is_overloaded(*of)))
    }

    fn missing(&self, type_name: &str) -> Operand {
        let text = format!(
            "an operator on {type_name}, whose `impl` is not marked: write #[sycl::device] before the `impl` of the operator"
        );
        self.with(|builder| builder.refuse(text))
    }

    /// `value[index]`.
    pub fn index<A: KernelType, I: KernelType, C>(
        &self,
        value: Staged<A>,
        index: Staged<I>,
        typed: impl FnOnce(A, I) -> C,
    ) -> Staged<C> {
        let (base, at) = (value.operand(), index.operand());
        if !self.overloaded(&[base]) {
            return Staged::new(self.with(|builder| builder.index(base, at)));
        }
        let types = vec![plain_name::<A>(), type_name::<I>()];
        let found = call(self, &[base, at], types, || {
            typed(A::example(), I::example());
        });
        Staged::new(match found {
            Some((_, reference)) => self.with(|builder| builder.deref(reference)),
            None => self.missing(type_name::<A>()),
        })
    }

    /// `left operator right`, which is no comparison.
    pub fn binary<A: KernelType, B: KernelType, C>(
        &self,
        operator: Binary,
        left: Staged<A>,
        right: Staged<B>,
        typed: impl FnOnce(A, B) -> C,
    ) -> Staged<C> {
        let operands = [left.operand(), right.operand()];
        if self.overloaded(&operands) {
            let types = vec![type_name::<A>(), type_name::<B>()];
            let found = call(self, &operands, types, || {
                typed(A::example(), B::example());
            });
            let operand = found.map_or_else(|| self.missing(type_name::<A>()), |found| found.1);
            return Staged::new(operand);
        }
        Staged::new(self.with(|builder| builder.binary_checked(operator, operands[0], operands[1])))
    }

    /// `place operator= value`.
    pub fn assign_operator<A: KernelType, B: KernelType>(
        &self,
        operator: Binary,
        place: Staged<A>,
        value: Staged<B>,
        typed: impl FnOnce(A, B),
    ) -> Staged<()> {
        let operands = [place.operand(), value.operand()];
        if self.overloaded(&operands) {
            let types = vec![type_name::<A>(), type_name::<B>()];
            let found = call(self, &operands, types, || {
                typed(A::example(), B::example());
            });
            if found.is_none() {
                self.missing(type_name::<A>());
            }
            return self.unit();
        }
        self.with(|builder| {
            let old = builder.read(operands[0]);
            let new = builder.binary_checked(operator, old, operands[1]);
            builder.store(operands[0], new);
        });
        self.unit()
    }

    /// `operator value`.
    pub fn unary<A: KernelType, C>(
        &self,
        operator: Unary,
        value: Staged<A>,
        typed: impl FnOnce(A) -> C,
    ) -> Staged<C> {
        let operand = value.operand();
        if self.overloaded(&[operand]) {
            let found = call(self, &[operand], vec![type_name::<A>()], || {
                typed(A::example());
            });
            let operand = found.map_or_else(|| self.missing(type_name::<A>()), |found| found.1);
            return Staged::new(operand);
        }
        Staged::new(self.with(|builder| builder.unary_checked(operator, operand)))
    }

    /// A comparison.
    pub fn compare<A: KernelType, B: KernelType>(
        &self,
        operator: Binary,
        left: Staged<A>,
        right: Staged<B>,
        typed: impl Fn(A, B) -> bool,
    ) -> Staged<bool> {
        let operands = [left.operand(), right.operand()];
        if !self.overloaded(&operands) {
            return Staged::new(
                self.with(|builder| builder.binary(operator, operands[0], operands[1])),
            );
        }
        let types = vec![plain_name::<A>(), plain_name::<B>()];
        let found = call(self, &operands, types, || {
            typed(A::example(), B::example());
        });
        match found {
            Some(("eq", same)) if operator == Binary::NotEqual => {
                self.unary(Unary::Not, Staged::<bool>::new(same), |same| !same)
            }
            Some(("partial_cmp", order)) => {
                Staged::new(self.with(|builder| builder.compared(operator, order)))
            }
            Some((_, result)) => Staged::new(result),
            None if self.is_derived(operator, &typed) => Staged::new(self.with(|builder| {
                let [left, right] = operands.map(|operand| builder.variant_number(operand));
                builder.binary(operator, left, right)
            })),
            None => Staged::new(self.missing(type_name::<A>())),
        }
    }

    /// Whether a comparison of enums without data is that of their numbers, which it is if it is derived.
    fn is_derived<A: KernelType, B: KernelType>(
        &self,
        operator: Binary,
        typed: &impl Fn(A, B) -> bool,
    ) -> bool {
        let Some((left, right)) = Option::zip(
            A::describe().layout().cloned(),
            B::describe().layout().cloned(),
        ) else {
            return false;
        };
        if left != right || A::values().is_empty() {
            return false;
        }
        let signed = matches!(left.members[0].1, crate::Type::Int { signed: true, .. });
        let all = 0..left.variants.len();
        all.clone().all(|l| {
            all.clone().all(|r| {
                let Some((a, b)) = Option::zip(
                    A::values().into_iter().nth(l),
                    B::values().into_iter().nth(r),
                ) else {
                    return false;
                };
                let numbers = [left.variants[l].number, left.variants[r].number];
                let order = match signed {
                    true => numbers[0].cast_signed().cmp(&numbers[1].cast_signed()),
                    false => numbers[0].cmp(&numbers[1]),
                };
                typed(a, b)
                    == match operator {
                        Binary::Equal => order.is_eq(),
                        Binary::NotEqual => order.is_ne(),
                        Binary::Less => order.is_lt(),
                        Binary::LessEqual => order.is_le(),
                        Binary::Greater => order.is_gt(),
                        _ => order.is_ge(),
                    }
            })
        })
    }
}
