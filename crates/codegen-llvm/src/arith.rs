//! Arithmetic, comparisons, and the construction and extraction of vectors and aggregates.

use kernel_ir::{BinaryOp, BuildError, Flags, Predicate, Type, TypeId, UnaryOp, ValueId};

use crate::fast_math::{AFN, ARCP, CONTRACT, NINF, NNAN, NSZ, REASSOC};
use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};
use crate::lower::{Lower, unsupported};

/// LLVM's fast-math flags for SPIR-V's. Contraction is already done, in kernel-ir.
pub(crate) fn fast_flags(fast: u32) -> u32 {
    let mut flags = 0;
    for (bit, flag) in [
        (1, NNAN),
        (2, NINF),
        (4, NSZ),
        (8, ARCP),
        (16, REASSOC | NNAN | NINF | NSZ | ARCP | CONTRACT | AFN),
        (0x2_0000, REASSOC),
    ] {
        if fast & bit != 0 {
            flags |= flag;
        }
    }
    flags
}

impl Lower<'_> {
    /// Gives a float operation the fast-math flags that its kernel and its own flags permit.
    pub(crate) fn fast(&self, v: Val, flags: Flags) -> Val {
        if flags.fast & Flags::ROUNDED != 0 {
            return self
                .ir
                .intrinsic("llvm.arithmetic.fence", &[self.ir.type_of(v)], &[v]);
        }
        self.ir.set_fast(v, self.fast | fast_flags(flags.fast));
        v
    }

    fn bits(&self, ty: Ty) -> u32 {
        self.ir.int_width(self.ir.scalar(ty))
    }

    /// The divisor, or 1 where the processor would trap: division by zero, and the overflow of MIN / -1.
    pub(crate) fn safe_divisor(&self, a: Val, b: Val, signed: bool) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(b);
        let mut bad = ir.icmp(IntPred::LLVMIntEQ, b, ir.int_const(ty, 0));
        if signed {
            let minimum = ir.int_const(ty, 1 << (self.bits(ty) - 1));
            let low = ir.icmp(IntPred::LLVMIntEQ, a, minimum);
            let ones = ir.icmp(
                IntPred::LLVMIntEQ,
                b,
                ir.int_const(ty, u64::MAX >> (64 - self.bits(ty))),
            );
            bad = ir.or(bad, ir.and(low, ones));
        }
        ir.select(bad, ir.int_const(ty, 1), b)
    }

    pub(crate) fn binary(&self, op: BinaryOp, a: Val, b: Val, flags: Flags) -> Val {
        use BinaryOp as B;
        let ir = self.ir;
        let ty = ir.type_of(a);
        let wrap = |opcode: Opcode| {
            let v = ir.bin(opcode, a, b);
            if self.wrap_flags {
                ir.set_wrap(v, flags.nsw, flags.nuw);
            }
            v
        };
        let float = |opcode: Opcode| self.fast(ir.bin(opcode, a, b), flags);
        let call = |name: &'static str| ir.intrinsic(name, &[ty], &[a, b]);
        let shift = |opcode: Opcode| {
            let amount = ir.and(b, ir.int_const(ty, u64::from(self.bits(ty) - 1)));
            ir.bin(opcode, a, amount)
        };
        let divide =
            |opcode: Opcode, signed: bool| ir.bin(opcode, a, self.safe_divisor(a, b, signed));
        match op {
            B::IAdd => wrap(Opcode::LLVMAdd),
            B::ISub => wrap(Opcode::LLVMSub),
            B::IMul => wrap(Opcode::LLVMMul),
            B::UDiv => divide(Opcode::LLVMUDiv, false),
            B::SDiv => divide(Opcode::LLVMSDiv, true),
            B::URem => divide(Opcode::LLVMURem, false),
            B::SRem => divide(Opcode::LLVMSRem, true),
            B::SMod => {
                let divisor = self.safe_divisor(a, b, true);
                let rest = ir.bin(Opcode::LLVMSRem, a, divisor);
                let zero = ir.int_const(ty, 0);
                let some = ir.icmp(IntPred::LLVMIntNE, rest, zero);
                let differ = ir.icmp(IntPred::LLVMIntSLT, ir.xor(rest, divisor), zero);
                let other = ir.add(rest, divisor);
                ir.select(ir.and(some, differ), other, rest)
            }
            B::Shl => shift(Opcode::LLVMShl),
            B::LShr => shift(Opcode::LLVMLShr),
            B::AShr => shift(Opcode::LLVMAShr),
            B::And => ir.and(a, b),
            B::Or => ir.or(a, b),
            B::Xor | B::LogicalNotEqual => ir.xor(a, b),
            B::LogicalEqual => ir.not(ir.xor(a, b)),
            B::FAdd => float(Opcode::LLVMFAdd),
            B::FSub => float(Opcode::LLVMFSub),
            B::FMul => float(Opcode::LLVMFMul),
            B::FDiv => float(Opcode::LLVMFDiv),
            B::FRem => self.per_lane2("fmod", a, b),
            B::FMod => {
                let rest = self.per_lane2("fmod", a, b);
                let zero = ir.null(ty);
                let some = ir.fcmp(RealPred::LLVMRealUNE, rest, zero);
                let negative = |v: Val| ir.fcmp(RealPred::LLVMRealOLT, v, zero);
                let differ = ir.xor(negative(rest), negative(b));
                let other = ir.bin(Opcode::LLVMFAdd, rest, b);
                ir.select(ir.and(some, differ), other, rest)
            }
            B::SMin => call("llvm.smin"),
            B::SMax => call("llvm.smax"),
            B::UMin => call("llvm.umin"),
            B::UMax => call("llvm.umax"),
            B::SAddSat => call("llvm.sadd.sat"),
            B::UAddSat => call("llvm.uadd.sat"),
            B::SSubSat => call("llvm.ssub.sat"),
            B::USubSat => call("llvm.usub.sat"),
            B::SMulHi | B::UMulHi => {
                let bits = self.bits(ty);
                let wide = ir.shaped(ir.int(bits * 2), ty);
                let extend = if op == B::SMulHi {
                    Opcode::LLVMSExt
                } else {
                    Opcode::LLVMZExt
                };
                let product = ir.mul(ir.cast(extend, a, wide), ir.cast(extend, b, wide));
                let high = ir.lshr(product, ir.int_const(wide, u64::from(bits)));
                ir.cast(Opcode::LLVMTrunc, high, ty)
            }
            B::Rotate => ir.intrinsic("llvm.fshl", &[ty], &[a, a, b]),
        }
    }

    pub(crate) fn unary(&self, op: UnaryOp, a: Val, flags: Flags, result: Ty) -> Val {
        use UnaryOp as U;
        let ir = self.ir;
        let ty = ir.type_of(a);
        let no = || ir.int_const(ir.i1, 0);
        // Bits of the class test: nan 3, negative 0x3c, positive 0x3c0 by kind.
        let class = |mask: u32| ir.intrinsic("llvm.is.fpclass", &[ty], &[a, ir.i32c(mask)]);
        match op {
            U::INeg => {
                let v = ir.neg(a);
                ir.set_wrap(v, flags.nsw && self.wrap_flags, false);
                v
            }
            U::FNeg => self.fast(ir.fneg(a), flags),
            U::Not => ir.not(a),
            U::PopCount => ir.intrinsic("llvm.ctpop", &[ty], &[a]),
            U::CountLeadingZeros => ir.intrinsic("llvm.ctlz", &[ty], &[a, no()]),
            U::CountTrailingZeros => ir.intrinsic("llvm.cttz", &[ty], &[a, no()]),
            U::BitReverse => ir.intrinsic("llvm.bitreverse", &[ty], &[a]),
            U::SAbs => ir.intrinsic("llvm.abs", &[ty], &[a, no()]),
            U::IsNan => ir.fcmp(RealPred::LLVMRealUNO, a, a),
            U::IsInf => class(0x204),
            U::IsFinite => class(0x1f8),
            U::IsNormal => class(0x108),
            U::SignBit => {
                let int = ir.shaped(ir.int(self.float_width(ty)), ty);
                let bits = ir.cast(Opcode::LLVMBitCast, a, int);
                let set = ir.icmp(IntPred::LLVMIntSLT, bits, ir.int_const(int, 0));
                // A Bool, or an integer of the result's type.
                ir.cast(Opcode::LLVMZExt, set, result)
            }
            U::AnyLane => match ir.lanes(ty) {
                Some(_) => ir.intrinsic("llvm.vector.reduce.or", &[ty], &[a]),
                None => a,
            },
            U::AllLanes => match ir.lanes(ty) {
                Some(_) => ir.intrinsic("llvm.vector.reduce.and", &[ty], &[a]),
                None => a,
            },
        }
    }

    pub(crate) fn float_width(&self, ty: Ty) -> u32 {
        let scalar = self.ir.scalar(ty);
        if scalar == self.ir.half {
            16
        } else if scalar == self.ir.double {
            64
        } else {
            32
        }
    }

    pub(crate) fn compare(&self, predicate: Predicate, a: Val, b: Val) -> Val {
        use Predicate as P;
        let int = |p: IntPred| self.ir.icmp(p, a, b);
        let float = |p: RealPred| self.ir.fcmp(p, a, b);
        match predicate {
            P::IEq => int(IntPred::LLVMIntEQ),
            P::INe => int(IntPred::LLVMIntNE),
            P::ULt => int(IntPred::LLVMIntULT),
            P::ULe => int(IntPred::LLVMIntULE),
            P::UGt => int(IntPred::LLVMIntUGT),
            P::UGe => int(IntPred::LLVMIntUGE),
            P::SLt => int(IntPred::LLVMIntSLT),
            P::SLe => int(IntPred::LLVMIntSLE),
            P::SGt => int(IntPred::LLVMIntSGT),
            P::SGe => int(IntPred::LLVMIntSGE),
            P::FOrdEq => float(RealPred::LLVMRealOEQ),
            P::FOrdNe => float(RealPred::LLVMRealONE),
            P::FOrdLt => float(RealPred::LLVMRealOLT),
            P::FOrdLe => float(RealPred::LLVMRealOLE),
            P::FOrdGt => float(RealPred::LLVMRealOGT),
            P::FOrdGe => float(RealPred::LLVMRealOGE),
            P::FUnordEq => float(RealPred::LLVMRealUEQ),
            P::FUnordNe => float(RealPred::LLVMRealUNE),
            P::FUnordLt => float(RealPred::LLVMRealULT),
            P::FUnordLe => float(RealPred::LLVMRealULE),
            P::FUnordGt => float(RealPred::LLVMRealUGT),
            P::FUnordGe => float(RealPred::LLVMRealUGE),
            P::FOrdered => float(RealPred::LLVMRealORD),
            P::FUnordered => float(RealPred::LLVMRealUNO),
        }
    }

    /// A value of type `ty` made of `parts`.
    pub(crate) fn construct(&mut self, parts: &[ValueId], ty: TypeId) -> Val {
        let ir = self.ir;
        if !matches!(self.values.module.types.get(ty), Type::Vector(..)) {
            let mut whole = ir.poison(self.values.memory(ty));
            for (i, &part) in parts.iter().enumerate() {
                let v = self.get(part);
                let v = self.values.to_memory(v, self.ty(part));
                whole = ir.insert_value(whole, v, i as u32);
            }
            return whole;
        }
        let mut whole = ir.poison(self.values.register(ty));
        let mut at = 0;
        for &part in parts {
            let v = self.get(part);
            for lane in 0..ir.lanes(ir.type_of(v)).unwrap_or(0) {
                let element = ir.extract_element(v, ir.i32c(lane));
                whole = ir.insert_element(whole, element, ir.i32c(at));
                at += 1;
            }
            if ir.lanes(ir.type_of(v)).is_none() {
                whole = ir.insert_element(whole, v, ir.i32c(at));
                at += 1;
            }
        }
        whole
    }

    /// The part of `whole` at `path`, in the register form of its type.
    pub(crate) fn extract(&self, mut whole: Val, mut ty: TypeId, path: &[u32]) -> Val {
        let ir = self.ir;
        let types = &self.values.module.types;
        for &step in path {
            let part = types.element(ty, u64::from(step)).unwrap_or(ty);
            whole = match types.get(ty) {
                Type::Vector(..) => ir.extract_element(whole, ir.i32c(step)),
                _ => {
                    let part_value = ir.extract_value(whole, step);
                    self.values.to_register(part_value, part)
                }
            };
            ty = part;
        }
        whole
    }

    /// `whole` with the part at `path` replaced.
    pub(crate) fn insert(&self, whole: Val, ty: TypeId, part: Val, path: &[u32]) -> Val {
        let ir = self.ir;
        let Some((&step, rest)) = path.split_first() else {
            return part;
        };
        let types = &self.values.module.types;
        let inner_ty = types.element(ty, u64::from(step)).unwrap_or(ty);
        let inner = if rest.is_empty() {
            part
        } else {
            let old = self.extract(whole, ty, &[step]);
            self.insert(old, inner_ty, part, rest)
        };
        match types.get(ty) {
            Type::Vector(..) => ir.insert_element(whole, inner, ir.i32c(step)),
            _ => {
                let inner = self.values.to_memory(inner, inner_ty);
                ir.insert_value(whole, inner, step)
            }
        }
    }

    /// Splits a work-item's value into scalars.
    pub(crate) fn split_scalars(&self, v: Val, ty: TypeId, out: &mut Vec<Val>) {
        let (ir, types) = (self.ir, &self.values.module.types);
        match types.get(ty) {
            Type::Void => {}
            Type::Vector(_, n) => {
                out.extend((0..*n).map(|i| ir.extract_element(v, ir.i32c(i))));
            }
            Type::Array(element, len) => {
                for i in 0..*len {
                    self.part(v, i as u32, *element, out);
                }
            }
            Type::Struct { fields, .. } => {
                for (i, &field) in fields.iter().enumerate() {
                    self.part(v, i as u32, field, out);
                }
            }
            _ => out.push(v),
        }
    }

    fn part(&self, whole: Val, index: u32, ty: TypeId, out: &mut Vec<Val>) {
        let part = self.ir.extract_value(whole, index);
        self.split_scalars(self.values.to_register(part, ty), ty, out);
    }

    /// A work-item's value made of scalars.
    pub(crate) fn join_scalars(&self, ty: TypeId, scalars: &mut impl Iterator<Item = Val>) -> Val {
        let (ir, types) = (self.ir, &self.values.module.types);
        let fields: Vec<TypeId> = match types.get(ty) {
            Type::Vector(element, n) => vec![*element; *n as usize],
            Type::Array(element, len) => vec![*element; *len as usize],
            Type::Struct { fields, .. } => fields.clone(),
            _ => {
                return scalars
                    .next()
                    .unwrap_or_else(|| ir.null(self.values.register(ty)));
            }
        };
        let vector = matches!(types.get(ty), Type::Vector(..));
        let mut whole = ir.poison(self.values.register(ty));
        for (i, field) in fields.into_iter().enumerate() {
            let part = self.join_scalars(field, scalars);
            whole = if vector {
                ir.insert_element(whole, part, ir.i32c(i as u32))
            } else {
                ir.insert_value(whole, self.values.to_memory(part, field), i as u32)
            };
        }
        whole
    }

    /// The index of the first scalar of the part at `path`, and the number of its scalars.
    pub(crate) fn place_of(&self, mut ty: TypeId, path: &[u32]) -> (usize, usize) {
        let types = &self.values.module.types;
        let count = |ty: TypeId| {
            let mut all = Vec::new();
            types.scalars(ty, 0, &mut all);
            all.len()
        };
        let mut from = 0;
        for &step in path {
            let parts = (0..u64::from(step)).filter_map(|i| types.element(ty, i));
            from += match types.get(ty) {
                Type::Vector(..) => step as usize,
                _ => parts.map(count).sum(),
            };
            ty = types.element(ty, u64::from(step)).unwrap_or(ty);
        }
        (from, count(ty))
    }

    /// Selects lanes of `a` followed by `b`, which may differ in length.
    pub(crate) fn pick_lanes(
        &self,
        a: Val,
        b: Val,
        lanes: &[u32],
        word: u32,
    ) -> Result<Val, BuildError> {
        let ir = self.ir;
        let (na, nb) = (
            ir.lanes(ir.type_of(a)).unwrap_or(0),
            ir.lanes(ir.type_of(b)).unwrap_or(0),
        );
        if na == 0 || nb == 0 {
            return Err(unsupported(word, "a shuffle of what is no vector"));
        }
        if na == nb {
            return Ok(ir.shuffle(a, b, lanes));
        }
        // A shuffle takes vectors of one length: the shorter one is padded.
        let n = na.max(nb);
        let widen = |v: Val, from: u32| {
            let lanes: Vec<u32> = (0..n)
                .map(|i| if i < from { i } else { u32::MAX })
                .collect();
            ir.shuffle(v, v, &lanes)
        };
        let (a, b) = (widen(a, na), widen(b, nb));
        let lanes: Vec<u32> = lanes
            .iter()
            .map(|&l| match l {
                u32::MAX => u32::MAX,
                l if l < na => l,
                l => l - na + n,
            })
            .collect();
        Ok(ir.shuffle(a, b, &lanes))
    }
}
