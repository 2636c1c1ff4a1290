//! Half precision add: each sum is rounded to 16 bits.

use sycl::f16;

#[sycl::kernel]
pub(crate) fn vadd_f16(a: &[f16], b: &[f16], c: &mut [f16]) {
    let i = sycl::item::<1>().id();
    c[i] = a[i] + b[i];
}
