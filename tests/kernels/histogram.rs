//! 256 bins of bytes: local atomics merged once per group, or global atomics only.

use sycl::{atomic, barrier, item, local};

#[sycl::kernel]
pub(crate) fn hist_local(input: &[u8], bins: &mut [u32], per: u32) {
    let mut counts = local::<[u32; 256]>();
    let (l, size) = (item::<1>().local_id(), item::<1>().local_range());
    for i in (l..256).step_by(size) {
        counts[i] = 0;
    }
    barrier();
    let per = per as usize;
    let base = item::<1>().group_id() * size * per;
    for i in 0..per {
        atomic::add(&mut counts[input[base + i * size + l] as usize], 1);
    }
    barrier();
    for i in (l..256).step_by(size) {
        if counts[i] != 0 {
            atomic::add(&mut bins[i], counts[i]);
        }
    }
}

#[sycl::kernel]
pub(crate) fn hist_global(input: &[u8], bins: &mut [u32]) {
    atomic::add(&mut bins[input[item::<1>().id()] as usize], 1);
}
