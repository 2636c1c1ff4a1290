//! A program with a mistake, for `solum check`: one of two buffers has too few elements. It contains the driver, and the
//! checker with it. The kernel comes from a SPIR-V file: kernels in Rust compare each index with the length.
//!
//! `cargo build -p sycl --example short_buffer`, then `solum check -- target/debug/examples/short_buffer`

use sycl::{Buffer, Queue, Read, Result, Write};

sycl::kernels! {
    unsafe mod kernels = "kernels/add.spvasm";
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let count = 1 << 10;
    let a = Buffer::from_vec(vec![1.0f32; count], [count])?;
    // The kernel reads as many elements of `b` as of `a`.
    let b = Buffer::from_vec(vec![2.0f32; count - 16], [count - 16])?;
    let sum = Buffer::<f32>::new([count])?;
    queue.submit(|cg| {
        let a = cg.access(&a, Read)?;
        let b = cg.access(&b, Read)?;
        let sum = cg.access(&sum, Write.no_init())?;
        cg.parallel_for(kernels::add, [count], (&a, &b, &sum))
    })?;
    println!("the first sum: {}", sum.host_access(Read)?[0]);
    Ok(())
}
