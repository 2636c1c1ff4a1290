//! `for` over several slices side by side, over parts of slices, and backwards with steps; patterns of arrays.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, item};

use super::device::run;

#[sycl::kernel]
fn side_by_side(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let (left, right) = input.split_at(i);
    let mut all = 0u32;
    for (a, b) in left.iter().zip(right.iter()) {
        all = all.wrapping_mul(31).wrapping_add(*a ^ (*b << 3));
    }
    for (k, (a, b)) in left.iter().zip(right).enumerate() {
        all = all.wrapping_mul(31).wrapping_add(*a + *b * k as u32);
    }
    for ((a, (k, b)), c) in left
        .iter()
        .copied()
        .zip(right.iter().enumerate())
        .zip(input)
    {
        if a == *c + 1000 {
            break;
        }
        all = all.wrapping_add(a * b + k as u32);
    }
    let mut own = [1, 2, 3, 4];
    for (to, from) in own.iter_mut().zip(&input[2..5]) {
        *to += from;
    }
    for (a, b) in own.iter().zip(own).rev() {
        all = all.wrapping_mul(7).wrapping_add(a * 2 + b);
    }
    for pair in own.iter().copied().zip(right.iter().copied()) {
        all ^= pair.0 + pair.1;
    }
    output[i] = all;
}

#[sycl::kernel]
fn parts(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let size = i % 7 + 1;
    let mut all = 0u32;
    for (k, part) in input.chunks(size).enumerate() {
        for (j, x) in part.iter().enumerate() {
            all = all.wrapping_mul(31).wrapping_add(x + (k * 100 + j) as u32);
        }
    }
    for part in input.chunks_exact(4) {
        all = all.wrapping_mul(31).wrapping_add(part[0] + part[3] * 5);
        if part[1] > 4000 {
            continue;
        }
        all += part.len() as u32;
    }
    for part in input[..i].windows(size) {
        all = all.wrapping_mul(31).wrapping_add(part[size - 1] ^ part[0]);
    }
    for (a, b) in input.chunks(3).zip(input.windows(2)).rev() {
        all = all
            .wrapping_mul(31)
            .wrapping_add(a[0] + b[1] + a.len() as u32);
    }
    let mut own = [5; 10];
    for part in own.chunks_mut(4) {
        part[0] = all % 100;
        part[part.len() - 1] += 1;
    }
    for part in own.chunks_exact_mut(3).step_by(2) {
        part[1] *= 3;
    }
    for x in own {
        all = all.wrapping_mul(31).wrapping_add(x);
    }
    output[i] = all;
}

#[sycl::kernel]
fn steps(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let step = i % 5 + 1;
    let mut all = 0u32;
    for k in (3..i).step_by(step).rev() {
        all = all.wrapping_mul(31).wrapping_add(input[k]);
    }
    for k in (0..=i as u8).step_by(3).rev() {
        all = all.wrapping_mul(31).wrapping_add(k as u32);
    }
    for k in (-7..i as i32 - 20).step_by(step).rev() {
        if k == -4 {
            continue;
        }
        all = all.wrapping_mul(31).wrapping_add(k as u32);
    }
    for k in (i8::MIN..=i8::MAX).step_by(50 + i).rev() {
        all = all.wrapping_mul(31).wrapping_add(k as u32);
    }
    for k in (1..=i as u16 % 2).step_by(step).rev() {
        all += k as u32 + 1;
    }
    // Steps that the type of the range does not have.
    for k in (0u8..200).step_by(256 + i) {
        all = all.wrapping_mul(31).wrapping_add(k as u32 + 1);
    }
    for k in (1u8..=200).step_by(256).rev() {
        all = all.wrapping_mul(31).wrapping_add(k as u32);
    }
    for x in input.iter().step_by(step) {
        all = all.wrapping_mul(31).wrapping_add(*x);
    }
    for (k, x) in input.iter().enumerate().step_by(step + 1).rev() {
        all = all.wrapping_mul(31).wrapping_add(*x ^ k as u32);
    }
    for x in input.iter().rev().step_by(7) {
        all = all.wrapping_mul(31).wrapping_add(*x);
    }
    output[i] = all;
}

#[sycl::kernel]
fn patterns(input: &[[u32; 4]], output: &mut [u32]) {
    let i = item::<1>().id();
    let [a, b, ..] = input[i];
    let [first, .., last] = &input[i];
    let [[x, _], [_, y]] = [[a, b], [*first, *last]];
    let found = match input[i] {
        [0, 0, ..] => 1,
        [1, second, .., 5] => second * 10,
        [p, q, r, s] if p == q => r + s,
        [.., 7 | 9] => 77,
        [_, m, ..] => m,
    };
    let mut own = input[i];
    let [_, changed, ..] = &mut own;
    *changed += 100;
    output[i] = found * 1000 + x + y + own[1];
}

/// Runs a kernel on both sides.
macro_rules! same {
    ($kernel:ident, $input:expr, $count:expr) => {
        let zero = vec![0; $count];
        let mut want = zero.clone();
        for_each([$count], || $kernel($input, &mut want));
        assert_eq!(run($kernel, $input, &zero)?, want);
    };
}

#[test]
fn iteration_is_that_of_rust() -> Result<()> {
    let input: Vec<u32> = (0..41).map(|i| i * 7919 % 97).collect();
    same!(side_by_side, &input, 40);
    same!(parts, &input, 40);
    same!(steps, &input, 40);
    let rows = [
        [0, 0, 3, 4],
        [1, 2, 3, 5],
        [6, 6, 1, 2],
        [1, 2, 3, 9],
        [8, 1, 2, 3],
        [3, 4, 5, 7],
    ];
    same!(patterns, &rows, rows.len());
    Ok(())
}

#[sycl::kernel(faults = "mask")]
fn no_parts(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    for part in input.chunks(i % 2) {
        output[i] += part[0];
    }
    output[i] += 1;
}

/// On the host it panics.
#[test]
fn parts_without_elements_end_the_work_item() -> Result<()> {
    assert_eq!(run(no_parts, &[3, 4], &[0; 4])?, [0, 8, 0, 8]);
    Ok(())
}

#[sycl::kernel]
fn lengths(input: &[u32], output: &mut [u32]) {
    let [_, b] = input else { return };
    output[0] = *b;
}

#[test]
fn patterns_of_slices_are_refused() {
    let error = sycl::kernel::spirv(&lengths).expect_err("no pattern of slices");
    assert!(error.to_string().contains("compare `len()`"), "{error}");
}
