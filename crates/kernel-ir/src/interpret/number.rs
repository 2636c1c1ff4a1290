//! Scalar arithmetic on register bits: integers of 8 to 64 bits, floats of 16 to 64, and every
//! conversion among them. A register holds a scalar's bits, zero-extended to 64.

use crate::ir::{BinaryOp, ConvertOp, Predicate, Rounding, UnaryOp};

/// A scalar's kind; pointers are `I64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Kind {
    /// Bits of the value in a register.
    pub(super) fn bits(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::I8 => 8,
            Kind::I16 | Kind::F16 => 16,
            Kind::I32 | Kind::F32 => 32,
            Kind::I64 | Kind::F64 => 64,
        }
    }
    /// Bytes of the value in memory.
    pub(super) fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }
    pub(super) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
    pub(super) fn is_float(self) -> bool {
        matches!(self, Kind::F16 | Kind::F32 | Kind::F64)
    }
    /// The value of signed integer bits.
    pub(super) fn signed(self, bits: u64) -> i64 {
        let unused = 64 - self.bits();
        ((bits << unused) as i64) >> unused
    }
    /// Smallest and largest signed value.
    fn signed_range(self) -> (i64, i64) {
        (
            i64::MIN >> (64 - self.bits()),
            i64::MAX >> (64 - self.bits()),
        )
    }
}

/// An IEEE binary format.
struct Format {
    mantissa: u32,
    bias: i32,
    width: u32,
}

fn format(kind: Kind) -> Format {
    match kind {
        Kind::F16 => Format {
            mantissa: 10,
            bias: 15,
            width: 16,
        },
        Kind::F32 => Format {
            mantissa: 23,
            bias: 127,
            width: 32,
        },
        _ => Format {
            mantissa: 52,
            bias: 1023,
            width: 64,
        },
    }
}

/// `(-1)^negative * significand * 2^exponent`, rounded once to `kind`.
pub(super) fn round_to(
    kind: Kind,
    negative: bool,
    significand: u64,
    exponent: i32,
    rounding: Rounding,
) -> u64 {
    let f = format(kind);
    let m = f.mantissa as i32;
    let sign = u64::from(negative) << (f.width - 1);
    if significand == 0 {
        return sign;
    }
    let top = 63 - significand.leading_zeros() as i32 + exponent;
    // Exponent of the last place that is kept; it stops falling where subnormals begin.
    let mut last = (top - m).max(1 - f.bias - m);
    let drop = last - exponent;
    let (mut kept, rest, half) = if drop <= 0 {
        (u128::from(significand) << (-drop).min(64), 0, 1)
    } else if drop > 100 {
        (0, 1, 2)
    } else {
        let s = u128::from(significand);
        (s >> drop, s & ((1 << drop) - 1), 1u128 << (drop - 1))
    };
    let up = match rounding {
        Rounding::Default | Rounding::Rte => rest > half || (rest == half && kept & 1 == 1),
        Rounding::Rtz => false,
        Rounding::Rtp => rest != 0 && !negative,
        Rounding::Rtn => rest != 0 && negative,
    };
    kept += u128::from(up);
    if kept >> (m + 1) != 0 {
        kept >>= 1;
        last += 1;
    }
    if kept >> m == 0 {
        return sign | kept as u64;
    }
    let field = last + m + f.bias;
    let infinity = ((1u64 << (f.width - 1 - f.mantissa)) - 1) << f.mantissa;
    if field > 2 * f.bias {
        let to_infinity = match rounding {
            Rounding::Default | Rounding::Rte => true,
            Rounding::Rtz => false,
            Rounding::Rtp => !negative,
            Rounding::Rtn => negative,
        };
        return sign | (infinity - u64::from(!to_infinity));
    }
    sign | (field as u64) << f.mantissa | (kept as u64 & ((1 << f.mantissa) - 1))
}

