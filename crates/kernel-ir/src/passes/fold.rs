//! Constant folding: arithmetic on constants, bit for bit as at run time.
//!
//! A scalar is its bits in a `u64` (bools 0 or 1). `None` means that the operation is not folded: its result is
//! unspecified, undefined in C, a NaN (the payload is the machine's), or depends on whether denormal 32-bit floats are
//! flushed.

use crate::ir::{BinaryOp, ConvertOp, MathFn, Predicate, Rounding, UnaryOp};
use crate::types::sign_extend;

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// One bit.
    Bool,
    /// 8, 16, 32 or 64 bits.
    Int(u8),
    /// 16, 32 or 64 bits.
    Float(u8),
    /// 64 bits.
    Ptr,
}

impl Scalar {
    /// Width in a register.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int(b) | Scalar::Float(b) => u32::from(b),
            Scalar::Ptr => 64,
        }
    }
    /// All bits of the scalar set.
    #[must_use]
    pub fn ones(self) -> u64 {
        u64::MAX >> (64 - self.bits().clamp(1, 64))
    }
}

/// A float format.
#[derive(Clone, Copy)]
struct Format {
    /// Digits of the significand, the hidden one included.
    digits: i32,
    /// Exponent of the largest power of two.
    max: i32,
    bits: u32,
}

impl Format {
    const BF16: Self = Self {
        digits: 8,
        max: 127,
        bits: 16,
    };
    fn of(bits: u8) -> Self {
        let (digits, max) = match bits {
            16 => (11, 15),
            32 => (24, 127),
            _ => (53, 1023),
        };
        Self {
            digits,
            max,
            bits: u32::from(bits),
        }
    }
    fn infinity(self) -> u64 {
        ((self.max * 2 + 1) as u64) << (self.digits - 1)
    }
    fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }
}

/// `mantissa * 2^exponent`, an infinity or a NaN.
#[derive(Clone, Copy)]
enum Real {
    Nan,
    Infinity(bool),
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i32,
    },
}

fn decode(bits: u64, format: Format) -> Real {
    let negative = bits & format.sign() != 0;
    let fraction = bits & ((1 << (format.digits - 1)) - 1);
    let field = ((bits & !format.sign()) >> (format.digits - 1)) as i32;
    let least = 2 - format.max - format.digits;
    if field > format.max * 2 {
        return if fraction == 0 {
            Real::Infinity(negative)
        } else {
            Real::Nan
        };
    }
    let hidden = u128::from(field != 0) << (format.digits - 1);
    Real::Finite {
        negative,
        mantissa: u128::from(fraction) | hidden,
        exponent: least + field.max(1) - 1,
    }
}

/// Round to nearest even: whether dropping `rest` of `2 * half` units rounds up.
fn rounds_up(rounding: Rounding, negative: bool, odd: bool, rest: u128, half: u128) -> bool {
    match rounding {
        Rounding::Default | Rounding::Rte => rest > half || (rest == half && odd),
        Rounding::Rtz => false,
        Rounding::Rtp => rest != 0 && !negative,
        Rounding::Rtn => rest != 0 && negative,
    }
}

/// Drops `shift` low bits of `mantissa`.
fn shift_right(mantissa: u128, shift: u32, rounding: Rounding, negative: bool) -> u128 {
    if shift == 0 {
        return mantissa;
    }
    if shift > 127 {
        // Less than half of the last place.
        let up = rounds_up(rounding, negative, false, u128::from(mantissa != 0), 2);
        return u128::from(up);
    }
    let kept = mantissa >> shift;
    let rest = mantissa & ((1 << shift) - 1);
    let up = rounds_up(rounding, negative, kept & 1 == 1, rest, 1 << (shift - 1));
    kept + u128::from(up)
}

