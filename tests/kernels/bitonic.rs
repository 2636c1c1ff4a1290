//! Sort 512 keys per group of 256 in local memory.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub(crate) fn bitonic(input: &[u32], output: &mut [u32]) {
    let mut s = local::<[u32; 512]>();
    let l = item::<1>().local_id() as u32;
    let base = item::<1>().group_id() as u32 * 512;
    s[l as usize] = input[(base + l) as usize];
    s[(l + 256) as usize] = input[(base + l + 256) as usize];
    let mut k = 2u32;
    while k <= 512 {
        let mut j = k / 2;
        while j > 0 {
            barrier();
            let i = 2 * l - (l & (j - 1));
            let (at, other) = (i as usize, (i + j) as usize);
            let (a, b) = (s[at], s[other]);
            let up = i & k == 0;
            if (a > b) == up {
                s[at] = b;
                s[other] = a;
            }
            j /= 2;
        }
        k *= 2;
    }
    barrier();
    output[(base + l) as usize] = s[l as usize];
    output[(base + l + 256) as usize] = s[(l + 256) as usize];
}
