//! Hyperbolic functions and their inverses, of doubles.

use std::f64::consts as c;

use super::exponential::Base;
use super::lane::{Real, Truth};

impl<'a> Real<'a> {
    pub(super) fn sinh(self) -> Self {
        let size = self.abs();
        let less = size.at_most(1.0).expm1();
        let near = (less + less / (less + 1.0)) * 0.5;
        let half = size.exponential_scaled(Base::E, -1);
        let far = half - 0.25 / half;
        size.below(1.0).pick(near, far).sign_of(self)
    }

    pub(super) fn cosh(self) -> Self {
        let half = self.abs().exponential_scaled(Base::E, -1);
        half + 0.25 / half
    }

    pub(super) fn tanh(self) -> Self {
        let less = (self.abs().at_most(25.0) * 2.0).expm1();
        (less / (less + 2.0)).sign_of(self)
    }

    /// Whether squares may leave the range of doubles.
    fn is_large(self) -> Truth<'a> {
        self.above(f64::powi(2.0, 500))
    }

    /// log(1 + self), or log(1 + big) + log 2 where `large`.
    fn log1p_or_double(self, large: Truth<'a>, big: Self) -> Self {
        let log = large.pick(big, self).log1p();
        large.pick(log + c::LN_2, log)
    }

    pub(super) fn asinh(self) -> Self {
        let size = self.abs();
        let large = size.is_large();
        let square = size * size;
        let beyond = size + square / ((square + 1.0).sqrt() + 1.0);
        beyond.log1p_or_double(large, size).sign_of(self)
    }

    pub(super) fn acosh(self) -> Self {
        let large = self.is_large();
        let beyond = self - 1.0;
        let more = beyond + (beyond * 2.0 + beyond * beyond).sqrt();
        let v = more.log1p_or_double(large, self);
        self.below(1.0).pick(self.number(f64::NAN), v)
    }

    pub(super) fn atanh(self) -> Self {
        let size = self.abs();
        let twice = size * 2.0;
        let v = (twice / (1.0 - size)).log1p() * 0.5;
        v.sign_of(self)
    }
}
