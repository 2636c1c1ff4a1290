//! Conversions: saturation and the four roundings, against 128-bit integers and exact f64.

use super::{Arg, Case, Near, To, bytes, case, half_bits, input, output, reals, to_float, to_half};

const ROUNDINGS: [To; 4] = [To::Even, To::Zero, To::Up, To::Down];

/// Least and greatest of the integer types, by OpenCL C name.
const INTS: [(&str, i128, i128); 8] = [
    ("char", -128, 127),
    ("uchar", 0, 255),
    ("short", -32768, 32767),
    ("ushort", 0, 65535),
    ("int", i32::MIN as i128, i32::MAX as i128),
    ("uint", 0, u32::MAX as i128),
    ("long", i64::MIN as i128, i64::MAX as i128),
    ("ulong", 0, u64::MAX as i128),
];

/// What the kernels of round.spvasm saturate to: from signed numbers, from unsigned ones.
const SIGNED: [&str; 5] = ["char", "short", "uchar", "ushort", "uint"];
const UNSIGNED: [&str; 5] = ["uchar", "ushort", "char", "short", "int"];

fn size_of(name: &str) -> usize {
    match name {
        "char" | "uchar" => 1,
        "short" | "ushort" | "half" => 2,
        "int" | "uint" | "float" => 4,
        _ => 8,
    }
}

/// Whole numbers as a buffer of type `name`.
fn buffer(name: &str, values: &[i128]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|v| v.to_le_bytes()[..size_of(name)].to_vec())
        .collect()
}
fn int_output(name: &str, values: &[i128]) -> Arg {
    let bytes = buffer(name, values);
    Arg::Out(vec![0xa5; bytes.len()], super::Expect::Bytes(bytes))
}
/// Floats, which are values of the type, as a buffer of type `name`.
fn float_buffer(name: &str, values: &[f64]) -> Vec<u8> {
    match name {
        "half" => bytes(&values.iter().map(|&v| half_bits(v)).collect::<Vec<_>>()),
        "float" => bytes(&values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        _ => bytes(values),
    }
}

fn whole(x: f64, to: To) -> f64 {
    match to {
        To::Even => x.round_ties_even(),
        To::Zero => x.trunc(),
        To::Up => x.ceil(),
        To::Down => x.floor(),
    }
}

/// The float type's value nearest to `x` in direction `to`; exact while `x` fits 127 bits.
fn to_type(name: &str, x: i128, to: To) -> f64 {
    let digits = match name {
        "half" => 11,
        "float" => 24,
        _ => 53,
    };
    let length = 128 - x.unsigned_abs().leading_zeros();
    let drop = length.saturating_sub(digits);
    let (unit, low) = (1i128 << drop, x.rem_euclid(1 << drop));
    let down = x - low;
    let up = match to {
        To::Down => false,
        To::Up => low > 0,
        To::Zero => x < 0 && low > 0,
        To::Even => 2 * low > unit || (2 * low == unit && (down >> drop) & 1 == 1),
    };
    let rounded = (if up { down + unit } else { down }) as f64;
    if name == "half" {
        to_half(rounded, to)
    } else {
        rounded
    }
}

fn float_inputs(name: &str) -> Vec<f64> {
    let mut v: Vec<f64> = vec![
        0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999, -0.75, 1.0, -1.0, 99.5, 127.4, 127.5,
        127.9, 128.0,
    ];
    v.extend([
        -128.0, -128.5, -128.6, -129.0, 254.5, 255.4, 255.5, 256.0, 32767.4, 32767.5, -32768.5,
        65535.4, 65535.5, 1e-30,
    ]);
    v.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30, -1e30]);
    for p in [31, 32, 63, 64] {
        let x = 2f64.powi(p);
        v.extend([
            x,
            -x,
            x * (1.0 - 2f64.powi(-24)),
            x * (1.0 + 2f64.powi(-20)),
            -x * (1.0 + 2f64.powi(-20)),
            x * (1.0 - 2f64.powi(-50)),
        ]);
    }
    v.extend([
        2147483647.5,
        -2147483648.5,
        4294967295.5,
        8388607.5,
        8388608.5,
        4503599627370495.5,
    ]);
    let round = |x: f64| match name {
        "half" => to_half(x, To::Even),
        "float" => f64::from(x as f32),
        _ => x,
    };
    v.into_iter().map(round).collect()
}

