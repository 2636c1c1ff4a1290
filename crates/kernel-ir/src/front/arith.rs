//! Arithmetic, comparisons, conversions and composites.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use super::table::{Entity, Kind};
use crate::{
    BinaryOp, ConvertOp, Flags, MathFn, Op, Predicate, Rounding, Type, TypeId, UnaryOp, ValueDef,
    ValueId,
};
use spirv::{Decoration, FPRoundingMode, Op as Spv};
use spirv_reader::Operands;

/// The operation of a two-operand instruction.
fn binary_op(op: Spv) -> Option<BinaryOp> {
    Some(match op {
        Spv::IAdd => BinaryOp::IAdd,
        Spv::ISub => BinaryOp::ISub,
        Spv::IMul => BinaryOp::IMul,
        Spv::UDiv => BinaryOp::UDiv,
        Spv::SDiv => BinaryOp::SDiv,
        Spv::UMod => BinaryOp::URem,
        Spv::SRem => BinaryOp::SRem,
        Spv::SMod => BinaryOp::SMod,
        Spv::FAdd => BinaryOp::FAdd,
        Spv::FSub => BinaryOp::FSub,
        Spv::FMul => BinaryOp::FMul,
        Spv::FDiv => BinaryOp::FDiv,
        Spv::FRem => BinaryOp::FRem,
        Spv::FMod => BinaryOp::FMod,
        Spv::ShiftLeftLogical => BinaryOp::Shl,
        Spv::ShiftRightLogical => BinaryOp::LShr,
        Spv::ShiftRightArithmetic => BinaryOp::AShr,
        Spv::BitwiseAnd | Spv::LogicalAnd => BinaryOp::And,
        Spv::BitwiseOr | Spv::LogicalOr => BinaryOp::Or,
        Spv::BitwiseXor => BinaryOp::Xor,
        Spv::LogicalEqual => BinaryOp::LogicalEqual,
        Spv::LogicalNotEqual => BinaryOp::LogicalNotEqual,
        Spv::IAddSatINTEL => BinaryOp::SAddSat,
        Spv::UAddSatINTEL => BinaryOp::UAddSat,
        Spv::ISubSatINTEL => BinaryOp::SSubSat,
        Spv::USubSatINTEL => BinaryOp::USubSat,
        _ => return None,
    })
}

fn predicate(op: Spv) -> Option<Predicate> {
    Some(match op {
        Spv::IEqual => Predicate::IEq,
        Spv::INotEqual => Predicate::INe,
        Spv::ULessThan => Predicate::ULt,
        Spv::ULessThanEqual => Predicate::ULe,
        Spv::UGreaterThan => Predicate::UGt,
        Spv::UGreaterThanEqual => Predicate::UGe,
        Spv::SLessThan => Predicate::SLt,
        Spv::SLessThanEqual => Predicate::SLe,
        Spv::SGreaterThan => Predicate::SGt,
        Spv::SGreaterThanEqual => Predicate::SGe,
        Spv::FOrdEqual => Predicate::FOrdEq,
        Spv::FOrdNotEqual | Spv::LessOrGreater => Predicate::FOrdNe,
        Spv::FOrdLessThan => Predicate::FOrdLt,
        Spv::FOrdLessThanEqual => Predicate::FOrdLe,
        Spv::FOrdGreaterThan => Predicate::FOrdGt,
        Spv::FOrdGreaterThanEqual => Predicate::FOrdGe,
        Spv::FUnordEqual => Predicate::FUnordEq,
        Spv::FUnordNotEqual => Predicate::FUnordNe,
        Spv::FUnordLessThan => Predicate::FUnordLt,
        Spv::FUnordLessThanEqual => Predicate::FUnordLe,
        Spv::FUnordGreaterThan => Predicate::FUnordGt,
        Spv::FUnordGreaterThanEqual => Predicate::FUnordGe,
        Spv::Ordered => Predicate::FOrdered,
        Spv::Unordered => Predicate::FUnordered,
        _ => return None,
    })
}

