//! Saturating conversions of floats in lanes: NaN, infinities, the ends of every range and their neighbours.

use super::sandbox::{Arg, bytes, done, line};

/// Floats that some conversion treats in its own way.
fn numbers() -> Vec<f64> {
    let mut all = vec![f64::NAN, 0.0, -0.0, 0.5, -0.5, -1.0, 1e300, -1e300];
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE]);
    for exponent in [7, 8, 15, 16, 31, 32, 63, 64] {
        let power = f64::from(exponent).exp2();
        let near = [power.next_down(), f64::from((power as f32).next_down())];
        for number in [power, power - 1.0, power + 1.0, near[0], near[1]] {
            all.extend([number, -number]);
        }
    }
    all
}

/// The results of `op` to integers of `bits` bits, as `i64`s.
fn converted(op: &str, float: &str, input: Vec<u8>, bits: u32, items: usize) -> Vec<i64> {
    let (size, wide) = (&float[1..], if op == "satftou" { "zext" } else { "sext" });
    let size = size.parse::<u32>().map_or(0, |bits| bits / 8);
    let extended = match bits {
        64 => "%w: i64 = copy %n".to_string(),
        _ => format!("%w: i64 = to.{wide} %n"),
    };
    let text = format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
         b:
           %i: i64 = wi.GlobalInvocationId 0
           %from: ptr<global> = offset %in [%i * {size} + 0]
           %to: ptr<global> = offset %out [%i * 8 + 0]
           %v: {float} = load %from align {size}
           %n: i{bits} = to.{op} %v
           {extended}
           store %to, %w align 8
           ret
         }}"
    );
    let args = vec![Arg::Buffer(input), Arg::Buffer(vec![0; 8 * items])];
    let memory = done(&text, line(1, items as u32), args);
    let found = memory.buffers[1].chunks_exact(8);
    found
        .map(|word| i64::from_le_bytes(word.try_into().expect("8 bytes")))
        .collect()
}

#[test]
fn floats_saturate_in_lanes_as_single_ones_do() {
    let numbers = numbers();
    let single: Vec<f32> = numbers.iter().map(|&v| v as f32).collect();
    for double in [false, true] {
        let float = if double { "f64" } else { "f32" };
        let input = match double {
            true => bytes(&numbers, f64::to_le_bytes),
            false => bytes(&single, f32::to_le_bytes),
        };
        let values: Vec<f64> = match double {
            true => numbers.clone(),
            false => single.iter().map(|&v| f64::from(v)).collect(),
        };
        for bits in [8, 16, 32, 64] {
            for op in ["satftos", "satftou"] {
                let want: Vec<i64> = values
                    .iter()
                    .map(|&v| match (op, bits) {
                        ("satftos", 8) => i64::from(v as i8),
                        ("satftos", 16) => i64::from(v as i16),
                        ("satftos", 32) => i64::from(v as i32),
                        ("satftos", _) => v as i64,
                        (_, 8) => i64::from(v as u8),
                        (_, 16) => i64::from(v as u16),
                        (_, 32) => i64::from(v as u32),
                        _ => (v as u64).cast_signed(),
                    })
                    .collect();
                let found = converted(op, float, input.clone(), bits, values.len());
                for ((value, found), want) in values.iter().zip(found).zip(want) {
                    assert_eq!(found, want, "{op} of {float} {value:e} to {bits} bits");
                }
            }
        }
    }
}
