//! Logarithms.

use std::f64::consts as c;

use super::coefficients::{LOG_FLOAT, LOG_RATIO_DOUBLE, LOG_RATIO_FLOAT, LOG_RATIO_TAIL};
use super::exponential::Base;
use super::lane::{Real, Truth};

/// ln 2 to 32 bits, so that its multiples by exponents are exact, and the remainder.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

impl<'a> Real<'a> {
    /// Whether the number is ordinary: positive, normal and finite.
    pub(super) fn is_ordinary(self) -> Truth<'a> {
        let least = 1i64 << self.fraction();
        let range = (2 * self.bias()) << self.fraction();
        (self.bits() - least).below_unsigned(range)
    }

    /// self = 2^e m with m from sqrt(1/2) to sqrt(2), for ordinary numbers.
    pub(super) fn split(self) -> (Self, Self) {
        let bits = self.bits();
        if self.is_double() {
            // Without arithmetic shifts and conversions of 64-bit integers, which AVX2 lacks.
            let root = c::FRAC_1_SQRT_2.to_bits() as i64;
            let above = bits - root + (self.bias() << 52);
            let e = above.lshr(52);
            let m = bits - (e.shl(52) - (self.bias() << 52));
            let magic = 4_503_599_627_370_496.0f64;
            let e = (e | magic.to_bits() as i64).as_real(self) - (magic + self.bias() as f64);
            return (m.as_real(self), e);
        }
        let root = i64::from((c::FRAC_1_SQRT_2 as f32).to_bits());
        let e = (bits - root).ashr(23);
        let m = bits - e.shl(23);
        (m.as_real(self), e.real(self))
    }

    /// The logarithm of ordinary numbers.
    pub(super) fn log_ordinary(self, base: Base) -> Self {
        let (m, e) = self.split();
        let f = m - 1.0;
        if self.is_double() {
            return f.log_of_fraction(e, base, None, &LOG_RATIO_DOUBLE);
        }
        let square = f * f;
        let rest = f.series(&LOG_FLOAT).fma(f, f.number(-0.5));
        let log = square.fma(rest, f);
        match base {
            Base::E => e.times_plus(c::LN_2, log),
            Base::Two => log.times_plus(c::LOG2_E, e),
            Base::Ten => e.times_plus(c::LOG10_2, log * c::LOG10_E),
        }
    }

    /// log((1 + self) 2^e) of doubles, with `error` added to the logarithm before it is rounded.
    fn log_of_fraction(self, e: Self, base: Base, error: Option<Self>, ratio: &[f64]) -> Self {
        let f = self;
        // log(1 + f) = f - f^2/2 + s (f^2/2 + R), s = f / (2 + f), R the series of the inverse hyperbolic tangent.
        let s = f / (f + 2.0);
        let z = s * s;
        let r = z * z.series(ratio);
        let half = f * f * 0.5;
        let corrected = s * (half + r);
        match base {
            Base::E => {
                let low = e.times_plus(LN_2_LOW, corrected);
                let low = error.map_or(low, |error| low + error);
                e.times_plus(LN_2_HIGH, f - (half - low))
            }
            Base::Two => {
                let log = f - (half - corrected);
                log.times_plus(c::LOG2_E, e)
            }
            Base::Ten => {
                let log = (f - (half - corrected)) * c::LOG10_E;
                let low = e.times_plus(-2.803_728_127_785_170_3e-18, log);
                e.times_plus(c::LOG10_2, low)
            }
        }
    }

    /// log2 of ordinary doubles with a float's accuracy.
    pub(super) fn log2_short(self) -> Self {
        let (m, e) = self.split();
        (m - 1.0).log_of_fraction(e, Base::Two, None, &LOG_RATIO_FLOAT)
    }

    /// log(self + error) for ordinary doubles and an `error` that is small beside them.
    pub(super) fn log_with_error(self, error: Self) -> Self {
        let (m, e) = self.split();
        (m - 1.0).log_of_fraction(e, Base::E, Some(error / self), &LOG_RATIO_DOUBLE)
    }

    /// The logarithm of any number.
    pub(super) fn logarithm(self, base: Base) -> Self {
        let [v] = self.m.if_all(
            self.is_ordinary(),
            || [self.log_ordinary(base)],
            || [self.out_of_line(base.name(), |x| x.log_special(base))],
        );
        v
    }

    /// The logarithm of any number: also denormal, negative and infinite ones, and NaN.
    fn log_special(self, base: Base) -> Self {
        let (least, up) = if self.is_double() {
            (f64::MIN_POSITIVE, 54)
        } else {
            (f64::from(f32::MIN_POSITIVE), 25)
        };
        let tiny = self.below(least);
        let v = tiny.pick(self * f64::powi(2.0, up), self);
        let log = v.log_ordinary(base);
        let by = f64::from(up)
            * match base {
                Base::E => c::LN_2,
                Base::Two => 1.0,
                Base::Ten => c::LOG10_2,
            };
        let log = tiny.pick(log - by, log);
        let infinite = self.is(f64::INFINITY);
        let log = infinite.pick(self, log);
        let log = self.is(0.0).pick(self.number(f64::NEG_INFINITY), log);
        let log = self.is_nan().pick(self, log);
        self.below(0.0).pick(self.number(f64::NAN), log)
    }

    /// log(1 + self) of doubles.
    pub(super) fn log1p(self) -> Self {
        let u = self + 1.0;
        // u + error = 1 + self exactly.
        let one = u - self;
        let error = (self - (u - one)) + (1.0 - one);
        let log = u.log_with_error(error);
        let tiny = self.abs().below(f64::powi(2.0, -54));
        let same = tiny | self.is(f64::INFINITY) | self.is_nan();
        let log = same.pick(self, log);
        let log = self.is(-1.0).pick(self.number(f64::NEG_INFINITY), log);
        self.below(-1.0).pick(self.number(f64::NAN), log)
    }

    /// The natural logarithm of a positive finite double as a sum of two numbers, to some 65 bits.
    pub(super) fn log_twofold(self) -> (Self, Self) {
        let tiny = self.below(f64::MIN_POSITIVE);
        let (m, e) = tiny.pick(self * f64::powi(2.0, 54), self).split();
        let e = e - tiny.pick(self.number(54.0), self.number(0.0));
        let f = m - 1.0;
        // s = f / (2 + f) in two parts.
        let d = f + 2.0;
        let d_low = f - (d - 2.0);
        let s = f / d;
        let rest = (-s).fma(d, f);
        let s_low = (-s).fma(d_low, rest) / d;
        let z = s * s;
        let z_low = s.fma(s, -z) + 2.0 * s * s_low;
        // 2 s + s z (2/3 + z (...)).
        const THIRDS: f64 = 2.0 / 3.0;
        const THIRDS_REST: f64 = 3.700_743_415_417_188e-17;
        let tail = z.series(&LOG_RATIO_TAIL);
        let (c, c_low) = (z * tail).plus_constant(THIRDS);
        let c_low = c_low + THIRDS_REST;
        let (p, p_low) = z.times_twofold(z_low, c, c_low);
        let (q, q_low) = p.times_twofold(p_low, s, s_low);
        let (sum, low) = (s * 2.0).quick_sum(q);
        let low = low + (s_low * 2.0 + q_low);
        // e ln 2: the first part is exact.
        let big = e * LN_2_HIGH;
        let (total, carry) = big.quick_sum(sum);
        // Where e is zero the first summand is zero too, and nothing is lost.
        let carry = e.is(0.0).pick(e.number(0.0), carry);
        let total = e.is(0.0).pick(sum, total);
        let low = e.times_plus(LN_2_LOW, low) + carry;
        total.quick_sum(low)
    }

    /// self + c as an exact sum of two numbers, for |c| >= |self|.
    fn plus_constant(self, c: f64) -> (Self, Self) {
        self.number(c).quick_sum(self)
    }

    /// self + other as an exact sum of two numbers, for |self| >= |other|.
    pub(super) fn quick_sum(self, other: Self) -> (Self, Self) {
        let sum = self + other;
        (sum, other - (sum - self))
    }

    /// (self + low) (other + other_low) as a sum of two numbers.
    pub(super) fn times_twofold(self, low: Self, other: Self, other_low: Self) -> (Self, Self) {
        let product = self * other;
        let rest = self.fma(other, -product);
        let rest = self.fma(other_low, low.fma(other, rest));
        product.quick_sum(rest)
    }
}
