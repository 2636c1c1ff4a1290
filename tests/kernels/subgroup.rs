//! Sub-group collectives: `sg_reduce` and `sg_scan` work for any sub-group size, `sg_butterfly` requires 16.

use sycl::{barrier, item, local, sub_group};

#[sycl::kernel]
pub(crate) fn sg_reduce(input: &[i32], output: &mut [i32]) {
    let (mut sums, mut tops) = (local::<[i32; 64]>(), local::<[i32; 64]>());
    let (it, lanes) = (item::<1>(), sub_group());
    let v = input[it.id()];
    let (mut sum, mut top) = (lanes.reduce_add(v), lanes.reduce_max(v));
    if lanes.local_id() == 0 {
        sums[lanes.group_id()] = sum;
        tops[lanes.group_id()] = top;
    }
    barrier();
    if it.local_id() == 0 {
        for i in 1..lanes.group_count() {
            sum = sum.wrapping_add(sums[i]);
            top = top.max(tops[i]);
        }
        output[it.group_id()] = sum ^ top;
    }
}

#[sycl::kernel]
pub(crate) fn sg_scan(input: &[i32], output: &mut [i32]) {
    let mut parts = local::<[i32; 64]>();
    let (i, lanes) = (item::<1>().id(), sub_group());
    let scanned = lanes.inclusive_scan(input[i], sycl::Plus);
    if lanes.local_id() + 1 == lanes.size() {
        parts[lanes.group_id()] = scanned;
    }
    barrier();
    let mut base = 0i32;
    for part in 0..lanes.group_id() {
        base = base.wrapping_add(parts[part]);
    }
    output[i] = scanned.wrapping_add(base);
}

#[sycl::kernel(sub_group_size = 16)]
pub(crate) fn sg_butterfly(input: &[f32], output: &mut [f32]) {
    let (i, lanes) = (item::<1>().id(), sub_group());
    let mut v = input[i];
    let lane = lanes.local_id();
    // The Walsh-Hadamard transform of the 16 values of a sub-group.
    for bit in 0..4usize {
        let mask = 1usize << bit;
        let other = lanes.shuffle_xor(v, mask);
        v = if lane & mask != 0 { other - v } else { v + other };
    }
    output[i] = v.mul_add(0.25, lanes.broadcast(v, 3));
}