/// The exact value of float bits.
pub(super) fn to_f64(kind: Kind, bits: u64) -> f64 {
    match kind {
        Kind::F16 => half_to_f64(bits as u16),
        Kind::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

pub(crate) fn half_to_f64(bits: u16) -> f64 {
    let negative = bits >> 15 == 1;
    let (field, fraction) = (i32::from(bits >> 10 & 31), u64::from(bits & 0x3ff));
    let magnitude = match (field, fraction) {
        (31, 0) => f64::INFINITY,
        // Quiet, payload kept at the top of the fraction.
        (31, _) => f64::from_bits(0x7ff8 << 48 | fraction << 42),
        (0, _) => fraction as f64 * 2f64.powi(-24),
        _ => (fraction + 1024) as f64 * 2f64.powi(field - 25),
    };
    if negative { -magnitude } else { magnitude }
}

/// `value` rounded once to `kind`.
pub(super) fn from_f64(kind: Kind, value: f64, rounding: Rounding) -> u64 {
    let nearest = matches!(rounding, Rounding::Default | Rounding::Rte);
    if kind == Kind::F64 {
        return value.to_bits();
    }
    if kind == Kind::F32 && (nearest || !value.is_finite()) {
        return u64::from((value as f32).to_bits());
    }
    let bits = value.to_bits();
    let negative = bits >> 63 == 1;
    if value.is_infinite() {
        return u64::from(negative) << 15 | 0x7c00;
    }
    if value.is_nan() {
        return u64::from(negative) << 15 | 0x7e00 | (bits >> 42 & 0x1ff);
    }
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (significand, exponent) = if field == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, field - 1075)
    };
    round_to(kind, negative, significand, exponent, rounding)
}

/// Denormal 32-bit floats become zeros of their sign when `flush`.
pub(super) fn flushed(kind: Kind, bits: u64, flush: bool) -> u64 {
    if flush && kind == Kind::F32 && bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// A two-operand operation on scalars of `kind`.
pub(super) fn binary(op: BinaryOp, kind: Kind, a: u64, b: u64, flush: bool) -> u64 {
    if kind.is_float() {
        let (a, b) = (flushed(kind, a, flush), flushed(kind, b, flush));
        return flushed(kind, float_binary(op, kind, a, b), flush);
    }
    let (sa, sb) = (kind.signed(a), kind.signed(b));
    let (min, max) = kind.signed_range();
    let overflows = sa == min && sb == -1;
    let shift = (b & u64::from(kind.bits() - 1)) as u32;
    let result = match op {
        BinaryOp::IAdd => a.wrapping_add(b),
        BinaryOp::ISub => a.wrapping_sub(b),
        BinaryOp::IMul => a.wrapping_mul(b),
        // Where the result is unspecified the divisor is taken as 1, as the code generator does.
        BinaryOp::UDiv => a.checked_div(b).unwrap_or(a),
        BinaryOp::URem => a.checked_rem(b).unwrap_or(0),
        BinaryOp::SDiv if sb == 0 || overflows => a,
        BinaryOp::SDiv => (sa / sb) as u64,
        BinaryOp::SRem | BinaryOp::SMod if sb == 0 || overflows => 0,
        BinaryOp::SRem => (sa % sb) as u64,
        BinaryOp::SMod => {
            let rest = sa % sb;
            let other_sign = rest != 0 && (rest < 0) != (sb < 0);
            (if other_sign { rest + sb } else { rest }) as u64
        }
        BinaryOp::Shl => a << shift,
        BinaryOp::LShr => a >> shift,
        BinaryOp::AShr => (sa >> shift) as u64,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::SMin => sa.min(sb) as u64,
        BinaryOp::SMax => sa.max(sb) as u64,
        BinaryOp::UMin => a.min(b),
        BinaryOp::UMax => a.max(b),
        BinaryOp::SMulHi => ((i128::from(sa) * i128::from(sb)) >> kind.bits()) as u64,
        BinaryOp::UMulHi => ((u128::from(a) * u128::from(b)) >> kind.bits()) as u64,
        BinaryOp::SAddSat => sa.saturating_add(sb).clamp(min, max) as u64,
        BinaryOp::SSubSat => sa.saturating_sub(sb).clamp(min, max) as u64,
        BinaryOp::UAddSat => a.saturating_add(b).min(kind.mask()),
        BinaryOp::USubSat => a.saturating_sub(b),
        BinaryOp::Rotate if shift == 0 => a,
        BinaryOp::Rotate => a << shift | a >> (kind.bits() - shift),
        BinaryOp::LogicalEqual => return u64::from(a == b),
        BinaryOp::LogicalNotEqual => return u64::from(a != b),
        // Float operations never come with integer kinds from a validated module.
        BinaryOp::FAdd
        | BinaryOp::FSub
        | BinaryOp::FMul
        | BinaryOp::FDiv
        | BinaryOp::FRem
        | BinaryOp::FMod => 0,
    };
    result & kind.mask()
}

fn float_binary(op: BinaryOp, kind: Kind, a: u64, b: u64) -> u64 {
    if kind == Kind::F32 {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let result = match op {
            BinaryOp::FAdd => a + b,
            BinaryOp::FSub => a - b,
            BinaryOp::FMul => a * b,
            BinaryOp::FDiv => a / b,
            BinaryOp::FRem => a % b,
            BinaryOp::FMod => modulo(f64::from(a), f64::from(b)) as f32,
            _ => 0.0,
        };
        return u64::from(result.to_bits());
    }
    // For halves a result in f64 is exact or has bits to spare, so that rounding it again is right.
    let (a, b) = (to_f64(kind, a), to_f64(kind, b));
    let result = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        BinaryOp::FRem => a % b,
        BinaryOp::FMod => modulo(a, b),
        _ => 0.0,
    };
    from_f64(kind, result, Rounding::Rte)
}