fn encode(real: Real, format: Format, rounding: Rounding) -> Option<u64> {
    let (negative, mantissa, exponent) = match real {
        Real::Nan => return None,
        Real::Infinity(negative) => {
            return Some(format.infinity() | if negative { format.sign() } else { 0 });
        }
        Real::Finite {
            negative,
            mantissa,
            exponent,
        } => (negative, mantissa, exponent),
    };
    let sign = if negative { format.sign() } else { 0 };
    if mantissa == 0 {
        return Some(sign);
    }
    let top = 127 - mantissa.leading_zeros() as i32 + exponent;
    let least = 2 - format.max - format.digits;
    let unit = (top - format.digits + 1).max(least);
    let shift = unit - exponent;
    let kept = if shift <= 0 {
        mantissa << -shift
    } else {
        shift_right(mantissa, shift as u32, rounding, negative)
    };
    // The hidden digit adds one to the exponent field; so does a carry out of the fraction.
    let field = (unit - least) as u128;
    let magnitude = (field << (format.digits - 1)) + kept;
    let infinity = u128::from(format.infinity());
    if magnitude < infinity {
        return Some(sign | magnitude as u64);
    }
    let to_infinity = match rounding {
        Rounding::Default | Rounding::Rte => true,
        Rounding::Rtz => false,
        Rounding::Rtp => !negative,
        Rounding::Rtn => negative,
    };
    Some(sign | (format.infinity() - u64::from(!to_infinity)))
}

/// The value of float `bits` as an integer; `None` for NaN; far too large values saturate.
fn to_integer(bits: u64, format: Format, rounding: Rounding) -> Option<i128> {
    let rounding = if rounding == Rounding::Default {
        Rounding::Rtz
    } else {
        rounding
    };
    let (negative, magnitude) = match decode(bits, format) {
        Real::Nan => return None,
        Real::Infinity(negative) => (negative, 1 << 100),
        Real::Finite {
            negative,
            mantissa,
            exponent,
        } => {
            let magnitude = if exponent > 64 && mantissa != 0 {
                1 << 100
            } else if exponent >= 0 {
                mantissa << exponent
            } else {
                shift_right(mantissa, exponent.unsigned_abs(), rounding, negative)
            };
            (negative, magnitude)
        }
    };
    let magnitude = magnitude.min(1 << 100).cast_signed();
    Some(if negative { -magnitude } else { magnitude })
}

/// The value of a 16-bit float.
#[must_use]
pub fn half_to_f64(bits: u64) -> f64 {
    match encode(
        decode(bits, Format::of(16)),
        Format::of(64),
        Rounding::Default,
    ) {
        Some(bits) => f64::from_bits(bits),
        None => f64::NAN,
    }
}

/// The 16-bit float nearest to `v`; `None` for NaN.
#[must_use]
pub fn f64_to_half(v: f64) -> Option<u64> {
    let real = decode(v.to_bits(), Format::of(64));
    encode(real, Format::of(16), Rounding::Default)
}

/// Whether flushing could change this operand or result.
fn is_denormal_f32(bits: u64, width: u8) -> bool {
    width == 32 && bits & 0x7f80_0000 == 0 && bits & 0x007f_ffff != 0
}

fn float_result(v: f64, width: u8) -> Option<u64> {
    if v.is_nan() {
        return None;
    }
    let bits = match width {
        16 => f64_to_half(v)?,
        32 => u64::from((v as f32).to_bits()),
        _ => v.to_bits(),
    };
    (!is_denormal_f32(bits, width)).then_some(bits)
}

/// The value; `None` for NaN and for 32-bit denormals.
fn float_operand(bits: u64, width: u8) -> Option<f64> {
    let v = match width {
        16 => half_to_f64(bits),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    (!v.is_nan() && !is_denormal_f32(bits, width)).then_some(v)
}

/// `a op b`.
#[must_use]
pub fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    match scalar {
        Scalar::Float(width) => float_binary(op, width, a, b),
        Scalar::Bool => Some(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor | BinaryOp::LogicalNotEqual => a ^ b,
            BinaryOp::LogicalEqual => a ^ b ^ 1,
            _ => return None,
        }),
        Scalar::Int(_) => int_binary(op, scalar, a, b),
        Scalar::Ptr => None,
    }
}

