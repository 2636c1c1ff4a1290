//! Compiles with any build of the crate that has kernels in Rust.
#![forbid(unsafe_code)]

#[sycl::kernel]
fn scale(by: f32, x: &[f32], y: &mut [f32]) {
    let i = sycl::item::<1>().id();
    y[i] = by * x[i];
}