/// Remainder with the divisor's sign.
fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// The smaller of two floats; a number rather than a NaN.
pub(super) fn float_min(kind: Kind, a: u64, b: u64) -> u64 {
    let (x, y) = (to_f64(kind, a), to_f64(kind, b));
    if x.is_nan() || y < x { b } else { a }
}

/// The larger of two floats; a number rather than a NaN.
pub(super) fn float_max(kind: Kind, a: u64, b: u64) -> u64 {
    let (x, y) = (to_f64(kind, a), to_f64(kind, b));
    if x.is_nan() || y > x { b } else { a }
}

/// A one-operand operation on a scalar of `kind`.
pub(super) fn unary(op: UnaryOp, kind: Kind, a: u64) -> u64 {
    let sign = 1u64 << (kind.bits() - 1);
    match op {
        UnaryOp::INeg => a.wrapping_neg() & kind.mask(),
        UnaryOp::FNeg => a ^ sign,
        UnaryOp::Not => !a & kind.mask(),
        UnaryOp::PopCount => u64::from(a.count_ones()),
        UnaryOp::CountLeadingZeros => u64::from(a.leading_zeros() + kind.bits() - 64),
        UnaryOp::CountTrailingZeros => u64::from(a.trailing_zeros().min(kind.bits())),
        UnaryOp::BitReverse => a.reverse_bits() >> (64 - kind.bits()),
        UnaryOp::SAbs => kind.signed(a).unsigned_abs() & kind.mask(),
        UnaryOp::IsNan => u64::from(to_f64(kind, a).is_nan()),
        UnaryOp::IsInf => u64::from(to_f64(kind, a).is_infinite()),
        UnaryOp::IsFinite => u64::from(to_f64(kind, a).is_finite()),
        UnaryOp::IsNormal => {
            let f = format(kind);
            let field = a >> f.mantissa & (2 * f.bias as u64 + 1);
            u64::from(field != 0 && field != 2 * f.bias as u64 + 1)
        }
        UnaryOp::SignBit => u64::from(a & sign != 0),
        // Of one lane.
        UnaryOp::AnyLane | UnaryOp::AllLanes => a,
    }
}