fn float_binary(op: BinaryOp, width: u8, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (float_operand(a, width)?, float_operand(b, width)?);
    if width == 32 {
        let (x, y) = (x as f32, y as f32);
        let v = match op {
            BinaryOp::FAdd => x + y,
            BinaryOp::FSub => x - y,
            BinaryOp::FMul => x * y,
            BinaryOp::FDiv => x / y,
            BinaryOp::FRem => x % y,
            _ => return None,
        };
        let bits = u64::from(v.to_bits());
        return (!v.is_nan() && !is_denormal_f32(bits, 32)).then_some(bits);
    }
    // 53 digits are enough that rounding a second time, to 11, changes nothing.
    let v = match op {
        BinaryOp::FAdd => x + y,
        BinaryOp::FSub => x - y,
        BinaryOp::FMul => x * y,
        BinaryOp::FDiv => x / y,
        BinaryOp::FRem => x % y,
        _ => return None,
    };
    float_result(v, width)
}

fn int_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    use BinaryOp as B;
    let (bits, ones) = (scalar.bits(), scalar.ones());
    let (sa, sb) = (sign_extend(a, bits), sign_extend(b, bits));
    let (least, most) = (
        i128::from(sign_extend(1 << (bits - 1), bits)),
        i128::from(ones >> 1),
    );
    let overflows = i128::from(sa) == least && sb == -1;
    let wide = |v: i128| v as u64;
    let v = match op {
        B::IAdd => a.wrapping_add(b),
        B::ISub => a.wrapping_sub(b),
        B::IMul => a.wrapping_mul(b),
        B::UDiv => a.checked_div(b)?,
        B::URem => a.checked_rem(b)?,
        B::SDiv if !overflows => sa.checked_div(sb)?.cast_unsigned(),
        B::SRem if !overflows => sa.checked_rem(sb)?.cast_unsigned(),
        B::SMod if !overflows => {
            let r = sa.checked_rem(sb)?;
            let r = if r != 0 && (r < 0) != (sb < 0) {
                r + sb
            } else {
                r
            };
            r.cast_unsigned()
        }
        B::Shl if b < u64::from(bits) => a << b,
        B::LShr if b < u64::from(bits) => a >> b,
        B::AShr if b < u64::from(bits) => (sa >> b).cast_unsigned(),
        B::And => a & b,
        B::Or => a | b,
        B::Xor => a ^ b,
        B::SMin => sa.min(sb).cast_unsigned(),
        B::SMax => sa.max(sb).cast_unsigned(),
        B::UMin => a.min(b),
        B::UMax => a.max(b),
        B::SMulHi => wide((i128::from(sa) * i128::from(sb)) >> bits),
        B::UMulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        B::SAddSat => wide((i128::from(sa) + i128::from(sb)).clamp(least, most)),
        B::SSubSat => wide((i128::from(sa) - i128::from(sb)).clamp(least, most)),
        B::UAddSat => wide((i128::from(a) + i128::from(b)).min(i128::from(ones))),
        B::USubSat => a.saturating_sub(b),
        B::Rotate => {
            let by = (b % u64::from(bits)) as u32;
            if by == 0 {
                a
            } else {
                (a << by) | (a >> (bits - by))
            }
        }
        _ => return None,
    };
    Some(v & ones)
}

