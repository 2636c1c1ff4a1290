//! Enums: values of variants, tests of variants, and the parts that patterns bind.
//!
//! An enum is the number of its variant, and the members of all its variants one after another. It lives in variables
//! that drivers take apart, so members that a variant does not have cost nothing.

use std::rc::Rc;

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::kernel_type::{Constant, KernelType};
use crate::stage::{Stage, Staged};
use crate::types::{Struct, Type, Variant};

fn variant<'s>(layout: &'s Struct, name: &str) -> Option<&'s Variant> {
    layout.variants.iter().find(|variant| variant.name == name)
}

impl Builder {
    /// A value of a variant from its members.
    pub fn construct_variant(
        &mut self,
        ty: &Type,
        name: &str,
        names: &[&str],
        given: &[Operand],
    ) -> Operand {
        let Some(layout) = ty.layout().cloned() else {
            return self.refuse(format!("{ty} is no enum"));
        };
        let Some(of) = variant(&layout, name).cloned() else {
            return self.refuse(format!(
                "{ty} has no variant with the name {name}: write the variant's own name"
            ));
        };
        let mut parts = Vec::new();
        for (index, (member, ty)) in layout.members.iter().enumerate() {
            let part = if index == 0 {
                self.number(ty, of.number)
            } else if of.members.contains(&index) {
                let at = names.iter().position(|given| {
                    let own = member.strip_prefix(name).and_then(|m| m.strip_prefix('.'));
                    own == Some(*given)
                });
                match at.and_then(|at| given.get(at)) {
                    Some(given) => *given,
                    None => return Operand::Never,
                }
            } else {
                self.nothing(ty)
            };
            parts.push(part);
        }
        self.compose(ty, &parts)
    }

    fn number(&mut self, ty: &Type, number: u64) -> Operand {
        match ty {
            Type::Int { bits, signed } => self.integer(*bits, *signed, number),
            _ => self.refuse("a number of a variant that is no integer"),
        }
    }

    /// The value of a member that the variant does not have.
    fn nothing(&mut self, ty: &Type) -> Operand {
        match ty {
            Type::Unit => Operand::Unit,
            Type::Bool => self.bool(false),
            _ => {
                let of = self.module.memory_type(ty);
                let id = self.module.constant(Op::ConstantNull, of, &[]);
                self.know(id, ty);
                Operand::Value(id)
            }
        }
    }

    /// The enum or structure of a value, behind references.
    fn layout_of(&self, operand: Operand) -> Option<Rc<Struct>> {
        match operand {
            Operand::Value(id) | Operand::Memory(id) => self.type_of(id).layout().cloned(),
            _ => None,
        }
    }

    /// Whether a value is of a variant; a structure always is.
    pub fn is_variant(&mut self, operand: Operand, name: &str) -> Operand {
        let operand = self.follow(operand);
        let Some(layout) = self.layout_of(operand) else {
            return self.bool(true);
        };
        if layout.variants.is_empty() {
            return self.bool(true);
        }
        let Some(of) = variant(&layout, name).cloned() else {
            return self.refuse(format!(
                "{} has no variant with the name {name}: write the variant's own name",
                layout.name
            ));
        };
        let number = self.variant_number(operand);
        let wanted = self.number(&layout.members[0].1, of.number);
        self.same(number, wanted)
    }

    /// The number of an enum's variant.
    pub(crate) fn variant_number(&mut self, operand: Operand) -> Operand {
        let place = self.field(operand, "variant");
        self.read(place)
    }

    fn same(&mut self, left: Operand, right: Operand) -> Operand {
        // Numbers of other bits may be equal, such as zeros, if they are floating-point ones.
        if let (Operand::Value(l), Operand::Value(r)) = (left, right)
            && !matches!(self.type_of(l), Type::Float(_))
            && let (Some(l), Some(r)) = (self.constants.get(&l), self.constants.get(&r))
        {
            let same = l == r;
            return self.bool(same);
        }
        self.binary(Binary::Equal, left, right)
    }

    /// Whether a value equals a constant of a pattern: a number, a tuple of them, or an enum's variant without data.
    pub fn equals_constant(&mut self, value: Operand, constant: Operand) -> Operand {
        let value = self.follow(value);
        let Some(layout) = self.layout_of(constant) else {
            return self.binary(Binary::Equal, value, constant);
        };
        let mut all = self.bool(true);
        if !layout.variants.is_empty() {
            let (left, right) = (self.variant_number(value), self.variant_number(constant));
            let Operand::Value(id) = right else {
                return Operand::Never;
            };
            let number = self.constants.get(&id).copied();
            let is_unit = |of: &Variant| Some(of.number) == number && of.members.is_empty();
            if !layout.variants.iter().any(is_unit) {
                return self.refuse(
                    "a constant of a variant with data as a pattern in a kernel: write the variant's pattern",
                );
            }
            return self.same(left, right);
        }
        for (name, _) in &layout.members {
            let (left, right) = (self.field(value, name), self.field(constant, name));
            let right = self.read(right);
            let same = self.equals_constant(left, right);
            all = self.binary(Binary::And, all, same);
        }
        all
    }

