//! `f16`: as elements, arguments and constants; operators, conversions and methods, on all its values.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Buffer, NdRange, Plus, Read, ReadWrite, Result, f16, f16x4, item, sub_group};

use super::device::{grouped, queue, run};

/// Every value, and a second one for each.
fn all() -> Vec<[f16; 2]> {
    let second = |bits: u16| bits.wrapping_mul(40503).rotate_left(5) ^ 0x1234;
    let all = 0..=u16::MAX;
    all.map(|bits| [bits, second(bits)].map(f16::from_bits))
        .collect()
}

const HALF: f16 = f16::from_f32_const(0.5);

/// The bits, where those of NaN are one number.
#[sycl::device]
fn bits(x: f16) -> u16 {
    if x.is_nan() { 0x7e00 } else { x.to_bits() }
}

#[sycl::kernel]
fn operators(input: &[[f16; 2]], output: &mut [[u16; 8]]) {
    let i = item::<1>().id();
    let [a, b] = input[i];
    let mut sum = a;
    sum += b;
    sum *= HALF;
    output[i] = [
        bits(a + b),
        bits(a - b),
        bits(a * b),
        bits(a / b),
        bits(a % b),
        bits(-a),
        bits(sum),
        (a < b) as u16
            + 2 * (a <= b) as u16
            + 4 * (a == b) as u16
            + 8 * (a != b) as u16
            + 16 * (a > b) as u16
            + 32 * (a >= f16::ONE) as u16,
    ];
}

#[sycl::kernel]
fn methods(input: &[[f16; 2]], output: &mut [[u16; 8]]) {
    let i = item::<1>().id();
    let [a, b] = input[i];
    output[i] = [
        bits(a.max(b)),
        bits(a.min(b)),
        bits(a.clamp(f16::NEG_ONE, HALF)),
        bits(a.copysign(b)),
        bits(a.signum()),
        a.is_finite() as u16 + 2 * a.is_infinite() as u16 + 4 * a.is_normal() as u16,
        a.is_sign_negative() as u16 + 2 * b.is_sign_positive() as u16,
        bits(f16::from_bits(a.to_bits() ^ 1)),
    ];
}

#[test]
fn operators_and_methods_are_those_of_half() -> Result<()> {
    let input = all();
    let mut host = vec![[0; 8]; input.len()];
    for_each([input.len()], || operators(&input, &mut host));
    let got = run(operators, &input, &vec![[0; 8]; input.len()])?;
    for (at, (got, host)) in got.iter().zip(&host).enumerate() {
        assert_eq!(got, host, "{:?}", input[at]);
    }
    for_each([input.len()], || methods(&input, &mut host));
    let got = run(methods, &input, &vec![[0; 8]; input.len()])?;
    for (at, (got, host)) in got.iter().zip(&host).enumerate() {
        assert_eq!(got, host, "{:?}", input[at]);
    }
    Ok(())
}

#[sycl::kernel]
fn conversions(input: &[f32], output: &mut [[u32; 4]]) {
    let i = item::<1>().id();
    let x = f16::from_f32(input[i]);
    let (single, double) = (x.to_f32(), x.to_f64());
    let small = f16::from(input[i] as i8);
    output[i] = [
        bits(x) as u32,
        if single.is_nan() { 1 } else { single.to_bits() },
        if double.is_nan() {
            1
        } else {
            (double * 3.0) as f32 as i32 as u32
        },
        bits(f16::from_f64(f64::from(small) / 4.0)) as u32,
    ];
}

#[test]
fn conversions_round_to_the_nearest() -> Result<()> {
    let mut input = vec![
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        65504.0,
        65519.9,
        65520.0,
    ];
    // Each value of `f16` is halfway between two of these.
    for bits in 0..0x7c00u16 {
        let value = f16::from_bits(bits).to_f32();
        let next = f16::from_bits(bits + 1).to_f32();
        let middle = value + (next - value) / 2.0;
        input.extend([middle, middle.next_up(), -middle.next_down()]);
    }
    let mut host = vec![[0; 4]; input.len()];
    for_each([input.len()], || conversions(&input, &mut host));
    let got = run(conversions, &input, &vec![[0; 4]; input.len()])?;
    for (at, (got, host)) in got.iter().zip(&host).enumerate() {
        assert_eq!(got, host, "{}", input[at]);
    }
    Ok(())
}

#[sycl::kernel]
fn saxpy(a: f16, x: &[f16], y: &mut [f16]) {
    let i = item::<1>().id();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

#[test]
fn arguments_and_elements_are_halves() -> Result<()> {
    let x: Vec<f16> = (0..100).map(|i| f16::from_f32(i as f32 * 0.37)).collect();
    let mut host = x.clone();
    let a = f16::from_f32(1.7);
    let queue = queue();
    let (bx, by) = (
        Buffer::from_slice(&x, [100])?,
        Buffer::from_slice(&x, [100])?,
    );
    queue.submit(|cg| {
        let (x, y) = (cg.access(&bx, Read)?, cg.access(&by, ReadWrite)?);
        cg.parallel_for(saxpy, [100], (a, &x, &y))
    })?;
    for_each([100], || saxpy(a, &x, &mut host));
    assert_eq!(by.into_vec()?, host);
    Ok(())
}

#[sycl::kernel]
fn lanes(input: &[f16x4], output: &mut [f16x4]) {
    let i = item::<1>().id();
    let v = input[i];
    let w = f16::from_f32(2.0) * v + f16x4::splat(HALF) / v.max(f16x4::splat(f16::ONE));
    let sum = v.cast::<f32>().sum() + w.dot(v).to_f32();
    output[i] = f16x4::new(
        w.x,
        w[1],
        f16::from_f32(sum),
        v.cast::<i32>().cast::<f16>().w,
    );
}

#[test]
fn vectors_have_halves() -> Result<()> {
    let input: Vec<f16x4> = (0..40)
        .map(|i| f16x4::splat(f16::from_f32(i as f32 * 0.7)) + f16x4::new(HALF, HALF, -HALF, HALF))
        .collect();
    let mut host = input.clone();
    for_each([40], || lanes(&input, &mut host));
    assert_eq!(run(lanes, &input, &input)?, host);
    Ok(())
}

#[sycl::kernel(sub_group_size = 16)]
fn sums(input: &[f16], output: &mut [f16]) {
    let i = item::<1>().id();
    let team = sub_group();
    output[i] = team.reduce(input[i], Plus) + team.shuffle_xor(input[i], 1);
}

#[test]
fn groups_exchange_halves() -> Result<()> {
    let input: Vec<f16> = (0..32).map(|i| f16::from_f32(i as f32)).collect();
    let mut host = vec![f16::ZERO; 32];
    sycl::kernel::for_each_group(NdRange::new([32], [32]), sums, (&input, &mut host))?;
    let got = grouped(sums, &input, &[f16::ZERO; 32], 32, Some(32))?;
    assert_eq!(got, host);
    Ok(())
}