fn unary_op(op: Spv) -> Option<UnaryOp> {
    Some(match op {
        Spv::SNegate => UnaryOp::INeg,
        Spv::FNegate => UnaryOp::FNeg,
        Spv::Not | Spv::LogicalNot => UnaryOp::Not,
        Spv::BitReverse => UnaryOp::BitReverse,
        Spv::UCountLeadingZerosINTEL => UnaryOp::CountLeadingZeros,
        Spv::UCountTrailingZerosINTEL => UnaryOp::CountTrailingZeros,
        Spv::IsNan => UnaryOp::IsNan,
        Spv::IsInf => UnaryOp::IsInf,
        Spv::IsFinite => UnaryOp::IsFinite,
        Spv::IsNormal => UnaryOp::IsNormal,
        Spv::SignBitSet => UnaryOp::SignBit,
        _ => return None,
    })
}

impl Lower<'_, '_> {
    /// The flags of result `id`, by its decorations.
    pub(super) fn flags(&self, id: u32) -> Flags {
        let fast = self
            .source
            .literal(id, Decoration::FPFastMathMode)
            .unwrap_or(0);
        Flags {
            nsw: self
                .source
                .decoration(id, Decoration::NoSignedWrap)
                .is_some(),
            nuw: self
                .source
                .decoration(id, Decoration::NoUnsignedWrap)
                .is_some(),
            fast: fast | self.fast,
        }
    }

    fn rounding(&self, id: u32) -> Res<Rounding> {
        let Some(mode) = self.source.literal(id, Decoration::FPRoundingMode) else {
            return Ok(Rounding::Default);
        };
        match FPRoundingMode::from_u32(mode) {
            Some(FPRoundingMode::RTE) => Ok(Rounding::Rte),
            Some(FPRoundingMode::RTZ) => Ok(Rounding::Rtz),
            Some(FPRoundingMode::RTP) => Ok(Rounding::Rtp),
            Some(FPRoundingMode::RTN) => Ok(Rounding::Rtn),
            None => invalid(format!("rounding mode {mode} does not exist")),
        }
    }

    /// Refuses rounding decorations that this instruction does not support.
    pub(super) fn check_rounding(&self, op: Spv, operands: &[u32]) -> Res<()> {
        let &[_, id, ..] = operands else {
            return Ok(());
        };
        let nearest = matches!(
            op,
            Spv::FAdd
                | Spv::FSub
                | Spv::FMul
                | Spv::FDiv
                | Spv::FRem
                | Spv::FMod
                | Spv::FmaKHR
                | Spv::Dot
                | Spv::VectorTimesScalar
                | Spv::ConvertFToBF16INTEL
                | Spv::QuantizeToF16
                | Spv::ExtInst
                | Spv::AtomicFAddEXT
                | Spv::GroupFAdd
                | Spv::GroupFMulKHR
                | Spv::GroupNonUniformFAdd
                | Spv::GroupNonUniformFMul
        );
        if !nearest {
            return Ok(());
        }
        match self.source.literal(id, Decoration::FPRoundingMode) {
            None => Ok(()),
            Some(mode) => match FPRoundingMode::from_u32(mode) {
                Some(FPRoundingMode::RTE) => Ok(()),
                Some(other) => unsupported(format!(
                    "the result rounded as {other:?}; only conversions round otherwise than to nearest even"
                )),
                None => invalid(format!("rounding mode {mode} does not exist")),
            },
        }
    }

