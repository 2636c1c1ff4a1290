//! OpenCL.std: integer functions, bit selection and shuffles; SPIR-V's integer dot products.

use super::fault::{Res, invalid};
use super::lower::Lower;
use crate::{BinaryOp, ConvertOp, Op, Predicate, Type, UnaryOp, ValueId};
use spirv::Op as Spv;
use spirv_reader::{OpenClStd as Cl, Operands};

fn binary(inst: Cl) -> Option<BinaryOp> {
    Some(match inst {
        Cl::SAddSat => BinaryOp::SAddSat,
        Cl::UAddSat => BinaryOp::UAddSat,
        Cl::SSubSat => BinaryOp::SSubSat,
        Cl::USubSat => BinaryOp::USubSat,
        Cl::SMax => BinaryOp::SMax,
        Cl::UMax => BinaryOp::UMax,
        Cl::SMin => BinaryOp::SMin,
        Cl::UMin => BinaryOp::UMin,
        Cl::SMulHi => BinaryOp::SMulHi,
        Cl::UMulHi => BinaryOp::UMulHi,
        Cl::Rotate => BinaryOp::Rotate,
        // Beyond 24 bits the result is implementation-defined.
        Cl::SMul24 | Cl::UMul24 => BinaryOp::IMul,
        _ => return None,
    })
}

