//! Numbers as assembly writes them: decimal, hexadecimal, `0x1.8p+3`.

/// A number that has no type yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// A whole number.
    Int(i128),
    /// Another decimal number.
    Float(f64),
    /// `mantissa * 2^exponent`, where the exponent beyond a format's largest stands for infinity and NaN.
    Hex {
        negative: bool,
        /// 1 or 0 before the point, 52 bits after it.
        mantissa: u64,
        exponent: i32,
    },
}

impl Number {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, bare) = match text.strip_prefix('-') {
            Some(bare) => (true, bare),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if !bare.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let hex = bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X"));
        let sign = |value: i128| if negative { -value } else { value };
        match hex {
            Some(digits) => match digits.split_once(['p', 'P']) {
                Some((digits, exponent)) => Self::parse_hex(negative, digits, exponent),
                None => Some(Self::Int(sign(i128::from(
                    u64::from_str_radix(digits, 16).ok()?,
                )))),
            },
            None => match bare.parse::<u64>() {
                Ok(value) => Some(Self::Int(sign(i128::from(value)))),
                Err(_) => text.parse().ok().map(Self::Float),
            },
        }
    }

    fn parse_hex(negative: bool, digits: &str, exponent: &str) -> Option<Self> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole: u64 = whole.parse().ok().filter(|whole| *whole <= 1)?;
        if fraction.len() > 13 || !fraction.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let bits = match fraction {
            "" => 0,
            digits => u64::from_str_radix(digits, 16).ok()? << (52 - 4 * digits.len()),
        };
        let exponent = exponent
            .strip_prefix('+')
            .unwrap_or(exponent)
            .parse()
            .ok()?;
        Some(Self::Hex {
            negative,
            mantissa: whole << 52 | bits,
            exponent,
        })
    }

    /// The low bits as a word or two have them; small integers are extended by their sign.
    pub(super) fn as_int(self, bits: u32, signed: bool) -> Option<u64> {
        let Self::Int(value) = self else {
            return None;
        };
        if !(1..=64).contains(&bits) {
            return None;
        }
        let most = (1i128 << bits) - 1;
        // A hexadecimal number may give all bits of a signed type.
        let fits = if signed || value < 0 {
            value >= -(1i128 << (bits - 1)) && value <= most
        } else {
            value <= most
        };
        if !fits || (value < 0 && !signed) {
            return None;
        }
        let value = if signed && value > most >> 1 {
            value - most - 1
        } else {
            value
        };
        let word = if bits > 32 {
            u64::MAX
        } else {
            u64::from(u32::MAX)
        };
        // The low bits of two's complement are meant.
        Some(value as u64 & word)
    }

    /// The bits of the nearest number of the format.
    pub(super) fn as_float(self, bits: u32) -> Option<u64> {
        let (mantissa_bits, bias) = match bits {
            16 => (10u32, 15i32),
            32 => (23, 127),
            64 => (52, 1023),
            _ => return None,
        };
        let value = match self {
            Self::Hex {
                negative,
                mantissa,
                exponent,
            } if exponent == bias + 1 => {
                // Infinity, or a NaN by its mantissa.
                let fraction = mantissa & ((1 << 52) - 1);
                let sign = u64::from(negative) << (bits - 1);
                let exponent = ((1u64 << (bits - 1 - mantissa_bits)) - 1) << mantissa_bits;
                return Some(sign | exponent | fraction >> (52 - mantissa_bits));
            }
            Self::Hex {
                negative,
                mantissa,
                exponent,
            } => {
                let value =
                    mantissa as f64 * 2f64.powi(-52) * 2f64.powi(exponent.clamp(-1080, 1024));
                if negative { -value } else { value }
            }
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        };
        Some(match bits {
            64 => value.to_bits(),
            32 => u64::from((value as f32).to_bits()),
            _ => u64::from(half_bits(value)),
        })
    }
}

/// The nearest half, ties to even.
fn half_bits(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // In units of the last place: 2^-24 below the smallest normal number, relative above it.
    let exponent = size.max(2f64.powi(-14)).log2().floor() as i32;
    let units = (size * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // A carry out of the mantissa raises the exponent, as it should.
    let base = (exponent + 14) as u16;
    sign | (base << 10).wrapping_add(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_the_bits_of_their_type() {
        let int =
            |text: &str, bits, signed| Number::parse(text).and_then(|n| n.as_int(bits, signed));
        let cases: &[(&str, u32, bool, Option<u64>)] = &[
            ("5", 32, false, Some(5)),
            ("-1", 32, true, Some(0xffff_ffff)),
            ("-1", 64, true, Some(u64::MAX)),
            ("-1", 32, false, None),
            ("0xffffffff", 32, true, Some(0xffff_ffff)),
            ("200", 8, true, Some(0xffff_ffc8)),
            ("256", 8, false, None),
            ("-128", 8, true, Some(0xffff_ff80)),
            ("-129", 8, true, None),
            ("4294967296", 32, false, None),
            ("18446744073709551615", 64, false, Some(u64::MAX)),
            ("1.5", 32, false, None),
        ];
        for (text, bits, signed, want) in cases {
            assert_eq!(int(text, *bits, *signed), *want, "{text} {bits} {signed}");
        }
        let float = |text: &str, bits| Number::parse(text).and_then(|n| n.as_float(bits));
        let cases: &[(&str, u32, Option<u64>)] = &[
            ("1.5", 32, Some(0x3fc0_0000)),
            ("-2", 32, Some(0xc000_0000)),
            ("0x1.8p+1", 32, Some(0x4040_0000)),
            ("0x1p+128", 32, Some(0x7f80_0000)),
            ("-0x1p+128", 32, Some(0xff80_0000)),
            ("0x1.8p+128", 32, Some(0x7fc0_0000)),
            ("1e300", 64, Some(1e300f64.to_bits())),
            ("0x1p+16", 16, Some(0x7c00)),
            ("0x1.ffcp+15", 16, Some(0x7bff)),
            ("1", 16, Some(0x3c00)),
            ("0x1p-24", 16, Some(1)),
            ("0x1p-25", 16, Some(0)),
            ("2049", 16, Some(0x6800)),
            ("2051", 16, Some(0x6802)),
            ("x", 32, None),
            ("", 32, None),
            ("--1", 32, None),
        ];
        for (text, bits, want) in cases {
            assert_eq!(float(text, *bits), *want, "{text} {bits}");
        }
    }
}