    /// The element of an array that a pattern takes, counted from the end if its number is negative.
    fn array_part(&mut self, operand: Operand, name: &str) -> Option<Operand> {
        let (Operand::Value(id) | Operand::Memory(id)) = operand else {
            return None;
        };
        let ty = self.type_of(id);
        let Type::Array(_, count) = *(match operand {
            Operand::Memory(_) => ty.pointee()?,
            _ => &ty,
        }) else {
            return None;
        };
        let index = match name.strip_prefix('-') {
            Some(back) => count.saturating_sub(back.parse().unwrap_or(0)),
            None => name.parse().unwrap_or(0),
        };
        let index = Operand::Value(self.size(index));
        Some(self.index(operand, index))
    }

    /// A pattern of elements matches any array; those of slices would have to compare lengths.
    fn is_array_pattern(&mut self, operand: Operand) -> Operand {
        let operand = self.follow(operand);
        if let Operand::Value(id) = operand
            && matches!(self.type_of(id), Type::Slice(..))
        {
            return self.refuse(
                "a pattern of the elements of a slice in a kernel: kernels have such patterns of arrays; compare `len()` and use `[]`",
            );
        }
        self.bool(true)
    }

    /// The binding of a pattern for a member: a reference where the matched value is one, else a copy.
    pub fn project(&mut self, operand: Operand, of: &str, name: &str) -> Operand {
        let by_reference = match operand {
            Operand::Value(id) => matches!(self.type_of(id), Type::Pointer(..)),
            Operand::Memory(id) => {
                matches!(self.type_of(id).pointee(), Some(Type::Pointer(..)))
            }
            other => return other,
        };
        let operand = self.follow(operand);
        if let Some(place) = self.array_part(operand, name) {
            return match by_reference {
                true => self.borrow(place),
                false => self.read(place),
            };
        }
        let layout = self.layout_of(operand);
        let is_enum = layout.as_ref().is_some_and(|of| !of.variants.is_empty());
        let name = match (name.strip_prefix('-'), layout) {
            // Counted from the end.
            (Some(back), Some(layout)) => {
                let back: usize = back.parse().unwrap_or(0);
                let count = match variant(&layout, of) {
                    Some(of) => of.members.len(),
                    None => layout.members.len(),
                };
                count.saturating_sub(back).to_string()
            }
            _ => name.to_owned(),
        };
        let place = match is_enum {
            true => self.field(operand, &format!("{of}.{name}")),
            false => self.field(operand, &name),
        };
        match by_reference {
            true => self.borrow(place),
            false => self.read(place),
        }
    }
}

impl Stage {
    /// Whether a value is of a variant, for a pattern with parts.
    pub fn is_variant<T>(&self, value: Staged<T>, variant: &str) -> Staged<bool> {
        Staged::new(self.with(|builder| builder.is_variant(value.operand(), variant)))
    }

    /// Whether a value is an array, for a pattern of its elements.
    pub fn is_array_pattern<T>(&self, value: Staged<T>) -> Staged<bool> {
        Staged::new(self.with(|builder| builder.is_array_pattern(value.operand())))
    }

    /// A part of a value that a pattern takes apart; `variant` is the last name of the pattern's path.
    pub fn project<A, C>(
        &self,
        value: Staged<A>,
        variant: &str,
        name: &str,
        _typed: impl FnOnce(A) -> C,
    ) -> Staged<C> {
        Staged::new(self.with(|builder| builder.project(value.operand(), variant, name)))
    }

    /// Whether a value equals a literal or a constant in a pattern.
    pub fn equals<T: KernelType>(&self, value: Staged<T>, constant: T::Plain) -> Staged<bool>
    where
        T::Plain: Constant,
    {
        Staged::new(self.with(|builder| {
            let constant = constant.copied(builder);
            builder.equals_constant(value.operand(), constant)
        }))
    }

    /// Compares a value with an end of a range in a pattern.
    pub fn limit<T: KernelType>(
        &self,
        operator: Binary,
        value: Staged<T>,
        limit: T::Plain,
    ) -> Staged<bool>
    where
        T::Plain: Constant,
    {
        Staged::new(self.with(|builder| {
            let limit = limit.copied(builder);
            builder.binary(operator, value.operand(), limit)
        }))
    }

    /// Joins two conditions that are both computed.
    pub fn joined(
        &self,
        operator: Binary,
        left: Staged<bool>,
        right: Staged<bool>,
    ) -> Staged<bool> {
        Staged::new(self.with(|builder| builder.binary(operator, left.operand(), right.operand())))
    }
}
