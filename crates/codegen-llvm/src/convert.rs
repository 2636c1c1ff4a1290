//! Conversions, with roundings and saturations that the processor lacks.

use kernel_ir::{BuildError, ConvertOp, Rounding};

use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};
use crate::lower::{Lower, unsupported};

impl Lower<'_> {
    pub(crate) fn convert(
        &self,
        op: ConvertOp,
        v: Val,
        rounding: Rounding,
        to: Ty,
        word: u32,
    ) -> Result<Val, BuildError> {
        use ConvertOp as C;
        let ir = self.ir;
        let from = ir.type_of(v);
        Ok(match op {
            C::Trunc => ir.cast(Opcode::LLVMTrunc, v, to),
            C::ZExt => ir.cast(Opcode::LLVMZExt, v, to),
            C::SExt => ir.cast(Opcode::LLVMSExt, v, to),
            C::FToU | C::FToS => {
                let whole = self.round_to_whole(v, rounding);
                let opcode = if op == C::FToU {
                    Opcode::LLVMFPToUI
                } else {
                    Opcode::LLVMFPToSI
                };
                // Out of range gives an unspecified value, the same one at every use, and no undefined behaviour.
                ir.freeze(ir.cast(opcode, whole, to))
            }
            C::SatFToS | C::SatFToU => {
                let whole = self.round_to_whole(v, rounding);
                if ir.int_width(ir.scalar(to)) <= 16 {
                    return Ok(self.float_to_narrow(whole, op == C::SatFToS, to));
                }
                if ir.lanes(to).is_some() {
                    return Ok(self.floats_to_wide(whole, op == C::SatFToS, to));
                }
                let name = if op == C::SatFToU {
                    "llvm.fptoui.sat"
                } else {
                    "llvm.fptosi.sat"
                };
                ir.intrinsic(name, &[to, from], &[whole])
            }
            C::UToF | C::SToF => self.int_to_float(v, op == C::SToF, rounding, to),
            C::FToF => self.float_to_float(v, rounding, to),
            C::Bitcast => self.bitcast(v, to),
            C::PtrToInt => ir.cast(Opcode::LLVMPtrToInt, v, to),
            C::IntToPtr => ir.cast(Opcode::LLVMIntToPtr, v, to),
            C::AddressSpace => v,
            C::FToBf16 => self.float_to_bf16(v, to),
            C::Bf16ToF => {
                let wide = ir.shaped(ir.i32, from);
                let bits = ir.cast(Opcode::LLVMZExt, v, wide);
                let bits = ir.shl(bits, ir.int_const(wide, 16));
                ir.cast(Opcode::LLVMBitCast, bits, to)
            }
            C::SatSToS | C::SatSToU | C::SatUToS | C::SatUToU => {
                let (a, b) = (ir.int_width(ir.scalar(from)), ir.int_width(ir.scalar(to)));
                if b > a {
                    return Err(unsupported(
                        word,
                        "a saturating conversion to a wider integer",
                    ));
                }
                let max = |bits: u32| u64::MAX >> (64 - bits);
                let clamp = |v: Val, name: &'static str, limit: u64| {
                    ir.intrinsic(name, &[from], &[v, ir.int_const(from, limit)])
                };
                let clamped = match op {
                    C::SatSToS if a == b => v,
                    C::SatSToS => {
                        let low = (1u64 << (b - 1)).wrapping_neg();
                        clamp(
                            clamp(v, "llvm.smin", max(b) >> 1),
                            "llvm.smax",
                            low & max(a),
                        )
                    }
                    C::SatSToU => {
                        let v = clamp(v, "llvm.smax", 0);
                        if a == b {
                            v
                        } else {
                            clamp(v, "llvm.umin", max(b))
                        }
                    }
                    C::SatUToS => clamp(v, "llvm.umin", max(b) >> 1),
                    _ if a == b => v,
                    _ => clamp(v, "llvm.umin", max(b)),
                };
                ir.cast(Opcode::LLVMTrunc, clamped, to)
            }
        })
    }

    fn bitcast(&self, v: Val, to: Ty) -> Val {
        let ir = self.ir;
        let from = ir.type_of(v);
        match (from == ir.ptr, to == ir.ptr) {
            (false, true) => {
                let int = ir.cast(Opcode::LLVMBitCast, v, ir.i64);
                ir.cast(Opcode::LLVMIntToPtr, int, to)
            }
            (true, false) => {
                let int = ir.cast(Opcode::LLVMPtrToInt, v, ir.i64);
                ir.cast(Opcode::LLVMBitCast, int, to)
            }
            _ => ir.cast(Opcode::LLVMBitCast, v, to),
        }
    }

    /// A half as a float, shaped like `to`; other numbers as they are.
    fn widened_half(&self, v: Val, to: Ty) -> Val {
        let ir = self.ir;
        match ir.scalar(ir.type_of(v)) == ir.half {
            true => ir.cast(Opcode::LLVMFPExt, v, ir.shaped(ir.float, to)),
            false => v,
        }
    }

    /// A whole number, saturated to an integer of at most 16 bits: LLVM would scalarise such vectors.
    fn float_to_narrow(&self, v: Val, signed: bool, to: Ty) -> Val {
        let ir = self.ir;
        let mut v = self.widened_half(v, to);
        let from = ir.type_of(v);
        let bits = ir.int_width(ir.scalar(to));
        let span = 1i32 << bits;
        let (low, high) = if signed {
            (-span / 2, span / 2 - 1)
        } else {
            (0, span - 1)
        };
        let zero = ir.null(from);
        if signed {
            let number = ir.fcmp(RealPred::LLVMRealORD, v, v);
            v = ir.select(number, v, zero);
        }
        let low = ir.float_const(from, f64::from(low));
        let high = ir.float_const(from, f64::from(high));
        // NaN is not greater than the lower bound and becomes it: zero for unsigned integers.
        v = ir.select(ir.fcmp(RealPred::LLVMRealOGT, v, low), v, low);
        v = ir.select(ir.fcmp(RealPred::LLVMRealOLT, v, high), v, high);
        let wide = ir.cast(Opcode::LLVMFPToSI, v, ir.shaped(ir.i32, to));
        ir.cast(Opcode::LLVMTrunc, wide, to)
    }

    /// Whole numbers, saturated to integers of 32 or 64 bits: LLVM scalarises vectors of them. Images that are turned by
    /// nearest texels and resized by linear ones took 1.39 and 1.10 times as long with LLVM's instructions (2026-11,
    /// AMD EPYC of Zen 4, two processors).
    fn floats_to_wide(&self, v: Val, signed: bool, to: Ty) -> Val {
        let ir = self.ir;
        let v = self.widened_half(v, to);
        let from = ir.type_of(v);
        let bits = ir.int_width(ir.scalar(to));
        // The first numbers above and the last one of the range are powers of two, which floats hold.
        let exponent = f64::from(if signed { bits - 1 } else { bits });
        let (low, most) = if signed {
            (-exponent.exp2(), u64::MAX >> (65 - bits))
        } else {
            (0.0, u64::MAX >> (64 - bits))
        };
        let high = ir.float_const(from, exponent.exp2());
        let low = ir.float_const(from, low);
        // NaN is in no range and becomes zero.
        let is_not_less = ir.fcmp(RealPred::LLVMRealOGE, v, low);
        let is_not_above = ir.fcmp(RealPred::LLVMRealOLT, v, high);
        let fits = ir.and(is_not_less, is_not_above);
        let inside = ir.select(fits, v, ir.null(from));
        let opcode = if signed {
            Opcode::LLVMFPToSI
        } else {
            Opcode::LLVMFPToUI
        };
        let whole = ir.cast(opcode, inside, to);
        let is_above = ir.fcmp(RealPred::LLVMRealOGE, v, high);
        let whole = ir.select(is_above, ir.int_const(to, most), whole);
        if !signed {
            return whole;
        }
        let is_less = ir.fcmp(RealPred::LLVMRealOLT, v, low);
        let least = ir.int_const(to, !(u64::MAX >> (65 - bits)));
        ir.select(is_less, least, whole)
    }

    /// `v` rounded to a whole number for a conversion to an integer; unchanged if the conversion truncates.
    fn round_to_whole(&self, v: Val, rounding: Rounding) -> Val {
        let name = match rounding {
            Rounding::Default | Rounding::Rtz => return v,
            Rounding::Rte => "llvm.roundeven",
            Rounding::Rtp => "llvm.ceil",
            Rounding::Rtn => "llvm.floor",
        };
        self.ir.intrinsic(name, &[self.ir.type_of(v)], &[v])
    }

    pub(crate) fn float_to_float(&self, v: Val, rounding: Rounding, to: Ty) -> Val {
        let ir = self.ir;
        let from = ir.type_of(v);
        let (a, b) = (self.float_width(from), self.float_width(to));
        if b >= a {
            return ir.cast(Opcode::LLVMFPExt, v, to);
        }
        let nearest = if (a, b) == (64, 16) {
            // Through f32 rounded to odd: the second rounding is then correct. LLVM would call a function of its
            // run-time library.
            let odd = self.narrow_to_odd(v);
            ir.cast(Opcode::LLVMFPTrunc, odd, to)
        } else {
            ir.cast(Opcode::LLVMFPTrunc, v, to)
        };
        if matches!(rounding, Rounding::Default | Rounding::Rte) {
            return nearest;
        }
        // One step back if the nearest value lies on the wrong side.
        let back = ir.cast(Opcode::LLVMFPExt, nearest, from);
        let int = ir.shaped(ir.int(b), to);
        let bits = ir.cast(Opcode::LLVMBitCast, nearest, int);
        let negative = ir.icmp(IntPred::LLVMIntSLT, bits, ir.int_const(int, 0));
        let one = ir.int_const(int, 1);
        let (larger, smaller) = (ir.add(bits, one), ir.sub(bits, one));
        let (wrong, stepped) = match rounding {
            Rounding::Rtp => (
                ir.fcmp(RealPred::LLVMRealOLT, back, v),
                ir.select(negative, smaller, larger),
            ),
            Rounding::Rtn => (
                ir.fcmp(RealPred::LLVMRealOGT, back, v),
                ir.select(negative, larger, smaller),
            ),
            _ => {
                let abs = |v: Val| ir.intrinsic("llvm.fabs", &[from], &[v]);
                (ir.fcmp(RealPred::LLVMRealOGT, abs(back), abs(v)), smaller)
            }
        };
        ir.cast(Opcode::LLVMBitCast, ir.select(wrong, stepped, bits), to)
    }

    /// f64 to f32, rounded to odd: inexact results have an odd last bit.
    fn narrow_to_odd(&self, v: Val) -> Val {
        let ir = self.ir;
        let from = ir.type_of(v);
        let single = ir.shaped(ir.float, from);
        let int = ir.shaped(ir.i32, from);
        let nearest = ir.cast(Opcode::LLVMFPTrunc, v, single);
        let back = ir.cast(Opcode::LLVMFPExt, nearest, from);
        let bits = ir.cast(Opcode::LLVMBitCast, nearest, int);
        let abs = |v: Val| ir.intrinsic("llvm.fabs", &[from], &[v]);
        let inexact = ir.fcmp(RealPred::LLVMRealONE, back, v);
        let above = ir.fcmp(RealPred::LLVMRealOGT, abs(back), abs(v));
        let one = ir.int_const(int, 1);
        // Truncate, then set the last bit.
        let truncated = ir.select(above, ir.sub(bits, one), bits);
        let odd = ir.select(inexact, ir.or(truncated, one), bits);
        ir.cast(Opcode::LLVMBitCast, odd, single)
    }

    fn int_to_float(&self, v: Val, signed: bool, rounding: Rounding, to: Ty) -> Val {
        let ir = self.ir;
        let from = ir.type_of(v);
        let nearest = |v: Val, to: Ty| {
            let opcode = if signed {
                Opcode::LLVMSIToFP
            } else {
                Opcode::LLVMUIToFP
            };
            ir.cast(opcode, v, to)
        };
        if matches!(rounding, Rounding::Default | Rounding::Rte) {
            return nearest(v, to);
        }
        if self.float_width(to) == 16 {
            let wide = ir.shaped(ir.double, to);
            let exact = self.int_to_float(v, signed, rounding, wide);
            return self.float_to_float(exact, rounding, to);
        }
        // The magnitude, cut to the float's precision, converts exactly. One step up where the rounding direction
        // leads away from zero.
        let wide = ir.shaped(ir.i64, from);
        let zero = ir.int_const(wide, 0);
        let (magnitude, negative) = if signed {
            let wide_v = ir.cast(Opcode::LLVMSExt, v, wide);
            let magnitude = ir.intrinsic("llvm.abs", &[wide], &[wide_v, ir.int_const(ir.i1, 0)]);
            (magnitude, ir.icmp(IntPred::LLVMIntSLT, wide_v, zero))
        } else {
            let wide_v = ir.cast(Opcode::LLVMZExt, v, wide);
            (wide_v, ir.icmp(IntPred::LLVMIntNE, zero, zero))
        };
        let precision = if self.float_width(to) == 32 { 24 } else { 53 };
        let zeros = ir.intrinsic("llvm.ctlz", &[wide], &[magnitude, ir.int_const(ir.i1, 0)]);
        let spare = ir.intrinsic(
            "llvm.usub.sat",
            &[wide],
            &[ir.int_const(wide, 64 - precision), zeros],
        );
        let ones = ir.int_const(wide, u64::MAX);
        let kept = ir.and(magnitude, ir.shl(ones, spare));
        let inexact = ir.icmp(IntPred::LLVMIntNE, kept, magnitude);
        let float = ir.cast(Opcode::LLVMUIToFP, kept, to);
        let int = ir.shaped(ir.int(self.float_width(to)), to);
        let bits = ir.cast(Opcode::LLVMBitCast, float, int);
        let away = match rounding {
            Rounding::Rtp => ir.and(inexact, ir.not(negative)),
            Rounding::Rtn => ir.and(inexact, negative),
            _ => ir.and(inexact, ir.not(inexact)),
        };
        let bits = ir.select(away, ir.add(bits, ir.int_const(int, 1)), bits);
        let float = ir.cast(Opcode::LLVMBitCast, bits, to);
        ir.select(negative, ir.fneg(float), float)
    }

    fn float_to_bf16(&self, v: Val, to: Ty) -> Val {
        let ir = self.ir;
        let int = ir.shaped(ir.i32, ir.type_of(v));
        let bits = ir.cast(Opcode::LLVMBitCast, v, int);
        let sixteen = ir.int_const(int, 16);
        let high = ir.lshr(bits, sixteen);
        let odd = ir.and(high, ir.int_const(int, 1));
        let rounded = ir.add(bits, ir.add(odd, ir.int_const(int, 0x7fff)));
        let rounded = ir.lshr(rounded, sixteen);
        let quiet = ir.or(high, ir.int_const(int, 0x40));
        let nan = ir.fcmp(RealPred::LLVMRealUNO, v, v);
        ir.cast(Opcode::LLVMTrunc, ir.select(nan, quiet, rounded), to)
    }
}
