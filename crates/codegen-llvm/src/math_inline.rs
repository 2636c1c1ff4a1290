//! Mathematics made of instructions, for vectors: exponentials, logarithms, circular functions, powers.
//!
//! Series, not tables: after the usual reduction the arguments are small enough for a few terms, whose
//! coefficients are the exact ones. Circular functions and powers of floats are computed in doubles. Where an
//! argument is beyond a reduction (huge angles, negative bases), all lanes go through C's library. Errors are held
//! against the interpreter in `tests/machine/mathematics.rs`; they stay within OpenCL's full profile.

use kernel_ir::MathFn;

use crate::kernel::Lower;
use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};

/// Lanes from which this is faster than C's library lane by lane.
const LANES: u32 = 4;
/// Beyond this the reduction of angles loses bits.
const ANGLE: f64 = 1_048_576.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    E,
    Two,
    Ten,
}

/// Whether some vectors of it are computed here.
pub(crate) fn has(math: MathFn) -> bool {
    use MathFn as M;
    matches!(
        math,
        M::Exp
            | M::NativeExp
            | M::Exp2
            | M::NativeExp2
            | M::Exp10
            | M::NativeExp10
            | M::Log
            | M::NativeLog
            | M::Log2
            | M::NativeLog2
            | M::Log10
            | M::NativeLog10
            | M::Sin
            | M::NativeSin
            | M::Cos
            | M::NativeCos
            | M::Tan
            | M::NativeTan
            | M::Pow
    )
}

/// 1 / n!
fn reciprocal_factorial(n: u32) -> f64 {
    (1..=n).fold(1.0, |all, k| all / f64::from(k))
}