    /// Lowers arithmetic, comparisons, conversions and composites; false for other instructions.
    pub(super) fn arithmetic(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<bool> {
        if let Some(kind) = binary_op(op) {
            let (ty, id) = (operands.next()?, operands.next()?);
            let (a, b) = (operands.next()?, operands.next()?);
            let (a, mut b) = (self.value(a)?, self.value(b)?);
            if matches!(kind, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr) {
                // The count may have another width.
                let (from, to) = (self.int_bits(b)?, self.int_bits(a)?);
                b = self.resize(b, from, to);
            }
            let ir = self.f.ty(a);
            let value = self.emit(Op::Binary(kind, a, b, self.flags(id)), ir);
            self.result(ty, id, value)?;
            return Ok(true);
        }
        if let Some(predicate) = predicate(op) {
            let (ty, id) = (operands.next()?, operands.next()?);
            let (a, b) = (operands.next()?, operands.next()?);
            let (mut a, mut b) = (self.value(a)?, self.value(b)?);
            if matches!(self.scalar(a), Type::Ptr(_)) && self.f.ty(a) == self.f.ty(b) {
                let int = self.like(a, |types| types.int(64));
                a = self.convert(ConvertOp::PtrToInt, a, int);
                b = self.convert(ConvertOp::PtrToInt, b, int);
            }
            let bits = matches!(predicate, Predicate::IEq | Predicate::INe);
            if let Type::Float(width) = self.scalar(a)
                && bits
                && self.f.ty(a) == self.f.ty(b)
            {
                // clang compares the result of a float compare-exchange this way, bit by bit.
                let int = self.like(a, |types| types.int(width));
                (a, b) = (self.bitcast(a, int)?, self.bitcast(b, int)?);
            }
            let value = self.compare(predicate, a, b);
            self.result(ty, id, value)?;
            return Ok(true);
        }
        if let Some(kind) = unary_op(op) {
            let (ty, id, a) = (operands.next()?, operands.next()?, operands.next()?);
            let a = self.value(a)?;
            let ir = match kind {
                UnaryOp::INeg
                | UnaryOp::FNeg
                | UnaryOp::Not
                | UnaryOp::BitReverse
                | UnaryOp::CountLeadingZeros
                | UnaryOp::CountTrailingZeros => self.f.ty(a),
                _ => self.like(a, |types| types.bool()),
            };
            let value = self.emit(Op::Unary(kind, a, self.flags(id)), ir);
            self.result(ty, id, value)?;
            return Ok(true);
        }
        if is_conversion(op) {
            self.conversion(op, operands)?;
            return Ok(true);
        }
        if matches!(
            op,
            Spv::SDot
                | Spv::UDot
                | Spv::SUDot
                | Spv::SDotAccSat
                | Spv::UDotAccSat
                | Spv::SUDotAccSat
        ) {
            self.integer_dot(op, operands)?;
            return Ok(true);
        }
        let (ty, id) = match op {
            Spv::Select
            | Spv::VectorTimesScalar
            | Spv::Dot
            | Spv::IAddCarry
            | Spv::ISubBorrow
            | Spv::UMulExtended
            | Spv::SMulExtended
            | Spv::Any
            | Spv::All
            | Spv::BitCount
            | Spv::BitFieldInsert
            | Spv::BitFieldSExtract
            | Spv::BitFieldUExtract
            | Spv::FmaKHR
            | Spv::AbsISubINTEL
            | Spv::AbsUSubINTEL
            | Spv::IAverageINTEL
            | Spv::UAverageINTEL
            | Spv::IAverageRoundedINTEL
            | Spv::UAverageRoundedINTEL
            | Spv::VectorExtractDynamic
            | Spv::VectorInsertDynamic
            | Spv::VectorShuffle
            | Spv::CompositeConstruct
            | Spv::CompositeConstructReplicateEXT
            | Spv::CompositeExtract
            | Spv::CompositeInsert
            | Spv::IMul32x16INTEL
            | Spv::UMul32x16INTEL => (operands.next()?, operands.next()?),
            _ => return Ok(false),
        };
        let value = self.compound(op, ty, id, operands)?;
        self.result(ty, id, value)?;
        Ok(true)
    }

    fn compound(&mut self, op: Spv, ty: u32, id: u32, operands: &mut Operands<'_>) -> Res<ValueId> {
        let ir = self.value_type(ty)?;
        match op {
            Spv::VectorShuffle => {
                let (a, b) = (operands.next()?, operands.next()?);
                let (a, b) = (self.value(a)?, self.value(b)?);
                let all = self.lane_count(a) + self.lane_count(b);
                let lanes = operands.rest().to_vec();
                if let Some(lane) = lanes.iter().find(|&&l| l != u32::MAX && l >= all) {
                    return invalid(format!("component {lane} of vectors of {all} together"));
                }
                return Ok(self.emit(Op::Shuffle(a, b, lanes), ir));
            }
            Spv::CompositeExtract => {
                let whole = operands.next()?;
                let whole = self.value(whole)?;
                let path = operands.rest().to_vec();
                if path.is_empty() {
                    return Ok(whole);
                }
                if let Some(part) = self.built_part(whole, &path) {
                    return Ok(part);
                }
                return Ok(self.emit(Op::Extract(whole, path), ir));
            }
            Spv::CompositeInsert => {
                let (part, whole) = (operands.next()?, operands.next()?);
                let (part, whole) = (self.value(part)?, self.value(whole)?);
                let path = operands.rest().to_vec();
                if path.is_empty() {
                    return Ok(part);
                }
                return Ok(self.emit(Op::Insert(whole, part, path), ir));
            }
            _ => {}
        }
        let mut ids = operands.rest().to_vec();
        if op == Spv::CompositeConstruct {
            ids.extend_from_slice(&self.further);
        }
        let args = self.all(&ids)?;
        let fast = self.flags(id).fast;
        match (op, args.as_slice()) {
            (Spv::CompositeConstruct, _) => Ok(self.emit(Op::Construct(args), ir)),
            (Spv::CompositeConstructReplicateEXT, &[part]) => {
                let count = match self.module.types.get(ir) {
                    Type::Vector(_, n) => u64::from(*n),
                    Type::Array(_, n) => *n,
                    Type::Struct { fields, .. } => fields.len() as u64,
                    _ => return invalid("the result type is no vector, array or struct"),
                };
                // An instruction of five words must not allocate millions of parts.
                if count > 256 {
                    return unsupported(format!(
                        "a value of {count} parts made of one; the largest has 256"
                    ));
                }
                Ok(self.emit(Op::Construct(vec![part; count as usize]), ir))
            }
            (Spv::IMul32x16INTEL | Spv::UMul32x16INTEL, &[a, b]) => {
                if (self.int_bits(a)?, self.int_bits(b)?) != (32, 16) {
                    return invalid("integers of 32 and of 16 bits are needed");
                }
                let extend = if op == Spv::IMul32x16INTEL {
                    ConvertOp::SExt
                } else {
                    ConvertOp::ZExt
                };
                let ty = self.f.ty(a);
                let b = self.convert(extend, b, ty);
                Ok(self.binary(BinaryOp::IMul, a, b))
            }
            (Spv::Select, &[cond, then, otherwise]) => Ok(self.select(cond, then, otherwise)),
            (Spv::VectorTimesScalar, &[vector, scalar]) => {
                let scalar = self.splat_like(scalar, vector);
                Ok(self.float(BinaryOp::FMul, vector, scalar, fast))
            }
            (Spv::Dot, &[a, b]) => Ok(self.dot(a, b, fast)),
            (Spv::IAddCarry, &[a, b]) => {
                let sum = self.binary(BinaryOp::IAdd, a, b);
                let carry = self.compare(Predicate::ULt, sum, a);
                let carry = self.as_number(carry, a);
                Ok(self.emit(Op::Construct(vec![sum, carry]), ir))
            }
            (Spv::ISubBorrow, &[a, b]) => {
                let rest = self.binary(BinaryOp::ISub, a, b);
                let borrow = self.compare(Predicate::ULt, a, b);
                let borrow = self.as_number(borrow, a);
                Ok(self.emit(Op::Construct(vec![rest, borrow]), ir))
            }
            (Spv::UMulExtended | Spv::SMulExtended, &[a, b]) => {
                let low = self.binary(BinaryOp::IMul, a, b);
                let high = if op == Spv::SMulExtended {
                    BinaryOp::SMulHi
                } else {
                    BinaryOp::UMulHi
                };
                let high = self.binary(high, a, b);
                Ok(self.emit(Op::Construct(vec![low, high]), ir))
            }
            (Spv::Any | Spv::All, &[a]) => self.vote_of_lanes(op, a, ir),
            (Spv::BitCount, &[a]) => {
                let count = self.unary(UnaryOp::PopCount, a);
                let from = self.int_bits(count)?;
                match self.scalar_of(ir) {
                    Type::Int(to) => Ok(self.resize(count, from, to)),
                    _ => invalid("the result type is no integer"),
                }
            }
            (Spv::BitFieldInsert, &[base, insert, offset, count]) => {
                let (_, all, offset, mask) = self.field(base, offset, count)?;
                let zero = self.int_of(self.f.ty(base), 0);
                let mask = self.binary(BinaryOp::Shl, mask, offset);
                let mask = self.select(all, mask, zero);
                let insert = self.binary(BinaryOp::Shl, insert, offset);
                let insert = self.binary(BinaryOp::And, insert, mask);
                let keep = self.unary(UnaryOp::Not, mask);
                let keep = self.binary(BinaryOp::And, base, keep);
                Ok(self.binary(BinaryOp::Or, keep, insert))
            }
            (Spv::BitFieldUExtract | Spv::BitFieldSExtract, &[base, offset, count]) => {
                let (unused, some, offset, mask) = self.field(base, offset, count)?;
                let zero = self.int_of(self.f.ty(base), 0);
                let low = self.binary(BinaryOp::LShr, base, offset);
                let low = self.binary(BinaryOp::And, low, mask);
                let value = if op == Spv::BitFieldSExtract {
                    let high = self.binary(BinaryOp::Shl, low, unused);
                    self.binary(BinaryOp::AShr, high, unused)
                } else {
                    low
                };
                Ok(self.select(some, value, zero))
            }
            (Spv::FmaKHR, &[_, _, _]) => Ok(self.math(MathFn::Fma, args, fast)),
            (Spv::AbsISubINTEL, &[a, b]) => self.abs_diff(a, b, true),
            (Spv::AbsUSubINTEL, &[a, b]) => self.abs_diff(a, b, false),
            (Spv::IAverageINTEL, &[a, b]) => self.half_sum(a, b, true, false),
            (Spv::UAverageINTEL, &[a, b]) => self.half_sum(a, b, false, false),
            (Spv::IAverageRoundedINTEL, &[a, b]) => self.half_sum(a, b, true, true),
            (Spv::UAverageRoundedINTEL, &[a, b]) => self.half_sum(a, b, false, true),
            (Spv::VectorExtractDynamic, &[vector, index]) => {
                Ok(self.emit(Op::ExtractDynamic(vector, index), ir))
            }
            (Spv::VectorInsertDynamic, &[vector, part, index]) => {
                Ok(self.emit(Op::InsertDynamic(vector, part, index), ir))
            }
            _ => invalid(format!("{} operands are too few or too many", args.len())),
        }
    }

    /// The scalar at `path` of a vector that was just built, as for components of built-in variables.
    fn built_part(&self, whole: ValueId, path: &[u32]) -> Option<ValueId> {
        let &[index] = path else { return None };
        let ValueDef::Inst(inst) = self.f.values.get(whole.index())?.def else {
            return None;
        };
        let Op::Construct(parts) = &self.f.insts.get(inst.index())?.op else {
            return None;
        };
        if parts.len() as u32 != self.lane_count(whole) {
            return None;
        }
        parts.get(index as usize).copied()
    }

    /// `OpAny` and `OpAll`. For OpenCL C's functions clang emits them on integers, whose sign bits count, with an
    /// integer result.
    fn vote_of_lanes(&mut self, op: Spv, lanes: ValueId, result: TypeId) -> Res<ValueId> {
        let truths = match self.scalar(lanes) {
            Type::Int(_) => {
                let zero = self.int_of(self.f.ty(lanes), 0);
                self.compare(Predicate::SLt, lanes, zero)
            }
            _ => lanes,
        };
        let truth = match op {
            _ if self.lane_count(truths) == 1 => truths,
            Spv::Any => self.unary(UnaryOp::AnyLane, truths),
            _ => self.unary(UnaryOp::AllLanes, truths),
        };
        if !matches!(self.scalar_of(result), Type::Int(_)) {
            return Ok(truth);
        }
        let (one, zero) = (self.int_of(result, 1), self.int_of(result, 0));
        Ok(self.select(truth, one, zero))
    }

    /// A Bool as 1 or 0 of the type of `shape`.
    fn as_number(&mut self, truth: ValueId, shape: ValueId) -> ValueId {
        let ty = self.f.ty(shape);
        let (one, zero) = (self.int_of(ty, 1), self.int_of(ty, 0));
        self.select(truth, one, zero)
    }

    /// For a bit field: number of bits above it, whether it is not empty, offset and mask, of the type of `base`.
    fn field(
        &mut self,
        base: ValueId,
        offset: ValueId,
        count: ValueId,
    ) -> Res<(ValueId, ValueId, ValueId, ValueId)> {
        let bits = self.int_bits(base)?;
        let ty = self.f.ty(base);
        let fit = |l: &mut Self, v: ValueId| -> Res<ValueId> {
            if l.lane_count(v) != 1 {
                return invalid("offset and count are scalars");
            }
            let v = l.resize(v, l.int_bits(v)?, bits);
            Ok(l.splat_like(v, base))
        };
        let offset = fit(self, offset)?;
        let count = fit(self, count)?;
        let width = self.int_of(ty, u64::from(bits));
        let unused = self.binary(BinaryOp::ISub, width, count);
        let ones = self.int_of(ty, u64::MAX);
        let mask = self.binary(BinaryOp::LShr, ones, unused);
        let zero = self.int_of(ty, 0);
        let some = self.compare(Predicate::INe, count, zero);
        Ok((unused, some, offset, mask))
    }

    /// Sum of the products of the lanes.
    pub(super) fn dot(&mut self, a: ValueId, b: ValueId, fast: u32) -> ValueId {
        let product = self.float(BinaryOp::FMul, a, b, fast);
        let mut lanes = self.lanes(product).into_iter();
        let Some(mut sum) = lanes.next() else {
            return product;
        };
        for lane in lanes {
            sum = self.float(BinaryOp::FAdd, sum, lane, fast);
        }
        sum
    }

    /// |a - b| without overflow.
    pub(super) fn abs_diff(&mut self, a: ValueId, b: ValueId, signed: bool) -> Res<ValueId> {
        self.int_bits(a)?;
        let less = if signed {
            Predicate::SLt
        } else {
            Predicate::ULt
        };
        let less = self.compare(less, a, b);
        let ab = self.binary(BinaryOp::ISub, a, b);
        let ba = self.binary(BinaryOp::ISub, b, a);
        Ok(self.select(less, ba, ab))
    }

    /// (a + b) / 2 without overflow, rounded down or (`up`) up.
    pub(super) fn half_sum(
        &mut self,
        a: ValueId,
        b: ValueId,
        signed: bool,
        up: bool,
    ) -> Res<ValueId> {
        self.int_bits(a)?;
        let shift = if signed {
            BinaryOp::AShr
        } else {
            BinaryOp::LShr
        };
        let one = self.int_of(self.f.ty(a), 1);
        let differ = self.binary(BinaryOp::Xor, a, b);
        let half = self.binary(shift, differ, one);
        if up {
            let either = self.binary(BinaryOp::Or, a, b);
            Ok(self.binary(BinaryOp::ISub, either, half))
        } else {
            let both = self.binary(BinaryOp::And, a, b);
            Ok(self.binary(BinaryOp::IAdd, both, half))
        }
    }

    fn conversion(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, from) = (operands.next()?, operands.next()?, operands.next()?);
        let to = self.value_type(ty)?;
        if matches!(
            op,
            Spv::Bitcast
                | Spv::PtrCastToGeneric
                | Spv::GenericCastToPtr
                | Spv::PtrCastToCrossWorkgroupALTERA
                | Spv::CrossWorkgroupCastToPtrALTERA
        ) && self.alias(ty, id, from)?
        {
            return Ok(());
        }
        let value = self.value(from)?;
        let value = match op {
            Spv::Bitcast => self.bitcast(value, to)?,
            Spv::PtrCastToGeneric
            | Spv::GenericCastToPtr
            | Spv::PtrCastToCrossWorkgroupALTERA
            | Spv::CrossWorkgroupCastToPtrALTERA => {
                if !self.is_pointer(ty)? {
                    return invalid("the result type is no pointer");
                }
                self.cast_pointer(value, to)
            }
            Spv::ConvertPtrToU => {
                let int = self.like(value, |types| types.int(64));
                let number = self.convert(ConvertOp::PtrToInt, value, int);
                match self.scalar_of(to) {
                    Type::Int(bits) => self.resize(number, 64, bits),
                    _ => return invalid("the result type is no integer"),
                }
            }
            Spv::ConvertUToPtr => {
                let bits = self.int_bits(value)?;
                let number = self.resize(value, bits, 64);
                self.convert(ConvertOp::IntToPtr, number, to)
            }
            Spv::ConvertFToBF16INTEL => self.convert(ConvertOp::FToBf16, value, to),
            Spv::ConvertBF16ToFINTEL => self.convert(ConvertOp::Bf16ToF, value, to),
            Spv::QuantizeToF16 => {
                let half = self.like(value, |types| types.float(16));
                let half = self.convert(ConvertOp::FToF, value, half);
                self.convert(ConvertOp::FToF, half, to)
            }
            _ => {
                let narrow = self.table.is_bfloat16(ty);
                let wide = self.table.is_bfloat16(self.table.type_id_of(from));
                if narrow || wide {
                    self.bfloat16(op, id, value, to, (wide, narrow))?
                } else {
                    self.number(op, id, value, to)?
                }
            }
        };
        self.result(ty, id, value)
    }

