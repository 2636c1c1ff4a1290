//! A kernel in Rust: on the device and on the host, the same function. The sample of docs/rust-kernels.md.
//!
//! `cargo run -p sycl --example rust_kernel`

#![forbid(unsafe_code)]

use sycl::{Buffer, Queue, Read, ReadWrite, Result};

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let n = 1 << 16;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = Buffer::from_vec(values.clone(), [n])?;
    let y = Buffer::from_vec(vec![1.0f32; n], [n])?;

    #[sycl::kernel]
    fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = sycl::item::<1>().id();
        if i < y.len() {
            y[i] += a * x[i];
        }
    }

    queue.submit(|cg| {
        let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
        cg.parallel_for(saxpy, [n], (2.0, &x, &y))
    })?;

    let mut on_host = vec![1.0f32; n];
    sycl::kernel::for_each([n], || saxpy(2.0, &values, &mut on_host));
    let on_device = y.host_access(Read)?;
    assert!((0..n).all(|i| on_device[i] == on_host[i]));
    println!("{n} elements, equal on device and host");
    Ok(())
}
