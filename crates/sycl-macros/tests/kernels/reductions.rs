//! Reductions of SYCL with kernels in Rust, and specialization constants.

#![forbid(unsafe_code)]

use sycl::{Buffer, Plus, Read, Reduction, Result, SpecId, item, spec_constant};

use super::device::{queue, run};

#[sycl::kernel]
fn squares(x: &[u32], values: &mut [u32]) {
    let i = item::<1>().id();
    values[i] = x[i] * x[i];
}

/// The larger of two by the lower digit: an operation of the program's own.
#[sycl::kernel]
fn by_digit(values: &mut [u32], count: u64, distance: u64) {
    let i = item::<1>().id();
    let other = i + distance as usize;
    if other < count as usize && values[other] % 10 > values[i] % 10 {
        values[i] = values[other];
    }
}

#[test]
fn reductions_take_kernels_in_rust() -> Result<()> {
    let queue = queue();
    let input: Vec<u32> = (0..1000).map(|i| i * 7919 % 97).collect();
    let x = Buffer::from_slice(&input, [input.len()])?;
    let sum = Buffer::from_slice(&[5u32], [1])?;
    queue.parallel_for_reduce([1000], Reduction::new(&sum, Plus), |cg, values| {
        let x = cg.access(&x, Read)?;
        cg.parallel_for(squares, [1000], (&x, values))
    })?;
    let want = input.iter().map(|x| x * x).sum::<u32>() + 5;
    assert_eq!(sum.into_vec()?, [want]);
    let best = Buffer::<u32, 1>::new([1])?;
    queue.reduce_with(&x, &best, by_digit)?;
    assert_eq!(best.into_vec()?[0] % 10, 9);
    Ok(())
}

const FACTOR: SpecId<i32> = SpecId::new(3);
const SHIFT: SpecId<f64> = SpecId::new(8);
const SMALL: SpecId<i8> = SpecId::new(9);

#[sycl::kernel]
fn specialised(input: &[f64], output: &mut [f64]) {
    let i = item::<1>().id();
    let factor = spec_constant(FACTOR, -2) * spec_constant(SMALL, -1) as i32;
    output[i] = input[i] * factor as f64 + sycl::spec_constant(SHIFT, 0.25);
}

#[test]
fn specialization_constants_have_defaults_and_values() -> Result<()> {
    let input = [1.0, 2.0, -3.0];
    let mut host = [0.0; 3];
    sycl::kernel::for_each([3], || specialised(&input, &mut host));
    assert_eq!(host, [2.25, 4.25, -5.75]);
    assert_eq!(run(specialised, &input, &[0.0; 3])?, host);
    let queue = queue();
    let input = Buffer::from_slice(&input, [3])?;
    let output = Buffer::from_slice(&[0.0; 3], [3])?;
    queue.submit(|cg| {
        let (input, output) = (
            cg.access(&input, Read)?,
            cg.access(&output, sycl::ReadWrite)?,
        );
        cg.spec_const(FACTOR, 10)?;
        cg.spec_const(SHIFT, 0.5)?;
        cg.parallel_for(specialised, [3], (&input, &output))
    })?;
    assert_eq!(output.into_vec()?, [-9.5, -19.5, 30.5]);
    Ok(())
}