/// `op a`, for element-wise operations.
#[must_use]
pub fn unary(op: UnaryOp, scalar: Scalar, a: u64) -> Option<u64> {
    use UnaryOp as U;
    let (bits, ones) = (scalar.bits(), scalar.ones());
    if let Scalar::Float(width) = scalar {
        let format = Format::of(width);
        if op == U::FNeg {
            return Some(a ^ format.sign());
        }
        let magnitude = a & !format.sign();
        let infinity = format.infinity();
        // A flushed denormal is a zero; `IsNormal` is false for both.
        let smallest = 1 << (format.digits - 1);
        return Some(u64::from(match op {
            U::IsNan => magnitude > infinity,
            U::IsInf => magnitude == infinity,
            U::IsFinite => magnitude < infinity,
            U::IsNormal => (smallest..infinity).contains(&magnitude),
            U::SignBit => a & format.sign() != 0,
            _ => return None,
        }));
    }
    if scalar == Scalar::Ptr {
        return None;
    }
    let unused = 64 - bits;
    let v = match op {
        U::Not => !a,
        _ if scalar == Scalar::Bool => return None,
        U::INeg => a.wrapping_neg(),
        U::PopCount => u64::from(a.count_ones()),
        U::CountLeadingZeros => u64::from(a.leading_zeros() - unused),
        U::CountTrailingZeros => u64::from(a.trailing_zeros().min(bits)),
        U::BitReverse => a.reverse_bits() >> unused,
        U::SAbs => sign_extend(a, bits).unsigned_abs(),
        _ => return None,
    };
    Some(v & ones)
}

/// Whether `a p b`.
#[must_use]
pub fn compare(p: Predicate, scalar: Scalar, a: u64, b: u64) -> Option<bool> {
    use Predicate as P;
    if let Scalar::Float(width) = scalar {
        if is_denormal_f32(a, width) || is_denormal_f32(b, width) {
            return None;
        }
        let is_nan = |v: u64| v & !Format::of(width).sign() > Format::of(width).infinity();
        let unordered = is_nan(a) || is_nan(b);
        let number = |v| float_operand(v, width).unwrap_or(0.0);
        let (x, y) = (number(a), number(b));
        return Some(match p {
            P::FOrdEq => !unordered && x == y,
            P::FOrdNe => !unordered && x != y,
            P::FOrdLt => !unordered && x < y,
            P::FOrdLe => !unordered && x <= y,
            P::FOrdGt => !unordered && x > y,
            P::FOrdGe => !unordered && x >= y,
            P::FUnordEq => unordered || x == y,
            P::FUnordNe => unordered || x != y,
            P::FUnordLt => unordered || x < y,
            P::FUnordLe => unordered || x <= y,
            P::FUnordGt => unordered || x > y,
            P::FUnordGe => unordered || x >= y,
            P::FOrdered => !unordered,
            P::FUnordered => unordered,
            _ => return None,
        });
    }
    let (sa, sb) = (sign_extend(a, scalar.bits()), sign_extend(b, scalar.bits()));
    Some(match p {
        P::IEq => a == b,
        P::INe => a != b,
        P::ULt => a < b,
        P::ULe => a <= b,
        P::UGt => a > b,
        P::UGe => a >= b,
        P::SLt => sa < sb,
        P::SLe => sa <= sb,
        P::SGt => sa > sb,
        P::SGe => sa >= sb,
        _ => return None,
    })
}

