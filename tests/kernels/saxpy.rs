//! y = a*x + y.

#[sycl::kernel]
pub(crate) fn saxpy(y: &mut [f32], x: &[f32], a: f32) {
    let i = sycl::item::<1>().id();
    y[i] = a.mul_add(x[i], y[i]);
}
