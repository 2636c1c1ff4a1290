//! A kernel in a SPIR-V file, here assembly that was written by hand; a compiler's `.spv` works as well. `kernels!` reads it
//! at build time.
//!
//! `cargo run -p sycl --example spirv_file`

use sycl::{Buffer, Queue, Read, Result, Write};

sycl::kernels! {
    // SAFETY: `add` accesses one element of each argument for each work-item, and the range is the buffers'.
    unsafe mod kernels = "kernels/add.spvasm";
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let count = 1 << 16;
    let a = Buffer::from_vec(vec![1.0f32; count], [count])?;
    let b = Buffer::from_vec((0..count).map(|i| i as f32).collect(), [count])?;
    let sum = Buffer::<f32>::new([count])?;
    queue.submit(|cg| {
        let a = cg.access(&a, Read)?;
        let b = cg.access(&b, Read)?;
        let sum = cg.access(&sum, Write.no_init())?;
        // Other argument types, or another number of arguments, would not compile.
        cg.parallel_for(kernels::add, [count], (&a, &b, &sum))
    })?;

    let sum = sum.host_access(Read)?;
    let right = (0..count).filter(|&i| sum[i] == i as f32 + 1.0).count();
    println!("{right} of {count} sums are right");
    assert_eq!(right, count);
    Ok(())
}
