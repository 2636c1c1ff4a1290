//! Functions without error: exponents and mantissas, neighbours, remainders.

use super::code::AVX512;
use super::lane::{Real, Whole};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotient {
    Truncated,
    Nearest,
}

impl Quotient {
    const fn c_name(self) -> &'static str {
        match self {
            Self::Truncated => "fmod",
            Self::Nearest => "remainder",
        }
    }
}

impl<'a> Real<'a> {
    /// Whether the number is zero, infinite or NaN.
    fn is_special(self) -> super::lane::Truth<'a> {
        !(self.abs().above(0.0) & self.abs().below(f64::INFINITY))
    }

    /// The bits of |self|, scaled up to a normal number if it is denormal, and the exponent without that scaling.
    fn fields(self) -> (Whole<'a>, Whole<'a>) {
        let (least, up) = if self.is_double() {
            (f64::MIN_POSITIVE, 54)
        } else {
            (f64::from(f32::MIN_POSITIVE), 25)
        };
        let tiny = self.abs().below(least);
        let bits = tiny.pick(self * f64::powi(2.0, up), self).bits();
        let field = bits.lshr(self.fraction()) & ((1 << self.exponent_bits()) - 1);
        let bias = field.number(self.bias());
        let lowered = field.number(self.bias() + i64::from(up));
        (bits, field - tiny.pick_whole(lowered, bias))
    }

    /// The number of `bits`, with exponent `e` instead of its own.
    fn with_exponent(self, bits: Whole<'a>, e: Whole<'a>) -> Self {
        let mask = ((1i64 << self.exponent_bits()) - 1) << self.fraction();
        let field = (e + self.bias()).shl(self.fraction());
        ((bits & !mask) | field).as_real(self)
    }

    /// self 2^n, rounded once.
    pub(super) fn ldexp(self, n: Whole<'a>) -> Self {
        if self.m.registers >= AVX512 {
            return self.scaled(n);
        }
        if !self.is_double() {
            let wide = self.to_double();
            let factor = wide.two_to(n.clamp(-300, 300));
            return (wide * factor).round_to(self.ty());
        }
        let (bits, e) = self.fields();
        let sum = (e + n.sized(self).clamp(-5000, 5000)).clamp(-1100, 1100);
        // The exponent is brought two hundred nearer to zero; a multiplication brings it back and rounds.
        let small = sum.less(0);
        let near = small.pick_whole(sum + 200, sum - 200);
        let (down, up) = (f64::powi(2.0, -200), f64::powi(2.0, 200));
        let back = small.pick(self.number(down), self.number(up));
        let v = self.with_exponent(bits, near) * back;
        self.is_special().pick(self, v)
    }

    /// The exponent: the largest integer for infinities and NaN, the least for zero.
    pub(super) fn ilogb(self) -> Whole<'a> {
        let e = self.fields().1.low();
        let least = e.number(i64::from(i32::MIN));
        let most = e.number(i64::from(i32::MAX));
        let e = self.is(0.0).pick_whole(least, e);
        (!self.abs().below(f64::INFINITY)).pick_whole(most, e)
    }

    pub(super) fn logb(self) -> Self {
        let e = self.fields().1.low().real(self);
        let e = self.is(0.0).pick(self.number(f64::NEG_INFINITY), e);
        // Infinities and NaN give their magnitude.
        (!self.abs().below(f64::INFINITY)).pick(self.abs(), e)
    }

    /// The mantissa, from 1/2 to 1, and the exponent.
    pub(super) fn frexp(self) -> (Self, Whole<'a>) {
        let (bits, e) = self.fields();
        let special = self.is_special();
        let mantissa = self.with_exponent(bits, bits.number(-1));
        let e = (e + 1).low();
        (
            special.pick(self, mantissa),
            special.pick_whole(e.number(0), e),
        )
    }

    pub(super) fn next_after(self, y: Self) -> Self {
        let bits = self.bits();
        let up = self.less(y);
        let grow = up ^ bits.less(0);
        let next = grow.pick_whole(bits + 1, bits - 1).as_real(self);
        let least = bits.number(1).as_real(self);
        let next = self.is(0.0).pick(up.pick(least, -least), next);
        let next = self.equal(y).pick(y, next);
        self.either_nan(y).pick(self + y, next)
    }

    /// self - n y for the whole number n that `quotient` defines.
    pub(super) fn remainder(self, y: Self, quotient: Quotient) -> Self {
        let (size, step) = (self.abs(), y.abs());
        let ratio = size / step;
        // The quotient has fewer bits than a number: all steps are exact. Neither operand is infinite then, and y is
        // not zero.
        let limit = f64::powi(2.0, self.fraction() as i32);
        let fits = ratio.below(limit) & step.below(f64::INFINITY);
        let [v] = self.m.if_all(
            fits,
            || [self.near_remainder(step, ratio, quotient)],
            || [self.out_of_line2(y, quotient.c_name())],
        );
        v
    }

    fn near_remainder(self, step: Self, ratio: Self, quotient: Quotient) -> Self {
        let size = self.abs();
        // Rounding may have carried the ratio up to the next whole number, never down.
        let whole = ratio.trunc();
        let rest = (-whole).fma(step, size);
        let over = rest.below(0.0);
        let rest = over.pick(rest + step, rest);
        let rest = match quotient {
            Quotient::Truncated => rest,
            Quotient::Nearest => {
                let whole = over.pick(whole - 1.0, whole);
                let half = whole * 0.5;
                let odd = !half.floor().equal(half);
                let other = step - rest;
                let farther = other.less(rest) | (other.equal(rest) & odd);
                farther.pick(rest - step, rest)
            }
        };
        let sign = (self.bits() ^ size.bits()) ^ rest.bits();
        sign.as_real(self)
    }
}
