//! Sort 512 keys per group of 256 in local memory.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub fn bitonic(input: &[u32], output: &mut [u32]) {
    let mut s = local::<[u32; 512]>();
    let l = item::<1>().local_id();
    let base = item::<1>().group_id() * 512;
    s[l] = input[base + l];
    s[l + 256] = input[base + l + 256];
    let mut k = 2;
    while k <= 512 {
        let mut j = k / 2;
        while j > 0 {
            barrier();
            let i = 2 * l - (l & (j - 1));
            let p = i + j;
            let (a, b) = (s[i], s[p]);
            let up = i & k == 0;
            if (a > b) == up {
                s[i] = b;
                s[p] = a;
            }
            j /= 2;
        }
        k *= 2;
    }
    barrier();
    output[base + l] = s[l];
    output[base + l + 256] = s[l + 256];
}