impl Lower<'_, '_> {
    /// Lowers an integer function; none for other instructions.
    pub(super) fn integer(&mut self, inst: Cl, ty: u32, args: &[ValueId]) -> Res<Option<ValueId>> {
        if let (Some(op), &[a, b]) = (binary(inst), args) {
            return Ok(Some(self.binary(op, a, b)));
        }
        let value = match (inst, args) {
            (Cl::SAbs, &[a]) => self.unary(UnaryOp::SAbs, a),
            (Cl::UAbs, &[a]) => a,
            (Cl::Clz, &[a]) => self.unary(UnaryOp::CountLeadingZeros, a),
            (Cl::Ctz, &[a]) => self.unary(UnaryOp::CountTrailingZeros, a),
            (Cl::Popcount, &[a]) => self.unary(UnaryOp::PopCount, a),
            (Cl::SAbsDiff, &[a, b]) => self.abs_diff(a, b, true)?,
            (Cl::UAbsDiff, &[a, b]) => self.abs_diff(a, b, false)?,
            (Cl::SHadd, &[a, b]) => self.half_sum(a, b, true, false)?,
            (Cl::UHadd, &[a, b]) => self.half_sum(a, b, false, false)?,
            (Cl::SRhadd, &[a, b]) => self.half_sum(a, b, true, true)?,
            (Cl::URhadd, &[a, b]) => self.half_sum(a, b, false, true)?,
            (Cl::SClamp, &[a, low, high]) => {
                let a = self.binary(BinaryOp::SMax, a, low);
                self.binary(BinaryOp::SMin, a, high)
            }
            (Cl::UClamp, &[a, low, high]) => {
                let a = self.binary(BinaryOp::UMax, a, low);
                self.binary(BinaryOp::UMin, a, high)
            }
            (Cl::SMadHi, &[a, b, c]) => {
                let high = self.binary(BinaryOp::SMulHi, a, b);
                self.binary(BinaryOp::IAdd, high, c)
            }
            (Cl::UMadHi, &[a, b, c]) => {
                let high = self.binary(BinaryOp::UMulHi, a, b);
                self.binary(BinaryOp::IAdd, high, c)
            }
            (Cl::SMad24 | Cl::UMad24, &[a, b, c]) => {
                let product = self.binary(BinaryOp::IMul, a, b);
                self.binary(BinaryOp::IAdd, product, c)
            }
            (Cl::UMadSat, &[a, b, c]) => {
                let ir = self.f.ty(a);
                let (zero, most) = (self.int_of(ir, 0), self.int_of(ir, u64::MAX));
                let high = self.binary(BinaryOp::UMulHi, a, b);
                let low = self.binary(BinaryOp::IMul, a, b);
                let sum = self.binary(BinaryOp::UAddSat, low, c);
                let fits = self.compare(Predicate::IEq, high, zero);
                self.select(fits, sum, most)
            }
            (Cl::SMadSat, &[a, b, c]) => self.signed_mad_sat(a, b, c)?,
            (Cl::SUpsample | Cl::UUpsample, &[high, low]) => {
                let bits = self.int_bits(high)?;
                if bits == 64 || self.f.ty(high) != self.f.ty(low) {
                    return invalid("two equal integer types of at most 32 bits are needed");
                }
                let wide = self.like(high, |types| types.int(bits * 2));
                let high = self.convert(ConvertOp::ZExt, high, wide);
                let low = self.convert(ConvertOp::ZExt, low, wide);
                let by = self.int_of(wide, u64::from(bits));
                let high = self.binary(BinaryOp::Shl, high, by);
                self.binary(BinaryOp::Or, high, low)
            }
            (Cl::Bitselect, &[a, b, mask]) => self.bit_select(a, b, mask)?,
            (Cl::Select, &[a, b, chooser]) => {
                let ir = self.f.ty(chooser);
                self.int_bits(chooser)?;
                let zero = self.int_of(ir, 0);
                // Vectors test the sign bit, scalars the whole value.
                let predicate = if self.lane_count(chooser) > 1 {
                    Predicate::SLt
                } else {
                    Predicate::INe
                };
                let second = self.compare(predicate, chooser, zero);
                self.select(second, b, a)
            }
            (Cl::Shuffle, &[a, mask]) => self.pick(a, None, mask, ty)?,
            (Cl::Shuffle2, &[a, b, mask]) => self.pick(a, Some(b), mask, ty)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// `OpSDot` and similar: sum of the widened products of lanes, optionally added to an accumulator with saturation.
    pub(super) fn integer_dot(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let (a, b) = (operands.next()?, operands.next()?);
        let saturating = matches!(op, Spv::SDotAccSat | Spv::UDotAccSat | Spv::SUDotAccSat);
        let sum = if saturating {
            let sum = operands.next()?;
            Some(self.value(sum)?)
        } else {
            None
        };
        let signed_a = !matches!(op, Spv::UDot | Spv::UDotAccSat);
        let signed_b = matches!(op, Spv::SDot | Spv::SDotAccSat);
        let ir = self.value_type(ty)?;
        let Type::Int(bits) = *self.module.types.get(ir) else {
            return invalid("the result type is no integer");
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let (a, b) = (self.unpacked(a)?, self.unpacked(b)?);
        if self.lane_count(a) != self.lane_count(b) {
            return invalid("vectors of different lengths");
        }
        let mut total = None;
        for (a, b) in self.lanes(a).into_iter().zip(self.lanes(b)) {
            let a = self.widen(a, bits, signed_a)?;
            let b = self.widen(b, bits, signed_b)?;
            let product = self.binary(BinaryOp::IMul, a, b);
            total = Some(match total {
                None => product,
                Some(total) => self.binary(BinaryOp::IAdd, total, product),
            });
        }
        let (Some(mut total), add) = (
            total,
            if signed_a {
                BinaryOp::SAddSat
            } else {
                BinaryOp::UAddSat
            },
        ) else {
            return invalid("the operands have no component");
        };
        if let Some(sum) = sum {
            total = self.binary(add, total, sum);
        }
        self.result(ty, id, total)
    }

    /// Four bytes packed in a 32-bit integer, as a vector.
    pub(super) fn unpacked(&mut self, value: ValueId) -> Res<ValueId> {
        if self.lane_count(value) != 1 {
            return Ok(value);
        }
        let byte = self.module.types.int(8);
        let four = self.module.types.intern(Type::Vector(byte, 4));
        self.bitcast(value, four)
    }

    pub(super) fn widen(&mut self, value: ValueId, to: u8, signed: bool) -> Res<ValueId> {
        let from = self.int_bits(value)?;
        if from > to {
            return invalid("the result is narrower than the operands");
        }
        if from == to || !signed {
            return Ok(self.resize(value, from, to));
        }
        let ty = self.module.types.int(to);
        Ok(self.convert(ConvertOp::SExt, value, ty))
    }

    fn signed_mad_sat(&mut self, a: ValueId, b: ValueId, c: ValueId) -> Res<ValueId> {
        let ir = self.f.ty(a);
        if self.f.ty(b) != ir || self.f.ty(c) != ir {
            return invalid("operands of different types");
        }
        if self.int_bits(a)? < 64 {
            // The whole sum fits in 64 bits.
            let wide = self.like(a, |types| types.int(64));
            let a = self.convert(ConvertOp::SExt, a, wide);
            let b = self.convert(ConvertOp::SExt, b, wide);
            let c = self.convert(ConvertOp::SExt, c, wide);
            let product = self.binary(BinaryOp::IMul, a, b);
            let sum = self.binary(BinaryOp::IAdd, product, c);
            return Ok(self.convert(ConvertOp::SatSToS, sum, ir));
        }
        let low = self.binary(BinaryOp::IMul, a, b);
        let high = self.binary(BinaryOp::SMulHi, a, b);
        let sum = self.binary(BinaryOp::IAdd, low, c);
        let (zero, one, top) = (self.int_of(ir, 0), self.int_of(ir, 1), self.int_of(ir, 63));
        let carry = self.compare(Predicate::ULt, sum, low);
        let carry = self.select(carry, one, zero);
        let sign = self.binary(BinaryOp::AShr, c, top);
        let high = self.binary(BinaryOp::IAdd, high, sign);
        let high = self.binary(BinaryOp::IAdd, high, carry);
        let expected = self.binary(BinaryOp::AShr, sum, top);
        let fits = self.compare(Predicate::IEq, high, expected);
        let negative = self.compare(Predicate::SLt, high, zero);
        let least = self.int_of(ir, 1 << 63);
        let most = self.int_of(ir, u64::MAX >> 1);
        let bound = self.select(negative, least, most);
        Ok(self.select(fits, sum, bound))
    }

    fn bit_select(&mut self, a: ValueId, b: ValueId, mask: ValueId) -> Res<ValueId> {
        let ir = self.f.ty(a);
        if self.f.ty(b) != ir || self.f.ty(mask) != ir {
            return invalid("operands of different types");
        }
        let bits = self.bits(a)?;
        let int = self.like(a, |types| types.int(bits));
        let (a, b) = (self.bitcast(a, int)?, self.bitcast(b, int)?);
        let mask = self.bitcast(mask, int)?;
        let keep = self.unary(UnaryOp::Not, mask);
        let a = self.binary(BinaryOp::And, a, keep);
        let b = self.binary(BinaryOp::And, b, mask);
        let both = self.binary(BinaryOp::Or, a, b);
        self.bitcast(both, ir)
    }

    /// OpenCL C's shuffles: lanes of one or two vectors, selected by the low bits of a vector of indices.
    fn pick(&mut self, a: ValueId, b: Option<ValueId>, mask: ValueId, ty: u32) -> Res<ValueId> {
        let Type::Vector(element, n) = *self.module.types.get(self.f.ty(a)) else {
            return invalid("the first operand is no vector");
        };
        if b.is_some_and(|b| self.f.ty(b) != self.f.ty(a)) {
            return invalid("operands of different types");
        }
        let bits = self.int_bits(mask)?;
        let room = u64::from(n.next_power_of_two());
        let mut lanes = Vec::new();
        for index in self.lanes(mask) {
            let low = self.int(bits, room - 1);
            let own = self.binary(BinaryOp::And, index, low);
            let mut value = self.emit(Op::ExtractDynamic(a, own), element);
            if let Some(b) = b {
                let other = self.emit(Op::ExtractDynamic(b, own), element);
                let (bit, zero) = (self.int(bits, room), self.int(bits, 0));
                let second = self.binary(BinaryOp::And, index, bit);
                let second = self.compare(Predicate::INe, second, zero);
                value = self.select(second, other, value);
            }
            lanes.push(value);
        }
        let value = self.join(lanes);
        if self.f.ty(value) != self.value_type(ty)? {
            return invalid("the result type has not as many components as the mask");
        }
        Ok(value)
    }
}
