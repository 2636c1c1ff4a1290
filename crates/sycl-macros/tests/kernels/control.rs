//! Control flow.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Buffer, Read, ReadWrite, Result, item};

use super::device::{queue, run};

#[sycl::kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = sycl::item::<1>().id();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

#[test]
fn saxpy_runs_on_the_device_and_on_the_host() -> Result<()> {
    let (x, y): (Vec<f32>, Vec<f32>) = (0..100)
        .map(|i| (i as f32 * 0.7, 1.0 / (i + 1) as f32))
        .unzip();
    let mut host = y.clone();
    for_each([100], || saxpy(2.5, &x, &mut host));
    let queue = queue();
    let (bx, by) = (
        Buffer::from_slice(&x, [100])?,
        Buffer::from_slice(&y, [100])?,
    );
    for _ in 0..2 {
        let by = by.clone();
        queue.submit(|cg| {
            let (x, y) = (cg.access(&bx, Read)?, cg.access(&by, ReadWrite)?);
            cg.parallel_for(saxpy, [100], (2.5, &x, &y))
        })?;
        for_each([100], || saxpy(2.5, &x, &mut host));
    }
    let mut once = y;
    for _ in 0..2 {
        for_each([100], || saxpy(2.5, &x, &mut once));
    }
    assert_eq!(by.into_vec()?, once);
    Ok(())
}

#[sycl::kernel]
fn collatz(n: &[u32], steps: &mut [u32]) {
    let i = item::<1>().id();
    let mut x = n[i];
    let mut count = 0;
    while x != 1 {
        x = if x.is_multiple_of(2) {
            x / 2
        } else {
            3 * x + 1
        };
        count += 1;
    }
    steps[i] = count;
}

#[sycl::kernel]
fn loops(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let n = input[i];
    // The value of a loop.
    let mut k = 0;
    let power = loop {
        if (1u32 << k) >= n {
            break 1 << k;
        }
        k += 1;
    };
    // Labels, from two loops inside.
    let mut pairs = 0u32;
    'outer: for a in 0..n {
        for b in a..n {
            if a * b > 40 {
                continue 'outer;
            }
            if pairs > 200 {
                break 'outer;
            }
            if (a + b) % 3 == 0 {
                continue;
            }
            pairs += 1;
        }
    }
    // The value of a block.
    let tail = 'found: {
        if n > 30 {
            break 'found 7;
        }
        let n = n * 2;
        n + 1
    };
    output[i] = power * 1000 + pairs * 10 + tail;
}

#[sycl::kernel]
fn ranges(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let n = input[i];
    let mut sum = 0;
    for j in -n..n {
        sum += j * 2 + 1;
    }
    for j in (0..=n).rev() {
        sum = sum.wrapping_mul(3).wrapping_sub(j);
    }
    for j in (0..n).step_by(3) {
        sum ^= j;
    }
    for j in (2..=20).step_by(9) {
        sum ^= j;
    }
    // The range keeps the step that it began with.
    let mut step = 1 + item::<1>().range() / 2;
    for j in (0..n as u32 as usize % 100).step_by(step) {
        step += j;
        sum = sum.wrapping_mul(7).wrapping_add(j as i32);
    }
    sum ^= step as i32;
    for j in (0..n).rev() {
        sum = sum.wrapping_mul(5).wrapping_add(j);
    }
    for j in 250u8..=255 {
        sum = sum.wrapping_add(j as i32);
    }
    output[i] = sum;
}

#[sycl::kernel]
fn matches(input: &[i32], output: &mut [i32]) {
    const SPECIAL: i32 = 42;
    let i = item::<1>().id();
    let n = input[i];
    let small = n < 10;
    let class = match n {
        0 => 100,
        1 | 2 | 4 => 200,
        -5..=-1 => -1,
        SPECIAL => 4242,
        x if x % 7 == 0 => x / 7,
        x => {
            let x = x + 1;
            x * x
        }
    };
    let pair = match (small, n % 2 == 0) {
        (true, true) => 1,
        (true, false) => 2,
        (false, even) => {
            if even {
                3
            } else {
                4
            }
        }
    };
    if n == 13 {
        output[i] = -13;
        return;
    }
    output[i] = class * 10 + pair;
}

