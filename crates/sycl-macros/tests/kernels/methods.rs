//! Methods of numbers that are more than one instruction.

#![forbid(unsafe_code)]

use std::cmp::Ordering;

use sycl::kernel::for_each;
use sycl::{Result, item};

use super::device::{grouped, run};

macro_rules! integers {
    ($($test:ident $kernel:ident $ty:ident $values:expr;)*) => { $(
        #[sycl::kernel]
        fn $kernel(input: &[$ty], output: &mut [$ty]) {
            let i = item::<1>().id();
            let (a, b) = (input[i / 8 % input.len()], input[i % input.len()]);
            let mut at = i * 20;
            let results = [
                a.checked_add(b).unwrap_or(17),
                a.checked_sub(b).unwrap_or(18),
                a.checked_mul(b).unwrap_or(19),
                a.checked_div(b).unwrap_or(20),
                a.checked_rem(b).unwrap_or(21),
                a.saturating_mul(b),
                a.overflowing_add(b).0,
                a.overflowing_mul(b).1 as $ty,
                a.overflowing_sub(b).1 as $ty,
                a.wrapping_pow(input[i % 5] as u32 % 7),
                a.leading_ones() as $ty,
                a.trailing_ones() as $ty,
                if b == 0 || b.wrapping_add(1) == 0 { 0 } else { a.rem_euclid(b) },
                if b == 0 || b.wrapping_add(1) == 0 { 0 } else { a.div_euclid(b) },
                match a.cmp(&b) {
                    Ordering::Less => 1,
                    Ordering::Equal => 2,
                    Ordering::Greater => 3,
                },
                if a > 0 { a.ilog2() as $ty } else { 9 },
            ];
            for value in results {
                output[at] = value;
                at += 1;
            }
        }

        #[test]
        fn $test() -> Result<()> {
            let values: [$ty; 8] = $values;
            let mut host = vec![0; 64 * 20];
            for_each([64], || $kernel(&values, &mut host));
            // Each work-item writes a row.
            let got = grouped($kernel, &values, &vec![0; 64 * 20], 64, None)?;
            assert_eq!(got, host);
            Ok(())
        }
    )* };
}
integers! {
    bytes on_bytes u8 [0, 1, 2, 7, 100, 128, 254, 255];
    signed_bytes on_signed_bytes i8 [0, 1, -1, 7, 100, -128, 127, -100];
    words on_words u32 [0, 1, 3, 1 << 16, 1 << 31, 12345, u32::MAX - 1, u32::MAX];
    signed_words on_signed_words i32 [0, 1, -1, 46341, -46341, i32::MIN, i32::MAX, 77];
    longs on_longs u64 [0, 1, 3, 1 << 32, 1 << 63, 12345, u64::MAX - 1, u64::MAX];
    signed_longs on_signed_longs i64 [0, 1, -1, 3_037_000_500, -3, i64::MIN, i64::MAX, 77];
}

#[sycl::kernel]
fn floats(input: &[f32], output: &mut [f32]) {
    let i = item::<1>().id();
    let (a, b) = (input[i], input[(i + 3) % input.len()]);
    let mut sum = a.fract() * 3.0 + a.to_degrees() - a.to_radians();
    sum += a.rem_euclid(b) + a.div_euclid(b);
    if a.is_sign_positive() && a.is_normal() {
        sum += 5.0;
    }
    output[i] = sum;
}

#[test]
fn methods_of_floating_point_numbers() -> Result<()> {
    let input: Vec<f32> = (0..40u8).map(|i| f32::from(i) * 0.37 - 5.0).collect();
    let mut host = vec![0.0; 40];
    for_each([40], || floats(&input, &mut host));
    assert_eq!(run(floats, &input, &[0.0; 40])?, host);
    Ok(())
}

#[sycl::kernel]
fn counting_down(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let mut sum = 0;
    for j in (0..i).rev().step_by(3) {
        sum = sum * 5 + j as i32;
    }
    for j in (-4..=input[i]).rev().step_by(2) {
        sum = sum.wrapping_mul(3).wrapping_add(j);
    }
    output[i] = sum;
}

#[test]
fn reversed_ranges_have_steps() -> Result<()> {
    let input: Vec<i32> = (-6..14).collect();
    let mut host = vec![0; 20];
    for_each([20], || counting_down(&input, &mut host));
    assert_eq!(run(counting_down, &input, &[0; 20])?, host);
    Ok(())
}