    /// A conversion between floats, from a bfloat16 (`from`), to one (`to_it`), or both.
    fn bfloat16(
        &mut self,
        op: Spv,
        id: u32,
        value: ValueId,
        to: TypeId,
        (from, to_it): (bool, bool),
    ) -> Res<ValueId> {
        if op != Spv::FConvert {
            return unsupported("a bfloat16 is converted to and from other floats only");
        }
        match self.rounding(id)? {
            Rounding::Default | Rounding::Rte => {}
            _ if to_it => {
                return unsupported("a bfloat16 rounded otherwise than to nearest even");
            }
            _ => {}
        }
        if from && to_it {
            return Ok(value);
        }
        let single = self.like(value, |types| types.float(32));
        if from {
            let value = self.convert(ConvertOp::Bf16ToF, value, single);
            return self.number(op, id, value, to);
        }
        let value = match self.float_bits(value)? {
            32 => value,
            16 => self.convert(ConvertOp::FToF, value, single),
            _ => self.rounded_to_odd(value, single),
        };
        Ok(self.convert(ConvertOp::FToBf16, value, to))
    }

    /// Doubles to floats, rounded to odd: rounding the result again gives the same as rounding once.
    fn rounded_to_odd(&mut self, value: ValueId, single: TypeId) -> ValueId {
        let double = self.f.ty(value);
        let down = Op::Convert(ConvertOp::FToF, value, Rounding::Rtz);
        let near = self.emit(down, single);
        let back = self.convert(ConvertOp::FToF, near, double);
        let lost = self.compare(Predicate::FOrdNe, back, value);
        let int = self.like(value, |types| types.int(32));
        let (one, zero) = (self.int_of(int, 1), self.int_of(int, 0));
        let sticky = self.select(lost, one, zero);
        let bits = self.convert(ConvertOp::Bitcast, near, int);
        let bits = self.binary(BinaryOp::Or, bits, sticky);
        self.convert(ConvertOp::Bitcast, bits, single)
    }

