//! `for` over elements and parts of slices, several of them side by side.

use std::marker::PhantomData;

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::control::Counter;
use crate::stage::{For, Stage, Staged};
use crate::types::{Space, Type};

/// How a slice is cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// `chunks`
    Chunks,
    /// `chunks_exact`
    Exact,
    /// `windows`
    Windows,
}

/// Where the items of a loop come from.
#[derive(Clone, Debug)]
enum Source {
    /// Elements of a slice or an array, by value or by reference.
    Elements(Operand, bool),
    /// Parts: the first element's address, the length, the elements, and the size of a part.
    Parts(Operand, Operand, (Space, Type), Operand, Cut),
    Never,
}

/// A sequence that gives a loop one item in each iteration.
#[derive(Clone, Debug)]
pub struct Sequence<T> {
    source: Source,
    count: Operand,
    item: PhantomData<fn() -> T>,
}

impl<T> Sequence<T> {
    /// The number of items.
    #[must_use]
    pub fn count(&self) -> Operand {
        self.count
    }
}

impl Builder {
    /// Whether iteration by value copies the items: that of an array does.
    fn is_array(&self, values: Operand) -> bool {
        match values {
            Operand::Value(id) => matches!(self.type_of(id), Type::Array(..)),
            Operand::Memory(id) => matches!(self.type_of(id).pointee(), Some(Type::Array(..))),
            _ => false,
        }
    }

    fn source_of_elements(&mut self, values: Operand, by_reference: bool) -> (Source, Operand) {
        let by_value = !by_reference && self.is_array(values);
        // An array by value is copied, as in Rust: the loop may change the variable.
        let values = match by_value {
            true => {
                let copy = self.read(values);
                self.variable(copy)
            }
            false => values,
        };
        let count = self.length(values);
        (Source::Elements(values, by_value), count)
    }

    fn source_of_parts(&mut self, values: Operand, size: Operand, cut: Cut) -> (Source, Operand) {
        let size = self.read(size);
        let Some((first, length, space, of)) = self.elements(values) else {
            return (Source::Never, Operand::Never);
        };
        let Operand::Value(id) = size else {
            return (Source::Never, Operand::Never);
        };
        let (zero, one) = (Operand::Value(self.size(0)), Operand::Value(self.size(1)));
        if self.constants.get(&id).is_none_or(|&size| size == 0) {
            // Rust refuses parts without elements.
            let good = self.binary(Binary::NotEqual, size, zero);
            let text = match cut {
                Cut::Windows => "window size must be non-zero",
                Cut::Chunks | Cut::Exact => "chunk size must be non-zero",
            };
            self.end_unless(good, &[text], &[]);
        }
        let count = match cut {
            Cut::Chunks => self.method("div_ceil", &[length, size], &Type::SIZE),
            Cut::Exact => self.binary(Binary::Div, length, size),
            Cut::Windows => {
                let after = self.binary(Binary::Add, length, one);
                self.method("saturating_sub", &[after, size], &Type::SIZE)
            }
        };
        (Source::Parts(first, length, (space, of), size, cut), count)
    }

    /// The part of a slice at an index, which is below the number of parts.
    fn part_at(&mut self, source: &Source, index: Operand) -> Operand {
        let Source::Parts(first, length, (space, of), size, cut) = source else {
            return Operand::Never;
        };
        let start = match cut {
            Cut::Windows => index,
            _ => self.binary(Binary::Mul, index, *size),
        };
        let count = match cut {
            Cut::Chunks => {
                let left = self.binary(Binary::Sub, *length, start);
                self.method("min", &[*size, left], &Type::SIZE)
            }
            _ => *size,
        };
        let (Operand::Value(first), Operand::Value(offset)) = (*first, start) else {
            return Operand::Never;
        };
        let ty = Type::Pointer(*space, of.clone().into());
        let first = self.value(Op::InBoundsPtrAccessChain, &ty, &[first, offset]);
        self.slice_of(first, count, *space, of.clone())
    }

    fn item(&mut self, source: &Source, index: Operand) -> Operand {
        match source {
            Source::Elements(values, by_value) => {
                let element = self.index(*values, index);
                match by_value {
                    true => self.read(element),
                    false => self.borrow(element),
                }
            }
            Source::Parts(..) => self.part_at(source, index),
            Source::Never => Operand::Never,
        }
    }

    /// Begins a loop over the elements of a slice or an array, by reference.
    pub(crate) fn elements_begin(&mut self, values: Operand) -> (Counter, Operand) {
        let (source, count) = self.source_of_elements(values, true);
        let start = Operand::Value(self.size(0));
        let (counter, index) = self.for_begin(start, count, None, false, false);
        (counter, self.item(&source, index))
    }

    /// Begins a loop over the indices below each of some numbers.
    fn together_begin(
        &mut self,
        counts: &[Operand],
        step: Option<Operand>,
        (reversed, step_first): (bool, bool),
    ) -> (Counter, Operand) {
        let start = Operand::Value(self.size(0));
        let end = counts
            .iter()
            .copied()
            .reduce(|all, count| self.method("min", &[all, count], &Type::SIZE));
        let end = end.unwrap_or(start);
        match step {
            Some(step) if step_first => self.back_begin(start, end, step, false),
            step => self.for_begin(start, end, step, false, reversed),
        }
    }
}

impl Stage {
    /// The elements of a slice or an array: `values`, `values.iter()`.
    pub fn elements<A, I: IntoIterator>(
        &self,
        values: Staged<A>,
        by_reference: bool,
        _typed: impl FnOnce(A) -> I,
    ) -> Sequence<I::Item> {
        let (source, count) =
            self.with(|builder| builder.source_of_elements(values.operand(), by_reference));
        Sequence {
            source,
            count,
            item: PhantomData,
        }
    }

    /// The parts of a slice or an array: `values.chunks(size)`.
    pub fn parts<A, I: IntoIterator>(
        &self,
        values: Staged<A>,
        size: Staged<usize>,
        cut: Cut,
        _typed: impl FnOnce(A, usize) -> I,
    ) -> Sequence<I::Item> {
        let (source, count) =
            self.with(|builder| builder.source_of_parts(values.operand(), size.operand(), cut));
        Sequence {
            source,
            count,
            item: PhantomData,
        }
    }

    /// Begins `for` over sequences side by side, as many rounds as the shortest has items.
    pub fn together_begin(
        &self,
        counts: &[Operand],
        step: Option<Staged<usize>>,
        reversed: bool,
        step_first: bool,
    ) -> (For, Staged<usize>) {
        let step = step.map(Staged::operand);
        let (counter, index) =
            self.with(|builder| builder.together_begin(counts, step, (reversed, step_first)));
        (For::new(counter), Staged::new(index))
    }

    /// The item of a round.
    pub fn item_at<T>(&self, sequence: &Sequence<T>, index: Staged<usize>) -> Staged<T> {
        Staged::new(self.with(|builder| builder.item(&sequence.source, index.operand())))
    }

    /// Begins `for i in (start..end).step_by(step).rev()`.
    pub fn back_begin<T>(
        &self,
        start: Staged<T>,
        end: Staged<T>,
        step: Staged<usize>,
        inclusive: bool,
    ) -> (For, Staged<T>) {
        let (counter, value) = self.with(|builder| {
            builder.back_begin(start.operand(), end.operand(), step.operand(), inclusive)
        });
        (For::new(counter), Staged::new(value))
    }
}