/// A comparison of scalars of `kind`.
pub(super) fn compare(op: Predicate, kind: Kind, a: u64, b: u64) -> bool {
    use Predicate as P;
    let (sa, sb) = (kind.signed(a), kind.signed(b));
    match op {
        P::IEq => return a == b,
        P::INe => return a != b,
        P::ULt => return a < b,
        P::ULe => return a <= b,
        P::UGt => return a > b,
        P::UGe => return a >= b,
        P::SLt => return sa < sb,
        P::SLe => return sa <= sb,
        P::SGt => return sa > sb,
        P::SGe => return sa >= sb,
        _ => {}
    }
    let (x, y) = (to_f64(kind, a), to_f64(kind, b));
    let unordered = x.is_nan() || y.is_nan();
    match op {
        P::FOrdEq => x == y,
        P::FOrdNe => !unordered && x != y,
        P::FOrdLt => x < y,
        P::FOrdLe => x <= y,
        P::FOrdGt => x > y,
        P::FOrdGe => x >= y,
        P::FUnordEq => unordered || x == y,
        P::FUnordNe => x != y,
        P::FUnordLt => unordered || x < y,
        P::FUnordLe => unordered || x <= y,
        P::FUnordGt => unordered || x > y,
        P::FUnordGe => unordered || x >= y,
        P::FOrdered => !unordered,
        _ => unordered,
    }
}

/// `value` to an integral float.
fn round_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Default | Rounding::Rtz => value.trunc(),
        Rounding::Rte => value.round_ties_even(),
        Rounding::Rtp => value.ceil(),
        Rounding::Rtn => value.floor(),
    }
}

/// A whole number as an integer, the way x86-64 converts: out of range is unspecified, but programs
/// have come to expect NumPy's results, which are these.
fn machine_integer(value: f64, to: Kind, unsigned: bool) -> u64 {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if to.bits() < 32 || (to.bits() == 32 && !unsigned) {
        let fits = value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX);
        return if fits { value as i32 } else { i32::MIN } as u64;
    }
    if unsigned && (TWO_63..2.0 * TWO_63).contains(&value) {
        return value as u64;
    }
    let fits = (-TWO_63..TWO_63).contains(&value);
    (if fits { value as i64 } else { i64::MIN }) as u64
}

