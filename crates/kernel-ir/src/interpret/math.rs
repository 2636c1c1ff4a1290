//! OpenCL.std mathematics on one scalar: computed in double precision and rounded once, so that for
//! 32-bit and half floats the result is the nearest one in all but the rarest cases. What must be
//! exact (fma, nextafter, remainders, scaling) is.

use super::number::{self, Kind};
use super::special;
use crate::ir::{MathFn, Rounding};
use std::f64::consts::{LN_2, PI};

/// Largest integer whose exponent still matters to any double: beyond it scaling has saturated.
const SCALE_LIMIT: i32 = 5000;

/// `f` of `args` (register bits). `kind` is that of the float operands and result; for
/// [`MathFn::Nan`] that of the result. Integer results are `I32` bits.
pub(super) fn math(f: MathFn, kind: Kind, args: [u64; 3], flush: bool) -> u64 {
    let [a, b, _] = args;
    let x = |bits| number::to_f64(kind, bits);
    let exact = |value: f64| number::from_f64(kind, value, Rounding::Rte);
    match f {
        MathFn::Fma | MathFn::Mad => {
            let [a, b, c] = args.map(|bits| number::flushed(kind, bits, flush));
            return number::flushed(kind, fma(kind, a, b, c), flush);
        }
        MathFn::Nextafter => return next_after(kind, a, b),
        MathFn::Fmin => return number::float_min(kind, a, b),
        MathFn::Fmax => return number::float_max(kind, a, b),
        MathFn::Fabs => return a & (kind.mask() >> 1),
        MathFn::Copysign => return a & (kind.mask() >> 1) | b & !(kind.mask() >> 1) & kind.mask(),
        MathFn::Maxmag | MathFn::Minmag => {
            let (m, n) = (x(a).abs(), x(b).abs());
            let first = if f == MathFn::Maxmag { m > n } else { m < n };
            let second = if f == MathFn::Maxmag { n > m } else { n < m };
            return if first {
                a
            } else if second {
                b
            } else if f == MathFn::Maxmag {
                number::float_max(kind, a, b)
            } else {
                number::float_min(kind, a, b)
            };
        }
        MathFn::NativeDivide => {
            return number::binary(crate::ir::BinaryOp::FDiv, kind, a, b, flush);
        }
        MathFn::Nan => {
            let (quiet, fraction) = match kind {
                Kind::F16 => (0x7e00, 0x1ff),
                Kind::F32 => (0x7fc0_0000, 0x3f_ffff),
                _ => (0x7ff8 << 48, (1 << 51) - 1),
            };
            return quiet | a & fraction;
        }
        MathFn::Fdim => {
            let (p, q) = (x(a), x(b));
            return if p.is_nan() || q.is_nan() {
                exact(f64::NAN)
            } else if p > q {
                number::binary(crate::ir::BinaryOp::FSub, kind, a, b, flush)
            } else {
                0
            };
        }
        MathFn::Fract => {
            let value = x(a);
            if value.is_infinite() {
                return exact(0.0f64.copysign(value));
            }
            // The largest value below one caps what rounding would carry up to one.
            let below_one = match kind {
                Kind::F16 => 0x3bff,
                Kind::F32 => 0x3f7f_ffff,
                _ => 1f64.to_bits() - 1,
            };
            let fraction = exact(value - value.floor());
            return if x(fraction) >= 1.0 {
                below_one
            } else {
                fraction
            };
        }
        MathFn::Ldexp => {
            let n = (b as u32 as i32).clamp(-SCALE_LIMIT, SCALE_LIMIT);
            return scale(kind, a, n);
        }
        MathFn::Pown => return exact(pow_int(x(a), b as u32 as i32)),
        MathFn::Rootn => return exact(root(x(a), b as u32 as i32)),
        MathFn::Ilogb => return u64::from(exponent(x(a)) as u32),
        MathFn::FrexpMantissa => {
            let value = x(a);
            return if value == 0.0 || !value.is_finite() {
                a
            } else {
                exact(scaled(value, -exponent(value) - 1))
            };
        }
        MathFn::FrexpExponent => {
            let value = x(a);
            let e = if value == 0.0 || !value.is_finite() {
                0
            } else {
                exponent(value) + 1
            };
            return u64::from(e as u32);
        }
        MathFn::LgammaSign => return u64::from(special::gamma_sign(x(a)) as u32),
        MathFn::RemquoQuotient => return u64::from(remainder(x(a), x(b)).1 as u32),
        _ => {}
    }
    exact(double(f, x(a), x(b)))
}