fn int_inputs(least: i128, most: i128) -> Vec<i128> {
    let mut v = vec![
        0, 1, 2, 3, -1, -2, 100, 255, 256, 1000, 65504, 65519, 65520, 2047, 2049, 2051, 4098,
    ];
    v.extend([most, most - 1, least, least + 1, most / 2, most / 2 + 1]);
    for p in [24, 25, 31, 32, 53, 54, 55, 62] {
        for d in [-3i128, -1, 0, 1, 2, 3, 5] {
            v.extend([(1 << p) + d, -(1 << p) + d]);
        }
    }
    v.extend([
        (1 << 60) + (1 << 36),
        (1 << 60) + (1 << 36) + 1,
        (1 << 60) + (3 << 36),
        0x7fff_ff80,
        0x7fff_ffbf,
        0x7fff_ffc0,
    ]);
    v.retain(|x| (least..=most).contains(x));
    v
}

fn from_floats(cases: &mut Vec<Case>, from: &str) {
    for (to, least, most) in INTS {
        if from == "half" && !["int", "uchar"].contains(&to) {
            continue;
        }
        let values = float_inputs(from);
        let mut out = Vec::new();
        for &x in &values {
            for round in [To::Zero, To::Even, To::Zero, To::Up, To::Down] {
                // A cast from f64 saturates, at bounds wider than ours, and makes NaN zero.
                out.push((whole(x, round) as i128).clamp(least, most));
            }
        }
        let n = values.len() as u32;
        let args = vec![Arg::In(float_buffer(from, &values)), int_output(to, &out)];
        cases.push(case("convert", &format!("{from}_to_{to}"), 1, n, args));
    }
}

