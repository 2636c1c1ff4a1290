//! Inverse circular functions, of doubles. `full`: to a double's accuracy, else to a float's.

use std::f64::consts as c;

use super::coefficients::{ASIN_DOUBLE, ASIN_FLOAT, ATAN_DOUBLE, ATAN_FLOAT};
use super::lane::{Real, Truth};

/// The remainder of Pi / 2 beyond a double. That of Pi is twice, that of Pi / 4 half as large.
const PI_2_REST: f64 = 6.123_233_995_736_766e-17;
/// The tangent of Pi / 8.
const EIGHTH: f64 = c::SQRT_2 - 1.0;

impl<'a> Real<'a> {
    /// atan(self) - self for |self| <= tan(pi / 8).
    fn atan_rest(self, full: bool) -> Self {
        let z = self * self;
        let series = if full {
            z.series(&ATAN_DOUBLE)
        } else {
            z.series(&ATAN_FLOAT)
        };
        z * self * series
    }

    pub(super) fn atan(self, full: bool) -> Self {
        let size = self.abs();
        let one = self.number(1.0);
        let (mid, big) = (size.above(EIGHTH), size.above(1.0 / EIGHTH));
        // atan a = pi/4 + atan((a - 1) / (a + 1)) = pi/2 + atan(-1 / a).
        let over = big.pick(-one, mid.pick(size - 1.0, size));
        let under = big.pick(size, mid.pick(size + 1.0, one));
        let t = over / under;
        let constant = |of_half: f64| {
            let (big_part, mid_part) = (self.number(of_half), self.number(of_half / 2.0));
            big.pick(big_part, mid.pick(mid_part, self.number(0.0)))
        };
        let rest = t.atan_rest(full) + constant(PI_2_REST);
        let v = constant(c::FRAC_PI_2) + (t + rest);
        v.sign_of(self)
    }

    /// The angle of the point (x, self).
    pub(super) fn atan2(self, x: Self, full: bool) -> Self {
        let (across, up) = (x.abs(), self.abs());
        let swap = across.less(up);
        let (small, large) = (swap.pick(across, up), swap.pick(up, across));
        let none = large.is(0.0);
        let equal = small.equal(large);
        let mid = (large * EIGHTH).less(small) | equal;
        // Scaled down, so that no sum is infinite.
        let halved = |v: Self| {
            let huge = large.above(f64::powi(2.0, 1000));
            huge.pick(v * f64::powi(2.0, -100), v)
        };
        let (small, large) = (halved(small), halved(large));
        let zero = self.number(0.0);
        let over = equal.pick(zero, mid.pick(small - large, small));
        let under = mid.pick(small + large, large);
        let t = over / none.pick(self.number(1.0), under);
        let base = mid.pick(self.number(c::FRAC_PI_4), zero);
        let base_rest = mid.pick(self.number(PI_2_REST / 2.0), zero);
        let angle = base + (t + (t.atan_rest(full) + base_rest));
        let angle = none.pick(zero, angle);
        let from = |whole: f64, rest: f64, turn: Truth<'a>, angle: Self| {
            turn.pick(whole - (angle - rest), angle)
        };
        let angle = from(c::FRAC_PI_2, PI_2_REST, swap, angle);
        let back = Truth {
            m: self.m,
            v: x.bits().less(0).v,
        };
        let angle = from(c::PI, 2.0 * PI_2_REST, back, angle);
        let angle = angle.sign_of(self);
        self.either_nan(x).pick(self + x, angle)
    }

    /// (asin(root) / root - 1) root for |root| <= 1/2, root^2 = square.
    fn asin_rest(self, square: Self, full: bool) -> Self {
        let series = if full {
            square.series(&ASIN_DOUBLE)
        } else {
            square.series(&ASIN_FLOAT)
        };
        square * self * series
    }

    /// A square and its root. Above 1/2 the square is (1 - |self|) / 2, and asin |self| = pi/2 - 2 asin(root); below it
    /// is self^2.
    fn asin_square(self, size: Self, near: Truth<'a>) -> (Self, Self) {
        let square = near.pick(size * size, (1.0 - size) * 0.5);
        (square, near.pick(size, square.sqrt()))
    }

    pub(super) fn asin(self, full: bool) -> Self {
        let size = self.abs();
        let near = !size.above(0.5);
        let (square, root) = self.asin_square(size, near);
        let rest = root.asin_rest(square, full);
        let far = c::FRAC_PI_2 - ((root + rest) * 2.0 - PI_2_REST);
        near.pick(root + rest, far).sign_of(self)
    }

    pub(super) fn acos(self, full: bool) -> Self {
        let size = self.abs();
        let near = !size.above(0.5);
        let (square, root) = self.asin_square(size, near);
        let rest = root.asin_rest(square, full);
        let v = root + rest;
        let signed = v.sign_of(self);
        let mid = c::FRAC_PI_2 - (signed - PI_2_REST);
        let twice = v * 2.0;
        let behind = c::PI - (twice - 2.0 * PI_2_REST);
        let far = self.below(0.0).pick(behind, twice);
        near.pick(mid, far)
    }
}
