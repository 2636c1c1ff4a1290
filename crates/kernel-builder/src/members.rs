//! Composites in memory are read and written as vectors or member by member, as vector units do it best: the members of
//! neighbouring elements are interleaved numbers, a whole structure is a row of bytes.

use spirv::{MemoryAccess, Op};

use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::types::{Space, Type};

/// The most numbers in a composite that is read and written in parts.
const MOST: u64 = 16;

/// How many numbers a type has; `None` if it is none of numbers alone.
fn numbers(ty: &Type) -> Option<u64> {
    match ty {
        Type::Bool | Type::Int { .. } | Type::Float(_) => Some(1),
        Type::Array(of, count) => numbers(of)?.checked_mul(*count),
        Type::Struct(of) => {
            let mut members = of.members.iter();
            members.try_fold(0u64, |sum, (_, ty)| sum.checked_add(numbers(ty)?))
        }
        Type::Unit | Type::Pointer(..) | Type::Slice(..) => None,
        Type::Vector(..) | Type::Image { .. } | Type::Sampler => None,
    }
}

/// The number of which a composite has two or four and nothing else, and how many: it lies in memory like a vector.
fn vector(ty: &Type) -> Option<(Type, u32)> {
    fn only(ty: &Type) -> Option<Type> {
        match ty {
            Type::Int { .. } | Type::Float(_) => Some(ty.clone()),
            Type::Array(of, _) => only(of),
            Type::Struct(of) => {
                let mut types = of.members.iter().map(|(_, ty)| only(ty));
                let first = types.next()??;
                types.all(|ty| ty.as_ref() == Some(&first)).then_some(first)
            }
            _ => None,
        }
    }
    let count = u32::try_from(numbers(ty)?).ok()?;
    matches!(count, 2 | 4).then_some((only(ty)?, count))
}

impl Builder {
    /// Whether the value behind a pointer is read and written in parts.
    pub(crate) fn is_split(&self, pointer: Id) -> bool {
        let Type::Pointer(space, of) = self.type_of(pointer) else {
            return false;
        };
        // A private array is indexed where it lies, so it stays one.
        let is_composite = match &*of {
            Type::Struct(_) => true,
            Type::Array(..) => space != Space::Private,
            _ => false,
        };
        is_composite && numbers(&of).is_some_and(|count| (1..=MOST).contains(&count))
    }

    /// The pointers to the members of a composite, and their types.
    fn members(&mut self, pointer: Id) -> Vec<(Id, Type)> {
        let Type::Pointer(space, of) = self.type_of(pointer) else {
            return Vec::new();
        };
        let types: Vec<Type> = match &*of {
            Type::Struct(layout) => layout.members.iter().map(|(_, ty)| ty.clone()).collect(),
            Type::Array(of, count) => (0..*count).map(|_| (**of).clone()).collect(),
            _ => Vec::new(),
        };
        let mut members = Vec::new();
        for (index, ty) in (0..).zip(types) {
            let index = self.module.integer(32, index);
            let to = Type::Pointer(space, ty.clone().into());
            members.push((
                self.emit(Op::InBoundsAccessChain, &to, &[pointer, index]),
                ty,
            ));
        }
        members
    }

    /// Reads a composite.
    pub(crate) fn read_members(&mut self, pointer: Id) -> Operand {
        let of = self
            .type_of(pointer)
            .pointee()
            .cloned()
            .unwrap_or(Type::Unit);
        if let Some((place, number, count)) = self.vector_at(pointer) {
            let id = self.module.type_id(&number);
            let id = self.module.vector_type(id, count);
            let vector = self.load(&Type::Unit, id, &aligned(&[place], &number));
            let mut parts = (0..count)
                .map(|index| self.value(Op::CompositeExtract, &number, &[vector, index]))
                .collect::<Vec<Operand>>()
                .into_iter();
            return self.gathered(&of, &mut parts);
        }
        let numbers = self.values_inside(pointer, |builder| {
            let mut numbers = Vec::new();
            builder.read_numbers(pointer, &of, &mut numbers);
            numbers
        });
        self.gathered(&of, &mut numbers.into_iter())
    }

