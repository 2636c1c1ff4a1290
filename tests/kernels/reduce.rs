//! One partial sum per work-group of 256: strided accumulation, then a local tree.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub(crate) fn reduce_f32(input: &[f32], output: &mut [f32], n: u32) {
    let mut sums = local::<[f32; 256]>();
    let (l, size) = (item::<1>().local_id() as u32, item::<1>().local_range() as u32);
    let mut sum = 0.0;
    for i in (item::<1>().id() as u32..n).step_by(item::<1>().range()) {
        sum += input[i as usize];
    }
    sums[l as usize] = sum;
    barrier();
    let mut half = size / 2;
    while half > 0 {
        if l < half {
            sums[l as usize] += sums[(l + half) as usize];
        }
        barrier();
        half /= 2;
    }
    if l == 0 {
        output[item::<1>().group_id()] = sums[0];
    }
}
