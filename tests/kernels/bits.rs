//! Population count, leading zeros, rotates and bit reversal inside each byte.

#[sycl::kernel]
pub(crate) fn bits(input: &[u32], output: &mut [u32]) {
    let i = sycl::item::<1>().id();
    let v = input[i];
    let mut r = v;
    r = ((r >> 1) & 0x5555_5555) | ((r & 0x5555_5555) << 1);
    r = ((r >> 2) & 0x3333_3333) | ((r & 0x3333_3333) << 2);
    r = ((r >> 4) & 0x0f0f_0f0f) | ((r & 0x0f0f_0f0f) << 4);
    let (a, b) = (v.count_ones(), v.leading_zeros());
    let c = ((v as u64 * 0x9E37_79B1) >> 32) as u32;
    let half = (v & r).wrapping_add((v ^ r) >> 1);
    output[i] = r
        .rotate_left(a)
        .wrapping_add(b << 5)
        .wrapping_add(c ^ (r & c).count_ones())
        .wrapping_add(half)
        .wrapping_add(v.abs_diff(c));
}
