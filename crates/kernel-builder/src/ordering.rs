//! `partial_cmp`, and the comparisons that a user's own `partial_cmp` stands for.

use std::cmp::Ordering;

use crate::arithmetic::{Binary, Unary};
use crate::builder::{Builder, Operand};
use crate::kernel_type::KernelType;
use crate::module::Id;
use crate::types::Type;

impl Builder {
    /// `left.partial_cmp(&right)` of numbers: nothing if one of them is NaN.
    pub(crate) fn partial_order(&mut self, result: &Type, left: Id, right: Id) -> Operand {
        let order = self.order(&Ordering::describe(), left, right);
        if !matches!(self.type_of(left), Type::Float(_)) {
            return self.some(result, order);
        }
        let (left, right) = (Operand::Value(left), Operand::Value(right));
        let low = self.binary(Binary::LessEqual, left, right);
        let high = self.binary(Binary::Greater, left, right);
        let known = self.binary(Binary::Or, low, high);
        self.some_if(known, result, order)
    }

    /// The result of a comparison, from the `Option<Ordering>` of its operands.
    pub(crate) fn compared(&mut self, operator: Binary, order: Operand) -> Operand {
        let known = self.is_variant(order, "Some");
        let order = self.project(order, "Some", "0");
        let (variant, wanted) = match operator {
            Binary::Less => ("Less", true),
            Binary::LessEqual => ("Greater", false),
            Binary::Greater => ("Greater", true),
            _ => ("Less", false),
        };
        let is = self.is_variant(order, variant);
        let holds = match wanted {
            true => is,
            false => self.unary(Unary::Not, is),
        };
        self.binary(Binary::And, known, holds)
    }
}