impl Lower<'_> {
    /// The function on vectors of floats or doubles; `None` where there is no such form.
    pub(crate) fn math_inline(&self, math: MathFn, args: &[Val]) -> Option<Val> {
        use MathFn as M;
        let ir = self.ir;
        let x = *args.first()?;
        let ty = ir.type_of(x);
        let wide = ir.scalar(ty) == ir.double;
        if ir.lanes(ty)? < LANES || !(wide || ir.scalar(ty) == ir.float) {
            return None;
        }
        Some(match math {
            M::Exp | M::NativeExp => self.exponential(x, Base::E),
            M::Exp2 | M::NativeExp2 => self.exponential(x, Base::Two),
            M::Exp10 | M::NativeExp10 => self.exponential(x, Base::Ten),
            M::Log | M::NativeLog => self.logarithm(x, Base::E),
            M::Log2 | M::NativeLog2 => self.logarithm(x, Base::Two),
            M::Log10 | M::NativeLog10 => self.logarithm(x, Base::Ten),
            M::Sin | M::NativeSin => self.circular(x, "sin"),
            M::Cos | M::NativeCos => self.circular(x, "cos"),
            M::Tan | M::NativeTan => self.circular(x, "tan"),
            M::Pow if !wide => self.power(x, *args.get(1)?),
            _ => return None,
        })
    }

    fn mul_add(&self, a: Val, b: Val, c: Val) -> Val {
        let ty = self.ir.type_of(a);
        self.ir.intrinsic("llvm.fma", &[ty], &[a, b, c])
    }

    /// c0 + x (c1 + x (c2 + ...)).
    fn series(&self, x: Val, coefficients: &[f64]) -> Val {
        let ty = self.ir.type_of(x);
        let mut terms = coefficients
            .iter()
            .rev()
            .map(|&c| self.ir.float_const(ty, c));
        let first = terms.next().unwrap_or_else(|| self.ir.null(ty));
        terms.fold(first, |all, c| self.mul_add(all, x, c))
    }

    /// Bits of the fraction, the exponent's bias, the integer type.
    fn format(&self, ty: Ty) -> (u64, u64, Ty) {
        let ir = self.ir;
        if ir.scalar(ty) == ir.double {
            (52, 1023, ir.shaped(ir.i64, ty))
        } else {
            (23, 127, ir.shaped(ir.i32, ty))
        }
    }

    /// 2^n for integers `n` that are exponents of normal numbers.
    fn two_to(&self, n: Val, ty: Ty) -> Val {
        let ir = self.ir;
        let (fraction, bias, int) = self.format(ty);
        let bits = ir.shl(
            ir.add(n, ir.int_const(int, bias)),
            ir.int_const(int, fraction),
        );
        ir.cast(Opcode::LLVMBitCast, bits, ty)
    }

    fn exponential(&self, x: Val, base: Base) -> Val {
        use std::f64::consts as c;
        let ir = self.ir;
        let ty = ir.type_of(x);
        let wide = ir.scalar(ty) == ir.double;
        let number = |v: f64| ir.float_const(ty, v);
        // Beyond these the result is 0 or infinite.
        let (low, high) = match (base, wide) {
            (Base::E, false) => (-105.0, 90.0),
            (Base::Two, false) => (-152.0, 130.0),
            (Base::Ten, false) => (-47.0, 40.0),
            (Base::E, true) => (-747.0, 711.0),
            (Base::Two, true) => (-1078.0, 1026.0),
            (Base::Ten, true) => (-325.0, 310.0),
        };
        let inside = ir.intrinsic("llvm.maxnum", &[ty], &[x, number(low)]);
        let inside = ir.intrinsic("llvm.minnum", &[ty], &[inside, number(high)]);
        let times = |v: Val, f: f64| ir.bin(Opcode::LLVMFMul, v, number(f));
        let round = |v: Val| ir.intrinsic("llvm.rint", &[ty], &[v]);
        // n ln 2, or n log10 2, in two parts, the first with few bits.
        let reduce = |n: Val, hi: f64, lo: f64| {
            let r = self.mul_add(n, number(-hi), inside);
            self.mul_add(n, number(-lo), r)
        };
        let parts = |whole: f64, lo: f64| {
            if wide {
                (whole, lo)
            } else {
                let hi = f64::from(whole as f32);
                (hi, whole - hi)
            }
        };
        let (n, r) = match base {
            Base::E => {
                let n = round(times(inside, c::LOG2_E));
                let (hi, lo) = parts(c::LN_2, 2.319_046_813_846_299_6e-17);
                (n, reduce(n, hi, lo))
            }
            Base::Two => {
                let n = round(inside);
                (n, times(ir.bin(Opcode::LLVMFSub, inside, n), c::LN_2))
            }
            Base::Ten => {
                let n = round(times(inside, c::LOG2_10));
                let (hi, lo) = parts(c::LOG10_2, -2.803_728_127_785_170_3e-18);
                (n, times(reduce(n, hi, lo), c::LN_10))
            }
        };
        let terms = if wide { 13 } else { 7 };
        let coefficients: Vec<f64> = (2..=terms).map(reciprocal_factorial).collect();
        let q = self.series(r, &coefficients);
        let small = self.mul_add(ir.bin(Opcode::LLVMFMul, r, r), q, r);
        let p = ir.bin(Opcode::LLVMFAdd, small, number(1.0));
        // In two steps, so that results below the normal numbers are rounded once.
        let (_, _, int) = self.format(ty);
        let n = ir.cast(Opcode::LLVMFPToSI, n, int);
        let half = ir.bin(Opcode::LLVMAShr, n, ir.int_const(int, 1));
        let rest = ir.sub(n, half);
        let p = ir.bin(Opcode::LLVMFMul, p, self.two_to(half, ty));
        let p = ir.bin(Opcode::LLVMFMul, p, self.two_to(rest, ty));
        let nan = ir.fcmp(RealPred::LLVMRealUNO, x, x);
        ir.select(nan, x, p)
    }

    fn logarithm(&self, x: Val, base: Base) -> Val {
        use std::f64::consts as c;
        let ir = self.ir;
        let ty = ir.type_of(x);
        let wide = ir.scalar(ty) == ir.double;
        let number = |v: f64| ir.float_const(ty, v);
        let bin = |op: Opcode, a: Val, b: Val| ir.bin(op, a, b);
        let (fraction, _, int) = self.format(ty);
        let (least, up, by) = if wide {
            (f64::MIN_POSITIVE, 18_014_398_509_481_984.0, 54.0)
        } else {
            (f64::from(f32::MIN_POSITIVE), 33_554_432.0, 25.0)
        };
        // Below the normal numbers.
        let tiny = ir.fcmp(RealPred::LLVMRealOLT, x, number(least));
        let scaled = bin(Opcode::LLVMFMul, x, number(up));
        let v = ir.select(tiny, scaled, x);
        // x = 2^e m with m from sqrt(1/2) to sqrt(2).
        let root = if wide {
            c::FRAC_1_SQRT_2.to_bits()
        } else {
            u64::from((c::FRAC_1_SQRT_2 as f32).to_bits())
        };
        let bits = ir.cast(Opcode::LLVMBitCast, v, int);
        let e = bin(
            Opcode::LLVMAShr,
            ir.sub(bits, ir.int_const(int, root)),
            ir.int_const(int, fraction),
        );
        let m = ir.sub(bits, ir.shl(e, ir.int_const(int, fraction)));
        let m = ir.cast(Opcode::LLVMBitCast, m, ty);
        let e = ir.cast(Opcode::LLVMSIToFP, e, ty);
        let e = ir.select(tiny, bin(Opcode::LLVMFSub, e, number(by)), e);
        // log(1 + f) = f - f^2/2 + s (f^2/2 + R), s = f / (2 + f), R the series of the inverse hyperbolic tangent.
        let f = bin(Opcode::LLVMFSub, m, number(1.0));
        let s = bin(Opcode::LLVMFDiv, f, bin(Opcode::LLVMFAdd, f, number(2.0)));
        let z = bin(Opcode::LLVMFMul, s, s);
        let terms = if wide { 11 } else { 5 };
        let coefficients: Vec<f64> = (0..terms).map(|k| 2.0 / f64::from(2 * k + 3)).collect();
        let r = bin(Opcode::LLVMFMul, z, self.series(z, &coefficients));
        let half = bin(Opcode::LLVMFMul, number(0.5), bin(Opcode::LLVMFMul, f, f));
        let corrected = bin(Opcode::LLVMFMul, s, bin(Opcode::LLVMFAdd, half, r));
        let result = match base {
            Base::E => {
                let hi = if wide {
                    f64::from_bits(c::LN_2.to_bits() & !0xffff_ffff)
                } else {
                    f64::from(f32::from_bits((c::LN_2 as f32).to_bits() & !0xfff))
                };
                let low = self.mul_add(e, number(c::LN_2 - hi), corrected);
                let low = bin(Opcode::LLVMFSub, half, low);
                let low = bin(Opcode::LLVMFSub, f, low);
                self.mul_add(e, number(hi), low)
            }
            Base::Two | Base::Ten => {
                let log = bin(Opcode::LLVMFSub, f, bin(Opcode::LLVMFSub, half, corrected));
                if base == Base::Two {
                    self.mul_add(log, number(c::LOG2_E), e)
                } else {
                    let log = bin(Opcode::LLVMFMul, log, number(c::LOG10_E));
                    let hi = if wide {
                        c::LOG10_2
                    } else {
                        f64::from(c::LOG10_2 as f32)
                    };
                    let log = self.mul_add(e, number(c::LOG10_2 - hi), log);
                    self.mul_add(e, number(hi), log)
                }
            }
        };
        let infinity = number(f64::INFINITY);
        let is = |p: RealPred, v: Val| ir.fcmp(p, x, v);
        let result = ir.select(is(RealPred::LLVMRealOEQ, infinity), infinity, result);
        let zero = number(0.0);
        let result = ir.select(
            is(RealPred::LLVMRealOEQ, zero),
            number(f64::NEG_INFINITY),
            result,
        );
        ir.select(is(RealPred::LLVMRealULT, zero), number(f64::NAN), result)
    }

    /// `fast` where every lane of `fits` holds, else `slow`.
    fn if_all(&self, fits: Val, fast: impl FnOnce() -> Val, slow: impl FnOnce() -> Val) -> Val {
        let ir = self.ir;
        let lanes = ir.lanes(ir.type_of(fits)).unwrap_or(1);
        // Lanes that are off may hold anything.
        let bits = ir.cast(Opcode::LLVMBitCast, ir.freeze(fits), ir.int(lanes));
        let ones = ir.int_const(ir.int(lanes), u64::MAX);
        let all = ir.icmp(IntPred::LLVMIntEQ, bits, ones);
        let [yes, no, join] = [c"inline", c"library", c"computed"].map(|name| self.new_block(name));
        ir.cond_br(all, yes, no);
        ir.at_end(yes);
        let a = fast();
        let yes = ir.here();
        ir.br(join);
        ir.at_end(no);
        let b = slow();
        let no = ir.here();
        ir.br(join);
        ir.at_end(join);
        let both = ir.phi(ir.type_of(a));
        ir.add_incoming(both, a, yes);
        ir.add_incoming(both, b, no);
        both
    }

    fn circular(&self, x: Val, name: &str) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(x);
        let magnitude = ir.intrinsic("llvm.fabs", &[ty], &[x]);
        let fits = ir.fcmp(RealPred::LLVMRealOLT, magnitude, ir.float_const(ty, ANGLE));
        self.if_all(
            fits,
            || {
                let double = ir.shaped(ir.double, ty);
                let wide = ir.cast(Opcode::LLVMFPExt, x, double);
                let v = self.small_angle(wide, name, ty == double);
                let v = ir.cast(Opcode::LLVMFPTrunc, v, ty);
                if name == "cos" {
                    return v;
                }
                // The sign of zero.
                let zero = ir.fcmp(RealPred::LLVMRealOEQ, x, ir.null(ty));
                ir.select(zero, x, v)
            },
            || self.per_lane(name, &[x], ty),
        )
    }

    /// In doubles, for angles below [`ANGLE`]; `exact` to a double, else to a float.
    fn small_angle(&self, x: Val, name: &str, exact: bool) -> Val {
        use std::f64::consts as c;
        let ir = self.ir;
        let ty = ir.type_of(x);
        let int = ir.shaped(ir.i64, ty);
        let number = |v: f64| ir.float_const(ty, v);
        let n = ir.bin(Opcode::LLVMFMul, x, number(c::FRAC_2_PI));
        let n = ir.intrinsic("llvm.rint", &[ty], &[n]);
        // Pi/2 in three parts.
        let mut r = self.mul_add(n, number(-c::FRAC_PI_2), x);
        r = self.mul_add(n, number(-6.123_233_995_736_766e-17), r);
        if exact {
            r = self.mul_add(n, number(1.497_384_904_859_169_8e-33), r);
        }
        // By a shift of the binary point: AVX2 has no conversion to 64-bit integers.
        let magic = number(6_755_399_441_055_744.0);
        let q = ir.bin(Opcode::LLVMFAdd, n, magic);
        let q = ir.cast(Opcode::LLVMBitCast, q, int);
        let z = ir.bin(Opcode::LLVMFMul, r, r);
        let (last_sin, last_cos) = if exact { (17, 18) } else { (11, 12) };
        let sign = |n: u32| if (n / 2).is_multiple_of(2) { 1.0 } else { -1.0 };
        let sin: Vec<f64> = (3..=last_sin)
            .step_by(2)
            .map(|n| sign(n) * reciprocal_factorial(n))
            .collect();
        let cos: Vec<f64> = (4..=last_cos)
            .step_by(2)
            .map(|n| sign(n) * reciprocal_factorial(n))
            .collect();
        let cube = ir.bin(Opcode::LLVMFMul, r, z);
        let sine = self.mul_add(cube, self.series(z, &sin), r);
        // 1 - z/2 with what is lost in it.
        let half = ir.bin(Opcode::LLVMFMul, z, number(0.5));
        let near = ir.bin(Opcode::LLVMFSub, number(1.0), half);
        let lost = ir.bin(Opcode::LLVMFSub, number(1.0), near);
        let lost = ir.bin(Opcode::LLVMFSub, lost, half);
        let square = ir.bin(Opcode::LLVMFMul, z, z);
        let tail = self.mul_add(square, self.series(z, &cos), lost);
        let cosine = ir.bin(Opcode::LLVMFAdd, near, tail);
        let bit = |q: Val, mask: u64| {
            let set = ir.and(q, ir.int_const(int, mask));
            ir.icmp(IntPred::LLVMIntNE, set, ir.null(int))
        };
        let odd = bit(q, 1);
        let signed = |v: Val, negative: Val| ir.select(negative, ir.fneg(v), v);
        let sin_of = || signed(ir.select(odd, cosine, sine), bit(q, 2));
        let cos_of = || {
            let next = ir.add(q, ir.int_const(int, 1));
            signed(ir.select(odd, sine, cosine), bit(next, 2))
        };
        match name {
            "sin" => sin_of(),
            "cos" => cos_of(),
            _ => ir.bin(Opcode::LLVMFDiv, sin_of(), cos_of()),
        }
    }

    /// x^y of floats, in doubles, for positive finite x and finite y.
    fn power(&self, x: Val, y: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(x);
        let infinity = ir.float_const(ty, f64::INFINITY);
        let positive = ir.fcmp(RealPred::LLVMRealOGT, x, ir.null(ty));
        let finite = ir.fcmp(RealPred::LLVMRealOLT, x, infinity);
        let magnitude = ir.intrinsic("llvm.fabs", &[ty], &[y]);
        let bounded = ir.fcmp(RealPred::LLVMRealOLT, magnitude, infinity);
        let fits = ir.and(ir.and(positive, finite), bounded);
        self.if_all(
            fits,
            || {
                let double = ir.shaped(ir.double, ty);
                let wide = |v: Val| ir.cast(Opcode::LLVMFPExt, v, double);
                let log = self.logarithm(wide(x), Base::Two);
                let product = ir.bin(Opcode::LLVMFMul, wide(y), log);
                let v = self.exponential(product, Base::Two);
                ir.cast(Opcode::LLVMFPTrunc, v, ty)
            },
            || self.per_lane("pow", &[x, y], ty),
        )
    }
}
