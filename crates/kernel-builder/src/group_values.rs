//! Which values groups exchange and combine: narrow numbers as wider ones, and vectors lane by lane.
//!
//! OpenCL's groups have numbers of 32 and 64 bits; narrow ones and vectors need an extension of it.

use spirv::Op;

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::collective::{Extent, Team};
use crate::module::Id;
use crate::operation::Kind;
use crate::types::Type;

/// An unsigned integer.
fn unsigned(bits: u32) -> Type {
    Type::Int {
        bits,
        signed: false,
    }
}

/// An exchange of one number of 32 or 64 bits.
type Exchange<'e> = &'e mut dyn FnMut(&mut Builder, Id, &Type) -> Operand;

impl Builder {
    /// A value of another work-item.
    pub(crate) fn exchanged(&mut self, id: Id, exchange: Exchange<'_>) -> Operand {
        let ty = self.type_of(id);
        let wide = unsigned(32);
        match &ty {
            Type::Vector(of, count) => {
                let mut lanes = Vec::new();
                for lane in 0..*count as usize {
                    let Operand::Value(lane) = self.part(id, lane, of) else {
                        return Operand::Never;
                    };
                    lanes.push(self.exchanged(lane, exchange));
                }
                self.compose(&ty, &lanes)
            }
            Type::Bool => {
                let Operand::Value(number) = self.cast(Operand::Value(id), &wide) else {
                    return Operand::Never;
                };
                let number = exchange(self, number, &wide);
                let zero = self.integer(32, false, 0);
                self.binary(Binary::NotEqual, number, zero)
            }
            Type::Float(16) => {
                let bits = self.emit(Op::Bitcast, &unsigned(16), &[id]);
                let Operand::Value(bits) = self.exchanged(bits, exchange) else {
                    return Operand::Never;
                };
                self.value(Op::Bitcast, &ty, &[bits])
            }
            Type::Int { bits: 8 | 16, .. } => {
                let Operand::Value(number) = self.cast(Operand::Value(id), &wide) else {
                    return Operand::Never;
                };
                let number = exchange(self, number, &wide);
                self.cast(number, &ty)
            }
            _ => exchange(self, id, &ty),
        }
    }

    /// Combines the values of a team.
    pub(crate) fn combine(
        &mut self,
        team: Team,
        extent: Extent,
        kind: Kind,
        value: Operand,
    ) -> Operand {
        let Some(id) = self.given(value) else {
            return Operand::Never;
        };
        let ty = self.type_of(id);
        let wide = match ty {
            Type::Float(16) => Type::Float(32),
            Type::Int {
                bits: 8 | 16,
                signed,
            } => Type::Int { bits: 32, signed },
            _ => return self.combine_wide(team, extent, kind, id),
        };
        let Operand::Value(number) = self.cast(Operand::Value(id), &wide) else {
            return Operand::Never;
        };
        let mut all = self.combine_wide(team, extent, kind, number);
        // The first work-item of an exclusive scan has the neutral value of the wider type.
        if let (Extent::ExclusiveScan, Kind::Minimum | Kind::Maximum, Type::Int { bits, signed }) =
            (extent, kind, &ty)
        {
            let most = u64::MAX >> (64 - bits) >> u32::from(*signed);
            let (name, limit) = match kind {
                Kind::Minimum => ("min", most),
                _ if *signed => ("max", !most),
                _ => ("max", 0),
            };
            let limit = self.integer(32, *signed, limit);
            all = self.method(name, &[all, limit], &wide);
        }
        self.cast(all, &ty)
    }
}
