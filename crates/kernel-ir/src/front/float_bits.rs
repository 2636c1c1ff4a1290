//! Conversion between `f64` and the bits of floats of 16, 32 and 64 bits.

/// The bits of `value` as a float of `bits` bits, rounded to nearest even.
pub(super) fn float_bits(bits: u8, value: f64) -> u64 {
    match bits {
        64 => value.to_bits(),
        32 => u64::from((value as f32).to_bits()),
        _ => u64::from(half_bits(value)),
    }
}

/// 2 to the power of `exponent`, which is in the range of normal doubles.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).clamp(1, 2046) as u32) << 52)
}

/// binary16, rounded to nearest even.
fn half_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let value = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // 65520 is halfway from the largest half to the next power of two.
    if value >= 65520.0 {
        return sign | 0x7c00;
    }
    // Steps of the binade: 2^-24 for denormals, 2^(e-10) above.
    let exponent = if value == 0.0 {
        -15
    } else {
        let raw = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        raw.max(-15)
    };
    let step = (exponent.max(-14)) - 10;
    let scaled = value * power_of_two(-step);
    // Exact: below 2^11 and a double.
    let rounded = scaled.round_ties_even() as u32;
    let base = if exponent < -14 {
        0
    } else {
        ((exponent + 14) as u32) << 10
    };
    // A carry into the exponent is correct: the value rounds up to the next binade.
    sign | (base + rounded) as u16
}

/// The value of float bits.
pub(super) fn float_value(bits: u8, value: u64) -> f64 {
    match bits {
        64 => f64::from_bits(value),
        32 => f64::from(f32::from_bits(value as u32)),
        _ => {
            let (exponent, fraction) = ((value >> 10) & 31, (value & 1023) as f64);
            let size = match exponent {
                0 => fraction * power_of_two(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * power_of_two(exponent as i32 - 25),
            };
            if value & 0x8000 == 0 { size } else { -size }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{float_bits, float_value};

    #[test]
    fn halves_round_to_nearest_even() {
        for (value, bits) in [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (f64::INFINITY, 0x7c00),
            (6.0e-8, 0x0001),
            (2.9e-8, 0x0000),
            (6.103_515_625e-5, 0x0400),
            (6.1e-5, 0x03ff),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2047.9, 0x6800),
        ] {
            assert_eq!(float_bits(16, value), bits, "{value}");
        }
        for bits in (0..0x7c00).chain(0x8000..0xfc00) {
            assert_eq!(float_bits(16, float_value(16, bits)), bits, "{bits:#x}");
        }
    }
}
