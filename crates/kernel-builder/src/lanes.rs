//! Vectors in the staged code: lanes, swizzles, operators.

use spirv::Op;

use crate::arithmetic::{Binary, Unary};
use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::types::Type;

impl Builder {
    /// A vector's id, lane type and number of lanes.
    fn vector(&mut self, operand: Operand) -> Option<(Id, Type, u32)> {
        let operand = self.follow(operand);
        let Operand::Value(id) = self.read(operand) else {
            return None;
        };
        match self.type_of(id) {
            Type::Vector(of, count) => Some((id, (*of).clone(), count)),
            _ => None,
        }
    }

    /// The lanes of a vector.
    pub(crate) fn lanes(&mut self, vector: Operand) -> Vec<Operand> {
        match self.vector(vector) {
            None => Vec::new(),
            Some((id, of, count)) => {
                let lanes = 0..count as usize;
                lanes.map(|index| self.part(id, index, &of)).collect()
            }
        }
    }

    /// The elements of an array.
    pub(crate) fn array_elements(
        &mut self,
        array: Operand,
        count: usize,
        of: &Type,
    ) -> Vec<Operand> {
        let array = self.follow(array);
        match self.read(array) {
            Operand::Value(id) => (0..count).map(|index| self.part(id, index, of)).collect(),
            never => vec![never; count],
        }
    }

    /// A vector of some lanes of another.
    pub(crate) fn swizzle(&mut self, vector: Operand, lanes: &[u32]) -> Operand {
        let Some((id, of, _)) = self.vector(vector) else {
            return Operand::Never;
        };
        let ty = Type::Vector(of.into(), lanes.len() as u32);
        let mut operands = vec![id, id];
        operands.extend_from_slice(lanes);
        self.value(Op::VectorShuffle, &ty, &operands)
    }

    /// A value of each lane, put together.
    fn by_lane(
        &mut self,
        ty: &Type,
        count: u32,
        mut act: impl FnMut(&mut Self, usize) -> Operand,
    ) -> Operand {
        let parts: Vec<Operand> = (0..count as usize).map(|lane| act(self, lane)).collect();
        self.compose(ty, &parts)
    }

    /// A value as a vector: a number in each lane.
    fn spread(&mut self, id: Id, ty: &Type, count: u32) -> Id {
        if matches!(self.type_of(id), Type::Vector(..)) {
            return id;
        }
        match self.compose(ty, &vec![Operand::Value(id); count as usize]) {
            Operand::Value(id) => id,
            _ => id,
        }
    }

    /// `left operator right`, if one of them is a vector.
    pub(crate) fn binary_vector(&mut self, operator: Binary, l: Id, r: Id) -> Option<Operand> {
        let (left, right) = (self.type_of(l), self.type_of(r));
        let ty = match (&left, &right) {
            (Type::Vector(..), _) => left,
            (_, Type::Vector(..)) => right,
            _ => return None,
        };
        let Type::Vector(of, count) = &ty else {
            return None;
        };
        let (l, r) = (self.spread(l, &ty, *count), self.spread(r, &ty, *count));
        let is_float = matches!(**of, Type::Float(_));
        let op = match (operator, is_float) {
            (Binary::Add, true) => Op::FAdd,
            (Binary::Sub, true) => Op::FSub,
            (Binary::Mul, true) => Op::FMul,
            (Binary::Div, true) => Op::FDiv,
            (Binary::Rem, true) => Op::FRem,
            (Binary::Add, false) => Op::IAdd,
            (Binary::Sub, false) => Op::ISub,
            (Binary::Mul, false) => Op::IMul,
            (Binary::And, false) => Op::BitwiseAnd,
            (Binary::Or, false) => Op::BitwiseOr,
            (Binary::Xor, false) => Op::BitwiseXor,
            (Binary::Equal, _) => return Some(self.equal_lanes(is_float, *count, l, r)),
            (Binary::NotEqual, _) => {
                let equal = self.equal_lanes(is_float, *count, l, r);
                return Some(self.unary(Unary::Not, equal));
            }
            // Divisions are checked, and the counts of shifts are masked, for each lane.
            _ => {
                let of = of.clone();
                return Some(self.by_lane(&ty, *count, |builder, lane| {
                    let l = builder.part(l, lane, &of);
                    let r = builder.part(r, lane, &of);
                    builder.binary(operator, l, r)
                }));
            }
        };
        Some(self.value(op, &ty, &[l, r]))
    }

    /// Whether all lanes are equal.
    fn equal_lanes(&mut self, is_float: bool, count: u32, l: Id, r: Id) -> Operand {
        let bool = self.module.type_id(&Type::Bool);
        let vector = self.module.vector_type(bool, count);
        let op = if is_float { Op::FOrdEqual } else { Op::IEqual };
        let lanes = self.emit_as(op, &Type::Unit, vector, &[l, r]);
        self.value(Op::All, &Type::Bool, &[lanes])
    }

    /// `operator operand` of a vector.
    pub(crate) fn unary_vector(&mut self, operator: Unary, id: Id) -> Option<Operand> {
        let ty = self.type_of(id);
        let Type::Vector(of, _) = &ty else {
            return None;
        };
        let op = match (operator, &**of) {
            (Unary::Neg, Type::Float(_)) => Op::FNegate,
            (Unary::Neg, _) => Op::SNegate,
            (Unary::Not, _) => Op::Not,
        };
        Some(self.value(op, &ty, &[id]))
    }

    /// A method of numbers, applied to each lane.
    pub(crate) fn vector_method(
        &mut self,
        name: &str,
        ids: &[Id],
        result: &Type,
    ) -> Option<Operand> {
        let ty = self.type_of(*ids.first()?);
        let (Type::Vector(of, count), Type::Vector(to, _)) = (&ty, result) else {
            return None;
        };
        Some(self.by_lane(result, *count, |builder, lane| {
            let parts: Vec<Operand> = ids.iter().map(|id| builder.part(*id, lane, of)).collect();
            builder.method(name, &parts, to)
        }))
    }
}