/// A conversion of one scalar.
pub(super) fn convert(op: ConvertOp, from: Kind, to: Kind, rounding: Rounding, a: u64) -> u64 {
    let (min, max) = to.signed_range();
    match op {
        ConvertOp::Trunc
        | ConvertOp::ZExt
        | ConvertOp::Bitcast
        | ConvertOp::PtrToInt
        | ConvertOp::IntToPtr
        | ConvertOp::AddressSpace => a & to.mask(),
        ConvertOp::SExt => from.signed(a) as u64 & to.mask(),
        ConvertOp::FToU | ConvertOp::FToS => {
            let value = round_integral(to_f64(from, a), rounding);
            machine_integer(value, to, op == ConvertOp::FToU) & to.mask()
        }
        ConvertOp::SatFToU => {
            let value = round_integral(to_f64(from, a), rounding);
            (value as u64).min(to.mask())
        }
        ConvertOp::SatFToS => {
            let value = round_integral(to_f64(from, a), rounding);
            (value as i64).clamp(min, max) as u64 & to.mask()
        }
        ConvertOp::UToF => round_to(to, false, a, 0, rounding),
        ConvertOp::SToF => {
            let value = from.signed(a);
            round_to(to, value < 0, value.unsigned_abs(), 0, rounding)
        }
        ConvertOp::FToF => from_f64(to, to_f64(from, a), rounding),
        ConvertOp::FToBf16 => {
            let bits = a as u32;
            if f32::from_bits(bits).is_nan() {
                return u64::from(bits >> 16 | 0x40);
            }
            let odd = bits >> 16 & 1;
            u64::from((bits.wrapping_add(0x7fff + odd)) >> 16)
        }
        ConvertOp::Bf16ToF => (a & 0xffff) << 16,
        ConvertOp::SatSToS => from.signed(a).clamp(min, max) as u64 & to.mask(),
        ConvertOp::SatSToU => {
            let value = from.signed(a).max(0) as u64;
            value.min(to.mask())
        }
        ConvertOp::SatUToS => a.min(max as u64),
        ConvertOp::SatUToU => a.min(to.mask()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_saturate_and_never_fault() {
        use BinaryOp as B;
        for (op, kind, a, b, expected) in [
            (B::IAdd, Kind::I8, 0xff, 2, 1),
            (B::ISub, Kind::I16, 0, 1, 0xffff),
            (B::IMul, Kind::I32, 0x8000_0001, 2, 2),
            (B::UDiv, Kind::I32, 7, 0, 7),
            (B::URem, Kind::I32, 7, 0, 0),
            (B::SDiv, Kind::I8, 0x80, 0xff, 0x80),
            (B::SRem, Kind::I8, 0x80, 0xff, 0),
            (B::SDiv, Kind::I8, 0xf9, 2, 0xfd),
            (B::SRem, Kind::I8, 0xf9, 4, 0xfd),
            (B::SMod, Kind::I8, 0xf9, 4, 1),
            (B::SMod, Kind::I8, 7, 0xfc, 0xff),
            (B::Shl, Kind::I8, 1, 9, 2),
            (B::AShr, Kind::I8, 0x80, 7, 0xff),
            (B::LShr, Kind::I64, 1 << 63, 127, 1),
            (B::SMulHi, Kind::I32, 0xffff_ffff, 2, 0xffff_ffff),
            (B::UMulHi, Kind::I64, u64::MAX, u64::MAX, u64::MAX - 1),
            (B::SAddSat, Kind::I8, 0x7f, 1, 0x7f),
            (B::SSubSat, Kind::I64, 1 << 63, 1, 1 << 63),
            (B::UAddSat, Kind::I16, 0xffff, 1, 0xffff),
            (B::USubSat, Kind::I16, 1, 2, 0),
            (B::Rotate, Kind::I8, 0x81, 9, 3),
            (B::Rotate, Kind::I64, 5, 64, 5),
            (B::LogicalEqual, Kind::Bool, 0, 0, 1),
        ] {
            assert_eq!(
                binary(op, kind, a, b, false),
                expected,
                "{op:?} {kind:?} {a:#x} {b:#x}"
            );
        }
        use UnaryOp as U;
        for (op, kind, a, expected) in [
            (U::CountLeadingZeros, Kind::I8, 1, 7),
            (U::CountLeadingZeros, Kind::I64, 0, 64),
            (U::CountTrailingZeros, Kind::I16, 0, 16),
            (U::BitReverse, Kind::I8, 1, 0x80),
            (U::SAbs, Kind::I8, 0x80, 0x80),
            (U::IsNormal, Kind::F16, 0x03ff, 0),
            (U::IsNormal, Kind::F16, 0x0400, 1),
            (U::SignBit, Kind::F32, 0x8000_0000, 1),
        ] {
            assert_eq!(unary(op, kind, a), expected, "{op:?} {kind:?} {a:#x}");
        }
    }

    #[test]
    fn halves_survive_the_way_through_doubles() {
        for bits in 0..=u16::MAX {
            let value = half_to_f64(bits);
            let back = from_f64(Kind::F16, value, Rounding::Rte);
            if value.is_nan() {
                assert_eq!(back | 0x200, u64::from(bits | 0x200), "{bits:#x}");
            } else {
                assert_eq!(back, u64::from(bits), "{bits:#x}");
            }
        }
    }

    #[test]
    fn rounding_agrees_with_the_machine_and_with_its_directions() {
        // A walk over all magnitudes; `as` rounds to nearest even.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let value = f64::from_bits(state ^ state >> 17);
            if !value.is_finite() {
                continue;
            }
            let bits = value.to_bits();
            let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
            let nearest = round_to(
                Kind::F32,
                value < 0.0,
                fraction | u64::from(field != 0) << 52,
                field.max(1) - 1075,
                Rounding::Rte,
            );
            assert_eq!(nearest as u32, (value as f32).to_bits(), "{value:e}");
            let up = to_f64(Kind::F32, from_f64(Kind::F32, value, Rounding::Rtp));
            let down = to_f64(Kind::F32, from_f64(Kind::F32, value, Rounding::Rtn));
            assert!(down <= value && value <= up, "{value:e}");
            let integer = state >> (state & 63);
            for (mine, machine) in [
                (
                    round_to(Kind::F32, false, integer, 0, Rounding::Rte),
                    u64::from((integer as f32).to_bits()),
                ),
                (
                    round_to(Kind::F64, false, integer, 0, Rounding::Rte),
                    (integer as f64).to_bits(),
                ),
            ] {
                assert_eq!(mine, machine, "{integer}");
            }
        }
        assert_eq!(from_f64(Kind::F16, 65520.0, Rounding::Rte), 0x7c00);
        assert_eq!(from_f64(Kind::F16, 65520.0, Rounding::Rtz), 0x7bff);
        assert_eq!(from_f64(Kind::F16, 1e-30, Rounding::Rtp), 1);
        assert_eq!(from_f64(Kind::F32, -1e300, Rounding::Rtp), 0xff7f_ffff);
    }

    #[test]
    fn conversions_saturate_where_they_say_so() {
        use ConvertOp as C;
        let f = |v: f32| u64::from(v.to_bits());
        for (op, from, to, a, expected) in [
            (C::SatFToS, Kind::F32, Kind::I8, f(-1e9), 0x80),
            (C::SatFToU, Kind::F32, Kind::I8, f(-1.0), 0),
            (C::SatFToU, Kind::F32, Kind::I64, f(1e30), u64::MAX),
            (C::SatFToS, Kind::F32, Kind::I32, f(f32::NAN), 0),
            (C::FToU, Kind::F32, Kind::I8, f(-1.0), 255),
            (C::FToS, Kind::F32, Kind::I8, f(300.0), 44),
            (C::FToU, Kind::F32, Kind::I32, f(-1.0), 0xffff_ffff),
            (C::FToU, Kind::F32, Kind::I32, f(4e9), 4_000_000_000),
            (C::FToS, Kind::F32, Kind::I32, f(f32::NAN), 0x8000_0000),
            (
                C::FToU,
                Kind::F64,
                Kind::I64,
                1.5e19f64.to_bits(),
                15_000_000_000_000_000_000,
            ),
            (C::FToS, Kind::F32, Kind::I64, f(f32::INFINITY), 1 << 63),
            (C::SatSToU, Kind::I32, Kind::I8, 0xffff_ffff, 0),
            (C::SatSToS, Kind::I32, Kind::I8, 0xffff_0000, 0x80),
            (C::SatUToS, Kind::I32, Kind::I8, 200, 127),
            (C::SatUToU, Kind::I32, Kind::I8, 300, 255),
            (C::SExt, Kind::I8, Kind::I32, 0x80, 0xffff_ff80),
            (C::FToBf16, Kind::F32, Kind::I16, 0x3f80_8000, 0x3f80),
            (C::FToBf16, Kind::F32, Kind::I16, 0x3f81_8000, 0x3f82),
            (C::Bf16ToF, Kind::I16, Kind::F32, 0x3f80, 0x3f80_0000),
        ] {
            assert_eq!(
                convert(op, from, to, Rounding::Default, a),
                expected,
                "{op:?} {a:#x}"
            );
        }
        for (rounding, expected) in [
            (Rounding::Default, -2i64),
            (Rounding::Rte, -2),
            (Rounding::Rtp, -2),
            (Rounding::Rtn, -3),
        ] {
            let got = convert(C::FToS, Kind::F32, Kind::I64, rounding, f(-2.5));
            assert_eq!(got as i64, expected, "{rounding:?}");
        }
    }
}
