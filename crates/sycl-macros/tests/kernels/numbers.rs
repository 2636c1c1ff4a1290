//! Operators, casts and methods of numbers, on edges and pseudo-random values.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, item};

use super::device::run;

/// Pseudo-random bits after edges.
fn bits(count: usize) -> Vec<u64> {
    let edges = [
        0,
        1,
        2,
        3,
        7,
        63,
        127,
        128,
        255,
        0x7fff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
    ];
    let mut all: Vec<u64> = edges.into_iter().flat_map(|x: u64| [x, !x]).collect();
    let mut state = 0x1234_5678_9abc_def1u64;
    while all.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.push(state);
    }
    all
}

macro_rules! integers {
    ($($ty:ident)*) => { $(
        mod $ty {
            use super::*;

            #[sycl::kernel]
            fn operators(input: &[$ty], output: &mut [$ty]) {
                let i = item::<1>().id();
                let (a, b) = (input[i], input[(i * 7 + 3) % input.len()]);
                let mut x = a.wrapping_add(b) ^ a.wrapping_mul(b);
                x = x.wrapping_sub(a & b) | (a >> (b & 7)) ^ (a << (b & 7));
                if b != 0 && (b != !0 || a != $ty::MIN) {
                    x ^= a / b;
                    x ^= (a % b).rotate_left(3);
                }
                x = x.max(a.min(b)).rotate_right(1);
                x ^= a.clamp(3, 100) ^ a.saturating_add(b) ^ a.saturating_sub(b);
                x ^= (a.count_ones() + a.leading_zeros() * 3 + a.trailing_zeros()) as $ty;
                if (a < b) == (a >= b) || (a <= b) == (a > b) || (a == b) == (a != b) {
                    x = 0;
                }
                output[i] = !x;
            }

            #[test]
            fn operators_are_those_of_rust() -> Result<()> {
                let input: Vec<$ty> = bits(200).into_iter().map(|x| x as $ty).collect();
                let mut host = vec![0; input.len()];
                for_each([input.len()], || operators(&input, &mut host));
                assert_eq!(run(operators, &input, &vec![0; input.len()])?, host);
                Ok(())
            }
        }
    )* };
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize);

#[sycl::kernel]
fn casts(input: &[f64], output: &mut [u64]) {
    let i = item::<1>().id();
    let x = input[i];
    let single = x as f32;
    let mut sum = x as i8 as u64;
    sum = (sum << 3) ^ x as u8 as u64;
    sum = (sum << 3) ^ x as i16 as u64;
    sum = (sum << 3) ^ x as u16 as u64;
    sum = (sum << 3) ^ x as i32 as u64;
    sum = (sum << 3) ^ x as u32 as u64;
    sum = (sum << 3) ^ x as i64 as u64;
    sum = (sum << 3) ^ x as u64;
    sum = (sum << 3) ^ single as i32 as u64;
    sum = (sum << 3) ^ single as u64;
    sum = (sum << 3) ^ (x as i32 as f32).to_bits() as u64;
    sum = (sum << 3) ^ (x as u64 as f64).to_bits();
    sum = (sum << 3) ^ (x > 1.0) as u64;
    output[i] = sum ^ 'x' as u64;
}

#[test]
fn casts_saturate_as_in_rust() -> Result<()> {
    let mut input: Vec<f64> = vec![
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        127.5,
        128.0,
        -129.0,
        255.9,
        256.0,
        65536.0,
        -32769.0,
        2147483647.5,
        2147483648.0,
        4294967296.0,
        -2147483649.0,
        1e19,
        -1e19,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    input.extend(bits(100).into_iter().map(|x| x as i64 as f64 / 1e12));
    let mut host = vec![0; input.len()];
    for_each([input.len()], || casts(&input, &mut host));
    assert_eq!(run(casts, &input, &vec![0; input.len()])?, host);
    Ok(())
}

macro_rules! floats {
    ($($ty:ident $bits:ident)*) => { $(
        mod $ty {
            use super::*;

            #[sycl::kernel]
            fn operators(input: &[$ty], output: &mut [$bits]) {
                let i = item::<1>().id();
                let (a, b) = (input[i], input[(i + 1) % input.len()]);
                let mut x = a * b + a / (b + 3.0) - -a;
                x += a.mul_add(b, 1.0) + a.abs().sqrt() + a.floor() - a.ceil() * a.trunc();
                x -= a.round() + a.round_ties_even() + a.min(b) * a.max(b) + a.copysign(b);
                x *= if a < b && a != b || a.is_nan() { 2.0 } else { 0.5 };
                x += a.signum() + a.clamp(-1.0, 1.0) + a % 3.0;
                let number = if x.is_nan() { 1 } else { x.to_bits() };
                output[i] = number ^ $ty::from_bits(number).is_finite() as $bits;
            }

            #[test]
            fn operators_are_those_of_rust() -> Result<()> {
                let mut input: Vec<$ty> = vec![0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, $ty::INFINITY, $ty::NAN, $ty::MAX];
                input.extend(bits(150).into_iter().map(|x| x as i32 as $ty / 65536.0));
                let mut host = vec![0; input.len()];
                for_each([input.len()], || operators(&input, &mut host));
                assert_eq!(run(operators, &input, &vec![0; input.len()])?, host);
                Ok(())
            }
        }
    )* };
}
floats!(f32 u32 f64 u64);

#[sycl::kernel]
fn mathematics(input: &[f32], output: &mut [f32]) {
    let i = item::<1>().id();
    let x = input[i];
    let a = x.sin() + x.cos() * x.tan() + x.atan() + x.sinh().atan2(x.cosh()) + x.tanh();
    let b = x.exp().ln() + x.exp2().log2() + (x.abs() + 1.0).log10() + x.exp_m1() - (x * x).ln_1p();
    output[i] = a + b + x.cbrt() + x.hypot(2.0) + (x * x).powf(0.75) + x.powi(3) + x.recip();
}

#[test]
fn functions_are_accurate() -> Result<()> {
    let input: Vec<f32> = (1..60).map(|i| i as f32 / 20.0).collect();
    let mut host = vec![0.0; input.len()];
    for_each([input.len()], || mathematics(&input, &mut host));
    let device = run(mathematics, &input, &vec![0.0; input.len()])?;
    for (device, host) in device.into_iter().zip(host) {
        assert!(
            (device - host).abs() <= host.abs() * 1e-5,
            "{device} {host}"
        );
    }
    Ok(())
}
