//! Element-wise add in single and double precision.

#[sycl::kernel]
pub(crate) fn vadd_f32(a: &[f32], b: &[f32], c: &mut [f32]) {
    let i = sycl::item::<1>().id();
    c[i] = a[i] + b[i];
}

#[sycl::kernel]
pub(crate) fn vadd_f64(a: &[f64], b: &[f64], c: &mut [f64]) {
    let i = sycl::item::<1>().id();
    c[i] = a[i] + b[i];
}