    /// Reads the numbers of a composite in order.
    fn read_numbers(&mut self, pointer: Id, ty: &Type, numbers: &mut Vec<Operand>) {
        if !matches!(ty, Type::Struct(_) | Type::Array(..)) {
            let number = self.read(Operand::Memory(pointer));
            return numbers.push(number);
        }
        for (member, ty) in self.members(pointer) {
            self.read_numbers(member, &ty, numbers);
        }
    }

    /// Writes a composite.
    pub(crate) fn store_members(&mut self, pointer: Id, value: Id) {
        if let Some((place, number, count)) = self.vector_at(pointer) {
            let of = self
                .type_of(pointer)
                .pointee()
                .cloned()
                .unwrap_or(Type::Unit);
            let mut parts = Vec::new();
            self.scattered(value, &of, &mut parts);
            let id = self.module.type_id(&number);
            let id = self.module.vector_type(id, count);
            let vector = self.emit_as(Op::CompositeConstruct, &Type::Unit, id, &parts);
            self.effect(Op::Store, aligned(&[place, vector], &number));
            return;
        }
        // All values first: one may be read from where another is written.
        let members = self.members(pointer);
        let values: Vec<Operand> = (0..)
            .zip(&members)
            .map(|(index, (_, ty))| self.part(value, index, ty))
            .collect();
        for ((member, _), value) in members.into_iter().zip(values) {
            self.store(Operand::Memory(member), value);
        }
    }

    /// The pointer as one to a vector, its number, and how many, if the composite is read like that.
    fn vector_at(&mut self, pointer: Id) -> Option<(Id, Type, u32)> {
        let Type::Pointer(space, of) = self.type_of(pointer) else {
            return None;
        };
        // Variables become values, member by member.
        let (number, count) = vector(&of).filter(|_| space != Space::Private)?;
        let id = self.module.type_id(&number);
        let id = self.module.vector_type(id, count);
        let to = self.module.pointer_to(space, id);
        Some((
            self.emit_as(Op::Bitcast, &Type::Unit, to, &[pointer]),
            number,
            count,
        ))
    }

    /// A composite from its numbers in order.
    fn gathered(&mut self, ty: &Type, numbers: &mut dyn Iterator<Item = Operand>) -> Operand {
        let members: Vec<Type> = match ty {
            Type::Array(of, count) => (0..*count).map(|_| (**of).clone()).collect(),
            Type::Struct(of) => of.members.iter().map(|(_, ty)| ty.clone()).collect(),
            _ => return numbers.next().unwrap_or(Operand::Never),
        };
        let values: Vec<Operand> = members
            .iter()
            .map(|ty| self.gathered(ty, numbers))
            .collect();
        self.compose(ty, &values)
    }

    /// The numbers of a composite in order.
    fn scattered(&mut self, value: Id, ty: &Type, numbers: &mut Vec<Id>) {
        let members: Vec<Type> = match ty {
            Type::Array(of, count) => (0..*count).map(|_| (**of).clone()).collect(),
            Type::Struct(of) => of.members.iter().map(|(_, ty)| ty.clone()).collect(),
            _ => return numbers.push(value),
        };
        for (index, ty) in members.iter().enumerate() {
            if let Operand::Value(part) = self.part(value, index, ty) {
                self.scattered(part, ty, numbers);
            }
        }
    }
}

/// The operands of an access with the alignment of a number, which a vector would not have in Rust.
fn aligned(operands: &[Id], number: &Type) -> Vec<u32> {
    let bits = match number {
        Type::Int { bits, .. } | Type::Float(bits) => *bits,
        _ => 8,
    };
    let mut all = operands.to_vec();
    all.extend([MemoryAccess::ALIGNED.bits(), bits / 8]);
    all
}
