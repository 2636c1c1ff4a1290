//! Work-efficient exclusive scan of 512 values per group of 256 (up- and down-sweep).

use sycl::{barrier, item, local};

#[sycl::kernel]
pub(crate) fn scan_block(input: &[u32], output: &mut [u32], sums: &mut [u32]) {
    let mut t = local::<[u32; 512]>();
    let l = item::<1>().local_id() as u32;
    let group = item::<1>().group_id();
    let base = group as u32 * 512;
    t[2 * l as usize] = input[(base + 2 * l) as usize];
    t[2 * l as usize + 1] = input[(base + 2 * l + 1) as usize];
    let mut offset = 1;
    let mut d = 256;
    while d > 0 {
        barrier();
        if l < d {
            t[(offset * (2 * l + 2) - 1) as usize] += t[(offset * (2 * l + 1) - 1) as usize];
        }
        offset *= 2;
        d /= 2;
    }
    barrier();
    if l == 0 {
        sums[group] = t[511];
        t[511] = 0;
    }
    d = 1;
    while d < 512 {
        offset /= 2;
        barrier();
        if l < d {
            let (a, b) = (offset * (2 * l + 1) - 1, offset * (2 * l + 2) - 1);
            let (x, y) = (t[a as usize], t[b as usize]);
            t[a as usize] = y;
            t[b as usize] = y + x;
        }
        d *= 2;
    }
    barrier();
    output[(base + 2 * l) as usize] = t[2 * l as usize];
    output[(base + 2 * l + 1) as usize] = t[2 * l as usize + 1];
}