    /// A pointer cast needs no instruction, unless the operand is a value already.
    fn alias(&mut self, ty: u32, id: u32, from: u32) -> Res<bool> {
        let Kind::Pointer(space, _) = self.table.ty(ty)?.kind else {
            return Ok(false);
        };
        match self.table.get(from)? {
            place @ Entity::BuiltinPart(_) => {
                self.table.define_local(id, ty, place)?;
                Ok(true)
            }
            Entity::Address { global, offset, .. } => {
                let entity = Entity::Address {
                    global,
                    offset,
                    space,
                };
                self.table.define_local(id, ty, entity)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn bitcast(&mut self, value: ValueId, to: TypeId) -> Res<ValueId> {
        let from = self.f.ty(value);
        if from == to {
            return Ok(value);
        }
        let types = &self.module.types;
        let (source, target) = (self.scalar_of(from), self.scalar_of(to));
        let same_lanes = types.lane_count(from) == types.lane_count(to);
        let bits = |scalar: &Type| match scalar {
            Type::Int(bits) | Type::Float(bits) => u32::from(*bits),
            Type::Ptr(_) => 64,
            _ => 0,
        };
        let size_from = bits(&source) * types.lane_count(from);
        let size_to = bits(&target) * types.lane_count(to);
        if size_from == 0 || size_from != size_to {
            return invalid(format!("from {size_from} bits to {size_to} bits"));
        }
        match (&source, &target) {
            (Type::Ptr(_), Type::Ptr(_)) if same_lanes => {
                Ok(self.convert(ConvertOp::AddressSpace, value, to))
            }
            (Type::Ptr(_), _) => {
                let int = self.like(value, |types| types.int(64));
                let number = self.convert(ConvertOp::PtrToInt, value, int);
                self.bitcast_number(number, to)
            }
            (_, Type::Ptr(_)) => {
                let int = self.shaped(to, |types| types.int(64));
                let number = self.bitcast_number(value, int)?;
                Ok(self.convert(ConvertOp::IntToPtr, number, to))
            }
            _ => self.bitcast_number(value, to),
        }
    }

    fn bitcast_number(&mut self, value: ValueId, to: TypeId) -> Res<ValueId> {
        if self.f.ty(value) == to {
            return Ok(value);
        }
        Ok(self.convert(ConvertOp::Bitcast, value, to))
    }

    /// Conversions between numbers.
    fn number(&mut self, op: Spv, id: u32, value: ValueId, to: TypeId) -> Res<ValueId> {
        let rounding = self.rounding(id)?;
        let saturated = self
            .source
            .decoration(id, Decoration::SaturatedConversion)
            .is_some();
        let from_bits = self.bits(value)?;
        let (Type::Int(to_bits) | Type::Float(to_bits)) = self.scalar_of(to) else {
            return invalid("the result type is no number");
        };
        let narrower = to_bits < from_bits;
        let convert = match op {
            Spv::UConvert if to_bits == from_bits => return Ok(value),
            Spv::SConvert if to_bits == from_bits => return Ok(value),
            Spv::UConvert if narrower && saturated => ConvertOp::SatUToU,
            Spv::SConvert if narrower && saturated => ConvertOp::SatSToS,
            Spv::UConvert | Spv::SConvert if narrower => ConvertOp::Trunc,
            Spv::UConvert => ConvertOp::ZExt,
            Spv::SConvert => ConvertOp::SExt,
            Spv::SatConvertUToS if to_bits > from_bits => ConvertOp::ZExt,
            Spv::SatConvertUToS => ConvertOp::SatUToS,
            Spv::SatConvertSToU if to_bits > from_bits => {
                let zero = self.int_of(self.f.ty(value), 0);
                let positive = self.binary(BinaryOp::SMax, value, zero);
                return Ok(self.convert(ConvertOp::ZExt, positive, to));
            }
            Spv::SatConvertSToU => ConvertOp::SatSToU,
            Spv::ConvertFToU if saturated => ConvertOp::SatFToU,
            Spv::ConvertFToS if saturated => ConvertOp::SatFToS,
            Spv::ConvertFToU => ConvertOp::FToU,
            Spv::ConvertFToS => ConvertOp::FToS,
            Spv::ConvertUToF => ConvertOp::UToF,
            Spv::ConvertSToF => ConvertOp::SToF,
            Spv::FConvert if to_bits == from_bits => return Ok(value),
            Spv::FConvert => ConvertOp::FToF,
            _ => return unsupported("this conversion"),
        };
        Ok(self.emit(Op::Convert(convert, value, rounding), to))
    }
}

fn is_conversion(op: Spv) -> bool {
    matches!(
        op,
        Spv::Bitcast
            | Spv::PtrCastToGeneric
            | Spv::GenericCastToPtr
            | Spv::PtrCastToCrossWorkgroupALTERA
            | Spv::CrossWorkgroupCastToPtrALTERA
            | Spv::ConvertPtrToU
            | Spv::ConvertUToPtr
            | Spv::ConvertFToBF16INTEL
            | Spv::ConvertBF16ToFINTEL
            | Spv::QuantizeToF16
            | Spv::UConvert
            | Spv::SConvert
            | Spv::SatConvertUToS
            | Spv::SatConvertSToU
            | Spv::ConvertFToU
            | Spv::ConvertFToS
            | Spv::ConvertUToF
            | Spv::ConvertSToF
            | Spv::FConvert
    )
}