#[sycl::kernel]
#[expect(clippy::needless_late_init, reason = "the case that is tested")]
fn late(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let x;
    if input[i] > 3 && (input[i] < 8 || input[i] == 20) {
        x = input[i];
    } else {
        x = -1;
    }
    let (mut a, b) = (x, x + 1);
    a <<= 2;
    a |= b & 3;
    a -= if a > 10 { 1 } else { 2 };
    let a = a;
    output[i] = match a {
        n if n < 0 => return,
        n => n,
    };
}

#[sycl::kernel]
fn exchange(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let (mut a, mut b, mut pair) = (input[i], 3, (0, 7));
    for _ in 0..5 {
        (a, b) = (b + 1, a * 2);
        ((pair.1, _), pair.0) = ((pair.0 + b, 9), pair.1);
    }
    output[i] = a * 100 + b * 10 + pair.0 - pair.1;
}

#[test]
fn tuples_are_assigned_to_after_all_values_are_computed() -> Result<()> {
    let n = numbers();
    let mut host = vec![0; n.len()];
    for_each([n.len()], || exchange(&n, &mut host));
    assert_eq!(run(exchange, &n, &vec![0; n.len()])?, host);
    Ok(())
}

fn numbers() -> Vec<i32> {
    (-20..80).collect()
}

#[test]
fn control_flow_is_that_of_rust() -> Result<()> {
    let n: Vec<u32> = (1..70).collect();
    let zeros = vec![0u32; n.len()];
    let mut host = zeros.clone();
    for_each([n.len()], || collatz(&n, &mut host));
    assert_eq!(run(collatz, &n, &zeros)?, host);
    for_each([n.len()], || loops(&n, &mut host));
    assert_eq!(run(loops, &n, &zeros)?, host);
    let n = numbers();
    let before = vec![5; n.len()];
    let mut host = before.clone();
    for_each([n.len()], || matches(&n, &mut host));
    assert_eq!(run(matches, &n, &before)?, host);
    let mut host = before.clone();
    for_each([n.len()], || late(&n, &mut host));
    assert_eq!(run(late, &n, &before)?, host);
    let small: Vec<i32> = (0..9).collect();
    let mut host = vec![0; 9];
    for_each([9], || ranges(&small, &mut host));
    assert_eq!(run(ranges, &small, &[0; 9])?, host);
    Ok(())
}

#[sycl::kernel]
fn planes(width: u32, output: &mut [u32]) {
    let at = item::<2>().id();
    let all = item::<2>().range();
    let (row, column) = (at[0], at[1]);
    output[row * all[1] + column] = row as u32 * width + column as u32 + all[0] as u32 * 1000;
}

#[test]
fn the_last_dimension_is_the_fastest() -> Result<()> {
    let mut host = vec![0; 15];
    for_each([3, 5], || planes(7, &mut host));
    let queue = queue();
    let buffer = Buffer::from_slice(&[0u32; 15], [15])?;
    queue.submit(|cg| {
        let output = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(planes, [3, 5], (7, &output))
    })?;
    assert_eq!(buffer.into_vec()?, host);
    Ok(())
}

#[sycl::kernel]
fn elements(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let mut sum = 0;
    for x in input {
        if *x > 70 {
            break;
        }
        sum += *x;
    }
    let mut row = [1, 2, 3];
    for x in row {
        row[0] += x;
    }
    for x in row.iter_mut() {
        *x *= 2;
    }
    for (at, x) in row.iter().enumerate() {
        sum += *x * at as i32;
    }
    output[i] = sum + row[0];
}

#[test]
fn slices_and_arrays_are_iterated() -> Result<()> {
    let n = numbers();
    let mut host = vec![0; 4];
    for_each([4], || elements(&n, &mut host));
    assert_eq!(run(elements, &n, &[0; 4])?, host);
    Ok(())
}
