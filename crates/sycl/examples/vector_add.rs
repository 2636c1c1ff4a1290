//! The smallest program: adds two buffers into a third, with a kernel in Rust.
//!
//! `cargo run -p sycl --example vector_add` needs no loader and no driver; the build needs LLVM 22's development package.

#![forbid(unsafe_code)]

use sycl::{Buffer, Queue, Read, Result, Write, info};

#[sycl::kernel]
fn add(a: &[f32], b: &[f32], sum: &mut [f32]) {
    let i = sycl::item::<1>().id();
    sum[i] = a[i] + b[i];
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    println!("device: {}", queue.device().info::<info::device::Name>()?);

    let count = 1 << 20;
    let a = Buffer::from_vec((0..count).map(|i| i as f32).collect(), [count])?;
    let b = Buffer::from_vec((0..count).map(|i| 2.0 * i as f32).collect(), [count])?;
    let sum = Buffer::<f32>::new([count])?;
    queue.submit(|cg| {
        let a = cg.access(&a, Read)?;
        let b = cg.access(&b, Read)?;
        let sum = cg.access(&sum, Write.no_init())?;
        // Other argument types, or another number of arguments, would not compile.
        cg.parallel_for(add, [count], (&a, &b, &sum))
    })?;

    // Waits for the kernel.
    let sum = sum.host_access(Read)?;
    let right = sum
        .iter()
        .enumerate()
        .filter(|(i, x)| **x == 3.0 * *i as f32)
        .count();
    println!("{right} of {count} sums are right");
    assert_eq!(right, count);
    Ok(())
}
