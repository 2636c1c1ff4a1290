//! Error functions and the gamma function, of doubles. `full`: to a double's accuracy, else to a float's.

use std::f64::consts as c;

use super::coefficients::{
    ERF_DOUBLE, ERF_FLOAT, ERFC_DOUBLE, ERFC_FLOAT, GAMMA_DOUBLE, GAMMA_FLOAT, LN_GAMMA_DOUBLE,
    LN_GAMMA_FLOAT, STIRLING_DOUBLE, STIRLING_FLOAT,
};
use super::exponential::Base;
use super::lane::Real;

/// ln(2 pi) / 2, and its remainder beyond a double.
const LN_ROOT: f64 = 0.918_938_533_204_672_8;
const LN_ROOT_REST: f64 = -3.878_294_158_067_242e-17;
/// Arguments from here on use Stirling's series.
const LARGE: f64 = 8.0;

/// An argument x near 2: gamma(x) = gamma(2 + rest) over / under.
struct Shifted<'a> {
    rest: Real<'a>,
    over: Real<'a>,
    under: Real<'a>,
}

impl<'a> Real<'a> {
    /// erfc of self >= 0.
    fn erfc_positive(self, full: bool) -> Self {
        let (far, middle) = if full { (28.0, 4.0) } else { (11.0, 3.0) };
        let size = self.at_most(far);
        let q = (size - middle) / (size + middle);
        let series = if full {
            q.series(&ERFC_DOUBLE)
        } else {
            q.series(&ERFC_FLOAT)
        };
        let scaled = series / (size * 2.0 + 1.0);
        let square = size * size;
        if !full {
            return (-square).exp_inside() * scaled;
        }
        let rest = size.fma(size, -square);
        let (v, n) = (-square).exp_parts(-rest);
        (v * scaled).scaled(n)
    }

    pub(super) fn erf(self, full: bool) -> Self {
        let size = self.abs();
        let square = self * self;
        let near = if full {
            square.series(&ERF_DOUBLE)
        } else {
            square.series(&ERF_FLOAT)
        };
        let far = 1.0 - size.erfc_positive(full);
        size.below(1.0).pick(self * near, far.sign_of(self))
    }

    pub(super) fn erfc(self, full: bool) -> Self {
        let v = self.abs().erfc_positive(full);
        self.below(0.0).pick(2.0 - v, v)
    }

    /// Brings arguments from -1/2 to 8 near 2.
    fn shift(self) -> Shifted<'a> {
        let one = self.number(1.0);
        let (mut y, mut over) = (self.at_most(LARGE), one);
        for _ in 0..6 {
            let high = y.above(2.5);
            y = high.pick(y - 1.0, y);
            over = high.pick(over * y, over);
        }
        let (low, lower) = (self.below(1.5), self.below(0.5));
        let rest = low.pick(self - 1.0, y - 2.0);
        let under = lower.pick(self * (self + 1.0), low.pick(self, one));
        Shifted {
            rest: lower.pick(self, rest),
            over,
            under,
        }
    }

    /// The correction to Stirling's formula.
    fn stirling_rest(self, full: bool) -> Self {
        let r = 1.0 / self;
        let square = r * r;
        if full {
            r * square.series(&STIRLING_DOUBLE)
        } else {
            r * square.series(&STIRLING_FLOAT)
        }
    }

    pub(super) fn gamma(self, full: bool) -> Self {
        let reflect = self.below(-0.5);
        let size = reflect.pick(-self, self);
        let one = self.number(1.0);
        // gamma(-a) = -pi / (a sin(pi a) gamma(a)).
        let around = -c::PI / (size * size.sine_of_turn(full));
        let factor = reflect.pick(around, one);
        let shifted = size.shift();
        let series = if full {
            shifted.rest.series(&GAMMA_DOUBLE)
        } else {
            shifted.rest.series(&GAMMA_FLOAT)
        };
        let small = series * shifted.over / shifted.under;
        let small = reflect.pick(factor / small, small);
        // Beyond these arguments the result is zero or infinite.
        let far = size.at_most(if full { 190.0 } else { 60.0 });
        let far = far.below(LARGE).pick(self.number(LARGE), far);
        let rest = far.stirling_rest(full);
        let base = far - 0.5;
        let signed = |v: Self| reflect.pick(-v, v);
        let large = if full {
            let (log, log_low) = far.log_twofold();
            let product = base * log;
            let low = base.fma(log_low, base.fma(log, -product));
            let (sum, a) = product.quick_sum(-far);
            let (sum, b) = sum.quick_sum(self.number(LN_ROOT));
            let low = low + a + b + (rest + LN_ROOT_REST);
            let (v, n) = signed(sum).exp_parts(signed(low));
            (v * factor).scaled(n)
        } else {
            let log = far.log_ordinary(Base::E);
            let sum = base.fma(log, -far) + (rest + LN_ROOT);
            signed(sum).exp_inside() * factor
        };
        let v = size.below(LARGE).pick(small, large);
        let pole = reflect & size.floor().equal(size);
        (pole | self.is_nan()).pick(self.number(f64::NAN), v)
    }

    /// ln gamma(self) for self >= 0.
    fn ln_gamma_positive(self, full: bool) -> Self {
        let shifted = self.shift();
        let series = if full {
            shifted.rest.series(&LN_GAMMA_DOUBLE)
        } else {
            shifted.rest.series(&LN_GAMMA_FLOAT)
        };
        let low = self.below(1.5);
        let small = self.below(LARGE);
        let factor = low.pick(shifted.under, shifted.over);
        let log = small.pick(factor, self).logarithm(Base::E);
        let near = shifted.rest * series + low.pick(-log, log);
        // (x - 1/2) ln x - x, in such an order that no part is infinite unless the whole is.
        let rest = self.stirling_rest(full) + (LN_ROOT - 0.5);
        let far = (self - 0.5).fma(log - 1.0, rest);
        small.pick(near, far)
    }

    pub(super) fn ln_gamma(self, full: bool) -> Self {
        let [v] = self.m.if_all(
            !self.below(0.0),
            || [self.ln_gamma_positive(full)],
            || {
                if full {
                    // Near the zeros on the negative side the terms cancel.
                    return [self.m.library("lgamma", &[self])];
                }
                let size = self.abs();
                let positive = size.ln_gamma_positive(full);
                let around = c::PI / (size * size.sine_of_turn(full)).abs();
                let negative = around.logarithm(Base::E) - positive;
                let v = self.below(0.0).pick(negative, positive);
                let infinite = size.is(f64::INFINITY);
                [infinite.pick(size, v)]
            },
        );
        v
    }
}