fn to_floats(cases: &mut Vec<Case>) {
    for (from, to) in [
        ("ulong", "half"),
        ("int", "float"),
        ("uint", "float"),
        ("long", "float"),
        ("ulong", "float"),
        ("long", "double"),
        ("ulong", "double"),
        ("int", "double"),
        ("int", "half"),
        ("short", "half"),
    ] {
        let Some(&(_, least, most)) = INTS.iter().find(|t| t.0 == from) else {
            continue;
        };
        let values = int_inputs(least, most);
        let mut out = Vec::new();
        for &x in &values {
            let roundings = [To::Even].iter().chain(&ROUNDINGS);
            out.extend(roundings.map(|&r| (to_type(to, x, r), Near::Value)));
        }
        let args = vec![Arg::In(buffer(from, &values)), reals(size_of(to), out)];
        let module = if to == "float" { "convert" } else { "round" };
        cases.push(case(
            module,
            &format!("{from}_to_{to}"),
            values.len() as u32,
            1,
            args,
        ));
    }
    let mut doubles = float_inputs("double");
    doubles.extend([
        1.0 + 2f64.powi(-24),
        1.0 + 3.0 * 2f64.powi(-24),
        1.0 + 2f64.powi(-11),
        -1.0 - 2f64.powi(-40),
        65519.9,
        65520.0,
        -65520.0,
        65536.0,
    ]);
    doubles.extend([
        3.4028235677973366e38,
        3.5e38,
        -3.5e38,
        1e300,
        -1e-300,
        1e-40,
        1.5e-45,
        0.7e-45,
        2.0e-8,
        5.96e-8,
        3.0e-5,
        -1.0e-9,
    ]);
    let floats: Vec<f64> = doubles.iter().map(|&x| f64::from(x as f32)).collect();
    let halves: Vec<f64> = doubles.iter().map(|&x| to_half(x, To::Even)).collect();
    for (from, to, values) in [
        ("double", "float", &doubles),
        ("float", "half", &floats),
        ("double", "half", &doubles),
        ("half", "float", &halves),
        ("half", "double", &halves),
        ("float", "double", &floats),
    ] {
        let mut out = Vec::new();
        for &x in values {
            for r in [To::Even].iter().chain(&ROUNDINGS) {
                let v = match to {
                    "half" => to_half(x, *r),
                    "float" => to_float(x, *r),
                    _ => x,
                };
                out.push((v, Near::Exact));
            }
        }
        let args = vec![Arg::In(float_buffer(from, values)), reals(size_of(to), out)];
        let module = if to == "float" { "convert" } else { "round" };
        cases.push(case(
            module,
            &format!("{from}_to_{to}"),
            1,
            values.len() as u32,
            args,
        ));
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for from in ["float", "double", "half"] {
        from_floats(&mut cases, from);
    }
    to_floats(&mut cases);
    for (from, least, most) in INTS {
        let values = int_inputs(least, most);
        let mut out: Vec<i64> = Vec::new();
        for &x in &values {
            for (name, _, high) in INTS {
                let bits = 8 * size_of(name);
                let kept = x & ((1 << bits) - 1);
                out.push(
                    (if kept > high {
                        kept - (1 << bits)
                    } else {
                        kept
                    }) as i64,
                );
            }
        }
        let args = vec![Arg::In(buffer(from, &values)), output(&out)];
        cases.push(case(
            "convert",
            &format!("{from}_narrow"),
            1,
            values.len() as u32,
            args,
        ));
    }
    for (from, kinds) in [
        ("long", SIGNED),
        ("ulong", UNSIGNED),
        ("int", SIGNED),
        ("uint", UNSIGNED),
    ] {
        let Some(&(_, least, most)) = INTS.iter().find(|t| t.0 == from) else {
            continue;
        };
        let values = int_inputs(least, most);
        let mut out: Vec<i64> = Vec::new();
        for &x in &values {
            // The results are kept zero-extended.
            let kept = |name: &&str| {
                INTS.iter()
                    .find(|t| t.0 == *name)
                    .map(|t| (x.clamp(t.1, t.2) & ((1 << (8 * size_of(name))) - 1)) as i64)
            };
            out.extend(kinds.iter().filter_map(kept));
        }
        let args = vec![Arg::In(buffer(from, &values)), output(&out)];
        cases.push(case(
            "round",
            &format!("{from}_saturated"),
            1,
            values.len() as u32,
            args,
        ));
    }
    let floats = [0.0f32, -0.0, 1.9, -1.9, 123456.7, -8.0e9, 1.0e9, 0.1];
    let doubles = [
        0.0f64,
        1.0e-310,
        -1.9,
        1.9,
        -2147483648.9,
        4.0e9,
        1.0e18,
        -0.1,
    ];
    let mut out: Vec<i64> = Vec::new();
    let (mut fs, mut ds) = (vec![], vec![]);
    for (&x, &y) in floats.iter().zip(&doubles) {
        // Values that do not fit have no defined result: only fitting ones are asked for.
        let (x, y) = (
            if x < -2.0e9 { -7.75f32 } else { x },
            if y > 2.0e9 { 2147483647.5 } else { y },
        );
        fs.push(x);
        ds.push(y);
        out.extend([
            x as i32 as i64,
            x.abs() as u32 as i64,
            x as i64,
            x.abs() as u64 as i64,
        ]);
        out.extend([
            y as i32 as i64,
            y.abs() as u32 as i64,
            y as i64,
            i64::from(x != 0.0) | i64::from(y != 0.0) << 1,
        ]);
    }
    cases.push(case(
        "convert",
        "plain",
        2,
        4,
        vec![input(&fs), input(&ds), output(&out)],
    ));
    let patterns = [
        0u32,
        0x8000_0000,
        0x7fc0_1234,
        0xff80_0000,
        0x3f80_0001,
        1,
        0xdead_beef,
    ];
    let wide: Vec<i64> = patterns
        .iter()
        .map(|&p| (i64::from(p) << 32) | 0x1234_5678)
        .collect();
    let twice: Vec<u32> = patterns.iter().flat_map(|&p| [p, p]).collect();
    cases.push(case(
        "convert",
        "bits",
        1,
        7,
        vec![
            input(&patterns),
            input(&wide),
            output(&twice),
            output(&wide),
        ],
    ));
    let quads = [
        [0.5f32, 1.5, 2.5, 300.0],
        [-1.0, 254.5, 255.5, f32::NAN],
        [7.1, 7.9, 1e20, -1e20],
        [0.0, 99.0, 100.5, 101.5],
    ];
    let flat: Vec<f32> = quads.concat();
    // Only what fits an int is asked for.
    let fitting: Vec<f32> = flat
        .iter()
        .map(|&x| if x.is_nan() || x.abs() > 1e9 { 3.25 } else { x })
        .collect();
    let up: Vec<i32> = fitting.iter().map(|x| x.ceil() as i32).collect();
    let narrow_fitting: Vec<u8> = fitting.iter().map(|x| x.round_ties_even() as u8).collect();
    cases.push(case(
        "convert",
        "vectors",
        1,
        4,
        vec![input(&fitting), output(&narrow_fitting), output(&up)],
    ));
    cases
}
