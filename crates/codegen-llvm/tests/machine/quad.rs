//! Numbers of 113 bits and the C library's mathematics on them (`_Float128`): the reference that errors are measured
//! against. Its own errors are a few of its last places, which are 2^60 times smaller than a double's.

use std::arch::asm;
use std::arch::x86_64::__m128i;

/// IEEE 754 binary128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quad(pub(crate) u128);

const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0x7fff << 112;
const BIAS: i32 = 16383;

impl Quad {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const INFINITY: Self = Self(INFINITY);
    pub(crate) const NAN: Self = Self(INFINITY | 1 << 111);
    /// 1 / pi
    pub(crate) const FRAC_1_PI: Self = Self(0x3ffd_45f3_06dc_9c88_2a53_f84e_afa3_ea6a);
    pub(crate) const PI: Self = Self(0x4000_921f_b544_42d1_8469_898c_c517_01b8);

    pub(crate) fn from_f64(v: f64) -> Self {
        let bits = v.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let size = match (exponent, fraction) {
            (0, 0) => 0,
            (0x7ff, _) => INFINITY | fraction << 60,
            (0, _) => {
                let top = 127 - fraction.leading_zeros();
                let exponent = (BIAS - 1074) as u128 + u128::from(top);
                exponent << 112 | (fraction ^ 1 << top) << (112 - top)
            }
            _ => ((exponent - 1023 + BIAS) as u128) << 112 | fraction << 60,
        };
        Self(sign | size)
    }
    pub(crate) fn is_nan(self) -> bool {
        self.0 & !SIGN > INFINITY
    }
    pub(crate) fn is_infinite(self) -> bool {
        self.0 & !SIGN == INFINITY
    }
    pub(crate) fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }
    pub(crate) fn abs(self) -> Self {
        Self(self.0 & !SIGN)
    }
    pub(crate) fn negated(self) -> Self {
        Self(self.0 ^ SIGN)
    }
    /// (m, e): |self| = m 2^e with m below 2^113, and no less than 2^112 for normal numbers.
    fn parts(self) -> (u128, i32) {
        let exponent = (self.0 >> 112 & 0x7fff) as i32;
        let fraction = self.0 & ((1 << 112) - 1);
        match exponent {
            0 => (fraction, 1 - BIAS - 112),
            _ => (fraction | 1 << 112, exponent - BIAS - 112),
        }
    }

    /// How far `found` is from it, in units in the last place of a format with `fraction` bits after the point and
    /// exponents from 1 - `bias` to `bias`.
    pub(crate) fn ulps(self, found: Self, fraction: i32, bias: i32) -> f64 {
        const FAR: f64 = 1e30;
        if self.is_nan() || found.is_nan() {
            return if self.is_nan() && found.is_nan() {
                0.0
            } else {
                FAR
            };
        }
        let (m, e) = self.parts();
        let top = if m == 0 {
            -20_000
        } else {
            e + 127 - m.leading_zeros() as i32
        };
        if found.is_infinite() && (self.is_infinite() || top > bias) {
            let same = self.is_negative() == found.is_negative();
            return if same { 0.0 } else { FAR };
        }
        if self.is_infinite() {
            return FAR;
        }
        // The infinite stands for the first number that is too large.
        let beyond = Self::power_of_two(bias + 1);
        let near = if found.is_infinite() { beyond } else { found };
        let place = top.clamp(1 - bias, bias) - fraction;
        let (n, d) = near.parts();
        if n == 0 || m == 0 {
            let (m, e) = if n == 0 { (m, e) } else { (n, d) };
            return m as f64 * f64::powi(2.0, (e - place).clamp(-1000, 1000));
        }
        let unit = e.min(d);
        if (e - d).abs() > 12 {
            return FAR;
        }
        let (a, b) = ((m << (e - unit)) as i128, (n << (d - unit)) as i128);
        let same = self.is_negative() == found.is_negative();
        let apart = if same { a - b } else { a + b };
        apart.unsigned_abs() as f64 * f64::powi(2.0, (unit - place).clamp(-1000, 1000))
    }

    fn power_of_two(n: i32) -> Self {
        Self(((n + BIAS) as u128) << 112)
    }
}

/// C's library.
pub(crate) struct Library(libloading::Library);

impl Library {
    pub(crate) fn open() -> Self {
        // SAFETY: the C library's mathematics, which this program has loaded anyway.
        Self(unsafe { libloading::Library::new("libm.so.6") }.expect("libm.so.6"))
    }

    /// The function `name` (`exp`) of up to three numbers.
    pub(crate) fn call(&self, name: &str, args: &[Quad]) -> Quad {
        let symbol = format!("{name}f128\0");
        // SAFETY: not called as this type, see below.
        let function = unsafe { self.0.get::<unsafe extern "C" fn()>(symbol.as_bytes()) };
        let function = *function.unwrap_or_else(|e| panic!("{name}: {e}"));
        let arg = |i: usize| {
            let bits = args.get(i).map_or(0, |q| q.0);
            // SAFETY: both are 128 bits without meaning of their own.
            unsafe { std::mem::transmute::<u128, __m128i>(bits) }
        };
        let mut result = arg(0);
        // SAFETY: the System V ABI passes binary128 in vector registers, in and out; the functions touch no memory of
        // ours, and all that a call may change is named.
        unsafe {
            asm!(
                "call {function}",
                function = in(reg) function,
                inout("xmm0") result,
                inout("xmm1") arg(1) => _,
                inout("xmm2") arg(2) => _,
                clobber_abi("sysv64"),
            );
            Quad(std::mem::transmute::<__m128i, u128>(result))
        }
    }
    pub(crate) fn times(&self, a: Quad, b: Quad) -> Quad {
        self.call("fma", &[a, b, Quad(SIGN)])
    }
    pub(crate) fn inverse(&self, a: Quad) -> Quad {
        self.call("pow", &[a, Quad::from_f64(-1.0)])
    }
}

#[test]
fn the_reference_is_right_where_the_answer_is_known() {
    let library = Library::open();
    let one = Quad::from_f64(1.0);
    // e and ln 2 to 113 bits.
    let e = library.call("exp", &[one]);
    assert_eq!(e.0, 0x4000_5bf0_a8b1_4576_9535_5fb8_ac40_4e7a);
    let ln_2 = library.call("log", &[Quad::from_f64(2.0)]);
    assert_eq!(ln_2.0, 0x3ffe_62e4_2fef_a39e_f357_93c7_6730_07e6);
    // Denormal doubles are what they are.
    let tiny = Quad::from_f64(f64::from_bits(3));
    let least = Quad::power_of_two(-1074);
    assert_eq!(tiny, library.times(Quad::from_f64(3.0), least));
    // Half a place above one, and one below what a float cannot hold.
    let half = Quad::from_f64(1.0 + f64::powi(2.0, -24));
    assert_eq!(half.ulps(one, 23, 127), 0.5);
    let most = Quad::from_f64(f64::from(f32::MAX));
    assert_eq!(most.ulps(Quad::INFINITY, 23, 127), 1.0);
}