/// The conversion or bitcast of one scalar.
#[must_use]
pub fn convert(op: ConvertOp, from: Scalar, to: Scalar, rounding: Rounding, a: u64) -> Option<u64> {
    use ConvertOp as C;
    let (bits, ones) = (from.bits(), to.ones());
    let signed_a = i128::from(sign_extend(a, bits));
    let (least, most) = (-(i128::from(ones >> 1)) - 1, i128::from(ones >> 1));
    let from_format = match from {
        Scalar::Float(width) if is_denormal_f32(a, width) => return None,
        Scalar::Float(width) => Some(Format::of(width)),
        _ => None,
    };
    let v = match op {
        C::Trunc | C::ZExt | C::Bitcast | C::PtrToInt | C::IntToPtr | C::AddressSpace => a,
        C::SExt => signed_a as u64,
        C::UToF | C::SToF => {
            let Scalar::Float(width) = to else {
                return None;
            };
            let negative = op == C::SToF && signed_a < 0;
            let magnitude = if op == C::SToF {
                signed_a.unsigned_abs()
            } else {
                u128::from(a)
            };
            let real = Real::Finite {
                negative,
                mantissa: magnitude,
                exponent: 0,
            };
            encode(real, Format::of(width), rounding)?
        }
        C::FToF => {
            let Scalar::Float(width) = to else {
                return None;
            };
            let v = encode(decode(a, from_format?), Format::of(width), rounding)?;
            if is_denormal_f32(v, width) {
                return None;
            }
            v
        }
        C::FToBf16 => encode(decode(a, from_format?), Format::BF16, Rounding::Default)?,
        C::Bf16ToF => {
            if matches!(decode(a, Format::BF16), Real::Nan) || is_denormal_f32(a << 16, 32) {
                return None;
            }
            a << 16
        }
        C::FToU | C::FToS => {
            let v = to_integer(a, from_format?, rounding)?;
            let (low, high) = if op == C::FToU {
                (0, i128::from(ones))
            } else {
                (least, most)
            };
            if !(low..=high).contains(&v) {
                return None;
            }
            v as u64
        }
        C::SatFToS => match to_integer(a, from_format?, rounding) {
            Some(v) => v.clamp(least, most) as u64,
            None => 0,
        },
        C::SatFToU => match to_integer(a, from_format?, rounding) {
            Some(v) => v.clamp(0, i128::from(ones)) as u64,
            None => 0,
        },
        C::SatSToS => signed_a.clamp(least, most) as u64,
        C::SatSToU => signed_a.clamp(0, i128::from(ones)) as u64,
        C::SatUToS => i128::from(a).min(most) as u64,
        C::SatUToU => a.min(ones),
    };
    Some(v & ones)
}

