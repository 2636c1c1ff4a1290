//! Powers and roots.

use super::coefficients::CBRT;
use super::lane::{Real, Whole};
use crate::llvm::Val;

/// Products with logarithms are cut off here: beyond it the result is 0 or infinite.
const FAR: f64 = 1600.0;

impl<'a> Real<'a> {
    /// The logarithm of a positive finite double as a sum of two numbers. If not `full`, it has base 2 and a float's
    /// accuracy, and no denormal numbers are allowed: no float is a denormal double.
    fn power_logarithm(self, full: bool) -> (Self, Self) {
        if full {
            self.log_twofold()
        } else {
            (self.log2_short(), self.number(0.0))
        }
    }

    /// The number that has the logarithm self + low, in the sense of `power_logarithm`.
    fn of_logarithm(self, low: Self, full: bool) -> Self {
        if !full {
            return self.clamp(-300.0, 300.0).exp2_inside_short();
        }
        // Beyond `FAR` the second part does not count: the result is 0 or infinite.
        let low = self.abs().below(FAR).pick(low, self.number(0.0));
        let (r, n) = self.clamp(-747.0, 712.0).exp_parts(low);
        r.scaled(n)
    }

    /// self^y of a positive finite double.
    fn power(self, y: Self, full: bool) -> Self {
        let (log, log_low) = self.power_logarithm(full);
        let product = y * log;
        let low = y.fma(log_low, y.fma(log, -product));
        product.of_logarithm(low, full)
    }

    /// self^y of doubles that are not negative; NaN for zero to the power of zero.
    fn power_special(self, y: Self, full: bool) -> Self {
        let v = self.power(y, full);
        let zero = self.number(0.0);
        let infinite = self.number(f64::INFINITY);
        let edge = self.is(0.0).pick(-infinite, infinite);
        let special = self.is(0.0) | self.is(f64::INFINITY);
        // For zeros and infinities the product of infinity and y decides; for NaN the product is NaN.
        let product = special.pick(edge, self) * y;
        let far = product.below(0.0).pick(zero, product);
        (special | self.is_nan()).pick(far, v)
    }

    /// self^y of doubles.
    pub(super) fn pow(self, y: Self, full: bool) -> Self {
        let fits = self.is_ordinary() & y.abs().below(f64::INFINITY);
        let [v] = self.m.if_all(
            fits,
            || [self.power(y, full)],
            || [self.pow_special(y, full)],
        );
        v
    }

    fn pow_special(self, y: Self, full: bool) -> Self {
        let one = self.number(1.0);
        let size = self.abs();
        let v = size.power_special(y, full);
        let whole = y.floor().equal(y);
        let half = y * 0.5;
        let odd = whole & !half.floor().equal(half);
        // One to any power is one. So is minus one to an infinite power, which counts as even.
        let unit = size.is(1.0) & (self.above(0.0) | whole);
        let v = unit.pick(one, v);
        let none = self.below(0.0) & self.above(f64::NEG_INFINITY) & !whole;
        let v = none.pick(self.number(f64::NAN), v);
        let v = odd.pick(v.sign_of(self), v);
        y.is(0.0).pick(one, v)
    }

    /// self^y of doubles that are no less than zero, as OpenCL's `powr`.
    pub(super) fn powr(self, y: Self, full: bool) -> Self {
        let fits = self.is_ordinary() & y.abs().below(f64::INFINITY);
        let [v] = self.m.if_all(
            fits,
            || [self.power(y, full)],
            || {
                let v = self.abs().power_special(y, full);
                let endless = self.is(1.0) & y.abs().is(f64::INFINITY);
                let edge = y.is(0.0) & (self.is(0.0) | self.is(f64::INFINITY));
                let none = self.below(0.0) | endless | edge | self.either_nan(y);
                [none.pick(self.number(f64::NAN), v)]
            },
        );
        v
    }

    /// The n-th root of a double.
    pub(super) fn rootn(self, n: Whole<'a>, full: bool) -> Self {
        let size = self.abs();
        let count = n.real(self);
        let (log, low) = size.power_logarithm(full);
        let quotient = log / count;
        let rest = (-quotient).fma(count, log) + low;
        let root = quotient.of_logarithm(rest / count, full);
        // Roots of zero and infinity.
        let (zero, infinite) = (self.number(0.0), self.number(f64::INFINITY));
        let edge = (size.is(0.0) ^ n.less(0)).pick(zero, infinite);
        let root = (size.is(0.0) | size.is(f64::INFINITY)).pick(edge, root);
        let odd = n.bit(1);
        let signed = odd.pick(root.sign_of(self), root);
        let none = n.is(0) | (self.below(0.0) & !odd) | self.is_nan();
        none.pick(self.number(f64::NAN), signed)
    }

