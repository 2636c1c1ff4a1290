//! Kernels of the test, in a file of their own as a build script includes it.

/// Adds a multiple.
#[sycl::kernel]
pub(crate) fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = sycl::item::<1>().id();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

/// Fills with a value of any type.
#[sycl::kernel]
pub(crate) fn fill<T: sycl::kernel::KernelType + sycl::DeviceData>(value: T, output: &mut [T]) {
    output[sycl::item::<1>().id()] = value;
}

#[sycl::device]
fn countdown(n: u32) -> u32 {
    if n == 0 { 0 } else { countdown(n - 1) }
}

/// Is refused: it calls a function that calls itself.
#[sycl::kernel]
pub(crate) fn recursive(output: &mut [u32]) {
    output[0] = countdown(3);
}