/// Mathematical functions whose result is exact or correctly rounded on every target.
#[must_use]
pub fn math(function: MathFn, width: u8, args: &[u64]) -> Option<u64> {
    use MathFn as M;
    let operand = |i: usize| float_operand(*args.get(i)?, width);
    let sign = Format::of(width).sign();
    match function {
        M::Fabs => return Some(*args.first()? & !sign),
        M::Copysign => return Some((*args.first()? & !sign) | (*args.get(1)? & sign)),
        _ => {}
    }
    let x = operand(0)?;
    let v = match function {
        M::Ceil => x.ceil(),
        M::Floor => x.floor(),
        M::Trunc => x.trunc(),
        M::Rint => x.round_ties_even(),
        M::Round => x.round(),
        // The sign of a zero result depends on the machine.
        M::Fmax if operand(1)? != x => x.max(operand(1)?),
        M::Fmin if operand(1)? != x => x.min(operand(1)?),
        // One rounding to 53 digits, then one to 24 or 11: harmless for square roots.
        M::Sqrt => x.sqrt(),
        _ => return None,
    };
    float_result(v, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    const I8: Scalar = Scalar::Int(8);
    const I32: Scalar = Scalar::Int(32);
    const F16: Scalar = Scalar::Float(16);
    const F32: Scalar = Scalar::Float(32);
    const F64: Scalar = Scalar::Float(64);

    fn f(v: f32) -> u64 {
        u64::from(v.to_bits())
    }

    #[test]
    fn integers() {
        use BinaryOp as B;
        for (op, scalar, a, b, expected) in [
            (B::IAdd, I8, 200, 100, Some(44)),
            (B::ISub, I8, 1, 2, Some(255)),
            (B::IMul, I32, 0x1_0001, 0x1_0001, Some(0x2_0001)),
            (B::UDiv, I8, 7, 0, None),
            (B::SDiv, I8, 0x80, 0xff, None),
            (B::SDiv, I8, 0xf9, 2, Some(0xfd)),
            (B::SRem, I8, 0xf9, 2, Some(0xff)),
            (B::SMod, I8, 0xf9, 4, Some(1)),
            (B::SMod, I8, 7, 0xfc, Some(0xff)),
            (B::Shl, I8, 0xff, 4, Some(0xf0)),
            (B::Shl, I8, 1, 8, None),
            (B::AShr, I8, 0x80, 7, Some(0xff)),
            (B::LShr, I8, 0x80, 7, Some(1)),
            (B::SMin, I8, 0x80, 1, Some(0x80)),
            (B::UMin, I8, 0x80, 1, Some(1)),
            (B::SMulHi, I8, 0x80, 0x80, Some(0x40)),
            (B::UMulHi, I8, 0xff, 0xff, Some(0xfe)),
            (B::SMulHi, Scalar::Int(64), u64::MAX, 5, Some(u64::MAX)),
            (B::SAddSat, I8, 100, 100, Some(127)),
            (B::SSubSat, I8, 0x80, 1, Some(0x80)),
            (B::UAddSat, I8, 200, 100, Some(255)),
            (B::USubSat, I8, 1, 2, Some(0)),
            (B::Rotate, I8, 0x81, 9, Some(3)),
            (B::LogicalEqual, Scalar::Bool, 0, 0, Some(1)),
        ] {
            assert_eq!(binary(op, scalar, a, b), expected, "{op:?} {a} {b}");
        }
        use UnaryOp as U;
        for (op, a, expected) in [
            (U::INeg, 1, 255),
            (U::Not, 0x0f, 0xf0),
            (U::PopCount, 0xf1, 5),
            (U::CountLeadingZeros, 1, 7),
            (U::CountLeadingZeros, 0, 8),
            (U::CountTrailingZeros, 0, 8),
            (U::BitReverse, 1, 0x80),
            (U::SAbs, 0x80, 0x80),
            (U::SAbs, 0xff, 1),
        ] {
            assert_eq!(unary(op, I8, a), Some(expected), "{op:?} {a}");
        }
    }

    #[test]
    fn every_half_survives_the_way_through_f64() {
        for bits in 0..=0xffff_u64 {
            let v = half_to_f64(bits);
            if v.is_nan() {
                assert!(bits & 0x7fff > 0x7c00);
            } else {
                assert_eq!(f64_to_half(v), Some(bits));
            }
        }
    }

    #[test]
    fn halves_round_to_nearest_even() {
        for (v, expected) in [
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (2.0_f64.powi(-24), 1),
            (2.0_f64.powi(-25), 0),
            (2.0_f64.powi(-25) * 1.0001, 1),
            (2.0_f64.powi(-26), 0),
            (-1e-300, 0x8000),
            (1.0 + 2.0_f64.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2.0_f64.powi(-11), 0x3c02),
        ] {
            assert_eq!(f64_to_half(v), Some(expected), "{v}");
        }
        let half = |v| f64_to_half(v).unwrap();
        assert_eq!(
            binary(BinaryOp::FAdd, F16, half(2048.0), half(1.0)),
            Some(half(2048.0))
        );
        assert_eq!(
            binary(BinaryOp::FDiv, F16, half(1.0), half(3.0)),
            Some(0x3555)
        );
    }

    #[test]
    fn narrowing_agrees_with_the_processor_and_directed_modes_bracket_it() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
            // Exponents around the range of f32.
            let bits = (state & 0x800f_ffff_ffff_ffff) | ((770 + (state >> 40) % 500) << 52);
            let v = f64::from_bits(bits);
            let real = decode(bits, Format::of(64));
            let to = |r| encode(real, Format::of(32), r).unwrap();
            let nearest = (v as f32).to_bits();
            assert_eq!(to(Rounding::Rte), u64::from(nearest), "{v:e}");
            let number = |b: u64| f64::from(f32::from_bits(b as u32));
            let (down, up) = (number(to(Rounding::Rtn)), number(to(Rounding::Rtp)));
            assert!(down <= v && v <= up, "{v:e}: {down:e} {up:e}");
            let zero = number(to(Rounding::Rtz));
            assert_eq!(zero, if v < 0.0 { up } else { down }, "{v:e}");
        }
    }

    #[test]
    fn conversions() {
        use ConvertOp as C;
        use Rounding as R;
        for (op, from, to, rounding, a, expected) in [
            (C::SExt, I8, I32, R::Default, 0x80, Some(0xffff_ff80)),
            (C::ZExt, I8, I32, R::Default, 0x80, Some(0x80)),
            (C::Trunc, I32, I8, R::Default, 0x1ff, Some(0xff)),
            (C::FToS, F32, I32, R::Default, f(-1.9), Some(0xffff_ffff)),
            (C::FToS, F32, I32, R::Rtn, f(-1.1), Some(0xffff_fffe)),
            (C::FToS, F32, I32, R::Rtp, f(1.1), Some(2)),
            (C::FToS, F32, I32, R::Rte, f(2.5), Some(2)),
            (C::FToS, F32, I32, R::Default, f(3e9), None),
            (C::FToU, F32, I32, R::Default, f(3e9), Some(3_000_000_000)),
            (C::FToU, F32, I32, R::Default, f(-0.5), Some(0)),
            (C::FToU, F32, I32, R::Default, f(-1.0), None),
            (C::SatFToS, F32, I8, R::Default, f(1e30), Some(127)),
            (C::SatFToS, F32, I8, R::Default, f(f32::NAN), Some(0)),
            (
                C::SatFToU,
                F64,
                I8,
                R::Default,
                (-1e30_f64).to_bits(),
                Some(0),
            ),
            (C::SatSToU, I32, I8, R::Default, 0xffff_ffff, Some(0)),
            (C::SatUToS, I32, I8, R::Default, 0xffff_ffff, Some(127)),
            (C::SToF, I32, F32, R::Default, 0xffff_ffff, Some(f(-1.0))),
            (C::UToF, I32, F32, R::Rtz, 0xffff_ffff, Some(0x4f7f_ffff)),
            (
                C::UToF,
                I32,
                F32,
                R::Default,
                0xffff_ffff,
                Some(0x4f80_0000),
            ),
            (
                C::UToF,
                Scalar::Int(64),
                F16,
                R::Default,
                u64::MAX,
                Some(0x7c00),
            ),
            (
                C::FToF,
                F64,
                F32,
                R::Default,
                0.1_f64.to_bits(),
                Some(f(0.1)),
            ),
            (C::FToF, F32, F16, R::Rtz, f(65519.0), Some(0x7bff)),
            (
                C::FToBf16,
                F32,
                Scalar::Int(16),
                R::Default,
                f(1.003_906_3),
                Some(0x3f80),
            ),
            (
                C::Bf16ToF,
                Scalar::Int(16),
                F32,
                R::Default,
                0x3fc0,
                Some(f(1.5)),
            ),
        ] {
            assert_eq!(
                convert(op, from, to, rounding, a),
                expected,
                "{op:?} {a:#x} {rounding:?}"
            );
        }
    }

    #[test]
    fn what_the_machine_decides_is_left_to_it() {
        assert_eq!(binary(BinaryOp::FDiv, F32, 0, 0), None);
        assert_eq!(binary(BinaryOp::FMul, F32, f(1e-30), f(1e-10)), None);
        assert_eq!(binary(BinaryOp::FAdd, F32, 1, 0), None);
        assert_eq!(compare(Predicate::FOrdEq, F32, 1, 0), None);
        assert_eq!(
            compare(Predicate::FUnordLt, F32, f(f32::NAN), 0),
            Some(true)
        );
        assert_eq!(compare(Predicate::FOrdEq, F32, f(-0.0), 0), Some(true));
        assert_eq!(compare(Predicate::SLt, I8, 0xff, 0), Some(true));
        assert_eq!(math(MathFn::Sqrt, 32, &[f(2.0)]), Some(f(2.0_f32.sqrt())));
        assert_eq!(math(MathFn::Sin, 32, &[0]), None);
        assert_eq!(math(MathFn::Fmax, 32, &[0, f(-0.0)]), None);
        assert_eq!(math(MathFn::Round, 32, &[f(-2.5)]), Some(f(-3.0)));
        assert_eq!(math(MathFn::Rint, 32, &[f(2.5)]), Some(f(2.0)));
    }
}
