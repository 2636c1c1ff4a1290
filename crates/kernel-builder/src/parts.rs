//! Parts of slices and arrays.

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::stage::{Stage, Staged};
use crate::types::{Space, Type};

/// The text of a fault whose values are the end and the length.
const END_OUTSIDE: [&str; 3] = ["range end index ", " out of range for slice of length ", ""];
/// The text of a fault whose values are the start and the length.
const START_OUTSIDE: [&str; 3] = [
    "range start index ",
    " out of range for slice of length ",
    "",
];
/// The text of a fault whose values are both ends.
const DISORDERED: [&str; 3] = ["slice index starts at ", " but ends at ", ""];

impl Builder {
    /// The first element's address, the number of elements, and their type and place.
    pub(crate) fn elements(&mut self, operand: Operand) -> Option<(Operand, Operand, Space, Type)> {
        let operand = self.follow(operand);
        let length = self.length(operand);
        match operand {
            Operand::Value(id) => match self.type_of(id) {
                Type::Slice(space, of) => {
                    let pointer = self.part(id, 0, &Type::Pointer(space, of.clone()));
                    Some((pointer, length, space, (*of).clone()))
                }
                Type::Array(..) => {
                    let place = self.variable(operand);
                    self.elements(place)
                }
                _ => None,
            },
            Operand::Memory(id) => match self.type_of(id) {
                Type::Pointer(space, to) => match &*to {
                    Type::Array(of, _) => {
                        // A slice may write it from here on.
                        self.borrow(operand);
                        let zero = self.size(0);
                        let ty = Type::Pointer(space, of.clone());
                        let first = self.emit(Op::InBoundsAccessChain, &ty, &[id, zero]);
                        Some((Operand::Value(first), length, space, (**of).clone()))
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// `&operand[start..end]`, checked; a missing end is that of the slice.
    pub fn slice(
        &mut self,
        operand: Operand,
        start: Option<Operand>,
        end: Option<Operand>,
        inclusive: bool,
    ) -> Operand {
        let Some((first, length, space, of)) = self.elements(operand) else {
            return Operand::Never;
        };
        let start = start.map(|start| self.read(start));
        let to_end = end.is_none();
        let end = match end.map(|end| self.read(end)) {
            None => length,
            Some(last) if inclusive => {
                let inside = self.binary(Binary::Less, last, length);
                self.end_unless(inside, &END_OUTSIDE, &[last, length]);
                let one = Operand::Value(self.size(1));
                self.binary(Binary::Add, last, one)
            }
            Some(end) => {
                let inside = self.binary(Binary::LessEqual, end, length);
                self.end_unless(inside, &END_OUTSIDE, &[end, length]);
                end
            }
        };
        let Some(start) = start else {
            return self.slice_of(first, end, space, of);
        };
        let ordered = self.binary(Binary::LessEqual, start, end);
        let texts = if to_end { START_OUTSIDE } else { DISORDERED };
        self.end_unless(ordered, &texts, &[start, end]);
        let count = self.binary(Binary::Sub, end, start);
        let (Operand::Value(pointer), Operand::Value(offset)) = (first, start) else {
            return Operand::Never;
        };
        let ty = Type::Pointer(space, of.clone().into());
        let first = self.value(Op::InBoundsPtrAccessChain, &ty, &[pointer, offset]);
        self.slice_of(first, count, space, of)
    }

    pub(crate) fn slice_of(
        &mut self,
        first: Operand,
        count: Operand,
        space: Space,
        of: Type,
    ) -> Operand {
        self.compose(&Type::Slice(space, of.into()), &[first, count])
    }

    /// `operand.split_at(middle)`.
    pub(crate) fn split(&mut self, operand: Operand, middle: Operand) -> Operand {
        let left = self.slice(operand, None, Some(middle), false);
        let right = self.slice(operand, Some(middle), None, false);
        let (Operand::Value(l), Operand::Value(r)) = (left, right) else {
            return Operand::Never;
        };
        let ty = Type::tuple(vec![self.type_of(l), self.type_of(r)]);
        self.compose(&ty, &[left, right])
    }

    /// `operand.get_unchecked(index)`.
    pub fn index_unchecked(&mut self, operand: Operand, index: Operand) -> Operand {
        let index = self.read(index);
        let Some((Operand::Value(first), _, space, of)) = self.elements(operand) else {
            return Operand::Never;
        };
        let Operand::Value(index) = index else {
            return Operand::Never;
        };
        let ty = Type::Pointer(space, of.into());
        self.value(Op::InBoundsPtrAccessChain, &ty, &[first, index])
    }
}

/// The range of a part of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The first index.
    pub start: Option<Staged<usize>>,
    /// The index behind the last, or the last.
    pub end: Option<Staged<usize>>,
    /// `end` is the last.
    pub inclusive: bool,
}

impl Stage {
    /// `&values[start..end]`.
    pub fn part<'a, A: 'a, C: ?Sized>(
        &self,
        values: Staged<A>,
        range: Part,
        _typed: impl FnOnce(&'a A) -> &'a C,
    ) -> Staged<&'a C> {
        self.cut(values, range)
    }

    /// `&mut values[start..end]`.
    pub fn part_mut<'a, A: 'a, C: ?Sized>(
        &self,
        values: Staged<A>,
        range: Part,
        _typed: impl FnOnce(&'a mut A) -> &'a mut C,
    ) -> Staged<&'a mut C> {
        self.cut(values, range)
    }

    fn cut<A, C>(&self, values: Staged<A>, range: Part) -> Staged<C> {
        let (start, end) = (
            range.start.map(Staged::operand),
            range.end.map(Staged::operand),
        );
        Staged::new(
            self.with(|builder| builder.slice(values.operand(), start, end, range.inclusive)),
        )
    }

    /// `values.get_unchecked(index)` in an unsafe block of the user.
    pub fn element_unchecked<'a, A: 'a, I, C>(
        &self,
        values: Staged<A>,
        index: Staged<I>,
        _typed: impl FnOnce(&'a A, I) -> &'a C,
    ) -> Staged<&'a C> {
        Staged::new(self.with(|builder| builder.index_unchecked(values.operand(), index.operand())))
    }

    /// `values.get_unchecked_mut(index)` in an unsafe block of the user.
    pub fn element_unchecked_mut<'a, A: 'a, I, C>(
        &self,
        values: Staged<A>,
        index: Staged<I>,
        _typed: impl FnOnce(&'a mut A, I) -> &'a mut C,
    ) -> Staged<&'a mut C> {
        Staged::new(self.with(|builder| builder.index_unchecked(values.operand(), index.operand())))
    }
}

/// References that are passed as they are, or an array's as that of a slice.
pub trait Coerce<To> {
    /// The operand in the other type.
    fn coerce(self, stage: &Stage) -> To;
}
impl<'a, T: ?Sized> Coerce<Staged<&'a T>> for Staged<&'a T> {
    fn coerce(self, _: &Stage) -> Self {
        self
    }
}
impl<'a, T: ?Sized> Coerce<Staged<&'a mut T>> for Staged<&'a mut T> {
    fn coerce(self, _: &Stage) -> Self {
        self
    }
}
impl<'a, T, const N: usize> Coerce<Staged<&'a [T]>> for Staged<&'a [T; N]> {
    fn coerce(self, stage: &Stage) -> Staged<&'a [T]> {
        stage.operation(|builder| builder.slice(self.operand(), None, None, false))
    }
}
impl<'a, T, const N: usize> Coerce<Staged<&'a mut [T]>> for Staged<&'a mut [T; N]> {
    fn coerce(self, stage: &Stage) -> Staged<&'a mut [T]> {
        stage.operation(|builder| builder.slice(self.operand(), None, None, false))
    }
}
