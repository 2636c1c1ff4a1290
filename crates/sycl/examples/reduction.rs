//! Sums, extremes and an inner product, with the crate's reduction kernels.
//!
//! `cargo run -p sycl --example reduction`

#![forbid(unsafe_code)]

use sycl::{Buffer, Maximum, Minimum, Plus, Queue, Read, Reduction, Result};

#[sycl::kernel]
fn add(a: &[f32], b: &[f32], sums: &mut [f32]) {
    let i = sycl::item::<1>().id();
    sums[i] = a[i] + b[i];
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let count = 1_000_003;
    let values = Buffer::from_vec(
        (0..count).map(|i| i * 7919 % 1_000_003).collect(),
        [count as usize],
    )?;

    let [sum, least, most] = [0; 3].map(|_| Buffer::<i64>::new([1]));
    let (sum, least, most) = (sum?, least?, most?);
    queue.reduce(&values, Reduction::new(&sum, Plus).initialize_to_identity())?;
    queue.reduce(
        &values,
        Reduction::new(&least, Minimum).initialize_to_identity(),
    )?;
    queue.reduce(
        &values,
        Reduction::new(&most, Maximum).initialize_to_identity(),
    )?;
    let [sum, least, most] = [sum, least, most].map(|buffer| buffer.into_vec().map(|v| v[0]));
    let (sum, least, most) = (sum?, least?, most?);
    println!("sum {sum}, from {least} to {most}");
    assert_eq!((sum, least, most), (count * (count - 1) / 2, 0, count - 1));

    // A kernel can compute the values: a[i] + b[i] for each i.
    let n = 4096;
    let a = Buffer::from_slice(&vec![0.25f32; n], [n])?;
    let b = Buffer::from_slice(&vec![0.5f32; n], [n])?;
    let total = Buffer::from_slice(&[1000.0f32], [1])?;
    queue.parallel_for_reduce([n], Reduction::new(&total, Plus), |cg, sums| {
        let a = cg.access(&a, Read)?;
        let b = cg.access(&b, Read)?;
        cg.parallel_for(add, [n], (&a, &b, sums))
    })?;
    let total = total.into_vec()?[0];
    println!("1000 and all sums: {total}");
    assert_eq!(total, 1000.0 + 0.75 * n as f32);
    Ok(())
}
