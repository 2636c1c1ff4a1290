//! Powers of e, 2 and 10.

use std::f64::consts as c;

use super::code::AVX512;
use super::coefficients::{EXP_DOUBLE, EXP_FLOAT};
use super::lane::{Real, Whole};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    E,
    Two,
    Ten,
}

impl Base {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::E => "log",
            Self::Two => "log2",
            Self::Ten => "log10",
        }
    }
}

/// The remainder of ln 2 beyond a double.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
/// The remainder of log10 2 beyond a double.
const LOG10_2_REST: f64 = -2.803_728_127_785_170_3e-18;

impl<'a> Real<'a> {
    /// A constant in two parts: its value in this type, and the remainder.
    pub(super) fn two_parts(self, whole: f64, rest: f64) -> (f64, f64) {
        if self.is_double() {
            (whole, rest)
        } else {
            let hi = f64::from(whole as f32);
            (hi, whole - hi)
        }
    }

    /// The reduction base^self = 2^n e^r: r and n, for |n| < 2^31.
    fn reduce(self, base: Base) -> (Self, Whole<'a>) {
        let reduce = |n: Self, hi: f64, lo: f64| n.times_plus(-lo, n.times_plus(-hi, self));
        match base {
            Base::E => {
                let (n, whole) = (self * c::LOG2_E).nearest();
                let (hi, lo) = self.two_parts(c::LN_2, LN_2_REST);
                (reduce(whole, hi, lo), n)
            }
            Base::Two => {
                let (n, whole) = self.nearest();
                ((self - whole) * c::LN_2, n)
            }
            Base::Ten => {
                let (n, whole) = (self * c::LOG2_10).nearest();
                let (hi, lo) = self.two_parts(c::LOG10_2, LOG10_2_REST);
                (reduce(whole, hi, lo) * c::LN_10, n)
            }
        }
    }

    /// (e^self - 1 - self) / self^2 for |self| <= ln 2 / 2.
    fn exp_rest(self) -> Self {
        if self.is_double() {
            self.series(&EXP_DOUBLE)
        } else {
            self.series(&EXP_FLOAT)
        }
    }

    /// e^self for |self| <= ln 2 / 2.
    fn exp_near_zero(self) -> Self {
        let small = (self * self).fma(self.exp_rest(), self);
        small + 1.0
    }

    /// 2^n for integers that are exponents of normal numbers.
    pub(super) fn two_to(self, n: Whole<'a>) -> Self {
        let n = n.sized(self) + self.bias();
        n.shl(self.fraction()).as_real(self)
    }

    /// self 2^n, rounded once, for self from 1/2 to 2 and |n| of at most 1.5 times a normal number's exponent.
    pub(super) fn scaled(self, n: Whole<'a>) -> Self {
        let ir = self.m.ir;
        if self.m.registers >= AVX512 {
            // One instruction with AVX-512.
            let args = [self.v, n.v];
            let types = [self.ty(), ir.type_of(n.v)];
            return self.with(ir.intrinsic("llvm.ldexp", &types, &args));
        }
        // The first step is exact.
        let half = n.ashr(1);
        let bits = self.bits() + half.sized(self).shl(self.fraction());
        bits.as_real(self) * self.two_to(n - half)
    }

    /// base^self.
    pub(super) fn exponential(self, base: Base) -> Self {
        self.exponential_scaled(base, 0)
    }

    /// base^self 2^by, for a small `by`.
    pub(super) fn exponential_scaled(self, base: Base, by: i64) -> Self {
        // Beyond these arguments the result is 0 or infinite.
        let (low, high) = match (base, self.is_double()) {
            (Base::E, false) => (-105.0, 90.0),
            (Base::Two, false) => (-152.0, 130.0),
            (Base::Ten, false) => (-47.0, 40.0),
            (Base::E, true) => (-747.0, 712.0),
            (Base::Two, true) => (-1078.0, 1028.0),
            (Base::Ten, true) => (-325.0, 310.0),
        };
        let (r, n) = self.clamp(low, high).reduce(base);
        let v = r.exp_near_zero();
        if by == 0 {
            return v.scaled(n);
        }
        // NaN has no defined exponent n.
        self.is_nan().pick(self, v.scaled(n + by))
    }

    /// e^self where that is a normal number.
    pub(super) fn exp_inside(self) -> Self {
        let (r, n) = self.reduce(Base::E);
        r.exp_near_zero() * self.two_to(n)
    }

    /// 2^self where that is a normal number, with a float's accuracy.
    pub(super) fn exp2_inside_short(self) -> Self {
        let (r, n) = self.reduce(Base::Two);
        let small = (r * r).fma(r.series(&EXP_FLOAT), r);
        (small + 1.0) * self.two_to(n)
    }

    /// e^(self + low) = 2^n e^r with |r| <= ln 2 / 2: e^r and n. `low` is the remainder of an argument beyond self.
    pub(super) fn exp_parts(self, low: Self) -> (Self, Whole<'a>) {
        let (r, n) = self.reduce(Base::E);
        let r = r + low;
        (r.exp_near_zero(), n)
    }

    /// e^self - 1.
    pub(super) fn expm1(self) -> Self {
        let high = if self.is_double() { 709.9 } else { 88.9 };
        let (r, n) = self.clamp(-60.0, high).reduce(Base::E);
        let q = (r * r).fma(r.exp_rest(), r);
        // 2^(n - 1) is finite where 2^n may not be.
        let t = self.two_to(n - 1);
        let sum = t.fma(q, t - 0.5) * 2.0;
        let sum = n.is(0).pick(q, sum);
        let tiny = self.abs().below(f64::powi(2.0, -60));
        tiny.pick(self, sum)
    }
}