    /// The cube root, in the arithmetic of its type: a float's is off by 0.54 units in the last place at most.
    pub(super) fn cbrt(self) -> Self {
        let size = self.abs();
        // Denormal numbers are multiplied by a power of 8 first.
        let (least, up, down, steps) = if self.is_double() {
            (f64::MIN_POSITIVE, 54, -18, 2)
        } else {
            (f64::from(f32::MIN_POSITIVE), 24, -8, 1)
        };
        let tiny = size.below(least);
        let v = tiny.pick(size * f64::powi(2.0, up), size);
        // v = 8^q m with m from 1 to 8.
        let bits = v.bits();
        // The exponent, as the low bits of a number whose last bit counts ones.
        let ones = f64::powi(2.0, self.fraction() as i32);
        let e = (bits.lshr(self.fraction()) | self.number(ones).bits()).as_real(self);
        let e = e - (ones + self.bias() as f64);
        let (q, thirds) = ((e - 1.0) * (1.0 / 3.0)).nearest();
        let (rest, _) = thirds.times_plus(-3.0, e).nearest();
        let one = self.number(1.0).bits();
        let m = ((bits & ((1 << self.fraction()) - 1)) | one).as_real(self);
        let m = m * self.two_to(rest);
        // Halley's step, y (1 - (y^3 - m) / (2 y^3 + m)), triples the number of correct digits. The series has 9 bits.
        let root = (0..steps).fold(m.series(&CBRT), |y, _| {
            let square = y * y;
            let low = y.fma(y, -square);
            let over = square.fma(y, -m) + low * y;
            let both = square.fma(y * 2.0, m);
            y - y * (over / both)
        });
        let root = root * self.two_to(q);
        let root = tiny.pick(root * f64::powi(2.0, down), root);
        let same = size.is(0.0) | size.is(f64::INFINITY) | self.is_nan();
        same.pick(self, root.sign_of(self))
    }

    /// One over the square root of floats: AVX-512's estimate, which has 14 bits for all numbers, and a Newton step. It
    /// takes a fourth of the time of a root and a division, and is off by 1.2 units in the last place at most.
    pub(super) fn inverse_root(self) -> Option<Self> {
        let estimate = self.estimated_inverse_root()?;
        let error = (-(self * estimate)).fma(estimate, self.number(1.0));
        let better = (estimate * self.number(0.5)).fma(error, estimate);
        // For zeros, infinities and numbers without a root the estimate is the answer.
        Some(better.either_nan(better).pick(estimate, better))
    }

    fn estimated_inverse_root(self) -> Option<Self> {
        let ir = self.m.ir;
        if self.is_double() || self.m.registers < super::code::AVX512 {
            return None;
        }
        let zero = |v: Val| ir.null(ir.type_of(v));
        let of = |name, v: Val, bits| {
            let all = ir.int_const(ir.int(bits), u64::MAX);
            ir.intrinsic(name, &[], &[v, zero(v), all])
        };
        const NAMES: [&str; 2] = [
            "llvm.x86.avx512.rsqrt14.ps.256",
            "llvm.x86.avx512.rsqrt14.ps.512",
        ];
        let root = match ir.lanes(self.ty())? {
            8 => of(NAMES[0], self.v, 8),
            16 => of(NAMES[1], self.v, 16),
            32 => {
                let half = |first: u32| {
                    let lanes: Vec<u32> = (first..first + 16).collect();
                    of(NAMES[1], ir.shuffle(self.v, self.v, &lanes), 16)
                };
                let lanes: Vec<u32> = (0..32).collect();
                ir.shuffle(half(0), half(16), &lanes)
            }
            _ => return None,
        };
        Some(self.with(root))
    }

    /// One over the square root, by the processor's estimate and a Newton step where it has one.
    pub(super) fn rough_inverse_root(self) -> Self {
        let [v] = self.m.if_all(
            self.is_ordinary(),
            || [(1.0 / self.sqrt().estimated()).estimated()],
            || [self.out_of_line("inverse_root", |x| 1.0 / x.sqrt())],
        );
        v
    }

    /// The square root of self^2 + y^2.
    pub(super) fn hypot(self, y: Self) -> Self {
        let (a, b) = (self.abs(), y.abs());
        let root = if self.is_double() {
            let swap = a.less(b);
            let (big, small) = (swap.pick(b, a), swap.pick(a, b));
            let one = self.number(1.0);
            let (high, low) = (f64::powi(2.0, 600), f64::powi(2.0, -600));
            let large = big.above(f64::powi(2.0, 500));
            let tiny = big.below(f64::powi(2.0, -480));
            let down = large.pick(self.number(low), tiny.pick(self.number(high), one));
            let back = large.pick(self.number(high), tiny.pick(self.number(low), one));
            let (big, small) = (big * down, small * down);
            big.fma(big, small * small).sqrt() * back
        } else {
            let (a, b) = (a.to_double(), b.to_double());
            a.fma(a, b * b).sqrt().round_to(self.ty())
        };
        let infinite = a.is(f64::INFINITY) | b.is(f64::INFINITY);
        infinite.pick(self.number(f64::INFINITY), root)
    }
}