/// The functions whose double result is rounded once.
fn double(f: MathFn, x: f64, y: f64) -> f64 {
    match f {
        MathFn::Acos => x.acos(),
        MathFn::Acosh => {
            if x < 1.0 {
                f64::NAN
            } else if x > 1e9 {
                x.ln() + LN_2
            } else {
                let t = x - 1.0;
                (t + (2.0 * t + t * t).sqrt()).ln_1p()
            }
        }
        MathFn::Acospi => x.acos() / PI,
        MathFn::Asin => x.asin(),
        MathFn::Asinh => {
            let a = x.abs();
            let r = if a > 1e9 {
                a.ln() + LN_2
            } else {
                (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p()
            };
            r.copysign(x)
        }
        MathFn::Asinpi => x.asin() / PI,
        MathFn::Atan => x.atan(),
        MathFn::Atan2 => x.atan2(y),
        MathFn::Atanh => {
            let a = x.abs();
            (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
        }
        MathFn::Atanpi => x.atan() / PI,
        MathFn::Atan2pi => x.atan2(y) / PI,
        MathFn::Cbrt => x.cbrt(),
        MathFn::Ceil => x.ceil(),
        MathFn::Cos | MathFn::NativeCos => x.cos(),
        MathFn::Cosh => x.cosh(),
        MathFn::Cospi => special::cos_pi(x),
        MathFn::Erf => special::erf(x),
        MathFn::Erfc => special::erfc(x),
        MathFn::Exp | MathFn::NativeExp => x.exp(),
        MathFn::Exp2 | MathFn::NativeExp2 => x.exp2(),
        MathFn::Exp10 | MathFn::NativeExp10 => 10f64.powf(x),
        MathFn::Expm1 => x.exp_m1(),
        MathFn::Floor => x.floor(),
        MathFn::Fmod => x % y,
        MathFn::Hypot => libm::hypot(x, y),
        MathFn::Lgamma => special::ln_gamma(x),
        MathFn::Log | MathFn::NativeLog => x.ln(),
        MathFn::Log2 | MathFn::NativeLog2 => x.log2(),
        MathFn::Log10 | MathFn::NativeLog10 => x.log10(),
        MathFn::Log1p => x.ln_1p(),
        MathFn::Logb => {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else if x.is_infinite() {
                f64::INFINITY
            } else if x.is_nan() {
                x
            } else {
                f64::from(exponent(x))
            }
        }
        MathFn::Pow => x.powf(y),
        MathFn::Powr | MathFn::NativePowr => {
            let undefined = x < 0.0
                || (x == 0.0 && y == 0.0)
                || (x == f64::INFINITY && y == 0.0)
                || (x == 1.0 && y.is_infinite());
            if undefined || x.is_nan() || y.is_nan() {
                f64::NAN
            } else {
                x.abs().powf(y)
            }
        }
        MathFn::Remainder => remainder(x, y).0,
        MathFn::Rint => x.round_ties_even(),
        MathFn::Round => x.round(),
        MathFn::Rsqrt | MathFn::NativeRsqrt => 1.0 / x.sqrt(),
        MathFn::Sin | MathFn::NativeSin => x.sin(),
        MathFn::Sinh => x.sinh(),
        MathFn::Sinpi => special::sin_pi(x),
        MathFn::Sqrt | MathFn::NativeSqrt => x.sqrt(),
        MathFn::Tan | MathFn::NativeTan => x.tan(),
        MathFn::Tanh => x.tanh(),
        MathFn::Tanpi => special::sin_pi(x) / special::cos_pi(x),
        MathFn::Tgamma => special::gamma(x),
        MathFn::Trunc | MathFn::ModfInteger => x.trunc(),
        MathFn::ModfFraction => {
            if x.is_infinite() {
                0f64.copysign(x)
            } else {
                (x - x.trunc()).copysign(x)
            }
        }
        MathFn::NativeRecip => 1.0 / x,
        // The others are answered by `math`.
        _ => f64::NAN,
    }
}

/// Floor of the base-2 logarithm of |x|; OpenCL's special values.
fn exponent(x: f64) -> i32 {
    if x == 0.0 {
        return i32::MIN;
    }
    if !x.is_finite() {
        return i32::MAX;
    }
    let field = (x.to_bits() >> 52 & 0x7ff) as i32;
    if field != 0 {
        field - 1023
    } else {
        // The highest set bit of a subnormal.
        -1011 - (x.abs().to_bits().leading_zeros() as i32)
    }
}

/// `x * 2^n` for results in the normal range.
fn scaled(mut x: f64, mut n: i32) -> f64 {
    // In steps: 2^n alone may not be a double.
    while n.abs() > 1000 {
        let step = 1000 * n.signum();
        x *= 2f64.powi(step);
        n -= step;
    }
    x * 2f64.powi(n)
}

/// `a * 2^n`, rounded once.
fn scale(kind: Kind, a: u64, n: i32) -> u64 {
    let value = number::to_f64(kind, a);
    if value == 0.0 || !value.is_finite() {
        return a;
    }
    let e = exponent(value);
    let significand = scaled(value.abs(), 52 - e) as u64;
    number::round_to(kind, value < 0.0, significand, e - 52 + n, Rounding::Rte)
}

/// `a * b + c`, rounded once.
fn fma(kind: Kind, a: u64, b: u64, c: u64) -> u64 {
    match kind {
        Kind::F32 => {
            let f = |bits| f32::from_bits(bits as u32);
            u64::from(f(a).mul_add(f(b), f(c)).to_bits())
        }
        Kind::F16 => {
            let f = |bits| number::to_f64(kind, bits);
            let (product, c) = (f(a) * f(b), f(c));
            let sum = product + c;
            // The error of the sum, exactly; folding it in as a sticky last bit ("round to odd")
            // makes the second rounding right.
            let back = sum - product;
            let error = (product - (sum - back)) + (c - back);
            let sticky = if error != 0.0 && sum.is_finite() && sum.to_bits() & 1 == 0 {
                let towards_zero = (error < 0.0) == (sum > 0.0);
                f64::from_bits(if towards_zero {
                    sum.to_bits() - 1
                } else {
                    sum.to_bits() + 1
                })
            } else {
                sum
            };
            number::from_f64(kind, sticky, Rounding::Rte)
        }
        _ => {
            let f = f64::from_bits;
            f(a).mul_add(f(b), f(c)).to_bits()
        }
    }
}

/// The next representable value from `a` towards `b`.
fn next_after(kind: Kind, a: u64, b: u64) -> u64 {
    let (x, y) = (number::to_f64(kind, a), number::to_f64(kind, b));
    if x.is_nan() {
        return a;
    }
    if y.is_nan() || x == y {
        return b;
    }
    let sign = 1u64 << (kind.bits() - 1);
    if x == 0.0 {
        return 1 | if y < 0.0 { sign } else { 0 };
    }
    // Away from zero is up in the bits.
    if (x < y) == (x > 0.0) { a + 1 } else { a - 1 }
}

/// IEEE remainder, and the low seven bits of the quotient with its sign.
fn remainder(x: f64, y: f64) -> (f64, i32) {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (f64::NAN, 0);
    }
    if y.is_infinite() {
        return (x, 0);
    }
    let d = y.abs();
    let negative = x.is_sign_negative();
    // Long division: each step subtracts the divisor times a power of two, exactly.
    let mut rest = x.abs();
    let mut quotient = 0u32;
    let mut n = if rest == 0.0 {
        -1
    } else {
        exponent(rest) - exponent(d)
    };
    while n >= 0 {
        let step = scaled(d, n);
        quotient = quotient << 1 & 0xff;
        if step <= rest {
            rest -= step;
            quotient |= 1;
        }
        n -= 1;
    }
    // rest < d: nearest, ties to an even quotient. Compared as rest > d - rest, which is exact.
    let other = d - rest;
    if rest > other || (rest == other && quotient & 1 == 1) {
        rest = -other;
        quotient += 1;
    }
    let low = (quotient & 0x7f) as i32;
    let result = if rest == 0.0 {
        0f64.copysign(x)
    } else if negative {
        -rest
    } else {
        rest
    };
    (result, if negative == (y < 0.0) { low } else { -low })
}

fn pow_int(x: f64, n: i32) -> f64 {
    x.powf(f64::from(n))
}

/// The n-th root.
fn root(x: f64, n: i32) -> f64 {
    let odd = n % 2 != 0;
    if n == 0 || x.is_nan() || (x < 0.0 && !odd) {
        return f64::NAN;
    }
    let a = x.abs();
    let n = f64::from(n);
    let inverse = 1.0 / n;
    let mut r = a.powf(inverse);
    if a != 0.0 && a.is_finite() && r.is_finite() {
        // The rounding error of 1/n, times the derivative by the exponent.
        r += r * (a.ln() * ((-inverse).mul_add(n, 1.0) / n));
    }
    if odd { r.copysign(x) } else { r }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(f: MathFn, args: [f32; 2]) -> f32 {
        let bits = |v: f32| u64::from(v.to_bits());
        f32::from_bits(math(f, Kind::F32, [bits(args[0]), bits(args[1]), 0], false) as u32)
    }

    #[test]
    fn exact_functions() {
        use MathFn as M;
        let inf = f32::INFINITY;
        for (f, a, b, expected) in [
            (M::Remainder, 5.0, 2.0, 1.0),
            (M::Remainder, 7.0, 2.0, -1.0),
            (M::Remainder, -3.0, 2.0, 1.0),
            (M::Remainder, 102.0, 7.0, -3.0),
            (M::Fmod, -7.5, 2.0, -1.5),
            (M::Nextafter, 0.0, -1.0, -f32::from_bits(1)),
            (M::Nextafter, 1.0, 2.0, 1.0 + f32::EPSILON),
            (M::Maxmag, -3.0, 2.0, -3.0),
            (M::Minmag, -3.0, 3.0, -3.0),
            (M::Fdim, 1.0, 3.0, 0.0),
            (M::Fract, -1e-10, 0.0, 1.0 - f32::EPSILON / 2.0),
            (M::Logb, 0.0, 0.0, -inf),
            (M::Rint, 2.5, 0.0, 2.0),
            (M::Round, 2.5, 0.0, 3.0),
            (M::FrexpMantissa, 12.0, 0.0, 0.75),
            (M::ModfFraction, -1.25, 0.0, -0.25),
            (M::Sinpi, 1.5, 0.0, -1.0),
            (M::Tanpi, 0.25, 0.0, 1.0),
            (M::Exp10, 3.0, 0.0, 1000.0),
            (M::Asinh, 1e-20, 0.0, 1e-20),
            (M::Atanh, 1.0, 0.0, inf),
            (M::Acosh, 1.0, 0.0, 0.0),
            (M::Rsqrt, 0.25, 0.0, 2.0),
        ] {
            assert_eq!(f32s(f, [a, b]), expected, "{f:?}({a}, {b})");
        }
        assert!(f32s(M::Powr, [0.0, 0.0]).is_nan());
        let int = |v: i32| u64::from(v as u32);
        let bits = |v: f32| u64::from(v.to_bits());
        for (f, a, b, expected) in [
            (M::Ldexp, bits(1.5), int(-149), 2),
            (M::Ldexp, bits(1.0), int(i32::MAX), bits(inf)),
            (M::Pown, bits(-2.0), int(3), bits(-8.0)),
            (M::Rootn, bits(-27.0), int(3), bits(-3.0)),
            (M::Rootn, bits(16.0), int(-4), bits(0.5)),
            (M::Ilogb, bits(f32::from_bits(1)), 0, int(-149)),
            (M::Ilogb, bits(0.0), 0, int(i32::MIN)),
            (M::FrexpExponent, bits(12.0), 0, int(4)),
            (M::RemquoQuotient, bits(-7.0), bits(2.0), int(-4)),
            (M::RemquoQuotient, bits(1000.0), bits(3.0), int(333 & 0x7f)),
            (M::Nan, 5, 0, 0x7fc0_0005),
        ] {
            assert_eq!(math(f, Kind::F32, [a, b, 0], false), expected, "{f:?}");
        }
    }

    #[test]
    fn half_fma_rounds_once() {
        // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; minus the rounded square the rest must survive.
        let a = 0x3c01;
        let square = number::binary(crate::ir::BinaryOp::FMul, Kind::F16, a, a, false);
        let rest = fma(Kind::F16, a, a, square ^ 0x8000);
        assert_eq!(number::to_f64(Kind::F16, rest), 2f64.powi(-20));
        // Halfway plus a hair far below double's precision rounds up.
        let hair = fma(Kind::F16, 0x0001, 0x0001, 0x3c00);
        assert_eq!(hair, 0x3c00);
        let halfway_up = fma(Kind::F16, 0x6801, 0x3c00, 0x0001);
        assert_eq!(number::to_f64(Kind::F16, halfway_up), 2050.0);
    }
}
