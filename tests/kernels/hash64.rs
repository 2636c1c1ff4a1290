//! 64-bit finaliser rounds: multiply, rotate, xor-shift.

#[sycl::kernel]
pub(crate) fn hash64(input: &[u64], output: &mut [u64], rounds: i32) {
    let i = sycl::item::<1>().id();
    let mut h = input[i] ^ 0x9E37_79B9_7F4A_7C15;
    for r in 0..rounds {
        h ^= h >> 30;
        h = h.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        h ^= h >> 27;
        h = h.wrapping_mul(0x94D0_49BB_1331_11EB);
        h = h.rotate_left(31).wrapping_add(r as u64);
    }
    output[i] = h;
}
