//! Sine, cosine and tangent, of angles and of angles in half turns.

use std::f64::consts as c;

use super::coefficients::{COS_DOUBLE, COS_FLOAT, COS_SHORT, SIN_DOUBLE, SIN_FLOAT, SIN_SHORT};
use super::lane::{Real, Whole};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Sine,
    Cosine,
    Tangent,
}

/// Angles from here on use C's library: the reductions below lose bits.
const FAR_FLOAT: f64 = 65_536.0;
const FAR_DOUBLE: f64 = 1_073_741_824.0;

/// Pi / 2 as a sum. Each part is less than the value that it stands for, so that zeros keep their sign.
const QUARTER_FLOAT: [f64; 3] = {
    let first = cut(c::FRAC_PI_2);
    let second = cut(c::FRAC_PI_2 - first);
    [first, second, c::FRAC_PI_2 - first - second + PI_2_REST]
};
const QUARTER_DOUBLE: [f64; 3] = {
    let second = f64::from_bits(PI_2_REST.to_bits() - 1);
    // The distance of the second part from its value, and the remainder of Pi / 2 beyond two doubles.
    let step = PI_2_REST - second;
    [c::FRAC_PI_2, second, step - 1.497_384_904_859_183_3e-33]
};
/// The remainder of Pi / 2 beyond a double.
const PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// The number without the bits that a float lacks.
const fn cut(v: f64) -> f64 {
    f64::from_bits(v.to_bits() & !0x1fff_ffff)
}

impl Function {
    const fn c_name(self) -> &'static str {
        match self {
            Self::Sine => "sin",
            Self::Cosine => "cos",
            Self::Tangent => "tan",
        }
    }
}

impl<'a> Real<'a> {
    pub(super) fn circular(self, function: Function) -> Self {
        let far = if self.is_double() {
            FAR_DOUBLE
        } else {
            FAR_FLOAT
        };
        let [v] = self.m.if_all(
            self.abs().below(far),
            || [self.rough_circular(function)],
            || {
                let name = function.c_name();
                [self.out_of_line(name, |x| x.m.library(name, &[x]))]
            },
        );
        v
    }

    /// The function of angles that are not far.
    pub(super) fn rough_circular(self, function: Function) -> Self {
        let (n, whole) = (self * c::FRAC_2_PI).nearest();
        let parts = if self.is_double() {
            QUARTER_DOUBLE
        } else {
            QUARTER_FLOAT
        };
        let r = parts
            .iter()
            .fold(self, |r, &part| whole.times_plus(-part, r));
        let (sine, cosine) = if self.is_double() {
            r.near_zero(&SIN_DOUBLE, &COS_DOUBLE)
        } else {
            r.near_zero(&SIN_FLOAT, &COS_FLOAT)
        };
        function.of_quadrant(n, sine, cosine)
    }

    /// Sine and cosine of |self| <= pi / 4.
    fn near_zero(self, sin: &[f64], cos: &[f64]) -> (Self, Self) {
        let z = self * self;
        let sine = (z * self).fma(z.series(sin), self);
        // 1 - z/2, and its rounding error.
        let half = z * 0.5;
        let near = 1.0 - half;
        let lost = (1.0 - near) - half;
        let cosine = near + (z * z).fma(z.series(cos), lost);
        (sine, cosine)
    }

    /// The function of pi times a double; `full`: to a double's accuracy.
    pub(super) fn turn(self, function: Function, full: bool) -> Self {
        // All exact: the angle less full turns, as quarter turns and a rest.
        let turns = (self * 0.5).rint();
        let angle = turns.times_plus(-2.0, self);
        let (n, quarters) = (angle * 2.0).nearest();
        let r = quarters.times_plus(-0.5, angle) * c::PI;
        let (sine, cosine) = if full {
            r.near_zero(&SIN_DOUBLE, &COS_DOUBLE)
        } else {
            r.near_zero(&SIN_SHORT, &COS_SHORT)
        };
        let zero = self.number(0.0);
        match function {
            Function::Sine => {
                let v = function.of_quadrant(n, sine, cosine);
                // A whole number gives a zero with the operand's sign.
                v.is(0.0).pick(zero.sign_of(self), v)
            }
            Function::Cosine => {
                let v = function.of_quadrant(n, sine, cosine);
                v.is(0.0).pick(zero, v)
            }
            Function::Tangent => {
                // Whole numbers give zeros, and the halves between them infinities, with alternating signs.
                let (odd, turned) = (n.bit(1), n.bit(2));
                let whole = sine.is(0.0);
                let signed = |v: Self| turned.pick(-v, v);
                let infinite = signed(self.number(f64::INFINITY));
                let across = whole.pick(infinite, -cosine / sine);
                let plain = whole.pick(signed(zero.sign_of(self)), sine / cosine);
                odd.pick(across, plain)
            }
        }
    }

    /// The sine of pi times a double, without the signs of zeros.
    pub(super) fn sine_of_turn(self, full: bool) -> Self {
        self.turn(Function::Sine, full)
    }
}

impl Function {
    /// The function of n quarter turns and an angle that has this sine and cosine.
    fn of_quadrant<'a>(self, n: Whole<'a>, sine: Real<'a>, cosine: Real<'a>) -> Real<'a> {
        match self {
            Self::Sine => n.bit(1).pick(cosine, sine).negated_by(n, 2),
            Self::Cosine => n.bit(1).pick(sine, cosine).negated_by(n + 1, 2),
            Self::Tangent => {
                let odd = n.bit(1);
                odd.pick(-cosine, sine) / odd.pick(sine, cosine)
            }
        }
    }
}
